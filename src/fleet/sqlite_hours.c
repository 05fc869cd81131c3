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
 * been added up; `bytes` contains the sums (cell_values.h), if there are values. All columns are
 * NULL if there are too few cells to gain from a sum or they cannot be added up; such cells are
 * read one by one.
 *
 * Cells that are old enough are replaced by such a row for good:
 *
 *   cell {minute ...} x 60  --fz_sqlite_age-->  old_hour {cells, bytes}
 *
 * Later pushes may add cells to an old hour; these are added to its row the next time. Cells whose
 * sums are above 63 bits remain.
 */
#include "fleet/hour_cells.h"
#include "fleet/sqlite_calls.h"

enum { FEWEST_CELLS = 8, HOURS_AT_ONCE = 8 };

struct hour {
	int64_t series, hour, host;
};

/* The cells of an hour; their values are in f->values. */
struct content {
	struct fz_hour_cell cells[FZ_HOUR_MINUTES];
	uint32_t n;
	size_t value_n;
	bool bad; /* values cannot be read, or sums exceed 63 bits */
};

static int read_cells(struct fz_sqlite_store *f, const struct hour *h, struct content *ret,
		      struct fz_error *err)
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
		ret->cells[ret->n++] = (struct fz_hour_cell){
			.id = fz_sqlite.column_int(s, 0),
			.minute = minute,
			.exposure = { fz_sqlite.column_int(s, 1), fz_sqlite.column_int(s, 2),
				      fz_sqlite.column_int(s, 3), fz_sqlite.column_int(s, 4) },
		};
		struct fz_str bytes = fz_sql_column_bytes(s, 5);
		if (bytes.n)
			ret->bad |= !fz_sqlite_append_values(f, bytes, &ret->value_n);
		fz_sql_reset(s);
	}
	return FZ_MIN(r, 0);
}

static bool add_exposure(struct fz_fleet_exposure *sum, const struct fz_fleet_exposure *more)
{
	bool over = __builtin_add_overflow(sum->cpu_ns, more->cpu_ns, &sum->cpu_ns);

	over |= __builtin_add_overflow(sum->wall_ns, more->wall_ns, &sum->wall_ns);
	over |= __builtin_add_overflow(sum->samples, more->samples, &sum->samples);
	return !(over | __builtin_add_overflow(sum->lost, more->lost, &sum->lost));
}

/* Add up values and exposures; false if a sum exceeds 63 bits or something cannot be read. */
static bool add_up(struct fz_sqlite_store *f, struct content *c, struct fz_fleet_exposure *ret)
{
	for (uint32_t i = 0; i < c->n; i++)
		c->bad |= !add_exposure(ret, &c->cells[i].exposure);
	return !c->bad && fz_cell_values_add_up(f->values, &c->value_n);
}

/* sum NULL: the cells are read one by one. */
static int put_hour(struct fz_sqlite_store *f, enum fz_sql_name name, const struct hour *h,
		    const struct content *c, const struct fz_fleet_exposure *sum,
		    struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf cells = { 0 };
	sqlite3_stmt *s = fz_sql(&f->sql, name);

	fz_sqlite.bind_int(s, 1, h->series);
	fz_sqlite.bind_int(s, 2, h->hour);
	fz_sqlite.bind_int(s, 3, h->host);
	for (int i = 4; !sum && i <= 12; i++)
		fz_sql_bytes(s, i, (struct fz_str){ 0 });
	if (!sum)
		return fz_sql_step(&f->sql, s, err);
	const int64_t numbers[] = { c->cells[0].minute,
				    c->cells[c->n - 1].minute,
				    c->n,
				    sum->cpu_ns,
				    sum->wall_ns,
				    sum->samples,
				    sum->lost };
	for (size_t i = 0; i < FZ_ARRAY_LEN(numbers); i++)
		fz_sqlite.bind_int(s, (int)i + 4, numbers[i]);
	fz_buf_reset(&f->bytes);
	if (c->value_n)
		fz_cell_values_write(NULL, f->values, c->value_n, &f->bytes);
	fz_hour_cells_write(h->hour, c->cells, c->n, &cells);
	fz_sql_bytes(s, 11, fz_buf_view(&cells));
	fz_sql_bytes(s, 12, fz_buf_view(&f->bytes));
	return fz_sql_step(&f->sql, s, err);
}

static int sum_hour(struct fz_sqlite_store *f, const struct hour *h, struct fz_error *err)
{
	struct fz_fleet_exposure sum = { 0 };
	struct content c = { 0 };
	int r = read_cells(f, h, &c, err);

	if (r || c.n == 0)
		return r;
	bool fits = c.n >= FEWEST_CELLS && add_up(f, &c, &sum);
	return put_hour(f, FZ_SQL_PUT_HOUR, h, &c, fits ? &sum : NULL, err);
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

/* ---- old hours ---- */

/* Insert a cell in order of minutes, or add it to the one of that minute. */
static void add_cell(struct content *c, const struct fz_hour_cell *cell)
{
	uint32_t at = 0;

	while (at < c->n && c->cells[at].minute < cell->minute)
		at++;
	if (at < c->n && c->cells[at].minute == cell->minute) {
		c->bad |= !add_exposure(&c->cells[at].exposure, &cell->exposure);
		return;
	}
	memmove(&c->cells[at + 1], &c->cells[at], (c->n - at) * sizeof(*cell));
	c->cells[at] = *cell;
	c->n++;
}

/* Add the row of an old hour, and delete it. */
static int add_old_hour(struct fz_sqlite_store *f, const struct hour *h, struct content *c,
			struct fz_error *err)
{
	sqlite3_stmt *s = fz_sql(&f->sql, FZ_SQL_GET_OLD_HOUR);
	struct fz_hour_cell cell;

	fz_sqlite.bind_int(s, 1, h->series);
	fz_sqlite.bind_int(s, 2, h->hour);
	fz_sqlite.bind_int(s, 3, h->host);
	int r = fz_sql_step(&f->sql, s, err);
	if (r != 1)
		return r;
	int64_t id = fz_sqlite.column_int(s, 0);
	struct fz_hour_reader reader = fz_hour_reader_of(h->hour, fz_sql_column_bytes(s, 1));
	while (fz_hour_reader_next(&reader, &cell))
		add_cell(c, &cell);
	struct fz_str bytes = fz_sql_column_bytes(s, 2);
	bool good = !bytes.n || fz_sqlite_append_values(f, bytes, &c->value_n);
	fz_sql_reset(s);
	if (reader.bad || !good)
		return fz_sqlite_fail_values(&f->sql, err);
	s = fz_sql(&f->sql, FZ_SQL_FORGET_HOUR);
	fz_sqlite.bind_int(s, 1, id);
	return fz_sql_step(&f->sql, s, err);
}

static int delete_cells(struct fz_sqlite_store *f, const struct content *c, struct fz_error *err)
{
	static const enum fz_sql_name names[] = { FZ_SQL_FORGET_VALUES, FZ_SQL_FORGET_CELL };
	int r = 0;

	for (uint32_t i = 0; i < c->n; i++)
		for (size_t n = 0; !r && n < FZ_ARRAY_LEN(names); n++) {
			sqlite3_stmt *s = fz_sql(&f->sql, names[n]);

			fz_sqlite.bind_int(s, 1, c->cells[i].id);
			r = fz_sql_step(&f->sql, s, err);
		}
	return r;
}

/* Age the cells of an hour, in a savepoint. *ret: their number; 0: they cannot be added up. */
static int age_hour(struct fz_sqlite_store *f, const struct hour *h, uint32_t *ret,
		    struct fz_error *err)
{
	struct fz_fleet_exposure sum = { 0 };
	struct content c = { 0 };
	int r = read_cells(f, h, &c, err);

	*ret = c.n;
	if (!r)
		r = delete_cells(f, &c, err);
	if (!r)
		r = add_old_hour(f, h, &c, err);
	if (r)
		return r;
	if (!add_up(f, &c, &sum)) {
		*ret = 0;
		return fz_sql_run(&f->sql, FZ_SQL_PUT_UNDO, err);
	}
	r = put_hour(f, FZ_SQL_PUT_OLD_HOUR, h, &c, &sum, err);
	if (!r)
		r = fz_sqlite_note_change(&f->sql, h->series, err);
	return r ? r : end_stale(f, h, err);
}

struct aging {
	struct fz_sqlite_store *f;
	int64_t before;               /* minute, start of an hour */
	int64_t series, minute, host; /* previous cell */
	int64_t hours;                /* replaced */
};

/* Returns 1 if there is an hour to age. */
static int next_hour(struct aging *k, struct hour *ret, struct fz_error *err)
{
	sqlite3_stmt *s = fz_sql(&k->f->sql, FZ_SQL_AGING_CELL);

	fz_sqlite.bind_int(s, 1, k->series);
	fz_sqlite.bind_int(s, 2, k->minute);
	fz_sqlite.bind_int(s, 3, k->host);
	fz_sqlite.bind_int(s, 4, k->before);
	int r = fz_sql_step(&k->f->sql, s, err);
	if (r != 1)
		return r;
	k->series = fz_sqlite.column_int(s, 0);
	k->minute = fz_sqlite.column_int(s, 1);
	k->host = fz_sqlite.column_int(s, 2);
	fz_sql_reset(s);
	*ret = (struct hour){ k->series, k->minute / FZ_HOUR_MINUTES, k->host };
	return 1;
}

/* Age some hours in one transaction. *rows: number of their cells. Returns 1 if there may be more.
 */
static int age_some(struct aging *k, int64_t *rows, struct fz_error *err)
{
	struct fz_sql *sql = &k->f->sql;
	struct hour h;
	int r = fz_sql_run(sql, FZ_SQL_BEGIN, err), more = 0;

	if (r)
		return r;
	for (int i = 0; !r && i < HOURS_AT_ONCE; i++) {
		uint32_t n = 0;

		more = next_hour(k, &h, err);
		if (more != 1)
			break;
		r = fz_sql_run(sql, FZ_SQL_PUT_BEGIN, err);
		if (!r)
			r = age_hour(k->f, &h, &n, err);
		if (!r)
			r = fz_sql_run(sql, FZ_SQL_PUT_END, err);
		k->hours += n > 0;
		*rows += n;
	}
	r = fz_sql_end(sql, more < 0 ? more : r, err);
	return r ? r : more;
}

int64_t fz_sqlite_age(struct fz_fleet *fleet, int64_t before,
		      bool (*between)(void *arg, int64_t rows), void *arg, struct fz_error *err)
{
	struct aging k = { .f = fz_sqlite_store(fleet),
			   .before = before - before % FZ_HOUR_MINUTES };
	struct hour h;
	int r = next_hour(&k, &h, err);

	/* Avoid a write transaction if there is nothing to do, as is usual. */
	k.series = k.minute = k.host = 0;
	while (r == 1) {
		int64_t rows = 0;

		r = age_some(&k, &rows, err);
		if (r >= 0 && between && !between(arg, rows))
			break;
	}
	return r < 0 ? r : k.hours;
}
