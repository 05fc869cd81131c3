/* SPDX-License-Identifier: MIT */
/* Functions for engines; engine_host.h has the contract. Signals arrive through a signalfd and the
 * end of the process through a pidfd; both are polled while waiting, at least every few
 * milliseconds. */
#include "record/engine_host.h"

#include "base/clock.h"
#include "base/text.h"
#include "record/target_process.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* Waits up to this long use clock_nanosleep, which is more precise than poll. */
#define FINE_WAIT (3 * FZ_MS)
/* Maximum time between two polls of events. */
#define POLL_EVERY (5 * FZ_MS)

/* Less missing CPU time is within the precision of the kernel's clocks. */
#define MISSING_FROM (50 * FZ_MS)

/* ---- waiting ---- */

static void service_stoppers(struct fz_sampler *s)
{
	for (size_t i = 0; s->stopper_n && i < s->process_n; i++)
		fz_target_process_service(s, s->processes[i]);
}

/* Is the signal meant for us? If the started process has ended and only its children run, it is. */
static bool is_ours(struct fz_sampler *s, const struct signalfd_siginfo *info)
{
	if (info->ssi_signo != SIGINT && info->ssi_signo != SIGTERM && info->ssi_signo != SIGHUP)
		return false;
	if (s->tree)
		fz_target_process_follow(s); /* it may have ended just now */
	return s->process_n && s->processes[0]->ended;
}

static bool requests_stop(const struct signalfd_siginfo *info)
{
	return info->ssi_signo == SIGTSTP || info->ssi_signo == SIGTTIN ||
	       info->ssi_signo == SIGTTOU;
}

static void read_signals(struct fz_sampler *s)
{
	struct signalfd_siginfo info;

	while (read(s->sampling->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			service_stoppers(s);
		} else if (requests_stop(&info)) {
			fz_target_process_suspend(s);
		} else if (s->sampling->on_signal(s->sampling->arg, &info)) {
			s->end = FZ_END_SIGNAL;
		} else if (is_ours(s, &info)) {
			s->end = FZ_END_EXIT;
		}
	}
}

/* Wait up to `ns` for a signal, the end of the process, events in its tree, or a command. */
static void poll_events(struct fz_sampler *s, int64_t ns)
{
	struct pollfd fds[] = {
		{ .fd = s->sampling->signal_fd, .events = POLLIN },
		{ .fd = fz_target_process_events(s), .events = POLLIN },
		{ .fd = fz_lineserver_fd(s->sampling->control), .events = POLLIN },
	};
	struct timespec timeout = { .tv_sec = ns / FZ_SECOND, .tv_nsec = ns % FZ_SECOND };

	bool any = ppoll(fds, FZ_ARRAY_LEN(fds), &timeout, NULL) > 0;

	if (any && fds[0].revents)
		read_signals(s);
	if (any && fds[2].revents)
		fz_lineserver_serve(s->sampling->control);
	/* Always follow the tree: its events may have been consumed by an earlier call. */
	if (s->tree)
		fz_target_process_follow(s);
	else if (any && fds[1].revents && !s->end)
		s->end = FZ_END_EXIT;
}

void fz_sampler_poll(struct fz_sampler *s, bool news)
{
	if (news || s->now - s->last_poll > POLL_EVERY) {
		poll_events(s, 0);
		s->last_poll = s->now;
	}
}

static void sleep_until(int64_t when)
{
	struct timespec t = { .tv_sec = when / FZ_SECOND, .tv_nsec = when % FZ_SECOND };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* Must waits poll events? Yes with traced threads, which stop at their own signals until we
 * continue them; and while nothing is sampled, so that no instant must be met. */
static bool must_listen(const struct fz_sampler *s)
{
	return s->stopper_n > 0 || s->open_n == 0;
}

void fz_sampler_wait(struct fz_sampler *s, int64_t when)
{
	bool paused = s->paused;

	while (!s->end && s->paused == paused) {
		int64_t now = s->now = fz_clock_now(), left = when - now;
		fz_sampler_poll(s, false);
		if (left > FINE_WAIT)
			poll_events(s, must_listen(s) ? left : left - FINE_WAIT / 2);
		else if (left <= 0)
			return;
		else if (must_listen(s))
			poll_events(s, left);
		else
			sleep_until(when);
	}
}

int64_t fz_sampler_deadline(const struct fz_sampler *s)
{
	double seconds = s->options->duration;

	return seconds > 0 ? s->sampling->start + (int64_t)(seconds * FZ_SECOND) : INT64_MAX;
}

int64_t fz_sampler_duty(const struct fz_sampler *s)
{
	return FZ_MIN(FZ_MIN(s->next_chore, s->next_second), fz_sampler_deadline(s));
}

/* ---- writing ---- */

bool fz_sampler_wants_probe(const struct fz_sampler *s)
{
	return s->now >= s->next_probe;
}

/* Status of a sample: from the interpreter, and whether the thread was on a CPU. */
static uint8_t full_status(const struct fz_python_stack *stack, enum fz_oncpu_answer answer)
{
	if (answer == FZ_ONCPU_UNKNOWN)
		return stack->status;
	return (uint8_t)((stack->status & ~FZ_STATUS_UNKNOWN) |
			 (answer == FZ_ONCPU_YES ? FZ_STATUS_ON_CPU : 0));
}

void fz_sampler_write(struct fz_sampler *s, const struct fz_engine_sample *e)
{
	const struct fz_python_stack *stack = e->stack;
	struct fz_sample sample = { .thread = stack->thread,
				    .stack = stack->stack,
				    .time = e->time - s->sampling->start,
				    .status = full_status(stack, e->oncpu),
				    .count = 1 };
	/* For the metrics added by fz_sampler_add_metrics or fz_sampler_add_growth. */
	int64_t weights[] = { e->weight, e->oncpu == FZ_ONCPU_WAITING ? e->weight : 0,
			      e->oncpu == FZ_ONCPU_DISK ? e->weight : 0 };
	uint8_t wanted = fz_target_process_status(s->options->mode);

	fz_assert(sample.thread < s->profile->thread_count);
	fz_assert(sample.stack == FZ_NONE || sample.stack < s->profile->stack_count);
	if ((sample.status & wanted) != wanted)
		return;

	if (s->writer && fz_sampler_wants_probe(s) && (sample.status & FZ_STATUS_ON_CPU))
		s->probe_cpu = e->cpu;
	if (stack->rejected)
		s->profile->quality.rejected[stack->reject]++;
	if (s->writer)
		fz_file_writer_add(s->writer, &sample, weights);
	s->samples++;
	s->sampled_ns += e->weight;
	if (s->sampling->on_sample)
		s->sampling->on_sample(s->sampling->arg, s, &sample, e->weight);
}

void fz_sampler_note_missing(struct fz_sampler *s, const char *fact, int64_t part, int64_t whole)
{
	char share[FZ_NUMBER_SIZE];

	if (part < MISSING_FROM)
		return;
	snprintf(share, sizeof(share), "%.4f", (double)part / (double)whole);
	fz_profile_set_fact(s->profile, fact, fz_str_of(share));
}

void fz_sampler_note_silent(struct fz_sampler *s, uint32_t threads, int64_t used)
{
	char text[128], count[FZ_NUMBER_SIZE], time[FZ_NUMBER_SIZE];

	if (!threads || used < MISSING_FROM)
		return;
	snprintf(text, sizeof(text), "%s used %s of CPU time %s",
		 fz_format_plural((int64_t)threads, "thread", count),
		 fz_format_ns((double)used, time),
		 s->options->all_threads ? "without a Python stack (--native=stacks includes them)"
		 : threads == 1          ? "and was not sampled (-a samples all Python threads)"
					 : "and were not sampled (-a samples all Python threads)");
	fz_profile_set_fact(s->profile, "silent", fz_str_of(text));
}
