/* SPDX-License-Identifier: MIT */
/* CPU time of threads by perf task-clock counters, or by schedstat where perf is refused.
 *
 *   thread ---- counter fd --(overflow each period)--> epoll --> due
 *                    |                                            |
 *                    +---- read: ns so far - last = the weight <--+
 *
 * The weight is what the counter says, not the period: whatever the sampler was late for is in
 * it. A counter whose ring buffer was refused (locked memory is limited) cannot wake anybody; its
 * thread becomes due when the counter is seen to have passed the period.
 */
#include "capture/cpuclock.h"

#include "base/map.h"
#include "base/str.h"
#include "capture/rate.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_NS = 5000000, EVENTS_AT_ONCE = 64 };

/* In an epoll event: not the index of a counter. */
#define WATCHED UINT64_MAX

const char *const fz_cpuclock_names[] = {
	[FZ_CPUCLOCK_PERF] = "perf task-clock",
	[FZ_CPUCLOCK_PERF_USER] = "perf task-clock, woken in user mode only",
	[FZ_CPUCLOCK_SCHEDSTAT] = "schedstat (steps of a scheduler tick)",
};

struct counter {
	uint64_t tid; /* 0: free slot */
	int fd;
	void *ring; /* NULL: cannot wake */
	int64_t last;
	bool due;
};

struct fz_cpuclock {
	pid_t pid;
	bool all_threads;
	int64_t period;
	enum fz_cpuclock_kind kind;
	int epoll;
	struct counter *counters;
	size_t n, cap;
	struct fz_map by_tid;
	int64_t next_scan; /* for new threads */
};

static size_t ring_size(void)
{
	return 2 * (size_t)sysconf(_SC_PAGESIZE);
}

static int open_perf(const struct fz_cpuclock *c, pid_t tid, enum fz_cpuclock_kind kind)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = (uint64_t)c->period,
		.wakeup_events = 1,
		.exclude_kernel = kind == FZ_CPUCLOCK_PERF_USER,
		.exclude_hv = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int open_schedstat(const struct fz_cpuclock *c, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", c->pid, tid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Nanoseconds on a CPU so far, or -1. */
static int64_t read_counter(const struct fz_cpuclock *c, const struct counter *k)
{
	uint64_t value;
	char text[128];

	if (c->kind != FZ_CPUCLOCK_SCHEDSTAT)
		return read(k->fd, &value, sizeof(value)) == sizeof(value) ? (int64_t)value : -1;
	ssize_t n = pread(k->fd, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return -1;
	text[n] = 0;
	return strtoll(text, NULL, 10);
}

static void start_waking(struct fz_cpuclock *c, size_t i)
{
	struct counter *k = &c->counters[i];
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = i };

	if (c->kind == FZ_CPUCLOCK_SCHEDSTAT)
		return;
	/* Read-only: the kernel overwrites old records, of which we want none. */
	k->ring = mmap(NULL, ring_size(), PROT_READ, MAP_SHARED, k->fd, 0);
	if (k->ring == MAP_FAILED)
		k->ring = NULL;
	else
		epoll_ctl(c->epoll, EPOLL_CTL_ADD, k->fd, &event);
}

static void add_thread(struct fz_cpuclock *c, pid_t tid)
{
	int fd = c->kind == FZ_CPUCLOCK_SCHEDSTAT ? open_schedstat(c, tid)
						  : open_perf(c, tid, c->kind);
	size_t i = 0;

	if (fd < 0)
		return;
	while (i < c->n && c->counters[i].tid)
		i++;
	if (i == c->n) {
		fz_grow(c->counters, c->n, c->cap);
		c->n++;
	}
	c->counters[i] = (struct counter){ .tid = (uint64_t)tid, .fd = fd };
	fz_map_put(&c->by_tid, (uint64_t)tid, (uint32_t)i);
	int64_t now = read_counter(c, &c->counters[i]);
	/* perf counts from here on, schedstat since the thread began. */
	c->counters[i].last = c->kind == FZ_CPUCLOCK_SCHEDSTAT ? now : 0;
	start_waking(c, i);
}

static void drop_thread(struct fz_cpuclock *c, size_t i)
{
	struct counter *k = &c->counters[i];

	fz_map_put(&c->by_tid, k->tid, UINT32_MAX - 1);
	if (k->ring)
		munmap(k->ring, ring_size());
	close(k->fd); /* also leaves the epoll set */
	*k = (struct counter){ .fd = -1 };
}

static struct counter *find(struct fz_cpuclock *c, uint64_t tid)
{
	uint32_t i = fz_map_get(&c->by_tid, tid);

	return i < c->n && c->counters[i].tid == tid ? &c->counters[i] : NULL;
}

static void scan_threads(struct fz_cpuclock *c)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", c->pid);
	DIR *dir = opendir(path);
	if (!dir)
		return;
	for (struct dirent *e; (e = readdir(dir));) {
		pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);
		if (tid > 0 && (c->all_threads || tid == c->pid) && !find(c, (uint64_t)tid))
			add_thread(c, tid);
	}
	closedir(dir);
}

/* The best clock that we are allowed to use on this process. */
static int choose_kind(struct fz_cpuclock *c, struct fz_error *err)
{
	for (c->kind = FZ_CPUCLOCK_PERF; c->kind <= FZ_CPUCLOCK_PERF_USER; c->kind++) {
		fz_auto(fz_close_fd) int fd = open_perf(c, c->pid, c->kind);
		if (fd >= 0)
			return 0;
	}
	c->kind = FZ_CPUCLOCK_SCHEDSTAT;
	fz_auto(fz_close_fd) int fd = open_schedstat(c, c->pid);
	if (fd < 0)
		return fz_fail_errno(err, "--clock cpu: no CPU time of process %d to be had",
				     c->pid);
	return 0;
}

int fz_cpuclock_new(pid_t pid, bool all_threads, int64_t period, struct fz_cpuclock **ret,
		    struct fz_error *err)
{
	struct fz_cpuclock *c = fz_calloc(1, sizeof(*c));

	fz_assert(period > 0);
	c->pid = pid;
	c->all_threads = all_threads;
	c->period = period;
	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (choose_kind(c, err)) {
		fz_cpuclock_free(c);
		return FZ_ESYSTEM;
	}
	scan_threads(c);
	*ret = c;
	return 0;
}

void fz_cpuclock_free(struct fz_cpuclock *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++)
		if (c->counters[i].tid)
			drop_thread(c, i);
	fz_close_fd(&c->epoll);
	fz_map_release(&c->by_tid);
	free(c->counters);
	free(c);
}

enum fz_cpuclock_kind fz_cpuclock_kind(const struct fz_cpuclock *c)
{
	return c->kind;
}

bool fz_cpuclock_drives(const struct fz_cpuclock *c)
{
	return c->kind != FZ_CPUCLOCK_SCHEDSTAT;
}

void fz_cpuclock_watch(struct fz_cpuclock *c, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = WATCHED };

	epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &event);
}

/* Asking a counter whether it is readable clears that, so this is the only place that asks: its
 * epoll set must not be part of another one. */
static bool collect_wakeups(struct fz_cpuclock *c, int64_t ns)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	struct timespec timeout = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };
	int n = epoll_pwait2(c->epoll, events, EVENTS_AT_ONCE, &timeout, NULL);
	bool any = false;

	for (int e = 0; e < n; e++) {
		size_t i = events[e].data.u64;
		if (i == WATCHED)
			continue;
		if (events[e].events & EPOLLIN)
			any = c->counters[i].due = true;
		else if (events[e].events & (EPOLLHUP | EPOLLERR))
			drop_thread(c, i);
	}
	return any;
}

/* Threads whose counter cannot wake us. */
static bool collect_silent(struct fz_cpuclock *c)
{
	bool any = false;

	for (size_t i = 0; i < c->n; i++) {
		struct counter *k = &c->counters[i];
		if (!k->tid || k->ring)
			continue;
		int64_t now = read_counter(c, k);
		if (now < 0)
			drop_thread(c, i);
		else if (now - k->last >= c->period)
			any = k->due = true;
	}
	return any;
}

bool fz_cpuclock_wait(struct fz_cpuclock *c, int64_t ns)
{
	bool any = collect_wakeups(c, FZ_MIN(ns, PATIENCE_NS));
	int64_t now = fz_clock_now();

	if (now >= c->next_scan) {
		scan_threads(c);
		any |= collect_silent(c);
		c->next_scan = now + PATIENCE_NS;
	}
	return any;
}

int64_t fz_cpuclock_charge(struct fz_cpuclock *c, uint64_t tid)
{
	struct counter *k = find(c, tid);

	if (!k || (fz_cpuclock_drives(c) && !k->due))
		return 0;
	int64_t now = read_counter(c, k);
	if (now < 0)
		return 0;
	int64_t used = now - k->last;
	k->last = now;
	k->due = false;
	return used;
}
