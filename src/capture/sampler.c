/* SPDX-License-Identifier: MIT */
/* The sampling loop.
 *
 *      grid      1         2         3         4         5         6         7
 *      |---------|---------|---------|---------|---------|---------|---------|
 *      s         s         s                             s         s         s
 *                                    <--- stalled --->   weight 3, missed 2
 *
 * One thread does everything, so that nothing competes with the target but the sampler itself:
 * chores (writing a block, loading one source file) are done right after an instant, when the
 * next one is furthest away. Signals arrive through a signalfd and the end of the process through
 * a pidfd; both are looked at while waiting, at the latest every few milliseconds.
 */
#include "capture/sampler.h"

#include "capture/cpuclock.h"
#include "capture/facts.h"
#include "capture/priority.h"
#include "capture/sources.h"
#include "capture/stop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define MS ((int64_t)1000000)
#define SECOND (1000 * MS)

/* Waits up to this long are one clock_nanosleep, which is more exact than a poll. */
#define FINE_WAIT (3 * MS)
/* Events may stay unseen for so long. */
#define POLL_EVERY (5 * MS)
#define FLUSH_EVERY (500 * MS)
#define OPEN_PATIENCE (1 * SECOND)
/* Before trying again when a target was found but cannot be sampled as asked. */
#define REFUSED_PAUSE (500 * MS)

/* CPU time in a second from which on we are no thread that mostly sleeps. */
#define PRIORITY_MOST (SECOND / 4 * 3)

const char *const fz_clock_names[] = { "wall", "cpu", NULL };

void fz_sampler_init(struct fz_sampler *s, const struct fz_sampler_options *options,
		     struct fz_profile *profile)
{
	struct fz_python_options python = { .all_threads = options->all_threads,
					    .stopped = options->blocking,
					    .gc = true };
	int64_t now = fz_clock_now();

	*s = (struct fz_sampler){ .options = options,
				  .profile = profile,
				  .next_chore = now + FLUSH_EVERY,
				  .next_second = now + SECOND,
				  .end_time = now };
	fz_target_init(&s->target, options->pid, &python, profile);
	s->target.descendants = options->descendants;
	if (options->sources)
		s->sources = fz_sources_new(profile);
	profile->quality.known = true;
}

void fz_sampler_release(struct fz_sampler *s)
{
	fz_stop_free(s->stopper);
	s->stopper = NULL;
	fz_cpuclock_free(s->cpuclock);
	s->cpuclock = NULL;
	fz_sources_free(s->sources);
	s->sources = NULL;
	if (s->target.python)
		fz_target_drop(&s->target);
}

/* ---- waiting ---- */

/* Let threads go on; let go of a process that ended, for its parent waits for that. */
static void service_stopper(struct fz_sampler *s)
{
	if (!s->stopper || fz_stop_service(s->stopper))
		return;
	fz_stop_free(s->stopper);
	s->stopper = NULL;
}

static void read_signals(struct fz_sampler *s)
{
	struct signalfd_siginfo info;

	while (read(s->options->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			service_stopper(s);
		} else if (s->options->on_signal(s->options->arg, &info)) {
			s->end = FZ_END_SIGNAL;
		}
	}
}

/* Wait up to `ns` for a signal or the end of the process. */
static void poll_events(struct fz_sampler *s, int64_t ns)
{
	struct pollfd fds[] = {
		{ .fd = s->options->signal_fd, .events = POLLIN },
		{ .fd = s->options->pidfd, .events = POLLIN },
	};
	struct timespec timeout = { .tv_sec = ns / SECOND, .tv_nsec = ns % SECOND };

	if (ppoll(fds, FZ_ARRAY_LEN(fds), &timeout, NULL) <= 0)
		return;
	if (fds[0].revents)
		read_signals(s);
	if (fds[1].revents && !s->end)
		s->end = FZ_END_EXIT;
}

static void poll_if_due(struct fz_sampler *s)
{
	if (s->now - s->last_poll > POLL_EVERY) {
		poll_events(s, 0);
		s->last_poll = s->now;
	}
}

static void sleep_until(int64_t when)
{
	struct timespec t = { .tv_sec = when / SECOND, .tv_nsec = when % SECOND };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* Threads that are traced stop at their own signals until we let them go: never sleep deaf. */
static bool must_listen(const struct fz_sampler *s)
{
	return s->stopper != NULL;
}

/* Wait until `when`, seeing to events; earlier only when the sampling has ended. */
static void wait_until(struct fz_sampler *s, int64_t when)
{
	while (!s->end) {
		int64_t now = s->now = fz_clock_now(), left = when - now;
		poll_if_due(s);
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

/* ---- one instant ---- */

static bool driven_by_cpu(const struct fz_sampler *s)
{
	return s->cpuclock && fz_cpuclock_drives(s->cpuclock);
}

/* Move on to the instant that `now` belongs to. The time it stands for, or 0 when there is
 * nothing to sample yet. */
static int64_t advance(struct fz_sampler *s, int64_t now)
{
	struct fz_rate rate = s->options->rate;
	struct fz_quality *q = &s->profile->quality;
	int64_t gap = now - s->last;

	if (driven_by_cpu(s)) {
		s->last = now;
		return 1;
	}
	if (s->last == 0) {
		s->grid = s->last = now;
		s->slot = 0;
		return rate.micro_hz ? fz_rate_time(rate, 1) : 1;
	}
	s->last = now;
	q->longest_gap_ns = FZ_MAX(q->longest_gap_ns, gap);
	if (!rate.micro_hz)
		return gap;
	uint64_t slot = fz_rate_slot(rate, now - s->grid), before = s->slot;
	if (slot == before)
		return 0;
	s->slot = slot;
	q->missed += slot - before - 1;
	return fz_rate_time(rate, slot) - fz_rate_time(rate, before);
}

static void write_stack(struct fz_sampler *s, const struct fz_python_stack *stack, int64_t now,
			int64_t weight)
{
	struct fz_sample sample = { .thread = stack->thread,
				    .stack = stack->stack,
				    .time = now - s->options->start,
				    .status = stack->status,
				    .count = 1 };

	if (stack->rejected)
		s->profile->quality.rejected[stack->reject]++;
	fz_fz_writer_add(s->writer, &sample, &weight);
	s->samples++;
}

/* The CPU time of a thread since its last sample, when it is due. */
static int64_t charge_cpu(struct fz_sampler *s, uint32_t thread)
{
	struct fz_quality *q = &s->profile->quality;
	int64_t period = fz_rate_time(s->options->rate, 1);
	int64_t weight = fz_cpuclock_charge(s->cpuclock, s->profile->threads[thread].tid);

	if (driven_by_cpu(s) && weight > 0) {
		q->longest_gap_ns = FZ_MAX(q->longest_gap_ns, weight);
		q->missed += weight > period ? (uint64_t)(weight / period - 1) : 0;
	}
	return weight;
}

/* What each thread is charged: the time since the last instant, or its own CPU time. */
static void write_sample(struct fz_sampler *s, const struct fz_python_sample *sample, int64_t now,
			 int64_t elapsed)
{
	for (uint32_t i = 0; i < sample->n; i++) {
		const struct fz_python_stack *stack = &sample->stacks[i];
		int64_t weight = s->cpuclock ? charge_cpu(s, stack->thread) : elapsed;
		if (weight > 0)
			write_stack(s, stack, now, weight);
	}
}

/* The stopper stays while the process lives: after an exec it is the same one, and it is seized
 * only once. */
static void lost_target(struct fz_sampler *s)
{
	service_stopper(s);
	fz_cpuclock_free(s->cpuclock);
	s->cpuclock = NULL;
	fz_target_drop(&s->target);
}

static void take_instant(struct fz_sampler *s)
{
	struct fz_python_sample sample;
	struct fz_quality *q = &s->profile->quality;

	if (s->stopper && fz_stop_all(s->stopper)) {
		lost_target(s);
		return;
	}
	int64_t now = s->now = fz_clock_now();
	int code = fz_python_take(s->target.python, &sample, NULL);
	service_stopper(s);
	if (code) {
		lost_target(s);
		return;
	}
	/* Beyond a limit the tables give wrong answers. */
	if (s->profile->over_limit) {
		fz_profile_check(s->profile, &s->trouble);
		s->end = FZ_END_OUTPUT;
		return;
	}
	int64_t elapsed = advance(s, now);
	if (elapsed == 0)
		return;
	q->taken += sample.n > 0;
	q->retried += sample.retries;
	write_sample(s, &sample, now, elapsed);
}

/* ---- getting a turn ---- */

static int64_t cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

/* Ask for wake-ups in time: exact timers, and a turn on a busy machine. */
static void start_waking(struct fz_sampler *s)
{
	prctl(PR_SET_TIMERSLACK, 1UL);
	if (s->options->rate.micro_hz)
		s->priority = fz_priority_raise();
	fz_profile_set_fact(s->profile, "priority", fz_str_of(fz_priority_names[s->priority]));
	s->cpu_time = cpu_time();
}

/* A rate that keeps us busy must not take the processor from everybody else. */
static void check_priority(struct fz_sampler *s)
{
	int64_t used = cpu_time() - s->cpu_time;

	s->cpu_time += used;
	if (s->priority != FZ_PRIORITY_NORMAL && used > PRIORITY_MOST) {
		fz_priority_lower();
		s->priority = FZ_PRIORITY_NORMAL;
		fz_profile_set_fact(s->profile, "priority", FZ_STR("normal, after being busy"));
	}
}

/* ---- the loop ---- */

static void flush(struct fz_sampler *s)
{
	if (fz_fz_writer_flush(s->writer, &s->trouble))
		s->end = FZ_END_OUTPUT;
}

static void do_chores(struct fz_sampler *s)
{
	int64_t now = s->now;

	if (s->options->duration_ns && now - s->options->start >= s->options->duration_ns &&
	    !s->end)
		s->end = FZ_END_TIME;
	if (s->sources)
		fz_sources_step(s->sources);
	if (now >= s->next_chore) {
		flush(s);
		s->next_chore = now + FLUSH_EVERY;
	}
	if (now >= s->next_second) {
		check_priority(s);
		s->options->on_second(s->options->arg, s);
		s->next_second += SECOND * (1 + (now - s->next_second) / SECOND);
	}
}

/* The latest time at which the loop must come round, whatever is sampled. */
static int64_t next_duty(const struct fz_sampler *s)
{
	int64_t when = FZ_MIN(s->next_chore, s->next_second);

	if (s->options->duration_ns)
		when = FZ_MIN(when, s->options->start + s->options->duration_ns);
	return when;
}

static int start_stopper(struct fz_sampler *s, struct fz_error *err)
{
	if (!s->options->blocking)
		return 0;
	if (s->stopper && fz_stop_pid(s->stopper) == s->target.pid)
		return 0;
	fz_stop_free(s->stopper);
	s->stopper = NULL;
	bool own = s->options->started && s->target.pid == s->target.root;
	return fz_stop_new(s->target.pid, own, &s->stopper, err);
}

/* Say which clock it really is, and warn when it is a poor one. */
static void note_clock(struct fz_sampler *s)
{
	enum fz_cpuclock_kind kind = fz_cpuclock_kind(s->cpuclock);

	fz_profile_set_fact(s->profile, "clock", fz_str_of(fz_cpuclock_names[kind]));
	if (kind == FZ_CPUCLOCK_SCHEDSTAT)
		s->warning = "--clock cpu: perf is not allowed here, so CPU time is read from "
			     "schedstat, in steps of a scheduler tick; allow perf with 'sysctl "
			     "kernel.perf_event_paranoid=2' or CAP_PERFMON";
}

/* The target has been found: set up what depends on it. */
static int begin_target(struct fz_sampler *s, struct fz_error *err)
{
	s->last = 0;
	fz_facts_process(s->profile, s->target.pid, fz_python_info(s->target.python));
	if (s->sources)
		fz_sources_process(s->sources, s->target.pid, s->options->started);
	if (s->options->clock == FZ_CLOCK_CPU) {
		int64_t period = s->options->rate.micro_hz ? fz_rate_time(s->options->rate, 1) : 0;
		int rc = fz_cpuclock_new(s->target.pid, s->options->all_threads, period,
					 &s->cpuclock, err);
		if (rc)
			return rc;
		fz_cpuclock_watch(s->cpuclock, s->options->signal_fd);
		fz_cpuclock_watch(s->cpuclock, s->options->pidfd);
		note_clock(s);
	}
	return start_stopper(s, err);
}

static void seek_target(struct fz_sampler *s)
{
	if (!fz_target_seek(&s->target))
		return;
	if (begin_target(s, &s->refusal)) {
		lost_target(s);
		s->target.next_try = s->now + REFUSED_PAUSE;
	}
}

/* Wait until the next instant, or until a thread has used its share of CPU time. */
static bool wait_instant(struct fz_sampler *s)
{
	struct fz_rate rate = s->options->rate;
	int64_t when = s->last;

	if (driven_by_cpu(s)) {
		bool due = fz_cpuclock_wait(s->cpuclock, FZ_MAX(next_duty(s) - fz_clock_now(), 0));
		s->now = fz_clock_now();
		poll_if_due(s);
		return due;
	}
	if (!rate.micro_hz) {
		poll_if_due(s);
		return true;
	}
	if (s->last)
		when = s->grid + fz_rate_time(rate, s->slot + 1);
	int64_t until = FZ_MIN(when, next_duty(s));
	wait_until(s, until);
	return until == when;
}

void fz_sampler_run(struct fz_sampler *s)
{
	start_waking(s);
	while (!s->end) {
		if (!s->target.python) {
			wait_until(s, FZ_MIN(s->target.next_try, next_duty(s)));
			if (!s->end && s->now >= s->target.next_try)
				seek_target(s);
		} else if (wait_instant(s) && !s->end) {
			take_instant(s);
		}
		do_chores(s);
	}
	s->end_time = fz_clock_now();
	fz_priority_lower();
	if (s->sources)
		fz_sources_finish(s->sources);
}

int fz_sampler_open(struct fz_sampler *s, struct fz_error *err)
{
	int64_t give_up = fz_clock_now() + OPEN_PATIENCE;

	while (!fz_target_seek(&s->target)) {
		*err = s->target.why;
		if (err->code != FZ_EAGAIN || fz_clock_now() > give_up)
			return err->code;
		wait_until(s, s->target.next_try);
		if (s->end == FZ_END_EXIT)
			return fz_fail(err, FZ_EGONE, "process %d ended", s->options->pid);
		if (s->end)
			return fz_fail(err, FZ_EINTERRUPTED, "interrupted");
	}
	return begin_target(s, err);
}
