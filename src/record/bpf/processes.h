/* SPDX-License-Identifier: MIT */
/* The processes of a machine that is sampled: each is looked at when it has its first tick, while
 * it lives, and forgotten when it ends. What they are called, and stacks of their ticks:
 *
 *   app.py | main | handle | read | ksys_read
 *   ^ what the process runs: the root of every stack; its number is that of the thread
 *
 * One that ended before it could be looked at is "[gone: COMM]", by the name that the kernel had.
 */
#pragma once

#include "record/bpf/bpf.h"
#include "record/sampler_state.h"

struct fz_machine_processes;

/* s and program are borrowed. */
struct fz_machine_processes *fz_machine_processes_new(struct fz_sampler *s, struct fz_bpf *program);
void fz_machine_processes_free(struct fz_machine_processes *m);
/* The stack of a tick. */
void fz_machine_processes_take(struct fz_machine_processes *m, const struct fz_bpf_tick *t,
			       struct fz_python_stack *ret);
/* Nobody is known any more. */
void fz_machine_processes_forget(struct fz_machine_processes *m);
/* Nor is anything that is in the sampler's profile, which is another from here on. */
void fz_machine_processes_turn(struct fz_machine_processes *m);
/* A process has ended, or runs another program. */
void fz_machine_processes_end(struct fz_machine_processes *m, pid_t pid);
/* Say in the profile what whoever reads it must know. */
void fz_machine_processes_note(const struct fz_machine_processes *m);
