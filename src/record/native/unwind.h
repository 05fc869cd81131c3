/* SPDX-License-Identifier: MIT */
/* Finds the calls of a stopped thread in its registers and a copy of its stack. */
#pragma once

#include "record/native/space.h"

struct fz_unwind_frame {
	uint64_t pc;     /* an address in the instruction that runs or that made the call */
	uint64_t sp, hi; /* the call's own part of the stack: [sp, hi) */
	uint32_t frame;  /* in the profile, without symbol yet */
};

struct fz_unwind_stack {
	uint64_t lo; /* address of the copy's first byte */
	size_t n;
	const uint8_t *bytes;
};

/* Load the word at an address; false if it is not in the copy. */
static inline bool fz_unwind_load(const struct fz_unwind_stack *s, uint64_t at, uint64_t *ret)
{
	if (at < s->lo || s->n < 8 || at - s->lo > s->n - 8)
		return false;
	memcpy(ret, s->bytes + (at - s->lo), 8);
	return true;
}

enum fz_unwind_end {
	FZ_UNWIND_ROOT, /* the outermost call was found */
	FZ_UNWIND_LOST, /* a frame without unwind information or a damaged chain */
	FZ_UNWIND_CUT,  /* the stack continues beyond the copy */
};

struct fz_unwind {
	struct fz_space *space;
	struct fz_profile *into;
	struct fz_map by_pc; /* to rows */
	struct fz_unwind_row *rows;
	uint32_t row_n, row_cap;
	uint32_t generation;            /* of the space when rows were cached */
	struct fz_unwind_frame *frames; /* result, innermost first */
	uint32_t n, cap;
};

void fz_unwind_init(struct fz_unwind *u, struct fz_space *space, struct fz_profile *into);
void fz_unwind_release(struct fz_unwind *u);
/* Fills u->frames. registers: by DWARF number, FZ_REG_RETURN being the program counter. */
enum fz_unwind_end fz_unwind_run(struct fz_unwind *u, const uint64_t registers[FZ_REGS],
				 const struct fz_unwind_stack *stack);
