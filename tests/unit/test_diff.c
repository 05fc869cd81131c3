/* SPDX-License-Identifier: MIT */
/* The diff engine on hand-made profiles: Tachyon's edge cases, and what ours does better.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "hand_profile.h"
#include "named.h"

/* A diff of two hand-made profiles together with them. */
struct hand_diff {
	struct fz_profile *base, *head;
	struct fz_diff *d;
};

static const struct fz_diff_options exact = { .match = FZ_MATCH_EXACT, .scale = FZ_SCALE_SHARE };
static const struct fz_diff_options names = { .match = FZ_MATCH_NAMES, .scale = FZ_SCALE_SHARE };

static struct hand_diff diff_with(const char *base, int64_t base_ns, const char *head,
				  int64_t head_ns, const struct fz_diff_options *o)
{
	struct hand_diff h = { hand_profile(base, base_ns), hand_profile(head, head_ns), NULL };
	struct fz_error err;

	if (fz_diff_new(h.base, h.head, o, &h.d, &err))
		fail_msg("%s", err.message);
	return h;
}

static struct hand_diff diff(const char *base, const char *head)
{
	return diff_with(base, 0, head, 0, &exact);
}

static void release(struct hand_diff *h)
{
	fz_diff_free(h->d);
	fz_profile_free(h->base);
	fz_profile_free(h->head);
}
#define hand __attribute__((cleanup(release))) struct hand_diff

/* The node with that path of names, "main/work", or NULL. */
static const struct fz_diff_node *node_at(const struct fz_diff *d, const char *path)
{
	uint32_t parent = FZ_NONE, i = 0, end = d->node_count;

	for (;;) {
		size_t n = strcspn(path, "/");
		for (; i < end; i += d->nodes[i].size)
			if (fz_str_eq(d->functions[d->nodes[i].function].name,
				      (struct fz_str){ path, n }))
				break;
		if (i >= end)
			return NULL;
		assert_int_equal(d->nodes[i].parent, parent);
		if (!path[n])
			return &d->nodes[i];
		path += n + 1;
		parent = i;
		end = i + d->nodes[i].size;
		i++;
	}
}

static void expect_node(const struct fz_diff *d, const char *path, enum fz_state state,
			int64_t base_self, int64_t base_total, int64_t head_self,
			int64_t head_total)
{
	const struct fz_diff_node *node = node_at(d, path);

	if (!node)
		fail_msg("no node %s", path);
	assert_string_equal(fz_state_names[node->state], fz_state_names[state]);
	assert_int_equal(node->cost.self[FZ_BASE], base_self);
	assert_int_equal(node->cost.total[FZ_BASE], base_total);
	assert_int_equal(node->cost.self[FZ_HEAD], head_self);
	assert_int_equal(node->cost.total[FZ_HEAD], head_total);
}

/* Percent as Tachyon gives it; NaN stays NaN. */
static double percent(const struct fz_diff *d, const char *path)
{
	const struct fz_diff_node *n = node_at(d, path);

	return 100 * fz_diff_ratio(d, n->cost.self[FZ_BASE], n->cost.self[FZ_HEAD]);
}

static void identical_profiles(void **state)
{
	(void)state;
	hand h = diff("a.py:main:1;a.py:f:2 3\na.py:main:1 1\n",
		      "a.py:main:1;a.py:f:2 3\na.py:main:1 1\n");

	assert_int_equal(h.d->node_count, 2);
	assert_true(h.d->factor == 1);
	assert_int_equal(h.d->elided_count, 0);
	assert_int_equal(h.d->elided_time, 0);
	expect_node(h.d, "main", FZ_COMMON, 1, 4, 1, 4);
	expect_node(h.d, "main/f", FZ_COMMON, 3, 3, 3, 3);
	assert_true(percent(h.d, "main/f") == 0);
}

static void new_leaf(void **state)
{
	(void)state;
	hand h = diff("a.py:main:1;a.py:old:2 2\n",
		      "a.py:main:1;a.py:old:2 1\na.py:main:1;a.py:new:3 1\n");

	expect_node(h.d, "main/new", FZ_NEW, 0, 0, 1, 1);
	assert_true(isnan(percent(h.d, "main/new")));
	assert_true(percent(h.d, "main/old") == -50);
	assert_int_equal(h.d->elided_count, 0);
	assert_int_equal(function_named(h.d, "new")->state, FZ_NEW);
}

static void scale_makes_totals_equal(void **state)
{
	(void)state;
	hand twice = diff("a.py:f:1 2\n", "a.py:f:1 4\n");
	assert_true(twice.d->factor == 2);
	assert_true(percent(twice.d, "f") == 0);

	hand shift = diff("a.py:r:1;a.py:a:1 2\na.py:r:1;a.py:b:1 2\n",
			  "a.py:r:1;a.py:a:1 3\na.py:r:1;a.py:b:1 1\n");
	assert_true(percent(shift.d, "r/a") == 50);
	assert_true(percent(shift.d, "r/b") == -50);

	hand four = diff("a.py:f:1 1\n", "a.py:f:1 4\n");
	assert_true(four.d->factor == 4);
}

static void removed_leaf(void **state)
{
	(void)state;
	hand h = diff("a.py:main:1;a.py:old:2 1\na.py:main:1;a.py:f:2 1\n",
		      "a.py:main:1;a.py:f:2 2\n");

	expect_node(h.d, "main/old", FZ_REMOVED, 1, 1, 0, 0);
	assert_true(percent(h.d, "main/old") == -100);
	assert_int_equal(h.d->elided_count, 1);
	assert_int_equal(h.d->elided_time, 1);
	/* The one that stayed is not removed code: its samples are still there. */
	expect_node(h.d, "main", FZ_COMMON, 0, 2, 0, 2);
}

static void removed_paths_with_self_are_counted(void **state)
{
	(void)state;
	/* internal and leaf: two; an internal node that was only passed through: not counted */
	hand h = diff("a.py:m:1;a.py:i:2 1\na.py:m:1;a.py:i:2;a.py:l:3 1\n"
		      "a.py:m:1;a.py:p:2;a.py:q:3 1\na.py:m:1 2\n",
		      "a.py:m:1 5\n");

	assert_int_equal(h.d->elided_count, 3);
	assert_int_equal(h.d->elided_time, 3);
	expect_node(h.d, "m/p", FZ_REMOVED, 0, 1, 0, 0);
	assert_true(isnan(percent(h.d, "m/p")));
}

static void tiny_removed_path_is_kept(void **state)
{
	(void)state;
	hand h = diff("a.py:m:1 1999\na.py:m:1;a.py:tiny:2 1\n", "a.py:m:1 2000\n");

	expect_node(h.d, "m/tiny", FZ_REMOVED, 1, 1, 0, 0);
	assert_int_equal(h.d->elided_count, 1);
}

static void removed_root(void **state)
{
	(void)state;
	hand h = diff("a.py:old:1;a.py:f:2 3\na.py:main:1 1\n", "a.py:main:1 4\n");

	expect_node(h.d, "old", FZ_REMOVED, 0, 3, 0, 0);
	expect_node(h.d, "old/f", FZ_REMOVED, 3, 3, 0, 0);
	assert_int_equal(h.d->elided_count, 1);
}

static void lines_do_not_split_or_separate(void **state)
{
	(void)state;
	hand h = diff("a.py:main:1;a.py:f:5 1\na.py:main:2;a.py:f:9 1\n",
		      "a.py:main:3;a.py:f:70 2\n");

	assert_int_equal(h.d->node_count, 2);
	expect_node(h.d, "main/f", FZ_COMMON, 2, 2, 2, 2);
	assert_int_equal(function_named(h.d, "f")->line, 70);
}

static void removed_lines_are_not_counted_twice(void **state)
{
	(void)state;
	hand h = diff("a.py:m:1;a.py:f:5 1\na.py:m:1;a.py:f:6 1\na.py:m:1 2\n", "a.py:m:1 4\n");

	expect_node(h.d, "m/f", FZ_REMOVED, 2, 2, 0, 0);
	assert_int_equal(h.d->elided_count, 1);
	assert_int_equal(h.d->elided_time, 2);
}

static void empty_sides(void **state)
{
	(void)state;
	hand no_base = diff("", "a.py:f:1 4\n");
	assert_true(no_base.d->factor == 1);
	expect_node(no_base.d, "f", FZ_NEW, 0, 0, 4, 4);
	assert_int_equal(no_base.d->elided_count, 0);

	hand no_head = diff("a.py:m:1;a.py:f:1 4\n", "");
	assert_true(no_head.d->factor == 1);
	expect_node(no_head.d, "m/f", FZ_REMOVED, 4, 4, 0, 0);
	assert_int_equal(no_head.d->elided_count, 1);

	hand neither = diff("", "");
	assert_int_equal(neither.d->node_count, 0);
	assert_int_equal(neither.d->function_count, 0);
}

static void empty_head_at_another_rate(void **state)
{
	(void)state;
	/* A base sample of 10 ms would have been ten head samples of 1 ms. */
	hand h = diff_with("a.py:f:1 4\n", 10000000, "", 1000000, &exact);

	assert_string_equal(h.d->metric, "samples");
	assert_true(h.d->factor == 10);
}

static void rates_are_scaled_right(void **state)
{
	(void)state;
	struct fz_diff_options o = exact;
	static const char *const base = "a.py:m:1;a.py:f:1 100\na.py:m:1;a.py:g:1 100\n";
	static const char *const head = "a.py:m:1;a.py:f:1 10\na.py:m:1;a.py:g:1 10\n";

	hand share = diff_with(base, 1000000, head, 10000000, &o);
	assert_true(share.d->factor == 0.1);
	assert_true(fabs(percent(share.d, "m/f")) < 1e-9);
	o.scale = FZ_SCALE_TIME;
	hand time = diff_with(base, 1000000, head, 10000000, &o);
	assert_true(time.d->factor == 0.1);
	o.metric = FZ_STR("wall");
	hand wall = diff_with(base, 1000000, head, 10000000, &o);
	assert_true(wall.d->factor == 1);
	expect_node(wall.d, "m/f", FZ_COMMON, 100000000, 100000000, 100000000, 100000000);
}

static void recursion_counts_once(void **state)
{
	(void)state;
	hand h = diff("a.py:m:1;a.py:f:1;a.py:g:1;a.py:f:1 4\na.py:m:1;a.py:f:1 1\n",
		      "a.py:m:1;a.py:f:1;a.py:f:1;a.py:f:1 5\n");
	const struct fz_diff_function *f = function_named(h.d, "f");

	assert_int_equal(f->cost.self[FZ_BASE], 5);
	assert_int_equal(f->cost.total[FZ_BASE], 5);
	assert_int_equal(f->cost.self[FZ_HEAD], 5);
	assert_int_equal(f->cost.total[FZ_HEAD], 5);
}

static void samples_without_a_stack_are_left_out(void **state)
{
	(void)state;
	hand h = diff("a.py:f:1 3\n 5\n", "a.py:f:1 3\n");

	assert_int_equal(h.d->samples[FZ_BASE], 3);
	assert_int_equal(h.d->total[FZ_BASE], 3);
	assert_true(h.d->factor == 1);
}

static void order_is_by_larger_scaled_side_then_name(void **state)
{
	(void)state;
	hand h = diff("a.py:m:1;a.py:x:1 6\na.py:m:1;a.py:b:1 2\na.py:m:1;a.py:a:1 2\n",
		      "a.py:m:1;a.py:y:1 16\na.py:m:1;a.py:b:1 2\na.py:m:1;a.py:a:1 2\n");
	static const char *const want[] = { "m", "y", "x", "a", "b" };

	assert_int_equal(h.d->node_count, 5);
	for (size_t i = 0; i < 5; i++)
		assert_true(
			fz_str_eq(h.d->functions[h.d->nodes[i].function].name, fz_str_of(want[i])));
}

static void exact_separates_what_names_merges(void **state)
{
	(void)state;
	static const char *const base = "/old/a.py:m:1;/old/b.py:f:1 4\n";
	static const char *const head = "/new/a.py:m:1;/new/b.py:f:1 4\n";
	hand strict = diff_with(base, 0, head, 0, &exact);
	hand kind = diff_with(base, 0, head, 0, &names);

	assert_int_equal(strict.d->elided_count, 1);
	assert_int_equal(strict.d->node_count, 4);
	assert_true(fz_str_eq(strict.d->functions[strict.d->nodes[0].function].file,
			      FZ_STR("/new/a.py")));
	assert_int_equal(kind.d->elided_count, 0);
	assert_int_equal(kind.d->node_count, 2);
	assert_true(fz_str_eq(kind.d->functions[kind.d->nodes[0].function].file, FZ_STR("a.py")));
}

static void add_named(struct fz_profile *p, int32_t first_line, uint32_t count)
{
	struct fz_function f = { .name = fz_profile_string(p, FZ_STR("<lambda>")),
				 .file = fz_profile_string(p, FZ_STR("a.py")),
				 .first_line = first_line };
	struct fz_frame frame = { .function = fz_profile_function(p, &f), .line = first_line };
	struct fz_sample s = { .count = count };

	s.thread = fz_profile_thread(p, &(struct fz_thread){ .tid = 1 });
	s.stack = fz_profile_stack(p, FZ_NONE, fz_profile_frame(p, &frame));
	fz_profile_add_sample(p, &s, NULL);
}

static void same_names_of_a_file_match_in_order(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *a = hand_profile("", 0);
	fz_auto(fz_profile_freep) struct fz_profile *b = hand_profile("", 0);
	fz_auto(fz_profile_freep) struct fz_profile *three = hand_profile("", 0);
	fz_auto(fz_diff_freep) struct fz_diff *d = NULL;
	fz_auto(fz_diff_freep) struct fz_diff *merged = NULL;
	fz_auto(fz_diff_freep) struct fz_diff *strict = NULL;

	add_named(a, 20, 1);
	add_named(a, 10, 2);
	add_named(b, 12, 3);
	add_named(b, 25, 4);
	add_named(three, 10, 1);
	add_named(three, 20, 1);
	add_named(three, 30, 1);
	assert_int_equal(fz_diff_new(a, b, &names, &d, NULL), 0);
	assert_int_equal(d->node_count, 2);
	assert_int_equal(d->nodes[0].cost.self[FZ_BASE], 2);
	assert_int_equal(d->nodes[0].cost.self[FZ_HEAD], 3);
	assert_int_equal(d->nodes[1].cost.self[FZ_BASE], 1);
	assert_int_equal(d->nodes[1].cost.self[FZ_HEAD], 4);
	/* a different number of them: which is which is unknown */
	assert_int_equal(fz_diff_new(a, three, &names, &merged, NULL), 0);
	assert_int_equal(merged->node_count, 1);
	assert_int_equal(merged->functions[0].line, 10);
	/* Tachyon never distinguishes them */
	assert_int_equal(fz_diff_new(a, b, &exact, &strict, NULL), 0);
	assert_int_equal(strict->node_count, 1);
	assert_int_equal(strict->nodes[0].cost.self[FZ_HEAD], 7);
}

static void threads_and_cells(void **state)
{
	(void)state;
	struct fz_diff_options o = exact;
	o.cells = true;
	hand h = diff_with("1@a.py:f:1 2\n2@a.py:f:1 3\n3@a.py:g:1 1\n", 0,
			   "7@a.py:f:1 6\n1@a.py:f:1 5\n", 0, &o);

	assert_int_equal(h.d->thread_count, 3);
	assert_string_equal(h.d->threads[0].label, "tid 7");
	assert_string_equal(h.d->threads[1].label, "main");
	assert_string_equal(h.d->threads[2].label, "tid 3");
	assert_int_equal(h.d->cell_count, 3);
	/* f in the second thread of each side, f in main, g in the one that is gone */
	assert_int_equal(h.d->cells[0].self[FZ_BASE], 3);
	assert_int_equal(h.d->cells[0].self[FZ_HEAD], 6);
	assert_int_equal(h.d->cells[1].self[FZ_BASE], 2);
	assert_int_equal(h.d->cells[1].self[FZ_HEAD], 5);
	assert_int_equal(h.d->cells[2].self[FZ_BASE], 1);
	assert_int_equal(h.d->cells[2].thread, 2);
}

/* A process that was just forked may show a thread of its parent, never sampled. */
static void threads_without_samples_are_left_out(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *a = hand_profile("", 0);
	fz_auto(fz_profile_freep) struct fz_profile *b = hand_profile("", 0);
	fz_auto(fz_diff_freep) struct fz_diff *d = NULL;

	fz_profile_thread(a, &(struct fz_thread){ .pid = 2, .tid = 1, .is_main = true });
	add_named(a, 10, 1);
	a->threads[a->samples.thread[0]].is_main = true;
	add_named(b, 10, 1);
	b->threads[0].is_main = true;
	fz_profile_thread(b, &(struct fz_thread){ .pid = 3, .tid = 3 });
	assert_int_equal(fz_diff_new(a, b, &names, &d, NULL), 0);
	assert_int_equal(d->thread_count, 1);
	assert_int_equal(d->threads[0].on_side[FZ_BASE], a->samples.thread[0]);
	assert_int_equal(d->threads[0].on_side[FZ_HEAD], 0);
}

static void inverted_nodes_keep_function_costs(void **state)
{
	(void)state;
	struct fz_diff_options o = exact;
	o.inverted = true;
	hand h = diff_with("a.py:m:1;a.py:f:1 2\na.py:n:1;a.py:f:1 2\n", 0, "a.py:m:1;a.py:f:1 4\n",
			   0, &o);

	expect_node(h.d, "f", FZ_COMMON, 0, 4, 0, 4);
	expect_node(h.d, "f/m", FZ_COMMON, 2, 2, 4, 4);
	expect_node(h.d, "f/n", FZ_REMOVED, 2, 2, 0, 0);
	assert_int_equal(function_named(h.d, "m")->cost.total[FZ_BASE], 2);
	assert_int_equal(h.d->elided_count, 1);
}

static void expect_error(const char *part, const struct fz_profile *a, const struct fz_profile *b,
			 const struct fz_diff_options *o)
{
	struct fz_diff *d = NULL;
	struct fz_error err = { 0 };

	assert_int_equal(fz_diff_new(a, b, o, &d, &err), FZ_EINPUT);
	assert_null(d);
	if (!strstr(err.message, part))
		fail_msg("'%s' does not say '%s'", err.message, part);
}

static void what_cannot_be_compared(void **state)
{
	(void)state;
	struct fz_diff_options o = { 0 };
	fz_auto(fz_profile_freep) struct fz_profile *a = hand_profile("a.py:f:1 1\n", 1000);
	fz_auto(fz_profile_freep) struct fz_profile *b = hand_profile("a.py:f:1 1\n", 0);
	fz_auto(fz_diff_freep) struct fz_diff *d = NULL;

	o.metric = FZ_STR("wall");
	expect_error("no metric wall in common (base: samples, wall; head: samples)", a, b, &o);
	o.metric = FZ_STR("");
	a->recording.mode = FZ_MODE_CPU;
	b->recording.mode = FZ_MODE_WALL;
	expect_error("mode (base: cpu; head: wall)", a, b, &o);
	b->recording.mode = FZ_MODE_CPU;
	a->recording.features_known = b->recording.features_known = true;
	a->recording.features = FZ_FEATURE_GC | FZ_FEATURE_NATIVE;
	expect_error("(base: native, gc; head: none)", a, b, &o);
	o.force = true;
	assert_int_equal(fz_diff_new(a, b, &o, &d, NULL), 0);
	assert_int_equal(d->warning_count, 1);
}

static bool is_warned_of(const struct fz_diff *d, const char *words)
{
	for (unsigned i = 0; i < d->warning_count; i++)
		if (strstr(d->warnings[i], words))
			return true;
	return false;
}

/* One sample with a weight, and the number of samples as a second metric. */
static struct fz_profile *measured_in(const char *metric, const char *unit)
{
	struct fz_profile *p = fz_profile_new();
	uint32_t f = fz_profile_frame_named(p, FZ_STR("f"), FZ_STR("a.py"), 1, FZ_KIND_PYTHON);
	struct fz_sample s = { .stack = fz_profile_stack(p, FZ_NONE, f) };

	s.thread = fz_profile_thread(p, &(struct fz_thread){ 0 });
	fz_profile_add_metric(p, fz_str_of(metric), fz_str_of(unit), 0, true);
	fz_profile_add_metric(p, FZ_STR("samples"), FZ_STR("count"), 0, true);
	fz_profile_add_sample(p, &s, (int64_t[]){ 10, 1 });
	return p;
}

static void time_and_memory_are_not_compared_by_samples(void **state)
{
	(void)state;
	struct fz_diff_options o = { 0 };
	fz_auto(fz_profile_freep) struct fz_profile *time = measured_in("wall", "ns");
	fz_auto(fz_profile_freep) struct fz_profile *memory = measured_in("bytes", "bytes");
	fz_auto(fz_profile_freep) struct fz_profile *cycles = measured_in("cycles", "count");
	fz_auto(fz_diff_freep) struct fz_diff *times = NULL, *forced = NULL;

	expect_error("the base measured wall, the head bytes", time, memory, &o);
	expect_error("the base measured bytes, the head cycles", memory, cycles, &o);
	assert_int_equal(fz_diff_new(time, cycles, &o, &times, NULL), 0);
	assert_string_equal(times->metric, "samples");
	o.metric = FZ_STR("samples");
	assert_int_equal(fz_diff_new(time, memory, &o, &forced, NULL), 0);
}

static struct fz_profile *timed_by(const char *clock)
{
	struct fz_profile *p = fz_profile_new();
	struct fz_sample s = { .thread = fz_profile_thread(p, &(struct fz_thread){ .tid = 1 }) };

	s.stack = fz_profile_stack(
		p, FZ_NONE,
		fz_profile_frame_named(p, FZ_STR("f"), FZ_STR("a.py"), 1, FZ_KIND_PYTHON));
	fz_profile_add_metric(p, fz_str_of(clock), FZ_STR("ns"), 0, true);
	fz_profile_add_sample(p, &s, (int64_t[]){ 10 });
	return p;
}

static void a_failure_is_urgent_and_another_clock_is_not(void **state)
{
	(void)state;
	struct fz_run failed = { .outcome = FZ_OUTCOME_EXIT, .status = 3 };
	fz_auto(fz_profile_freep) struct fz_profile *a = timed_by("cpu"), *b = timed_by("wall");
	fz_auto(fz_diff_freep) struct fz_diff *d = NULL;

	fz_profile_add_run(b, &failed);
	assert_int_equal(fz_diff_new(a, b, &(struct fz_diff_options){ 0 }, &d, NULL), 0);
	assert_int_equal(d->urgent, 1);
	assert_non_null(strstr(d->warnings[0], "exit status 3"));
	assert_non_null(strstr(d->warnings[1], "only shares can be compared"));
}

static void other_engines_are_named(void **state)
{
	(void)state;
	struct fz_diff_options o = { 0 };
	fz_auto(fz_profile_freep) struct fz_profile *a = hand_profile("a.py:f:1 1\n", 1000);
	fz_auto(fz_profile_freep) struct fz_profile *b = hand_profile("a.py:f:1 1\n", 1000);
	fz_auto(fz_diff_freep) struct fz_diff *same = NULL, *other = NULL;

	fz_profile_set_fact(a, "engine", FZ_STR("read"));
	fz_profile_set_fact(b, "engine", FZ_STR("read"));
	assert_int_equal(fz_diff_new(a, b, &o, &same, NULL), 0);
	assert_false(is_warned_of(same, "engines"));
	fz_profile_set_fact(b, "engine", FZ_STR("bpf"));
	assert_int_equal(fz_diff_new(a, b, &o, &other, NULL), 0);
	assert_true(is_warned_of(other, "the engines differ: base 'read', head 'bpf'; "));
}

/* The warning about two commands, freed by the caller; NULL if there is none. */
static char *warning_of(const char *base_command, const char *head_command)
{
	fz_auto(fz_profile_freep) struct fz_profile *base = hand_profile("f 1\n", 0);
	fz_auto(fz_profile_freep) struct fz_profile *head = hand_profile("f 1\n", 0);
	fz_auto(fz_diff_freep) struct fz_diff *d = NULL;
	struct fz_error err;

	fz_profile_set_fact(base, "command", fz_str_of(base_command));
	fz_profile_set_fact(head, "command", fz_str_of(head_command));
	assert_int_equal(fz_diff_new(base, head, &exact, &d, &err), 0);
	return is_warned_of(d, "the commands differ") ? fz_strdup(d->warnings[0]) : NULL;
}

/* The same program by another interpreter is the same command. */
static void test_commands_are_compared(void **state)
{
	static const struct {
		const char *base, *head;
		bool warned;
	} cases[] = {
		{ "v2/bin/python3 bench.py", "v3/bin/python3.12 bench.py", false },
		{ "python -m pkg a b", "/usr/bin/python3 -m pkg a b", false },
		{ "python3 bench.py", "python3 bench.py --fast", true },
		{ "python3 bench.py", "python3 other.py", true },
		{ "v2/server run", "v3/server run", true },
		{ "pythonish bench.py", "other bench.py", true },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_auto(fz_free_ptr) char *warning = warning_of(cases[i].base, cases[i].head);

		assert_int_equal(warning != NULL, cases[i].warned);
	}
}

/* Both can be read: quotation marks are their own, and a long start that they share is left out. */
static void test_commands_are_named(void **state)
{
	static const struct {
		const char *base, *head, *warning;
	} cases[] = {
		{ "python3 -c 'print(\"a b\")'", "python3 -c 'x = 1\ny'",
		  "the commands differ: the base ran python3 -c 'print(\"a b\")'; the head ran "
		  "python3 -c 'x = 1\\ny'" },
		{ "/usr/bin/python3 -m benchmarks.of.this.project --all -k 'one two'",
		  "/usr/bin/python3 -m benchmarks.of.this.project --all -k 'one three'",
		  "the commands differ: the base ran ... --all -k 'one two'; the head ran ... "
		  "--all "
		  "-k 'one three'" },
		{ "/usr/bin/python3 -m benchmarks.of.this.project --all --quiet",
		  "v/bin/python3 -m benchmarks.of.this.project --all --quiet more",
		  "the commands differ: the base ran ... --all --quiet; the head ran ... --all "
		  "--quiet more" },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_auto(fz_free_ptr) char *warning = warning_of(cases[i].base, cases[i].head);

		assert_string_equal(warning, cases[i].warning);
	}
}

static void other_versions_of_packages_are_named(void **state)
{
	(void)state;
	struct fz_diff_options o = { 0 };
	fz_auto(fz_profile_freep) struct fz_profile *a = hand_profile("a.py:f:1 1\n", 1000);
	fz_auto(fz_profile_freep) struct fz_profile *b = hand_profile("a.py:f:1 1\n", 1000);
	fz_auto(fz_diff_freep) struct fz_diff *same = NULL, *other = NULL;

	/* A package that only one side ran is not a difference of versions. */
	fz_profile_set_fact(a, "packages", FZ_STR("attrs 23.1, Django 3.2.25, old 1.0, yaml 6.0"));
	fz_profile_set_fact(b, "packages", FZ_STR("attrs 23.1, new 1.0, yaml 6.0"));
	assert_int_equal(fz_diff_new(a, b, &o, &same, NULL), 0);
	for (unsigned i = 0; i < same->warning_count; i++)
		assert_null(strstr(same->warnings[i], "package versions"));
	fz_profile_set_fact(b, "packages", FZ_STR("attrs 23.1, Django 5.2, new 1.0, yaml 6.1"));
	assert_int_equal(fz_diff_new(a, b, &o, &other, NULL), 0);
	assert_string_equal(other->warnings[0],
			    "package versions differ (Django 3.2.25 -> 5.2, yaml 6.0 -> 6.1): a "
			    "change may come from these packages");
}

static void old_base_is_reported(void **state)
{
	(void)state;
	const int64_t day = INT64_C(86400000000000), now = 20000 * day;
	struct fz_diff_options o = { 0 };
	static const struct {
		int64_t days;
		const char *expected;
	} cases[] = {
		{ 6, NULL },
		{ -30, NULL },
		{ 23, "the base was recorded 23 days before the head: a change may come from the "
		      "machine; record the base again" },
	};

	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *a = hand_profile("a.py:f:1 1\n", 1000);
		fz_auto(fz_profile_freep) struct fz_profile *b = hand_profile("a.py:f:1 1\n", 1000);
		fz_auto(fz_diff_freep) struct fz_diff *d = NULL;
		const char *found = NULL;
		a->run_count = b->run_count = 0;
		fz_profile_add_run(a, &(struct fz_run){ .start_unix_ns = now - 90 * day });
		fz_profile_add_run(a, &(struct fz_run){ .start_unix_ns = now });
		fz_profile_add_run(
			b, &(struct fz_run){ .start_unix_ns = now + cases[i].days * day + 1 });
		assert_int_equal(fz_diff_new(a, b, &o, &d, NULL), 0);
		for (unsigned k = 0; k < d->warning_count; k++)
			if (strstr(d->warnings[k], "days before"))
				found = d->warnings[k];
		assert_int_equal(!found, !cases[i].expected);
		if (found)
			assert_string_equal(found, cases[i].expected);
	}
}

static void cpu_time_in_no_sample_is_reported(void **state)
{
	(void)state;
	enum { SECOND = 1000000000 };
	struct fz_diff_options o = { 0 };
	static const struct {
		int64_t base, head; /* of a second */
		unsigned features;
		uint32_t urgent;
		const char *expected;
	} cases[] = {
		{ SECOND / 10, SECOND / 10, 0, 0, NULL },
		{ 0, SECOND / 4, 0, 0,
		  "0.0 % of the base's and 25.0 % of the head's CPU time is in no sample: other "
		  "threads (-a samples them) or child processes" },
		{ SECOND / 10 * 9, SECOND / 4 * 3, FZ_FEATURE_ALL_THREADS, 1,
		  "90.0 % of the base's and 75.0 % of the head's CPU time is in no sample: threads "
		  "without a Python stack or child processes" },
	};

	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *a =
			hand_profile("a.py:f:1 1\n", SECOND);
		fz_auto(fz_profile_freep) struct fz_profile *b =
			hand_profile("a.py:f:1 1\n", SECOND);
		fz_auto(fz_diff_freep) struct fz_diff *d = NULL;
		a->run_count = b->run_count = 0;
		fz_profile_add_run(a,
				   &(struct fz_run){ .load = { .used_ns = SECOND,
							       .unsampled_ns = cases[i].base } });
		fz_profile_add_run(b,
				   &(struct fz_run){ .load = { .used_ns = SECOND,
							       .unsampled_ns = cases[i].head } });
		a->recording.features = b->recording.features = cases[i].features;
		assert_int_equal(fz_diff_new(a, b, &o, &d, NULL), 0);
		assert_int_equal(d->urgent, cases[i].urgent);
		if (cases[i].expected)
			assert_string_equal(d->warnings[0], cases[i].expected);
		else
			assert_null(strstr(d->warnings[0], "no sample"));
	}
}

static void other_clocks_are_refused_and_other_programs_reported(void **state)
{
	(void)state;
	struct fz_diff_options o = { 0 };
	fz_auto(fz_profile_freep) struct fz_profile *a = hand_profile("a.py:f:1 1\n", 1000);
	fz_auto(fz_profile_freep) struct fz_profile *b = hand_profile("a.py:f:1 1\n", 1000);
	fz_auto(fz_diff_freep) struct fz_diff *same = NULL, *other = NULL, *renamed = NULL;
	fz_auto(fz_diff_freep) struct fz_diff *expected = NULL, *forced = NULL;
	struct fz_buf text = { 0 };

	fz_profile_set_fact(a, "clock", FZ_STR("perf task-clock"));
	fz_profile_set_fact(b, "clock", FZ_STR("perf task-clock, woken in user mode only"));
	memcpy(a->recording.python, (uint8_t[]){ 3, 12, 1 }, 3);
	memcpy(b->recording.python, (uint8_t[]){ 3, 12, 4 }, 3);
	fz_profile_set_fact(a, "program", FZ_STR("a.py"));
	assert_int_equal(fz_diff_new(a, b, &o, &same, NULL), 0);
	assert_int_equal(same->warning_count, 3); /* and that they are taken for whole runs */
	assert_false(fz_diff_differences(a, b, &text));
	assert_int_equal(text.n, 0);

	b->recording.python[1] = 13;
	assert_int_equal(fz_diff_new(a, b, &o, &other, NULL), 0);
	assert_int_equal(other->warning_count, 3);
	assert_string_equal(other->warnings[1],
			    "the sides ran different versions of Python (base 3.12.1, head "
			    "3.13.4): what changed may be Python, not the program");
	assert_int_equal(other->urgent, 0);

	/* Two builds of one program often have different names. */
	fz_profile_set_fact(b, "program", FZ_STR("b.py"));
	a->recording.complete = b->recording.complete = true;
	assert_int_equal(fz_diff_new(a, b, &o, &renamed, NULL), 0);
	assert_int_equal(renamed->urgent, 1);
	assert_string_equal(renamed->warnings[0],
			    "the recordings are of different programs (base: a.py; head: b.py)");
	assert_int_equal(renamed->scale, FZ_SCALE_TIME);
	o.two_commands = true;
	assert_int_equal(fz_diff_new(a, b, &o, &expected, NULL), 0);
	assert_int_equal(expected->warning_count, renamed->warning_count - 1);

	fz_profile_set_fact(b, "clock", FZ_STR("schedstat"));
	expect_error("differ in clock (base: perf task-clock; head: schedstat);", a, b, &o);
	assert_true(fz_diff_differences(a, b, &text));
	assert_string_equal(text.p, "                     base             head\n"
				    "* clock              perf task-clock  schedstat\n"
				    "  program            a.py             b.py\n"
				    "  Python version     3.12.1           3.13.4\n");
	fz_buf_release(&text);
	o.force = true;
	assert_int_equal(fz_diff_new(a, b, &o, &forced, NULL), 0);
	assert_int_equal(forced->urgent, 0);
}

static void unknown_mode_compares(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *a = hand_profile("a.py:f:1 1\n", 0);
	fz_auto(fz_profile_freep) struct fz_profile *b = hand_profile("a.py:f:1 1\n", 0);
	fz_auto(fz_diff_freep) struct fz_diff *d = NULL;

	a->recording.mode = FZ_MODE_CPU;
	a->recording.features_known = true;
	a->recording.features = FZ_FEATURE_GC;
	assert_int_equal(fz_diff_new(a, b, &exact, &d, NULL), 0);
	assert_int_equal(d->warning_count, 0);
}

static void a_launcher_is_set_aside(void **state)
{
	(void)state;
	static const char *const with =
		"<frozen runpy>:_run_module_as_main:1;<frozen "
		"runpy>:_run_code:2;/x/a.py:main:1;/x/a.py:f:2 5\n"
		"<frozen runpy>:_run_module_as_main:1;<frozen runpy>:_run_code:2 1\n";
	static const char *const without = "/y/a.py:main:1;/y/a.py:f:2 6\n";
	struct fz_diff_options o = { .scale = FZ_SCALE_TIME };
	hand h = diff_with(with, 0, without, 0, &o);

	expect_node(h.d, "main/f", FZ_COMMON, 5, 5, 6, 6);
	expect_node(h.d, "_run_code", FZ_REMOVED, 1, 1, 0, 0);
	expect_node(h.d, "_run_module_as_main", FZ_REMOVED, 0, 0, 0, 0);
	assert_int_equal(h.d->node_count, 4);
	assert_int_equal(h.d->total[FZ_BASE], 6);
	/* not where both have it, and never where figures are to be Tachyon's */
	hand both = diff_with(with, 0, with, 0, &o);
	expect_node(both.d, "_run_module_as_main/_run_code/main/f", FZ_COMMON, 5, 5, 5, 5);
	hand strict = diff_with(with, 0, without, 0, &exact);
	assert_int_equal(strict.d->node_count, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(identical_profiles),
		cmocka_unit_test(new_leaf),
		cmocka_unit_test(scale_makes_totals_equal),
		cmocka_unit_test(removed_leaf),
		cmocka_unit_test(removed_paths_with_self_are_counted),
		cmocka_unit_test(tiny_removed_path_is_kept),
		cmocka_unit_test(removed_root),
		cmocka_unit_test(lines_do_not_split_or_separate),
		cmocka_unit_test(removed_lines_are_not_counted_twice),
		cmocka_unit_test(empty_sides),
		cmocka_unit_test(empty_head_at_another_rate),
		cmocka_unit_test(rates_are_scaled_right),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(samples_without_a_stack_are_left_out),
		cmocka_unit_test(order_is_by_larger_scaled_side_then_name),
		cmocka_unit_test(exact_separates_what_names_merges),
		cmocka_unit_test(same_names_of_a_file_match_in_order),
		cmocka_unit_test(threads_and_cells),
		cmocka_unit_test(threads_without_samples_are_left_out),
		cmocka_unit_test(inverted_nodes_keep_function_costs),
		cmocka_unit_test(a_launcher_is_set_aside),
		cmocka_unit_test(what_cannot_be_compared),
		cmocka_unit_test(time_and_memory_are_not_compared_by_samples),
		cmocka_unit_test(a_failure_is_urgent_and_another_clock_is_not),
		cmocka_unit_test(other_engines_are_named),
		cmocka_unit_test(other_versions_of_packages_are_named),
		cmocka_unit_test(old_base_is_reported),
		cmocka_unit_test(cpu_time_in_no_sample_is_reported),
		cmocka_unit_test(other_clocks_are_refused_and_other_programs_reported),
		cmocka_unit_test(unknown_mode_compares),
		cmocka_unit_test(test_commands_are_compared),
		cmocka_unit_test(test_commands_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
