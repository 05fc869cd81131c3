/* SPDX-License-Identifier: MIT */
/* A comparison from end to end: calls the stages. */
#include "compare/stages.h"

#include "base/thread.h"
#include "base/buf.h"
#include "profile/callgraph.h"

/* ---- metric ---- */

/* Finds a metric by name. Samples of time can also be compared by their number. */
static uint32_t find_metric(const struct fz_profile *p, struct fz_str name)
{
	uint32_t metric = fz_profile_find_metric(p, name);

	if (metric == FZ_NONE && fz_str_eq(name, FZ_STR("samples")) && p->recording.interval_ns > 0)
		return FZ_METRIC_SAMPLES;
	return metric;
}

/* Finds the metric of that name on both sides. */
static bool find_on_both(const struct fz_diff *d, struct fz_str name, uint32_t ret[FZ_SIDES])
{
	uint32_t base = find_metric(d->profile[FZ_BASE], name);
	uint32_t head = find_metric(d->profile[FZ_HEAD], name);

	if (base == FZ_NONE || head == FZ_NONE)
		return false;
	ret[FZ_BASE] = base;
	ret[FZ_HEAD] = head;
	return true;
}

static struct fz_str default_metric(const struct fz_profile *p)
{
	return fz_str_of(p->metrics[p->default_metric].name);
}

/* Last resort for recordings of different tools: pairs two times, whatever their clocks. */
static bool pair_times(const struct fz_diff *d, uint32_t ret[FZ_SIDES])
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		const struct fz_profile *p = d->profile[s];
		if (strcmp(p->metrics[p->default_metric].unit, "ns") != 0)
			return false;
		ret[s] = p->default_metric;
	}
	return true;
}

/* Whether one side measured memory and the other something else. */
static bool only_one_in_bytes(const struct fz_diff *d)
{
	bool bytes[FZ_SIDES];

	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		const struct fz_profile *p = d->profile[s];
		bytes[s] = strcmp(p->metrics[p->default_metric].unit, "bytes") == 0;
	}
	return bytes[FZ_BASE] != bytes[FZ_HEAD];
}

/* As find_on_both, but samples of memory are not paired with samples of anything else. */
static bool find_alike(const struct fz_diff *d, struct fz_str name, uint32_t ret[FZ_SIDES])
{
	if (fz_str_eq(name, FZ_STR("samples")) && only_one_in_bytes(d))
		return false;
	return find_on_both(d, name, ret);
}

static bool choose_metric(const struct fz_diff *d, const struct fz_diff_options *o,
			  uint32_t ret[FZ_SIDES])
{
	const struct fz_profile *head = d->profile[FZ_HEAD];

	if (o->metric.n)
		return find_on_both(d, o->metric, ret);
	/* Exact matching prints Tachyon's figures, which are numbers of samples. */
	if (o->match == FZ_MATCH_EXACT && find_on_both(d, FZ_STR("samples"), ret))
		return true;
	if (find_alike(d, default_metric(head), ret) ||
	    find_alike(d, default_metric(d->profile[FZ_BASE]), ret))
		return true;
	for (uint32_t i = 0; i < head->metric_count; i++)
		if (find_alike(d, fz_str_of(head->metrics[i].name), ret))
			return true;
	return find_alike(d, FZ_STR("samples"), ret) || pair_times(d, ret);
}

static char *metric_names(const struct fz_profile *p)
{
	struct fz_buf out = { 0 };

	for (uint32_t i = 0; i < p->metric_count; i++)
		fz_buf_printf(&out, "%s%s", i ? ", " : "", p->metrics[i].name);
	if (!out.n)
		fz_buf_str(&out, "none");
	return fz_buf_take(&out);
}

static int resolve_metric(struct fz_diff *d, const struct fz_diff_options *o,
			  uint32_t ret[FZ_SIDES], struct fz_error *err)
{
	const struct fz_profile *base = d->profile[FZ_BASE], *head = d->profile[FZ_HEAD];

	if (!choose_metric(d, o, ret)) {
		if (!o->metric.n && only_one_in_bytes(d))
			return fz_fail(err, FZ_EINPUT,
				       "the base measured %s, the head %s, which cannot be "
				       "compared; record both in the same way",
				       default_metric(base).p, default_metric(head).p);
		fz_auto(fz_free_ptr) char *b = metric_names(base);
		fz_auto(fz_free_ptr) char *h = metric_names(head);
		return fz_fail(err, FZ_EINPUT,
			       "the recordings have no metric%s%.*s in common (base: %s; head: "
			       "%s); %s",
			       o->metric.n ? " " : "", (int)o->metric.n, o->metric.p, b, h,
			       base->numbers.bare || head->numbers.bare
				       ? "use --input-unit to specify the unit of bare numbers"
				       : "record both in the same way");
	}
	static const struct fz_metric samples = { .name = "samples", .unit = "count", .each = 1 };
	const struct fz_metric *b = &samples, *h = &samples;
	if (ret[FZ_BASE] != FZ_METRIC_SAMPLES)
		b = &base->metrics[ret[FZ_BASE]];
	if (ret[FZ_HEAD] != FZ_METRIC_SAMPLES)
		h = &head->metrics[ret[FZ_HEAD]];
	if (strcmp(b->unit, h->unit) != 0)
		return fz_fail(err, FZ_EINPUT,
			       "metric %s is in different units (base: %s; head: %s); record both "
			       "in the same way",
			       h->name, b->unit, h->unit);
	if (fz_diff_clocks_differ(b->name, h->name))
		fz_diff_warn(
			d,
			"the base measured %s time, the head %s time: only shares can be compared",
			b->name, h->name);
	d->metric = h->name;
	d->unit = h->unit;
	return 0;
}

/* ---- trees ---- */

struct growth {
	const struct fz_profile *profile;
	struct fz_tree_options options;
	struct fz_tree *tree;
};

static void grow_tree(void *arg)
{
	struct growth *g = arg;

	g->tree = fz_tree_new(g->profile, &g->options);
}

static void grow_trees(struct fz_diff *d, const uint32_t metric[FZ_SIDES], bool inverted,
		       const struct fz_diff_options *o, struct fz_tree *ret[FZ_SIDES])
{
	struct growth side[FZ_SIDES];

	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		side[s] = (struct growth){ d->profile[s], FZ_TREE_DEFAULTS, NULL };
		side[s].options.metric = metric[s];
		side[s].options.inverted = inverted;
		side[s].options.cells = o->cells && inverted == o->inverted;
		side[s].options.lines = o->lines && !inverted && !o->inverted;
	}
	fz_both(grow_tree, &side[FZ_BASE], &side[FZ_HEAD]);
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		ret[s] = side[s].tree;
}

static void sum_sides(struct fz_diff *d)
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		d->total[s] = d->tree[s]->sum;
		d->samples[s] = d->tree[s]->samples;
	}
}

/* ---- costs ---- */

/* Totals of functions in the profile are exact; those of the tree are estimates. */
static void use_recorded_totals(struct fz_diff *d, enum fz_side s)
{
	fz_auto(fz_free_ptr) int64_t *total = fz_calloc(d->function_count + 1ul, sizeof(*total));

	for (uint32_t f = 0; f < d->function_count; f++)
		total[f] = d->functions[f].cost.total[s];
	fz_callgraph_totals(d->profile[s], d->tree[s]->metric, d->function_of[s], d->function_count,
			    total);
	for (uint32_t f = 0; f < d->function_count; f++)
		d->functions[f].cost.total[s] = total[f];
}

/* Nodes of a function below its outermost one are recursion, which its total already includes. The
 * recorded trees are summed, because in the union a callee may have left its wrapper. */
static void sum_functions(struct fz_diff *d)
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		const struct fz_tree *t = d->tree[s];
		fz_auto(fz_free_ptr) uint32_t *open_until =
			fz_calloc(d->function_count, sizeof(*open_until));

		for (uint32_t i = 0; i < t->n; i++) {
			uint32_t f = d->function_of[s][t->function[i]];
			d->functions[f].cost.self[s] += t->self[i];
			if (i < open_until[f])
				continue;
			d->functions[f].cost.total[s] += t->total[i];
			open_until[f] = i + t->size[i];
		}
		use_recorded_totals(d, s);
	}
}

static void sum_elided(struct fz_diff *d, const struct fz_union *u)
{
	for (uint32_t i = 0; i < u->n; i++) {
		const struct fz_diff_node *node = &u->nodes[i];
		if (node->state != FZ_REMOVED || node->cost.self[FZ_BASE] <= 0)
			continue;
		d->elided_count++;
		d->elided_time += node->cost.self[FZ_BASE];
	}
}

struct function_order {
	uint32_t old;
	double weight;
	const struct fz_diff_function *f;
};

static int compare_functions(const void *pa, const void *pb)
{
	const struct function_order *a = pa, *b = pb;

	return FZ_CMP(b->weight, a->weight) ?: fz_str_cmp(a->f->name, b->f->name) ?:
	       fz_str_cmp(a->f->file, b->f->file) ?: FZ_CMP(a->f->line, b->f->line) ?:
	       FZ_CMP(a->old, b->old);
}

/* Sorts functions by cost and renumbers nodes and function_of. */
static void order_functions(struct fz_diff *d, struct fz_union *u)
{
	uint32_t n = d->function_count;
	struct function_order *order = fz_calloc(n, sizeof(*order));
	fz_auto(fz_free_ptr) uint32_t *now = fz_calloc(n, sizeof(*now));
	struct fz_diff_function *sorted = fz_calloc(n, sizeof(*sorted));

	for (uint32_t i = 0; i < n; i++) {
		const struct fz_diff_cost *cost = &d->functions[i].cost;
		order[i] = (struct function_order){
			.old = i,
			.f = &d->functions[i],
			.weight = FZ_MAX(d->factor * (double)cost->total[FZ_BASE],
					 (double)cost->total[FZ_HEAD]),
		};
	}
	if (n)
		qsort(order, n, sizeof(*order), compare_functions);
	for (uint32_t i = 0; i < n; i++) {
		sorted[i] = d->functions[order[i].old];
		now[order[i].old] = i;
	}
	for (uint32_t i = 0; i < u->n; i++)
		u->nodes[i].function = now[u->nodes[i].function];
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		for (uint32_t f = 0; f < d->profile[s]->function_count; f++)
			if (d->function_of[s][f] != FZ_NONE)
				d->function_of[s][f] = now[d->function_of[s][f]];
	free(d->functions);
	for (uint32_t i = 0; i < d->split_count; i++)
		d->splits[i] = (struct fz_diff_split){ now[d->splits[i].function],
						       now[d->splits[i].from] };
	free(order);
	d->functions = sorted;
}

static void list_links(struct fz_diff *d)
{
	d->links = fz_calloc(d->function_count, sizeof(*d->links));
	for (uint32_t i = 0; i < d->function_count; i++)
		if (d->functions[i].link.how > FZ_LINK_EXACT)
			d->links[d->link_count++] = i;
}

static void copy_union(struct fz_diff *d, struct fz_union *u)
{
	free(d->nodes);
	d->nodes = u->nodes;
	d->node_count = u->n;
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		free(d->node_of[s]);
		d->node_of[s] = u->node_of[s];
	}
}

/* Functions, elided paths and totals always come from the straight trees: in an inverted tree, a
 * node's total is not the cost of the samples that have its function on the stack. */
static int build(struct fz_diff *d, const uint32_t metric[FZ_SIDES],
		 const struct fz_diff_options *o, struct fz_error *err)
{
	struct fz_union u;
	int r = fz_diff_match(d, o, err);

	if (r)
		return r;
	if (d->scale == FZ_SCALE_REFERENCE ||
	    (d->scale == FZ_SCALE_SHARE && o->scale == FZ_SCALE_AUTO))
		fz_diff_scale_by_agreement(d);
	fz_diff_align(d, d->tree, d->match != FZ_MATCH_EXACT, &u);
	sum_functions(d);
	sum_elided(d, &u);
	order_functions(d, &u);
	list_links(d);
	copy_union(d, &u);
	if (o->inverted) {
		struct fz_tree *inverted[FZ_SIDES];
		grow_trees(d, metric, true, o, inverted);
		fz_diff_align(d, inverted, false, &u);
		copy_union(d, &u);
		for (enum fz_side s = 0; s < FZ_SIDES; s++) {
			fz_tree_free(d->tree[s]);
			d->tree[s] = inverted[s];
		}
	}
	if (d->match == FZ_MATCH_FULL && !o->inverted)
		fz_diff_find_shifts(d);
	if (d->speed_scale.used)
		fz_diff_sum_measured(d);
	fz_diff_match_threads(d);
	if (o->cells)
		fz_diff_merge_cells(d);
	return 0;
}

int fz_diff_new(const struct fz_profile *base, const struct fz_profile *head,
		const struct fz_diff_options *o, struct fz_diff **ret, struct fz_error *err)
{
	fz_auto(fz_diff_freep) struct fz_diff *d = fz_calloc(1, sizeof(*d));
	uint32_t metric[FZ_SIDES];

	d->profile[FZ_BASE] = base;
	d->profile[FZ_HEAD] = head;
	memcpy(d->recorded, d->profile, sizeof(d->recorded));
	d->match = o->match;
	d->inverted = o->inverted;
	int r = resolve_metric(d, o, metric, err);
	if (r)
		return r;
	if (!o->as_measured && o->match != FZ_MATCH_EXACT)
		fz_diff_scale_speed(d, metric);
	grow_trees(d, metric, false, o, d->tree);
	sum_sides(d);
	r = fz_diff_choose_scale(d, o, err);
	if (r)
		return r;
	r = fz_diff_check_recordings(d, o, err);
	if (r)
		return r;
	r = build(d, metric, o, err);
	if (r)
		return r;
	fz_diff_warn_about_clock(d);
	*ret = fz_steal(d);
	return 0;
}

void fz_diff_free(struct fz_diff *d)
{
	if (!d)
		return;
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		fz_tree_free(d->tree[s]);
		free(d->node_of[s]);
		free(d->function_of[s]);
	}
	fz_diff_release_speed_scale(d);
	free(d->functions);
	free(d->links);
	free(d->shifts);
	free(d->splits);
	free(d->nodes);
	free(d->threads);
	free(d->cells);
	fz_arena_release(&d->arena);
	free(d);
}

void fz_diff_freep(struct fz_diff **d)
{
	fz_diff_free(*d);
}
