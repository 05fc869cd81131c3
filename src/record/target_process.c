/* SPDX-License-Identifier: MIT */
/* Adding and removing the processes of a sampler; sampler.c opens them.
 *
 *   tree: new --> add --> opened, each at its own pace --(sampled at each instant)
 *                            ^                                |
 *                            +------- exec, memory gone ------+--> end: dropped
 *
 * The first process is kept after it has ended, since reports about the recording need it.
 */
#include "record/target_process.h"

#include "base/clock.h"

#include <signal.h>
#include <sys/resource.h>

/* For a moment after a fork, the child has its parent's image. */
#define FORK_PAUSE FZ_MS

/* Limit of open files: a tree needs some for each process and each thread. */
#define FILES_MOST ((rlim_t)1 << 17)

/* ---- one process ---- */

struct fz_python_options fz_target_process_python(const struct fz_record_options *o)
{
	bool stacks = o->native == FZ_NATIVE_STACKS;

	return (struct fz_python_options){ .all_threads = o->all_threads,
					   .stopped = o->blocking || stacks,
					   .gc = !o->no_gc,
					   .native = o->native == FZ_NATIVE_MARKERS,
					   .opcodes = o->opcodes,
					   .segments = stacks,
					   .tasks = o->tasks,
					   .task_names = o->task_names };
}

struct fz_target_process *fz_target_process_add(struct fz_sampler *s, pid_t pid, pid_t parent)
{
	const struct fz_record_options *o = s->options;
	struct fz_python_options python = fz_target_process_python(o);
	struct fz_target_process *p = fz_calloc(1, sizeof(*p));

	fz_target_init(&p->target, pid, &python, s->profile, &s->images);
	p->target.stacks = python.segments;
	p->target.natives = !o->subprocesses || python.segments;
	p->target.next_try += FORK_PAUSE;
	p->parent = parent;
	fz_push(s->processes, s->process_n, s->process_cap, p);
	s->next_seek = FZ_MIN(s->next_seek, p->target.next_try);
	return p;
}

static struct fz_target_process *find_process(struct fz_sampler *s, pid_t pid)
{
	for (size_t i = 0; i < s->process_n; i++)
		if (s->processes[i]->target.root == pid && !s->processes[i]->ended)
			return s->processes[i];
	return NULL;
}

void fz_target_process_free_stopper(struct fz_sampler *s, struct fz_target_process *p)
{
	fz_assert(!p->stopper || s->stopper_n > 0);
	s->stopper_n -= p->stopper != NULL;
	fz_stop_free(p->stopper);
	p->stopper = NULL;
}

void fz_target_process_read_threads(struct fz_sampler *s, const struct fz_target_process *p)
{
	if (!s->silent_told && !s->paused && !s->options->growth)
		fz_silent_read(&s->silent, p->target.pid, s->sampling->started && !s->paused_ns);
}

void fz_target_process_drop(struct fz_sampler *s, struct fz_target_process *p)
{
	if (!fz_target_is_open(&p->target))
		return;
	if (p->target.native) {
		struct fz_native_figures f = fz_native_figures(p->target.native);
		s->figures.stacks += f.stacks;
		s->figures.incomplete += f.incomplete;
	}
	fz_assert(s->open_n > 0);
	fz_target_process_read_threads(s, p);
	s->engine->drop(s, p, p->target.pid);
	fz_target_drop(&p->target);
	s->next_seek = FZ_MIN(s->next_seek, p->target.next_try);
	s->open_n--;
}

/* Continue threads that stopped; release a process that ended, since its parent waits for that. */
void fz_target_process_service(struct fz_sampler *s, struct fz_target_process *p)
{
	if (p->stopper && !fz_stop_service(p->stopper))
		fz_target_process_free_stopper(s, p);
}

/* The stopper is kept while the process lives: after an exec its threads are still seized. */
void fz_target_process_lost(struct fz_sampler *s, struct fz_target_process *p)
{
	fz_target_process_service(s, p);
	fz_target_process_drop(s, p);
}

/* ---- stopping ---- */

int fz_target_process_start_stopper(struct fz_sampler *s, struct fz_target_process *p,
				    struct fz_error *err)
{
	pid_t pid = p->target.pid;

	if (!s->options->blocking && !p->target.native) {
		fz_target_process_free_stopper(s, p);
		return 0;
	}
	if (p->stopper && fz_stop_pid(p->stopper) == pid)
		return 0;
	fz_target_process_free_stopper(s, p);
	int rc =
		fz_stop_new(pid, s->sampling->started && pid == s->sampling->pid, &p->stopper, err);
	s->stopper_n += !rc;
	return rc;
}

/* A thread that stops, for a signal or a new thread, waits until we continue it. If we were stopped
 * then, the program would stay stopped, too. */
void fz_target_process_suspend(struct fz_sampler *s)
{
	sigset_t stop, before;
	struct fz_error err;

	for (size_t i = 0; i < s->process_n; i++)
		fz_target_process_free_stopper(s, s->processes[i]);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	raise(SIGTSTP);
	/* Stops here until SIGCONT; returns at once in an orphaned process group. */
	pthread_sigmask(SIG_UNBLOCK, &stop, &before);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	for (size_t i = 0; i < s->process_n; i++) {
		struct fz_target_process *p = s->processes[i];
		if (fz_target_is_open(&p->target) && fz_target_process_start_stopper(s, p, &err))
			fz_target_process_lost(s, p);
	}
}

/* ---- a tree of processes ---- */

/* Programs that already run do not inherit the limit. Raising the hard limit needs privileges. */
void fz_target_process_raise_files(struct fz_sampler *s)
{
	struct rlimit most;

	if (s->files.rlim_max || getrlimit(RLIMIT_NOFILE, &s->files))
		return;
	most.rlim_cur = most.rlim_max = FZ_MAX(s->files.rlim_max, FILES_MOST);
	if (!setrlimit(RLIMIT_NOFILE, &most))
		return;
	most.rlim_cur = most.rlim_max = s->files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &most);
}

void fz_target_process_start_tree(struct fz_sampler *s)
{
	struct fz_error ignored;

	fz_target_process_raise_files(s);
	if (fz_process_tree_new(s->sampling->pid, FZ_PROCESS_TREE_PERF, &s->tree, &ignored))
		return;
	enum fz_process_tree_kind kind = fz_process_tree_kind(s->tree);
	fz_profile_set_fact(s->profile, "subprocesses", fz_str_of(fz_process_tree_names[kind]));
	if (kind == FZ_PROCESS_TREE_PROC)
		s->warnings[FZ_WARN_SUBPROCESSES] =
			"--subprocesses: perf is not permitted; polling for child processes every "
			"5 ms, which misses shorter ones; permit perf with 'sysctl "
			"kernel.perf_event_paranoid=2' or CAP_PERFMON";
}

static void end_process(struct fz_sampler *s, struct fz_target_process *p)
{
	fz_target_process_free_stopper(s, p);
	fz_target_process_drop(s, p);
	p->ended = true;
}

void fz_target_process_free(struct fz_sampler *s, struct fz_target_process *p)
{
	s->left_out += p->target.left_out.len;
	fz_target_release(&p->target);
	free(p);
}

/* Remove processes that ended, except the first. */
static void sweep(struct fz_sampler *s)
{
	size_t n = 1;

	for (size_t i = 1; i < s->process_n; i++) {
		if (s->processes[i]->ended)
			fz_target_process_free(s, s->processes[i]);
		else
			s->processes[n++] = s->processes[i];
	}
	s->process_n = n;
}

/* The process runs another program, so nothing known about it applies. */
static void start_over(struct fz_sampler *s, struct fz_target_process *p)
{
	if (fz_target_is_open(&p->target))
		fz_target_process_drop(s, p);
	else
		fz_target_drop(&p->target);
	s->next_seek = FZ_MIN(s->next_seek, p->target.next_try);
}

void fz_target_process_follow(struct fz_sampler *s)
{
	struct fz_process_tree_event e;

	fz_process_tree_update(s->tree);
	while (fz_process_tree_next(s->tree, &e)) {
		struct fz_target_process *p = find_process(s, e.pid);
		if (e.what == FZ_PROCESS_TREE_NEW && !p)
			fz_target_process_add(s, e.pid, e.parent);
		else if (e.what == FZ_PROCESS_TREE_EXEC && p)
			start_over(s, p);
		else if (e.what == FZ_PROCESS_TREE_END && p)
			end_process(s, p);
	}
	sweep(s);
	if (fz_process_tree_count(s->tree) == 0 && !s->end)
		s->end = FZ_END_EXIT;
}

int fz_target_process_events(const struct fz_sampler *s)
{
	return s->tree ? fz_process_tree_fd(s->tree) : s->sampling->pidfd;
}
