/* SPDX-License-Identifier: MIT */
/* The recorder's side of the program in the kernel; bpf.h has the contract, wire.h what both sides
 * say to each other.
 *
 *   thread --(its task-clock event)--> fz_tick --> ring --> drain
 *   thread --(starts another)--> fz_birth --> ring --> drain: one more event
 *   thread --(waits, is woken, goes on)--> fz_switch, fz_waking --> ring --> drain
 *   threads that are there --> fz_threads --> a file
 *   memory --(its counters, then each change)--> fz_resident, fz_grow --> ring --> drain
 *   CPU --(its clock's event)--> fz_machine --> ring --> drain
 *   process --(other program, end)--> fz_exec, fz_exit --> ring --> drain
 *
 * The events go with the files that hold them, and with them the program and its maps.
 */
#include "capture/bpf/bpf.h"

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
#include <sys/syscall.h>
#include <tick.skel.h> /* by bpftool, from tick.bpf.c */
#include <unistd.h>

/* A new period begins at once: what a thread has used of the one before stands for no tick. So it
 * is drawn after some ticks, and never for a thread that has not come to one. */
enum { TICKS_TO_DRAW = 8 };

/* Periods of CPUs: longer by so many of such a part. */
enum { DRIFT = 331, DRIFTS = 32 };

struct event {
	pid_t tid;
	bool there;     /* used while listing */
	uint32_t ticks; /* since its period was drawn */
	int fd;
	struct bpf_link *link;
};

struct fz_bpf {
	struct tick_bpf *program;
	struct ring_buffer *ring;
	struct bpf_link *births;             /* NULL: only the main thread is watched */
	struct bpf_link *switches, *wakings; /* NULL: waits are not */
	struct bpf_link *execs, *exits;      /* NULL: the machine is not */
	struct bpf_link *growths;            /* NULL: nor how the process grows */
	enum fz_engine_use use;
	pid_t pid;
	bool born; /* a thread was since threads were listed */
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
			       "the kernel does not let us load a program; that takes root, or "
			       "CAP_BPF and CAP_PERFMON");
	if (code == ENOSYS)
		return fz_fail(err, FZ_EUNSUPPORTED, "this kernel, or a container, has no bpf");
	return fz_fail(err, FZ_EUNSUPPORTED,
		       "this kernel cannot run our program, which needs Linux %s (%s)", needs[use],
		       strerror(code));
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
	if (t->kind == FZ_BPF_BORN) {
		b->born = true;
		return 0;
	}
	struct event *e = t->kind == FZ_BPF_TICK ? find_event(b, (pid_t)t->watched) : NULL;
	if (e)
		e->ticks++;
	b->take(b->take_arg, t);
	return 0;
}

/* What is not asked for needs no room in the kernel, nor what it takes. */
static void leave_out(struct tick_bpf *p, enum fz_engine_use use)
{
	bool waits = use == FZ_ENGINE_FOR_WAITS, machine = use == FZ_ENGINE_FOR_MACHINE;
	bool growth = use == FZ_ENGINE_FOR_GROWTH;

	bpf_program__set_autoload(p->progs.fz_tick, !machine && !growth);
	bpf_program__set_autoload(p->progs.fz_birth, !machine && !growth);
	bpf_program__set_autoload(p->progs.fz_resident, growth);
	bpf_program__set_autoload(p->progs.fz_grow, growth);
	bpf_program__set_autoload(p->progs.fz_switch, waits);
	bpf_program__set_autoload(p->progs.fz_waking, waits);
	bpf_program__set_autoload(p->progs.fz_threads, waits);
	bpf_program__set_autoload(p->progs.fz_machine, machine);
	bpf_program__set_autoload(p->progs.fz_exec, machine);
	bpf_program__set_autoload(p->progs.fz_exit, machine);
	if (!waits)
		bpf_map__set_max_entries(p->maps.waits, 1);
	if (!growth)
		bpf_map__set_max_entries(p->maps.debts, 1);
	if (!machine) {
		bpf_map__set_max_entries(p->maps.pythons, 1);
		bpf_map__set_max_entries(p->maps.met, 1);
	}
}

int fz_bpf_new(enum fz_engine_use use, struct fz_bpf **ret, struct fz_error *err)
{
	struct fz_bpf *b = fz_calloc(1, sizeof(*b));
	int cpus = libbpf_num_possible_cpus();

	libbpf_set_print(NULL);
	b->dice = (uint64_t)fz_clock_now();
	b->program = tick_bpf__open();
	if (!b->program) {
		int code = errno;
		fz_bpf_free(b);
		return fail_load(code, use, err);
	}
	b->use = use;
	leave_out(b->program, use);
	if (cpus > 0)
		bpf_map__set_max_entries(b->program->maps.scratches, (uint32_t)cpus);
	int rc = tick_bpf__load(b->program);
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
	bpf_link__destroy(b->events[i].link);
	close(b->events[i].fd);
	b->events[i] = b->events[--b->n];
}

void fz_bpf_unwatch(struct fz_bpf *b)
{
	bpf_link__destroy(fz_steal(b->births));
	bpf_link__destroy(fz_steal(b->switches));
	bpf_link__destroy(fz_steal(b->wakings));
	bpf_link__destroy(fz_steal(b->execs));
	bpf_link__destroy(fz_steal(b->exits));
	bpf_link__destroy(fz_steal(b->growths));
	while (b->n)
		drop_event(b, b->n - 1);
}

void fz_bpf_free(struct fz_bpf *b)
{
	if (!b)
		return;
	fz_bpf_unwatch(b);
	ring_buffer__free(b->ring);
	tick_bpf__destroy(b->program);
	free(b->events);
	free(b);
}

/* ---- watching a process ---- */

/* Of a thread's CPU time, or with tid -1 of a CPU's that somebody uses. CPUs do not tick in step:
 * whom one's tick wakes, such as us, is on another a moment later, and would be seen there each
 * time. Their periods differ a little, so that all instants meet all others. */
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

/* Takes the event over; what: for messages. */
static int add_event(struct fz_bpf *b, const struct bpf_program *program, struct event e,
		     const char *what, struct fz_error *err)
{
	LIBBPF_OPTS(bpf_perf_event_opts, options, .bpf_cookie = (uint64_t)e.tid);
	e.link = bpf_program__attach_perf_event_opts(program, e.fd, &options);
	if (!e.link) {
		int code = errno;
		close(e.fd);
		errno = code;
		return fz_fail_errno(err, "a program on a perf event of %s", what);
	}
	fz_grow(b->events, b->n, b->cap);
	b->events[b->n++] = e;
	return 0;
}

/* A thread that ended meanwhile is none. */
static int add_thread(struct fz_bpf *b, pid_t tid, struct fz_error *err)
{
	struct event e = { .tid = tid, .there = true, .fd = open_event(b, tid, -1) };
	char what[32];

	if (e.fd < 0 && errno == ESRCH)
		return 0;
	snprintf(what, sizeof(what), "thread %d", (int)tid);
	if (e.fd < 0)
		return fz_fail_errno(err, "perf events on CPU time of %s", what);
	return add_event(b, b->program->progs.fz_tick, e, what, err);
}

/* A CPU that is not there or switched off is none. */
static int add_cpu(struct fz_bpf *b, int cpu, struct fz_error *err)
{
	struct event e = { .tid = -1 - cpu, .fd = open_event(b, -1, cpu) };
	char what[32];

	if (e.fd < 0 && errno == ENODEV)
		return 0;
	snprintf(what, sizeof(what), "CPU %d", cpu);
	if (e.fd < 0)
		return fz_fail_errno(err, "perf events on %s", what);
	return add_event(b, b->program->progs.fz_machine, e, what, err);
}

/* Watch the threads that are there, and no others. */
static int list_threads(struct fz_bpf *b, struct fz_error *err)
{
	char path[64];
	int rc = 0;

	for (size_t i = 0; i < b->n; i++)
		b->events[i].there = false;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)b->pid);
	DIR *dir = opendir(path);
	if (!dir)
		return fz_fail(err, FZ_EGONE, "process %d: it ended", (int)b->pid);
	for (struct dirent *e; !rc && (e = readdir(dir));) {
		pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);
		struct event *known = tid > 0 ? find_event(b, tid) : NULL;
		if (known)
			known->there = true;
		else if (tid > 0)
			rc = add_thread(b, tid, err);
	}
	closedir(dir);
	for (size_t i = b->n; i-- > 0;)
		if (!b->events[i].there)
			drop_event(b, i);
	return rc;
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

static int set_config(struct fz_bpf *b, const struct fz_bpf_config *config, struct fz_error *err)
{
	const uint32_t zero = 0;

	forget(b->program->maps.states, sizeof(uint32_t));
	forget(b->program->maps.codes, sizeof(uint64_t));
	forget(b->program->maps.waits, sizeof(uint32_t));
	forget(b->program->maps.debts, sizeof(uint32_t));
	if (bpf_map__update_elem(b->program->maps.configs, &zero, sizeof(zero), config,
				 sizeof(*config), BPF_ANY))
		return fz_fail_errno(err, "a map in the kernel");
	return 0;
}

int fz_bpf_watch(struct fz_bpf *b, pid_t pid, bool all_threads, int64_t period,
		 const struct fz_bpf_config *config, struct fz_error *err)
{
	const struct tick_bpf *p = b->program;

	fz_assert(b->n == 0 && period > 0);
	b->period = period;
	b->pid = pid;
	b->born = false;
	int rc = set_config(b, config, err);
	if (!rc && all_threads)
		rc = trace(p->progs.fz_birth, "new threads", &b->births, err);
	if (!rc && b->use == FZ_ENGINE_FOR_WAITS)
		rc = trace(p->progs.fz_switch, "switches", &b->switches, err);
	if (!rc && b->use == FZ_ENGINE_FOR_WAITS)
		rc = trace(p->progs.fz_waking, "wake-ups", &b->wakings, err);
	if (!rc)
		rc = all_threads ? list_threads(b, err) : add_thread(b, pid, err);
	if (rc)
		fz_bpf_unwatch(b);
	return rc;
}

int fz_bpf_watch_machine(struct fz_bpf *b, int64_t period, struct fz_error *err)
{
	const struct tick_bpf *p = b->program;
	int cpus = libbpf_num_possible_cpus();

	fz_assert(b->n == 0 && period > 0);
	b->period = period;
	int rc = trace(p->progs.fz_exec, "programs", &b->execs, err);
	if (!rc)
		rc = trace(p->progs.fz_exit, "ends", &b->exits, err);
	for (int cpu = 0; !rc && cpu < FZ_MIN(cpus, FZ_BPF_CPUS); cpu++)
		rc = add_cpu(b, cpu, err);
	if (rc)
		fz_bpf_unwatch(b);
	return rc;
}

/* Let a program see each task; fd: for reading what it writes. */
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

static int note_resident(const struct fz_bpf *b, struct fz_error *err)
{
	struct bpf_link *link;
	char none[1];
	int fd;

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
	b->pid = pid;
	int rc = set_config(b, config, err);
	if (!rc)
		rc = note_resident(b, err);
	if (!rc)
		rc = trace(b->program->progs.fz_grow, "growth", &b->growths, err);
	return rc;
}

bool fz_bpf_add_python(struct fz_bpf *b, pid_t pid, const struct fz_bpf_config *config)
{
	uint32_t process = (uint32_t)pid;

	return bpf_map__update_elem(b->program->maps.pythons, &process, sizeof(process), config,
				    sizeof(*config), BPF_ANY) == 0;
}

/* One of the rates from 2/3 to 4/3 of what was asked for, each as likely. */
void fz_bpf_draw(struct fz_bpf *b)
{
	for (size_t i = 0; i < b->n; i++) {
		if (b->events[i].ticks < TICKS_TO_DRAW)
			continue;
		b->events[i].ticks = 0;
		b->dice = fz_hash64(b->dice + 0x9e3779b97f4a7c15u);
		double rate = 2.0 / 3 + (double)(b->dice >> 11) / 0x1p53 * 2 / 3;
		uint64_t period = (uint64_t)((double)b->period / rate);
		ioctl(b->events[i].fd, PERF_EVENT_IOC_PERIOD, &period);
	}
}

size_t fz_bpf_threads(const struct fz_bpf *b, struct fz_bpf_thread **ret)
{
	struct fz_bpf_thread some[64];
	struct bpf_link *link;
	size_t count = 0, cap = 0;
	ssize_t n;
	int fd;

	*ret = NULL;
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

/* ---- what it found ---- */

int fz_bpf_fd(const struct fz_bpf *b)
{
	return ring_buffer__epoll_fd(b->ring);
}

void fz_bpf_drain(struct fz_bpf *b, void (*take)(void *arg, const struct fz_bpf_tick *t), void *arg)
{
	struct fz_error ignored;

	b->take = take;
	b->take_arg = arg;
	ring_buffer__consume(b->ring);
	/* One that cannot be watched goes on unseen, as its time does. */
	if (b->births && b->born)
		list_threads(b, &ignored);
	b->born = false;
}

struct fz_bpf_counts fz_bpf_counts(const struct fz_bpf *b)
{
	struct fz_bpf_counts counts = { 0 };
	const uint32_t zero = 0;

	bpf_map__lookup_elem(b->program->maps.counts, &zero, sizeof(zero), &counts, sizeof(counts),
			     0);
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
