/* SPDX-License-Identifier: MIT */
/* The surroundings of orphans: in calls and in their files.
 *
 * A neighbourhood is a list of edges: (orphan, direction, neighbour, share of the orphan's weight
 * in that direction). Only orphans have one.
 *
 * In files, an orphan is between two matched functions, and its partner is most likely between the
 * same two. This decides between otherwise similar functions.
 */
#include "compare/link_internal.h"

/* ---- calls ---- */

static int compare_edges(const void *pa, const void *pb)
{
	const struct fz_link_edge *a = pa, *b = pb;

	return FZ_CMP(a->orphan, b->orphan) ?: FZ_CMP(a->direction, b->direction) ?:
	       FZ_CMP(a->neighbour, b->neighbour);
}

static void add_edge(struct fz_link_graph *g, struct fz_map *map, uint32_t orphan,
		     enum fz_link_direction direction, uint32_t neighbour, double weight)
{
	uint32_t *slot = fz_map_slot(map, FZ_KEY(orphan << 1 | direction, neighbour));

	if (*slot == FZ_NONE) {
		*slot = g->n;
		fz_push(g->edges, g->n, g->cap,
			(struct fz_link_edge){ .orphan = orphan,
					       .neighbour = neighbour,
					       .direction = (uint8_t)direction });
	}
	g->edges[*slot].weight += weight;
}

/* Collects calls, except of a function by itself. */
static void collect_edges(const struct fz_linker *l, enum fz_side side, struct fz_link_graph *g)
{
	const struct fz_tree *t = l->d->tree[side];
	const uint32_t *function_of = l->d->function_of[side];
	struct fz_map map = { 0 };

	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t f = function_of[t->function[i]];
		uint32_t caller =
			t->parent[i] == FZ_NONE ? l->n : function_of[t->function[t->parent[i]]];
		double w = (double)t->total[i];
		if (caller == f || w <= 0)
			continue;
		if (fz_link_is_orphan(l, f))
			add_edge(g, &map, f, FZ_LINK_CALLERS, caller, w);
		if (caller < l->n && fz_link_is_orphan(l, caller))
			add_edge(g, &map, caller, FZ_LINK_CALLEES, f, w);
	}
	fz_map_release(&map);
	if (g->n)
		qsort(g->edges, g->n, sizeof(*g->edges), compare_edges);
	g->start = fz_calloc((size_t)l->n + 2, sizeof(*g->start));
	for (uint32_t i = 0; i < g->n; i++)
		g->start[g->edges[i].orphan + 1]++;
	for (uint32_t f = 0; f <= l->n; f++)
		g->start[f + 1] += g->start[f];
}

static void find_only_callers(const struct fz_linker *l, enum fz_side side, struct fz_link_graph *g)
{
	const struct fz_tree *t = l->d->tree[side];
	const uint32_t *function_of = l->d->function_of[side];
	fz_auto(fz_free_ptr) bool *seen = fz_calloc((size_t)l->n + 1, sizeof(*seen));

	g->caller = fz_calloc((size_t)l->n + 1, sizeof(*g->caller));
	memset(g->caller, 0xff, ((size_t)l->n + 1) * sizeof(*g->caller));
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t f = function_of[t->function[i]];
		uint32_t caller =
			t->parent[i] == FZ_NONE ? FZ_NONE : function_of[t->function[t->parent[i]]];
		if (caller == f)
			continue;
		g->caller[f] = !seen[f] || g->caller[f] == caller ? caller : FZ_NONE;
		seen[f] = true;
	}
}

static void share_weights(const struct fz_linker *l, struct fz_link_graph *g)
{
	for (uint32_t f = 0; f < l->n; f++) {
		double sum[FZ_LINK_DIRECTIONS] = { 0 };
		for (uint32_t i = g->start[f]; i < g->start[f + 1]; i++)
			sum[g->edges[i].direction] += g->edges[i].weight;
		for (uint32_t i = g->start[f]; i < g->start[f + 1]; i++)
			g->edges[i].weight /= sum[g->edges[i].direction];
	}
}

/* Sums weight and samples of each function, counting a sample once despite recursion. */
static void measure(const struct fz_linker *l, enum fz_side side, struct fz_link_graph *g)
{
	const struct fz_tree *t = l->d->tree[side];
	const struct fz_profile *p = l->d->profile[side];
	double factor = side == FZ_BASE ? l->d->factor : 1;
	fz_auto(fz_free_ptr) double *samples = fz_calloc(FZ_MAX(t->n, 1), sizeof(*samples));
	fz_auto(fz_free_ptr) uint32_t *open_until = fz_calloc(l->n, sizeof(*open_until));

	g->size = fz_calloc(l->n, sizeof(*g->size));
	g->samples = fz_calloc(l->n, sizeof(*g->samples));
	for (size_t row = 0; row < p->samples.n; row++)
		if (p->samples.stack[row] != FZ_NONE)
			samples[t->stack_node[p->samples.stack[row]]] += fz_sample_count(p, row);
	for (uint32_t i = t->n; i-- > 0;)
		if (t->parent[i] != FZ_NONE)
			samples[t->parent[i]] += samples[i];
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t f = l->d->function_of[side][t->function[i]];
		if (i < open_until[f])
			continue;
		g->size[f] += factor * (double)t->total[i];
		g->samples[f] += samples[i];
		open_until[f] = i + t->size[i];
	}
}

void fz_link_graph_init(const struct fz_linker *l, enum fz_side side, struct fz_link_graph *g)
{
	collect_edges(l, side, g);
	share_weights(l, g);
	find_only_callers(l, side, g);
	measure(l, side, g);
}

void fz_link_graph_release(struct fz_link_graph *g)
{
	free(g->edges);
	free(g->start);
	free(g->caller);
	free(g->size);
	free(g->samples);
}

bool fz_link_share_neighbour(const struct fz_linker *l, const struct fz_link_graph graph[FZ_SIDES],
			     uint32_t base, uint32_t head)
{
	const struct fz_link_graph *x = &graph[FZ_BASE], *y = &graph[FZ_HEAD];

	for (uint32_t i = x->start[base]; i < x->start[base + 1]; i++) {
		uint32_t a = fz_link_known(l, x->edges[i].neighbour);
		for (uint32_t k = y->start[head]; a < l->n && k < y->start[head + 1]; k++)
			if (y->edges[k].direction == x->edges[i].direction &&
			    fz_link_known(l, y->edges[k].neighbour) == a)
				return true;
	}
	return false;
}

/* ---- files ---- */

struct line {
	struct fz_str file;
	int32_t line;
	uint32_t function;
};

static int compare_lines(const void *pa, const void *pb)
{
	const struct line *a = pa, *b = pb;

	return fz_str_cmp(a->file, b->file) ?: FZ_CMP(a->line, b->line) ?:
	       FZ_CMP(a->function, b->function);
}

/* All functions of a side with a known line, by file and line. */
static struct line *list_lines(const struct fz_linker *l, enum fz_side side, uint32_t *ret_n)
{
	struct line *list = fz_calloc(FZ_MAX(l->n, 1), sizeof(*list));
	uint32_t n = 0;

	for (uint32_t f = 0; f < l->n; f++) {
		uint32_t of_profile = l->d->functions[f].on_side[side];
		if (of_profile == FZ_NONE || l->lines[side][of_profile] <= 0 ||
		    !l->names[side][of_profile].key.n)
			continue;
		list[n++] = (struct line){ .file = l->names[side][of_profile].key,
					   .line = l->lines[side][of_profile],
					   .function = f };
	}
	if (n)
		qsort(list, n, sizeof(*list), compare_lines);
	*ret_n = n;
	return list;
}

struct fz_link_place *fz_link_places(const struct fz_linker *l, enum fz_side side)
{
	struct fz_link_place *places = fz_reallocarray(NULL, FZ_MAX(l->n, 1), sizeof(*places));
	uint32_t n;
	fz_auto(fz_free_ptr) struct line *list = list_lines(l, side, &n);

	memset(places, 0xff, l->n * sizeof(*places));
	for (int back = 0; back < 2; back++) {
		/* next: the matched function on this line, for orphans on later lines; FZ_NONE if
		 * there are two */
		uint32_t near = FZ_NONE, next = FZ_NONE;
		bool seen = false;
		for (uint32_t k = 0; k < n; k++) {
			const struct line *at = &list[back ? n - 1 - k : k];
			const struct line *last = k ? &list[back ? n - k : k - 1] : at;
			bool other_file = !fz_str_eq(last->file, at->file);
			if (other_file || last->line != at->line) {
				near = other_file ? FZ_NONE : next;
				next = near;
				seen = false;
			}
			if (!fz_link_is_orphan(l, at->function)) {
				next = seen ? FZ_NONE : fz_link_known(l, at->function);
				seen = true;
			} else if (back) {
				places[at->function].after = near;
			} else {
				places[at->function].before = near;
			}
		}
	}
	return places;
}
