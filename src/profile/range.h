/* SPDX-License-Identifier: MIT */
/* Extracts a range of a recording's time as a recording.
 *
 *   time     0 ------ from ............. to ------ end        ns since the run began
 *   sample       a      |  b    c      d  |   e               b, c, d stay
 *
 * A sample belongs to the instant when it was taken, with all of its weight: consecutive ranges
 * have every sample once, and their costs add up to the whole. Samples with a duration
 * (fz_sample_span) and waits, which end at their sample's time, are split between ranges.
 */
#pragma once

#include "profile/profile.h"

/* The fact that names the range: "10 s to 20 s". */
#define FZ_RANGE_FACT "range"

struct fz_range {
	int64_t from_ns, to_ns; /* from_ns <= time < to_ns, or <= to_ns at the end */
};

/* End of the recording's time: of its longest run, or the last sample. 0 if there are no times. */
int64_t fz_profile_end(const struct fz_profile *p);

/* A hash of the times of samples, which differs between recordings. 0 if there are no times. */
uint64_t fz_profile_times(const struct fz_profile *p);

/* Keeps a range with from_ns < to_ns of every run. Times become relative to its start, and the
 * recording is marked as a part of a running program. Returns the number of remaining samples.
 * Samples must have times. */
uint64_t fz_profile_keep_range(struct fz_profile *p, const struct fz_range *range);
