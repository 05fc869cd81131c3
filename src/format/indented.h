/* SPDX-License-Identifier: MIT */
/* Converts call trees printed as indented lines with inclusive costs to samples: a line's own cost
 * is what its children do not account for.
 *
 *   10 main        fz_indented_line(column 0, 10)
 *     7 f          fz_indented_line(column 2, 7)     fz_indented_finish: main 3, main;f 7
 */
#pragma once

#include "profile/profile.h"

enum { FZ_INDENTED_METRICS = 2 };

struct fz_indented_node {
	size_t column;
	uint32_t stack;
	int64_t own[FZ_INDENTED_METRICS]; /* not explained by a child yet */
};

/* Zero it before use, and set the first two members. */
struct fz_indented {
	struct fz_profile *p; /* has one metric with a column for each value */
	bool own;             /* values are exclusive: nothing is subtracted from the caller */
	bool samples;         /* the first value is a number of samples, below 2^32 */
	uint32_t thread;      /* of the lines that follow */
	struct fz_indented_node *path;
	uint32_t n, cap;
};

void fz_indented_release(struct fz_indented *t);
/* Adds a line; frame FZ_NONE: not a frame but, for example, a thread. */
void fz_indented_line(struct fz_indented *t, size_t column, uint32_t frame,
		      const int64_t values[FZ_INDENTED_METRICS]);
/* Call at the end, and before lines of another thread. */
void fz_indented_finish(struct fz_indented *t);
