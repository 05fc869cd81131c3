/* SPDX-License-Identifier: MIT */
/* An engine takes the samples of a sampler: operations, and a state of its own.
 *
 *   begin(process) -> wait, take, wait, take ... -> drop(process) -> free
 *
 * The loop of sampler.c waits with an engine until there is something to take, and takes it; the
 * engine hands each stack to fz_sampler_write (engine_host.h). Signals, seeking, files and the end
 * are the loop's. `begin` allocates the state in the engine's slot of fz_sampler.states, where
 * nobody else looks, and `free` releases it. An engine is in force while a process is open.
 */
#pragma once

#include "base/error.h"

struct fz_profile;
struct fz_sampler;
struct fz_target_process;

/* Several may have a state: of a program that becomes another, first one engine takes samples and
 * then another. */
enum fz_engine_slot {
	FZ_ENGINE_SLOT_READ,
	FZ_ENGINE_SLOT_BPF,
	FZ_ENGINE_SLOT_MACHINE,
	FZ_ENGINE_SLOTS
};

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
