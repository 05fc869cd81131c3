/* SPDX-License-Identifier: MIT */
/* Detecting renamed benchmarks. */
#include "format_help.h"

#include "bench/ci.h"
#include "profile/benchmarks.h"

/* A benchmark that spends that much in one function, and the rest of 1000 in "harness". */
struct part {
	const char *benchmark, *function, *file;
	int64_t cost;
};

static struct fz_profile *counted(const struct part *parts, size_t n)
{
	struct fz_profile *p = fz_profile_new();

	fz_profile_add_run(p, &(struct fz_run){ 0 });
	fz_profile_thread(p, &(struct fz_thread){ .pid = 1, .tid = 1, .is_main = true });
	fz_profile_add_metric(p, FZ_STR("instructions"), FZ_STR("count"), 0, true);
	for (size_t i = 0; i < n && parts[i].benchmark; i++) {
		uint32_t root = fz_benchmark_root(p, fz_str_of(parts[i].benchmark));
		uint32_t harness = fz_profile_stack(p, root,
						    fz_profile_frame_named(p, FZ_STR("<module>"),
									   FZ_STR("/x/bench.py"), 1,
									   FZ_KIND_PYTHON));
		uint32_t stack = fz_profile_stack(
			p, harness,
			fz_profile_frame_named(p, fz_str_of(parts[i].function),
					       fz_str_of(parts[i].file), 10, FZ_KIND_PYTHON));
		int64_t rest = 1000 - parts[i].cost;
		if (rest > 0)
			fz_profile_add_sample(p, &(struct fz_sample){ .stack = harness }, &rest);
		fz_profile_add_sample(p, &(struct fz_sample){ .stack = stack }, &parts[i].cost);
	}
	return p;
}

struct renaming {
	const char *what;
	struct part base[3], head[3];
	const char *was; /* what "new" was; NULL: it is new */
};

static const struct renaming cases[] = {
	{ "the same function under another name of the benchmark",
	  { { "keep", "keep", "/x/a.py", 900 }, { "old", "words", "/x/a.py", 900 } },
	  { { "keep", "keep", "/x/a.py", 900 }, { "new", "words", "/x/a.py", 900 } },
	  "old" },
	{ "it became slower as well",
	  { { "keep", "keep", "/x/a.py", 900 }, { "old", "words", "/x/a.py", 900 } },
	  { { "keep", "keep", "/x/a.py", 900 }, { "new", "words", "/x/a.py", 9000 } },
	  "old" },
	{ "other functions",
	  { { "keep", "keep", "/x/a.py", 900 }, { "old", "words", "/x/a.py", 900 } },
	  { { "keep", "keep", "/x/a.py", 900 }, { "new", "lines", "/x/b.py", 400 } },
	  NULL },
	{ "a function that all of them execute",
	  { { "keep", "turn", "/x/a.py", 900 }, { "old", "turn", "/x/a.py", 900 } },
	  { { "keep", "turn", "/x/a.py", 900 }, { "new", "turn", "/x/a.py", 900 } },
	  NULL },
	{ "a small part of it",
	  { { "keep", "keep", "/x/a.py", 900 }, { "old", "words", "/x/a.py", 700 } },
	  { { "keep", "keep", "/x/a.py", 900 }, { "new", "words", "/x/a.py", 700 } },
	  NULL },
	{ "what is executed once for all",
	  { { "old", "words", "/x/a.py", 100 } },
	  { { "new", "lines", "/x/b.py", 300 } },
	  NULL },
};

static void check(const struct renaming *c)
{
	fz_auto(fz_profile_freep) struct fz_profile *base = counted(c->base, FZ_ARRAY_LEN(c->base));
	fz_auto(fz_profile_freep) struct fz_profile *head = counted(c->head, FZ_ARRAY_LEN(c->head));
	fz_auto(fz_ci_release) struct fz_ci_result r = FZ_CI_RESULT_INIT;
	fz_auto(fz_comparison_freep) struct fz_comparison *found = NULL;
	struct fz_error err;

	r.metrics = (struct fz_ci_metric_list){ { "instructions" }, 1 };
	assert_int_equal(fz_ci_collect(&r, FZ_BASE, base, "all", &err), 0);
	assert_int_equal(fz_ci_collect(&r, FZ_HEAD, head, "all", &err), 0);
	uint32_t before = r.n;
	fz_ci_find_renamed(&r, base, head);
	const struct fz_ci_bench *b = fz_ci_bench_of(&r, FZ_STR("new"), "instructions");
	if (!b->was != !c->was)
		fail_msg("%s: %s", c->what, b->was ? "renamed" : "new");
	assert_int_equal(r.n, before - (c->was ? 1 : 0));
	assert_true(b->on_side[FZ_HEAD] && b->on_side[FZ_BASE] == !!c->was);
	if (!c->was)
		return;
	assert_string_equal(b->was, c->was);
	assert_true(b->count[FZ_BASE] == 1000);
	/* The tree joins both, too. */
	assert_int_equal(fz_ci_diff(&r, base, head, "instructions", &found, &err), 0);
	const struct fz_diff *d = found->diff;
	for (uint32_t root = 0; root < d->node_count; root += d->nodes[root].size)
		for (enum fz_side s = 0; s < FZ_SIDES; s++)
			assert_true(d->nodes[root].cost.total[s] > 0);
}

static void test_renamed(void **state)
{
	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++)
		check(&cases[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_renamed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
