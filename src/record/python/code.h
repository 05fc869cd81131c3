/* SPDX-License-Identifier: MIT */
/* From (code object, instruction) in the target to a frame of the profile, remembered. */
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
	/* Entries whose own epoch is older are compared with the target before they are used. */
	uint32_t epoch;
	uint32_t lag;            /* epochs for which frames that did not change need no new look */
	uint32_t changes;        /* counts the times that frames given out before became invalid */
	struct fz_py_codes *kin; /* see fz_py_codes_set_kin */
	uint32_t newest;         /* version up to which code is known to be the kin's, too */
};

void fz_py_codes_init(struct fz_py_codes *c, struct fz_process *process,
		      const struct fz_py_layout *layout, struct fz_profile *into);
void fz_py_codes_release(struct fz_py_codes *c);
/* Everything may be stale from now on. */
static inline void fz_py_codes_expire(struct fz_py_codes *c)
{
	c->epoch++;
}

/* The process was forked from that one: what cannot be read of it any more, for it has ended, is
 * read there, where it is the same. NULL: there is none, or no more. */
void fz_py_codes_set_kin(struct fz_py_codes *c, struct fz_py_codes *kin);

/* In place of a frame: one of the interpreter's own, that nobody wants to see. */
#define FZ_PY_FRAME_HIDDEN (FZ_NONE - 1)

/* Frame for a code object at a position as frames hold it (an instruction's address, or the
 * value of f_lasti) with an opcode, if that is known. FZ_NONE: it cannot be a code object, or the
 * position is not inside it. */
uint32_t fz_py_codes_frame(struct fz_py_codes *c, uint64_t code, uint64_t position,
			   uint32_t tlbc_index, uint8_t opcode);
/* The same for a code object that a tick in the kernel (capture/bpf) met by this mark. FZ_NONE also
 * where it is gone and nothing was known of it. */
uint32_t fz_py_codes_marked(struct fz_py_codes *c, uint64_t code, uint64_t position,
			    uint32_t tlbc_index, uint64_t mark);
/* Compare the entries of these code objects with the target, in one read, where that is due. False:
 * one could not be read. */
bool fz_py_codes_refresh(struct fz_py_codes *c, const uint64_t *codes, size_t n);
/* co_flags of a code object that has been looked up, else 0. */
uint32_t fz_py_codes_flags(const struct fz_py_codes *c, uint64_t code);
/* Address of the instruction that such a position is in, where a frame that called another one
 * points into the call's inline cache (3.11, 3.12); 0: that cannot be told. */
uint64_t fz_py_codes_instruction(struct fz_py_codes *c, uint64_t code, uint64_t position);
