/* SPDX-License-Identifier: MIT */
/* What of a run's time other programs may have made, by its samples:
 *
 *   waits for a disk       all: how long it takes is the disk's, and who else uses it
 *   waits for a processor  all that speed_scale.c has not left out: others have it
 *   sleeps otherwise       as much as others took of the processors: who holds the lock, or
 *                          answers, may have waited for one
 *   computes what it       as much as the same function waited for a disk: what is read for the
 *   reads                  first time is to be kept by the kernel, too
 *   imports, collects      a part of what others took of the processors: one runs code for the
 *                          first time, the other touches all that lives, and others' memory is in
 *                          the caches then
 *   computes otherwise     nothing: its speed is known (speed_scale.c)
 *
 * Several runs a side show by themselves how much that varies. One run does not, and a change that
 * this explains is no change of the program's. Of CPU time there are no waits.
 */
#include "compare/evidence.h"

#include <math.h>
#include <string.h>

#include "profile/machinery.h"
#include "profile/runs.h"

/* A program that imports much took 150 to 240 ms of CPU time where others compiled on all
 * processors, and its collections 22 to 69 ms of it, while the piece ran at 95 % of its speed and
 * more. */
static const double import_error = 0.3, collection_error = 0.6;

/* What is asked of each sample. */
struct asked {
	const struct fz_profile *p;
	uint32_t time, wait, disk; /* metrics; FZ_NONE: there is none */
	double others;             /* what they took of the processors */
	double *reading;           /* of each function, which part of its computing is in doubt */
	double *cold;              /* of each stack, which part of `others` is, of its computing */
};

static bool computes(const struct asked *a, size_t row)
{
	return a->p->samples.status[row] & (FZ_STATUS_ON_CPU | FZ_STATUS_UNKNOWN);
}

static bool has(const struct asked *a, uint32_t metric, size_t row)
{
	return metric != FZ_NONE && fz_sample_weight(a->p, metric, row) > 0;
}

/* The innermost that is not just said of the sample; FZ_NONE: there is none. */
static uint32_t function_of(const struct fz_profile *p, size_t row)
{
	for (uint32_t s = p->samples.stack[row]; s != FZ_NONE; s = p->stacks[s].parent) {
		uint32_t function = p->frames[p->stacks[s].frame].function;
		if (p->functions[function].kind != FZ_KIND_MARKER)
			return function;
	}
	return FZ_NONE;
}

/* As much of what a function computed as it waited for disks. */
static double *find_reading(const struct asked *a)
{
	const struct fz_profile *p = a->p;
	double *waited = fz_calloc(p->function_count + 1, sizeof(*waited));
	fz_auto(fz_free_ptr) double *computed = fz_calloc(p->function_count + 1, sizeof(*computed));

	for (size_t row = 0; row < p->samples.n; row++) {
		uint32_t f = function_of(p, row);
		double cost = (double)fz_sample_weight(p, a->time, row);
		if (f != FZ_NONE && computes(a, row))
			computed[f] += cost;
		else if (f != FZ_NONE && has(a, a->disk, row))
			waited[f] += cost;
	}
	for (uint32_t f = 0; f < p->function_count; f++)
		waited[f] = computed[f] > waited[f] ? waited[f] / computed[f] : waited[f] > 0;
	return waited;
}

/* Callers come before what they call. */
static double *find_cold(const struct fz_profile *p)
{
	double *cold = fz_calloc(p->stack_count + 1, sizeof(*cold));

	for (uint32_t s = 0; s < p->stack_count; s++) {
		uint32_t file = fz_profile_stack_function(p, s)->file, parent = p->stacks[s].parent;

		cold[s] = parent == FZ_NONE ? 0 : cold[parent];
		if (fz_profile_stack_collects(p, s))
			cold[s] = collection_error;
		else if (fz_machinery_imports(fz_profile_text(p, file)))
			cold[s] = import_error;
	}
	return cold;
}

static double doubt_of_computing(const struct asked *a, size_t row)
{
	uint32_t f = function_of(a->p, row), stack = a->p->samples.stack[row];
	double reading = f == FZ_NONE ? 0 : a->reading[f];

	return fmax(reading, stack == FZ_NONE ? 0 : a->cold[stack] * a->others);
}

static double doubt_of(const struct asked *a, size_t row)
{
	if (computes(a, row))
		return doubt_of_computing(a, row);
	return has(a, a->wait, row) || has(a, a->disk, row) ? 1 : a->others;
}

static void doubt_side(struct fz_walk *w)
{
	const struct fz_profile *p = w->profile;
	double others = fz_profile_busy(p).others;
	struct asked a = { .p = p,
			   .time = w->metric,
			   .wait = fz_profile_find_metric(p, FZ_STR("wait")),
			   .disk = fz_profile_find_metric(p, FZ_STR("disk")),
			   .others = isnan(others) ? 0 : others };
	bool wall = strcmp(p->metrics[w->metric].name, "wall") == 0;
	bool cpu = strcmp(p->metrics[w->metric].name, "cpu") == 0;

	/* Of CPU time nothing is in doubt where nobody else had any. */
	if (!(wall && a.wait != FZ_NONE) && !(cpu && a.others > 0))
		return;
	a.reading = find_reading(&a);
	a.cold = find_cold(p);
	w->doubt = fz_calloc(FZ_MAX(p->samples.n, 1), sizeof(*w->doubt));
	for (size_t row = 0; row < p->samples.n; row++)
		w->doubt[row] = (float)doubt_of(&a, row);
	free(a.reading);
	free(a.cold);
}

void fz_walks_doubt(struct fz_walk walks[FZ_SIDES])
{
	if (walks[FZ_BASE].run_count > 1 || walks[FZ_HEAD].run_count > 1)
		return;
	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		doubt_side(&walks[side]);
}
