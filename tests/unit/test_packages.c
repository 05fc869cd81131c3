/* SPDX-License-Identifier: MIT */
/* Versions of the packages that a recorded program executed. Uses real folders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/io.h"
#include "make_folder.h"
#include "record/packages.h"

static char root[] = "/tmp/fz-record-packages-XXXXXX";

static int open_below(void *arg, const char *path)
{
	fz_auto(fz_free_ptr) char *all = fz_asprintf("%s%s", (const char *)arg, path);

	return open(all, O_RDONLY | O_CLOEXEC);
}

static void write_file(const char *path, const char *text)
{
	fz_auto(fz_free_ptr) char *all = fz_asprintf("%s%s", root, path);
	FILE *f = fopen(all, "we");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void run(struct fz_profile *p, const char *file)
{
	struct fz_function f = { .name = fz_profile_string(p, FZ_STR("f")),
				 .file = fz_profile_string(p, fz_str_of(file)),
				 .module = fz_profile_string(p, FZ_STR("")),
				 .kind = FZ_KIND_PYTHON };

	fz_profile_function(p, &f);
}

#define SITE "/venv/lib/python3.12/site-packages/"
#define DIST "/usr/lib/python3/dist-packages/"

static void packages_that_ran_have_versions(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();

	make_folder(root, SITE "Django-3.2.25.dist-info");
	make_folder(root, SITE "zope_interface-6.4.post2.dist-info");
	make_folder(root, SITE "not_run-1.0.dist-info");
	/* Its module has another name. */
	make_folder(root, SITE "PyYAML-6.0.1.dist-info");
	write_file(SITE "PyYAML-6.0.1.dist-info/top_level.txt", "_yaml\nyaml\n");
	make_folder(root, DIST "six-1.16.0.egg-info");
	make_folder(root, DIST "old_one-2.0-py3.11.egg-info");
	make_folder(root, DIST "-.dist-info");
	make_folder(root, DIST "x-.dist-info");
	run(p, SITE "django/db/models/query.py");
	run(p, SITE "zope-interface/ro.py");
	run(p, SITE "yaml/loader.py");
	run(p, DIST "six.py");
	run(p, DIST "old_one/a.py");
	run(p, DIST "x/a.py");
	run(p, "/usr/lib/python3.12/json/decoder.py");
	run(p, "<string>");
	fz_packages_record(p, open_below, root);
	assert_string_equal(fz_profile_fact(p, "packages").p,
			    "Django 3.2.25, old_one 2.0, PyYAML 6.0.1, six 1.16.0, "
			    "zope_interface 6.4.post2");
	/* Another process of the same recording adds its own and repeats the rest. */
	make_folder(root, "/app/site-packages/attrs-23.1.0.dist-info");
	run(p, "/app/site-packages/attrs/make.py");
	fz_packages_record(p, open_below, root);
	assert_string_equal(fz_profile_fact(p, "packages").p,
			    "attrs 23.1.0, Django 3.2.25, old_one 2.0, PyYAML 6.0.1, six 1.16.0, "
			    "zope_interface 6.4.post2");
}

static void program_without_packages_stores_none(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();

	run(p, "/usr/lib/python3.12/json/decoder.py");
	run(p, "/gone/site-packages/a/b.py");
	fz_packages_record(p, open_below, root);
	assert_int_equal(fz_profile_fact(p, "packages").n, 0);
}

static int remove_all(void **state)
{
	(void)state;
	fz_auto(fz_free_ptr) char *command = fz_asprintf("rm -rf %s", root);

	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packages_that_ran_have_versions),
		cmocka_unit_test(program_without_packages_stores_none),
	};

	if (!mkdtemp(root))
		return 1;
	return cmocka_run_group_tests(tests, NULL, remove_all);
}
