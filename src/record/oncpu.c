/* SPDX-License-Identifier: MIT */
/* On a CPU or not:
 *
 *   schedstat   CPU time so far -> credit += time used since the last reading
 *   stat        state: R, or one that cannot run
 *
 *   sample: R and credit >= half of its weight -> on a CPU, credit -= its weight
 *
 * schedstat is up to a tick late, and the last part of a thread that ends while running is never
 * reported: half a tick on average, which is lent to each thread once. Without this loan, most
 * threads that live for milliseconds would never count as on a CPU. The loan is limited to the CPU
 * time of the process, by its own clock, that no sample accounts for: otherwise short threads that
 * mostly wait for their turn would count as on a CPU in all their samples.
 *
 * Both files stay open and are read at most once a millisecond, less often with many threads, so
 * reading costs a few thousandths of a core. If a thread could not run and its CPU time has not
 * changed for some ticks, it still sleeps, and its state need not be read.
 *
 * If callers always need to know what threads sleep for, that is read each time (asleep.h), and
 * again for a thread whose stack has changed, because it ran. If they need it now and then, it is
 * read on demand, once until the thread gets a CPU again, and no third file stays open.
 */
#include "record/oncpu.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/map.h"
#include "base/str.h"
#include "record/cputimes.h"
#include "record/procstat.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* At most once a millisecond; callers may be a little early. */
#define CHECK_AGAIN (FZ_MS - FZ_MS / 8)
enum { CHECK_COST_NS = 100 * 1000 }; /* pause between readings, per thread */

/* Longer than any scheduler tick. */
#define STILL (25 * FZ_MS)
/* A thread without samples for this long, and at two instants, has ended. */
#define GONE (1000 * FZ_MS)
/* Search for ended threads when the list has grown by this many. */
enum { SWEEP_EVERY = 64 };

/* More CPU time than this without samples will never be accounted for. */
#define CREDIT_MAX (100 * FZ_MS)

struct thread {
	uint64_t tid;
	int schedstat, stat; /* -1: cannot be opened */
	int64_t used;        /* CPU time at the last reading */
	int64_t credit;
	int64_t loan;                   /* what can still be lent */
	int64_t asked, looked, changed; /* times of the last sample, reading and change of `used` */
	uint32_t cpu;
	char state; /* 0: not read */
	bool known;
	uint64_t turns;          /* how often it had been given a CPU at the last reading */
	uint32_t stack;          /* then */
	struct fz_asleep asleep; /* if needed */
};

struct fz_oncpu {
	pid_t pid;
	int64_t tick;               /* of the scheduler, ns */
	int64_t credit;             /* of the process, as of `clocked` */
	int64_t used, clocked;      /* CPU time of the process, and when it was read */
	struct fz_process *process; /* NULL: what threads sleep for is not needed */
	bool asks;                  /* read it each time */
	int trouble;
	struct thread *threads;
	size_t n, cap;
	size_t sweep_at; /* value of n */
	struct fz_map by_tid;
};

struct fz_oncpu *fz_oncpu_new(pid_t pid, struct fz_process *process, bool always)
{
	struct fz_oncpu *o = fz_calloc(1, sizeof(*o));
	struct timespec tick;

	o->pid = pid;
	/* The resolution of this clock is a tick. */
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0)
		o->tick = tick.tv_nsec;
	o->process = process;
	o->asks = process && always;
	o->used = fz_cputimes_process(pid);
	o->credit = o->tick / 2;
	o->sweep_at = SWEEP_EVERY;
	return o;
}

static void close_files(struct thread *t)
{
	fz_close_fd(&t->schedstat);
	fz_close_fd(&t->stat);
	fz_asleep_close(&t->asleep);
}

void fz_oncpu_free(struct fz_oncpu *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->n; i++)
		close_files(&o->threads[i]);
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

/* Parse "CPU-TIME WAITED TURNS"; turns: how often the thread was given a CPU. */
static bool read_used(const struct thread *t, int64_t *ret, uint64_t *ret_turns)
{
	char text[96], *end;

	if (!read_file(t->schedstat, text, sizeof(text)))
		return false;
	*ret = strtoll(text, &end, 10);
	strtoull(end, &end, 10);
	*ret_turns = strtoull(end, NULL, 10);
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

static void note_trouble(struct fz_oncpu *o, const struct thread *t)
{
	if (t->asleep.trouble)
		o->trouble = t->asleep.trouble;
}

/* Remove threads that ended: they keep files open and make readings of the others rarer. */
static void sweep(struct fz_oncpu *o, int64_t now, int64_t elapsed)
{
	int64_t since = now - GONE - 2 * elapsed;
	size_t n = 0;

	fz_map_clear(&o->by_tid);
	for (size_t i = 0; i < o->n; i++) {
		if (o->threads[i].asked < since) {
			close_files(&o->threads[i]);
			continue;
		}
		o->threads[n] = o->threads[i];
		fz_map_put(&o->by_tid, o->threads[n].tid, (uint32_t)n);
		n++;
	}
	o->n = n;
	o->sweep_at = n + FZ_MAX(n, SWEEP_EVERY);
}

static struct thread *find(struct fz_oncpu *o, uint64_t tid)
{
	uint32_t *slot = fz_map_slot(&o->by_tid, tid);

	if (*slot == FZ_NONE) {
		*slot = (uint32_t)o->n;
		fz_grow(o->threads, o->n, o->cap);
		o->threads[o->n] = (struct thread){ .tid = tid,
						    .cpu = FZ_NONE,
						    .loan = o->tick / 2,
						    .asleep = { .fd = -1 },
						    .schedstat = open_task(o, tid, "schedstat"),
						    .stat = open_task(o, tid, "stat") };
		struct thread *t = &o->threads[o->n++];
		t->known = t->stat >= 0 && read_used(t, &t->used, &t->turns);
		if (o->asks)
			fz_asleep_open(&t->asleep, o->pid, tid);
		note_trouble(o, t);
	}
	return &o->threads[*slot];
}

static void read_thread(struct fz_oncpu *o, struct thread *t, int64_t now)
{
	struct fz_asleep *a = &t->asleep;
	int64_t used;

	t->looked = now;
	if (!read_used(t, &used, &t->turns)) {
		t->state = 0;
		return;
	}
	if (used != t->used)
		t->changed = now;
	t->credit = FZ_MIN(t->credit + (used - t->used), CREDIT_MAX);
	t->used = used;
	/* Read before the state, since it also shows whether the thread sleeps. */
	if (o->asks) {
		fz_asleep_read(a, o->process, t->turns);
		note_trouble(o, t);
	}
	if (t->state == 'R' || now - t->changed < STILL)
		read_state(t);
	if (!o->asks)
		return;
	if (a->answer == FZ_WAITCALL_RUNS)
		t->state = 'R';
	else if (a->answer == FZ_WAITCALL_SLEEPS && t->state == 'R')
		t->state = 'S';
}

/* CPU time of the process that no sample accounts for. */
static int64_t unaccounted(struct fz_oncpu *o, int64_t now)
{
	int64_t used;

	if (now - o->clocked >= CHECK_AGAIN && (used = fz_cputimes_process(o->pid)) >= 0) {
		o->credit += used - o->used;
		o->used = used;
		o->clocked = now;
	}
	return o->credit;
}

/* True if a sample of a runnable thread, with a weight of `elapsed` ns, counts as on a CPU. */
static bool is_covered(struct fz_oncpu *o, struct thread *t, int64_t elapsed, int64_t now)
{
	int64_t lent;

	if (t->credit >= elapsed / 2)
		return true;
	if (t->credit + t->loan < elapsed / 2)
		return false;
	lent = FZ_MIN(t->loan, unaccounted(o, now));
	if (t->credit + lent < elapsed / 2)
		return false;
	t->credit += lent;
	t->loan -= lent;
	return true;
}

enum fz_oncpu_answer fz_oncpu_check(struct fz_oncpu *o, uint64_t tid, uint32_t stack, int64_t now,
				    int64_t elapsed)
{
	if (o->n >= o->sweep_at)
		sweep(o, now, elapsed);
	struct thread *t = find(o, tid);
	bool moved = o->asks && t->stack != stack;

	t->asked = now;
	if (!t->known)
		return FZ_ONCPU_UNKNOWN;
	if (t->changed == 0)
		t->changed = now;
	if (moved || now - t->looked >= FZ_MAX(CHECK_AGAIN, (int64_t)o->n * CHECK_COST_NS))
		read_thread(o, t, now);
	t->stack = stack;
	if (t->state != 'R')
		return t->state == 'D' ? FZ_ONCPU_DISK : FZ_ONCPU_NO;
	if (!is_covered(o, t, elapsed, now))
		return FZ_ONCPU_WAITING;
	t->credit -= elapsed;
	o->credit -= elapsed;
	return FZ_ONCPU_YES;
}

/* A thread that has been given no CPU since the last reading sleeps in the same call. */
static void read_call(struct fz_oncpu *o, struct thread *t)
{
	struct fz_asleep *a = &t->asleep;

	if (a->answer == FZ_WAITCALL_SLEEPS && t->turns && t->turns == a->turns)
		return;
	fz_asleep_open(a, o->pid, t->tid);
	fz_asleep_read(a, o->process, t->turns);
	fz_asleep_close(a);
}

const struct fz_asleep *fz_oncpu_asleep(struct fz_oncpu *o, uint64_t tid, bool *ret_stopped)
{
	struct thread *t = find(o, tid);
	bool stopped = t->state == 'T' || t->state == 't';

	*ret_stopped = stopped;
	if (!o->asks)
		read_call(o, t);
	if (t->asleep.answer != FZ_WAITCALL_SLEEPS)
		return NULL;
	return stopped || t->state == 'S' || t->state == 'D' ? &t->asleep : NULL;
}

int fz_oncpu_trouble(const struct fz_oncpu *o)
{
	return o->trouble;
}

uint32_t fz_oncpu_cpu(struct fz_oncpu *o, uint64_t tid)
{
	return find(o, tid)->cpu;
}
