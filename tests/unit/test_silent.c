/* SPDX-License-Identifier: MIT */
/* Threads that use CPU time but have no stack in a profile: one of our own computes for a while by
 * its CPU clock and then waits. */
#include "record/silent.h"

#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static sem_t computed, may_end;
static pid_t computes;

static void *compute(void *unused)
{
	struct timespec t;

	computes = gettid();
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while (t.tv_nsec < 60000000);
	sem_post(&computed);
	sem_wait(&may_end);
	return unused;
}

static void add_thread(struct fz_profile *p, pid_t tid)
{
	fz_profile_thread(p,
			  &(struct fz_thread){ .pid = (uint64_t)getpid(), .tid = (uint64_t)tid });
}

static void test_threads(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	struct fz_silent q = { 0 }, late = { 0 };
	pthread_t thread;

	(void)state;
	add_thread(p, getpid());
	sem_init(&computed, 0, 0);
	sem_init(&may_end, 0, 0);
	fz_silent_read(&q, getpid(), false);
	assert_int_equal(pthread_create(&thread, NULL, compute, NULL), 0);
	while (sem_wait(&computed))
		;
	/* It began after the first reading: all of its time counts. */
	fz_silent_read(&q, getpid(), false);
	struct fz_silent_sum sum = fz_silent_sum(&q, p);
	assert_int_equal(sum.threads, 1);
	assert_true(sum.used >= 50000000);
	/* A thread that is seen later counts from then on, unless all of its time is wanted. */
	fz_silent_read(&late, getpid(), false);
	assert_int_equal(fz_silent_sum(&late, p).threads, 0);
	fz_silent_release(&late);
	fz_silent_read(&late, getpid(), true);
	assert_int_equal(fz_silent_sum(&late, p).threads, 1);
	fz_silent_restart(&late);
	assert_int_equal(fz_silent_sum(&late, p).threads, 0);
	/* With a stack it is not silent, */
	add_thread(p, computes);
	assert_int_equal(fz_silent_sum(&q, p).threads, 0);
	/* unless samples weigh only a part of its time. */
	fz_silent_charge(&q, 1, sum.used / 2);
	assert_int_equal(fz_silent_sum(&q, p).threads, 1);
	assert_int_equal(fz_silent_sum(&q, p).used, sum.used - sum.used / 2);
	fz_silent_charge(&q, 1, sum.used * 45 / 100);
	assert_int_equal(fz_silent_sum(&q, p).threads, 0);
	sem_post(&may_end);
	pthread_join(thread, NULL);
	/* What it used stays known when it has ended. */
	fz_silent_read(&q, getpid(), false);
	assert_int_equal(q.n, 2);
	fz_silent_release(&q);
	fz_silent_release(&late);
}

/* Another thread with the number of one that ended has less CPU time than that: all of it is new.
 */
static void test_reused_number(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	struct fz_silent q = { 0 };

	(void)state;
	fz_silent_read(&q, getpid(), true);
	assert_int_equal(q.n, 1);
	int64_t hour = 3600 * 1000000000LL, used = q.threads[0].last;
	q.threads[0].last = hour;
	fz_silent_read(&q, getpid(), false);
	assert_int_equal(q.n, 2);
	assert_int_equal(q.threads[0].last, hour);
	assert_int_equal(q.threads[1].first, 0);
	assert_in_range(q.threads[1].last, used, hour - 1);
	assert_in_range(fz_silent_sum(&q, p).used, hour, 2 * hour);
	fz_silent_release(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reused_number),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
