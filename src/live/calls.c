/* SPDX-License-Identifier: MIT */
/* The neighbourhood of one function; see calls.h.
 *
 *   stack (leaf first)   d c F b F a
 *                            \_ callees of F: b F c d below the outermost F; caller: a
 */
#include "live/calls.h"

enum { DEPTH_MAX = 4096, NODES_MAX = 1 << 20 };

struct node {
	uint32_t function;
	uint32_t child, next; /* first child, next sibling; FZ_NONE */
	int64_t self, total;
};

struct builder {
	const struct fz_live_model *m;
	uint32_t function;
	struct node *nodes;
	uint32_t n, cap;
	struct fz_map by_key; /* (parent, function) */
	struct fz_map lines, callers;
	int64_t opcodes[256];
	struct fz_live_calls *out;
	uint32_t line_cap, caller_cap;
};

static uint32_t function_at(const struct fz_profile *p, uint32_t stack)
{
	return p->frames[p->stacks[stack].frame].function;
}

static uint32_t node_of(struct builder *b, uint32_t parent, uint32_t function)
{
	uint32_t *slot = fz_map_slot(&b->by_key, FZ_KEY(parent, function));

	if (*slot != FZ_NONE)
		return *slot;
	*slot = b->n;
	fz_grow(b->nodes, b->n, b->cap);
	b->nodes[b->n] = (struct node){ .function = function, .child = FZ_NONE, .next = FZ_NONE };
	if (parent != FZ_NONE) {
		b->nodes[b->n].next = b->nodes[parent].child;
		b->nodes[parent].child = b->n;
	}
	return b->n++;
}

static void add_line(struct builder *b, int32_t line, int64_t self, int64_t total)
{
	struct fz_live_calls *out = b->out;
	uint32_t *slot = fz_map_slot(&b->lines, (uint64_t)(uint32_t)line);

	if (*slot == FZ_NONE) {
		*slot = out->line_n;
		fz_push(out->lines, out->line_n, b->line_cap,
			(struct fz_live_line){ .line = line });
	}
	out->lines[*slot].self += self;
	out->lines[*slot].total += total;
}

static void add_caller(struct builder *b, uint32_t function, int64_t weight)
{
	struct fz_live_calls *out = b->out;
	uint32_t *slot = fz_map_slot(&b->callers, function);

	if (*slot == FZ_NONE) {
		*slot = out->caller_n;
		fz_push(out->callers, out->caller_n, b->caller_cap,
			(struct fz_live_caller){ .function = function });
	}
	out->callers[*slot].total += weight;
}

/* Add a stack: find the outermost call of the function, then walk down from it. */
static void add_stack(struct builder *b, uint32_t leaf, int64_t weight)
{
	const struct fz_profile *p = b->m->mirror;
	uint32_t path[DEPTH_MAX], n = 0, outermost = FZ_NONE;
	uint32_t innermost = FZ_NONE;

	for (uint32_t s = leaf; s != FZ_NONE; s = p->stacks[s].parent) {
		if (function_at(p, s) == b->function) {
			outermost = s;
			if (innermost == FZ_NONE)
				innermost = s;
		}
	}
	if (outermost == FZ_NONE)
		return;
	for (uint32_t s = leaf; s != outermost && n < DEPTH_MAX; s = p->stacks[s].parent)
		path[n++] = s;
	uint32_t caller = p->stacks[outermost].parent;
	add_caller(b, caller == FZ_NONE ? FZ_NONE : function_at(p, caller), weight);
	const struct fz_frame *f = &p->frames[p->stacks[innermost].frame];
	add_line(b, f->line, innermost == leaf ? weight : 0, weight);
	if (innermost == leaf && f->opcode != FZ_NO_OPCODE)
		b->opcodes[f->opcode] += weight;
	uint32_t node = node_of(b, FZ_NONE, b->function);
	b->nodes[node].total += weight;
	for (uint32_t i = n; i > 0 && b->n < NODES_MAX; i--) {
		node = node_of(b, node, function_at(p, path[i - 1]));
		b->nodes[node].total += weight;
	}
	b->nodes[node].self += weight;
}

/* ---- in order ---- */

static int by_total(const void *a, const void *b, void *arg)
{
	const struct node *nodes = arg;
	const struct node *x = &nodes[*(const uint32_t *)a], *y = &nodes[*(const uint32_t *)b];

	return FZ_CMP(y->total, x->total) ?: FZ_CMP(x->function, y->function);
}

/* Children of a node, highest cost first; the caller frees. */
static uint32_t *children_of(const struct builder *b, uint32_t node, uint32_t *ret_n)
{
	uint32_t n = 0, k = 0;

	for (uint32_t c = b->nodes[node].child; c != FZ_NONE; c = b->nodes[c].next)
		n++;
	uint32_t *list = fz_calloc(n + 1, sizeof(*list));
	for (uint32_t c = b->nodes[node].child; c != FZ_NONE; c = b->nodes[c].next)
		list[k++] = c;
	qsort_r(list, n, sizeof(*list), by_total, b->nodes);
	*ret_n = n;
	return list;
}

static void list_calls(struct builder *b, uint32_t node, uint32_t depth, uint32_t most,
		       int64_t least)
{
	struct fz_live_calls *out = b->out;
	uint32_t n;

	if (out->call_n >= most || depth >= most)
		return;
	out->calls[out->call_n++] = (struct fz_live_call){ .function = b->nodes[node].function,
							   .depth = depth,
							   .self = b->nodes[node].self,
							   .total = b->nodes[node].total };
	fz_auto(fz_free_ptr) uint32_t *list = children_of(b, node, &n);
	for (uint32_t i = 0; i < n && b->nodes[list[i]].total >= least; i++)
		list_calls(b, list[i], depth + 1, most, least);
}

static int by_line_cost(const void *a, const void *b)
{
	const struct fz_live_line *x = a, *y = b;

	return FZ_CMP(y->total, x->total) ?: FZ_CMP(x->line, y->line);
}

static int by_caller_cost(const void *a, const void *b)
{
	const struct fz_live_caller *x = a, *y = b;

	return FZ_CMP(y->total, x->total) ?: FZ_CMP(x->function, y->function);
}

static int by_opcode_cost(const void *a, const void *b)
{
	const struct fz_live_opcode *x = a, *y = b;

	return FZ_CMP(y->self, x->self) ?: x->opcode - y->opcode;
}

static void list_opcodes(struct builder *b)
{
	struct fz_live_calls *out = b->out;

	out->opcodes = fz_calloc(FZ_ARRAY_LEN(b->opcodes), sizeof(*out->opcodes));
	for (unsigned i = 0; i < FZ_ARRAY_LEN(b->opcodes); i++)
		if (b->opcodes[i])
			out->opcodes[out->opcode_n++] =
				(struct fz_live_opcode){ (uint8_t)i, b->opcodes[i] };
	qsort(out->opcodes, out->opcode_n, sizeof(*out->opcodes), by_opcode_cost);
}

static bool in_scope(const struct fz_live_model *m, uint32_t scope, uint32_t thread)
{
	return scope == FZ_LIVE_ALL || m->thread_scope[thread] == scope ||
	       m->process_scope[thread] == scope;
}

void fz_live_calls_of(const struct fz_live_model *m, uint32_t scope, uint32_t function,
		      uint32_t most, struct fz_live_calls *ret)
{
	struct fz_live_calls out = { .sum = m->scopes[scope].sum };
	struct builder b = { .m = m, .function = function, .out = &out };

	for (uint32_t i = 0; i < m->cell_n; i++) {
		const struct fz_live_cell *c = &m->cells[i];
		if (c->stack != FZ_NONE && in_scope(m, scope, c->thread))
			add_stack(&b, c->stack, c->weight);
	}
	out.calls = fz_calloc(most + 1, sizeof(*out.calls));
	if (b.n) {
		out.self = b.nodes[0].self;
		out.total = b.nodes[0].total;
		list_calls(&b, 0, 0, most, out.total / 100 + 1);
		qsort(out.lines, out.line_n, sizeof(*out.lines), by_line_cost);
		qsort(out.callers, out.caller_n, sizeof(*out.callers), by_caller_cost);
	}
	list_opcodes(&b);
	fz_map_release(&b.by_key);
	fz_map_release(&b.lines);
	fz_map_release(&b.callers);
	free(b.nodes);
	*ret = out;
}

void fz_live_calls_release(struct fz_live_calls *c)
{
	free(c->calls);
	free(c->callers);
	free(c->lines);
	free(c->opcodes);
	*c = (struct fz_live_calls){ 0 };
}
