/* SPDX-License-Identifier: MIT */
/* Two recordings of a synthetic program, of any size, with what is true of them.
 *
 * The program's functions lie in files and call callees of their own, few of them are called from
 * everywhere. It is sampled twice:
 *
 *   FZ_REPEATED     the same program again, a little faster here and slower there
 *   FZ_REFACTORED   3 % of its functions have other names, 5 % of its files other places, 1 % of
 *                   its functions a wrapper around them, 1 % are split in two, 1 % are gone and
 *                   as many are new
 *
 * The same arguments make the same recordings.
 */
#pragma once

#include "profile/profile.h"

/* A die that repeats itself: it starts from `state`. */
struct fz_dice {
	uint64_t state;
};

uint32_t fz_dice(struct fz_dice *dice, uint32_t sides);
bool fz_dice_chance(struct fz_dice *dice, double p);

enum fz_refactor_kind { FZ_REPEATED, FZ_REFACTORED };

struct fz_refactor {
	struct fz_profile *base, *head;
	uint32_t *truth; /* of a head stack: the base stack; FZ_NONE: new */
	size_t truth_cap;
	struct fz_dice dice;
	enum fz_refactor_kind kind;
};

/* A call tree of so many nodes, with so many functions; about four fifths of the nodes are
 * sampled or above one that is. */
void fz_refactor_init(struct fz_refactor *r, uint32_t nodes, uint32_t functions,
		      enum fz_refactor_kind kind, uint64_t seed);
void fz_refactor_release(struct fz_refactor *r);
