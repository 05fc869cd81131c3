/* SPDX-License-Identifier: MIT */
/* Merges the calls on the C stack and the Python frames that some of them run into one stack. */
#pragma once

#include "record/native/unwind.h"
#include "record/python/python.h"

/* Code of the interpreter's loop, for versions that do not link its calls (3.8, 3.9). */
struct fz_merge_loop {
	uint64_t lo[2], hi[2]; /* absolute addresses */
	unsigned n;
};

struct fz_merge {
	struct fz_merge_call *calls;
	uint32_t call_n, call_cap;
	uint32_t *frames; /* the result, outermost first: profile frames */
	uint32_t n, cap;
};

void fz_merge_release(struct fz_merge *m);
/* Start a new stack, then add the thread's frames of each interpreter, then merge. */
void fz_merge_begin(struct fz_merge *m);
void fz_merge_add(struct fz_merge *m, const struct fz_python_calls *calls,
		  const struct fz_unwind_stack *stack, const struct fz_unwind *u);
void fz_merge_run(struct fz_merge *m, const struct fz_unwind *u, const struct fz_merge_loop *loop);
