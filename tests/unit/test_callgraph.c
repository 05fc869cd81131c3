/* SPDX-License-Identifier: MIT */
/* Recorded call graphs: functions have the recorded totals as long as the profile covers everything
 * that was recorded. */
#include "format_help.h"

#include "profile/callgraph.h"
#include "profile/filter.h"
#include "profile/fold.h"
#include "profile/merge.h"
#include "profile/per_run.h"
#include "profile/tree.h"

/* A cycle: b calls a again, which a tree of the graph leaves out. */
static const char text[] = "events: Ir\nfn=main\n1 10\ncfn=a\ncalls=1 1\n2 100\n"
			   "fn=a\n5 40\ncfn=b\ncalls=3 1\n6 90\n"
			   "fn=b\n8 60\ncfn=a\ncalls=2 1\n9 50\n";

static struct fz_profile *load(const char *bytes, size_t n)
{
	struct fz_profile *p = NULL;
	struct fz_error err;

	if (load_bytes(bytes, n, "file", &p, &err))
		fail_msg("%s", err.message);
	return p;
}

static struct fz_profile *load_graph(void)
{
	return load(text, sizeof(text) - 1);
}

static int64_t total(const struct fz_profile *p, const char *name)
{
	fz_auto(fz_tree_freep) struct fz_tree *t = fz_tree_new(p, &FZ_TREE_DEFAULTS);
	fz_auto(fz_free_ptr) int64_t *self = NULL;
	fz_auto(fz_free_ptr) int64_t *all = NULL;

	fz_tree_function_costs(t, &self, &all);
	for (uint32_t f = 0; f < p->function_count; f++)
		if (fz_str_eq(fz_profile_text(p, p->functions[f].name), fz_str_of(name)))
			return all[f];
	fail_msg("no function %s", name);
	return 0;
}

static void test_totals(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_graph();

	(void)state;
	assert_true(p->recording.reconstructed);
	assert_true(fz_callgraph_states(p, 0));
	assert_int_equal(total(p, "main"), 110);
	assert_int_equal(total(p, "b"), 90);
	assert_in_range(total(p, "a"), 100, 110);
	assert_int_equal(fz_profile_count(p), 1 + 3 + 2);
	assert_string_equal(fz_profile_counted(p), "call");
	/* Without the graph the tree is all there is. */
	fz_profile_drop_callgraph(p);
	assert_int_equal(total(p, "b"), 60);
}

/* A part, or stacks that were turned, are not what was recorded. */
static void test_dropped(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *part = load_graph();
	fz_auto(fz_profile_freep) struct fz_profile *turned = load_graph();
	fz_auto(fz_free_ptr) bool *hidden = fz_calloc(part->function_count, sizeof(*hidden));
	struct fz_filter filter = FZ_FILTER_DEFAULTS;
	struct fz_error err;

	(void)state;
	fz_profile_filter(part, &filter);
	assert_non_null(part->callgraph);
	hidden[0] = true;
	filter.hidden = hidden;
	fz_profile_filter(part, &filter);
	assert_null(part->callgraph);
	assert_int_equal(fz_profile_invert(turned, &err), 0);
	assert_null(turned->callgraph);
}

static void test_merged(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *sum = fz_profile_new();
	fz_auto(fz_profile_freep) struct fz_profile *p = load_graph();
	fz_auto(fz_profile_freep) struct fz_profile *bare = load_graph();
	struct fz_error err;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(fz_profile_merge(sum, p, &err), 0);
	assert_int_equal(total(sum, "b"), 270);
	assert_int_equal(fz_profile_count(sum), 3 * 6);
	fz_profile_per_run(sum);
	assert_int_equal(total(sum, "b"), 90);
	assert_int_equal(total(sum, "main"), 110);
	fz_profile_drop_callgraph(bare);
	assert_int_equal(fz_profile_merge(sum, bare, &err), 0);
	assert_null(sum->callgraph);
}

/* One run of several has no total of its own. */
static void test_one_run(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *sum = fz_profile_new();
	fz_auto(fz_profile_freep) struct fz_profile *p = load_graph();
	struct fz_tree_options o = FZ_TREE_DEFAULTS;
	fz_auto(fz_free_ptr) int64_t *self = NULL;
	fz_auto(fz_free_ptr) int64_t *all = NULL;
	struct fz_error err;

	(void)state;
	assert_int_equal(fz_profile_merge(sum, p, &err), 0);
	assert_int_equal(fz_profile_merge(sum, p, &err), 0);
	o.run = 1;
	fz_auto(fz_tree_freep) struct fz_tree *t = fz_tree_new(sum, &o);
	fz_tree_function_costs(t, &self, &all);
	for (uint32_t f = 0; f < sum->function_count; f++)
		assert_true(all[f] <= 110);
}

/* A recursion's levels and contexts are one function; the cost of its recursive calls counts once.
 */
static void test_variants(void **state)
{
	static const char named[] =
		"# callgrind format\nversion: 1\ncreator: callgrind-3.24.0\nevents: Ir\n"
		"fn=main\n1 5\ncfn=f'main\ncalls=1 1\n2 95\n"
		"fn=f'main\n3 10\ncfn=f'2'f'main\ncalls=1 1\n4 60\ncfn=g'f'main\ncalls=1 1\n5 25\n"
		"fn=f'2'f'main\n3 60\nfn=g'f'main\n9 25\n";
	fz_auto(fz_profile_freep) struct fz_profile *p = load(named, sizeof(named) - 1);

	(void)state;
	assert_int_equal(total(p, "f"), 95);
	assert_int_equal(total(p, "g"), 25);
	for (uint32_t f = 0; f < p->function_count; f++)
		assert_null(memchr(p->strings[p->functions[f].name].p, '\'',
				   p->strings[p->functions[f].name].n));
}

/* Marks of lifetimes and lambdas are not those of callers. */
static void test_marks_in_names(void **state)
{
	static const char named[] = "# callgrind format\ncreator: callgrind-3.24.0\nevents: Ir\n"
				    "fn=run<&'a str>\n1 5\nfn=g()::'lambda'(int)\n2 6\n";
	fz_auto(fz_profile_freep) struct fz_profile *p = load(named, sizeof(named) - 1);

	(void)state;
	assert_int_equal(total(p, "run<&'a str>"), 5);
	assert_int_equal(total(p, "g()::'lambda'(int)"), 6);
}

static void test_sums(void **state)
{
	static const char head[] = "# callgrind format\ncreator: callgrind-3.24.0\nevents: Ir\n"
				   "summary: 12\nfn=f\n1 5\n";
	fz_auto(fz_profile_freep) struct fz_profile *cut = load(head, sizeof(head) - 1);
	fz_auto(fz_free_ptr) char *short_of = fz_asprintf("%stotals: 12\n", head);
	fz_auto(fz_free_ptr) char *whole = fz_asprintf("%s2 6\ntotals: 11\n", head);
	fz_auto(fz_profile_freep) struct fz_profile *less = load(short_of, strlen(short_of));
	fz_auto(fz_profile_freep) struct fz_profile *good = load(whole, strlen(whole));

	(void)state;
	assert_non_null(strstr(fz_profile_fact(cut, "damage").p, "cut short: instructions adds up "
								 "to 5 of the stated 12"));
	assert_non_null(strstr(fz_profile_fact(less, "damage").p, "costs are missing"));
	/* Valgrind's summary is not always the sum of all costs; its totals are. */
	assert_int_equal(fz_profile_fact(good, "damage").n, 0);
}

static void test_recording(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_graph();
	fz_auto(fz_buf_release) struct fz_buf bytes = save_bytes(p, &fz_format_fz);
	fz_auto(fz_profile_freep) struct fz_profile *again = load(bytes.p, bytes.n);
	const struct fz_callgraph *a = p->callgraph, *b = again->callgraph;

	(void)state;
	assert_non_null(b);
	assert_int_equal(total(again, "b"), 90);
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->self_n, b->self_n);
	assert_int_equal(a->call_n, b->call_n);
	for (uint32_t i = 0; i < a->call_n; i++)
		assert_int_equal(a->calls[i].calls, b->calls[i].calls);
}

/* A graph with a gap would give wrong totals, so there are none. Any byte may be the damaged one.
 */
static void test_damaged_recording(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_graph();
	fz_auto(fz_buf_release) struct fz_buf bytes = save_bytes(p, &fz_format_fz);

	(void)state;
	for (size_t at = 16; at < bytes.n; at++) {
		struct fz_profile *again = NULL;
		struct fz_error err;
		bytes.p[at] ^= 0x10;
		if (!load_bytes(bytes.p, bytes.n, "file", &again, &err)) {
			assert_null(again->callgraph);
			fz_profile_free(again);
		}
		bytes.p[at] ^= 0x10;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_totals),
		cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_merged),
		cmocka_unit_test(test_one_run),
		cmocka_unit_test(test_variants),
		cmocka_unit_test(test_marks_in_names),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_recording),
		cmocka_unit_test(test_damaged_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
