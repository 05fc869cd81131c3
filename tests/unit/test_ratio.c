/* SPDX-License-Identifier: MIT */
/* The test of a ratio of costs, the drift that functions share, and stalls: examples worked out by
 * hand, and general properties. tests/live/test_statistics.py implements the formulas
 * independently. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "close.h"
#include "stats/ratio.h"

static const double even_exposure[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
static const struct fz_drift_belief no_drift = { .freedom = 20 };

static struct fz_ratio_setup setup(size_t base_runs, size_t head_runs)
{
	return (struct fz_ratio_setup){
		.base_runs = base_runs,
		.head_runs = head_runs,
		.exposure = even_exposure,
		.size = { 1, 1 },
		.noise = { .run = 0.1,
			   .own = 0.05,
			   .run_freedom = 30,
			   .own_freedom = 30,
			   .clumping = 1 },
	};
}

static struct fz_ratio_run seen(double cost)
{
	return (struct fz_ratio_run){ .cost = cost, .samples = cost, .visits = cost / 4 };
}

/* ---- the test ---- */

/* 400 samples in 100 visits, then 600 in 150. */
static void test_by_hand(void **state)
{
	struct fz_ratio_setup s = setup(1, 1);
	struct fz_ratio_run runs[] = { seen(400), seen(600) };
	struct fz_drift_belief drift = { -0.05, 0.1, 0.02 * 0.02, 20 };
	struct fz_change c = fz_ratio_test(&s, &drift, runs);

	(void)state;
	assert_true(c.tested && c.base == 400 && c.head == 600 && c.change == 200);
	/* The factor of the interval is Fisher's expansion, good to six digits here. */
	assert_close(c.low, 61.458957088133694, 1e-5);
	assert_close(c.high, 341.77796590923543, 1e-5);
	assert_close(c.statistic, 3.759691189889003, 1e-9);
	assert_close(c.p, 0.0004511885598453891, 1e-8);
	/* Nothing that lies within the drift is a change. */
	drift.high = 0.5;
	c = fz_ratio_test(&s, &drift, runs);
	assert_true(fabs(c.statistic) < 0.01 && c.p > 0.99 && c.low < 0 && c.high > 200);
}

/* The head was observed for a 16th of the time: its 125 samples instead of 100 vary as few do,
 * however many the base has. */
static void test_short_side(void **state)
{
	static const double exposure[2][2] = { { 1, 1.0 / 16 }, { 1.0 / 16, 1 } };
	struct fz_ratio_setup s = setup(1, 1);
	struct fz_ratio_run runs[2][2] = {
		{ { .cost = 1600, .samples = 1600, .visits = 1600 },
		  { .cost = 125, .samples = 125, .visits = 125 } },
	};

	(void)state;
	runs[1][0] = runs[0][1];
	runs[1][1] = runs[0][0];
	s.noise.own = 0;
	for (int head = 0; head < 2; head++) {
		s.exposure = exposure[head];
		s.size[!head] = 16;
		s.size[head] = 1;
		struct fz_change c = fz_ratio_test(&s, &no_drift, runs[head]);

		/* 191.7 / sqrt(862.5 (0.4792 + 7.6667)) */
		assert_close(fabs(c.statistic), 2.286648, 1e-5);
	}
}

/* Ten samples of 1 against none: if the head was sampled a tenth as often, it missed one sample. */
static void test_coarse_side(void **state)
{
	struct fz_ratio_setup s = setup(1, 1);
	struct fz_ratio_run runs[] = { { .cost = 10, .samples = 10, .visits = 10 }, { 0 } };

	(void)state;
	s.noise.own = 0;
	assert_close(fz_ratio_test(&s, &no_drift, runs).statistic, -10 / sqrt(5 * (1 + 1)), 1e-5);
	s.size[1] = 10;
	struct fz_change c = fz_ratio_test(&s, &no_drift, runs);
	assert_close(c.statistic, -10 / sqrt(5 * (10 + 1)), 1e-5);
	assert_true(c.high > 0);
	/* A single small sample does not make the others small. */
	s.size[1] = 1;
	runs[1] = (struct fz_ratio_run){ .cost = 0.01, .samples = 1, .visits = 1 };
	assert_true(fz_ratio_test(&s, &no_drift, runs).p > 0.0005);
}

/* Ratios invert. */
static void test_swap(void **state)
{
	static const double counts[][2] = { { 400, 600 }, { 12, 90 }, { 0, 40 }, { 5000, 5001 } };
	struct fz_ratio_setup s = setup(1, 1);

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(counts); i++) {
		struct fz_ratio_run there[] = { seen(counts[i][0]), seen(counts[i][1]) };
		struct fz_ratio_run back[] = { there[1], there[0] };
		struct fz_drift_belief drift = { -0.02, 0.05, 0.001, 9 };
		struct fz_drift_belief other = { -0.05, 0.02, 0.001, 9 };
		struct fz_change a = fz_ratio_test(&s, &drift, there);
		struct fz_change b = fz_ratio_test(&s, &other, back);

		assert_true(fabs(a.statistic + b.statistic) <= 1e-9 * (1 + fabs(a.statistic)));
		assert_close(a.p, b.p, 1e-7);
		if (counts[i][0] >= 10)
			assert_close(1 + a.low / a.base, 1 / (1 + b.high / b.base), 1e-9);
	}
}

static void test_bounds(void **state)
{
	(void)state;
	for (size_t runs = 1; runs <= 5; runs++) {
		struct fz_ratio_setup s = setup(runs, runs);

		for (double base = 1; base < 1e6; base *= 7) {
			for (double head = 0; head < 1e6; head = head * 9 + 1) {
				struct fz_ratio_run all[10];

				for (size_t r = 0; r < 2 * runs; r++)
					all[r] = seen(r < runs ? base : head);
				struct fz_change c = fz_ratio_test(&s, &no_drift, all);
				assert_true(c.low >= -c.base && c.low <= c.high);
				assert_true(c.low <= c.change && c.change <= c.high);
			}
		}
	}
}

static void test_nothing_on_a_side(void **state)
{
	struct fz_ratio_setup s = setup(1, 1);
	struct fz_ratio_run new[] = { seen(0), seen(500) }, gone[] = { seen(500), seen(0) };
	struct fz_ratio_run few[] = { seen(0), seen(9) };
	struct fz_change c = fz_ratio_test(&s, &no_drift, new);

	(void)state;
	assert_true(c.tested && c.p < 1e-4 && c.statistic > 0 && c.low > 300 && c.low < 500);
	c = fz_ratio_test(&s, &no_drift, gone);
	assert_true(c.p < 1e-4 && c.statistic < 0 && c.high < -400 && c.low == -500);
	c = fz_ratio_test(&s, &no_drift, few);
	assert_true(!c.tested && isnan(c.p) && c.high > 9);
}

static double width(const struct fz_change *c)
{
	return c->high - c->low;
}

/* Cost of unknown functions, and cost too small to matter. */
static void test_slack_and_margin(void **state)
{
	struct fz_ratio_setup s = setup(1, 1);
	struct fz_ratio_run runs[] = { seen(400), seen(600) };
	struct fz_change plain = fz_ratio_test(&s, &no_drift, runs);

	(void)state;
	s.margin = 50;
	struct fz_change c = fz_ratio_test(&s, &no_drift, runs);
	assert_close(c.statistic, plain.statistic * 150 / 200, 1e-9);
	assert_close(width(&c), width(&plain), 1e-9);
	s.slack = 100;
	c = fz_ratio_test(&s, &no_drift, runs);
	assert_close(c.statistic, plain.statistic * 50 / 200, 1e-9);
	assert_close(400 + c.low, (400 + plain.low) / (1 + 100.0 / 400), 1e-9);
	assert_close(400 + c.high, (400 + plain.high) * (1 + 100.0 / 600), 1e-9);
}

/* Cost that the other side may have missed is no evidence of change in the direction that it could
 * explain. */
static void test_unseen(void **state)
{
	struct fz_ratio_setup s = setup(1, 1);
	struct fz_ratio_run runs[] = { seen(400), seen(600) };
	struct fz_change plain = fz_ratio_test(&s, &no_drift, runs);

	(void)state;
	runs[0].unseen = 100;
	struct fz_change c = fz_ratio_test(&s, &no_drift, runs);
	assert_close(c.statistic, plain.statistic, 1e-9);
	assert_close(c.low, plain.low, 1e-9);
	assert_close(400 + c.high, (400 + plain.high) * (1 + 100.0 / 600), 1e-9);
	runs[0].unseen = 0;
	runs[1].unseen = 100;
	c = fz_ratio_test(&s, &no_drift, runs);
	assert_close(c.statistic, plain.statistic / 2, 1e-9);
	assert_close(400 + c.low, (400 + plain.low) / (1 + 100.0 / 400), 1e-9);
	assert_close(c.high, plain.high, 1e-9);
}

/* Runs that differ widen the interval, and more of them narrow it. */
static void test_several_runs(void **state)
{
	static const double still[] = { 1000, 1000, 1000, 1000, 1000, 1000 };
	static const double restless[] = { 700, 1000, 1400, 1300, 1050, 720 };
	struct fz_ratio_setup three = setup(3, 3), one = setup(1, 1);
	struct fz_ratio_run a[6], b[6], single[] = { seen(1000), seen(1000) };

	(void)state;
	three.noise.own_freedom = 3;
	for (int r = 0; r < 6; r++) {
		a[r] = seen(still[r]);
		b[r] = seen(restless[r]);
	}
	struct fz_change narrow = fz_ratio_test(&three, &no_drift, a);
	struct fz_change wide = fz_ratio_test(&three, &no_drift, b);
	struct fz_change alone = fz_ratio_test(&one, &no_drift, single);
	assert_true(width(&wide) > 3 * width(&narrow));
	assert_true(width(&narrow) < 0.8 * width(&alone));
}

/* Nearly all the noise is that of the runs, which is relative: one run against eleven is no more
 * certain the more it differs than its logarithm says. */
static void test_one_against_many(void **state)
{
	struct fz_ratio_setup s = setup(11, 1);

	(void)state;
	s.noise.own_freedom = 1e6;
	for (double ratio = 1.1; ratio < 3; ratio += 0.3) {
		struct fz_ratio_run runs[12];

		for (size_t r = 0; r < 11; r++)
			runs[r] = seen(1e8);
		runs[11] = seen(1e8 * ratio);
		struct fz_change c = fz_ratio_test(&s, &no_drift, runs);
		assert_close(c.statistic, log(ratio) / (0.05 * sqrt(12 / 11.0)), 0.01);
	}
}

/* Hosts that differ by half, each with a tenth more in the head: only pairs show it. A pair that
 * has all of a function is much weaker evidence, and so is a function that only runs at times. */
static void test_pairs(void **state)
{
	static const double host[] = { 10000, 15000, 21000, 12000, 18000, 9000 };
	static const double much[] = { 1.11, 1.09, 1.10, 1.12, 1.08, 1.10 };
	struct fz_ratio_setup s = setup(6, 6);
	struct fz_ratio_run runs[12], rare[12] = { 0 };

	(void)state;
	s.noise = (struct fz_ratio_noise){ .own = 0.02, .own_freedom = 3, .clumping = 1 };
	s.noise.unbounded = true;
	for (int r = 0; r < 6; r++) {
		runs[r] = seen(host[r]);
		runs[6 + r] = seen(host[r] * much[r]);
	}
	struct fz_change apart = fz_ratio_test(&s, &no_drift, runs);
	s.paired = true;
	struct fz_change pairs = fz_ratio_test(&s, &no_drift, runs);
	assert_true(apart.p > 0.1 && apart.low < 0);
	assert_true(pairs.p < 0.001 && pairs.low > 0 && pairs.change == apart.change);
	for (int r = 0; r < 12; r++)
		runs[r] = seen(r % 6 == 0 ? runs[r].samples : 1);
	assert_true(fz_ratio_test(&s, &no_drift, runs).p > 100 * pairs.p);
	rare[6] = rare[8] = rare[11] = seen(150);
	assert_true(fz_ratio_test(&s, &no_drift, rare).p > 0.02);
	s.noise.own_sides = 0.2;
	assert_true(fz_ratio_test(&s, &no_drift, runs).low < pairs.low);
}

/* A run in which all functions cost a tenth more, and one function that did otherwise. */
static void test_common_noise(void **state)
{
	static const double cost[3][4] = { { 1000, 1100, 1000, 1000 },
					   { 500, 550, 500, 500 },
					   { 200, 100, 200, 200 } };
	struct fz_ratio_setup s = setup(2, 2);
	struct fz_ratio_run runs[12];
	double common[4];

	(void)state;
	for (int i = 0; i < 12; i++)
		runs[i] = seen(cost[i / 4][i % 4]);
	fz_ratio_common(&s, runs, 3, common);
	assert_close(common[0], -log(1.1) / 2, 1e-3);
	assert_close(common[1], log(1.1) / 2, 1e-3);
	assert_true(fabs(common[2]) < 1e-12 && fabs(common[3]) < 1e-12);
	/* (30 0.1^2 + 2 (log(1.1)/2)^2)/32 of a run, and both sides have two. */
	s.common = common;
	struct fz_drift_prior prior = fz_ratio_drift_prior(&s);
	assert_close(prior.deviation, sqrt((0.3 + 2 * 0.0022710) / 32), 1e-3);
	assert_true(prior.freedom == 32 && !prior.relative);
	/* With no freedom of its own the noise is what the runs show, and not less. */
	s.noise.run_freedom = 0;
	s.noise.run = 0.02;
	prior = fz_ratio_drift_prior(&s);
	assert_close(prior.deviation, log(1.1) / 2, 1e-3);
	s.noise.run = 0.2;
	assert_close(fz_ratio_drift_prior(&s).deviation, 0.2, 1e-9);
	/* Half of a drift's variance is between the sides, the rest 0.1 of each of two runs. */
	s.noise.own = 0;
	s.noise.sides = 0.2;
	struct fz_power power;
	fz_ratio_set_power(&s, 0.02, &power);
	assert_close(power.sides, 0.1, 1e-9);
	assert_close(power.kappa, 0.1, 1e-9);
}

/* A rewritten program: nearly all functions are on one side only, and the one on both varies by
 * itself. Functions of a side show its common noise, the small ones together. */
static void test_common_noise_of_other_functions(void **state)
{
	static const double cost[5][4] = { { 12, 30, 10, 40 },
					   { 900, 990, 0, 0 },
					   { 9, 9.9, 0, 0 },
					   { 300, 330, 0, 0 },
					   { 0, 0, 9, 9 } };
	enum { FUNCTIONS = 5 + 200 };
	struct fz_ratio_setup s = setup(2, 2);
	struct fz_ratio_run runs[FUNCTIONS * 4];
	double common[4];

	(void)state;
	for (int i = 0; i < FUNCTIONS * 4; i++)
		runs[i] = seen(cost[FZ_MIN(i / 4, 4)][i % 4]);
	fz_ratio_common(&s, runs, FUNCTIONS, common);
	assert_close(common[1] - common[0], log(1.1), 1e-3);
	assert_true(fabs(common[2]) < 1e-3 && fabs(common[3]) < 1e-3);
}

/* ---- drift ---- */

static struct fz_drift_witness says(double log_ratio, double cost)
{
	return (struct fz_drift_witness){ log_ratio, 0.03 * 0.03, cost };
}

static struct fz_drift_belief believe(const struct fz_drift_prior *prior,
				      const struct fz_drift_witness *witnesses, size_t n,
				      double cost, uint64_t inside)
{
	static struct fz_drift d;

	fz_drift_init(&d, prior, witnesses, n);
	return fz_drift_without(&d, cost, inside, NULL);
}

static const struct fz_drift_prior machine = { .deviation = 0.1, .freedom = 30 };

static void test_drift_without_witnesses(void **state)
{
	struct fz_drift_belief b = believe(&machine, NULL, 0, 1, 0);

	(void)state;
	assert_true(fabs(b.low) < 1e-12 && fabs(b.high) < 1e-12);
	assert_true(b.freedom == 30);
	assert_true(sqrt(b.variance) > 0.07 && sqrt(b.variance) < 0.11);
}

/* The program of the README's everyday loop: one function three times slower, one still. */
static void test_still_function(void **state)
{
	struct fz_drift_witness two[] = { says(log(3), 3), says(0.01, 1) };
	struct fz_drift_belief b = believe(&machine, two, 2, 4, 0);

	(void)state;
	assert_true(b.high < 0.02 && b.low > -0.02 && sqrt(b.variance) < 0.04);
}

/* However far a function goes, and however large it is, others are believed. */
static void test_bounded_influence(void **state)
{
	double last = 0;

	(void)state;
	for (double far = 0.05; far < 5; far *= 1.3) {
		struct fz_drift_witness some[] = { says(far, 90), says(0, 5), says(0.01, 5) };
		struct fz_drift_belief b = believe(&machine, some, 3, 100, 0);

		assert_true(b.high < 0.05);
		last = b.high;
	}
	assert_true(last < 0.01);
}

/* All by the same factor: a machine may have done as much of it as machines do, or have become
 * faster meanwhile. */
static void test_all_alike(void **state)
{
	struct fz_drift_witness all[20];

	(void)state;
	for (int i = 0; i < 20; i++)
		all[i] = says(0.08 + 0.001 * i, 1);
	struct fz_drift_belief b = believe(&machine, all, 20, 20, 0);
	assert_true(b.high > 0.08 && b.high < 0.1 && b.low < -0.08 && b.low > -0.1);
	assert_true(sqrt(b.variance) < 0.015);
	for (int i = 0; i < 20; i++)
		all[i].log_ratio = -0.7;
	b = believe(&machine, all, 20, 20, 0);
	assert_true(b.low > -0.25 && b.high <= 0.1);
	/* By share they are all that counts. */
	struct fz_drift_prior relative = { .relative = true, .deviation = 0.5, .freedom = 30 };
	b = believe(&relative, all, 20, 20, 0);
	assert_close(b.low, -0.7, 0.02);
	assert_true(b.high == b.low);
}

/* A part is no evidence about the whole around it, unless the whole is larger. */
static void test_inside(void **state)
{
	struct fz_drift_witness two[] = { says(0.1, 10), says(0, 5) };
	struct fz_drift_belief alone = believe(&machine, two + 1, 1, 5, 0);
	struct fz_drift_belief without = believe(&machine, two, 2, 10, 1);
	struct fz_drift_belief both = believe(&machine, two, 2, 10, 0);
	struct fz_drift_belief partly = believe(&machine, two, 2, 20, 1);

	(void)state;
	assert_true(fabs(without.low - alone.low) < 1e-9 && fabs(without.high - alone.high) < 1e-9);
	assert_close(without.variance, alone.variance, 1e-9);
	assert_true(both.high > partly.high && partly.high > alone.high);
}

/* More functions than are stored one by one: all count, but not individually. */
static void test_many_witnesses(void **state)
{
	struct fz_drift_witness many[300];
	static struct fz_drift d, others;

	(void)state;
	for (int i = 0; i < 300; i++)
		many[i] = says(i < 20 ? 0.05 : 0, 1 + i);
	fz_drift_init(&d, &machine, many, 300);
	assert_int_equal(d.n, FZ_DRIFT_LARGEST);
	for (size_t i = 0; i < d.n; i++)
		assert_int_equal(d.index[i], 299 - i);
	fz_drift_init(&others, &machine, many + 1, 299);
	struct fz_drift_belief all = fz_drift_without(&d, 1, 0, NULL);
	struct fz_drift_belief without = fz_drift_without(&d, 1, 0, &many[0]);
	struct fz_drift_belief wanted = fz_drift_without(&others, 1, 0, NULL);
	assert_close(without.high, wanted.high, 1e-9);
	assert_close(without.variance, wanted.variance, 1e-9);
	assert_true(all.high > without.high && all.high < 0.01);
}

static void test_witness(void **state)
{
	struct fz_ratio_setup s = setup(1, 1);
	struct fz_ratio_run runs[] = { seen(400), seen(600) }, few[] = { seen(400), seen(9) };
	struct fz_drift_witness w;

	(void)state;
	assert_true(fz_ratio_witness(&s, runs, &w));
	assert_close(w.log_ratio, log(600.5 / 400.5), 1e-12);
	assert_close(w.variance, 100.5 / (400.5 * 400.5) + 150.5 / (600.5 * 600.5) + 2 * 0.0025,
		     1e-12);
	assert_true(w.cost == 600);
	assert_false(fz_ratio_witness(&s, few, &w));
}

/* ---- stalls ---- */

/* 2 2 1 2 41 2 1 2; 5 5 5 5 5; one of 100; one of 3 */
static void test_stalls(void **state)
{
	struct fz_ratio_run runs[] = {
		{ .samples = 53,
		  .visits = 8,
		  .square = 8.0 / 7 * (1703 - 53.0 * 53 / 8),
		  .longest = 41 },
		{ .samples = 25, .visits = 5, .square = 0, .longest = 5 },
		{ .samples = 100, .visits = 1, .longest = 100 },
		{ .samples = 3, .visits = 1, .longest = 3 },
	};
	struct fz_ratio_setup s = setup(1, 1);
	struct fz_ratio_stalls found = fz_ratio_find_stalls(&s, runs, 2);

	(void)state;
	assert_true(found.possible);
	assert_close(found.dispersion, 8.0 / 7 * (1703 - 53.0 * 53 / 8) / 78, 1e-12);
	assert_close(found.longest, 41 - 53.0 / 8, 1e-12);
	found = fz_ratio_find_stalls(&s, runs + 2, 1);
	assert_true(found.dispersion == 0 && found.longest == 0);
}

/* A function that a stall hit is not called slower, where there may be stalls. */
static void test_stalled(void **state)
{
	struct fz_ratio_setup s = setup(1, 1);
	struct fz_ratio_run runs[] = { seen(40), seen(80) };
	struct fz_change c;

	(void)state;
	runs[1].square = 40 * 40;
	c = fz_ratio_test(&s, &no_drift, runs);
	assert_true(c.p < 1e-6);
	s.stalls = (struct fz_ratio_stalls){ true, 0, 40 };
	c = fz_ratio_test(&s, &no_drift, runs);
	assert_true(c.p > 0.1 && c.low < 0);
	/* It was on a CPU all the time: no stall. */
	runs[0].on = 40;
	runs[1].on = 80;
	c = fz_ratio_test(&s, &no_drift, runs);
	assert_true(c.p < 1e-4 && c.low > 0);
	/* All of the increase was not. */
	runs[1].on = 40;
	c = fz_ratio_test(&s, &no_drift, runs);
	assert_true(c.p > 0.1 && c.low < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_short_side),
		cmocka_unit_test(test_coarse_side),
		cmocka_unit_test(test_swap),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_nothing_on_a_side),
		cmocka_unit_test(test_slack_and_margin),
		cmocka_unit_test(test_unseen),
		cmocka_unit_test(test_several_runs),
		cmocka_unit_test(test_one_against_many),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_common_noise),
		cmocka_unit_test(test_common_noise_of_other_functions),
		cmocka_unit_test(test_drift_without_witnesses),
		cmocka_unit_test(test_still_function),
		cmocka_unit_test(test_bounded_influence),
		cmocka_unit_test(test_all_alike),
		cmocka_unit_test(test_inside),
		cmocka_unit_test(test_many_witnesses),
		cmocka_unit_test(test_witness),
		cmocka_unit_test(test_stalls),
		cmocka_unit_test(test_stalled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
