/* SPDX-License-Identifier: MIT */
/* Takes back what later layouts of a store added, so that tests have one of the first layout. */
#pragma once

#include "fleet/sqlite_calls.h"

static void run_sql(const char *path, const char *text)
{
	sqlite3 *db;

	assert_int_equal(fz_sqlite.open(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	assert_int_equal(fz_sqlite.exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	fz_sqlite.close(db);
}

/* A row for each value, as in layout 3. */
static void separate_values(const char *path)
{
	struct fz_sql sql;
	struct fz_error err;
	struct fz_cell_codec codec = { 0 };
	struct fz_cell_value v;

	run_sql(path, "CREATE TABLE rows (cell INTEGER NOT NULL, node INTEGER NOT NULL,"
		      " value INTEGER NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (cell, node))"
		      " STRICT, WITHOUT ROWID");
	assert_int_equal(fz_sql_open(&sql, path, true, &err), 0);
	sqlite3_stmt *s = fz_sql_once(&sql, "SELECT cell, bytes FROM cell_values");
	sqlite3_stmt *add = fz_sql_once(&sql, "INSERT INTO rows VALUES (?, ?, ?, ?)");
	assert_int_equal(fz_sql_script(&sql, "BEGIN", &err), 0);
	while (fz_sql_step(&sql, s, &err) == 1) {
		struct fz_cell_reader reader = fz_cell_reader_of(&codec, fz_sql_column_bytes(s, 1));

		while (fz_cell_reader_next(&reader, &v)) {
			fz_sqlite.bind_int(add, 1, fz_sqlite.column_int(s, 0));
			fz_sqlite.bind_int(add, 2, v.node);
			fz_sqlite.bind_int(add, 3, v.value);
			fz_sqlite.bind_int(add, 4, v.n);
			assert_int_equal(fz_sql_step(&sql, add, &err), 0);
		}
		assert_false(reader.bad);
	}
	assert_int_equal(fz_sql_script(&sql, "COMMIT", &err), 0);
	fz_sql_drop(&s);
	fz_sql_drop(&add);
	fz_cell_codec_release(&codec);
	fz_sql_close(&sql);
	run_sql(path, "DROP TRIGGER hour_of_added; DROP TRIGGER hour_of_grown; DROP TABLE hour;"
		      "DROP TRIGGER hour_of_deleted; DROP TRIGGER series_deleted;"
		      "DROP TABLE stale_hour; DROP TABLE cell_values;"
		      "ALTER TABLE rows RENAME TO value; PRAGMA user_version = 3");
}

/* What later layouts added, taken away. */
#define FIRST_LAYOUT                                                                   \
	"DROP TRIGGER cell_added; DROP TRIGGER cell_grown; DROP TRIGGER cell_deleted;" \
	"DROP TRIGGER push_added; DROP TRIGGER push_deleted;"                          \
	"DROP TABLE host_sum; DROP TABLE push_count; DROP TABLE old_hour;"             \
	"ALTER TABLE push DROP COLUMN digest; PRAGMA user_version = 1"

static void take_back_layouts(const char *path)
{
	separate_values(path);
	run_sql(path, FIRST_LAYOUT);
}
