/* SPDX-License-Identifier: MIT */
/* Renamed benchmarks: one that is missing and one that is new, if both spend most of their cost in
 * the same function, which no other benchmark executes.
 *
 *     base  test_old > <module> > count_words      head  test_new > <module> > count_words
 *                                 `------- the same function: test_new was test_old -------'
 *
 * The comparison decides whether a function is the same (docs/matching.md), by its name or its
 * body. If it only has the same callers and callees, it must be in the same file and the benchmarks
 * must cost the same.
 */
#include "bench/ci.h"

#include <math.h>

static const double most = 0.8;   /* share of a benchmark's cost in that function */
static const double alike = 0.05; /* relative difference of equal costs */

/* Instead of a function's only root on a side. */
enum { NOWHERE = UINT32_MAX, SEVERAL = UINT32_MAX - 1 };

struct owners {
	uint32_t *root[FZ_SIDES]; /* by function */
};

static void find_owners(const struct fz_diff *d, struct owners *o)
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		o->root[s] = fz_calloc(d->function_count + 1ul, sizeof(*o->root[s]));
		memset(o->root[s], 0xff, d->function_count * sizeof(*o->root[s]));
	}
	for (uint32_t root = 0; root < d->node_count; root += d->nodes[root].size)
		for (uint32_t i = root + 1; i < root + d->nodes[root].size; i++)
			for (enum fz_side s = 0; s < FZ_SIDES; s++) {
				uint32_t *known = &o->root[s][d->nodes[i].function];
				if (d->nodes[i].cost.total[s])
					*known = *known == NOWHERE || *known == root ? root
										     : SEVERAL;
			}
}

static bool is_same_code(const struct fz_diff_function *f, const struct fz_diff_node *from,
			 const struct fz_diff_node *to)
{
	double base = (double)from->cost.total[FZ_BASE], head = (double)to->cost.total[FZ_HEAD];

	switch (f->link.how) {
	case FZ_LINK_EXACT:
	case FZ_LINK_BODY:
	case FZ_LINK_MOVED:
		return true;
	case FZ_LINK_NEIGHBOURHOOD:
		return fz_str_eq(f->link.file, f->file) && fabs(head - base) <= alike * base;
	default:
		return false;
	}
}

/* True for functions that run once for all benchmarks, so they belong to none. */
static bool is_frame_of_all(struct fz_str name)
{
	return fz_str_eq(name, FZ_STR("<module>")) || fz_str_eq(name, FZ_STR("main"));
}

/* The head's root that is the renamed `root` of the base; FZ_NONE if there is none. */
static uint32_t find_successor(const struct fz_diff *d, const struct owners *o, uint32_t root)
{
	const struct fz_diff_node *from = &d->nodes[root];

	for (uint32_t i = root + 1; i < root + from->size; i++) {
		const struct fz_diff_function *f = &d->functions[d->nodes[i].function];
		uint32_t to = o->root[FZ_HEAD][d->nodes[i].function];
		if (o->root[FZ_BASE][d->nodes[i].function] != root || to >= SEVERAL || to == root ||
		    d->functions[d->nodes[to].function].on_side[FZ_BASE] != FZ_NONE ||
		    is_frame_of_all(f->name))
			continue;
		if ((double)f->cost.total[FZ_BASE] >= most * (double)from->cost.total[FZ_BASE] &&
		    (double)f->cost.total[FZ_HEAD] >=
			    most * (double)d->nodes[to].cost.total[FZ_HEAD] &&
		    is_same_code(f, from, &d->nodes[to]))
			return to;
	}
	return FZ_NONE;
}

static void join(struct fz_ci_result *r, struct fz_str was, struct fz_str now, const char *metric)
{
	struct fz_ci_bench *old = fz_ci_bench_of(r, was, metric);
	struct fz_ci_bench *b = fz_ci_bench_of(r, now, metric);

	b->was = old->name.p;
	b->on_side[FZ_BASE] = true;
	b->count[FZ_BASE] = old->count[FZ_BASE];
	b->cycles[FZ_BASE] = old->cycles[FZ_BASE];
	if (isnan(b->floor) || old->floor > b->floor)
		b->floor = old->floor;
	*old = r->benches[--r->n];
}

static bool is_one_sided(const struct fz_ci_result *r, enum fz_side side)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->benches[i].on_side[side] && !r->benches[i].on_side[!side])
			return true;
	return false;
}

void fz_ci_find_renamed(struct fz_ci_result *r, const struct fz_profile *base,
			const struct fz_profile *head)
{
	fz_auto(fz_comparison_freep) struct fz_comparison *c = NULL;
	struct owners o;

	if (!is_one_sided(r, FZ_BASE) || !is_one_sided(r, FZ_HEAD) ||
	    fz_ci_diff(r, base, head, "instructions", &c, NULL))
		return;
	const struct fz_diff *d = c->diff;
	find_owners(d, &o);
	for (uint32_t root = 0; root < d->node_count; root += d->nodes[root].size) {
		const struct fz_diff_function *f = &d->functions[d->nodes[root].function];
		if (f->kind != FZ_KIND_MARKER || f->on_side[FZ_HEAD] != FZ_NONE)
			continue;
		uint32_t to = find_successor(d, &o, root);
		for (uint32_t i = 0; i < r->metrics.n && to != FZ_NONE; i++)
			join(r, f->name, d->functions[d->nodes[to].function].name,
			     r->metrics.list[i]);
	}
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		free(o.root[s]);
}
