/* SPDX-License-Identifier: MIT */
/* Changes the stacks of a profile's samples: folds recursion, or reverses them. */
#pragma once

#include "profile/profile.h"

/* Makes every function occur at most once on a stack: a recursive call returns to its existing
 * frame. Samples keep their order and weights. Fails with FZ_ELIMIT if the profile has no room for
 * the new stacks. */
int fz_profile_fold_recursion(struct fz_profile *p, struct fz_error *err);

/* Reverses every sample's stack: the executing function becomes the root and its outermost caller
 * the leaf. Fails with FZ_ELIMIT if the profile has no room for the new stacks. */
int fz_profile_invert(struct fz_profile *p, struct fz_error *err);
