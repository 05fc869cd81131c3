/* SPDX-License-Identifier: MIT */
/* The costs of files, lines and functions for the JSON by lines, of a profile (head side only) or a
 * diff.
 *
 * A diff's functions are those of the comparison. Its lines come from its trees (struct
 * fz_tree_line), like those of the page, so a line costs the same in all reports.
 */
#pragma once

#include "base/arena.h"
#include "compare/judge.h"

struct fz_line_costs_pair {
	int64_t self[FZ_SIDES], total[FZ_SIDES]; /* total: each sample is counted once */
};

struct fz_line_costs_file {
	uint32_t on_side[FZ_SIDES]; /* string of the profile; FZ_NONE: the side has no such file */
	struct fz_str name;         /* for display: canonical */
	struct fz_line_costs_pair cost;
	uint32_t first_line[FZ_SIDES], line_count[FZ_SIDES]; /* in the lists of lines */
};

/* A line of one side, with that side's costs. Lines of the two sides are matched by comparing the
 * texts, as in the page. */
struct fz_line_costs_line {
	uint32_t file, function;
	int32_t line;
	int64_t self, total;
};

struct fz_line_costs_function {
	uint32_t file;
	int32_t line; /* on the head if it has the function, else on the base */
	struct fz_str name;
	uint8_t state;        /* enum fz_state */
	uint8_t self_verdict; /* enum fz_verdict */
	int64_t self[FZ_SIDES];
};

struct fz_line_costs {
	struct fz_arena arena;
	const struct fz_profile *profile[FZ_SIDES];
	const struct fz_diff *diff; /* NULL for a single profile */
	const struct fz_judgement *judgement;
	const char *metric, *unit;
	double factor;
	int64_t sum[FZ_SIDES];
	uint64_t samples[FZ_SIDES];

	struct fz_line_costs_file *files; /* by descending cost */
	uint32_t file_count;
	struct fz_line_costs_line *lines[FZ_SIDES]; /* by file, line */
	uint32_t line_count[FZ_SIDES];
	struct fz_line_costs_function *functions;
	uint32_t function_count;
};

int fz_line_costs_of_profile(struct fz_line_costs *h, const struct fz_profile *p, uint32_t metric,
			     struct fz_error *err);
void fz_line_costs_of_diff(struct fz_line_costs *h, const struct fz_diff *d,
			   const struct fz_judgement *j);
void fz_line_costs_release(struct fz_line_costs *h);
