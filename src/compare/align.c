/* SPDX-License-Identifier: MIT */
/* The union of two call trees, by path of matched functions.
 *
 * A node of the union is made from its "origins", the nodes of both trees on its path: usually one
 * per side, several if functions of one side were merged. Its children are found without hashing:
 * the children of all its origins are visited, and `latest[function]` is the last union node made
 * for a function. That node is a child of the current one exactly if its index is not below that of
 * the current one's first child, because the children of a node are made together.
 *
 *   tree A   main(1)--f(2)--g(3)        raw nodes:  0 main {A1, B1}
 *   tree B   main(1)--f(2)                          1   f  {A2, B2}
 *                   `-h(3)                          2   h  {B3}
 *                                                   3     g {A3}     breadth first
 *
 * A launcher on only one side (CPython's own profiler starts a script through runpy) would push
 * every path of that side one or two calls down, and nothing would match. So its nodes become roots
 * with their own self cost only, and their callees become roots next to them.
 *
 * Full matching also matches through wrappers, functions that only one side has:
 *
 *   inserted, up to 3 deep                      removed, up to 2 deep
 *     A  main--f        main                      A  main--old--f     main
 *     B  main--new--f     `-new (new)             B  main--f            |-old (removed)
 *                            `-f  {A, B}                                `-f  {A, B}
 *
 * If a base child has no match among the children of its parent's node, inserted wrappers there are
 * searched for it. The base child becomes the `guest` of its match, and an origin when the match's
 * raw node is made. The base's children below a removed wrapper join unmatched children of the
 * parent's node. The structure of the head never changes. Each node is visited from at most three
 * levels above, so this is linear, too.
 *
 * No call moves from a removed wrapper to an inserted one: calling the same helper does not make
 * two functions the same. A function that exists in the other side's code, sampled there or not, is
 * no wrapper.
 *
 * New functions have no cost in the base, and removed ones none in the head. The total of an
 * inserted wrapper excludes the base's cost of the calls inside; the totals of its callers include
 * it.
 *
 * Raw nodes are then ordered and numbered in preorder. Everything is linear in the nodes except the
 * sorting of siblings.
 */
#include "compare/stages.h"

struct raw_node {
	uint32_t function, parent;
	uint32_t first_child, child_count;
	uint32_t origin[FZ_SIDES]; /* a tree node; further ones by `next` */
	struct fz_diff_cost cost;
	int64_t below[FZ_SIDES]; /* total of the origins in their own trees */
	bool is_bare;            /* a launcher set aside: its callees are not below it */
};

struct aligner {
	const struct fz_diff *d;
	struct fz_tree *const *tree;
	struct raw_node *raw;
	uint32_t n, cap;
	uint32_t *next[FZ_SIDES]; /* of a tree node: the next origin of the same raw node */
	uint32_t *latest;
	uint32_t *rank;           /* of a function in order of names */
	bool set_aside[FZ_SIDES]; /* launchers at the root of this side */
	struct through *through;  /* of full matching, else NULL */
};

/* Base nodes without a match, and places where they could match. */
struct through {
	bool *taken;     /* base nodes that matched elsewhere than below their parent */
	uint32_t *guest; /* of a head node: the base node that joins it; FZ_NONE */
	uint32_t *homeless;
	uint32_t homeless_count, homeless_cap;
	uint32_t *inside; /* of a function: a head node of it below inserted wrappers... */
	uint32_t *stamp;  /* ...valid if this is the raw node that they are below, plus 1 */
};

enum { INSERTED_MAX = 3, REMOVED_MAX = 2 };

static uint32_t function_at(const struct aligner *a, enum fz_side side, uint32_t tree_node)
{
	uint32_t function = a->d->function_of[side][a->tree[side]->function[tree_node]];

	fz_assert(function < a->d->function_count);
	return function;
}

static bool is_launcher(const struct aligner *a, enum fz_side side, uint32_t tree_node)
{
	const struct fz_diff_function *f = &a->d->functions[function_at(a, side, tree_node)];

	return fz_str_eq(f->file, FZ_STR("lib/python3/runpy.py")) &&
	       (fz_str_eq(f->name, FZ_STR("_run_module_as_main")) ||
		fz_str_eq(f->name, FZ_STR("_run_code")));
}

static void add_origin(struct aligner *a, uint32_t at, enum fz_side side, uint32_t tree_node)
{
	const struct fz_tree *t = a->tree[side];
	struct raw_node *node = &a->raw[at];

	a->next[side][tree_node] = node->origin[side];
	node->origin[side] = tree_node;
	node->cost.self[side] += t->self[tree_node];
	node->below[side] += t->total[tree_node];
}

/* The child for a function among those made since `first`, or FZ_NONE. */
static uint32_t child_for(const struct aligner *a, uint32_t function, uint32_t first)
{
	uint32_t at = a->latest[function];

	return at == FZ_NONE || at < first ? FZ_NONE : at;
}

static void add_child(struct aligner *a, uint32_t parent, uint32_t first, enum fz_side side,
		      uint32_t tree_node)
{
	uint32_t function = function_at(a, side, tree_node);
	uint32_t at = child_for(a, function, first);

	if (at == FZ_NONE) {
		fz_grow(a->raw, a->n, a->cap);
		at = a->latest[function] = a->n++;
		a->raw[at] = (struct raw_node){ .function = function,
						.parent = parent,
						.origin = { FZ_NONE, FZ_NONE } };
	}
	add_origin(a, at, side, tree_node);
	if (side == FZ_HEAD && a->through && a->through->guest[tree_node] != FZ_NONE)
		add_origin(a, at, FZ_BASE, a->through->guest[tree_node]);
}

/* With full matching, queues a base node until all nodes of the head exist. */
static void offer_child(struct aligner *a, uint32_t parent, uint32_t first, enum fz_side side,
			uint32_t tree_node)
{
	struct through *t = a->through;

	if (t && side == FZ_BASE && t->taken[tree_node])
		return;
	if (t && side == FZ_BASE &&
	    child_for(a, function_at(a, side, tree_node), first) == FZ_NONE) {
		fz_push(t->homeless, t->homeless_count, t->homeless_cap, tree_node);
		return;
	}
	add_child(a, parent, first, side, tree_node);
}

/* Adds the children of the tree nodes in [from, end), skipping descendants of one another. */
static void add_children(struct aligner *a, uint32_t parent, uint32_t first, enum fz_side side,
			 uint32_t from, uint32_t end)
{
	for (uint32_t i = from; i < end; i += a->tree[side]->size[i])
		offer_child(a, parent, first, side, i);
}

/* A launcher becomes a root, and so do its callees, which follow it in preorder. */
static void add_roots(struct aligner *a, enum fz_side side)
{
	const struct fz_tree *t = a->tree[side];

	for (uint32_t i = 0; i < t->n;) {
		if (!a->set_aside[side] || !is_launcher(a, side, i)) {
			offer_child(a, FZ_NONE, 0, side, i);
			i += t->size[i];
			continue;
		}
		add_child(a, FZ_NONE, 0, side, i);
		a->raw[a->latest[function_at(a, side, i)]].is_bare = true;
		i++;
	}
}

/* ---- wrappers ---- */

static bool is_orphan(const struct aligner *a, enum fz_side side, uint32_t tree_node)
{
	const struct fz_diff_function *f = &a->d->functions[function_at(a, side, tree_node)];

	return f->state != FZ_COMMON && f->presence != FZ_PRESENCE_YES && f->kind != FZ_KIND_MARKER;
}

/* Records the callees of the inserted wrapper `wrapper`: the heaviest node of each function. */
static void note_callees(struct aligner *a, uint32_t wrapper, uint32_t stamp, int levels)
{
	const struct fz_tree *t = a->tree[FZ_HEAD];
	struct through *th = a->through;

	for (uint32_t i = wrapper + 1; i < wrapper + t->size[wrapper]; i += t->size[i]) {
		uint32_t function = function_at(a, FZ_HEAD, i);
		if (is_orphan(a, FZ_HEAD, i)) {
			if (levels > 1)
				note_callees(a, i, stamp, levels - 1);
		} else if (th->guest[i] == FZ_NONE &&
			   (th->stamp[function] != stamp ||
			    t->total[i] > t->total[th->inside[function]])) {
			th->stamp[function] = stamp;
			th->inside[function] = i;
		}
	}
}

/* Records the callees of all inserted wrappers among the head's children of a raw node, or
 * roots. */
static void note_wrapped(struct aligner *a, uint32_t first, uint32_t stamp)
{
	uint32_t end = a->n;

	for (uint32_t child = first; child < end; child++)
		for (uint32_t o = a->raw[child].origin[FZ_HEAD]; o != FZ_NONE;
		     o = a->next[FZ_HEAD][o])
			if (is_orphan(a, FZ_HEAD, o))
				note_callees(a, o, stamp, INSERTED_MAX);
}

/* Joins a base node to the head's call of its function at this level, unless the base already has
 * an origin there. */
static void join_sibling(struct aligner *a, uint32_t first, uint32_t base_node)
{
	uint32_t at = child_for(a, function_at(a, FZ_BASE, base_node), first);

	if (at == FZ_NONE || a->raw[at].origin[FZ_BASE] != FZ_NONE)
		return;
	add_origin(a, at, FZ_BASE, base_node);
	a->through->taken[base_node] = true;
}

/* Makes a base node the guest of the head's call of its function inside an inserted wrapper. */
static bool enter_wrapper(struct aligner *a, uint32_t first, uint32_t stamp, uint32_t base_node)
{
	struct through *t = a->through;
	uint32_t function = function_at(a, FZ_BASE, base_node);

	if (child_for(a, function, first) != FZ_NONE || t->stamp[function] != stamp ||
	    t->guest[t->inside[function]] != FZ_NONE)
		return false;
	t->guest[t->inside[function]] = base_node;
	t->taken[base_node] = true;
	return true;
}

/* Moves calls out of a removed wrapper if the head makes them without it. */
static void unwrap(struct aligner *a, uint32_t first, uint32_t wrapper, int levels)
{
	const struct fz_tree *t = a->tree[FZ_BASE];

	for (uint32_t i = wrapper + 1; i < wrapper + t->size[wrapper]; i += t->size[i]) {
		if (!is_orphan(a, FZ_BASE, i))
			join_sibling(a, first, i);
		else if (levels > 1)
			unwrap(a, first, i, levels - 1);
	}
}

/* Places the queued base children: direct matches first, then through wrappers. */
static void place_queued(struct aligner *a, uint32_t parent, uint32_t first)
{
	struct through *t = a->through;
	uint32_t stamp = parent + 2; /* roots: 1 */
	uint32_t waiting = 0;

	if (!t || t->homeless_count == 0)
		return;
	note_wrapped(a, first, stamp);
	for (uint32_t i = 0; i < t->homeless_count; i++) {
		uint32_t node = t->homeless[i];
		if (is_orphan(a, FZ_BASE, node) || !enter_wrapper(a, first, stamp, node))
			t->homeless[waiting++] = node;
	}
	for (uint32_t i = 0; i < waiting; i++)
		if (is_orphan(a, FZ_BASE, t->homeless[i]))
			unwrap(a, first, t->homeless[i], REMOVED_MAX);
	t->homeless_count = 0;
	for (uint32_t i = 0; i < waiting; i++)
		add_child(a, parent, first, FZ_BASE, t->homeless[i]);
}

static void through_init(struct through *t, const struct aligner *a)
{
	*t = (struct through){
		.taken = fz_calloc(a->tree[FZ_BASE]->n, sizeof(*t->taken)),
		.guest = fz_calloc(a->tree[FZ_HEAD]->n, sizeof(*t->guest)),
		.inside = fz_calloc(a->d->function_count, sizeof(*t->inside)),
		.stamp = fz_calloc(a->d->function_count, sizeof(*t->stamp)),
	};
	memset(t->guest, 0xff, a->tree[FZ_HEAD]->n * sizeof(*t->guest));
}

static void through_release(struct through *t)
{
	free(t->taken);
	free(t->guest);
	free(t->homeless);
	free(t->inside);
	free(t->stamp);
}

/* ---- growing ---- */

static void find_launchers(struct aligner *a)
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		for (uint32_t i = 0; i < a->tree[s]->n; i += a->tree[s]->size[i])
			a->set_aside[s] |= is_launcher(a, s, i);
	if (a->set_aside[FZ_BASE] && a->set_aside[FZ_HEAD])
		a->set_aside[FZ_BASE] = a->set_aside[FZ_HEAD] = false;
}

/* Adds the head first, because full matching places the base's nodes among the head's. */
static void grow_union(struct aligner *a)
{
	static const enum fz_side order[FZ_SIDES] = { FZ_HEAD, FZ_BASE };

	for (int k = 0; k < FZ_SIDES; k++)
		add_roots(a, order[k]);
	place_queued(a, FZ_NONE, 0);
	for (uint32_t node = 0; node < a->n; node++) {
		uint32_t first = a->n;
		if (a->raw[node].is_bare)
			continue;
		for (int k = 0; k < FZ_SIDES; k++) {
			enum fz_side s = order[k];
			for (uint32_t o = a->raw[node].origin[s]; o != FZ_NONE; o = a->next[s][o])
				add_children(a, node, first, s, o + 1, o + a->tree[s]->size[o]);
		}
		place_queued(a, node, first);
		a->raw[node].first_child = first;
		a->raw[node].child_count = a->n - first;
	}
}

static void sum_totals(struct aligner *a)
{
	for (uint32_t i = a->n; i-- > 0;) {
		struct raw_node *node = &a->raw[i];
		fz_assert(node->parent == FZ_NONE || node->parent < i);
		for (enum fz_side s = 0; s < FZ_SIDES; s++) {
			node->cost.total[s] += node->cost.self[s];
			if (node->parent != FZ_NONE)
				a->raw[node->parent].cost.total[s] += node->cost.total[s];
		}
	}
}

static int compare_function_names(const void *pa, const void *pb, void *arg)
{
	const struct fz_diff *d = arg;
	uint32_t ia = *(const uint32_t *)pa, ib = *(const uint32_t *)pb;
	const struct fz_diff_function *a = &d->functions[ia], *b = &d->functions[ib];

	return fz_str_cmp(a->name, b->name) ?: fz_str_cmp(a->file, b->file) ?:
	       FZ_CMP(a->line, b->line) ?: FZ_CMP(ia, ib);
}

static void rank_functions(struct aligner *a)
{
	uint32_t n = a->d->function_count;
	fz_auto(fz_free_ptr) uint32_t *order = fz_calloc(n, sizeof(*order));

	a->rank = fz_calloc(n, sizeof(*a->rank));
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	if (n)
		qsort_r(order, n, sizeof(*order), compare_function_names, (void *)a->d);
	for (uint32_t i = 0; i < n; i++)
		a->rank[order[i]] = i;
}

static double larger_side(const struct aligner *a, const struct raw_node *node)
{
	return FZ_MAX(a->d->factor * (double)node->cost.total[FZ_BASE],
		      (double)node->cost.total[FZ_HEAD]);
}

static int compare_siblings(const void *pa, const void *pb, void *arg)
{
	const struct aligner *a = arg;
	const struct raw_node *x = &a->raw[*(const uint32_t *)pa];
	const struct raw_node *y = &a->raw[*(const uint32_t *)pb];
	double wx = larger_side(a, x), wy = larger_side(a, y);

	return FZ_CMP(wy, wx) ?: FZ_CMP(a->rank[x->function], a->rank[y->function]);
}

/* Returns all raw nodes, each range of siblings in its final order. */
static uint32_t *order_siblings(struct aligner *a, uint32_t root_count)
{
	uint32_t *order = fz_calloc(a->n, sizeof(*order));

	for (uint32_t i = 0; i < a->n; i++)
		order[i] = i;
	if (root_count > 1)
		qsort_r(order, root_count, sizeof(*order), compare_siblings, a);
	for (uint32_t i = 0; i < a->n; i++) {
		const struct raw_node *node = &a->raw[i];
		if (node->child_count > 1)
			qsort_r(order + node->first_child, node->child_count, sizeof(*order),
				compare_siblings, a);
	}
	return order;
}

static struct fz_diff_node final_node(const struct raw_node *raw, const uint32_t *position)
{
	struct fz_diff_node node = {
		.function = raw->function,
		.parent = raw->parent == FZ_NONE ? FZ_NONE : position[raw->parent],
		.state = raw->origin[FZ_BASE] == FZ_NONE   ? FZ_NEW
			 : raw->origin[FZ_HEAD] == FZ_NONE ? FZ_REMOVED
							   : FZ_COMMON,
		.cost = raw->cost,
	};

	node.wraps = (node.state == FZ_NEW && node.cost.total[FZ_BASE] != 0) || raw->is_bare ||
		     (node.state == FZ_REMOVED && node.cost.total[FZ_BASE] != raw->below[FZ_BASE]);
	if (node.state == FZ_NEW)
		node.cost.total[FZ_BASE] = 0;
	return node;
}

/* Checks that functions of one side cost nothing on the other. */
static void check_costs(const struct fz_union *u)
{
	for (uint32_t i = 0; i < u->n; i++) {
		const struct fz_diff_node *node = &u->nodes[i];
		enum fz_side absent = node->state == FZ_NEW ? FZ_BASE : FZ_HEAD;
		fz_assert(node->state == FZ_COMMON ||
			  (!node->cost.self[absent] && !node->cost.total[absent]));
	}
}

/* Numbers raw nodes in preorder; `position` maps each to its node. */
static void number_nodes(struct aligner *a, struct fz_union *u, uint32_t *position)
{
	uint32_t roots = 0, waiting = 0;
	while (roots < a->n && a->raw[roots].parent == FZ_NONE)
		roots++;
	fz_auto(fz_free_ptr) uint32_t *order = order_siblings(a, roots);
	fz_auto(fz_free_ptr) uint32_t *pending = fz_calloc(a->n, sizeof(*pending));

	for (uint32_t i = roots; i-- > 0;)
		pending[waiting++] = order[i];
	while (waiting) {
		uint32_t at = pending[--waiting];
		const struct raw_node *raw = &a->raw[at];
		position[at] = u->n;
		u->nodes[u->n++] = final_node(raw, position);
		for (uint32_t i = raw->child_count; i-- > 0;)
			pending[waiting++] = order[raw->first_child + i];
	}
	fz_assert(u->n == a->n);
	for (uint32_t i = u->n; i-- > 0;) {
		u->nodes[i].size += 1;
		if (u->nodes[i].parent != FZ_NONE)
			u->nodes[u->nodes[i].parent].size += u->nodes[i].size;
	}
}

static void map_tree_nodes(const struct aligner *a, struct fz_union *u, const uint32_t *position)
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		u->node_of[s] = fz_calloc(a->tree[s]->n, sizeof(uint32_t));
		for (uint32_t i = 0; i < a->n; i++)
			for (uint32_t o = a->raw[i].origin[s]; o != FZ_NONE; o = a->next[s][o])
				u->node_of[s][o] = position[i];
	}
}

void fz_diff_align(const struct fz_diff *d, struct fz_tree *const tree[FZ_SIDES],
		   bool set_launchers_aside, struct fz_union *ret)
{
	struct aligner a = { .d = d, .tree = tree };
	struct through through = { 0 };

	a.latest = fz_calloc(d->function_count, sizeof(*a.latest));
	memset(a.latest, 0xff, d->function_count * sizeof(*a.latest));
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		a.next[s] = fz_calloc(tree[s]->n, sizeof(uint32_t));
	if (set_launchers_aside)
		find_launchers(&a);
	if (d->match == FZ_MATCH_FULL) {
		through_init(&through, &a);
		a.through = &through;
	}
	grow_union(&a);
	sum_totals(&a);
	rank_functions(&a);
	fz_auto(fz_free_ptr) uint32_t *position = fz_calloc(a.n, sizeof(*position));
	*ret = (struct fz_union){ .nodes = fz_calloc(a.n, sizeof(*ret->nodes)) };
	number_nodes(&a, ret, position);
	check_costs(ret);
	map_tree_nodes(&a, ret, position);
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		free(a.next[s]);
	through_release(&through);
	free(a.raw);
	free(a.latest);
	free(a.rank);
}
