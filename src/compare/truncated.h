/* SPDX-License-Identifier: MIT */
/* Comparing a recording whose stacks were cut with one whose stacks were not.
 *
 *   base, cut at 4           r r r leaf              ->  r r r leaf
 *   head        main outer r r r r leaf              ->  r r r leaf      cut alike
 *   head        main outer r r leaf                  ->      r r leaf    begins where the base
 * could
 *
 * What the cut took from one side says nothing about the program, so it may not be called new or
 * gone: it is taken from both. The functions with which cut stacks begin are where all stacks that
 * pass through them begin, on both sides.
 */
#pragma once

#include "profile/profile.h"

/* Whether fz_diff_cut_alike would change the two: one is cut and the other is not. */
bool fz_diff_cuts(const struct fz_profile *base, const struct fz_profile *head);
/* When one of the two is cut (its fact "stacks.cut" is the number of frames) and the other is not.
 * Samples keep their order and weights. The fact "stacks.begin" of the one that is cut then names
 * the functions. Fails with FZ_ELIMIT when a profile has no room for the new stacks. */
int fz_diff_cut_alike(struct fz_profile *base, struct fz_profile *head, struct fz_error *err);
