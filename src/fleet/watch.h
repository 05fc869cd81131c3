/* SPDX-License-Identifier: MIT */
/* Alarms for functions that a release made more expensive, while it runs.
 *
 *   minutes of the release   5    10     20           40      each check has twice as much data
 *                            |-----|------|------------|
 *   a function                changed      changed: of all, and of what came since the last check
 *                                          -> alarm
 *
 * A release is compared with the version that ran before it, by the judge of all comparisons
 * (fold.h). What went away again is not in what came since; what chance alone did, is hardly ever
 * there a second time. What a time of day or week does was there at the same hours a day or a week
 * earlier, and on hosts that run the version before meanwhile, if that version ran then. Checks are
 * few, so chance alarms stay unlikely. Only own costs are compared, so that a function's callers
 * raise no alarm; one alarm lists all functions of a release that became more expensive. Checks
 * depend on the minutes alone, not on when they came in: a release that is pushed at once is
 * checked as often as one that runs.
 */
#pragma once

#include "fleet/fleet.h"

enum { FZ_FLEET_CHECK_FIRST = 5 /* minutes */, FZ_FLEET_DAY = 1440 /* minutes */ };

/* A release that is checked. Zeroed but for its names and `first` to begin with. */
struct fz_fleet_watch {
	const char *project, *service, *version;
	const char *metric; /* NULL: the default one */
	/* Minutes of it that came in since somebody watches, set by the caller. A clock that is
	 * behind does not move the first. */
	int64_t first, last;
	/* fz_fleet_check's */
	int64_t checked; /* minutes before this one were checked; 0: none */
	uint64_t *suspects, *told;
	uint32_t suspect_n, suspect_cap, told_n, told_cap;
};

/* Whether there is twice as much as at the last check, or more. */
bool fz_fleet_check_due(const struct fz_fleet_watch *w);
/* One check, of no more than that, which reads with a handle of its own. An alarm's texts are in
 * `ret_text`; 0: there is none, 1: there is one. */
int fz_fleet_check(struct fz_fleet *f, struct fz_fleet_watch *w, struct fz_fleet_alarm *ret,
		   struct fz_arena *ret_text, struct fz_error *err);
void fz_fleet_watch_release(struct fz_fleet_watch *w);
