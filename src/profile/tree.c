/* SPDX-License-Identifier: MIT */
/* From samples to a call tree in three passes.
 *
 *   1. sum: weight of every distinct stack (array over stacks), so that the number of samples no
 *      longer matters;
 *   2. grow: each stack gets its node; a node is found by (parent node, function), and parents
 *      come before children because a stack's parent has a smaller index;
 *   3. order: siblings are sorted and nodes renumbered into preorder.
 *
 * The inverted tree grows from leaf to root instead, one insertion a frame of each stack that has
 * weight; callers then hold the weight of the leaf below them. Recursion needs no care there:
 * each sample takes exactly one path.
 */
#include "tree.h"

#include <stdio.h>

struct builder {
	const struct fz_profile *p;
	const struct fz_tree_options *o;
	uint32_t n, cap;
	struct raw_node {
		uint32_t function, parent;
		int64_t self, total;
	} * nodes;            /* in order of creation: parents first */
	struct fz_map map;    /* (parent node + 1, function) -> node */
	uint32_t *stack_node; /* of each stack; straight trees only */
	int64_t *stack_weight;
};

static uint32_t child_node(struct builder *b, uint32_t parent, uint32_t function)
{
	uint32_t *slot = fz_map_slot(&b->map, FZ_KEY(parent + 1, function));

	if (*slot == FZ_NONE) {
		*slot = b->n;
		fz_grow(b->nodes, b->n, b->cap);
		b->nodes[b->n++] = (struct raw_node){ .function = function, .parent = parent };
	}
	return *slot;
}

static uint32_t stack_function(const struct fz_profile *p, uint32_t stack)
{
	return p->frames[p->stacks[stack].frame].function;
}

static bool is_counted(const struct builder *b, size_t row)
{
	const struct fz_samples *s = &b->p->samples;

	return (!b->o->threads || b->o->threads[s->thread[row]]) &&
	       (b->o->run == FZ_NONE || (s->run ? s->run[row] : 0) == b->o->run);
}

static void sum_stacks(struct builder *b, struct fz_tree *t)
{
	const struct fz_samples *s = &b->p->samples;

	b->stack_weight = fz_calloc(b->p->stack_count, sizeof(*b->stack_weight));
	for (size_t row = 0; row < s->n; row++) {
		if (!is_counted(b, row))
			continue;
		int64_t w = fz_sample_weight(b->p, t->metric, row);
		t->sum += w;
		t->samples += fz_sample_count(b->p, row);
		if (s->stack[row] != FZ_NONE)
			b->stack_weight[s->stack[row]] += w;
	}
}

/* Only stacks that lead to a counted sample get a node, also where weights cancel out. */
static bool *used_stacks(const struct builder *b)
{
	const struct fz_samples *s = &b->p->samples;
	bool *used = fz_calloc(b->p->stack_count, sizeof(*used));

	for (size_t row = 0; row < s->n; row++)
		if (s->stack[row] != FZ_NONE && is_counted(b, row))
			used[s->stack[row]] = true;
	if (!b->o->inverted)
		for (uint32_t i = b->p->stack_count; i-- > 0;)
			if (used[i] && b->p->stacks[i].parent != FZ_NONE)
				used[b->p->stacks[i].parent] = true;
	return used;
}

static void grow_straight(struct builder *b, const bool *used)
{
	for (uint32_t i = 0; i < b->p->stack_count; i++) {
		if (!used[i])
			continue;
		uint32_t parent = b->p->stacks[i].parent;
		uint32_t above = parent == FZ_NONE ? FZ_NONE : b->stack_node[parent];
		b->stack_node[i] = child_node(b, above, stack_function(b->p, i));
		b->nodes[b->stack_node[i]].self += b->stack_weight[i];
	}
	for (uint32_t i = b->n; i-- > 0;) {
		b->nodes[i].total += b->nodes[i].self;
		if (b->nodes[i].parent != FZ_NONE)
			b->nodes[b->nodes[i].parent].total += b->nodes[i].total;
	}
}

/* stack_node becomes the end of the inverted path (the outermost caller). */
static void grow_inverted(struct builder *b, const bool *used)
{
	for (uint32_t i = 0; i < b->p->stack_count; i++) {
		if (!used[i])
			continue;
		uint32_t node = FZ_NONE;
		for (uint32_t at = i; at != FZ_NONE; at = b->p->stacks[at].parent) {
			node = child_node(b, node, stack_function(b->p, at));
			b->nodes[node].total += b->stack_weight[i];
		}
		b->nodes[node].self += b->stack_weight[i];
		b->stack_node[i] = node;
	}
}

static struct fz_str function_name(const struct fz_profile *p, uint32_t function)
{
	return p->strings[p->functions[function].name];
}

static int compare_functions(const struct fz_profile *p, uint32_t a, uint32_t b)
{
	int c = fz_str_cmp(function_name(p, a), function_name(p, b));

	if (!c)
		c = fz_str_cmp(p->strings[p->functions[a].file], p->strings[p->functions[b].file]);
	if (!c)
		c = (p->functions[a].first_line > p->functions[b].first_line) -
		    (p->functions[a].first_line < p->functions[b].first_line);
	return c ? c : (a > b) - (a < b);
}

static int compare_siblings(const void *pa, const void *pb, void *arg)
{
	const struct builder *b = arg;
	uint32_t ia = *(const uint32_t *)pa, ib = *(const uint32_t *)pb;
	const struct raw_node *a = &b->nodes[ia], *c = &b->nodes[ib];

	if (a->total != c->total)
		return a->total > c->total ? -1 : 1;
	return compare_functions(b->p, a->function, c->function);
}

/* Group node indices by parent: children of node i are list[start[i + 1] .. start[i + 2]), roots
 * are list[start[0] .. start[1]). */
static uint32_t *children_by_parent(const struct builder *b, uint32_t **ret_start)
{
	uint32_t *start = fz_calloc((size_t)b->n + 2, sizeof(*start));
	uint32_t *list = fz_calloc((size_t)b->n + 1, sizeof(*list));
	uint32_t *fill = fz_calloc((size_t)b->n + 2, sizeof(*fill));

	for (uint32_t i = 0; i < b->n; i++)
		start[b->nodes[i].parent + 1 + 1]++; /* FZ_NONE + 1 wraps to 0 */
	for (uint32_t i = 1; i < b->n + 2; i++)
		start[i] += start[i - 1];
	memcpy(fill, start, ((size_t)b->n + 2) * sizeof(*fill));
	for (uint32_t i = 0; i < b->n; i++)
		list[fill[b->nodes[i].parent + 1]++] = i;
	free(fill);
	*ret_start = start;
	return list;
}

/* Preorder position of every raw node. */
static uint32_t *number_in_preorder(struct builder *b)
{
	uint32_t *start;
	fz_auto(fz_free_ptr) uint32_t *list = children_by_parent(b, &start);
	fz_auto(fz_free_ptr) uint32_t *pending = fz_calloc((size_t)b->n + 1, sizeof(*pending));
	uint32_t *position = fz_calloc((size_t)b->n + 1, sizeof(*position));
	uint32_t waiting = 0, next = 0;

	for (uint32_t i = 0; i <= b->n; i++) {
		uint32_t n = start[i + 1] - start[i];
		if (n > 1)
			qsort_r(list + start[i], n, sizeof(*list), compare_siblings, b);
	}
	for (uint32_t i = start[1]; i-- > start[0];)
		pending[waiting++] = list[i];
	while (waiting) {
		uint32_t node = pending[--waiting];
		position[node] = next++;
		for (uint32_t i = start[node + 2]; i-- > start[node + 1];)
			pending[waiting++] = list[i];
	}
	free(start);
	return position;
}

static void take_stack_nodes(struct fz_tree *t, struct builder *b, const bool *used,
			     const uint32_t *position)
{
	t->stack_node = fz_steal(b->stack_node);
	for (uint32_t i = 0; i < b->p->stack_count; i++)
		t->stack_node[i] = used[i] ? position[t->stack_node[i]] : FZ_NONE;
}

static void take_nodes(struct fz_tree *t, const struct builder *b, const uint32_t *position)
{
	t->n = b->n;
	t->function = fz_calloc(t->n, sizeof(*t->function));
	t->parent = fz_calloc(t->n, sizeof(*t->parent));
	t->size = fz_calloc(t->n, sizeof(*t->size));
	t->self = fz_calloc(t->n, sizeof(*t->self));
	t->total = fz_calloc(t->n, sizeof(*t->total));
	for (uint32_t i = 0; i < b->n; i++) {
		const struct raw_node *raw = &b->nodes[i];
		uint32_t at = position[i];
		t->function[at] = raw->function;
		t->parent[at] = raw->parent == FZ_NONE ? FZ_NONE : position[raw->parent];
		t->self[at] = raw->self;
		t->total[at] = raw->total;
	}
	for (uint32_t i = t->n; i-- > 0;) {
		t->size[i] += 1;
		if (t->parent[i] != FZ_NONE)
			t->size[t->parent[i]] += t->size[i];
	}
}

static int compare_cells(const void *pa, const void *pb)
{
	const struct fz_tree_cell *a = pa, *b = pb;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

static void take_cells(struct fz_tree *t, const struct builder *b, const uint32_t *position)
{
	const struct fz_samples *s = &b->p->samples;
	struct fz_map map = { 0 };
	size_t cap = 0;

	for (size_t row = 0; row < s->n; row++) {
		if (s->stack[row] == FZ_NONE || !is_counted(b, row))
			continue;
		uint32_t node = position[b->stack_node[s->stack[row]]];
		uint32_t *slot = fz_map_slot(&map, FZ_KEY(node, s->thread[row]));
		if (*slot == FZ_NONE) {
			*slot = (uint32_t)t->cell_count;
			fz_grow(t->cells, t->cell_count, cap);
			t->cells[t->cell_count++] =
				(struct fz_tree_cell){ node, s->thread[row], 0 };
		}
		t->cells[*slot].self += fz_sample_weight(b->p, t->metric, row);
	}
	fz_map_release(&map);
	if (t->cell_count)
		qsort(t->cells, t->cell_count, sizeof(*t->cells), compare_cells);
}

static int compare_lines(const void *pa, const void *pb)
{
	const struct fz_tree_line *a = pa, *b = pb;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return (a->line > b->line) - (a->line < b->line);
}

/* Line weights of a straight tree: each stack adds its total to the line its frame is on. */
static void take_lines(struct fz_tree *t, const struct builder *b, const uint32_t *position,
		       const bool *used)
{
	const struct fz_profile *p = b->p;
	int64_t *total = fz_calloc(p->stack_count, sizeof(*total));
	struct fz_map map = { 0 };
	size_t cap = 0;

	for (uint32_t i = p->stack_count; i-- > 0;) {
		total[i] += b->stack_weight[i];
		if (p->stacks[i].parent != FZ_NONE)
			total[p->stacks[i].parent] += total[i];
	}
	for (uint32_t i = 0; i < p->stack_count; i++) {
		int32_t line = p->frames[p->stacks[i].frame].line;
		if (!used[i] || line <= 0)
			continue;
		uint32_t node = position[b->stack_node[i]];
		uint32_t *slot = fz_map_slot(&map, FZ_KEY(node, line));
		if (*slot == FZ_NONE) {
			*slot = (uint32_t)t->line_count;
			fz_grow(t->lines, t->line_count, cap);
			t->lines[t->line_count++] = (struct fz_tree_line){ node, line, 0, 0 };
		}
		t->lines[*slot].self += b->stack_weight[i];
		t->lines[*slot].total += total[i];
	}
	free(total);
	fz_map_release(&map);
	if (t->line_count)
		qsort(t->lines, t->line_count, sizeof(*t->lines), compare_lines);
}

struct fz_tree *fz_tree_new(const struct fz_profile *p, const struct fz_tree_options *o)
{
	struct builder b = { .p = p, .o = o };
	struct fz_tree *t = fz_calloc(1, sizeof(*t));

	fz_assert(!(o->inverted && o->lines));
	t->profile = p;
	t->metric = o->metric == FZ_NONE ? p->default_metric : o->metric;
	fz_assert(t->metric < p->metric_count || t->metric == FZ_METRIC_SAMPLES);
	sum_stacks(&b, t);
	fz_auto(fz_free_ptr) bool *used = used_stacks(&b);
	b.stack_node = fz_calloc(p->stack_count, sizeof(*b.stack_node));
	if (o->inverted)
		grow_inverted(&b, used);
	else
		grow_straight(&b, used);
	fz_auto(fz_free_ptr) uint32_t *position = number_in_preorder(&b);
	take_nodes(t, &b, position);
	if (o->cells)
		take_cells(t, &b, position);
	if (o->lines)
		take_lines(t, &b, position, used);
	take_stack_nodes(t, &b, used, position);
	free(b.nodes);
	free(b.stack_weight);
	fz_map_release(&b.map);
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
	/* End of the outermost open subtree of each function: inside it the function recurs. */
	fz_auto(fz_free_ptr) uint32_t *open_until = fz_calloc(functions, sizeof(*open_until));

	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t f = t->function[i];
		self[f] += t->self[i];
		if (i < open_until[f])
			continue;
		total[f] += t->total[i];
		open_until[f] = i + t->size[i];
	}
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
			fz_grow(sums, n, cap);
			sums[n++] = (struct line_sum){ function, l->line, 0, 0 };
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

/* Weight of each frame over all stacks, by frame: as the leaf, and anywhere (a stack in which a
 * frame recurs counts it more than once, which is good enough to choose a line). */
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

/* Frames of one function and line differ in columns and opcode: bring them together. */
static int compare_frames_by_line(const void *pa, const void *pb, void *arg)
{
	const struct fz_frame *frames = arg;
	const struct fz_frame *a = &frames[*(const uint32_t *)pa];
	const struct fz_frame *b = &frames[*(const uint32_t *)pb];

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return (a->line > b->line) - (a->line < b->line);
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
