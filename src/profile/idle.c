/* SPDX-License-Identifier: MIT */
/* Detects waits; see idle.h. Thread states take precedence over function names: the name of a
 * Python function that calls select() does not suggest a wait, but its thread is off the
 * processor. */
#include "profile/idle.h"

#include "profile/waits.h"

enum { ENOUGH_OF_TEN = 9 };

/* `file`, if set, is the end of the function's file name. */
static const struct {
	const char *name, *file;
} waits_by_name[] = {
	/* CPython: the last Python frame above a call that blocks */
	{ "wait", "threading.py" },
	{ "Condition.wait", "threading.py" },
	{ "_wait_for_tstate_lock", "threading.py" },
	{ "Thread._wait_for_tstate_lock", "threading.py" },
	{ "join", "threading.py" },
	{ "Thread.join", "threading.py" },
	{ "select", "selectors.py" },
	{ "SelectSelector.select", "selectors.py" },
	{ "PollSelector.select", "selectors.py" },
	{ "_PollLikeSelector.select", "selectors.py" },
	{ "EpollSelector.select", "selectors.py" },
	{ "SelectSelector._select", "selectors.py" },
	{ "accept", "socket.py" },
	{ "socket.accept", "socket.py" },
	{ "readinto", "socket.py" },
	{ "SocketIO.readinto", "socket.py" },
	{ "get", "queue.py" },
	{ "Queue.get", "queue.py" },
	{ "_worker", "concurrent/futures/thread.py" },
	{ "_try_wait", "subprocess.py" },
	{ "Popen._try_wait", "subprocess.py" },
	{ "poll", "multiprocessing/popen_fork.py" },
	{ "Popen.poll", "multiprocessing/popen_fork.py" },
	{ "_recv", "multiprocessing/connection.py" },
	{ "Connection._recv", "multiprocessing/connection.py" },
	/* builtins as named by deterministic profilers */
	{ "<built-in method time.sleep>", NULL },
	{ "{built-in method time.sleep}", NULL },
	{ "<built-in method select.select>", NULL },
	{ "{built-in method select.select}", NULL },
	{ "{method 'poll' of 'select.poll' objects}", NULL },
	{ "{method 'poll' of 'select.epoll' objects}", NULL },
	{ "{method 'acquire' of '_thread.lock' objects}", NULL },
	{ "{method 'accept' of '_socket.socket' objects}", NULL },
	/* native code */
	{ "epoll_wait", NULL },
	{ "epoll_pwait", NULL },
	{ "poll", "" },
	{ "__poll", NULL },
	{ "ppoll", NULL },
	{ "select", "" },
	{ "__select", NULL },
	{ "pselect", NULL },
	{ "nanosleep", NULL },
	{ "clock_nanosleep", NULL },
	{ "accept4", NULL },
	{ "__accept", NULL },
	{ "sem_wait", NULL },
	{ "do_futex_wait", NULL },
	{ "futex_wait", NULL },
	{ "__futex_abstimed_wait_common", NULL },
	{ "__futex_abstimed_wait_common64", NULL },
	{ "pthread_cond_wait", NULL },
	{ "pthread_cond_timedwait", NULL },
	{ "__pthread_cond_wait", NULL },
	{ "wait4", NULL },
	{ "waitpid", NULL },
	{ "sigwait", NULL },
	{ "sigtimedwait", NULL },
};

static bool is_wait(const struct fz_profile *p, const struct fz_function *f)
{
	struct fz_str name = fz_profile_text(p, f->name), file = fz_profile_text(p, f->file);

	for (size_t i = 0; i < FZ_ARRAY_LEN(waits_by_name); i++) {
		const char *wanted = waits_by_name[i].file;
		if (!fz_str_eq(name, fz_str_of(waits_by_name[i].name)))
			continue;
		if (!wanted || (*wanted ? fz_str_ends(file, wanted) : f->kind == FZ_KIND_NATIVE))
			return true;
	}
	return false;
}

/* Whether samples have states; some formats and counts do not. */
static bool has_states(const struct fz_profile *p)
{
	for (size_t row = 0; row < p->samples.n; row++)
		if (p->samples.status[row] & ~FZ_STATUS_UNKNOWN)
			return true;
	return false;
}

void fz_idle_init(struct fz_idle *idle, const struct fz_profile *p)
{
	const struct fz_metric *m = &p->metrics[p->default_metric];
	uint32_t waiting = fz_profile_find_metric(p, FZ_STR("wait"));

	*idle = (struct fz_idle){
		.profile = p,
		.waits = fz_calloc(p->function_count + 1ul, sizeof(bool)),
		.states = has_states(p),
		.timed = strcmp(m->unit, "ns") == 0 || strcmp(m->name, "samples") == 0,
		.runnable = waiting == FZ_NONE ? NULL : p->metrics[waiting].column,
	};
	for (uint32_t i = 0; i < p->function_count; i++)
		idle->waits[i] = is_wait(p, &p->functions[i]);
}

void fz_idle_release(struct fz_idle *idle)
{
	free(idle->waits);
}

/* The innermost function, skipping markers other than waits; FZ_NONE if the stack is empty. */
static uint32_t innermost(const struct fz_profile *p, uint32_t stack)
{
	for (; stack != FZ_NONE; stack = p->stacks[stack].parent) {
		uint32_t function = p->frames[p->stacks[stack].frame].function;
		if (p->functions[function].kind != FZ_KIND_MARKER ||
		    fz_wait_of_function(p, function) != FZ_WAIT_KINDS)
			return function;
	}
	return FZ_NONE;
}

bool fz_idle_sample(const struct fz_idle *idle, size_t row)
{
	const struct fz_profile *p = idle->profile;
	uint8_t status = p->samples.status[row];

	if (!idle->timed || (idle->runnable && idle->runnable[row] > 0))
		return false;
	if (status & FZ_STATUS_BESIDE)
		return true;
	if (idle->states && !(status & FZ_STATUS_UNKNOWN))
		return !(status & (FZ_STATUS_ON_CPU | FZ_STATUS_HAS_GIL | FZ_STATUS_GIL_REQUESTED));
	uint32_t function = innermost(p, p->samples.stack[row]);
	return function != FZ_NONE && idle->waits[function];
}

bool fz_idle_all(const struct fz_profile *p)
{
	fz_auto(fz_idle_release) struct fz_idle idle;

	fz_idle_init(&idle, p);
	for (size_t row = 0; row < p->samples.n; row++)
		if (!fz_idle_sample(&idle, row))
			return false;
	return true;
}

bool *fz_idle_functions(const struct fz_profile *p)
{
	fz_auto(fz_idle_release) struct fz_idle idle;
	fz_auto(fz_free_ptr) uint64_t *waited = fz_calloc(p->function_count + 1ul, sizeof(*waited));
	fz_auto(fz_free_ptr) uint64_t *all = fz_calloc(p->function_count + 1ul, sizeof(*all));
	bool *flags = fz_calloc(p->function_count + 1ul, sizeof(*flags));

	fz_idle_init(&idle, p);
	for (size_t row = 0; row < p->samples.n; row++) {
		uint32_t function = innermost(p, p->samples.stack[row]);
		uint32_t n = fz_sample_count(p, row);
		if (function == FZ_NONE)
			continue;
		all[function] += n;
		waited[function] += fz_idle_sample(&idle, row) ? n : 0;
	}
	for (uint32_t i = 0; i < p->function_count; i++)
		flags[i] = all[i] && 10 * waited[i] > ENOUGH_OF_TEN * all[i];
	return flags;
}
