/* SPDX-License-Identifier: MIT */
/* Processes of a sampler. */
#pragma once

#include "record/sampler_state.h"
#include "record/stop.h"

/* Bits that a sample must have to be of the mode that was asked for. By the CPU clock every sample
 * is of mode cpu. */
static inline uint8_t fz_target_process_status(enum fz_mode mode)
{
	return mode == FZ_MODE_GIL         ? FZ_STATUS_HAS_GIL
	       : mode == FZ_MODE_EXCEPTION ? FZ_STATUS_HAS_EXCEPTION
					   : 0;
}

/* What is read of each interpreter. */
struct fz_python_options fz_target_process_python(const struct fz_record_options *o);
/* One more process; it is opened by sampler.c when its interpreter is up. */
struct fz_target_process *fz_target_process_add(struct fz_sampler *s, pid_t pid, pid_t parent);
void fz_target_process_free(struct fz_sampler *s, struct fz_target_process *p);
/* As many files as we may have, from then on: each process takes some, or each thread. */
void fz_target_process_raise_files(struct fz_sampler *s);
/* Find out about all that the first process starts. */
void fz_target_process_start_tree(struct fz_sampler *s);
/* Add and drop processes as they come and go; ends the sampling with the last. */
void fz_target_process_follow(struct fz_sampler *s);
/* Readable when a process has come or gone. */
int fz_target_process_events(const struct fz_sampler *s);
/* Ctrl-Z: let all go, stop as asked, and take them again when we go on. */
void fz_target_process_suspend(struct fz_sampler *s);
/* Let threads that stopped go on; let go of a process that ended, for its parent waits for that. */
void fz_target_process_service(struct fz_sampler *s, struct fz_target_process *p);
/* It ended or runs something else: close it, and search again. */
void fz_target_process_lost(struct fz_sampler *s, struct fz_target_process *p);
void fz_target_process_drop(struct fz_sampler *s, struct fz_target_process *p);
/* Stop its threads from now on, if that is asked for. */
int fz_target_process_start_stopper(struct fz_sampler *s, struct fz_target_process *p,
				    struct fz_error *err);
void fz_target_process_free_stopper(struct fz_sampler *s, struct fz_target_process *p);
/* Look at the CPU time of its threads, of which some may have no stack. */
void fz_target_process_look_at_threads(struct fz_sampler *s, const struct fz_target_process *p);
