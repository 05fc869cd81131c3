/* SPDX-License-Identifier: MIT */
/* Bytecode instructions by name, and where they begin.
 *
 * Bytecode is a sequence of units of two bytes, the first of which is the opcode. An inline cache
 * may follow an instruction:
 *
 *   units          | LOAD_FAST | CALL | cache | cache | cache | POP_TOP |
 *   going back     | 0         | 0    | 1     | 2     | 3     | 0       |
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct fz_opcode {
	const char *name; /* "LOAD_ATTR_INSTANCE_VALUE" */
	uint8_t base;     /* the instruction it specialises, or itself */
	uint8_t caches;   /* units of inline cache after it */
};
enum { FZ_OPCODE_CACHES_UNKNOWN = 255 }; /* it replaces another instruction */

/* Finds an instruction of Python 3.11 or later; NULL if version or number are unknown. */
const struct fz_opcode *fz_opcode_find(const uint8_t python[3], uint8_t opcode);

/* For each unit of n bytes of bytecode, how many units before it its instruction begins: 0, or more
 * in an inline cache; FZ_OPCODE_UNIT_UNKNOWN if unknown. */
void fz_opcode_units(const uint8_t python[3], const uint8_t *bytecode, size_t n, uint8_t *ret);
enum { FZ_OPCODE_UNIT_UNKNOWN = 255 };
