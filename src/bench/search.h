/* SPDX-License-Identifier: MIT */
/* The result of `bisect`: the commits it counted, and the one at which a benchmark changed.
 *
 *   good --- good --- (skipped) --- bad --- bad
 *            before                 found         `change`: found against before
 */
#pragma once

#include "bench/report.h"

enum fz_ci_side { FZ_CI_UNKNOWN, FZ_CI_GOOD, FZ_CI_BAD, FZ_CI_SKIPPED };
extern const char *const fz_ci_side_names[]; /* "unknown", "good", "bad", "skipped" */

struct fz_ci_step {
	const char *commit, *day, *subject;
	enum fz_ci_side side;
	double count;    /* of the benchmark; NaN: skipped */
	const char *why; /* why it was skipped; NULL: it was not */
};

struct fz_ci_search {
	struct fz_arena arena;
	struct fz_ci_step *steps; /* in the order in which they were counted */
	uint32_t n, cap;
	uint32_t good, bad; /* steps that the user named */
	uint32_t found;     /* FZ_NONE: the ends do not differ, or it is among skipped ones */
	uint32_t before;    /* the step compared with it: its parent, if that could be counted */
	uint32_t last_good; /* if it is among skipped ones: it is after this */
	char **hidden;      /* and one of these: full hashes */
	uint32_t hidden_n;
	uint32_t range;             /* commits after good, up to bad */
	struct fz_ci_result ends;   /* bad against good */
	struct fz_ci_result change; /* found (or the first bad one) against before */
	const char *name;           /* of the benchmark */
	bool parent;                /* `before` is the first parent of `found` */
};

#define FZ_CI_SEARCH_INIT                                  \
	((struct fz_ci_search){ .good = FZ_NONE,           \
				.bad = FZ_NONE,            \
				.found = FZ_NONE,          \
				.before = FZ_NONE,         \
				.last_good = FZ_NONE,      \
				.ends = FZ_CI_RESULT_INIT, \
				.change = FZ_CI_RESULT_INIT })

void fz_ci_search_release(struct fz_ci_search *s);
/* Add a step; texts are copied. */
struct fz_ci_step *fz_ci_search_add(struct fz_ci_search *s, const char *commit, const char *day,
				    const char *subject);
/* "abc1234567 1,189,000 (+18.9 %): bad" */
void fz_ci_search_line(const struct fz_ci_search *s, const struct fz_ci_step *step,
		       struct fz_buf *out);
void fz_ci_search_text(const struct fz_ci_search *s, const struct fz_style *style,
		       struct fz_buf *out);
void fz_ci_search_json(const struct fz_ci_search *s, struct fz_output *out);
