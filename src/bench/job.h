/* SPDX-License-Identifier: MIT */
/* Runs of a workspace's command in its checkouts, several side by side: counts do not depend on
 * what else the machine does. Each has a process of its own, which is where the workspace's notify
 * is called from.
 */
#pragma once

#include "bench/benchmarks.h"
#include "bench/checkout.h"

struct fz_job {
	const struct fz_checkout *checkout;
	bool native;    /* as usual, to see that it works and to have bytecode made */
	unsigned other; /* surroundings: struct fz_counter */
	/* results */
	struct fz_profile *profile; /* NULL: nothing was counted */
	char *trouble; /* how it went wrong; NULL: it did not, or the profile says it */
	bool fatal;    /* so that there is nothing to be had */
	/* private */
	pid_t pid;
	char *path;
};

/* Run them, at most `parallel` at a time. what: shown as progress by the workspace's notify, such
 * as "counting, 2 of 12 runs, 34 s"; NULL: no progress is shown. False: a signal ended it. */
bool fz_jobs_run(struct fz_workspace *w, struct fz_job *jobs, size_t n, unsigned parallel,
		 const char *what);
void fz_job_release(struct fz_job *job);
