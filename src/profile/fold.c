/* SPDX-License-Identifier: MIT */
/* The stacks of a profile are a tree; a walk over it stores for each function the folded stack
 * where it is open, so that no stack is climbed twice.
 *
 *   main;walk;visit;walk;visit;leaf   ->   main;walk;visit;leaf
 *   main;walk;visit;walk;other        ->   main;walk;other
 *
 * The folded stacks are interned next to the old ones, and samples are moved to them.
 */
#include "profile/fold.h"

#include "profile/callgraph.h"

struct folder {
	struct fz_profile *p;
	uint32_t n;                      /* stacks as recorded */
	uint32_t *first_child, *sibling; /* of a stack; first_child[n]: the roots */
	uint32_t *folded;                /* of a stack */
	uint32_t *open; /* of a function: the folded stack that ends in it, or FZ_NONE */
};

static void list_children(struct folder *f)
{
	f->first_child = fz_reallocarray(NULL, (size_t)f->n + 1, sizeof(*f->first_child));
	f->sibling = fz_reallocarray(NULL, (size_t)f->n + 1, sizeof(*f->sibling));
	memset(f->first_child, 0xff, ((size_t)f->n + 1) * sizeof(*f->first_child));
	for (uint32_t i = f->n; i-- > 0;) {
		uint32_t parent = f->p->stacks[i].parent;
		uint32_t *head = &f->first_child[parent == FZ_NONE ? f->n : parent];
		f->sibling[i] = *head;
		*head = i;
	}
}

static uint32_t function_of(const struct folder *f, uint32_t stack)
{
	return f->p->frames[f->p->stacks[stack].frame].function;
}

/* Folds one stack. Frames that folding skips are closed for its callees; the walk reopens them when
 * it leaves. */
static void enter(struct folder *f, uint32_t stack)
{
	uint32_t parent = f->p->stacks[stack].parent;
	uint32_t above = parent == FZ_NONE ? FZ_NONE : f->folded[parent];
	uint32_t function = function_of(f, stack), back = f->open[function];

	if (back == FZ_NONE) {
		f->folded[stack] = fz_profile_stack(f->p, above, f->p->stacks[stack].frame);
		f->open[function] = f->folded[stack];
		return;
	}
	for (uint32_t at = above; at != back && at != FZ_NONE; at = f->p->stacks[at].parent)
		f->open[function_of(f, at)] = FZ_NONE;
	f->folded[stack] = back;
}

static void leave(struct folder *f, uint32_t stack)
{
	uint32_t parent = f->p->stacks[stack].parent;
	uint32_t above = parent == FZ_NONE ? FZ_NONE : f->folded[parent];
	uint32_t back = f->folded[stack];

	if (back != above && f->p->stacks[back].parent == above) {
		f->open[function_of(f, back)] = FZ_NONE;
		return;
	}
	for (uint32_t at = above; at != back && at != FZ_NONE; at = f->p->stacks[at].parent)
		f->open[function_of(f, at)] = at;
}

static void walk(struct folder *f)
{
	uint32_t at = f->first_child[f->n];

	while (at != FZ_NONE) {
		enter(f, at);
		uint32_t next = f->first_child[at];
		while (next == FZ_NONE && at != FZ_NONE) {
			leave(f, at);
			next = f->sibling[at];
			at = f->p->stacks[at].parent;
		}
		at = next;
	}
}

int fz_profile_fold_recursion(struct fz_profile *p, struct fz_error *err)
{
	struct folder f = { .p = p, .n = p->stack_count };

	list_children(&f);
	f.folded = fz_reallocarray(NULL, FZ_MAX(f.n, 1), sizeof(*f.folded));
	f.open = fz_reallocarray(NULL, FZ_MAX(p->function_count, 1), sizeof(*f.open));
	memset(f.open, 0xff, p->function_count * sizeof(*f.open));
	walk(&f);
	for (size_t row = 0; row < p->samples.n; row++)
		if (p->samples.stack[row] != FZ_NONE)
			p->samples.stack[row] = f.folded[p->samples.stack[row]];
	free(f.first_child);
	free(f.sibling);
	free(f.folded);
	free(f.open);
	return fz_profile_check(p, err);
}

/* ---- reversing ---- */

/* Each sampled stack is reversed once by interning its frames from leaf to root; common prefixes of
 * reversed stacks are stored once, as usual. */
static uint32_t turned(struct fz_profile *p, uint32_t stack)
{
	uint32_t out = FZ_NONE;

	for (uint32_t at = stack; at != FZ_NONE; at = p->stacks[at].parent)
		out = fz_profile_stack(p, out, p->stacks[at].frame);
	return out;
}

int fz_profile_invert(struct fz_profile *p, struct fz_error *err)
{
	uint32_t n = p->stack_count;
	fz_auto(fz_free_ptr) uint32_t *to = fz_reallocarray(NULL, n + 1ul, sizeof(*to));

	fz_profile_drop_callgraph(p);
	memset(to, 0xff, n * sizeof(*to));
	for (size_t row = 0; row < p->samples.n; row++) {
		uint32_t stack = p->samples.stack[row];
		if (stack == FZ_NONE)
			continue;
		if (to[stack] == FZ_NONE)
			to[stack] = turned(p, stack);
		p->samples.stack[row] = to[stack];
	}
	return fz_profile_check(p, err);
}
