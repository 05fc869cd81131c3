/* SPDX-License-Identifier: MIT */
/* Programs that the agent runs for others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/child.h"

static void become_test(const void *arg, int out)
{
	dup2(out, STDOUT_FILENO);
	execlp("sh", "sh", "-c", arg, NULL);
}

static bool run(const char *script, struct fz_buf *ret)
{
	const struct fz_agent_question q = {
		.user = getuid(), .group = getgid(), .become = become_test, .arg = script
	};

	return fz_agent_run_child(&q, ret);
}

static void test_answers(void **state)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	(void)state;
	assert_true(run("echo so; echo not >&2", &text));
	assert_string_equal(text.p, "so\n");
	assert_false(run("exit 3", &text));
}

/* Libraries open files without O_CLOEXEC: libcurl's connection to the server, for example. */
static void test_inherits_nothing(void **state)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	fz_auto(fz_close_fd) int fd = open("/dev/null", O_RDONLY);
	char script[64];

	(void)state;
	assert_true(fd > STDERR_FILENO);
	snprintf(script, sizeof(script), "test ! -e /proc/self/fd/%d", fd);
	assert_true(run(script, &text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_inherits_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
