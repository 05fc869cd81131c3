/* SPDX-License-Identifier: MIT */
/* Nodes of the page, split by the line that they are called from; see page_calls.h.
 *
 *   stacks of a side      frame of main at line 5 -> work     frame of main at line 9 -> work
 *   nodes of the page     main -> work
 *   calls                 main -> work (main:5), main -> work (main:9)
 *
 * A line of the base is mapped to the head: by aligning the texts of both files or, if one is not
 * recorded, by its distance from the function's first line. An edited line is -line; it is mapped
 * to a new line of the head if the caller has as many edited calls of the function as new ones.
 * Costs are written only for split nodes, because the page already has the others.
 */
#include "report/page_calls.h"

#include "compare/lines.h"
#include "report/recording.h"

/* A line that calls a node. */
struct place {
	uint32_t node;
	int32_t line;    /* as in struct fz_page_call */
	int32_t becomes; /* new line of an edited one; 0: none */
	bool on_side[FZ_SIDES];
};

struct taker {
	struct fz_page_calls *calls;
	const struct fz_page *page;
	struct fz_map places; /* (node, line) -> index of a place */
	struct fz_map known;  /* (parent, that index) -> call */
	struct fz_map first;  /* (parent, node) -> its first call */
	struct place *place;
	size_t place_n, place_cap;
	struct fz_map texts; /* (file of the base, of the head) -> index in `lines` */
	int32_t **lines;     /* by line of the base, from 1: line of the head, 0: removed; [0]:
			      * number of lines */
	size_t text_n, text_cap;
	uint32_t *path; /* from a node up to a caller */
	size_t path_cap;
};

/* ---- lines of the base ---- */

static int32_t *align(const struct fz_source_text *const text[FZ_SIDES])
{
	struct fz_line_list sides[FZ_SIDES];
	uint32_t n;

	for (int s = 0; s < FZ_SIDES; s++)
		fz_lines_init(&sides[s], (struct fz_str){ text[s]->text, text[s]->size });
	fz_auto(fz_free_ptr) struct fz_line_pair *pairs = fz_lines_align(sides, &n);
	int32_t *ret = fz_calloc(sides[FZ_BASE].n + 1ul, sizeof(*ret));

	ret[0] = (int32_t)sides[FZ_BASE].n;
	for (uint32_t i = 0; i < n; i++)
		if (pairs[i].on_side[FZ_BASE] != FZ_NONE && pairs[i].on_side[FZ_HEAD] != FZ_NONE)
			ret[pairs[i].on_side[FZ_BASE] + 1] = (int32_t)pairs[i].on_side[FZ_HEAD] + 1;
	for (int s = 0; s < FZ_SIDES; s++)
		fz_lines_release(&sides[s]);
	return ret;
}

/* Map of the base's lines to the head's; NULL if a text is not recorded. */
static const int32_t *aligned(struct taker *t, const struct fz_function *const of[FZ_SIDES])
{
	const struct fz_source_text *text[FZ_SIDES];
	uint32_t *slot = fz_map_slot(&t->texts, FZ_KEY(of[FZ_BASE]->file, of[FZ_HEAD]->file));

	if (*slot == FZ_NONE) {
		for (int s = 0; s < FZ_SIDES; s++)
			text[s] = fz_profile_source(t->page->profile[s], of[s]->file);
		*slot = (uint32_t)t->text_n;
		fz_push(t->lines, t->text_n, t->text_cap,
			text[FZ_BASE] && text[FZ_HEAD] ? align(text) : NULL);
	}
	return t->lines[*slot];
}

static int32_t line_in_page(struct taker *t, uint32_t function, enum fz_side side, int32_t line)
{
	const struct fz_page_function *f = &t->page->functions[function];
	const struct fz_function *of[FZ_SIDES];

	if (line <= 0 || side == FZ_HEAD || f->on_side[FZ_HEAD] == FZ_NONE)
		return FZ_MAX(line, 0);
	for (int s = 0; s < FZ_SIDES; s++)
		of[s] = &t->page->profile[s]->functions[f->on_side[s]];
	const int32_t *to = aligned(t, of);
	if (to)
		return line <= to[0] && to[line] ? to[line] : -line;
	bool known = of[FZ_BASE]->first_line > 0 && of[FZ_HEAD]->first_line > 0;
	int64_t moved = (int64_t)line - of[FZ_BASE]->first_line + of[FZ_HEAD]->first_line;
	return known && moved > 0 && moved <= INT32_MAX ? (int32_t)moved : line;
}

/* ---- places ---- */

static uint32_t place_of(struct taker *t, uint32_t node, int32_t line)
{
	uint32_t *slot = fz_map_slot(&t->places, FZ_KEY(node, (uint32_t)line));

	if (*slot == FZ_NONE) {
		*slot = (uint32_t)t->place_n;
		fz_push(t->place, t->place_n, t->place_cap,
			(struct place){ .node = node, .line = line });
	}
	return *slot;
}

/* The page's node of a stack; FZ_NONE: none. */
static uint32_t node_of_stack(const struct fz_tree *tree, const uint32_t *node_of, uint32_t stack)
{
	uint32_t node = stack == FZ_NONE ? FZ_NONE : tree->stack_node[stack];

	return node == FZ_NONE || !node_of ? node : node_of[node];
}

/* Line of the call to a stack's node, in the caller's stack `up`; 0 if there is no caller. */
static int32_t calling_line(struct taker *t, const struct fz_profile *p, enum fz_side side,
			    uint32_t caller, uint32_t up)
{
	return caller == FZ_NONE ? 0
				 : line_in_page(t, t->page->function[caller], side,
						p->frames[p->stacks[up].frame].line);
}

static void find_places(struct taker *t, const struct fz_tree *tree, enum fz_side side,
			const uint32_t *node_of)
{
	const struct fz_profile *p = tree->profile;

	for (uint32_t i = 0; i < p->stack_count; i++) {
		uint32_t up = p->stacks[i].parent, node = node_of_stack(tree, node_of, i);
		uint32_t caller = node_of_stack(tree, node_of, up);
		if (node == FZ_NONE || t->page->parent[node] != caller)
			continue;
		uint32_t place = place_of(t, node, calling_line(t, p, side, caller, up));
		t->place[place].on_side[side] = true;
	}
}

enum place_kind { EDITED, ADDED, KEPT };

static enum place_kind kind_of(const struct place *p)
{
	return p->line < 0 ? EDITED : p->line > 0 && !p->on_side[FZ_BASE] ? ADDED : KEPT;
}

static int compare_places(const void *pa, const void *pb, void *arg)
{
	const struct place *list = arg, *a = &list[*(const uint32_t *)pa],
			   *b = &list[*(const uint32_t *)pb];

	return FZ_CMP(a->node, b->node) ?: FZ_CMP(kind_of(a), kind_of(b)) ?:
	       FZ_CMP(abs(a->line), abs(b->line));
}

static void pair_edited(struct taker *t)
{
	fz_auto(fz_free_ptr) uint32_t *order = fz_calloc(t->place_n + 1, sizeof(*order));

	for (uint32_t i = 0; i < t->place_n; i++)
		order[i] = i;
	qsort_r(order, t->place_n, sizeof(*order), compare_places, t->place);
	for (size_t i = 0, end; i < t->place_n; i = end) {
		size_t count[KEPT + 1] = { 0 };
		for (end = i;
		     end < t->place_n && t->place[order[end]].node == t->place[order[i]].node;
		     end++)
			count[kind_of(&t->place[order[end]])]++;
		for (size_t k = 0; count[EDITED] == count[ADDED] && k < count[EDITED]; k++)
			t->place[order[i + k]].becomes =
				t->place[order[i + count[EDITED] + k]].line;
	}
}

/* ---- calls ---- */

static uint32_t call_of(struct taker *t, uint32_t parent, uint32_t node, int32_t line)
{
	struct fz_page_calls *c = t->calls;
	uint32_t *first = fz_map_slot(&t->first, FZ_KEY(parent, node));
	uint32_t place = place_of(t, node, line);

	if (t->place[place].becomes) {
		line = t->place[place].becomes;
		place = place_of(t, node, line);
	}
	uint32_t *slot = fz_map_slot(&t->known, FZ_KEY(parent, place));
	if (*slot == FZ_NONE && *first != FZ_NONE && c->list[*first].wrapped) {
		*slot = *first;
		c->list[*slot].line = line;
		c->list[*slot].wrapped = false;
		c->any |= line != 0;
	}
	if (*slot == FZ_NONE) {
		*slot = (uint32_t)c->n;
		fz_push(c->list, c->n, c->cap,
			(struct fz_page_call){ .parent = parent, .node = node, .line = line });
		c->any |= line != 0;
	}
	if (*first == FZ_NONE)
		*first = *slot;
	return *slot;
}

/* Returns a call for a node that the other side calls through a wrapper, so the line is unknown:
 * the node's first call, or a new one without a line. */
static uint32_t wrapped_call_of(struct taker *t, uint32_t parent, uint32_t node)
{
	uint32_t *first = fz_map_slot(&t->first, FZ_KEY(parent, node));

	if (*first != FZ_NONE)
		return *first;
	uint32_t call = call_of(t, parent, node, 0);
	t->calls->list[call].wrapped = true;
	return call;
}

static uint32_t node_of_call(const struct taker *t, uint32_t call)
{
	return call == FZ_NONE ? FZ_NONE : t->calls->list[call].node;
}

static bool is_below(const struct fz_page *page, uint32_t node, uint32_t above)
{
	return above == FZ_NONE || (node >= above && node < above + page->size[above]);
}

/* Adds the calls from `parent` down to a node that is not its direct child in the page because of
 * wrappers. Wrappers of the other side are between the two; those of this side are next to the
 * node. */
static uint32_t descend(struct taker *t, uint32_t parent, uint32_t node)
{
	size_t n = 0;

	while (parent != FZ_NONE && !is_below(t->page, node, node_of_call(t, parent)))
		parent = t->calls->list[parent].parent;
	for (uint32_t at = node; at != node_of_call(t, parent); at = t->page->parent[at]) {
		fz_push(t->path, n, t->path_cap, at);
	}
	while (n)
		parent = wrapped_call_of(t, parent, t->path[--n]);
	return parent;
}

static void add_side(struct taker *t, const struct fz_tree *tree, enum fz_side side,
		     const uint32_t *node_of)
{
	const struct fz_profile *p = tree->profile;
	fz_auto(fz_free_ptr) uint32_t *call = fz_calloc(p->stack_count + 1ul, sizeof(*call));

	for (uint32_t i = 0; i < p->stack_count; i++) {
		uint32_t node = node_of_stack(tree, node_of, i), up = p->stacks[i].parent;
		call[i] = FZ_NONE;
		if (node == FZ_NONE)
			continue;
		uint32_t parent = up == FZ_NONE ? FZ_NONE : call[up];
		uint32_t caller = node_of_call(t, parent);
		if (t->page->parent[node] != caller)
			call[i] = descend(t, parent, node);
		else
			call[i] = call_of(t, parent, node, calling_line(t, p, side, caller, up));
	}
	for (size_t row = 0; row < p->samples.n; row++)
		if (p->samples.stack[row] != FZ_NONE && call[p->samples.stack[row]] != FZ_NONE)
			t->calls->list[call[p->samples.stack[row]]].self[side] +=
				fz_sample_weight(p, tree->metric, row);
}

void fz_page_calls_add(struct fz_page_calls *calls, const struct fz_page *page,
		       const struct fz_tree *const trees[FZ_SIDES])
{
	struct taker t = { .calls = calls, .page = page };
	const uint32_t *node_of[FZ_SIDES] = { NULL, NULL };

	/* counted recordings have only the first line of a function */
	if (fz_recording_is_counted(page->profile[FZ_HEAD]))
		return;
	for (int side = 0; page->diff && side < FZ_SIDES; side++) {
		node_of[side] = page->diff->node_of[side];
		find_places(&t, trees[side], side, node_of[side]);
	}
	pair_edited(&t);
	for (int side = 0; side < FZ_SIDES; side++)
		if (trees[side])
			add_side(&t, trees[side], side, node_of[side]);
	for (size_t i = 0; i < calls->n; i++)
		memcpy(calls->list[i].total, calls->list[i].self, sizeof(calls->list[i].self));
	for (size_t i = calls->n; i-- > 0;)
		for (int side = 0; side < FZ_SIDES && calls->list[i].parent != FZ_NONE; side++)
			calls->list[calls->list[i].parent].total[side] +=
				calls->list[i].total[side];
	for (size_t i = 0; i < t.text_n; i++)
		free(t.lines[i]);
	free(t.lines);
	free(t.path);
	free(t.place);
	fz_map_release(&t.places);
	fz_map_release(&t.known);
	fz_map_release(&t.first);
	fz_map_release(&t.texts);
}

void fz_page_calls_release(struct fz_page_calls *calls)
{
	free(calls->list);
	*calls = (struct fz_page_calls){ 0 };
}

/* ---- columns ---- */

static int64_t larger(const struct fz_page_call *c)
{
	return FZ_MAX(c->total[FZ_BASE], c->total[FZ_HEAD]);
}

/* Order by caller (those without one first), then by node, then by descending cost. */
static int compare_calls(const void *pa, const void *pb, void *arg)
{
	const struct fz_page_call *list = arg, *a = &list[*(const uint32_t *)pa],
				  *b = &list[*(const uint32_t *)pb];

	return FZ_CMP(a->parent + 1, b->parent + 1) ?: FZ_CMP(a->node, b->node) ?:
	       FZ_CMP(larger(b), larger(a)) ?: FZ_CMP(a->line, b->line);
}

/* Indices of all calls in preorder; freed by the caller. */
static uint32_t *in_preorder(const struct fz_page_calls *calls)
{
	size_t n = calls->n, done = 0, open = 0;
	fz_auto(fz_free_ptr) uint32_t *sorted = fz_calloc(n + 1, sizeof(*sorted));
	fz_auto(fz_free_ptr) size_t *first = fz_calloc(n + 2, sizeof(*first));
	fz_auto(fz_free_ptr) uint32_t *stack = fz_calloc(n + 1, sizeof(*stack));
	uint32_t *order = fz_calloc(n + 1, sizeof(*order));

	for (uint32_t i = 0; i < n; i++) {
		sorted[i] = i;
		first[calls->list[i].parent + 1u + 1]++; /* FZ_NONE + 1 is 0 */
	}
	qsort_r(sorted, n, sizeof(*sorted), compare_calls, calls->list);
	for (size_t i = 1; i < n + 2; i++)
		first[i] += first[i - 1];
	for (size_t k = first[1]; k-- > first[0];)
		stack[open++] = sorted[k];
	while (open) {
		uint32_t at = stack[--open];
		order[done++] = at;
		for (size_t k = first[at + 2]; k-- > first[at + 1];)
			stack[open++] = sorted[k];
	}
	return order;
}

/* Add the lines, as differences from the caller's last call of the same function or, if there is
 * none, of any: nearly all are 0. */
static void fill_lines(const struct fz_page_calls *calls, const struct fz_page *page,
		       const uint32_t *order, int64_t *scratch, struct fz_columns *columns)
{
	fz_auto(fz_map_release) struct fz_map last = { 0 }; /* (caller, callee) -> call */

	for (size_t i = 0; i < calls->n; i++) {
		const struct fz_page_call *c = &calls->list[order[i]];
		uint32_t caller = c->parent == FZ_NONE
					  ? FZ_NONE
					  : page->function[calls->list[c->parent].node];
		uint32_t callee = page->function[c->node];
		uint32_t of_caller = fz_map_get(&last, FZ_KEY(caller, FZ_NONE));
		uint32_t of_both = fz_map_get(&last, FZ_KEY(caller, callee));
		uint32_t before = of_both != FZ_NONE ? of_both : of_caller;
		scratch[i] = (int64_t)c->line - (before == FZ_NONE ? 0 : calls->list[before].line);
		fz_map_put(&last, FZ_KEY(caller, callee), order[i]);
		fz_map_put(&last, FZ_KEY(caller, FZ_NONE), order[i]);
	}
	fz_columns_numbers(columns, "call.line", scratch, calls->n);
}

/* Add the self costs of calls whose node has several. */
static void fill_selves(const struct fz_page_calls *calls, const struct fz_page *page,
			const uint32_t *order, int64_t *scratch, struct fz_columns *columns)
{
	static const char *const names[FZ_SIDES] = { "call.self.base", "call.self.head" };
	fz_auto(fz_free_ptr) uint32_t *count = fz_calloc(page->n + 1ul, sizeof(*count));

	for (size_t i = 0; i < calls->n; i++)
		count[calls->list[i].node]++;
	for (int side = page->is_diff ? FZ_BASE : FZ_HEAD; side < FZ_SIDES; side++) {
		for (size_t i = 0; i < calls->n; i++) {
			const struct fz_page_call *c = &calls->list[order[i]];
			scratch[i] = count[c->node] > 1 ? c->self[side] : 0;
		}
		fz_columns_numbers(columns, names[side], scratch, calls->n);
	}
}

void fz_page_calls_fill(const struct fz_page_calls *calls, const struct fz_page *page,
			struct fz_columns *columns)
{
	if (!calls->any)
		return;
	fz_auto(fz_free_ptr) int64_t *scratch = fz_calloc(calls->n + 1, sizeof(*scratch));
	fz_auto(fz_free_ptr) uint32_t *order = in_preorder(calls);

	for (size_t i = 0; i < calls->n; i++)
		scratch[i] = (int64_t)calls->list[order[i]].node -
			     (i ? (int64_t)calls->list[order[i - 1]].node + 1 : 0);
	fz_columns_numbers(columns, "call.node", scratch, calls->n);
	fill_lines(calls, page, order, scratch, columns);
	fill_selves(calls, page, order, scratch, columns);
}
