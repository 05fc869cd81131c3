/* SPDX-License-Identifier: MIT */
/* What is kept of an interpreter from sample to sample. Within: python.c opens and closes, sample.c
 * takes a sample, gil.c knows from the GIL which threads ran. */
#pragma once

#include "asyncio.h"
#include "record/bpf/wire.h"
#include "code.h"
#include "locals.h"
#include "python.h"
#include "runtime.h"
#include "threads.h"

/* How long freed code is expected after some was. */
enum { FZ_PY_CHURN_NS = 2000 * 1000 * 1000 };

/* The stack of the tick before, root first: what it has in common with the next one is known. */
struct fz_py_ticks {
	struct fz_bpf_frame *frames;
	uint32_t *stacks; /* of the profile */
	uint32_t n, cap;
	uint32_t root;      /* stack on which all stand; FZ_NONE: on none */
	uint32_t changes;   /* of the code cache */
	bool listed;        /* threads have been listed in this batch */
	uint32_t cut_frame; /* marker: there is more below; 0: not made yet */
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
	struct fz_py_tasks_thread task_thread; /* of the walk that was last accepted */
	struct fz_py_locals locals;
	bool by_task; /* tasks are asked for; asyncio may not be there yet */

	struct fz_py_plan plan;  /* of all threads */
	struct fz_py_plan again; /* of one that is read again */
	bool plan_stale, threads_stale;
	uint32_t block_lo, block_size; /* part of an interpreter that is copied */
	size_t gc_at;                  /* 3.8: copy of the runtime's gc.collecting */
	size_t interps_at;             /* copy of the runtime's pointer to its interpreters */
	size_t current_at;             /* and of that to the state that runs Python code */
	struct fz_py_ticks ticks;

	struct fz_python_stack *stacks;
	size_t stack_n, stack_cap;
	int64_t next_look, next_list, next_expiry, churn_end;
	uint32_t seen_changes;
};

/* Of what was copied. */
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

/* What is looked at now and then: is it the same program, are there new interpreters? Errors as of
 * fz_python_take. */
int fz_py_look_around(struct fz_python *py, int64_t now, struct fz_error *err);
void fz_py_list_threads(struct fz_python *py);

/* ---- states.c ---- */

/* Does the interpreter say that the thread runs with this one of its states? Up to 3.11 it does
 * while that has the GIL. */
bool fz_py_states_runs(const struct fz_python *py, const struct fz_py_thread *t,
		       enum fz_py_status as);
/* Set the rank of each thread in the sample that was copied. */
void fz_py_states_choose(struct fz_python *py);

/* ---- gil.c ---- */

/* Let the plan copy each GIL: first of all, and where threads have to be told apart once more at
 * its end. */
void fz_py_gils_plan(struct fz_python *py);
void fz_py_gils_plan_end(struct fz_python *py);
/* Mark threads that may have run since they were copied: they need a second copy. */
void fz_py_gils_find_runners(struct fz_python *py);
/* A thread that did not hold the GIL while it was copied has the same stack until the GIL changes
 * hands: it need not be copied again. Where that happens all the time, it is tried less often. */
void fz_py_gils_let_wait(struct fz_python *py, struct fz_py_thread *t,
			 const struct fz_python_stack *s);
/* Has a GIL changed hands since threads were left out of the plan? Then they are in it again. */
bool fz_py_gils_wake(struct fz_python *py);
/* One sample less until it is tried again. */
void fz_py_gils_count_down(struct fz_python *py);
/* Does the thread hold its GIL? Without a GIL every thread that is not parked outside the
 * interpreter counts as holding it. */
bool fz_py_gils_is_held(const struct fz_python *py, const struct fz_py_thread *t);
/* Does another thread hold the thread's GIL, and nothing says whether it waits for that? */
bool fz_py_gils_is_unsaid(const struct fz_python *py, const struct fz_py_thread *t);
