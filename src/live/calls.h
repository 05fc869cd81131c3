/* SPDX-License-Identifier: MIT */
/* One function in the live view: its callers, its callees and its active lines. */
#pragma once

#include "live/model.h"

/* Callees of a function in preorder, highest cost first; the first is the function itself. */
struct fz_live_call {
	uint32_t function, depth;
	int64_t self, total;
};

struct fz_live_line {
	int32_t line;
	int64_t self, total;
};

struct fz_live_caller {
	uint32_t function; /* FZ_NONE: it is a root */
	int64_t total;
};

struct fz_live_opcode {
	uint8_t opcode;
	int64_t self;
};

struct fz_live_calls {
	int64_t self, total, sum; /* of the function; of its scope */
	struct fz_live_call *calls;
	uint32_t call_n;
	struct fz_live_caller *callers; /* highest cost first */
	uint32_t caller_n;
	struct fz_live_line *lines; /* highest cost first */
	uint32_t line_n;
	struct fz_live_opcode *opcodes; /* most frequent first; none unless recorded */
	uint32_t opcode_n;
};

/* Get at most `most` calls, without those below a hundredth of the function's cost. If the function
 * recurs in a stack, it counts once, from its outermost call on. */
void fz_live_calls_of(const struct fz_live_model *m, uint32_t scope, uint32_t function,
		      uint32_t most, struct fz_live_calls *ret);
void fz_live_calls_release(struct fz_live_calls *c);
