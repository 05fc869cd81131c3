/* SPDX-License-Identifier: MIT */
/* Writes all waiting pushes to disk together. */
#pragma once

#include <pthread.h>

#include "fleet/fleet.h"

struct fz_group_commit {
	pthread_mutex_t lock;
	pthread_cond_t done;
	struct fz_commit *waiting;
	bool leading; /* a thread is writing */
};

void fz_commits_init(struct fz_group_commit *c);
void fz_commits_release(struct fz_group_commit *c);
/* Store items; may be called from any thread. Returns when each is on disk or has an error as its
 * result. writing: the lock of `f`. */
void fz_commits_put(struct fz_group_commit *c, struct fz_fleet *f, pthread_mutex_t *writing,
		    struct fz_fleet_item *const *items, size_t n);
