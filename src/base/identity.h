/* SPDX-License-Identifier: MIT */
/* The user whose rights this thread uses for files.
 *
 * As root, we handle another user's recordings and sources with that user's rights: we only open
 * files that the user may open, whatever links refer to, and new files belong to the user.
 */
#pragma once

#include <sys/types.h>

/* Assumes the rights until fz_identity_drop. Does nothing unless we are root. */
void fz_identity_assume(uid_t user, gid_t group);
void fz_identity_drop(void);
