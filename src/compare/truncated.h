/* SPDX-License-Identifier: MIT */
/* Makes a recording with truncated stacks comparable with one that has complete stacks.
 *
 *   base, cut at 4           r r r leaf     ->  r r r leaf
 *   head        main outer r r r r leaf     ->  r r r leaf     cut alike
 *   head        main outer r r leaf         ->    r r leaf     starts where the base could
 *
 * Frames that are missing due to truncation must not be reported as new or gone, so they are
 * removed from both sides: all stacks start at the functions that truncated stacks start with.
 */
#pragma once

#include "profile/profile.h"

/* Whether fz_diff_cut_alike would change the profiles: exactly one is truncated. */
bool fz_diff_cuts(const struct fz_profile *base, const struct fz_profile *head);
/* Cuts both alike if exactly one is truncated (its fact "stacks.cut" is the number of frames).
 * Samples keep their order and weights. Sets the fact "stacks.begin" of the truncated one to the
 * names of the functions. Fails with FZ_ELIMIT if a profile has no room for the new stacks. */
int fz_diff_cut_alike(struct fz_profile *base, struct fz_profile *head, struct fz_error *err);
