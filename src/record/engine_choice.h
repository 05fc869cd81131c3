/* SPDX-License-Identifier: MIT */
/* Choosing the engine that takes the samples of a process. */
#pragma once

#include "record/bpf/bpf.h"
#include "record/sampler_state.h"

/* Can bpf be used here, for any program? 0, or an error with the reason. */
int fz_engine_check_bpf(enum fz_engine_use use, struct fz_error *err);
/* The same for options that only one engine supports. */
int fz_engine_check(const struct fz_record_options *o, struct fz_error *err);

/* Load the BPF program for these options. This takes 0.1 s, so call it before starting the target.
 * *ret is NULL if it is not needed, or cannot be loaded and another engine will do. */
int fz_engine_load(const struct fz_record_options *o, struct fz_bpf **ret, struct fz_error *err);
void fz_engine_unload(struct fz_bpf *loaded); /* NULL is allowed */

/* Choose the engine for a process that was opened, and begin. Only one engine is active at a time.
 */
int fz_engine_begin(struct fz_sampler *s, struct fz_target_process *p, struct fz_error *err);
/* Begin sampling the whole machine. */
int fz_engine_begin_machine(struct fz_sampler *s, struct fz_error *err);
/* Free the state of all engines. */
void fz_engine_free(struct fz_sampler *s);
