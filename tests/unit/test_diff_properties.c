/* SPDX-License-Identifier: MIT */
/* Properties of every diff, on random profiles; and diffs with outcomes given by other tools. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "base/io.h"
#include "compare/diff.h"
#include "format/format.h"
#include "hand_profile.h"
#include "report/folded.h"
#include "report/json.h"

/* ---- random profiles ---- */

static uint64_t random_state;

static uint32_t dice(uint32_t sides)
{
	random_state = fz_hash64(random_state + 0x9e3779b97f4a7c15u);
	return (uint32_t)(random_state >> 33) % sides;
}

/* Deep and shallow stacks of few functions, so that some paths are equal, some recur and some exist
 * on one side only. */
static char *random_text(uint32_t lines)
{
	struct fz_buf b = { 0 };

	fz_buf_str(&b, "");
	for (uint32_t i = 0; i < lines; i++) {
		uint32_t depth = 1 + dice(9);
		fz_buf_printf(&b, "%u@", 1 + dice(3));
		for (uint32_t k = 0; k < depth; k++)
			fz_buf_printf(&b, "%sm%u.py:f%u:%u", k ? ";" : "", dice(2), dice(4),
				      1 + dice(3));
		fz_buf_printf(&b, " %u\n", 1 + dice(5));
	}
	return fz_buf_take(&b);
}

static struct fz_profile *random_profile(uint64_t seed)
{
	random_state = seed;
	fz_auto(fz_free_ptr) char *text = random_text(1 + dice(60));
	return hand_profile(text, dice(2) ? 1000 : 0);
}

static struct fz_diff *diff_of(const struct fz_profile *a, const struct fz_profile *b,
			       struct fz_diff_options o)
{
	struct fz_diff *d = NULL;
	struct fz_error err;

	o.cells = true;
	o.metric = FZ_STR("samples");
	if (fz_diff_new(a, b, &o, &d, &err))
		fail_msg("%s", err.message);
	return d;
}

static const struct fz_diff_options kinds[] = {
	{ .match = FZ_MATCH_NAMES, .scale = FZ_SCALE_TIME },
	{ .match = FZ_MATCH_NAMES, .scale = FZ_SCALE_SHARE },
	{ .match = FZ_MATCH_EXACT, .scale = FZ_SCALE_SHARE },
	{ .match = FZ_MATCH_NAMES, .scale = FZ_SCALE_SHARE, .inverted = true },
};

/* Wrappers are drawn where the head has them, so swapping the sides changes the shape. */
static const struct fz_diff_options full_kinds[] = {
	{ .match = FZ_MATCH_FULL, .scale = FZ_SCALE_TIME },
	{ .match = FZ_MATCH_FULL, .scale = FZ_SCALE_SHARE },
	{ .match = FZ_MATCH_FULL, .scale = FZ_SCALE_SHARE, .inverted = true },
};

/* ---- properties ---- */

/* Cost of a node and below it; a new one has no cost of the base, whatever it wraps. */
static int64_t expected_total(const struct fz_diff *d, uint32_t node, int side)
{
	int64_t sum = 0;

	if (side == FZ_BASE && d->nodes[node].state == FZ_NEW)
		return 0;
	for (uint32_t i = node; i < node + d->nodes[node].size; i++)
		sum += d->nodes[i].cost.self[side];
	return sum;
}

/* Preorder with right sizes; states follow the costs. */
static void check_tree(const struct fz_diff *d)
{
	for (uint32_t i = 0; i < d->node_count; i++) {
		const struct fz_diff_node *n = &d->nodes[i];
		assert_true(n->parent == FZ_NONE || n->parent < i);
		assert_true(n->parent == FZ_NONE ||
			    i + n->size <= n->parent + d->nodes[n->parent].size);
		for (uint32_t c = i + 1; c < i + n->size; c += d->nodes[c].size)
			assert_int_equal(d->nodes[c].parent, i);
		for (int s = 0; s < FZ_SIDES; s++)
			assert_int_equal(n->cost.total[s], expected_total(d, i, s));
		if (n->wraps || n->state == FZ_MOVED) {
			assert_int_equal(d->match, FZ_MATCH_FULL);
			continue;
		}
		assert_int_equal(n->state, n->cost.total[FZ_BASE] == 0   ? FZ_NEW
					   : n->cost.total[FZ_HEAD] == 0 ? FZ_REMOVED
									 : FZ_COMMON);
	}
}

/* Nodes, cells and functions are three ways to divide the same total. */
static void check_sums(const struct fz_diff *d)
{
	for (int s = 0; s < FZ_SIDES; s++) {
		int64_t nodes = 0, cells = 0, functions = 0;
		for (uint32_t i = 0; i < d->node_count; i++)
			nodes += d->nodes[i].cost.self[s];
		for (size_t i = 0; i < d->cell_count; i++)
			cells += d->cells[i].self[s];
		for (uint32_t i = 0; i < d->function_count; i++) {
			functions += d->functions[i].cost.self[s];
			assert_true(d->functions[i].cost.total[s] >= d->functions[i].cost.self[s]);
			assert_true(d->functions[i].cost.total[s] <= d->total[s]);
		}
		assert_int_equal(nodes, d->total[s]);
		assert_int_equal(cells, d->total[s]);
		assert_int_equal(functions, d->total[s]);
	}
}

static void sums_are_consistent(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		fz_auto(fz_profile_freep) struct fz_profile *a = random_profile(seed);
		fz_auto(fz_profile_freep) struct fz_profile *b = random_profile(seed + 1000);
		for (size_t k = 0; k < FZ_ARRAY_LEN(kinds); k++) {
			fz_auto(fz_diff_freep) struct fz_diff *d = diff_of(a, b, kinds[k]);
			check_tree(d);
			check_sums(d);
		}
	}
}

/* A program in which a function and a file got other names. */
static struct fz_profile *refactored_profile(uint64_t seed)
{
	random_state = seed;
	fz_auto(fz_free_ptr) char *text = random_text(1 + dice(60));

	for (char *at = text; (at = strstr(at, "f3:"));)
		*at = 'g';
	for (char *at = text; (at = strstr(at, "m1.py"));)
		*at = 'n';
	return hand_profile(text, 0);
}

static void sums_survive_full_matching(void **state)
{
	(void)state;
	uint32_t links = 0, wrappers = 0;

	for (uint64_t seed = 1; seed <= 200; seed++) {
		fz_auto(fz_profile_freep) struct fz_profile *a = random_profile(seed);
		fz_auto(fz_profile_freep) struct fz_profile *b = refactored_profile(seed + 1000);
		for (size_t k = 0; k < FZ_ARRAY_LEN(full_kinds); k++) {
			fz_auto(fz_diff_freep) struct fz_diff *d = diff_of(a, b, full_kinds[k]);
			check_tree(d);
			check_sums(d);
			links += d->link_count;
			for (uint32_t i = 0; i < d->node_count; i++)
				wrappers += d->nodes[i].wraps;
		}
	}
	assert_true(links > 100);
	assert_true(wrappers > 100);
}

/* The same functions are linked, with the same scores, whichever side is called the base. */
static void swapping_sides_mirrors_links(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		fz_auto(fz_profile_freep) struct fz_profile *a = random_profile(seed);
		fz_auto(fz_profile_freep) struct fz_profile *b = refactored_profile(seed + 500);
		fz_auto(fz_diff_freep) struct fz_diff *d = diff_of(a, b, full_kinds[0]);
		fz_auto(fz_diff_freep) struct fz_diff *m = diff_of(b, a, full_kinds[0]);

		assert_int_equal(d->function_count, m->function_count);
		assert_int_equal(d->link_count, m->link_count);
		for (uint32_t i = 0; i < d->function_count; i++) {
			const struct fz_diff_function *f = &d->functions[i], *g;
			enum fz_side side = f->on_side[FZ_BASE] != FZ_NONE ? FZ_BASE : FZ_HEAD;
			g = &m->functions[m->function_of[!side][f->on_side[side]]];
			assert_int_equal(f->on_side[FZ_BASE], g->on_side[FZ_HEAD]);
			assert_int_equal(f->on_side[FZ_HEAD], g->on_side[FZ_BASE]);
			assert_int_equal(f->link.how, g->link.how);
			assert_true(fabs(f->link.score - g->link.score) < 1e-9);
			for (int s = 0; s < FZ_SIDES; s++) {
				assert_int_equal(f->cost.self[s], g->cost.self[!s]);
				assert_int_equal(f->cost.total[s], g->cost.total[!s]);
			}
		}
	}
}

static void profile_against_itself_needs_no_test(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		fz_auto(fz_profile_freep) struct fz_profile *a = random_profile(seed);
		for (size_t k = 0; k < FZ_ARRAY_LEN(full_kinds); k++) {
			fz_auto(fz_diff_freep) struct fz_diff *d = diff_of(a, a, full_kinds[k]);
			assert_int_equal(d->link_count, 0);
			assert_int_equal(d->shift_count, 0);
			assert_int_equal(d->elided_count, 0);
			for (uint32_t i = 0; i < d->node_count; i++) {
				assert_int_equal(d->nodes[i].state, FZ_COMMON);
				assert_false(d->nodes[i].wraps);
			}
		}
	}
}

static void profile_does_not_differ_from_itself(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		fz_auto(fz_profile_freep) struct fz_profile *a = random_profile(seed);
		for (size_t k = 0; k < FZ_ARRAY_LEN(kinds); k++) {
			fz_auto(fz_diff_freep) struct fz_diff *d = diff_of(a, a, kinds[k]);
			assert_true(d->factor == 1);
			assert_int_equal(d->elided_count, 0);
			for (uint32_t i = 0; i < d->node_count; i++) {
				const struct fz_diff_cost *c = &d->nodes[i].cost;
				assert_int_equal(c->self[FZ_BASE], c->self[FZ_HEAD]);
				assert_int_equal(c->total[FZ_BASE], c->total[FZ_HEAD]);
				assert_int_equal(d->nodes[i].state, FZ_COMMON);
			}
		}
	}
}

/* The node of b that lies on the same path as node i of a, or FZ_NONE. */
static uint32_t same_path(const struct fz_diff *a, uint32_t i, const struct fz_diff *b)
{
	const struct fz_diff_node *n = &a->nodes[i];
	const struct fz_diff_function *f = &a->functions[n->function];
	uint32_t at = 0, end = b->node_count;

	if (n->parent != FZ_NONE) {
		uint32_t parent = same_path(a, n->parent, b);
		if (parent == FZ_NONE)
			return FZ_NONE;
		at = parent + 1;
		end = parent + b->nodes[parent].size;
	}
	for (; at < end; at += b->nodes[at].size) {
		const struct fz_diff_function *g = &b->functions[b->nodes[at].function];
		if (fz_str_eq(f->name, g->name) && fz_str_eq(f->file, g->file))
			return at;
	}
	return FZ_NONE;
}

static void swapping_sides_mirrors_everything(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		fz_auto(fz_profile_freep) struct fz_profile *a = random_profile(seed);
		fz_auto(fz_profile_freep) struct fz_profile *b = random_profile(seed + 500);
		for (size_t k = 0; k < FZ_ARRAY_LEN(kinds); k++) {
			fz_auto(fz_diff_freep) struct fz_diff *d = diff_of(a, b, kinds[k]);
			fz_auto(fz_diff_freep) struct fz_diff *m = diff_of(b, a, kinds[k]);
			assert_int_equal(d->node_count, m->node_count);
			assert_true(fabs(d->factor * m->factor - 1) < 1e-12);
			for (uint32_t i = 0; i < d->node_count; i++) {
				uint32_t j = same_path(d, i, m);
				assert_int_not_equal(j, FZ_NONE);
				const struct fz_diff_cost *x = &d->nodes[i].cost,
							  *y = &m->nodes[j].cost;
				assert_int_equal(x->self[FZ_BASE], y->self[FZ_HEAD]);
				assert_int_equal(x->self[FZ_HEAD], y->self[FZ_BASE]);
				assert_int_equal(x->total[FZ_BASE], y->total[FZ_HEAD]);
				double forth = fz_diff_delta(d, x->self[FZ_BASE], x->self[FZ_HEAD]);
				double back = fz_diff_delta(m, y->self[FZ_BASE], y->self[FZ_HEAD]);
				assert_true(fabs(forth + d->factor * back) < 1e-6);
			}
		}
	}
}

static char *json_of(const struct fz_profile *a, const struct fz_profile *b)
{
	fz_auto(fz_diff_freep) struct fz_diff *d = diff_of(a, b, kinds[0]);
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();

	struct fz_judge_options how = FZ_JUDGE_DEFAULTS;
	how.paths = true;
	fz_auto(fz_judgement_freep) struct fz_judgement *j = fz_judge(d, &how);
	fz_report_json_diff(d, j, out);
	return fz_buf_take(fz_output_buffer(out));
}

/* The lines of a text in reverse order. */
static char *reversed(const char *text)
{
	struct fz_buf b = { 0 };
	size_t end = strlen(text);

	while (end) {
		size_t start = end - 1;
		while (start && text[start - 1] != '\n')
			start--;
		fz_buf_add(&b, text + start, end - start);
		end = start;
	}
	return fz_buf_take(&b);
}

static void order_of_samples_does_not_matter(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		random_state = seed;
		fz_auto(fz_free_ptr) char *base = random_text(40);
		fz_auto(fz_free_ptr) char *head = random_text(40);
		fz_auto(fz_free_ptr) char *base_back = reversed(base);
		fz_auto(fz_free_ptr) char *head_back = reversed(head);
		fz_auto(fz_profile_freep) struct fz_profile *a = hand_profile(base, 0);
		fz_auto(fz_profile_freep) struct fz_profile *b = hand_profile(head, 0);
		fz_auto(fz_profile_freep) struct fz_profile *a_back = hand_profile(base_back, 0);
		fz_auto(fz_profile_freep) struct fz_profile *b_back = hand_profile(head_back, 0);
		fz_auto(fz_free_ptr) char *one = json_of(a, b);
		fz_auto(fz_free_ptr) char *other = json_of(a_back, b_back);
		assert_string_equal(one, other);
	}
}

/* A straight line of 300,000 nodes per side, and 300,000 siblings: neither recursion nor a
 * quadratic algorithm survives this. */
static void hostile_shapes(void **state)
{
	(void)state;
	for (int deep = 0; deep < 2; deep++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = hand_profile("", 0);
		fz_auto(fz_diff_freep) struct fz_diff *d = NULL;
		uint32_t stack = FZ_NONE;
		char name[32];

		uint32_t thread = fz_profile_thread(p, &(struct fz_thread){ .tid = 1 });
		for (uint32_t i = 0; i < 300000; i++) {
			int n = snprintf(name, sizeof(name), "f%u", deep ? i % 7 : i);
			uint32_t frame =
				fz_profile_frame_named(p, (struct fz_str){ name, (size_t)n },
						       FZ_STR("a.py"), 1, FZ_KIND_PYTHON);
			stack = fz_profile_stack(p, deep ? stack : FZ_NONE, frame);
			fz_profile_add_sample(
				p, &(struct fz_sample){ .stack = stack, .thread = thread }, NULL);
		}
		d = diff_of(p, p, kinds[0]);
		assert_int_equal(d->node_count, 300000);
		check_sums(d);
	}
}

/* The same shapes when the head calls everything otherwise, so that nothing has a partner. */
static void hostile_shapes_for_matching(void **state)
{
	(void)state;
	for (int deep = 0; deep < 2; deep++) {
		fz_auto(fz_profile_freep) struct fz_profile *a = hand_profile("", 0);
		fz_auto(fz_profile_freep) struct fz_profile *b = hand_profile("", 0);
		struct fz_profile *both[] = { a, b };
		char name[32];

		for (int side = 0; side < 2; side++) {
			uint32_t stack = FZ_NONE;
			fz_profile_thread(both[side], &(struct fz_thread){ .tid = 1 });
			for (uint32_t i = 0; i < 50000; i++) {
				int n = snprintf(name, sizeof(name), "%c%u", side ? 'g' : 'f',
						 deep ? i % 7 : i);
				uint32_t frame = fz_profile_frame_named(
					both[side], (struct fz_str){ name, (size_t)n },
					FZ_STR("a.py"), 1, FZ_KIND_PYTHON);
				stack = fz_profile_stack(both[side], deep ? stack : FZ_NONE, frame);
				fz_profile_add_sample(
					both[side],
					&(struct fz_sample){ .stack = stack, .count = 10 }, NULL);
			}
		}
		fz_auto(fz_diff_freep) struct fz_diff *d = diff_of(a, b, full_kinds[0]);
		assert_int_equal(d->node_count, 100000);
		assert_int_equal(d->link_count, 0);
		check_sums(d);
	}
}

/* ---- what others computed ---- */

static struct fz_profile *load_shared(const char *path)
{
	const char *shared = getenv("FZ_SHARED");
	fz_auto(fz_free_ptr) char *full =
		fz_asprintf("%s/profiles/pairs/%s", shared ? shared : "../shared", path);
	struct fz_profile *p = NULL;
	struct fz_error err;

	if (fz_format_load(full, &p, &err)) {
		print_message("%s\n", err.message);
		free(fz_steal(full)); /* skipping jumps over the cleanup */
		skip();
	}
	return p;
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The lines of a text in order. */
static char *sorted(const char *text)
{
	fz_auto(fz_free_ptr) char *copy = fz_strdup(text);
	char *lines[64], *rest = copy;
	size_t n = 0;
	struct fz_buf b = { 0 };

	for (char *line; n < 64 && (line = strsep(&rest, "\n"));)
		if (*line)
			lines[n++] = line;
	qsort(lines, n, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < n; i++)
		fz_buf_printf(&b, "%s\n", lines[i]);
	return fz_buf_take(&b);
}

static void expect_folded(const char *result, enum fz_match match, bool scaled)
{
	fz_auto(fz_profile_freep) struct fz_profile *a =
		load_shared("inferno-diff-folded/before.txt");
	fz_auto(fz_profile_freep) struct fz_profile *b =
		load_shared("inferno-diff-folded/after.txt");
	const char *shared = getenv("FZ_SHARED");
	fz_auto(fz_free_ptr) char *path =
		fz_asprintf("%s/profiles/pairs/inferno-diff-folded/results/%s",
			    shared ? shared : "../shared", result);
	fz_auto(fz_free_ptr) char *want = fz_read_small(path, 1 << 16, NULL);
	struct fz_diff_options o = { .match = match, .scale = FZ_SCALE_SHARE };
	fz_auto(fz_diff_freep) struct fz_diff *d = diff_of(a, b, o);
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();

	assert_non_null(want);
	fz_report_folded_diff(d, NULL, scaled, out);
	fz_auto(fz_free_ptr) char *ours = sorted(fz_output_buffer(out)->p);
	fz_auto(fz_free_ptr) char *theirs = sorted(want);
	assert_string_equal(ours, theirs);
}

static void folded_equals_inferno(void **state)
{
	(void)state;
	expect_folded("default.txt", FZ_MATCH_EXACT, false);
	expect_folded("normalize.txt", FZ_MATCH_EXACT, true);
	expect_folded("strip_hex.txt", FZ_MATCH_NAMES, false);
	expect_folded("strip_hex.txt", FZ_MATCH_FULL, false);
}

/* A real pair into which two changes were planted, and nothing else. */
static void planted_changes_are_found(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *a = load_shared("rsync/v1.folded.gz");
	fz_auto(fz_profile_freep) struct fz_profile *b = load_shared("rsync/v2.folded.gz");
	struct fz_diff_options o = { .scale = FZ_SCALE_TIME };
	fz_auto(fz_diff_freep) struct fz_diff *d = diff_of(a, b, o);
	int64_t planted = 0, others = 0;

	assert_int_equal(d->elided_count, 0);
	for (uint32_t i = 0; i < d->function_count; i++) {
		const struct fz_diff_function *f = &d->functions[i];
		int64_t change = f->cost.self[FZ_HEAD] - f->cost.self[FZ_BASE];
		if (fz_str_eq(f->name, FZ_STR("md5_process")) ||
		    fz_str_eq(f->name, FZ_STR("_nl_find_locale")))
			planted += change;
		else
			others += change != 0;
		assert_int_equal(f->state, FZ_COMMON);
	}
	assert_int_equal(planted, 2200);
	assert_int_equal(others, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_consistent),
		cmocka_unit_test(sums_survive_full_matching),
		cmocka_unit_test(swapping_sides_mirrors_links),
		cmocka_unit_test(profile_does_not_differ_from_itself),
		cmocka_unit_test(profile_against_itself_needs_no_test),
		cmocka_unit_test(swapping_sides_mirrors_everything),
		cmocka_unit_test(order_of_samples_does_not_matter),
		cmocka_unit_test(hostile_shapes),
		cmocka_unit_test(hostile_shapes_for_matching),
		cmocka_unit_test(folded_equals_inferno),
		cmocka_unit_test(planted_changes_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
