/* SPDX-License-Identifier: MIT */
/* Processes of a sampler. */
#pragma once

#include "record/sampler_state.h"
#include "record/stop.h"

/* Status bits that a sample needs in this mode. With the CPU clock every sample fits mode cpu. */
static inline uint8_t fz_target_process_status(enum fz_mode mode)
{
	return mode == FZ_MODE_GIL         ? FZ_STATUS_HAS_GIL
	       : mode == FZ_MODE_EXCEPTION ? FZ_STATUS_HAS_EXCEPTION
					   : 0;
}

/* What is read of each interpreter. */
struct fz_python_options fz_target_process_python(const struct fz_record_options *o);
/* Add a process; sampler.c opens it when its interpreter is running. */
struct fz_target_process *fz_target_process_add(struct fz_sampler *s, pid_t pid, pid_t parent);
void fz_target_process_free(struct fz_sampler *s, struct fz_target_process *p);
/* Raise our limit of open files: each process or thread needs some. */
void fz_target_process_raise_files(struct fz_sampler *s);
/* Start following the descendants of the first process. */
void fz_target_process_start_tree(struct fz_sampler *s);
/* Add processes that started and drop those that ended; sampling ends with the last one. */
void fz_target_process_follow(struct fz_sampler *s);
/* A descriptor that becomes readable when a process starts or ends. */
int fz_target_process_events(const struct fz_sampler *s);
/* On Ctrl-Z: release all threads, stop ourselves, and seize them again when we continue. */
void fz_target_process_suspend(struct fz_sampler *s);
/* Continue threads that stopped; release a process that ended, since its parent waits for that. */
void fz_target_process_service(struct fz_sampler *s, struct fz_target_process *p);
/* The process ended or runs another program: close it, and search again. */
void fz_target_process_lost(struct fz_sampler *s, struct fz_target_process *p);
void fz_target_process_drop(struct fz_sampler *s, struct fz_target_process *p);
/* From now on stop its threads for samples, if the options require it. */
int fz_target_process_start_stopper(struct fz_sampler *s, struct fz_target_process *p,
				    struct fz_error *err);
void fz_target_process_free_stopper(struct fz_sampler *s, struct fz_target_process *p);
/* Read the CPU time of its threads, for those that have no stack. */
void fz_target_process_read_threads(struct fz_sampler *s, const struct fz_target_process *p);
