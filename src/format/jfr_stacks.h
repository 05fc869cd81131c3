/* SPDX-License-Identifier: MIT */
/* Stacks, threads and their states by the keys that a chunk of a flight recording has for them. */
#pragma once

#include "jfr_file.h"

enum fz_jfr_state {
	FZ_JFR_STATE_UNKNOWN,  /* none is said */
	FZ_JFR_STATE_DEFAULT,  /* async-profiler: sampled while it used a processor, or by an event
				*/
	FZ_JFR_STATE_RUNNABLE, /* runs, or would */
	FZ_JFR_STATE_WAITING,  /* any other */
};

/* Zeroed before the first chunk. */
struct fz_jfr_stacks {
	struct fz_profile *p;
	uint64_t pid; /* of all threads; 0: unknown */
	struct fz_map stack_of, function_of, thread_of, state_of;
};

/* Keys mean something else in each chunk. */
void fz_jfr_stacks_begin(struct fz_jfr_stacks *s, struct fz_profile *p);
void fz_jfr_stacks_release(struct fz_jfr_stacks *s);
/* FZ_NONE where the event has none. */
uint32_t fz_jfr_stacks_stack(struct fz_jfr_stacks *s, struct fz_jfr *j,
			     const struct fz_jfr_record *event);
uint32_t fz_jfr_stacks_thread(struct fz_jfr_stacks *s, struct fz_jfr *j,
			      const struct fz_jfr_record *event);
enum fz_jfr_state fz_jfr_stacks_state(struct fz_jfr_stacks *s, struct fz_jfr *j,
				      const struct fz_jfr_record *event);
