/* SPDX-License-Identifier: MIT */
/* Between asyncio.c, which reads tasks, and asyncio_stacks.c, which makes stacks of them. */
#pragma once

#include "asyncio.h"

enum name_kind { NAME_NONE, NAME_NUMBER, NAME_TEXT };

struct fz_py_task {
	uint64_t address;
	uint64_t awaiter; /* the one that is shown; 0 */
	uint64_t number;  /* of an unnamed one */
	uint32_t text, text_n;
	uint32_t awaiters;
	uint32_t frame, frame_n;
	uint32_t piece, piece_end;
	uint32_t stack; /* with those that wait for it, once it is known */
	uint8_t name;   /* enum name_kind */
	bool listed, awaits, whole, shown, on_path;
};

/* A word of the target's memory, which is to be the same later. */
bool fz_py_tasks_word(struct fz_py_tasks *t, uint64_t at, uint64_t *ret);
/* Index in the list, or FZ_NONE. */
uint32_t fz_py_task_find(struct fz_py_tasks *t, uint64_t address);
/* The same; it is put there if it is not. */
uint32_t fz_py_task_add(struct fz_py_tasks *t, uint64_t address);
/* What runs in a thread, as its memory says it; 0. */
bool fz_py_tasks_current(struct fz_py_tasks *t, uint64_t tstate, uint64_t *ret_loop,
			 uint64_t *ret_task);
/* Is it in a list of the target, as its neighbour sees it? Memory that was given back is not. */
bool fz_py_task_is_linked(struct fz_py_tasks *t, uint64_t task);
/* Nothing is in the list. */
void fz_py_tasks_forget(struct fz_py_tasks *t);
/* Put the tasks of a thread into the list. False: it changed under our feet. */
bool fz_py_tasks_list(struct fz_py_tasks *t, const struct fz_py_tasks_thread *thread);
/* Read all about those in the list, and those that wait for them, which come into it. */
void fz_py_tasks_read(struct fz_py_tasks *t);
/* Which of them were the same in both copies? old: and copied before the thread was. */
void fz_py_tasks_confirm(struct fz_py_tasks *t, bool old);

/* ---- asyncio_old.c: the same of 3.11 to 3.13 ---- */

/* False: it is not there, or not the one that is known. */
bool fz_py_old_tasks_find(struct fz_py_tasks *t);
bool fz_py_old_tasks_current(struct fz_py_tasks *t, uint64_t tstate, uint64_t *ret_loop,
			     uint64_t *ret_task);
/* Is there a task at this address that is not done? */
bool fz_py_old_tasks_is_live(struct fz_py_tasks *t, uint64_t task);
bool fz_py_old_tasks_list(struct fz_py_tasks *t, uint64_t loop);
/* The first by address of the tasks that wait for this one, and how many they are. */
bool fz_py_old_tasks_awaiter(struct fz_py_tasks *t, uint64_t task, uint64_t *ret, uint32_t *ret_n);
