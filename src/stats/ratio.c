/* SPDX-License-Identifier: MIT */
/* The test of a ratio of costs.
 *
 * N base runs, M head runs; c_r cost, n_r samples, v_r visits, e_r exposure of run r; w the cost of
 * a typical sample; k_run, k_own, d0 the prior noise and its degrees of freedom.
 *
 *     A = mean of c_r/e_r over base runs, B over head runs
 *     L = log((B + w/2M)/(A + w/2N))
 *     V = sum v, and where stalls are possible + S + l^2 U   variance of the samples of a side;
 *         at least the estimate from blocks of time, if there is one
 *     q = (V + 1/2)/(sum n + 1/2)^2                        variance by sampling
 *     own^2 = (d0 k_own^2 + sum (l_r - mean)^2)/(d0 + N + M - 2) (1/N + 1/M)
 *           + c/(A v_A) + c/(B v_B)                        c: stretches, v visits of a side
 *     drift: between m1 and m2, each with variance t^2     drift.h
 *     half = t_crit sqrt(q_A + q_B + own^2 + t^2)
 *     interval of log(B/A):  log(B/(A + w/2N)) - m2 - half - log(1 + u_B/A) ..
 *                            log((B + w/2M)/A) - m1 + half + log(1 + u_A/B)
 *
 * For pairs, own^2 = (d0 k_own^2 + m^2/(2N^2) sum (x_r - mean)^2)/(d0 + m - 1) 2/m, where x_r = h_r
 * - b_r, with the costs of a pair divided by the mean cost, the head's also by B/A (within 1/2 ..
 * 2) and by the common noise of the pair; w_r = (b_r + h_r)/2N, and m = 1/sum w_r^2 is the
 * effective number of pairs.
 *
 * The degrees of freedom of the sum are Satterthwaite's; l_r is the log cost of a run less its
 * common noise, and the variance of sampling is subtracted from the squares. The test is a score
 * test, with the variance under "nothing changed", so it also works if a side has no samples: x_A,
 * x_B are the costs in units of the cost of one sample of the function, m is the value in m1 .. m2
 * nearest to L, R = exp(m) M/N is the expected head cost per base cost,
 *
 *     D = x_B - R x_A,  x = (x_A + x_B)/(1 + R),
 *     z = D/sqrt(g R x (s_B + R s_A) + y^2 (own^2 + t^2))
 *
 * with y the larger of R x and the logarithmic mean of x_B and R x_A, because noise is relative and
 * x hardly contains a side with few runs; g = (V_A + V_B)/(n_A + n_B); s_A, s_B are the sizes of a
 * sample of each side, relative to the mean of these samples. S is the variation of the lengths of
 * visits (with few visits, the dispersion of other functions' visits); l the mean visit, at most
 * twice the longest stall; U the number of visits without a match on the other side; S + l^2 U is
 * at most (o + 1)^2 for o samples not known to be on a CPU; u_A is the base cost at times that the
 * head did not record plus the cost of unknown functions, u_B likewise. |D| is reduced by the
 * margin and by u of the larger side.
 */
#include "ratio.h"

#include <math.h>

#include "base/base.h"
#include "distribution.h"
#include "order.h"

enum { BASE, HEAD };
enum { FEW_SAMPLES = 10, FEW_VISITS = 5 };
enum {
	LARGEST_HALF = 20
}; /* half width of an interval's logarithm that covers any factor and stays finite */

/* Sums of one function over the runs of each side. */
struct sums {
	double cost[2]; /* mean per run, divided by exposure */
	double samples[2], visits[2], square[2];
	double variance[2];  /* of the samples */
	double blocks[2];    /* likewise, from blocks of time */
	double unseen[2];    /* of the cost */
	double doubt[2];     /* likewise */
	double by_chance[2]; /* variance in samples */
	double off[2];       /* samples not known to be on a CPU */
	size_t runs[2];
};

static size_t run_count(const struct fz_ratio_setup *s)
{
	return s->base_runs + s->head_runs;
}

static int side_of(const struct fz_ratio_setup *s, size_t run)
{
	return run >= s->base_runs;
}

/* Variance that stalls may add to the samples of one side. A visit without a match on the other
 * side may be a stall, of at most the length of stalls elsewhere. A thread on a CPU does not
 * stall. */
static double stalls_of(const struct fz_ratio_setup *s, const struct sums *k, int side)
{
	double n = k->samples[side], m = FZ_MIN(k->visits[side], n), square = k->square[side];
	double unmatched = 0, length = m > 0 ? FZ_MIN(n / m, 2 * s->stalls.longest) : 0;

	if (!s->stalls.possible)
		return 0;
	if (m < FEW_VISITS)
		square = FZ_MAX(square, s->stalls.dispersion * n);
	if (k->visits[BASE] + k->visits[HEAD] < 2 * FEW_VISITS)
		unmatched = fabs(k->visits[BASE] - k->visits[HEAD]);
	return FZ_MIN(square + length * length * unmatched,
		      (k->off[side] + 1) * (k->off[side] + 1));
}

/* Variance of the samples of one side because its sampler was late: the function had each of those
 * costs with the probability of its share of both sides. */
static double lateness_of(const struct fz_ratio_setup *s, const struct sums *k, int side)
{
	if (s->late[side] <= 0)
		return 0;
	double share = FZ_MIN(1, (k->cost[BASE] + k->cost[HEAD]) / (2 * s->whole));
	double each = k->samples[side] > 0 ? k->cost[side] / k->samples[side] : s->size[side];

	fz_assert(k->runs[side] == 1 && s->whole > 0);
	return s->late[side] * share * (1 - share) / (each * each);
}

/* Variance of the samples of one side by chance. */
static double variance_of(const struct fz_ratio_setup *s, const struct sums *k, int side)
{
	double visits = FZ_MIN(k->visits[side], k->samples[side]);
	double sampled = visits * s->noise.clumping + stalls_of(s, k, side) + k->by_chance[side];

	return FZ_MAX(sampled, k->blocks[side]) + lateness_of(s, k, side);
}

static struct sums sum_up(const struct fz_ratio_setup *s, const struct fz_ratio_run *runs)
{
	struct sums k = { .runs = { s->base_runs, s->head_runs } };

	for (size_t r = 0; r < run_count(s); r++) {
		int side = side_of(s, r);

		k.cost[side] += runs[r].cost / s->exposure[r] / (double)k.runs[side];
		k.unseen[side] += runs[r].unseen / s->exposure[r] / (double)k.runs[side];
		k.doubt[side] += runs[r].doubt / s->exposure[r] / (double)k.runs[side];
		k.samples[side] += runs[r].samples;
		k.visits[side] += runs[r].visits;
		k.square[side] += runs[r].square;
		k.by_chance[side] += runs[r].by_chance;
		if (runs[r].cost > 0)
			k.off[side] += (1 - runs[r].on / runs[r].cost) * runs[r].samples;
		if (runs[r].cost > 0)
			k.blocks[side] += runs[r].variance * runs[r].samples * runs[r].samples /
					  (runs[r].cost * runs[r].cost);
	}
	for (int side = 0; side < 2; side++)
		k.variance[side] = variance_of(s, &k, side);
	return k;
}

/* Relative variance of a cost by sampling. */
static double sampling_variance(double samples, double variance, double clumping)
{
	return (variance + 0.5 * clumping) / ((samples + 0.5) * (samples + 0.5));
}

/* Adds half a sample. */
static double log_cost(const struct fz_ratio_setup *s, int side, double cost, size_t runs)
{
	return log(cost + s->size[side] / (2 * (double)runs));
}

static double log_ratio(const struct fz_ratio_setup *s, const struct sums *k)
{
	return log_cost(s, HEAD, k->cost[HEAD], s->head_runs) -
	       log_cost(s, BASE, k->cost[BASE], s->base_runs);
}

static double log_of_run(const struct fz_ratio_setup *s, const struct fz_ratio_run *run, size_t r)
{
	return log_cost(s, side_of(s, r), run->cost / s->exposure[r], 1);
}

static double between(const struct fz_ratio_setup *s)
{
	return 1 / (double)s->base_runs + 1 / (double)s->head_runs;
}

/* How single runs differ: the sum of squares without the part that sampling explains, its degrees
 * of freedom, and the factor from one run's variance to that between the sides. */
struct scatter {
	double squares, freedom, between;
};

static double sampling_of_run(const struct fz_ratio_setup *s, const struct fz_ratio_run *run)
{
	return sampling_variance(run->samples,
				 FZ_MIN(run->visits, run->samples) * s->noise.clumping,
				 s->noise.clumping);
}

static double common_of(const struct fz_ratio_setup *s, size_t r)
{
	return s->common ? s->common[r] : 0;
}

/* How the log costs of runs differ from the mean of their side, without the common noise. */
static struct fz_pool_item scatter_between_runs(const struct fz_ratio_setup *s,
						const struct fz_ratio_run *runs)
{
	double n = (double)run_count(s), mean[2] = { 0 }, squares = 0, sampling = 0;

	for (size_t r = 0; r < run_count(s); r++)
		mean[side_of(s, r)] += log_of_run(s, &runs[r], r) - common_of(s, r);
	mean[BASE] /= (double)s->base_runs;
	mean[HEAD] /= (double)s->head_runs;
	for (size_t r = 0; r < run_count(s); r++) {
		double x = log_of_run(s, &runs[r], r) - common_of(s, r) - mean[side_of(s, r)];

		squares += x * x;
		sampling += sampling_of_run(s, &runs[r]);
	}
	return (struct fz_pool_item){ squares, sampling * (n - 2) / n, n - 2 };
}

static struct scatter scatter_of_sides(const struct fz_ratio_setup *s,
				       const struct fz_ratio_run *runs)
{
	struct fz_pool_item k = scatter_between_runs(s, runs);

	return (struct scatter){ s->noise.few ? k.squares : FZ_MAX(0, k.squares - k.sampling),
				 k.freedom, between(s) };
}

/* Variance of a run's cost by sampling, as the square of a cost; 0 without samples. */
static double sampled_square(const struct fz_ratio_setup *s, const struct fz_ratio_run *run,
			     double exposure)
{
	double each = run->samples > 0 ? run->cost / exposure / run->samples : 0;

	return FZ_MIN(run->visits, run->samples) * s->noise.clumping * each * each;
}

/* Head cost divided by base cost, within 1/2 .. 2 because some pairs may have no cost. */
static double ratio_of_pairs(const struct sums *k)
{
	return k->cost[BASE] > 0 ? FZ_MIN(FZ_MAX(k->cost[HEAD] / k->cost[BASE], 0.5), 2) : 2;
}

/* How pairs differ, each weighted by its part of the cost. A function with cost in a single pair
 * has no degrees of freedom. */
static struct scatter scatter_of_pairs(const struct fz_ratio_setup *s, const struct sums *k,
				       const struct fz_ratio_run *runs)
{
	size_t pairs = s->base_runs;
	double n = (double)pairs, ratio = ratio_of_pairs(k);
	double mean = (k->cost[BASE] + k->cost[HEAD] / ratio) / 2;
	double sum = 0, squares = 0, sampling = 0, weights = 0;

	for (size_t r = 0; mean > 0 && r < pairs; r++) {
		const struct fz_ratio_run *base = &runs[r], *head = &runs[pairs + r];
		double exposure = s->exposure[pairs + r] * ratio;
		double b = base->cost / s->exposure[r] / mean, h = head->cost / exposure / mean;
		double x = h * exp(-common_of(s, pairs + r)) - b;

		sum += x;
		squares += x * x;
		weights += (h + b) * (h + b) / (4 * n * n);
		sampling += (sampled_square(s, base, s->exposure[r]) +
			     sampled_square(s, head, exposure)) /
			    (mean * mean);
	}
	if (weights == 0)
		return (struct scatter){ 0, 0, 2 / n };
	double alike = 1 / weights;
	squares -= sum * sum / n + (s->noise.few ? 0 : sampling * (n - 1) / n);
	return (struct scatter){ FZ_MAX(0, squares) * alike * alike / (2 * n * n),
				 FZ_MAX(0, alike - 1), 2 / alike };
}

static struct scatter scatter_of(const struct fz_ratio_setup *s, const struct sums *k,
				 const struct fz_ratio_run *runs)
{
	if (run_count(s) == 2)
		return (struct scatter){ 0, 0, between(s) };
	return s->paired ? scatter_of_pairs(s, k, runs) : scatter_of_sides(s, runs);
}

/* Variance of one run: the prior's and the observed one, weighted by degrees of freedom. */
static double moderated(double prior, double freedom, const struct scatter *v)
{
	if (freedom == 0)
		return FZ_MAX(prior * prior, v->squares / v->freedom);
	return (freedom * prior * prior + v->squares) / (freedom + v->freedom);
}

/* Whether noise is unbounded and runs vary more than the prior: then the prior does not apply. */
static bool is_unusual(const struct fz_ratio_setup *s, const struct scatter *v)
{
	return s->noise.unbounded && v->squares > v->freedom * s->noise.own * s->noise.own;
}

static double own_freedom(const struct fz_ratio_setup *s, const struct scatter *v)
{
	const double least = 0.5; /* the heaviest tails used here */

	return is_unusual(s, v) ? FZ_MAX(v->freedom, least) : s->noise.own_freedom + v->freedom;
}

static double stretch_variance(const struct fz_ratio_setup *s, const struct sums *k)
{
	double variance = 0;

	for (int side = 0; side < 2; side++) {
		double visits = FZ_MAX(k->visits[side], (double)k->runs[side]);

		if (k->cost[side] > 0)
			variance += s->noise.stretch / (k->cost[side] * visits);
	}
	return variance;
}

/* Variance of the difference between the sides. */
static double own_variance(const struct fz_ratio_setup *s, const struct sums *k,
			   const struct scatter *v)
{
	double one = is_unusual(s, v) ? v->squares / own_freedom(s, v)
				      : moderated(s->noise.own, s->noise.own_freedom, v);

	return one * v->between + s->noise.own_sides * s->noise.own_sides + stretch_variance(s, k);
}

/* Variance of a difference: sampling, which is known, and noise, which is estimated. */
struct spread {
	double sampling, own, drift; /* variances */
	double own_freedom, drift_freedom;
};

/* Degrees of freedom of the sum (Satterthwaite 1946). */
static double freedom_of(const struct spread *v)
{
	double sum = v->sampling + v->own + v->drift;
	double below = v->own * v->own / v->own_freedom + v->drift * v->drift / v->drift_freedom;

	return below > 0 ? FZ_MIN(sum * sum / below, 1e6) : 1e6;
}

static struct spread spread_of(const struct fz_ratio_setup *s, const struct sums *k,
			       const struct fz_drift_belief *drift, const struct fz_ratio_run *runs)
{
	struct scatter scatter = scatter_of(s, k, runs);
	struct spread v = { .own = own_variance(s, k, &scatter),
			    .drift = drift->variance,
			    .own_freedom = own_freedom(s, &scatter),
			    .drift_freedom = drift->freedom };

	for (int side = 0; side < 2; side++)
		v.sampling +=
			sampling_variance(k->samples[side], k->variance[side], s->noise.clumping);
	return v;
}

/* ---- the interval ---- */

/* How far the true cost of a side may be below and above the measured one (Wilson's interval for a
 * count of dispersion d). */
struct reach {
	double below, above;
};

static struct reach reach_of(const struct fz_ratio_setup *s, const struct sums *k, int side,
			     double critical, double noise)
{
	double n = k->samples[side], cost = k->cost[side];
	double d = n > 0 ? k->variance[side] / n : s->noise.clumping + s->stalls.dispersion;
	double middle = critical * critical * d / 2;
	double half = critical * sqrt(n * d + critical * critical * d * d / 4);
	double each = n > 0 ? cost / n : s->size[side] / (double)k->runs[side];
	double other = critical * sqrt(noise) * cost;

	return (struct reach){ FZ_MIN(hypot((half - middle) * each, other), cost),
			       hypot((half + middle) * each, other) };
}

/* Critical value of t. For 95 % Fisher's expansion is used where it is accurate to 0.1 %. */
static double critical_of(double alpha, double df)
{
	const double z = 1.9599639845400545, z2 = z * z;

	if (alpha > 0 || df < 6)
		return fz_t_critical(alpha > 0 ? alpha : 0.05, df);
	return z * (1 + (z2 + 1) / (4 * df) + (5 * z2 * z2 + 16 * z2 + 3) / (96 * df * df) +
		    (3 * z2 * z2 * z2 + 19 * z2 * z2 + 17 * z2 - 15) / (384 * df * df * df));
}

/* Sets the interval of the change in cost from that of the log ratio. If a side has few samples,
 * the intervals of both sides are combined instead (Donner and Zou 2012). */
static void set_interval(const struct fz_ratio_setup *s, const struct sums *k,
			 const struct spread *v, const struct fz_drift_belief *drift,
			 struct fz_change *c)
{
	double critical = critical_of(s->alpha, freedom_of(v));
	/* Cost that each side may have in addition. */
	double base_more = s->slack + k->unseen[HEAD], head_more = s->slack + k->unseen[BASE];

	/* Without samples there is no interval. */
	if (k->samples[BASE] + k->samples[HEAD] == 0)
		return;
	if (FZ_MIN(k->samples[BASE], k->samples[HEAD]) >= FEW_SAMPLES) {
		double half =
			FZ_MIN(critical * sqrt(v->sampling + v->own + v->drift), LARGEST_HALF);
		/* The lower end adds half a sample to the base, the upper end to the head, so that
		 * swapping the sides inverts the interval. */
		double least = log(k->cost[HEAD]) - log_cost(s, BASE, k->cost[BASE], s->base_runs);
		double most = log_cost(s, HEAD, k->cost[HEAD], s->head_runs) - log(k->cost[BASE]);

		least -= drift->high + half + log1p(base_more / k->cost[BASE]);
		most += half - drift->low + log1p(head_more / k->cost[HEAD]);
		c->low = k->cost[BASE] * expm1(least) - k->doubt[HEAD] * exp(-drift->high - half);
		c->low = FZ_MAX(c->low, -k->cost[BASE]);
		c->high = k->cost[BASE] * expm1(most) + k->doubt[BASE];
		return;
	}
	double noise =
		v->own + v->drift + FZ_MAX(drift->low * drift->low, drift->high * drift->high);
	struct reach base = reach_of(s, k, BASE, critical, 0);
	struct reach head = reach_of(s, k, HEAD, critical, noise);

	c->low = c->change - hypot(head.below, base.above) - base_more - k->doubt[HEAD];
	c->low = FZ_MAX(c->low, -k->cost[BASE]);
	c->high = c->change + hypot(head.above, base.below) + head_more + k->doubt[BASE];
}

/* ---- the test ---- */

/* Mean cost of a sample, over both sides. */
static double sample_cost(const struct sums *k)
{
	return (k->cost[BASE] * (double)k->runs[BASE] + k->cost[HEAD] * (double)k->runs[HEAD]) /
	       (k->samples[BASE] + k->samples[HEAD]);
}

/* Returns the sums with the costlier side reduced by the cost that other load may have caused. */
static struct sums without_doubt(const struct sums *k)
{
	struct sums less = *k;
	int dearer = k->cost[HEAD] > k->cost[BASE] ? HEAD : BASE;

	less.cost[dearer] = FZ_MAX(k->cost[dearer] - k->doubt[dearer], k->cost[!dearer]);
	return less;
}

/* Size of a side's samples, relative to the mean of those that show the function: a side that was
 * observed for less time, or less often, has larger ones. */
static double sample_size(const struct fz_ratio_setup *s, const struct sums *k, int side)
{
	const double *n = k->samples, *size = s->size;

	return size[side] * (n[BASE] + n[HEAD]) / (size[BASE] * n[BASE] + size[HEAD] * n[HEAD]);
}

/* The logarithmic mean: a difference divided by it is the logarithm of the ratio. 0 if one is 0. */
static double middle_of(double a, double b)
{
	double log_ratio = a > 0 && b > 0 ? log(a / b) : INFINITY;

	return fabs(log_ratio) < 1e-6 ? a : (a - b) / log_ratio;
}

static void test_score(const struct fz_ratio_setup *s, const struct sums *k, const struct spread *v,
		       const struct fz_drift_belief *drift, struct fz_change *c)
{
	const struct sums less = without_doubt(k);
	double samples = k->samples[BASE] + k->samples[HEAD];
	double dispersion = (k->variance[BASE] + k->variance[HEAD]) / samples;
	double each = sample_cost(k);
	double base = less.cost[BASE] / each * (double)k->runs[BASE];
	double head = less.cost[HEAD] / each * (double)k->runs[HEAD];
	/* Of the possible drifts, the one that explains most of the difference. */
	double machine = FZ_MIN(FZ_MAX(log_ratio(s, &less), drift->low), drift->high);
	double ratio = exp(machine) * (double)k->runs[HEAD] / (double)k->runs[BASE];
	double expected = ratio * (base + head) / (1 + ratio);
	double varied = FZ_MAX(expected, middle_of(head, ratio * base));
	double noise = varied * varied * (v->own + v->drift);
	double sampled = expected * (sample_size(s, k, HEAD) + ratio * sample_size(s, k, BASE));
	double variance = dispersion * sampled + noise;
	double difference = head - ratio * base;
	/* Half of the drift, so that the test treats both sides alike. */
	double apart = s->margin + s->slack + k->unseen[difference > 0 ? HEAD : BASE];
	double margin = apart / each * (double)k->runs[HEAD] * exp(machine / 2);

	c->statistic = copysign(FZ_MAX(0, fabs(difference) - margin) / sqrt(variance), difference);
	c->p = fz_t_two_sided(c->statistic, freedom_of(v));
}

struct fz_change fz_ratio_test(const struct fz_ratio_setup *s, const struct fz_drift_belief *drift,
			       const struct fz_ratio_run *runs)
{
	fz_assert(s->base_runs > 0 && s->head_runs > 0);
	fz_assert(!s->paired || s->base_runs == s->head_runs);
	struct sums k = sum_up(s, runs);
	struct spread v = spread_of(s, &k, drift, runs);
	struct fz_change c = {
		.base = k.cost[BASE],
		.head = k.cost[HEAD],
		.change = k.cost[HEAD] - k.cost[BASE],
		.statistic = NAN,
		.p = NAN,
		.tested = k.samples[BASE] + k.samples[HEAD] >= FZ_RATIO_MIN_SAMPLES,
	};

	set_interval(s, &k, &v, drift, &c);
	/* The interval contains the reported change even where the drift excludes it. */
	c.low = FZ_MIN(c.low, c.change);
	c.high = FZ_MAX(c.high, c.change);
	if (c.tested)
		test_score(s, &k, &v, drift, &c);
	return c;
}

/* ---- what is common ---- */

bool fz_ratio_witness(const struct fz_ratio_setup *s, const struct fz_ratio_run *runs,
		      struct fz_drift_witness *ret)
{
	struct sums k = sum_up(s, runs);

	if (k.samples[BASE] < FEW_SAMPLES || k.samples[HEAD] < FEW_SAMPLES)
		return false;
	ret->log_ratio = log_ratio(s, &k);
	struct scatter scatter = scatter_of(s, &k, runs);
	ret->variance = own_variance(s, &k, &scatter);
	for (int side = 0; side < 2; side++)
		ret->variance +=
			sampling_variance(k.samples[side], k.variance[side], s->noise.clumping);
	ret->cost = FZ_MAX(k.cost[BASE], k.cost[HEAD]);
	return true;
}

struct fz_ratio_stalls fz_ratio_find_stalls(const struct fz_ratio_setup *s,
					    const struct fz_ratio_run *runs, size_t n)
{
	struct fz_ratio_stalls found = { .possible = true };
	double squares = 0, samples = 0;

	for (size_t i = 0; i < n * run_count(s); i++) {
		const struct fz_ratio_run *r = &runs[i];

		if (r->visits < FEW_VISITS)
			continue;
		squares += r->square;
		samples += r->samples;
		found.longest = FZ_MAX(found.longest, r->longest - r->samples / r->visits);
	}
	found.dispersion = samples > 0 ? squares / samples : 0;
	return found;
}

/* Runs [first, end) of one side, or of both. */
struct range {
	size_t first, end;
};

static struct range runs_of_side(const struct fz_ratio_setup *s, int side)
{
	return side == HEAD ? (struct range){ s->base_runs, run_count(s) }
			    : (struct range){ 0, s->base_runs };
}

static bool in_every_run(const struct fz_ratio_run *runs, struct range range)
{
	for (size_t r = range.first; r < range.end; r++)
		if (runs[r].samples < FEW_SAMPLES)
			return false;
	return true;
}

bool fz_ratio_scatter(const struct fz_ratio_setup *s, const struct fz_ratio_run *runs,
		      struct fz_pool_item *ret)
{
	struct fz_ratio_setup each = *s;

	if (!in_every_run(runs, (struct range){ 0, run_count(s) }))
		return false;
	each.noise.clumping = 1;
	*ret = scatter_between_runs(&each, runs);
	return true;
}

/* Distance of a function's log cost in run r from the mean of its side. */
static double distance_in(const struct fz_ratio_setup *s, const struct fz_ratio_run *runs, size_t r)
{
	struct range own = runs_of_side(s, side_of(s, r));
	double mean = 0;

	for (size_t i = own.first; i < own.end; i++)
		mean += log_of_run(s, &runs[i], i) / (double)(own.end - own.first);
	return log_of_run(s, &runs[r], r) - mean;
}

/* For pairs, the difference of a pair counts for its head run, and the base run has 0. */
static double distance(const struct fz_ratio_setup *s, const struct fz_ratio_run *runs, size_t r)
{
	if (!s->paired)
		return distance_in(s, runs, r);
	return side_of(s, r) ? distance_in(s, runs, r) - distance_in(s, runs, r - s->base_runs) : 0;
}

/* The runs that the distance in run r is computed from. */
static struct range runs_of_distance(const struct fz_ratio_setup *s, size_t r)
{
	return s->paired ? (struct range){ 0, run_count(s) } : runs_of_side(s, side_of(s, r));
}

/* Cost of a function in those runs. */
static double weight_of(const struct fz_ratio_setup *s, const struct fz_ratio_run *runs, size_t r)
{
	struct sums k = sum_up(s, runs);

	return s->paired ? sqrt(k.cost[BASE] * k.cost[HEAD]) : k.cost[side_of(s, r)];
}

static void add_runs(const struct fz_ratio_setup *s, const struct fz_ratio_run *more,
		     struct fz_ratio_run *sum)
{
	for (size_t r = 0; r < run_count(s); r++) {
		sum[r].cost += more[r].cost;
		sum[r].samples += more[r].samples;
	}
}

void fz_ratio_common(const struct fz_ratio_setup *s, const struct fz_ratio_run *runs, size_t n,
		     double *ret_common)
{
	fz_auto(fz_free_ptr) struct fz_weighted *items =
		fz_reallocarray(NULL, n + 1, sizeof(*items));
	fz_auto(fz_free_ptr) struct fz_ratio_run *rest = fz_calloc(run_count(s), sizeof(*rest));

	for (size_t r = 0; r < run_count(s); r++) {
		struct range range = runs_of_distance(s, r);
		size_t used = 0;

		memset(rest, 0, run_count(s) * sizeof(*rest));
		for (size_t i = 0; i < n; i++) {
			const struct fz_ratio_run *own = runs + i * run_count(s);

			if (in_every_run(own, range))
				items[used++] = (struct fz_weighted){ distance(s, own, r),
								      weight_of(s, own, r) };
			else
				add_runs(s, own, rest);
		}
		if (in_every_run(rest, range))
			items[used++] =
				(struct fz_weighted){ distance(s, rest, r), weight_of(s, rest, r) };
		ret_common[r] = used ? fz_weighted_median(items, used) : 0;
	}
}

struct fz_drift_prior fz_ratio_drift_prior(const struct fz_ratio_setup *s)
{
	struct scatter v = { .freedom = (double)run_count(s) - 2 };

	for (size_t r = 0; s->common && r < run_count(s); r++)
		v.squares += s->common[r] * s->common[r];
	if (s->paired) {
		v.squares /= 2;
		v.freedom /= 2;
	}
	double variance = moderated(s->noise.run, s->noise.run_freedom, &v) * between(s) +
			  s->noise.sides * s->noise.sides;
	return (struct fz_drift_prior){ .deviation = sqrt(variance),
					.freedom = s->noise.run_freedom + v.freedom };
}

void fz_ratio_set_power(const struct fz_ratio_setup *s, double drift_variance,
			struct fz_power *power)
{
	double deviation = fz_ratio_drift_prior(s).deviation;
	double part = deviation > 0 ? s->noise.sides / deviation : 0;
	double fixed = drift_variance * part * part;

	power->sides = sqrt(fixed);
	power->kappa = sqrt(s->noise.own * s->noise.own + (drift_variance - fixed) / between(s));
}
