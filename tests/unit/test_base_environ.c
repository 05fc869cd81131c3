/* SPDX-License-Identifier: MIT */
/* Environments for other programs; our own stays unchanged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/environ.h"

static char *const some[] = { (char *)"A=1", (char *)"AB=2",
			      (char *)"EMPTY=", (char *)"no variable", NULL };

static void variables_are_found_by_their_whole_name(void **state)
{
	fz_auto(fz_environ_release) struct fz_environ e;

	(void)state;
	fz_environ_init(&e, some);
	assert_string_equal(fz_environ_get(&e, "A"), "1");
	assert_string_equal(fz_environ_get(&e, "AB"), "2");
	assert_string_equal(fz_environ_get(&e, "EMPTY"), "");
	assert_null(fz_environ_get(&e, "B"));
	assert_null(fz_environ_get(&e, "no variable"));
	assert_int_equal(e.n, 4);
	assert_null(e.list[4]);
}

static void order_is_preserved(void **state)
{
	fz_auto(fz_environ_release) struct fz_environ e;

	(void)state;
	fz_environ_init(&e, some);
	fz_environ_set(&e, "A", "one");
	fz_environ_unset(&e, "AB");
	fz_environ_unset(&e, "AB");
	fz_environ_set(&e, "Z", "26");
	assert_string_equal(e.list[0], "A=one");
	assert_string_equal(e.list[1], "EMPTY=");
	assert_string_equal(e.list[3], "Z=26");
	assert_int_equal(e.n, 4);
	assert_null(e.list[4]);
}

static void unset_removes_every_copy(void **state)
{
	static char *const twice[] = { (char *)"A=1",   (char *)"B_1=x", (char *)"A=2",
				       (char *)"B_2=y", (char *)"BC=z",  NULL };
	fz_auto(fz_environ_release) struct fz_environ e;

	(void)state;
	fz_environ_init(&e, twice);
	fz_environ_unset(&e, "A");
	assert_null(fz_environ_get(&e, "A"));
	fz_environ_unset_prefix(&e, "B_");
	assert_int_equal(e.n, 1);
	assert_string_equal(e.list[0], "BC=z");
	assert_null(e.list[1]);
}

static void words_are_put_in_front(void **state)
{
	fz_auto(fz_environ_release) struct fz_environ e;

	(void)state;
	fz_environ_init(&e, some);
	fz_environ_prepend(&e, "A", "0", ':');
	fz_environ_prepend(&e, "EMPTY", "x", ':');
	fz_environ_prepend(&e, "NEW", "y", ',');
	assert_string_equal(fz_environ_get(&e, "A"), "0:1");
	assert_string_equal(fz_environ_get(&e, "EMPTY"), "x");
	assert_string_equal(fz_environ_get(&e, "NEW"), "y");
}

static void own_environment_is_never_changed(void **state)
{
	fz_auto(fz_environ_release) struct fz_environ e;
	size_t n = 0;

	(void)state;
	fz_environ_init(&e, NULL);
	while (environ[n])
		n++;
	assert_int_equal(e.n, n);
	for (int i = 0; i < 100; i++) {
		char name[] = { 'F', 'Z', '_', (char)('A' + i % 26), (char)('A' + i / 26), 0 };
		fz_environ_set(&e, name, "value");
		assert_null(getenv(name));
	}
	assert_int_equal(e.n, n + 100);
	fz_environ_unset(&e, "PATH");
	assert_non_null(getenv("PATH"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_are_found_by_their_whole_name),
		cmocka_unit_test(order_is_preserved),
		cmocka_unit_test(unset_removes_every_copy),
		cmocka_unit_test(words_are_put_in_front),
		cmocka_unit_test(own_environment_is_never_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
