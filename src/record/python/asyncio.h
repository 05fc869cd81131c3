/* SPDX-License-Identifier: MIT */
/* asyncio's tasks, which of them wait for which, and their coroutines' stacks, from Python 3.11 on.
 */
#pragma once

#include "base/buf.h"
#include "pages.h"
#include "runtime.h"
#include "walk.h"

struct fz_py_tasks_options {
	bool all;     /* waiting tasks, too, not only the running one */
	bool stopped; /* the target is stopped: no second copy */
	bool names;   /* show each task by its own name */
	bool opcodes;
};

/* Offsets in asyncio's own objects, from the table in its module; before 3.14 only three are set.
 */
struct fz_py_tasks_layout {
	uint32_t size, name, awaited_by, is_task, by_set, coro, node;
};

/* Addresses in 3.11 to 3.13, see asyncio_old.c. */
struct fz_py_old_tasks {
	uint64_t task_type, future_type;
	uint64_t current;      /* dict {loop: task} */
	uint64_t all, eager;   /* sets */
	uint64_t loop_key;     /* key of the loop in a thread's dict; 0: not seen yet */
	uint64_t group_type;   /* type of task groups */
	uint32_t group_slot;   /* index of a group's attribute with its task */
	uint32_t state;        /* offset in a task */
	struct fz_map kinds;   /* type -> kind, of types that live as long as the program */
	struct fz_map classes; /* the same for other types, whose memory may be reused: for one
				  sample */
};

/* A stack from the outermost waiting task to the innermost one. */
struct fz_py_task_stack {
	uint32_t stack;
	bool rejected; /* a task kept changing: the stack only marks that */
};

/* Number of types of coroutines and the like. */
enum { FZ_PY_CORO_TYPES = 5 };

struct fz_py_tasks {
	struct fz_process *process;
	struct fz_py_runtime *runtime;
	struct fz_py_codes *codes;
	struct fz_py_tasks_options options;
	struct fz_py_tasks_layout layout;
	bool found;        /* asyncio was found */
	bool by_callbacks; /* it is an old one: see asyncio_old.c */
	struct fz_py_old_tasks old;
	struct fz_py_pages pages, few;
	struct fz_py_pages *from; /* the one to read now */

	struct fz_py_task *list;
	uint32_t n, cap;
	struct fz_map by_address, by_place;
	struct fz_py_raw_frame *frames; /* of coroutines, outermost first */
	uint32_t frame_n, frame_cap;
	struct fz_buf text; /* names given by the program */
	/* Types that have been recognised. */
	uint64_t coroutine_types[FZ_PY_CORO_TYPES], int_type, str_type;
	uint64_t *failed;
	uint32_t failed_n, failed_cap;
	uint32_t *path;
	uint32_t path_cap, steps;
	uint32_t unreadable_frame;

	struct fz_py_task_stack *stacks; /* the result of fz_py_tasks_read_stacks */
	uint32_t stack_n, stack_cap;
};

/* Search for asyncio in the target, unless it was found before. */
void fz_py_tasks_find(struct fz_py_tasks *t);
/* Copy the pages that the last sample used. Call before the threads are copied. */
void fz_py_tasks_begin(struct fz_py_tasks *t);

/* From a thread's copy. */
struct fz_py_tasks_thread {
	uint64_t address;    /* of the thread state */
	uint64_t loop, task; /* the running ones, or 0 */
};
struct fz_py_tasks_thread fz_py_tasks_thread(struct fz_py_tasks *t, uint64_t tstate,
					     const uint8_t *copy);
/* Address of the frame of the running task's coroutine, or 0. */
uint64_t fz_py_tasks_frame(struct fz_py_tasks *t, const struct fz_py_tasks_thread *thread);
/* Make the stacks of a thread's tasks, after the walk of the thread, in which the running task's
 * coroutine is marked. `stack` is the thread's own, or FZ_NONE.
 * FZ_PY_WALK_OK: the stacks are in t->stacks; *ret_runs is true if the first is the running task's.
 * CHANGED: try again from the beginning. */
enum fz_py_outcome fz_py_tasks_read_stacks(struct fz_py_tasks *t,
					   const struct fz_py_tasks_thread *thread,
					   const struct fz_py_walk *walk, uint32_t stack,
					   bool *ret_runs);
void fz_py_tasks_release(struct fz_py_tasks *t);
