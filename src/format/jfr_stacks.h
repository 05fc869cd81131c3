/* SPDX-License-Identifier: MIT */
/* Stacks, threads and states by the keys of a chunk of a flight recording. */
#pragma once

#include "jfr_file.h"

enum fz_jfr_state {
	FZ_JFR_STATE_UNKNOWN,  /* none */
	FZ_JFR_STATE_DEFAULT,  /* async-profiler: on a processor, or sampled by an event */
	FZ_JFR_STATE_RUNNABLE, /* running or runnable */
	FZ_JFR_STATE_WAITING,  /* any other */
};

/* Zeroed before the first chunk. */
struct fz_jfr_stacks {
	struct fz_profile *p;
	uint64_t pid; /* of all threads; 0: unknown */
	struct fz_map stack_of, function_of, thread_of, state_of;
};

/* Call for each chunk, as keys are per chunk. */
void fz_jfr_stacks_begin(struct fz_jfr_stacks *s, struct fz_profile *p);
void fz_jfr_stacks_release(struct fz_jfr_stacks *s);
/* FZ_NONE if the event has none. */
uint32_t fz_jfr_stacks_stack(struct fz_jfr_stacks *s, struct fz_jfr *j,
			     const struct fz_jfr_record *event);
uint32_t fz_jfr_stacks_thread(struct fz_jfr_stacks *s, struct fz_jfr *j,
			      const struct fz_jfr_record *event);
enum fz_jfr_state fz_jfr_stacks_state(struct fz_jfr_stacks *s, struct fz_jfr *j,
				      const struct fz_jfr_record *event);
