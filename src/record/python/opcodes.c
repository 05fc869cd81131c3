/* SPDX-License-Identifier: MIT */
/* Bytecode is a row of units of two bytes, of which the first is the opcode. Interpreters from 3.11
 * on replace opcodes by specialised ones as they run, so they are read anew for each sample, a
 * byte a frame, all in one call.
 *
 * An inline cache may follow an instruction:
 *
 *   units          | LOAD_FAST | CALL | cache | cache | cache | POP_TOP |
 *   going back     | 0         | 0    | 1     | 2     | 3     | 0       |
 *
 * Up to 3.12 a frame that called another one points at the last unit of the cache, whose bytes
 * mean nothing as an opcode. Specialised forms have the caches of what they are a form of, so where
 * instructions begin never changes and is found out once for a code object.
 */
#include "opcodes.h"

#include "profile/profile.h"
#include "symbol/opcode.h"

enum { BATCH = 256 };

void fz_py_opcodes_units(unsigned minor, const uint8_t *bytecode, size_t n, uint8_t *ret)
{
	const uint8_t version[3] = { 3, (uint8_t)minor };
	size_t unit = 0, end = n / 2;

	while (unit < end) {
		const struct fz_opcode *op = fz_opcode_find(version, bytecode[2 * unit]);
		/* A debugger's or a coverage tool's: what it stands for is kept elsewhere. */
		if (!op || op->caches == FZ_OPCODE_CACHES_UNKNOWN)
			break;
		for (uint8_t i = 0; i <= op->caches && unit < end; i++)
			ret[unit++] = i;
	}
	memset(ret + unit, FZ_PY_UNIT_UNKNOWN, end - unit);
}

/* Its instruction must be one, as far as that can be told here: a thread's own copy of the
 * bytecode lies elsewhere. */
static bool has_begun(const struct fz_py_layout *l, const struct fz_py_raw_frame *f)
{
	uint64_t object = f->code & ((1ull << FZ_PY_CODE_BITS) - 1);
	bool has_copy = f->code != object;

	if (object <= FZ_PY_CODE_NATIVE || f->position == 0)
		return false;
	return has_copy || f->position >= object + l->code.bytecode;
}

/* Address of a frame's opcode; 0: it has none. */
static uint64_t opcode_address(struct fz_py_codes *codes, const struct fz_py_raw_frame *f)
{
	if (!has_begun(codes->layout, f))
		return 0;
	if (codes->layout->frames == FZ_PY_FRAMES_DIRECT)
		return f->position;
	return fz_py_codes_instruction(codes, f->code, f->position);
}

/* Read up to BATCH of them. Returns how many were looked at. */
static uint32_t read_batch(struct fz_py_codes *codes, const struct fz_py_raw_frame *frames,
			   uint32_t n, uint8_t *ret)
{
	struct iovec parts[BATCH];
	uint32_t which[BATCH];
	uint8_t bytes[BATCH];
	uint32_t looked = 0, wanted = 0;

	for (; looked < n && wanted < BATCH; looked++) {
		ret[looked] = FZ_NO_OPCODE;
		uint64_t at = opcode_address(codes, &frames[looked]);
		if (at == 0)
			continue;
		parts[wanted] = (struct iovec){ (void *)(uintptr_t)at, 1 };
		which[wanted++] = looked;
	}
	if (wanted == 0)
		return looked;
	ssize_t got = fz_process_read_parts(codes->process, parts, wanted, bytes, wanted);
	got = FZ_MAX(got, 0);
	for (uint32_t i = 0; i < got; i++)
		ret[which[i]] = bytes[i];
	/* Go on behind the one that is not there. */
	return got < wanted ? which[got] + 1 : looked;
}

void fz_py_opcodes_read(struct fz_py_codes *codes, const struct fz_py_raw_frame *frames, uint32_t n,
			uint8_t *ret)
{
	for (uint32_t done = 0; done < n;)
		done += read_batch(codes, frames + done, n - done, ret + done);
}
