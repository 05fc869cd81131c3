/* SPDX-License-Identifier: MIT */
/* Interpreters from 3.11 on replace opcodes by specialised ones as they run, so they are read anew
 * for each sample, a byte per frame, all in one call.
 *
 * Up to 3.12 a frame that called another one points at the last unit of the instruction's inline
 * cache (symbol/opcode.h), which contains no opcode. Specialised forms have the same caches as the
 * instruction they replace, so the starts of instructions never change and are computed once per
 * code object.
 */
#include "opcodes.h"

#include "profile/profile.h"

enum { BATCH = 256 };

/* Is the frame at an instruction? For a thread's own copy of the bytecode, it cannot be checked
 * that the address lies in the code object. */
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

/* Read up to BATCH opcodes. Returns the number of frames done. */
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
	/* Continue after the one that is not readable. */
	return got < wanted ? which[got] + 1 : looked;
}

void fz_py_opcodes_read(struct fz_py_codes *codes, const struct fz_py_raw_frame *frames, uint32_t n,
			uint8_t *ret)
{
	for (uint32_t done = 0; done < n;)
		done += read_batch(codes, frames + done, n - done, ret + done);
}
