/* SPDX-License-Identifier: MIT */
/* One thread's stack out of copied memory.
 *
 * A plan is a list of pieces of the target's memory that one call copies, one behind another. A
 * thread contributes
 *
 *   regions A (far from the innermost frame first) | thread state | CFrame | regions B (reversed)
 *
 * so that whatever is equal in A and B did not change while the thread state in the middle was
 * read, and the innermost frames, which change most, are read closest to it. Only the innermost
 * 32 KiB or so are in B: a frame can't change before all that it called are gone, so what lies
 * below frames that stood still stood still too.
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
	int64_t pace;     /* median of what reading took, in 1/256 ns a unit of work */
	bool interrupted; /* the last read took so long that much may have happened meanwhile */
};

void fz_py_plan_release(struct fz_py_plan *p);
void fz_py_plan_reset(struct fz_py_plan *p);
/* Plan to copy n bytes from an address; returns where in the buffer they will be. */
size_t fz_py_plan_add(struct fz_py_plan *p, uint64_t address, size_t n);
/* Copy everything. 0, or -1 with errno; *ret_bytes is how much was copied before the first part
 * that was not there. */
int fz_py_plan_read(struct fz_py_plan *p, struct fz_process *process, size_t *ret_bytes);

/* A frame as it was found; entry frames, which run no code, are not kept. */
struct fz_py_raw_frame {
	uint64_t code; /* or one of the below: not a frame */
	uint64_t position;
};
/* The upper bits of `code`: number of the thread's own copy of the bytecode. */
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
	uint64_t top;  /* highest frame seen in it lately */
	size_t a, b;   /* where the copies are; FZ_PY_NO_COPY */
	uint64_t split; /* from here on up the second copy is at b_hot, taken before the rest */
	size_t b_hot;
	uint32_t used;  /* walk that last went through it */
	uint32_t order; /* distance from the innermost frame on that walk, in regions */
};
#define FZ_PY_NO_COPY SIZE_MAX

enum { FZ_PY_ODD_ROOTS = 8 };

/* No thread state is larger: a CFrame that is nearer to one is part of it, and of no call. */
enum { FZ_PY_STATE_MAX = 4096 };

struct fz_py_walk {
	uint64_t tstate, interp;
	/* Of the thread whose state this is: the memory of one that ended is used for the next. 0:
	 * not checked. */
	uint64_t identity;
	uint64_t cframe;              /* where the CFrame was last */
	bool dual;                    /* plan a second copy */
	bool focused;                 /* plan only regions that the last walk went through */
	struct fz_py_region *regions; /* by address, not overlapping */
	uint32_t region_n, region_cap;
	uint32_t walks, swept, shrunk;
	bool careful; /* gaps between heap frames turned out to be unmapped: don't bridge them */
	size_t at_tstate, at_cframe;
	/* what the last walk found, innermost first, and what was last accepted, root first */
	struct fz_py_chain now, last, certain;
	uint64_t *addresses; /* of the frames of `now`, where they are wanted */
	uint32_t address_cap;
	uint64_t claim;        /* hash of the heap frames in which the last two copies agreed */
	uint32_t *last_stacks; /* stack of each prefix of `last` */
	uint32_t last_stacks_cap;
	uint32_t seen_epoch, last_epoch, last_changes; /* of the code cache */
	uint64_t *scratch;
	uint32_t scratch_cap;
	uint8_t *opcodes; /* of `now`, where they are wanted */
	uint32_t opcodes_cap;
	bool have_certain;
	/* The frame of a coroutine, and where it is in `now`, if it is; FZ_NONE. */
	uint64_t mark;
	uint32_t mark_at;
	uint64_t odd_root; /* where the tries of this sample ended, when that was no root */
	/* roots that were met: entry frames of greenlets (3.15), code of root frames (to 3.10) */
	uint64_t odd_roots[FZ_PY_ODD_ROOTS];
	uint64_t new_root;
	unsigned new_root_tries;
	uint32_t odd_n, odd_next;
	/* which C frames run the frames of `now`; ends count in `now` until the walk is accepted */
	struct fz_python_segment *segments;
	uint32_t segment_n, segment_cap;
	uint64_t segment_frame; /* the innermost one of the segment being walked; 0: not yet */
	uint32_t *shown;        /* profile frames of `now` without those that nobody wants to see */
	uint32_t shown_cap;
};

enum fz_py_outcome {
	FZ_PY_WALK_OK,
	FZ_PY_WALK_CHANGED, /* the copies differ */
	FZ_PY_WALK_UNSURE,  /* heap frames: a second read must say the same */
	FZ_PY_WALK_MISSING, /* a frame outside the regions: they have been extended, read again */
	FZ_PY_WALK_ROOT,    /* did not end at the root */
	FZ_PY_WALK_CORRUPT,
	FZ_PY_WALK_UNMAPPED,
	FZ_PY_WALK_GONE, /* this is no thread state any more */
};

struct fz_py_walk_context {
	struct fz_process *process;
	const struct fz_py_layout *layout;
	struct fz_py_codes *codes;
	bool native;       /* show where C code lies between frames */
	bool opcodes;      /* tell what instruction frames are at */
	uint32_t gc_frame; /* profile frames of the markers */
	uint32_t native_frame;
	uint32_t unreadable_frame;
	bool addresses; /* note where the frames are */
	bool segments;  /* note which C frames run which Python frames */
};

/* Up to 3.10: the serial number of a state, mixed with the C library's id of its thread, which is
 * that of the thread that started it until it runs. */
static inline uint64_t fz_py_walk_serial(uint64_t id, uint64_t thread_id)
{
	return fz_hash64(id) ^ thread_id;
}

/* What tells a thread from others, in a copy of its state. */
static inline uint64_t fz_py_walk_identity(const struct fz_py_layout *l, const uint8_t *state)
{
	if (l->thread.native_thread_id != FZ_PY_ABSENT)
		return fz_py_word(state, l->thread.native_thread_id);
	return fz_py_walk_serial(fz_py_word(state, l->thread.id),
				 fz_py_word(state, l->thread.thread_id));
}

/* Is what was copied still the state of the walk's thread? */
bool fz_py_walk_is_same(const struct fz_py_walk *w, const struct fz_py_layout *l,
			const struct fz_py_plan *plan);
void fz_py_walk_release(struct fz_py_walk *w);
void fz_py_walk_plan(struct fz_py_walk *w, const struct fz_py_layout *l, struct fz_py_plan *plan);
/* Plan nothing of it but its state, if that is wanted. */
void fz_py_walk_plan_state(struct fz_py_walk *w, const struct fz_py_layout *l,
			   struct fz_py_plan *plan, bool wanted);
/* Follow the frames in what was copied. gc_frame: address of the frame under which a collection
 * runs, or 0. Unknown frames are looked up in the target at once, so that the next plan has them.
 */
enum fz_py_outcome fz_py_walk_run(struct fz_py_walk *w, const struct fz_py_walk_context *c,
				  const struct fz_py_plan *plan, uint64_t gc_frame);
/* Fill *ret with the stack of the last walk, which was OK. gc: put the collection on top. */
enum fz_py_outcome fz_py_walk_accept(struct fz_py_walk *w, const struct fz_py_walk_context *c,
				     bool gc, uint32_t *ret);
/* What the walk that was just accepted says about the C stack. gc: as it was accepted. */
void fz_py_walk_calls(struct fz_py_walk *w, const struct fz_py_walk_context *c,
		      const struct fz_py_plan *plan, bool gc, struct fz_python_calls *ret);
/* In the stack that was just accepted: what called the marked frame. */
uint32_t fz_py_walk_marked(const struct fz_py_walk *w);
/* Begin a new sample; then, when all tries failed, the stack that is certain, with the marker. */
void fz_py_walk_begin(struct fz_py_walk *w);
uint32_t fz_py_walk_salvage(struct fz_py_walk *w, const struct fz_py_walk_context *c);
/* Is it time to plan again, so that regions which are no longer needed are dropped? */
bool fz_py_walk_is_due(const struct fz_py_walk *w);
/* The part of the plan at `offset` was not there: drop what was to be copied. False when it was
 * the thread state. */
bool fz_py_walk_unmapped(struct fz_py_walk *w, size_t offset);
