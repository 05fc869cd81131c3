/* SPDX-License-Identifier: MIT */
/* Flame graph pages of CPython's sampling profiler. */
#include "read_format.h"

#define PAGE(json)                                                                         \
	"<!doctype html>\n<title>Tachyon Profiler - Flamegraph Report</title>\n<script>\n" \
	"const EMBEDDED_DATA = " json ";\n// more\nlet x = {};\n</script>"
#define STRINGS                                                                     \
	"\"strings\":[\"a.py\",\"main\",\"~\",\"<GC>\",\"work\",\"Program Root\"]," \
	"\"stats\":{\"sample_interval_usec\":500,\"mode\":1,\"duration_sec\":2.5}"

/* Two threads; two samples of the second one are in nodes that the page lacks. */
static void test_threads(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(
		PAGE("{\"name\":5,\"value\":30,\"thread_values\":{\"7\":[10,0],\"8\":[20,0]},"
		     "\"children\":["
		     "{\"filename\":0,\"funcname\":1,\"lineno\":3,\"thread_values\":{\"7\":[10,4],"
		     "\"8\":[20,15]},"
		     "\"children\":[{\"filename\":2,\"funcname\":3,\"lineno\":0,\"thread_values\":"
		     "{\"7\":[6,6],\"8\":[3,3]},\"children\":[]}]}]," STRINGS "}"));

	(void)state;
	assert_string_equal(p->metrics[0].name, "cpu");
	assert_string_equal(p->metrics[0].unit, "ns");
	assert_int_equal(p->recording.interval_ns, 500000);
	assert_int_equal(p->recording.duration_ns, 2500000000);
	assert_int_equal(p->thread_count, 2);
	assert_int_equal(p->threads[0].tid, 7);
	assert_int_equal(fz_profile_sample_total(p), 30);
	assert_int_equal(cost(p, NULL, "main", false), 19 * 500000);
	assert_int_equal(cost(p, NULL, "main", true), 30 * 500000);
	assert_int_equal(cost(p, NULL, "<GC>", false), 9 * 500000);
	assert_int_equal(cost(p, NULL, "[not in the page]", false), 2 * 500000);
}

/* If all stacks begin with one function, that is the root. */
static void test_promoted_root(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(
		PAGE("{\"name\":5,\"filename\":0,\"funcname\":4,\"lineno\":9,\"thread_values\":"
		     "{\"7\":[10,10]},\"children\":[]," STRINGS "}"));

	(void)state;
	assert_int_equal(cost(p, NULL, "work", false), 10 * 500000);
	assert_int_equal(p->frames[p->stacks[0].frame].line, 9);
}

static void test_errors(void **state)
{
	(void)state;
	expect_error(PAGE("{\"children\":[]," STRINGS "}"), "its flame graph is empty");
	expect_error(PAGE("{\"children\":["), "not valid JSON");
	expect_error("<title>Tachyon Profiler - Flamegraph Report</title>", "the page has no data");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_promoted_root),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
