/* SPDX-License-Identifier: MIT */
/* Interpreters and threads are known by what they are, not by where they lie: a 3.8 to 3.12 made of
 * nothing but a runtime, interpreters and thread states, in a child process with three threads. It
 * is changed between two samples, which are taken sooner after each other than threads are listed.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "record/python/layouts.h"
#include "record/python/python.h"

enum {
	FIRST = FZ_PY_MINOR_MIN,
	LAST = 12, /* later ones have a table of their own */
	THREADS = 3,
	STATES = 3,
	INTERPS = 2,
	CFRAME_AT = 480, /* in a state */
	LIBC_TID = 720,  /* in the C library's thread structure, on x86-64 */
	RUNTIME_SIZE = 4096,
};

struct world {
	volatile uint32_t tids[THREADS];
	volatile uint32_t renamed;
	_Alignas(8) uint8_t interps[INTERPS][2048];
	uint8_t states[STATES][512];
	uint8_t gap[4096];               /* what is near a state is part of it */
	uint8_t pthreads[THREADS][1024]; /* stacks lie below them, but for the main thread's */
	uint8_t gil[64];
	uint8_t main_stack[256];
	uint32_t changes; /* offset in the first state of what the child changes all the time */
};

/* What the reader searches the program's symbols for. */
extern uint8_t _PyRuntime[RUNTIME_SIZE];
uint8_t _PyRuntime[RUNTIME_SIZE] __attribute__((aligned(RUNTIME_SIZE))) = { 0 };
extern uint32_t Py_Version;
uint32_t Py_Version = 0;
extern uint64_t _Py_NoneStruct[2];
uint64_t _Py_NoneStruct[2] = { 1, 1 };

/* sys.version, or nothing. */
extern char version_text[250];
char version_text[250] = "";

static struct world *world;
static unsigned threads = THREADS; /* of the child */

/* One interpreter being read. */
struct reader {
	const struct fz_py_layout *l;
	pid_t pid;
	struct fz_profile *profile;
	struct fz_python *python;
	struct fz_python_sample sample;
};

static uint64_t address(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static void put(uint8_t *base, uint32_t offset, uint64_t value)
{
	memcpy(base + offset, &value, sizeof(value));
}

/* ---- the world ---- */

static void put_state(const struct fz_py_layout *l, unsigned state, unsigned interp,
		      unsigned thread, uint64_t id, const uint8_t *next)
{
	uint8_t *p = world->states[state];

	memset(p, 0, sizeof(world->states[state]));
	put(p, l->thread.next, address(next));
	put(p, l->thread.interp, address(world->interps[interp]));
	put(p, l->thread.thread_id, address(world->pthreads[thread]));
	put(p, l->thread.exc_info, address(p) + l->thread.exc_state);
	if (l->thread.id != FZ_PY_ABSENT)
		put(p, l->thread.id, id);
	if (l->thread.native_thread_id != FZ_PY_ABSENT)
		put(p, l->thread.native_thread_id, world->tids[thread]);
	if (l->frames == FZ_PY_FRAMES_CFRAME)
		put(p, l->thread.frame, address(p) + CFRAME_AT);
}

static void put_interp(const struct fz_py_layout *l, unsigned interp, uint64_t id,
		       const uint8_t *state, const uint8_t *next)
{
	uint8_t *p = world->interps[interp];

	memset(p, 0, sizeof(world->interps[interp]));
	put(p, l->interp.next, address(next));
	put(p, l->interp.id, id);
	put(p, l->interp.threads_head, address(state));
	if (l->interp.gil_pointer != FZ_PY_ABSENT)
		put(p, l->interp.gil_pointer, address(world->gil));
}

static void put_first(const struct fz_py_layout *l, unsigned interp)
{
	put(_PyRuntime, l->runtime.interpreters_head, address(world->interps[interp]));
}

/* The thread runs with this state; NULL: with none, up to 3.11 without the GIL. */
static void put_current(const struct fz_py_layout *l, uint8_t *state)
{
	if (l->runtime.current != FZ_PY_ABSENT)
		put(_PyRuntime, l->runtime.current, address(state));
	if (l->thread.status == FZ_PY_ABSENT)
		return;
	for (unsigned i = 0; state && i < STATES; i++)
		put(world->states[i], l->thread.status,
		    state == world->states[i] ? FZ_PY_STATUS_BOUND | FZ_PY_STATUS_ACTIVE : 0);
}

/* The state has a frame (which cannot be read), in a call that is here in a C stack. */
static void put_call(const struct fz_py_layout *l, unsigned state, const uint8_t *stack)
{
	put(world->states[state], l->thread.frame, address(stack));
	if (l->cframe.head != FZ_PY_ABSENT)
		put(world->states[state], l->cframe.head, address(stack));
}

/* The main thread's first state holds the GIL, for the time of this number. */
static void put_gil(const struct fz_py_layout *l, uint64_t switches)
{
	uint8_t *gil =
		l->interp.gil_pointer != FZ_PY_ABSENT ? world->gil : _PyRuntime + l->runtime.gil;

	put(gil, l->gil.last_holder, address(world->states[0]));
	put(gil, l->gil.locked, 1);
	put(gil, l->gil.switches, switches);
}

static void *wait_as(void *thread)
{
	uint32_t *tid = thread;

	__atomic_store_n(tid, (uint32_t)gettid(), __ATOMIC_RELEASE);
	for (;;)
		pause();
	return NULL;
}

static void rename_thread(int number)
{
	(void)number;
	prctl(PR_SET_NAME, "job-7");
	__atomic_store_n(&world->renamed, 1, __ATOMIC_RELEASE);
}

static void change(int number)
{
	(void)number;
	for (;;)
		++*(volatile uint8_t *)&world->states[0][world->changes];
}

static void run_child(void)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGUSR1, rename_thread);
	signal(SIGUSR2, change);
	for (unsigned i = 1; i < threads; i++)
		pthread_create(&thread, NULL, wait_as, (void *)&world->tids[i]);
	wait_as((void *)&world->tids[0]);
}

static void put_version(unsigned minor)
{
	memset(version_text, 0, sizeof(version_text));
	Py_Version = 3u << 24 | minor << 16;
}

/* Up to 3.10 the only other source of the version is the file's name. */
static void put_version_text(unsigned minor)
{
	snprintf(version_text, sizeof(version_text), "3.%u.7rc1+ (main, Jan  1 2024, 00:00:00)",
		 minor);
	Py_Version = 0;
}

static void begin_as(struct reader *r, unsigned minor, bool all_threads,
		     void (*put_its_version)(unsigned minor))
{
	const struct fz_python_options options = { .all_threads = all_threads };
	struct fz_error err = { 0 };

	memset(world, 0, sizeof(*world));
	memset(_PyRuntime, 0, RUNTIME_SIZE);
	put_its_version(minor);
	*r = (struct reader){ .l = fz_py_layout_static(minor), .profile = fz_profile_new() };
	r->pid = fork();
	assert_true(r->pid >= 0);
	if (r->pid == 0)
		run_child();
	for (unsigned i = 0; i < threads; i++) {
		while (!__atomic_load_n(&world->tids[i], __ATOMIC_ACQUIRE))
			sched_yield();
		memcpy(world->pthreads[i] + LIBC_TID, (void *)&world->tids[i], 4);
	}
	put_state(r->l, 0, 0, 0, 1, NULL);
	put_interp(r->l, 0, 0, world->states[0], NULL);
	put_first(r->l, 0);
	put_gil(r->l, 1);
	if (fz_python_open(r->pid, &options, r->profile, &r->python, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(fz_python_info(r->python)->version[1], minor);
}

static void begin(struct reader *r, unsigned minor, bool all_threads)
{
	begin_as(r, minor, all_threads, put_version);
}

static void end(struct reader *r)
{
	fz_python_close(r->python);
	fz_profile_free(r->profile);
	kill(r->pid, SIGKILL);
	waitpid(r->pid, NULL, 0);
}

static void take(struct reader *r, uint32_t n)
{
	struct fz_error err = { 0 };

	if (fz_python_sample_take(r->python, &r->sample, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(r->sample.n, n);
}

/* The stack of a thread in the last sample; NULL: it has none. */
static const struct fz_python_stack *stack_of(const struct reader *r, unsigned thread,
					      uint32_t interp)
{
	for (uint32_t i = 0; i < r->sample.n; i++) {
		const struct fz_thread *t = &r->profile->threads[r->sample.stacks[i].thread];
		if (t->tid == world->tids[thread] && t->interp == interp)
			return &r->sample.stacks[i];
	}
	return NULL;
}

/* A case that runs on each of these versions of CPython. */
struct versions {
	void (*run)(struct reader *r);
	bool all_threads;
};

static void each_version(void **state)
{
	const struct versions *v = *state;

	for (unsigned minor = FIRST; minor <= LAST; minor++) {
		struct reader r;
		begin(&r, minor, v->all_threads);
		v->run(&r);
		end(&r);
	}
}

#define EACH_VERSION(function, all)                                \
	((struct CMUnitTest){ #function, each_version, NULL, NULL, \
			      &(struct versions){ function, all } })

/* The layouts of 3.9 and 3.10 have the same lists of interpreters and threads. */
static void test_version_by_text(void **state)
{
	(void)state;

	for (unsigned minor = FIRST; minor <= LAST; minor++) {
		struct reader r;
		begin_as(&r, minor, true, put_version_text);
		assert_int_equal(fz_python_info(r.python)->version[2], 7);
		take(&r, 1);
		end(&r);
	}
}

/* ---- threads ---- */

static void test_reused_state(struct reader *r)
{
	put_state(r->l, 1, 0, 1, 2, world->states[0]);
	put_interp(r->l, 0, 0, world->states[1], NULL);
	take(r, 2);
	assert_non_null(stack_of(r, 1, 0));
	put_state(r->l, 1, 0, 2, 3, world->states[0]);
	put_gil(r->l, 2);
	take(r, 2);
	assert_null(stack_of(r, 1, 0));
	assert_non_null(stack_of(r, 2, 0));
	assert_non_null(stack_of(r, 0, 0));
}

/* A state that was made by the main thread, as whose it is listed until its thread runs. */
static void test_reused_state_of_main(struct reader *r)
{
	put_state(r->l, 1, 0, 0, 2, NULL);
	put_interp(r->l, 0, 0, world->states[1], NULL);
	take(r, 1);
	assert_non_null(stack_of(r, 0, 0));
	put_state(r->l, 1, 0, 1, 2, NULL);
	take(r, 1);
	assert_non_null(stack_of(r, 1, 0));
}

/* No `threading` is imported. */
static void test_main_thread_has_a_name(struct reader *r)
{
	take(r, 1);
	const struct fz_thread *t = &r->profile->threads[r->sample.stacks[0].thread];
	assert_true(t->is_main);
	assert_string_equal(r->profile->strings[t->name].p, "MainThread");
}

/* A thread gets its name when it first holds the GIL, and may be listed before. */
static void test_thread_gets_a_name(struct reader *r)
{
	put_state(r->l, 1, 0, 1, 2, world->states[0]);
	put_interp(r->l, 0, 0, world->states[1], NULL);
	take(r, 2);
	assert_int_equal(tgkill(r->pid, (pid_t)world->tids[1], SIGUSR1), 0);
	while (!__atomic_load_n(&world->renamed, __ATOMIC_ACQUIRE))
		sched_yield();
	usleep(10000); /* longer than until the next list */
	take(r, 2);
	const struct fz_thread *t = &r->profile->threads[stack_of(r, 1, 0)->thread];
	assert_string_equal(r->profile->strings[t->name].p, "job-7");
}

/* Python runs in another thread than the one that began the program. */
static void test_oldest_thread_is_main(struct reader *r)
{
	put_state(r->l, 0, 0, 1, 1, NULL);
	take(r, 1);
	const struct fz_thread *t = &r->profile->threads[r->sample.stacks[0].thread];
	assert_int_equal(t->tid, world->tids[1]);
	assert_true(t->is_main);
	assert_string_equal(r->profile->strings[t->name].p, "MainThread");
}

/* C forked without telling Python: the first state has the id that its thread has in the parent,
 * the second belongs to a thread that only the parent has. The third is of a thread begun since. */
static void test_forked_in_c(struct reader *r)
{
	put_state(r->l, 2, 0, 0, 1, NULL);
	put_state(r->l, 1, 0, 2, 2, world->states[2]);
	put_state(r->l, 0, 0, 1, 3, world->states[1]);
	if (r->l->thread.native_thread_id != FZ_PY_ABSENT) {
		put(world->states[2], r->l->thread.native_thread_id, (uint64_t)getpid());
		put(world->states[1], r->l->thread.native_thread_id, 1);
	}
	put(world->pthreads[2], LIBC_TID, 1);
	put_interp(r->l, 0, 0, world->states[0], NULL);
	take(r, 2);
	assert_non_null(stack_of(r, 1, 0));
	const struct fz_python_stack *first = stack_of(r, 0, 0);
	assert_non_null(first);
	assert_true(r->profile->threads[first->thread].is_main);
}

/* The second thread forked, and the child has not run yet: both states have ids of the parent, and
 * nothing shows which of them is the child's. */
static void test_forked_in_a_thread(void **state)
{
	(void)state;

	threads = 1;
	for (unsigned minor = FIRST; minor <= LAST; minor++) {
		struct reader r;
		begin(&r, minor, true);
		put_state(r.l, 0, 0, 1, 1, NULL);
		put_state(r.l, 1, 0, 2, 2, world->states[0]);
		if (r.l->thread.native_thread_id != FZ_PY_ABSENT) {
			put(world->states[0], r.l->thread.native_thread_id, (uint64_t)getpid());
			put(world->states[1], r.l->thread.native_thread_id, 1);
		}
		put_interp(r.l, 0, 0, world->states[1], NULL);
		take(&r, 0);
		memcpy(world->pthreads[2] + LIBC_TID, (void *)&world->tids[0], 4);
		usleep(10000); /* longer than a state without a thread is left alone */
		take(&r, 1);
		assert_non_null(stack_of(&r, 0, 0));
		end(&r);
	}
	threads = THREADS;
}

/* ---- interpreters ---- */

static void test_interpreters_come_and_go(void **state)
{
	(void)state;

	for (unsigned i = 0; i < 2 * (LAST - FIRST + 1u); i++) {
		struct reader r;
		begin(&r, FIRST + i / 2, i % 2);
		take(&r, 1);
		put_interp(r.l, 1, 1, NULL, world->interps[0]);
		put_first(r.l, 1);
		take(&r, 1);
		put_state(r.l, 1, 1, 0, 2, NULL);
		put_interp(r.l, 1, 1, world->states[1], world->interps[0]);
		put_current(r.l, world->states[1]);
		take(&r, 1);
		assert_non_null(stack_of(&r, 0, 1));
		put_interp(r.l, 1, 2, world->states[1], world->interps[0]);
		take(&r, 1);
		assert_null(stack_of(&r, 0, 1));
		assert_non_null(stack_of(&r, 0, 2));
		put_first(r.l, 0);
		take(&r, 1);
		assert_non_null(stack_of(&r, 0, 0));
		end(&r);
	}
}

/* A thread that enters another interpreter holds the GIL in the name of its first state, and the
 * GIL counts no change. */
static void test_second_state_does_not_wait(struct reader *r)
{
	put_state(r->l, 1, 1, 0, 2, NULL);
	put_interp(r->l, 1, 1, world->states[1], world->interps[0]);
	put_first(r->l, 1);
	put_current(r->l, world->states[1]);
	for (int i = 0; i < 3; i++)
		take(r, 1);
	assert_false(stack_of(r, 0, 1)->status & FZ_STATUS_HAS_EXCEPTION);
	assert_true(stack_of(r, 0, 1)->status & FZ_STATUS_HAS_GIL);
	put(world->states[1], r->l->thread.raised, 8);
	take(r, 1);
	assert_true(stack_of(r, 0, 1)->status & FZ_STATUS_HAS_EXCEPTION);
}

/* Two states of the main thread, the second one above the first in its C stack. */
static void test_thread_runs_with_one_state(struct reader *r)
{
	const uint8_t *outer = world->main_stack + 128, *inner = world->main_stack;

	uint32_t both = r->l->minor < 10 ? 2 : 1; /* that have frames */
	put_state(r->l, 1, 1, 0, 2, NULL);
	put_interp(r->l, 1, 1, world->states[1], world->interps[0]);
	put_first(r->l, 1);
	put_call(r->l, 0, outer);
	put_current(r->l, world->states[0]);
	take(r, 1);
	assert_non_null(stack_of(r, 0, 0));
	put_call(r->l, 1, inner);
	put_current(r->l, world->states[1]);
	take(r, both);
	assert_ptr_equal(&r->sample.stacks[0], stack_of(r, 0, 1));
	put_current(r->l, NULL);
	take(r, both);
	if (both == 1)
		assert_non_null(stack_of(r, 0, 1));
	put_state(r->l, 1, 1, 0, 2, NULL);
	put_current(r->l, world->states[0]);
	take(r, 1);
	assert_non_null(stack_of(r, 0, 0));
}

/* And both of one interpreter. */
static void test_second_state_of_interpreter(struct reader *r)
{
	put_state(r->l, 1, 0, 0, 2, world->states[0]);
	put_interp(r->l, 0, 0, world->states[1], NULL);
	put(world->states[1], r->l->thread.raised, 8);
	put_call(r->l, 1, world->main_stack);
	put_current(r->l, world->states[1]);
	take(r, 1);
	assert_true(stack_of(r, 0, 0)->status & FZ_STATUS_HAS_EXCEPTION);
	put_state(r->l, 1, 0, 0, 2, world->states[0]);
	put(world->states[1], r->l->thread.raised, 8);
	put_call(r->l, 0, world->main_stack);
	put_current(r->l, world->states[0]);
	take(r, 1);
	assert_false(stack_of(r, 0, 0)->status & FZ_STATUS_HAS_EXCEPTION);
}

/* The main thread has made a state, and another thread runs with it, which keeps the main thread's
 * id up to 3.11: what the main thread does meanwhile is not lost. */
static void test_state_in_another_thread(struct reader *r)
{
	if (r->l->minor >= 12)
		return;
	put_state(r->l, 2, 0, 1, 3, world->states[0]);
	put_interp(r->l, 0, 0, world->states[2], NULL);
	put_state(r->l, 1, 1, 0, 2, NULL);
	put_interp(r->l, 1, 1, world->states[1], world->interps[0]);
	put_first(r->l, 1);
	put_call(r->l, 0, world->main_stack);
	put_call(r->l, 1, world->pthreads[1] - 128);
	put_call(r->l, 2, world->pthreads[1] - 64);
	put_current(r->l, world->states[1]);
	take(r, 3);
	assert_non_null(stack_of(r, 0, 0));
	assert_non_null(stack_of(r, 0, 1));
	assert_non_null(stack_of(r, 1, 0));
}

/* ---- the middle of a change ---- */

/* A stack that cannot be read: its thread stays as it is, or goes on. */
static void test_midway(struct reader *r)
{
	bool cframe = r->l->frames == FZ_PY_FRAMES_CFRAME;

	/* A call has made its CFrame current, and not set its frame yet. */
	put_call(r->l, 0, world->main_stack + !cframe);
	if (cframe)
		put(world->main_stack, r->l->cframe.current, 1);
	put_current(r->l, world->states[0]);
	/* Others may interrupt too many reads of an instant. */
	do
		take(r, 1);
	while (!r->sample.stacks[0].midway);
	assert_true(r->sample.stacks[0].rejected);
	/* On one CPU the program would not go on between the tries. */
	cpu_set_t cpus;
	assert_int_equal(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	if (CPU_COUNT(&cpus) < 2)
		return;
	world->changes = r->l->thread.raised;
	kill(r->pid, SIGUSR2);
	do
		take(r, 1);
	while (r->sample.stacks[0].midway);
	assert_true(r->sample.stacks[0].rejected);
}

static int set_up(void **state)
{
	(void)state;
	world = mmap(NULL, sizeof(*world), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	void *runtime = mmap(_PyRuntime, RUNTIME_SIZE, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	return world == MAP_FAILED || runtime != _PyRuntime;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version_by_text),
		EACH_VERSION(test_reused_state, true),
		EACH_VERSION(test_reused_state_of_main, true),
		EACH_VERSION(test_main_thread_has_a_name, false),
		EACH_VERSION(test_thread_gets_a_name, true),
		EACH_VERSION(test_oldest_thread_is_main, false),
		EACH_VERSION(test_forked_in_c, true),
		cmocka_unit_test(test_forked_in_a_thread),
		cmocka_unit_test(test_interpreters_come_and_go),
		EACH_VERSION(test_second_state_does_not_wait, true),
		EACH_VERSION(test_thread_runs_with_one_state, true),
		EACH_VERSION(test_second_state_of_interpreter, true),
		EACH_VERSION(test_state_in_another_thread, true),
		EACH_VERSION(test_midway, false),
	};
	return cmocka_run_group_tests(tests, set_up, NULL);
}
