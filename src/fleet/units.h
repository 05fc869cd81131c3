/* SPDX-License-Identifier: MIT */
/* Which parts of two releases are compared with one another: the units whose differences tell how
 * much costs vary without a change of code.
 *
 *   hosts     where the sides ran on different ones. Machines, their data and their requests
 *             differ, and no number of minutes of one host says how another one would have done;
 *             so a host is one unit however long it was watched.
 *   pairs     of hosts that were on both sides, each doing the same part of the work there: what is
 *             a host's own is then on both sides of a pair, and differences between hosts are no
 *             noise. A host that only one side ran on is left out. Again a host is one unit, for
 *             what a restart did to it lasts as long as the release.
 *   blocks    of a host's time, where there are too few of such hosts: the n-th block of a host
 *             before with the n-th after. Minutes that follow one another are alike; so a block is
 *             as long as it can be (fold.c).
 *
 * A unit has at least FZ_FLEET_UNIT_SAMPLES and there are about FZ_FLEET_UNITS at most, of about
 * the same size: smaller hosts are taken together.
 */
#pragma once

#include "fleet/fleet.h"

enum { FZ_FLEET_UNITS = 32, FZ_FLEET_UNIT_SAMPLES = 200, FZ_FLEET_HOST_PAIRS = 6 };

enum fz_fleet_unit { FZ_FLEET_BY_HOSTS, FZ_FLEET_BY_PAIRS, FZ_FLEET_BY_BLOCKS };

/* For base and head: the unit of each cell, from 0 on; FZ_NONE: it is left out. Pairs and blocks
 * have as many units on both sides, which go together by number; units of one host follow one
 * another. */
struct fz_fleet_units {
	enum fz_fleet_unit kind;
	uint32_t *of[2], n[2];
	uint32_t hosts;       /* of pairs and blocks: that are on both sides */
	uint32_t left_out[2]; /* hosts */
};

void fz_fleet_units_of(const struct fz_fleet_found *base, const struct fz_fleet_found *head,
		       struct fz_fleet_units *ret);
void fz_fleet_units_release(struct fz_fleet_units *u);
