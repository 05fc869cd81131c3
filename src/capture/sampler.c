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

#include "base/clock.h"
#include "capture/cpuclock.h"
#include "capture/oncpu.h"
#include "capture/priority.h"
#include "capture/target_process.h"
#include "capture/sources.h"
#include "capture/speed.h"
#include "capture/stop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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

/* Between two looks at the machine's speed, of 9 us each: 0.2 % of a core. */
#define LOOK_EVERY (4 * MS)

/* Instants are drawn within slots that are at least so long. */
#define SHIFT_FROM (MS / 10)

/* CPU time in a second from which on we are no thread that mostly sleeps. */
#define PRIORITY_MOST (SECOND / 4 * 3)

const char *const fz_clock_names[] = { "wall", "cpu", NULL };

/* ---- beginning and end ---- */

/* Most samples weigh one interval, or did not wait, which then costs no bytes. */
void fz_sampler_add_metrics(struct fz_profile *p, enum fz_clock clock, struct fz_rate rate)
{
	int64_t each = rate.micro_hz ? fz_rate_time(rate, 1) : 0;

	fz_profile_add_metric(p, fz_str_of(fz_clock_names[clock]), FZ_STR("ns"), each, true);
	if (clock == FZ_CLOCK_WALL)
		fz_profile_add_metric(p, FZ_STR("wait"), FZ_STR("ns"), 0, true);
}

void fz_sampler_init(struct fz_sampler *s, const struct fz_sampler_options *options,
		     struct fz_profile *profile)
{
	int64_t now = fz_clock_now();

	*s = (struct fz_sampler){ .options = options,
				  .profile = profile,
				  .planned = profile->recording.features,
				  .next_chore = now + FLUSH_EVERY,
				  .next_second = now + SECOND,
				  .look_cpu = FZ_NONE,
				  .end_time = now };
	s->images.eager = options->watched;
	if (options->sources)
		s->sources = fz_sources_new(profile);
	profile->quality.known = true;
	struct fz_target_process *first = fz_target_process_add(s, options->pid, 0);
	first->target.descendants = options->descendants && !options->subprocesses;
	first->target.next_try = s->next_seek = now;
	if (options->subprocesses)
		fz_target_process_start_tree(s);
}

void fz_sampler_let_go(struct fz_sampler *s)
{
	for (size_t i = 0; i < s->process_n; i++) {
		fz_target_process_free_stopper(s, s->processes[i]);
		fz_target_process_drop(s, s->processes[i]);
	}
	fz_cpuclock_free(s->cpuclock);
	s->cpuclock = NULL;
	fz_process_tree_free(s->tree);
	s->tree = NULL;
	if (s->files.rlim_max)
		setrlimit(RLIMIT_NOFILE, &s->files);
}

void fz_sampler_release(struct fz_sampler *s)
{
	fz_sampler_let_go(s);
	while (s->process_n)
		fz_target_process_free(s, s->processes[--s->process_n]);
	fz_map_release(&s->own);
	free(s->processes);
	s->processes = NULL;
	fz_sources_free(s->sources);
	s->sources = NULL;
	fz_images_release(&s->images);
}

/* ---- waiting ---- */

static void service_stoppers(struct fz_sampler *s)
{
	for (size_t i = 0; s->stopper_n && i < s->process_n; i++)
		fz_target_process_service(s, s->processes[i]);
}

/* When what was started has ended, but not all that it started, nobody is left to whom a signal
 * would mean anything but us. */
static bool is_ours(struct fz_sampler *s, const struct signalfd_siginfo *info)
{
	if (info->ssi_signo != SIGINT && info->ssi_signo != SIGTERM && info->ssi_signo != SIGHUP)
		return false;
	if (s->tree)
		fz_target_process_follow(s); /* it may have ended just now */
	return s->processes[0]->ended;
}

static bool asks_to_stop(const struct signalfd_siginfo *info)
{
	return info->ssi_signo == SIGTSTP || info->ssi_signo == SIGTTIN ||
	       info->ssi_signo == SIGTTOU;
}

static void read_signals(struct fz_sampler *s)
{
	struct signalfd_siginfo info;

	while (read(s->options->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			service_stoppers(s);
		} else if (asks_to_stop(&info)) {
			fz_target_process_suspend(s);
		} else if (s->options->on_signal(s->options->arg, &info)) {
			s->end = FZ_END_SIGNAL;
		} else if (is_ours(s, &info)) {
			s->end = FZ_END_EXIT;
		}
	}
}

/* Wait up to `ns` for a signal, the end of the process or what happens in its tree. */
static void poll_events(struct fz_sampler *s, int64_t ns)
{
	struct pollfd fds[] = {
		{ .fd = s->options->signal_fd, .events = POLLIN },
		{ .fd = fz_target_process_events(s), .events = POLLIN },
	};
	struct timespec timeout = { .tv_sec = ns / SECOND, .tv_nsec = ns % SECOND };

	bool any = ppoll(fds, FZ_ARRAY_LEN(fds), &timeout, NULL) > 0;

	if (any && fds[0].revents)
		read_signals(s);
	/* Whoever asks first whether a tree has news is the only one to be told. */
	if (s->tree)
		fz_target_process_follow(s);
	else if (any && fds[1].revents && !s->end)
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
	return s->stopper_n > 0;
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

/* Whether a sample's thread was on a CPU. By the CPU clock it is not asked: it was. */
static enum fz_oncpu_answer ask_oncpu(struct fz_sampler *s, const struct fz_target_process *p,
				      const struct fz_python_stack *stack, int64_t now,
				      int64_t weight)
{
	if (stack->waiting)
		return FZ_ONCPU_UNKNOWN;
	if (s->cpuclock)
		return FZ_ONCPU_YES;
	return fz_oncpu_ask(p->oncpu, s->profile->threads[stack->thread].tid, now, weight);
}

/* What a sample's thread was doing: what the interpreter says, and whether it was on a CPU. */
static uint8_t full_status(const struct fz_python_stack *stack, enum fz_oncpu_answer answer)
{
	if (answer == FZ_ONCPU_UNKNOWN)
		return stack->status;
	return (uint8_t)((stack->status & ~FZ_STATUS_UNKNOWN) |
			 (answer == FZ_ONCPU_YES ? FZ_STATUS_ON_CPU : 0));
}

/* ---- the machine's speed ---- */

/* Where the piece is to be timed next: on the CPU of what is sampled, while it is there. */
static void choose_look(struct fz_sampler *s, const struct fz_target_process *p, uint32_t thread,
			uint8_t status)
{
	uint64_t tid = s->profile->threads[thread].tid;

	if (s->now < s->next_look || !(status & FZ_STATUS_ON_CPU))
		return;
	s->look_cpu = s->cpuclock ? fz_cpuclock_cpu(s->cpuclock, tid) : fz_oncpu_cpu(p->oncpu, tid);
}

static void take_look(struct fz_sampler *s)
{
	struct fz_speed_look look = { .cpu = (uint16_t)s->look_cpu,
				      .time = s->now - s->options->start,
				      .cost = fz_speed_time_piece(s->look_cpu) };

	s->look_cpu = FZ_NONE;
	s->next_look = s->now + LOOK_EVERY;
	if (!look.cost)
		return;
	if (!fz_profile_fact(s->profile, "speed").n)
		fz_profile_set_fact(s->profile, "speed", fz_str_of(fz_speed_kind));
	fz_fz_writer_add_look(s->writer, &look);
}

static void write_stack(struct fz_sampler *s, const struct fz_target_process *p,
			const struct fz_python_stack *stack, int64_t now, int64_t weight)
{
	enum fz_oncpu_answer answer = ask_oncpu(s, p, stack, now, weight);
	struct fz_sample sample = { .thread = stack->thread,
				    .stack = stack->stack,
				    .time = now - s->options->start,
				    .status = full_status(stack, answer),
				    .count = 1 };
	/* Of the metrics that fz_sampler_add_metrics added. */
	int64_t weights[] = { weight, answer == FZ_ONCPU_WAITING ? weight : 0 };
	uint8_t wanted = fz_target_process_status(s->options->mode);

	if ((sample.status & wanted) != wanted)
		return;

	choose_look(s, p, sample.thread, sample.status);
	if (stack->rejected)
		s->profile->quality.rejected[stack->reject]++;
	fz_fz_writer_add(s->writer, &sample, weights);
	s->samples++;
	if (s->options->on_sample)
		s->options->on_sample(s->options->arg, s, &sample, weight);
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

/* A child that was just forked is its parent's image, whose threads it does not have. */
static bool is_own(struct fz_sampler *s, const struct fz_target_process *p, uint32_t thread)
{
	char path[64];
	uint32_t *slot = fz_map_slot(&s->own, thread);

	if (*slot == FZ_NONE) {
		snprintf(path, sizeof(path), "/proc/%d/task/%llu", p->target.pid,
			 (unsigned long long)s->profile->threads[thread].tid);
		*slot = access(path, F_OK) == 0;
	}
	return *slot;
}

/* What each thread is charged: the time since the last instant, or its own CPU time. */
static void write_sample(struct fz_sampler *s, const struct fz_target_process *p,
			 const struct fz_python_sample *sample, int64_t now, int64_t elapsed)
{
	for (uint32_t i = 0; i < sample->n; i++) {
		const struct fz_python_stack *stack = &sample->stacks[i];
		int64_t weight = s->cpuclock ? charge_cpu(s, stack->thread) : elapsed;
		if (weight > 0 && (!s->tree || is_own(s, p, stack->thread)))
			write_stack(s, p, stack, now, weight);
	}
}

/* The stacks of this instant. What must be read while the target stands is; the rest is done when
 * it runs again. */
static int take_stacks(struct fz_sampler *s, struct fz_target_process *p,
		       struct fz_python_sample *ret)
{
	struct fz_python_sample python;
	struct fz_native *native = p->target.native;
	int rc = native ? FZ_EGONE : 0;

	if (native && p->stopper)
		rc = fz_native_copy(native, p->stopper, NULL);
	if (!rc && p->target.python)
		rc = fz_python_take(p->target.python, native ? &python : ret, NULL);
	fz_target_process_service(s, p);
	if (!rc && native)
		fz_native_take(native, p->target.python ? &python : NULL, ret);
	return rc;
}

/* One instant in all processes. */
struct instant {
	bool begun;      /* the time has been advanced to it */
	int64_t elapsed; /* what it stands for */
	bool taken;      /* there were stacks */
};

/* In a process that was opened since the last instant one stands for no more than an interval. */
static int64_t elapsed_in(const struct fz_sampler *s, struct fz_target_process *p, int64_t elapsed)
{
	struct fz_rate rate = s->options->rate;
	bool fresh = p->fresh;

	p->fresh = false;
	if (!fresh || driven_by_cpu(s))
		return elapsed;
	return FZ_MIN(elapsed, rate.micro_hz ? fz_rate_time(rate, 1) : 1);
}

static void sample_process(struct fz_sampler *s, struct fz_target_process *p, struct instant *at)
{
	struct fz_python_sample sample;

	if (p->stopper && fz_stop_all(p->stopper, p->target.native != NULL)) {
		fz_target_process_lost(s, p);
		return;
	}
	int64_t now = s->now = fz_clock_now();
	if (take_stacks(s, p, &sample)) {
		fz_target_process_lost(s, p);
		return;
	}
	/* Beyond a limit the tables give wrong answers. */
	if (s->profile->over_limit) {
		fz_profile_check(s->profile, &s->trouble);
		s->end = FZ_END_OUTPUT;
		return;
	}
	if (!at->begun)
		at->elapsed = advance(s, now);
	at->begun = true;
	if (at->elapsed == 0)
		return;
	at->taken |= sample.n > 0;
	s->profile->quality.retried += sample.retries;
	write_sample(s, p, &sample, now, elapsed_in(s, p, at->elapsed));
}

static void take_instant(struct fz_sampler *s)
{
	bool by_cpu = driven_by_cpu(s);
	struct instant at = { 0 };

	for (size_t i = 0; i < s->process_n && !s->end; i++) {
		struct fz_target_process *p = s->processes[i];
		if (fz_target_is_open(&p->target) &&
		    (!by_cpu || fz_cpuclock_due(s->cpuclock, p->target.pid)))
			sample_process(s, p, &at);
	}
	s->profile->quality.taken += at.taken;
}

/* ---- getting a turn ---- */

/* Ask for wake-ups in time: exact timers, and a turn on a busy machine. */
static void start_waking(struct fz_sampler *s)
{
	prctl(PR_SET_TIMERSLACK, 1UL);
	if (s->options->rate.micro_hz)
		s->priority = fz_priority_raise();
	fz_profile_set_fact(s->profile, "priority", fz_str_of(fz_priority_names[s->priority]));
	s->cpu_time = fz_clock_read(CLOCK_THREAD_CPUTIME_ID);
}

/* A rate that keeps us busy must not take the processor from everybody else. */
static void check_priority(struct fz_sampler *s)
{
	int64_t used = fz_clock_read(CLOCK_THREAD_CPUTIME_ID) - s->cpu_time;

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
	if (s->look_cpu != FZ_NONE)
		take_look(s);
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

/* A loop that takes about a whole number of intervals must not be seen at the same places all the
 * time: so each instant lies somewhere in the first two fifths of its slot, as if drawn by lot.
 * What it stands for is the slot all the same. Where slots are short, lateness does that by itself.
 */
static int64_t shift_in_slot(struct fz_rate rate, uint64_t slot)
{
	int64_t interval = fz_rate_time(rate, 1);

	if (interval < SHIFT_FROM)
		return 0;
	return (int64_t)(fz_hash64(slot) % (uint64_t)(interval * 2 / 5));
}

/* Wait until the next instant, or until a thread has used its share of CPU time. */
static bool wait_instant(struct fz_sampler *s)
{
	struct fz_rate rate = s->options->rate;
	int64_t when = s->last;

	if (driven_by_cpu(s)) {
		int64_t until = FZ_MIN(next_duty(s), s->next_seek);
		bool due = fz_cpuclock_wait(s->cpuclock, FZ_MAX(until - fz_clock_now(), 0));
		s->now = fz_clock_now();
		poll_if_due(s);
		return due;
	}
	if (!rate.micro_hz) {
		poll_if_due(s);
		return true;
	}
	if (s->last)
		when = s->grid + fz_rate_time(rate, s->slot + 1) + shift_in_slot(rate, s->slot + 1);
	wait_until(s, FZ_MIN(when, FZ_MIN(next_duty(s), s->next_seek)));
	return s->now >= when;
}

void fz_sampler_run(struct fz_sampler *s)
{
	start_waking(s);
	while (!s->end) {
		if (s->open_n == 0)
			wait_until(s, FZ_MIN(s->next_seek, next_duty(s)));
		else if (wait_instant(s) && !s->end)
			take_instant(s);
		if (!s->end && s->now >= s->next_seek)
			fz_target_process_seek(s);
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
	struct fz_target_process *first = s->processes[0];

	if (s->tree)
		fz_target_process_follow(s);
	while (!fz_target_seek(&first->target)) {
		*err = first->target.why;
		/* Its children are there to be sampled all the same. */
		if (err->code == FZ_EAGAIN && s->process_n > 1)
			return 0;
		if (err->code != FZ_EAGAIN || fz_clock_now() > give_up)
			return err->code;
		wait_until(s, first->target.next_try);
		if (s->end == FZ_END_EXIT)
			return fz_fail(err, FZ_EGONE, "process %d ended", s->options->pid);
		if (s->end)
			return fz_fail(err, FZ_EINTERRUPTED, "interrupted");
	}
	return fz_target_process_begin(s, first, err);
}

bool fz_sampler_name(struct fz_sampler *s, struct fz_profile **p)
{
	char text[64];

	if (s->images.n == 0)
		return false;
	*p = fz_images_resolve(&s->images, *p, s->valid_from);
	if (s->sources)
		fz_sources_finish_native(s->sources, *p);
	if (s->figures.incomplete) {
		snprintf(text, sizeof(text), "%llu of %llu",
			 (unsigned long long)s->figures.incomplete,
			 (unsigned long long)s->figures.stacks);
		fz_profile_set_fact(*p, "native.incomplete", fz_str_of(text));
	}
	return true;
}
