/* SPDX-License-Identifier: MIT */
/* The statistics on made-up programs of which the truth is known: how often they are wrong must
 * stay within what they promise, for every kind of noise that recordings have.
 *
 * A program is functions with shares after Zipf's law. A run either lays out a trajectory of
 * visits (for tests of one run a side) or draws the counts of functions (for several runs).
 * Noise: sampling, speed of the whole run, speed of each function in each run, and stalls that
 * put some 20 samples on whatever was running. The generator has a fixed seed: the figures, which
 * every test prints, are the same in every run.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "stats/bh.h"
#include "stats/changepoint.h"
#include "stats/exposure.h"
#include "stats/quasi.h"
#include "stats/visit.h"

/* ---- chance ---- */

static uint64_t seed;

/* splitmix64 */
static uint64_t random_bits(void)
{
	uint64_t z = (seed += 0x9e3779b97f4a7c15u);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* In (0, 1). */
static double uniform(void)
{
	return ((double)(random_bits() >> 12) + 0.5) / 4503599627370496.0;
}

static double exponential(void)
{
	return -log(uniform());
}

static double normal(void)
{
	return sqrt(2 * exponential()) * cos(2 * M_PI * uniform());
}

/* Student's t with 3 degrees of freedom. */
static double heavy_tailed(void)
{
	double a = normal(), b = normal(), c = normal();

	return normal() / sqrt((a * a + b * b + c * c) / 3);
}

/* At least 1. */
static uint64_t geometric(double mean)
{
	return mean <= 1 ? 1 : 1 + (uint64_t)(exponential() / -log1p(-1 / mean));
}

static unsigned poisson(double mean)
{
	unsigned n = 0;

	for (double left = exponential(); left < mean; left += exponential())
		n++;
	return n;
}

/* ---- programs ---- */

enum { FUNCTIONS = 2000 };

struct program {
	double share[FUNCTIONS]; /* sums to 1, but for what was changed */
	double visit[FUNCTIONS]; /* mean length */
	bool changed[FUNCTIONS];
};

static void make_program(struct program *p)
{
	double sum = 0;

	memset(p, 0, sizeof(*p));
	for (int i = 0; i < FUNCTIONS; i++)
		sum += p->share[i] = pow(i + 1, -1.1);
	for (int i = 0; i < FUNCTIONS; i++) {
		p->share[i] /= sum;
		p->visit[i] = 1 + 5 * uniform();
	}
}

/* n functions of at least the 300th rank become `factor` times, or 1/factor times as costly. */
static void change_program(struct program *p, int n, double factor)
{
	while (n > 0) {
		int i = (int)(uniform() * 300);

		if (p->changed[i])
			continue;
		p->share[i] *= uniform() < 0.5 ? factor : 1 / factor;
		p->changed[i] = true;
		n--;
	}
}

/* The noise of a run. */
struct noise {
	double speed;    /* standard deviation of the log of the run's cost */
	double function; /* the same for each function in each run */
	double stalls;   /* expected in a run */
};

enum { STALL_SAMPLES = 20 };

/* The costs of functions in one run; cumulative, for drawing. Returns their sum. */
static double run_costs(const struct program *p, const struct noise *noise, double *ret)
{
	double sum = 0;

	for (int i = 0; i < FUNCTIONS; i++) {
		ret[i] = p->share[i];
		if (noise->function > 0)
			ret[i] *= exp(noise->function * normal());
		sum += ret[i];
	}
	return sum;
}

/* Index of the first cumulative value above x. */
static int draw(const double *cumulative, double x)
{
	int low = 0, high = FUNCTIONS - 1;

	while (low < high) {
		int middle = (low + high) / 2;

		if (cumulative[middle] > x)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* One run as visits of leaf functions. Every `step`-th sample is kept. */
static double sample_run(const struct program *p, const struct noise *noise, double samples,
			 uint64_t step, struct fz_visit_sum *ret)
{
	static struct fz_visits visits[FUNCTIONS];
	static double cost[FUNCTIONS], cumulative[FUNCTIONS];
	double n = samples * run_costs(p, noise, cost) * exp(noise->speed * normal());
	double sum = 0,
	       next_stall = noise->stalls > 0 ? exponential() * n / noise->stalls : INFINITY;
	uint64_t at = 0, kept = 0;

	memset(visits, 0, sizeof(visits));
	for (int i = 0; i < FUNCTIONS; i++)
		cumulative[i] = sum += cost[i] / p->visit[i];
	for (double cpu = 0; cpu < n;) {
		int f = draw(cumulative, uniform() * sum);
		uint64_t length = geometric(p->visit[f]), end;

		cpu += (double)length;
		for (; cpu > next_stall; next_stall += exponential() * n / noise->stalls)
			length += geometric(STALL_SAMPLES);
		/* Samples at + 1 .. at + length, of which multiples of step are kept. */
		end = (at + length) / step;
		if (end > kept)
			fz_visits_add(&visits[f], kept, end - kept);
		kept = end;
		at += length;
	}
	for (int i = 0; i < FUNCTIONS; i++)
		ret[i] = fz_visits_sum(&visits[i]);
	return (double)kept;
}

/* ---- what came of it ---- */

struct tally {
	double comparisons, false_rate, false_rate_squares; /* false / flagged, of a comparison */
	double any_false, tested, below_5_percent, found, findable;
};

/* A function that is worth finding has at least 2 % of the run. */
static void tally_comparison(const struct program *p, const double *pvalue, struct tally *t)
{
	static bool rejected[FUNCTIONS];
	size_t flagged = fz_bh(pvalue, FUNCTIONS, FZ_FALSE_DISCOVERY_RATE, rejected);
	double wrong = 0, rate;

	for (int i = 0; i < FUNCTIONS; i++) {
		if (p->changed[i]) {
			t->findable += p->share[i] >= 0.02;
			t->found += p->share[i] >= 0.02 && rejected[i];
			continue;
		}
		wrong += rejected[i];
		t->tested += !isnan(pvalue[i]);
		t->below_5_percent += pvalue[i] < 0.05;
	}
	rate = flagged ? wrong / (double)flagged : 0;
	t->false_rate += rate;
	t->false_rate_squares += rate * rate;
	t->any_false += wrong > 0;
	t->comparisons++;
}

static void check_tally(const struct tally *t, const struct noise *noise, const char *what)
{
	double rate = t->false_rate / t->comparisons;
	double variance = t->false_rate_squares / t->comparisons - rate * rate;
	double error = sqrt(FZ_MAX(0, variance) / t->comparisons);

	print_message(
		"%s, cv %.0f %%, %.0f stalls: false discoveries %.1f +- %.1f %%, any in %.0f %%, "
		"P(p<.05) %.1f %%, found %.0f %% of %.0f\n",
		what, 100 * noise->function, noise->stalls, 100 * rate, 100 * error,
		100 * t->any_false / t->comparisons, 100 * t->below_5_percent / t->tested,
		100 * t->found / FZ_MAX(1, t->findable), t->findable);
	assert_true(rate <= FZ_FALSE_DISCOVERY_RATE + 2 * error);
	assert_true(rate <= 0.07);
	assert_true(t->below_5_percent / t->tested <= 0.07);
}

static const struct noise noises[] = {
	{ .speed = 0 },
	{ .speed = 0.02, .function = 0.03 },
	{ .speed = 0.02, .function = 0.03, .stalls = 50 },
	{ .speed = 0.02, .function = 0.08, .stalls = 100 },
};

/* ---- one run a side ---- */

struct pair {
	struct fz_visit_sum base[FUNCTIONS], head[FUNCTIONS];
	double run[2];
};

static double reference(const struct pair *pair)
{
	static double a[FUNCTIONS], b[FUNCTIONS];

	for (int i = 0; i < FUNCTIONS; i++) {
		a[i] = pair->base[i].samples;
		b[i] = pair->head[i].samples;
	}
	return fz_exposure_reference(a, b, FUNCTIONS);
}

static void test_pair(const struct pair *pair, double rho, double kappa, double *ret_p)
{
	struct fz_visit_setup setup = { .rho = rho,
					.run = { pair->run[0], pair->run[1] },
					.ordered = true,
					.noise = { .kappa = kappa } };
	struct fz_visit_null null;

	fz_visit_null_fit(&setup, pair->base, pair->head, FUNCTIONS, &null);
	for (int i = 0; i < FUNCTIONS; i++)
		ret_p[i] = fz_visit_test(&setup, &null, &pair->base[i], &pair->head[i]).p;
}

static void simulate_pairs(const struct noise *noise, int changed, const char *what)
{
	static struct program a, b;
	static struct pair pair;
	static double p[FUNCTIONS];
	struct tally t = { 0 };

	for (int i = 0; i < 60; i++) {
		make_program(&a);
		b = a;
		change_program(&b, changed, 2);
		pair.run[0] = sample_run(&a, noise, 10000, 1, pair.base);
		pair.run[1] = sample_run(&b, noise, 10000, 1, pair.head);
		test_pair(&pair, reference(&pair), 0.05, p);
		tally_comparison(&b, p, &t);
	}
	check_tally(&t, noise, what);
}

static void test_one_run(void **state)
{
	(void)state;
	seed = 1;
	for (size_t i = 0; i < FZ_ARRAY_LEN(noises); i++) {
		simulate_pairs(&noises[i], 0, "one run a side, nothing changed");
		simulate_pairs(&noises[i], 30, "one run a side, 30 functions x2 or /2");
	}
}

/* One function becomes three times as costly: with the typical function as reference no other
 * one turns blue. */
static void test_composition(void **state)
{
	static struct program a, b;
	static struct pair pair;
	static double p[FUNCTIONS];
	static bool rejected[FUNCTIONS];
	int found = 0, wrong = 0;

	(void)state;
	seed = 2;
	for (int round = 0; round < 40; round++) {
		make_program(&a);
		b = a;
		b.share[0] *= 3;
		pair.run[0] = sample_run(&a, &noises[0], 20000, 1, pair.base);
		pair.run[1] = sample_run(&b, &noises[0], 20000, 1, pair.head);
		test_pair(&pair, reference(&pair), 0.05, p);
		fz_bh(p, FUNCTIONS, FZ_FALSE_DISCOVERY_RATE, rejected);
		found += rejected[0];
		for (int i = 1; i < FUNCTIONS; i++)
			wrong += rejected[i] && a.share[i] >= 0.01;
	}
	print_message("x3 of the largest function: found in %d of 40, others flagged %d\n", found,
		      wrong);
	assert_int_equal(found, 40);
	assert_int_equal(wrong, 0);
}

/* A tenth of the samples, at ten times the interval, of the same run: nothing changes but the
 * width of intervals. */
static void test_thinning(void **state)
{
	static struct program a;
	static struct pair pair;
	static double p[FUNCTIONS];
	static bool rejected[FUNCTIONS];
	double dense_width = 0, thin_width = 0;
	size_t flagged = 0, outside = 0, intervals = 0;
	const struct noise noise = { .stalls = 50 };

	(void)state;
	seed = 3;
	for (int round = 0; round < 40; round++) {
		struct fz_visit_setup setup = { .ordered = true, .noise = fz_visit_noise_cpu };
		struct fz_visit_null null;
		uint64_t same;

		make_program(&a);
		for (int thin = 0; thin < 2; thin++) {
			same = seed;
			pair.run[0] = sample_run(&a, &noise, 20000, 1, pair.base);
			if (thin)
				seed = same;
			pair.run[1] = sample_run(&a, &noise, 20000, thin ? 10 : 1, pair.head);
			setup.rho = thin ? 0.1 : reference(&pair);
			memcpy(setup.run, pair.run, sizeof(setup.run));
			test_pair(&pair, setup.rho, setup.noise.kappa, p);
			flagged += fz_bh(p, FUNCTIONS, FZ_FALSE_DISCOVERY_RATE, rejected);
			fz_visit_null_fit(&setup, pair.base, pair.head, FUNCTIONS, &null);
			for (int i = 0; i < FUNCTIONS; i++) {
				struct fz_change c =
					fz_visit_test(&setup, &null, &pair.base[i], &pair.head[i]);

				if (c.base < 100)
					continue;
				*(thin ? &thin_width : &dense_width) += (c.high - c.low) / c.base;
				if (!thin)
					continue;
				intervals++;
				outside += c.low > 0 || c.high < 0;
			}
		}
	}
	print_message("thinned to a tenth: flagged %zu; %zu of %zu intervals without 0; width %.2f "
		      "times\n",
		      flagged, outside, intervals, thin_width / dense_width);
	assert_true(flagged <= 2);
	assert_true((double)outside <= 0.06 * (double)intervals);
	/* Not sqrt(10) times: most of the noise is in what the program did, not in the looking. */
	assert_true(thin_width > 1.05 * dense_width);
}

/* ---- several runs a side ---- */

static void draw_counts(const struct program *p, const struct noise *noise, double samples,
			double *counts, size_t runs, size_t run)
{
	static double cost[FUNCTIONS], cumulative[FUNCTIONS];
	double speed = samples * exp(0.1 * normal()), sum = 0;

	run_costs(p, noise, cost);
	for (int i = 0; i < FUNCTIONS; i++) {
		cumulative[i] = sum += cost[i];
		counts[(size_t)i * runs + run] = poisson(speed * cost[i]);
	}
	for (unsigned left = poisson(noise->stalls); left > 0; left--)
		counts[(size_t)draw(cumulative, uniform() * sum) * runs + run] +=
			(double)geometric(STALL_SAMPLES);
}

static void simulate_sides(const struct noise *noise, size_t n, int changed, struct tally *t)
{
	static struct program a, b;
	static double counts[FUNCTIONS * 20], p[FUNCTIONS];
	double exposure[20];
	struct fz_quasi_setup setup = {
		.base_runs = n, .head_runs = n, .exposure = exposure, .kappa = FZ_QUASI_KAPPA
	};
	struct fz_quasi_trend trend;

	make_program(&a);
	b = a;
	change_program(&b, changed, 1.4);
	for (size_t r = 0; r < 2 * n; r++)
		draw_counts(r < n ? &a : &b, noise, 10000, counts, 2 * n, r);
	assert_true(fz_exposure_runs(counts, FUNCTIONS, 2 * n, exposure) > 20);
	fz_quasi_trend_fit(&setup, counts, FUNCTIONS, &trend);
	for (int i = 0; i < FUNCTIONS; i++)
		p[i] = fz_quasi_test(&setup, &trend, counts + (size_t)i * 2 * n, NULL).p;
	tally_comparison(&b, p, t);
}

static void test_several_runs(void **state)
{
	(void)state;
	seed = 4;
	for (size_t i = 0; i < FZ_ARRAY_LEN(noises); i++) {
		for (size_t n = 2; n <= 5; n += n == 3 ? 2 : 1) {
			struct tally none = { 0 }, some = { 0 };
			fz_auto(fz_free_ptr) char *what = fz_asprintf("%zu runs a side", n);

			for (int round = 0; round < 30; round++) {
				simulate_sides(&noises[i], n, 0, &none);
				simulate_sides(&noises[i], n, 60, &some);
			}
			check_tally(&none, &noises[i], what);
			check_tally(&some, &noises[i], what);
			if (i == 0 && n == 5)
				assert_true(some.found >= 0.9 * some.findable);
		}
	}
}

/* ---- histories ---- */

enum noise_kind { NORMAL, HEAVY, OUTLIERS, CORRELATED, NOISE_KINDS };
static const char *const noise_kind_names[] = { "normal", "t3", "outliers", "correlated" };

enum { COMMITS = 100, STEP_AT = 60 };
static const double sigma = 0.02;

static void make_history(enum noise_kind kind, double step, double *ret)
{
	double last = 0;

	for (int i = 0; i < COMMITS; i++) {
		double e = normal();

		if (kind == HEAVY)
			e = heavy_tailed() / sqrt(3);
		if (kind == OUTLIERS && uniform() < 0.05)
			e += 8 * exponential();
		if (kind == CORRELATED)
			e = last = 0.5 * last + sqrt(0.75) * e;
		ret[i] = sigma * e + (i >= STEP_AT ? step : 0);
	}
}

/* Of `rounds` series with a step, the part in which it is found within 3 commits; of series
 * without one, the part in which anything is found. */
static double found_rate(enum noise_kind kind, double step, int rounds, double *ret_error)
{
	double series[COMMITS];
	int hits = 0;

	*ret_error = 0;
	for (int round = 0; round < rounds; round++) {
		fz_auto(fz_free_ptr) struct fz_changepoint *points = NULL;
		double nearest = INFINITY;
		size_t n;

		make_history(kind, step, series);
		n = fz_changepoint_find(series, COMMITS, &fz_changepoint_defaults, &points);
		for (size_t i = 0; i < n; i++)
			nearest = FZ_MIN(nearest, fabs((double)points[i].at - STEP_AT));
		if (step != 0 && nearest <= 3)
			*ret_error += nearest;
		hits += step != 0 ? nearest <= 3 : n > 0;
	}
	*ret_error /= FZ_MAX(1, hits);
	return (double)hits / rounds;
}

static void test_histories(void **state)
{
	/* What may be false, and what must be found of steps of 4 and 6 %. */
	static const double bounds[NOISE_KINDS][3] = {
		[NORMAL] = { 0.05, 0.93, 0.97 },
		[HEAVY] = { 0.05, 0.93, 0.96 },
		[OUTLIERS] = { 0.05, 0.80, 0.96 },
		[CORRELATED] = { 0.18, 0, 0 },
	};

	(void)state;
	seed = 5;
	for (enum noise_kind kind = 0; kind < NOISE_KINDS; kind++) {
		double error, error4, error6;
		double wrong = found_rate(kind, 0, 300, &error);
		double found4 = found_rate(kind, 0.04, 150, &error4);
		double found6 = found_rate(kind, 0.06, 150, &error6);

		print_message(
			"%s: false in %.1f %% of series; +4 %% found %.0f %% (%.1f commits off), "
			"+6 %% %.0f %% (%.1f)\n",
			noise_kind_names[kind], 100 * wrong, 100 * found4, error4, 100 * found6,
			error6);
		assert_true(wrong <= bounds[kind][0]);
		assert_true(found4 >= bounds[kind][1]);
		assert_true(found6 >= bounds[kind][2]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_run),   cmocka_unit_test(test_composition),
		cmocka_unit_test(test_thinning),  cmocka_unit_test(test_several_runs),
		cmocka_unit_test(test_histories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
