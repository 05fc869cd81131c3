/* SPDX-License-Identifier: MIT */
/* Scaling: `factor` turns a base value into what the head would show if nothing had changed.
 *
 *              weights are times        weights count samples
 *   time       1                        interval of base / interval of head
 *              (either times runs of head / runs of base)
 *   share      head total / base total  head total / base total
 *   reference  the typical function, by self, is taken as unchanged
 *   unit       units of head / units of base (for samples, times the ratio of the intervals)
 *
 * With an empty side there is no share to make equal: the factor is then that of `time` when the
 * head is empty, so that removed code keeps its cost, and 1 when the base is.
 */
#include "diff/internal.h"

#include "stats/exposure.h"

const char *const fz_scale_names[] = { "auto", "time", "share", "reference", "unit", NULL };

static double interval_ratio(const struct fz_diff *d)
{
	int64_t base = d->profile[FZ_BASE]->recording.interval_ns;
	int64_t head = d->profile[FZ_HEAD]->recording.interval_ns;

	if (strcmp(d->metric, "samples") != 0 || base <= 0 || head <= 0)
		return 1;
	return (double)base / (double)head;
}

/* Several complete runs of a side take as much longer. */
static double run_ratio(const struct fz_diff *d)
{
	return (double)FZ_MAX(d->profile[FZ_HEAD]->run_count, 1) /
	       (double)FZ_MAX(d->profile[FZ_BASE]->run_count, 1);
}

static double share_ratio(const struct fz_diff *d)
{
	return (double)d->total[FZ_HEAD] / (double)d->total[FZ_BASE];
}

/* Equal time is equal cost only for complete runs of one program. */
static enum fz_scale_mode choose(const struct fz_diff *d, const struct fz_diff_options *o)
{
	const struct fz_profile *base = d->profile[FZ_BASE], *head = d->profile[FZ_HEAD];

	if (o->scale != FZ_SCALE_AUTO)
		return o->scale;
	if (o->units[FZ_BASE] > 0 && o->units[FZ_HEAD] > 0)
		return FZ_SCALE_UNIT;
	return base->recording.complete && head->recording.complete &&
			       fz_diff_same_program(base, head)
		       ? FZ_SCALE_TIME
		       : FZ_SCALE_SHARE;
}

int fz_diff_choose_scale(struct fz_diff *d, const struct fz_diff_options *o, struct fz_error *err)
{
	d->scale = choose(d, o);
	memcpy(d->units, o->units, sizeof(d->units));
	if (d->scale == FZ_SCALE_UNIT && !(o->units[FZ_BASE] > 0 && o->units[FZ_HEAD] > 0))
		return fz_fail(err, FZ_EUSAGE,
			       "scaling by unit needs to know how much was done on each side; use "
			       "--units BASE:HEAD");
	if (d->total[FZ_BASE] == 0)
		d->factor = 1;
	else if (d->scale == FZ_SCALE_UNIT)
		d->factor = interval_ratio(d) * o->units[FZ_HEAD] / o->units[FZ_BASE];
	else if (d->scale == FZ_SCALE_TIME || d->total[FZ_HEAD] == 0)
		d->factor = interval_ratio(d) * run_ratio(d);
	else
		d->factor = share_ratio(d);
	return 0;
}

/* Samples of each function by self; returns their number. */
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

void fz_diff_scale_by_reference(struct fz_diff *d)
{
	fz_auto(fz_free_ptr) double *base = fz_calloc(d->function_count, sizeof(*base));
	fz_auto(fz_free_ptr) double *head = fz_calloc(d->function_count, sizeof(*head));
	double base_samples = count_self(d, FZ_BASE, base);
	double head_samples = count_self(d, FZ_HEAD, head);
	double ratio = fz_exposure_reference(base, head, d->function_count);

	if (d->total[FZ_BASE] == 0 || d->total[FZ_HEAD] == 0)
		return;
	if (ratio > 0) {
		/* A sample of each side may weigh something else. */
		d->factor = ratio * ((double)d->total[FZ_HEAD] / head_samples) /
			    ((double)d->total[FZ_BASE] / base_samples);
		return;
	}
	d->scale = FZ_SCALE_SHARE;
	fz_diff_warn(d, "no function has 10 samples by itself on both sides, so there is no "
			"reference: scaled by share instead");
}
