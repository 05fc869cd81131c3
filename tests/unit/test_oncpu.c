/* SPDX-License-Identifier: MIT */
/* Threads on a CPU: what is kept open for each thread, and closed once; how much is lent to threads
 * that have just begun. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "record/oncpu.h"

static void *sleep_on(void *descriptor)
{
	char byte;

	while (read(*(const int *)descriptor, &byte, 1) < 0)
		;
	return NULL;
}

/* A descriptor that is closed twice may belong to another file by then. */
static void test_closes_once(void **state)
{
	struct fz_process self;
	struct fz_error err;
	pthread_t thread;
	bool stopped;
	int line[2];
	(void)state;

	assert_int_equal(pipe2(line, O_CLOEXEC), 0);
	assert_int_equal(pthread_create(&thread, NULL, sleep_on, &line[0]), 0);
	assert_int_equal(fz_process_open(&self, getpid(), &err), 0);
	struct fz_oncpu *o = fz_oncpu_new(getpid(), &self, false);
	fz_oncpu_check(o, (uint64_t)getpid(), 1, 1, 1);
	fz_oncpu_asleep(o, (uint64_t)getpid(), &stopped);
	int others[4];
	for (size_t i = 0; i < FZ_ARRAY_LEN(others); i++)
		others[i] = fcntl(line[0], F_DUPFD_CLOEXEC, 0);
	fz_oncpu_free(o);
	for (size_t i = 0; i < FZ_ARRAY_LEN(others); i++)
		assert_int_equal(close(others[i]), 0);
	fz_process_release(&self);
	close(line[1]);
	pthread_join(thread, NULL);
	close(line[0]);
}

static _Atomic pid_t spins;
static atomic_bool may_end;

static void *spin(void *unused)
{
	spins = gettid();
	while (!may_end)
		;
	return unused;
}

/* What a new thread is answered in its only sample. */
static enum fz_oncpu_answer check_new_thread(struct fz_oncpu *o, int64_t now, int64_t elapsed)
{
	pthread_t thread;

	spins = 0;
	may_end = false;
	assert_int_equal(pthread_create(&thread, NULL, spin, NULL), 0);
	while (!spins)
		sched_yield();
	enum fz_oncpu_answer answer = fz_oncpu_check(o, (uint64_t)spins, 1, now, elapsed);
	may_end = true;
	pthread_join(thread, NULL);
	return answer;
}

/* Threads that are sampled once are credited at most what the process has used. */
static void test_loans_are_limited(void **state)
{
	enum { THREADS = 128 };
	struct timespec resolution;
	int64_t before = fz_clock_read(CLOCK_PROCESS_CPUTIME_ID), on_cpu = 0, now = FZ_SECOND;
	struct fz_oncpu *o = fz_oncpu_new(getpid(), NULL, false);
	(void)state;

	assert_int_equal(clock_getres(CLOCK_MONOTONIC_COARSE, &resolution), 0);
	int64_t tick = resolution.tv_nsec;
	for (int i = 0; i < THREADS; i++, now += tick) {
		enum fz_oncpu_answer answer = check_new_thread(o, now, tick);
		if (answer == FZ_ONCPU_UNKNOWN)
			break;
		assert_true(answer == FZ_ONCPU_YES || answer == FZ_ONCPU_WAITING);
		on_cpu += answer == FZ_ONCPU_YES ? tick : 0;
	}
	int64_t used = fz_clock_read(CLOCK_PROCESS_CPUTIME_ID) - before;
	fz_oncpu_free(o);
	if (now == FZ_SECOND)
		skip();
	assert_true(on_cpu > 0);
	assert_true(on_cpu <= used + 2 * tick);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_closes_once),
		cmocka_unit_test(test_loans_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
