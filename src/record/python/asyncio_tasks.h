/* SPDX-License-Identifier: MIT */
/* Tasks, as shared by asyncio.c, which reads them, and asyncio_stacks.c, which makes stacks of
 * them. */
#pragma once

#include "asyncio.h"

enum name_kind { NAME_NONE, NAME_NUMBER, NAME_TEXT };

struct fz_py_task {
	uint64_t address;
	uint64_t awaiter; /* the one to show, or 0 */
	uint64_t number;  /* of an unnamed task */
	uint64_t place;   /* address of its outermost coroutine's frame */
	uint32_t text, text_n;
	uint32_t awaiters;
	uint32_t frame, frame_n;
	uint32_t piece, piece_end;
	uint32_t stack; /* including its awaiters', once known */
	uint8_t name;   /* enum name_kind */
	bool listed, awaits, whole, shown, on_path;
	bool runs; /* its coroutine runs, perhaps inside it another task's */
};

/* Read a word of the target's memory, to be confirmed later. */
static inline bool fz_py_tasks_word(struct fz_py_tasks *t, uint64_t at, uint64_t *ret)
{
	return at % 8 == 0 && fz_py_pages_read(t->from, at, ret, sizeof(*ret));
}

/* Index in the list, or FZ_NONE. */
uint32_t fz_py_task_find(struct fz_py_tasks *t, uint64_t address);
/* The same; adds it if it is missing. */
uint32_t fz_py_task_add(struct fz_py_tasks *t, uint64_t address);
/* Empty the list. */
void fz_py_tasks_forget(struct fz_py_tasks *t);

/* ---- asyncio.c ---- */

/* The loop and task that run in a thread, from its memory; 0 if none. */
bool fz_py_tasks_current(struct fz_py_tasks *t, uint64_t tstate, uint64_t *ret_loop,
			 uint64_t *ret_task);
/* Does its neighbour in the target's list link to it? False if its memory was freed. */
bool fz_py_task_is_linked(struct fz_py_tasks *t, uint64_t task);
/* Add the tasks of a thread to the list. False if they changed meanwhile. */
bool fz_py_tasks_list(struct fz_py_tasks *t, const struct fz_py_tasks_thread *thread);
/* Read the tasks in the list and their awaiters, which are added to it. */
void fz_py_tasks_read(struct fz_py_tasks *t);
/* Mark tasks that were the same in both copies. old: only if they were also copied before the
 * thread. */
void fz_py_tasks_confirm(struct fz_py_tasks *t, bool old);

/* ---- asyncio_old.c: the same for 3.11 to 3.13 ---- */

/* False if asyncio is not loaded, or not in a known layout. */
bool fz_py_old_tasks_find(struct fz_py_tasks *t);
bool fz_py_old_tasks_current(struct fz_py_tasks *t, uint64_t tstate, uint64_t *ret_loop,
			     uint64_t *ret_task);
/* Is there a task at this address that is not done? */
bool fz_py_old_tasks_is_live(struct fz_py_tasks *t, uint64_t task);
bool fz_py_old_tasks_list(struct fz_py_tasks *t, uint64_t loop);
/* The task with the lowest address that waits for this one, and the number of them. */
bool fz_py_old_tasks_awaiter(struct fz_py_tasks *t, uint64_t task, uint64_t *ret, uint32_t *ret_n);
