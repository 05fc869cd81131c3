/* SPDX-License-Identifier: MIT */
/* Who takes the samples of a sampler.
 *
 *   fz_engine_begin(process) -> wait, take, wait, take ... -> drop(process) -> fz_engine_free
 *
 * The loop of sampler.c asks an engine to wait until there is something to take, and to take it;
 * the engine hands each stack to fz_sampler_write. Signals, seeking, files and the end are the
 * loop's. An engine is in force while a process is open; only files of capture/ include this.
 */
#pragma once

#include "record/oncpu.h"
#include "record/sampler.h"

struct fz_engine {
	const char *name; /* the fact "engine" */
	/* A process was opened, what it takes to sample it is set up. */
	int (*begin)(struct fz_sampler *s, struct fz_target_process *p, struct fz_error *err);
	/* It is not sampled any more, or not as `pid`. */
	void (*drop)(struct fz_sampler *s, struct fz_target_process *p, pid_t pid);
	/* Sleep until there is something to take or the loop has other duties. True: take. */
	bool (*wait)(struct fz_sampler *s);
	void (*take)(struct fz_sampler *s);
	/* A pause begins; NULL: nothing is to be done. */
	void (*pause)(struct fz_sampler *s);
	/* Sampling goes on after a pause, whose time is nobody's. */
	void (*resume)(struct fz_sampler *s);
	/* What is there goes to the profile, and from then on to the next one, which becomes
	 * s->profile; NULL: it cannot. */
	void (*turn)(struct fz_sampler *s, struct fz_profile *next);
	void (*free)(struct fz_sampler *s);
};

/* Stacks are read from outside, at instants of a clock: engine_read.c. */
extern const struct fz_engine fz_engine_read;
/* Stacks are read in the kernel: bpf/engine.c, where that is built. */
extern const struct fz_engine fz_engine_bpf;
/* The same of the whole machine: bpf/machine.c. Its `begin` has no process. */
extern const struct fz_engine fz_engine_machine;

/* Choose the engine for a process that was opened, and begin. Not both are in force at a time. */
int fz_engine_begin(struct fz_sampler *s, struct fz_target_process *p, struct fz_error *err);
/* Begin with the whole machine. */
int fz_engine_begin_machine(struct fz_sampler *s, struct fz_error *err);
/* What was loaded for it beforehand, or is now; the caller's, who frees it. */
int fz_engine_take_loaded(struct fz_sampler *s, struct fz_bpf **ret, struct fz_error *err);
/* Whatever was set up for one. */
void fz_engine_free(struct fz_sampler *s);

/* A stack that was taken. */
struct fz_engine_sample {
	const struct fz_python_stack *stack;
	int64_t time; /* fz_clock_now() */
	int64_t weight;
	enum fz_oncpu_answer oncpu;
	uint32_t cpu; /* where the thread was seen; FZ_NONE: not known */
};

/* ---- what sampler.c has for engines ---- */

void fz_sampler_write(struct fz_sampler *s, const struct fz_engine_sample *sample);
/* CPU time that is in no sample, as a share of the whole: a fact, if it is worth one. */
void fz_sampler_note_missing(struct fz_sampler *s, const char *fact, int64_t part, int64_t whole);
/* Threads without a stack, and the CPU time that they used: a fact, if it is worth one. */
void fz_sampler_note_silent(struct fz_sampler *s, uint32_t threads, int64_t used);
/* Look at the CPU time of the threads of a process, of which some may have no stack. */
void fz_sampler_look_at_threads(struct fz_sampler *s, const struct fz_target_process *p);
/* Is it time to look at the machine's speed where the next sample is? */
bool fz_sampler_wants_look(const struct fz_sampler *s);
/* The latest time at which the loop must come round, whatever is sampled. */
int64_t fz_sampler_duty(const struct fz_sampler *s);
/* Wait until `when`, seeing to events; earlier only when the sampling has ended, or was switched on
 * or off. */
void fz_sampler_wait(struct fz_sampler *s, int64_t when);
/* See to events, if there are news or that was long ago. Who was woken by one and does not would be
 * woken again at once, and a sampler that may preempt would keep from running whom it waits for. */
void fz_sampler_poll(struct fz_sampler *s, bool news);
