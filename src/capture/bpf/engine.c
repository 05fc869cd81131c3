/* SPDX-License-Identifier: MIT */
/* The engine in the kernel: threads are interrupted when they have used their share of CPU time,
 * and their stacks read there. Here they are only fetched, some times a second, so nobody wakes up
 * for a sample. It samples one process.
 *
 *   kernel: tick tick tick tick ...  --ring-->  take: name the frames, charge the thread, write
 *
 * Where waits are asked for they come the same way (waits.c), and time on a CPU and waits make up
 * the wall time of a thread.
 *
 * Where growth of the resident set is asked for that is what the kernel tells instead of ticks, and
 * a sample weighs the bytes.
 *
 * A sample weighs what its thread used since the one before, by the thread's own counter: ticks
 * that were lost weigh on the next one.
 */
#include "capture/engine.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/text.h"
#include "capture/bpf/fetch.h"
#include "capture/bpf/waits.h"
#include "capture/python/ticks.h"
#include "capture/target_process.h"

#include <stdio.h>
#include <unistd.h>

/* Between two fetches. */
#define FETCH_EVERY ((int64_t)50000000)

struct fz_bpf_state {
	struct fz_bpf *program;
	struct fz_map threads; /* of the target's id -> index */
	uint64_t *used;        /* CPU time that a thread was charged for, in ns */
	size_t n, cap;
	int64_t next_fetch;
	struct fz_target_process *process;
	struct fz_bpf_waits *waits; /* NULL: not asked for */
	uint64_t before;            /* pages of its resident set when it was first watched */
};

/* As /proc/PID/statm has it: "SIZE RESIDENT ...". */
static uint64_t read_resident(pid_t pid)
{
	unsigned long long pages = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	fz_auto(fz_free_ptr) char *text = fz_read_small(path, 256, NULL);
	if (text)
		sscanf(text, "%*u %llu", &pages);
	return pages;
}

static int start(struct fz_sampler *s, struct fz_target_process *p, struct fz_error *err)
{
	const struct fz_sampler_options *o = s->options;
	struct fz_bpf *program = s->bpf->program;
	struct fz_bpf_config config;
	int rc = fz_python_ticks_config(p->target.python, &config, err);

	if (!rc)
		rc = o->growth ? fz_bpf_watch_growth(program, p->target.pid, &config, err)
			       : fz_bpf_watch(program, p->target.pid, o->python.all_threads,
					      fz_rate_time(o->rate, 1), &config, err);
	if (rc)
		return rc;
	if (!s->bpf->before)
		s->bpf->before = read_resident(p->target.pid);
	fz_map_clear(&s->bpf->threads);
	s->bpf->n = 0;
	s->bpf->process = p;
	if (s->bpf->waits)
		fz_bpf_waits_adopt(s->bpf->waits, s, p, s->bpf->program);
	s->bpf->next_fetch = fz_clock_now() + FETCH_EVERY;
	return 0;
}

static int begin(struct fz_sampler *s, struct fz_target_process *p, struct fz_error *err)
{
	const struct fz_sampler_options *o = s->options;
	struct fz_bpf *program;
	int rc = s->bpf ? 0 : fz_bpf_new(fz_engine_use_of(o), &program, err);

	if (!rc && !s->bpf) {
		s->bpf = fz_calloc(1, sizeof(*s->bpf));
		s->bpf->program = program;
		s->bpf->waits = o->waits ? fz_bpf_waits_new() : NULL;
	}
	if (!rc)
		rc = start(s, p, err);
	if (!rc && !s->bpf->waits && !o->growth)
		fz_profile_set_fact(s->profile, "clock", FZ_STR("perf task-clock"));
	return rc;
}

/* ---- samples ---- */

/* CPU time that the thread was not charged for yet. */
static int64_t charge(struct fz_sampler *s, const struct fz_bpf_tick *t)
{
	struct fz_bpf_state *b = s->bpf;
	struct fz_quality *q = &s->profile->quality;
	uint32_t *slot = fz_map_slot(&b->threads, t->tid);
	int64_t period = fz_rate_time(s->options->rate, 1);

	if (*slot == FZ_NONE) {
		fz_grow(b->used, b->n, b->cap);
		*slot = (uint32_t)b->n;
		b->used[b->n++] = 0;
	}
	uint64_t *used = &b->used[*slot];
	/* Another thread by the same number begins at 0. */
	int64_t weight = (int64_t)(t->counter - (t->counter < *used ? 0 : *used));
	*used = t->counter;
	q->longest_gap_ns = FZ_MAX(q->longest_gap_ns, weight);
	q->missed += weight > period ? (uint64_t)(weight / period - 1) : 0;
	return weight;
}

static void take_record(void *arg, const struct fz_bpf_tick *t)
{
	struct fz_sampler *s = arg;
	struct fz_python_stack stack;

	if (s->bpf->waits)
		fz_bpf_waits_take(s->bpf->waits, s, s->bpf->process, t);
	if (t->kind != FZ_BPF_TICK && t->kind != FZ_BPF_GREW)
		return;
	int64_t weight =
		t->kind == FZ_BPF_GREW ? (int64_t)t->counter * sysconf(_SC_PAGESIZE) : charge(s, t);
	if (weight <= 0 || s->profile->over_limit)
		return;
	fz_python_ticks_take(s->bpf->process->target.python, t, &stack);
	fz_sampler_write(s, &(struct fz_engine_sample){ .stack = &stack,
							.time = (int64_t)t->time,
							.weight = weight,
							.oncpu = FZ_ONCPU_YES,
							.cpu = t->cpu });
	s->profile->quality.taken++;
}

/* Fetch what there is. */
static int fetch(struct fz_sampler *s)
{
	struct fz_error ignored;
	int rc = fz_python_ticks_begin(s->bpf->process->target.python, &ignored);

	fz_bpf_fetch(s, s->bpf->program, take_record);
	return rc;
}

static void take(struct fz_sampler *s)
{
	if (fetch(s)) {
		fz_target_process_lost(s, s->bpf->process);
		return;
	}
	fz_bpf_draw(s->bpf->program);
	s->bpf->next_fetch = s->now + FETCH_EVERY;
}

static bool wait(struct fz_sampler *s)
{
	return fz_bpf_wait(s, s->bpf->program, s->bpf->next_fetch);
}

/* Those that the ring had no room for: in time they are missing. */
static void note_lost_waits(struct fz_sampler *s)
{
	struct fz_bpf_counts n = fz_bpf_counts(s->bpf->program);
	char text[96], count[FZ_NUMBER_SIZE], time[FZ_NUMBER_SIZE];

	if (!n.lost_waits)
		return;
	snprintf(text, sizeof(text), "%s, %s in all",
		 fz_format_plural((int64_t)n.lost_waits, "wait", count),
		 fz_format_ns((double)n.lost_wait_ns, time));
	fz_profile_set_fact(s->profile, "waits.lost", fz_str_of(text));
}

/* What has no stack: what had grown before, what threads without Python and whoever else let it
 * grow by; and what is on another, since the ring had no room for its own. */
static void note_unseen_growth(struct fz_sampler *s)
{
	struct fz_bpf_counts n = fz_bpf_counts(s->bpf->program);
	char before[FZ_NUMBER_SIZE], foreign[FZ_NUMBER_SIZE], late[FZ_NUMBER_SIZE];
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	double page = (double)sysconf(_SC_PAGESIZE);

	if (!s->options->growth)
		return;
	fz_buf_printf(&text, "%s had grown before, %s by others than threads of Python",
		      fz_format_value((double)s->bpf->before * page, "bytes", before),
		      fz_format_value((double)n.foreign_pages * page, "bytes", foreign));
	if (n.lost)
		fz_buf_printf(&text, "; no room for %s, told with the next of their threads",
			      fz_format_plural((int64_t)n.lost, "growth", late));
	if (n.late_pages)
		fz_buf_printf(&text, " but for %s",
			      fz_format_value((double)n.late_pages * page, "bytes", late));
	fz_profile_set_fact(s->profile, "growth.unseen", fz_buf_view(&text));
}

static void end_waits(struct fz_sampler *s)
{
	if (!s->bpf->waits)
		return;
	fz_bpf_waits_end(s->bpf->waits, s, fz_clock_now());
	note_lost_waits(s);
}

static void discard(void *arg, const struct fz_bpf_tick *t)
{
	(void)arg;
	(void)t;
}

/* What was found before the process ended, or is let go, counts. */
static void drop(struct fz_sampler *s, struct fz_target_process *p, pid_t pid)
{
	(void)p;
	(void)pid;
	struct fz_quality *q = &s->profile->quality;

	fz_bpf_unwatch(s->bpf->program);
	/* What was found before a pause has been fetched. */
	if (s->paused) {
		fz_bpf_drain(s->bpf->program, discard, NULL);
	} else {
		fetch(s);
		end_waits(s);
	}
	note_unseen_growth(s);
	/* Those that no later tick of their thread weighs for. */
	q->missed = FZ_MAX(q->missed, fz_bpf_counts(s->bpf->program).lost);
	fz_bpf_note_run_time(s, s->bpf->program);
	s->bpf->process = NULL;
}

/* ---- a pause ---- */

static void pause_(struct fz_sampler *s)
{
	if (!s->bpf || !s->bpf->process)
		return;
	fz_bpf_unwatch(s->bpf->program);
	fetch(s);
	end_waits(s);
}

/* Watched anew, threads are charged from here on. */
static void resume(struct fz_sampler *s)
{
	struct fz_error ignored;

	if (!s->bpf || !s->bpf->process)
		return;
	fz_bpf_unwatch(s->bpf->program);
	fz_bpf_drain(s->bpf->program, discard, NULL);
	if (start(s, s->bpf->process, &ignored))
		fz_target_process_lost(s, s->bpf->process);
}

static void free_program(struct fz_sampler *s)
{
	if (!s->bpf)
		return;
	fz_bpf_free(s->bpf->program);
	fz_map_release(&s->bpf->threads);
	fz_bpf_waits_free(s->bpf->waits);
	free(s->bpf->used);
	free(s->bpf);
	s->bpf = NULL;
}

const struct fz_engine fz_engine_bpf = {
	.name = "bpf",
	.begin = begin,
	.drop = drop,
	.wait = wait,
	.take = take,
	.pause = pause_,
	.resume = resume,
	.free = free_program,
};
