/* SPDX-License-Identifier: MIT */
/* Call graphs; see callgraph.h.
 *
 * The total of a group of functions (variants or lines of a function, names that only differ in a
 * version) is the sum of their totals, less the cost of calls between them, which the caller's
 * total already includes. Inner variants are omitted.
 */
#include "profile/callgraph.h"

/* Sums of many values still fit in int64_t. */
static const int64_t value_max = (int64_t)1 << 60;

static int64_t add(int64_t a, int64_t b)
{
	int64_t sum =
		FZ_MIN(FZ_MAX(a, -value_max), value_max) + FZ_MIN(FZ_MAX(b, -value_max), value_max);

	return FZ_MIN(FZ_MAX(sum, -value_max), value_max);
}

static uint64_t add_count(uint64_t a, uint64_t b)
{
	return FZ_MIN(FZ_MIN(a, (uint64_t)value_max) + FZ_MIN(b, (uint64_t)value_max),
		      (uint64_t)value_max);
}

/* Adds values to a row, which is created if needed. */
static void add_row(struct fz_callgraph *g, struct fz_profile *p, uint32_t *row,
		    const int64_t *values)
{
	if (!values)
		return;
	if (*row == FZ_NONE) {
		size_t need = ((size_t)g->row_n + 1) * g->metrics;
		if (need > g->value_cap) {
			g->value_cap = need * 2;
			fz_profile_takes(p, g->value_cap * sizeof(*g->values));
			g->values = fz_reallocarray(g->values, g->value_cap, sizeof(*g->values));
		}
		*row = g->row_n++;
		memset(g->values + (size_t)*row * g->metrics, 0, g->metrics * sizeof(*g->values));
	}
	int64_t *sum = g->values + (size_t)*row * g->metrics;
	for (uint32_t m = 0; m < g->metrics; m++)
		sum[m] = add(sum[m], values[m]);
}

uint32_t fz_callgraph_function(struct fz_callgraph *g, struct fz_profile *p, uint32_t frame,
			       uint32_t variant, bool inner)
{
	uint32_t *slot = fz_map_slot(&g->function_of, FZ_KEY(frame, variant));

	if (*slot != FZ_NONE)
		return *slot;
	*slot = g->n;
	fz_profile_grow(p, g->functions, g->n, g->cap);
	g->functions[g->n] = (struct fz_callgraph_function){
		.frame = frame, .variant = variant, .inner = inner, .total = FZ_NONE
	};
	return g->n++;
}

void fz_callgraph_total(struct fz_callgraph *g, struct fz_profile *p, uint32_t function,
			const int64_t *values)
{
	fz_assert(function < g->n);
	add_row(g, p, &g->functions[function].total, values);
}

void fz_callgraph_self(struct fz_callgraph *g, struct fz_profile *p, uint32_t function,
		       uint32_t frame, const int64_t *values)
{
	uint32_t *slot = fz_map_slot(&g->self_of, FZ_KEY(function, frame));

	if (*slot == FZ_NONE) {
		*slot = g->self_n;
		fz_profile_push(p, g->selves, g->self_n, g->self_cap,
				(struct fz_callgraph_self){ function, frame, FZ_NONE });
	}
	add_row(g, p, &g->selves[*slot].cost, values);
}

void fz_callgraph_count(struct fz_callgraph *g, uint32_t function, uint64_t calls,
			uint64_t primitive)
{
	fz_assert(function < g->n);
	struct fz_callgraph_function *f = &g->functions[function];

	f->calls = add_count(f->calls, calls);
	f->primitive = add_count(f->primitive, primitive);
}

/* Finds or creates the call with the same ends and place. */
static struct fz_callgraph_call *call_of(struct fz_callgraph *g, struct fz_profile *p,
					 const struct fz_callgraph_call *call)
{
	const uint32_t ends[] = { call->caller, call->frame, call->callee };
	uint64_t hash = fz_map_hash(ends, sizeof(ends));
	uint32_t *slot;

	while (*(slot = fz_map_slot(&g->call_of, hash)) != FZ_NONE) {
		struct fz_callgraph_call *c = &g->calls[*slot];
		if (c->caller == call->caller && c->frame == call->frame &&
		    c->callee == call->callee)
			return c;
		hash++;
	}
	*slot = g->call_n;
	fz_profile_grow(p, g->calls, g->call_n, g->call_cap);
	g->calls[g->call_n] = (struct fz_callgraph_call){ .caller = call->caller,
							  .frame = call->frame,
							  .callee = call->callee,
							  .self = FZ_NONE,
							  .total = FZ_NONE };
	return &g->calls[g->call_n++];
}

void fz_callgraph_call(struct fz_callgraph *g, struct fz_profile *p,
		       const struct fz_callgraph_call *call, const int64_t *self,
		       const int64_t *total)
{
	fz_assert(call->caller < g->n && call->callee < g->n);
	struct fz_callgraph_call *c = call_of(g, p, call);

	c->calls = add_count(c->calls, call->calls);
	c->primitive = add_count(c->primitive, call->primitive);
	add_row(g, p, &c->self, self);
	add_row(g, p, &c->total, total);
}

/* ---- several graphs ---- */

struct merger {
	struct fz_callgraph *g;
	struct fz_profile *p;
	const struct fz_callgraph *from;
	const struct fz_callgraph_tables *tables; /* NULL: the same */
	uint32_t *function;                       /* from's -> g's */
};

static uint32_t metric_there(const struct merger *m, uint32_t metric)
{
	return m->tables ? m->tables->metrics[metric] : metric;
}

static uint32_t frame_here(const struct merger *m, uint32_t frame)
{
	return m->tables ? m->tables->frames[frame] : frame;
}

/* A row of the other graph in the order of our metrics, or NULL. */
static const int64_t *row_here(const struct merger *m, uint32_t row, int64_t values[FZ_METRICS_MAX])
{
	const int64_t *theirs = fz_callgraph_row(m->from, row);

	for (uint32_t i = 0; theirs && i < m->g->metrics; i++)
		values[i] = theirs[metric_there(m, i)];
	return theirs ? values : NULL;
}

static void merge_stated(const struct merger *m)
{
	uint32_t bits = 0;

	for (uint32_t i = 0; i < m->g->metrics; i++)
		bits |= (m->from->stated >> metric_there(m, i) & 1u) << i;
	m->g->stated = m->g->n ? m->g->stated & bits : bits;
}

static void merge_functions(struct merger *m)
{
	int64_t values[FZ_METRICS_MAX];

	for (uint32_t i = 0; i < m->from->n; i++) {
		const struct fz_callgraph_function *f = &m->from->functions[i];
		uint32_t variant = m->tables ? m->tables->strings[f->variant] : f->variant;
		uint32_t at = fz_callgraph_function(m->g, m->p, frame_here(m, f->frame), variant,
						    f->inner);
		struct fz_callgraph_function *mine = &m->g->functions[at];
		mine->inner &= f->inner;
		fz_callgraph_count(m->g, at, f->calls, f->primitive);
		fz_callgraph_total(m->g, m->p, at, row_here(m, f->total, values));
		m->function[i] = at;
	}
}

static void merge_costs(struct merger *m)
{
	int64_t self[FZ_METRICS_MAX], total[FZ_METRICS_MAX];

	for (uint32_t i = 0; i < m->from->self_n; i++) {
		const struct fz_callgraph_self *s = &m->from->selves[i];
		fz_callgraph_self(m->g, m->p, m->function[s->function], frame_here(m, s->frame),
				  row_here(m, s->cost, self));
	}
	for (uint32_t i = 0; i < m->from->call_n; i++) {
		struct fz_callgraph_call c = m->from->calls[i];
		c.caller = m->function[c.caller];
		c.callee = m->function[c.callee];
		c.frame = frame_here(m, c.frame);
		fz_callgraph_call(m->g, m->p, &c, row_here(m, c.self, self),
				  row_here(m, c.total, total));
	}
}

void fz_callgraph_merge(struct fz_callgraph *g, struct fz_profile *p,
			const struct fz_callgraph *from, const struct fz_callgraph_tables *tables)
{
	fz_auto(fz_free_ptr) uint32_t *function =
		fz_reallocarray(NULL, FZ_MAX(from->n, 1), sizeof(*function));
	struct merger m = { g, p, from, tables, function };

	merge_stated(&m);
	merge_functions(&m);
	merge_costs(&m);
}

static int64_t share(int64_t value, int64_t runs)
{
	return (value + (value < 0 ? -runs : runs) / 2) / runs;
}

static void share_counts(uint64_t *calls, uint64_t *primitive, uint32_t runs)
{
	*calls = (*calls + runs / 2) / runs;
	*primitive = (*primitive + runs / 2) / runs;
}

void fz_callgraph_per_run(struct fz_callgraph *g, uint32_t runs)
{
	for (size_t i = 0; i < (size_t)g->row_n * g->metrics; i++)
		g->values[i] = share(g->values[i], runs);
	for (uint32_t i = 0; i < g->n; i++)
		share_counts(&g->functions[i].calls, &g->functions[i].primitive, runs);
	for (uint32_t i = 0; i < g->call_n; i++)
		share_counts(&g->calls[i].calls, &g->calls[i].primitive, runs);
}

void fz_profile_take_callgraph(struct fz_profile *p, struct fz_callgraph *g, bool first)
{
	if (first) {
		p->callgraph = g;
		return;
	}
	if (p->callgraph)
		fz_callgraph_merge(p->callgraph, p, g, NULL);
	fz_callgraph_free(g);
}

void fz_profile_drop_callgraph(struct fz_profile *p)
{
	fz_callgraph_free(p->callgraph);
	p->callgraph = NULL;
}

/* ---- counts ---- */

const char *fz_profile_counted(const struct fz_profile *p)
{
	return fz_profile_find_metric(p, FZ_STR("samples")) != FZ_NONE ? "sample" : "call";
}

uint64_t fz_profile_count(const struct fz_profile *p)
{
	uint32_t metric = fz_profile_find_metric(p, FZ_STR("samples"));
	uint64_t n = 0;

	if (metric == FZ_NONE)
		metric = fz_profile_find_metric(p, FZ_STR("calls"));
	for (size_t row = 0; metric != FZ_NONE && row < p->samples.n; row++)
		n += (uint64_t)FZ_MAX(fz_sample_weight(p, metric, row), 0);
	for (uint32_t i = 0; metric == FZ_NONE && p->callgraph && i < p->callgraph->call_n; i++)
		n = add_count(n, p->callgraph->calls[i].calls);
	return n;
}

/* ---- totals ---- */

bool fz_callgraph_states(const struct fz_profile *p, uint32_t metric)
{
	return p->callgraph && metric < p->callgraph->metrics &&
	       (p->callgraph->stated >> metric & 1);
}

struct totals {
	const struct fz_profile *p;
	const struct fz_callgraph *g;
	uint32_t metric;
	const uint32_t *group_of; /* of each function of the graph */
	bool *has_outer;  /* of each function of the profile: the graph has a variant of it that is
			     not inner */
	int64_t *sum;     /* of each group */
	int64_t *largest; /* of its members; INT64_MIN if none is stated */
	bool *unknown;
};

static uint32_t profile_function(const struct totals *t, uint32_t function)
{
	return t->p->frames[t->g->functions[function].frame].function;
}

static bool is_outermost(const struct totals *t, uint32_t function)
{
	return !t->g->functions[function].inner || !t->has_outer[profile_function(t, function)];
}

static void find_outermost(struct totals *t)
{
	for (uint32_t i = 0; i < t->g->n; i++)
		t->has_outer[profile_function(t, i)] |= !t->g->functions[i].inner;
}

static void add_totals(struct totals *t)
{
	for (uint32_t i = 0; i < t->g->n; i++) {
		const int64_t *row = fz_callgraph_row(t->g, t->g->functions[i].total);
		uint32_t group = t->group_of[i];
		if (group == FZ_NONE || !is_outermost(t, i))
			continue;
		if (!row) {
			t->unknown[group] = true;
			continue;
		}
		t->sum[group] = add(t->sum[group], row[t->metric]);
		t->largest[group] = FZ_MAX(t->largest[group], row[t->metric]);
	}
}

static void take_calls_inside(struct totals *t)
{
	for (uint32_t i = 0; i < t->g->call_n; i++) {
		const struct fz_callgraph_call *c = &t->g->calls[i];
		const int64_t *row = fz_callgraph_row(t->g, c->total);
		uint32_t group = t->group_of[c->callee];
		if (c->caller == c->callee || group == FZ_NONE || t->group_of[c->caller] != group ||
		    !is_outermost(t, c->callee))
			continue;
		if (row)
			t->sum[group] = add(t->sum[group], -row[t->metric]);
		else
			t->unknown[group] = true;
	}
}

void fz_callgraph_group_totals(const struct fz_profile *p, uint32_t metric,
			       const uint32_t *group_of, uint32_t groups, int64_t *ret_total)
{
	size_t n = groups + 1ul;
	fz_auto(fz_free_ptr) bool *has_outer = fz_calloc(p->function_count + 1ul, sizeof(bool));
	fz_auto(fz_free_ptr) int64_t *sum = fz_calloc(n, sizeof(*sum));
	fz_auto(fz_free_ptr) int64_t *largest = fz_reallocarray(NULL, n, sizeof(*largest));
	fz_auto(fz_free_ptr) bool *unknown = fz_calloc(n, sizeof(*unknown));
	struct totals t = { p, p->callgraph, metric, group_of, has_outer, sum, largest, unknown };

	for (uint32_t i = 0; i < groups; i++)
		largest[i] = INT64_MIN;
	find_outermost(&t);
	add_totals(&t);
	take_calls_inside(&t);
	for (uint32_t i = 0; i < groups; i++)
		if (!unknown[i] && largest[i] != INT64_MIN)
			ret_total[i] = FZ_MAX(sum[i], largest[i]);
}

void fz_callgraph_totals(const struct fz_profile *p, uint32_t metric, const uint32_t *group_of,
			 uint32_t groups, int64_t *ret_total)
{
	if (!fz_callgraph_states(p, metric))
		return;
	const struct fz_callgraph *g = p->callgraph;
	fz_auto(fz_free_ptr) uint32_t *group = fz_reallocarray(NULL, g->n + 1ul, sizeof(*group));
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t f = p->frames[g->functions[i].frame].function;
		group[i] = group_of ? group_of[f] : f;
	}
	fz_callgraph_group_totals(p, metric, group, groups, ret_total);
}
