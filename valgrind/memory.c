/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Peak and live bytes: the size of all blocks that a part allocated, at its maximum and at the end
 * of the part.
 *
 * Allocators are watched, not replaced, so that no other count changes: we read their arguments
 * where they begin and their result where they return, and ignore nested calls. Sizes are those
 * requested. A block belongs to the context that allocated it; of a block from before the part only
 * its growth counts.
 *
 *   held        .--.        peak: here
 *          .----'  '-.   .---- live
 *     -----'         '---'
 *
 * Each node has its live bytes, and those at the peak. The latter are not copied at each new peak,
 * but at the node's first change after one (struct fzc_node, changed), or at the end.
 */
#include "fzcount.h"

#include "pub_tool_hashtable.h"
#include "pub_tool_machine.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_vki.h"

#include "libvex_guest_amd64.h"

struct block {
	struct block *next; /* this and address are laid out as VgHashNode */
	UWord address;
	SizeT size;
	SizeT own;             /* how many of them count for node */
	struct fzc_node *node; /* dangling if `part` is an earlier one */
	UWord part;
};

static struct {
	VgHashTable *blocks;
	UWord part;
	ULong now, peak_at; /* number of changes so far, and at the peak */
	ULong held, peak;
	Bool paused;
} heap;
static Bool missed;

void fzc_memory_init(void)
{
	heap.blocks = VG_(HT_construct)(FZC_TAG);
}

/* ---- live bytes of nodes ---- */

static void settle(struct fzc_node *n)
{
	if (n->changed <= heap.peak_at)
		n->count[FZC_PEAK_BYTES] = n->count[FZC_LIVE_BYTES];
}

/* Add to a node's live bytes; negative: subtract. */
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

/* Forget a block. Returns a copy of it, all zero if it is unknown. */
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

/* Remember a new block, or one resized from `was`. Bytes from before the part are not counted;
 * growth is, unless counting is paused or the call began before the part. */
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
	case FZC_ALLOC_THIRD: /* posix_memalign returns nonzero on failure */
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

/* An exception leaves an allocator, too, but to another address than it was called from. */
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

/* ---- CPython's allocator ---- */

/* Unless PYTHONMALLOC says otherwise CPython cuts small objects out of arenas of these sizes. */
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
