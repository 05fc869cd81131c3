/* SPDX-License-Identifier: MIT */
/* Numbers of instructions only change between minor versions. */
#include "symbol/opcode.h"

#include "base/base.h"
#include "symbol/opcode_tables.h"

enum { MINOR_MIN = 11 };

static const struct fz_opcode *const tables[] = {
	opcodes_3_11, opcodes_3_12, opcodes_3_13, opcodes_3_14, opcodes_3_15,
};

const struct fz_opcode *fz_opcode_find(const uint8_t python[3], uint8_t opcode)
{
	if (python[0] != 3 || python[1] < MINOR_MIN ||
	    python[1] - MINOR_MIN >= (int)FZ_ARRAY_LEN(tables))
		return NULL;
	const struct fz_opcode *found = &tables[python[1] - MINOR_MIN][opcode];
	return found->name ? found : NULL;
}

void fz_opcode_units(const uint8_t python[3], const uint8_t *bytecode, size_t n, uint8_t *ret)
{
	size_t unit = 0, end = n / 2;

	while (unit < end) {
		const struct fz_opcode *op = fz_opcode_find(python, bytecode[2 * unit]);
		/* A debugger or a coverage tool replaced the opcode and stores the original
		 * elsewhere. */
		if (!op || op->caches == FZ_OPCODE_CACHES_UNKNOWN)
			break;
		for (uint8_t i = 0; i <= op->caches && unit < end; i++)
			ret[unit++] = i;
	}
	memset(ret + unit, FZ_OPCODE_UNIT_UNKNOWN, end - unit);
}
