/* SPDX-License-Identifier: MIT */
/* Whose code ran? Two trees are compared in vain when both import the same installed package, or
 * when one names the other's files.
 *
 *   side's tree   /cache/base/pkg/core.py
 *   what ran      /usr/lib/python3/dist-packages/pkg/core.py   an installed copy of the tree's
 *                 /home/me/project/pkg/core.py                 the other side's
 */
#pragma once

#include "profile/profile.h"

/* A file that ran though `own` has its own of the same name: one of the tree `other` (NULL: there
 * is none) or an installed one. NULL when there is none; else the caller frees. */
char *fz_origin_strange(const struct fz_profile *p, const char *own, const char *other);
