/* SPDX-License-Identifier: MIT */
/* The time of threads that seem to have lost their CPU in the middle of a change, between two
 * instructions that begin or end a call: their stack cannot be read until they go on. Then they are
 * at most a few instructions away, so their next sample gets the time.
 */
#pragma once

#include "record/python/python.h"

struct fz_owed {
	int64_t *ns; /* by thread of the profile */
	size_t n, cap;
};

/* What all threads are still owed. */
int64_t fz_owed_sum(const struct fz_owed *o);
void fz_owed_release(struct fz_owed *o);
/* The weight of a sample, given the time that it stands for: with what its thread is owed, or 0 if
 * that time is now owed as well. A thread is owed at most 100 ms. */
int64_t fz_owed_settle(struct fz_owed *o, const struct fz_python_stack *stack, int64_t weight);
