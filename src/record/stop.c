/* SPDX-License-Identifier: MIT */
/* Stopping all threads of a process around a sample.
 *
 * A seized thread is in one of three states:
 *
 *   running --(interrupt, signal, clone, exec)--> standing --(continue)--> running
 *   running --(interrupt)--> no report in time: it sleeps uninterruptibly in the kernel, so its
 *                            Python stack does not change either; it is marked deaf and not
 *                            waited for until it reports
 *
 * A sample can use any stop; the signal that caused it is delivered when the thread continues.
 * Threads that stop between samples (for a signal, say) are continued by fz_stop_service. New
 * threads are seized by the kernel (PTRACE_O_TRACECLONE) before they run.
 *
 * A main thread that has ended before others never reports, so it is deaf. It stays in the list: a
 * thread that calls exec takes its id.
 */
#include "record/stop.h"

#include "base/clock.h"
#include "record/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	PATIENCE_NS = 20000000,
	LONG_PATIENCE_NS = 500000000,
	FREE_PATIENCE_NS = 2000000000,
	SCANS_MAX = 16
};

struct thread {
	pid_t tid;
	bool standing;
	bool group_stop; /* stopped by SIGSTOP and the like: must stay stopped when released */
	bool deaf;
	int signal; /* to deliver on release */
};

struct fz_stopper {
	pid_t pid;
	bool own;
	struct thread *threads;
	size_t n, cap;
};

static struct thread *find(struct fz_stopper *s, pid_t tid)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->threads[i].tid == tid)
			return &s->threads[i];
	return NULL;
}

static void add(struct fz_stopper *s, pid_t tid)
{
	if (find(s, tid))
		return;
	fz_push(s->threads, s->n, s->cap, (struct thread){ .tid = tid });
}

static void forget(struct fz_stopper *s, size_t i)
{
	s->threads[i] = s->threads[--s->n];
}

/* ---- seizing ---- */

/* A zombie may not be seized, not even by root. */
static bool is_left_over(const struct fz_stopper *s, pid_t tid)
{
	char state = fz_process_thread_state(s->pid, tid);

	return state == 0 || state == 'Z' || state == 'X';
}

static bool all_have_ended(const struct fz_stopper *s)
{
	char state = fz_process_thread_state(s->pid, fz_process_live(s->pid));

	return kill(s->pid, 0) != 0 || state == 'Z' || state == 'X';
}

static int seize(struct fz_stopper *s, pid_t tid, struct fz_error *err)
{
	long options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;

	if (ptrace(PTRACE_SEIZE, tid, NULL, options) == 0) {
		add(s, tid);
		return 0;
	}
	int code = errno;
	if (code == ESRCH || is_left_over(s, tid)) {
		if (tid != s->pid)
			return 0;
		if (all_have_ended(s))
			return fz_fail(err, FZ_EGONE, "process %d has ended", s->pid);
		add(s, tid);
		find(s, tid)->deaf = true;
		return 0;
	}
	/* A seized thread has just started this one, which is not reported yet. */
	if (fz_process_tracer(tid) == gettid()) {
		add(s, tid);
		return 0;
	}
	pid_t tracer = fz_process_tracer(s->pid);
	if (tracer)
		return fz_fail(err, FZ_EPERM,
			       "process %d cannot be stopped: it is traced by process %d (a "
			       "debugger or strace); detach that, or record Python without "
			       "--blocking and --native=stacks",
			       s->pid, tracer);
	return fz_fail(
		err, FZ_EPERM,
		"process %d cannot be stopped (ptrace: %s); start containers with "
		"--cap-add=SYS_PTRACE, or record Python without --blocking and --native=stacks",
		s->pid, strerror(code));
}

/* Seize every thread that is not seized yet; *ret_more: there was one. */
static int seize_new(struct fz_stopper *s, bool *ret_more, struct fz_error *err)
{
	char path[64];
	int rc = 0;

	*ret_more = false;
	snprintf(path, sizeof(path), "/proc/%d/task", s->pid);
	DIR *dir = opendir(path);
	if (!dir)
		return fz_fail(err, FZ_EGONE, "process %d has ended", s->pid);
	for (struct dirent *e; !rc && (e = readdir(dir));) {
		pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);
		if (tid <= 0 || find(s, tid))
			continue;
		rc = seize(s, tid, err);
		*ret_more = true;
	}
	closedir(dir);
	return rc;
}

int fz_stop_new(pid_t pid, bool own, struct fz_stopper **ret, struct fz_error *err)
{
	struct fz_stopper *s = fz_calloc(1, sizeof(*s));
	bool more = true;
	int rc = 0;

	s->pid = pid;
	s->own = own;
	for (int i = 0; i < SCANS_MAX && more && !rc; i++)
		rc = seize_new(s, &more, err);
	if (rc) {
		fz_stop_free(s);
		return rc;
	}
	*ret = s;
	return 0;
}

/* ---- what threads report ---- */

static bool is_group_stop(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

static void note_clone(struct fz_stopper *s, pid_t tid)
{
	unsigned long child;

	if (ptrace(PTRACE_GETEVENTMSG, tid, NULL, &child) == 0)
		add(s, (pid_t)child);
}

/* Thread i stopped; code is event << 8 | signal. */
static void note_stop(struct fz_stopper *s, size_t i, int code)
{
	struct thread *t = &s->threads[i];
	int event = code >> 8, signal = code & 0x7f;

	t->standing = true;
	t->deaf = false;
	t->signal = event ? 0 : signal;
	t->group_stop = event == PTRACE_EVENT_STOP && is_group_stop(signal);
	if (event == PTRACE_EVENT_CLONE)
		note_clone(s, t->tid); /* may move the threads */
}

/* True if the process has ended. Leaves its exit status for its parent. */
static bool has_ended(const struct fz_stopper *s)
{
	siginfo_t info = { 0 };
	int wanted = WEXITED | WNOHANG | WNOWAIT | __WALL;

	/* waitid also reports stops of a tracee, without WSTOPPED. */
	return waitid(P_PID, (id_t)s->pid, &info, wanted) == 0 && info.si_pid != 0 &&
	       info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED;
}

/* Read a report of thread i, if there is one. False if it is gone and was removed. */
static bool listen_to(struct fz_stopper *s, size_t i)
{
	pid_t tid = s->threads[i].tid;
	siginfo_t info = { 0 };
	/* The exit of the process itself is left for its parent. */
	int wanted = WSTOPPED | WNOHANG | __WALL | (tid == s->pid ? 0 : WEXITED);

	if (waitid(P_PID, (id_t)tid, &info, wanted) < 0) {
		/* While a thread other than the first calls exec, there is no first thread for a
		 * moment. */
		if (errno == EINTR || (tid == s->pid && !all_have_ended(s)))
			return true;
		forget(s, i);
		return false;
	}
	if (info.si_pid == 0) {
		if (tid != s->pid || !has_ended(s))
			return true;
		forget(s, i);
		return false;
	}
	if (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED) {
		forget(s, i);
		return false;
	}
	note_stop(s, i, info.si_status);
	return true;
}

static void resume(struct fz_stopper *s, size_t i)
{
	struct thread *t = &s->threads[i];

	ptrace(t->group_stop ? PTRACE_LISTEN : PTRACE_CONT, t->tid, NULL, (long)t->signal);
	t->standing = false;
	t->signal = 0;
}

bool fz_stop_service(struct fz_stopper *s)
{
	for (size_t i = 0; i < s->n;) {
		if (!listen_to(s, i))
			continue;
		if (s->threads[i].standing)
			resume(s, i);
		i++;
	}
	return s->n > 0;
}

/* ---- stopping ---- */

/* Read all reports. Returns the number of threads that are still expected to report. */
static size_t listen_to_all(struct fz_stopper *s)
{
	size_t missing = 0;

	for (size_t i = 0; i < s->n;) {
		if (!s->threads[i].standing && !listen_to(s, i))
			continue;
		struct thread *t = &s->threads[i++];
		if (!t->standing && t->tid == s->pid && !t->deaf)
			t->deaf = is_left_over(s, t->tid);
		missing += !t->standing && !t->deaf;
	}
	return missing;
}

static void wait_for_report(void)
{
	struct timespec millisecond = { .tv_nsec = FZ_MS };
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigtimedwait(&child, NULL, &millisecond);
}

/* True if the thread waits for its turn on a processor. It will stop before it runs. */
static bool is_runnable(const struct fz_stopper *s, pid_t tid)
{
	return fz_process_thread_state(s->pid, tid) == 'R';
}

/* Mark threads that have not reported as deaf. Returns how many are worth waiting for. */
static size_t give_up_on(struct fz_stopper *s, bool patient)
{
	size_t left = 0;

	for (size_t i = 0; i < s->n; i++) {
		struct thread *t = &s->threads[i];
		if (t->standing || t->deaf)
			continue;
		if (patient && is_runnable(s, t->tid))
			left++;
		else
			t->deaf = true;
	}
	return left;
}

int fz_stop_all(struct fz_stopper *s, bool patient)
{
	int64_t start = fz_clock_now(), give_up = start + PATIENCE_NS;

	for (size_t i = 0; i < s->n; i++)
		if (!s->threads[i].standing && !s->threads[i].deaf)
			ptrace(PTRACE_INTERRUPT, s->threads[i].tid, NULL, NULL);
	while (listen_to_all(s) > 0) {
		int64_t now = fz_clock_now();
		if (now > give_up) {
			if (!give_up_on(s, patient && now - start < LONG_PATIENCE_NS))
				break;
			give_up = now + PATIENCE_NS;
		}
		wait_for_report();
	}
	return s->n ? 0 : FZ_EGONE;
}

void fz_stop_resume(struct fz_stopper *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->threads[i].standing)
			resume(s, i);
}

size_t fz_stop_count(const struct fz_stopper *s)
{
	return s->n;
}

pid_t fz_stop_standing(const struct fz_stopper *s, size_t i)
{
	fz_assert(i < s->n);
	return s->threads[i].standing ? s->threads[i].tid : 0;
}

pid_t fz_stop_pid(const struct fz_stopper *s)
{
	return s->pid;
}

/* Detach the standing threads; others cannot be detached. */
static void detach_standing(struct fz_stopper *s)
{
	for (size_t i = 0; i < s->n;) {
		if (!s->threads[i].standing && !listen_to(s, i))
			continue;
		struct thread *t = &s->threads[i];
		if (!t->standing && !(t->tid == s->pid && is_left_over(s, t->tid))) {
			i++;
			continue;
		}
		ptrace(PTRACE_DETACH, t->tid, NULL, (long)t->signal);
		forget(s, i);
	}
}

void fz_stop_free(struct fz_stopper *s)
{
	int64_t give_up = fz_clock_now() + FREE_PATIENCE_NS;

	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		if (!s->threads[i].standing)
			ptrace(PTRACE_INTERRUPT, s->threads[i].tid, NULL, NULL);
	detach_standing(s);
	while (s->n > 0 && fz_clock_now() < give_up) {
		wait_for_report();
		detach_standing(s);
	}
	/* A tracer must see the end of a process before its parent can. */
	if (!s->own)
		waitpid(s->pid, NULL, WNOHANG | __WALL);
	free(s->threads);
	free(s);
}
