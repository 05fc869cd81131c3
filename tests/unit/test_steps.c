/* SPDX-License-Identifier: MIT */
/* Steps in series of counts: sharp ones, gradual ones, and noisy series. */
#include "stats/steps.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static size_t find(const double *cost, size_t n, struct fz_step *first)
{
	struct fz_step *list;
	size_t count = fz_steps_find(cost, n, 0.02, &list);

	if (count)
		*first = list[0];
	free(list);
	return count;
}

static void test_exact(void **state)
{
	static const double up[] = { 1000, 1001, 1300, 1300 }, down[] = { 1000, 700 };
	static const double same[] = { 1000, 1010, 1000, 1010 }, back[] = { 1000, 2000, 1000 };
	static const double none[] = { 0, 0, 5 };
	struct fz_step s;

	(void)state;
	assert_int_equal(find(up, 4, &s), 1);
	assert_int_equal(s.kind, FZ_STEP_EXACT);
	assert_int_equal(s.at, 2);
	assert_int_equal(s.since, 1);
	assert_true(s.before == 1001 && s.after == 1300);
	assert_int_equal(find(down, 2, &s), 1);
	assert_true(fz_step_change(&s) < -0.29 && fz_step_change(&s) > -0.31);
	assert_int_equal(find(same, 4, &s), 0);
	assert_int_equal(find(back, 3, &s), 2);
	assert_int_equal(find(none, 3, &s), 1);
	assert_true(isinf(fz_step_change(&s)));
	assert_int_equal(find(up, 0, &s), 0);
	assert_int_equal(find(up, 1, &s), 0);
}

static void test_gradual(void **state)
{
	static const double creep[] = { 1000, 1008, 1015, 1022, 1029, 1029 };
	struct fz_step s;

	(void)state;
	assert_int_equal(find(creep, 6, &s), 1);
	assert_int_equal(s.kind, FZ_STEP_GRADUAL);
	assert_int_equal(s.at, 3);
	assert_int_equal(s.since, 0);
}

/* In a series that scatters by 3 %, neighbours often differ by more than the limit. */
static void test_noisy(void **state)
{
	double flat[60], step[60];
	uint32_t seed = 7;
	struct fz_step s;

	(void)state;
	for (size_t i = 0; i < 60; i++) {
		seed = seed * 1664525 + 1013904223;
		flat[i] = 1000 * (1 + 0.06 * (seed >> 8) / (1 << 24));
		step[i] = flat[i] * (i < 33 ? 1 : 1.2);
	}
	assert_int_equal(find(flat, 60, &s), 0);
	assert_int_equal(find(step, 60, &s), 1);
	assert_int_equal(s.kind, FZ_STEP_NOISY);
	assert_true(s.at >= 32 && s.at <= 34);
	assert_true(fabs(fz_step_change(&s) - 0.2) < 0.02);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_gradual),
		cmocka_unit_test(test_noisy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
