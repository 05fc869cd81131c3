/* SPDX-License-Identifier: MIT */
/* The runs of a recording; see runs.h. */
#include "record/runs.h"

#include "profile/merge.h"
#include "record/measure.h"

static void keep_worst(struct fz_runs *runs, const struct fz_series_run *run)
{
	if (!runs->worst.pid || runs->worst.status == 0)
		runs->worst = run->child;
	runs->timed_out |= run->timed_out;
}

/* A run that was cut short is no run of the same work; it counts only when there is no other. */
static int add_run(struct fz_runs *runs, struct fz_series *s, const struct fz_series_run *run,
		   struct fz_error *err)
{
	/* The signal may have come together with the program's end, and not be read yet. */
	if (fz_series_stopped(s) && runs->all->run_count) {
		fz_notify_warn(s->notify, "%s: interrupted; dropping the unfinished run",
			       s->command);
		return 0;
	}
	return fz_profile_merge(runs->all, run->profile, err);
}

int fz_runs_record(struct fz_series *s, char *const argv[], int n, struct fz_runs *ret,
		   struct fz_error *err)
{
	int rc = 0;

	*ret = (struct fz_runs){ .all = fz_profile_new() };
	for (int i = 0; i < n && !rc && !fz_series_stopped(s); i++) {
		struct fz_series_run run;
		rc = fz_series_record(s, argv, NULL, &run, err);
		if (run.child.pid)
			keep_worst(ret, &run);
		if (!rc)
			rc = add_run(ret, s, &run, err);
		else if (n > 1)
			fz_error_prefix(err, "run %d of %d", i + 1, n);
		fz_profile_free(run.profile);
	}
	return rc;
}
