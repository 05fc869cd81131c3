/* SPDX-License-Identifier: MIT */
/* Stacks read by the program in the kernel (record/bpf): configures it with offsets and converts
 * its ticks to stacks of the profile. */
#pragma once

#include "record/bpf/wire.h"
#include "record/process.h"
#include "python.h"

/* Make the program's configuration for this interpreter. FZ_EUNSUPPORTED: its frames cannot be read
 * in a tick. Ignores the options for native frames, instructions, variables and tasks. */
int fz_python_ticks_config(const struct fz_python *py, struct fz_bpf_config *ret,
			   struct fz_error *err);
/* Check before taking ticks that it is the same program. Errors as for fz_python_sample_take;
 * earlier ticks can still be taken, as far as their code is known. */
int fz_python_ticks_begin(struct fz_python *py, struct fz_error *err);
/* Convert a tick to a complete stack, or to a rejected one with the reason. Unknown code objects
 * are read, and accepted only if they are those that the tick saw. */
void fz_python_ticks_read(struct fz_python *py, const struct fz_bpf_tick *t,
			  struct fz_python_stack *ret);
/* Set the process's parent, of which it may be a fork; NULL: it is not sampled, or no longer. */
void fz_python_ticks_set_parent(struct fz_python *py, struct fz_python *parent);
/* Put all stacks on top of this one of the profile; by default there is none. */
void fz_python_ticks_set_root(struct fz_python *py, uint32_t stack);
/* The profile's thread of a record; FZ_NONE if it is not known to run Python. */
uint32_t fz_python_ticks_thread(struct fz_python *py, const struct fz_bpf_tick *t);
/* The frame that best describes what a thread did: the innermost outside of the standard library,
 * else the innermost. FZ_NONE if none could be read. */
uint32_t fz_python_ticks_waker(struct fz_python *py, const struct fz_bpf_tick *t);
/* The frame that best describes the purpose of a stack's thread: the outermost outside of the
 * standard library. FZ_NONE if there is none. */
uint32_t fz_python_ticks_entry(const struct fz_python *py, uint32_t stack);
/* The interpreter's process. */
struct fz_process *fz_python_process(struct fz_python *py);
/* Does a futex at this address belong to a GIL? */
bool fz_python_ticks_is_gil(const struct fz_python *py, uint64_t address);
