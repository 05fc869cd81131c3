/* SPDX-License-Identifier: MIT */
/* Writes all waiting pushes to disk together. */
#pragma once

#include <pthread.h>

#include "fleet/fleet.h"

struct fz_group_commit {
	pthread_mutex_t lock;
	pthread_cond_t done;
	struct fz_commit *waiting;
	bool leading; /* somebody writes */
};

void fz_commits_init(struct fz_group_commit *c);
void fz_commits_release(struct fz_group_commit *c);
/* From any thread; returns when all of them are on the disk, or have an error as their result.
 * `writing` is the lock of `f`. */
void fz_commits_put(struct fz_group_commit *c, struct fz_fleet *f, pthread_mutex_t *writing,
		    struct fz_fleet_item *const *items, size_t n);
