/* SPDX-License-Identifier: MIT */
/* The processes when sampling the whole machine: each is examined at its first tick, while it
 * lives, and forgotten when it ends. Names them and builds the stacks of their ticks:
 *
 *   app.py | main | handle | read | ksys_read
 *   ^ name of the process: the root of each stack; the pid is in the thread
 *
 * A process that ended before it could be examined is "[gone: COMM]", with the kernel's name.
 */
#pragma once

#include "record/bpf/bpf.h"
#include "record/sampler_state.h"

struct fz_machine_processes;

/* s and program are borrowed. */
struct fz_machine_processes *fz_machine_processes_new(struct fz_sampler *s, struct fz_bpf *program);
void fz_machine_processes_free(struct fz_machine_processes *m);
/* Build the stack of a tick. */
void fz_machine_processes_read(struct fz_machine_processes *m, const struct fz_bpf_tick *t,
			       struct fz_python_stack *ret);
/* Forget all processes. */
void fz_machine_processes_forget(struct fz_machine_processes *m);
/* Also forget all indices into the sampler's profile, which has been replaced. */
void fz_machine_processes_turn(struct fz_machine_processes *m);
/* Forget a process that exited or called exec. */
void fz_machine_processes_end(struct fz_machine_processes *m, pid_t pid);
/* Add notes for readers to the profile. */
void fz_machine_processes_note(const struct fz_machine_processes *m);
