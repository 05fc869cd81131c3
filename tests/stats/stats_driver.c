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
#include "stats/arma.h"
#include "stats/bh.h"
#include "stats/distribution.h"
#include "stats/jitter.h"
#include "stats/order.h"
#include "stats/pairs.h"
#include "stats/power.h"
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

/* lengths of gaps and visits in turn -> samples visits */
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
}

/* base_runs, total, floor, counts of base and head -> change bound changed worth */
static void call_jitter(struct args *a)
{
	size_t base_runs = take_count(a), n;
	double total = take(a);
	double floor = take(a);
	double *v = rest(a, &n);
	struct fz_jitter j = fz_jitter_bound(v, base_runs, v + base_runs, n - base_runs, total,
					     FZ_JITTER_INSTRUCTIONS, floor);

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

/* looks, margin, then the times of the first program, and as many of the second */
/* phi white, series -> what of it could not be foreseen, and the log determinant */
static void call_whiten(struct args *a)
{
	double phi = take(a), out[FZ_ARMA_MAX];
	struct fz_arma noise = fz_arma_of(phi, take(a));
	struct fz_whitener w;
	size_t n;
	double *x = rest(a, &n);

	fz_whitener_init(&w, &noise, n);
	fz_whiten(&w, x, out);
	for (size_t i = 0; i < n; i++)
		say(out[i]);
	say(w.log_determinant);
}

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
	{ "median", call_median },
	{ "bh", call_bh },
	{ "visit_sum", call_visit_sum },
	{ "jitter", call_jitter },
	{ "power", call_power },
	{ "whiten", call_whiten },
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
