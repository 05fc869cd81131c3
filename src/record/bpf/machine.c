/* SPDX-License-Identifier: MIT */
/* The engine for the whole machine: each CPU is interrupted at the rate, and the kernel reads the
 * stacks of the thread that runs there. They are fetched here some times a second, and at once when
 * a process is seen for the first time, because it may not live for long.
 *
 *   kernel: tick (CPU 0) tick (CPU 1) end of a process ...  --ring-->  processes.c: stacks
 *
 * A sample's weight is a period of its CPU. A tick for which the ring had no room is missed; a
 * virtual CPU that the host does not run does not tick.
 */
#include "base/clock.h"
#include "record/bpf/fetch.h"
#include "record/bpf/processes.h"
#include "record/engine_host.h"
#include "record/target_process.h"

/* Time between two fetches if there is no new process. */
#define FETCH_EVERY ((int64_t)200000000)

struct machine {
	struct fz_bpf *program;
	struct fz_machine_processes *members;
	int64_t next_fetch;
	uint64_t lost; /* lost ticks in previous profiles */
};

static struct machine *machine_of(const struct fz_sampler *s)
{
	return s->states[FZ_ENGINE_SLOT_MACHINE];
}

static void set_facts(struct fz_profile *p)
{
	fz_profile_set_fact(p, "clock", FZ_STR("perf cpu-clock"));
	fz_profile_set_fact(p, "engine", FZ_STR("bpf"));
	fz_profile_set_fact(p, "program", FZ_STR("system"));
}

static int begin(struct fz_sampler *s, struct fz_target_process *p, struct fz_error *err)
{
	struct fz_bpf *program;

	fz_assert(!p && !machine_of(s));
	int rc = fz_bpf_open(s, FZ_ENGINE_FOR_MACHINE, &program, err);

	if (rc)
		return rc;
	fz_target_process_raise_files(s);
	struct machine *m = fz_calloc(1, sizeof(*m));
	m->program = program;
	m->members = fz_machine_processes_new(s, program);
	m->next_fetch = fz_clock_now() + FETCH_EVERY;
	s->states[FZ_ENGINE_SLOT_MACHINE] = m;
	s->open_n = 1;
	s->found = true;
	set_facts(s->profile);
	return fz_bpf_watch_machine(program, fz_rate_time(s->options->rate, 1), err);
}

/* ---- samples ---- */

static void add_record(void *arg, const struct fz_bpf_tick *t)
{
	struct fz_sampler *s = arg;
	struct fz_python_stack stack;

	if (t->kind != FZ_BPF_TICK) {
		fz_machine_processes_end(machine_of(s)->members, (pid_t)t->process);
		return;
	}
	if (s->profile->over_limit)
		return;
	fz_machine_processes_read(machine_of(s)->members, t, &stack);
	fz_sampler_write(s, &(struct fz_engine_sample){ .stack = &stack,
							.time = (int64_t)t->time,
							.weight = (int64_t)t->counter,
							.oncpu = FZ_ONCPU_YES,
							.cpu = t->cpu });
	s->profile->quality.taken++;
}

static void take(struct fz_sampler *s)
{
	fz_bpf_fetch(s, machine_of(s)->program, add_record);
	machine_of(s)->next_fetch = s->now + FETCH_EVERY;
}

static bool wait(struct fz_sampler *s)
{
	return fz_bpf_wait(s, machine_of(s)->program, machine_of(s)->next_fetch);
}

/* ---- a pause, and the end ---- */

static void pause_(struct fz_sampler *s)
{
	fz_bpf_unwatch(machine_of(s)->program);
	take(s);
}

/* Forget all processes, because the ends of some were not reported during the pause. */
static void resume(struct fz_sampler *s)
{
	struct machine *m = machine_of(s);

	fz_machine_processes_forget(m->members);
	if (fz_bpf_watch_machine(m->program, fz_rate_time(s->options->rate, 1), &s->trouble))
		s->end = FZ_END_OUTPUT;
}

/* Add the final facts to the profile. */
static void complete(struct fz_sampler *s)
{
	struct machine *m = machine_of(s);
	uint64_t lost = fz_bpf_counts(m->program).lost;

	s->profile->quality.missed = lost - m->lost;
	m->lost = lost;
	fz_bpf_note_run_time(s, m->program);
	fz_machine_processes_note(m->members);
}

static void turn(struct fz_sampler *s, struct fz_profile *next)
{
	take(s);
	complete(s);
	fz_machine_processes_forget(machine_of(s)->members);
	s->profile = next;
	set_facts(next);
	fz_machine_processes_turn(machine_of(s)->members);
}

static void free_machine(struct fz_sampler *s)
{
	struct machine *m = machine_of(s);

	if (!m)
		return;
	fz_bpf_unwatch(m->program);
	if (!s->paused)
		take(s);
	complete(s);
	fz_machine_processes_free(m->members);
	fz_bpf_free(m->program);
	free(fz_steal(s->states[FZ_ENGINE_SLOT_MACHINE]));
}

const struct fz_engine fz_engine_machine = {
	.name = "bpf",
	.begin = begin,
	.wait = wait,
	.take = take,
	.pause = pause_,
	.resume = resume,
	.turn = turn,
	.free = free_machine,
};
