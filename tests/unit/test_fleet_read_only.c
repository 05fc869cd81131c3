/* SPDX-License-Identifier: MIT */
/* Stores on a read-only file system: read without writing, or refused with a reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/io.h"
#include "fleet/sqlite_calls.h"
#include "fleet_sim.h"

static bool read_only;

/* For SQLite the folder stays writable, so what it creates there shows what it would need. */
int statvfs(const char *path, struct statvfs *ret)
{
	*ret = (struct statvfs){ .f_flag = read_only ? ST_RDONLY : 0 };
	return access(path, F_OK);
}

static int set_up(void **state)
{
	char folder[] = "/tmp/fizeau-read-only-XXXXXX";

	read_only = false;
	*state = fz_strdup(mkdtemp(folder));
	return 0;
}

static int tear_down(void **state)
{
	fz_auto(fz_free_ptr) char *command = fz_asprintf("rm -r %s", (char *)*state);

	free(*state);
	return system(command);
}

static struct fz_fleet *push_to(const char *path, const char *version)
{
	const struct sim sim = { .hosts = 1, .minutes = 1, .samples = 100 };
	struct fz_fleet *f;
	struct fz_error err;

	if (fz_fleet_open(path, FZ_FLEET_WRITE, &f, &err) ||
	    sim_push(f, &sim, version, false, 1, 0, &err))
		fail_msg("%s", err.message);
	return f;
}

static void count(void *arg, const struct fz_fleet_entry *e)
{
	(void)e;
	++*(int *)arg;
}

static int releases_in(const char *path)
{
	fz_auto(fz_fleet_closep) struct fz_fleet *f = NULL;
	struct fz_error err;
	int n = 0;

	if (fz_fleet_open(path, FZ_FLEET_READ, &f, &err) ||
	    fz_fleet_list(f, sim_project, count, &n, &err))
		fail_msg("%s", err.message);
	return n;
}

/* How many files the folder has, after copying some there. */
static int files_after(const char *folder, const char *copy)
{
	fz_auto(fz_free_ptr) char *command = fz_asprintf("cd %s && %s && ls", folder, copy);
	FILE *list = popen(command, "r");
	int n = 0;

	for (int c; (c = fgetc(list)) != EOF;)
		n += c == '\n';
	assert_int_equal(pclose(list), 0);
	return n;
}

static void refuse(const char *path, enum fz_fleet_access access, const char *wanted)
{
	struct fz_fleet *f;
	struct fz_error err;

	assert_int_equal(fz_fleet_open(path, access, &f, &err), FZ_EPERM);
	if (!strstr(err.message, wanted))
		fail_msg("%s", err.message);
}

static void test_closed(void **state)
{
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/a store?x=1#100%%", (char *)*state);

	fz_fleet_close(push_to(path, "1"));
	read_only = true;
	assert_int_equal(releases_in(path), 1);
	assert_int_equal(files_after(*state, "true"), 1);
	refuse(path, FZ_FLEET_WRITE, "is on a read-only file system");
}

/* As if its writer had been killed. */
static void test_killed(void **state)
{
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/store", (char *)*state);
	fz_auto(fz_free_ptr) char *whole = fz_asprintf("%s/whole", (char *)*state);
	fz_auto(fz_free_ptr) char *part = fz_asprintf("%s/part", (char *)*state);
	struct fz_fleet *f = push_to(path, "1");

	files_after(*state, "cp store whole && cp store-wal whole-wal && cp store-shm whole-shm &&"
			    " cp store part && cp store-wal part-wal");
	fz_fleet_close(f);
	read_only = true;
	assert_int_equal(releases_in(whole), 1);
	refuse(part, FZ_FLEET_READ, "copy it with ");
}

/* What a running server stored is found, although its file does not have it yet. */
static void test_running(void **state)
{
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/store", (char *)*state);
	struct fz_fleet *f = push_to(path, "1"), *again;

	again = push_to(path, "2");
	read_only = true;
	assert_int_equal(releases_in(path), 2);
	fz_fleet_close(again);
	fz_fleet_close(f);
}

/* A server's log is empty after a checkpoint; what it stores later is found by a new reader, and by
 * one that has the store open. */
static void test_empty_log(void **state)
{
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/store", (char *)*state);
	struct fz_fleet *f = push_to(path, "1"), *reader;
	struct fz_error err;
	struct fz_sql s;
	int n = 0;

	assert_int_equal(fz_sql_open(&s, path, false, &err), 0);
	assert_int_equal(fz_sql_script(&s, "PRAGMA wal_checkpoint(TRUNCATE)", &err), 0);
	fz_sql_close(&s);
	assert_int_equal(files_after(*state, "test ! -s store-wal"), 3);
	read_only = true;
	assert_int_equal(fz_fleet_open(path, FZ_FLEET_READ, &reader, &err), 0);
	read_only = false;
	fz_fleet_close(push_to(path, "2"));
	assert_int_equal(fz_fleet_list(reader, sim_project, count, &n, &err), 0);
	assert_int_equal(n, 2);
	fz_fleet_close(reader);
	fz_fleet_close(f);
}

/* Paths are not taken for URLs with a host. */
static void test_slashes(void **state)
{
	fz_auto(fz_free_ptr) char *path = fz_asprintf("/%s/store", (char *)*state);

	fz_fleet_close(push_to(path, "1"));
	read_only = true;
	assert_int_equal(releases_in(path), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_closed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_killed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_running, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_empty_log, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_slashes, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
