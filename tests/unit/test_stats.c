/* SPDX-License-Identifier: MIT */
/* The statistics on inputs small enough to work out by hand, and what must hold for any input.
 * tests/live/test_statistics.py compares with scipy at length; the numbers here are scipy's too,
 * for machines without it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats/bh.h"
#include "stats/changepoint.h"
#include "stats/distribution.h"
#include "stats/exposure.h"
#include "stats/jitter.h"
#include "stats/order.h"
#include "stats/power.h"
#include "stats/quasi.h"
#include "stats/visit.h"

#define assert_close(got, wanted, relative) check_close(got, wanted, relative, __FILE__, __LINE__)

static void check_close(double got, double wanted, double relative, const char *file, int line)
{
	if (fabs(got - wanted) <= relative * fabs(wanted))
		return;
	print_error("%.17g is not %.17g\n", got, wanted);
	_fail(file, line);
}

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
	assert_close(fz_chi2_median(0.3), 0.012469611517980431, 1e-11);
	assert_close(fz_chi2_median(2), 2 * M_LN2, 1e-13);
	assert_close(fz_chi2_median(100), 99.33412923598846, 1e-12);
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
	struct fz_change narrow = { .low = -1, .high = 1.5, .tested = true };
	struct fz_change wide = { .low = -1, .high = 3, .tested = true };

	(void)state;
	assert_int_equal(fz_verdict_of(&narrow, false, 2), FZ_VERDICT_UNCHANGED);
	assert_int_equal(fz_verdict_of(&narrow, true, 2), FZ_VERDICT_CHANGED);
	assert_int_equal(fz_verdict_of(&wide, false, 2), FZ_VERDICT_UNKNOWN);
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

static void test_exposure(void **state)
{
	double base[] = { 100, 400, 900, 50, 5 }, head[] = { 200, 800, 1800, 600, 500 };
	double counts[] = { 100, 200, 10, 20, 30, 60, 3, 90 }, exposure[2];

	(void)state;
	assert_close(fz_exposure_time(1000, 500), 2, 1e-15);
	assert_close(fz_exposure_share(1000, 500), 0.5, 1e-15);
	assert_close(fz_exposure_unit(10, 1000, 30, 500), 6, 1e-15);
	assert_true(fz_exposure_share(0, 500) == 0);
	/* One function became 12 times as slow: the others, which doubled, say what is normal. */
	assert_close(fz_exposure_reference(base, head, 5), 2, 1e-12);
	assert_close(fz_exposure_reference(head, base, 5), 0.5, 1e-12);
	assert_true(fz_exposure_reference(base + 4, head + 4, 1) == 0);
	assert_int_equal(fz_exposure_runs(counts, 4, 2, exposure), 3);
	assert_close(exposure[0], 2.0 / 3, 1e-12);
	assert_close(exposure[1], 4.0 / 3, 1e-12);
}

/* f f f - f(f) - - f f: recursion at the fifth sample counts once, and leaving and entering at
 * the same sample goes on. */
static void test_visits(void **state)
{
	struct fz_visits v = { 0 };
	struct fz_visit_sum sum;

	(void)state;
	sum = fz_visits_sum(&v);
	assert_true(sum.samples == 0 && sum.visits == 0 && sum.square == 0);
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
	/* Lengths 3, 1, 2: squares around 2 are 1, 1, 0; 3/2 of their sum. */
	assert_close(sum.square, 3, 1e-12);
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
static void make_sides(struct fz_visit_sum *base, struct fz_visit_sum *head)
{
	for (int i = 0; i < FUNCTIONS; i++) {
		double visits = 1 + i % 17, length = 1 + (i * 7) % 5;

		base[i] = (struct fz_visit_sum){ visits * length, visits, visits * (i % 3) };
		visits = 1 + (i * 5) % 13;
		head[i] = (struct fz_visit_sum){ visits * length, visits, visits * (i % 4) };
	}
	head[FUNCTIONS - 1] = (struct fz_visit_sum){ 0 };
}

static void test_visit_swap(void **state)
{
	struct fz_visit_sum base[FUNCTIONS], head[FUNCTIONS];
	struct fz_visit_setup there = { .rho = 0.7,
					.run = { 2000, 1700 },
					.delta = FZ_VISIT_DELTA,
					.ordered = true,
					.noise = fz_visit_noise_wall };
	struct fz_visit_setup back = there;
	struct fz_visit_null null, null_back;

	(void)state;
	make_sides(base, head);
	back.rho = 1 / there.rho;
	back.run[0] = there.run[1];
	back.run[1] = there.run[0];
	for (int ordered = 0; ordered < 2; ordered++) {
		there.ordered = back.ordered = ordered;
		fz_visit_null_fit(&there, base, head, FUNCTIONS, &null);
		fz_visit_null_fit(&back, head, base, FUNCTIONS, &null_back);
		assert_close(null_back.scale, null.scale, 1e-12);
		for (int i = 0; i < FUNCTIONS; i++) {
			struct fz_change a = fz_visit_test(&there, &null, &base[i], &head[i]);
			struct fz_change b = fz_visit_test(&back, &null_back, &head[i], &base[i]);

			assert_int_equal(a.tested, b.tested);
			assert_close(b.change, -a.change * there.rho, 1e-12);
			assert_close(b.low, -a.high * there.rho, 1e-9);
			if (!a.tested)
				continue;
			assert_close(b.statistic, -a.statistic, 1e-9);
			assert_close(b.p, a.p, 1e-9);
		}
	}
}

/* A profile against itself: no change, p = 1; large functions are known to be unchanged. */
static void test_visit_identical(void **state)
{
	struct fz_visit_sum base[FUNCTIONS], head[FUNCTIONS];
	struct fz_visit_setup setup = { .rho = 1,
					.run = { 1e6, 1e6 },
					.delta = FZ_VISIT_DELTA,
					.ordered = true,
					.noise = fz_visit_noise_cpu };
	struct fz_visit_null null;

	(void)state;
	make_sides(base, head);
	fz_visit_null_fit(&setup, base, base, FUNCTIONS, &null);
	assert_true(null.scale == 1);
	for (int i = 0; i < FUNCTIONS; i++) {
		struct fz_change c = fz_visit_test(&setup, &null, &base[i], &base[i]);

		assert_true(c.change == 0);
		assert_true(!c.tested || (c.statistic == 0 && c.p == 1));
		assert_int_equal(fz_verdict_of(&c, false, fz_visit_margin(&setup)),
				 FZ_VERDICT_UNCHANGED);
	}
}

/* Twice the data on both sides (each run after itself) leaves estimates and signs, and narrows
 * intervals. */
static void test_visit_doubled(void **state)
{
	struct fz_visit_sum base[FUNCTIONS], head[FUNCTIONS], twice[2][FUNCTIONS];
	struct fz_visit_setup setup = {
		.rho = 1, .run = { 2000, 1700 }, .ordered = true, .noise = fz_visit_noise_cpu
	};
	struct fz_visit_setup both = setup;
	struct fz_visit_null null, null_twice;

	(void)state;
	make_sides(base, head);
	both.run[0] *= 2;
	both.run[1] *= 2;
	for (int i = 0; i < FUNCTIONS; i++) {
		twice[0][i] = (struct fz_visit_sum){ 2 * base[i].samples, 2 * base[i].visits,
						     2 * base[i].square };
		twice[1][i] = (struct fz_visit_sum){ 2 * head[i].samples, 2 * head[i].visits,
						     2 * head[i].square };
	}
	fz_visit_null_fit(&setup, base, head, FUNCTIONS, &null);
	fz_visit_null_fit(&both, twice[0], twice[1], FUNCTIONS, &null_twice);
	null.scale = null_twice.scale = 1;
	for (int i = 0; i < FUNCTIONS; i++) {
		struct fz_change once = fz_visit_test(&setup, &null, &base[i], &head[i]);
		struct fz_change more =
			fz_visit_test(&both, &null_twice, &twice[0][i], &twice[1][i]);

		assert_close(more.change / more.base, once.change / once.base, 1e-12);
		if (base[i].visits + head[i].visits >= 10)
			assert_true(more.high - more.low < 2 * (once.high - once.low));
		if (once.tested)
			assert_true(more.statistic * once.statistic >= 0);
	}
}

/* What all functions share is not held against the run; what one adds is. */
static void test_visit_run(void **state)
{
	struct fz_visit_setup setup = {
		.rho = 1, .run = { 20000, 30000 }, .ordered = true, .noise = fz_visit_noise_cpu
	};
	struct fz_visit_null null = { .phi = { 1, 1 }, .scale = 1 };
	struct fz_change c;

	(void)state;
	c = fz_visit_test_run(&setup, &null, 1.5);
	assert_true(c.p > 0.05 && c.low < 0);
	c = fz_visit_test_run(&setup, &null, 1.01);
	assert_true(c.p < 1e-6);
	assert_close(c.change, 10000, 1e-12);
	assert_close(fz_visit_test_run(&setup, &null, 0).p, fz_visit_test_run(&setup, &null, 1).p,
		     1e-12);
}

/* Ten visits of 10 against twenty, by hand. */
static void test_visit_by_hand(void **state)
{
	struct fz_visit_sum base = { 100, 10, 40 }, head = { 200, 20, 80 };
	struct fz_visit_setup setup = { .rho = 1,
					.run = { 1000, 1000 },
					.delta = 0.01,
					.ordered = true,
					.noise = { .kappa = 0.1, .phi = 2 } };
	struct fz_visit_null null;
	struct fz_change c;
	double error = sqrt(150 + 80 + 150 + 40 + 0.01 * 2 * 150 * 150);

	(void)state;
	fz_visit_null_fit(&setup, &base, &head, 1, &null);
	assert_close(null.phi[0], 0.4, 1e-12);
	c = fz_visit_test(&setup, &null, &base, &head);
	assert_close(c.statistic, (100 - 10) / error, 1e-12);
	assert_close(c.high, 100 + 1.959963984540054 * error, 1e-12);
	setup.ordered = false;
	c = fz_visit_test(&setup, &null, &base, &head);
	assert_close(c.statistic, 90 / sqrt(2 * 300 + 0.01 * 2 * 150 * 150), 1e-12);
}

/* Half of the stalls' variance is borrowed by a function that was seen in one visit. */
static void test_visit_stall(void **state)
{
	struct fz_visit_sum base[2] = { { 100, 10, 1000 }, { 0 } };
	struct fz_visit_sum head[2] = { { 100, 10, 1000 }, { 60, 1, 0 } };
	struct fz_visit_setup setup = { .rho = 1, .run = { 100, 160 }, .ordered = true };
	struct fz_visit_null null;
	struct fz_change c;

	(void)state;
	fz_visit_null_fit(&setup, base, head, 2, &null);
	c = fz_visit_test(&setup, &null, &base[1], &head[1]);
	/* mu = 30 each, phi = 10: 2 (30 + 300), and the unmatched burst of 60. */
	assert_close(c.statistic, 60 / sqrt(660 + 3600), 1e-12);
	assert_true(c.p > 0.05);
}

static void test_quasi(void **state)
{
	static const double counts[] = { 100, 104, 98, 131, 128, 133 };
	static const double swapped[] = { 131, 128, 133, 100, 104, 98 };
	static const double exposure[] = { 2, 2, 2, 2, 2, 2 };
	struct fz_quasi_setup setup = {
		.base_runs = 3, .head_runs = 3, .exposure = exposure, .kappa = FZ_QUASI_KAPPA
	};
	struct fz_quasi_trend trend;
	struct fz_change c, back;
	double phi, error;

	(void)state;
	fz_quasi_trend_fit(&setup, counts, 1, &trend);
	assert_true(trend.level == 1.5 && trend.slope == 0);
	c = fz_quasi_test(&setup, &trend, counts, &phi);
	/* Pearson: (0.667^2 + 3.333^2 + 2.667^2)/100.667 + (0.333^2 + 2.667^2 + 2.333^2)/130.667 */
	assert_close(phi, (8 * 1.5 + 18.6667 / 100.6667 + 12.6667 / 130.6667) / 12, 1e-5);
	error = sqrt(phi * 694.0 / 6 * 2 / 3);
	assert_close(c.change, 30, 1e-12);
	assert_close(c.statistic, 30 / error, 1e-12);
	assert_close(c.high - c.low, 2 * 2.178812829663418 * error, 1e-9);
	back = fz_quasi_test(&setup, &trend, swapped, NULL);
	assert_close(back.statistic, -c.statistic, 1e-12);
	assert_close(back.p, c.p, 1e-12);
	/* As many samples again on both sides: the same relative change, more certain. */
	back = fz_quasi_test(&setup, &trend, (double[]){ 200, 208, 196, 262, 256, 266 }, NULL);
	assert_close(back.change / back.base, c.change / c.base, 1e-12);
	assert_true(back.statistic > c.statistic);
	c = fz_quasi_test(&setup, &trend, (double[]){ 1, 2, 3, 1, 1, 1 }, NULL);
	assert_false(c.tested);
	assert_true(isnan(c.p));
}

static void test_jitter(void **state)
{
	static const double base[] = { 1000000, 1000100 }, head[] = { 1004000, 1004300 };
	struct fz_jitter j = fz_jitter_bound(base, 2, head, 2, 2e6);
	struct fz_jitter_parts parts = fz_jitter_split(1000, 10, 3300, 30);

	(void)state;
	assert_close(j.change, 4100, 1e-12);
	assert_close(j.bound, 100 + 300 + 500, 1e-12);
	assert_true(j.changed && j.worth_reporting);
	j = fz_jitter_bound(base, 2, head, 2, 2e8);
	assert_close(j.bound, 2400, 1e-12);
	assert_true(j.changed && !j.worth_reporting);
	assert_false(fz_jitter_bound(base, 2, head, 2, 4e8).changed);
	/* 20 more calls at a mean of 105; 10 more a call in a mean of 20 calls. */
	assert_close(parts.calls, 2100, 1e-12);
	assert_close(parts.cost, 200, 1e-12);
	parts = fz_jitter_split(0, 0, 500, 5);
	assert_true(parts.calls == 500 && parts.cost == 0);
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
	assert_true(points[0].p < 1e-6);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distributions),   cmocka_unit_test(test_medians),
		cmocka_unit_test(test_verdicts),        cmocka_unit_test(test_many_tests),
		cmocka_unit_test(test_exposure),        cmocka_unit_test(test_visits),
		cmocka_unit_test(test_bursts),          cmocka_unit_test(test_visit_swap),
		cmocka_unit_test(test_visit_identical), cmocka_unit_test(test_visit_doubled),
		cmocka_unit_test(test_visit_run),       cmocka_unit_test(test_visit_by_hand),
		cmocka_unit_test(test_visit_stall),     cmocka_unit_test(test_quasi),
		cmocka_unit_test(test_jitter),          cmocka_unit_test(test_power),
		cmocka_unit_test(test_changepoint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
