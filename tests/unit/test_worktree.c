/* SPDX-License-Identifier: MIT */
/* Scratch folders: paths as long and as deep as another, leftovers of killed processes, and folders
 * that no longer belong to us. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/str.h"
#include "git/worktree.h"

static char folder[] = "/tmp/fz-worktree-XXXXXX";
static char *cache;

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	cache = fz_asprintf("%s/cache", folder);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(cache);
	return fz_remove_folder(folder, NULL);
}

/* A scratch folder that lies beside as /home/me does; the folder at its place. */
static char *make(struct fz_scratch *ret)
{
	struct fz_error err;
	fz_auto(fz_free_ptr) char *link = NULL;

	assert_int_equal(fz_scratch_make(cache, ret, &err), 0);
	assert_true(fz_scratch_place(ret, "/home/me/project"));
	assert_int_equal(strlen(ret->base), strlen("/home/me"));
	link = fz_asprintf("%s/away", ret->path);
	return realpath(link, NULL);
}

static void abandon(struct fz_scratch *s)
{
	fz_close_fd(&s->lock);
	free(s->path);
	free(s->base);
}

/* The next one clears up. */
static void clear_up(void)
{
	struct fz_scratch next = FZ_SCRATCH_NONE;
	struct fz_error err;

	assert_int_equal(fz_scratch_make(cache, &next, &err), 0);
	assert_int_equal(fz_scratch_remove(&next, &err), 0);
}

static void test_removed(void **state)
{
	struct fz_scratch s = FZ_SCRATCH_NONE;
	struct fz_error err;
	fz_auto(fz_free_ptr) char *away = make(&s);

	(void)state;
	assert_int_equal(access(away, F_OK), 0);
	assert_int_equal(fz_scratch_remove(&s, &err), 0);
	assert_int_not_equal(access(away, F_OK), 0);
}

static void test_killed(void **state)
{
	struct fz_scratch s = FZ_SCRATCH_NONE;
	fz_auto(fz_free_ptr) char *away = make(&s);

	(void)state;
	abandon(&s);
	clear_up();
	assert_int_not_equal(access(away, F_OK), 0);
}

/* Temporary folders were cleaned, and another user took the name. */
static void test_not_ours(void **state)
{
	struct fz_scratch s = FZ_SCRATCH_NONE;
	fz_auto(fz_free_ptr) char *away = make(&s);

	(void)state;
	abandon(&s);
	assert_int_equal(fz_remove_folder(away, NULL), 0);
	assert_int_equal(mkdir(away, 0755), 0);
	clear_up();
	assert_int_equal(rmdir(away), 0);
}

static void check_real(const char *path)
{
	fz_auto(fz_free_ptr) char *real = realpath(path, NULL);

	assert_string_equal(path, real);
}

/* $TMPDIR and the cache named through a link, or with a slash at the end: what runs in a tree is
 * named by the system, and has to begin as the tree. */
static void test_links(void **state)
{
	static const char *const ways[] = { "real", "real/", "real//", "link", "link/" };
	fz_auto(fz_free_ptr) char *real = fz_asprintf("%s/real", folder);
	fz_auto(fz_free_ptr) char *link = fz_asprintf("%s/link", folder);
	fz_auto(fz_free_ptr) char *root = fz_asprintf("%s/some/where/project", real);
	struct fz_error err;

	(void)state;
	assert_int_equal(mkdir(real, 0755), 0);
	assert_int_equal(symlink(real, link), 0);
	for (size_t i = 0; i < FZ_ARRAY_LEN(ways); i++) {
		struct fz_scratch s = FZ_SCRATCH_NONE;
		fz_auto(fz_free_ptr) char *temporary = fz_asprintf("%s/%s", folder, ways[i]);
		assert_int_equal(setenv("TMPDIR", temporary, 1), 0);
		assert_int_equal(fz_scratch_make(temporary, &s, &err), 0);
		assert_true(fz_scratch_place(&s, root));
		check_real(s.path);
		check_real(s.base);
		assert_int_equal(strncmp(s.base, real, strlen(real)), 0);
		assert_int_equal(strlen(s.base), strlen(root) - strlen("/project"));
		assert_int_equal(fz_scratch_remove(&s, &err), 0);
	}
	assert_int_equal(unsetenv("TMPDIR"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_removed),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_not_ours),
		cmocka_unit_test(test_links),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
