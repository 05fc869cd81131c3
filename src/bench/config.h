/* SPDX-License-Identifier: MIT */
/* fizeau.ini: what a project expects of its benchmarks, kept with its code.
 *
 *   [ci]
 *   metric = instructions, peak     what is compared, one or several
 *   threshold = 2 %                 the smallest change that counts
 *   wall = yes                      confirm by the clock
 *   pairs = 40                      at most so many pairs of runs for it
 *   wall-seconds = 60               and for at most so long
 *   timeout = 600                   seconds, of each run
 *   strict = no                     disagreement between counts and clock fails too
 *   missing = warn                  or fail: a benchmark that is gone
 *
 *   [benchmark parse_*]             of benchmarks with such names; later sections win
 *   metric = peak                   of these metrics; without it of all
 *   threshold = 5 %
 *   wall = no
 *   ignore = waits for the network  a reason; never fails
 *   until = 2026-12-31              the last day on which it is ignored
 *
 *   [accept parse_pr]               a change that is meant; metric as above
 *   change = 25 %                   up to so much more
 *   reason = regular expressions are easier to read
 *   commit = 1a2b3c4                only where that commit is part of what is compared
 *
 * What is not known is an error, never ignored: a misspelt threshold is no threshold.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

extern const char *const fz_ci_metrics[]; /* what can be compared; NULL-terminated */
/* The one of that name; NULL: there is none. */
const char *fz_ci_metric(struct fz_str name);
enum { FZ_CI_METRICS_MAX = 8 };
/* Some of them, each once. */
struct fz_ci_metric_list {
	const char *list[FZ_CI_METRICS_MAX]; /* of fz_ci_metrics */
	uint32_t n;
};
/* "instructions, peak": false when a word is none of fz_ci_metrics, or is there twice. */
extern const char fz_ci_metrics_wanted[]; /* for messages: what must be there instead */
bool fz_ci_parse_metrics(struct fz_str text, struct fz_ci_metric_list *ret);
bool fz_ci_has_metric(const struct fz_ci_metric_list *m, const char *metric);
const char *fz_ci_unit(const char *metric);
/* Bytes that are held, of which no clock can say anything. */
bool fz_ci_is_of_memory(const char *metric);

struct fz_ci_rule {
	const char *glob;
	struct fz_ci_metric_list metrics; /* none: all */
	double threshold;                 /* NaN: not set */
	int wall;                         /* -1: not set */
	const char *ignore;               /* the reason; NULL: it counts */
	const char *until;                /* "2026-12-31"; NULL: for good */
};

struct fz_ci_accept {
	const char *glob;
	const char *by; /* NULL: a pattern of the file; else it is a name, acknowledged of this
			   commit */
	struct fz_ci_metric_list metrics; /* none: all */
	double change;                    /* NaN: not set */
	const char *reason;               /* NULL: not set */
	const char *commit;               /* NULL: any */
	bool lands;                       /* or with these counts, of base and head */
	double count[2];
};

struct fz_ci_config {
	struct fz_arena arena;
	struct fz_ci_metric_list metrics; /* at least one */
	double threshold;
	bool wall, strict, missing_fails;
	unsigned pairs;
	double timeout, wall_seconds;
	struct fz_ci_rule *rules;
	uint32_t rule_n, rule_cap;
	struct fz_ci_accept *accepts;
	uint32_t accept_n, accept_cap;
};

/* What holds without a file. */
void fz_ci_config_init(struct fz_ci_config *c);
void fz_ci_config_release(struct fz_ci_config *c);
/* Read text that came from a file of that name; the message names file and line. */
int fz_ci_config_parse(struct fz_ci_config *c, const char *text, const char *name,
		       struct fz_error *err);
/* Read a file. A missing one is no error unless it is `wanted`. */
int fz_ci_config_load(struct fz_ci_config *c, const char *path, bool wanted, struct fz_error *err);

/* What is asked about: a benchmark by one metric. */
struct fz_ci_subject {
	struct fz_str name;
	const char *metric;
};
/* A change that was acknowledged elsewhere: by, of that benchmark alone. Texts are copied, metric
 * is one of fz_ci_metrics; commit NULL: any. */
void fz_ci_config_accept(struct fz_ci_config *c, const struct fz_ci_accept *a, const char *metric);
bool fz_ci_config_accepts(const struct fz_ci_accept *a, const struct fz_ci_subject *s);
double fz_ci_config_threshold(const struct fz_ci_config *c, const struct fz_ci_subject *s);
bool fz_ci_config_wall(const struct fz_ci_config *c, const struct fz_ci_subject *s);
/* Why it is ignored today, or NULL. ret_expired: a rule that would ignore it has expired. */
const char *fz_ci_config_ignored(const struct fz_ci_config *c, const struct fz_ci_subject *s,
				 const char *today, const char **ret_expired);
/* "5%", "5 %", "0.05": a part; false when it is none. */
bool fz_ci_parse_part(struct fz_str text, double *ret);
