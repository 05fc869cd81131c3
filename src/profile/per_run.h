/* SPDX-License-Identifier: MIT */
/* Several runs shown as one: what a run cost, not what all did together.
 *
 * A recording keeps the sum of its runs, and tests need every run by itself; so this is done last,
 * to what is about to be shown. Bare samples stay what they are: there is no third of a sample.
 */
#pragma once

#include "profile/profile.h"

/* Whole shares of consecutive values, such that those of any stretch of them add up to that of
 * their sum, rounded. */
struct fz_share_out {
	int64_t parts;
	int64_t sum, shared; /* until now */
};

static inline int64_t fz_share_out_next(struct fz_share_out *s, int64_t value)
{
	s->sum += value;
	int64_t share = s->sum / s->parts - s->shared;
	s->shared += share;
	return share;
}

/* Whether values of that metric can be had for each run. */
bool fz_metric_is_per_run(const char *name);
/* Whether fz_profile_per_round would change it. */
bool fz_profile_has_rounds(const struct fz_profile *p);
/* What benchmarks were timed in rounds: each row of a benchmark is one, and a sum of rounds is
 * nothing. Makes it their mean; once. */
void fz_profile_per_round(struct fz_profile *p);
/* Divide the weights of all samples by the number of runs, or of rounds; once. */
void fz_profile_per_run(struct fz_profile *p);
