/* SPDX-License-Identifier: MIT */
/* Hand-made flame graphs of Pyroscope: rows of bars become stacks. */
#include "read_format.h"

#define GRAPH(levels, metadata)                                                             \
	"{\"version\":1,\"flamebearer\":{\"names\":[\"total\",\"main\",\"parse (a.go:3)\"," \
	"\"draw\"],\"levels\":[" levels "],\"numTicks\":10},\"metadata\":{" metadata "}}"

/* draw lies below the second main, behind a gap that is the first one's own. */
static void test_tree(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p =
		load_text(GRAPH("[0,10,1,0],[0,4,2,1,0,5,0,3],[0,2,2,2,2,5,5,1]",
				"\"format\":\"single\",\"units\":\"samples\",\"sampleRate\":100"));

	(void)state;
	assert_string_equal(p->metrics[0].name, "samples");
	assert_int_equal(p->recording.interval_ns, 10000000);
	assert_int_equal(sum_of(p, 0), 10);
	assert_int_equal(fz_profile_sample_total(p), 10);
	assert_int_equal(cost(p, NULL, "main", false), 7);
	assert_int_equal(cost(p, NULL, "main", true), 9);
	assert_int_equal(cost(p, NULL, "parse", false), 2);
	assert_int_equal(cost(p, NULL, "draw", false), 0);
	assert_int_equal(cost(p, NULL, "draw", true), 5);
	assert_int_equal(cost(p, NULL, "total", true), 0);
}

static void test_units(void **state)
{
	static const struct {
		const char *text, *name, *unit;
	} told[] = {
		{ GRAPH("[0,10,10,0]", "\"units\":\"bytes\""), "bytes", "bytes" },
		{ GRAPH("[0,10,10,0]", "\"units\":\"objects\""), "objects", "count" },
		{ GRAPH("[0,10,10,0]", "\"units\":\"lock_nanoseconds\""), "lock", "ns" },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(told); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = load_text(told[i].text);
		assert_string_equal(p->metrics[0].name, told[i].name);
		assert_string_equal(p->metrics[0].unit, told[i].unit);
		assert_int_equal(sum_of(p, 0), 10);
	}
}

static void test_errors(void **state)
{
	(void)state;
	expect_error(GRAPH("[0,10,0,0],[9,4,4,1]", ""), "has no parent");
	expect_error(GRAPH("[0,10,11,0]", ""), "damaged");
	expect_error(GRAPH("", ""), "is empty");
	expect_error(GRAPH("[0,10,10,0]", "\"format\":\"double\""), "fizeau diff");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
