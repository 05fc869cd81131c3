/* SPDX-License-Identifier: MIT */
/* Flame graph pages of async-profiler. */
#include "read_format.h"

#define PAGE(units, frames)                                                               \
	"<!DOCTYPE html>\n<h1>CPU profile</h1>\n<script>\n\tconst units = '" units "';\n" \
	"const cpool = [\n'all',\n' Main.main',\n'%parse',\n'%it\\'s',\n' "               \
	"read',\n' a12345b',\n'\\'c'\n];\nunpack(cpool);\n\n" frames "\n</script>\n"

/* Main.main has parse (twice in a row of its own) and it's; read, of the kernel, is above both. */
static void test_frames(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(PAGE(
		"samples", "n(3,100)\nu(9,90)\nd=U\nu(17,50)\nu(37,20)\nn(17,30)\nf(25,2,30,40)\n"
			   "u(37,15,0,3,4)\nf(37,1,55,8)\nf(49,1,0,2)\n"));

	(void)state;
	assert_string_equal(p->metrics[0].name, "samples");
	assert_int_equal(sum_of(p, 0), 100);
	assert_int_equal(cost(p, NULL, "Main.main", true), 90);
	assert_int_equal(cost(p, NULL, "Main.main", false), 0);
	assert_int_equal(cost(p, NULL, "Main.parse", true), 50);
	assert_int_equal(cost(p, NULL, "Main.parse", false), 30);
	assert_int_equal(cost(p, NULL, "Main.it's", false), 25);
	assert_int_equal(cost(p, NULL, "read", false), 43);
	/* Its prefix of seven characters is an escaped quotation mark. */
	assert_int_equal(cost(p, NULL, "a12345bc", false), 2);
	for (uint32_t i = 0; i < p->function_count; i++)
		if (fz_str_eq(fz_profile_text(p, p->functions[i].name), FZ_STR("read")))
			assert_int_equal(p->functions[i].kind, FZ_KIND_KERNEL);
}

static void test_units(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p =
		load_text(PAGE("ns", "n(3,100)\nu(9,60)\n"));

	(void)state;
	assert_string_equal(p->metrics[0].unit, "ns");
	assert_int_equal(cost(p, NULL, "Main.main", false), 60);
	assert_int_equal(cost(p, NULL, "[not drawn]", false), 40);
}

static void test_errors(void **state)
{
	(void)state;
	expect_error(PAGE("samples", ""), "the page has no frames");
	expect_error(PAGE("samples", "n(3,100)\nf(9,2,0,1)\n"), "a frame is misplaced");
	expect_error(PAGE("samples", "n(3,100)\nu(99,1)\n"), "a frame is misplaced");
	expect_error(PAGE("samples", "n(3,100)\nn(3,100)\n"), "a frame is misplaced");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
