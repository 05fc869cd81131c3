/* SPDX-License-Identifier: MIT */
/* The list of tasks. */
#include "asyncio_tasks.h"

uint32_t fz_py_task_find(struct fz_py_tasks *t, uint64_t address)
{
	return fz_map_get(&t->by_address, address);
}

uint32_t fz_py_task_add(struct fz_py_tasks *t, uint64_t address)
{
	uint32_t *slot = fz_map_slot(&t->by_address, address);

	if (*slot != FZ_NONE)
		return *slot;
	*slot = t->n;
	fz_grow(t->list, t->n, t->cap);
	t->list[t->n] = (struct fz_py_task){ .address = address, .stack = FZ_NONE };
	return t->n++;
}

void fz_py_tasks_forget(struct fz_py_tasks *t)
{
	t->n = t->frame_n = 0;
	t->text.n = 0;
	fz_map_clear(&t->by_address);
	fz_map_clear(&t->old.classes);
}
