/* SPDX-License-Identifier: MIT */
/* Numbers of instructions only change between minor versions. */
#include "symbol/opcode.h"

#include <stddef.h>

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
