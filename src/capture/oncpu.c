/* SPDX-License-Identifier: MIT */
/* On a CPU or not:
 *
 *   schedstat   CPU time so far -> credit += what was used since the last look
 *   stat        state: R, or something that cannot run
 *
 *   sample: R and credit >= half of what it stands for -> on a CPU, credit -= all of it
 *
 * Both files stay open and are read at most once a millisecond, less often when there are many
 * threads, so that the looks cost some thousandths of a core. A thread that could not run and
 * whose CPU time has stood still for some ticks goes on sleeping as it did, and its state need not
 * be read.
 */
#include "capture/oncpu.h"

#include "base/io.h"
#include "base/map.h"
#include "base/str.h"
#include "capture/procstat.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define MS ((int64_t)1000000)

enum { LOOK_COST_NS = 100 * 1000 }; /* of pause between looks, for each thread */

/* Longer than any scheduler tick. */
#define STILL (25 * MS)
/* What was not accounted for by samples for so long never will be. */
#define CREDIT_MAX (100 * MS)

struct thread {
	uint64_t tid;
	int schedstat, stat; /* -1: not to be had */
	int64_t used;        /* CPU time at the last look */
	int64_t credit;
	int64_t looked, changed; /* when */
	uint32_t cpu;
	char state; /* 0: it has not been read */
	bool known;
};

struct fz_oncpu {
	pid_t pid;
	struct thread *threads;
	size_t n, cap;
	struct fz_map by_tid;
};

struct fz_oncpu *fz_oncpu_new(pid_t pid)
{
	struct fz_oncpu *o = fz_calloc(1, sizeof(*o));

	o->pid = pid;
	return o;
}

void fz_oncpu_free(struct fz_oncpu *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->n; i++) {
		fz_close_fd(&o->threads[i].schedstat);
		fz_close_fd(&o->threads[i].stat);
	}
	free(o->threads);
	fz_map_release(&o->by_tid);
	free(o);
}

static int open_task(const struct fz_oncpu *o, uint64_t tid, const char *file)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/task/%llu/%s", (int)o->pid, (unsigned long long)tid,
		 file);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static bool read_file(int fd, char *text, size_t size)
{
	ssize_t n = fd < 0 ? -1 : pread(fd, text, size - 1, 0);

	if (n <= 0)
		return false;
	text[n] = 0;
	return true;
}

static bool read_used(const struct thread *t, int64_t *ret)
{
	char text[96];

	if (!read_file(t->schedstat, text, sizeof(text)))
		return false;
	*ret = strtoll(text, NULL, 10);
	return true;
}

static void read_state(struct thread *t)
{
	struct fz_procstat now;

	t->state = 0;
	if (!fz_procstat_read_fd(t->stat, &now))
		return;
	t->state = now.state;
	if (t->state == 'R')
		t->cpu = now.cpu;
}

static struct thread *find(struct fz_oncpu *o, uint64_t tid)
{
	uint32_t *slot = fz_map_slot(&o->by_tid, tid);

	if (*slot == FZ_NONE) {
		*slot = (uint32_t)o->n;
		fz_grow(o->threads, o->n, o->cap);
		o->threads[o->n] = (struct thread){ .tid = tid,
						    .cpu = FZ_NONE,
						    .schedstat = open_task(o, tid, "schedstat"),
						    .stat = open_task(o, tid, "stat") };
		struct thread *t = &o->threads[o->n++];
		t->known = t->stat >= 0 && read_used(t, &t->used);
	}
	return &o->threads[*slot];
}

static void look(struct thread *t, int64_t now)
{
	int64_t used;

	t->looked = now;
	if (!read_used(t, &used)) {
		t->state = 0;
		return;
	}
	if (used != t->used)
		t->changed = now;
	t->credit = FZ_MIN(t->credit + (used - t->used), CREDIT_MAX);
	t->used = used;
	if (t->state == 'R' || now - t->changed < STILL)
		read_state(t);
}

enum fz_oncpu_answer fz_oncpu_ask(struct fz_oncpu *o, uint64_t tid, int64_t now, int64_t elapsed)
{
	struct thread *t = find(o, tid);

	if (!t->known)
		return FZ_ONCPU_UNKNOWN;
	if (t->changed == 0)
		t->changed = now;
	if (now - t->looked >= FZ_MAX(MS - MS / 8, (int64_t)o->n * LOOK_COST_NS))
		look(t, now);
	if (t->state != 'R')
		return t->state == 'D' ? FZ_ONCPU_DISK : FZ_ONCPU_NO;
	if (t->credit < elapsed / 2)
		return FZ_ONCPU_WAITING;
	t->credit -= elapsed;
	return FZ_ONCPU_YES;
}

uint32_t fz_oncpu_cpu(struct fz_oncpu *o, uint64_t tid)
{
	return find(o, tid)->cpu;
}
