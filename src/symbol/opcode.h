/* SPDX-License-Identifier: MIT */
/* Bytecode instructions by name. */
#pragma once

#include <stdint.h>

struct fz_opcode {
	const char *name; /* "LOAD_ATTR_INSTANCE_VALUE" */
	uint8_t base;     /* the instruction it specialises, or itself */
	uint8_t caches;   /* units of inline cache after it */
};
enum { FZ_OPCODE_CACHES_UNKNOWN = 255 }; /* it replaces another instruction */

/* Finds an instruction of Python 3.11 or later; NULL if version or number are unknown. */
const struct fz_opcode *fz_opcode_find(const uint8_t python[3], uint8_t opcode);
