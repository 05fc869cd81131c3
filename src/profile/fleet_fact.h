/* SPDX-License-Identifier: MIT */
/* A profile of many hosts: its runs are units of what they did, not executions of a program. */
#pragma once

#include "profile/profile.h"

/* What it was made of: "120 minutes of 4 hosts, ...". */
#define FZ_FLEET_FACT "fleet"

/* What of the store did not answer, so that it is not in the profile: "http://host:8123/database".
 */
#define FZ_FLEET_MISSING_FACT "fleet missing"

/* Of a head: what part of its minutes, in percent, was at another time of day than all of the
 * base's; missing where it is less than half. */
#define FZ_FLEET_HOURS_FACT "fleet hours"

/* That its n-th run belongs to the n-th of the other profile with the same fact: the hosts that
 * blocks of time are of (0: units are hosts), and a hash of what goes together. */
#define FZ_FLEET_PAIRS_FACT "fleet pairs"
#define FZ_FLEET_PAIRS_FORMAT "%u %016llx"

static inline bool fz_profile_is_fleet(const struct fz_profile *p)
{
	return fz_profile_fact(p, FZ_FLEET_FACT).n > 0;
}
