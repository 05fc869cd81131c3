/* SPDX-License-Identifier: MIT */
/* Hours that were added up: answers are the same, whatever is added or deleted afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

#include "base/io.h"
#include "base/map.h"
#include "fleet/fold.h"
#include "fleet/hour_cells.h"
#include "fleet/sqlite_calls.h"
#include "format/format.h"
#include "fleet_sim.h"

#define END ((int64_t)SIM_START + 10000)

/* The same pushes into two stores; in `summed` hours are added up in between. */
struct stores {
	char *path[2];
	struct fz_fleet *f[2];
};

enum { PLAIN, SUMMED };

static void begin(struct stores *s)
{
	struct fz_error err;

	for (int i = 0; i < 2; i++) {
		s->path[i] = fz_asprintf("%s/test_fleet_hours_XXXXXX", fz_temporary_folder());
		int fd = mkstemp(s->path[i]);

		assert_true(fd >= 0);
		close(fd);
		if (fz_fleet_open(s->path[i], FZ_FLEET_WRITE, &s->f[i], &err))
			fail_msg("%s", err.message);
	}
}

static void end(struct stores *s)
{
	static const char *const ends[] = { "", "-wal", "-shm" };

	for (int i = 0; i < 2; i++) {
		fz_fleet_close(s->f[i]);
		for (size_t e = 0; e < FZ_ARRAY_LEN(ends); e++) {
			fz_auto(fz_free_ptr) char *name = fz_asprintf("%s%s", s->path[i], ends[e]);

			unlink(name);
		}
		free(s->path[i]);
	}
}

static void push(struct stores *s, const struct sim *sim, const char *version, uint64_t seed)
{
	struct fz_error err;

	for (int i = 0; i < 2; i++)
		if (sim_push(s->f[i], sim, version, version[0] == '2', seed, 0.1, &err))
			fail_msg("%s", err.message);
}

static int64_t ask(struct fz_fleet *f, const char *sql)
{
	struct fz_sqlite_store *store = fz_sqlite_store(f);
	sqlite3_stmt *s = fz_sql_once(&store->sql, sql);
	int64_t ret;
	struct fz_error err;

	assert_int_equal(fz_sql_take_id(&store->sql, s, &ret, &err), 0);
	fz_sql_drop(&s);
	return ret;
}

static int64_t hours_in(struct fz_fleet *f)
{
	return ask(f, "SELECT count(*) FROM hour WHERE cells IS NOT NULL");
}

static void sum_all(struct stores *s)
{
	struct fz_error err;
	int64_t n;

	while ((n = fz_fleet_sum_hours(s->f[SUMMED], END, &err)) > 0)
		;
	assert_int_equal(n, 0);
	assert_int_equal(ask(s->f[SUMMED], "SELECT count(*) FROM stale_hour"), 0);
	assert_int_equal(hours_in(s->f[PLAIN]), 0);
}

/* Both sides of a comparison, or why there is none. */
static void read_pair(const char *path, const char *base, const char *head, int64_t from,
		      int64_t until, struct fz_buf *ret)
{
	fz_auto(fz_fleet_closep) struct fz_fleet *f = NULL;
	struct fz_fleet_query q = {
		.project = "p", .service = "s", .labels = "", .from = from, .until = until
	};
	struct fz_profile *pair[2] = { NULL, NULL };
	struct fz_error err;

	assert_int_equal(fz_fleet_open(path, FZ_FLEET_READ, &f, &err), 0);
	if (fz_fleet_pair(f, &q, (const char *const[]){ base, head }, pair, &err)) {
		fz_buf_str(ret, err.message);
		return;
	}
	for (int side = 0; side < 2; side++) {
		fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();

		assert_int_equal(fz_format_fz.write(pair[side], out, &err), 0);
		struct fz_str bytes = fz_buf_view(fz_output_buffer(out));
		fz_buf_add(ret, bytes.p, bytes.n);
		fz_profile_free(pair[side]);
	}
}

static void check_same(struct stores *s)
{
	/* whole hours and parts of them; SIM_START is 20 minutes after one begins */
	static const int64_t times[][2] = {
		{ 0, INT64_MAX },
		{ SIM_START + 40, INT64_MAX },
		{ SIM_START + 41, END },
		{ 0, SIM_START },
		{ SIM_START + 39, SIM_START + 99 },
		{ SIM_START, SIM_START + 160 },
		{ SIM_START + 7, SIM_START + 220 },
	};
	static const char *const sides[][2] = { { "s@1", "s@2" }, { "s@1", "s@1" } };

	for (size_t t = 0; t < FZ_ARRAY_LEN(times); t++) {
		for (size_t i = 0; i < FZ_ARRAY_LEN(sides); i++) {
			struct fz_buf got[2] = { { 0 }, { 0 } };

			for (int store = 0; store < 2; store++)
				read_pair(s->path[store], sides[i][0], sides[i][1], times[t][0],
					  times[t][1], &got[store]);
			assert_int_equal(got[PLAIN].n, got[SUMMED].n);
			assert_memory_equal(got[PLAIN].p, got[SUMMED].p, got[PLAIN].n);
			fz_buf_release(&got[PLAIN]);
			fz_buf_release(&got[SUMMED]);
		}
	}
}

static const struct sim many = { .hosts = 8,
				 .minutes = 230,
				 .same_hosts = true,
				 .host_sd = 0.1,
				 .minute_sd = 0.03,
				 .samples = 60 };
/* blocks of their time are compared */
static const struct sim few = { .hosts = 2,
				.minutes = 230,
				.same_hosts = true,
				.host_sd = 0.1,
				.minute_sd = 0.03,
				.samples = 60 };
static const struct sim others = { .hosts = 9, .minutes = 230, .host_sd = 0.1, .samples = 60 };

static void test_same(void **state)
{
	const struct sim *const sims[] = { &many, &few, &others };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(sims); i++) {
		struct stores s;

		begin(&s);
		push(&s, sims[i], "1", 1);
		push(&s, sims[i], "2", 2);
		sum_all(&s);
		/* each host has 3 whole hours in 230 minutes, and two parts of hours */
		assert_true(hours_in(s.f[SUMMED]) >= 2 * 3 * sims[i]->hosts);
		check_same(&s);
		end(&s);
	}
}

/* Minutes of hours that were added up come later, or once more. */
static void test_late(void **state)
{
	struct sim late = many;
	struct stores s;

	(void)state;
	begin(&s);
	push(&s, &many, "1", 1);
	push(&s, &many, "2", 2);
	sum_all(&s);
	int64_t before = hours_in(s.f[SUMMED]);
	late.start = 50;
	late.hosts = 3;
	late.minutes = 60;
	push(&s, &late, "2", 3);
	assert_true(hours_in(s.f[SUMMED]) < before);
	check_same(&s);
	sum_all(&s);
	assert_int_equal(hours_in(s.f[SUMMED]), before);
	check_same(&s);
	end(&s);
}

static void test_forgotten(void **state)
{
	struct stores s;
	struct fz_error err;

	(void)state;
	begin(&s);
	push(&s, &many, "1", 1);
	push(&s, &many, "2", 2);
	sum_all(&s);
	for (int i = 0; i < 2; i++)
		assert_int_equal(fz_fleet_forget(s.f[i], SIM_START + 60, &err), 2 * 8 * 60);
	check_same(&s);
	sum_all(&s);
	check_same(&s);
	/* What is left when all is forgotten: nothing. */
	for (int i = 0; i < 2; i++)
		assert_true(fz_fleet_forget(s.f[i], END, &err) > 0);
	assert_int_equal(ask(s.f[SUMMED], "SELECT (SELECT count(*) FROM hour) + (SELECT count(*)"
					  " FROM stale_hour) + (SELECT count(*) FROM cell_values)"),
			 0);
	end(&s);
}

/* Too few cells, and sums above 63 bits: read one by one. */
static void test_not_summed(void **state)
{
	struct sim short_one = many;
	struct stores s;

	(void)state;
	begin(&s);
	short_one.minutes = 5;
	push(&s, &short_one, "1", 1);
	push(&s, &many, "2", 2);
	for (int i = 0; i < 2; i++)
		ask(s.f[i],
		    "UPDATE cell_values SET bytes = x'010102feffffffffffffffff01' WHERE cell IN"
		    " (SELECT id FROM cell WHERE series = 2 AND minute % 60 = 3)");
	sum_all(&s);
	assert_int_equal(ask(s.f[SUMMED], "SELECT count(*) FROM hour WHERE cells IS NULL"), 5 * 8);
	check_same(&s);
	end(&s);
}

/* Hours in which a host did nothing. */
static void test_idle(void **state)
{
	struct stores s;

	(void)state;
	begin(&s);
	push(&s, &many, "1", 1);
	push(&s, &many, "2", 2);
	for (int i = 0; i < 2; i++)
		ask(s.f[i], "DELETE FROM cell_values WHERE cell IN (SELECT id FROM cell WHERE"
			    " minute / 60 = (SELECT min(minute) / 60 + 1 FROM cell))");
	sum_all(&s);
	assert_int_equal(ask(s.f[SUMMED], "SELECT count(*) FROM hour WHERE length(bytes) = 0"), 16);
	check_same(&s);
	end(&s);
}

static void test_damaged(void **state)
{
	fz_auto(fz_buf_release) struct fz_buf got = { 0 };
	struct stores s;

	(void)state;
	begin(&s);
	push(&s, &many, "1", 1);
	push(&s, &many, "2", 2);
	sum_all(&s);
	ask(s.f[SUMMED], "UPDATE hour SET cells = x'0101' WHERE id = 2");
	read_pair(s.path[SUMMED], "s@1", "s@2", 0, INT64_MAX, &got);
	assert_non_null(strstr(got.p, "damaged: the values of a cell"));
	end(&s);
}

static void test_bytes(void **state)
{
	static const struct fz_hour_cell cells[] = {
		{ 7, 120, { 1, 2, 3, 4 } },
		{ 5, 121, { 0, INT64_MAX, 0, 0 } },
		{ INT64_MAX, 179, { -1, 0, INT64_MIN, 0 } },
	};
	fz_auto(fz_buf_release) struct fz_buf bytes = { 0 };
	struct fz_hour_cell c;

	(void)state;
	fz_hour_cells_write(2, cells, FZ_ARRAY_LEN(cells), &bytes);
	struct fz_hour_reader r = fz_hour_reader_of(2, fz_buf_view(&bytes));
	for (size_t i = 0; i < FZ_ARRAY_LEN(cells); i++) {
		assert_true(fz_hour_reader_next(&r, &c));
		assert_memory_equal(&c, &cells[i], sizeof(c));
	}
	assert_false(fz_hour_reader_next(&r, &c));
	assert_false(r.bad);
	/* each cut, and a minute of the next hour */
	for (size_t n = 0; n < bytes.n; n++) {
		r = fz_hour_reader_of(2, (struct fz_str){ bytes.p, n });
		while (fz_hour_reader_next(&r, &c))
			;
		assert_true(r.bad);
	}
	r = fz_hour_reader_of(2, FZ_STR("\1\75\2\0\0\0\0"));
	assert_false(fz_hour_reader_next(&r, &c));
	assert_true(r.bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),      cmocka_unit_test(test_late),
		cmocka_unit_test(test_forgotten), cmocka_unit_test(test_not_summed),
		cmocka_unit_test(test_idle),      cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
