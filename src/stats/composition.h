/* SPDX-License-Identifier: MIT */
/* Where a program began to do other things: what its time goes to, slot by slot.
 *
 *   parse  |########..........|        costs by kind and slot of time
 *   emit   |........####......|
 *   wait   |##......####......|
 *           0       8   ^ a change: the shares before it are not those behind it
 *
 * Only shares count, not how much there is in a slot. A program that does the same things over and
 * over, in phases however long against a slot, has no change: blocks of slots are permuted, long
 * enough that neighbours know nothing of each other. Chosen by simulation, so that at most 5 % of
 * stationary programs have a false change (tests/unit/test_composition.c).
 */
#pragma once

#include <stddef.h>

enum {
	FZ_COMPOSITION_SLOTS = 256,
	FZ_COMPOSITION_KINDS = 24,  /* at most */
	FZ_COMPOSITION_CHANGES = 8, /* as many are told at most */
};

/* Changes of costs[slot * kinds + kind], all at least 0, in FZ_COMPOSITION_SLOTS slots: the first
 * slots of what is new, in order. Returns how many. The same input has the same changes. */
size_t fz_composition_find(const double *costs, size_t kinds,
			   size_t ret_at[FZ_COMPOSITION_CHANGES]);
/* How much of the time goes elsewhere in [middle, to) than in [from, middle): from 0 to 1. */
double fz_composition_distance(const double *costs, size_t kinds, size_t from, size_t middle,
			       size_t to);
