/* SPDX-License-Identifier: MIT */
/* fizeau.ini: what a project expects of its benchmarks, kept with its code.
 *
 *   [ci]
 *   metric = instructions, peak     what is compared, one or several
 *   threshold = 2 %                 the smallest change that counts
 *   wall = yes                      confirm by the clock
 *   pairs = 40                      with at most this many pairs of runs
 *   wall-seconds = 60               and for at most this long
 *   timeout = 600                   seconds per run
 *   strict = no                     also fail if counts and clock disagree
 *   missing = warn                  or fail: for removed benchmarks
 *
 *   [benchmark parse_*]             for benchmarks with such names; later sections win
 *   metric = peak                   for these metrics; default: all
 *   threshold = 5 %
 *   wall = no
 *   ignore = waits for the network  a reason; never fails
 *   until = 2026-12-31              the last day on which it is ignored
 *
 *   [accept parse_pr]               an intended change; metric as above
 *   change = 25 %                   up to this much more
 *   reason = regular expressions are easier to read
 *   commit = 1a2b3c4                only if that commit is among the compared ones
 *
 * An unknown key is an error: a misspelt threshold would have no effect.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

extern const char *const fz_ci_metrics[]; /* what can be compared; NULL-terminated */
/* The element of fz_ci_metrics with that name; NULL if there is none. */
const char *fz_ci_metric(struct fz_str name);
enum { FZ_CI_METRICS_MAX = 8 };
/* Some metrics, each once. */
struct fz_ci_metric_list {
	const char *list[FZ_CI_METRICS_MAX]; /* of fz_ci_metrics */
	uint32_t n;
};
extern const char fz_ci_metrics_wanted[]; /* for messages: a list of valid values */
/* Parse "instructions, peak"; false if a word is not in fz_ci_metrics, or is repeated. */
bool fz_ci_parse_metrics(struct fz_str text, struct fz_ci_metric_list *ret);
const char *fz_ci_unit(const char *metric);
/* True for bytes in use, which a clock cannot confirm. */
bool fz_ci_is_of_memory(const char *metric);

struct fz_ci_rule {
	const char *glob;
	struct fz_ci_metric_list metrics; /* none: all */
	double threshold;                 /* NaN: not set */
	int wall;                         /* -1: not set */
	const char *ignore;               /* the reason; NULL: not ignored */
	const char *until;                /* "2026-12-31"; NULL: without end */
};

struct fz_ci_accept {
	const char *glob;
	const char *by; /* the commit that was accepted on a server, then glob is a name; NULL: a
	pattern of the file */
	struct fz_ci_metric_list metrics; /* none: all */
	double change;                    /* NaN: not set */
	const char *reason;               /* NULL: not set */
	const char *commit;               /* NULL: any */
	bool lands;                       /* also applies to these counts of base and head */
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

/* Set the defaults. */
void fz_ci_config_init(struct fz_ci_config *c);
void fz_ci_config_release(struct fz_ci_config *c);
/* Parse the text of a file of that name; error messages have file and line. */
int fz_ci_config_parse(struct fz_ci_config *c, const char *text, const char *name,
		       struct fz_error *err);
/* Read a file. If it is missing, that is an error only if `wanted`. */
int fz_ci_config_load(struct fz_ci_config *c, const char *path, bool wanted, struct fz_error *err);

/* A benchmark by one metric. */
struct fz_ci_subject {
	struct fz_str name;
	const char *metric;
};
/* Add a change that was accepted on a server, for one benchmark. Texts are copied; metric is one of
 * fz_ci_metrics; commit NULL: any. */
void fz_ci_config_accept(struct fz_ci_config *c, const struct fz_ci_accept *a, const char *metric);
bool fz_ci_config_accepts(const struct fz_ci_accept *a, const struct fz_ci_subject *s);
double fz_ci_config_threshold(const struct fz_ci_config *c, const struct fz_ci_subject *s);
bool fz_ci_config_wall(const struct fz_ci_config *c, const struct fz_ci_subject *s);
/* Why it is ignored today, or NULL. *ret_expired: set to the date of a rule that has expired. */
const char *fz_ci_config_ignored(const struct fz_ci_config *c, const struct fz_ci_subject *s,
				 const char *today, const char **ret_expired);
/* Parse a fraction: "5%", "5 %" or "0.05"; false if it is not one, such as a bare 5. */
bool fz_ci_parse_part(struct fz_str text, double *ret);
