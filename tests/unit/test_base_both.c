/* SPDX-License-Identifier: MIT */
/* Doing two things at once. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/thread.h"

struct work {
	int done;
	bool signals;
	pthread_t thread;
	pthread_barrier_t *meeting;
};

static void meet(void *arg)
{
	struct work *w = arg;
	sigset_t blocked;

	if (w->meeting)
		pthread_barrier_wait(w->meeting);
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	w->signals = !sigismember(&blocked, SIGINT);
	w->thread = pthread_self();
	w->done++;
}

/* Each waits for the other: one after the other would never end. */
static void test_at_once(void **state)
{
	pthread_barrier_t meeting;
	struct work first = { .meeting = &meeting }, second = { .meeting = &meeting };

	(void)state;
	pthread_barrier_init(&meeting, NULL, 2);
	fz_both(meet, &first, &second);
	pthread_barrier_destroy(&meeting);
	assert_int_equal(first.done, 1);
	assert_int_equal(second.done, 1);
}

/* A signal that ends us, or requests it, is the caller's. */
static void test_signals(void **state)
{
	struct work first = { 0 }, second = { 0 };
	sigset_t after;

	(void)state;
	fz_both(meet, &first, &second);
	assert_true(pthread_equal(first.thread, pthread_self()));
	assert_true(first.signals);
	assert_false(second.signals);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	assert_false(sigismember(&after, SIGINT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_at_once),
		cmocka_unit_test(test_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
