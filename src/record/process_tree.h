/* SPDX-License-Identifier: MIT */
/* Follows a process and all its descendants.
 *
 * The kernel reports each fork and exec of the tree in perf task records, which are inherited by
 * children. Nothing is polled, so a child that lives for milliseconds is reported, and so is one
 * whose parent is gone or that left the session. If perf is not permitted, /proc is scanned every
 * few milliseconds instead, and shorter processes can be missed.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"

struct fz_process_tree;

enum fz_process_tree_kind { FZ_PROCESS_TREE_PERF, FZ_PROCESS_TREE_PROC };
extern const char *const fz_process_tree_names[]; /* for the fact "subprocesses" */

enum fz_process_tree_what {
	FZ_PROCESS_TREE_NEW,  /* a new process; the root is the first */
	FZ_PROCESS_TREE_EXEC, /* it runs another program now */
	FZ_PROCESS_TREE_END,
};

struct fz_process_tree_event {
	enum fz_process_tree_what what;
	pid_t pid, parent; /* parent: 0 when unknown */
};

/* Call before starting the root: the first perf event of a machine waits some 15 ms until all CPUs
 * expect such events, and the root's children are not followed meanwhile. */
void fz_process_tree_prepare(void);
/* best: the kind to try first. Existing descendants of the root are included. FZ_EGONE if there is
 * no such process. */
int fz_process_tree_new(pid_t root, enum fz_process_tree_kind best, struct fz_process_tree **ret,
			struct fz_error *err);
/* NULL is allowed. */
void fz_process_tree_free(struct fz_process_tree *t);
enum fz_process_tree_kind fz_process_tree_kind(const struct fz_process_tree *t);
/* Becomes readable when something may have happened. Polling it can clear that, so always call
 * fz_process_tree_update after polling, readable or not. */
int fz_process_tree_fd(const struct fz_process_tree *t);
/* Collect new events. */
void fz_process_tree_update(struct fz_process_tree *t);
/* Get the next collected event; false if there is none. */
bool fz_process_tree_next(struct fz_process_tree *t, struct fz_process_tree_event *ret);
/* The number of processes that have not ended. */
size_t fz_process_tree_count(const struct fz_process_tree *t);
