/* SPDX-License-Identifier: MIT */
/* Waiting for a program and ending it; see trial.h.
 *
 * The terminal sends its signals (Ctrl-C, hang-up) to the whole foreground group, so the program
 * has already received them; they are not sent again. Signals sent to us alone are passed on.
 * Either way the program decides when its run ends.
 */
#include "record/trial.h"

#include "base/clock.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

sigset_t fz_trial_ending(void)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGHUP);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	return mask;
}

static void send(const struct fz_trial *t, int number)
{
	kill(t->own_group ? -t->child.pid : t->child.pid, number);
}

static void pass_on(struct fz_trial *t, const struct signalfd_siginfo *info)
{
	sigset_t ending = fz_trial_ending();

	if (sigismember(&ending, (int)info->ssi_signo))
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
	int64_t until = fz_clock_now() + milliseconds * FZ_MS;

	for (;;) {
		int left = -1;
		if (milliseconds >= 0)
			left = (int)(fz_clock_left(until) / FZ_MS);
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
	if (fz_trial_wait(t, FZ_TRIAL_PATIENCE_MS))
		return;
	fz_notify_warn(t->record.notify,
		       "%s: the program did not end within 2 s of SIGTERM; sent SIGKILL",
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
