/* SPDX-License-Identifier: MIT */
/* A call tree from a call graph; see graph.h.
 *
 *   1  calls are grouped by caller; a depth-first walk from the functions without callers, heavy
 *      calls first, drops those that close a cycle: the rest has an order
 *   2  share of a call = its cost / cost of all calls of its callee;
 *      weight of a function = its self cost + sum over its calls of share * weight of the callee
 *   3  walk down from the roots with a fraction, 1 at a root, times the share at each call: a
 *      path's self cost is that fraction of its function's
 *
 * The fractions of all paths to a function add up to 1, so costs do too. Rounding is cumulative per
 * function, so that the sum stays exact.
 */
#include "graph.h"

#include <math.h>

/* Paths with a smaller fraction of the total are merged. */
#define SMALL 2e-5
enum { DEPTH_MAX = 1024, PATHS_MAX = 1 << 20, STEPS_MAX = 1 << 28 };

struct function {
	uint32_t first_call; /* in calls, after sorting */
	uint32_t first_self; /* in given->selves; FZ_NONE: none */
	uint8_t color;       /* 0 new, 1 open, 2 done */
	double incoming;     /* cost of the remaining calls */
	double self, weight; /* in the default metric */
	double given;        /* fraction handed out so far */
};

struct call {
	uint32_t caller, frame, callee;
	double cost, calls;
	bool dropped;
};

struct graph {
	struct fz_profile *p;
	const struct fz_callgraph *given;
	struct function *functions;
	uint32_t n;
	struct call *calls;
	uint32_t call_count;
	uint32_t *next_self; /* of given->selves: the function's next */
	uint32_t *order;     /* functions, callees before callers */
	uint32_t ordered;
	double total;
	uint32_t thread, paths;
	uint32_t steps; /* calls visited, limited for malicious graphs */
};

static double default_cost(const struct graph *g, uint32_t row)
{
	const int64_t *values = fz_callgraph_row(g->given, row);

	return values ? (double)values[g->p->default_metric] : 0;
}

static void read_self_costs(struct graph *g)
{
	for (uint32_t i = g->given->self_n; i-- > 0;) {
		const struct fz_callgraph_self *self = &g->given->selves[i];
		struct function *f = &g->functions[self->function];
		g->next_self[i] = f->first_self;
		f->first_self = i;
		f->self += default_cost(g, self->cost);
	}
}

/* Copies the calls, except those of a function by itself. */
static void read_calls(struct graph *g)
{
	for (uint32_t i = 0; i < g->given->call_n; i++) {
		const struct fz_callgraph_call *c = &g->given->calls[i];
		if (c->caller != c->callee)
			g->calls[g->call_count++] = (struct call){
				.caller = c->caller,
				.frame = c->frame,
				.callee = c->callee,
				.cost = FZ_MAX(default_cost(g, c->total), 0),
				.calls = (double)c->calls,
			};
	}
}

static void init(struct graph *g)
{
	g->n = g->given->n;
	g->functions = fz_calloc(g->n + 1ul, sizeof(*g->functions));
	g->calls = fz_calloc(g->given->call_n + 1ul, sizeof(*g->calls));
	g->next_self = fz_calloc(g->given->self_n + 1ul, sizeof(*g->next_self));
	g->order = fz_calloc(g->n + 1ul, sizeof(*g->order));
	for (uint32_t f = 0; f < g->n; f++)
		g->functions[f].first_self = FZ_NONE;
	read_self_costs(g);
	read_calls(g);
}

static void release(struct graph *g)
{
	free(g->functions);
	free(g->calls);
	free(g->next_self);
	free(g->order);
}

/* ---- 1: an order ---- */

static double by_cost(const struct call *c)
{
	/* If costs are 0 the number of calls decides. */
	return c->cost + 1e-9 * c->calls + 1e-12;
}

static int compare_ends(const void *pa, const void *pb)
{
	const struct call *a = pa, *b = pb;

	return FZ_CMP(a->caller, b->caller) ?: FZ_CMP(a->callee, b->callee) ?:
	       FZ_CMP(a->frame, b->frame);
}

static int compare_calls(const void *pa, const void *pb)
{
	const struct call *a = pa, *b = pb;

	return FZ_CMP(a->caller, b->caller) ?: FZ_CMP(by_cost(b), by_cost(a)) ?: compare_ends(a, b);
}

static uint32_t calls_end(const struct graph *g, uint32_t f)
{
	return f + 1 < g->n ? g->functions[f + 1].first_call : g->call_count;
}

static void group_calls(struct graph *g)
{
	uint32_t at = 0;

	if (g->call_count)
		qsort(g->calls, g->call_count, sizeof(*g->calls), compare_calls);
	for (uint32_t f = 0; f < g->n; f++) {
		g->functions[f].first_call = at;
		while (at < g->call_count && g->calls[at].caller == f)
			at++;
	}
}

struct visit {
	uint32_t function, next; /* call */
};

static void walk_from(struct graph *g, uint32_t root, struct visit *stack)
{
	uint32_t depth = 0;

	if (g->functions[root].color)
		return;
	stack[depth++] = (struct visit){ root, g->functions[root].first_call };
	g->functions[root].color = 1;
	while (depth) {
		struct visit *v = &stack[depth - 1];
		if (v->next == calls_end(g, v->function)) {
			g->functions[v->function].color = 2;
			g->order[g->ordered++] = v->function;
			depth--;
			continue;
		}
		struct call *c = &g->calls[v->next++];
		struct function *f = &g->functions[c->callee];
		c->dropped = f->color == 1;
		if (f->color)
			continue;
		f->color = 1;
		stack[depth++] = (struct visit){ c->callee, f->first_call };
	}
}

struct start {
	uint32_t function;
	bool called;
	double cost;
};

/* Orders start functions: those without callers first; in a cycle without entry, the most
 * expensive. */
static int compare_starts(const void *pa, const void *pb)
{
	const struct start *a = pa, *b = pb;

	return a->called - b->called ?: FZ_CMP(b->cost, a->cost) ?:
	       FZ_CMP(a->function, b->function);
}

static void find_order(struct graph *g)
{
	fz_auto(fz_free_ptr) struct visit *stack = fz_calloc(g->n + 1, sizeof(*stack));
	fz_auto(fz_free_ptr) struct start *starts = fz_calloc(g->n + 1, sizeof(*starts));

	for (uint32_t f = 0; f < g->n; f++)
		starts[f] = (struct start){ .function = f, .cost = g->functions[f].self };
	for (uint32_t i = 0; i < g->call_count; i++) {
		starts[g->calls[i].callee].called = true;
		starts[g->calls[i].caller].cost += g->calls[i].cost;
	}
	if (g->n)
		qsort(starts, g->n, sizeof(*starts), compare_starts);
	for (uint32_t i = 0; i < g->n; i++)
		walk_from(g, starts[i].function, stack);
}

/* ---- 2: shares and weights ---- */

static double share(const struct graph *g, const struct call *c)
{
	return by_cost(c) / g->functions[c->callee].incoming;
}

static void weigh(struct graph *g)
{
	for (uint32_t i = 0; i < g->call_count; i++)
		if (!g->calls[i].dropped)
			g->functions[g->calls[i].callee].incoming += by_cost(&g->calls[i]);
	for (uint32_t i = 0; i < g->ordered; i++) {
		struct function *f = &g->functions[g->order[i]];
		uint32_t end = calls_end(g, g->order[i]);
		f->weight = f->self;
		for (uint32_t c = f->first_call; c < end; c++)
			if (!g->calls[c].dropped)
				f->weight += share(g, &g->calls[c]) *
					     g->functions[g->calls[c].callee].weight;
		g->total += f->incoming > 0 ? 0 : f->weight;
	}
}

/* ---- 3: paths ---- */

/* Assigns the self cost of a function, up to that fraction of it, to a stack. */
static void assign_cost(struct graph *g, uint32_t function, uint32_t above, double upto)
{
	struct function *f = &g->functions[function];
	uint32_t metrics = g->given->metrics;
	int64_t weights[FZ_METRICS_MAX];

	for (uint32_t i = f->first_self; i != FZ_NONE; i = g->next_self[i]) {
		const int64_t *all = fz_callgraph_row(g->given, g->given->selves[i].cost);
		bool any = false;
		for (uint32_t m = 0; m < metrics; m++) {
			weights[m] =
				llround((double)all[m] * upto) - llround((double)all[m] * f->given);
			/* A double is not exact for large values. */
			if (upto >= 1 && f->given <= 0)
				weights[m] = all[m];
			any |= weights[m] != 0;
		}
		struct fz_sample s = {
			.thread = g->thread,
			.stack = fz_profile_stack(g->p, above, g->given->selves[i].frame),
			.status = FZ_STATUS_UNKNOWN,
		};
		if (any)
			fz_profile_add_sample(g->p, &s, weights);
	}
	f->given = upto;
}

struct step {
	uint32_t function, stack; /* stack: of the caller */
	uint32_t next;            /* call */
	double fraction;
};

/* Expands all paths from a root. */
static void expand(struct graph *g, uint32_t root, struct step *path)
{
	uint32_t depth = 0;

	path[depth++] = (struct step){ root, FZ_NONE, g->functions[root].first_call, 1 };
	assign_cost(g, root, FZ_NONE, 1);
	while (depth) {
		struct step *s = &path[depth - 1];
		if (s->next == calls_end(g, s->function) || g->steps >= STEPS_MAX ||
		    g->p->over_limit) {
			depth--;
			continue;
		}
		const struct call *c = &g->calls[s->next++];
		g->steps++;
		if (c->dropped || depth == DEPTH_MAX || g->paths >= PATHS_MAX)
			continue;
		double fraction = s->fraction * share(g, c);
		struct function *f = &g->functions[c->callee];
		if (!(fraction * f->weight > SMALL * g->total))
			continue;
		uint32_t stack = fz_profile_stack(g->p, s->stack, c->frame);
		g->paths++;
		assign_cost(g, c->callee, stack, FZ_MIN(f->given + fraction, 1));
		path[depth++] = (struct step){ c->callee, stack, f->first_call, fraction };
	}
}

/* Assigns the cost of the merged small paths. */
static void assign_rest(struct graph *g)
{
	uint32_t marker = fz_profile_frame_named(g->p, FZ_STR("[other callers]"), FZ_STR(""),
						 FZ_NO_LINE, FZ_KIND_MARKER);
	uint32_t above = FZ_NONE;

	for (uint32_t f = 0; f < g->n; f++) {
		if (g->functions[f].given >= 1)
			continue;
		if (above == FZ_NONE)
			above = fz_profile_stack(g->p, FZ_NONE, marker);
		assign_cost(g, f, above, 1);
	}
}

void fz_graph_make_stacks(struct fz_profile *p, const struct fz_callgraph *graph)
{
	fz_auto(release) struct graph g = { .p = p, .given = graph };
	fz_auto(fz_free_ptr) struct step *path = fz_calloc(DEPTH_MAX, sizeof(*path));

	p->recording.reconstructed = true;
	p->samples.ordered = p->samples.timed = false;
	if (p->over_limit)
		return;
	init(&g);
	g.thread = fz_profile_thread(p, &(struct fz_thread){ .is_main = true });
	group_calls(&g);
	find_order(&g);
	weigh(&g);
	for (uint32_t f = 0; f < g.n; f++)
		if (!(g.functions[f].incoming > 0))
			expand(&g, f, path);
	assign_rest(&g);
}
