/* SPDX-License-Identifier: MIT */
/* Finds the points where a program starts to spend its time differently.
 *
 *   parse  |########..........|        costs by kind and slot of time
 *   emit   |........####......|
 *   wait   |##......####......|
 *           0       8   ^ a change: shares differ before and after it
 *
 * Only shares count, not the cost of a slot. A program that repeats the same phases has no change,
 * even if a phase spans many slots: the test permutes blocks of slots that are long enough for
 * neighbours to be independent. In simulations at most 5 % of stationary programs have a false
 * change (tests/unit/test_composition.c).
 */
#pragma once

#include <stddef.h>

enum {
	FZ_COMPOSITION_SLOTS = 256,
	FZ_COMPOSITION_KINDS = 24,  /* at most */
	FZ_COMPOSITION_CHANGES = 8, /* reported, at most */
};

/* Finds the changes in costs[slot * kinds + kind], all >= 0, with FZ_COMPOSITION_SLOTS slots. Sets
 * ret_at to the first slot after each change, in order, and returns their number. Deterministic. */
size_t fz_composition_find(const double *costs, size_t kinds,
			   size_t ret_at[FZ_COMPOSITION_CHANGES]);
