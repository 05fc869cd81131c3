/* SPDX-License-Identifier: MIT */
/* Turning stacks round. */
#pragma once

#include "profile/profile.h"

/* Turn every sample's stack round: what ran becomes the root and its outermost caller the leaf.
 * Fails with FZ_ELIMIT when the profile has no room for the new stacks. */
int fz_profile_invert(struct fz_profile *p, struct fz_error *err);
