/* SPDX-License-Identifier: MIT */
/* A profile of many hosts: its runs are units of their time, not executions of a program. */
#pragma once

#include "profile/profile.h"

/* Its contents: "120 minutes of 4 hosts, ...". */
#define FZ_FLEET_FACT "fleet"

/* Part of the store that did not respond and is missing: "http://host:8123/database". */
#define FZ_FLEET_MISSING_FACT "fleet missing"

/* For a head: percentage of its minutes at times of day that the base lacks; missing if below
 * 50. */
#define FZ_FLEET_HOURS_FACT "fleet hours"

/* Least average number of hosts in a unit; missing if it is small. */
#define FZ_FLEET_UNIT_FACT "fleet hosts of a unit"

/* The n-th runs of two profiles with the same value are a pair. Value: number of hosts whose time
 * is divided into blocks (0: units are hosts), and a hash of the pairs. */
#define FZ_FLEET_PAIRS_FACT "fleet pairs"
#define FZ_FLEET_PAIRS_FORMAT "%u %016llx"

/* For the side with fewer hosts; at least 1, whatever a file contains. */
static inline double fz_profile_unit_hosts(const struct fz_profile *const side[2])
{
	double hosts[2] = { 1, 1 };

	for (int s = 0; s < 2; s++)
		fz_parse_decimal(fz_profile_fact(side[s], FZ_FLEET_UNIT_FACT), &hosts[s]);
	return FZ_MAX(1, FZ_MIN(hosts[0], hosts[1]));
}

static inline bool fz_profile_is_fleet(const struct fz_profile *p)
{
	return fz_profile_fact(p, FZ_FLEET_FACT).n > 0;
}
