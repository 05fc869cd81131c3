/* SPDX-License-Identifier: MIT */
/* A profile as what a store adds up: lines become functions, samples become sums by minute. */
#pragma once

#include "fleet/fleet.h"

/* `start_unix_ns` is when runs began that do not say so, `now_unix_ns` the time of whoever stores
 * it. FZ_EINPUT: there is nothing in it that can be added up, or its times cannot be. The batch
 * borrows from the profile. */
int fz_fleet_batch_of(const struct fz_profile *p, int64_t start_unix_ns, int64_t now_unix_ns,
		      struct fz_fleet_batch *ret, struct fz_error *err);
/* Distinguishes pushes with one id: a hash of service, version, host, labels and all sums. The same
 * push has the same digest whenever it arrives, although minutes may depend on that. Never 0, which
 * stands for an unknown digest. */
uint64_t fz_fleet_digest(const struct fz_fleet_push *push, const struct fz_fleet_batch *b);
void fz_fleet_batch_release(struct fz_fleet_batch *b);
