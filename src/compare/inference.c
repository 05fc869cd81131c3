/* SPDX-License-Identifier: MIT */
/* Selects the test of a comparison, the exposures expected if nothing changed, and estimates noise
 * and drift from all functions together.
 */
#include "compare/stages.h"
#include "compare/judge_internal.h"

#include <math.h>

#include "base/thread.h"
#include "profile/fleet_fact.h"
#include "profile/heap_fact.h"
#include "profile/range.h"
#include "profile/runs.h"

static bool has_empty_run(const struct fz_walk *w)
{
	for (uint32_t run = 0; run < w->run_count; run++)
		if (w->run_samples[run] <= 0)
			return true;
	return false;
}

static bool is_equal(const struct fz_diff_cost *cost)
{
	return cost->self[FZ_BASE] == cost->self[FZ_HEAD] &&
	       cost->total[FZ_BASE] == cost->total[FZ_HEAD];
}

/* Whether both sides are one recording. Two runs of a program never have the same times of all
 * samples or, without times, the same cost of every path. */
static bool is_identical(const struct fz_inference *c)
{
	const struct fz_walk *base = &c->walk[FZ_BASE], *head = &c->walk[FZ_HEAD];
	const struct fz_samples *a = &base->profile->samples, *b = &head->profile->samples;
	size_t n = base->run_start[base->run_count];

	if (n != head->run_start[head->run_count] || c->d->factor != 1)
		return false;
	for (uint32_t i = 0; i < c->d->node_count; i++)
		if (!is_equal(&c->d->nodes[i].cost))
			return false;
	for (uint32_t i = 0; i < c->d->function_count; i++)
		if (!is_equal(&c->d->functions[i].cost))
			return false;
	if (a->timed != b->timed)
		return false;
	for (size_t i = 0; a->timed && i < n; i++)
		if (a->time[base->rows[i]] != b->time[head->rows[i]])
			return false;
	return true;
}

/* Rows of other tools' profiles may be timings of all calls, or edges of a graph, whose variance no
 * test here models. */
static bool was_sampled(const struct fz_profile *p)
{
	return !p->recording.reconstructed &&
	       (p->recording.interval_ns > 0 ||
		fz_profile_find_metric(p, FZ_STR("samples")) != FZ_NONE);
}

/* Whether instructions were counted; with samples, they are only weights of samples. */
static bool is_counted(const struct fz_profile *p)
{
	return fz_profile_find_metric(p, FZ_STR("samples")) == FZ_NONE;
}

/* Whether the metric was counted by us along with instructions. Metrics of other profilers with the
 * same names are not such counts. */
static bool is_our_count(const struct fz_diff *d)
{
	static const char *const metrics[] = { "calls", "syscalls", "allocations",
					       "bytes", "peak",     "live" };

	for (enum fz_side side = 0; side < FZ_SIDES; side++) {
		struct fz_str clock = fz_profile_fact(d->profile[side], "clock");
		if (!fz_str_eq(clock, FZ_STR("instructions")) &&
		    !fz_str_eq(clock, FZ_STR("instructions and memory")))
			return false;
	}
	for (size_t i = 0; i < FZ_ARRAY_LEN(metrics); i++)
		if (strcmp(d->metric, metrics[i]) == 0)
			return true;
	return false;
}

static bool both_ordered(const struct fz_inference *c)
{
	return c->walk[FZ_BASE].profile->samples.ordered &&
	       c->walk[FZ_HEAD].profile->samples.ordered;
}

static bool is_fleet(const struct fz_inference *c)
{
	return fz_profile_is_fleet(c->walk[FZ_BASE].profile) &&
	       fz_profile_is_fleet(c->walk[FZ_HEAD].profile);
}

static enum fz_judge_method choose_method(const struct fz_inference *c)
{
	const struct fz_walk *base = &c->walk[FZ_BASE], *head = &c->walk[FZ_HEAD];
	const char *metric = c->d->metric;
	bool instructions = strcmp(metric, "instructions") == 0;
	bool heap = fz_profile_is_heap(base->profile) && fz_profile_is_heap(head->profile);

	if (c->empty_run)
		return FZ_JUDGE_NONE;
	if (is_identical(c))
		return FZ_JUDGE_IDENTICAL;
	if ((instructions || is_our_count(c->d) || heap) && is_counted(base->profile) &&
	    is_counted(head->profile))
		return FZ_JUDGE_COUNTS;
	if (strcmp(c->d->unit, "ns") != 0 && strcmp(metric, "samples") != 0 &&
	    strcmp(metric, "cycles") != 0 && !instructions)
		return FZ_JUDGE_NONE;
	if (fz_diff_is_subtracted(c->d))
		return FZ_JUDGE_NONE;
	if (c->runs > 2)
		return FZ_JUDGE_RUNS;
	/* Different hosts may differ by any amount. */
	if (is_fleet(c))
		return FZ_JUDGE_NONE;
	if (!was_sampled(base->profile) || !was_sampled(head->profile))
		return FZ_JUDGE_NONE;
	return both_ordered(c) ? FZ_JUDGE_VISITS : FZ_JUDGE_APPROXIMATE;
}

/* Only a clock that stops while a thread waits has the low noise of a CPU clock; not Tachyon's CPU
 * mode and schedstat's steps of a scheduler tick. */
static bool is_cpu_clock(const struct fz_diff *d)
{
	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		if (!fz_str_starts(fz_profile_fact(d->profile[side], "clock"), "perf task-clock"))
			return false;
	return strcmp(d->metric, "cpu") == 0;
}

/* Noise from run to run, measured by A/A comparisons (table in docs/statistics.md). At equal speed
 * two sources remain: not all code slows down alike, and `process_noise` lasts for the lifetime of
 * a process; the cause of the latter is unknown. */
static const struct fz_ratio_noise noise_even = { .run = 0.03, .own = 0.03 };
static const double process_noise = 0.04;
static const struct fz_ratio_noise noise_cpu = { .run = 0.12, .own = 0.05 };
static const struct fz_ratio_noise noise_wall = { .run = 0.15, .own = 0.08 };

/* How unevenly other load may slow down functions, if unknown. */
static const double within_unknown = 0.12;

/* Degrees of freedom of the above. Low for several runs, because these show their own noise.
 * Processes have heavier tails: one in 200 ran at little more than half the speed of the others. */
enum { FREEDOM_OF_ONE = 30, FREEDOM_OF_PROCESS = 6, FREEDOM_OF_SEVERAL = 3 };

/* Both kinds of noise together, for several runs. The prior is so weak that the runs themselves
 * decide whether processes differ by 2 % or by 10 %. */
static const double several_even = 0.04;
enum { FREEDOM_OF_SEVERAL_EVEN = 2 };

/* Least common noise of several runs: with two runs per side, each side may have seen just one
 * state of the machine. */
static double least_noise(uint32_t runs)
{
	const double most = 0.045, least = 0.02;

	return FZ_MAX(least, most * 2 / (double)(runs - 2));
}

enum { SHOW_STALLS = 6 };

/* Samples per event if their order is unknown: a stall is one event with many samples. */
static const double clumping_cpu = 1.5, clumping_wall = 5;

/* Error of the scale: at least the first if functions agree or equal totals were requested, else
 * the second. */
static const double scale_agreed_least = 0.02, scale_scattered = 0.5;

/* Drift of a machine between the runs of one side and those of the other. */
static const double sides_apart = 0.02;

/* The fraction of such a drift that lies between the sides: 0 if they were recorded alternately. */
static double imbalance(const struct fz_diff *d)
{
	double part = fz_runs_imbalance(d->profile[FZ_BASE], d->profile[FZ_HEAD]);

	return isnan(part) ? 1 : part;
}

/* Noise that the speed does not explain grows with the variation of the speed and lasts for some
 * milliseconds on a CPU. Costs at one speed include the base's waits for a CPU. */
static double stretch_of(const struct fz_diff *d)
{
	const double lasts_ns = 11e6, usual_spread = 0.2;

	if (!d->speed_scale.used)
		return strcmp(d->unit, "ns") == 0 ? lasts_ns * usual_spread * usual_spread : 0;
	double base = d->speed_scale.side[FZ_BASE].range.spread;
	double head = d->speed_scale.side[FZ_HEAD].range.spread;

	return lasts_ns * d->speed_scale.side[FZ_BASE].stretched * (base * base + head * head) / 2;
}

/* Not all code slows down like the piece of work: this fraction of the difference in speed is
 * uncertain.
 */
static const double slope_error = 0.3;

static double speed_ratio(const struct fz_diff *d)
{
	return fabs(log(d->speed_scale.side[FZ_HEAD].piece / d->speed_scale.side[FZ_BASE].piece));
}

/* Other load also takes resources that the piece does not use: caches, memory, branch predictors.
 * This fraction of their share of the processors is uncertain. */
static const double neighbours_error = 0.05;

static double neighbours(const struct fz_diff *d)
{
	double most = 0;

	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		most = fmax(most, fz_profile_busy(d->profile[side]).others);
	return most;
}

/* In a window, a program that waits for a CPU does less work, or as much work if it is idle at
 * times. Which is the case is unknown. */
static double window_doubt(const struct fz_diff *d)
{
	if (d->scale != FZ_SCALE_WINDOW)
		return 0;
	return fabs(log(d->speed_scale.side[FZ_HEAD].stretched /
			d->speed_scale.side[FZ_BASE].stretched));
}

/* Hosts, or blocks of their time, show how costs vary, including stalls of clocks. At least this
 * many also show the effect of other load; fewer may all have been in the same state. */
enum { UNITS_OF_A_FLEET = 12 };

/* Noise of each function that a start of the program fixes until it ends: memory layout, compiled
 * branches. Blocks of a host's time do not show it.
 */
static const double restarted = 0.02;

/* Pairing of the runs of a fleet. */
struct pairing {
	bool paired;
	uint32_t hosts; /* hosts whose time is divided into blocks; 0: none */
};

static struct pairing pairing_of(const struct fz_inference *c)
{
	struct fz_str base = fz_profile_fact(c->walk[FZ_BASE].profile, FZ_FLEET_PAIRS_FACT);
	struct fz_str head = fz_profile_fact(c->walk[FZ_HEAD].profile, FZ_FLEET_PAIRS_FACT);
	uint64_t hosts = 0;

	if (!base.n || !fz_str_eq(base, head) ||
	    c->walk[FZ_BASE].run_count != c->walk[FZ_HEAD].run_count)
		return (struct pairing){ 0 };
	fz_parse_u64(fz_str_take_word(&base), UINT32_MAX, &hosts);
	return (struct pairing){ true, (uint32_t)hosts };
}

/* Whether both sides are ranges of one process's time, which share all noise that lasts for its
 * lifetime. */
static bool is_one_process(const struct fz_diff *d)
{
	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		if (!fz_profile_fact(d->profile[side], FZ_RANGE_FACT).n)
			return false;
	return fz_diff_same_fact(d, "host") && fz_diff_same_fact(d, "pid") &&
	       fz_diff_same_fact(d, "command");
}

/* Adds process noise to the common noise; degrees of freedom by Satterthwaite. */
static void add_process(struct fz_ratio_noise *noise)
{
	double rest = noise->run * noise->run, process = process_noise * process_noise;
	double sum = rest + process;

	noise->run = sqrt(sum);
	noise->run_freedom = sum * sum /
			     (rest * rest / noise->run_freedom +
			      process * process / FZ_MIN(noise->run_freedom, FREEDOM_OF_PROCESS));
}

static void at_even_speed(const struct fz_inference *c, struct fz_ratio_noise *noise)
{
	double unexplained =
		hypot(slope_error * speed_ratio(c->d), neighbours_error * neighbours(c->d));

	double run = c->runs > 2 ? several_even : noise_even.run;

	noise->run = hypot(hypot(run, unexplained), window_doubt(c->d));
	noise->own = hypot(noise_even.own, unexplained);
	if (c->runs > 2) {
		noise->run_freedom = FREEDOM_OF_SEVERAL_EVEN;
		/* Runs of one side, recorded one after the other, had the same neighbours. */
		noise->sides = M_SQRT2 * unexplained * imbalance(c->d);
	} else if (!is_one_process(c->d))
		add_process(noise);
}

static struct fz_ratio_noise noise_of(const struct fz_inference *c, const struct pairing *pairing)
{
	struct fz_ratio_noise noise = c->cpu_clock ? noise_cpu : noise_wall;
	bool by_wall = !c->d->speed_scale.used && !c->cpu_clock;
	struct fz_cpu_share crowding = { 0 };

	if (by_wall)
		crowding = fz_inference_crowding(c);
	/* Without the effect of other load a wall clock varies like a CPU clock. */
	if (crowding.known && fz_walk_by_wall(&c->walk[FZ_BASE]) &&
	    fz_walk_by_wall(&c->walk[FZ_HEAD]))
		noise.run = noise_cpu.run;

	noise.run_freedom = noise.own_freedom = c->runs > 2 ? FREEDOM_OF_SEVERAL : FREEDOM_OF_ONE;
	if (c->d->speed_scale.used)
		at_even_speed(c, &noise);
	/* Several runs show this noise themselves. */
	noise.stretch = c->runs > 2 && !c->d->speed_scale.used ? 0 : stretch_of(c->d);
	noise.clumping = 1;
	if (c->runs > 2 && !c->d->speed_scale.used) {
		noise.run = least_noise(c->runs);
		noise.sides = sides_apart * imbalance(c->d);
		noise.run_freedom = 0;
	}
	if (by_wall) {
		noise.run = hypot(noise.run, crowding.between);
		noise.own = hypot(noise.own, crowding.known ? crowding.within : within_unknown);
	}
	if (!c->d->speed_scale.used && c->runs == 2) {
		struct fz_cpu_share late = fz_inference_lateness(c);
		noise.run = hypot(noise.run, late.between);
		noise.own = hypot(noise.own, late.within);
	}
	if (!both_ordered(c))
		noise.clumping = c->cpu_clock ? clumping_cpu : clumping_wall;
	if (is_fleet(c)) {
		noise.clumping = 1;
		noise.unbounded = true;
	}
	noise.few = is_fleet(c) && c->runs < UNITS_OF_A_FLEET;
	if (is_fleet(c) && !noise.few)
		noise.own = noise_even.own;
	if (pairing->paired && !noise.few)
		noise.own = restarted;
	/* Each host of a unit varies by itself. */
	if (is_fleet(c) && !noise.few)
		noise.own /= sqrt(fz_profile_unit_hosts(c->d->profile));
	if (pairing->hosts)
		noise.own_sides = restarted * sqrt(2 / (double)pairing->hosts);
	if (c->o->kappa > 0)
		noise.run = c->o->kappa;
	return noise;
}

/* Compared by time, all runs of a side have the same exposure. Compared by share, the length of a
 * run does not matter. */
static void set_exposures(struct fz_inference *c)
{
	const struct fz_walk *base = &c->walk[FZ_BASE], *head = &c->walk[FZ_HEAD];
	double each[FZ_SIDES] = { 1, c->d->factor * base->run_count / head->run_count };
	bool by_length = c->d->scale == FZ_SCALE_SHARE || c->d->scale == FZ_SCALE_REFERENCE;
	uint32_t r = 0;

	c->exposure = fz_calloc(c->runs, sizeof(*c->exposure));
	for (enum fz_side side = 0; side < FZ_SIDES; side++) {
		const struct fz_walk *w = &c->walk[side];

		for (uint32_t run = 0; run < w->run_count; run++, r++)
			c->exposure[r] =
				each[side] *
				(by_length ? w->run_weight[run] * w->run_count / w->weight : 1);
	}
}

/* The mean cost of a sample at the exposure of a base run. */
static double sample_size(const struct fz_inference *c, enum fz_side side)
{
	const struct fz_walk *w = &c->walk[side];
	uint32_t first = side == FZ_BASE ? 0 : c->walk[FZ_BASE].run_count;
	double weight = 0;

	for (uint32_t run = 0; run < w->run_count; run++)
		weight += w->run_weight[run] / c->exposure[first + run];
	return weight / w->samples;
}

static void prepare_samples(struct fz_inference *c)
{
	const struct fz_walk *base = &c->walk[FZ_BASE], *head = &c->walk[FZ_HEAD];
	struct pairing pairing = pairing_of(c);

	set_exposures(c);
	c->ratio = (struct fz_ratio_setup){
		.base_runs = base->run_count,
		.head_runs = head->run_count,
		.exposure = c->exposure,
		.size = { sample_size(c, FZ_BASE), sample_size(c, FZ_HEAD) },
		.noise = noise_of(c, &pairing),
		.paired = pairing.paired,
	};
	c->reach = c->d->factor * base->run_count;
	double mean = (base->weight / base->run_count + head->weight / c->reach) / 2;
	c->margin = c->ratio.margin = c->o->delta * mean;
	/* Several runs show by themselves how much functions vary. */
	if (c->runs == 2) {
		double exposure = c->exposure[FZ_HEAD];

		c->ratio.whole = mean;
		c->ratio.late[FZ_BASE] = fz_walk_late(base);
		c->ratio.late[FZ_HEAD] = fz_walk_late(head) / (exposure * exposure);
	}
	c->by_clock = fz_diff_clock_shift(c->d);
}

/* ---- evidence of all functions ---- */

static bool is_scale_unknown(const struct fz_diff *d)
{
	return d->scale == FZ_SCALE_SHARE || d->scale == FZ_SCALE_REFERENCE;
}

/* Sets the witnesses below each function, including itself. */
static void find_inside(struct fz_inference *c)
{
	c->inside = fz_calloc(FZ_MAX(c->d->function_count, 1), sizeof(*c->inside));
	for (enum fz_side side = 0; side < FZ_SIDES; side++) {
		const struct fz_profile *p = c->d->profile[side];
		fz_auto(fz_free_ptr) uint64_t *below =
			fz_calloc(FZ_MAX(p->stack_count, 1), sizeof(*below));

		for (uint32_t i = p->stack_count; i-- > 0;) {
			const struct fz_stack *stack = &p->stacks[i];
			uint32_t f = c->d->function_of[side][p->frames[stack->frame].function];

			for (size_t w = 0; f != FZ_NONE && w < c->drift.n; w++)
				below[i] |= (uint64_t)(c->witness[w] == f) << w;
			if (f != FZ_NONE)
				c->inside[f] |= below[i];
			if (stack->parent != FZ_NONE)
				below[stack->parent] |= below[i];
		}
	}
}

static bool is_scattered(const struct fz_diff *d)
{
	return is_scale_unknown(d) && d->basis == FZ_BASIS_SCATTERED;
}

static struct fz_drift_prior scale_prior(const struct fz_diff *d)
{
	double least = d->basis == FZ_BASIS_SCATTERED ? scale_scattered : scale_agreed_least;

	return (struct fz_drift_prior){ true, FZ_MAX(d->factor_error, least), FREEDOM_OF_ONE };
}

static void add_witnesses(struct fz_inference *c, const struct fz_hypotheses *k)
{
	size_t room = FZ_MAX(k->n, 1), n = 0;
	fz_auto(fz_free_ptr) struct fz_drift_witness *witnesses =
		fz_calloc(room, sizeof(*witnesses));
	fz_auto(fz_free_ptr) size_t *functions = fz_calloc(room, sizeof(*functions));
	struct fz_drift_prior prior = fz_ratio_drift_prior(&c->ratio);

	for (uint32_t i = 0; i < k->n; i++) {
		const struct fz_ratio_run *runs = k->evidence[FZ_FAMILY_SELF] + (size_t)i * c->runs;

		if (fz_ratio_witness(&c->ratio, runs, &witnesses[n]))
			functions[n++] = i;
	}
	if (is_scale_unknown(c->d))
		prior = scale_prior(c->d);
	/* If functions do not agree on a scale, they are no evidence about the drift either. */
	c->has_witnesses = !is_scattered(c->d);
	fz_drift_init(&c->drift, &prior, witnesses, c->has_witnesses ? n : 0);
	c->witness = fz_calloc(FZ_DRIFT_LARGEST, sizeof(*c->witness));
	for (size_t w = 0; w < c->drift.n; w++)
		c->witness[w] = functions[c->drift.index[w]];
}

struct fz_drift_belief fz_inference_drift(const struct fz_inference *c, double cost,
					  uint64_t inside, const struct fz_drift_witness *own)
{
	struct fz_drift_belief belief = fz_drift_without(&c->drift, cost, inside, own);
	double most = c->by_clock * (1 + slope_error);

	if (most != 0) {
		belief.low = fmin(belief.low, most);
		belief.high = fmax(belief.high, most);
	}
	return belief;
}

static double dispersion(const struct fz_inference *c, const struct fz_hypotheses *k)
{
	double visits = 0, samples = 0;

	for (size_t i = 0; i < (size_t)k->n * c->runs; i++) {
		visits += k->evidence[FZ_FAMILY_SELF][i].visits;
		samples += k->evidence[FZ_FAMILY_SELF][i].samples;
	}
	return samples > 0 ? visits / samples : 1;
}

/* Replaces the prior noise by the noise of several runs over all functions; the more runs, the less
 * the prior counts. Does nothing for units of a fleet, which are not runs. */
static void learn_noise(struct fz_inference *c, const struct fz_hypotheses *k)
{
	struct fz_ratio_noise *noise = &c->ratio.noise;
	fz_auto(fz_free_ptr) struct fz_pool_item *items = fz_calloc(k->n + 1ul, sizeof(*items));
	struct fz_pool prior = { noise->clumping, noise->own, FREEDOM_OF_SEVERAL };
	size_t n = 0;

	for (uint32_t i = 0; i < k->n; i++)
		n += fz_ratio_scatter(&c->ratio, k->evidence[FZ_FAMILY_SELF] + (size_t)i * c->runs,
				      &items[n]);
	struct fz_pool pool = fz_pool_fit(items, n, &prior);
	noise->clumping = pool.dispersion;
	noise->own = pool.own;
	noise->own_freedom = pool.freedom;
}

/* Few hosts of a fleet on one side: a release may be on one host, and may be compared with a few.
 */
enum { FEW_HOSTS = 6 };

static bool shows_few_hosts(const struct fz_inference *c)
{
	return is_fleet(c) && !c->ratio.paired &&
	       FZ_MIN(c->ratio.base_runs, c->ratio.head_runs) < FEW_HOSTS;
}

static int compare_doubles(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return FZ_CMP(*x, *y);
}

/* The median of sample variances with that freedom, relative to the true variance (Wilson and
 * Hilferty 1931). */
static double median_of_variance(size_t freedom)
{
	return pow(1 - 2 / (9 * (double)freedom), 3);
}

/* How precise that median is, compared with the mean of the same variances: 2/pi for many degrees
 * of freedom, as for a normal distribution, and less for few. */
static double median_efficiency(size_t freedom)
{
	return M_2_PI * (double)freedom / ((double)freedom + 0.7);
}

/* Such a host is part of one side by chance. So each function may differ between hosts as much as
 * the median of them, even if the few hosts were alike in it. */
static void learn_hosts(struct fz_inference *c, const struct fz_hypotheses *k)
{
	struct fz_ratio_noise *noise = &c->ratio.noise;
	fz_auto(fz_free_ptr) double *variance = fz_calloc(k->n + 1ul, sizeof(*variance));
	struct fz_pool_item item;
	double freedom = 0;
	size_t n = 0;

	for (uint32_t i = 0; i < k->n; i++) {
		const struct fz_ratio_run *runs = k->evidence[FZ_FAMILY_SELF] + (size_t)i * c->runs;

		if (!fz_ratio_scatter(&c->ratio, runs, &item))
			continue;
		variance[n++] = FZ_MAX(0, item.squares - item.sampling) / item.freedom;
		freedom += item.freedom;
	}
	if (n == 0)
		return;
	qsort(variance, n, sizeof(*variance), compare_doubles);
	double median = variance[n / 2] / median_of_variance(c->runs - 2);
	if (median <= noise->own * noise->own)
		return;
	noise->own = sqrt(median);
	noise->own_freedom = FZ_MAX(noise->own_freedom, freedom * median_efficiency(c->runs - 2));
}

void fz_inference_learn(struct fz_inference *c, const struct fz_hypotheses *k)
{
	fz_assert(k->n == c->d->function_count);
	/* Enough runs show how stalls vary. */
	if (c->runs < SHOW_STALLS && !c->d->speed_scale.used && !c->cpu_clock && both_ordered(c))
		c->ratio.stalls =
			fz_ratio_find_stalls(&c->ratio, k->evidence[FZ_FAMILY_SELF], k->n);
	if (c->runs > 2) {
		c->common = fz_calloc(c->runs, sizeof(*c->common));
		fz_ratio_common(&c->ratio, k->evidence[FZ_FAMILY_SELF], k->n, c->common);
		c->ratio.common = c->common;
		if (!is_fleet(c) && !c->ratio.paired)
			learn_noise(c, k);
		if (shows_few_hosts(c))
			learn_hosts(c, k);
	}
	add_witnesses(c, k);
	find_inside(c);
	c->dispersion = dispersion(c, k);
}

/* ---- all of it ---- */

struct route {
	struct fz_walk *walk;
	const struct fz_tree *tree;
	const int64_t *even;
};

static void prepare_walk(void *arg)
{
	const struct route *r = arg;

	fz_walk_init(r->walk, r->tree->profile, r->tree->metric, r->even);
}

void fz_inference_init(struct fz_inference *c)
{
	struct route base = { &c->walk[FZ_BASE], c->d->tree[FZ_BASE],
			      c->d->speed_scale.side[FZ_BASE].even };
	struct route head = { &c->walk[FZ_HEAD], c->d->tree[FZ_HEAD],
			      c->d->speed_scale.side[FZ_HEAD].even };

	fz_both(prepare_walk, &base, &head);
	if (c->d->scale == FZ_SCALE_WINDOW) {
		fz_walk_divide(&c->walk[FZ_BASE]);
		fz_walk_divide(&c->walk[FZ_HEAD]);
	} else if (strcmp(c->d->unit, "ns") == 0) {
		fz_walks_align(c->walk);
		fz_walks_doubt(c->walk);
	}
	c->runs = c->walk[FZ_BASE].run_count + c->walk[FZ_HEAD].run_count;
	c->cpu_clock = is_cpu_clock(c->d);
	c->empty_run = has_empty_run(&c->walk[FZ_BASE]) || has_empty_run(&c->walk[FZ_HEAD]);
	c->method = choose_method(c);
	if (fz_inference_by_samples(c))
		prepare_samples(c);
	else if (c->method == FZ_JUDGE_COUNTS)
		fz_inference_prepare_counts(c);
}

void fz_inference_release(struct fz_inference *c)
{
	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		fz_walk_release(&c->walk[side]);
	free(c->exposure);
	free(c->common);
	free(c->witness);
	free(c->inside);
	free(c->whole_stalls);
}
