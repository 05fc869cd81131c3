/* SPDX-License-Identifier: MIT */
/* Change points in synthetic histories with known noise and steps: few are false, and those that
 * should be found are. A small part of build/tests/history_table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../stats/history_rates.h"
#include "stats/regress.h"

static const struct noise *noise_named(const char *name)
{
	for (size_t k = 0; k < NOISES; k++)
		if (strcmp(noises[k].name, name) == 0)
			return &noises[k];
	fail_msg("no noise %s", name);
	return NULL;
}

/* At most 5 % are false (docs/statistics.md), so that 7 of 60 are not chance. */
static void test_false_points(void **state)
{
	(void)state;
	for (size_t k = 0; k < NOISES; k++) {
		struct rate wrong = history_rate(&noises[k], 100, 0, 0, 60);

		print_message("%s: false in %.1f %% of series\n", noises[k].name,
			      100 * wrong.found);
		assert_true(wrong.found < 7.0 / 60);
	}
}

static void test_steps_found(void **state)
{
	static const struct {
		const char *noise;
		size_t n, at;
		double step, least;
	} cases[] = {
		{ "normal, 2 %", 50, 45, 0.05, 0.8 },
		{ "normal, 2 %", 50, 45, -0.05, 0.8 },
		{ "normal, 2 %", 50, 47, 0.05, 0.45 },
		{ "normal, 2 %", 100, 60, 0.04, 0.9 },
		{ "heavy tails (t, 3 df), 2 %", 100, 60, 0.04, 0.9 },
		{ "normal, 2 %, and 5 % outliers", 100, 60, 0.06, 0.85 },
		{ "two modes, 5 % apart", 100, 60, 0.06, 0.85 },
		{ "wander, correlation 0.5", 100, 60, 0.06, 0.85 },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		struct rate r = history_rate(noise_named(cases[i].noise), cases[i].n, cases[i].at,
					     cases[i].step, 60);

		print_message("%s: %+.0f %% at %zu of %zu found in %.0f %%, %.1f commits off\n",
			      cases[i].noise, 100 * cases[i].step, cases[i].at, cases[i].n,
			      100 * r.found, r.off);
		assert_true(r.found >= cases[i].least);
		assert_true(r.off <= 1);
	}
}

/* The negated series has the same points, and opposite levels. */
static void test_changepoint_mirrored(void **state)
{
	struct chance chance = { 3 };
	double series[100], mirrored[100];

	(void)state;
	for (size_t k = 0; k < NOISES; k++) {
		fz_auto(fz_free_ptr) struct fz_changepoint *a = NULL, *b = NULL;
		make_history(&chance, &noises[k], 100, 70, 0.12, series);
		for (size_t i = 0; i < 100; i++)
			mirrored[i] = -series[i];
		size_t n = fz_changepoint_find(series, 100, &fz_changepoint_defaults, &a);
		assert_int_equal(fz_changepoint_find(mirrored, 100, &fz_changepoint_defaults, &b),
				 n);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(a[i].at, b[i].at);
			assert_true(fabs(a[i].after + b[i].after) < 1e-9);
			assert_true(fabs(a[i].before + b[i].before) < 1e-9);
		}
	}
}

/* A level that was left and taken back is two steps; one that comes and goes is a mode. */
static void test_changepoint_levels(void **state)
{
	fz_auto(fz_free_ptr) struct fz_changepoint *points = NULL;
	struct chance chance = { 4 };
	double once[90], often[90];

	(void)state;
	for (size_t i = 0; i < 90; i++) {
		double noise = 0.005 * chance_normal(&chance);
		once[i] = noise + (i >= 30 && i < 55 ? 0.05 : 0);
		often[i] = noise + (i / 15 % 2 ? 0.05 : 0);
	}
	assert_int_equal(fz_changepoint_find(once, 90, &fz_changepoint_defaults, &points), 2);
	assert_int_equal(points[0].at, 30);
	assert_int_equal(points[1].at, 55);
	assert_float_equal(points[0].after - points[0].before, 0.05, 0.1 * 0.05);
	fz_free_ptr(&points);
	assert_int_equal(fz_changepoint_find(often, 90, &fz_changepoint_defaults, &points), 0);
	/* A step of another size among the modes. */
	for (size_t i = 50; i < 90; i++)
		often[i] += 0.12;
	assert_int_equal(fz_changepoint_find(often, 90, &fz_changepoint_defaults, &points), 1);
	assert_int_equal(points[0].at, 50);
	assert_float_equal(points[0].after - points[0].before, 0.12, 0.1 * 0.12);
}

/* Longer than is looked at in one piece: each step is found once. */
static void test_changepoint_long(void **state)
{
	fz_auto(fz_free_ptr) struct fz_changepoint *points = NULL;
	struct chance chance = { 5 };
	double series[600];

	(void)state;
	for (size_t i = 0; i < 600; i++)
		series[i] = 0.01 * chance_normal(&chance) + 0.1 * (double)(i >= 40) -
			    0.05 * (double)(i >= 120) + 0.06 * (double)(i >= 200) +
			    0.05 * (double)(i >= 318) - 0.1 * (double)(i >= 590);
	assert_int_equal(fz_changepoint_find(series, 600, &fz_changepoint_defaults, &points), 5);
	static const size_t at[] = { 40, 120, 200, 318, 590 };
	for (size_t i = 0; i < 5; i++)
		assert_true(points[i].at + 1 >= at[i] && points[i].at <= at[i] + 1);
}

/* The predicted cost of a further step or pair is its cost once it is added, and no other one costs
 * less. */
static void test_regress(void **state)
{
	struct fz_breaks breaks = { .at = { 31 }, .n = 1 };
	struct chance chance = { 6 };
	struct fz_extension more[2];
	double y[60];

	(void)state;
	make_history(&chance, &noises[10], 60, 31, 0.05, y);
	fz_regress(y, 60, &breaks, 1e-6, more);
	for (size_t count = 1; count <= 2; count++) {
		struct fz_breaks with = breaks;
		for (size_t i = 0; i < count; i++)
			fz_breaks_add(&with, more[count - 1].at[i]);
		assert_float_equal(fz_regress(y, 60, &with, 1e-6, NULL), more[count - 1].cost,
				   1e-6);
	}
	for (size_t at = 1; at < 60; at++) {
		struct fz_breaks with = breaks;
		if (!fz_breaks_fit(&breaks, 60, at))
			continue;
		fz_breaks_add(&with, at);
		assert_true(fz_regress(y, 60, &with, 1e-6, NULL) >= more[0].cost - 1e-9);
	}
	assert_true(fz_breaks_fit(&breaks, 60, 57) && !fz_breaks_fit(&breaks, 60, 58));
	assert_true(fz_breaks_fit(&breaks, 60, 37) && !fz_breaks_fit(&breaks, 60, 36));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_false_points),
		cmocka_unit_test(test_steps_found),
		cmocka_unit_test(test_changepoint_mirrored),
		cmocka_unit_test(test_changepoint_levels),
		cmocka_unit_test(test_changepoint_long),
		cmocka_unit_test(test_regress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
