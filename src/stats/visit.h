/* SPDX-License-Identifier: MIT */
/* Visits: maximal stretches of consecutive samples of one thread that show a function.
 *
 * Samples are not independent draws: a function that runs for 200 ms is seen 200 times, and yet its
 * time is known to a sample at each end. What a cost owes to chance is the number of its visits.
 *
 *     samples   f f f g g f h h h h          f: visits 3, 1: samples 4, visits 2
 *               `-3-'     1
 *
 * Of samples that are drawn independently, n of them a function's and v its visits, v is the
 * binomial variance of n.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/* Starts zeroed. Positions count the samples of a thread and only grow. Threads and runs come one
 * after the other, with a gap of at least 1 between the last position of one and the first of
 * the next, so that no visit reaches across. */
struct fz_visits {
	uint64_t start, end; /* the newest stretch; not yet in the sums below */
	uint64_t samples;
	double squares; /* sum of squared lengths */
	uint64_t longest;
	uint32_t visits;
	uint32_t depth; /* how often it was entered and not left */
};

/* The function is on the stack from sample `at` on. May nest (recursion): the outermost pair
 * counts. A visit that ends and begins at the same position is one visit, so when the stack
 * changes it is enough to leave the frames that differ and to enter the new ones. */
void fz_visits_enter(struct fz_visits *v, uint64_t at);
/* ... and `at` is the first sample where it is not. */
void fz_visits_leave(struct fz_visits *v, uint64_t at);

/* It was there in `count` samples from position `at` on: for leaves. */
static inline void fz_visits_add(struct fz_visits *v, uint64_t at, uint64_t count)
{
	fz_visits_enter(v, at);
	fz_visits_leave(v, at + count);
}

/* Of one function in one run. All zero: it never ran. */
struct fz_visit_sum {
	double samples;
	double visits;
	double square;  /* m/(m-1) sum of (length - mean length)^2 over m visits; 0 for one visit */
	double longest; /* visit */
};

/* Everything that was entered must have been left. */
struct fz_visit_sum fz_visits_sum(const struct fz_visits *v);

/* Catch-up samples of a sampler that was late (Tachyon takes them back to back and calls none
 * missed): sets ret_burst[i] where sample i came within a tenth of the interval after its
 * predecessor. Such samples repeat their predecessor and must not be counted as looks at the
 * program. Several stacks of one instant (asyncio tasks) are one look. The times are those of one
 * thread, in order. Returns how many there are. */
size_t fz_visit_find_bursts(const int64_t *time, size_t n, int64_t interval, bool *ret_burst);
