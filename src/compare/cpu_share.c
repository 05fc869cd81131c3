/* SPDX-License-Identifier: MIT */
/* Estimates how much a crowded machine may have stretched wall times, for recordings that know
 * which samples were on a CPU but not which waited for one.
 *
 * Sleeping code is hardly ever on a CPU; computing code is, except while others use it, and then it
 * keeps the GIL. So for functions that are ready at times, the fraction on a CPU is the fraction
 * that the machine gave them:
 *
 *     f1  on on -- on on          80 %  }  75 % of this side
 *     f2  on -- on on             70 %  }
 *     sleep  -- -- -- --           0 %     not counted
 *
 * If this fraction differs between the sides, the machine may have caused the whole difference.
 * Time is lost in pieces, which hit functions unevenly.
 *
 * A late sampler is evidence, too, because it waited for a CPU itself: the fraction of a side's
 * time that it filled with repetitions (evidence.h) shows how crowded the machine was.
 */
#include "compare/judge_internal.h"

#include <math.h>

/* A function computes if it is ready for at least this fraction of its time on both sides. */
static const double computes = 0.2;

/* ready: on a CPU, or waiting for one with the GIL, which a sleeping thread releases. */
struct times {
	double on, ready, all;
};

/* Sums times per function; false if it is unknown which samples were on a CPU. */
static bool sum_times(const struct fz_inference *c, enum fz_side side, struct times *of)
{
	const struct fz_walk *w = &c->walk[side];
	const struct fz_profile *p = w->profile;
	double known = 0, all = 0;

	for (size_t i = 0; i < w->run_start[w->run_count]; i++) {
		size_t row = w->rows[i];
		uint32_t stack = p->samples.stack[row];
		double cost = (double)fz_sample_weight(p, w->metric, row);

		if (stack == FZ_NONE)
			continue;
		uint32_t f = c->d->function_of[side][p->frames[p->stacks[stack].frame].function];
		all += cost;
		if (f == FZ_NONE || (p->samples.status[row] & FZ_STATUS_UNKNOWN))
			continue;
		known += cost;
		of[f].all += cost;
		if (p->samples.status[row] & FZ_STATUS_ON_CPU)
			of[f].on += cost;
		if (p->samples.status[row] & (FZ_STATUS_ON_CPU | FZ_STATUS_HAS_GIL))
			of[f].ready += cost;
	}
	return known > 0.9 * all;
}

struct fz_cpu_share fz_inference_crowding(const struct fz_inference *c)
{
	uint32_t n = c->d->function_count;
	fz_auto(fz_free_ptr) struct times *base = fz_calloc(FZ_MAX(n, 1), sizeof(*base));
	fz_auto(fz_free_ptr) struct times *head = fz_calloc(FZ_MAX(n, 1), sizeof(*head));
	struct times sum[FZ_SIDES] = { 0 };

	if (!sum_times(c, FZ_BASE, base) || !sum_times(c, FZ_HEAD, head))
		return (struct fz_cpu_share){ 0 };
	for (uint32_t f = 0; f < n; f++) {
		if (base[f].ready < computes * base[f].all ||
		    head[f].ready < computes * head[f].all)
			continue;
		sum[FZ_BASE].on += base[f].on;
		sum[FZ_BASE].all += base[f].all;
		sum[FZ_HEAD].on += head[f].on;
		sum[FZ_HEAD].all += head[f].all;
	}
	if (sum[FZ_BASE].on <= 0 || sum[FZ_HEAD].on <= 0)
		return (struct fz_cpu_share){ .known = true };
	double left[FZ_SIDES] = { sum[FZ_BASE].on / sum[FZ_BASE].all,
				  sum[FZ_HEAD].on / sum[FZ_HEAD].all };
	return (struct fz_cpu_share){ .known = true,
				      .between = fabs(log(left[FZ_BASE] / left[FZ_HEAD])),
				      .within = (1 - FZ_MIN(left[FZ_BASE], left[FZ_HEAD])) / 2 };
}

/* Fraction of a side's time that was sampled on time. */
static double seen_in_time(const struct fz_walk *w)
{
	double late = 0;

	for (size_t i = 0; w->repeated && i < w->run_start[w->run_count]; i++)
		late += (double)w->repeated[w->rows[i]];
	return w->weight > late ? 1 - late / w->weight : 1;
}

struct fz_cpu_share fz_inference_lateness(const struct fz_inference *c)
{
	double base = seen_in_time(&c->walk[FZ_BASE]), head = seen_in_time(&c->walk[FZ_HEAD]);

	return (struct fz_cpu_share){ .known = base < 1 || head < 1,
				      .between = fabs(log(base / head)),
				      .within = (1 - FZ_MIN(base, head)) / 4 };
}
