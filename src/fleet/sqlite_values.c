/* SPDX-License-Identifier: MIT */
/* Converts layout 3, with a row for each value, to one row for all values of a cell.
 *
 *   value {cell, node, value, n}, in that order -> cell_values {cell, bytes}
 *
 * One transaction: if the process ends before its end, the store has layout 3.
 */
#include "fleet/sqlite_calls.h"

int fz_sqlite_fail_values(const struct fz_sql *s, struct fz_error *err)
{
	return fz_fail(err, FZ_EINPUT, "%s: damaged: the values of a cell cannot be read", s->path);
}

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

static int take_row(struct converter *k, sqlite3_stmt *row, struct fz_error *err)
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
	fz_grow(k->values, k->n, k->cap);
	k->values[k->n++] = v;
	return 0;
}

int fz_sqlite_convert_values(struct fz_sql *s, struct fz_error *err)
{
	fz_auto(release) struct converter k = {
		.sql = s, .add = fz_sql_once(s, "INSERT INTO cell_values VALUES (?, ?)")
	};
	fz_auto(fz_sql_drop) sqlite3_stmt *rows =
		fz_sql_once(s, "SELECT cell, node, value, n FROM value ORDER BY cell, node");
	int r;

	while ((r = fz_sql_step(s, rows, err)) == 1) {
		r = take_row(&k, rows, err);
		if (r)
			return r;
	}
	if (!r)
		r = end_cell(&k, err);
	return r ? r : fz_sql_script(s, "DROP TABLE value; PRAGMA user_version = 4", err);
}
