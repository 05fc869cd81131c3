/* SPDX-License-Identifier: MIT */
/* Replacing files: mode and owner are kept, links are followed unless a stranger's, and the new
 * contents are on disk before the old ones are gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"

enum { STRANGER = 65534 };

static int synced;

/* In place of the C library's, to see when it is called. */
int fsync(int fd)
{
	synced++;
	return (int)syscall(SYS_fsync, fd);
}

static char folder[64];

static char *in_folder(const char *name)
{
	return fz_asprintf("%s/%s", folder, name);
}

static int set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/fz-unit-XXXXXX");
	umask(0022);
	synced = 0;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st;
	(void)type;
	(void)walk;
	return remove(path);
}

static int tear_down(void **state)
{
	(void)state;
	return nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static int put(const char *name, const char *text, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *path = in_folder(name);
	struct fz_output *out;
	int rc = fz_output_open(path, &out, err);

	if (rc)
		return rc;
	fz_output_str(out, text);
	return fz_output_close(out, err);
}

static void check(const char *name, const char *text, unsigned mode)
{
	fz_auto(fz_free_ptr) char *path = in_folder(name);
	fz_auto(fz_free_ptr) char *found = fz_read_small(path, 100, NULL);
	struct stat st;

	assert_non_null(found);
	assert_string_equal(found, text);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, mode);
}

static void test_mode(void **state)
{
	fz_auto(fz_free_ptr) char *path = in_folder("file");
	struct fz_error err;

	(void)state;
	assert_int_equal(put("file", "1", &err), 0);
	check("file", "1", 0644);
	assert_int_equal(synced, 0); /* there was nothing to lose */
	chmod(path, 0751);
	assert_int_equal(put("file", "2", &err), 0);
	check("file", "2", 0751);
	assert_int_equal(synced, 1);
	umask(0077);
	assert_int_equal(put("file", "3", &err), 0);
	check("file", "3", 0751);
	assert_int_equal(put("private", "4", &err), 0);
	check("private", "4", 0600);
}

static void test_owner(void **state)
{
	fz_auto(fz_free_ptr) char *path = in_folder("file");
	struct fz_error err;
	struct stat st;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(put("file", "1", &err), 0);
	assert_int_equal(chown(path, STRANGER, 1), 0);
	chmod(path, 0640);
	assert_int_equal(put("file", "2", &err), 0);
	check("file", "2", 0640);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, STRANGER);
	assert_int_equal(st.st_gid, 1);
}

static void test_links(void **state)
{
	fz_auto(fz_free_ptr) char *file = in_folder("file");
	fz_auto(fz_free_ptr) char *other = in_folder("other");
	fz_auto(fz_free_ptr) char *first = in_folder("first");
	fz_auto(fz_free_ptr) char *second = in_folder("second");
	fz_auto(fz_free_ptr) char *circle = in_folder("circle");
	struct fz_error err;
	struct stat st;

	(void)state;
	assert_int_equal(symlink(second, first), 0);
	assert_int_equal(symlink("file", second), 0);
	assert_int_equal(put("first", "1", &err),
			 0); /* creates the file that the last link names */
	check("file", "1", 0644);
	assert_int_equal(put("first", "2", &err), 0);
	check("file", "2", 0644);
	assert_int_equal(lstat(second, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(link(file, other), 0);
	assert_int_equal(put("file", "3", &err), 0);
	check("file", "3", 0644);
	check("other", "2", 0644); /* another name of the old file keeps it */
	assert_int_equal(symlink("circle", circle), 0);
	assert_int_equal(put("circle", "4", &err), FZ_ESYSTEM);
	assert_int_equal(err.sys_errno, ELOOP);
}

static void test_read_only(void **state)
{
	fz_auto(fz_free_ptr) char *path = in_folder("file");
	uid_t user = geteuid();
	struct fz_error err;

	(void)state;
	if (user == 0) {
		assert_int_equal(chown(folder, STRANGER, STRANGER), 0);
		assert_int_equal(setresuid(STRANGER, STRANGER, 0), 0);
	}
	assert_int_equal(put("file", "1", &err), 0);
	chmod(path, 0444);
	assert_int_equal(put("file", "2", &err), FZ_EPERM);
	check("file", "1", 0444);
	if (user == 0)
		assert_int_equal(setresuid(0, 0, 0), 0);
}

/* Files that another user put into a folder like /tmp. */
static void test_strangers(void **state)
{
	static const char *const planted[] = { "link", "pipe", "regular" };
	fz_auto(fz_free_ptr) char *victim = in_folder("victim");
	fz_auto(fz_free_ptr) char *mine = in_folder("mine");
	struct fz_error err;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(put("victim", "precious", &err), 0);
	assert_int_equal(chmod(folder, 01777), 0);
	assert_int_equal(put("regular", "seen", &err), 0);
	for (size_t i = 0; i < FZ_ARRAY_LEN(planted); i++) {
		fz_auto(fz_free_ptr) char *path = in_folder(planted[i]);
		if (i == 0)
			assert_int_equal(symlink(victim, path), 0);
		if (i == 1)
			assert_int_equal(mkfifo(path, 0666), 0);
		assert_int_equal(lchown(path, STRANGER, STRANGER), 0);
		assert_int_equal(put(planted[i], "x", &err), FZ_EPERM);
		assert_non_null(strstr(err.message, "another user (65534)"));
	}
	check("victim", "precious", 0644);
	check("regular", "seen", 0644);
	assert_int_equal(symlink(victim, mine), 0); /* our own are followed */
	assert_int_equal(put("mine", "ours", &err), 0);
	check("victim", "ours", 0644);
	assert_int_equal(chown(folder, STRANGER, 0), 0); /* it is his folder */
	assert_int_equal(put("regular", "his", &err), 0);
}

static void test_descriptors(void **state)
{
	fz_auto(fz_free_ptr) char *path = in_folder("file");
	fz_auto(fz_free_ptr) char *proc = NULL;
	struct fz_error err;
	struct fz_output *out;
	fz_auto(fz_close_fd) int fd = open(path, O_RDWR | O_CREAT, 0600);
	char text[8] = { 0 };

	(void)state;
	proc = fz_asprintf("/proc/self/fd/%d", fd);
	assert_int_equal(unlink(path), 0); /* the path in its link is gone */
	assert_int_equal(fz_output_open(proc, &out, &err), 0);
	fz_output_str(out, "text");
	assert_int_equal(fz_output_close(out, &err), 0);
	assert_int_equal(pread(fd, text, sizeof(text), 0), 4);
	assert_string_equal(text, "text");
	assert_int_equal(access(path, F_OK), -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_mode),      TEST(test_owner),     TEST(test_links),
		TEST(test_read_only), TEST(test_strangers), TEST(test_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
