/* SPDX-License-Identifier: MIT */
/* Packages installed for a Python are part of a benchmark's environment. Uses real folders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/installed.h"
#include "make_folder.h"

static char root[] = "/tmp/fz-packages-XXXXXX";

static char *described(const char *called, const char *path)
{
	fz_auto(fz_free_ptr) char *a = fz_asprintf("%s/%s", root, called);
	fz_auto(fz_free_ptr) char *b = fz_asprintf("%s/%s", root, path);
	struct fz_buf out = { 0 };

	fz_installed_describe(a, b, &out);
	return out.p ? out.p : fz_strdup("");
}

static void packages_are_counted_by_name_and_version(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(root));
	/* Of the user there are none. */
	setenv("HOME", root, 1);
	make_folder(root, "usr/lib/python3/dist-packages/attrs-22.2.0.egg-info");
	make_folder(root, "venv/lib/python3.11/site-packages/pytest-7.2.1.dist-info");
	make_folder(root, "venv/lib/python3.11/site-packages/pytest");
	fz_auto(fz_free_ptr) char *other = described("usr/bin/dash", "usr/bin/dash");
	assert_string_equal(other, "");
	fz_auto(fz_free_ptr) char *none = described("opt/bin/python3", "opt/bin/python3.11");
	assert_string_equal(none, "packages 0 0000000000000000\n");
	fz_auto(fz_free_ptr) char *usr = described("usr/bin/python3", "usr/bin/python3.11");
	assert_memory_equal(usr, "packages 1 ", 11);
	/* The virtual environment's, and those of the interpreter that it leads to. */
	fz_auto(fz_free_ptr) char *venv = described("venv/bin/python", "usr/bin/python3.11");
	assert_memory_equal(venv, "packages 2 ", 11);

	make_folder(root, "venv/lib/python3.11/site-packages/packaging-23.0.dist-info");
	fz_auto(fz_free_ptr) char *more = described("venv/bin/python", "usr/bin/python3.11");
	assert_memory_equal(more, "packages 3 ", 11);

	fz_auto(fz_free_ptr) char *old =
		fz_asprintf("%s/venv/lib/python3.11/site-packages/packaging-23.0.dist-info", root);
	assert_int_equal(rmdir(old), 0);
	make_folder(root, "venv/lib/python3.11/site-packages/packaging-24.0.dist-info");
	fz_auto(fz_free_ptr) char *newer = described("venv/bin/python", "usr/bin/python3.11");
	assert_memory_equal(newer, "packages 3 ", 11);
	assert_string_not_equal(newer, more);

	fz_auto(fz_free_ptr) char *command = fz_asprintf("rm -rf %s", root);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packages_are_counted_by_name_and_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
