/* SPDX-License-Identifier: MIT */
/* Scaling: a base value times `factor` is the expected head value if nothing changed.
 *
 *              weights are times        weights count samples
 *   time       1                        interval of base / interval of head
 *              (either times runs of head / runs of base)
 *   window     seconds of head / seconds of base; for samples times the ratio of the intervals
 *   amount     runs of head / runs of base
 *   share      requested: head total / base total; chosen: the scale that functions agree on
 *   reference  the scale that functions agree on, whatever it is
 *   unit       units of head / units of base (for samples, times the ratio of the intervals)
 *
 * Chosen automatically:
 *
 *   memory, events, instructions -> amount        a time, or samples at known rates:
 *   only shares are known        -> share           parts of running programs -> window
 *                                                   else                      -> time
 *
 * Only shares are known for samples at unknown rates, two different clocks, and fleets, whose
 * load is unknown. If a side is empty, functions cannot agree and totals cannot be
 * equal. If the head is empty, the factor is that of `time`, so that removed code keeps its cost;
 * if the base is empty, it is 1.
 */
#include "compare/stages.h"

#include "profile/fleet_fact.h"
#include "profile/range.h"
#include "stats/agreement.h"

#include <math.h>

const char *const fz_scale_names[] = { "auto", "time",   "share",  "reference",
				       "unit", "window", "amount", NULL };

const char *fz_scale_word(enum fz_scale_mode mode)
{
	return mode == FZ_SCALE_UNIT ? "work" : fz_scale_names[mode];
}
const char *const fz_basis_names[] = { "given", "totals", "agreed", "scattered" };

/* ---- what was measured ---- */

static bool counts_samples(const struct fz_diff *d)
{
	return strcmp(d->metric, "samples") == 0;
}

static bool is_time(const struct fz_diff *d)
{
	return strcmp(d->unit, "ns") == 0;
}

static const char *metric_name(const struct fz_diff *d, enum fz_side s)
{
	uint32_t metric = d->tree[s]->metric;

	return metric == FZ_METRIC_SAMPLES ? "samples" : d->profile[s]->metrics[metric].name;
}

bool fz_diff_clocks_differ(const char *base, const char *head)
{
	return strcmp(base, head) != 0 && strcmp(base, "time") != 0 && strcmp(head, "time") != 0;
}

static bool rates_are_known(const struct fz_diff *d)
{
	return d->profile[FZ_BASE]->recording.interval_ns > 0 &&
	       d->profile[FZ_HEAD]->recording.interval_ns > 0;
}

static bool is_fleet(const struct fz_diff *d)
{
	return fz_profile_is_fleet(d->profile[FZ_BASE]) || fz_profile_is_fleet(d->profile[FZ_HEAD]);
}

static bool only_shares(const struct fz_diff *d)
{
	if (fz_diff_clocks_differ(metric_name(d, FZ_BASE), metric_name(d, FZ_HEAD)))
		return true;
	return counts_samples(d) && !rates_are_known(d);
}

/* ---- how long was recorded ---- */

/* Whether a duration was probably requested, because programs rarely run for whole seconds.
 * Recorders are late by a few milliseconds; Go's, usually run for 10, 30 or 60 s, by some tenths of
 * a second.
 */
static bool is_whole_seconds(int64_t ns)
{
	static const int64_t second = 1000000000;

	return ns >= second && ns % second <= (ns / second % 10 ? second / 50 : second / 4);
}

static bool has_whole_seconds(const struct fz_profile *p)
{
	for (uint32_t i = 0; i < p->run_count; i++)
		if (!is_whole_seconds(p->runs[i].duration_ns))
			return false;
	return p->run_count > 0;
}

/* Whether a recording states if it is a whole run; only our own do. */
static bool knows_end(const struct fz_profile *p)
{
	return p->recording.complete || fz_profile_fact(p, "fizeau").n > 0;
}

bool fz_diff_has_durations(const struct fz_diff *d)
{
	return d->profile[FZ_BASE]->recording.duration_ns > 0 &&
	       d->profile[FZ_HEAD]->recording.duration_ns > 0;
}

static bool is_range(const struct fz_profile *p)
{
	return fz_profile_fact(p, FZ_RANGE_FACT).n > 0;
}

bool fz_diff_is_subtracted(const struct fz_diff *d)
{
	for (uint32_t i = 0; i < d->node_count; i++)
		for (enum fz_side s = 0; s < FZ_SIDES; s++)
			if (d->nodes[i].cost.self[s] < 0)
				return true;
	return false;
}

bool fz_diff_is_one_recording(const struct fz_diff *d)
{
	uint64_t base = d->profile[FZ_BASE]->range_of;

	return base && base == d->profile[FZ_HEAD]->range_of;
}

/* Whether both are parts of running programs: one is marked so, or both durations look
 * requested. */
static bool are_windows(const struct fz_diff *d)
{
	bool whole_seconds = true;

	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		const struct fz_profile *p = d->profile[s];
		if (is_range(p) || (knows_end(p) && !p->recording.complete))
			return true;
		whole_seconds &= !p->recording.complete && has_whole_seconds(p);
	}
	return whole_seconds;
}

bool fz_diff_assumes_whole_run(const struct fz_diff *d, enum fz_side s)
{
	return d->scale == FZ_SCALE_TIME && d->samples[s] && !knows_end(d->profile[s]);
}

/* ---- the mode ---- */

static enum fz_scale_mode choose(const struct fz_diff *d, const struct fz_diff_options *o)
{
	bool amount = !is_time(d) && !counts_samples(d);

	if (is_fleet(d) && o->scale == FZ_SCALE_AUTO)
		return FZ_SCALE_SHARE;
	if (o->scale != FZ_SCALE_AUTO)
		return amount && o->scale == FZ_SCALE_TIME ? FZ_SCALE_AMOUNT : o->scale;
	if (o->units[FZ_BASE] > 0 && o->units[FZ_HEAD] > 0)
		return FZ_SCALE_UNIT;
	if (amount)
		return FZ_SCALE_AMOUNT;
	if (only_shares(d))
		return FZ_SCALE_SHARE;
	if (!are_windows(d))
		return FZ_SCALE_TIME;
	return fz_diff_has_durations(d) ? FZ_SCALE_WINDOW : FZ_SCALE_SHARE;
}

static int check_needs(const struct fz_diff *d, const struct fz_diff_options *o,
		       struct fz_error *err)
{
	if (is_fleet(d) && d->scale != FZ_SCALE_SHARE && d->scale != FZ_SCALE_REFERENCE)
		return fz_fail(err, FZ_EUSAGE,
			       "releases are compared by share, because their amounts of work are "
			       "unknown; omit --scale %s",
			       fz_scale_word(d->scale));
	if (d->scale == FZ_SCALE_UNIT && !(o->units[FZ_BASE] > 0 && o->units[FZ_HEAD] > 0))
		return fz_fail(err, FZ_EUSAGE, "--scale work requires --work BASE:HEAD");
	if (d->scale == FZ_SCALE_WINDOW && !fz_diff_has_durations(d))
		return fz_fail(err, FZ_EINPUT,
			       "--scale window requires the length of both recordings, and the %s "
			       "has none; use --scale share",
			       d->profile[FZ_BASE]->recording.duration_ns > 0 ? "head" : "base");
	return 0;
}

/* ---- the factor ---- */

static double interval_ratio(const struct fz_diff *d)
{
	if (!counts_samples(d) || !rates_are_known(d))
		return 1;
	return (double)d->profile[FZ_BASE]->recording.interval_ns /
	       (double)d->profile[FZ_HEAD]->recording.interval_ns;
}

/* Ratio of the numbers of complete runs. */
static double run_ratio(const struct fz_diff *d)
{
	return (double)FZ_MAX(d->profile[FZ_HEAD]->run_count, 1) /
	       (double)FZ_MAX(d->profile[FZ_BASE]->run_count, 1);
}

static double second_ratio(const struct fz_diff *d)
{
	return (double)d->profile[FZ_HEAD]->recording.duration_ns /
	       (double)d->profile[FZ_BASE]->recording.duration_ns;
}

static double share_ratio(const struct fz_diff *d)
{
	return (double)d->total[FZ_HEAD] / (double)d->total[FZ_BASE];
}

static double factor_of(const struct fz_diff *d)
{
	if (d->total[FZ_BASE] == 0)
		return 1;
	switch (d->scale) {
	case FZ_SCALE_UNIT:
		return interval_ratio(d) * d->units[FZ_HEAD] / d->units[FZ_BASE];
	case FZ_SCALE_WINDOW:
		return interval_ratio(d) * second_ratio(d);
	case FZ_SCALE_SHARE:
	case FZ_SCALE_REFERENCE:
		if (d->total[FZ_HEAD] != 0)
			return share_ratio(d);
		break;
	case FZ_SCALE_TIME:
	case FZ_SCALE_AMOUNT:
	case FZ_SCALE_AUTO:
		break;
	}
	return interval_ratio(d) * run_ratio(d);
}

/* A factor that reports would print as 1.0000 is 1: nothing is scaled. */
static double settled(double factor)
{
	return fabs(factor - 1) < 5e-5 ? 1 : factor;
}

int fz_diff_choose_scale(struct fz_diff *d, const struct fz_diff_options *o, struct fz_error *err)
{
	d->scale = choose(d, o);
	fz_assert(d->scale != FZ_SCALE_AUTO);
	memcpy(d->units, o->units, sizeof(d->units));
	int r = check_needs(d, o, err);
	if (r)
		return r;
	d->factor = settled(factor_of(d));
	if (d->scale == FZ_SCALE_SHARE || d->scale == FZ_SCALE_REFERENCE)
		d->basis = FZ_BASIS_TOTALS;
	return 0;
}

/* ---- what the functions agree on ---- */

/* Sets self to the samples of each function by self cost; returns their total. */
static double count_self(const struct fz_diff *d, enum fz_side s, double *self)
{
	const struct fz_profile *p = d->profile[s];
	double all = 0;

	for (size_t row = 0; row < p->samples.n; row++) {
		uint32_t stack = p->samples.stack[row];
		if (stack == FZ_NONE || fz_sample_weight(p, d->tree[s]->metric, row) == 0)
			continue;
		uint32_t f = p->frames[p->stacks[stack].frame].function;
		if (d->function_of[s][f] == FZ_NONE)
			continue;
		self[d->function_of[s][f]] += fz_sample_count(p, row);
		all += fz_sample_count(p, row);
	}
	return all;
}

static void warn_about_agreement(struct fz_diff *d, double usual)
{
	if (d->basis == FZ_BASIS_SCATTERED)
		fz_diff_warn(d, "no scale fits most functions, so changes of single functions "
				"cannot be detected; if both sides are whole runs sampled at one "
				"rate, use --scale time");
	else if (d->basis == FZ_BASIS_TOTALS && d->factor != usual)
		fz_diff_warn(d, "no function has 20 samples, so none can serve as reference; the "
				"totals are made equal instead");
}

/* Sets the factor from an agreement; if it differs from that of equal rates and whole runs by at
 * most its error, uses the latter. */
static void use_agreement(struct fz_diff *d, const struct fz_agreement *a, double weight,
			  double usual)
{
	double factor = a->scale * weight, kept = factor;

	d->basis = a->agreed ? FZ_BASIS_AGREED : FZ_BASIS_SCATTERED;
	if (!a->agreed)
		kept = share_ratio(d);
	else if (usual > 0 && fabs(log(factor / usual)) <= a->error)
		kept = usual;
	d->factor = settled(kept);
	d->factor_error = hypot(a->error, log(factor / d->factor));
}

void fz_diff_scale_by_agreement(struct fz_diff *d)
{
	fz_auto(fz_free_ptr) double *base = fz_calloc(d->function_count, sizeof(*base));
	fz_auto(fz_free_ptr) double *head = fz_calloc(d->function_count, sizeof(*head));
	double base_samples = count_self(d, FZ_BASE, base);
	double head_samples = count_self(d, FZ_HEAD, head);

	if (d->total[FZ_BASE] == 0 || d->total[FZ_HEAD] == 0)
		return;
	/* The weight of a sample may differ between the sides. */
	double weight = ((double)d->total[FZ_HEAD] / head_samples) /
			((double)d->total[FZ_BASE] / base_samples);
	double usual = d->scale == FZ_SCALE_SHARE ? interval_ratio(d) * run_ratio(d) : 0;
	struct fz_agreement_setup setup = {
		.usual = usual / weight,
		.runs = { FZ_MAX(d->profile[FZ_BASE]->run_count, 1),
			  FZ_MAX(d->profile[FZ_HEAD]->run_count, 1) },
	};
	struct fz_agreement a = fz_agreement_of(&setup, base, head, d->function_count);
	if (a.scale > 0)
		use_agreement(d, &a, weight, usual);
	/* Without agreement there is no reference scale. */
	if (d->basis != FZ_BASIS_AGREED)
		d->scale = FZ_SCALE_SHARE;
	warn_about_agreement(d, usual);
}
