/* SPDX-License-Identifier: MIT */
/* What all writers of a SQLite store share: pushes, sums of hours and retention. */
#include "fleet/sqlite_calls.h"

void fz_sqlite_forget_known(struct fz_sqlite_store *f)
{
	fz_map_clear(&f->function_map);
	fz_map_clear(&f->node_map);
	f->id_n = 0;
}

int fz_sqlite_note_change(struct fz_sql *s, int64_t series, struct fz_error *err)
{
	sqlite3_stmt *put = fz_sql(s, FZ_SQL_PUT_CHANGE);
	int r = fz_sql_run(s, FZ_SQL_COUNT_CHANGE, err);

	fz_sqlite.bind_int(put, 1, series);
	return r ? r : fz_sql_step(s, put, err);
}

bool fz_sqlite_append_values(struct fz_sqlite_store *f, struct fz_str bytes, size_t *n)
{
	struct fz_cell_reader reader = fz_cell_reader_of(&f->codec, bytes);
	struct fz_cell_value v;

	while (fz_cell_reader_next(&reader, &v)) {
		fz_grow(f->values, *n, f->value_cap);
		f->values[(*n)++] = v;
	}
	return !reader.bad;
}

int fz_sqlite_fail_values(const struct fz_sql *s, struct fz_error *err)
{
	return fz_fail(err, FZ_EINPUT, "%s: damaged: the values of a cell cannot be read", s->path);
}
