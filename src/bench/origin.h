/* SPDX-License-Identifier: MIT */
/* Checks which tree's code ran. Comparing two trees is meaningless if both import the same
 * installed package, or if one runs the other's files.
 *
 *   side's tree   /cache/base/pkg/core.py
 *   what ran      /usr/lib/python3/dist-packages/pkg/core.py   an installed copy
 *                 /home/me/project/pkg/core.py                 in another checkout
 */
#pragma once

#include "profile/profile.h"

/* FZ_EINPUT with the remedy if a file ran that is in another checkout of the repository of `own`,
 * or an installed one that `own` has, too. own: the top of a checkout; NULL: no check. */
int fz_origin_check(const struct fz_profile *p, const char *own, struct fz_error *err);
