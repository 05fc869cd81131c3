/* SPDX-License-Identifier: MIT */
/* Extracting one thread's stack from copied memory.
 *
 * A plan is a list of pieces of the target's memory that one call copies in order. A thread
 * contributes
 *
 *   regions A (far from the innermost frame first) | thread state | CFrame | regions B (reversed)
 *
 * so whatever is equal in A and B did not change while the thread state in the middle was read, and
 * the innermost frames, which change most, are read closest to it. Only the innermost 32 KiB or so
 * are in B: a frame can't change before all of its callees have returned, so the callers of
 * unchanged frames did not change, either.
 */
#pragma once

#include <sys/uio.h>

#include "record/process.h"
#include "code.h"
#include "layouts.h"
#include "python.h"

struct fz_py_plan {
	struct iovec *parts;
	size_t n, cap;
	size_t bytes;
	uint8_t *buffer;
	size_t buffer_size;
	int64_t pace;     /* median time of reads, in 1/256 ns per unit of work */
	bool interrupted; /* the last read took so long that it must have been interrupted */
};

void fz_py_plan_release(struct fz_py_plan *p);
void fz_py_plan_reset(struct fz_py_plan *p);
/* Add n bytes at an address; returns their offset in the buffer. */
size_t fz_py_plan_add(struct fz_py_plan *p, uint64_t address, size_t n);
/* Copy everything. 0, or -1 with errno; *ret_bytes is the number of bytes before the first unmapped
 * part. */
int fz_py_plan_read(struct fz_py_plan *p, struct fz_process *process, size_t *ret_bytes);

/* A frame in raw form; entry frames, which run no code, are left out. */
struct fz_py_raw_frame {
	uint64_t code; /* or a marker, one of the constants below */
	uint64_t position;
};
/* The bits of `code` above these are the number of the thread's own copy of the bytecode. */
enum { FZ_PY_CODE_BITS = 48 };
#define FZ_PY_CODE_GC 1     /* a running collection */
#define FZ_PY_CODE_NATIVE 2 /* C code between two frames */

struct fz_py_chain {
	struct fz_py_raw_frame *frames;
	uint32_t n, cap;
};

struct fz_py_region {
	uint64_t lo, hi; /* [lo, hi) is copied */
	uint64_t
		limit; /* hi may grow up to here (the end of a stack chunk); 0: it is on the heap */
	uint64_t top;  /* highest frame seen in it recently */
	size_t a, b;   /* offsets of the copies, or FZ_PY_NO_COPY */
	uint64_t split; /* the second copy from here on is at b_hot, taken before the rest */
	size_t b_hot;
	uint32_t used;  /* walk that last went through it */
	uint32_t order; /* distance from the innermost frame on that walk, in regions */
};
#define FZ_PY_NO_COPY SIZE_MAX

enum { FZ_PY_ROOTS = 8 };

/* No thread state is larger: a CFrame closer to its start is part of it, and not of a call. */
enum { FZ_PY_STATE_MAX = 4096 };

struct fz_py_walk {
	uint64_t tstate, interp;
	/* Identity of the thread, since the state of one that ended is reused for others; 0: not
	 * checked. */
	uint64_t identity;
	uint64_t cframe;              /* last address of the CFrame */
	bool dual;                    /* plan a second copy */
	bool focused;                 /* plan only regions that the last walk went through */
	struct fz_py_region *regions; /* by address, not overlapping */
	uint32_t region_n, region_cap;
	uint32_t walks, swept, shrunk;
	bool careful; /* don't bridge gaps between heap frames: some are unmapped */
	size_t at_tstate, at_cframe;
	/* now: the last walk, innermost first; last: the last accepted one, root first */
	struct fz_py_chain now, last, certain;
	uint64_t *addresses; /* of the frames of `now`, if wanted */
	uint32_t address_cap;
	uint64_t claim;        /* hash of the heap frames in the last equal copies */
	unsigned claims;       /* equal copies that found it */
	uint32_t *last_stacks; /* stack of each prefix of `last` */
	uint32_t last_stacks_cap;
	uint32_t seen_epoch, last_epoch, last_changes; /* of the code cache */
	uint64_t *scratch;
	uint32_t scratch_cap;
	uint8_t *opcodes; /* of `now`, if wanted */
	uint32_t opcodes_cap;
	bool have_certain;
	/* Address of a coroutine's frame, and its index in `now`, or FZ_NONE. */
	uint64_t mark;
	uint32_t mark_at;
	uint64_t roots[FZ_PY_ROOTS]; /* code of root frames, to 3.10 */
	uint64_t new_root;
	unsigned new_root_tries;
	uint32_t root_n, root_next;
	/* which C frames run the frames of `now`; ends count in `now` until the walk is accepted */
	struct fz_python_segment *segments;
	uint32_t segment_n, segment_cap;
	uint64_t segment_frame; /* the innermost frame of the current segment; 0: none yet */
	uint32_t *shown;        /* profile frames of `now`, without hidden ones */
	uint32_t shown_cap;
};

enum fz_py_outcome {
	FZ_PY_WALK_OK,
	FZ_PY_WALK_CHANGED, /* the copies differ */
	FZ_PY_WALK_UNSURE,  /* heap frames: more reads must confirm them */
	FZ_PY_WALK_MISSING, /* a frame was outside the regions, now extended: read again */
	FZ_PY_WALK_ROOT,    /* did not end at the root */
	FZ_PY_WALK_CORRUPT,
	FZ_PY_WALK_UNMAPPED,
	FZ_PY_WALK_GONE, /* this is no longer the thread's state */
};

struct fz_py_walk_context {
	struct fz_process *process;
	const struct fz_py_layout *layout;
	struct fz_py_codes *codes;
	bool native;       /* mark C code between frames */
	bool opcodes;      /* record the frames' instructions */
	uint32_t gc_frame; /* profile frames of the markers */
	uint32_t native_frame;
	uint32_t unreadable_frame;
	bool addresses; /* store the frames' addresses */
	bool segments;  /* find out which C frames run which Python frames */
};

/* Up to 3.10: the serial number of a state, mixed with the C library's id of its thread; until that
 * runs, it is the id of the thread that started it. */
static inline uint64_t fz_py_walk_serial(uint64_t id, uint64_t thread_id)
{
	return fz_hash64(id) ^ thread_id;
}

/* The identity of a thread, from a copy of its state. */
static inline uint64_t fz_py_walk_identity(const struct fz_py_layout *l, const uint8_t *state)
{
	if (l->thread.native_thread_id != FZ_PY_ABSENT)
		return fz_py_word(state, l->thread.native_thread_id);
	return fz_py_walk_serial(fz_py_word(state, l->thread.id),
				 fz_py_word(state, l->thread.thread_id));
}

/* Is the copied state still that of the walk's thread? */
bool fz_py_walk_is_same(const struct fz_py_walk *w, const struct fz_py_layout *l,
			const struct fz_py_plan *plan);
/* A hash of the copied state and of its CFrame. */
uint64_t fz_py_walk_state(const struct fz_py_walk *w, const struct fz_py_layout *l,
			  const struct fz_py_plan *plan);
void fz_py_walk_release(struct fz_py_walk *w);
void fz_py_walk_plan(struct fz_py_walk *w, const struct fz_py_layout *l, struct fz_py_plan *plan);
/* Plan only the thread's state, if `wanted`, else nothing. */
void fz_py_walk_plan_state(struct fz_py_walk *w, const struct fz_py_layout *l,
			   struct fz_py_plan *plan, bool wanted);
/* Follow the frames in the copy. gc_frame: address of the frame that triggered a running
 * collection, or 0. Frames outside the regions are located in the target at once, so that the next
 * plan has them. */
enum fz_py_outcome fz_py_walk_run(struct fz_py_walk *w, const struct fz_py_walk_context *c,
				  const struct fz_py_plan *plan, uint64_t gc_frame);
/* Set *ret to the stack of the last walk, which must be OK. gc: put the collection on top. */
enum fz_py_outcome fz_py_walk_accept(struct fz_py_walk *w, const struct fz_py_walk_context *c,
				     bool gc, uint32_t *ret);
/* Get the data for merging the walk that was just accepted with the C stack. gc: as in
 * fz_py_walk_accept. */
void fz_py_walk_calls(struct fz_py_walk *w, const struct fz_py_walk_context *c,
		      const struct fz_py_plan *plan, bool gc, struct fz_python_calls *ret);
/* The caller's stack of the marked frame, in the stack that was just accepted. */
uint32_t fz_py_walk_marked(const struct fz_py_walk *w);
/* Begin a new sample. If all tries fail, salvage returns the certain part of the stack, with the
 * marker [unreadable]. */
void fz_py_walk_begin(struct fz_py_walk *w);
uint32_t fz_py_walk_salvage(struct fz_py_walk *w, const struct fz_py_walk_context *c);
/* Is it time to plan again, to drop regions that are no longer needed? */
bool fz_py_walk_is_due(const struct fz_py_walk *w);
/* The part of the plan at `offset` is unmapped: drop its region. False if it is the thread state.
 */
bool fz_py_walk_unmapped(struct fz_py_walk *w, size_t offset);

/* Index of the region that contains [at, at + size), or FZ_NONE. */
uint32_t fz_py_region_find(const struct fz_py_walk *w, uint64_t at, uint32_t size);
/* Add regions for a frame that the walk met outside of all, or that was not copied, and for its
 * neighbourhood, so that the next plan includes them. */
void fz_py_region_learn(struct fz_py_walk *w, const struct fz_py_walk_context *c,
			const struct fz_py_plan *plan, uint64_t at);
