/* SPDX-License-Identifier: MIT */
/* Call the statistics from a script: one call a line of standard input, its numbers one line of
 * standard output.
 *
 *     t_two_sided 2.5 3
 *     bh 0.05 0.001 0.2 nan
 *
 * Array arguments are preceded by their lengths where that is not clear from the count.
 */
#include <math.h>
#include <stdio.h>

#include "base/buf.h"
#include "stats/bh.h"
#include "stats/changepoint.h"
#include "stats/distribution.h"
#include "stats/exposure.h"
#include "stats/jitter.h"
#include "stats/order.h"
#include "stats/pairs.h"
#include "stats/power.h"
#include "stats/quasi.h"
#include "stats/visit.h"

/* The arguments of a call. */
struct args {
	double v[65536];
	size_t n, next;
};

static double take(struct args *a)
{
	fz_assert(a->next < a->n);
	return a->v[a->next++];
}

static size_t take_count(struct args *a)
{
	return (size_t)take(a);
}

/* The rest of the arguments. */
static double *rest(struct args *a, size_t *ret_n)
{
	*ret_n = a->n - a->next;
	return a->v + a->next;
}

static void say(double v)
{
	printf("%.17g ", v);
}

static void say_change(const struct fz_change *c)
{
	say(c->change);
	say(c->low);
	say(c->high);
	say(c->statistic);
	say(c->p);
}

static void call_normal_two_sided(struct args *a)
{
	say(fz_normal_two_sided(take(a)));
}

static void call_normal_quantile(struct args *a)
{
	say(fz_normal_quantile(take(a)));
}

static void call_t_two_sided(struct args *a)
{
	double t = take(a);

	say(fz_t_two_sided(t, take(a)));
}

static void call_t_critical(struct args *a)
{
	double p = take(a);

	say(fz_t_critical(p, take(a)));
}

static void call_chi2_median(struct args *a)
{
	say(fz_chi2_median(take(a)));
}

static void call_median(struct args *a)
{
	size_t n;
	double *v = rest(a, &n);

	say(fz_median(v, n));
}

/* q p... -> 0 or 1 each */
static void call_bh(struct args *a)
{
	static bool rejected[65536];
	double q = take(a);
	size_t n;
	double *p = rest(a, &n);

	fz_bh(p, n, q, rejected);
	for (size_t i = 0; i < n; i++)
		say(rejected[i]);
}

/* functions base... head... */
static void call_reference(struct args *a)
{
	size_t n = take_count(a);

	say(fz_exposure_reference(a->v + a->next, a->v + a->next + n, n));
}

/* runs, counts by function and run */
static void call_exposure_runs(struct args *a)
{
	size_t runs = take_count(a), n;
	double exposure[64] = { 0 };
	double *counts = rest(a, &n);

	fz_exposure_runs(counts, n / runs, runs, exposure);
	for (size_t r = 0; r < runs; r++)
		say(exposure[r]);
}

/* rho run_base run_head delta unattributed ordered kappa phi0, then for each function samples,
 * visits and square of base and head -> phi_base phi_head scale, then the changes */
static void call_visit(struct args *a)
{
	static struct fz_visit_sum sum[2][8192];
	struct fz_visit_setup setup = { .rho = take(a) };
	struct fz_visit_null null;
	size_t n;

	setup.run[0] = take(a);
	setup.run[1] = take(a);
	setup.delta = take(a);
	setup.unattributed = take(a);
	setup.ordered = take(a) != 0;
	setup.noise.kappa = take(a);
	setup.noise.phi = take(a);
	n = (a->n - a->next) / 6;
	for (size_t i = 0; i < n; i++) {
		for (int side = 0; side < 2; side++) {
			sum[side][i].samples = take(a);
			sum[side][i].visits = take(a);
			sum[side][i].square = take(a);
		}
	}
	fz_visit_null_fit(&setup, sum[0], sum[1], n, &null);
	say(null.phi[0]);
	say(null.phi[1]);
	say(null.scale);
	for (size_t i = 0; i < n; i++) {
		struct fz_change c = fz_visit_test(&setup, &null, &sum[0][i], &sum[1][i]);

		say_change(&c);
	}
}

/* lengths of gaps and visits in turn -> samples visits square */
static void call_visit_sum(struct args *a)
{
	struct fz_visits v = { 0 };
	struct fz_visit_sum sum;
	uint64_t at = 0;

	while (a->next + 1 < a->n) {
		uint64_t length;

		at += (uint64_t)take(a);
		length = (uint64_t)take(a);
		fz_visits_add(&v, at, length);
		at += length;
	}
	sum = fz_visits_sum(&v);
	say(sum.samples);
	say(sum.visits);
	say(sum.square);
}

/* base_runs head_runs kappa, exposures, counts -> level slope, then for each the change and phi */
static void call_quasi(struct args *a)
{
	struct fz_quasi_setup setup = { .base_runs = take_count(a) };
	struct fz_quasi_trend trend;
	size_t runs, n;
	double *counts;

	setup.head_runs = take_count(a);
	setup.kappa = take(a);
	runs = setup.base_runs + setup.head_runs;
	setup.exposure = a->v + a->next;
	a->next += runs;
	counts = rest(a, &n);
	fz_quasi_trend_fit(&setup, counts, n / runs, &trend);
	say(trend.level);
	say(trend.slope);
	for (size_t i = 0; i < n / runs; i++) {
		double phi;
		struct fz_change c = fz_quasi_test(&setup, &trend, counts + i * runs, &phi);

		say_change(&c);
		say(phi);
	}
}

/* base_runs, total, counts of base and head -> change bound changed worth */
static void call_jitter(struct args *a)
{
	size_t base_runs = take_count(a), n;
	double total = take(a);
	double *v = rest(a, &n);
	struct fz_jitter j = fz_jitter_bound(v, base_runs, v + base_runs, n - base_runs, total);

	say(j.change);
	say(j.bound);
	say(j.changed);
	say(j.worth_reporting);
}

/* samples share phi kappa alpha base_runs head_runs change -> MDE runs */
static void call_power(struct args *a)
{
	struct fz_power power = { .samples = take(a) };
	size_t base_runs;

	power.share = take(a);
	power.phi = take(a);
	power.kappa = take(a);
	power.alpha = take(a);
	base_runs = take_count(a);
	say(fz_power_smallest_change(&power, base_runs, take_count(a)));
	say(fz_power_runs_needed(&power, take(a)));
}

/* series -> at p of each change point */
static void call_changepoint(struct args *a)
{
	fz_auto(fz_free_ptr) struct fz_changepoint *points = NULL;
	size_t n, count;
	double *v = rest(a, &n);

	count = fz_changepoint_find(v, n, &fz_changepoint_defaults, &points);
	for (size_t i = 0; i < count; i++) {
		say((double)points[i].at);
		say(points[i].p);
	}
}

/* looks, margin, then the times of the first program, and as many of the second */
static void call_pairs(struct args *a)
{
	unsigned looks = (unsigned)take(a);
	double margin = take(a);
	size_t n;
	const double *times = rest(a, &n);
	struct fz_pairs p = fz_pairs_test(times, times + n / 2, (unsigned)n / 2, looks, margin);

	say(p.change);
	say(p.low);
	say(p.high);
	say(p.decided);
}

static const struct call {
	const char *name;
	void (*run)(struct args *a);
} calls[] = {
	{ "normal_two_sided", call_normal_two_sided },
	{ "normal_quantile", call_normal_quantile },
	{ "t_two_sided", call_t_two_sided },
	{ "t_critical", call_t_critical },
	{ "chi2_median", call_chi2_median },
	{ "median", call_median },
	{ "bh", call_bh },
	{ "reference", call_reference },
	{ "exposure_runs", call_exposure_runs },
	{ "visit", call_visit },
	{ "visit_sum", call_visit_sum },
	{ "quasi", call_quasi },
	{ "jitter", call_jitter },
	{ "power", call_power },
	{ "changepoint", call_changepoint },
	{ "pairs", call_pairs },
};

static void run_line(char *line, struct args *a)
{
	char *save, *word = strtok_r(line, " \n", &save);

	a->n = a->next = 0;
	if (!word)
		return;
	for (char *number; (number = strtok_r(NULL, " \n", &save));) {
		fz_assert(a->n < FZ_ARRAY_LEN(a->v));
		a->v[a->n++] = strtod(number, NULL);
	}
	for (size_t i = 0; i < FZ_ARRAY_LEN(calls); i++)
		if (strcmp(word, calls[i].name) == 0)
			calls[i].run(a);
	putchar('\n');
}

int main(void)
{
	static struct args a;
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, stdin) > 0)
		run_line(line, &a);
	free(line);
	return 0;
}
