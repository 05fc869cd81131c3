/* SPDX-License-Identifier: MIT */
/* Starting a program and recording it until it ends; see trial.h.
 *
 * The terminal sends its signals (Ctrl-C, hang-up) to the whole foreground group, so the program
 * has them already; those are not sent again. What somebody sent to us alone is passed on. Either
 * way it is the program that decides when its run ends.
 */
#include "cli/trial.h"

#include "cli/cli.h"
#include "base/clock.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TERM_PATIENCE_MS = 2000, POLL_MS = 200 };

static const int ending[] = { SIGHUP, SIGINT, SIGTERM };

static bool is_ending(int number)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(ending); i++)
		if (ending[i] == number)
			return true;
	return false;
}

/* ---- one program ---- */

static void send(const struct fz_trial *t, int number)
{
	kill(t->own_group ? -t->child.pid : t->child.pid, number);
}

static void pass_on(struct fz_trial *t, const struct signalfd_siginfo *info)
{
	if (is_ending((int)info->ssi_signo))
		t->stopped_by = (int)info->ssi_signo;
	if (info->ssi_code != SI_KERNEL || t->own_group)
		send(t, (int)info->ssi_signo);
}

bool fz_trial_on_signal(void *arg, const struct signalfd_siginfo *info)
{
	/* The record is the first member. */
	pass_on(arg, info);
	return false;
}

bool fz_trial_wait(struct fz_trial *t, int milliseconds)
{
	struct pollfd fds[] = { { .fd = t->child.pidfd, .events = POLLIN },
				{ .fd = t->record.signal_fd, .events = POLLIN } };
	int64_t until = fz_clock_now() + (int64_t)milliseconds * 1000000;

	for (;;) {
		int left = -1;
		if (milliseconds >= 0)
			left = (int)FZ_MAX((until - fz_clock_now()) / 1000000, 0);
		int n = poll(fds, FZ_ARRAY_LEN(fds), left);
		if (n == 0)
			return false;
		if (n > 0 && fds[0].revents)
			break;
		struct signalfd_siginfo info;
		while (read(t->record.signal_fd, &info, sizeof(info)) == sizeof(info))
			if (info.ssi_signo != SIGCHLD)
				pass_on(t, &info);
	}
	fz_launch_wait(&t->child);
	return true;
}

void fz_trial_terminate(struct fz_trial *t)
{
	send(t, SIGTERM);
	if (fz_trial_wait(t, TERM_PATIENCE_MS))
		return;
	fz_cli_warn("%s: the program did not end on SIGTERM within 2 s and is killed",
		    t->record.command);
	send(t, SIGKILL);
	fz_launch_wait(&t->child);
}

void fz_trial_describe(const struct fz_child *child, char *out, size_t size)
{
	if (!child->reaped)
		snprintf(out, size, "still running");
	else if (WIFSIGNALED(child->status))
		snprintf(out, size, "signal %d", WTERMSIG(child->status));
	else
		snprintf(out, size, "%d", WEXITSTATUS(child->status));
}

/* ---- several in a row ---- */

void fz_series_begin(struct fz_series *s, const char *command,
		     const struct fz_record_options *options)
{
	sigset_t mask;

	*s = (struct fz_series){ .command = command, .options = options };
	sigemptyset(&mask);
	for (size_t i = 0; i < FZ_ARRAY_LEN(ending); i++)
		sigaddset(&mask, ending[i]);
	sigprocmask(SIG_BLOCK, &mask, &s->old_mask);
}

bool fz_series_stopped(struct fz_series *s)
{
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < FZ_ARRAY_LEN(ending); i++)
		sigaddset(&mask, ending[i]);
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

int fz_series_run(struct fz_series *s, char *const argv[], const struct fz_launch_place *place,
		  struct fz_child *ret, struct fz_error *err)
{
	struct fz_trial t = { .record = { .signal_fd = -1, .command = s->command },
			      .child = { .pidfd = -1 },
			      .own_group = place->own_group };
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < FZ_ARRAY_LEN(ending); i++)
		sigaddset(&mask, ending[i]);
	t.record.signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (t.record.signal_fd < 0)
		return fz_fail_errno(err, "signalfd");
	int rc = fz_launch_start(argv, &s->old_mask, place, &t.child, err);
	int64_t until = fz_clock_now() + (int64_t)(s->patience * 1e9);
	s->late = false;
	while (!rc && !t.stopped_by && !s->late && !fz_trial_wait(&t, POLL_MS))
		s->late = s->patience > 0 && fz_clock_now() >= until;
	if (!rc && !t.child.reaped && (s->late || !fz_trial_wait(&t, TERM_PATIENCE_MS)))
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

static void warn_once(struct fz_series *s, const struct fz_record *r)
{
	for (int i = 0; i < FZ_WARNINGS; i++) {
		const char *warning = r->sampler.warnings[i];
		if (warning && !s->warned[i])
			fz_cli_warn("%s", warning);
		s->warned[i] |= warning != NULL;
	}
}

/* The program runs. */
static int record_program(struct fz_series *s, struct fz_trial *t, int64_t start,
			  struct fz_series_run *ret, struct fz_error *err)
{
	struct fz_record *r = &t->record;
	char how[32];

	r->sampling.on_signal = fz_trial_on_signal;
	fz_record_begin(r, t->child.pid, t->child.pidfd, true, start);
	int rc = fz_record_begin_file(r, err);
	if (rc) {
		fz_trial_terminate(t);
		return rc;
	}
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

int fz_series_record(struct fz_series *s, char *const argv[], const struct fz_launch_place *place,
		     struct fz_series_run *ret, struct fz_error *err)
{
	struct fz_trial t = { .child = { .pidfd = -1 } };
	struct fz_series_run run = { 0 };

	if (s->options->count)
		return fz_series_count(s, argv, place, ret, err);
	fz_record_init(&t.record, s->options, s->command, &fz_cli_notify);
	t.record.looker = s->looker;
	int rc = fz_record_to_temporary(&t.record, err);
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
