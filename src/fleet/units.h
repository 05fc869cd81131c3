/* SPDX-License-Identifier: MIT */
/* The parts of two releases that are compared with each other: units whose differences show how
 * much costs vary without a change of code.
 *
 *   hosts     if the sides ran on different ones. Machines, their data and their requests
 *             differ, and no number of minutes of one host shows how another would have done;
 *             so a host is one unit however long it was watched.
 *   pairs     of hosts that ran both sides, each doing the same part of the work: properties of
 *             a host are then on both sides of a pair, and differences between hosts are not
 *             noise. A host that ran only one side is left out: the head may run on a part of
 *             the base's hosts so far. Again a host is one unit, because the effect of a restart
 *             lasts as long as the release.
 *   blocks    of a host's time, if there are too few such hosts: the n-th block of a host
 *             before with the n-th after. Consecutive minutes are alike, so a block is
 *             as long as it can be (fold.c).
 *
 * A unit has at least FZ_FLEET_UNIT_SAMPLES samples. There are at most about FZ_FLEET_UNITS units,
 * of similar size; smaller hosts are combined.
 */
#pragma once

#include "fleet/fleet.h"

enum { FZ_FLEET_UNITS = 32, FZ_FLEET_UNIT_SAMPLES = 200, FZ_FLEET_HOST_PAIRS = 6 };

enum fz_fleet_unit { FZ_FLEET_BY_HOSTS, FZ_FLEET_BY_PAIRS, FZ_FLEET_BY_BLOCKS };

/* For base and head: the unit of each cell, from 0 on; FZ_NONE: left out. Pairs and blocks have the
 * same number of units on both sides, matched by number; units of a host are consecutive. */
struct fz_fleet_units {
	enum fz_fleet_unit kind;
	uint32_t *of[2], n[2];
	uint32_t hosts;       /* hosts on both sides */
	uint32_t left_out[2]; /* hosts */
};

void fz_fleet_units_of(const struct fz_fleet_found *base, const struct fz_fleet_found *head,
		       struct fz_fleet_units *ret);
void fz_fleet_units_release(struct fz_fleet_units *u);
