/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Peak and live bytes: how much the blocks that a part allocated held together at most, and at its
 * end.
 *
 * Allocators are watched, not replaced, so that no other count changes: their arguments where they
 * begin, their answer where they return. What an allocator calls meanwhile is its own affair. Sizes
 * are those that were asked for. A block belongs to the context that allocated it; of one from
 * before the part, what it grows by.
 *
 *   held        .--.        peak: here
 *          .----'  '-.   .---- live
 *     -----'         '---'
 *
 * Each node knows what it holds, and what it held at the peak. The latter is not copied whenever
 * there is a new peak, but when the node changes for the first time after one (struct fzc_node,
 * changed), or at the end.
 */
#include "fzcount.h"

#include "pub_tool_hashtable.h"
#include "pub_tool_machine.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_vki.h"

#include "libvex_guest_amd64.h"

struct block {
	struct block *next; /* these two as VgHashNode has them */
	UWord address;
	SizeT size;
	SizeT own;             /* of these bytes, billed to */
	struct fzc_node *node; /* unless it is of an earlier part: then it is gone */
	UWord part;
};

static struct {
	VgHashTable *blocks;
	UWord part;
	ULong now, peak_at; /* counts changes; at which the peak was */
	ULong held, peak;
	Bool paused;
} heap;
static Bool missed;

void fzc_memory_init(void)
{
	heap.blocks = VG_(HT_construct)(FZC_TAG);
}

/* ---- what nodes hold ---- */

static void settle(struct fzc_node *n)
{
	if (n->changed <= heap.peak_at)
		n->count[FZC_PEAK_BYTES] = n->count[FZC_LIVE_BYTES];
}

/* Negative where there is less. */
static void bill(struct fzc_node *n, Word bytes)
{
	settle(n);
	n->changed = ++heap.now;
	n->count[FZC_LIVE_BYTES] += (ULong)bytes;
	heap.held += (ULong)bytes;
	if (heap.held <= heap.peak)
		return;
	heap.peak = heap.held;
	heap.peak_at = heap.now;
}

void fzc_memory_settle(void)
{
	for (struct fzc_node *n = &fzc_root; n; n = fzc_tree_next(n))
		settle(n);
}

void fzc_memory_clear(void)
{
	heap.part++;
	heap.now = heap.peak_at = heap.held = heap.peak = 0;
	heap.paused = False;
}

void fzc_memory_pause(Bool paused)
{
	heap.paused = paused;
}

Bool fzc_memory_missed(void)
{
	return missed;
}

/* ---- blocks ---- */

/* Forget a block; what it was, all zero when it is not known. */
static struct block forget(UWord address)
{
	struct block *known = VG_(HT_remove)(heap.blocks, address);
	struct block b = { .size = 0 };

	if (!known)
		return b;
	b = *known;
	VG_(free)(known);
	if (b.part != heap.part)
		b.own = 0;
	if (b.own)
		bill(b.node, -(Word)b.own);
	return b;
}

/* Of what it was before, if it was anything, the part keeps what it had; more is its own unless it
 * is paused or the call began before it. */
static void remember(const struct fzc_allocating *a, UWord address, SizeT size, struct block was)
{
	SizeT others = was.size - was.own, own = size > others ? size - others : 0;
	struct block *b = VG_(malloc)(FZC_TAG, sizeof(*b));

	if (heap.paused && own > was.own)
		own = was.own;
	if (a->part != heap.part)
		own = 0;
	*b = (struct block){
		.address = address, .size = size, .own = own, .node = a->node, .part = heap.part
	};
	VG_(HT_add_node)(heap.blocks, b);
	if (own)
		bill(b->node, (Word)own);
}

/* ---- calls ---- */

void fzc_memory_begin(const struct fzc_function *f)
{
	struct fzc_allocating *a = &fzc_now.allocating;

	if (a->function)
		return;
	if (f->alloc == FZC_FREE) {
		forget(fzc_arguments[0]);
		return;
	}
	*a = (struct fzc_allocating){ .function = f,
				      .node = fzc_now.node,
				      .part = heap.part,
				      .depth = fzc_now.top - fzc_now.base,
				      .sp = fzc_now.top->sp,
				      .back = *(const Addr *)fzc_now.top->sp };
	VG_(memcpy)(a->arguments, fzc_arguments, sizeof(a->arguments));
}

static void allocated(const struct fzc_allocating *a, UWord answer)
{
	const UWord *arguments = a->arguments;
	UWord address = answer, size = arguments[0];
	struct block was = { .size = 0 };

	switch (a->function->alloc) {
	case FZC_ALLOC_PRODUCT:
		size = arguments[0] * arguments[1];
		break;
	case FZC_ALLOC_SECOND:
		size = arguments[1];
		break;
	case FZC_ALLOC_THIRD: /* posix_memalign says whether it failed */
		address = answer ? 0 : *(const UWord *)arguments[0];
		size = arguments[2];
		break;
	case FZC_REALLOC:
		size = arguments[1];
		if (address || !size)
			was = forget(arguments[0]);
		break;
	}
	if (!address)
		return;
	forget(address);
	remember(a, address, size, was);
}

/* An exception leaves an allocator as well, to another place than it was called from. */
void fzc_memory_returned(Addr sp)
{
	struct fzc_allocating a = fzc_now.allocating;
	UWord answer;

	if (fzc_now.top - fzc_now.base >= a.depth)
		return;
	fzc_now.allocating.function = NULL;
	if (sp != a.sp + sizeof(Addr) || *(const Addr *)a.sp != a.back)
		return;
	VG_(get_shadow_regs_area)
	(VG_(get_running_tid)(), (UChar *)&answer, 0, offsetof(VexGuestAMD64State, guest_RAX),
	 sizeof(answer));
	allocated(&a, answer);
}

/* ---- an allocator that nobody told not to be used ---- */

/* CPython, unless it is told by PYTHONMALLOC, cuts small objects out of arenas of this size. */
static Bool is_arena(UWord size)
{
	return size == 256 << 10 || size == 1 << 20;
}

void fzc_memory_mapped(UWord size, UWord flags)
{
	const struct fzc_node *caller = fzc_now.node->parent;

	if (!fzc_options.memory || !is_arena(size) || !(flags & VKI_MAP_ANONYMOUS) ||
	    fzc_now.allocating.function || !caller || !caller->function)
		return;
	const HChar *object = caller->function->object, *slash = VG_(strrchr)(object, '/');
	missed |= VG_(strstr)(slash ? slash : object, "python") != NULL;
}
