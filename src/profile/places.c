/* SPDX-License-Identifier: MIT */
/* Costs of places; see places.h.
 *
 *   samples -> own cost of each stack -> cost of each stack with its callees -> places
 *
 * Stacks are a prefix tree in which callers have smaller indices, so one pass from the end sums
 * everything. Recursion must count once: a walk of the tree tracks the open places between the root
 * and the current stack.
 */
#include "profile/places.h"

#include "profile/tree.h"

struct sums {
	uint64_t *own_samples, *samples; /* of a stack; with its callees */
	int64_t *own, *weight;
	uint64_t all_samples;
	int64_t all;
};

static void sums_init(struct sums *s, const struct fz_profile *p, uint32_t metric)
{
	size_t n = p->stack_count + 1ul;

	*s = (struct sums){
		.own_samples = fz_calloc(n, sizeof(uint64_t)),
		.samples = fz_calloc(n, sizeof(uint64_t)),
		.own = fz_calloc(n, sizeof(int64_t)),
		.weight = fz_calloc(n, sizeof(int64_t)),
	};
	for (size_t row = 0; row < p->samples.n; row++) {
		uint32_t stack = p->samples.stack[row];
		if (stack == FZ_NONE)
			continue;
		s->own_samples[stack] += fz_sample_count_in(p, metric, row);
		s->own[stack] += fz_sample_weight(p, metric, row);
	}
	for (uint32_t i = p->stack_count; i-- > 0;) {
		uint32_t parent = p->stacks[i].parent;
		s->samples[i] += s->own_samples[i];
		s->weight[i] += s->own[i];
		if (parent == FZ_NONE) {
			s->all_samples += s->samples[i];
			s->all += s->weight[i];
		} else {
			s->samples[parent] += s->samples[i];
			s->weight[parent] += s->weight[i];
		}
	}
}

static void sums_release(struct sums *s)
{
	free(s->own_samples);
	free(s->samples);
	free(s->own);
	free(s->weight);
}

/* ---- places of frames ---- */

/* Identity of a place; equal keys are the same place. */
struct key {
	uint32_t file, name;
	int32_t line, end_line, column, end_column;
	int32_t opcode;
};

static int32_t known(int32_t line)
{
	return FZ_MAX(line, 0);
}

static struct key key_of(const struct fz_profile *p, const struct fz_frame *frame, unsigned by,
			 const int32_t *function_lines)
{
	const struct fz_function *f = &p->functions[frame->function];
	struct key key = { .file = f->file };

	if (by & FZ_PLACE_BY_NAME)
		key.name = f->name;
	if (by & FZ_PLACE_BY_START)
		key.line = known(function_lines[frame->function]);
	if (by & FZ_PLACE_BY_LINE)
		key.line = known(frame->line);
	if (by & FZ_PLACE_BY_SPAN) {
		key.end_line = frame->end_line;
		key.column = frame->column;
		key.end_column = frame->end_column;
	}
	if (by & FZ_PLACE_BY_OPCODE)
		key.opcode = frame->opcode;
	return key;
}

static void find_places(struct fz_places *places, const struct fz_profile *p, unsigned by,
			uint32_t metric)
{
	fz_auto(fz_free_ptr) int32_t *lines =
		by & FZ_PLACE_BY_START ? fz_profile_function_lines(p, metric) : NULL;
	struct key *keys = NULL;
	struct fz_map map = { 0 };
	uint32_t cap = 0;

	for (uint32_t i = 0; i < p->frame_count; i++) {
		struct key key = key_of(p, &p->frames[i], by, lines);
		uint64_t hash = fz_map_hash(&key, sizeof(key));
		uint32_t *slot = fz_map_slot(&map, hash);
		while (*slot != FZ_NONE && memcmp(&keys[*slot], &key, sizeof(key)) != 0)
			slot = fz_map_slot(&map, ++hash);
		if (*slot == FZ_NONE) {
			*slot = places->n;
			if (places->n == cap) {
				cap = cap ? cap * 2 : 64;
				keys = fz_reallocarray(keys, cap, sizeof(*keys));
				places->list =
					fz_reallocarray(places->list, cap, sizeof(*places->list));
			}
			keys[places->n] = key;
			places->list[places->n++] =
				(struct fz_place){ .frame = i, .line = key.line };
		}
		places->of_frame[i] = *slot;
	}
	fz_map_release(&map);
	free(keys);
}

/* ---- walking the tree ---- */

/* Children of stacks as lists, in order of their indices. */
struct children {
	uint32_t *first, *next;
	uint32_t root;
};

static void children_init(struct children *c, const struct fz_profile *p)
{
	c->first = fz_malloc((p->stack_count + 1ul) * sizeof(*c->first));
	c->next = fz_malloc((p->stack_count + 1ul) * sizeof(*c->next));
	c->root = FZ_NONE;
	memset(c->first, 0xff, p->stack_count * sizeof(*c->first));
	for (uint32_t i = p->stack_count; i-- > 0;) {
		uint32_t parent = p->stacks[i].parent;
		uint32_t *head = parent == FZ_NONE ? &c->root : &c->first[parent];
		c->next[i] = *head;
		*head = i;
	}
}

static void children_release(struct children *c)
{
	free(c->first);
	free(c->next);
}

/* Visits every stack twice: enters it before its callees, and leaves it after them. */
static void walk_stacks(const struct fz_profile *p,
			void (*visit)(void *arg, uint32_t stack, bool enter), void *arg)
{
	fz_auto(children_release) struct children c;

	children_init(&c, p);
	for (uint32_t at = c.root; at != FZ_NONE;) {
		visit(arg, at, true);
		if (c.first[at] != FZ_NONE) {
			at = c.first[at];
			continue;
		}
		for (;;) {
			visit(arg, at, false);
			if (c.next[at] != FZ_NONE) {
				at = c.next[at];
				break;
			}
			at = p->stacks[at].parent;
			if (at == FZ_NONE)
				break;
		}
	}
}

struct totals {
	const struct fz_profile *p;
	const struct sums *s;
	struct fz_places *places;
	uint32_t *open; /* of a place: occurrences between the root and the current stack */
};

static void add_total(void *arg, uint32_t stack, bool enter)
{
	struct totals *t = arg;
	uint32_t number = t->places->of_frame[t->p->stacks[stack].frame];

	if (!enter) {
		fz_assert(t->open[number] > 0);
		t->open[number]--;
		return;
	}
	if (t->open[number]++)
		return;
	t->places->list[number].total_samples += t->s->samples[stack];
	t->places->list[number].total += t->s->weight[stack];
}

static void add_totals(struct fz_places *places, const struct fz_profile *p, const struct sums *s)
{
	fz_auto(fz_free_ptr) uint32_t *open = fz_calloc(places->n + 1ul, sizeof(*open));

	walk_stacks(p, add_total, &(struct totals){ p, s, places, open });
}

void fz_places_init(struct fz_places *places, const struct fz_profile *p, unsigned by,
		    uint32_t metric)
{
	fz_auto(sums_release) struct sums s;

	sums_init(&s, p, metric);
	*places = (struct fz_places){
		.of_frame = fz_calloc(p->frame_count + 1ul, sizeof(uint32_t)),
		.samples = s.all_samples,
		.sum = s.all,
	};
	find_places(places, p, by, metric);
	for (uint32_t i = 0; i < p->stack_count; i++) {
		struct fz_place *place = &places->list[places->of_frame[p->stacks[i].frame]];
		place->self_samples += s.own_samples[i];
		place->self += s.own[i];
	}
	add_totals(places, p, &s);
}

void fz_places_release(struct fz_places *places)
{
	free(places->list);
	free(places->of_frame);
	*places = (struct fz_places){ 0 };
}

/* ---- calls ---- */

static int compare_calls(const void *pa, const void *pb)
{
	const struct fz_place_call *a = pa, *b = pb;

	return FZ_CMP(a->caller, b->caller) ?: FZ_CMP(a->callee, b->callee);
}

struct calling {
	const struct sums *s;
	struct fz_place_call *calls;
	size_t n;
	uint32_t *of_stack; /* call by its last frame; FZ_NONE for a root */
	uint32_t *open;     /* of a call: occurrences up to the current stack; NULL: each counts */
};

static void find_calls(struct calling *c, const struct fz_profile *p,
		       const struct fz_places *callers, const struct fz_places *callees)
{
	struct fz_map map = { 0 };
	size_t cap = 0;

	c->of_stack = fz_malloc((p->stack_count + 1ul) * sizeof(*c->of_stack));
	for (uint32_t i = 0; i < p->stack_count; i++) {
		uint32_t parent = p->stacks[i].parent;
		c->of_stack[i] = FZ_NONE;
		if (parent == FZ_NONE || !c->s->samples[i])
			continue;
		uint32_t caller = callers->of_frame[p->stacks[parent].frame];
		uint32_t callee = callees->of_frame[p->stacks[i].frame];
		uint32_t *slot = fz_map_slot(&map, FZ_KEY(caller, callee));
		if (*slot == FZ_NONE) {
			*slot = (uint32_t)c->n;
			fz_push(c->calls, c->n, cap,
				(struct fz_place_call){ .caller = caller, .callee = callee });
		}
		c->of_stack[i] = *slot;
	}
	fz_map_release(&map);
}

static void add_call(void *arg, uint32_t stack, bool enter)
{
	struct calling *c = arg;
	uint32_t number = c->of_stack[stack];

	if (number == FZ_NONE)
		return;
	if (!enter) {
		if (c->open)
			c->open[number]--;
		return;
	}
	struct fz_place_call *call = &c->calls[number];
	call->self_samples += c->s->own_samples[stack];
	call->self += c->s->own[stack];
	if (c->open && c->open[number]++)
		return;
	call->total_samples += c->s->samples[stack];
	call->total += c->s->weight[stack];
}

struct fz_place_call *fz_places_calls(const struct fz_profile *p, const struct fz_places *callers,
				      const struct fz_places *callees, uint32_t metric, bool once,
				      size_t *ret_n)
{
	fz_auto(sums_release) struct sums s;
	struct calling c = { .s = &s };

	sums_init(&s, p, metric);
	find_calls(&c, p, callers, callees);
	c.open = once ? fz_calloc(c.n + 1, sizeof(*c.open)) : NULL;
	walk_stacks(p, add_call, &c);
	if (c.n)
		qsort(c.calls, c.n, sizeof(*c.calls), compare_calls);
	free(c.of_stack);
	free(c.open);
	*ret_n = c.n;
	return c.calls;
}

struct fz_str fz_place_file(const struct fz_profile *p, const struct fz_function *f)
{
	if (f->file)
		return p->strings[f->file];
	if (f->module)
		return fz_path_base(fz_module_file(p->strings[f->module]));
	return FZ_STR("~");
}
