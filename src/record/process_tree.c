/* SPDX-License-Identifier: MIT */
/* Following a tree of processes.
 *
 *   each thread of the root x each CPU --perf_event_open(task, inherit)--> one ring per CPU
 *   ring --FORK, COMM (exec)--> member + event        pidfd of each member --readable--> end
 *
 * An event is inherited by threads and all descendants and continues after the process it was
 * opened for has ended. There is one per CPU because only such events can be inherited and have a
 * ring. Rings are read in no particular order, so any record of an unknown process adds it. The
 * ends of processes come from their pidfds: exit records are per thread.
 *
 * Polling a ring clears its readiness, so rings are always read after polling, never before. A ring
 * whose own event has no process left hangs up permanently, so it leaves the epoll set; a timer
 * then reads what other events still write to it.
 */
#include "record/process_tree.h"

#include "base/io.h"
#include "base/map.h"
#include "base/str.h"
#include "record/process.h"
#include "record/procstat.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
	RING_PAGES = 16, /* a power of two */
	CHECK_EVERY_NS = 5000000,
	SCANS_MAX = 16,
	MEMBERS_MAX = 65536,
	EVENTS_AT_ONCE = 64,
};

/* Data of epoll events other than pids: the timer, and rings from RINGS on. */
#define TIMER 0
#define RINGS (UINT64_C(1) << 32)

const char *const fz_process_tree_names[] = {
	[FZ_PROCESS_TREE_PERF] = "perf task events",
	[FZ_PROCESS_TREE_PROC] = "looking through /proc",
};

struct member {
	pid_t pid, parent;
	int pidfd;
};

struct ring {
	int fd, cpu;
	struct perf_event_mmap_page *page;
};

struct fz_process_tree {
	enum fz_process_tree_kind kind;
	int epoll, timer;
	struct member *members;
	size_t n, cap;
	struct fz_map by_pid; /* index in members; stale if that member has another pid */
	struct ring *rings;
	size_t ring_n, ring_cap;
	int *fds; /* of events that report to another one's ring */
	size_t fd_n, fd_cap;
	struct fz_process_tree_event *events;
	size_t event_n, event_cap, next;
};

/* ---- members ---- */

static void report(struct fz_process_tree *t, enum fz_process_tree_what what, pid_t pid,
		   pid_t parent)
{
	fz_push(t->events, t->event_n, t->event_cap,
		(struct fz_process_tree_event){ what, pid, parent });
}

static struct member *find(struct fz_process_tree *t, pid_t pid)
{
	uint32_t i = fz_map_get(&t->by_pid, (uint64_t)pid);

	return i < t->n && t->members[i].pid == pid ? &t->members[i] : NULL;
}

static bool has_ended(const struct member *k)
{
	struct pollfd p = { .fd = k->pidfd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

static void forget(struct fz_process_tree *t, struct member *k)
{
	report(t, FZ_PROCESS_TREE_END, k->pid, k->parent);
	fz_close_fd(&k->pidfd); /* also leaves the epoll set */
	*k = t->members[--t->n];
	if (k < t->members + t->n)
		fz_map_put(&t->by_pid, (uint64_t)k->pid, (uint32_t)(k - t->members));
}

static pid_t parent_of(pid_t pid)
{
	struct fz_procstat now;

	return fz_procstat_read(pid, 0, &now) ? now.parent : 0;
}

/* A known pid may have been reused by another process. NULL: it is gone, or there are too many. */
static struct member *add(struct fz_process_tree *t, pid_t pid, pid_t parent)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = (uint64_t)pid };
	struct member *k = find(t, pid);

	if (k && !has_ended(k))
		return k;
	if (k)
		forget(t, k);
	if (pid <= 0 || t->n >= MEMBERS_MAX)
		return NULL;
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0)
		return NULL;
	fz_grow(t->members, t->n, t->cap);
	k = &t->members[t->n];
	*k = (struct member){ pid, parent ? parent : parent_of(pid), fd };
	fz_map_put(&t->by_pid, (uint64_t)pid, (uint32_t)t->n++);
	epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &event);
	report(t, FZ_PROCESS_TREE_NEW, pid, k->parent);
	return k;
}

/* ---- perf ---- */

static int open_event(pid_t tid, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.inherit = 1,
		.task = 1,
		.comm = 1,
		.comm_exec = 1,
		.watermark = 1,
		.wakeup_watermark = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static bool add_ring(struct fz_process_tree *t, int fd, int cpu)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = RINGS + t->ring_n };
	void *page = mmap(NULL, (1 + RING_PAGES) * page_size(), PROT_READ | PROT_WRITE, MAP_SHARED,
			  fd, 0);

	if (page == MAP_FAILED)
		return false;
	epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &event);
	fz_push(t->rings, t->ring_n, t->ring_cap, (struct ring){ fd, cpu, page });
	return true;
}

static struct ring *ring_of(struct fz_process_tree *t, int cpu)
{
	for (size_t i = 0; i < t->ring_n; i++)
		if (t->rings[i].cpu == cpu)
			return &t->rings[i];
	return NULL;
}

/* Follow what a thread starts on a CPU. False if perf does not permit it. */
static bool follow_on(struct fz_process_tree *t, pid_t tid, int cpu)
{
	int fd = open_event(tid, cpu);
	struct ring *ring = ring_of(t, cpu);

	/* A CPU that is switched off; a thread that ended. */
	if (fd < 0)
		return errno == ENODEV || errno == ESRCH;
	bool good =
		ring ? ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) == 0 : add_ring(t, fd, cpu);
	if (!good) {
		close(fd);
	} else if (ring) {
		fz_push(t->fds, t->fd_n, t->fd_cap, fd);
	}
	return good;
}

static bool follow_thread(struct fz_process_tree *t, pid_t tid)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	bool good = true;

	for (int cpu = 0; cpu < cpus && good; cpu++)
		good = follow_on(t, tid, cpu);
	return good;
}

/* Empty if the process has ended. */
static struct fz_process_threads threads_of(pid_t pid)
{
	struct fz_process process = {
		.pid = pid, .inner_pid = pid, .pidfd = -1, .stat_fd = -1, .mem_fd = -1
	};
	struct fz_process_threads threads = { 0 };

	fz_process_threads(&process, &threads, NULL);
	return threads;
}

/* Follow the threads that are not in `known` yet; *ret_more: there were some. */
static bool follow_new(struct fz_process_tree *t, pid_t pid, struct fz_map *known, bool *ret_more)
{
	fz_auto(fz_process_threads_release) struct fz_process_threads threads = threads_of(pid);
	bool good = true;

	*ret_more = false;
	for (size_t i = 0; i < threads.n && good; i++) {
		uint32_t *slot = fz_map_slot(known, (uint64_t)threads.list[i].tid);
		if (*slot != FZ_NONE)
			continue;
		*slot = 1;
		*ret_more = true;
		good = follow_thread(t, threads.list[i].tid);
	}
	return good;
}

/* Threads that start meanwhile inherit from followed ones or are found by the next scan. */
static bool follow_process(struct fz_process_tree *t, pid_t pid)
{
	fz_auto(fz_map_release) struct fz_map known = { 0 };
	bool good = true, more = true;

	for (int i = 0; i < SCANS_MAX && more && good; i++)
		good = follow_new(t, pid, &known, &more);
	return good;
}

/* ---- /proc ---- */

/* A zombie is listed until its parent waits for it; report it only once. */
static bool is_left_over(struct fz_process_tree *t, pid_t pid)
{
	const struct member *k = find(t, pid);

	return (!k || has_ended(k)) && fz_process_thread_state(pid, fz_process_live(pid)) == 'Z';
}

static void add_children_of(struct fz_process_tree *t, pid_t pid, pid_t tid)
{
	fz_auto(fz_free_ptr) pid_t *children = fz_calloc(MEMBERS_MAX, sizeof(*children));
	size_t n = fz_procstat_children(pid, tid, children, MEMBERS_MAX);

	for (size_t i = 0; i < n; i++)
		if (!is_left_over(t, children[i]))
			add(t, children[i], pid);
}

static void add_children(struct fz_process_tree *t, pid_t pid)
{
	fz_auto(fz_process_threads_release) struct fz_process_threads threads = threads_of(pid);

	for (size_t i = 0; i < threads.n; i++)
		add_children_of(t, pid, threads.list[i].tid);
}

/* Add the children of all members; added members are scanned in turn. */
static void scan(struct fz_process_tree *t)
{
	for (size_t i = 0; i < t->n; i++)
		add_children(t, t->members[i].pid);
}

static void start_timer(struct fz_process_tree *t)
{
	struct itimerspec every = { .it_interval.tv_nsec = CHECK_EVERY_NS,
				    .it_value.tv_nsec = CHECK_EVERY_NS };
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = TIMER };

	if (t->timer >= 0)
		return;
	t->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	timerfd_settime(t->timer, 0, &every, NULL);
	epoll_ctl(t->epoll, EPOLL_CTL_ADD, t->timer, &event);
}

/* ---- start and end ---- */

static void drop_events(struct fz_process_tree *t)
{
	for (size_t i = 0; i < t->ring_n; i++) {
		munmap(t->rings[i].page, (1 + RING_PAGES) * page_size());
		close(t->rings[i].fd);
	}
	for (size_t i = 0; i < t->fd_n; i++)
		close(t->fds[i]);
	t->ring_n = t->fd_n = 0;
}

/* Follow first, then scan for children, so that no child is missed in between. */
static bool follow_all(struct fz_process_tree *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if (!follow_process(t, t->members[i].pid))
			return false;
		add_children(t, t->members[i].pid);
	}
	return t->ring_n > 0;
}

/* CPUs expect events for another second after the last one was closed. */
void fz_process_tree_prepare(void)
{
	int fd = open_event(0, -1);

	if (fd >= 0)
		close(fd);
}

int fz_process_tree_new(pid_t root, enum fz_process_tree_kind best, struct fz_process_tree **ret,
			struct fz_error *err)
{
	struct fz_process_tree *t = fz_calloc(1, sizeof(*t));

	t->kind = best;
	t->timer = -1;
	t->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (!add(t, root, 0)) {
		fz_process_tree_free(t);
		return fz_fail(err, FZ_EGONE, "process %d has ended", root);
	}
	if (t->kind == FZ_PROCESS_TREE_PERF && !follow_all(t)) {
		drop_events(t);
		t->kind = FZ_PROCESS_TREE_PROC;
	}
	if (t->kind == FZ_PROCESS_TREE_PROC) {
		start_timer(t);
		scan(t);
	}
	*ret = t;
	return 0;
}

void fz_process_tree_free(struct fz_process_tree *t)
{
	if (!t)
		return;
	drop_events(t);
	for (size_t i = 0; i < t->n; i++)
		fz_close_fd(&t->members[i].pidfd);
	fz_close_fd(&t->timer);
	fz_close_fd(&t->epoll);
	fz_map_release(&t->by_pid);
	free(t->members);
	free(t->rings);
	free(t->fds);
	free(t->events);
	free(t);
}

enum fz_process_tree_kind fz_process_tree_kind(const struct fz_process_tree *t)
{
	return t->kind;
}

int fz_process_tree_fd(const struct fz_process_tree *t)
{
	return t->epoll;
}

size_t fz_process_tree_count(const struct fz_process_tree *t)
{
	return t->n;
}

/* ---- events ---- */

/* PERF_RECORD_FORK and PERF_RECORD_COMM begin with these. */
struct record {
	struct perf_event_header header;
	uint32_t pid, second; /* fork: the parent's pid; comm: the tid */
};

static void handle_record(struct fz_process_tree *t, const struct record *r)
{
	pid_t pid = (pid_t)r->pid;

	if (r->header.type == PERF_RECORD_FORK && r->pid != r->second) {
		add(t, pid, (pid_t)r->second);
	} else if (r->header.type == PERF_RECORD_COMM &&
		   (r->header.misc & PERF_RECORD_MISC_COMM_EXEC) && add(t, pid, 0)) {
		report(t, FZ_PROCESS_TREE_EXEC, pid, 0);
	}
}

/* Records are multiples of eight bytes, so a header never wraps around. Returns true if records
 * were lost. */
static bool read_ring(struct fz_process_tree *t, struct ring *ring)
{
	const uint8_t *data = (const uint8_t *)ring->page + page_size();
	uint64_t size = RING_PAGES * page_size();
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->page->data_tail;
	bool lost = false;

	while (tail < head) {
		struct record r = { 0 };
		memcpy(&r.header, data + tail % size, sizeof(r.header));
		memcpy(&r.pid, data + (tail + sizeof(r.header)) % size, 2 * sizeof(uint32_t));
		if (r.header.size < sizeof(r))
			break;
		lost |= r.header.type == PERF_RECORD_LOST;
		handle_record(t, &r);
		tail += r.header.size;
	}
	__atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
	return lost;
}

static void read_rings(struct fz_process_tree *t)
{
	bool lost = false;

	for (size_t i = 0; i < t->ring_n; i++)
		lost |= read_ring(t, &t->rings[i]);
	if (lost)
		scan(t);
}

static void rescan(struct fz_process_tree *t)
{
	uint64_t ticks;

	if (t->timer >= 0 && read(t->timer, &ticks, sizeof(ticks)) == sizeof(ticks) &&
	    t->kind == FZ_PROCESS_TREE_PROC)
		scan(t);
}

static void leave_ring(struct fz_process_tree *t, const struct ring *ring)
{
	epoll_ctl(t->epoll, EPOLL_CTL_DEL, ring->fd, NULL);
	if (t->fd_n)
		start_timer(t);
}

/* The pid may have been reused by another process. */
static void end(struct fz_process_tree *t, pid_t pid)
{
	struct member *k = find(t, pid);

	if (k && has_ended(k))
		forget(t, k);
}

static void see_to(struct fz_process_tree *t, const struct epoll_event *e)
{
	if (e->data.u64 < RINGS)
		end(t, (pid_t)e->data.u64);
	else if (e->events & EPOLLHUP)
		leave_ring(t, &t->rings[e->data.u64 - RINGS]);
}

/* A process that ended has written all its records, so read the rings before removing it. */
void fz_process_tree_update(struct fz_process_tree *t)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int n;

	do {
		n = epoll_wait(t->epoll, events, EVENTS_AT_ONCE, 0);
		read_rings(t);
		rescan(t);
		for (int i = 0; i < n; i++)
			see_to(t, &events[i]);
	} while (n == EVENTS_AT_ONCE);
}

bool fz_process_tree_next(struct fz_process_tree *t, struct fz_process_tree_event *ret)
{
	if (t->next == t->event_n) {
		t->next = t->event_n = 0;
		return false;
	}
	*ret = t->events[t->next++];
	return true;
}
