/* SPDX-License-Identifier: MIT */
/* The call tree compared with a naive count over all samples, on random profiles: normal and
 * inverted totals, order, recursion, cells and lines. */
#include "format_help.h"

#include "profile/tree.h"

static uint64_t random_state;

static uint32_t pick(uint32_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(fz_hash64(random_state) % n);
}

enum { FUNCTIONS = 6, THREADS = 3, SAMPLES = 400 };

static struct fz_profile *make(uint64_t seed)
{
	struct fz_profile *p = fz_profile_new();

	random_state = seed;
	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	for (uint64_t i = 0; i < THREADS; i++)
		fz_profile_thread(p, &(struct fz_thread){ .tid = i + 1 });
	for (int i = 0; i < SAMPLES; i++) {
		uint32_t stack = FZ_NONE, depth = pick(7);
		for (uint32_t d = 0; d < depth; d++) {
			char name[2] = { (char)('a' + pick(FUNCTIONS)), '\0' };
			uint32_t frame = fz_profile_frame_named(p, fz_str_of(name), FZ_STR("x.py"),
								(int32_t)pick(3), FZ_KIND_PYTHON);
			stack = fz_profile_stack(p, stack, frame);
		}
		struct fz_sample s = { .thread = pick(THREADS), .stack = stack };
		int64_t weight = pick(100);
		fz_profile_add_sample(p, &s, &weight);
	}
	return p;
}

static uint32_t function_at(const struct fz_profile *p, uint32_t stack)
{
	return p->frames[p->stacks[stack].frame].function;
}

/* Functions of a sample, root first (leaf first when inverted). */
static uint32_t path_of(const struct fz_profile *p, size_t row, bool inverted, uint32_t *path)
{
	uint32_t stack = p->samples.stack[row], n = stack == FZ_NONE ? 0 : p->stacks[stack].depth;

	for (uint32_t i = 0; i < n; i++, stack = p->stacks[stack].parent)
		path[inverted ? i : n - 1 - i] = function_at(p, stack);
	return n;
}

static uint32_t node_path(const struct fz_tree *t, uint32_t node, uint32_t *path)
{
	uint32_t n = 0;

	for (uint32_t at = node; at != FZ_NONE; at = t->parent[at])
		n++;
	for (uint32_t at = node, i = n; at != FZ_NONE; at = t->parent[at])
		path[--i] = t->function[at];
	return n;
}

static void check_totals(const struct fz_profile *p, const struct fz_tree *t, bool inverted)
{
	uint32_t want[16], have[16];

	for (uint32_t node = 0; node < t->n; node++) {
		uint32_t depth = node_path(t, node, want);
		int64_t self = 0, total = 0;
		for (size_t row = 0; row < p->samples.n; row++) {
			uint32_t n = path_of(p, row, inverted, have);
			if (n < depth || memcmp(want, have, depth * sizeof(*want)) != 0)
				continue;
			total += fz_sample_weight(p, 0, row);
			self += n == depth ? fz_sample_weight(p, 0, row) : 0;
		}
		assert_int_equal(t->self[node], self);
		assert_int_equal(t->total[node], total);
	}
}

static void check_order(const struct fz_tree *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		assert_true(t->parent[i] == FZ_NONE || t->parent[i] < i);
		uint32_t next = i + t->size[i];
		assert_true(t->size[i] >= 1 && next <= t->n);
		if (next < t->n && t->parent[next] == t->parent[i])
			assert_true(t->total[next] <= t->total[i]);
		if (t->parent[i] != FZ_NONE)
			assert_true(next <= t->parent[i] + t->size[t->parent[i]]);
	}
}

static void test_totals(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 6; seed++)
		for (int inverted = 0; inverted < 2; inverted++) {
			fz_auto(fz_profile_freep) struct fz_profile *p = make(seed);
			struct fz_tree_options o = FZ_TREE_DEFAULTS;
			o.inverted = inverted;
			fz_auto(fz_tree_freep) struct fz_tree *t = fz_tree_new(p, &o);
			int64_t sum = 0;
			uint64_t placed = 0;
			for (size_t row = 0; row < p->samples.n; row++) {
				if (p->samples.stack[row] == FZ_NONE)
					continue;
				sum += fz_sample_weight(p, 0, row);
				placed++;
			}
			assert_true(placed > 0 && placed < SAMPLES);
			assert_int_equal(t->sum, sum);
			assert_int_equal(t->samples, placed);
			check_totals(p, t, inverted);
			check_order(t);
		}
}

/* The order of the samples does not matter. */
static void test_deterministic(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = make(3);
	fz_auto(fz_profile_freep) struct fz_profile *q = fz_profile_new();
	struct fz_tree_options o = FZ_TREE_DEFAULTS;

	(void)state;
	fz_profile_add_metric(q, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	for (size_t row = p->samples.n; row-- > 0;) {
		uint32_t stack = FZ_NONE, frames[16], n = 0;
		for (uint32_t at = p->samples.stack[row]; at != FZ_NONE; at = p->stacks[at].parent)
			frames[n++] = p->stacks[at].frame;
		while (n-- > 0) {
			const struct fz_frame *f = &p->frames[frames[n]];
			struct fz_str name = fz_profile_text(p, p->functions[f->function].name);
			stack = fz_profile_stack(q, stack,
						 fz_profile_frame_named(q, name, FZ_STR("x.py"),
									f->line, FZ_KIND_PYTHON));
		}
		uint32_t thread = fz_profile_thread(q, &p->threads[p->samples.thread[row]]);
		fz_profile_add_sample(q, &(struct fz_sample){ .thread = thread, .stack = stack },
				      &p->metrics[0].column[row]);
	}
	fz_auto(fz_tree_freep) struct fz_tree *t = fz_tree_new(p, &o);
	fz_auto(fz_tree_freep) struct fz_tree *u = fz_tree_new(q, &o);
	assert_int_equal(t->n, u->n);
	for (uint32_t i = 0; i < t->n; i++) {
		assert_int_equal(t->total[i], u->total[i]);
		assert_int_equal(t->parent[i], u->parent[i]);
		assert_string_equal(fz_profile_text(p, p->functions[t->function[i]].name).p,
				    fz_profile_text(q, q->functions[u->function[i]].name).p);
	}
}

static void test_function_costs(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = make(4);
	struct fz_tree_options o = FZ_TREE_DEFAULTS;
	fz_auto(fz_tree_freep) struct fz_tree *t = fz_tree_new(p, &o);
	fz_auto(fz_free_ptr) int64_t *self = NULL;
	fz_auto(fz_free_ptr) int64_t *total = NULL;
	uint32_t path[16];

	(void)state;
	fz_tree_function_costs(t, &self, &total);
	for (uint32_t f = 0; f < p->function_count; f++) {
		int64_t want_self = 0, want_total = 0;
		for (size_t row = 0; row < p->samples.n; row++) {
			uint32_t n = path_of(p, row, false, path);
			bool on = false;
			for (uint32_t i = 0; i < n; i++)
				on |= path[i] == f;
			int64_t w = fz_sample_weight(p, 0, row);
			want_total += on ? w : 0;
			want_self += n && path[n - 1] == f ? w : 0;
		}
		assert_int_equal(self[f], want_self);
		assert_int_equal(total[f], want_total);
	}
}

static void test_cells(void **state)
{
	static const bool some[THREADS] = { true, false, true };
	fz_auto(fz_profile_freep) struct fz_profile *p = make(5);
	struct fz_tree_options o = FZ_TREE_DEFAULTS;

	(void)state;
	o.cells = true;
	fz_auto(fz_tree_freep) struct fz_tree *t = fz_tree_new(p, &o);
	fz_auto(fz_free_ptr) int64_t *left = fz_calloc(t->n, sizeof(*left));
	memcpy(left, t->self, t->n * sizeof(*left));
	for (size_t i = 0; i < t->cell_count; i++) {
		const struct fz_tree_cell *c = &t->cells[i];
		left[c->node] -= c->self;
		if (i) {
			const struct fz_tree_cell *before = &t->cells[i - 1];
			assert_true(before->node < c->node ||
				    (before->node == c->node && before->thread < c->thread));
		}
	}
	for (uint32_t i = 0; i < t->n; i++)
		assert_int_equal(left[i], 0);
	/* a tree of some threads agrees with the cells */
	o.threads = some;
	fz_auto(fz_tree_freep) struct fz_tree *filtered = fz_tree_new(p, &o);
	int64_t want = 0, have = 0;
	for (size_t i = 0; i < t->cell_count; i++)
		want += some[t->cells[i].thread] ? t->cells[i].self : 0;
	for (uint32_t i = 0; i < filtered->n; i++)
		have += filtered->self[i];
	assert_int_equal(have, want);
}

/* Over all nodes a line has each sample once whose stack passes through it. */
static void assert_lines_counted_once(const struct fz_profile *p, const struct fz_tree *t)
{
	int64_t want[FUNCTIONS][3] = { 0 }, have[FUNCTIONS][3] = { 0 };

	for (size_t row = 0; row < p->samples.n; row++) {
		bool seen[FUNCTIONS][3] = { 0 };
		uint32_t at = p->samples.stack[row];
		for (; at != FZ_NONE; at = p->stacks[at].parent) {
			const struct fz_frame *frame = &p->frames[p->stacks[at].frame];
			bool *is_seen = &seen[frame->function][frame->line];
			if (frame->line > 0 && !*is_seen)
				want[frame->function][frame->line] += fz_sample_weight(p, 0, row);
			*is_seen = true;
		}
	}
	for (size_t i = 0; i < t->line_count; i++)
		have[t->function[t->lines[i].node]][t->lines[i].line] += t->lines[i].once;
	assert_memory_equal(want, have, sizeof(want));
}

static void test_lines(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = make(6);
	struct fz_tree_options o = FZ_TREE_DEFAULTS;

	(void)state;
	o.lines = true;
	fz_auto(fz_tree_freep) struct fz_tree *t = fz_tree_new(p, &o);
	for (size_t i = 0; i < t->line_count; i++) {
		const struct fz_tree_line *l = &t->lines[i];
		assert_true(l->line > 0);
		assert_true(l->total >= l->self && l->total <= t->total[l->node]);
	}
	assert_lines_counted_once(p, t);
	/* lines 1 and 2 of three: line 0 means unknown */
	fz_auto(fz_free_ptr) int32_t *best = fz_tree_function_lines(t);
	for (uint32_t f = 0; f < p->function_count; f++) {
		int64_t self[3] = { 0 };
		for (size_t row = 0; row < p->samples.n; row++) {
			uint32_t stack = p->samples.stack[row];
			if (stack != FZ_NONE && function_at(p, stack) == f)
				self[p->frames[p->stacks[stack].frame].line] +=
					fz_sample_weight(p, 0, row);
		}
		assert_int_equal(best[f], self[2] > self[1] ? 2 : 1);
	}
}

static void test_empty(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	struct fz_tree_options o = FZ_TREE_DEFAULTS;

	(void)state;
	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 1, false);
	o.cells = o.lines = true;
	fz_auto(fz_tree_freep) struct fz_tree *t = fz_tree_new(p, &o);
	assert_int_equal(t->n, 0);
	assert_int_equal(t->sum, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_totals),         cmocka_unit_test(test_deterministic),
		cmocka_unit_test(test_function_costs), cmocka_unit_test(test_cells),
		cmocka_unit_test(test_lines),          cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
