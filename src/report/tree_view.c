/* SPDX-License-Identifier: MIT */
/* Choosing the rows of a call tree; see tree_view.h.
 *
 *   profile, diff -> sources -> call_tree.h -> weights -> the heaviest rows, and what is left out
 *
 * A row's weight is its cost, in a diff the largest significant change at or below it. It is never
 * less than that of a row below, so that the heaviest rows always include their callers.
 */
#include "report/tree_view.h"

#include "compare/names.h"
#include "profile/origin.h"
#include "profile/processes.h"
#include "report/states.h"

#include <math.h>

enum { GROUPS_SHOWN = 8 };

/* Functions with at least this fraction of the whole as self cost are shown even if foreign. */
static const double hot_share = 0.05;

static bool has_python(const struct fz_profile *p)
{
	for (uint32_t i = 0; i < p->function_count; i++)
		if (p->functions[i].kind == FZ_KIND_PYTHON)
			return true;
	return false;
}

/* Is a function that occurs several times on a stack recursive? An interpreter's own functions are
 * not: they occur once for each Python call. */
static bool recurs(uint8_t kind, bool python)
{
	return kind != FZ_KIND_MARKER && (!python || kind == FZ_KIND_PYTHON);
}

/* ---- one profile ---- */

static struct fz_call_function *functions_of(const struct fz_tree *t, bool inverted,
					     struct fz_arena *arena)
{
	const struct fz_profile *p = t->profile;
	const struct fz_name *names = fz_names_of(p, arena);
	struct fz_call_function *functions = fz_calloc(p->function_count + 1ul, sizeof(*functions));
	fz_auto(fz_free_ptr) int32_t *lines = fz_profile_function_lines(p, t->metric);
	fz_auto(fz_free_ptr) uint8_t *origins = fz_profile_origins(p);
	fz_auto(fz_free_ptr) int64_t *self = NULL;
	fz_auto(fz_free_ptr) int64_t *total = NULL;
	bool python = has_python(p);

	fz_tree_function_costs(t, &self, &total);
	for (uint32_t i = 0; i < p->function_count; i++)
		functions[i] = (struct fz_call_function){
			.name = names[i].name,
			.place = { names[i].file, lines[i], p, i },
			.own = origins[i] == FZ_ORIGIN_OWN || p->functions[i].kind == FZ_KIND_TASK,
			.recurs = recurs(p->functions[i].kind, python),
			.keep = !inverted && (double)self[i] >= hot_share * (double)t->sum,
		};
	return functions;
}

static void add_source(struct fz_tree_view *v, uint32_t row, const struct fz_call_source *s)
{
	fz_call_tree_add(&v->tree, row, s,
			 v->o->all_frames                     ? FZ_CALL_FOLD_NOTHING
			 : fz_call_source_is_own(&v->tree, s) ? FZ_CALL_FOLD_FOREIGN
							      : FZ_CALL_FOLD_IMPORTS);
}

static void add_tree(struct fz_tree_view *v, const struct fz_tree *t, uint32_t row)
{
	add_source(v, row,
		   &(struct fz_call_source){ .n = t->n,
					     .function = t->function,
					     .parent = t->parent,
					     .self = { NULL, t->self },
					     .inverted = v->inverted });
}

/* Threads with a cost, by descending cost. */
struct threads {
	int64_t *cost;
	uint32_t *order;
	uint32_t n;
};

static int compare_threads(const void *pa, const void *pb, void *arg)
{
	const int64_t *cost = arg;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return FZ_CMP(cost[b], cost[a]) ?: FZ_CMP(a, b);
}

static struct threads find_threads(const struct fz_profile *p)
{
	struct threads t = { .cost = fz_calloc(p->thread_count + 1ul, sizeof(*t.cost)),
			     .order = fz_calloc(p->thread_count + 1ul, sizeof(*t.order)) };

	for (size_t row = 0; row < p->samples.n; row++)
		t.cost[p->samples.thread[row]] += fz_sample_weight(p, p->default_metric, row);
	for (uint32_t i = 0; i < p->thread_count; i++)
		if (t.cost[i])
			t.order[t.n++] = i;
	if (t.n)
		qsort_r(t.order, t.n, sizeof(*t.order), compare_threads, t.cost);
	return t;
}

static void add_group(struct fz_tree_view *v, const struct fz_profile *p, const uint32_t *threads,
		      uint32_t n, char *label)
{
	fz_auto(fz_free_ptr) bool *flags = fz_calloc(p->thread_count + 1ul, sizeof(*flags));
	uint32_t row = fz_call_tree_row(&v->tree, FZ_NONE, FZ_CALL_GROUP);

	for (uint32_t i = 0; i < n; i++)
		flags[threads[i]] = true;
	struct fz_tree_options options = FZ_TREE_DEFAULTS;
	options.inverted = v->inverted;
	options.threads = flags;
	fz_auto(fz_tree_freep) struct fz_tree *t = fz_tree_new(p, &options);
	v->tree.calls[row].function = v->groups;
	v->group_labels[v->groups++] = label;
	add_tree(v, t, row);
}

/* Add a group for each thread; the cheapest threads share one. */
static void add_groups(struct fz_tree_view *v, const struct fz_profile *p, const struct threads *t)
{
	fz_auto(fz_processes_release) struct fz_processes ps = fz_profile_processes(p);
	uint32_t single = t->n > GROUPS_SHOWN ? GROUPS_SHOWN - 1 : t->n;
	char text[256];

	v->group_labels = fz_calloc(GROUPS_SHOWN, sizeof(*v->group_labels));
	for (uint32_t i = 0; i < single; i++) {
		struct fz_str name = fz_report_thread_name(p, &ps, t->order[i], text, sizeof(text));
		add_group(v, p, &t->order[i], 1,
			  fz_asprintf("thread %.*s", (int)FZ_MIN(name.n, 200), name.p));
	}
	if (single < t->n)
		add_group(v, p, t->order + single, t->n - single,
			  fz_asprintf("%u more threads", t->n - single));
}

/* ---- a diff ---- */

static bool is_changed(const struct fz_judged *judged)
{
	return judged && judged->verdict == FZ_VERDICT_CHANGED;
}

/* Verdict of a node; NULL if unknown. In an inverted tree only roots have one. */
static const struct fz_judged *judged_node(const struct fz_tree_view *v, uint32_t node)
{
	const struct fz_diff_node *n = &v->d->nodes[node];

	if (v->inverted)
		return n->parent == FZ_NONE ? &v->j->self[n->function] : NULL;
	return v->j->path_total ? &v->j->path_total[node] : NULL;
}

/* The same by self cost, which does not apply to callers. */
static bool is_changed_itself(const struct fz_tree_view *v, uint32_t node)
{
	return !v->inverted && v->j->path_self && is_changed(&v->j->path_self[node]);
}

double fz_tree_view_delta(const struct fz_tree_view *v, const int64_t cost[FZ_SIDES])
{
	return fz_diff_delta(v->d, cost[FZ_BASE], cost[FZ_HEAD]);
}

/* For each function that certainly changed only as a sum, by total or self cost, mark the path that
 * changed most. */
static void mark_sums(const struct fz_tree_view *v, bool *changed)
{
	const struct fz_diff *d = v->d;
	const struct fz_judgement *j = v->j;
	fz_auto(fz_free_ptr) uint32_t *most = fz_calloc(d->function_count + 1ul, sizeof(*most));

	if (v->inverted || !j->path_self)
		return;
	for (uint32_t f = 0; f < d->function_count; f++)
		most[f] = FZ_NONE;
	for (uint32_t i = 0; i < d->node_count; i++) {
		uint32_t *at = &most[d->nodes[i].function];
		const struct fz_diff_cost *c = &d->nodes[i].cost;
		if (!j->path_self[i].of_sum && !j->path_total[i].of_sum)
			continue;
		if (*at == FZ_NONE || fabs(fz_tree_view_delta(v, c->total)) >
					      fabs(fz_tree_view_delta(v, d->nodes[*at].cost.total)))
			*at = i;
	}
	for (uint32_t f = 0; f < d->function_count; f++)
		if (most[f] != FZ_NONE)
			changed[most[f]] = true;
}

/* Mark nodes that certainly changed; in an inverted tree the innermost functions and their main
 * callers. Without verdicts, mark large differences. Freed by the caller. */
static bool *mark_nodes(const struct fz_tree_view *v)
{
	const struct fz_diff *d = v->d;
	bool *marked = fz_calloc(d->node_count + 1ul, sizeof(*marked));
	fz_auto(fz_free_ptr) bool *changed = fz_calloc(d->node_count + 1ul, sizeof(*changed));

	mark_sums(v, changed);
	for (uint32_t i = 0; i < d->node_count; i++) {
		uint32_t parent = d->nodes[i].parent;
		double delta = fabs(fz_tree_view_delta(v, d->nodes[i].cost.total));
		bool large = delta > 0 && delta >= v->o->min_share * v->whole;
		changed[i] |= is_changed(judged_node(v, i)) || is_changed_itself(v, i) ||
			      (v->inverted && parent != FZ_NONE && changed[parent]);
		marked[i] = v->j->method == FZ_JUDGE_NONE
				    ? large
				    : changed[i] && (!v->inverted || parent == FZ_NONE || large);
	}
	return marked;
}

static struct fz_call_function *functions_of_diff(const struct fz_tree_view *v)
{
	const struct fz_diff *d = v->d;
	struct fz_call_function *functions = fz_calloc(d->function_count + 1ul, sizeof(*functions));
	uint8_t *origins[FZ_SIDES] = { fz_profile_origins(d->profile[FZ_BASE]),
				       fz_profile_origins(d->profile[FZ_HEAD]) };
	bool python = has_python(d->profile[FZ_BASE]) || has_python(d->profile[FZ_HEAD]);

	for (uint32_t i = 0; i < d->function_count; i++) {
		const struct fz_diff_function *f = &d->functions[i];
		enum fz_side side = f->on_side[FZ_HEAD] != FZ_NONE ? FZ_HEAD : FZ_BASE;
		functions[i] = (struct fz_call_function){
			.name = f->name,
			.place = fz_source_place_of(d, f),
			.own = origins[side][f->on_side[side]] == FZ_ORIGIN_OWN ||
			       f->kind == FZ_KIND_TASK,
			.recurs = recurs(f->kind, python),
			.keep = is_changed(&v->j->self[i]),
		};
	}
	free(origins[FZ_BASE]);
	free(origins[FZ_HEAD]);
	return functions;
}

static void add_diff(struct fz_tree_view *v)
{
	const struct fz_diff *d = v->d;
	size_t n = d->node_count + 1ul;
	fz_auto(fz_free_ptr) bool *marked = mark_nodes(v);
	fz_auto(fz_free_ptr) uint32_t *function = fz_calloc(n, sizeof(*function));
	fz_auto(fz_free_ptr) uint32_t *parent = fz_calloc(n, sizeof(*parent));
	fz_auto(fz_free_ptr) int64_t *base = fz_calloc(n, sizeof(*base));
	fz_auto(fz_free_ptr) int64_t *head = fz_calloc(n, sizeof(*head));

	for (uint32_t i = 0; i < d->node_count; i++) {
		function[i] = d->nodes[i].function;
		parent[i] = d->nodes[i].parent;
		base[i] = d->nodes[i].cost.self[FZ_BASE];
		head[i] = d->nodes[i].cost.self[FZ_HEAD];
	}
	add_source(v, FZ_NONE,
		   &(struct fz_call_source){ .n = d->node_count,
					     .function = function,
					     .parent = parent,
					     .self = { base, head },
					     .marked = marked,
					     .inverted = v->inverted });
}

/* Does the row's total equal that of its first node? Totals per run are rounded. */
static bool is_all(const struct fz_tree_view *v, const struct fz_call *c, enum fz_side side)
{
	int64_t more = v->d->nodes[c->source].cost.total[side] - c->total[side];

	return v->d->per_run ? more >= -2 && more <= 2 : more == 0;
}

/* The node of a row that stands for exactly one, else FZ_NONE. */
static uint32_t node_of_row(const struct fz_tree_view *v, const struct fz_call *c)
{
	bool one = c->kind <= FZ_CALL_IMPORT && c->entries == 1 && is_all(v, c, FZ_BASE) &&
		   is_all(v, c, FZ_HEAD);

	return one ? c->source : FZ_NONE;
}

enum fz_tree_word fz_tree_view_word(const struct fz_tree_view *v, const struct fz_call *c)
{
	uint32_t node = node_of_row(v, c);
	const struct fz_judged *judged = node == FZ_NONE ? NULL : judged_node(v, node);

	if (!judged || v->j->method == FZ_JUDGE_NONE)
		return FZ_TREE_WORD_NONE;
	if (judged->verdict == FZ_VERDICT_UNCHANGED)
		return FZ_TREE_WORD_SAME;
	if (judged->verdict != FZ_VERDICT_CHANGED && judged->of_sum)
		return fz_tree_view_delta(v, c->total) > 0 ? FZ_TREE_WORD_SLOWER_IN_SUM
							   : FZ_TREE_WORD_FASTER_IN_SUM;
	if (judged->verdict != FZ_VERDICT_CHANGED)
		return FZ_TREE_WORD_UNSURE;
	if (!c->total[FZ_BASE])
		return FZ_TREE_WORD_NEW;
	if (!c->total[FZ_HEAD])
		return FZ_TREE_WORD_GONE;
	return fz_tree_view_delta(v, c->total) > 0 ? FZ_TREE_WORD_SLOWER : FZ_TREE_WORD_FASTER;
}

bool fz_tree_view_changed_itself(const struct fz_tree_view *v, const struct fz_call *c)
{
	uint32_t node = node_of_row(v, c);

	return node != FZ_NONE && c->deep == 1 && is_changed_itself(v, node);
}

/* ---- what is shown ---- */

static bool is_large(const struct fz_tree_view *v, const struct fz_call *c)
{
	double least = v->o->min_share * v->whole;
	double size = FZ_MAX(fabs((double)c->total[FZ_BASE]), fabs((double)c->total[FZ_HEAD]));

	return size > 0 && size >= least;
}

/* Weigh rows: in a profile by cost, in a diff by the largest certain change at or below them. 0:
 * not shown. */
static void weigh(struct fz_tree_view *v)
{
	const struct fz_call_tree *t = &v->tree;
	bool only_changes = v->d && !v->o->all_frames;

	v->weight = fz_calloc(t->n + 1ul, sizeof(*v->weight));
	for (uint32_t i = t->n; i-- > 0;) {
		const struct fz_call *c = &t->calls[i];
		double own = v->d ? fabs(fz_tree_view_delta(v, c->total))
				  : fabs((double)c->total[FZ_HEAD]);
		if (only_changes ? c->marked : is_large(v, c))
			v->weight[i] = FZ_MAX(v->weight[i], FZ_MAX(own, 1e-9));
		if (c->parent != FZ_NONE)
			v->weight[c->parent] = FZ_MAX(v->weight[c->parent], v->weight[i]);
	}
}

static int compare_weights(const void *pa, const void *pb, void *arg)
{
	const double *weight = arg;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return FZ_CMP(weight[b], weight[a]) ?: FZ_CMP(a, b);
}

/* Choose the heaviest rows, up to the limit. A parent is at least as heavy as its children and
 * comes before them, so the callers of a chosen row are chosen, too. */
static void choose(struct fz_tree_view *v)
{
	const struct fz_call_tree *t = &v->tree;
	fz_auto(fz_free_ptr) uint32_t *order = fz_calloc(t->n + 1ul, sizeof(*order));

	v->shown = fz_calloc(t->n + 1ul, sizeof(*v->shown));
	for (uint32_t i = 0; i < t->n; i++)
		order[i] = i;
	if (t->n)
		qsort_r(order, t->n, sizeof(*order), compare_weights, v->weight);
	for (uint32_t i = 0; i < t->n && i < v->o->tree_limit; i++) {
		uint32_t row = order[i], parent = t->calls[row].parent;

		v->shown[row] = v->weight[row] > 0;
		fz_assert(!v->shown[row] || parent == FZ_NONE || v->shown[parent]);
	}
}

/* Below each shown row, add one row for the hidden ones. Its `deep` is the number of unchanged
 * ones, `marked` means that there was no room for some, and `source` is the last row. */
static void add_rests(struct fz_tree_view *v)
{
	struct fz_call_tree *t = &v->tree;
	uint32_t n = t->n;
	fz_auto(fz_free_ptr) uint32_t *rest = fz_calloc(n + 1ul, sizeof(*rest));

	for (uint32_t i = 0; i < n; i++) {
		const struct fz_call c = t->calls[i];
		bool listed = c.parent == FZ_NONE || v->shown[c.parent];
		if (!listed || v->shown[i] || (!c.total[FZ_BASE] && !c.total[FZ_HEAD]))
			continue;
		uint32_t *at = &rest[c.parent == FZ_NONE ? n : c.parent];
		if (!*at)
			*at = fz_call_tree_row(t, c.parent, FZ_CALL_REST);
		struct fz_call *r = &t->calls[*at];
		r->frames++;
		r->source = i;
		r->marked |= v->weight[i] > 0;
		r->deep += v->d && fz_tree_view_word(v, &c) == FZ_TREE_WORD_SAME;
		for (int side = 0; side < FZ_SIDES; side++)
			r->total[side] += c.total[side];
	}
	v->shown = fz_reallocarray(v->shown, t->n + 1ul, sizeof(*v->shown));
	v->weight = fz_reallocarray(v->weight, t->n + 1ul, sizeof(*v->weight));
	for (uint32_t i = n; i < t->n; i++) {
		const struct fz_call *r = &t->calls[i];
		/* a single row takes no more room than a REST row */
		uint32_t in_place = v->d && r->frames == 1 ? r->source : i;
		v->shown[i] = false;
		v->shown[in_place] = is_large(v, r);
		v->weight[i] = 0;
	}
}

static int compare_rows(const void *pa, const void *pb, void *arg)
{
	const struct fz_tree_view *v = arg;
	uint32_t ia = *(const uint32_t *)pa, ib = *(const uint32_t *)pb;
	const struct fz_call *a = &v->tree.calls[ia], *b = &v->tree.calls[ib];

	return FZ_CMP(a->parent + 1, b->parent + 1) ?: compare_weights(pa, pb, v->weight);
}

static void link_rows(struct fz_tree_view *v)
{
	const struct fz_call_tree *t = &v->tree;
	fz_auto(fz_free_ptr) uint32_t *order = fz_calloc(t->n + 1ul, sizeof(*order));
	uint32_t n = 0;

	v->first = fz_calloc(t->n + 1ul, sizeof(*v->first));
	v->next = fz_calloc(t->n + 1ul, sizeof(*v->next));
	memset(v->first, 0xff, (t->n + 1ul) * sizeof(*v->first));
	for (uint32_t i = 0; i < t->n; i++)
		if (v->shown[i])
			order[n++] = i;
	if (n)
		qsort_r(order, n, sizeof(*order), compare_rows, v);
	for (uint32_t i = n; i-- > 0;) {
		uint32_t *head = &v->first[t->calls[order[i]].parent + 1];
		v->next[order[i]] = *head;
		*head = order[i];
	}
}

/* ---- both ---- */

static void choose_rows(struct fz_tree_view *v)
{
	fz_call_tree_sum(&v->tree);
	weigh(v);
	choose(v);
	add_rests(v);
	link_rows(v);
}

void fz_tree_view_of_profile(struct fz_tree_view *ret, const struct fz_tree *t, bool inverted,
			     const struct fz_text_options *o)
{
	const struct fz_profile *p = t->profile;
	struct threads threads = find_threads(p);

	*ret = (struct fz_tree_view){
		.o = o,
		.inverted = inverted,
		.unit = p->metrics[t->metric].unit,
		.whole = t->sum ? fabs((double)t->sum) : 1,
	};
	ret->functions = functions_of(t, inverted, &ret->arena);
	ret->tree.functions = ret->functions;
	ret->tree.function_count = p->function_count;
	if (threads.n > 1) {
		add_groups(ret, p, &threads);
	} else if (inverted) {
		struct fz_tree_options options = FZ_TREE_DEFAULTS;
		options.inverted = true;
		fz_auto(fz_tree_freep) struct fz_tree *turned = fz_tree_new(p, &options);
		add_tree(ret, turned, FZ_NONE);
	} else {
		add_tree(ret, t, FZ_NONE);
	}
	free(threads.cost);
	free(threads.order);
	choose_rows(ret);
}

void fz_tree_view_of_diff(struct fz_tree_view *ret, const struct fz_diff *d,
			  const struct fz_judgement *j, const struct fz_text_options *o)
{
	double base = fabs((double)d->total[FZ_BASE]), head = fabs((double)d->total[FZ_HEAD]);

	*ret = (struct fz_tree_view){
		.o = o,
		.d = d,
		.j = j,
		.inverted = d->inverted,
		.unit = d->unit,
		.whole = FZ_MAX(FZ_MAX(base, head), 1),
	};
	ret->functions = functions_of_diff(ret);
	ret->tree.functions = ret->functions;
	ret->tree.function_count = d->function_count;
	add_diff(ret);
	choose_rows(ret);
}

void fz_tree_view_release(struct fz_tree_view *v)
{
	for (uint32_t i = 0; i < v->groups; i++)
		free(v->group_labels[i]);
	free(v->group_labels);
	free(v->functions);
	free(v->weight);
	free(v->shown);
	free(v->first);
	free(v->next);
	fz_call_tree_release(&v->tree);
	fz_arena_release(&v->arena);
}
