/* SPDX-License-Identifier: MIT */
/* With whose rights this thread uses files.
 *
 * Root looks at what others name and writes where others are at home. As they he opens what they
 * may open and no more, whatever their links say, and what he makes is theirs.
 */
#pragma once

#include <sys/types.h>

/* Until fz_identity_drop. Does nothing unless we are root. */
void fz_identity_take(uid_t user, gid_t group);
void fz_identity_drop(void);
