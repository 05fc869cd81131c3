/* SPDX-License-Identifier: MIT */
/* /proc/PID/task/TID/syscall: parsing text, and reading that of a waiting child. */
#include "record/waitcall.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"

static enum fz_waitcall_answer parse(const char *text, struct fz_waitcall *ret)
{
	*ret = (struct fz_waitcall){ .number = 99 };
	return fz_waitcall_parse(text, ret);
}

static void test_lines(void **state)
{
	struct fz_waitcall call;

	(void)state;
	assert_int_equal(parse("running\n", &call), FZ_WAITCALL_RUNS);
	assert_int_equal(parse("-1 0x7ffc 0x7f00\n", &call), FZ_WAITCALL_SLEEPS);
	assert_int_equal(call.number, -1);
	assert_int_equal(call.args[0], 0);
	assert_int_equal(
		parse("202 0x7f0c3c0031f0 0xffffffffffffffff 0x0 0x0 0x0 0x0 0x7ffc 0x7f00\n",
		      &call),
		FZ_WAITCALL_SLEEPS);
	assert_int_equal(call.number, 202);
	assert_true(call.args[0] == 0x7f0c3c0031f0 && call.args[1] == UINT64_MAX);
	assert_int_equal(call.fd_mode, 0);
}

static void test_broken_lines(void **state)
{
	static const char *const lines[] = {
		"",
		"\n",
		"running",
		"runn\n",
		"-1\n",
		"-1 0x7ffc\n",
		"-2 0x7ffc 0x7f00\n",
		"-1 0x7ffc 0x7f00 0x1\n",
		"202\n",
		"202 0x7f0c3c0031f0 0x189 0x0 0x0 0x0 0x0 0x7ffc\n",
		"202 0x7f0c3c0031f0 0x189 0x0 0x0 0x0 0x0 0x7ffc 0x7f",
		"202 0x7f0c3c0031f0 0x189 0x0 0x0 0x0 0x0 0x7ffc 0x\n",
		"202 0x7f0c3c0031f0 0x189 0x0 0x0 0x0 0x0 0x7ffc 0x7f00 0x1\n",
		"202 7f0c3c0031f0 0x189 0x0 0x0 0x0 0x0 0x7ffc 0x7f00\n",
		"202 0x-1 0x189 0x0 0x0 0x0 0x0 0x7ffc 0x7f00\n",
		"99999999999 0x1 0x189 0x0 0x0 0x0 0x0 0x7ffc 0x7f00\n",
		"x 0x1 0x189 0x0 0x0 0x0 0x0 0x7ffc 0x7f00\n",
	};
	struct fz_waitcall call;

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(lines); i++) {
		assert_int_equal(parse(lines[i], &call), FZ_WAITCALL_UNKNOWN);
		assert_int_equal(call.number, 99);
	}
}

static void test_kinds(void **state)
{
	static const struct {
		struct fz_waitcall call;
		enum fz_wait kind;
	} calls[] = {
		{ { SYS_futex, { 0x7f00, 0 }, 0 }, FZ_WAIT_LOCK },
		{ { SYS_recvfrom, { 3, 0 }, 0 }, FZ_WAIT_SOCKET },
		{ { SYS_read, { 3, 0 }, 0140777 }, FZ_WAIT_SOCKET },
		{ { SYS_read, { 3, 0 }, 0010600 }, FZ_WAIT_PIPE },
		{ { SYS_read, { 3, 0 }, 0020600 }, FZ_WAIT_DEVICE },
		{ { SYS_read, { 3, 0 }, 0100600 }, FZ_WAIT_FILE },
		{ { SYS_read, { 3, 0 }, 0600 }, FZ_WAIT_EVENT },
		{ { SYS_read, { 3, 0 }, 0 }, FZ_WAIT_OTHER },
		{ { SYS_ppoll, { 0x7f00, 1 }, 0010600 }, FZ_WAIT_PIPE },
		{ { SYS_ppoll, { 0x7f00, 2 }, 0010600 }, FZ_WAIT_POLL },
		{ { SYS_ppoll, { 0x7f00, 0 }, 0 }, FZ_WAIT_SLEEP },
		{ { SYS_pselect6, { 0, 0 }, 0 }, FZ_WAIT_SLEEP },
		{ { SYS_pselect6, { 4, 0 }, 0 }, FZ_WAIT_POLL },
		{ { SYS_wait4, { 4, 0 }, 0 }, FZ_WAIT_CHILD },
		{ { SYS_clock_nanosleep, { 1, 0 }, 0 }, FZ_WAIT_SLEEP },
		{ { SYS_getpid, { 0, 0 }, 0 }, FZ_WAIT_OTHER },
		{ { -1, { 0, 0 }, 0 }, FZ_WAIT_MEMORY },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(calls); i++)
		assert_int_equal(fz_waitcall_kind(&calls[i].call), calls[i].kind);
}

/* The state of such a child according to /proc. */
static enum fz_wait wait_of_child(void (*wait)(int fd), int fd)
{
	fz_auto(fz_process_release) struct fz_process process = { 0 };
	enum fz_waitcall_answer answer = FZ_WAITCALL_RUNS;
	struct fz_waitcall call;
	char path[64];
	pid_t child = fork();

	if (child == 0) {
		wait(fd);
		_exit(0);
	}
	assert_int_equal(fz_process_open(&process, child, NULL), 0);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", child, child);
	for (int i = 0; i < 1000 && answer == FZ_WAITCALL_RUNS; i++) {
		usleep(10000);
		fz_auto(fz_free_ptr) char *text = fz_read_small(path, FZ_WAITCALL_TEXT, NULL);
		assert_non_null(text);
		answer = fz_waitcall_parse(text, &call);
	}
	assert_int_equal(answer, FZ_WAITCALL_SLEEPS);
	fz_waitcall_find_file(&call, &process);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return fz_waitcall_kind(&call);
}

static void read_one(int fd)
{
	uint64_t word;

	(void)!read(fd, &word, sizeof(word));
}

static void poll_one(int fd)
{
	poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, -1);
}

static void sleep_long(int fd)
{
	(void)fd;
	sleep(100);
}

static void test_real(void **state)
{
	int sockets[2], pipes[2], event = eventfd(0, 0);

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(wait_of_child(read_one, sockets[0]), FZ_WAIT_SOCKET);
	assert_int_equal(wait_of_child(read_one, pipes[0]), FZ_WAIT_PIPE);
	assert_int_equal(wait_of_child(read_one, event), FZ_WAIT_EVENT);
	assert_int_equal(wait_of_child(poll_one, pipes[0]), FZ_WAIT_PIPE);
	assert_int_equal(wait_of_child(sleep_long, 0), FZ_WAIT_SLEEP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_broken_lines),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_real),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
