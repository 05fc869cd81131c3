/* SPDX-License-Identifier: MIT */
/* The visit-variance score test.
 *
 * a, b are the counts of base and head, m the visits, l the mean length of a visit:
 *
 *     lambda = (a + b)/(1 + rho)     mu_A = lambda   mu_B = rho lambda    what was to be expected
 *     D      = b - rho a                                                  what differs
 *     SS*    = SS with >= 5 visits, else max(SS, phi mu)
 *     U      = |m_A - m_B| when m_A + m_B < 10, else 0                    unmatched single bursts
 *     V_s    = mu + SS*_s + l_s^2 U
 *     Var(D) = V_B + rho^2 V_A + kappa^2 (mu_B^2 + rho^2 mu_A^2)
 *     z0     = D/sqrt(Var)
 *     z      = sign(D) max(0, |D| - delta)/(s sqrt(Var))
 *
 * with phi = sum SS / sum k over the functions of the side with >= 5 visits and
 * s = max(1, median|z0| / 0.6745) over the tested functions. Without order V_s = phi0 mu.
 *
 * Samples that could not be read belong to functions that nobody knows. Where the sides differ in
 * them by so many, any function may: D must exceed that too, and the interval reaches further.
 *
 * The variance is that under "nothing changed", from the pooled rate: a score test. delta is a
 * fraction of the run as pooled the same way, which keeps the test antisymmetric in its sides.
 *
 * The run itself is one more row, in one visit, but with kappa raised to the drift between the
 * sides that the typical function shows. In 50 comparisons of a program with itself 12 runs were
 * called slower or faster without that, none with it.
 *
 * Tried and worse (false functions a comparison of a program with itself): one quasi-Poisson
 * factor for all functions 1.9; visits without the guards for few visits 0.4 to 0.8; two
 * proportions with Benjamini-Hochberg 14.6. This: 0.04 to 0.07.
 */
#include "visit.h"

#include <math.h>

#include "distribution.h"
#include "order.h"

enum { BASE, HEAD };
enum { FEW_VISITS = 5, FEW_VISITS_TOGETHER = 10 };

/* Median of |Z| of a standard normal variable. */
static const double normal_mad = 0.67448975019608171;
/* 97.5 % of it lies below this. */
static const double normal_critical = 1.9599639845400545;

const struct fz_visit_noise fz_visit_noise_wall = { .kappa = 0.05, .phi = 5 };
const struct fz_visit_noise fz_visit_noise_cpu = { .kappa = 0.02, .phi = 1.5 };

static void settle(struct fz_visits *v)
{
	uint64_t length = v->end - v->start;

	if (length == 0)
		return;
	v->samples += length;
	v->squares += (double)length * (double)length;
	v->visits++;
}

void fz_visits_enter(struct fz_visits *v, uint64_t at)
{
	if (v->depth++ > 0)
		return;
	fz_assert(at >= v->end);
	if (at == v->end)
		return; /* goes on */
	settle(v);
	v->start = v->end = at;
}

void fz_visits_leave(struct fz_visits *v, uint64_t at)
{
	fz_assert(v->depth > 0 && at >= v->end);
	if (--v->depth == 0)
		v->end = at;
}

struct fz_visit_sum fz_visits_sum(const struct fz_visits *v)
{
	struct fz_visits all = *v;
	struct fz_visit_sum sum = { 0 };
	double m, k;

	fz_assert(v->depth == 0);
	settle(&all);
	m = sum.visits = all.visits;
	k = sum.samples = (double)all.samples;
	if (all.visits > 1)
		sum.square = m / (m - 1) * FZ_MAX(0, all.squares - k * k / m);
	return sum;
}

size_t fz_visit_find_bursts(const int64_t *time, size_t n, int64_t interval, bool *ret_burst)
{
	size_t bursts = 0;

	for (size_t i = 0; i < n; i++) {
		if (i > 0 && time[i] == time[i - 1])
			ret_burst[i] = ret_burst[i - 1];
		else
			ret_burst[i] = i > 0 && time[i] - time[i - 1] < interval / 10;
		bursts += ret_burst[i];
	}
	return bursts;
}

/* Variance of the count of one side around its expected mu, stalls included. */
static double side_variance(const struct fz_visit_setup *setup, const struct fz_visit_sum *own,
			    const struct fz_visit_sum *other, double mu, double phi)
{
	double square = own->square, length = 0, unmatched = 0;

	if (!setup->ordered)
		return setup->noise.phi * mu;
	if (own->visits < FEW_VISITS)
		square = FZ_MAX(square, phi * mu);
	if (own->visits > 0)
		length = own->samples / own->visits;
	if (own->visits + other->visits < FEW_VISITS_TOGETHER)
		unmatched = fabs(own->visits - other->visits);
	return mu + square + length * length * unmatched;
}

/* Standard deviation of D = b - rho a, were nothing changed. */
static double deviation(const struct fz_visit_setup *setup, const double phi[2],
			const struct fz_visit_sum *base, const struct fz_visit_sum *head)
{
	double rho = setup->rho;
	double mu_base = (base->samples + head->samples) / (1 + rho);
	double mu_head = rho * mu_base;
	double kappa = setup->noise.kappa;

	return sqrt(side_variance(setup, head, base, mu_head, phi[HEAD]) +
		    rho * rho * side_variance(setup, base, head, mu_base, phi[BASE]) +
		    kappa * kappa * (mu_head * mu_head + rho * rho * mu_base * mu_base));
}

static bool enough(const struct fz_visit_sum *base, const struct fz_visit_sum *head)
{
	return base->samples + head->samples >= FZ_VISIT_MIN_SAMPLES;
}

static double stall_dispersion(const struct fz_visit_sum *side, size_t n)
{
	double squares = 0, samples = 0;

	for (size_t i = 0; i < n; i++) {
		if (side[i].visits >= FEW_VISITS) {
			squares += side[i].square;
			samples += side[i].samples;
		}
	}
	return samples > 0 ? squares / samples : 0;
}

void fz_visit_null_fit(const struct fz_visit_setup *setup, const struct fz_visit_sum *base,
		       const struct fz_visit_sum *head, size_t n, struct fz_visit_null *ret)
{
	fz_auto(fz_free_ptr) double *z = fz_reallocarray(NULL, FZ_MAX(n, 1), sizeof(*z));
	struct fz_visit_null null = { .scale = 1 };

	fz_assert(setup->rho > 0 && isfinite(setup->rho));
	null.phi[BASE] = stall_dispersion(base, n);
	null.phi[HEAD] = stall_dispersion(head, n);
	for (size_t i = 0; i < n; i++) {
		if (enough(&base[i], &head[i]))
			z[null.tested++] = fabs(head[i].samples - setup->rho * base[i].samples) /
					   deviation(setup, null.phi, &base[i], &head[i]);
	}
	if (null.tested >= FZ_VISIT_MIN_TESTED)
		null.scale = FZ_MAX(1, fz_median(z, null.tested) / normal_mad);
	*ret = null;
}

/* delta in samples of the head. */
static double threshold(const struct fz_visit_setup *setup)
{
	return setup->delta * setup->rho * (setup->run[BASE] + setup->run[HEAD]) / (1 + setup->rho);
}

double fz_visit_margin(const struct fz_visit_setup *setup)
{
	return threshold(setup) / setup->rho;
}

struct fz_change fz_visit_test(const struct fz_visit_setup *setup, const struct fz_visit_null *null,
			       const struct fz_visit_sum *base, const struct fz_visit_sum *head)
{
	double rho = setup->rho;
	double difference = head->samples - rho * base->samples;
	double error = null->scale * deviation(setup, null->phi, base, head);
	double half = normal_critical * error + setup->unattributed;
	struct fz_change c = {
		.base = base->samples,
		.head = head->samples / rho,
		.change = difference / rho,
		.low = (difference - half) / rho,
		.high = (difference + half) / rho,
		.statistic = NAN,
		.p = NAN,
		.tested = enough(base, head),
	};

	if (c.tested) {
		double beyond =
			FZ_MAX(0, fabs(difference) - threshold(setup) - setup->unattributed);

		c.statistic = copysign(beyond / error, difference);
		c.p = fz_normal_two_sided(c.statistic);
	}
	return c;
}

struct fz_change fz_visit_test_run(const struct fz_visit_setup *setup,
				   const struct fz_visit_null *null, double reference)
{
	struct fz_visit_setup whole = *setup;
	struct fz_visit_sum base = { .samples = setup->run[BASE], .visits = 1 };
	struct fz_visit_sum head = { .samples = setup->run[HEAD], .visits = 1 };

	whole.unattributed = 0; /* it belongs to the run in any case */
	if (reference > 0) {
		/* kappa enters once for each side, and the drift is between them. */
		double drift = fabs(log(reference / setup->rho)) * M_SQRT1_2;

		whole.noise.kappa = FZ_MAX(whole.noise.kappa, drift);
	}
	return fz_visit_test(&whole, null, &base, &head);
}
