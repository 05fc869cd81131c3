/* SPDX-License-Identifier: MIT */
/* Threads on a CPU: what is kept open for each thread, and closed once. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>
#include <cmocka.h>

#include "record/oncpu.h"

static void *sleep_on(void *descriptor)
{
	char byte;

	while (read(*(const int *)descriptor, &byte, 1) < 0)
		;
	return NULL;
}

/* A file that is closed twice can be somebody else's by then. */
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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_closes_once) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
