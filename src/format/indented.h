/* SPDX-License-Identifier: MIT */
/* Trees of calls printed as indented lines, each with what it and all below it cost, become
 * samples: what a line's children do not explain is its own.
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
	int64_t own[FZ_INDENTED_METRICS]; /* what no child has explained yet */
};

/* Zeroed before use, but for the first two. */
struct fz_indented {
	struct fz_profile *p; /* with as many metrics with columns as values are given */
	bool own;             /* values are of the line alone: nothing is taken from its caller */
	bool samples;         /* the first value is a number of samples, below 2^32 */
	uint32_t thread;      /* of the lines that follow */
	struct fz_indented_node *path;
	uint32_t n, cap;
};

void fz_indented_release(struct fz_indented *t);
/* A line; frame FZ_NONE: a line that is no frame, as a thread's is. */
void fz_indented_line(struct fz_indented *t, size_t column, uint32_t frame,
		      const int64_t values[FZ_INDENTED_METRICS]);
/* No more lines, or lines of another thread. */
void fz_indented_finish(struct fz_indented *t);
