/* SPDX-License-Identifier: MIT */
/* A process and all that it starts, as it happens.
 *
 * The kernel reports each fork and exec of the tree in perf task records, which are inherited by
 * whatever a process starts: nothing is polled, so a child that lives for milliseconds is seen, and
 * so is one whose parent is gone or that left the session. Where perf is not allowed /proc is
 * looked through every few milliseconds instead, and what lives shorter can be missed.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"

struct fz_process_tree;

enum fz_process_tree_kind { FZ_PROCESS_TREE_PERF, FZ_PROCESS_TREE_PROC };
extern const char *const fz_process_tree_names[]; /* for the fact "subprocesses" */

enum fz_process_tree_what {
	FZ_PROCESS_TREE_NEW,  /* a process that was not known, the root first of all */
	FZ_PROCESS_TREE_EXEC, /* it runs another program now */
	FZ_PROCESS_TREE_END,
};

struct fz_process_tree_event {
	enum fz_process_tree_what what;
	pid_t pid, parent; /* parent: 0 when unknown */
};

/* best: the kind to try first. What the root has started already is found, too. FZ_EGONE: there is
 * no such process. */
int fz_process_tree_new(pid_t root, enum fz_process_tree_kind best, struct fz_process_tree **ret,
			struct fz_error *err);
/* NULL is allowed. */
void fz_process_tree_free(struct fz_process_tree *t);
enum fz_process_tree_kind fz_process_tree_kind(const struct fz_process_tree *t);
/* Readable when something may have happened, but only once for each time: whatever waits for it
 * looks with fz_process_tree_update, readable or not. */
int fz_process_tree_fd(const struct fz_process_tree *t);
/* Look what has happened: collects events. */
void fz_process_tree_update(struct fz_process_tree *t);
/* The next event; false when there is none. */
bool fz_process_tree_next(struct fz_process_tree *t, struct fz_process_tree_event *ret);
/* Processes that have not ended. */
size_t fz_process_tree_count(const struct fz_process_tree *t);
