/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calling-context tree, and each thread's place in it.
 *
 * A call pushes a frame with the stack pointer and moves to no real node yet (fzc_called): the next
 * block determines the function. A return pops every frame whose return address lies below the
 * stack pointer, and so does a block of an unexpected function: longjmp and exceptions leave frames
 * without returning. Any other change of function is a tail jump; its target becomes a child of the
 * function that was called, never of another tail jump's target, so code that only jumps cannot
 * grow the tree without bound.
 */
#include "fzcount.h"

#include "pub_tool_machine.h"
#include "pub_tool_threadstate.h"

struct fzc_node fzc_root, fzc_called;
struct fzc_place fzc_now;
UWord fzc_arguments[FZC_ARGUMENTS];

static struct fzc_place *places; /* of all threads; that of the running one is in fzc_now */
static ThreadId running;

enum { FRAMES_FIRST = 32 };

/* ---- nodes ---- */

/* Nodes are allocated in chunks. When the tree is cleared, chunks without a kept node are emptied.
 */
enum { CHUNK = 1 << 18, IDLE_CHUNKS = 64 };

struct chunk {
	struct chunk *next;
	SizeT used;
	UChar bytes[CHUNK];
};
static struct chunk *chunks, *empty; /* new nodes go into the first of chunks */
static UInt chunk_count;
static Bool is_idle;

UInt fzc_counts(void)
{
	return fzc_options.cache ? FZC_COUNTS : FZC_READS;
}

Bool fzc_is_counted(enum fzc_count which)
{
	Bool of_memory = which == FZC_PEAK_BYTES || which == FZC_LIVE_BYTES;

	return which < fzc_counts() && (!of_memory || fzc_options.memory);
}

static SizeT node_size(void)
{
	return offsetof(struct fzc_node, count) + fzc_counts() * sizeof(ULong);
}

static void open_chunk(void)
{
	struct chunk *c = empty;

	if (c)
		empty = c->next;
	else
		c = VG_(malloc)(FZC_TAG, sizeof(*c));
	c->used = 0;
	c->next = chunks;
	chunks = c;
	chunk_count++;
}

static struct fzc_node *new_node(void)
{
	SizeT size = node_size();

	if (!chunks || chunks->used + size > CHUNK)
		open_chunk();
	struct fzc_node *n = (struct fzc_node *)(chunks->bytes + chunks->used);
	chunks->used += size;
	VG_(memset)(n, 0, size);
	return n;
}

void fzc_tree_init(void)
{
	places = VG_(calloc)(FZC_TAG, VG_N_THREADS, sizeof(*places));
	fzc_root.function = fzc_function_make("[process]", "", "", 0, 0, FZC_PROCESS);
	fzc_now.node = fzc_now.entry = &fzc_root;
}

static void clear(struct fzc_node *also);

/* Children are kept most recently used first: most calls repeat the last one. */
struct fzc_node *fzc_tree_child(struct fzc_node *parent, struct fzc_function *f)
{
	struct fzc_node **link = &parent->child, *n;

	for (; (n = *link); link = &n->sibling) {
		if (n->function != f)
			continue;
		*link = n->sibling;
		n->sibling = parent->child;
		parent->child = n;
		return n;
	}
	if (is_idle && chunk_count > IDLE_CHUNKS)
		clear(parent);
	n = new_node();
	n->function = f;
	n->in_eval = f->kind == FZC_EVAL || f->kind == FZC_PYTHON;
	/* In a stripped interpreter the loop's cold part has no symbol. */
	n->unnamed = (f->kind == FZC_UNNAMED && f->object[0]) || n->in_eval;
	n->made = (f->kind == FZC_UNNAMED && !f->object[0]) || n->in_eval;
	n->parent = parent;
	n->sibling = parent->child;
	parent->child = n;
	return n;
}

/* Not recursive: trees are deep. */
struct fzc_node *fzc_tree_next(struct fzc_node *n)
{
	if (n->child)
		return n->child;
	while (n && !n->sibling)
		n = n->parent;
	return n ? n->sibling : NULL;
}

ULong fzc_tree_total(enum fzc_count which)
{
	ULong sum = 0;

	for (struct fzc_node *n = &fzc_root; n; n = fzc_tree_next(n))
		sum += n->count[which];
	return sum;
}

/* ---- clearing ---- */

/* Mark a node and its callers as kept, and zero and unlink them; link_kept() links them again. */
static void keep(struct fzc_node *n)
{
	for (; n && n != &fzc_called && !n->kept; n = n->parent) {
		n->kept = 1;
		n->child = n->sibling = NULL;
		n->changed = 0;
		VG_(memset)(n->count, 0, fzc_counts() * sizeof(ULong));
	}
}

static void keep_place(const struct fzc_place *p)
{
	keep(p->node);
	keep(p->entry);
	for (const struct fzc_frame *f = p->base; f && f <= p->top; f++) {
		keep(f->node);
		keep(f->entry);
	}
}

/* Link the kept nodes of a chunk to their parents. False if it has none. */
static Bool link_kept(struct chunk *c)
{
	Bool any = False;

	for (SizeT at = 0; at < c->used; at += node_size()) {
		struct fzc_node *n = (struct fzc_node *)(c->bytes + at);
		if (!n->kept)
			continue;
		any = True;
		n->kept = 0;
		n->sibling = n->parent->child;
		n->parent->child = n;
	}
	return any;
}

static void clear(struct fzc_node *also)
{
	struct chunk **link = &chunks, *c;

	keep(also);
	keep(&fzc_root);
	keep_place(&fzc_now);
	for (ThreadId i = 0; i < VG_N_THREADS; i++)
		if (places[i].used && i != running)
			keep_place(&places[i]);
	fzc_go_each(keep_place);
	chunk_count = 0;
	while ((c = *link)) {
		if (link_kept(c)) {
			link = &c->next;
			chunk_count++;
			continue;
		}
		*link = c->next;
		c->next = empty;
		empty = c;
	}
	fzc_root.kept = 0;
	VG_(memset)(fzc_called.count, 0, sizeof(fzc_called.count));
	fzc_memory_clear();
}

void fzc_tree_clear(void)
{
	clear(NULL);
}

void fzc_tree_zero(void)
{
	if (!fzc_options.memory) {
		fzc_tree_clear();
		return;
	}
	for (struct fzc_node *n = &fzc_root; n; n = fzc_tree_next(n))
		for (UInt i = 0; i < fzc_counts(); i++)
			if (i != FZC_PEAK_BYTES && i != FZC_LIVE_BYTES)
				n->count[i] = 0;
	VG_(memset)(fzc_called.count, 0, sizeof(fzc_called.count));
}

void fzc_tree_idle(Bool idle)
{
	is_idle = idle;
}

/* ---- threads ---- */

void fzc_tree_start_place(struct fzc_place *p, struct fzc_node *below)
{
	*p = (struct fzc_place){ .node = below, .entry = below, .used = True };
	p->base = p->top = VG_(calloc)(FZC_TAG, FRAMES_FIRST, sizeof(*p->base));
	p->limit = p->base + FRAMES_FIRST;
	/* The first frame is never popped: no stack pointer is above it. */
	*p->base = (struct fzc_frame){ .node = below, .entry = below, .sp = ~(Addr)0 };
	fzc_python_init(p);
}

void fzc_tree_switch(ThreadId tid)
{
	if (tid == running)
		return;
	if (running)
		places[running] = fzc_now;
	if (!places[tid].used)
		fzc_tree_start_place(&places[tid], &fzc_root);
	running = tid;
	fzc_now = places[tid];
}

void fzc_tree_thread_ended(ThreadId tid)
{
	struct fzc_place *p = tid == running ? &fzc_now : &places[tid];

	if (tid == running)
		running = 0;
	if (p->used)
		VG_(free)(p->base);
	places[tid].used = False;
	if (p == &fzc_now)
		fzc_now = (struct fzc_place){ .node = &fzc_root, .entry = &fzc_root };
}

/* ---- frames ---- */

static void grow(struct fzc_place *p)
{
	SizeT n = (SizeT)(p->limit - p->base), used = (SizeT)(p->top - p->base);

	p->base = VG_(realloc)(FZC_TAG, p->base, 2 * n * sizeof(*p->base));
	p->top = p->base + used;
	p->limit = p->base + 2 * n;
}

struct fzc_frame *fzc_tree_push(void)
{
	if (UNLIKELY(fzc_now.top + 1 >= fzc_now.limit))
		grow(&fzc_now);
	return ++fzc_now.top;
}

void fzc_tree_return_to(struct fzc_frame *frame)
{
	while (fzc_now.top >= frame) {
		struct fzc_frame *f = fzc_now.top--;
		fzc_now.node = f->node;
		fzc_now.entry = f->entry;
		if (f->is_python)
			fzc_now.python_last = f->python;
	}
}

/* Did a jump leave the signal handler? Then the stack pointer is not on the handler's stack. */
static Bool handler_was_left(Addr sp)
{
	Addr lo = VG_(thread_get_altstack_min)(running);

	return sp < lo || sp - lo >= VG_(thread_get_altstack_size)(running);
}

Bool fzc_tree_unwind(Addr sp)
{
	struct fzc_frame *f = fzc_now.top;

	while (f > fzc_now.base && (f->is_signal ? handler_was_left(sp) : f->sp < sp))
		f--;
	if (f == fzc_now.top)
		return False;
	fzc_tree_return_to(f + 1);
	return True;
}

VG_REGPARM(1) void fzc_on_call(Addr sp)
{
	*fzc_tree_push() =
		(struct fzc_frame){ .node = fzc_now.node, .entry = fzc_now.entry, .sp = sp };
	fzc_now.node = fzc_now.entry = &fzc_called;
}

/* Does a return with this stack pointer pop just the top frame? */
static Bool leaves_one(const struct fzc_frame *top, Addr sp)
{
	return top->sp < sp && !top->is_python && !top->is_signal && !top[-1].is_signal &&
	       top[-1].sp >= sp;
}

VG_REGPARM(1) void fzc_on_return(Addr sp)
{
	const struct fzc_frame *top = fzc_now.top;

	if (LIKELY(top > fzc_now.base && leaves_one(top, sp))) {
		fzc_now.node = top->node;
		fzc_now.entry = top->entry;
		fzc_now.top--;
	} else if (LIKELY(fzc_now.top->sp < sp) || fzc_now.top->is_signal) {
		fzc_tree_unwind(sp);
	}
	if (UNLIKELY(fzc_now.hooked.hook) && fzc_now.hooked.sp < sp)
		fzc_harness_returned();
	if (UNLIKELY(fzc_now.allocating.function))
		fzc_memory_returned(sp);
}

/* ---- a block of another function than the current node's ---- */

static inline void enter(struct fzc_node *parent, struct fzc_function *f)
{
	struct fzc_node *n = parent->child;

	if (UNLIKELY(!n || n->function != f))
		n = fzc_tree_child(parent, f);
	n->count[FZC_CALLS]++;
	/* Move over what linkage-table blocks counted before the callee was known. */
	if (UNLIKELY(fzc_called.count[FZC_INSTRUCTIONS])) {
		n->count[FZC_INSTRUCTIONS] += fzc_called.count[FZC_INSTRUCTIONS];
		fzc_called.count[FZC_INSTRUCTIONS] = 0;
	}
	fzc_now.node = fzc_now.entry = n;
}

/* Is this the first block since a call? */
static Bool was_called(void)
{
	return fzc_now.node == &fzc_called;
}

static void jump(struct fzc_function *f)
{
	struct fzc_node *entry = fzc_now.entry;

	if (f == entry->function) {
		fzc_now.node = entry;
		return;
	}
	if (entry->function && entry->function->kind == FZC_RESOLVER && entry->parent) {
		enter(entry->parent, f);
		return;
	}
	fzc_now.node = fzc_tree_child(entry, f);
	fzc_now.node->count[FZC_CALLS]++;
	if (entry == &fzc_root)
		fzc_now.entry = fzc_now.node;
}

VG_REGPARM(2) void fzc_on_other(struct fzc_function *f, Addr sp)
{
	if (was_called()) {
		enter(fzc_now.top->node, f);
		return;
	}
	if (fzc_tree_unwind(sp) && fzc_now.node->function == f)
		return;
	if (was_called())
		fzc_now.node = fzc_now.entry = fzc_now.top->node;
	jump(f);
}

VG_REGPARM(3) void fzc_on_eval(struct fzc_function *f, Addr sp, Addr thread_state)
{
	fzc_on_other(f, sp);
	fzc_python_enter(f, thread_state);
}

static ULong asked_for(const struct fzc_function *f)
{
	const UWord *arguments = fzc_arguments;

	switch (f->alloc) {
	case FZC_ALLOC_PRODUCT:
		return (ULong)arguments[0] * arguments[1];
	case FZC_ALLOC_SECOND:
	case FZC_REALLOC:
		return arguments[1];
	case FZC_ALLOC_THIRD:
		return arguments[2];
	default:
		return arguments[0];
	}
}

VG_REGPARM(2) void fzc_on_alloc(struct fzc_function *f, Addr sp)
{
	fzc_on_other(f, sp);
	if (f->kind == FZC_ALLOC) {
		fzc_now.node->count[FZC_ALLOCS]++;
		fzc_now.node->count[FZC_ALLOC_BYTES] += asked_for(f);
	}
	if (fzc_options.memory)
		fzc_memory_begin(f);
}

/* ---- signals ---- */

void fzc_tree_signal(ThreadId tid, Bool own_stack)
{
	fzc_tree_switch(tid);
	*fzc_tree_push() = (struct fzc_frame){ .node = fzc_now.node,
					       .entry = fzc_now.entry,
					       .sp = VG_(get_SP)(tid),
					       .is_signal = own_stack };
	fzc_now.node = fzc_now.entry = &fzc_called;
}

void fzc_tree_signal_done(void)
{
	/* The handler's own frame was popped when it returned to the trampoline. */
	if (fzc_now.top > fzc_now.base)
		fzc_tree_return_to(fzc_now.top);
}
