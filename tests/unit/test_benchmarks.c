/* SPDX-License-Identifier: MIT */
/* Benchmarks of a recording: trees, rounds and failures, as in docs/benchmarks.md. */
#include "format_help.h"

#include "profile/benchmarks.h"

static void add_row(struct fz_profile *p, uint32_t stack, int64_t instructions, int64_t wall)
{
	struct fz_sample s = { .stack = stack };

	fz_profile_add_sample(p, &s, (int64_t[]){ instructions, wall });
}

static struct fz_profile *example(void)
{
	struct fz_profile *p = fz_profile_new();

	fz_profile_add_run(p, &(struct fz_run){ 0 });
	fz_profile_thread(p, &(struct fz_thread){ .pid = 1, .tid = 1, .is_main = true });
	fz_profile_add_metric(p, FZ_STR("instructions"), FZ_STR("count"), 0, true);
	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	uint32_t parse = fz_benchmark_root(p, FZ_STR("parse"));
	uint32_t print = fz_benchmark_root(p, FZ_STR("print"));
	uint32_t body = fz_profile_frame_named(p, FZ_STR("body"), FZ_STR("a.c"), 1, FZ_KIND_NATIVE);
	add_row(p, fz_profile_stack(p, parse, body), 100, 0);
	add_row(p, parse, 7, 0);
	add_row(p, fz_profile_stack(p, print, body), 30, 0);
	add_row(p, fz_profile_stack(p, FZ_NONE, body), 5000, 0);
	add_row(p, parse, 0, 40);
	add_row(p, parse, 0, 20);
	return p;
}

static void test_read(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = example();
	fz_auto(fz_benchmarks_release) struct fz_benchmarks b;

	(void)state;
	assert_false(fz_benchmarks_any(p));
	fz_profile_set_fact(p, "bench", FZ_STR("both"));
	assert_true(fz_benchmarks_any(p));
	fz_benchmarks_read(p, &b);
	assert_int_equal(b.n, 2);
	assert_true(fz_str_eq(b.list[0].name, FZ_STR("parse")));
	assert_int_equal(b.list[0].total[0], 107);
	assert_int_equal(b.list[0].round_n, 2);
	assert_true(b.list[0].rounds[0] == 40 && b.list[0].rounds[1] == 20);
	assert_int_equal(b.list[1].total[0], 30);
	assert_int_equal(b.list[1].round_n, 0);
	assert_null(fz_benchmarks_find(&b, FZ_STR("body")));
}

static void test_trouble(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = example();
	fz_auto(fz_benchmarks_release) struct fz_benchmarks b;

	(void)state;
	fz_benchmark_add_trouble(p, FZ_STR("print"), "failed: it could not");
	fz_benchmark_add_trouble(p, FZ_STR("odd\tname"), "was never stopped");
	fz_benchmark_add_trouble(p, FZ_STR("print"), "a second one");
	fz_benchmarks_read(p, &b);
	assert_int_equal(b.n, 3);
	assert_true(fz_str_eq(b.list[1].trouble, FZ_STR("failed: it could not")));
	assert_int_equal(b.list[1].total[0], 30);
	assert_true(fz_str_eq(b.list[2].name, FZ_STR("odd name")));
	assert_int_equal(b.list[2].stack, FZ_NONE);
	assert_int_equal(b.list[0].trouble.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_trouble),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
