/* SPDX-License-Identifier: MIT */
/* Reading a process, also one whose main thread has ended before another. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/process.h"

static uint64_t secret = 0x5ec2e7;

static void *stay(void *unused)
{
	pause();
	return unused;
}

/* The child's main thread ends when it may. */
static pid_t start(int may_end)
{
	pthread_t thread;
	char byte;
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_create(&thread, NULL, stay, NULL);
	if (read(may_end, &byte, 1) == 1)
		pthread_exit(NULL);
	_exit(1);
}

static void wait_for_state(pid_t pid, char state)
{
	while (fz_process_thread_state(pid, pid) != state)
		usleep(1000);
}

static void assert_readable(struct fz_process *p)
{
	fz_auto(fz_mappings_release) struct fz_mappings maps = { 0 };
	char exe[4096], own[4096] = { 0 };
	struct stat opened, known;
	uint64_t seen;

	assert_true(fz_process_alive(p));
	assert_true(fz_process_same_image(p));
	assert_true(fz_process_read_u64(p, (uintptr_t)&secret, &seen));
	assert_int_equal(seen, secret);
	assert_false(fz_process_read_u64(p, 8, &seen));
	assert_int_equal(fz_process_maps(p, &maps, NULL), 0);
	assert_true(maps.n > 3);
	assert_true(fz_process_link(p, "exe", exe, sizeof(exe)));
	assert_true(readlink("/proc/self/exe", own, sizeof(own) - 1) > 0);
	assert_string_equal(exe, own);
	fz_auto(fz_close_fd) int fd = fz_process_open_executable(p->pid);
	assert_int_equal(fstat(fd, &opened), 0);
	assert_int_equal(stat(own, &known), 0);
	assert_int_equal(opened.st_ino, known.st_ino);
}

static void test_main_thread_ends(void **state)
{
	struct fz_process before, after;
	struct fz_process_threads threads;
	int may_end[2];

	(void)state;
	assert_int_equal(pipe(may_end), 0);
	pid_t pid = start(may_end[0]);
	assert_int_equal(fz_process_open(&before, pid, NULL), 0);
	assert_int_equal(fz_process_live(pid), pid);
	assert_readable(&before);
	assert_int_equal(write(may_end[1], "", 1), 1);
	wait_for_state(pid, 'Z');
	assert_int_not_equal(fz_process_live(pid), pid);
	assert_readable(&before);
	assert_int_equal(fz_process_open(&after, pid, NULL), 0);
	assert_readable(&after);
	assert_int_equal(fz_process_threads(&after, &threads, NULL), 0);
	assert_int_equal(threads.n, 1);
	assert_int_equal(threads.list[0].tid, fz_process_live(pid));
	fz_process_threads_release(&threads);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_false(fz_process_alive(&before));
	assert_false(fz_process_same_image(&before));
	assert_false(fz_process_same_image(&after));
	assert_int_equal(fz_process_live(pid), pid);
	fz_process_release(&before);
	fz_process_release(&after);
	close(may_end[0]);
	close(may_end[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_main_thread_ends) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
