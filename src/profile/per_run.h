/* SPDX-License-Identifier: MIT */
/* Converts the sum of several runs to the cost of one run.
 *
 * A recording has the sum of its runs, and tests need each run by itself, so this is the last step
 * before reporting. Numbers of samples are not divided, because there are no fractions of samples.
 */
#pragma once

#include "profile/profile.h"

/* Divides a sequence of values into integer shares. After every value, the shares so far add up to
 * the rounded share of the sum so far. */
struct fz_share_out {
	int64_t parts;
	int64_t sum, shared; /* so far */
};

static inline int64_t fz_share_out_next(struct fz_share_out *s, int64_t value)
{
	fz_assert(s->parts > 0);
	s->sum += value;
	int64_t share = s->sum / s->parts - s->shared;
	s->shared += share;
	return share;
}

/* Whether values of that metric can be divided by runs. */
bool fz_metric_is_per_run(const char *name);
/* Whether fz_profile_per_round would change it. */
bool fz_profile_has_rounds(const struct fz_profile *p);
/* Replaces the sum of the rounds of a benchmark, each of which is a row, by their mean; call
 * once. */
void fz_profile_per_round(struct fz_profile *p);
/* Divides the weights of all samples by the number of runs, or of rounds; call once. */
void fz_profile_per_run(struct fz_profile *p);
