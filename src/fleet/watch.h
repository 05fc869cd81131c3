/* SPDX-License-Identifier: MIT */
/* What a release made more expensive, told while it runs.
 *
 *   minutes of the release   5    10     20           40      each look has twice as much
 *                            |-----|------|------------|
 *   a function                changed      changed: of all, and of what came since the last look
 *                                          -> alarm
 *
 * A release is compared with the version that ran before it, by the judge of all comparisons
 * (fold.h). What went away again is not in what came since; what chance alone did, is hardly ever
 * there a second time. Looks are few, so many of them do not make chance likely. Own costs are
 * looked at, so that a function's callers raise no alarm of theirs; all functions of a release that
 * became more expensive are in one. What is looked at is a matter of the minutes alone, not of when
 * they came in: a release that is pushed at once is looked at as often as one that runs.
 */
#pragma once

#include "fleet/fleet.h"

enum { FZ_FLEET_LOOK_FIRST = 5 /* minutes */, FZ_FLEET_BASE_MINUTES = 1440 };

/* A release that is looked at. Zeroed but for its names and `first` to begin with. */
struct fz_fleet_watch {
	const char *project, *service, *version;
	/* Minutes of it that came in since somebody watches, set by the caller. A clock that is
	 * behind does not move the first. */
	int64_t first, last;
	/* fz_fleet_look's */
	int64_t looked; /* minutes before this one were looked at; 0: none */
	uint64_t *suspects, *told;
	uint32_t suspect_n, suspect_cap, told_n, told_cap;
};

/* Whether there is twice as much as at the last look, or more. */
bool fz_fleet_look_due(const struct fz_fleet_watch *w);
/* One look, at no more than that, with a handle of its own that is read from. An alarm's texts are
 * in `ret_text`; 0: there is none, 1: there is one. */
int fz_fleet_look(struct fz_fleet *f, struct fz_fleet_watch *w, struct fz_fleet_alarm *ret,
		  struct fz_arena *ret_text, struct fz_error *err);
void fz_fleet_watch_release(struct fz_fleet_watch *w);
