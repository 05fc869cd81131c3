/* SPDX-License-Identifier: MIT */
/* Checks each running release (fleet/watch.h) and raises an alarm for functions that became more
 * expensive. */
#pragma once

#include <stdio.h>

#include "fleet/watch.h"

struct fz_server;
struct fz_watcher;

/* Failures of a check in a row. */
enum { FZ_RETRY_FIRST = 5, FZ_RETRY_LONGEST = 320 /* seconds */ };
struct fz_retry {
	char *message; /* of the last one; NULL: the check did not fail */
	int64_t pause; /* seconds until the next attempt; 0: the check is done */
	int64_t next;  /* time of the next attempt */
};
/* Note the result of a check that ended `now`, in ns. Returns whether its error must be reported:
 * it is not the last one again. */
bool fz_retry_note(struct fz_retry *r, int64_t now, int result, const struct fz_error *err);

void fz_watcher_start(struct fz_server *s, struct fz_watcher **ret);
/* Note a stored push: its project, service and version, and its minutes. */
void fz_watcher_note(struct fz_watcher *w, const struct fz_fleet_push *push,
		     const struct fz_fleet_batch *b);
/* Check a release once and raise its alarm. If that fails, the release remains due, except after
 * FZ_ELIMIT. */
int fz_watcher_check(struct fz_server *s, struct fz_fleet_watch *watch, struct fz_error *err);
/* Waits for a running check or command. */
void fz_watcher_stop(struct fz_watcher *w);
/* Open a file for appending alarms. Creates a missing one; does not follow links of other users. */
int fz_alarm_file_open(const char *path, FILE **ret, struct fz_error *err);
