/* SPDX-License-Identifier: MIT */
/* CPU time of processes; cputimes.h has the contract. */
#include "record/cputimes.h"

#include "base/clock.h"
#include "record/load.h"
#include "record/procstat.h"

#include <stdlib.h>
#include <time.h>

int64_t fz_cputimes_process(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return -1;
	return fz_clock_ns(t);
}

static uint64_t began(pid_t pid)
{
	struct fz_procstat stat;

	return fz_procstat_read(pid, 0, &stat) ? stat.start_time : UINT64_MAX;
}

static struct fz_cputimes_process *find(const struct fz_cputimes *t, pid_t pid)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->list[i].pid == pid)
			return &t->list[i];
	return NULL;
}

void fz_cputimes_release(struct fz_cputimes *t)
{
	free(t->list);
	*t = (struct fz_cputimes){ 0 };
}

void fz_cputimes_add(struct fz_cputimes *t, pid_t pid)
{
	if (find(t, pid))
		return;
	fz_push(t->list, t->n, t->cap,
		(struct fz_cputimes_process){ .pid = pid,
					      .at = fz_cputimes_process(pid),
					      .older = began(pid) < t->since });
}

void fz_cputimes_count_children(struct fz_cputimes *t, pid_t pid, bool started)
{
	fz_assert(!t->parent || t->parent == pid);
	t->parent = pid;
	t->since = started ? 0 : fz_procstat_now();
	t->family_at = started ? 0 : fz_load_read_usage(pid);
	for (size_t i = 0; i < t->n; i++)
		t->list[i].older = !started && t->list[i].pid != pid;
}

void fz_cputimes_read_family(struct fz_cputimes *t)
{
	int64_t used = fz_load_read_usage(t->parent) - t->family_at;

	t->family = FZ_MAX(t->family, used);
}

void fz_cputimes_read(struct fz_cputimes *t, pid_t pid)
{
	struct fz_cputimes_process *p = find(t, pid);
	int64_t now = fz_cputimes_process(pid);

	if (p)
		p->used = FZ_MAX(p->used, now - p->at);
}

int64_t fz_cputimes_of(const struct fz_cputimes *t, pid_t pid)
{
	const struct fz_cputimes_process *p = find(t, pid);

	return p ? p->used : 0;
}

int64_t fz_cputimes_remove(struct fz_cputimes *t, pid_t pid)
{
	struct fz_cputimes_process *p = find(t, pid);

	if (!p)
		return 0;
	fz_cputimes_read(t, pid);
	fz_cputimes_read_family(t);
	int64_t used = p->used;
	t->gone += used;
	t->gone_before += p->older ? p->at : 0;
	*p = t->list[--t->n];
	return used;
}

void fz_cputimes_restart(struct fz_cputimes *t)
{
	t->gone = t->gone_before = t->family = 0;
	for (size_t i = 0; i < t->n; i++)
		t->list[i] =
			(struct fz_cputimes_process){ .pid = t->list[i].pid,
						      .at = fz_cputimes_process(t->list[i].pid) };
	fz_cputimes_count_children(t, t->parent, false);
}

struct fz_cputimes_sum fz_cputimes_sum(struct fz_cputimes *t)
{
	int64_t used = t->gone, before = t->gone_before;

	for (size_t i = 0; i < t->n; i++) {
		fz_cputimes_read(t, t->list[i].pid);
		used += t->list[i].used;
		before += t->list[i].older ? t->list[i].at : 0;
	}
	fz_cputimes_read_family(t);
	int64_t others = FZ_MAX(t->family - before - used, 0);

	return (struct fz_cputimes_sum){ used + others, others };
}
