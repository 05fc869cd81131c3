/* SPDX-License-Identifier: MIT */
/* The union of two call trees, by path of matched functions.
 *
 * A node of the union grows from the nodes of both trees that lie on its path ("origins": usually
 * one a side, several where functions of one side were merged). Its children are found without
 * hashing: the children of all its origins are visited, and `latest[function]` remembers the last
 * union node made for a function; that node is a child of the current one exactly when its index
 * is not below the current one's first child, because the children of a node are made together.
 *
 *   tree A   main(1)--f(2)--g(3)        raw nodes:  0 main {A1, B1}
 *   tree B   main(1)--f(2)                          1   f  {A2, B2}
 *                   `-h(3)                          2   h  {B3}
 *                                                   3     g {A3}     breadth first
 *
 * A launcher (runpy, through which CPython's own profiler starts a script) that only one side has
 * would push every path of that side one or two calls down, and nothing would match. Its nodes then
 * become roots with no more than their own self cost, and what they called are roots beside them.
 *
 * Raw nodes are then ordered and numbered in preorder. Everything is linear in the nodes but the
 * sorting of siblings.
 */
#include "diff/internal.h"

struct raw_node {
	uint32_t function, parent;
	uint32_t first_child, child_count;
	uint32_t origin[FZ_SIDES]; /* a tree node; further ones by `next` */
	struct fz_diff_cost cost;
	bool is_bare; /* a launcher set aside: what it called is not below it */
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
};

static uint32_t function_at(const struct aligner *a, enum fz_side side, uint32_t tree_node)
{
	return a->d->function_of[side][a->tree[side]->function[tree_node]];
}

static bool is_launcher(const struct aligner *a, enum fz_side side, uint32_t tree_node)
{
	const struct fz_diff_function *f = &a->d->functions[function_at(a, side, tree_node)];

	return fz_str_eq(f->file, FZ_STR("lib/python3/runpy.py")) &&
	       (fz_str_eq(f->name, FZ_STR("_run_module_as_main")) ||
		fz_str_eq(f->name, FZ_STR("_run_code")));
}

static void add_child(struct aligner *a, uint32_t parent, uint32_t first, enum fz_side side,
		      uint32_t tree_node)
{
	const struct fz_tree *t = a->tree[side];
	uint32_t function = function_at(a, side, tree_node);
	uint32_t at = a->latest[function];

	if (at == FZ_NONE || at < first) {
		fz_grow(a->raw, a->n, a->cap);
		at = a->latest[function] = a->n++;
		a->raw[at] = (struct raw_node){ .function = function,
						.parent = parent,
						.origin = { FZ_NONE, FZ_NONE } };
	}
	struct raw_node *node = &a->raw[at];
	a->next[side][tree_node] = node->origin[side];
	node->origin[side] = tree_node;
	node->cost.self[side] += t->self[tree_node];
	node->cost.total[side] += t->total[tree_node];
}

/* Children of the tree nodes in [from, end) that are no descendants of one another. */
static void add_children(struct aligner *a, uint32_t parent, uint32_t first, enum fz_side side,
			 uint32_t from, uint32_t end)
{
	for (uint32_t i = from; i < end; i += a->tree[side]->size[i])
		add_child(a, parent, first, side, i);
}

/* A launcher becomes a root of its own, and so does what it called, which comes next in preorder.
 */
static void add_roots(struct aligner *a, enum fz_side side)
{
	const struct fz_tree *t = a->tree[side];

	for (uint32_t i = 0; i < t->n;) {
		add_child(a, FZ_NONE, 0, side, i);
		if (a->set_aside[side] && is_launcher(a, side, i)) {
			struct raw_node *node = &a->raw[a->latest[function_at(a, side, i)]];
			node->is_bare = true;
			node->cost.total[side] -= t->total[i] - t->self[i];
			i++;
		} else {
			i += t->size[i];
		}
	}
}

static void find_launchers(struct aligner *a)
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		for (uint32_t i = 0; i < a->tree[s]->n; i += a->tree[s]->size[i])
			a->set_aside[s] |= is_launcher(a, s, i);
	if (a->set_aside[FZ_BASE] && a->set_aside[FZ_HEAD])
		a->set_aside[FZ_BASE] = a->set_aside[FZ_HEAD] = false;
}

static void grow_union(struct aligner *a)
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		add_roots(a, s);
	for (uint32_t node = 0; node < a->n; node++) {
		uint32_t first = a->n;
		if (a->raw[node].is_bare)
			continue;
		for (enum fz_side s = 0; s < FZ_SIDES; s++)
			for (uint32_t o = a->raw[node].origin[s]; o != FZ_NONE; o = a->next[s][o])
				add_children(a, node, first, s, o + 1, o + a->tree[s]->size[o]);
		a->raw[node].first_child = first;
		a->raw[node].child_count = a->n - first;
	}
}

static int compare_function_names(const void *pa, const void *pb, void *arg)
{
	const struct fz_diff *d = arg;
	uint32_t ia = *(const uint32_t *)pa, ib = *(const uint32_t *)pb;
	const struct fz_diff_function *a = &d->functions[ia], *b = &d->functions[ib];
	int c = fz_str_cmp(a->name, b->name);

	if (!c)
		c = fz_str_cmp(a->file, b->file);
	if (!c)
		c = (a->line > b->line) - (a->line < b->line);
	return c ? c : (ia > ib) - (ia < ib);
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

	if (wx != wy)
		return wx > wy ? -1 : 1;
	return (a->rank[x->function] > a->rank[y->function]) -
	       (a->rank[x->function] < a->rank[y->function]);
}

/* All raw nodes so that each range of siblings is in its final order. */
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

/* Raw nodes in preorder become nodes; ret_position maps the one to the other. */
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
		u->nodes[u->n++] = (struct fz_diff_node){
			.function = raw->function,
			.parent = raw->parent == FZ_NONE ? FZ_NONE : position[raw->parent],
			.state = raw->origin[FZ_BASE] == FZ_NONE   ? FZ_NEW
				 : raw->origin[FZ_HEAD] == FZ_NONE ? FZ_REMOVED
								   : FZ_COMMON,
			.cost = raw->cost,
		};
		for (uint32_t i = raw->child_count; i-- > 0;)
			pending[waiting++] = order[raw->first_child + i];
	}
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

	a.latest = fz_calloc(d->function_count, sizeof(*a.latest));
	memset(a.latest, 0xff, d->function_count * sizeof(*a.latest));
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		a.next[s] = fz_calloc(tree[s]->n, sizeof(uint32_t));
	if (set_launchers_aside)
		find_launchers(&a);
	grow_union(&a);
	rank_functions(&a);
	fz_auto(fz_free_ptr) uint32_t *position = fz_calloc(a.n, sizeof(*position));
	*ret = (struct fz_union){ .nodes = fz_calloc(a.n, sizeof(*ret->nodes)) };
	number_nodes(&a, ret, position);
	map_tree_nodes(&a, ret, position);
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		free(a.next[s]);
	free(a.raw);
	free(a.latest);
	free(a.rank);
}
