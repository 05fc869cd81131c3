/* SPDX-License-Identifier: MIT */
/* Visits: maximal stretches of consecutive samples of one thread that show a function.
 *
 * Samples are not independent: a function that runs for 200 ms has 200 samples, but its time is
 * known to one sample at each end. So the number of visits, not of samples, determines the variance
 * of a cost.
 *
 *     samples   f f f g g f h h h h          f: visits 3, 1: samples 4, visits 2
 *               `-3-'     1
 *
 * For independent samples, v is the binomial variance of n, with n samples and v visits of a
 * function.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/* Starts zeroed. Positions count the samples of a thread and only grow. Threads and runs follow one
 * another, with a gap of at least 1 between the last position of one and the first of the next, so
 * that no visit spans two. */
struct fz_visits {
	uint64_t start, end; /* the newest stretch; not yet in the sums below */
	uint64_t samples;
	double squares; /* sum of squared lengths */
	uint64_t longest;
	uint32_t visits;
	uint32_t depth; /* number of entries without a leave */
};

/* Marks the function as on the stack from sample `at` on. May nest (recursion): the outermost pair
 * counts. A visit that ends and begins at the same position is one visit, so when the stack changes
 * it is enough to leave the frames that differ and to enter the new ones. */
void fz_visits_enter(struct fz_visits *v, uint64_t at);
/* Ends that: `at` is the first sample where the function is not on the stack. */
void fz_visits_leave(struct fz_visits *v, uint64_t at);

/* Adds `count` samples of a leaf from position `at` on. */
static inline void fz_visits_add(struct fz_visits *v, uint64_t at, uint64_t count)
{
	fz_visits_enter(v, at);
	fz_visits_leave(v, at + count);
}

/* Sums of one function in one run. All zero: no samples. */
struct fz_visit_sum {
	double samples;
	double visits;
	double square;  /* m/(m-1) sum of (length - mean length)^2 over m visits; 0 for one visit */
	double longest; /* visit */
};

/* Every enter must have had its leave. */
struct fz_visit_sum fz_visits_sum(const struct fz_visits *v);

/* Finds the catch-up samples of a sampler that was late (Tachyon takes them back to back and
 * reports none as missed): sets ret_burst[i] if sample i came within a tenth of the interval after
 * its predecessor. Such samples repeat their predecessor and must not be counted. Several stacks of
 * one instant (asyncio tasks) count as one. The times are those of one thread, in order. Returns
 * the number of catch-up samples. */
size_t fz_visit_find_bursts(const int64_t *time, size_t n, int64_t interval, bool *ret_burst);
