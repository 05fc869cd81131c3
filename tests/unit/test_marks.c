/* SPDX-License-Identifier: MIT */
/* Marks by seccomp: the program's are found, and a 32-bit call of the same number is not one. The
 * program is this one, started again with an argument. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/marks.h"

enum { FOREIGN = 32, MARKED = 3 };

#ifdef __x86_64__
/* The number of access() to us is that of mount() to a 32-bit program. */
static void foreign_call(const char *path)
{
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long result = SYS_access;

	if (low == MAP_FAILED)
		_exit(77);
	snprintf(low, 4096, "%s", path);
	__asm__ volatile("push %%rbx\n\tmov %1, %%rbx\n\tint $0x80\n\tpop %%rbx"
			 : "+a"(result)
			 : "r"(low), "c"(0L), "d"(0L), "S"(0L), "D"(0L)
			 : "memory", "r8", "r9", "r10", "r11");
}
#else
static void foreign_call(const char *path)
{
	(void)path;
	_exit(77);
}
#endif

static int be_program(void)
{
	for (int i = 0; i < MARKED; i++) {
		access("/.fizeau/start/own", F_OK);
		access("/.fizeau/stop/own", F_OK);
	}
	for (int i = 0; i < FOREIGN; i++) {
		foreign_call("/.fizeau/start/foreign");
		foreign_call("/.fizeau/stop/foreign");
	}
	return 0;
}

static char *self;

static void test_marks(void **state)
{
	char *argv[] = { self, (char *)"program", NULL };
	struct fz_launch_place place = { .no_input = true, .output = -1, .errors = -1 };
	fz_auto(fz_marks_release) struct fz_marks m = { 0 };
	struct fz_error err;
	sigset_t mask, ending;

	(void)state;
	sigprocmask(SIG_BLOCK, NULL, &mask);
	sigemptyset(&ending);
	int rc = fz_marks_run(&m, argv, &place, &mask, &ending, 20, &err);
	if (rc == FZ_EUNSUPPORTED)
		skip();
	assert_int_equal(rc, 0);
	assert_int_equal(m.n, 1);
	assert_true(fz_str_eq(m.list[0].name, FZ_STR("own")));
	assert_int_equal(m.list[0].n, MARKED);
	/* A kernel without 32-bit programs ends it with a signal. */
	if (m.status)
		skip();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_marks) };

	self = argv[0];
	return argc > 1 ? be_program() : cmocka_run_group_tests(tests, NULL, NULL);
}
