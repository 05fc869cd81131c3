/* SPDX-License-Identifier: MIT */
/* Sums of whole hours, so that a long query reads a row for each host and hour of a series instead
 * of two for each minute.
 *
 *   cell  --a trigger, when one is added, grows or is deleted-->  the hour's row is deleted, and
 *                                                                 the hour is in stale_hour
 *   stale_hour  --fz_sqlite_sum_hours, when the hour is over-->   hour {cells, bytes}
 *
 * So a row of an hour always matches the cells of that hour and the sums of their values. `cells`
 * contains all columns of each cell (hour_cells.h), so results do not depend on which hours have
 * been added up; `bytes` contains the sums (cell_values.h), if there are values. Both are NULL if
 * the cells are too few to gain from it or cannot be added up: those are read one by one.
 */
#include "fleet/hour_cells.h"
#include "fleet/sqlite_calls.h"

enum { FEWEST_CELLS = 8, HOURS_AT_ONCE = 8 };

struct hour {
	int64_t series, hour, host;
};

/* Read the cells of an hour, and their values into f->values. *fits: can they be read? */
static int read_cells(struct fz_sqlite_store *f, const struct hour *h,
		      struct fz_hour_cell ret[FZ_HOUR_MINUTES], uint32_t *ret_n, size_t *value_n,
		      bool *fits, struct fz_error *err)
{
	sqlite3_stmt *s = fz_sql(&f->sql, FZ_SQL_CELL_AT);
	int r = 0;

	for (int64_t i = 0; r >= 0 && i < FZ_HOUR_MINUTES; i++) {
		int64_t minute = h->hour * FZ_HOUR_MINUTES + i;

		fz_sqlite.bind_int(s, 1, h->series);
		fz_sqlite.bind_int(s, 2, minute);
		fz_sqlite.bind_int(s, 3, h->host);
		r = fz_sql_step(&f->sql, s, err);
		if (r != 1)
			continue;
		ret[(*ret_n)++] = (struct fz_hour_cell){
			.id = fz_sqlite.column_int(s, 0),
			.minute = minute,
			.exposure = { fz_sqlite.column_int(s, 1), fz_sqlite.column_int(s, 2),
				      fz_sqlite.column_int(s, 3), fz_sqlite.column_int(s, 4) },
		};
		struct fz_str bytes = fz_sql_column_bytes(s, 5);
		if (bytes.n)
			*fits &= fz_sqlite_append_values(f, bytes, value_n);
		fz_sql_reset(s);
	}
	return FZ_MIN(r, 0);
}

static int put_hour(struct fz_sqlite_store *f, const struct hour *h, struct fz_str cells,
		    struct fz_str bytes, struct fz_error *err)
{
	sqlite3_stmt *s = fz_sql(&f->sql, FZ_SQL_PUT_HOUR);

	fz_sqlite.bind_int(s, 1, h->series);
	fz_sqlite.bind_int(s, 2, h->hour);
	fz_sqlite.bind_int(s, 3, h->host);
	fz_sql_bytes(s, 4, cells);
	fz_sql_bytes(s, 5, bytes);
	return fz_sql_step(&f->sql, s, err);
}

static int sum_hour(struct fz_sqlite_store *f, const struct hour *h, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf bytes = { 0 };
	struct fz_hour_cell cells[FZ_HOUR_MINUTES];
	uint32_t n = 0;
	size_t value_n = 0;
	bool fits = true;
	int r = read_cells(f, h, cells, &n, &value_n, &fits, err);

	if (r || n == 0)
		return r;
	if (n < FEWEST_CELLS || !fits || !fz_cell_values_add_up(f->values, &value_n))
		return put_hour(f, h, (struct fz_str){ 0 }, (struct fz_str){ 0 }, err);
	fz_buf_reset(&f->bytes);
	if (value_n)
		fz_cell_values_write(NULL, f->values, value_n, &f->bytes);
	fz_hour_cells_write(h->hour, cells, n, &bytes);
	return put_hour(f, h, fz_buf_view(&bytes), fz_buf_view(&f->bytes), err);
}

static int find_stale(struct fz_sqlite_store *f, int64_t before, struct hour ret[HOURS_AT_ONCE],
		      uint32_t *n, struct fz_error *err)
{
	sqlite3_stmt *s = fz_sql(&f->sql, FZ_SQL_STALE);
	int r;

	fz_sqlite.bind_int(s, 1, before / FZ_HOUR_MINUTES);
	fz_sqlite.bind_int(s, 2, HOURS_AT_ONCE);
	while ((r = fz_sql_step(&f->sql, s, err)) == 1)
		ret[(*n)++] = (struct hour){ fz_sqlite.column_int(s, 0), fz_sqlite.column_int(s, 1),
					     fz_sqlite.column_int(s, 2) };
	return r;
}

static int end_stale(struct fz_sqlite_store *f, const struct hour *h, struct fz_error *err)
{
	sqlite3_stmt *s = fz_sql(&f->sql, FZ_SQL_NOT_STALE);

	fz_sqlite.bind_int(s, 1, h->series);
	fz_sqlite.bind_int(s, 2, h->hour);
	fz_sqlite.bind_int(s, 3, h->host);
	return fz_sql_step(&f->sql, s, err);
}

int64_t fz_sqlite_sum_hours(struct fz_fleet *fleet, int64_t before, struct fz_error *err)
{
	struct fz_sqlite_store *f = fz_sqlite_store(fleet);
	struct hour hours[HOURS_AT_ONCE];
	uint32_t n = 0;
	int r = find_stale(f, before, hours, &n, err);

	if (r || n == 0)
		return r;
	r = fz_sql_run(&f->sql, FZ_SQL_BEGIN, err);
	if (r)
		return r;
	/* Another process may have changed the list since. */
	n = 0;
	r = find_stale(f, before, hours, &n, err);
	for (uint32_t i = 0; !r && i < n; i++) {
		r = sum_hour(f, &hours[i], err);
		if (!r)
			r = end_stale(f, &hours[i], err);
	}
	r = fz_sql_end(&f->sql, r, err);
	return r ? r : n;
}
