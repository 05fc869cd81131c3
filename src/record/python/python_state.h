/* SPDX-License-Identifier: MIT */
/* State of an interpreter between samples. python.c opens and closes it, sample.c takes samples,
 * gil.c finds out from the GIL which threads ran. */
#pragma once

#include "asyncio.h"
#include "record/bpf/wire.h"
#include "code.h"
#include "locals.h"
#include "python.h"
#include "runtime.h"
#include "threads.h"

/* How long to expect more code to be freed after some was. */
enum { FZ_PY_CHURN_NS = 2000 * 1000 * 1000 };

/* The previous tick's stack, root first: the part shared with the next one is reused. */
struct fz_py_ticks {
	struct fz_bpf_frame *frames;
	uint32_t *stacks; /* of the profile */
	uint32_t n, cap;
	uint32_t root;      /* stack below all stacks, or FZ_NONE */
	uint32_t changes;   /* of the code cache */
	bool listed;        /* threads have been listed in this batch */
	uint32_t cut_frame; /* marker for a truncated stack; 0: not created yet */
};

struct fz_python {
	struct fz_process process;
	struct fz_py_runtime runtime;
	const struct fz_py_layout *layout;
	struct fz_python_info info;
	struct fz_python_options options;
	struct fz_profile *into;
	struct fz_py_codes codes;
	struct fz_py_walk_context context;
	struct fz_py_threads threads;
	struct fz_py_tasks tasks;
	struct fz_py_tasks_thread task_thread; /* of the walk accepted last */
	struct fz_py_locals locals;
	bool by_task; /* sample tasks; asyncio may not be loaded yet */

	struct fz_py_plan plan;  /* of all threads */
	struct fz_py_plan again; /* of a thread that is read again */
	bool plan_stale, threads_stale;
	uint32_t block_lo, block_size; /* part of an interpreter that is copied */
	size_t gc_at;                  /* 3.8: copy of the runtime's gc.collecting */
	size_t interps_at;             /* copy of the runtime's pointer to its interpreters */
	size_t current_at;             /* and of that to the state that runs Python code */
	struct fz_py_ticks ticks;

	struct fz_python_stack *stacks;
	size_t stack_n, stack_cap;
	int64_t next_check, next_list, next_expiry, churn_end;
	uint32_t seen_changes, seen_asyncio; /* of the code cache */
};

/* Values in a plan's copy. */
static inline uint64_t fz_py_copied_u64(const struct fz_py_plan *plan, size_t at)
{
	uint64_t v;

	memcpy(&v, plan->buffer + at, sizeof(v));
	return v;
}

static inline uint32_t fz_py_copied_u32(const struct fz_py_plan *plan, size_t at)
{
	uint32_t v;

	memcpy(&v, plan->buffer + at, sizeof(v));
	return v;
}

/* ---- sample.c ---- */

/* Periodic checks: is it the same program, are there new interpreters? Errors as for
 * fz_python_sample_take. */
int fz_py_recheck(struct fz_python *py, int64_t now, struct fz_error *err);
void fz_py_list_threads(struct fz_python *py);

/* ---- states.c ---- */

/* Does the thread run with this one of its states, by the interpreter's data? Up to 3.11 only while
 * the state holds the GIL. */
bool fz_py_states_runs(const struct fz_python *py, const struct fz_py_thread *t,
		       enum fz_py_status as);
/* Set the rank of each thread state in the copied sample. */
void fz_py_states_choose(struct fz_python *py);

/* ---- gil.c ---- */

/* Add each GIL to the plan: at its start, and at its end if needed to find out which threads ran.
 */
void fz_py_gils_plan(struct fz_python *py);
void fz_py_gils_plan_end(struct fz_python *py);
/* Mark threads that may have run since they were copied: they need a second copy. */
void fz_py_gils_find_runners(struct fz_python *py);
/* A thread that did not hold the GIL while it was copied keeps its stack until the GIL changes
 * hands, so it need not be copied again. If the GIL changes hands all the time, this is tried less
 * often. */
void fz_py_gils_let_wait(struct fz_python *py, struct fz_py_thread *t,
			 const struct fz_python_stack *s);
/* Put threads back into the plan if their GIL has changed hands. True if there were any. */
bool fz_py_gils_wake(struct fz_python *py);
/* Count down the samples until leaving threads out is tried again. */
void fz_py_gils_count_down(struct fz_python *py);
/* Does the thread hold its GIL? Without a GIL every thread that is not parked outside the
 * interpreter counts as holding it. */
bool fz_py_gils_is_held(const struct fz_python *py, const struct fz_py_thread *t);
/* Does another thread hold the thread's GIL, so that it is unknown whether this one waits for
 * it? */
bool fz_py_gils_is_unsaid(const struct fz_python *py, const struct fz_py_thread *t);
