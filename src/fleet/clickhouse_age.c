/* SPDX-License-Identifier: MIT */
/* Replaces the values of old minutes on ClickHouse by sums of hours.
 *
 *   cells of an hour, of one service    stay: they contain how much was observed in each minute
 *   put -> aged {hour, age}             the pushes whose values are in the sums; then
 *   their values -> sums by host        a cell of each host and series, and its values
 *   push {host "", id, put = age}       now visible: readers take the sums instead of the values
 *   a while later: the values of these pushes in this hour are deleted
 *
 * A roll-up counts like a push (clickhouse_put.c): if two servers make two with one id at once, the
 * one with the smaller number counts. The id contains the number of earlier roll-ups of that hour.
 * These start half an hour apart, so no push is in two that count. Pushes of the last half hour are
 * left for the next roll-up, because the same push may still arrive again with a smaller number.
 *
 * If some values of an hour are lost, or its sums exceed 63 bits, the values stay as they are.
 */
#include <math.h>

#include "base/clock.h"
#include "fleet/clickhouse_put.h"
#include "fleet/hour_cells.h"

/* Between the starts of two roll-ups of an hour, and before values are deleted; a roll-up takes at
 * most half of it. */
enum { APART_SECONDS = 1800, DAY = 1440 };

#define OF_CELL \
	"project, service, version, labels, metric, unit, clock, mode, features, period, main"

struct hour {
	char *project, *service;
	int64_t first; /* minute */
	int64_t *series;
	size_t n, cap;
};

struct aging {
	struct fz_clickhouse *c;
	struct fz_shard *s;
	bool (*between)(void *arg, int64_t rows);
	void *arg;
	bool ended;
	int64_t before, hours;
	struct hour hour;
	uint64_t age;
	/* conditions: cells of the hour; values of the hour; the push is in the roll-up */
	struct fz_buf cells, values, in_age;
	struct fz_buf hosts;  /* query: host, number */
	struct fz_buf source; /* query: series, number, node, value, n */
};

static void release(struct aging *k)
{
	struct fz_buf *all[] = { &k->cells, &k->values, &k->in_age, &k->hosts, &k->source };

	for (size_t i = 0; i < FZ_ARRAY_LEN(all); i++)
		fz_buf_release(all[i]);
	free(k->hour.project);
	free(k->hour.service);
	free(k->hour.series);
}

static int run(struct aging *k, const struct fz_buf *sql, struct fz_buf *ret, struct fz_error *err)
{
	return fz_shard_query(k->c, k->s, fz_buf_view(sql), ret, err);
}

/* Runs a query whose result is one row of numbers. */
static int read_numbers(struct aging *k, const struct fz_buf *sql, uint64_t *ret, size_t n,
			struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf answer = { 0 };
	int r = run(k, sql, &answer, err);

	if (r)
		return r;
	struct fz_cursor row = fz_rows_of(&answer);
	for (size_t i = 0; i < n; i++)
		ret[i] = fz_cursor_u64(&row);
	return fz_clickhouse_check(k->c, k->s->place, &row, err);
}

/* ---- one hour ---- */

static void add_names(struct fz_buf *sql, const struct hour *h)
{
	fz_sql_add_scope(sql, h->project, h->service, NULL);
}

/* Writes the parts of statements about this hour and roll-up. */
static void prepare(struct aging *k)
{
	const struct hour *h = &k->hour;
	struct fz_buf *all[] = { &k->cells, &k->values, &k->in_age, &k->hosts, &k->source };

	for (size_t i = 0; i < FZ_ARRAY_LEN(all); i++)
		fz_buf_reset(all[i]);
	add_names(&k->cells, h);
	fz_sql_add_time(&k->cells, h->first, h->first + FZ_HOUR_MINUTES);
	fz_buf_str(&k->cells, FZ_SQL_NO_SUM " AND ");
	fz_buf_str(&k->in_age, "put IN (SELECT put FROM fizeau_aged WHERE ");
	add_names(&k->in_age, h);
	fz_buf_printf(&k->in_age, "hour = %lld AND age = %llu)",
		      (long long)h->first / FZ_HOUR_MINUTES, (unsigned long long)k->age);
	fz_buf_printf(&k->hosts,
		      "SELECT host, number FROM (SELECT arraySort(groupUniqArray(host)) AS hosts"
		      " FROM fizeau_cell WHERE %s%s)"
		      " ARRAY JOIN hosts AS host, arrayEnumerate(hosts) AS number",
		      k->cells.p, k->in_age.p);
}

/* Find all series of the pushes in this roll-up. A push that arrives now is in neither. */
static int find_series(struct aging *k, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf sql = { 0 }, answer = { 0 };
	struct hour *h = &k->hour;

	fz_buf_printf(&sql,
		      "SELECT groupUniqArray(series) FROM fizeau_cell WHERE %s%s FORMAT RowBinary",
		      k->cells.p, k->in_age.p);
	int r = run(k, &sql, &answer, err);
	if (r)
		return r;
	struct fz_cursor row = fz_rows_of(&answer);
	h->n = 0;
	for (uint64_t n = fz_cursor_varint(&row); n > 0 && !row.bad; n--) {
		fz_push(h->series, h->n, h->cap, fz_row_read_int(&row));
	}
	return fz_clickhouse_check(k->c, k->s->place, &row, err);
}

static void prepare_values(struct aging *k)
{
	const struct hour *h = &k->hour;

	fz_sql_add_series(&k->values, h->series, h->n);
	fz_sql_add_time(&k->values, h->first, h->first + FZ_HOUR_MINUTES);
	fz_buf_printf(
		&k->source,
		"SELECT series, number, node, value, n FROM (SELECT series, put, node, value, n"
		" FROM fizeau_value WHERE %s%s) AS v ANY LEFT JOIN (SELECT put, number FROM"
		" (SELECT put, host FROM fizeau_cell WHERE %s%s GROUP BY put, host) AS p"
		" ANY LEFT JOIN (%s) AS h USING host) AS b USING put",
		k->values.p, k->in_age.p, k->cells.p, k->in_age.p, k->hosts.p);
}

/* Counts the roll-ups of the hour. *ret_waits: the last one is too recent for another. */
static int count_ages(struct aging *k, uint64_t *ret, bool *ret_waits, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf sql = { 0 };
	uint64_t numbers[3] = { 0 };

	fz_buf_str(&sql, "SELECT toUInt64(uniqExact(id)), max(digest), toUInt64(toUInt32(now()))"
			 " FROM fizeau_push WHERE ");
	add_names(&sql, &k->hour);
	fz_buf_printf(&sql, "host = '' AND first = %lld AND last = %lld FORMAT RowBinary",
		      (long long)k->hour.first, (long long)k->hour.first + FZ_HOUR_MINUTES - 1);
	int r = read_numbers(k, &sql, numbers, FZ_ARRAY_LEN(numbers), err);
	*ret = numbers[0];
	*ret_waits = numbers[0] && numbers[1] + APART_SECONDS > numbers[2];
	return r;
}

static int add_puts(struct aging *k, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf sql = { 0 }, answer = { 0 };
	const struct hour *h = &k->hour;
	int64_t until = h->first + FZ_HOUR_MINUTES;

	fz_buf_printf(&sql,
		      "INSERT INTO fizeau_aged (project, service, hour, age, put) SELECT"
		      " project, service, toUInt32(%lld), toUInt64(%llu), put FROM fizeau_cell"
		      " WHERE %s",
		      (long long)h->first / FZ_HOUR_MINUTES, (unsigned long long)k->age,
		      k->cells.p);
	fz_sql_add_settled_puts(&sql, h->project, h->service, h->first, until);
	fz_buf_str(&sql, " AND NOT ");
	fz_sql_add_aged(&sql, h->project, h->service, h->first, until);
	fz_buf_str(&sql, " GROUP BY project, service, put");
	return run(k, &sql, &answer, err);
}

/* Sets whether the values are complete and their sums fit. */
static int check(struct aging *k, bool *ret, struct fz_error *err)
{
	/* Sums of integers in ClickHouse overflow silently. */
	static const double most = 9e18;
	fz_auto(fz_buf_release) struct fz_buf sql = { 0 };
	uint64_t all, found[2];
	double largest;

	fz_buf_printf(&sql,
		      "SELECT toUInt64(sum(nodes)) FROM fizeau_cell WHERE %s%s FORMAT RowBinary",
		      k->cells.p, k->in_age.p);
	int r = read_numbers(k, &sql, &all, 1, err);
	if (r)
		return r;
	fz_buf_reset(&sql);
	fz_buf_printf(&sql,
		      "SELECT toUInt64(sum(c)), max(most) FROM (SELECT count() AS c,"
		      " greatest(abs(sum(toFloat64(value))), abs(sum(toFloat64(n)))) AS most"
		      " FROM (%s) GROUP BY series, number, node) FORMAT RowBinary",
		      k->source.p);
	r = read_numbers(k, &sql, found, 2, err);
	if (r)
		return r;
	memcpy(&largest, &found[1], sizeof(largest));
	*ret = found[0] == all && !(largest > most);
	return 0;
}

static int add_sums(struct aging *k, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf sql = { 0 }, answer = { 0 };

	fz_buf_printf(&sql,
		      "INSERT INTO fizeau_value (series, minute, put, cell, node, value, n) SELECT"
		      " series, toUInt32(%lld), toUInt64(%llu), toUInt32(" FZ_SQL_SUM " + number),"
		      " node, sum(value), sum(n) FROM (%s) GROUP BY series, number, node",
		      (long long)k->hour.first, (unsigned long long)k->age, k->source.p);
	return run(k, &sql, &answer, err);
}

static int add_cells(struct aging *k, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf sql = { 0 }, answer = { 0 };

	fz_buf_printf(
		&sql,
		"INSERT INTO fizeau_cell (" OF_CELL ", series, host, minute, put, number, nodes,"
		" cpu, wall, samples, lost) SELECT " OF_CELL ", series, host, toUInt32(%lld),"
		" toUInt64(%llu), toUInt32(" FZ_SQL_SUM " + number), nodes, toInt64(0),"
		" toInt64(0), toInt64(0), toInt64(0) FROM (SELECT " OF_CELL ", series, host, number"
		" FROM (SELECT " OF_CELL ", series, host FROM fizeau_cell WHERE %s%s"
		" GROUP BY " OF_CELL ", series, host) AS c"
		" ANY LEFT JOIN (%s) AS h USING host) AS a ANY LEFT JOIN (SELECT series,"
		" toUInt32(cell - " FZ_SQL_SUM ") AS number, toUInt32(count()) AS nodes"
		" FROM fizeau_value WHERE %sput = %llu GROUP BY series, number) AS b"
		" USING series, number",
		(long long)k->hour.first, (unsigned long long)k->age, k->cells.p, k->in_age.p,
		k->hosts.p, k->values.p, (unsigned long long)k->age);
	return run(k, &sql, &answer, err);
}

static int add_push(struct aging *k, uint64_t earlier, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf sql = { 0 }, answer = { 0 };
	const struct hour *h = &k->hour;

	fz_sql_format(&sql,
		      "INSERT INTO fizeau_push (project, service, host, id, version, first, last,"
		      " put, digest) SELECT {}, {}, ",
		      h->project, h->service);
	fz_buf_printf(&sql,
		      "'', 'hour %lld, %llu', '', toUInt32(%lld), toUInt32(%lld), toUInt64(%llu),"
		      " toUInt64(toUInt32(now()))",
		      (long long)h->first, (unsigned long long)earlier, (long long)h->first,
		      (long long)h->first + FZ_HOUR_MINUTES - 1, (unsigned long long)k->age);
	return run(k, &sql, &answer, err);
}

static int age_hour(struct aging *k, struct fz_error *err)
{
	int64_t began = fz_clock_unix();
	bool waits, fits = false;
	uint64_t earlier;
	int r = count_ages(k, &earlier, &waits, err);

	if (r || waits)
		return r;
	k->age = fz_clickhouse_draw();
	prepare(k);
	r = add_puts(k, err);
	if (!r)
		r = find_series(k, err);
	if (r || !k->hour.n)
		return r;
	prepare_values(k);
	r = check(k, &fits, err);
	if (r || !fits)
		return r;
	r = add_sums(k, err);
	if (!r)
		r = add_cells(k, err);
	if (r || fz_clock_unix() - began > APART_SECONDS / 2 * FZ_SECOND)
		return r;
	k->hours++;
	return add_push(k, earlier, err);
}

/* ---- the hours of a day ---- */

static bool read_hour(struct fz_cursor *row, struct hour *h)
{
	struct fz_str project = fz_row_read_text(row), service = fz_row_read_text(row);

	h->first = fz_row_read_int(row) * FZ_HOUR_MINUTES;
	free(h->project);
	free(h->service);
	h->project = fz_strndup(project.p, project.n);
	h->service = fz_strndup(service.p, service.n);
	return !row->bad;
}

static int age_day(struct aging *k, int64_t day, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf sql = { 0 }, answer = { 0 };
	int64_t from = day * DAY, until = FZ_MIN(from + DAY, k->before);

	fz_buf_str(&sql, "SELECT DISTINCT project, service, toInt64(intDiv(minute, 60)) AS hour"
			 " FROM fizeau_cell WHERE " FZ_SQL_NO_SUM " AND ");
	fz_sql_add_time(&sql, from, until);
	fz_sql_add_settled_puts(&sql, NULL, NULL, from, until);
	fz_buf_str(&sql, " AND NOT ");
	fz_sql_add_aged(&sql, NULL, NULL, from, until);
	fz_buf_str(&sql, " FORMAT RowBinary");
	int r = run(k, &sql, &answer, err);
	if (r)
		return r;
	struct fz_cursor rows = fz_rows_of(&answer);
	while (!r && !k->ended && fz_row_next(&rows)) {
		if (!read_hour(&rows, &k->hour))
			break;
		r = age_hour(k, err);
		k->ended = !r && k->between && !k->between(k->arg, 1);
	}
	return r || k->ended ? r : fz_clickhouse_check(k->c, k->s->place, &rows, err);
}

/* Deletes the values whose sums count. ClickHouse evaluates the condition later, without a current
 * database. */
static int delete_values(struct aging *k, int64_t day, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf where = { 0 }, sql = { 0 }, answer = { 0 };
	long long from = day * DAY, until = from + DAY;
	uint64_t n;

	fz_buf_printf(&where,
		      "minute >= %lld AND minute < %lld AND (intDiv(minute, 60), put) IN"
		      " (SELECT hour, put FROM %s.fizeau_aged WHERE hour >= %lld AND hour < %lld"
		      " AND age IN (SELECT min(put) FROM %s.fizeau_push WHERE host = '' AND"
		      " last >= %lld AND last < %lld GROUP BY project, service, host, id"
		      " HAVING max(digest) + %d < toUInt32(now())))",
		      from, until, k->s->database, from / FZ_HOUR_MINUTES, until / FZ_HOUR_MINUTES,
		      k->s->database, from, until, APART_SECONDS);
	fz_buf_printf(&sql, "SELECT count() FROM fizeau_value WHERE %s FORMAT RowBinary", where.p);
	int r = read_numbers(k, &sql, &n, 1, err);
	if (r || !n)
		return r;
	fz_buf_reset(&sql);
	fz_buf_printf(&sql, "ALTER TABLE fizeau_value DELETE WHERE %s", where.p);
	return run(k, &sql, &answer, err);
}

static int age_shard(struct aging *k, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf answer = { 0 };
	int r = fz_shard_reach(k->c, k->s, err);

	if (!r)
		r = fz_shard_days(k->c, k->s, "cell", fz_clickhouse_day(k->before - 1) + 1, &answer,
				  err);
	if (r)
		return r;
	struct fz_cursor days = fz_rows_of(&answer);
	while (!r && !k->ended && fz_row_next(&days)) {
		int64_t day = fz_cursor_u32(&days);

		r = delete_values(k, day, err);
		if (!r)
			r = age_day(k, day, err);
	}
	return r;
}

int64_t fz_clickhouse_age(struct fz_fleet *f, int64_t before,
			  bool (*between)(void *arg, int64_t rows), void *arg, struct fz_error *err)
{
	struct fz_clickhouse *c = fz_clickhouse(f);
	fz_auto(release) struct aging k = {
		.c = c, .between = between, .arg = arg, .before = before - before % FZ_HOUR_MINUTES
	};

	c->patient = true;
	for (uint32_t i = 0; i < c->n && !k.ended; i++) {
		k.s = &c->shards[i];
		int r = age_shard(&k, err);

		/* A shard that does not respond is aged next time. */
		if (r && r != FZ_EAGAIN)
			return r;
	}
	return k.hours;
}
