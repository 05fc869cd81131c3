/* SPDX-License-Identifier: MIT */
/* CPU time of threads by perf task-clock counters, or by schedstat where perf is refused.
 *
 *   thread ---- counter fd --(overflow each period)--> epoll --> due
 *                    |                                            |
 *                    +---- read: ns so far - last = the weight <--+
 *
 * The weight is what the counter shows, not the period, so it includes the sampler's lateness.
 * Periods vary, so that a loop is not always sampled at the same places. A counter whose ring
 * buffer was refused (locked memory is limited) cannot wake us; its thread becomes due when a
 * reading of the counter exceeds the period.
 *
 * A sampler that may preempt moves to the CPU of the thread that woke it: that thread then stands
 * still, exactly where the counter overflowed, while it is read. From another CPU it would be read
 * while it runs. A stack that changes meanwhile is read again, so code that pauses for a moment
 * would be sampled too often, and small functions only a third as often as they run. Two runs would
 * differ merely because the scheduler chose other CPUs.
 */
#include "record/cpuclock.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/str.h"
#include "record/cputimes.h"
#include "record/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_NS = 5000000, EVENTS_AT_ONCE = 64, SCANS_AT_ONCE = 4 };

/* A thread that was never sampled may just have started, and have a stack at the next samples. */
enum { PERIODS_TO_BEGIN = 4 };

/* A sampled thread that used less than this without a stack does not count as silent. */
#define OUTSIDE_LEAST (10 * FZ_MS)

#define NO_CPU FZ_NONE

/* In an epoll event, instead of the index of a counter: a watched file. */
#define WATCHED UINT64_MAX

const char *const fz_cpuclock_names[] = {
	[FZ_CPUCLOCK_PERF] = "perf task-clock",
	[FZ_CPUCLOCK_PERF_USER] = "perf task-clock, woken in user mode only",
	[FZ_CPUCLOCK_SCHEDSTAT] = "schedstat (steps of a scheduler tick)",
};

struct counter {
	uint64_t tid; /* 0: free slot */
	pid_t pid;
	int fd;
	void *ring;    /* NULL: cannot wake */
	int64_t first; /* value when we found the thread, or restarted */
	int64_t last;
	int64_t next;    /* value at which it will wake us */
	int64_t outside; /* ns used while it had no stack, between samples */
	bool due;        /* without overflows: it was not charged at the last instant */
	bool sampled;
};

struct process {
	pid_t pid;
	bool due; /* one of its threads is */
	/* CPU time of ended threads while we counted it, and the part of it that had no stack. */
	int64_t seen, silent;
	uint32_t silent_n; /* number of threads with such time */
};

struct fz_cpuclock {
	bool all_threads;
	int64_t period;
	enum fz_cpuclock_kind kind;
	int epoll;
	struct counter *counters;
	size_t n, cap;
	struct fz_map by_tid;
	struct process *processes;
	size_t process_n, process_cap;
	size_t turn;              /* the process to scan next */
	struct fz_cputimes times; /* of the processes, by their own clocks */
	int64_t seen, silent;     /* of removed processes */
	uint32_t silent_n;
	int64_t next_scan; /* for new threads */
	uint64_t dice;
	cpu_set_t home; /* our original affinity */
	uint32_t cpu;   /* the CPU we are bound to; NO_CPU: not bound */
	bool coarse;    /* epoll_pwait2 is missing */
};

/* A record in a ring. */
struct wakeup {
	struct perf_event_header header;
	uint32_t cpu, reserved;
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
		.sample_type = PERF_SAMPLE_CPU,
		.wakeup_events = 1,
		.exclude_kernel = kind == FZ_CPUCLOCK_PERF_USER,
		.exclude_hv = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int open_schedstat(pid_t pid, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, tid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int open_counter(const struct fz_cpuclock *c, pid_t pid, pid_t tid)
{
	return c->kind == FZ_CPUCLOCK_SCHEDSTAT ? open_schedstat(pid, tid)
						: open_perf(c, tid, c->kind);
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

static struct process *find_process(struct fz_cpuclock *c, pid_t pid)
{
	for (size_t i = 0; i < c->process_n; i++)
		if (c->processes[i].pid == pid)
			return &c->processes[i];
	return NULL;
}

static void start_waking(struct fz_cpuclock *c, size_t i)
{
	struct counter *k = &c->counters[i];
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = i };

	if (c->kind == FZ_CPUCLOCK_SCHEDSTAT)
		return;
	/* Mapped read-only, the kernel overwrites old records, which we do not need. */
	k->ring = mmap(NULL, ring_size(), PROT_READ, MAP_SHARED, k->fd, 0);
	if (k->ring == MAP_FAILED)
		k->ring = NULL;
	else
		epoll_ctl(c->epoll, EPOLL_CTL_ADD, k->fd, &event);
}

static void add_thread(struct fz_cpuclock *c, pid_t pid, pid_t tid)
{
	int fd = open_counter(c, pid, tid);
	size_t i = 0;

	if (fd < 0)
		return;
	while (i < c->n && c->counters[i].tid)
		i++;
	if (i == c->n) {
		fz_grow(c->counters, c->n, c->cap);
		c->n++;
	}
	c->counters[i] =
		(struct counter){ .tid = (uint64_t)tid, .pid = pid, .fd = fd, .next = c->period };
	fz_map_put(&c->by_tid, (uint64_t)tid, (uint32_t)i);
	int64_t now = read_counter(c, &c->counters[i]);
	/* perf counts from here on, schedstat since the thread started. */
	c->counters[i].first = c->counters[i].last = c->kind == FZ_CPUCLOCK_SCHEDSTAT ? now : 0;
	start_waking(c, i);
}

/* CPU time in ns since the thread was last charged. */
static int64_t rest(const struct fz_cpuclock *c, const struct counter *k)
{
	int64_t now = read_counter(c, k);

	return FZ_MAX(now - k->last, 0);
}

/* Add the CPU time of k that no sample covers. left: its time since it was last charged. */
static void add_silent(struct process *p, const struct counter *k, int64_t left)
{
	int64_t silent = k->outside + (k->sampled ? 0 : left);

	p->silent += silent;
	p->silent_n += silent > (k->sampled ? OUTSIDE_LEAST : 0);
}

static int64_t longest_period(const struct fz_cpuclock *c)
{
	return c->period * 3 / 2;
}

static void drop_thread(struct fz_cpuclock *c, size_t i)
{
	struct counter *k = &c->counters[i];
	struct process *p = find_process(c, k->pid);

	/* The rest of a last period is too short for a sample. */
	int64_t left = rest(c, k) - longest_period(c);
	left = FZ_MAX(left, 0);
	if (p) {
		p->seen += k->last - k->first + left;
		add_silent(p, k, left);
	}
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

typedef bool each_thread(struct fz_cpuclock *c, pid_t pid, pid_t tid);

/* Call `each` for the threads that are counted until one returns true. If none does, errno is that
 * of the last call. */
static bool any_thread(struct fz_cpuclock *c, pid_t pid, each_thread *each)
{
	bool found = false;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *dir = opendir(path);
	if (!dir)
		return false;
	int code = ESRCH;
	for (struct dirent *e; !found && (e = readdir(dir));) {
		pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);
		if (tid <= 0 || (!c->all_threads && tid != pid))
			continue;
		found = each(c, pid, tid);
		code = errno;
	}
	closedir(dir);
	errno = code;
	return found;
}

static bool add_if_new(struct fz_cpuclock *c, pid_t pid, pid_t tid)
{
	if (!find(c, (uint64_t)tid))
		add_thread(c, pid, tid);
	return false;
}

static void scan_process(struct fz_cpuclock *c, struct process *p)
{
	any_thread(c, p->pid, add_if_new);
	fz_cputimes_read(&c->times, p->pid);
}

/* Scan a few processes each time, in turn. */
static void scan_some(struct fz_cpuclock *c)
{
	for (size_t i = 0; i < FZ_MIN(c->process_n, SCANS_AT_ONCE); i++)
		scan_process(c, &c->processes[c->turn++ % c->process_n]);
	fz_cputimes_read_family(&c->times);
}

static void set_due(struct fz_cpuclock *c, struct counter *k)
{
	k->due = true;
	find_process(c, k->pid)->due = true;
}

/* Choose the best clock that we may use on a thread. ESRCH from perf means that the thread has
 * ended, not that perf is refused. */
static bool choose_by(struct fz_cpuclock *c, pid_t pid, pid_t tid)
{
	for (c->kind = FZ_CPUCLOCK_PERF; c->kind <= FZ_CPUCLOCK_SCHEDSTAT; c->kind++) {
		fz_auto(fz_close_fd) int fd = open_counter(c, pid, tid);
		if (fd >= 0)
			return true;
		if (errno == ESRCH)
			break;
	}
	return false;
}

static int choose_kind(struct fz_cpuclock *c, pid_t pid, struct fz_error *err)
{
	if (any_thread(c, pid, choose_by))
		return 0;
	int code = errno;
	if (!c->all_threads && fz_process_live(pid) != pid)
		return fz_fail(err, FZ_EUSAGE,
			       "process %d: the main thread has ended; use -a to record the others",
			       pid);
	if (code == ENOENT || code == ESRCH)
		return fz_fail(err, FZ_EGONE, "process %d has ended", pid);
	errno = code;
	return fz_fail_errno(err, "--clock cpu: cannot read the CPU time of process %d", pid);
}

int fz_cpuclock_new(pid_t pid, bool all_threads, int64_t period, struct fz_cpuclock **ret,
		    struct fz_error *err)
{
	struct fz_cpuclock *c = fz_calloc(1, sizeof(*c));

	fz_assert(period > 0);
	c->all_threads = all_threads;
	c->period = period;
	c->dice = (uint64_t)pid ^ (uint64_t)fz_clock_now();
	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	c->cpu = NO_CPU;
	int rc = choose_kind(c, pid, err);
	if (rc) {
		fz_cpuclock_free(c);
		return rc;
	}
	fz_cpuclock_add(c, pid);
	*ret = c;
	return 0;
}

void fz_cpuclock_add(struct fz_cpuclock *c, pid_t pid)
{
	if (find_process(c, pid))
		return;
	fz_grow(c->processes, c->process_n, c->process_cap);
	struct process *p = &c->processes[c->process_n++];
	*p = (struct process){ .pid = pid };
	fz_cputimes_add(&c->times, pid);
	scan_process(c, p);
}

void fz_cpuclock_count_children(struct fz_cpuclock *c, pid_t pid, bool started)
{
	fz_cputimes_count_children(&c->times, pid, started);
}

/* Add the times of threads that still run. */
static void add_living(const struct fz_cpuclock *c, struct process *p)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct counter *k = &c->counters[i];
		if (!k->tid || k->pid != p->pid)
			continue;
		int64_t left = rest(c, k);
		p->seen += k->last - k->first + left;
		add_silent(p, k, left);
	}
}

void fz_cpuclock_remove(struct fz_cpuclock *c, pid_t pid)
{
	struct process *p = find_process(c, pid);

	if (!p)
		return;
	for (size_t i = 0; i < c->n; i++)
		if (c->counters[i].tid && c->counters[i].pid == pid)
			drop_thread(c, i);
	int64_t used = fz_cputimes_remove(&c->times, pid);
	c->seen += FZ_MIN(p->seen, used);
	c->silent += FZ_MIN(p->silent, used);
	c->silent_n += p->silent_n;
	*p = c->processes[--c->process_n];
}

struct fz_cpuclock_sum fz_cpuclock_sum(struct fz_cpuclock *c)
{
	struct fz_cputimes_sum sum = fz_cputimes_sum(&c->times);
	int64_t seen = c->seen, silent = c->silent;
	uint32_t silent_n = c->silent_n;

	for (size_t i = 0; i < c->process_n; i++) {
		struct process p = c->processes[i];
		int64_t used = fz_cputimes_of(&c->times, p.pid);
		add_living(c, &p);
		seen += FZ_MIN(p.seen, used);
		silent += FZ_MIN(p.silent, used);
		silent_n += p.silent_n;
	}
	return (struct fz_cpuclock_sum){ .used = sum.used,
					 .unseen = sum.used - sum.others - seen,
					 .silent = silent,
					 .silent_n = silent_n,
					 .others = sum.others };
}

/* ---- the CPU to run on ---- */

/* The CPU of the thread at the last overflow of its counter, or NO_CPU. */
static uint32_t cpu_of(const struct counter *k)
{
	const struct perf_event_mmap_page *page = k->ring;
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	struct wakeup record;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);

	if (head < sizeof(record) || head % sizeof(record))
		return NO_CPU;
	memcpy(&record, (const char *)k->ring + size + (head - sizeof(record)) % size,
	       sizeof(record));
	bool known = record.header.type == PERF_RECORD_SAMPLE &&
		     record.header.size == sizeof(record) && record.cpu < CPU_SETSIZE;
	return known ? record.cpu : NO_CPU;
}

uint32_t fz_cpuclock_cpu(struct fz_cpuclock *c, uint64_t tid)
{
	const struct counter *k = find(c, tid);

	return k && k->ring ? cpu_of(k) : NO_CPU;
}

static bool may_preempt(void)
{
	return (sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_FIFO;
}

static void restore_affinity(struct fz_cpuclock *c)
{
	if (c->cpu != NO_CPU)
		sched_setaffinity(0, sizeof(c->home), &c->home);
	c->cpu = NO_CPU;
}

static void follow(struct fz_cpuclock *c, const struct counter *k)
{
	uint32_t cpu = k->ring ? cpu_of(k) : NO_CPU;
	cpu_set_t there;

	if (!may_preempt())
		return restore_affinity(c);
	if (cpu == NO_CPU || cpu == c->cpu)
		return;
	if (c->cpu == NO_CPU && sched_getaffinity(0, sizeof(c->home), &c->home))
		return;
	CPU_ZERO(&there);
	CPU_SET(cpu, &there);
	if (CPU_ISSET(cpu, &c->home) && sched_setaffinity(0, sizeof(there), &there) == 0)
		c->cpu = cpu;
}

void fz_cpuclock_free(struct fz_cpuclock *c)
{
	if (!c)
		return;
	restore_affinity(c);
	for (size_t i = 0; i < c->n; i++)
		if (c->counters[i].tid)
			drop_thread(c, i);
	fz_close_fd(&c->epoll);
	fz_map_release(&c->by_tid);
	free(c->counters);
	free(c->processes);
	fz_cputimes_release(&c->times);
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

/* Where epoll_pwait2 is missing (before Linux 5.11, or blocked in a container), epoll_wait waits
 * whole milliseconds and nanosleep the rest. */
static int wait_for_events(struct fz_cpuclock *c, struct epoll_event *events, int64_t ns)
{
	struct timespec timeout = { .tv_sec = ns / FZ_SECOND, .tv_nsec = ns % FZ_SECOND };
	struct timespec rest = { .tv_nsec = ns % FZ_MS };

	if (!c->coarse) {
		int n = epoll_pwait2(c->epoll, events, EVENTS_AT_ONCE, &timeout, NULL);
		if (n >= 0 || (errno != ENOSYS && errno != EPERM))
			return n;
		c->coarse = true;
	}
	int n = epoll_wait(c->epoll, events, EVENTS_AT_ONCE, (int)(ns / FZ_MS));
	if (n != 0 || rest.tv_nsec == 0)
		return n;
	nanosleep(&rest, NULL);
	return epoll_wait(c->epoll, events, EVENTS_AT_ONCE, 0);
}

/* Polling a counter clears its readiness, so this must be the only place that polls: never add this
 * epoll set to another one. */
static bool collect_wakeups(struct fz_cpuclock *c, int64_t ns, bool *ret_watched)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int n = wait_for_events(c, events, ns);
	struct counter *first = NULL;

	*ret_watched = false;
	for (int e = 0; e < n; e++) {
		size_t i = events[e].data.u64;
		if (i == WATCHED) {
			*ret_watched = true;
		} else if (events[e].events & EPOLLIN) {
			set_due(c, &c->counters[i]);
			first = first ? first : &c->counters[i];
		} else if (events[e].events & (EPOLLHUP | EPOLLERR)) {
			drop_thread(c, i);
		}
	}
	if (first)
		follow(c, first);
	return first;
}

/* Mark threads as due whose counter cannot wake us. */
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
		if (now < 0 || now - k->last < c->period)
			continue;
		set_due(c, k);
		any = true;
	}
	return any;
}

bool fz_cpuclock_wait(struct fz_cpuclock *c, int64_t ns, bool *ret_watched)
{
	bool any = collect_wakeups(c, FZ_MIN(ns, PATIENCE_NS), ret_watched);
	int64_t now = fz_clock_now();

	if (now >= c->next_scan) {
		scan_some(c);
		any |= collect_silent(c);
		c->next_scan = now + PATIENCE_NS;
	}
	return any;
}

/* A benchmark is a loop. If an iteration takes about a whole number of periods, the loop would
 * always be sampled at the same places: some functions too often, others too rarely, and the other
 * way round in the next run. So each period has a random length, between half and one and a half
 * times the requested one, which includes the delay until the sampler ran. */
int64_t fz_cpuclock_next(int64_t planned, int64_t last, int64_t period, uint64_t dice)
{
	int64_t next = planned + period / 2 + (int64_t)(dice % (uint64_t)period);

	return FZ_MAX(next, last + period / 4);
}

static void draw_period(struct fz_cpuclock *c, struct counter *k)
{
	if (!k->ring)
		return;
	k->next = fz_cpuclock_next(k->next, k->last, c->period, fz_dice_roll(&c->dice));
	uint64_t left = (uint64_t)(k->next - k->last);
	ioctl(k->fd, PERF_EVENT_IOC_PERIOD, &left);
}

bool fz_cpuclock_due(struct fz_cpuclock *c, pid_t pid)
{
	struct process *p = find_process(c, pid);
	bool due = p && p->due;

	if (p)
		p->due = false;
	return due;
}

static int64_t charge(struct fz_cpuclock *c, struct counter *k)
{
	int64_t now = read_counter(c, k);
	if (now < 0)
		return 0;
	int64_t used = now - k->last;
	k->last = now;
	k->due = false;
	draw_period(c, k);
	return used;
}

int64_t fz_cpuclock_charge(struct fz_cpuclock *c, uint64_t tid)
{
	struct counter *k = find(c, tid);

	if (!k || (fz_cpuclock_drives(c) && !k->due))
		return 0;
	k->sampled = true;
	return charge(c, k);
}

void fz_cpuclock_pass(struct fz_cpuclock *c, pid_t pid)
{
	for (size_t i = 0; i < c->n; i++) {
		struct counter *k = &c->counters[i];
		if (!k->tid || k->pid != pid)
			continue;
		if (k->due && (k->sampled || rest(c, k) > PERIODS_TO_BEGIN * c->period))
			k->outside += charge(c, k);
		k->due |= !fz_cpuclock_drives(c);
	}
}

void fz_cpuclock_skip(struct fz_cpuclock *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->counters[i].tid) {
			struct counter *k = &c->counters[i];
			charge(c, k);
			k->first = k->last;
			k->outside = 0;
			k->sampled = false;
		}
	c->seen = c->silent = 0;
	c->silent_n = 0;
	fz_cputimes_restart(&c->times);
	for (size_t i = 0; i < c->process_n; i++)
		c->processes[i] = (struct process){ .pid = c->processes[i].pid };
}
