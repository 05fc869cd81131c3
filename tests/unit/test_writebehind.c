/* SPDX-License-Identifier: MIT */
/* Writing from a separate thread: order, a full pipe, errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/io.h"
#include "base/writebehind.h"

enum { LINES = 100000 };

static void test_order(void **state)
{
	char path[] = "/tmp/fizeau-behind-XXXXXX";
	fz_auto(fz_close_fd) int fd = mkstemp(path);
	uint32_t back[64];
	uint32_t expected = 0;

	(void)state;
	unlink(path);
	assert_true(fz_write_full(fd, "what it held before", 19));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	struct fz_write_behind *w = fz_write_behind_new(fd);
	for (uint32_t i = 0; i < LINES; i++)
		fz_write_behind_add(w, &i, sizeof(i));
	assert_int_equal(fz_write_behind_wait(w), 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), LINES * sizeof(expected));
	assert_int_equal(fz_write_behind_finish(w), 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), LINES * sizeof(expected));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	for (ssize_t n; (n = read(fd, back, sizeof(back))) > 0;)
		for (size_t i = 0; i < (size_t)n / sizeof(*back); i++)
			assert_int_equal(back[i], expected++);
	assert_int_equal(expected, LINES);
	fz_write_behind_free(w);
}

/* A full pipe accepts nothing until its reader reads. */
static void test_write_never_blocks(void **state)
{
	int ends[2];
	char byte = 0;
	size_t n = 0;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	size_t more = 4 * (size_t)fcntl(ends[1], F_GETPIPE_SZ);
	struct fz_write_behind *w = fz_write_behind_new(ends[1]);
	for (size_t i = 0; i < more; i++)
		fz_write_behind_add(w, &byte, 1);
	assert_int_equal(fz_write_behind_error(w), 0);
	while (n < more && read(ends[0], &byte, 1) == 1)
		n++;
	assert_int_equal(n, more);
	assert_int_equal(fz_write_behind_finish(w), 0);
	fz_write_behind_free(w);
	close(ends[0]);
	close(ends[1]);
}

static void test_error(void **state)
{
	fz_auto(fz_close_fd) int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct fz_write_behind *w = fz_write_behind_new(fd);

	(void)state;
	fz_write_behind_add(w, "a", 1);
	while (!fz_write_behind_error(w))
		usleep(1000);
	fz_write_behind_add(w, "b", 1);
	assert_int_equal(fz_write_behind_finish(w), ENOSPC);
	assert_int_equal(fz_write_behind_finish(w), ENOSPC);
	fz_write_behind_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_write_never_blocks),
		cmocka_unit_test(test_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
