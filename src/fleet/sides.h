/* SPDX-License-Identifier: MIT */
/* Syntax for one side of a comparison:
 *
 *   api@1.4                                a release
 *   api@2026-11-23T06:15..2026-11-23T07:00 a time range (UTC), all versions
 *   api@2h..1h, api@1h..                   the same, relative to now; until now
 *   api@1.4@2h..1h                         a range of a release's time
 *   api@1.4{region=eu,zone=b}              any of these, only what was pushed with these labels
 *
 * Text that looks like a range or labels is always parsed as such, so no version may have such a
 * name.
 */
#pragma once

#include "fleet/fleet.h"

struct fz_fleet_side {
	char *service;
	char *version;        /* NULL: all of them */
	int64_t from, until;  /* minutes: from <= minute < until; without a range 0 and INT64_MAX */
	struct fz_buf labels; /* as in a push; "": any */
	char *name;           /* canonical text, with absolute times */
};

/* Parse a side. now: a minute. FZ_EUSAGE if the text is invalid. */
int fz_fleet_side_of(const char *text, int64_t now, struct fz_fleet_side *ret,
		     struct fz_error *err);
void fz_fleet_side_release(struct fz_fleet_side *s);

/* Check the version of a push. FZ_EUSAGE if it is invalid or looks like a time range. */
int fz_fleet_check_version(const char *name, struct fz_error *err);
