/* SPDX-License-Identifier: MIT */
/* Several programs one after the other; see series.h. */
#include "record/series.h"

#include "base/clock.h"
#include "base/io.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { POLL_MS = 200 };

void fz_series_begin(struct fz_series *s, const char *command,
		     const struct fz_record_options *options, const struct fz_notify *notify)
{
	sigset_t mask = fz_trial_ending();

	*s = (struct fz_series){ .command = command,
				 .options = options,
				 .notify = notify,
				 .counts.outline = !options->interpreter_frames };
	sigprocmask(SIG_BLOCK, &mask, &s->old_mask);
}

bool fz_series_stopped(struct fz_series *s)
{
	sigset_t mask = fz_trial_ending();

	int number = sigtimedwait(&mask, NULL, &(struct timespec){ 0 });
	if (number > 0)
		s->stopped_by = number;
	return s->stopped_by != 0;
}

void fz_series_end(struct fz_series *s)
{
	fz_series_stopped(s);
	sigprocmask(SIG_SETMASK, &s->old_mask, NULL);
}

int fz_series_interrupted(struct fz_error *err)
{
	return fz_fail(err, FZ_EINTERRUPTED, "interrupted");
}

int fz_series_run(struct fz_series *s, char *const argv[], const struct fz_launch_place *place,
		  struct fz_child *ret, struct fz_error *err)
{
	struct fz_trial t = {
		.record = { .signal_fd = -1, .command = s->command, .notify = s->notify },
		.child = { .pidfd = -1 },
		.own_group = place->own_group
	};
	sigset_t mask = fz_trial_ending();

	t.record.signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (t.record.signal_fd < 0)
		return fz_fail_errno(err, "signalfd");
	int rc = fz_launch_start(argv, &s->old_mask, place, &t.child, err);
	int64_t until = fz_clock_now() + (int64_t)(s->patience * FZ_SECOND);
	s->late = false;
	while (!rc && !t.stopped_by && !s->late && !fz_trial_wait(&t, POLL_MS)) {
		s->late = s->patience > 0 && fz_clock_now() >= until;
		if (s->meanwhile)
			s->meanwhile(s->meanwhile_arg);
	}
	if (!rc && !t.child.reaped && (s->late || !fz_trial_wait(&t, FZ_TRIAL_PATIENCE_MS)))
		fz_trial_terminate(&t);
	fz_close_fd(&t.record.signal_fd);
	if (rc)
		return rc;
	s->stopped_by = t.stopped_by ? t.stopped_by : s->stopped_by;
	fz_launch_release(&t.child);
	*ret = t.child;
	ret->pidfd = -1;
	return 0;
}
