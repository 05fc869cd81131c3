/* SPDX-License-Identifier: MIT */
/* Maps (code object, instruction) in the target to a frame of the profile, with a cache. */
#pragma once

#include "record/process.h"
#include "layouts.h"
#include "profile/profile.h"

struct fz_py_codes {
	struct fz_process *process;
	const struct fz_py_layout *layout;
	struct fz_profile *into;

	struct fz_py_code *list;
	uint32_t n, cap;
	struct fz_map by_address;
	struct fz_py_place *places; /* open addressing; mask + 1 slots */
	size_t place_mask, place_n;
	size_t table_bytes;
	/* Entries with an older epoch are compared with the target before use. */
	uint32_t epoch;
	uint32_t lag;            /* number of epochs for which unchanged frames need no check */
	uint32_t changes;        /* how many times frames returned before became invalid */
	uint32_t asyncio_n;      /* number of code objects read that belong to asyncio */
	struct fz_py_codes *kin; /* see fz_py_codes_set_kin */
	uint32_t newest;         /* code up to this version is the kin's, too */
};

void fz_py_codes_init(struct fz_py_codes *c, struct fz_process *process,
		      const struct fz_py_layout *layout, struct fz_profile *into);
void fz_py_codes_release(struct fz_py_codes *c);
/* Everything may be stale from now on. */
static inline void fz_py_codes_expire(struct fz_py_codes *c)
{
	c->epoch++;
}

/* Set the process that this one was forked from: code that cannot be read here, because this
 * process has ended, is read there if it is the same. NULL: none, or no longer. */
void fz_py_codes_set_kin(struct fz_py_codes *c, struct fz_py_codes *kin);

/* Returned instead of a frame for the interpreter's internal frames, which are not shown. */
#define FZ_PY_FRAME_HIDDEN (FZ_NONE - 1)

/* Frame for a code object at a position (a frame's instruction address or f_lasti), with an opcode
 * or FZ_NO_OPCODE. FZ_NONE if it is no code object, or the position is outside of it. */
uint32_t fz_py_codes_frame(struct fz_py_codes *c, uint64_t code, uint64_t position,
			   uint32_t tlbc_index, uint8_t opcode);
/* The same for a code object that a tick in the kernel (record/bpf) saw with this mark. FZ_NONE
 * also if it is gone and was never read. */
uint32_t fz_py_codes_marked(struct fz_py_codes *c, uint64_t code, uint64_t position,
			    uint32_t tlbc_index, uint64_t mark);
/* Compare the entries of these code objects with the target, if due, in one read. False if one
 * could not be read. */
bool fz_py_codes_refresh(struct fz_py_codes *c, const uint64_t *codes, size_t n);
/* Is it a generator or a coroutine? Up to 3.12, of code that has been looked up. */
bool fz_py_codes_is_generator(const struct fz_py_codes *c, uint64_t code);
/* Address of the instruction at a position, which in the frame of a caller may be inside the call's
 * inline cache (3.11, 3.12); 0 if unknown. */
uint64_t fz_py_codes_instruction(struct fz_py_codes *c, uint64_t code, uint64_t position);
