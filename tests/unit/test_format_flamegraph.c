/* SPDX-License-Identifier: MIT */
/* Images of flame graphs: bars become stacks again. */
#include "read_format.h"

#define IMAGE(frames) \
	"<?xml version=\"1.0\"?><svg><!--Flame graph stack visualization. -->" frames "</svg>"
/* By inferno: a place in percent, and in samples. */
#define EXACT(title, y, x, w)                                                                     \
	"<g><title>" title "</title><rect x=\"0.0000%\" y=\"" y "\" width=\"9.0%\" height=\"15\"" \
	" fill=\"rgb(1,2,3)\" fg:x=\"" x "\" fg:w=\"" w "\"/><text x=\"1\" y=\"2\">..</text></g>"
/* By flamegraph.pl: a place in pixels. */
#define PIXELS(title, y, x, w)                                                   \
	"<g >\n<title>" title "</title><rect x=\"" x "\" y=\"" y "\" width=\"" w \
	"\" height=\"15.0\""                                                     \
	" fill=\"rgb(1,2,3)\" rx=\"2\" ry=\"2\" />\n<text  x=\"1\" y=\"2\" >..</text>\n</g>\n"

/* py-spy draws the root at the top. One of ten samples in main was in callees that are not drawn.
 */
static void test_inferno(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(IMAGE(
		EXACT("&lt;genexpr&gt; (b.py:3) (1,200 samples, 85.71%)", "84", "100", "1200")
			EXACT("all (1,400 samples, 100%)", "52", "0", "1400")
				EXACT("main (a.py:7) (1,390 samples, 99.29%)", "68", "0", "1390")
					EXACT("a;b (90 samples, 6.43%)", "84", "1300", "90")));

	(void)state;
	assert_string_equal(p->metrics[0].name, "samples");
	assert_int_equal(sum_of(p, 0), 1400);
	assert_int_equal(cost(p, NULL, "<genexpr>", false), 1200);
	assert_int_equal(cost(p, NULL, "main", false), 100);
	assert_int_equal(cost(p, NULL, "main", true), 1390);
	assert_int_equal(cost(p, NULL, "a;b", false), 90);
	assert_int_equal(cost(p, NULL, "[not drawn]", false), 10);
}

/* Callees touch where their callers do; two functions of one name are below each other. */
static void test_flamegraph_pl(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(IMAGE(
		PIXELS("f (30 us, 30.00%; +1.00%)", "5.0", "10.0",
		       "30.0") PIXELS("g (10 us, 10.00%)", "5.0", "40.0",
				      "10.0") PIXELS("k (55 us, 55.00%)", "5.0", "50.0", "55.0")
			PIXELS("f (40 us, 40.00%)", "21.0", "10.0", "40.0")
				PIXELS("h (60 us, 60.00%)", "21.0", "50.0", "60.0")
					PIXELS("all (100 us, 100%)", "37.0", "10.0", "100.0")));

	(void)state;
	assert_string_equal(p->metrics[0].unit, "ns");
	assert_int_equal(sum_of(p, 0), 100000);
	assert_int_equal(cost(p, NULL, "f", false), 30000);
	assert_int_equal(cost(p, NULL, "f", true), 40000);
	assert_int_equal(cost(p, NULL, "g", false), 10000);
	assert_int_equal(cost(p, NULL, "h", false), 5000);
	assert_int_equal(cost(p, NULL, "h", true), 60000);
}

static void test_factor_and_titles(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(IMAGE(EXACT(
		"main &amp; co", "5", "0", "3") EXACT("all (10 samples, 100%)", "21", "0", "4")));

	(void)state;
	/* In millionths, because 7.5 and 2.5 are not whole samples. */
	assert_int_equal(sum_of(p, 0), 10000000);
	assert_int_equal(cost(p, NULL, "main & co", false), 7500000);
}

static void test_errors(void **state)
{
	(void)state;
	expect_error(IMAGE(""), "no frame 'all'");
	expect_error(IMAGE(EXACT("all (4 samples, 100%)", "5", "0", "4")
				   EXACT("a (4 samples, 100%)", "5", "9", "4")),
		     "no frame 'all'");
	expect_error(IMAGE(EXACT("all (4 samples, 100%)", "5", "0", "4")
				   EXACT("f (2 samples, 50%)", "21", "8", "2")),
		     "a frame has no caller");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inferno),
		cmocka_unit_test(test_flamegraph_pl),
		cmocka_unit_test(test_factor_and_titles),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
