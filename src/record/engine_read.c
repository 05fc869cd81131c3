/* SPDX-License-Identifier: MIT */
/* The engine that needs no privileges: stacks are read from outside, at instants.
 *
 *      grid      1         2         3         4         5         6         7
 *      |---------|---------|---------|---------|---------|---------|---------|
 *      s         s         s                             s         s         s
 *                                    <--- stalled --->   weight 3, missed 2
 *
 * With the wall clock instants are on a grid; with the CPU clock there is one when a thread has
 * used a period of CPU time. At each instant all threads of all processes are read.
 */
#include "record/engine_host.h"

#include "base/clock.h"
#include "record/cpuclock.h"
#include "record/owed.h"
#include "record/python/ticks.h"
#include "record/target_process.h"
#include "record/stop.h"

#include <stdio.h>
#include <unistd.h>

/* In slots of at least this length, instants are drawn at random. In shorter slots lateness makes
 * them random anyway. */
#define SHIFT_FROM ((int64_t)100000)

struct reader {
	struct fz_cpuclock *cpuclock; /* NULL unless sampling by CPU time */
	int64_t grid;                 /* time of instant 0 of the open target */
	uint64_t slot;                /* of the last instant */
	int64_t shift;                /* offset of the next instant in its slot */
	uint64_t dice;                /* for drawing shift */
	int64_t last;                 /* time of the last instant; 0: none yet for this target */
	struct fz_owed owed;
	uint32_t wait_frames[FZ_WAIT_KINDS]; /* 1 + marker frame of each; 0: not created yet */
};

static struct reader *reader_of(const struct fz_sampler *s)
{
	return s->states[FZ_ENGINE_SLOT_READ];
}

/* ---- one instant ---- */

static bool driven_by_cpu(const struct reader *r)
{
	return r->cpuclock && fz_cpuclock_drives(r->cpuclock);
}

static void draw_shift(struct reader *r, struct fz_rate rate)
{
	int64_t interval = fz_rate_time(rate, 1);

	if (interval >= SHIFT_FROM)
		r->shift = fz_rate_shift(r->shift, interval, fz_dice_roll(&r->dice));
}

/* Advance to the instant of `now`. Returns the time that it stands for, or 0 if none is due yet. */
static int64_t advance(struct fz_sampler *s, int64_t now)
{
	struct fz_rate rate = s->options->rate;
	struct reader *r = reader_of(s);
	struct fz_quality *q = &s->profile->quality;
	int64_t gap = now - r->last;

	if (driven_by_cpu(r)) {
		r->last = now;
		return 1;
	}
	if (r->last == 0) {
		r->grid = r->last = now;
		r->dice = (uint64_t)now;
		r->slot = 0;
		if (!rate.micro_hz)
			return 1;
		draw_shift(r, rate);
		return fz_rate_time(rate, 1);
	}
	r->last = now;
	q->longest_gap_ns = FZ_MAX(q->longest_gap_ns, gap);
	if (!rate.micro_hz)
		return gap;
	/* Subtract the shift: an instant late in its slot is not missed when the slot ends. */
	uint64_t slot = fz_rate_slot(rate, now - r->grid - r->shift), before = r->slot;
	if (slot == before)
		return 0;
	r->slot = slot;
	q->missed += slot - before - 1;
	draw_shift(r, rate);
	return fz_rate_time(rate, slot) - fz_rate_time(rate, before);
}

/* Was a sample's thread on a CPU? With the CPU clock it always was. */
static enum fz_oncpu_answer query_oncpu(struct fz_sampler *s, const struct fz_target_process *p,
					const struct fz_python_stack *stack, int64_t now,
					int64_t weight)
{
	if (stack->waiting)
		return FZ_ONCPU_UNKNOWN;
	if (reader_of(s)->cpuclock)
		return FZ_ONCPU_YES;
	return fz_oncpu_check(p->oncpu, s->profile->threads[stack->thread].tid, stack->stack, now,
			      weight);
}

/* What a sample's thread waited for; FZ_WAIT_KINDS: nothing, or unknown. */
static enum fz_wait find_wait(struct fz_sampler *s, const struct fz_target_process *p,
			      const struct fz_engine_sample *e)
{
	const struct fz_asleep *a;
	bool stopped;

	if (e->oncpu == FZ_ONCPU_WAITING)
		return FZ_WAIT_CPU;
	if (e->oncpu != FZ_ONCPU_NO && e->oncpu != FZ_ONCPU_DISK)
		return FZ_WAIT_KINDS;
	a = fz_oncpu_asleep(p->oncpu, s->profile->threads[e->stack->thread].tid, &stopped);
	if (!a)
		return FZ_WAIT_KINDS;
	if (stopped)
		return FZ_WAIT_STOPPED;
	if (a->kind == FZ_WAIT_LOCK && fz_python_ticks_is_gil(p->target.python, a->call.args[0]))
		return FZ_WAIT_GIL;
	return a->kind;
}

static void set_waits_for_gil(struct fz_python_stack *stack)
{
	stack->status = (uint8_t)((stack->status & ~FZ_STATUS_HAS_GIL) | FZ_STATUS_GIL_REQUESTED);
}

/* Add a marker frame for what the thread waited for. */
static void add_wait(struct fz_sampler *s, struct fz_python_stack *stack, enum fz_wait kind)
{
	fz_assert(kind < FZ_WAIT_KINDS);
	uint32_t *frame = &reader_of(s)->wait_frames[kind];

	if (!*frame)
		*frame =
			1 + fz_profile_frame_named(s->profile, fz_str_of(fz_wait_kinds[kind].frame),
						   FZ_STR(""), FZ_NO_LINE, FZ_KIND_MARKER);
	stack->stack = fz_profile_stack(s->profile, stack->stack, *frame - 1);
	if (kind == FZ_WAIT_GIL)
		set_waits_for_gil(stack);
}

/* The kind of wait to record: any with --wait, otherwise only waits for the GIL, if the interpreter
 * does not show these itself. */
static enum fz_wait wanted_wait(struct fz_sampler *s, const struct fz_target_process *p,
				const struct fz_engine_sample *e)
{
	if (s->options->waits)
		return find_wait(s, p, e);
	if (!e->stack->gil_unsaid || e->oncpu != FZ_ONCPU_NO)
		return FZ_WAIT_KINDS;
	return find_wait(s, p, e) == FZ_WAIT_GIL ? FZ_WAIT_GIL : FZ_WAIT_KINDS;
}

static void write_stack(struct fz_sampler *s, const struct fz_target_process *p,
			const struct fz_python_stack *stack, int64_t now, int64_t weight)
{
	struct fz_cpuclock *clock = reader_of(s)->cpuclock;
	uint64_t tid = s->profile->threads[stack->thread].tid;
	struct fz_engine_sample sample = { .stack = stack,
					   .time = now,
					   .weight = weight,
					   .oncpu = query_oncpu(s, p, stack, now, weight),
					   .cpu = FZ_NONE };
	enum fz_wait kind = wanted_wait(s, p, &sample);
	struct fz_python_stack waiting = *stack;

	if (kind != FZ_WAIT_KINDS) {
		if (s->options->waits)
			add_wait(s, &waiting, kind);
		else
			set_waits_for_gil(&waiting);
		sample.stack = &waiting;
	}
	if (fz_sampler_wants_probe(s))
		sample.cpu = clock ? fz_cpuclock_cpu(clock, tid) : fz_oncpu_cpu(p->oncpu, tid);
	fz_sampler_write(s, &sample);
}

/* CPU time of a thread since its last sample, if one is due, else 0. */
static int64_t charge_cpu(struct fz_sampler *s, uint32_t thread)
{
	const struct reader *r = reader_of(s);
	struct fz_quality *q = &s->profile->quality;
	int64_t period = fz_rate_time(s->options->rate, 1);
	int64_t weight = fz_cpuclock_charge(r->cpuclock, s->profile->threads[thread].tid);

	if (driven_by_cpu(r) && weight > 0) {
		q->longest_gap_ns = FZ_MAX(q->longest_gap_ns, weight);
		q->missed += weight > period ? (uint64_t)(weight / period - 1) : 0;
	}
	return weight;
}

/* Write the stacks of all threads, each charged the time since the last instant or its own CPU
 * time. */
static void write_sample(struct fz_sampler *s, const struct fz_target_process *p,
			 const struct fz_python_sample *sample, int64_t now, int64_t elapsed)
{
	struct fz_cpuclock *clock = reader_of(s)->cpuclock;

	for (uint32_t i = 0; i < sample->n; i++) {
		const struct fz_python_stack *stack = &sample->stacks[i];
		int64_t weight = clock ? charge_cpu(s, stack->thread) : elapsed;
		if (!stack->waiting)
			weight = fz_owed_settle(&reader_of(s)->owed, stack, weight);
		if (weight > 0)
			write_stack(s, p, stack, now, weight);
	}
	if (clock)
		fz_cpuclock_pass(clock, p->target.pid);
}

/* Take the stacks of this instant. Only what must be read while the target is stopped is read then;
 * the rest is done after it continues. */
static int take_stacks(struct fz_sampler *s, struct fz_target_process *p,
		       struct fz_python_sample *ret)
{
	struct fz_python_sample python;
	struct fz_native *native = p->target.native;
	int rc = native ? FZ_EGONE : 0;

	if (native && p->stopper)
		rc = fz_native_copy(native, p->stopper, NULL);
	if (!rc && p->target.python)
		rc = fz_python_sample_take(p->target.python, native ? &python : ret, NULL);
	fz_target_process_service(s, p);
	if (!rc && native)
		fz_native_unwind(native, p->target.python ? &python : NULL, ret);
	return rc;
}

/* An instant, in all processes. */
struct instant {
	bool begun;      /* advance() was called for it */
	int64_t elapsed; /* time that it stands for */
	bool taken;      /* any stack was taken */
};

/* Time that an instant stands for: in a process opened since the last one, at most an interval. */
static int64_t elapsed_in(const struct fz_sampler *s, struct fz_target_process *p, int64_t elapsed)
{
	struct fz_rate rate = s->options->rate;
	bool fresh = p->fresh;

	p->fresh = false;
	if (!fresh || driven_by_cpu(reader_of(s)))
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
	/* Beyond a limit the tables are wrong. */
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

static void sample_all(struct fz_sampler *s)
{
	const struct reader *r = reader_of(s);
	bool by_cpu = driven_by_cpu(r);
	struct instant at = { 0 };

	for (size_t i = 0; i < s->process_n && !s->end; i++) {
		struct fz_target_process *p = s->processes[i];
		if (fz_target_is_open(&p->target) &&
		    (!by_cpu || fz_cpuclock_due(r->cpuclock, p->target.pid)))
			sample_process(s, p, &at);
	}
	s->profile->quality.taken += at.taken;
}

/* ---- waiting ---- */

/* Wait until the next instant, or until a thread has used a period of CPU time. */
static bool wait_instant(struct fz_sampler *s)
{
	const struct reader *r = reader_of(s);
	struct fz_rate rate = s->options->rate;
	int64_t when = r->last;

	if (driven_by_cpu(r)) {
		int64_t until = FZ_MIN(fz_sampler_duty(s), s->next_seek);
		int64_t left = fz_clock_left(until);
		bool news, due = fz_cpuclock_wait(r->cpuclock, left, &news);
		s->now = fz_clock_now();
		fz_sampler_poll(s, news);
		return due;
	}
	if (!rate.micro_hz) {
		fz_sampler_poll(s, false);
		return true;
	}
	if (r->last)
		when = r->grid + fz_rate_time(rate, r->slot + 1) + r->shift;
	fz_sampler_wait(s, FZ_MIN(when, FZ_MIN(fz_sampler_duty(s), s->next_seek)));
	return s->now >= when;
}

/* ---- a process ---- */

/* Record which clock is used, and warn if it is imprecise. */
static void note_clock(struct fz_sampler *s, const struct fz_cpuclock *clock)
{
	enum fz_cpuclock_kind kind = fz_cpuclock_kind(clock);

	fz_profile_set_fact(s->profile, "clock", fz_str_of(fz_cpuclock_names[kind]));
	if (kind == FZ_CPUCLOCK_SCHEDSTAT)
		s->warnings[FZ_WARN_CLOCK] =
			"--clock cpu: perf is not permitted; using schedstat, which has the "
			"resolution of a scheduler tick; permit perf with 'sysctl "
			"kernel.perf_event_paranoid=2' or CAP_PERFMON";
}

static int start_cpuclock(struct fz_sampler *s, pid_t pid, struct fz_error *err)
{
	struct reader *r = reader_of(s);
	int64_t period = s->options->rate.micro_hz ? fz_rate_time(s->options->rate, 1) : 0;

	if (r->cpuclock) {
		fz_cpuclock_add(r->cpuclock, pid);
		return 0;
	}
	int rc = fz_cpuclock_new(pid, s->options->all_threads, period, &r->cpuclock, err);
	if (rc)
		return rc;
	if (s->options->subprocesses)
		fz_cpuclock_count_children(r->cpuclock, s->sampling->pid,
					   s->sampling->started && !s->paused_ns);
	fz_cpuclock_watch(r->cpuclock, s->sampling->signal_fd);
	fz_cpuclock_watch(r->cpuclock, fz_target_process_events(s));
	if (s->sampling->control)
		fz_cpuclock_watch(r->cpuclock, fz_lineserver_fd(s->sampling->control));
	s->silent_told = s->options->all_threads;
	note_clock(s, r->cpuclock);
	return 0;
}

static struct fz_oncpu *new_oncpu(const struct fz_sampler *s, const struct fz_target_process *p)
{
	struct fz_python *python = p->target.python;

	return fz_oncpu_new(p->target.pid, python ? fz_python_process(python) : NULL,
			    s->options->waits);
}

/* Check that waits can be read. Each thread needs three descriptors. */
static int check_waits(struct fz_sampler *s, const struct fz_target_process *p,
		       struct fz_error *err)
{
	struct fz_error why;

	if (!p->target.python)
		return fz_fail(err, FZ_EUNSUPPORTED, "--wait: process %d is not Python",
			       (int)p->target.pid);
	if (fz_asleep_check(p->target.pid, &why))
		return fz_fail(err, why.code, "--wait: %s", why.message);
	fz_target_process_raise_files(s);
	return 0;
}

static int begin(struct fz_sampler *s, struct fz_target_process *p, struct fz_error *err)
{
	int rc;

	if (!reader_of(s))
		s->states[FZ_ENGINE_SLOT_READ] = fz_calloc(1, sizeof(struct reader));
	if (s->open_n == 1)
		reader_of(s)->last = 0;
	if (s->options->clock == FZ_CLOCK_CPU)
		return start_cpuclock(s, p->target.pid, err);
	rc = s->options->waits ? check_waits(s, p, err) : 0;
	if (!rc)
		p->oncpu = new_oncpu(s, p);
	return rc;
}

static void resume(struct fz_sampler *s)
{
	struct reader *r = reader_of(s);

	if (!r)
		return;
	r->last = 0;
	if (r->cpuclock)
		fz_cpuclock_skip(r->cpuclock);
	for (size_t i = 0; i < s->process_n; i++) {
		struct fz_target_process *p = s->processes[i];
		p->fresh = true;
		if (!p->oncpu)
			continue;
		fz_oncpu_free(p->oncpu);
		p->oncpu = new_oncpu(s, p);
	}
}

static void note_trouble(struct fz_sampler *s, int code)
{
	if (code)
		fz_profile_set_fact(s->profile, "waits.unknown", fz_str_of(strerror(code)));
}

static void drop(struct fz_sampler *s, struct fz_target_process *p, pid_t pid)
{
	const struct reader *r = reader_of(s);

	if (r && r->cpuclock)
		fz_cpuclock_remove(r->cpuclock, pid);
	if (p->oncpu)
		note_trouble(s, fz_oncpu_trouble(p->oncpu));
	fz_oncpu_free(p->oncpu);
	p->oncpu = NULL;
}

/* Report CPU time that is in no sample: short-lived threads and processes are found late or never,
 * and without native stacks there are no samples of non-Python threads. */
static void note_missing(struct fz_sampler *s, struct reader *r)
{
	struct fz_cpuclock_sum sum = fz_cpuclock_sum(r->cpuclock);

	if (!s->options->all_threads)
		return;
	fz_sampler_note_missing(s, "missing", sum.unseen + fz_owed_sum(&r->owed), sum.used);
	fz_sampler_note_missing(s, "missing.silent", sum.silent, sum.used);
	fz_sampler_note_silent(s, sum.silent_n, sum.silent);
	fz_sampler_note_missing(s, "missing.processes", sum.others, sum.used);
}

static void free_reader(struct fz_sampler *s)
{
	struct reader *r = reader_of(s);

	if (!r)
		return;
	if (r->cpuclock)
		note_missing(s, r);
	fz_cpuclock_free(r->cpuclock);
	fz_owed_release(&r->owed);
	free(fz_steal(s->states[FZ_ENGINE_SLOT_READ]));
}

const struct fz_engine fz_engine_read = {
	.name = "read",
	.begin = begin,
	.drop = drop,
	.wait = wait_instant,
	.take = sample_all,
	.resume = resume,
	.free = free_reader,
};
