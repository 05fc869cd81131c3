/* SPDX-License-Identifier: MIT */
/* The spool: order, its limit, a full disk, restarts, and files that are not its own. */
#include "agent/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { BLOCK = 4096 };

static char said[4096];
static unsigned lines;

static void hear(void *arg, enum fz_notice kind, const char *text)
{
	(void)arg;
	(void)kind;
	snprintf(said, sizeof(said), "%s", text);
	lines++;
}

static const struct fz_notify notify = { .call = hear };

/* How many writes fail because the disk is full. */
static int full;

int fdatasync(int fd)
{
	(void)fd;
	if (!full)
		return 0;
	full--;
	errno = ENOSPC;
	return -1;
}

static int set_up(void **state)
{
	char path[] = "/tmp/fizeau-spool-XXXXXX";

	lines = 0;
	*said = '\0';
	*state = fz_strdup(mkdtemp(path));
	return 0;
}

static int tear_down(void **state)
{
	fz_auto(fz_free_ptr) char *command = fz_asprintf("rm -rf %s", (char *)*state);
	int r = system(command);

	free(*state);
	return r;
}

static struct fz_agent_spool *spool_of(const char *folder, uint64_t limit)
{
	struct fz_agent_spool *s = NULL;
	struct fz_error err = { 0 };

	if (fz_agent_spool_open(folder, limit, false, &notify, &s, &err))
		fail_msg("%s", err.message);
	return s;
}

static void add(struct fz_agent_spool *s, const char *query, const char *body, int64_t when)
{
	struct fz_error err = { 0 };

	if (fz_agent_spool_add(s, query, fz_str_of(body), when, &err))
		fail_msg("%s", err.message);
}

/* The first one is this; it goes. */
static void take(struct fz_agent_spool *s, const char *query, const char *body)
{
	struct fz_agent_spooled p;

	assert_true(fz_agent_spool_first(s, &p));
	assert_string_equal(p.query.p, query);
	assert_true(fz_str_eq(p.body, fz_str_of(body)));
	fz_agent_spool_remove(s, p.number);
	fz_agent_spooled_release(&p);
}

static void in_order(void **state)
{
	struct fz_agent_spool *s = spool_of(*state, 1 << 20);
	struct fz_agent_spooled p;

	assert_false(fz_agent_spool_first(s, &p));
	add(s, "/a", "one", 100);
	add(s, "/b", "two\nlines", 50);
	add(s, "/c", "", 200);
	/* What was not removed is the first again. */
	assert_true(fz_agent_spool_first(s, &p));
	assert_string_equal(p.query.p, "/a");
	assert_int_equal(p.unix_seconds, 100);
	fz_agent_spooled_release(&p);
	take(s, "/a", "one");
	/* Not by the clock, which may have been set back. */
	take(s, "/b", "two\nlines");
	take(s, "/c", "");
	assert_int_equal(fz_agent_spool_count(s).n, 0);
	assert_int_equal(fz_agent_spool_count(s).bytes, 0);
	assert_int_equal(lines, 0);
	fz_agent_spool_close(s);
}

static void restart(void **state)
{
	struct fz_agent_spool *s = spool_of(*state, 1 << 20);

	for (int i = 0; i < 20; i++) {
		char query[16];
		snprintf(query, sizeof(query), "/%d", i);
		add(s, query, "body", i);
	}
	take(s, "/0", "body");
	fz_agent_spool_close(s);
	s = spool_of(*state, 1 << 20);
	assert_int_equal(fz_agent_spool_count(s).n, 19);
	add(s, "/later", "body", 5);
	for (int i = 1; i < 20; i++) {
		char query[16];
		snprintf(query, sizeof(query), "/%d", i);
		take(s, query, "body");
	}
	take(s, "/later", "body");
	fz_agent_spool_close(s);
}

static void bound(void **state)
{
	struct fz_agent_spool *s = spool_of(*state, 3 * BLOCK);
	fz_auto(fz_free_ptr) char *large = fz_calloc(1, 4 * BLOCK);

	add(s, "/1", "x", 1700000000);
	add(s, "/2", "x", 1700000060);
	add(s, "/3", "x", 1700000120);
	assert_int_equal(lines, 0);
	add(s, "/4", "x", 1700000180);
	assert_int_equal(lines, 1);
	assert_non_null(strstr(said, "dropped the oldest 1 push, "));
	assert_non_null(strstr(said, "2023-11-14 22:13:20 UTC to 2023-11-14 22:13:20 UTC"));
	/* Two go for one of two blocks. */
	memset(large, 'y', BLOCK + 100);
	add(s, "/5", large, 1700000240);
	assert_non_null(strstr(said, "dropped the oldest 2 pushes, "));
	assert_int_equal(fz_agent_spool_count(s).dropped, 3);
	assert_int_equal(fz_agent_spool_count(s).bytes, 3 * BLOCK);
	/* A push larger than the limit is dropped, after those that it displaced. */
	memset(large, 'y', 4 * BLOCK - 1);
	add(s, "/6", large, 1700000300);
	assert_non_null(strstr(said, "--spool-limit"));
	assert_int_equal(fz_agent_spool_count(s).dropped, 4);
	large[BLOCK + 100] = '\0';
	take(s, "/4", "x");
	take(s, "/5", large);
	fz_agent_spool_close(s);
}

static void full_disk(void **state)
{
	struct fz_agent_spool *s = spool_of(*state, 1 << 20);
	fz_auto(fz_free_ptr) char *large = fz_calloc(1, BLOCK + 100);
	struct fz_error err;

	add(s, "/1", "x", 1700000000);
	add(s, "/2", "x", 1700000060);
	add(s, "/3", "x", 1700000120);
	add(s, "/4", "x", 1700000180);
	/* The oldest make space for the newest, block for block. */
	full = 1;
	memset(large, 'y', BLOCK + 99);
	add(s, "/5", large, 1700000240);
	assert_non_null(strstr(said, "the disk is full: dropped the oldest 2 pushes, "));
	/* Others fill it meanwhile: no more is dropped. */
	full = 2;
	assert_int_equal(fz_agent_spool_add(s, "/6", FZ_STR("x"), 1700000300, &err), FZ_ESYSTEM);
	assert_int_equal(fz_agent_spool_count(s).dropped, 4);
	assert_int_equal(fz_agent_spool_count(s).bytes, 3 * BLOCK);
	take(s, "/4", "x");
	take(s, "/5", large);
	/* An empty spool has nothing to drop. */
	full = 1;
	lines = 0;
	assert_int_equal(fz_agent_spool_add(s, "/7", FZ_STR("x"), 1700000360, &err), FZ_ESYSTEM);
	assert_int_equal(lines, 0);
	assert_int_equal(full, 0);
	fz_agent_spool_close(s);
}

/* Who is being sent stays: it may be at the server already. */
static void in_flight(void **state)
{
	struct fz_agent_spool *s = spool_of(*state, 2 * BLOCK);
	struct fz_agent_spooled p;

	add(s, "/1", "x", 1);
	add(s, "/2", "x", 2);
	assert_true(fz_agent_spool_first(s, &p));
	add(s, "/3", "x", 3);
	assert_int_equal(fz_agent_spool_count(s).dropped, 1);
	fz_agent_spool_remove(s, p.number);
	fz_agent_spooled_release(&p);
	take(s, "/3", "x");
	fz_agent_spool_close(s);
}

static void put(const char *folder, const char *name, const char *text)
{
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/%s", folder, name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void rest_of_a_crash(void **state)
{
	fz_auto(fz_free_ptr) char *rest = fz_asprintf("%s/unfinished", (char *)*state);
	struct fz_agent_spool *s;
	struct fz_agent_spooled p;

	put(*state, "unfinished", "/half");
	put(*state, "notes.txt", "mine");
	put(*state, "0000000000000001-5.push.old", "/x\nx");
	put(*state, "0000000000000003-7.push", "/three\nbody");
	put(*state, "0000000000000002-6.push", "no line");
	s = spool_of(*state, 1 << 20);
	assert_int_equal(access(rest, F_OK), -1);
	assert_int_equal(fz_agent_spool_count(s).n, 2);
	assert_true(fz_agent_spool_first(s, &p));
	assert_non_null(strstr(said, "unreadable push"));
	assert_string_equal(p.query.p, "/three");
	fz_agent_spooled_release(&p);
	add(s, "/new", "b", 1);
	take(s, "/three", "body");
	take(s, "/new", "b");
	fz_agent_spool_close(s);
}

static void not_ours(void **state)
{
	struct fz_agent_spool *s = spool_of(*state, 1 << 20), *other = NULL;
	struct fz_error err;

	assert_int_equal(fz_agent_spool_open(*state, 1 << 20, false, &notify, &other, &err),
			 FZ_EUSAGE);
	assert_non_null(strstr(err.message, "another agent"));
	fz_agent_spool_close(s);
	assert_int_equal(chmod(*state, 0777), 0);
	assert_int_equal(fz_agent_spool_open(*state, 1 << 20, false, &notify, &other, &err),
			 FZ_EUSAGE);
	assert_non_null(strstr(err.message, "writable by others"));
	assert_int_not_equal(fz_agent_spool_open("/dev/null/x", 1, false, &notify, &other, &err),
			     0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(in_order, set_up, tear_down),
		cmocka_unit_test_setup_teardown(restart, set_up, tear_down),
		cmocka_unit_test_setup_teardown(bound, set_up, tear_down),
		cmocka_unit_test_setup_teardown(full_disk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(in_flight, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rest_of_a_crash, set_up, tear_down),
		cmocka_unit_test_setup_teardown(not_ours, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
