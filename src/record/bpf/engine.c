/* SPDX-License-Identifier: MIT */
/* The BPF engine: threads are interrupted after each period of CPU time, and the kernel reads their
 * stacks. They are fetched here some times a second, so nothing wakes up for a sample. It samples
 * one process or a process tree.
 *
 *   kernel: tick tick tick tick ...  --ring-->  take: name frames, charge the thread, write
 *
 * Waits, if wanted, arrive the same way (waits.c); CPU time and waits add up to the wall time of a
 * thread.
 *
 * To record growth of the resident set, the kernel reports that instead of ticks, and a sample's
 * weight is the number of bytes.
 *
 * A sample's weight is its thread's CPU time since the previous one: the time of lost ticks is
 * added to the next one. Young threads are sampled by CPU ticks (bpf.c), and a sample's weight is
 * the period of the CPU.
 */
#include "base/clock.h"
#include "base/io.h"
#include "base/text.h"
#include "record/cputimes.h"
#include "record/bpf/fetch.h"
#include "record/bpf/waits.h"
#include "record/python/ticks.h"
#include "record/engine_host.h"
#include "record/target_process.h"

#include <stdio.h>
#include <unistd.h>

/* Between two fetches. */
#define FETCH_EVERY ((int64_t)50000000)

struct account {
	uint64_t used;    /* CPU time charged to the thread, in ns */
	uint32_t watched; /* number of the watch in which it was charged */
	bool ahead;       /* charged by CPU ticks so far, not by its own */
};

struct watched {
	struct fz_target_process *process;
	uint32_t watch; /* sequence number of the watch */
	bool gone;      /* it had ended at the last fetch */
};

struct state {
	struct fz_bpf *program;
	struct fz_map threads; /* target's tid -> account */
	struct account *accounts;
	size_t n, cap;
	int64_t next_fetch;
	struct watched *watched;
	size_t watched_n, watched_cap;
	uint32_t watches;           /* number of watches so far */
	struct fz_cputimes times;   /* of a process tree */
	struct fz_bpf_waits *waits; /* NULL: not wanted */
	uint64_t before;            /* resident pages when first watched */
};

static struct state *state_of(const struct fz_sampler *s)
{
	return s->states[FZ_ENGINE_SLOT_BPF];
}

/* Resident pages, from /proc/PID/statm: "SIZE RESIDENT ...". */
static uint64_t read_resident(pid_t pid)
{
	unsigned long long pages = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)fz_process_live(pid));
	fz_auto(fz_free_ptr) char *text = fz_read_small(path, 256, NULL);
	if (text)
		sscanf(text, "%*u %llu", &pages);
	return pages;
}

/* Add a process that is watched from now on. */
static void keep(struct fz_sampler *s, struct fz_target_process *p)
{
	struct state *b = state_of(s);

	if (!b->before)
		b->before = read_resident(p->target.pid);
	if (!b->watched_n) {
		fz_map_clear(&b->threads);
		b->n = 0;
		b->next_fetch = fz_clock_now() + FETCH_EVERY;
	}
	if (s->tree)
		fz_cputimes_add(&b->times, p->target.pid);
	fz_push(b->watched, b->watched_n, b->watched_cap,
		(struct watched){ .process = p, .watch = ++b->watches });
}

static void forget(struct state *b, const struct fz_target_process *p)
{
	for (size_t i = b->watched_n; i-- > 0;) {
		struct fz_target_process *child = b->watched[i].process;
		if (child == p)
			b->watched[i] = b->watched[--b->watched_n];
		else if (child->parent == p->target.pid)
			fz_python_ticks_set_parent(child->target.python, NULL);
	}
}

/* NULL if the parent is not watched. */
static struct fz_python *parent_of(const struct state *b, const struct fz_target_process *p)
{
	for (size_t i = 0; i < b->watched_n; i++)
		if (b->watched[i].process->target.pid == p->parent)
			return b->watched[i].process->target.python;
	return NULL;
}

/* number: pid in the process's own namespace. */
static const struct watched *find_watched(const struct state *b, uint32_t number)
{
	for (size_t i = 0; i < b->watched_n; i++) {
		struct fz_python *python = b->watched[i].process->target.python;
		if ((uint32_t)fz_python_process(python)->inner_pid == number)
			return &b->watched[i];
	}
	return NULL;
}

static int start(struct fz_sampler *s, struct fz_target_process *p, struct fz_error *err)
{
	const struct fz_record_options *o = s->options;
	struct fz_bpf *program = state_of(s)->program;
	struct fz_bpf_config config;
	int rc = fz_python_ticks_config(p->target.python, &config, err);

	if (!rc)
		rc = o->growth ? fz_bpf_watch_growth(program, p->target.pid, &config, err)
			       : fz_bpf_watch(program, p->target.pid, o->all_threads,
					      fz_rate_time(o->rate, 1), &config, err);
	if (rc)
		return rc;
	keep(s, p);
	if (state_of(s)->waits)
		fz_bpf_waits_adopt(state_of(s)->waits, s, p, program);
	return 0;
}

static int load(struct fz_sampler *s, struct fz_error *err)
{
	const struct fz_record_options *o = s->options;
	struct fz_bpf *program;
	int rc = fz_bpf_open(s, fz_bpf_use_of(o), &program, err);

	if (rc)
		return rc;
	/* Each thread needs two descriptors. */
	fz_target_process_raise_files(s);
	struct state *b = s->states[FZ_ENGINE_SLOT_BPF] = fz_calloc(1, sizeof(*b));
	b->program = program;
	b->waits = o->waits ? fz_bpf_waits_new() : NULL;
	if (s->tree)
		fz_cputimes_count_children(&b->times, s->sampling->pid,
					   s->sampling->started && !s->paused_ns);
	return 0;
}

static int begin(struct fz_sampler *s, struct fz_target_process *p, struct fz_error *err)
{
	int rc = state_of(s) ? 0 : load(s, err);

	if (!rc)
		rc = start(s, p, err);
	if (!rc && !s->options->waits && !s->options->growth)
		fz_profile_set_fact(s->profile, "clock", FZ_STR("perf task-clock"));
	return rc;
}

/* ---- samples ---- */

static struct account *account_of(struct state *b, uint32_t watch, uint32_t tid)
{
	uint32_t *slot = fz_map_slot(&b->threads, tid);

	if (*slot == FZ_NONE) {
		fz_grow(b->accounts, b->n, b->cap);
		*slot = (uint32_t)b->n;
		b->accounts[b->n++] = (struct account){ .used = 0 };
	}
	struct account *a = &b->accounts[*slot];
	if (a->watched != watch)
		*a = (struct account){ .watched = watch };
	return a;
}

/* Weight of a tick: the thread's CPU time that was not charged yet. A young thread was charged by
 * CPU ticks until its own first tick. The weight of that one is half a period, the average time
 * since the last CPU tick. */
static int64_t charge(struct fz_sampler *s, uint32_t watch, const struct fz_bpf_tick *t)
{
	struct account *a = account_of(state_of(s), watch, t->tid);
	struct fz_quality *q = &s->profile->quality;
	int64_t period = fz_rate_time(s->options->rate, 1);

	if (t->flags & FZ_BPF_BY_CPU) {
		*a = (struct account){ .watched = watch, .ahead = true };
		return (int64_t)t->counter;
	}
	/* The counter of another thread with the same tid starts at 0. */
	bool first = !a->used || t->counter < a->used;
	bool paid = first && (a->ahead || t->flags & FZ_BPF_ADOPTED);
	/* C code called Python from this thread and returned, so it had no thread state meanwhile.
	 */
	uint64_t foreign = t->foreign <= t->counter ? t->foreign : 0;
	uint64_t from = FZ_MAX(first ? 0 : a->used, foreign);
	int64_t weight = paid ? period / 2 : (int64_t)(t->counter - from);
	*a = (struct account){ .watched = watch, .used = t->counter };
	q->longest_gap_ns = FZ_MAX(q->longest_gap_ns, weight);
	q->missed += weight > period ? (uint64_t)(weight / period - 1) : 0;
	return weight;
}

static void add_record(void *arg, const struct fz_bpf_tick *t)
{
	struct fz_sampler *s = arg;
	const struct watched *w = find_watched(state_of(s), t->process);
	struct fz_python_stack stack;

	if (state_of(s)->waits)
		fz_bpf_waits_add(state_of(s)->waits, s, w ? w->process : NULL, t);
	if (!w || (t->kind != FZ_BPF_TICK && t->kind != FZ_BPF_GREW))
		return;
	int64_t weight = t->kind == FZ_BPF_GREW ? (int64_t)t->counter * sysconf(_SC_PAGESIZE)
						: charge(s, w->watch, t);
	/* An attached process is watched slightly before the recording begins. */
	bool before = t->kind == FZ_BPF_TICK && (int64_t)t->time < s->sampling->start;
	if (weight <= 0 || before || s->profile->over_limit)
		return;
	fz_python_ticks_read(w->process->target.python, t, &stack);
	if (t->kind == FZ_BPF_TICK)
		fz_silent_charge(&s->silent, stack.thread, weight);
	fz_sampler_write(s, &(struct fz_engine_sample){ .stack = &stack,
							.time = (int64_t)t->time,
							.weight = weight,
							.oncpu = FZ_ONCPU_YES,
							.cpu = t->cpu });
	s->profile->quality.taken++;
}

/* Read the CPU time of processes in a tree, to report how much of it is not Python's. */
static void read_clocks(struct fz_sampler *s)
{
	struct state *b = state_of(s);

	if (!s->tree)
		return;
	fz_cputimes_read_family(&b->times);
	for (size_t i = 0; i < b->watched_n; i++)
		fz_cputimes_read(&b->times, b->watched[i].process->target.pid);
}

/* Fetch all records. */
static void fetch(struct fz_sampler *s)
{
	struct state *b = state_of(s);
	struct fz_error ignored;

	read_clocks(s);
	for (size_t i = 0; i < b->watched_n; i++) {
		struct watched *w = &b->watched[i];
		w->gone = fz_python_ticks_begin(w->process->target.python, &ignored) != 0;
		fz_python_ticks_set_parent(w->process->target.python, parent_of(b, w->process));
	}
	fz_bpf_fetch(s, b->program, add_record);
}

static void take(struct fz_sampler *s)
{
	struct state *b = state_of(s);

	fetch(s);
	for (size_t i = b->watched_n; i-- > 0;)
		if (b->watched[i].gone)
			fz_target_process_lost(s, b->watched[i].process);
	fz_bpf_draw(b->program);
	b->next_fetch = s->now + FETCH_EVERY;
}

static bool wait(struct fz_sampler *s)
{
	return fz_bpf_wait(s, state_of(s)->program, state_of(s)->next_fetch);
}

/* Report waits for which the ring had no room, whose time is missing. */
static void note_lost_waits(struct fz_sampler *s)
{
	struct fz_bpf_counts n = fz_bpf_counts(state_of(s)->program);
	char text[96], count[FZ_NUMBER_SIZE], time[FZ_NUMBER_SIZE];

	if (!n.lost_waits)
		return;
	snprintf(text, sizeof(text), "%s, %s in all",
		 fz_format_plural((int64_t)n.lost_waits, "wait", count),
		 fz_format_ns((double)n.lost_wait_ns, time));
	fz_profile_set_fact(s->profile, "waits.lost", fz_str_of(text));
}

/* Report growth without a stack: before recording, and by non-Python threads or others; and growth
 * that is charged to a later stack because the ring had no room. */
static void note_unseen_growth(struct fz_sampler *s)
{
	struct fz_bpf_counts n = fz_bpf_counts(state_of(s)->program);
	char before[FZ_NUMBER_SIZE], foreign[FZ_NUMBER_SIZE], late[FZ_NUMBER_SIZE];
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	double page = (double)sysconf(_SC_PAGESIZE);

	if (!s->options->growth)
		return;
	fz_buf_printf(&text, "%s allocated before recording, %s by non-Python threads",
		      fz_format_value((double)state_of(s)->before * page, "bytes", before),
		      fz_format_value((double)n.foreign_pages * page, "bytes", foreign));
	if (n.lost)
		fz_buf_printf(
			&text,
			"; stacks of %s were lost; their bytes are counted at the thread's next "
			"allocation",
			fz_format_plural((int64_t)n.lost, "allocation", late));
	if (n.late_pages)
		fz_buf_printf(&text, " except %s",
			      fz_format_value((double)n.late_pages * page, "bytes", late));
	fz_profile_set_fact(s->profile, "growth.unseen", fz_buf_view(&text));
}

/* End the waits of one process or, with NULL, of all. */
static void end_waits(struct fz_sampler *s, const struct fz_target_process *p)
{
	if (!state_of(s)->waits)
		return;
	fz_bpf_waits_end(state_of(s)->waits, s, p, fz_clock_now());
	note_lost_waits(s);
}

static void discard(void *arg, const struct fz_bpf_tick *t)
{
	(void)arg;
	(void)t;
}

/* Take records from before the process ended or was released. */
static void drop(struct fz_sampler *s, struct fz_target_process *p, pid_t pid)
{
	struct fz_quality *q = &s->profile->quality;

	fz_bpf_unwatch_process(state_of(s)->program, pid);
	fz_cputimes_remove(&state_of(s)->times, pid);
	/* Records from before the pause were fetched already. */
	if (s->paused) {
		fz_bpf_drain(state_of(s)->program, discard, NULL);
	} else {
		fetch(s);
		end_waits(s, p);
	}
	note_unseen_growth(s);
	/* Lost ticks, of which some are in no later tick's weight. */
	q->missed = FZ_MAX(q->missed, fz_bpf_counts(state_of(s)->program).lost);
	fz_bpf_note_run_time(s, state_of(s)->program);
	forget(state_of(s), p);
}

/* ---- a pause ---- */

static void pause_(struct fz_sampler *s)
{
	const struct state *b = state_of(s);

	if (!b->watched_n)
		return;
	fz_bpf_unwatch(b->program);
	fetch(s);
	end_waits(s, NULL);
}

/* Watch all processes again, so that threads are charged from now on. */
static void resume(struct fz_sampler *s)
{
	struct state *b = state_of(s);
	struct fz_error ignored;

	if (!b->watched_n)
		return;
	fz_bpf_unwatch(b->program);
	fz_bpf_drain(b->program, discard, NULL);
	b->watched_n = 0;
	fz_cputimes_restart(&b->times);
	for (size_t i = 0; i < s->process_n; i++) {
		struct fz_target_process *p = s->processes[i];
		if (fz_target_is_open(&p->target) && start(s, p, &ignored))
			fz_target_process_lost(s, p);
	}
}

/* Report children that are not Python, or ended before they started it. */
static void note_missing(struct fz_sampler *s)
{
	struct fz_cputimes_sum sum = fz_cputimes_sum(&state_of(s)->times);

	if (s->options->all_threads)
		fz_sampler_note_missing(s, "missing.processes", sum.others, sum.used);
}

static void free_state(struct fz_sampler *s)
{
	struct state *b = state_of(s);

	if (!b)
		return;
	if (s->tree)
		note_missing(s);
	fz_cputimes_release(&b->times);
	fz_bpf_free(b->program);
	fz_map_release(&b->threads);
	fz_bpf_waits_free(b->waits);
	free(b->accounts);
	free(b->watched);
	free(fz_steal(s->states[FZ_ENGINE_SLOT_BPF]));
}

const struct fz_engine fz_engine_bpf = {
	.name = "bpf",
	.begin = begin,
	.drop = drop,
	.wait = wait,
	.take = take,
	.pause = pause_,
	.resume = resume,
	.free = free_state,
};
