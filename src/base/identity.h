/* SPDX-License-Identifier: MIT */
/* The user whose rights this thread uses for files.
 *
 * When root reads files that other users specified or writes to their folders, it does so with
 * their rights: it opens only what they may open, whatever their links point to, and new files are
 * theirs.
 */
#pragma once

#include <sys/types.h>

/* Until fz_identity_drop. Does nothing unless we are root. */
void fz_identity_take(uid_t user, gid_t group);
void fz_identity_drop(void);
