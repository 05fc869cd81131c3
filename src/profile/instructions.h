/* SPDX-License-Identifier: MIT */
/* Costs of the bytecode instructions of a call tree. */
#pragma once

#include "profile/tree.h"

/* Weight of the samples with a node's function at an instruction of a line. */
struct fz_instruction {
	uint32_t node;
	int32_t line; /* 0: unknown */
	uint8_t opcode;
	int64_t self, total;
};

/* Returns the instructions of a straight tree, sorted by (node, line, opcode); freed by the caller.
 * NULL if no opcodes were recorded. */
struct fz_instruction *fz_tree_instructions(const struct fz_tree *t, size_t *ret_n);
