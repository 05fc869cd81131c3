/* SPDX-License-Identifier: MIT */
/* Converts layout 3, with a row for each value, to one row for all values of a cell.
 *
 *   value {cell, node, value, n}, in that order -> cell_values {cell, bytes}
 *
 * Cells are converted in order, some in each transaction; the last one deletes the table. While it
 * exists, every process that opens the store first continues after the last converted cell. So a
 * process may end at any time, and several may convert at once.
 */
#include "fleet/sqlite_calls.h"

enum { PART_VALUES = 50000 };

struct converter {
	struct fz_sql *sql;
	sqlite3_stmt *add;
	int64_t cell;
	struct fz_cell_value *values;
	size_t n, cap;
	struct fz_buf bytes;
	struct fz_cell_codec codec;
};

static void release(struct converter *k)
{
	free(k->values);
	fz_buf_release(&k->bytes);
	fz_cell_codec_release(&k->codec);
	fz_sql_drop(&k->add);
}

static int end_cell(struct converter *k, struct fz_error *err)
{
	if (k->n == 0)
		return 0;
	fz_buf_reset(&k->bytes);
	fz_cell_values_write(&k->codec, k->values, k->n, &k->bytes);
	k->n = 0;
	fz_sqlite.bind_int(k->add, 1, k->cell);
	fz_sql_bytes(k->add, 2, fz_buf_view(&k->bytes));
	return fz_sql_step(k->sql, k->add, err);
}

static int convert_row(struct converter *k, sqlite3_stmt *row, struct fz_error *err)
{
	int64_t cell = fz_sqlite.column_int(row, 0);
	struct fz_cell_value v = { fz_sqlite.column_int(row, 1), fz_sqlite.column_int(row, 2),
				   fz_sqlite.column_int(row, 3) };
	int r = cell == k->cell ? 0 : end_cell(k, err);

	if (!r && (v.node <= 0 || v.value < 0 || v.n < 0))
		r = fz_sqlite_fail_values(k->sql, err);
	if (r)
		return r;
	k->cell = cell;
	fz_push(k->values, k->n, k->cap, v);
	return 0;
}

/* Convert the values of cells after `from`: about PART_VALUES. *done: the last of these cells;
 * INT64_MAX: there are no more. */
static int convert_part(struct fz_sql *sql, int64_t from, int64_t *done, struct fz_error *err)
{
	fz_auto(release) struct converter k = {
		.sql = sql, .add = fz_sql_once(sql, "INSERT INTO cell_values VALUES (?, ?)")
	};
	fz_auto(fz_sql_drop) sqlite3_stmt *rows =
		fz_sql_once(sql, "SELECT cell, node, value, n FROM value WHERE cell > ?"
				 " ORDER BY cell, node");
	int64_t taken = 0;
	int r;

	fz_sqlite.bind_int(rows, 1, from);
	while ((r = fz_sql_step(sql, rows, err)) == 1) {
		if (taken++ >= PART_VALUES && fz_sqlite.column_int(rows, 0) != k.cell)
			break;
		r = convert_row(&k, rows, err);
		if (r)
			return r;
	}
	if (r < 0)
		return r;
	*done = r ? k.cell : INT64_MAX;
	return end_cell(&k, err);
}

/* Take the only number of a query's result. */
static int ask(struct fz_sql *s, const char *text, int64_t *ret, struct fz_error *err)
{
	fz_auto(fz_sql_drop) sqlite3_stmt *statement = fz_sql_once(s, text);

	return fz_sql_read_id(s, statement, ret, err);
}

/* Convert a part in one transaction. *percent: of all that is done then. */
static int convert_some(struct fz_sql *s, int *percent, struct fz_error *err)
{
	int64_t left, from, done, last;
	int r = fz_sql_run(s, FZ_SQL_BEGIN, err);

	if (r)
		return r;
	/* Another process may have completed it. */
	r = ask(s, "SELECT count(*) FROM sqlite_schema WHERE name = 'value'", &left, err);
	*percent = 100;
	if (r || !left)
		return fz_sql_end(s, r, err);
	r = ask(s, "SELECT max(cell) FROM cell_values", &from, err);
	if (!r)
		r = ask(s, "SELECT max(cell) FROM value", &last, err);
	if (!r)
		r = convert_part(s, from, &done, err);
	if (!r && done == INT64_MAX)
		r = fz_sql_script(s, "DROP TABLE value", err);
	else if (!r)
		*percent = (int)(99 * done / last);
	return fz_sql_end(s, r, err);
}

int fz_sqlite_convert_values(struct fz_sql *s, void (*progress)(void *arg, int percent), void *arg,
			     struct fz_error *err)
{
	int percent = 0, r = 0;

	while (!r && percent < 100) {
		r = convert_some(s, &percent, err);
		if (!r && percent < 100 && progress)
			progress(arg, percent);
	}
	return r;
}
