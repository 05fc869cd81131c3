/* SPDX-License-Identifier: MIT */
/* Parsing /proc/PID/stat for processes with misleading names. */
#include "record/procstat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void test_own(void **state)
{
	struct fz_procstat now, again;

	(void)state;
	assert_true(fz_procstat_read(getpid(), 0, &now));
	assert_int_equal(now.state, 'R');
	assert_int_equal(now.parent, getppid());
	assert_false(now.is_kernel);
	assert_true(now.start_time > 0 && now.start_stack > 0);
	assert_true(now.cpu < CPU_SETSIZE);
	prctl(PR_SET_NAME, ") S 1 (x 9 ) ");
	assert_true(fz_procstat_read(getpid(), getpid(), &again));
	assert_int_equal(again.state, 'R');
	assert_int_equal(again.parent, getppid());
	assert_int_equal(again.start_time, now.start_time);
	while (again.used == now.used && clock() < CLOCKS_PER_SEC)
		assert_true(fz_procstat_read(getpid(), 0, &again));
	assert_true(again.used > now.used);
}

/* Only the flags distinguish a kernel thread from a process that has released its memory. */
static void test_kernel(void **state)
{
	static const char *const lines[] = {
		"2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0"
		" 0 0 0 0 0 0 0 1 0 0\n",
		"9 (sh) R 1 9 9 0 -1 4194316 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0"
		" 0 0 0 0 0 0 0 1 0 0\n",
	};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct fz_procstat now;
		FILE *f = tmpfile();

		assert_non_null(f);
		fputs(lines[i], f);
		fflush(f);
		assert_true(fz_procstat_read_fd(fileno(f), &now));
		assert_int_equal(now.is_kernel, i == 0);
		fclose(f);
	}
}

static void test_children(void **state)
{
	pid_t found[4], child = fork();
	struct fz_procstat now;

	(void)state;
	if (child == 0) {
		pause();
		_exit(0);
	}
	assert_int_equal(fz_procstat_children(getpid(), getpid(), found, 4), 1);
	assert_int_equal(found[0], child);
	assert_int_equal(fz_procstat_children(getpid(), getpid(), found, 0), 0);
	assert_int_equal(fz_procstat_children_of_all(getpid(), found, 4), 1);
	assert_int_equal(found[0], child);
	assert_int_equal(fz_procstat_children_of_all(getpid(), found, 0), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(fz_procstat_children(getpid(), getpid(), found, 4), 0);
	assert_false(fz_procstat_read(child, 0, &now));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_children),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
