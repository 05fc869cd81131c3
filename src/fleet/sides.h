/* SPDX-License-Identifier: MIT */
/* What one side of a comparison is called:
 *
 *   api@1.4                                a release
 *   api@2026-11-23T06:15..2026-11-23T07:00 a range of time, of whatever ran in it (UTC)
 *   api@2h..1h, api@1h..                   the same, so long ago; until now
 *   api@1.4@2h..1h                         a range of a release's time
 *
 * What reads as a range is one: no version may be called so.
 */
#pragma once

#include "fleet/fleet.h"

struct fz_fleet_side {
	char *service;
	char *version;       /* NULL: all of them */
	int64_t from, until; /* minutes: from <= minute < until; of a release 0 and INT64_MAX */
	char *name;          /* of the same, with times in place of "so long ago" */
};

/* FZ_EUSAGE: it is none. `now` is a minute. */
int fz_fleet_side_of(const char *text, int64_t now, struct fz_fleet_side *ret,
		     struct fz_error *err);
void fz_fleet_side_release(struct fz_fleet_side *s);

/* Of a push; FZ_EUSAGE: it is no name, or a comparison would take it for a range of time. */
int fz_fleet_check_version(const char *name, struct fz_error *err);
