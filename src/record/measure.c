/* SPDX-License-Identifier: MIT */
/* Runs of a series, sampled or counted; see measure.h. */
#include "record/measure.h"

#include "base/clock.h"
#include "record/counted.h"
#include "profile/merge.h"

#include <signal.h>

static void warn_once(struct fz_series *s, const struct fz_record *r)
{
	for (int i = 0; i < FZ_WARNINGS; i++) {
		const char *warning = r->sampler.warnings[i];
		if (warning && !s->warned[i])
			fz_notify_warn(s->notify, "%s", warning);
		s->warned[i] |= warning != NULL;
	}
}

/* Sample the running program until it ends. */
static int record_program(struct fz_series *s, struct fz_trial *t, int64_t start,
			  struct fz_series_run *ret, struct fz_error *err)
{
	struct fz_record *r = &t->record;
	char how[32];

	r->sampling.on_signal = fz_trial_on_signal;
	fz_record_begin(r, t->child.pid, t->child.pidfd, true, start);
	fz_record_begin_file(r);
	fz_sampler_run(&r->sampler);
	ret->timed_out = r->sampler.end == FZ_END_TIME;
	if (ret->timed_out)
		fz_trial_terminate(t);
	else
		fz_trial_wait(t, -1);
	warn_once(s, r);
	fz_trial_describe(&t->child, how, sizeof(how));
	return fz_record_take(r, how, &ret->profile, err);
}

static int record_sampled(struct fz_series *s, char *const argv[],
			  const struct fz_launch_place *place, struct fz_series_run *ret,
			  struct fz_error *err)
{
	struct fz_trial t = { .child = { .pidfd = -1 } };
	struct fz_series_run run = { 0 };

	fz_record_init(&t.record, s->options, s->command, s->notify);
	t.record.callbacks = s->callbacks;
	int rc = fz_record_to_temporary(&t.record, err);
	if (!rc)
		rc = fz_record_load(&t.record, err);
	if (!rc)
		rc = fz_record_catch_signals(&t.record, s->all_signals, err);
	if (!rc) {
		int64_t start = fz_clock_now();
		rc = fz_launch_start(argv, &s->old_mask, place, &t.child, err);
		t.record.argv = argv;
		t.record.child = &t.child;
		t.record.folder = place ? place->folder : NULL;
		if (!rc)
			rc = record_program(s, &t, start, &run, err);
		sigprocmask(SIG_SETMASK, &t.record.old_mask, NULL);
	}
	if (t.stopped_by)
		s->stopped_by = t.stopped_by;
	run.child = t.child;
	fz_record_release(&t.record);
	fz_launch_release(&t.child);
	*ret = run;
	ret->child.pidfd = -1;
	return rc;
}

int fz_series_record(struct fz_series *s, char *const argv[], const struct fz_launch_place *place,
		     struct fz_series_run *ret, struct fz_error *err)
{
	return s->options->count ? fz_series_count(s, argv, place, ret, err)
				 : record_sampled(s, argv, place, ret, err);
}

/* ---- several as one recording ---- */

static void keep_worst(struct fz_runs *runs, const struct fz_series_run *run)
{
	if (!runs->worst.pid || runs->worst.status == 0)
		runs->worst = run->child;
	runs->timed_out |= run->timed_out;
}

/* A run that was cut short did less work, so it is used only if there is no complete one. */
static int add_run(struct fz_runs *runs, struct fz_series *s, const struct fz_series_run *run,
		   struct fz_error *err)
{
	/* The signal may have arrived as the program ended, and not have been read yet. */
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
