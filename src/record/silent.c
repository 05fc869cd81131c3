/* SPDX-License-Identifier: MIT */
/* CPU time of threads without a stack; silent.h has the contract.
 *
 *   /proc/PID/task/TID/schedstat --repeated reading--> first, last of each thread
 *                                                         |
 *   threads of the profile (those with a stack) ----------+--> the rest: how many, and last - first
 *
 * A thread that appears after the first reading of its process started meanwhile, so all its time
 * counts.
 */
#include "record/silent.h"

#include "base/clock.h"
#include "record/load.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

/* Starting and ending a thread costs less than this. */
#define LEAST (10 * FZ_MS)

void fz_silent_release(struct fz_silent *q)
{
	fz_map_release(&q->by_tid);
	fz_map_release(&q->processes);
	free(q->threads);
	free(q->charged);
	*q = (struct fz_silent){ 0 };
}

static void check_thread(struct fz_silent *q, pid_t tid, bool whole)
{
	int64_t used, waited;
	uint32_t *slot;

	if (!fz_load_read_waits(tid, &used, &waited))
		return;
	slot = fz_map_slot(&q->by_tid, (uint64_t)tid);
	/* If CPU time decreased, the tid was reused by another thread. */
	if (*slot == FZ_NONE || q->threads[*slot].last > used) {
		fz_grow(q->threads, q->n, q->cap);
		*slot = (uint32_t)q->n;
		q->threads[q->n++] = (struct fz_silent_thread){ .tid = (uint64_t)tid,
								.first = whole ? 0 : used };
	}
	q->threads[*slot].last = used;
}

void fz_silent_read(struct fz_silent *q, pid_t pid, bool whole)
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
			check_thread(q, tid, whole);
	}
	if (dir)
		closedir(dir);
}

void fz_silent_charge(struct fz_silent *q, uint32_t thread, int64_t ns)
{
	for (; q->charged_n <= thread; q->charged_n++) {
		fz_grow(q->charged, q->charged_n, q->charged_cap);
		q->charged[q->charged_n] = 0;
	}
	q->charged[thread] += ns;
}

void fz_silent_restart(struct fz_silent *q)
{
	for (size_t i = 0; i < q->n; i++)
		q->threads[i].first = q->threads[i].last;
	for (size_t i = 0; i < q->charged_n; i++)
		q->charged[i] = 0;
}

/* CPU time in ns of a thread that is in no sample: all of it, or if the thread has a stack now and
 * then, the rest. Less than a tenth is a difference between the two clocks. */
static int64_t silent_part(const struct fz_silent *q, const struct fz_profile *p,
			   const struct fz_silent_thread *t)
{
	int64_t used = t->last - t->first, charged = 0;
	bool found = false;

	for (uint32_t i = 0; i < p->thread_count; i++) {
		if (p->threads[i].tid != t->tid)
			continue;
		found = true;
		charged += i < q->charged_n ? q->charged[i] : 0;
	}
	if (found && (!q->charged_n || used - charged < used / 10))
		return 0;
	return used - charged;
}

struct fz_silent_sum fz_silent_sum(const struct fz_silent *q, const struct fz_profile *p)
{
	struct fz_silent_sum ret = { 0 };

	for (size_t i = 0; i < q->n; i++) {
		int64_t part = silent_part(q, p, &q->threads[i]);
		if (part < LEAST)
			continue;
		ret.threads++;
		ret.used += part;
	}
	return ret;
}
