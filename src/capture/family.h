/* SPDX-License-Identifier: MIT */
/* A process and all that it starts, as it happens.
 *
 * The kernel reports each fork and exec of the family in perf task records, which are inherited by
 * whatever a process starts: nothing is polled, so a child that lives for milliseconds is seen, and
 * so is one whose parent is gone or that left the session. Where perf is not allowed /proc is
 * looked through every few milliseconds instead, and what lives shorter can be missed.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"

struct fz_family;

enum fz_family_kind { FZ_FAMILY_PERF, FZ_FAMILY_PROC };
extern const char *const fz_family_names[]; /* for the fact "subprocesses" */

enum fz_family_what {
	FZ_FAMILY_NEW,  /* a process that was not known, the root first of all */
	FZ_FAMILY_EXEC, /* it runs another program now */
	FZ_FAMILY_END,
};

struct fz_family_event {
	enum fz_family_what what;
	pid_t pid, parent; /* parent: 0 when unknown */
};

/* best: the kind to try first. What the root has started already is found, too. FZ_EGONE: there is
 * no such process. */
int fz_family_new(pid_t root, enum fz_family_kind best, struct fz_family **ret,
		  struct fz_error *err);
/* NULL is allowed. */
void fz_family_free(struct fz_family *f);
enum fz_family_kind fz_family_kind(const struct fz_family *f);
/* Readable when something may have happened, but only once for each time: whatever waits for it
 * looks with fz_family_update, readable or not. */
int fz_family_fd(const struct fz_family *f);
/* Look what has happened: collects events. */
void fz_family_update(struct fz_family *f);
/* The next event; false when there is none. */
bool fz_family_next(struct fz_family *f, struct fz_family_event *ret);
/* Processes that have not ended. */
size_t fz_family_count(const struct fz_family *f);
