/* SPDX-License-Identifier: MIT */
/* Marks from a file of lines that begin with a time, as logs do:
 *
 *   2026-11-23T14:03:05.250Z deploy        ISO 8601; without a zone it is this machine's
 *   2026-11-23 14:03:05,250 deploy
 *   1795442585.25 deploy                   seconds since 1970
 */
#pragma once

#include "base/error.h"
#include "profile/profile.h"

/* Those of the time that the recording has; other lines are passed over. Fails when no line begins
 * with a time, and when it is not known when the recording (`name`) began. */
int fz_cli_marks_add(const char *file, const char *name, struct fz_profile *p,
		     struct fz_error *err);
