/* SPDX-License-Identifier: MIT */
/* Joins waits; see the picture in the header. */
#include "profile/wait_graph.h"

struct fz_str fz_wait_ender(const struct fz_profile *p, uint32_t by, enum fz_wait kind)
{
	struct fz_str name = p->strings[p->functions[by].name];
	size_t prefix = strlen(fz_wait_kinds[kind].by) + 2; /* "<lock released by " */

	if (name.n <= prefix)
		return name;
	return (struct fz_str){ name.p + prefix, name.n - prefix - 1 };
}

uint64_t fz_wait_ender_key(struct fz_str name, const struct fz_function *f)
{
	uint64_t words[] = { fz_hash_bytes(name.p, name.n), f->file, (uint64_t)f->first_line };

	return fz_hash_bytes(words, sizeof(words));
}

static void add_row(struct fz_wait_graph *g, const struct fz_profile *p, struct fz_map *edges,
		    const struct fz_wait_row *row)
{
	struct fz_str name = fz_wait_ender(p, row->at.by, row->at.kind);
	uint64_t words[] = { row->at.function, fz_wait_ender_key(name, &p->functions[row->at.by]) };
	uint32_t *slot = fz_map_slot(edges, fz_hash_bytes(words, sizeof(words)));

	if (*slot == FZ_NONE) {
		*slot = g->n;
		fz_push(g->edges, g->n, g->cap,
			(struct fz_wait_edge){
				.function = row->at.function, .by = row->at.by, .name = name });
	}
	struct fz_wait_edge *edge = &g->edges[*slot];
	edge->n += row->n;
	edge->ns += row->ns;
	edge->kind_ns[row->at.kind] += row->ns;
}

struct ranked {
	struct fz_wait_edge edge;
	int64_t all_ns; /* total time that its ender made others wait */
};

static int compare(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	return FZ_CMP(b->all_ns, a->all_ns) ?: FZ_CMP(a->edge.ender, b->edge.ender) ?:
	       FZ_CMP(b->edge.ns, a->edge.ns) ?: FZ_CMP(a->edge.function, b->edge.function);
}

static void sort(struct fz_wait_graph *g, const struct fz_profile *p)
{
	struct ranked *list = fz_calloc(g->n + 1ul, sizeof(*list));
	struct fz_map enders = { 0 };

	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t *slot =
			fz_map_slot(&enders, fz_wait_ender_key(g->edges[i].name,
							       &p->functions[g->edges[i].by]));
		*slot = *slot == FZ_NONE ? i : *slot;
		list[i].edge = g->edges[i];
		list[i].edge.ender = *slot;
		list[*slot].all_ns += g->edges[i].ns;
	}
	for (uint32_t i = 0; i < g->n; i++)
		list[i].all_ns = list[list[i].edge.ender].all_ns;
	if (g->n)
		qsort(list, g->n, sizeof(*list), compare);
	for (uint32_t i = 0; i < g->n; i++)
		g->edges[i] = list[i].edge;
	fz_map_release(&enders);
	free(list);
}

void fz_wait_graph_init(struct fz_wait_graph *g, const struct fz_profile *p,
			const struct fz_wait_table *t)
{
	struct fz_map edges = { 0 };

	*g = (struct fz_wait_graph){ 0 };
	for (uint32_t i = 0; i < t->rows.n; i++)
		if (t->rows.rows[i].at.by != FZ_NONE)
			add_row(g, p, &edges, &t->rows.rows[i]);
	fz_map_release(&edges);
	sort(g, p);
}

void fz_wait_graph_release(struct fz_wait_graph *g)
{
	free(g->edges);
	*g = (struct fz_wait_graph){ 0 };
}
