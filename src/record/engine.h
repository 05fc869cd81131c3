/* SPDX-License-Identifier: MIT */
/* An engine takes the samples of a sampler: operations and private state.
 *
 *   begin(process) -> wait, take, wait, take ... -> drop(process) -> free
 *
 * The loop of sampler.c calls an engine's `wait` until there is something to take, then `take`; the
 * engine passes each stack to fz_sampler_write (engine_host.h). The loop handles signals,
 * searching, files and the end. `begin` allocates the state in the engine's private slot of
 * fz_sampler.states, and `free` releases it. An engine is active while a process is open.
 */
#pragma once

#include "base/error.h"

struct fz_profile;
struct fz_sampler;
struct fz_target_process;

/* Several engines may have state: after exec another engine may take the samples. */
enum fz_engine_slot {
	FZ_ENGINE_SLOT_READ,
	FZ_ENGINE_SLOT_BPF,
	FZ_ENGINE_SLOT_MACHINE,
	FZ_ENGINE_SLOTS
};

struct fz_engine {
	const char *name; /* the fact "engine" */
	/* Set up sampling of a process that was opened. */
	int (*begin)(struct fz_sampler *s, struct fz_target_process *p, struct fz_error *err);
	/* Stop sampling a process, or stop sampling it as `pid`. */
	void (*drop)(struct fz_sampler *s, struct fz_target_process *p, pid_t pid);
	/* Sleep until there is something to take or the loop has other duties. True if `take` is
	 * due. */
	bool (*wait)(struct fz_sampler *s);
	void (*take)(struct fz_sampler *s);
	/* A pause begins; may be NULL. */
	void (*pause)(struct fz_sampler *s);
	/* Continue after a pause, whose time is in no sample. */
	void (*resume)(struct fz_sampler *s);
	/* Complete the profile and continue with the next one, which becomes s->profile; NULL: not
	 * supported. */
	void (*turn)(struct fz_sampler *s, struct fz_profile *next);
	void (*free)(struct fz_sampler *s);
};

/* Stacks are read from outside, at instants of a clock: engine_read.c. */
extern const struct fz_engine fz_engine_read;
/* Stacks are read in the kernel: bpf/engine.c, if built. */
extern const struct fz_engine fz_engine_bpf;
/* The same for the whole machine: bpf/machine.c. Its `begin` takes no process. */
extern const struct fz_engine fz_engine_machine;
