/* SPDX-License-Identifier: MIT */
/* Stacks that the program in the kernel read (capture/bpf): telling it where things lie, and making
 * stacks of the profile of what it found. */
#pragma once

#include "record/bpf/wire.h"
#include "record/process.h"
#include "python.h"

/* What the program must know of this interpreter. FZ_EUNSUPPORTED: its frames cannot be read in a
 * tick. Native frames, instructions, variables and tasks are not, whatever the options say. */
int fz_python_ticks_config(const struct fz_python *py, struct fz_bpf_config *ret,
			   struct fz_error *err);
/* Before ticks are taken: is it the same program? Errors as of fz_python_take; what it did until
 * then can be taken all the same, as far as it is known. */
int fz_python_ticks_begin(struct fz_python *py, struct fz_error *err);
/* A stack that is whole, or one that is rejected with the reason. What is not known of its code is
 * read; it counts only if it is the code that the tick met. */
void fz_python_ticks_take(struct fz_python *py, const struct fz_bpf_tick *t,
			  struct fz_python_stack *ret);
/* The parent of its process, of which it may be a fork; NULL: none that is sampled, or no more. */
void fz_python_ticks_set_parent(struct fz_python *py, struct fz_python *parent);
/* Let all stacks stand on this one of the profile, without which they have no root. */
void fz_python_ticks_set_root(struct fz_python *py, uint32_t stack);
/* The profile's thread that a record is of; FZ_NONE: none that is known to run Python. */
uint32_t fz_python_ticks_thread(struct fz_python *py, const struct fz_bpf_tick *t);
/* Of a thread's innermost frames, the one that says best what it did: the innermost outside of the
 * standard library, else the innermost. FZ_NONE: none could be read. */
uint32_t fz_python_ticks_waker(struct fz_python *py, const struct fz_bpf_tick *t);
/* Of a stack of the profile, what its thread is there for: the outermost frame outside of the
 * standard library. FZ_NONE: there is none. */
uint32_t fz_python_ticks_entry(const struct fz_python *py, uint32_t stack);
/* The process that it runs in. */
struct fz_process *fz_python_process(struct fz_python *py);
/* Is a futex at that address one of a GIL's? */
bool fz_python_ticks_is_gil(const struct fz_python *py, uint64_t address);
