/* SPDX-License-Identifier: MIT */
/* Converts a profile to the sums that a store contains: lines become functions, samples become sums
 * by minute. */
#pragma once

#include "fleet/fleet.h"

/* A push may be this much later than its receiver's clock. */
enum { FZ_FLEET_AHEAD_MINUTES = 60 };

/* Rows of a profile whose number in `of_row` is `part`. Only part 0 has the times and losses of the
 * recording, so that parts add up to the whole. */
struct fz_fleet_part {
	const uint32_t *of_row; /* NULL: all are of part 0 */
	uint32_t part;
};

/* part: NULL for all rows; start_unix_ns: start of runs without a start time; now_unix_ns: current
 * time of the receiver. FZ_EINPUT if the profile has no costs, costs below 0 or impossible times.
 * The batch borrows from the profile. */
int fz_fleet_batch_of(const struct fz_profile *p, const struct fz_fleet_part *part,
		      int64_t start_unix_ns, int64_t now_unix_ns, struct fz_fleet_batch *ret,
		      struct fz_error *err);
/* Distinguishes pushes with one id: a hash of service, version, host, labels and all sums. The same
 * push has the same digest whenever it arrives, although its minutes may depend on the time of
 * arrival. Never 0, which means unknown. */
uint64_t fz_fleet_digest(const struct fz_fleet_push *push, const struct fz_fleet_batch *b);
void fz_fleet_batch_release(struct fz_fleet_batch *b);
