/* SPDX-License-Identifier: MIT */
/* CPU time of threads without a stack; silent.h has the contract.
 *
 *   /proc/PID/task/TID/schedstat --look, look, look--> first, last of each thread
 *                                                         |
 *   threads of the profile (those that gave a stack) -----+--> the rest: how many, and last - first
 *
 * A thread that appears after the first look at its process began meanwhile, so all its time
 * counts.
 */
#include "record/silent.h"

#include "record/load.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

/* Less is what it takes to start a thread and to end it. */
#define LEAST ((int64_t)10000000)

void fz_silent_release(struct fz_silent *q)
{
	fz_map_release(&q->by_tid);
	fz_map_release(&q->processes);
	free(q->threads);
	*q = (struct fz_silent){ 0 };
}

static void look_at(struct fz_silent *q, pid_t tid, bool whole)
{
	int64_t used, waited;
	uint32_t *slot;

	if (!fz_load_read_waits(tid, &used, &waited))
		return;
	slot = fz_map_slot(&q->by_tid, (uint64_t)tid);
	/* A number that is used again is another thread. */
	if (*slot == FZ_NONE || q->threads[*slot].last > used) {
		fz_grow(q->threads, q->n, q->cap);
		*slot = (uint32_t)q->n;
		q->threads[q->n++] = (struct fz_silent_thread){ .tid = (uint64_t)tid,
								.first = whole ? 0 : used };
	}
	q->threads[*slot].last = used;
}

void fz_silent_look(struct fz_silent *q, pid_t pid, bool whole)
{
	uint32_t *known = fz_map_slot(&q->processes, (uint64_t)pid);
	char path[64];

	whole |= *known != FZ_NONE;
	*known = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *dir = opendir(path);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);
		if (tid > 0)
			look_at(q, tid, whole);
	}
	if (dir)
		closedir(dir);
}

void fz_silent_restart(struct fz_silent *q)
{
	for (size_t i = 0; i < q->n; i++)
		q->threads[i].first = q->threads[i].last;
}

static bool has_stack(const struct fz_profile *p, const struct fz_silent_thread *t)
{
	for (uint32_t i = 0; i < p->thread_count; i++)
		if (p->threads[i].tid == t->tid)
			return true;
	return false;
}

struct fz_silent_sum fz_silent_sum(const struct fz_silent *q, const struct fz_profile *p)
{
	struct fz_silent_sum ret = { 0 };

	for (size_t i = 0; i < q->n; i++) {
		const struct fz_silent_thread *t = &q->threads[i];
		if (t->last - t->first < LEAST || has_stack(p, t))
			continue;
		ret.threads++;
		ret.used += t->last - t->first;
	}
	return ret;
}
