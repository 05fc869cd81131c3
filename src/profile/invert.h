/* SPDX-License-Identifier: MIT */
/* Reverses stacks. */
#pragma once

#include "profile/profile.h"

/* Reverses every sample's stack: the executing function becomes the root and its outermost caller
 * the leaf. Fails with FZ_ELIMIT if the profile has no room for the new stacks. */
int fz_profile_invert(struct fz_profile *p, struct fz_error *err);
