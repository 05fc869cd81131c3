/* SPDX-License-Identifier: MIT */
/* Why the process to sample could not be opened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/target.h"

/* What is said of a process that has ended, after a try that failed with `before`. */
static int seek_ended(int before)
{
	struct fz_profile *profile = fz_profile_new();
	struct fz_images images = { 0 };
	struct fz_target t;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	fz_target_init(&t, pid, &(struct fz_python_options){ 0 }, profile, &images);
	t.why.code = before;
	assert_false(fz_target_seek(&t));
	int code = t.why.code;
	fz_target_release(&t);
	fz_profile_free(profile);
	return code;
}

static void test_refusal_outlives_process(void **state)
{
	(void)state;
	assert_int_equal(seek_ended(FZ_EPERM), FZ_EPERM);
	assert_int_equal(seek_ended(FZ_EUNSUPPORTED), FZ_EUNSUPPORTED);
	assert_int_equal(seek_ended(FZ_EAGAIN), FZ_EGONE);
	assert_int_equal(seek_ended(0), FZ_EGONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusal_outlives_process),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
