/* SPDX-License-Identifier: MIT */
/* Cells of a query on SQLite, and their values.
 *
 *   old hours with their middle in its time   rows of old hours (sqlite_hours.c)
 *   other whole hours in its time             rows of hours
 *   the rest of its time, and hours not yet added up: rows of cells
 *
 * If all found cells of an hour belong to one unit, their values are read as sums; with old hours
 * they always do. An old hour may have cells as well, which arrived later.
 */
#include "base/map.h"
#include "fleet/hour_cells.h"
#include "fleet/sqlite_calls.h"

struct finder {
	struct fz_sqlite_store *f;
	uint32_t series; /* index in the query */
	int64_t id;
	bool whole_hours; /* one cell for each */
	int (*take)(void *arg, const struct fz_fleet_cell_row *row);
	void *arg;
	struct fz_map summed; /* (host, hour) read from rows of hours */
	int64_t *open;        /* hours with cells that are read one by one */
	size_t open_n, open_cap;
};

static void release(struct finder *k)
{
	fz_map_release(&k->summed);
	free(k->open);
}

static void note_open(struct finder *k, int64_t hour)
{
	if (k->open_n && k->open[k->open_n - 1] == hour)
		return;
	fz_push(k->open, k->open_n, k->open_cap, hour);
}

/* ---- hours ---- */

/* The cells of an hour, one by one. */
static int read_cells(struct finder *k, sqlite3_stmt *s, struct fz_fleet_cell_row *row,
		      struct fz_error *err)
{
	struct fz_sqlite_hour *h = &k->f->hours[row->group - 1];
	struct fz_hour_reader reader =
		fz_hour_reader_of(fz_sqlite.column_int(s, 1), fz_sql_column_bytes(s, 4));
	struct fz_hour_cell cell;

	row->minutes = 1;
	while (fz_hour_reader_next(&reader, &cell)) {
		row->minute = cell.minute;
		row->key = cell.id;
		row->exposure = cell.exposure;
		h->cells++;
		int r = k->take(k->arg, row);
		if (r)
			return r;
	}
	return reader.bad ? fz_sqlite_fail_values(&k->f->sql, err) : 0;
}

/* Their sum. */
static int read_sum(struct finder *k, sqlite3_stmt *s, struct fz_fleet_cell_row *row)
{
	k->f->hours[row->group - 1].cells = 1;
	row->minutes = (uint32_t)fz_sqlite.column_int(s, 4);
	row->minute = fz_sqlite.column_int(s, 5);
	row->exposure =
		(struct fz_fleet_exposure){ fz_sqlite.column_int(s, 6), fz_sqlite.column_int(s, 7),
					    fz_sqlite.column_int(s, 8),
					    fz_sqlite.column_int(s, 9) };
	return k->take(k->arg, row);
}

static int read_hour(struct finder *k, sqlite3_stmt *s, bool old, struct fz_error *err)
{
	struct fz_sqlite_store *f = k->f;
	int64_t hour = fz_sqlite.column_int(s, 1), host = fz_sqlite.column_int(s, 2);
	struct fz_fleet_cell_row row = { .series = k->series,
					 .host = fz_sql_column(s, 3),
					 .by_hour = old };

	bool is_sum =
		k->whole_hours ? fz_sqlite.column_int(s, 4) > 0 : fz_sql_column_bytes(s, 4).n > 0;
	if (!is_sum) {
		note_open(k, hour);
		return 0;
	}
	fz_push(f->hours, f->hour_n, f->hour_cap,
		(struct fz_sqlite_hour){ .id = fz_sqlite.column_int(s, 0), .old = old });
	row.group = f->hour_n;
	if (!old)
		fz_map_put(&k->summed, FZ_KEY(host, hour), 1);
	return k->whole_hours ? read_sum(k, s, &row) : read_cells(k, s, &row, err);
}

/* Read hours `first` .. `last` - 1. */
static int read_hours(struct finder *k, int64_t first, int64_t last, bool old, struct fz_error *err)
{
	static const enum fz_sql_name names[2][2] = {
		{ FZ_SQL_FIND_HOURS, FZ_SQL_FIND_HOUR_SUMS },
		{ FZ_SQL_FIND_OLD_HOURS, FZ_SQL_FIND_OLD_HOUR_SUMS },
	};
	sqlite3_stmt *s = fz_sql(&k->f->sql, names[old][k->whole_hours]);
	int r;

	fz_sqlite.bind_int(s, 1, k->id);
	fz_sqlite.bind_int(s, 2, first);
	fz_sqlite.bind_int(s, 3, last);
	while ((r = fz_sql_step(&k->f->sql, s, err)) == 1) {
		r = read_hour(k, s, old, err);
		if (r) {
			fz_sql_reset(s);
			return r;
		}
	}
	return r;
}

static int note_stale(struct finder *k, int64_t first, int64_t last, struct fz_error *err)
{
	sqlite3_stmt *s = fz_sql(&k->f->sql, FZ_SQL_STALE_HOURS);
	int r;

	fz_sqlite.bind_int(s, 1, k->id);
	fz_sqlite.bind_int(s, 2, first);
	fz_sqlite.bind_int(s, 3, last);
	while ((r = fz_sql_step(&k->f->sql, s, err)) == 1)
		note_open(k, fz_sqlite.column_int(s, 0));
	return r;
}

/* ---- minutes ---- */

/* Read cells one by one, except those of hours already read. */
static int read_minutes(struct finder *k, int64_t from, int64_t until, struct fz_error *err)
{
	sqlite3_stmt *s = fz_sql(&k->f->sql, FZ_SQL_FIND_CELLS);
	int r;

	fz_sqlite.bind_int(s, 1, k->id);
	fz_sqlite.bind_int(s, 2, from);
	fz_sqlite.bind_int(s, 3, until);
	while ((r = fz_sql_step(&k->f->sql, s, err)) == 1) {
		struct fz_fleet_cell_row row = {
			.series = k->series,
			.key = fz_sqlite.column_int(s, 0),
			.minute = fz_sqlite.column_int(s, 1),
			.minutes = 1,
			.host = fz_sql_column(s, 2),
			.exposure = { fz_sqlite.column_int(s, 3), fz_sqlite.column_int(s, 4),
				      fz_sqlite.column_int(s, 5), fz_sqlite.column_int(s, 6) },
		};
		uint64_t hour = FZ_KEY(fz_sqlite.column_int(s, 7), row.minute / FZ_HOUR_MINUTES);

		if (fz_map_get(&k->summed, hour) != FZ_NONE)
			continue;
		r = k->take(k->arg, &row);
		if (r) {
			fz_sql_reset(s);
			return r;
		}
	}
	return r;
}

static int compare_hours(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return FZ_CMP(*x, *y);
}

static int read_open(struct finder *k, struct fz_error *err)
{
	int r = 0;

	if (k->open_n)
		qsort(k->open, k->open_n, sizeof(*k->open), compare_hours);
	for (size_t i = 0, next; !r && i < k->open_n; i = next) {
		int64_t last = k->open[i];

		for (next = i + 1; next < k->open_n && k->open[next] <= last + 1; next++)
			last = k->open[next];
		r = read_minutes(k, k->open[i] * FZ_HOUR_MINUTES, (last + 1) * FZ_HOUR_MINUTES,
				 err);
	}
	return r;
}

static int find(struct finder *k, int64_t from, int64_t until, struct fz_error *err)
{
	int r = read_hours(k, fz_nearest_hour(from), fz_nearest_hour(until), true, err);

	if (r)
		return r;
	if (until <= 2 * FZ_HOUR_MINUTES || from > until - 2 * FZ_HOUR_MINUTES)
		return read_minutes(k, from, until, err);
	int64_t first = (from + FZ_HOUR_MINUTES - 1) / FZ_HOUR_MINUTES;
	int64_t last = until / FZ_HOUR_MINUTES;
	r = read_hours(k, first, last, false, err);
	if (!r)
		r = note_stale(k, first, last, err);
	if (!r)
		r = read_open(k, err);
	if (!r)
		r = read_minutes(k, from, first * FZ_HOUR_MINUTES, err);
	return r ? r : read_minutes(k, last * FZ_HOUR_MINUTES, until, err);
}

int fz_sqlite_cells(struct fz_fleet *fleet, const struct fz_fleet_query *q, const int64_t *series,
		    uint32_t n, int (*take)(void *arg, const struct fz_fleet_cell_row *row),
		    void *arg, struct fz_error *err)
{
	int r = 0;

	for (uint32_t i = 0; !r && i < n; i++) {
		fz_auto(release) struct finder k = { .f = fz_sqlite_store(fleet),
						     .series = i,
						     .id = series[i],
						     .whole_hours = q->whole_hours,
						     .take = take,
						     .arg = arg };

		r = find(&k, FZ_MAX(q->from, 0), q->until, err);
	}
	return r;
}

/* ---- first minutes of hosts ---- */

struct starts {
	void (*take)(void *arg, struct fz_str host, int64_t minute);
	void *arg;
};

static int add_start(void *arg, const struct fz_fleet_cell_row *c)
{
	const struct starts *k = arg;

	k->take(k->arg, c->host, c->minute);
	return 0;
}

/* The minute of an hour's sum is its first one. */
int fz_sqlite_starts(struct fz_fleet *fleet, const struct fz_fleet_query *q, const int64_t *series,
		     uint32_t n, void (*take)(void *arg, struct fz_str host, int64_t minute),
		     void *arg, struct fz_error *err)
{
	struct starts k = { take, arg };
	struct fz_fleet_query of = *q;

	of.whole_hours = true;
	return fz_sqlite_cells(fleet, &of, series, n, add_start, &k, err);
}

/* ---- buckets of time ---- */

struct buckets {
	int64_t first, minutes;
	void (*take)(void *arg, const struct fz_fleet_sum_row *row);
	void *arg;
};

static int add_bucket(void *arg, const struct fz_fleet_cell_row *c)
{
	const struct buckets *k = arg;

	k->take(k->arg, &(struct fz_fleet_sum_row){ .series = c->series,
						    .bucket = (c->minute - k->first) / k->minutes,
						    .cpu_ns = c->exposure.cpu_ns,
						    .samples = c->exposure.samples,
						    .cells = c->minutes });
	return 0;
}

int fz_sqlite_sums(struct fz_fleet *fleet, const struct fz_fleet_query *q, const int64_t *series,
		   uint32_t n, int64_t first, int64_t minutes,
		   void (*take)(void *arg, const struct fz_fleet_sum_row *row), void *arg,
		   struct fz_error *err)
{
	struct buckets k = { first, minutes, take, arg };
	struct fz_fleet_query of = *q;

	of.whole_hours = first % FZ_HOUR_MINUTES == 0 && minutes % FZ_HOUR_MINUTES == 0;
	return fz_sqlite_cells(fleet, &of, series, n, add_bucket, &k, err);
}

/* ---- values ---- */

/* Found cells of an hour. */
struct use {
	uint32_t cells, unit;
	bool mixed; /* cells of several units */
};

static struct use *count_uses(const struct fz_sqlite_store *f, const struct fz_fleet_found *found,
			      const uint32_t *unit)
{
	struct use *ret = fz_calloc((size_t)f->hour_n + 1, sizeof(*ret));

	for (uint32_t i = 0; i < found->cell_n; i++) {
		struct use *u = &ret[found->cells[i].group];

		u->mixed |= u->cells > 0 && u->unit != unit[i];
		u->unit = unit[i];
		u->cells++;
	}
	return ret;
}

struct reading {
	struct fz_sqlite_store *f;
	void (*take)(void *arg, uint32_t unit, int64_t node, int64_t value, int64_t n);
	void *arg;
};

static int read_values(const struct reading *k, enum fz_sql_name name, int64_t id, uint32_t unit,
		       struct fz_error *err)
{
	sqlite3_stmt *s = fz_sql(&k->f->sql, name);
	struct fz_cell_value v;

	fz_sqlite.bind_int(s, 1, id);
	int r = fz_sql_step(&k->f->sql, s, err);
	if (r != 1)
		return r;
	struct fz_str bytes = fz_sql_column_bytes(s, 0);
	struct fz_cell_reader reader = fz_cell_reader_of(&k->f->codec, bytes);
	while (fz_cell_reader_next(&reader, &v))
		k->take(k->arg, unit, v.node, v.value, v.n);
	bool idle = name != FZ_SQL_GET_VALUES && bytes.n == 0;
	fz_sql_reset(s);
	return reader.bad && !idle ? fz_sqlite_fail_values(&k->f->sql, err) : 0;
}

static bool is_whole(const struct fz_sqlite_store *f, const struct use *uses, uint32_t group)
{
	return group && !uses[group].mixed && uses[group].cells == f->hours[group - 1].cells;
}

/* Hours first, in the order in which they are stored. */
int fz_sqlite_each(struct fz_fleet *fleet, const struct fz_fleet_found *found, const uint32_t *unit,
		   void (*take)(void *arg, uint32_t unit, int64_t node, int64_t value, int64_t n),
		   void *arg, struct fz_error *err)
{
	struct fz_sqlite_store *f = fz_sqlite_store(fleet);
	fz_auto(fz_free_ptr) struct use *uses = count_uses(f, found, unit);
	const struct reading k = { f, take, arg };
	int r = 0;

	for (uint32_t g = 1; !r && g <= f->hour_n; g++) {
		const struct fz_sqlite_hour *h = &f->hours[g - 1];

		if (is_whole(f, uses, g) && uses[g].unit != FZ_NONE)
			r = read_values(&k, h->old ? FZ_SQL_OLD_HOUR_VALUES : FZ_SQL_HOUR_VALUES,
					h->id, uses[g].unit, err);
	}
	for (uint32_t i = 0; !r && i < found->cell_n; i++) {
		const struct fz_fleet_cell *c = &found->cells[i];

		if (unit[i] == FZ_NONE || is_whole(f, uses, c->group))
			continue;
		fz_assert(!c->by_hour);
		r = read_values(&k, FZ_SQL_GET_VALUES, c->key, unit[i], err);
	}
	return r;
}
