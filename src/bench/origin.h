/* SPDX-License-Identifier: MIT */
/* Whose code ran? Two trees are compared in vain when both import the same installed package, or
 * when one runs the other's files.
 *
 *   side's tree   /cache/base/pkg/core.py
 *   what ran      /usr/lib/python3/dist-packages/pkg/core.py   an installed copy of the tree's
 *                 /home/me/project/pkg/core.py                 another checkout's
 */
#pragma once

#include "profile/profile.h"

/* FZ_EINPUT, with the remedy: a file ran that is another checkout's of the repository of `own`, or
 * an installed one though `own` has it, too. own: the top of a checkout; NULL: nothing is known. */
int fz_origin_check(const struct fz_profile *p, const char *own, struct fz_error *err);
