/* SPDX-License-Identifier: MIT */
/* Hours that were added up: answers are the same, whatever is added or deleted later. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/map.h"
#include "fleet/fold.h"
#include "fleet/hour_cells.h"
#include "fleet/sqlite_calls.h"
#include "format/format.h"
#include "profile/fleet_fact.h"
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

	assert_int_equal(fz_sql_read_id(&store->sql, s, &ret, &err), 0);
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

/* Everything of a side but the text about its units. */
static void dump(const struct fz_profile *p, struct fz_buf *ret)
{
	for (uint32_t i = 0; i < p->run_count; i++)
		fz_buf_printf(ret, "%lld %lld\n", (long long)p->runs[i].start_unix_ns,
			      (long long)p->runs[i].duration_ns);
	for (size_t i = 0; i < p->samples.n; i++) {
		struct fz_str name =
			fz_profile_text(p, fz_profile_stack_function(p, p->samples.stack[i])->name);

		fz_buf_printf(ret, "%u %.*s %lld %u\n", p->samples.run[i], (int)name.n, name.p,
			      (long long)fz_sample_weight(p, p->default_metric, i),
			      p->samples.count[i]);
	}
	fz_buf_printf(ret, "%llu %llu %s\n", (unsigned long long)p->quality.taken,
		      (unsigned long long)p->quality.missed,
		      fz_profile_fact(p, FZ_FLEET_PAIRS_FACT).p);
}

/* Both sides of a comparison, or why there is none. facts: of their units; NULL: in `ret`, which is
 * complete then. */
static void read_pair(const char *path, const char *base, const char *head, int64_t from,
		      int64_t until, struct fz_buf *ret, struct fz_buf *facts)
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

		if (facts) {
			fz_buf_printf(facts, "%s\n", fz_profile_fact(pair[side], FZ_FLEET_FACT).p);
			dump(pair[side], ret);
		} else {
			assert_int_equal(fz_format_fz.write(pair[side], out, &err), 0);
			struct fz_str bytes = fz_buf_view(fz_output_buffer(out));
			fz_buf_add(ret, bytes.p, bytes.n);
		}
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
					  times[t][1], &got[store], NULL);
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

/* Stores with both versions. */
static void begin_with_both(struct stores *s)
{
	begin(s);
	push(s, &many, "1", 1);
	push(s, &many, "2", 2);
}

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

/* A query that permits it gets hours instead of their minutes, with the same exposure. */
static void test_whole_hours(void **state)
{
	struct stores s;
	int64_t samples[2] = { 0, 0 };
	uint32_t n[2], minutes[2] = { 0, 0 };

	(void)state;
	begin(&s);
	push(&s, &many, "1", 1);
	sum_all(&s);
	for (int whole = 0; whole < 2; whole++) {
		struct fz_fleet_query q = { .project = "p",
					    .service = "s",
					    .version = "1",
					    .labels = "",
					    .until = INT64_MAX,
					    .whole_hours = whole };
		struct fz_fleet_found found;
		struct fz_error err;

		assert_int_equal(fz_fleet_find(s.f[SUMMED], &q, &found, &err), 0);
		n[whole] = found.cell_n;
		for (uint32_t i = 0; i < found.cell_n; i++) {
			samples[whole] += found.cells[i].exposure.samples;
			minutes[whole] += found.cells[i].minutes;
		}
		fz_fleet_found_release(&found);
	}
	/* 20 minutes after an hour begins 230 minutes are parts of 5 hours. */
	assert_int_equal(n[false], 8 * 230);
	assert_int_equal(n[true], 8 * 5);
	assert_int_equal(minutes[true], minutes[false]);
	assert_int_equal(samples[true], samples[false]);
	end(&s);
}

static struct fz_profile *head_without_starts(const char *path, int from, struct fz_buf *text)
{
	static const char *const sides[] = { "s@1", "s@2" };
	fz_auto(fz_fleet_closep) struct fz_fleet *f = NULL;
	struct fz_fleet_query q = { .project = "p",
				    .service = "s",
				    .labels = "",
				    .until = END,
				    .head_from = SIM_START + from,
				    .starts_from = SIM_START };
	struct fz_profile *pair[2];
	struct fz_error err;

	if (fz_fleet_open(path, FZ_FLEET_READ, &f, &err) || fz_fleet_pair(f, &q, sides, pair, &err))
		fail_msg("%s", err.message);
	dump(pair[1], text);
	fz_profile_free(pair[0]);
	return pair[1];
}

/* Minutes of a release from some minute on, without the first of each host. */
static int64_t settled_minutes(const struct sim *sim, int from)
{
	int64_t n = 0;

	for (int h = 0; h < sim->hosts; h++)
		n += sim->minutes - FZ_MAX(from, h * sim->rolls + FZ_FLEET_START);
	return n;
}

/* Hosts start one after the other, before or after the first compared minute, which may be next to
 * the end of an hour (40, 100). */
static void test_starts(void **state)
{
	static const int from[] = { 0, 2, 5, 17, 40, 42, 44, 58, 103 };
	struct sim rolling = many;
	struct stores s;

	(void)state;
	rolling.rolls = 7;
	begin(&s);
	push(&s, &many, "1", 1);
	push(&s, &rolling, "2", 2);
	sum_all(&s);
	for (size_t i = 0; i < FZ_ARRAY_LEN(from); i++) {
		fz_auto(fz_buf_release) struct fz_buf plain = { 0 };
		fz_auto(fz_buf_release) struct fz_buf summed = { 0 };
		struct fz_profile *p = head_without_starts(s.path[PLAIN], from[i], &plain);

		assert_int_equal(p->recording.duration_ns / FZ_MINUTE,
				 settled_minutes(&rolling, from[i]));
		fz_profile_free(p);
		fz_profile_free(head_without_starts(s.path[SUMMED], from[i], &summed));
		assert_true(fz_str_eq(fz_buf_view(&plain), fz_buf_view(&summed)));
	}
	end(&s);
}

static int64_t earliest_cells; /* of version 2 */

static int note_cells(struct fz_fleet *f, const struct fz_fleet_query *q, const int64_t *series,
		      uint32_t n, int (*take)(void *arg, const struct fz_fleet_cell_row *row),
		      void *arg, struct fz_error *err)
{
	if (strcmp(q->version, "2") == 0)
		earliest_cells = FZ_MIN(earliest_cells, q->from);
	return fz_fleet_sqlite.cells(f, q, series, n, take, arg, err);
}

/* Hosts that are starting are not among those compared, and the minutes before the first compared
 * one are not read one by one. */
static void test_settled(void **state)
{
	static const char *const sides[] = { "s@1", "s@2" };
	fz_auto(fz_fleet_closep) struct fz_fleet *f = NULL;
	struct fz_fleet_engine noting = fz_fleet_sqlite;
	struct sim rolling = many;
	struct fz_fleet_query q = { .project = "p",
				    .service = "s",
				    .labels = "",
				    .until = SIM_START + 30,
				    .head_from = SIM_START + 20,
				    .starts_from = SIM_START };
	struct fz_profile *pair[2];
	struct fz_error err;

	(void)state;
	rolling.rolls = 7;
	if (fz_fleet_open(":memory:", FZ_FLEET_WRITE, &f, &err) ||
	    sim_push(f, &many, "1", false, 1, 0, &err) ||
	    sim_push(f, &rolling, "2", true, 2, 0, &err))
		fail_msg("%s", err.message);
	noting.cells = note_cells;
	f->engine = &noting;
	earliest_cells = INT64_MAX;
	if (fz_fleet_pair(f, &q, sides, pair, &err))
		fail_msg("%s", err.message);
	/* They start 0, 7, 14, 21 and 28 minutes after SIM_START. */
	assert_non_null(
		strstr(fz_profile_fact(pair[1], FZ_FLEET_FACT).p, "34 minutes of 4 hosts,"));
	assert_int_equal(earliest_cells, q.head_from);
	f->engine = &fz_fleet_sqlite;
	fz_profile_free(pair[0]);
	fz_profile_free(pair[1]);
}

/* Minutes of hours that were added up arrive late, or twice. */
static void test_late(void **state)
{
	struct sim late = many;
	struct stores s;

	(void)state;
	begin_with_both(&s);
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
	begin_with_both(&s);
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
	begin_with_both(&s);
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
	/* values; cells, which are read if time is divided */
	static const struct {
		const struct sim *sim;
		const char *sql;
	} cases[] = { { &many, "UPDATE hour SET bytes = x'0101' WHERE id = 2" },
		      { &few, "UPDATE hour SET cells = x'0101' WHERE id = 2" } };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_auto(fz_buf_release) struct fz_buf got = { 0 };
		struct stores s;

		begin(&s);
		push(&s, cases[i].sim, "1", 1);
		push(&s, cases[i].sim, "2", 2);
		sum_all(&s);
		ask(s.f[SUMMED], cases[i].sql);
		read_pair(s.path[SUMMED], "s@1", "s@2", 0, INT64_MAX, &got, NULL);
		assert_non_null(strstr(got.p, "damaged: the values of a cell"));
		end(&s);
	}
}

/* ---- old hours ---- */

/* The start of an hour: the hours before it age. */
#define AGED ((int64_t)SIM_START + 160)

static void age(struct stores *s, int64_t hours)
{
	struct fz_error err;

	assert_int_equal(fz_fleet_age_between(s->f[SUMMED], AGED + 59, NULL, NULL, &err), hours);
	assert_int_equal(fz_fleet_age_between(s->f[SUMMED], AGED, NULL, NULL, &err), 0);
	assert_int_equal(ask(s->f[SUMMED], "SELECT count(*) FROM cell WHERE minute < 29000160"), 0);
	assert_int_equal(ask(s->f[SUMMED], "SELECT (SELECT count(*) FROM cell_values) ="
					   " (SELECT count(*) FROM cell)"),
			 1);
}

static void write_entry(void *arg, const struct fz_fleet_entry *e)
{
	fz_buf_printf(arg, "%s %s %lld-%lld: %lld %lld %lld %lld %.17g %.17g\n", e->version,
		      e->metric, (long long)e->first, (long long)e->last, (long long)e->hosts,
		      (long long)e->cells, (long long)e->samples, (long long)e->lost, e->cpu_ns,
		      e->wall_ns);
}

/* What is known of a store without its values. */
static void describe(struct fz_fleet *f, struct fz_buf *ret)
{
	struct fz_fleet_query q = {
		.project = "p", .service = "s", .labels = "", .from = 0, .until = INT64_MAX
	};
	struct fz_fleet_timeline t;
	struct fz_error err;

	assert_int_equal(fz_fleet_list(f, "p", write_entry, ret, &err), 0);
	fz_buf_str(ret, "before 2: ");
	assert_int_equal(fz_fleet_previous(f, "p", "s", "2", ret, &err), 0);
	assert_int_equal(fz_fleet_timeline(f, &q, &t, &err), 0);
	fz_buf_printf(ret, "\n%lld %lld %u", (long long)t.first, (long long)t.minutes, t.buckets);
	for (uint32_t i = 0; i < t.band_n * t.buckets; i++)
		fz_buf_printf(ret, " %lld/%lld", (long long)t.amounts[i].cost,
			      (long long)t.amounts[i].cells);
	fz_buf_str(ret, "");
	fz_fleet_timeline_release(&t);
}

static void check_descriptions(struct stores *s)
{
	struct fz_buf got[2] = { { 0 }, { 0 } };

	for (int i = 0; i < 2; i++) {
		fz_auto(fz_fleet_closep) struct fz_fleet *f = NULL;
		struct fz_error err;

		assert_int_equal(fz_fleet_open(s->path[i], FZ_FLEET_READ, &f, &err), 0);
		describe(f, &got[i]);
	}
	assert_string_equal(got[PLAIN].p, got[SUMMED].p);
	for (int i = 0; i < 2; i++)
		fz_buf_release(&got[i]);
}

/* Comparisons of whole hours are the same, except that they name their precision. */
static void check_aged(struct stores *s, const char *precision)
{
	static const int64_t times[][2] = {
		{ 0, INT64_MAX },
		{ SIM_START + 40, INT64_MAX },
		{ SIM_START + 40, SIM_START + 160 },
		{ SIM_START + 100, SIM_START + 207 },
	};

	for (size_t t = 0; t < FZ_ARRAY_LEN(times); t++) {
		struct fz_buf got[2] = { { 0 }, { 0 } }, facts[2] = { { 0 }, { 0 } };

		for (int store = 0; store < 2; store++)
			read_pair(s->path[store], "s@1", "s@2", times[t][0], times[t][1],
				  &got[store], &facts[store]);
		assert_true(got[PLAIN].n > 1000);
		assert_string_equal(got[PLAIN].p, got[SUMMED].p);
		assert_null(strstr(facts[PLAIN].p, "hour"));
		assert_non_null(strstr(facts[SUMMED].p, " known only by the hour"));
		if (t == 0)
			assert_non_null(strstr(facts[SUMMED].p, precision));
		for (int store = 0; store < 2; store++) {
			fz_buf_release(&got[store]);
			fz_buf_release(&facts[store]);
		}
	}
}

static void test_aged(void **state)
{
	const struct sim *const sims[] = { &many, &others };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(sims); i++) {
		fz_auto(fz_free_ptr) char *precision =
			fz_asprintf("%s minutes of %d hosts, in %d units of hosts%s; %s minutes "
				    "known only by the hour\n",
				    i ? "2,070" : "1,840", sims[i]->hosts, sims[i]->hosts,
				    i ? "" : ", in pairs", i ? "1,440" : "1,280");
		struct stores s;

		begin(&s);
		push(&s, sims[i], "1", 1);
		push(&s, sims[i], "2", 2);
		sum_all(&s);
		age(&s, 2 * 3 * sims[i]->hosts);
		check_aged(&s, precision);
		check_descriptions(&s);
		end(&s);
	}
}

static int64_t cost_of(const struct fz_profile *p)
{
	int64_t sum = 0;

	for (size_t i = 0; i < p->samples.n; i++)
		sum += fz_sample_weight(p, p->default_metric, i);
	return sum;
}

/* A release's costs in a time, of a store with old hours. */
static int64_t cost_in(struct stores *s, int64_t from, int64_t until)
{
	fz_auto(fz_fleet_closep) struct fz_fleet *f = NULL;
	struct fz_fleet_query q = { .project = "p", .labels = "", .from = from, .until = until };
	struct fz_profile *pair[2] = { NULL, NULL };
	struct fz_error err;

	assert_int_equal(fz_fleet_open(s->path[SUMMED], FZ_FLEET_READ, &f, &err), 0);
	int r = fz_fleet_pair(f, &q, (const char *const[]){ "s@1", "s@1" }, pair, &err);
	int64_t ret = r ? r : cost_of(pair[1]);
	for (int side = 0; !r && side < 2; side++)
		fz_profile_free(pair[side]);
	return ret;
}

/* Old hours are not divided: neither among ranges, which begin with the nearest hour, nor among
 * blocks of a host's time. So nothing is lost or counted twice. */
static void test_aged_parts(void **state)
{
	struct stores s;

	(void)state;
	begin(&s);
	push(&s, &few, "1", 1);
	int64_t all = cost_in(&s, 0, INT64_MAX),
		second = cost_in(&s, SIM_START + 40, SIM_START + 100);
	age(&s, 3 * 2);
	assert_int_equal(cost_in(&s, 0, INT64_MAX), all);
	for (int64_t cut = SIM_START + 11; cut < SIM_START + 230; cut++) {
		int64_t before = cost_in(&s, 0, cut), after = cost_in(&s, cut, INT64_MAX);

		assert_int_equal(before + after, all);
	}
	assert_int_equal(cost_in(&s, SIM_START + 70, SIM_START + 71), second);
	assert_int_equal(cost_in(&s, SIM_START + 70, SIM_START + 130), second);
	assert_int_equal(cost_in(&s, SIM_START + 71, SIM_START + 130), FZ_EINPUT);
	end(&s);
}

/* Minutes of old hours arrive late, or twice. */
static void test_aged_late(void **state)
{
	struct sim late = many;
	struct stores s;

	(void)state;
	begin_with_both(&s);
	age(&s, 2 * 3 * 8);
	late.start = 50;
	late.hosts = 3;
	late.minutes = 60;
	push(&s, &late, "2", 3);
	int64_t cost = cost_in(&s, 0, INT64_MAX);
	push(&s, &late, "1", 3);
	assert_true(cost_in(&s, 0, INT64_MAX) > cost);
	cost = cost_in(&s, 0, INT64_MAX);
	sum_all(&s);
	assert_int_equal(cost_in(&s, 0, INT64_MAX), cost);
	age(&s, 2 * 2 * 3);
	assert_int_equal(cost_in(&s, 0, INT64_MAX), cost);
	check_aged(&s, "1,280 minutes known only by the hour");
	check_descriptions(&s);
	end(&s);
}

/* Names that only old hours use are kept, and what is left when all is forgotten is nothing. */
static void test_aged_forgotten(void **state)
{
	struct stores s;
	struct fz_error err;

	(void)state;
	begin_with_both(&s);
	age(&s, 2 * 3 * 8);
	for (int i = 0; i < 2; i++) {
		ask(s.f[i], "DELETE FROM cell_values WHERE cell IN (SELECT id FROM cell WHERE"
			    " minute >= 29000160)");
		assert_int_equal(fz_fleet_forget(s.f[i], SIM_START + 40, &err), 2 * 8 * 40);
	}
	check_aged(&s, "960 minutes known only by the hour");
	check_descriptions(&s);
	for (int i = 0; i < 2; i++)
		assert_int_equal(fz_fleet_forget(s.f[i], END, &err), 2 * 8 * 190);
	assert_int_equal(ask(s.f[SUMMED], "SELECT (SELECT count(*) FROM old_hour) + (SELECT"
					  " count(*) FROM series) + (SELECT count(*) FROM node)"
					  " + (SELECT count(*) FROM host_sum)"),
			 0);
	end(&s);
}

/* Sums above 63 bits: the minutes remain. */
static void test_not_aged(void **state)
{
	struct stores s;
	struct fz_error err;

	(void)state;
	begin_with_both(&s);
	for (int i = 0; i < 2; i++)
		ask(s.f[i],
		    "UPDATE cell_values SET bytes = x'010102feffffffffffffffff01' WHERE cell IN"
		    " (SELECT id FROM cell WHERE series = 2 AND minute / 60 = 483334 AND"
		    " minute % 60 < 2 AND host = 3)");
	assert_int_equal(fz_fleet_age_between(s.f[SUMMED], AGED, NULL, NULL, &err), 2 * 3 * 8 - 1);
	assert_int_equal(ask(s.f[SUMMED], "SELECT count(*) FROM cell WHERE minute < 29000160"), 60);
	check_descriptions(&s);
	end(&s);
}

static bool stop_there(void *arg, int64_t rows)
{
	int64_t *sum = arg;

	*sum += rows;
	return false;
}

/* Ended after one transaction, it continues the next time. */
static void test_aging_ended(void **state)
{
	struct stores s;
	struct fz_error err;
	int64_t rows = 0;

	(void)state;
	begin_with_both(&s);
	assert_int_equal(fz_fleet_age_between(s.f[SUMMED], AGED, stop_there, &rows, &err), 8);
	assert_int_equal(rows, 8 * 40);
	check_descriptions(&s);
	age(&s, 2 * 3 * 8 - 8);
	check_aged(&s, "1,280 minutes known only by the hour");
	end(&s);
}

static void check_aged_starts(const struct sim *sim, int64_t hours, int from, int minutes)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	struct sim rolling = *sim;
	struct stores s;

	rolling.rolls = 7;
	begin(&s);
	push(&s, sim, "1", 1);
	push(&s, &rolling, "2", 2);
	age(&s, hours);
	struct fz_profile *p = head_without_starts(s.path[SUMMED], from, &text);
	assert_int_equal(p->recording.duration_ns / FZ_MINUTE, minutes);
	fz_profile_free(p);
	end(&s);
}

/* Of minutes known only by the hour, whole hours are left out: those with a start, and the one that
 * began before the first compared minute. */
static void test_aged_starts(void **state)
{
	/* From 100 on there are 130 minutes of a host. Of 8 hosts, two start in the hour from 40
	 * on. */
	enum { HOURS_OF_8 = 2 * 3 * 8 - 2, REST_OF_8 = 8 * 130, REST_OF_2 = 2 * 130 };

	(void)state;
	check_aged_starts(&many, HOURS_OF_8, 0, REST_OF_8 + 6 * 60);
	check_aged_starts(&many, HOURS_OF_8, 40, REST_OF_8 + 6 * 60);
	check_aged_starts(&many, HOURS_OF_8, 42, REST_OF_8);
	check_aged_starts(&many, HOURS_OF_8, 58, REST_OF_8);
	check_aged_starts(&few, 2 * 3 * 2, 0, REST_OF_2 + 2 * 60);
	check_aged_starts(&few, 2 * 3 * 2, 42, REST_OF_2);
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
		cmocka_unit_test(test_same),       cmocka_unit_test(test_whole_hours),
		cmocka_unit_test(test_late),       cmocka_unit_test(test_forgotten),
		cmocka_unit_test(test_not_summed), cmocka_unit_test(test_idle),
		cmocka_unit_test(test_damaged),    cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_aged),       cmocka_unit_test(test_aged_parts),
		cmocka_unit_test(test_aged_late),  cmocka_unit_test(test_aged_forgotten),
		cmocka_unit_test(test_not_aged),   cmocka_unit_test(test_aging_ended),
		cmocka_unit_test(test_starts),     cmocka_unit_test(test_aged_starts),
		cmocka_unit_test(test_settled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
