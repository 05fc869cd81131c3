/* SPDX-License-Identifier: MIT */
/* Alarms for functions that a release made more expensive, while it runs.
 *
 *   minutes of the release   5    10     20           40      each check has twice as much data
 *                            |-----|------|------------|
 *   a function                changed      changed: overall, and since the last check
 *                                          -> alarm
 *
 * A release is compared with the previous version, as in all comparisons (fold.h). Data since the
 * last check does not confirm a change that went away, and hardly ever a chance difference. Effects
 * of the time of day or week also show at the same hours a day or a week earlier, and on hosts that
 * still run the previous version. Checks are few, so chance alarms stay unlikely. Only self costs
 * are compared, so a function's callers raise no alarm; one alarm lists all functions of a release
 * that became more expensive. Checks depend only on the minutes, not on when data arrived: a
 * release pushed at once is checked as often as one that runs.
 */
#pragma once

#include "fleet/fleet.h"

enum { FZ_FLEET_CHECK_FIRST = 5 /* minutes */, FZ_FLEET_DAY = 1440 /* minutes */ };

/* Functions, by hashes of their names. */
struct fz_fleet_functions {
	uint64_t *v;
	uint32_t n, cap;
};

/* A release to check. Initially only its names and `first` are set. */
struct fz_fleet_watch {
	const char *project, *service, *version;
	const char *metric; /* NULL: the default one */
	/* Its minutes received since the watch began, set by the caller. A clock that is behind
	 * does not move `first`. */
	int64_t first, last;
	int64_t checked; /* end of the last check; 0: none */
	struct fz_fleet_functions suspects, told;
	struct fz_fleet_functions next_suspects, next_told; /* found by fz_fleet_check */
};

/* Is there at least twice as much data as at the last check? */
bool fz_fleet_check_due(const struct fz_fleet_watch *w);
/* Check twice the data of the last check, with a handle used for nothing else. Returns 1 and an
 * alarm, with texts in `ret_text`, or 0 if there is none. The next call repeats this check, unless
 * fz_fleet_checked is called first. */
int fz_fleet_check(struct fz_fleet *f, struct fz_fleet_watch *w, struct fz_fleet_alarm *ret,
		   struct fz_arena *ret_text, struct fz_error *err);
/* The last check is done and its alarm is stored. */
void fz_fleet_checked(struct fz_fleet_watch *w);
void fz_fleet_watch_release(struct fz_fleet_watch *w);
