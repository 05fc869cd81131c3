/* SPDX-License-Identifier: MIT */
/* Converts the head's times to the base's speed.
 *
 * CPU time is not work: on a shared machine the same program takes 10 to 30 % more or less of it
 * from run to run, and wall time also includes waits for CPUs. Recordings have the speed of the
 * machine at each moment (profile/speed.h) and the waits of threads for a CPU. A sample's *even*
 * weight excludes both effects:
 *
 *     on a CPU      even = weight / cost of the piece at that moment
 *     waiting       even = 0             its time is spread over samples on a CPU; but if waits
 *                                        are recorded with their own frames, like asleep
 *     asleep        even = weight        independent of speed
 *
 * The base is shown as measured. That defines the price of even time in each function f of the
 * base, which is then applied to the head:
 *
 *     price_f = (measured on a CPU + measured waiting)/(even on a CPU)        of f in the base
 *     head'   = even * price_f                                   asleep: as measured
 *
 * so that head'/base is the ratio of even times, function by function, and sums along the tree
 * remain sums. A function with little data takes part of its price from the whole base: half of its
 * slowness if it has HALF_KNOWN_NS on a CPU, and half of its waiting if it has HALF_KNOWN_WAITS. On
 * a busy machine waits are few and long, and hit functions by chance:
 *
 *     price_f = slowness_f (1 + waiting_f)
 *     slowness_f = (on a CPU + k slowness)/(even + k)
 *     waiting_f  = (waiting + h waiting/on a CPU of all)/(on a CPU + h)
 *
 * with k in pieces and h in ns of the base's average. All prices are multiplied so that the sum of
 * the base equals its measured time.
 */
#include "compare/stages.h"
#include "profile/speed.h"

#include <math.h>

/* With this much data, half of a price is the function's own: time on a CPU, and number of waits
 * for one. */
#define HALF_KNOWN_NS 10e6
#define HALF_KNOWN_WAITS 4

/* ---- samples ---- */

enum where { ON_CPU, WAITING, ASLEEP };

struct lens {
	const struct fz_profile *p;
	uint32_t metric, wait; /* FZ_NONE: waits are unknown, or have frames */
	bool cpu;              /* the metric is CPU time */
	struct fz_speed speed;
	size_t hint;
};

static enum where where_is(const struct lens *l, size_t row)
{
	if (l->cpu || (l->p->samples.status[row] & FZ_STATUS_ON_CPU))
		return ON_CPU;
	return l->wait != FZ_NONE && fz_sample_weight(l->p, l->wait, row) > 0 ? WAITING : ASLEEP;
}

/* Duration of the piece of work, ns, at the time of a sample. */
static double piece_at(struct lens *l, size_t row)
{
	const struct fz_samples *s = &l->p->samples;

	return fz_speed_cost_at(&l->speed, s->run ? s->run[row] : 0, s->time[row], &l->hint);
}

static bool open_lens(struct lens *l, const struct fz_profile *p, uint32_t metric, bool told)
{
	*l = (struct lens){ .p = p,
			    .metric = metric,
			    .wait = told ? FZ_NONE : fz_profile_find_metric(p, FZ_STR("wait")),
			    .cpu = strcmp(p->metrics[metric].name, "cpu") == 0 };
	return p->samples.timed && p->samples.ordered && fz_speed_init(&l->speed, p);
}

/* ---- prices ---- */

/* Price of a function of the base, or of the whole base. */
struct price {
	double on_cpu, waiting; /* measured, ns */
	double even;            /* pieces of work */
};

struct prices {
	struct fz_map by_key;
	struct price *of; /* indexed by the map */
	size_t n, cap;
	struct price all;
	double waits; /* number of stretches of samples */
	double scale; /* makes the sum of the base its measured time */
};

static struct fz_str last_part(struct fz_str path)
{
	for (size_t i = path.n; i > 0; i--)
		if (path.p[i - 1] == '/')
			return (struct fz_str){ path.p + i, path.n - i };
	return path;
}

static uint64_t hash_text(struct fz_str s)
{
	return fz_hash_bytes(s.p, s.n);
}

/* Hashes a function by base name of its file, because the sides' files may be in different
 * folders. */
static uint64_t key_of(const struct fz_profile *p, uint32_t stack)
{
	const struct fz_function *f = fz_profile_stack_function(p, stack);

	return hash_text(fz_profile_text(p, f->name)) * 31 +
	       hash_text(last_part(fz_profile_text(p, f->file)));
}

static struct price *price_of(struct prices *prices, uint64_t key)
{
	uint32_t *slot = fz_map_slot(&prices->by_key, key);

	if (*slot == FZ_NONE) {
		*slot = (uint32_t)prices->n;
		fz_push(prices->of, prices->n, prices->cap, (struct price){ 0 });
	}
	return &prices->of[*slot];
}

static void add_price(struct price *price, const struct price *more)
{
	price->on_cpu += more->on_cpu;
	price->waiting += more->waiting;
	price->even += more->even;
}

/* Sums by stack first, so that names are looked up once per stack. */
static void learn_prices(struct lens *l, struct prices *prices)
{
	const struct fz_samples *s = &l->p->samples;
	uint32_t stacks = FZ_MAX(l->p->stack_count, 1);
	fz_auto(fz_free_ptr) bool *waits = fz_calloc(FZ_MAX(l->p->thread_count, 1), sizeof(*waits));
	fz_auto(fz_free_ptr) struct price *own = fz_calloc(stacks, sizeof(*own));

	for (size_t row = 0; row < s->n; row++) {
		double weight = (double)fz_sample_weight(l->p, l->metric, row);
		enum where where = where_is(l, row);
		bool *waited = &waits[s->thread[row]];

		if (s->stack[row] == FZ_NONE || weight <= 0)
			continue;
		prices->waits += where == WAITING && !*waited;
		*waited = where == WAITING;
		if (where == WAITING)
			own[s->stack[row]].waiting += weight;
		if (where == ON_CPU)
			add_price(&own[s->stack[row]],
				  &(struct price){ .on_cpu = weight,
						   .even = weight / piece_at(l, row) });
	}
	for (uint32_t i = 0; i < l->p->stack_count; i++) {
		if (own[i].on_cpu + own[i].waiting <= 0)
			continue;
		add_price(price_of(prices, key_of(l->p, i)), &own[i]);
		add_price(&prices->all, &own[i]);
	}
}

/* Price of a function mixed with that of the base, in ns per piece of work. */
static double mixed(const struct prices *prices, const struct price *own)
{
	const struct price *all = &prices->all;
	double slowness = all->on_cpu / all->even, k = HALF_KNOWN_NS / slowness;
	double waiting = all->waiting / all->on_cpu;
	double h = HALF_KNOWN_WAITS * all->on_cpu / FZ_MAX(prices->waits, 1);

	return (own->on_cpu + k * slowness) / (own->even + k) *
	       (1 + (own->waiting + h * waiting) / (own->on_cpu + h));
}

static void set_scale(struct prices *prices)
{
	double sum = 0;

	for (size_t i = 0; i < prices->n; i++)
		sum += prices->of[i].even * mixed(prices, &prices->of[i]);
	prices->scale = (prices->all.on_cpu + prices->all.waiting) / sum;
}

/* Returns the price of the innermost function of each stack of a side, in ns per piece of work. */
static double *price_stacks(const struct fz_profile *p, const struct prices *prices)
{
	static const struct price unknown = { 0 };
	double *price = fz_calloc(FZ_MAX(p->stack_count, 1), sizeof(*price));

	for (uint32_t i = 0; i < p->stack_count; i++) {
		uint32_t f = fz_map_get(&prices->by_key, key_of(p, i));

		price[i] = prices->scale * mixed(prices, f == FZ_NONE ? &unknown : &prices->of[f]);
	}
	return price;
}

/* ---- weights ---- */

static int64_t *weigh_even(struct lens *l, const struct prices *prices,
			   struct fz_speed_scale_side *side)
{
	size_t n = l->p->samples.n;
	int64_t *column = fz_calloc(FZ_MAX(n, 1), sizeof(*column));
	fz_auto(fz_free_ptr) double *price = price_stacks(l->p, prices);
	double pieces = 0, time = 0, rest = 0;

	for (size_t row = 0; row < n; row++) {
		uint32_t stack = l->p->samples.stack[row];
		int64_t weight = fz_sample_weight(l->p, l->metric, row);
		enum where where = where_is(l, row);

		if (where == ASLEEP)
			column[row] = weight;
		if (where == WAITING)
			side->waited += weight;
		if (where != ON_CPU || stack == FZ_NONE)
			continue;
		double piece = piece_at(l, row);
		double even = (double)weight / piece * price[stack] + rest;

		column[row] = llround(even);
		rest = even - (double)column[row];
		pieces += (double)weight / piece;
		time += (double)weight;
	}
	side->piece = pieces > 0 ? time / pieces : 0;
	side->stretched = time > 0 ? (time + (double)side->waited) / time : 1;
	return column;
}

/* ---- all of it ---- */

bool fz_diff_same_fact(const struct fz_diff *d, const char *key)
{
	struct fz_str base = fz_profile_fact(d->profile[FZ_BASE], key);

	return base.n && fz_str_eq(base, fz_profile_fact(d->profile[FZ_HEAD], key));
}

/* Whether both sides have the same samples; a recording compared with itself needs no
 * adjustment. */
static bool same_samples(const struct fz_diff *d)
{
	const struct fz_samples *a = &d->profile[FZ_BASE]->samples,
				*b = &d->profile[FZ_HEAD]->samples;

	return a->n == b->n &&
	       (a->n == 0 || memcmp(a->time, b->time, a->n * sizeof(*a->time)) == 0);
}

/* Whether both sides measured the same kind of piece on the same kind of machine. */
static bool can_adjust(const struct fz_diff *d, const uint32_t metric[FZ_SIDES])
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		if (metric[s] == FZ_METRIC_SAMPLES ||
		    strcmp(d->profile[s]->metrics[metric[s]].unit, "ns") != 0 ||
		    !d->profile[s]->metrics[metric[s]].column)
			return false;
	return (strcmp(d->metric, "cpu") == 0 || strcmp(d->metric, "wall") == 0) &&
	       fz_diff_same_fact(d, "speed") && fz_diff_same_fact(d, "cpu") && !same_samples(d);
}

/* Whether waits for a CPU have their own frames on any side. */
static bool have_frames(const struct fz_diff *d)
{
	return (d->profile[FZ_BASE]->recording.features | d->profile[FZ_HEAD]->recording.features) &
	       (FZ_FEATURE_WAITS | FZ_FEATURE_SAMPLED_WAITS);
}

/* Replaces the head of the diff by a view with the metric at the base's speed. */
static void set_view(struct fz_diff *d, uint32_t metric)
{
	d->speed_scale.view = *d->profile[FZ_HEAD];
	d->speed_scale.view.callgraph = NULL; /* its totals are as measured */
	d->speed_scale.view.metrics[metric].column = d->speed_scale.side[FZ_HEAD].even;
	d->profile[FZ_HEAD] = &d->speed_scale.view;
}

void fz_diff_scale_speed(struct fz_diff *d, const uint32_t metric[FZ_SIDES])
{
	struct lens lens[FZ_SIDES] = { 0 };
	struct prices prices = { 0 };
	bool open = can_adjust(d, metric);

	for (enum fz_side s = 0; open && s < FZ_SIDES; s++)
		open = open_lens(&lens[s], d->profile[s], metric[s], have_frames(d));
	if (open)
		learn_prices(&lens[FZ_BASE], &prices);
	if (prices.all.even > 0) {
		set_scale(&prices);
		for (enum fz_side s = 0; s < FZ_SIDES; s++) {
			struct fz_speed_scale_side *side = &d->speed_scale.side[s];

			side->even = weigh_even(&lens[s], &prices, side);
			fz_speed_range(d->profile[s], &side->range);
		}
		set_view(d, metric[FZ_HEAD]);
		d->speed_scale.used = true;
	}
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		fz_speed_release(&lens[s].speed);
	fz_map_release(&prices.by_key);
	free(prices.of);
}

void fz_diff_release_speed_scale(struct fz_diff *d)
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		free(d->speed_scale.side[s].even);
}

/* ---- what was measured of the head ---- */

void fz_diff_sum_measured(struct fz_diff *d)
{
	const struct fz_profile *p = d->recorded[FZ_HEAD];
	uint32_t metric = d->tree[FZ_HEAD]->metric;
	fz_auto(fz_free_ptr) uint32_t *seen = fz_calloc(d->function_count, sizeof(*seen));
	fz_auto(fz_free_ptr) int64_t *of_stack =
		fz_calloc(FZ_MAX(p->stack_count, 1), sizeof(*of_stack));

	for (size_t row = 0; row < p->samples.n; row++)
		if (p->samples.stack[row] != FZ_NONE) {
			of_stack[p->samples.stack[row]] += fz_sample_weight(p, metric, row);
			d->speed_scale.total += fz_sample_weight(p, metric, row);
			d->speed_scale.samples += fz_sample_count_in(p, metric, row);
		}
	for (uint32_t leaf = 0; leaf < p->stack_count; leaf++) {
		for (uint32_t at = leaf; of_stack[leaf] && at != FZ_NONE;
		     at = p->stacks[at].parent) {
			uint32_t f =
				d->function_of[FZ_HEAD][p->frames[p->stacks[at].frame].function];

			if (f == FZ_NONE)
				continue;
			if (at == leaf)
				d->functions[f].measured_self += of_stack[leaf];
			if (seen[f] != leaf + 1)
				d->functions[f].measured_total += of_stack[leaf];
			seen[f] = leaf + 1;
		}
	}
}
