/* SPDX-License-Identifier: MIT */
/* The user whose rights this thread uses for files.
 *
 * Root uses other users' rights for files that they specified and in their folders: it only opens
 * files that they may open, whatever their links refer to, and new files belong to them.
 */
#pragma once

#include <sys/types.h>

/* Takes the rights until fz_identity_drop. Does nothing unless we are root. */
void fz_identity_take(uid_t user, gid_t group);
void fz_identity_drop(void);
