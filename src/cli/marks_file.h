/* SPDX-License-Identifier: MIT */
/* Marks from a file of lines that begin with a time, such as a log:
 *
 *   2026-11-23T14:03:05.250Z deploy        ISO 8601; without a zone it is local time
 *   2026-11-23 14:03:05,250 deploy
 *   1795442585.25 deploy                   seconds since 1970
 */
#pragma once

#include "base/error.h"
#include "profile/profile.h"

/* Add the lines within the time of the recording; others are skipped. Fails if no line begins with
 * a time, or if the start time of the recording (`name`) is unknown. */
int fz_cli_marks_add(const char *file, const char *name, struct fz_profile *p,
		     struct fz_error *err);
