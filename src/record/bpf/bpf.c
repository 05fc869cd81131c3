/* SPDX-License-Identifier: MIT */
/* The recorder's side of the BPF program; bpf.h has the contract, wire.h the data that both sides
 * share.
 *
 *   thread --(its task-clock event)--> fz_tick --> ring --> drain
 *   thread --(starts another)--> fz_birth --> ring --> drain: the nursery opens
 *   CPU --(its clock's event, while the nursery is open)--> fz_young --> ring --> drain
 *   thread --(waits, is woken, goes on)--> fz_switch, fz_waking --> ring --> drain
 *   existing threads --> fz_threads --> a file
 *   memory --(its counters, then each change)--> fz_resident, fz_grow --> ring --> drain
 *   CPU --(its clock's event)--> fz_machine --> ring --> drain
 *   process --(exec, exit)--> fz_exec, fz_exit --> ring --> drain
 *
 * The events are removed when their descriptors are closed, and with them the program and its maps.
 */
#include "record/bpf/bpf.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/map.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <tick.skel.h> /* by bpftool, from tick.bpf.c */
#include <unistd.h>

/* A new period starts at once, and the elapsed part of the previous one gets no tick. So a period
 * is drawn only after some ticks, and never for a thread that had none. */
enum { TICKS_TO_DRAW = 8 };

/* The nursery: many threads live for less than a period, or are gone before they can be watched. So
 * after a thread is started, all CPUs tick and sample young threads, until there are no young
 * threads and none was started for a while. Threads older than CHILDHOOD get their own events. */
#define CHILDHOOD ((int64_t)50000000)
#define NURSERY_STAYS FZ_SECOND

/* A CPU's period is longer by (cpu % DRIFTS) / DRIFT. */
enum { DRIFT = 331, DRIFTS = 32 };

struct event {
	pid_t pid;       /* 0 for a CPU */
	pid_t tid;       /* -1 - cpu for a CPU */
	uint32_t kernel; /* kernel tid, once the thread had a tick */
	bool there;      /* used while listing */
	uint32_t ticks;  /* since its period was drawn */
	int64_t met;     /* when it was found */
	int fd;          /* -1: the thread is young */
	struct bpf_link *link;
};

/* A watched process. */
struct process {
	pid_t pid;
	uint32_t number; /* pid in its own namespace */
};

struct fz_bpf {
	struct tick_bpf *program;
	struct ring_buffer *ring;
	struct bpf_link *births;             /* NULL: only main threads are watched */
	struct bpf_link *switches, *wakings; /* NULL: waits are not recorded */
	struct bpf_link *execs, *exits;      /* NULL: not the whole machine */
	struct bpf_link *growths;            /* NULL: growth is not recorded */
	enum fz_engine_use use;
	struct process *processes;
	size_t process_n, process_cap;
	bool born;    /* a thread was started since threads were listed */
	bool young;   /* some threads are young */
	bool nursery; /* CPU ticks are on */
	int64_t last_birth;
	struct event *events;
	size_t n, cap;
	int64_t period;
	uint64_t dice;
	void (*take)(void *arg, const struct fz_bpf_tick *t);
	void *take_arg;
};

/* ---- loading ---- */

static const char *const needs[] = {
	[FZ_ENGINE_FOR_THREADS] = "5.17",
	[FZ_ENGINE_FOR_WAITS] = "5.18 with BTF",
	[FZ_ENGINE_FOR_MACHINE] = "5.17",
	[FZ_ENGINE_FOR_GROWTH] = "6.2 with BTF",
};

static int fail_load(int code, enum fz_engine_use use, struct fz_error *err)
{
	if (code == EPERM || code == EACCES)
		return fz_fail(err, FZ_EPERM,
			       "not allowed to load a BPF program; this requires root, or CAP_BPF "
			       "and CAP_PERFMON");
	if (code == ENOSYS)
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "bpf is not available in this kernel or container");
	return fz_fail(err, FZ_EUNSUPPORTED,
		       "this kernel cannot run the BPF program, which requires Linux %s (%s)",
		       needs[use], strerror(code));
}

static struct event *find_event(struct fz_bpf *b, pid_t tid)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->events[i].tid == tid)
			return &b->events[i];
	return NULL;
}

static int on_record(void *arg, void *record, size_t size)
{
	struct fz_bpf *b = arg;
	const struct fz_bpf_tick *t = record;

	if (size < FZ_BPF_TICK_HEAD ||
	    size - FZ_BPF_TICK_HEAD <
		    t->frame_n * sizeof(t->frames[0]) +
			    ((uint64_t)t->kernel_n + t->user_n) * sizeof(uint64_t))
		return 0;
	b->born |= t->kind == FZ_BPF_BORN;
	bool own = t->kind == FZ_BPF_TICK && !(t->flags & FZ_BPF_BY_CPU);
	struct event *e = own ? find_event(b, (pid_t)t->watched) : NULL;
	if (e) {
		e->ticks++;
		e->kernel = t->thread;
	}
	b->take(b->take_arg, t);
	return 0;
}

/* Do not load unused programs, whose requirements may not be met, and shrink unused maps. */
static void leave_out(struct tick_bpf *p, enum fz_engine_use use)
{
	bool waits = use == FZ_ENGINE_FOR_WAITS, machine = use == FZ_ENGINE_FOR_MACHINE;
	bool growth = use == FZ_ENGINE_FOR_GROWTH;

	bpf_program__set_autoload(p->progs.fz_tick, !machine && !growth);
	bpf_program__set_autoload(p->progs.fz_young, !machine && !growth);
	bpf_program__set_autoload(p->progs.fz_birth, !machine && !growth && !waits);
	bpf_program__set_autoload(p->progs.fz_resident, growth);
	bpf_program__set_autoload(p->progs.fz_grow, growth);
	bpf_program__set_autoload(p->progs.fz_switch, waits);
	bpf_program__set_autoload(p->progs.fz_waking, waits);
	bpf_program__set_autoload(p->progs.fz_birth_of, waits);
	bpf_program__set_autoload(p->progs.fz_threads, waits);
	bpf_program__set_autoload(p->progs.fz_machine, machine);
	bpf_program__set_autoload(p->progs.fz_exec, machine);
	bpf_program__set_autoload(p->progs.fz_exit, machine);
	if (!waits)
		bpf_map__set_max_entries(p->maps.waits, 1);
	if (!growth)
		bpf_map__set_max_entries(p->maps.debts, 1);
	if (!machine)
		bpf_map__set_max_entries(p->maps.met, 1);
}

/* Visible pids are the kernel's only in the first pid namespace. */
static int check_namespace(struct fz_error *err)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st))
		return fz_fail_errno(err, "/proc/self/ns/pid");
	if (st.st_ino != FZ_BPF_FIRST_NAMESPACE)
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "processes cannot be identified from inside a pid namespace; run "
			       "fizeau on the host, or in a container with --pid=host");
	return 0;
}

int fz_bpf_new(enum fz_engine_use use, struct fz_bpf **ret, struct fz_error *err)
{
	int rc = use == FZ_ENGINE_FOR_MACHINE ? check_namespace(err) : 0;

	if (rc)
		return rc;
	libbpf_set_print(NULL);
	int cpus = libbpf_num_possible_cpus();
	if (cpus <= 0)
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "bpf requires /sys; mount -t sysfs sysfs /sys");

	struct fz_bpf *b = fz_calloc(1, sizeof(*b));
	b->dice = (uint64_t)fz_clock_now();
	b->program = tick_bpf__open();
	if (!b->program) {
		int code = errno;
		fz_bpf_free(b);
		return fail_load(code, use, err);
	}
	b->use = use;
	leave_out(b->program, use);
	if (use == FZ_ENGINE_FOR_WAITS)
		b->program->rodata->fz_preempt_count_at = fz_bpf_preempt_count_at();
	bpf_map__set_max_entries(b->program->maps.scratches, (uint32_t)cpus);
	rc = tick_bpf__load(b->program);
	if (!rc) {
		b->ring = ring_buffer__new(bpf_map__fd(b->program->maps.ring), on_record, b, NULL);
		rc = b->ring ? 0 : -errno;
	}
	if (rc) {
		fz_bpf_free(b);
		return fail_load(-rc, use, err);
	}
	*ret = b;
	return 0;
}

static void drop_event(struct fz_bpf *b, size_t i)
{
	struct event *e = &b->events[i];

	bpf_link__destroy(e->link);
	fz_close_fd(&e->fd);
	if (e->kernel)
		bpf_map__delete_elem(b->program->maps.grown_up, &e->kernel, sizeof(e->kernel), 0);
	*e = b->events[--b->n];
}

static void close_nursery(struct fz_bpf *b)
{
	b->program->bss->fz_nursery_period = 0;
	b->nursery = false;
	for (size_t i = b->n; i-- > 0;)
		if (b->events[i].tid < 0)
			drop_event(b, i);
}

static void drop_process(struct fz_bpf *b, size_t i)
{
	struct process *p = &b->processes[i];

	for (size_t k = b->n; k-- > 0;)
		if (b->events[k].pid == p->pid)
			drop_event(b, k);
	bpf_map__delete_elem(b->program->maps.pythons, &p->number, sizeof(p->number), 0);
	*p = b->processes[--b->process_n];
}

void fz_bpf_unwatch(struct fz_bpf *b)
{
	bpf_link__destroy(fz_steal(b->births));
	bpf_link__destroy(fz_steal(b->switches));
	bpf_link__destroy(fz_steal(b->wakings));
	bpf_link__destroy(fz_steal(b->execs));
	bpf_link__destroy(fz_steal(b->exits));
	bpf_link__destroy(fz_steal(b->growths));
	if (b->nursery)
		close_nursery(b);
	while (b->process_n)
		drop_process(b, b->process_n - 1);
	while (b->n)
		drop_event(b, b->n - 1);
}

void fz_bpf_unwatch_process(struct fz_bpf *b, pid_t pid)
{
	for (size_t i = b->process_n; i-- > 0;)
		if (b->processes[i].pid == pid)
			drop_process(b, i);
	if (!b->process_n)
		fz_bpf_unwatch(b);
}

void fz_bpf_free(struct fz_bpf *b)
{
	if (!b)
		return;
	fz_bpf_unwatch(b);
	ring_buffer__free(b->ring);
	tick_bpf__destroy(b->program);
	free(b->events);
	free(b->processes);
	free(b);
}

/* ---- watching a process ---- */

/* Open an event for a thread's CPU time or, with tid -1, for a CPU's non-idle time. The periods of
 * CPUs differ a little, so that CPUs do not tick in step. Otherwise a thread that one CPU's tick
 * wakes, such as ours, would be sampled every time, on another CPU a moment later. */
static int open_event(const struct fz_bpf *b, pid_t tid, int cpu)
{
	int64_t more = cpu < 0 ? 0 : b->period / DRIFT * (cpu % DRIFTS);
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = cpu < 0 ? PERF_COUNT_SW_TASK_CLOCK : PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = (uint64_t)(b->period + more),
		.remove_on_exec = cpu < 0,
		.exclude_idle = cpu >= 0,
	};

	return (int)syscall(SYS_perf_event_open, &attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Fail for an event that could not be opened or attached, by errno. */
static int fail_event(const char *what, struct fz_error *err)
{
	if (errno == EMFILE)
		return fz_fail(
			err, FZ_ESYSTEM,
			"too many open files (two per thread); raise the limit with 'ulimit -Hn'");
	return fz_fail_errno(err, "perf events of %s", what);
}

/* Attach the program to an event. Fails by errno if it is not open. what: for messages. */
static int attach_event(const struct bpf_program *program, struct event *e, uint64_t cookie,
			const char *what, struct fz_error *err)
{
	LIBBPF_OPTS(bpf_perf_event_opts, options, .bpf_cookie = cookie);
	if (e->fd >= 0)
		e->link = bpf_program__attach_perf_event_opts(program, e->fd, &options);
	if (e->link)
		return 0;
	fz_close_fd(&e->fd);
	return fail_event(what, err);
}

static void keep_event(struct fz_bpf *b, struct event e)
{
	fz_push(b->events, b->n, b->cap, e);
	b->young |= e.fd < 0;
}

/* Open a thread's own event. Succeeds without one if the thread has ended. */
static int watch_thread(struct fz_bpf *b, struct event *e, bool adopted, struct fz_error *err)
{
	uint64_t cookie = (uint64_t)e->tid | (adopted ? FZ_BPF_COOKIE_ADOPTED : 0);
	char what[32];

	snprintf(what, sizeof(what), "thread %d", (int)e->tid);
	e->fd = open_event(b, e->tid, -1);
	if (e->fd < 0 && errno == ESRCH)
		return 0;
	return attach_event(b->program->progs.fz_tick, e, cookie, what, err);
}

/* Add a thread; while the nursery is open it counts as young. */
static int add_thread(struct fz_bpf *b, pid_t pid, pid_t tid, struct fz_error *err)
{
	struct event e = { .pid = pid, .tid = tid, .there = true, .met = fz_clock_now(), .fd = -1 };
	int rc = b->nursery ? 0 : watch_thread(b, &e, false, err);

	if (!rc && (b->nursery || e.fd >= 0))
		keep_event(b, e);
	return rc;
}

/* Add a CPU's event; offline CPUs are skipped. */
static int add_cpu(struct fz_bpf *b, const struct bpf_program *program, int cpu,
		   struct fz_error *err)
{
	struct event e = { .tid = -1 - cpu };
	char what[32];

	snprintf(what, sizeof(what), "CPU %d", cpu);
	e.fd = open_event(b, -1, cpu);
	if (e.fd < 0 && errno == ENODEV)
		return 0;
	int rc = attach_event(program, &e, 0, what, err);
	if (!rc)
		keep_event(b, e);
	return rc;
}

static int add_cpus(struct fz_bpf *b, const struct bpf_program *program, struct fz_error *err)
{
	int cpus = libbpf_num_possible_cpus(), rc = 0;

	for (int cpu = 0; !rc && cpu < FZ_MIN(cpus, FZ_BPF_CPUS); cpu++)
		rc = add_cpu(b, program, cpu, err);
	return rc;
}

/* Draw a period, with a rate uniformly from 2/3 to 4/3 of the requested one. */
static uint64_t draw_period(struct fz_bpf *b)
{
	double rate = 2.0 / 3 + (double)(fz_dice_roll(&b->dice) >> 11) / 0x1p53 * 2 / 3;

	return (uint64_t)((double)b->period / rate);
}

/* Draw a period for CPU ticks, the same for all CPUs. */
static void draw_for_nursery(struct fz_bpf *b)
{
	struct tick_bpf__bss *said = b->program->bss;
	uint64_t period = draw_period(b);

	said->fz_nursery_since = (uint64_t)fz_clock_now();
	said->fz_nursery_period = period;
	for (size_t i = 0; i < b->n; i++)
		if (b->events[i].tid < 0)
			ioctl(b->events[i].fd, PERF_EVENT_IOC_PERIOD, &period);
}

/* Start CPU ticks. If they are not permitted, threads get their own events from the start. */
static void open_nursery(struct fz_bpf *b)
{
	struct fz_error ignored;

	b->nursery = true;
	if (add_cpus(b, b->program->progs.fz_young, &ignored))
		close_nursery(b);
	else
		draw_for_nursery(b);
}

/* Update the watched threads of a process to its current ones. */
static int list_threads(struct fz_bpf *b, pid_t pid, struct fz_error *err)
{
	char path[64];
	int rc = 0;

	for (size_t i = 0; i < b->n; i++)
		b->events[i].there = b->events[i].pid != pid;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *dir = opendir(path);
	if (!dir)
		return fz_fail(err, FZ_EGONE, "process %d has ended", (int)pid);
	for (struct dirent *e; !rc && (e = readdir(dir));) {
		pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);
		struct event *known = tid > 0 ? find_event(b, tid) : NULL;
		if (known)
			known->there = true;
		else if (tid > 0)
			rc = add_thread(b, pid, tid, err);
	}
	closedir(dir);
	for (size_t i = b->n; i-- > 0;)
		if (!b->events[i].there)
			drop_event(b, i);
	return rc;
}

/* Open events of threads that are no longer young. One that cannot be watched stays young. */
static void adopt_threads(struct fz_bpf *b, int64_t now)
{
	struct fz_error ignored;

	b->young = false;
	for (size_t i = 0; i < b->n; i++) {
		struct event *e = &b->events[i];
		if (e->tid >= 0 && e->fd < 0 && now - e->met >= CHILDHOOD)
			watch_thread(b, e, true, &ignored);
		b->young |= e->fd < 0;
	}
}

/* Follow threads: added, no longer young, or ended. */
static void raise_threads(struct fz_bpf *b)
{
	int64_t now = fz_clock_now();
	struct fz_error ignored;

	if (b->born)
		b->last_birth = now;
	if (b->born && !b->nursery)
		open_nursery(b);
	if (b->born || b->young) {
		for (size_t i = 0; i < b->process_n; i++)
			list_threads(b, b->processes[i].pid, &ignored);
		adopt_threads(b, now);
	}
	b->born = false;
	if (b->nursery && !b->young && now - b->last_birth > NURSERY_STAYS)
		close_nursery(b);
}

static void forget(struct bpf_map *map, size_t key_size)
{
	uint8_t key[8];

	while (!bpf_map__get_next_key(map, NULL, key, key_size) &&
	       !bpf_map__delete_elem(map, key, key_size, 0))
		;
}

static int trace(const struct bpf_program *program, const char *what, struct bpf_link **ret,
		 struct fz_error *err)
{
	*ret = bpf_program__attach(program);
	return *ret ? 0 : fz_fail_errno(err, "the tracepoint of %s", what);
}

/* Set the scope for the first watched process, and clear all caches. */
static int begin_scope(struct fz_bpf *b, const struct fz_bpf_config *config, struct fz_error *err)
{
	struct fz_bpf_scope *scope = &b->program->bss->fz_scope;
	struct stat recorder;

	if (stat("/proc/self/ns/pid", &recorder))
		return fz_fail_errno(err, "/proc/self/ns/pid");
	*scope = (struct fz_bpf_scope){ .device = config->namespace_device,
					.inode = config->namespace_inode,
					.recorder = (uint32_t)recorder.st_ino };
	b->born = b->young = false;
	forget(b->program->maps.states, sizeof(uint32_t));
	forget(b->program->maps.codes, sizeof(uint64_t));
	forget(b->program->maps.waits, sizeof(uint32_t));
	forget(b->program->maps.grown_up, sizeof(uint32_t));
	forget(b->program->maps.debts, sizeof(uint32_t));
	return 0;
}

/* Register a process with the BPF program. */
static int add_process(struct fz_bpf *b, pid_t pid, const struct fz_bpf_config *config,
		       struct fz_error *err)
{
	const struct fz_bpf_scope *scope = &b->program->bss->fz_scope;
	int rc = b->process_n ? 0 : begin_scope(b, config, err);

	if (rc)
		return rc;
	if (config->namespace_device != scope->device || config->namespace_inode != scope->inode)
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "process %d is in a different pid namespace than the others",
			       (int)pid);
	if (!fz_bpf_add_python(b, (pid_t)config->pid, config))
		return fz_fail_errno(err, "process %d: a map in the kernel", (int)pid);
	fz_push(b->processes, b->process_n, b->process_cap, (struct process){ pid, config->pid });
	return 0;
}

/* Attach the tracepoints for threads of all watched processes. */
static int trace_threads(struct fz_bpf *b, bool all_threads, struct fz_error *err)
{
	const struct tick_bpf *p = b->program;
	bool waits = b->use == FZ_ENGINE_FOR_WAITS;
	int rc = 0;

	if (all_threads && !b->births)
		rc = trace(waits ? p->progs.fz_birth_of : p->progs.fz_birth, "new threads",
			   &b->births, err);
	if (!rc && waits && !b->switches)
		rc = trace(p->progs.fz_switch, "switches", &b->switches, err);
	if (!rc && waits && !b->wakings)
		rc = trace(p->progs.fz_waking, "wake-ups", &b->wakings, err);
	return rc;
}

int fz_bpf_watch(struct fz_bpf *b, pid_t pid, bool all_threads, int64_t period,
		 const struct fz_bpf_config *config, struct fz_error *err)
{
	fz_assert(period > 0);
	b->period = period;
	int rc = add_process(b, pid, config, err);
	if (rc)
		return rc;
	rc = trace_threads(b, all_threads, err);
	if (!rc)
		rc = all_threads ? list_threads(b, pid, err) : add_thread(b, pid, pid, err);
	if (rc)
		fz_bpf_unwatch_process(b, pid);
	return rc;
}

int fz_bpf_watch_machine(struct fz_bpf *b, int64_t period, struct fz_error *err)
{
	const struct tick_bpf *p = b->program;

	fz_assert(b->n == 0 && period > 0);
	b->period = period;
	int rc = trace(p->progs.fz_exec, "programs", &b->execs, err);
	if (!rc)
		rc = trace(p->progs.fz_exit, "ends", &b->exits, err);
	if (!rc)
		rc = add_cpus(b, p->progs.fz_machine, err);
	if (rc)
		fz_bpf_unwatch(b);
	return rc;
}

/* Run a program for each task. Returns 0 and a descriptor with its output, or -1 with errno. */
static int visit_tasks(const struct bpf_program *program, struct bpf_link **ret_link, int *ret_fd)
{
	struct bpf_link *link = bpf_program__attach_iter(program, NULL);
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1;

	if (fd < 0) {
		bpf_link__destroy(link);
		return -1;
	}
	*ret_link = link;
	*ret_fd = fd;
	return 0;
}

static int note_resident(const struct fz_bpf *b, pid_t pid, struct fz_error *err)
{
	struct bpf_link *link;
	char none[1];
	int fd;

	b->program->bss->fz_scope.listed = (uint32_t)pid;
	if (visit_tasks(b->program->progs.fz_resident, &link, &fd))
		return fz_fail_errno(err, "a list of tasks by the kernel");
	ssize_t n = read(fd, none, sizeof(none));
	close(fd);
	bpf_link__destroy(link);
	return n < 0 ? fz_fail_errno(err, "a list of tasks by the kernel") : 0;
}

int fz_bpf_watch_growth(struct fz_bpf *b, pid_t pid, const struct fz_bpf_config *config,
			struct fz_error *err)
{
	int rc = add_process(b, pid, config, err);
	if (rc)
		return rc;
	rc = note_resident(b, pid, err);
	if (!rc)
		rc = trace(b->program->progs.fz_grow, "growth", &b->growths, err);
	if (rc)
		fz_bpf_unwatch_process(b, pid);
	return rc;
}

bool fz_bpf_add_python(struct fz_bpf *b, pid_t pid, const struct fz_bpf_config *config)
{
	return bpf_map__update_elem(b->program->maps.pythons, &(uint32_t){ (uint32_t)pid },
				    sizeof(uint32_t), config, sizeof(*config), BPF_ANY) == 0;
}

void fz_bpf_draw(struct fz_bpf *b)
{
	for (size_t i = 0; i < b->n; i++) {
		if (b->events[i].ticks < TICKS_TO_DRAW)
			continue;
		b->events[i].ticks = 0;
		uint64_t period = draw_period(b);
		ioctl(b->events[i].fd, PERF_EVENT_IOC_PERIOD, &period);
	}
	uint64_t lasts = (uint64_t)fz_clock_now() - b->program->bss->fz_nursery_since;
	if (b->nursery && lasts >= (uint64_t)(TICKS_TO_DRAW * b->period))
		draw_for_nursery(b);
}

size_t fz_bpf_threads(const struct fz_bpf *b, pid_t pid, struct fz_bpf_thread **ret)
{
	struct fz_bpf_thread some[64];
	struct bpf_link *link;
	size_t count = 0, cap = 0;
	ssize_t n;
	int fd;

	*ret = NULL;
	b->program->bss->fz_scope.listed = (uint32_t)pid;
	if (visit_tasks(b->program->progs.fz_threads, &link, &fd))
		return 0;
	while ((n = read(fd, some, sizeof(some))) > 0)
		for (size_t i = 0; i < (size_t)n / sizeof(*some); i++) {
			fz_grow(*ret, count, cap);
			(*ret)[count++] = some[i];
		}
	close(fd);
	bpf_link__destroy(link);
	return count;
}

bool fz_bpf_add_wait(struct fz_bpf *b, uint32_t thread, int64_t since, uint64_t used)
{
	struct fz_bpf_wait wait = { .since = (uint64_t)since, .used = used };

	return bpf_map__update_elem(b->program->maps.waits, &thread, sizeof(thread), &wait,
				    sizeof(wait), BPF_NOEXIST) == 0;
}

/* ---- results ---- */

int fz_bpf_fd(const struct fz_bpf *b)
{
	return ring_buffer__epoll_fd(b->ring);
}

void fz_bpf_drain(struct fz_bpf *b, void (*take)(void *arg, const struct fz_bpf_tick *t), void *arg)
{
	b->take = take;
	b->take_arg = arg;
	ring_buffer__consume(b->ring);
	if (b->births)
		raise_threads(b);
}

struct fz_bpf_counts fz_bpf_counts(const struct fz_bpf *b)
{
	struct fz_bpf_counts counts = { 0 };

	bpf_map__lookup_elem(b->program->maps.counts, &(uint32_t){ 0 }, sizeof(uint32_t), &counts,
			     sizeof(counts), 0);
	return counts;
}

bool fz_bpf_run_time(const struct fz_bpf *b, uint64_t *ret_runs, uint64_t *ret_ns)
{
	const struct bpf_program *program =
		b->use == FZ_ENGINE_FOR_MACHINE  ? b->program->progs.fz_machine
		: b->use == FZ_ENGINE_FOR_GROWTH ? b->program->progs.fz_grow
						 : b->program->progs.fz_tick;
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) || !info.run_cnt)
		return false;
	*ret_runs = info.run_cnt;
	*ret_ns = info.run_time_ns;
	return true;
}
