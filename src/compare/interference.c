/* SPDX-License-Identifier: MIT */
/* Estimates the time of a run that other load on the machine may have caused, by sample:
 *
 *   waits for a disk       all: depends on the disk and its other users
 *   waits for a processor  all that speed_scale.c has not removed
 *   sleeps otherwise       as much as others used of the processors: the holder of the lock, or
 *                          the other end, may have waited for one
 *   computes after reading as much as the same function waited for a disk: on the first read the
 *                          kernel also fills its cache
 *   finds, reads modules   as much as others used of the processors: their files may have left the
 *                          kernel's caches, and its locks are contended
 *   imports, collects      a fraction of what others used of the processors: imports run code for
 *                          the first time, collections touch all objects, and the caches are full
 *                          of others' data
 *   computes otherwise     nothing: its speed is known (speed_scale.c)
 *
 * Alternating runs show this variation themselves. With one run per side, or all of one side before
 * the other's, a change that this time could explain does not count as a change of the program.
 * Recordings of CPU time have no waits.
 */
#include "compare/evidence.h"

#include <math.h>
#include <string.h>

#include "profile/machinery.h"
#include "profile/runs.h"

/* A program with many imports took 150 to 240 ms of CPU time while others compiled on all
 * processors, and 22 to 69 ms of it for collections, though the piece of work ran at 95 % of its
 * speed or more. */
static const double import_error = 0.3, collection_error = 0.6;

/* Inputs for the samples of a profile. */
struct inputs {
	const struct fz_profile *p;
	uint32_t time, wait, disk; /* metrics; FZ_NONE: there is none */
	double others;             /* fraction of the processors that others used */
	double *reading; /* of each function: fraction of its computing that is uncertain */
	double *cold; /* of each stack: fraction of `others` by which its computing is uncertain */
};

static bool computes(const struct inputs *a, size_t row)
{
	return a->p->samples.status[row] & (FZ_STATUS_ON_CPU | FZ_STATUS_UNKNOWN);
}

static bool has(const struct inputs *a, uint32_t metric, size_t row)
{
	return metric != FZ_NONE && fz_sample_weight(a->p, metric, row) > 0;
}

/* The innermost function that is not a marker, or FZ_NONE. */
static uint32_t function_of(const struct fz_profile *p, size_t row)
{
	for (uint32_t s = p->samples.stack[row]; s != FZ_NONE; s = p->stacks[s].parent) {
		uint32_t function = p->frames[p->stacks[s].frame].function;
		if (p->functions[function].kind != FZ_KIND_MARKER)
			return function;
	}
	return FZ_NONE;
}

/* Returns, per function, the uncertain fraction of its computing: its waits for disks over its
 * computing, at most 1; for the interpreter's search for modules at least `others`. */
static double *find_reading(const struct inputs *a)
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
	for (uint32_t f = 0; f < p->function_count; f++) {
		waited[f] = computed[f] > waited[f] ? waited[f] / computed[f] : waited[f] > 0;
		if (fz_machinery_imports(fz_profile_text(p, p->functions[f].file)))
			waited[f] = fmax(waited[f], a->others);
	}
	return waited;
}

/* Callers precede callees. */
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

static double doubt_of_computing(const struct inputs *a, size_t row)
{
	uint32_t f = function_of(a->p, row), stack = a->p->samples.stack[row];
	double reading = f == FZ_NONE ? 0 : a->reading[f];

	return fmax(reading, stack == FZ_NONE ? 0 : a->cold[stack] * a->others);
}

static double doubt_of(const struct inputs *a, size_t row)
{
	if (computes(a, row))
		return doubt_of_computing(a, row);
	return has(a, a->wait, row) || has(a, a->disk, row) ? 1 : a->others;
}

static void doubt_side(struct fz_walk *w)
{
	const struct fz_profile *p = w->profile;
	double others = fz_profile_busy(p).others;
	struct inputs a = { .p = p,
			    .time = w->metric,
			    .wait = fz_profile_find_metric(p, FZ_STR("wait")),
			    .disk = fz_profile_find_metric(p, FZ_STR("disk")),
			    .others = isnan(others) ? 0 : others };
	bool wall = strcmp(p->metrics[w->metric].name, "wall") == 0;
	bool cpu = strcmp(p->metrics[w->metric].name, "cpu") == 0;

	/* CPU time is only uncertain if others used the processors. */
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
	const struct fz_walk *base = &walks[FZ_BASE], *head = &walks[FZ_HEAD];
	bool single = base->run_count == 1 && head->run_count == 1;

	if (!single && fz_runs_alternate(base->profile, head->profile))
		return;
	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		doubt_side(&walks[side]);
}
