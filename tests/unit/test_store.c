/* SPDX-License-Identifier: MIT */
/* The local store: where it is, names of recordings, order, and resolving what a user writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "format/fz.h"
#include "store/store.h"

static char *folder;

static int set_up(void **state)
{
	char template[] = "/tmp/fz-store-XXXXXX";

	(void)state;
	folder = fz_strdup(mkdtemp(template));
	return chdir(folder);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static int tear_down(void **state)
{
	(void)state;
	int rc = chdir("/") || nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(folder);
	return rc;
}

/* A recording of `program` in the store; its path. */
static char *record(const char *program, const char *file_program)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	fz_auto(fz_free_ptr) char *store = fz_store_folder(folder);
	struct fz_fz_writer *writer;
	struct fz_error err;
	char *path;
	int fd;

	assert_int_equal(fz_store_create(store, file_program, &path, &fd, &err), 0);
	fz_profile_add_run(p, &(struct fz_run){ 0 });
	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	fz_profile_set_fact(p, "program", fz_str_of(program));
	assert_int_equal(fz_fz_writer_new(fd, p, &writer, &err), 0);
	assert_int_equal(fz_fz_writer_finish(writer, &err), 0);
	fz_fz_writer_free(writer);
	close(fd);
	usleep(2000); /* names are a millisecond apart */
	return path;
}

static void test_folder(void **state)
{
	(void)state;
	fz_auto(fz_free_ptr) char *sub = fz_asprintf("%s/a/b", folder);
	fz_auto(fz_free_ptr) char *git = fz_asprintf("%s/.git", folder);
	fz_auto(fz_free_ptr) char *in_sub = fz_asprintf("%s/.fizeau", sub);
	fz_auto(fz_free_ptr) char *in_root = fz_asprintf("%s/.fizeau", folder);

	fz_auto(fz_free_ptr) char *without = fz_store_folder(sub);
	assert_string_equal(without, in_sub);
	assert_int_equal(mkdir(git, 0700), 0);
	fz_auto(fz_free_ptr) char *with = fz_store_folder(sub);
	assert_string_equal(with, in_root);
}

static void test_create(void **state)
{
	struct stat st;

	(void)state;
	fz_auto(fz_free_ptr) char *path = record("x", "../odd name;\n\x1b");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_non_null(strstr(path, "/.fizeau/"));
	assert_non_null(strstr(path, "-_._odd_name___-"));
	size_t n;
	fz_auto(fz_free_ptr) char *ignore = fz_read_small(".fizeau/.gitignore", 100, &n);
	assert_string_equal(ignore, "*\n");
}

/* What root records in somebody's folder is theirs. */
static void test_owner(void **state)
{
	static const uid_t somebody = 65534;
	struct stat st;

	(void)state;
	if (geteuid() != 0 || chown(folder, somebody, somebody))
		skip();
	fz_auto(fz_free_ptr) char *path = record("x", "x");
	fz_auto(fz_free_ptr) char *again = record("x", "x");
	fz_auto(fz_free_ptr) char *store = fz_store_folder(folder);
	fz_auto(fz_free_ptr) char *other = fz_asprintf("%s/made-after", folder);
	assert_int_equal(stat(store, &st), 0);
	assert_int_equal(st.st_uid, somebody);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, somebody);
	assert_int_equal(stat(again, &st), 0);
	assert_int_equal(st.st_gid, somebody);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(mkdir(other, 0700), 0);
	assert_int_equal(stat(other, &st), 0);
	assert_int_equal(st.st_uid, 0);
}

static void test_resolve(void **state)
{
	struct fz_error err;
	char *path = NULL;

	(void)state;
	fz_auto(fz_free_ptr) char *first = record("a.py", "a.py");
	fz_auto(fz_free_ptr) char *second = record("b.py", "b.py");
	assert_int_equal(fz_store_resolve("@1", &path, &err), 0);
	assert_string_equal(path, second);
	free(path);
	assert_int_equal(fz_store_resolve("@2", &path, &err), 0);
	assert_string_equal(path, first);
	free(path);
	assert_int_equal(fz_store_resolve(first, &path, &err), 0);
	assert_string_equal(path, first);
	free(path);
	path = NULL;
	assert_int_equal(fz_store_resolve("@3", &path, &err), FZ_EINPUT);
	assert_int_equal(fz_store_resolve("@0", &path, &err), FZ_EUSAGE);
	assert_int_equal(fz_store_resolve("no-such", &path, &err), FZ_EINPUT);
	assert_int_equal(fz_store_resolve("", &path, &err), FZ_EINPUT);
	assert_null(path);
}

static void test_last_two(void **state)
{
	char *base, *head;
	struct fz_error err;

	(void)state;
	fz_auto(fz_free_ptr) char *a = record("a.py", "a.py");
	assert_int_equal(fz_store_last_two(&base, &head, &err), FZ_EINPUT);
	fz_auto(fz_free_ptr) char *other = record("b.py", "b.py");
	(void)other;
	assert_int_equal(fz_store_last_two(&base, &head, &err), FZ_EINPUT);
	fz_auto(fz_free_ptr) char *b = record("a.py", "a.py");
	assert_int_equal(fz_store_last_two(&base, &head, &err), 0);
	assert_string_equal(base, a);
	assert_string_equal(head, b);
	free(base);
	free(head);
}

/* A file that is no recording must not stand in the way of the others. */
static void test_damaged(void **state)
{
	char *base, *head;
	struct fz_error err;

	(void)state;
	fz_auto(fz_free_ptr) char *a = record("a.py", "a.py");
	fz_auto(fz_free_ptr) char *b = record("a.py", "a.py");
	fz_auto(fz_free_ptr) char *c = record("a.py", "a.py");
	assert_int_equal(truncate(c, 5), 0);
	assert_int_equal(fz_store_last_two(&base, &head, &err), 0);
	assert_string_equal(base, a);
	assert_string_equal(head, b);
	free(base);
	free(head);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_folder, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_create, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_owner, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_resolve, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_last_two, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_damaged, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
