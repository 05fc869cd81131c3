/* SPDX-License-Identifier: MIT */
/* The data of a heat map and of the JSON by lines, for a profile (head side only) or a diff.
 *
 * A diff's functions are those of the comparison. Its lines are those of its trees (struct
 * fz_tree_line), which the page's are, too: a line costs the same in all reports.
 */
#pragma once

#include "base/arena.h"
#include "compare/judge.h"

struct fz_heat_cost {
	int64_t self[FZ_SIDES], total[FZ_SIDES]; /* total: each sample is counted once */
};

struct fz_heat_file {
	uint32_t on_side[FZ_SIDES]; /* string of the profile; FZ_NONE: the side has no such file */
	struct fz_str name;         /* for display: canonical */
	uint8_t origin;             /* enum fz_origin */
	struct fz_heat_cost cost;
	uint32_t first_line[FZ_SIDES], line_count[FZ_SIDES]; /* in the lists of lines */
};

/* A line of one side, with that side's costs. Only the texts show which line of the other side is
 * the same: the page compares them. */
struct fz_heat_line {
	uint32_t file, function;
	int32_t line;
	int64_t self, total;
};

struct fz_heat_function {
	uint32_t file;
	int32_t line; /* on the head if it has the function, else on the base */
	struct fz_str name;
	uint8_t side;                        /* that of `line` */
	uint8_t state, presence;             /* enum fz_state, enum fz_presence */
	uint8_t self_verdict, total_verdict; /* enum fz_verdict */
	struct fz_heat_cost cost;
};

/* A call from a line of the head to a function. */
struct fz_heat_call {
	uint32_t file, callee;
	int32_t line;
	int64_t weight;
};

/* Position of samples within a line of the head, and their instruction: bytes from..to, -1 if
 * unknown; opcode FZ_NO_OPCODE if none was recorded. */
struct fz_heat_spot {
	uint32_t file;
	int32_t line, end_line, from, to;
	uint8_t opcode;
	int64_t self, total;
};

struct fz_heat {
	struct fz_arena arena;
	const struct fz_profile *profile[FZ_SIDES];
	const struct fz_diff *diff; /* NULL for a single profile */
	const struct fz_judgement *judgement;
	const char *metric, *unit;
	double factor;
	int64_t sum[FZ_SIDES];
	uint64_t samples[FZ_SIDES];

	struct fz_heat_file *files; /* by descending cost */
	uint32_t file_count;
	struct fz_heat_line *lines[FZ_SIDES]; /* by file, line */
	uint32_t line_count[FZ_SIDES];
	struct fz_heat_function *functions;
	uint32_t function_count;
	struct fz_heat_call *calls; /* by file, line, descending weight */
	size_t call_count;
	struct fz_heat_spot *spans, *opcodes; /* by file, line, descending self */
	size_t span_count, opcode_count;
};

int fz_heat_of_profile(struct fz_heat *h, const struct fz_profile *p, uint32_t metric,
		       struct fz_error *err);
void fz_heat_of_diff(struct fz_heat *h, const struct fz_diff *d, const struct fz_judgement *j);
void fz_heat_release(struct fz_heat *h);
