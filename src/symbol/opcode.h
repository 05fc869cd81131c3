/* SPDX-License-Identifier: MIT */
/* Bytecode instructions by name. */
#pragma once

#include <stdint.h>

struct fz_opcode {
	const char *name; /* "LOAD_ATTR_INSTANCE_VALUE" */
	uint8_t base;     /* the instruction that it is a specialised form of; else itself */
	uint8_t caches;   /* units of inline cache behind it */
};
enum { FZ_OPCODE_CACHES_UNKNOWN = 255 }; /* it stands in the place of another one */

/* An instruction of Python 3.11 or later, NULL when the version or the number is not known. */
const struct fz_opcode *fz_opcode_find(const uint8_t python[3], uint8_t opcode);
