/* SPDX-License-Identifier: MIT */
/* Choosing the engine that takes the samples of a process. */
#pragma once

#include "record/bpf/bpf.h"
#include "record/sampler_state.h"

/* Can the kernel do it here, for any program? 0, or the reason. */
int fz_engine_check_bpf(enum fz_engine_use use, struct fz_error *err);
/* The same for options that only one engine supports. */
int fz_engine_check(const struct fz_record_options *o, struct fz_error *err);

/* Load what the kernel runs, as asked for: that takes a tenth of a second, in which what is sampled
 * should not have begun. *ret is NULL where none is needed, or another engine will do and it cannot
 * be had. */
int fz_engine_load(const struct fz_record_options *o, struct fz_bpf **ret, struct fz_error *err);
void fz_engine_unload(struct fz_bpf *loaded); /* NULL is allowed */

/* Choose the engine for a process that was opened, and begin. Not both are in force at a time. */
int fz_engine_begin(struct fz_sampler *s, struct fz_target_process *p, struct fz_error *err);
/* Begin with the whole machine. */
int fz_engine_begin_machine(struct fz_sampler *s, struct fz_error *err);
/* Whatever was set up for one. */
void fz_engine_free(struct fz_sampler *s);
