/* SPDX-License-Identifier: MIT */
/* What the bytecode instructions of a call tree cost. */
#pragma once

#include "profile/tree.h"

/* Weight of the samples in which a node's function was at an instruction of a line. */
struct fz_instruction {
	uint32_t node;
	int32_t line; /* 0: unknown */
	uint8_t opcode;
	int64_t self, total;
};

/* Of a tree that is not inverted, sorted by (node, line, opcode); freed by the caller. NULL when no
 * opcodes were recorded. */
struct fz_instruction *fz_tree_instructions(const struct fz_tree *t, size_t *ret_n);
