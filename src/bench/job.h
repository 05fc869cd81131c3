/* SPDX-License-Identifier: MIT */
/* Runs of a workspace's command in its checkouts, several in parallel: counts do not depend on
 * other load. Each has its own process, in which the workspace's notify is called.
 */
#pragma once

#include "bench/benchmarks.h"
#include "bench/checkout.h"

struct fz_job {
	const struct fz_checkout *checkout;
	bool native;    /* without Valgrind, to test the command and to create bytecode */
	unsigned other; /* environment: struct fz_counter */
	/* results */
	struct fz_profile *profile; /* NULL: nothing was counted */
	char *trouble;              /* error message; NULL: none, or it is in the profile */
	bool fatal;                 /* there are no results */
	/* private */
	pid_t pid;
	char *path;
};

/* Run them, at most `parallel` at a time. what: reported as progress, such as "counting, 2 of 12
 * runs, 34 s"; NULL: no progress. False if a signal ended it. */
bool fz_jobs_run(struct fz_workspace *w, struct fz_job *jobs, size_t n, unsigned parallel,
		 const char *what);
void fz_job_release(struct fz_job *job);
