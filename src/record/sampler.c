/* SPDX-License-Identifier: MIT */
/* The sampling loop.
 *
 * One thread does everything, so that nothing competes with the target but the sampler itself:
 * chores (writing a block, loading one source file) are done right after an instant, when the
 * next one is furthest away. Signals arrive through a signalfd and the end of the process through
 * a pidfd; both are looked at while waiting, at the latest every few milliseconds. What a sample is
 * and when it is taken is the engine's: engine.h.
 */
#include "record/sampler.h"

#include "base/clock.h"
#include "base/text.h"
#include "record/engine.h"
#include "record/priority.h"
#include "record/target_process.h"
#include "record/sources.h"
#include "record/speed.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Waits up to this long are one clock_nanosleep, which is more exact than a poll. */
#define FINE_WAIT (3 * FZ_MS)
/* Events may stay unseen for so long. */
#define POLL_EVERY (5 * FZ_MS)
#define FLUSH_EVERY (500 * FZ_MS)
#define OPEN_PATIENCE (1 * FZ_SECOND)

/* Between two looks at the machine's speed, of 9 us each: 0.2 % of a core. */
#define LOOK_EVERY (4 * FZ_MS)

/* Between two looks at the CPU time of threads; and at least so many times what a look takes. */
#define THREADS_EVERY (100 * FZ_MS)
#define THREADS_SHARE 500

/* Less CPU time that is in no sample is within what the kernel's clocks are good for. */
#define MISSING_FROM (50 * FZ_MS)

/* CPU time in a second from which on we are no thread that mostly sleeps. */
#define PRIORITY_MOST (FZ_SECOND / 4 * 3)

const char *const fz_clock_names[] = { "wall", "cpu", NULL };

/* ---- beginning and end ---- */

/* Most samples weigh one interval, or did not wait, which then costs no bytes. */
void fz_sampler_add_metrics(struct fz_profile *p, enum fz_clock clock, struct fz_rate rate)
{
	int64_t each = rate.micro_hz ? fz_rate_time(rate, 1) : 0;

	fz_profile_add_metric(p, fz_str_of(fz_clock_names[clock]), FZ_STR("ns"), each, true);
	if (clock != FZ_CLOCK_WALL)
		return;
	fz_profile_add_metric(p, FZ_STR("wait"), FZ_STR("ns"), 0, true);
	fz_profile_add_metric(p, FZ_STR("disk"), FZ_STR("ns"), 0, true);
}

void fz_sampler_add_growth(struct fz_profile *p)
{
	fz_profile_add_metric(p, FZ_STR("resident"), FZ_STR("bytes"), 0, true);
}

void fz_sampler_init(struct fz_sampler *s, const struct fz_sampler_options *options,
		     struct fz_profile *profile)
{
	int64_t now = fz_clock_now();

	*s = (struct fz_sampler){ .options = options,
				  .engine = &fz_engine_read,
				  .profile = profile,
				  .planned = profile->recording.features,
				  .next_chore = now + FLUSH_EVERY,
				  .next_second = now + FZ_SECOND,
				  .look_cpu = FZ_NONE,
				  .paused = options->paused,
				  .end_time = now };
	s->images.eager = options->watched;
	if (options->sources)
		s->sources = fz_sources_new(profile);
	profile->quality.known = true;
	s->next_seek = INT64_MAX;
	if (options->machine)
		return;
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
	fz_engine_free(s);
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
	free(s->processes);
	s->processes = NULL;
	fz_sources_free(s->sources);
	s->sources = NULL;
	fz_images_release(&s->images);
	fz_silent_release(&s->silent);
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
	return s->process_n && s->processes[0]->ended;
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

/* Wait up to `ns` for a signal, the end of the process, what happens in its tree, or a command. */
static void poll_events(struct fz_sampler *s, int64_t ns)
{
	struct pollfd fds[] = {
		{ .fd = s->options->signal_fd, .events = POLLIN },
		{ .fd = fz_target_process_events(s), .events = POLLIN },
		{ .fd = fz_lineserver_fd(s->options->control), .events = POLLIN },
	};
	struct timespec timeout = { .tv_sec = ns / FZ_SECOND, .tv_nsec = ns % FZ_SECOND };

	bool any = ppoll(fds, FZ_ARRAY_LEN(fds), &timeout, NULL) > 0;

	if (any && fds[0].revents)
		read_signals(s);
	if (any && fds[2].revents)
		fz_lineserver_serve(s->options->control);
	/* Whoever asks first whether a tree has news is the only one to be told. */
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

/* Threads that are traced stop at their own signals until we let them go: never sleep deaf. And
 * while there is nothing to sample the end is what comes next, and no instant need be met. */
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

/* ---- the machine's speed ---- */

bool fz_sampler_wants_look(const struct fz_sampler *s)
{
	return s->now >= s->next_look;
}

/* Time the piece on the CPU of what is sampled, while it is there. */
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
	fz_file_writer_add_look(s->writer, &look);
}

/* What a sample's thread was doing: what the interpreter says, and whether it was on a CPU. */
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
				    .time = e->time - s->options->start,
				    .status = full_status(stack, e->oncpu),
				    .count = 1 };
	/* Of the metrics that fz_sampler_add_metrics or fz_sampler_add_growth added. */
	int64_t weights[] = { e->weight, e->oncpu == FZ_ONCPU_WAITING ? e->weight : 0,
			      e->oncpu == FZ_ONCPU_DISK ? e->weight : 0 };
	uint8_t wanted = fz_target_process_status(s->options->mode);

	if ((sample.status & wanted) != wanted)
		return;

	if (s->writer && fz_sampler_wants_look(s) && (sample.status & FZ_STATUS_ON_CPU))
		s->look_cpu = e->cpu;
	if (stack->rejected)
		s->profile->quality.rejected[stack->reject]++;
	if (s->writer)
		fz_file_writer_add(s->writer, &sample, weights);
	s->samples++;
	if (s->options->on_sample)
		s->options->on_sample(s->options->arg, s, &sample, e->weight);
}

void fz_sampler_note_missing(struct fz_sampler *s, const char *fact, int64_t part, int64_t whole)
{
	char share[FZ_NUMBER_SIZE];

	if (part < MISSING_FROM)
		return;
	snprintf(share, sizeof(share), "%.4f", (double)part / (double)whole);
	fz_profile_set_fact(s->profile, fact, fz_str_of(share));
}

/* ---- threads without a stack ---- */

void fz_sampler_note_silent(struct fz_sampler *s, uint32_t threads, int64_t used)
{
	char text[128], count[FZ_NUMBER_SIZE], time[FZ_NUMBER_SIZE];

	if (!threads || used < MISSING_FROM)
		return;
	snprintf(text, sizeof(text), "%s used %s of CPU time %s",
		 fz_format_plural((int64_t)threads, "thread", count),
		 fz_format_ns((double)used, time),
		 s->options->python.all_threads
			 ? "without a Python stack (--native=stacks includes them)"
		 : threads == 1 ? "and was not sampled (-a samples all Python threads)"
				: "and were not sampled (-a samples all Python threads)");
	fz_profile_set_fact(s->profile, "silent", fz_str_of(text));
}

void fz_sampler_look_at_threads(struct fz_sampler *s, const struct fz_target_process *p)
{
	bool told = s->cpuclock && s->options->python.all_threads;

	if (!told && !s->paused && !s->options->growth)
		fz_silent_look(&s->silent, p->target.pid, s->options->started && !s->paused_ns);
}

static void look_at_all_threads(struct fz_sampler *s)
{
	int64_t begun = fz_clock_now();

	for (size_t i = 0; i < s->process_n; i++)
		if (fz_target_is_open(&s->processes[i]->target))
			fz_sampler_look_at_threads(s, s->processes[i]);
	int64_t now = fz_clock_now();
	s->silent.next = now + FZ_MAX(THREADS_EVERY, THREADS_SHARE * (now - begun));
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
	if (fz_file_writer_flush(s->writer, &s->trouble))
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
	if (now >= s->silent.next)
		look_at_all_threads(s);
	if (now >= s->next_chore) {
		if (s->writer)
			flush(s);
		s->next_chore = now + FLUSH_EVERY;
	}
	if (now >= s->next_second) {
		check_priority(s);
		s->options->on_second(s->options->arg, s);
		s->next_second += FZ_SECOND * (1 + (now - s->next_second) / FZ_SECOND);
	}
}

int64_t fz_sampler_duty(const struct fz_sampler *s)
{
	int64_t when = FZ_MIN(s->next_chore, s->next_second);

	if (s->options->duration_ns)
		when = FZ_MIN(when, s->options->start + s->options->duration_ns);
	return when;
}

void fz_sampler_pause(struct fz_sampler *s, bool paused)
{
	int64_t now = fz_clock_now();

	if (paused == s->paused)
		return;
	s->paused = paused;
	if (paused) {
		s->paused_since = now;
		if (s->engine->pause)
			s->engine->pause(s);
	} else {
		s->paused_ns += now - s->paused_since;
		fz_silent_restart(&s->silent);
		s->engine->resume(s);
	}
}

void fz_sampler_turn(struct fz_sampler *s, struct fz_profile *next, struct fz_images *ret_images)
{
	fz_assert(s->engine->turn);
	s->engine->turn(s, next);
	*ret_images = s->images;
	s->images = (struct fz_images){ .eager = ret_images->eager };
	s->samples = 0;
}

void fz_sampler_run(struct fz_sampler *s)
{
	start_waking(s);
	s->paused_since = s->options->start;
	s->paused_ns = 0;
	while (!s->end) {
		if (s->open_n == 0 || s->paused)
			fz_sampler_wait(s, FZ_MIN(s->next_seek, fz_sampler_duty(s)));
		else if (s->engine->wait(s) && !s->end && !s->paused)
			s->engine->take(s);
		if (!s->end && s->now >= s->next_seek)
			fz_target_process_seek(s);
		do_chores(s);
	}
	/* What was said before the end counts. */
	if (s->options->control)
		fz_lineserver_serve(s->options->control);
	s->end_time = fz_clock_now();
	if (s->paused)
		s->paused_ns += s->end_time - s->paused_since;
	/* What is still held could not end on a signal, which would wait for us. */
	fz_sampler_let_go(s);
	struct fz_silent_sum silent = fz_silent_sum(&s->silent, s->profile);
	fz_sampler_note_silent(s, silent.threads, silent.used);
	fz_priority_lower();
	if (s->sources) {
		fz_sources_finish(s->sources);
		fz_sources_packages(s->sources);
	}
}

int fz_sampler_open(struct fz_sampler *s, struct fz_error *err)
{
	int64_t give_up = fz_clock_now() + OPEN_PATIENCE;
	struct fz_target_process *first;

	if (s->options->machine)
		return fz_engine_begin_machine(s, err);
	first = s->processes[0];
	if (s->tree)
		fz_target_process_follow(s);
	while (!fz_target_seek(&first->target)) {
		*err = first->target.why;
		/* Its children are there to be sampled all the same. */
		if (err->code == FZ_EAGAIN && s->process_n > 1)
			return 0;
		if (err->code != FZ_EAGAIN || fz_clock_now() > give_up)
			return err->code;
		fz_sampler_wait(s, first->target.next_try);
		if (s->end == FZ_END_EXIT)
			return fz_fail(err, FZ_EGONE, "process %d has ended", s->options->pid);
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
