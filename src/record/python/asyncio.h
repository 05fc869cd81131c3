/* SPDX-License-Identifier: MIT */
/* asyncio's tasks, who waits for whom, and where their coroutines are, from Python 3.11 on. */
#pragma once

#include "base/buf.h"
#include "pages.h"
#include "runtime.h"
#include "walk.h"

struct fz_py_tasks_options {
	bool all;     /* those that wait, too, not only the one that runs */
	bool stopped; /* the target stands: no second copy */
	bool names;   /* each task by its own name */
	bool opcodes;
};

/* Offsets in asyncio's own objects, as its module tells them; before 3.14 only three are there. */
struct fz_py_tasks_layout {
	uint32_t size, name, awaited_by, is_task, by_set, coro, node;
};

/* Addresses in 3.11 to 3.13, see asyncio_old.c. */
struct fz_py_old_tasks {
	uint64_t task_type, future_type;
	uint64_t current;    /* dict {loop: task} */
	uint64_t all, eager; /* sets */
	uint64_t loop_key;   /* under which a thread keeps its loop; 0: not seen yet */
	uint64_t group_type; /* of task groups, and which attribute says the task */
	uint32_t group_slot;
	uint32_t state;      /* offset in a task */
	struct fz_map kinds; /* of types that last as long as the program */
	struct fz_map
		classes; /* of others, in this sample: another may have the memory in the next */
};

/* A stack that begins at the outermost task that waits for the innermost one. */
struct fz_py_task_stack {
	uint32_t stack;
	bool rejected; /* a task never stood still: the stack says only that */
};

/* Types that have frames of tasks, or lead to such. */
enum { FZ_PY_CORO_TYPES = 5 };

struct fz_py_tasks {
	struct fz_process *process;
	struct fz_py_runtime *runtime;
	struct fz_py_codes *codes;
	struct fz_py_tasks_options options;
	struct fz_py_tasks_layout layout;
	bool found;        /* asyncio is there */
	bool by_callbacks; /* it is an old one */
	struct fz_py_old_tasks old;
	struct fz_py_pages pages, few;
	struct fz_py_pages *from; /* the one that is read now */

	struct fz_py_task *list;
	uint32_t n, cap;
	struct fz_map by_address;
	struct fz_py_raw_frame *frames; /* of coroutines, outermost first */
	uint32_t frame_n, frame_cap;
	struct fz_buf text; /* names that were given */
	/* Types that have been recognised. */
	uint64_t coroutine_types[FZ_PY_CORO_TYPES], int_type, str_type;
	uint64_t *failed;
	uint32_t failed_n, failed_cap;
	uint32_t *path;
	uint32_t path_cap, steps;
	uint32_t unreadable_frame;

	struct fz_py_task_stack *stacks; /* what fz_py_tasks_take found */
	uint32_t stack_n, stack_cap;
};

/* Look for asyncio in the target, unless it has been found. */
void fz_py_tasks_look(struct fz_py_tasks *t);
/* Before the threads are copied: copy what the last sample looked at. */
void fz_py_tasks_begin(struct fz_py_tasks *t);

/* What a thread's copy says. */
struct fz_py_tasks_thread {
	uint64_t address;    /* of the thread state */
	uint64_t loop, task; /* that run; 0 */
};
struct fz_py_tasks_thread fz_py_tasks_thread(struct fz_py_tasks *t, uint64_t tstate,
					     const uint8_t *copy);
/* Address of the frame of the running task's coroutine, or 0. */
uint64_t fz_py_tasks_frame(struct fz_py_tasks *t, const struct fz_py_tasks_thread *thread);
/* The stacks of a thread's tasks, after it was walked. `stack` is its own one, of which what is
 * above `base` belongs to the running task's coroutine; FZ_NONE where its coroutine is not there.
 * FZ_PY_WALK_OK: t->stacks; *ret_runs: the first of them is of the task that runs. CHANGED: try
 * again from the beginning. */
enum fz_py_outcome fz_py_tasks_take(struct fz_py_tasks *t, const struct fz_py_tasks_thread *thread,
				    uint32_t stack, bool runs, uint32_t base, bool *ret_runs);
void fz_py_tasks_release(struct fz_py_tasks *t);
