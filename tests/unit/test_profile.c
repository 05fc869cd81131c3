/* SPDX-License-Identifier: MIT */
/* The model: interning, limits, samples in columns, facts, merging and filtering. */
#include "format_help.h"

#include "profile/filter.h"
#include "profile/merge.h"

static uint32_t frame_of(struct fz_profile *p, const char *name)
{
	return fz_profile_frame_named(p, fz_str_of(name), FZ_STR("a.py"), 1, FZ_KIND_PYTHON);
}

static void test_interning(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	char name[16];

	(void)state;
	assert_int_equal(fz_profile_string(p, FZ_STR("")), 0);
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 5000; i++) {
			snprintf(name, sizeof(name), "f%u", i);
			assert_int_equal(frame_of(p, name), i);
			/* 0 is "", 2 the file of the first frame */
			assert_int_equal(fz_profile_string(p, fz_str_of(name)), i ? i + 2 : 1);
		}
	assert_int_equal(p->frame_count, 5000);
	assert_int_equal(p->function_count, 5000);
	assert_int_equal(p->string_count, 5002);
	assert_int_equal(fz_profile_string(p, (struct fz_str){ "a\0b", 3 }), 5002);
	assert_int_equal(fz_profile_string(p, FZ_STR("a")), 5003);
}

/* What makes functions and frames different, one attribute at a time. */
static void test_identity(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	struct fz_function f = { 1, 2, 3, 4, FZ_KIND_PYTHON }, g;
	struct fz_frame a = { 0, 1, 2, 3, 4, 5 }, b;

	(void)state;
	for (char c = 'a'; c <= 'd'; c++)
		assert_int_equal(fz_profile_string(p, (struct fz_str){ &c, 1 }), c - 'a' + 1);
	assert_int_equal(fz_profile_function(p, &f), 0);
	g = f, g.name++;
	assert_int_equal(fz_profile_function(p, &g), 1);
	g = f, g.file++;
	assert_int_equal(fz_profile_function(p, &g), 2);
	g = f, g.module++;
	assert_int_equal(fz_profile_function(p, &g), 3);
	g = f, g.first_line++;
	assert_int_equal(fz_profile_function(p, &g), 4);
	g = f, g.kind++;
	assert_int_equal(fz_profile_function(p, &g), 5);
	assert_int_equal(fz_profile_function(p, &f), 0);

	assert_int_equal(fz_profile_frame(p, &a), 0);
	b = a, b.function++;
	assert_int_equal(fz_profile_frame(p, &b), 1);
	b = a, b.line++;
	assert_int_equal(fz_profile_frame(p, &b), 2);
	b = a, b.end_line++;
	assert_int_equal(fz_profile_frame(p, &b), 3);
	b = a, b.column++;
	assert_int_equal(fz_profile_frame(p, &b), 4);
	b = a, b.end_column++;
	assert_int_equal(fz_profile_frame(p, &b), 5);
	b = a, b.opcode++;
	assert_int_equal(fz_profile_frame(p, &b), 6);
	assert_int_equal(fz_profile_frame(p, &a), 0);
}

static void test_stacks(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	uint32_t f = frame_of(p, "f"), g = frame_of(p, "g");
	uint32_t root = fz_profile_stack(p, FZ_NONE, f);
	uint32_t child = fz_profile_stack(p, root, g);

	(void)state;
	assert_int_equal(fz_profile_stack(p, FZ_NONE, f), root);
	assert_int_equal(fz_profile_stack(p, root, g), child);
	assert_int_not_equal(fz_profile_stack(p, FZ_NONE, g), child);
	assert_int_equal(p->stacks[child].depth, 2);
	assert_int_equal(p->stacks[child].parent, root);
}

static void add_one(struct fz_profile *p, uint32_t stack)
{
	struct fz_sample sample = { .stack = stack };

	fz_profile_add_sample(p, &sample, NULL);
}

/* Stacks without samples go, unless they call what has some; later ones are found again. */
static void test_keep_used(void **state)
{
	struct fz_profile *p = fz_profile_new();
	uint32_t frame[4], stack[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		frame[i] = fz_profile_frame_named(
			p, fz_str_of((const char *[]){ "a", "b", "c", "d" }[i]), FZ_STR("f.py"),
			i + 1, FZ_KIND_PYTHON);
	stack[0] = fz_profile_stack(p, FZ_NONE, frame[3]); /* unused */
	stack[1] = fz_profile_stack(p, FZ_NONE, frame[0]);
	stack[2] = fz_profile_stack(p, stack[0], frame[1]); /* unused */
	stack[3] = fz_profile_stack(p, stack[1], frame[2]);
	add_one(p, stack[3]);
	add_one(p, FZ_NONE);
	fz_profile_keep_used(p);
	assert_int_equal(p->stack_count, 2);
	assert_int_equal(p->samples.stack[0], 1);
	assert_int_equal(p->samples.stack[1], FZ_NONE);
	assert_int_equal(p->stacks[1].parent, 0);
	assert_int_equal(p->stacks[1].frame, frame[2]);
	assert_int_equal(fz_profile_stack(p, 0, frame[2]), 1);
	assert_int_equal(fz_profile_stack(p, FZ_NONE, frame[0]), 0);
	assert_int_equal(fz_profile_stack(p, FZ_NONE, frame[3]), 2);
	fz_profile_free(p);
}

static void test_threads(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	uint32_t name = fz_profile_string(p, FZ_STR("worker"));
	struct fz_thread t = { .pid = 1, .tid = 2 };
	uint32_t index = fz_profile_thread(p, &t);

	(void)state;
	t.name = name;
	t.is_main = true;
	assert_int_equal(fz_profile_thread(p, &t), index);
	t.name = 0;
	t.is_main = false;
	assert_int_equal(fz_profile_thread(p, &t), index);
	assert_int_equal(p->threads[index].name, name);
	assert_true(p->threads[index].is_main);
	t.interp = 1;
	assert_int_not_equal(fz_profile_thread(p, &t), index);
}

static void test_limits(void **state)
{
	static const struct fz_limits tight = { 4, 4, 4, 4, 4, 4, 4, 1 << 20 };
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	struct fz_error err;

	(void)state;
	p->limits = &tight;
	fz_profile_add_metric(p, FZ_STR("samples"), FZ_STR("count"), 1, false);
	fz_profile_thread(p, &(struct fz_thread){ 0 });
	for (int i = 0; i < 4; i++)
		fz_profile_add_sample(p, &(struct fz_sample){ .stack = FZ_NONE }, NULL);
	assert_int_equal(fz_profile_check(p, &err), 0);
	fz_profile_add_sample(p, &(struct fz_sample){ .stack = FZ_NONE }, NULL);
	assert_int_equal(p->samples.n, 4);
	assert_int_equal(fz_profile_check(p, &err), FZ_ELIMIT);

	fz_auto(fz_profile_freep) struct fz_profile *q = fz_profile_new();
	q->limits = &tight;
	for (int i = 0; i < 20; i++) {
		char name[12];
		snprintf(name, sizeof(name), "%d", i);
		uint32_t frame = frame_of(q, name);
		assert_true(fz_profile_stack(q, FZ_NONE, frame) < 4);
	}
	assert_int_equal(fz_profile_check(q, &err), FZ_ELIMIT);
	assert_true(q->string_count <= 4 && q->frame_count <= 4);
}

/* No sum of weights may overflow, whatever a file contains. */
static void test_magnitude(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	int64_t half = INT64_MAX / 2 + 1;
	struct fz_error err;

	(void)state;
	fz_profile_add_metric(p, FZ_STR("x"), FZ_STR("count"), 0, true);
	fz_profile_thread(p, &(struct fz_thread){ 0 });
	fz_profile_add_sample(p, &(struct fz_sample){ .stack = FZ_NONE }, &half);
	assert_int_equal(fz_profile_check(p, &err), 0);
	half = -half;
	fz_profile_add_sample(p, &(struct fz_sample){ .stack = FZ_NONE }, &half);
	assert_int_equal(fz_profile_check(p, &err), FZ_ELIMIT);
	fz_auto(fz_profile_freep) struct fz_profile *q = fz_profile_new();
	fz_profile_add_metric(q, FZ_STR("x"), FZ_STR("count"), INT64_MAX / 4, false);
	fz_profile_thread(q, &(struct fz_thread){ 0 });
	fz_profile_add_sample(q, &(struct fz_sample){ .stack = FZ_NONE, .count = 5 }, NULL);
	assert_int_equal(fz_profile_check(q, &err), FZ_ELIMIT);
}

static void test_facts(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();

	(void)state;
	fz_profile_set_fact(p, "host", FZ_STR("a"));
	fz_profile_set_fact(p, "cpu", FZ_STR("b"));
	fz_profile_set_fact(p, "host", FZ_STR("c"));
	assert_string_equal(fz_profile_fact(p, "host").p, "c");
	fz_profile_set_fact(p, "host", FZ_STR(""));
	assert_int_equal(fz_profile_fact(p, "host").n, 0);
	assert_string_equal(fz_profile_fact(p, "cpu").p, "b");
	assert_int_equal(p->fact_count, 1);
}

static void test_optional_columns(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();

	(void)state;
	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 10, false);
	fz_profile_thread(p, &(struct fz_thread){ 0 });
	fz_profile_add_sample(p, &(struct fz_sample){ .stack = FZ_NONE }, NULL);
	assert_null(p->samples.count);
	fz_profile_add_sample(p, &(struct fz_sample){ .stack = FZ_NONE, .count = 3, .run = 1 },
			      NULL);
	for (int i = 0; i < 3000; i++)
		fz_profile_add_sample(p, &(struct fz_sample){ .stack = FZ_NONE }, NULL);
	assert_int_equal(fz_profile_sample_total(p), 3004);
	assert_int_equal(p->samples.run[0], 0);
	assert_int_equal(p->samples.run[1], 1);
	assert_int_equal(p->samples.run[3001], 0);
	assert_int_equal(fz_sample_weight(p, 0, 1), 30);
}

/* ---- merge and filter ---- */

static struct fz_profile *small(const char *name, int64_t each, int samples)
{
	struct fz_profile *p = fz_profile_new();

	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), each, false);
	fz_profile_thread(p, &(struct fz_thread){ .pid = 1, .tid = 1 });
	fz_profile_thread(p, &(struct fz_thread){ .pid = 1, .tid = 2 });
	uint32_t root = fz_profile_stack(p, FZ_NONE, frame_of(p, "main"));
	uint32_t leaf = fz_profile_stack(p, root, frame_of(p, name));
	for (int i = 0; i < samples; i++)
		fz_profile_add_sample(p,
				      &(struct fz_sample){ .thread = (uint32_t)i % 2,
							   .stack = i % 3 ? leaf : root,
							   .time = i * 100,
							   .status = (uint8_t)(i % 2) },
				      NULL);
	p->recording.interval_ns = each;
	p->recording.duration_ns = 100 * samples;
	p->recording.complete = true;
	p->quality = (struct fz_quality){ .known = true, .taken = (uint64_t)samples };
	fz_profile_add_run(p, &(struct fz_run){ .duration_ns = 100 * samples });
	fz_profile_set_fact(p, "host", FZ_STR("h"));
	fz_profile_set_fact(p, "command", fz_str_of(name));
	return p;
}

static void test_merge(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *all = fz_profile_new();
	fz_auto(fz_profile_freep) struct fz_profile *a = small("f", 100, 9);
	fz_auto(fz_profile_freep) struct fz_profile *b = small("g", 100, 6);
	fz_auto(fz_profile_freep) struct fz_profile *c = small("f", 50, 4);
	struct fz_error err;

	(void)state;
	assert_int_equal(fz_profile_merge(all, a, &err), 0);
	assert_int_equal(fz_profile_merge(all, b, &err), 0);
	assert_int_equal(all->samples.n, 15);
	assert_int_equal(all->run_count, 2);
	assert_int_equal(all->samples.run[8], 0);
	assert_int_equal(all->samples.run[9], 1);
	assert_int_equal(all->thread_count, 2);
	assert_int_equal(all->function_count, 3);
	assert_int_equal(all->recording.duration_ns, 1500);
	assert_int_equal(all->quality.taken, 15);
	assert_string_equal(fz_profile_fact(all, "host").p, "h");
	assert_int_equal(fz_profile_fact(all, "command").n, 0);
	assert_null(all->metrics[0].column);
	/* another interval: each row must now know its weight */
	assert_int_equal(fz_profile_merge(all, c, &err), 0);
	assert_int_equal(all->run_count, 3);
	assert_non_null(all->metrics[0].column);
	assert_int_equal(fz_sample_weight(all, 0, 14), 100);
	assert_int_equal(fz_sample_weight(all, 0, 15), 50);
	assert_int_equal(all->recording.interval_ns, 0);
	/* the last row of c is a root of main */
	assert_int_equal(all->stacks[all->samples.stack[18]].depth, 1);
	assert_int_equal(all->samples.time[18], 300);
}

/* Sets of recordings, each of several runs: runs are numbered on, and keep what is known of each.
 */
static void test_merge_runs(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *two = fz_profile_new();
	fz_auto(fz_profile_freep) struct fz_profile *all = fz_profile_new();
	const char *names[] = { "f", "g" };
	struct fz_error err;

	(void)state;
	for (int i = 0; i < 2; i++) {
		fz_auto(fz_profile_freep) struct fz_profile *one = small(names[i], 100, 5 + i);
		one->runs[0].start_unix_ns = 1000 + i;
		one->recording.complete = true;
		assert_int_equal(fz_profile_merge(two, one, &err), 0);
	}
	for (int i = 0; i < 2; i++)
		assert_int_equal(fz_profile_merge(all, two, &err), 0);
	assert_int_equal(all->run_count, 4);
	assert_int_equal(all->samples.n, 22);
	static const int first[] = { 0, 5, 11, 16 };
	for (int run = 0; run < 4; run++) {
		assert_int_equal(all->samples.run[first[run]], run);
		assert_int_equal(all->samples.time[first[run]], two->samples.time[0]);
		assert_int_equal(all->runs[run].start_unix_ns, 1000 + run % 2);
	}
	assert_true(all->recording.complete);
	assert_ptr_not_equal(all->runs, two->runs);
	/* one that was cut short makes the set incomplete */
	two->recording.complete = false;
	assert_int_equal(fz_profile_merge(all, two, &err), 0);
	assert_false(all->recording.complete);
	assert_int_equal(all->run_count, 6);
}

/* The main thread has another number in every run, but a profile has only one main thread. */
static void test_merge_main(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *all = fz_profile_new();

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
		fz_profile_add_metric(p, FZ_STR("cpu"), FZ_STR("ns"), 1, false);
		for (uint32_t k = 0; k < 2; k++) {
			struct fz_thread t = { .pid = 10 + i, .tid = 20 + 2 * i + k };
			t.is_main = k == 1;
			uint32_t thread = fz_profile_thread(p, &t);
			fz_profile_add_sample(
				p, &(struct fz_sample){ .thread = thread, .stack = FZ_NONE }, NULL);
		}
		assert_int_equal(fz_profile_merge(all, p, NULL), 0);
	}
	assert_int_equal(all->thread_count, 4);
	assert_int_equal(all->samples.thread[3], all->samples.thread[1]);
	assert_int_equal(all->samples.thread[5], all->samples.thread[1]);
	assert_int_not_equal(all->samples.thread[4], all->samples.thread[2]);
}

static void test_merge_mismatch(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *a = small("f", 100, 9);
	fz_auto(fz_profile_freep) struct fz_profile *b = fz_profile_new();
	struct fz_error err;

	(void)state;
	fz_profile_add_metric(b, FZ_STR("bytes"), FZ_STR("bytes"), 1, false);
	assert_int_equal(fz_profile_merge(a, b, &err), FZ_EINPUT);
	assert_int_equal(a->samples.n, 9);
	assert_int_equal(a->run_count, 1);
}

static void test_filter(void **state)
{
	static const bool second[] = { false, true };
	struct fz_filter f = FZ_FILTER_DEFAULTS;

	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *p = small("f", 100, 12);
	assert_int_equal(fz_profile_filter(p, &f), 12);
	f.threads = second;
	assert_int_equal(fz_profile_filter(p, &f), 6);
	for (size_t row = 0; row < p->samples.n; row++)
		assert_int_equal(p->samples.thread[row], 1);
	assert_int_equal(p->samples.time[5], 1100);
	f = FZ_FILTER_DEFAULTS;
	f.from_ns = 300;
	f.to_ns = 900;
	assert_int_equal(fz_profile_filter(p, &f), 3); /* 300, 500, 700 */
	regex_t name, file;
	assert_int_equal(regcomp(&name, "^f$", REG_EXTENDED), 0);
	assert_int_equal(regcomp(&file, "a[.]p", REG_EXTENDED), 0);
	fz_auto(fz_free_ptr) bool *leaf = fz_filter_functions(p, &name);
	fz_auto(fz_free_ptr) bool *any = fz_filter_functions(p, &file);
	regfree(&name);
	regfree(&file);
	assert_true(any[0] && any[1]);
	f = FZ_FILTER_DEFAULTS;
	f.functions = leaf;
	assert_int_equal(fz_profile_filter(p, &f), 2); /* not 300: that is main alone */
	f = FZ_FILTER_DEFAULTS;
	f.hidden = any;
	assert_int_equal(fz_profile_filter(p, &f), 0);
}

static void test_unreadable(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = small("f", 100, 12);
	uint32_t lost = fz_profile_frame_named(p, FZ_STR("[unreadable]"), FZ_STR(""), FZ_NO_LINE,
					       FZ_KIND_MARKER);
	uint32_t named = fz_profile_frame_named(p, FZ_STR("[unreadable]"), FZ_STR("a.py"), 1,
						FZ_KIND_PYTHON);
	uint32_t stacks[] = { fz_profile_stack(p, p->samples.stack[0], lost),
			      fz_profile_stack(p, FZ_NONE, named) };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct fz_sample s = { .stack = stacks[i], .time = 5000 + i };
		fz_profile_add_sample(p, &s, NULL);
	}
	fz_profile_drop_unreadable(p);
	assert_int_equal(p->samples.n, 13);
	assert_int_equal(p->samples.stack[12], stacks[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interning),        cmocka_unit_test(test_identity),
		cmocka_unit_test(test_stacks),           cmocka_unit_test(test_keep_used),
		cmocka_unit_test(test_threads),          cmocka_unit_test(test_limits),
		cmocka_unit_test(test_magnitude),        cmocka_unit_test(test_facts),
		cmocka_unit_test(test_optional_columns), cmocka_unit_test(test_merge_main),
		cmocka_unit_test(test_merge_runs),       cmocka_unit_test(test_merge),
		cmocka_unit_test(test_merge_mismatch),   cmocka_unit_test(test_filter),
		cmocka_unit_test(test_unreadable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
