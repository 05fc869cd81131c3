/* SPDX-License-Identifier: MIT */
/* Stores of earlier layouts: converted in parts, whichever process begins, continues or ends it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/map.h"
#include "fleet/fold.h"
#include "format/format.h"
#include "fleet_layout.h"
#include "fleet_sim.h"

static const struct sim sim = {
	.hosts = 12, .minutes = 230, .same_hosts = true, .host_sd = 0.1, .samples = 100
};

/* 83,000 values of two releases. */
static char *make_store(void)
{
	char *path = fz_asprintf("%s/test_fleet_layouts_XXXXXX", fz_temporary_folder());
	struct fz_fleet *f;
	struct fz_error err;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	if (fz_fleet_open(path, FZ_FLEET_WRITE, &f, &err) ||
	    sim_push(f, &sim, "1", false, 1, 0, &err) || sim_push(f, &sim, "2", true, 1, 0.1, &err))
		fail_msg("%s", err.message);
	fz_fleet_close(f);
	return path;
}

static void remove_store(const char *path)
{
	static const char *const ends[] = { "", "-wal", "-shm" };

	for (size_t i = 0; i < FZ_ARRAY_LEN(ends); i++) {
		fz_auto(fz_free_ptr) char *name = fz_asprintf("%s%s", path, ends[i]);

		unlink(name);
	}
}

static void read_pair(const char *path, struct fz_buf *ret)
{
	fz_auto(fz_fleet_closep) struct fz_fleet *f = NULL;
	struct fz_fleet_query q = { .project = "p", .labels = "", .until = INT64_MAX };
	struct fz_profile *pair[2] = { NULL, NULL };
	struct fz_error err;

	if (fz_fleet_open(path, FZ_FLEET_READ, &f, &err) ||
	    fz_fleet_pair(f, &q, (const char *const[]){ "s@1", "s@2" }, pair, &err))
		fail_msg("%s", err.message);
	for (int side = 0; side < 2; side++) {
		fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();

		assert_int_equal(fz_format_fz.write(pair[side], out, &err), 0);
		struct fz_str bytes = fz_buf_view(fz_output_buffer(out));
		fz_buf_add(ret, bytes.p, bytes.n);
		fz_profile_free(pair[side]);
	}
}

static int64_t ask(const char *path, const char *text)
{
	sqlite3_stmt *s;
	sqlite3 *db;

	assert_int_equal(fz_sqlite.open(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	assert_int_equal(fz_sqlite.prepare(db, text, -1, 0, &s, NULL), SQLITE_OK);
	assert_int_equal(fz_sqlite.step(s), SQLITE_ROW);
	int64_t ret = fz_sqlite.column_int(s, 0);
	fz_sqlite.finalize(s);
	fz_sqlite.close(db);
	return ret;
}

struct steps {
	int n, percent[16], die_at; /* 0: never */
};

static void note(void *arg, int percent)
{
	struct steps *s = arg;

	assert_true(s->n < (int)FZ_ARRAY_LEN(s->percent));
	s->percent[s->n++] = percent;
	if (s->n == s->die_at)
		_exit(9); /* as after kill -9 */
}

static void convert_and_die(const char *path, int at)
{
	struct steps steps = { .die_at = at };
	struct fz_error err;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(fz_fleet_convert(path, note, &steps, &err) ? 1 : 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 9);
}

/* Parts are done in order, and only once. */
static void test_parts(void **state)
{
	fz_auto(fz_free_ptr) char *path = make_store();
	fz_auto(fz_buf_release) struct fz_buf before = { 0 };
	fz_auto(fz_buf_release) struct fz_buf after = { 0 };
	struct steps steps = { 0 };
	struct fz_error err;

	(void)state;
	read_pair(path, &before);
	take_back_layouts(path);
	assert_int_equal(fz_fleet_convert(path, note, &steps, &err), 0);
	assert_int_equal(steps.n, 3);
	assert_int_equal(steps.percent[0], 0);
	for (int i = 1; i < steps.n; i++)
		assert_true(steps.percent[i] > steps.percent[i - 1]);
	assert_int_equal(steps.percent[steps.n - 1], 100);
	read_pair(path, &after);
	assert_int_equal(before.n, after.n);
	assert_memory_equal(before.p, after.p, before.n);
	/* There is nothing left to do. */
	steps.n = 0;
	assert_int_equal(fz_fleet_convert(path, note, &steps, &err), 0);
	assert_int_equal(steps.n, 0);
	assert_int_equal(fz_fleet_convert("no such folder/store", note, &steps, &err), 0);
	remove_store(path);
}

/* Killed at any point, the store is usable: the next process that opens it continues. */
static void test_killed(void **state)
{
	(void)state;
	for (int at = 1; at <= 2; at++) {
		fz_auto(fz_free_ptr) char *path = make_store();
		fz_auto(fz_buf_release) struct fz_buf before = { 0 };
		fz_auto(fz_buf_release) struct fz_buf after = { 0 };

		read_pair(path, &before);
		take_back_layouts(path);
		convert_and_die(path, at);
		/* At first nothing has been done; then a part of the values is in place. */
		assert_int_equal(
			ask(path, "SELECT count(*) FROM sqlite_schema WHERE name = 'value'"), 1);
		if (at > 1) {
			int64_t done = ask(path, "SELECT count(*) FROM cell_values");

			assert_true(done > 0 && done < ask(path, "SELECT count(*) FROM cell"));
		}
		read_pair(path, &after);
		assert_int_equal(before.n, after.n);
		assert_memory_equal(before.p, after.p, before.n);
		assert_int_equal(
			ask(path, "SELECT count(*) FROM sqlite_schema WHERE name = 'value'"), 0);
		remove_store(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
