/* SPDX-License-Identifier: MIT */
/* Builds a call tree from samples.
 *
 *   1. sum: weight of every distinct stack (array over stacks), so that the number of samples no
 *      longer matters;
 *   2. grow, depth first. A node has the paths through it; its children are made by extending each
 *      path and grouping the extended paths by function:
 *
 *        node main, paths 0 and 3          path 0 extends to f, path 3 to f and g
 *          f  paths 1 and 4                children are pending in order of totals;
 *          g  path 5                       the last pending one grows next
 *
 * So nodes are created in preorder with ordered siblings, without hashing. A path of the straight
 * tree is a stack, which extends to every callee. A path of the inverted tree starts at a sampled
 * stack and extends to its caller, with its weight; recursion needs no special care there, because
 * each sample is on exactly one path.
 */
#include "tree.h"

#include "profile/callgraph.h"

/* A node without children yet. */
struct bud {
	uint32_t function, parent;
	uint32_t path; /* first path; further ones by `next` */
	int64_t total;
};

/* A stack in the list of its caller. */
struct callee {
	uint32_t stack, function;
	int64_t total;
};

struct grower {
	const struct fz_profile *p;
	const struct fz_tree_options *o;
	struct fz_tree *t;
	uint32_t cap;
	bool *used;      /* of each stack: it leads to a counted sample */
	int64_t *weight; /* of each stack: weight of samples that end there */
	int64_t *total;  /* straight: including callees */
	/* straight: callees of stack s are callees[start[s + 1]..start[s + 2]); roots come first */
	struct callee *callees;
	uint32_t *start;
	uint32_t *at;   /* inverted: the current stack of each path */
	uint32_t *next; /* of each path: the next one in the same node */
	struct bud *buds;
	uint32_t bud_count, bud_cap;
	uint32_t *latest; /* of each function: its latest bud */
};

static uint32_t stack_function(const struct fz_profile *p, uint32_t stack)
{
	return p->frames[p->stacks[stack].frame].function;
}

static bool is_counted(const struct grower *g, size_t row)
{
	const struct fz_samples *s = &g->p->samples;

	return (!g->o->threads || g->o->threads[s->thread[row]]) &&
	       (g->o->run == FZ_NONE || (s->run ? s->run[row] : 0) == g->o->run);
}

static void sum_stacks(struct grower *g)
{
	struct fz_tree *t = g->t;
	const struct fz_samples *s = &g->p->samples;

	g->weight = fz_calloc(g->p->stack_count, sizeof(*g->weight));
	for (size_t row = 0; row < s->n; row++) {
		if (!is_counted(g, row))
			continue;
		int64_t w = fz_sample_weight(g->p, t->metric, row);
		uint32_t n = fz_sample_count_in(g->p, t->metric, row);
		if (s->stack[row] == FZ_NONE) {
			t->stackless_sum += w;
			t->stackless += n;
			continue;
		}
		t->sum += w;
		t->samples += n;
		g->weight[s->stack[row]] += w;
	}
}

/* Stacks that lead to a counted sample; only these get a node, even if weights cancel out. */
static bool *used_stacks(const struct grower *g)
{
	const struct fz_samples *s = &g->p->samples;
	bool *used = fz_calloc(g->p->stack_count, sizeof(*used));

	for (size_t row = 0; row < s->n; row++)
		if (s->stack[row] != FZ_NONE && is_counted(g, row))
			used[s->stack[row]] = true;
	if (!g->o->inverted)
		for (uint32_t i = g->p->stack_count; i-- > 0;)
			if (used[i] && g->p->stacks[i].parent != FZ_NONE)
				used[g->p->stacks[i].parent] = true;
	return used;
}

static struct fz_str function_name(const struct fz_profile *p, uint32_t function)
{
	return p->strings[p->functions[function].name];
}

static int compare_functions(const struct fz_profile *p, uint32_t a, uint32_t b)
{
	const struct fz_function *x = &p->functions[a], *y = &p->functions[b];

	return fz_str_cmp(function_name(p, a), function_name(p, b)) ?:
	       fz_str_cmp(p->strings[x->file], p->strings[y->file]) ?:
	       FZ_CMP(x->first_line, y->first_line) ?: FZ_CMP(a, b);
}

/* Orders buds so that those that grow first come last. */
static int compare_buds(const void *pa, const void *pb, void *arg)
{
	const struct bud *a = pa, *b = pb;

	return FZ_CMP(a->total, b->total) ?: compare_functions(arg, b->function, a->function);
}

/* Adds a path to the bud of its function among those made since `first`; creates it if needed. */
static void lead(struct grower *g, uint32_t parent, uint32_t first, uint32_t function,
		 uint32_t path, int64_t total)
{
	uint32_t at = g->latest[function];

	/* `latest` may be outdated: the bud that it refers to may be gone or belong to another
	 * function. */
	if (at < first || at >= g->bud_count || g->buds[at].function != function) {
		at = g->latest[function] = g->bud_count;
		fz_push(g->buds, g->bud_count, g->bud_cap,
			(struct bud){ function, parent, FZ_NONE, 0 });
	}
	g->next[path] = g->buds[at].path;
	g->buds[at].path = path;
	g->buds[at].total += total;
}

/* Groups callees by caller and sums totals; callers precede callees. */
static void group_callees(struct grower *g)
{
	const struct fz_profile *p = g->p;
	uint32_t n = p->stack_count;

	g->start = fz_calloc(n + 2ul, sizeof(*g->start));
	g->callees = fz_reallocarray(NULL, n + 1ul, sizeof(*g->callees));
	g->total = fz_calloc(n, sizeof(*g->total));
	for (uint32_t i = 0; i < n; i++)
		g->start[p->stacks[i].parent + 1] += g->used[i]; /* FZ_NONE + 1 wraps to 0 */
	for (uint32_t i = 1; i < n + 2; i++)
		g->start[i] += g->start[i - 1];
	/* Filling moves each start from the end of its range to the beginning. */
	for (uint32_t i = n; i-- > 0;) {
		uint32_t parent = p->stacks[i].parent;
		g->total[i] += g->weight[i];
		if (parent != FZ_NONE)
			g->total[parent] += g->total[i];
		if (g->used[i])
			g->callees[--g->start[parent + 1]] =
				(struct callee){ i, stack_function(p, i), g->total[i] };
	}
}

static void lead_to_callees(struct grower *g, uint32_t node, uint32_t first, uint32_t caller)
{
	for (uint32_t i = g->start[caller + 1]; i < g->start[caller + 2]; i++) {
		const struct callee *c = &g->callees[i];
		__builtin_prefetch(&g->start[c->stack + 1]); /* needed soon */
		lead(g, node, first, c->function, c->stack, c->total);
	}
}

/* Extends an inverted path to its caller; stack_node finally is its end, the outermost caller. */
static void lead_to_caller(struct grower *g, uint32_t node, uint32_t first, uint32_t path)
{
	uint32_t caller = g->p->stacks[g->at[path]].parent;

	if (caller == FZ_NONE) {
		g->t->stack_node[path] = node;
		return;
	}
	g->at[path] = caller;
	lead(g, node, first, stack_function(g->p, caller), path, g->weight[path]);
}

static void begin_straight(struct grower *g)
{
	group_callees(g);
	for (uint32_t i = 0; i < g->start[1]; i++)
		lead(g, FZ_NONE, 0, g->callees[i].function, g->callees[i].stack,
		     g->callees[i].total);
}

static void begin_inverted(struct grower *g)
{
	g->at = fz_calloc(g->p->stack_count, sizeof(*g->at));
	for (uint32_t i = 0; i < g->p->stack_count; i++) {
		g->at[i] = i;
		if (g->used[i])
			lead(g, FZ_NONE, 0, stack_function(g->p, i), i, g->weight[i]);
	}
}

static uint32_t add_node(struct grower *g, const struct bud *bud)
{
	struct fz_tree *t = g->t;

	if (t->n == g->cap) {
		g->cap = g->cap ? g->cap * 2 : 1024;
		t->function = fz_reallocarray(t->function, g->cap, sizeof(*t->function));
		t->parent = fz_reallocarray(t->parent, g->cap, sizeof(*t->parent));
		t->self = fz_reallocarray(t->self, g->cap, sizeof(*t->self));
		t->total = fz_reallocarray(t->total, g->cap, sizeof(*t->total));
	}
	t->function[t->n] = bud->function;
	t->parent[t->n] = bud->parent;
	t->self[t->n] = t->total[t->n] = bud->total;
	return t->n++;
}

static void order_buds(struct grower *g, uint32_t first)
{
	if (g->bud_count - first > 1)
		qsort_r(g->buds + first, g->bud_count - first, sizeof(*g->buds), compare_buds,
			(void *)g->p);
}

static void grow_node(struct grower *g, const struct bud *bud)
{
	uint32_t node = add_node(g, bud), first = g->bud_count;

	for (uint32_t path = bud->path, next; path != FZ_NONE; path = next) {
		next = g->next[path];
		if (g->o->inverted) {
			lead_to_caller(g, node, first, path);
		} else {
			g->t->stack_node[path] = node;
			lead_to_callees(g, node, first, path);
		}
	}
	for (uint32_t i = first; i < g->bud_count; i++) {
		g->t->self[node] -= g->buds[i].total;
		if (!g->o->inverted)
			__builtin_prefetch(&g->callees[g->start[g->buds[i].path + 1]]);
	}
	order_buds(g, first);
}

static void grow(struct grower *g)
{
	uint32_t stacks = g->p->stack_count;

	g->t->stack_node = fz_reallocarray(NULL, stacks + 1ul, sizeof(*g->t->stack_node));
	memset(g->t->stack_node, 0xff, stacks * sizeof(*g->t->stack_node));
	g->next = fz_reallocarray(NULL, stacks + 1ul, sizeof(*g->next));
	g->latest = fz_calloc(g->p->function_count, sizeof(*g->latest));
	if (g->o->inverted)
		begin_inverted(g);
	else
		begin_straight(g);
	order_buds(g, 0);
	while (g->bud_count) {
		struct bud bud = g->buds[--g->bud_count];
		grow_node(g, &bud);
	}
}

static void sum_sizes(struct fz_tree *t)
{
	t->size = fz_calloc(t->n, sizeof(*t->size));
	for (uint32_t i = t->n; i-- > 0;) {
		t->size[i] += 1;
		if (t->parent[i] != FZ_NONE)
			t->size[t->parent[i]] += t->size[i];
	}
}

static void release(struct grower *g)
{
	void *arrays[] = { g->used, g->weight, g->total, g->callees, g->start,
			   g->at,   g->next,   g->buds,  g->latest };

	for (size_t i = 0; i < FZ_ARRAY_LEN(arrays); i++)
		free(arrays[i]);
}

/* Turns counts of entries, where count[node + 1] belongs to node, into the start of each node's
 * entries. */
static void running_sum(size_t *count, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		count[i + 1] += count[i];
}

static int compare_cells(const void *pa, const void *pb)
{
	const struct fz_tree_cell *a = pa, *b = pb;

	return FZ_CMP(a->thread, b->thread);
}

/* Sorts cells by node, then by thread. */
static void sort_cells(struct fz_tree *t)
{
	fz_auto(fz_free_ptr) size_t *end = fz_calloc(t->n + 1ul, sizeof(*end));
	struct fz_tree_cell *sorted = fz_reallocarray(NULL, t->cell_count + 1, sizeof(*sorted));

	for (size_t i = 0; i < t->cell_count; i++)
		end[t->cells[i].node + 1]++;
	running_sum(end, t->n);
	/* Filling moves the start of each node to its end. */
	for (size_t i = 0; i < t->cell_count; i++)
		sorted[end[t->cells[i].node]++] = t->cells[i];
	for (uint32_t node = 0; node < t->n; node++) {
		size_t first = node ? end[node - 1] : 0;
		if (end[node] - first > 1)
			qsort(sorted + first, end[node] - first, sizeof(*sorted), compare_cells);
	}
	free(t->cells);
	t->cells = sorted;
}

/* With one thread, cells are the nodes' own weights. */
static void fill_cells_of_one(struct fz_tree *t)
{
	t->cells = fz_reallocarray(NULL, t->n + 1ul, sizeof(*t->cells));
	for (uint32_t node = 0; node < t->n; node++)
		if (t->self[node])
			t->cells[t->cell_count++] = (struct fz_tree_cell){ node, 0, t->self[node] };
}

static void fill_cells(struct fz_tree *t, const struct grower *g)
{
	const struct fz_samples *s = &g->p->samples;
	struct fz_map map = { 0 };
	size_t cap = 0;

	for (size_t row = 0; row < s->n; row++) {
		if (s->stack[row] == FZ_NONE || !is_counted(g, row))
			continue;
		uint32_t node = t->stack_node[s->stack[row]];
		uint32_t *slot = fz_map_slot(&map, FZ_KEY(node, s->thread[row]));
		if (*slot == FZ_NONE) {
			*slot = (uint32_t)t->cell_count;
			fz_push(t->cells, t->cell_count, cap,
				(struct fz_tree_cell){ node, s->thread[row], 0 });
		}
		t->cells[*slot].self += fz_sample_weight(g->p, t->metric, row);
	}
	fz_map_release(&map);
	sort_cells(t);
}

/* Returns, per node, whether a caller has the same function. */
static bool *recursive_nodes(const struct fz_tree *t)
{
	bool *ret = fz_calloc(t->n + 1ul, sizeof(*ret));
	fz_auto(fz_free_ptr) uint32_t *open_until =
		fz_calloc(t->profile->function_count + 1ul, sizeof(*open_until));

	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t *end = &open_until[t->function[i]];
		ret[i] = i < *end;
		if (!ret[i])
			*end = i + t->size[i];
	}
	return ret;
}

/* Whether a caller of a stack's innermost frame is on the same line of the same function. */
static bool repeats_line(const struct fz_profile *p, uint32_t stack)
{
	const struct fz_frame *frame = &p->frames[p->stacks[stack].frame];

	for (uint32_t at = p->stacks[stack].parent; at != FZ_NONE; at = p->stacks[at].parent) {
		const struct fz_frame *caller = &p->frames[p->stacks[at].frame];
		if (caller->function == frame->function && caller->line == frame->line)
			return true;
	}
	return false;
}

/* One entry per stack, in order of nodes. */
static struct fz_tree_line *spread_lines(const struct fz_tree *t, const struct grower *g,
					 size_t **ret_start)
{
	const struct fz_profile *p = g->p;
	size_t *start = fz_calloc(t->n + 1ul, sizeof(*start));
	fz_auto(fz_free_ptr) size_t *fill = fz_calloc(t->n + 1ul, sizeof(*fill));
	fz_auto(fz_free_ptr) bool *recurs = recursive_nodes(t);

	for (uint32_t i = 0; i < p->stack_count; i++)
		if (t->stack_node[i] != FZ_NONE && p->frames[p->stacks[i].frame].line > 0)
			start[t->stack_node[i] + 1]++;
	running_sum(start, t->n);
	memcpy(fill, start, (t->n + 1ul) * sizeof(*fill));
	struct fz_tree_line *lines = fz_reallocarray(NULL, start[t->n] + 1, sizeof(*lines));
	for (uint32_t i = 0; i < p->stack_count; i++) {
		int32_t line = p->frames[p->stacks[i].frame].line;
		uint32_t node = t->stack_node[i];
		if (node == FZ_NONE || line <= 0)
			continue;
		int64_t once = recurs[node] && repeats_line(p, i) ? 0 : g->total[i];
		lines[fill[node]++] =
			(struct fz_tree_line){ node, line, g->weight[i], g->total[i], once };
	}
	*ret_start = start;
	return lines;
}

static int compare_lines(const void *pa, const void *pb)
{
	const struct fz_tree_line *a = pa, *b = pb;

	return FZ_CMP(a->line, b->line);
}

/* Line weights of a straight tree: each stack adds its total to the line of its frame. Most nodes
 * have one line, so a counting sort separates nodes, and only the lines of one node are
 * compared. */
static void fill_lines(struct fz_tree *t, const struct grower *g)
{
	size_t *start;
	struct fz_tree_line *lines = spread_lines(t, g, &start);

	for (uint32_t node = 0; node < t->n; node++) {
		size_t first = t->line_count;
		if (start[node + 1] - start[node] > 1)
			qsort(lines + start[node], start[node + 1] - start[node], sizeof(*lines),
			      compare_lines);
		for (size_t i = start[node]; i < start[node + 1]; i++) {
			struct fz_tree_line *last = lines + t->line_count - 1;
			if (t->line_count > first && last->line == lines[i].line) {
				last->self += lines[i].self;
				last->total += lines[i].total;
				last->once += lines[i].once;
			} else {
				lines[t->line_count++] = lines[i];
			}
		}
	}
	free(start);
	t->lines = lines;
}

/* A sample with a stack is in exactly one subtree of a root. */
static bool roots_have_sum(const struct fz_tree *t)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < t->n; i += t->size[i])
		sum += t->total[i];
	return sum == t->sum;
}

struct fz_tree *fz_tree_new(const struct fz_profile *p, const struct fz_tree_options *o)
{
	struct fz_tree *t = fz_calloc(1, sizeof(*t));
	fz_auto(release) struct grower g = { .p = p, .o = o, .t = t };

	fz_assert(!(o->inverted && o->lines));
	t->profile = p;
	t->metric = o->metric == FZ_NONE ? p->default_metric : o->metric;
	t->whole = !o->threads && o->run == FZ_NONE;
	fz_assert(t->metric < p->metric_count || t->metric == FZ_METRIC_SAMPLES);
	sum_stacks(&g);
	g.used = used_stacks(&g);
	grow(&g);
	sum_sizes(t);
	fz_assert(roots_have_sum(t));
	if (o->cells && p->thread_count == 1)
		fill_cells_of_one(t);
	else if (o->cells)
		fill_cells(t, &g);
	if (o->lines)
		fill_lines(t, &g);
	return t;
}

void fz_tree_free(struct fz_tree *t)
{
	if (!t)
		return;
	free(t->function);
	free(t->parent);
	free(t->size);
	free(t->self);
	free(t->total);
	free(t->stack_node);
	free(t->cells);
	free(t->lines);
	free(t);
}

void fz_tree_freep(struct fz_tree **t)
{
	fz_tree_free(*t);
}

void fz_tree_function_costs(const struct fz_tree *t, int64_t **ret_self, int64_t **ret_total)
{
	uint32_t functions = t->profile->function_count;
	int64_t *self = fz_calloc(functions, sizeof(*self));
	int64_t *total = fz_calloc(functions, sizeof(*total));
	/* End of the outermost open subtree of each function; inside it, it is recursion. */
	fz_auto(fz_free_ptr) uint32_t *open_until = fz_calloc(functions, sizeof(*open_until));

	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t f = t->function[i];
		self[f] += t->self[i];
		if (i < open_until[f])
			continue;
		total[f] += t->total[i];
		open_until[f] = i + t->size[i];
	}
	if (t->whole)
		fz_callgraph_totals(t->profile, t->metric, NULL, functions, total);
	*ret_self = self;
	*ret_total = total;
}

struct line_sum {
	uint32_t function;
	int32_t line;
	int64_t self, total;
};

/* Line weights summed over all nodes of a function. */
static struct line_sum *sum_lines(const struct fz_tree *t, size_t *ret_n)
{
	struct fz_map map = { 0 };
	struct line_sum *sums = NULL;
	size_t n = 0, cap = 0;

	for (size_t i = 0; i < t->line_count; i++) {
		const struct fz_tree_line *l = &t->lines[i];
		uint32_t function = t->function[l->node];
		uint32_t *slot = fz_map_slot(&map, FZ_KEY(function, l->line));
		if (*slot == FZ_NONE) {
			*slot = (uint32_t)n;
			fz_push(sums, n, cap, (struct line_sum){ function, l->line, 0, 0 });
		}
		sums[*slot].self += l->self;
		sums[*slot].total += l->total;
	}
	fz_map_release(&map);
	*ret_n = n;
	return sums;
}

int32_t *fz_tree_function_lines(const struct fz_tree *t)
{
	uint32_t functions = t->profile->function_count;
	int32_t *best = fz_calloc(functions, sizeof(*best));
	fz_auto(fz_free_ptr) int64_t *weight = fz_calloc(functions, sizeof(*weight));
	fz_auto(fz_free_ptr) bool *has_self = fz_calloc(functions, sizeof(*has_self));
	size_t n;
	fz_auto(fz_free_ptr) struct line_sum *sums = sum_lines(t, &n);

	for (size_t i = 0; i < n; i++)
		has_self[sums[i].function] |= sums[i].self > 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t f = sums[i].function;
		int64_t w = has_self[f] ? sums[i].self : sums[i].total;
		if (w > weight[f]) {
			weight[f] = w;
			best[f] = sums[i].line;
		}
	}
	return best;
}

/* Sums the weight of each frame over all stacks, as leaf and anywhere (recursion counts more than
 * once, which is good enough to choose a line). */
static void sum_frames(const struct fz_profile *p, uint32_t metric, int64_t *self, int64_t *total)
{
	const struct fz_samples *s = &p->samples;
	fz_auto(fz_free_ptr) int64_t *weight = fz_calloc(p->stack_count, sizeof(*weight));

	for (size_t row = 0; row < s->n; row++)
		if (s->stack[row] != FZ_NONE)
			weight[s->stack[row]] += fz_sample_weight(p, metric, row);
	for (uint32_t i = 0; i < p->stack_count; i++)
		self[p->stacks[i].frame] += weight[i];
	for (uint32_t i = p->stack_count; i-- > 0;) {
		total[p->stacks[i].frame] += weight[i];
		if (p->stacks[i].parent != FZ_NONE)
			weight[p->stacks[i].parent] += weight[i];
	}
}

/* Groups frames by function and line, ignoring columns and opcode. */
static int compare_frames_by_line(const void *pa, const void *pb, void *arg)
{
	const struct fz_frame *frames = arg;
	const struct fz_frame *a = &frames[*(const uint32_t *)pa];
	const struct fz_frame *b = &frames[*(const uint32_t *)pb];

	return FZ_CMP(a->function, b->function) ?: FZ_CMP(a->line, b->line);
}

static uint32_t *frames_by_line(const struct fz_profile *p)
{
	uint32_t *order = fz_calloc(p->frame_count, sizeof(*order));

	for (uint32_t i = 0; i < p->frame_count; i++)
		order[i] = i;
	if (p->frame_count)
		qsort_r(order, p->frame_count, sizeof(*order), compare_frames_by_line, p->frames);
	return order;
}

int32_t *fz_profile_function_lines(const struct fz_profile *p, uint32_t metric)
{
	int32_t *line = fz_calloc(p->function_count, sizeof(*line));
	fz_auto(fz_free_ptr) int64_t *self = fz_calloc(p->frame_count, sizeof(*self));
	fz_auto(fz_free_ptr) int64_t *total = fz_calloc(p->frame_count, sizeof(*total));
	fz_auto(fz_free_ptr) int64_t *best_self = fz_calloc(p->function_count, sizeof(*best_self));
	fz_auto(fz_free_ptr) int64_t *best = fz_calloc(p->function_count, sizeof(*best));
	fz_auto(fz_free_ptr) uint32_t *order = frames_by_line(p);

	sum_frames(p, metric, self, total);
	for (uint32_t i = 0, end; i < p->frame_count; i = end) {
		const struct fz_frame *frame = &p->frames[order[i]];
		uint32_t f = frame->function;
		int64_t line_self = 0, line_total = 0;
		for (end = i; end < p->frame_count && p->frames[order[end]].function == f &&
			      p->frames[order[end]].line == frame->line;
		     end++) {
			line_self += self[order[end]];
			line_total += total[order[end]];
		}
		bool better = line_self > best_self[f] ||
			      (line_self == best_self[f] && line_total > best[f]);
		if (frame->line <= 0 || !better)
			continue;
		line[f] = frame->line;
		best_self[f] = line_self;
		best[f] = line_total;
	}
	for (uint32_t f = 0; f < p->function_count; f++)
		if (p->functions[f].first_line > 0)
			line[f] = p->functions[f].first_line;
	return line;
}
