/* SPDX-License-Identifier: MIT */
/* The local store: its location, names and order of recordings, and resolving a user's references.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
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

/* A recording in the store with facts: key, value, key, ... NULL; its path. */
static char *record_facts(const char *file_program, const char *const *facts)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	fz_auto(fz_free_ptr) char *store = fz_store_folder(folder);
	struct fz_file_writer *writer;
	struct fz_error err;
	char *path;
	int fd;

	assert_int_equal(fz_store_create(store, file_program, &path, &fd, &err), 0);
	fz_profile_add_run(p, &(struct fz_run){ 0 });
	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	for (size_t i = 0; facts[i]; i += 2)
		fz_profile_set_fact(p, facts[i], fz_str_of(facts[i + 1]));
	writer = fz_file_writer_new(fd, p);
	assert_int_equal(fz_file_writer_finish(writer, &err), 0);
	fz_file_writer_free(writer);
	close(fd);
	usleep(2000); /* names are a millisecond apart */
	return path;
}

static char *record(const char *program, const char *file_program)
{
	return record_facts(file_program, (const char *[]){ "program", program, NULL });
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

/* A recording that root makes in a user's folder belongs to that user. */
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
	bool namesakes;
	struct fz_error err;

	(void)state;
	fz_auto(fz_free_ptr) char *a = record("a.py", "a.py");
	assert_int_equal(fz_store_last_two(&base, &head, &namesakes, &err), FZ_EINPUT);
	fz_auto(fz_free_ptr) char *other = record("b.py", "b.py");
	(void)other;
	assert_int_equal(fz_store_last_two(&base, &head, &namesakes, &err), FZ_EINPUT);
	fz_auto(fz_free_ptr) char *b = record("a.py", "a.py");
	assert_int_equal(fz_store_last_two(&base, &head, &namesakes, &err), 0);
	assert_string_equal(base, a);
	assert_string_equal(head, b);
	free(base);
	free(head);
}

/* A file that is not a recording must not hide the others. */
static void test_damaged(void **state)
{
	char *base, *head;
	bool namesakes;
	struct fz_error err;

	(void)state;
	fz_auto(fz_free_ptr) char *a = record("a.py", "a.py");
	fz_auto(fz_free_ptr) char *b = record("a.py", "a.py");
	fz_auto(fz_free_ptr) char *c = record("a.py", "a.py");
	assert_int_equal(truncate(c, 5), 0);
	assert_int_equal(fz_store_last_two(&base, &head, &namesakes, &err), 0);
	assert_string_equal(base, a);
	assert_string_equal(head, b);
	free(base);
	free(head);
}

static char *hold(const char *file_program, int *ret_fd)
{
	fz_auto(fz_free_ptr) char *store = fz_store_folder(folder);
	struct fz_error err;
	char *path;

	assert_int_equal(fz_store_create(store, file_program, &path, ret_fd, &err), 0);
	return path;
}

/* What came to nothing leaves no folder behind, but takes no recording along. */
static void test_discard(void **state)
{
	fz_auto(fz_free_ptr) char *store = fz_store_folder(folder);
	int fd;

	(void)state;
	fz_auto(fz_free_ptr) char *first = hold("a.py", &fd);
	close(fd);
	fz_auto(fz_free_ptr) char *second = hold("b.py", &fd);
	close(fd);
	fz_store_discard(first);
	assert_int_not_equal(access(first, F_OK), 0);
	assert_int_equal(access(second, F_OK), 0);
	fz_store_discard(second);
	assert_int_not_equal(access(store, F_OK), 0);
}

/* What is still being made has no number; what its maker left behind has. */
static void test_open(void **state)
{
	fz_auto(fz_store_list_release) struct fz_store_list done = { 0 }, open = { 0 };
	struct fz_error err;
	struct fz_store_name name;
	char *found;
	int fd;

	(void)state;
	fz_auto(fz_free_ptr) char *a = record("a.py", "a.py");
	fz_auto(fz_free_ptr) char *now = hold("b-c.py", &fd);
	assert_int_equal(fz_store_list_here(&done, &open, &err), 0);
	assert_int_equal(done.n, 1);
	assert_int_equal(open.n, 1);
	assert_string_equal(open.paths[0], now);
	assert_int_equal(fz_store_resolve("@1", &found, &err), 0);
	assert_string_equal(found, a);
	free(found);
	assert_int_equal(fz_store_resolve("@2", &found, &err), FZ_EINPUT);
	assert_non_null(strstr(err.message, "1 recording that is complete"));
	assert_true(fz_store_parse_name(now, &name));
	assert_true(fz_str_eq(name.program, FZ_STR("b_c.py")));
	assert_int_equal(name.pid, getpid());
	assert_true(labs(name.start_unix_ns / 1000000000 - time(NULL)) <= 2);
	assert_false(fz_store_parse_name("x.fz", &name));
	/* A process that lists the folder meanwhile does not take the lock from others. */
	size_t n;
	free(fz_read_small(now, 1, &n));
	assert_int_equal(fz_store_resolve("@2", &found, &err), FZ_EINPUT);
	close(fd);
	assert_int_equal(fz_store_resolve("@1", &found, &err), 0);
	assert_string_equal(found, now);
	free(found);
}

/* Which of three is the base of the last: 0 the first, 1 the second; -1: none. */
static int base_of(const char *const *first, const char *const *second, const char *const *last,
		   bool *ret_namesakes)
{
	fz_auto(fz_free_ptr) char *a = record_facts("x", first);
	fz_auto(fz_free_ptr) char *b = record_facts("x", second);
	fz_auto(fz_free_ptr) char *c = record_facts("x", last);
	char *base, *head;
	struct fz_error err;
	int which = -1;

	if (fz_store_last_two(&base, &head, ret_namesakes, &err) == 0) {
		assert_string_equal(head, c);
		which = strcmp(base, b) == 0;
		free(base);
		free(head);
	}
	unlink(a);
	unlink(b);
	unlink(c);
	return which;
}

#define FACTS(...) ((const char *[]){ __VA_ARGS__, NULL })

static void test_same_program(void **state)
{
	bool namesakes;

	(void)state;
	/* Another environment's tool and package are the same, and the last of them. */
	assert_int_equal(base_of(FACTS("script", "/v/bin/tool"), FACTS("script", "/w/bin/tool"),
				 FACTS("script", "/v/bin/tool"), &namesakes),
			 1);
	assert_false(namesakes);
	assert_int_equal(base_of(FACTS("script", "/v/lib/python3.11/site-packages/p/a.py"),
				 FACTS("script", "/w/site-packages/p/a.py"),
				 FACTS("script", "/v/lib/python3.12/site-packages/p/a.py"),
				 &namesakes),
			 1);
	/* The same file, before and after its folder became a checkout. */
	assert_int_equal(base_of(FACTS("script", "/y/other.py"), FACTS("script", "/x/a.py"),
				 FACTS("script", "/x/a.py", "checkout", "/x"), &namesakes),
			 1);
	assert_false(namesakes);
	/* Another checkout's file at the same place, not another place's in this one. */
	assert_int_equal(base_of(FACTS("script", "/x/s/a.py", "checkout", "/x"),
				 FACTS("script", "/y/s/a.py", "checkout", "/y"),
				 FACTS("script", "/x/s/a.py", "checkout", "/x"), &namesakes),
			 1);
	assert_int_equal(base_of(FACTS("script", "/x/s/a.py", "checkout", "/x"),
				 FACTS("script", "/x/t/a.py", "checkout", "/x"),
				 FACTS("script", "/x/s/a.py", "checkout", "/x"), &namesakes),
			 0);
	/* Without a better match the name suffices, which is reported. */
	assert_int_equal(base_of(FACTS("script", "/o/a.py"), FACTS("script", "/o/b.py"),
				 FACTS("script", "/n/a.py"), &namesakes),
			 0);
	assert_true(namesakes);
	/* Modules by name, texts by their text, whichever interpreter and arguments. */
	assert_int_equal(base_of(FACTS("script", "-m a"), FACTS("script", "-m b"),
				 FACTS("script", "-m a"), &namesakes),
			 0);
	assert_int_equal(base_of(FACTS("script", "-c f()"), FACTS("script", "-c g()"),
				 FACTS("script", "-c f()"), &namesakes),
			 0);
	assert_int_equal(base_of(FACTS("program", "sh", "command", "sh -c 'a'"),
				 FACTS("program", "sh", "command", "sh -c 'b'"),
				 FACTS("program", "sh", "command", "bash -c 'a'"), &namesakes),
			 0);
	assert_int_equal(base_of(FACTS("program", "ls", "command", "ls -l"),
				 FACTS("program", "ls", "command", "/bin/ls"),
				 FACTS("program", "ls", "command", "ls -l"), &namesakes),
			 1);
	/* Without a name the command is all there is. */
	assert_int_equal(base_of(FACTS("command", "true"), FACTS("command", "ls"),
				 FACTS("command", "date"), &namesakes),
			 -1);
}

/* Counts are no evidence about times. */
static void test_made_alike(void **state)
{
	bool namesakes;

	(void)state;
	assert_int_equal(base_of(FACTS("program", "a", "clock", "cpu"),
				 FACTS("program", "a", "clock", "instructions"),
				 FACTS("program", "a", "clock", "cpu"), &namesakes),
			 0);
	assert_int_equal(base_of(FACTS("program", "a", "clock", "wall"),
				 FACTS("program", "a", "clock", "instructions"),
				 FACTS("program", "a", "clock", "cpu"), &namesakes),
			 -1);
	assert_int_equal(base_of(FACTS("program", "a", "clock", "instructions"),
				 FACTS("program", "a", "clock", "instructions", "bench", "count"),
				 FACTS("program", "a", "clock", "instructions"), &namesakes),
			 0);
	assert_int_equal(base_of(FACTS("program", "a", "clock", "instructions"),
				 FACTS("program", "b", "clock", "instructions"),
				 FACTS("program", "a", "clock", "instructions, by callgrind"),
				 &namesakes),
			 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_folder, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_create, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_owner, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_resolve, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_last_two, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_open, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_discard, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_same_program, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_made_alike, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_damaged, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
