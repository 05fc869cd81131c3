/* SPDX-License-Identifier: MIT */
/* A range of a recording's time, kept as a recording of its own.
 *
 *   time     0 ------ from ............. to ------ end        ns since the run began
 *   sample       a      |  b    c      d  |   e               b, c, d stay
 *
 * A sample belongs to the instant at which it was taken, with all of its weight: ranges that follow
 * one another hold every sample once, and their costs add up to the whole. In a trace of calls,
 * whose samples last (fz_sample_span), and of a wait, which has ended at its sample's time, each
 * range has its part.
 */
#pragma once

#include "profile/profile.h"

/* The fact of a recording that is such a range: "10 s to 20 s". */
#define FZ_RANGE_FACT "range"

struct fz_range {
	int64_t from_ns, to_ns; /* from_ns <= time < to_ns; to_ns at the end: that, too */
};

/* Where the recording's time ends: its longest run, or the last sample. 0: it holds no time. */
int64_t fz_profile_end(const struct fz_profile *p);

/* What no two recordings have in common: when their samples were taken, as a number. 0: times are
 * not known. */
uint64_t fz_profile_times(const struct fz_profile *p);

/* Keep a range with from_ns < to_ns of every run; times count from its beginning then, and the
 * recording is a part of a running program that was recorded for as long. Returns how many samples
 * stayed. The samples must have times. */
uint64_t fz_profile_keep_range(struct fz_profile *p, const struct fz_range *range);
