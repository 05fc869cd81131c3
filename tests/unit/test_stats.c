/* SPDX-License-Identifier: MIT */
/* The statistics on inputs small enough to work out by hand, and general properties. The numbers
 * here come from scipy, too; tests/live/test_statistics.py compares with it at length. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "close.h"
#include "stats/bh.h"
#include "stats/changepoint.h"
#include "stats/distribution.h"
#include "stats/jitter.h"
#include "stats/order.h"
#include "stats/power.h"
#include "stats/verdict.h"
#include "stats/visit.h"

static void test_distributions(void **state)
{
	(void)state;
	assert_close(fz_normal_two_sided(0.5), 0.6170750774519738, 1e-13);
	assert_close(fz_normal_two_sided(-5), 5.733031437583866e-07, 1e-13);
	assert_close(fz_normal_two_sided(37), 1.1451142445047853e-299, 1e-12);
	assert_close(fz_normal_quantile(1e-300), -37.0470962993612, 1e-12);
	assert_close(fz_normal_quantile(0.025), -1.9599639845400545, 1e-12);
	assert_close(fz_normal_quantile(0.8), 0.8416212335729143, 1e-12);
	assert_true(fz_normal_quantile(0.5) == 0);
	assert_close(fz_t_two_sided(0.1, 1), 0.9365489651388929, 1e-12);
	assert_close(fz_t_two_sided(-2.5, 3), 0.08770664700806555, 1e-12);
	assert_close(fz_t_two_sided(12, 12), 4.835928486645681e-08, 1e-12);
	assert_close(fz_t_two_sided(1.3, 1e4), 0.19363093218226868, 1e-10);
	assert_close(fz_t_two_sided(2, INFINITY), fz_normal_two_sided(2), 1e-15);
	assert_true(fz_t_two_sided(0, 5) == 1);
	assert_true(fz_t_two_sided(INFINITY, 5) == 0);
	assert_close(fz_t_critical(0.05, 9), 2.262157162740992, 1e-10);
	assert_close(fz_t_critical(0.05, INFINITY), 1.9599639845400545, 1e-12);
	assert_close(fz_t_critical(1e-12, 2), 999999.9999992499, 1e-10);
}

static void test_medians(void **state)
{
	double odd[] = { 3, -1, 2 }, even[] = { 4, 1, 1, 3 }, same[] = { 5, 5, 5, 5, 5, 5 };
	struct fz_weighted heavy[] = { { 3, 1 }, { 1, 1 }, { 2, 5 } };
	struct fz_weighted halves[] = { { 2, 3 }, { 0, 1 }, { 1, 2 } };

	(void)state;
	assert_true(fz_median(odd, 3) == 2);
	assert_true(fz_median(even, 4) == 2);
	assert_true(fz_median(same, 6) == 5);
	assert_true(isnan(fz_median(odd, 0)));
	assert_true(fz_weighted_median(heavy, 3) == 2);
	assert_true(fz_weighted_median(halves, 3) == 1.5);
	assert_true(isnan(fz_weighted_median(heavy, 0)));
}

static void test_verdicts(void **state)
{
	(void)state;
	assert_int_equal(fz_verdict_of(-1, 1.5, false, 2), FZ_VERDICT_UNCHANGED);
	assert_int_equal(fz_verdict_of(1, 3, true, 2), FZ_VERDICT_CHANGED);
	assert_int_equal(fz_verdict_of(-3, -1, true, 2), FZ_VERDICT_CHANGED);
	assert_int_equal(fz_verdict_of(-1, 3, false, 2), FZ_VERDICT_UNKNOWN);
	assert_int_equal(fz_verdict_of(NAN, NAN, false, 2), FZ_VERDICT_UNKNOWN);
	assert_string_equal(fz_verdict_names[FZ_VERDICT_UNKNOWN], "unknown");
}

/* The example of Benjamini and Hochberg's paper: 4 of 15 are rejected. */
static void test_many_tests(void **state)
{
	static const double p[] = { 0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
				    0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.000,  NAN };
	static const double paths[] = { 0.0001, 0.5, 0.02, 0.03, 0.0001 };
	static const size_t start[] = { 0, 2, 4, 5 };
	static const bool selected[] = { true, true, false };
	bool rejected[16];

	(void)state;
	assert_int_equal(fz_bh(p, 16, 0.05, rejected), 4);
	assert_true(rejected[3]);
	assert_false(rejected[4]);
	assert_false(rejected[15]);
	assert_int_equal(fz_bh(p + 15, 1, 0.05, rejected), 0);
	/* Level 0.05 * 2/3 = 0.033: both of {0.02, 0.03} pass, as 0.03 <= 0.033 * 2/2. */
	assert_int_equal(fz_bh_inside(paths, start, selected, 3, 3, 0.05, rejected), 3);
	assert_true(rejected[0] && !rejected[1] && rejected[2] && rejected[3] && !rejected[4]);
	/* Level 0.05 * 2/4 = 0.025: 0.02 > 0.0125 and 0.03 > 0.025. */
	assert_int_equal(fz_bh_inside(paths, start, selected, 3, 4, 0.05, rejected), 1);
}

/* One costly function among nine cheap ones: without weights its p would have to be 0.005. */
static void test_weights(void **state)
{
	static const double cost[] = { 910, 10, 10, 10, 10, 10, 10, 10, 10, 10, 5000 };
	double p[] = { 0.02, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.9, 0.3, 0.02, NAN };
	double weight[11], none[11] = { 0 }, sum = 0;
	bool rejected[11];

	(void)state;
	fz_bh_weigh(p, cost, 11, weight);
	for (int i = 0; i < 10; i++)
		sum += weight[i];
	assert_true(fabs(sum - 10) < 1e-9);
	assert_true(fabs(weight[0] - (0.1 + 0.9 * 9.1)) < 1e-9);
	assert_true(weight[1] >= 0.1 && weight[10] == 1);
	assert_int_equal(fz_bh(p, 11, 0.05, rejected), 0);
	for (int i = 0; i < 11; i++)
		p[i] /= weight[i];
	assert_int_equal(fz_bh(p, 11, 0.05, rejected), 1);
	assert_true(rejected[0]);
	/* Equal where nothing has a cost. */
	fz_bh_weigh(p, none, 11, weight);
	assert_true(weight[0] == 1 && weight[9] == 1);
}

/* f f f - f(f) - - f f: recursion at the fifth sample counts once, and leaving and entering at
 * the same sample goes on. */
static void test_visits(void **state)
{
	struct fz_visits v = { 0 };
	struct fz_visit_sum sum;

	(void)state;
	sum = fz_visits_sum(&v);
	assert_true(sum.samples == 0 && sum.visits == 0);
	fz_visits_add(&v, 0, 1);
	fz_visits_add(&v, 1, 2);
	fz_visits_enter(&v, 4);
	fz_visits_enter(&v, 4);
	fz_visits_leave(&v, 5);
	fz_visits_leave(&v, 5);
	fz_visits_enter(&v, 7);
	fz_visits_leave(&v, 8);
	fz_visits_enter(&v, 8);
	fz_visits_leave(&v, 9);
	sum = fz_visits_sum(&v);
	assert_true(sum.samples == 6);
	assert_true(sum.visits == 3);
}

static void test_bursts(void **state)
{
	static const int64_t time[] = { 0, 1000, 2000, 2009, 2009, 2027, 3000, 3099, 4000, 4000 };
	bool burst[10];

	(void)state;
	assert_int_equal(fz_visit_find_bursts(time, 10, 1000, burst), 4);
	assert_false(burst[2]);
	assert_true(burst[3] && burst[5] && burst[7]);
	assert_false(burst[6] || burst[8] || burst[9]);
}

enum { FUNCTIONS = 40 };

/* Functions of different size and burstiness; the last one exists on one side only. */
static void test_jitter(void **state)
{
	static const double base[] = { 1000000, 1000100 }, head[] = { 1004000, 1004300 };
	struct fz_jitter j = fz_jitter_bound(base, 2, head, 2, 2e6, 500, 0);

	(void)state;
	assert_close(j.change, 4100, 1e-12);
	assert_close(j.bound, 100 + 300 + 500, 1e-12);
	assert_true(j.changed && j.worth_reporting);
	j = fz_jitter_bound(base, 2, head, 2, 2e8, 500, 0);
	assert_close(j.bound, 2400, 1e-12);
	assert_true(j.changed && !j.worth_reporting);
	assert_false(fz_jitter_bound(base, 2, head, 2, 4e8, 500, 0).changed);
	/* Counted once: by what is reported, or by what surroundings did. */
	j = fz_jitter_bound(base, 1, head, 1, 2e6, 500, 0);
	assert_close(j.bound, 2000, 1e-12);
	assert_true(j.changed && j.worth_reporting);
	assert_close(fz_jitter_bound(base, 1, head, 2, 2e6, 500, 0.001).bound, 6000, 1e-12);
	assert_close(fz_jitter_bound(base, 2, head, 2, 2e6, 500, 0.001).bound, 900, 1e-12);
	assert_close(fz_jitter_bound(base, 1, head, 1, 2e5, 500, 0.001).bound, 600, 1e-12);
	/* If two runs never differ, a small difference is a change. */
	j = fz_jitter_bound((double[]){ 100, 100 }, 2, (double[]){ 103, 104 }, 2, 104, 0, 0);
	assert_close(j.bound, 1 + 104e-5, 1e-12);
	assert_true(j.changed && j.worth_reporting);
}

/* The table of docs/statistics.md. */
static void test_power(void **state)
{
	struct fz_power cpu = { 1e4, 0.01, 1.5, 0.01, FZ_POWER_ALPHA_FAMILY };
	struct fz_power wall = { 1e4, 0.1, 5, 0.05, FZ_POWER_ALPHA_FAMILY };

	(void)state;
	assert_close(fz_power_smallest_change(&cpu, 1, 1), 0.72, 0.01);
	assert_close(fz_power_smallest_change(&cpu, 5, 5), 0.32, 0.01);
	assert_close(fz_power_smallest_change(&wall, 1, 1), 0.51, 0.01);
	assert_close(fz_power_smallest_change(&wall, 10, 10), 0.16, 0.01);
	for (double change = 0.01; change < 2; change *= 1.5) {
		double runs = fz_power_runs_needed(&wall, change);
		size_t n = (size_t)runs;

		assert_true(fz_power_smallest_change(&wall, n, n) <= change * (1 + 1e-12));
		if (n > 1)
			assert_true(fz_power_smallest_change(&wall, n - 1, n - 1) > change);
	}
	/* Noise between the sides limits what any number of runs detects. */
	wall.sides = 0.01;
	double limit = fz_power_smallest_change(&wall, 1 << 30, 1 << 30);
	assert_true(isinf(fz_power_runs_needed(&wall, 0.99 * limit)));
	size_t n = (size_t)fz_power_runs_needed(&wall, 2 * limit);
	assert_true(fz_power_smallest_change(&wall, n, n) <= 2 * limit * (1 + 1e-12));
	assert_true(fz_power_smallest_change(&wall, n - 1, n - 1) > 2 * limit);
}

static void test_changepoint(void **state)
{
	fz_auto(fz_free_ptr) struct fz_changepoint *points = NULL;
	double series[60];

	(void)state;
	for (int i = 0; i < 60; i++)
		series[i] = 1 + 0.004 * ((i * 7919) % 11 - 5) + (i >= 25 ? 0.1 : 0);
	series[40] += 3; /* an outlier is not a level */
	assert_int_equal(fz_changepoint_find(series, 60, &fz_changepoint_defaults, &points), 1);
	assert_int_equal(points[0].at, 25);
	assert_close(points[0].after - points[0].before, 0.1, 0.1);
	fz_free_ptr(&points);
	for (size_t n = 0; n < 25; n++) {
		assert_int_equal(fz_changepoint_find(series, n, &fz_changepoint_defaults, &points),
				 0);
		assert_null(points);
	}
	/* Levels without any noise, and a step below what matters. */
	for (int i = 0; i < 60; i++)
		series[i] = i < 20 ? 1 : i < 40 ? 1.5 : 1.51;
	assert_int_equal(fz_changepoint_find(series, 60, &fz_changepoint_defaults, &points), 1);
	assert_int_equal(points[0].at, 20);
}

/* Two of the values, when a coin thrown as often falls outside them at most 5 times of 100. */
static void test_median_interval(void **state)
{
	static const size_t least[] = { [6] = 0, [8] = 0, [9] = 1, [11] = 1, [12] = 2, [20] = 5 };
	double low, high, values[32];

	(void)state;
	for (size_t n = 0; n < FZ_ARRAY_LEN(values); n++) {
		for (size_t i = 0; i < n; i++)
			values[i] = (double)(n - i);
		double median = fz_median_interval(values, n, 0.05, &low, &high);
		if (n)
			assert_float_equal(median, (double)(n + 1) / 2, 1e-12);
		else
			assert_true(isnan(median));
		/* One round has no interval, and five have none that holds 95 times of 100. */
		assert_int_equal(isfinite(low), n >= 6);
		assert_int_equal(isfinite(high), n >= 6);
		if (n < FZ_ARRAY_LEN(least) && n >= 6 && (least[n] || n < 9)) {
			assert_float_equal(low, (double)(1 + least[n]), 1e-12);
			assert_float_equal(high, (double)(n - least[n]), 1e-12);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distributions), cmocka_unit_test(test_medians),
		cmocka_unit_test(test_verdicts),      cmocka_unit_test(test_many_tests),
		cmocka_unit_test(test_weights),       cmocka_unit_test(test_visits),
		cmocka_unit_test(test_bursts),        cmocka_unit_test(test_jitter),
		cmocka_unit_test(test_power),         cmocka_unit_test(test_median_interval),
		cmocka_unit_test(test_changepoint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
