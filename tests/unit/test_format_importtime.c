/* SPDX-License-Identifier: MIT */
/* What CPython prints with -X importtime. */
#include "read_format.h"

#define TITLE "import time: self [us] | cumulative | imported package\n"

static void test_tree(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p =
		load_text("a line of the program\n" TITLE
			  "import time:        30 |         30 |     json.scanner\n"
			  "import time: cached    | cached     |     codecs\n"
			  "more of it\n"
			  "import time:        20 |         50 |   json.decoder\n"
			  "import time:         5 |          5 |   json.encoder\n"
			  "import time:        10 |         65 | json\n"
			  "import time:         7 |          7 | re\n");

	(void)state;
	assert_string_equal(p->metrics[0].unit, "ns");
	assert_int_equal(sum_of(p, 0), 72000);
	assert_int_equal(cost(p, NULL, "json", false), 10000);
	assert_int_equal(cost(p, NULL, "json", true), 65000);
	assert_int_equal(cost(p, NULL, "json.decoder", true), 50000);
	assert_int_equal(cost(p, NULL, "json.scanner", true), 30000);
	assert_int_equal(cost(p, NULL, "re", true), 7000);
	assert_non_null(fz_profile_fact(p, "samples.made").p);
}

/* Whatever the indentation, a module has a parent. */
static void test_hostile(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(
		TITLE "import time:  1 |  1 |                         deep\nimport time: 2 | 2 |x\n"
		      "import time: 99999999999999999999 | 1 | y\nimport time: 1 | 1 |\n");

	(void)state;
	assert_int_equal(sum_of(p, 0), 3000);
	assert_int_equal(cost(p, NULL, "x", true), 3000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
