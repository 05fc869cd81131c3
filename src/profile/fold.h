/* SPDX-License-Identifier: MIT */
/* Folding recursion. */
#pragma once

#include "profile/profile.h"

/* Make every function occur at most once on a stack: a call of one that is on it already goes back
 * to that frame. Samples keep their order and weights. Fails with FZ_ELIMIT when the profile has
 * no room for the new stacks. */
int fz_profile_fold_recursion(struct fz_profile *p, struct fz_error *err);
