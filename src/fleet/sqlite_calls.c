/* SPDX-License-Identifier: MIT */
/* Queries and changes of profiles in SQLite's dialect, and calls of SQLite; sqlite_open.c has the
 * tables, results_calls.c and files.c have SQL of their own.
 */
#include "fleet/sqlite_calls.h"

#include "base/library.h"

struct fz_sqlite fz_sqlite;

/* First or last minute of cells and old hours. */
#define FIRST_OF(cells, hours)                                                                    \
	"(SELECT min(m) FROM (SELECT min(minute) AS m" cells " UNION ALL SELECT min(first)" hours \
	"))"
#define LAST_OF(cells, hours)                                                                    \
	"(SELECT max(m) FROM (SELECT max(minute) AS m" cells " UNION ALL SELECT max(last)" hours \
	"))"
#define CELLS " FROM cell WHERE series = series.id"
#define OLD_HOURS_OF " FROM old_hour WHERE series = series.id"
#define FIRST_MINUTE FIRST_OF(CELLS, OLD_HOURS_OF)
#define LAST_MINUTE LAST_OF(CELLS, OLD_HOURS_OF)
/* For FZ_SQL_FIND_SERIES: in the query's time. An old hour is in a time that contains its middle.
 * This avoids counting all cells of a series. */
#define IN_TIME CELLS " AND minute >= ?4 AND minute < ?5"
#define OLD_IN_TIME(minute) \
	OLD_HOURS_OF " AND " minute " >= (?4 + 29) / 60 * 60 AND " minute " < (?5 + 29) / 60 * 60"
#define FIRST_IN_TIME FIRST_OF(IN_TIME, OLD_IN_TIME("first"))
#define LAST_IN_TIME LAST_OF(IN_TIME, OLD_IN_TIME("last"))
#define COUNT_IN_TIME                                                    \
	"CASE WHEN " FIRST_MINUTE " >= ?4 AND " LAST_MINUTE " < ?5 THEN" \
	" (SELECT sum(cells) FROM host_sum WHERE series = series.id)"    \
	" ELSE (SELECT count(*)" IN_TIME ") + (SELECT total(n)" OLD_IN_TIME("first") ") END"

/* A version with several hosts begins when the second one does: one clock may be behind. The first
 * two hosts of a version are among the first two of its series, which an index finds. */
/* clang-format off */
#define FIRST_OF_ROWS(column, table, time, others) \
	" (SELECT " column " FROM " table " WHERE series = own.id" others " ORDER BY " time " LIMIT 1)"
#define FIRST_HOST(table, time) FIRST_OF_ROWS("host", table, time, "")
#define FIRST_AND_SECOND(table, time, host) \
	"SELECT version, " host " AS host," \
	" " FIRST_OF_ROWS(time, table, time, "") " AS first FROM seen AS own UNION ALL SELECT version," \
	FIRST_OF_ROWS("host", table, time, " AND host <> " host) "," \
	" " FIRST_OF_ROWS(time, table, time, " AND host <> " host) " FROM seen AS own"
#define PREVIOUS \
	"WITH own AS (SELECT id, version FROM series" \
	" WHERE project = (SELECT id FROM project WHERE name = ?1) AND service = ?2)," \
	" seen AS (SELECT id, version," \
	FIRST_HOST("cell", "minute") " AS cell_host," \
	FIRST_HOST("old_hour", "first") " AS hour_host FROM own)," \
	" part AS (" FIRST_AND_SECOND("cell", "minute", "cell_host") \
	" UNION ALL " FIRST_AND_SECOND("old_hour", "first", "hour_host") ")," \
	" begun AS (SELECT version, min(first) AS first," \
	" row_number() OVER (PARTITION BY version ORDER BY min(first)) AS place," \
	" count(*) OVER (PARTITION BY version) AS hosts FROM part" \
	" WHERE host IS NOT NULL GROUP BY version, host)," \
	" release AS (SELECT version," \
	" max(CASE WHEN place = min(hosts, 2) THEN first END) AS first," \
	" (SELECT max(max(ifnull((SELECT max(minute) FROM cell WHERE series = own.id), 0)," \
	" ifnull((SELECT max(last) FROM old_hour WHERE series = own.id), 0))) FROM own" \
	" WHERE own.version = begun.version) AS last FROM begun GROUP BY version)" \
	" SELECT version FROM release WHERE version <> ?3" \
	" AND first < (SELECT first FROM release WHERE version = ?3)" \
	" ORDER BY last DESC, version DESC LIMIT 1"
/* clang-format on */

#define PUT_HOUR(how, table)                                                                \
	how " INTO " table " (series, hour, host, first, last, n, cpu, wall, samples, lost" \
	    ", cells, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
#define HOUR_SUMS "n, first, cpu, wall, samples, lost"
#define FIND_HOURS(table, columns)                                       \
	"SELECT " table ".id, hour, host, name, " columns " FROM " table \
	" JOIN host ON host.id = host WHERE series = ? AND hour >= ? AND hour < ?"

static const char *const statements[FZ_SQL_NAMES] = {
	[FZ_SQL_BEGIN] = "BEGIN IMMEDIATE",
	[FZ_SQL_BEGIN_READING] = "BEGIN",
	[FZ_SQL_COMMIT] = "COMMIT",
	[FZ_SQL_DATA_VERSION] = "PRAGMA data_version",
	[FZ_SQL_ROLLBACK] = "ROLLBACK",
	[FZ_SQL_PUT_BEGIN] = "SAVEPOINT put",
	[FZ_SQL_PUT_END] = "RELEASE put",
	[FZ_SQL_PUT_UNDO] = "ROLLBACK TO put",
	[FZ_SQL_ADD_PUSH] = "INSERT INTO push VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
	[FZ_SQL_COUNT_SAME_PUSH] = "SELECT count(*) FROM push WHERE project = ? AND id = ? AND"
				   " service = ? AND version = ? AND"
				   " ifnull(digest = ?, 1)",
	[FZ_SQL_PUT_PROJECT] = "INSERT INTO project (name) VALUES (?) ON CONFLICT DO NOTHING",
	[FZ_SQL_GET_PROJECT] = "SELECT id FROM project WHERE name = ?",
	[FZ_SQL_GET_HOST] = "SELECT id FROM host WHERE project = ? AND name = ?",
	[FZ_SQL_ADD_HOST] = "INSERT INTO host (project, name) VALUES (?, ?)",
	[FZ_SQL_COUNT_HOSTS] = "SELECT count(*) FROM host WHERE project = ?",
	[FZ_SQL_GET_SERIES] = "SELECT id FROM series WHERE project = ? AND service = ? AND"
			      " version = ? AND labels = ? AND metric = ? AND unit = ? AND"
			      " clock = ? AND mode = ? AND features = ? AND interval = ? AND"
			      " main = ?",
	[FZ_SQL_ADD_SERIES] = "INSERT INTO series (project, service, version, labels, metric, unit,"
			      " clock, mode, features, interval, main)"
			      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	/* excluding the name about to be added */
	[FZ_SQL_COUNT_SERVICES] = "SELECT count(DISTINCT service) FROM series"
				  " WHERE project = ?1 AND service <> ?2",
	[FZ_SQL_COUNT_VERSIONS] = "SELECT count(DISTINCT version) FROM series"
				  " WHERE project = ?1 AND service = ?2 AND version <> ?3",
	[FZ_SQL_COUNT_LABELS] = "SELECT count(DISTINCT labels) FROM series"
				" WHERE project = ?1 AND service = ?2 AND labels <> ?3",
	[FZ_SQL_GET_FUNCTION] = "SELECT id FROM function WHERE project = ? AND"
				" name = CAST(? AS BLOB) AND file = CAST(? AS BLOB) AND"
				" module = CAST(? AS BLOB) AND line = ? AND kind = ?",
	[FZ_SQL_ADD_FUNCTION] = "INSERT INTO function (project, name, file, module, line, kind)"
				" VALUES (?, CAST(? AS BLOB), CAST(? AS BLOB), CAST(? AS BLOB),"
				" ?, ?)",
	[FZ_SQL_GET_NODE] = "SELECT id FROM node WHERE parent = ? AND function = ?",
	[FZ_SQL_ADD_NODE] = "INSERT INTO node (parent, function) VALUES (?, ?)",
	[FZ_SQL_ADD_CELL] = "INSERT INTO cell (series, minute, host, cpu, wall, samples, lost)"
			    " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (series, minute, host)"
			    " DO UPDATE SET cpu = cpu + excluded.cpu, wall = wall + excluded.wall,"
			    " samples = samples + excluded.samples, lost = lost + excluded.lost"
			    " RETURNING id",
	[FZ_SQL_GET_VALUES] = "SELECT bytes FROM cell_values WHERE cell = ?",
	[FZ_SQL_PUT_VALUES] = "INSERT INTO cell_values VALUES (?, ?) ON CONFLICT (cell)"
			      " DO UPDATE SET bytes = excluded.bytes",
	[FZ_SQL_LIST] = "WITH listed AS MATERIALIZED (SELECT *, " FIRST_MINUTE
			" AS first, " LAST_MINUTE " AS last FROM series"
			" WHERE project = (SELECT id FROM project WHERE name = ?))"
			" SELECT service, version, metric, unit, min(first), max(last),"
			" count(DISTINCT host), sum(cells), ifnull((SELECT n FROM push_count AS p"
			" WHERE p.project = listed.project AND p.service = listed.service AND"
			" p.version = listed.version), 0), total(cpu), total(wall),"
			" sum(samples), sum(lost) FROM listed JOIN host_sum ON series = listed.id"
			" GROUP BY service, version, metric, unit"
			" ORDER BY service, max(last) DESC, version DESC, max(main) DESC, metric",
	/* ?3 "": all versions. Number of cells, first and last minute in the query's time; version;
	 * its first minute at any time. */
	[FZ_SQL_FIND_SERIES] =
		"SELECT id, labels, metric, unit, clock, mode, features, interval, main,"
		" " COUNT_IN_TIME ", " FIRST_IN_TIME ", " LAST_IN_TIME ", version, " FIRST_MINUTE
		" FROM series WHERE project = (SELECT id FROM project WHERE name = ?1) AND"
		" service = ?2 AND (?3 = '' OR version = ?3) ORDER BY id",
	[FZ_SQL_COUNT_CHANGE] = "UPDATE change SET n = n + 1",
	[FZ_SQL_PUT_CHANGE] = "INSERT INTO series_change SELECT ?1, n FROM change WHERE true"
			      " ON CONFLICT (series) DO UPDATE SET n = excluded.n",
	/* ?3 "": all versions */
	[FZ_SQL_STATE] = "SELECT id, ifnull(n, 0) FROM series"
			 " LEFT JOIN series_change ON series = series.id"
			 " WHERE project = (SELECT id FROM project WHERE name = ?1) AND"
			 " service = ?2 AND (?3 = '' OR version = ?3) ORDER BY id",
	[FZ_SQL_FIND_CELLS] = "SELECT cell.id, minute, name, cpu, wall, samples, lost, host"
			      " FROM cell JOIN host ON host.id = cell.host WHERE series = ? AND"
			      " minute >= ? AND minute < ?",
	[FZ_SQL_NODE] = "SELECT parent, name, file, module, line, kind FROM node"
			" JOIN function ON function.id = function WHERE node.id = ?",
	[FZ_SQL_SERVICES] = "SELECT DISTINCT service FROM series WHERE project ="
			    " (SELECT id FROM project WHERE name = ?) ORDER BY service LIMIT ?",
	[FZ_SQL_VERSIONS] =
		"WITH listed AS (SELECT version, " LAST_MINUTE " AS last FROM series"
		" WHERE project = (SELECT id FROM project WHERE name = ?) AND service = ?)"
		" SELECT version FROM listed WHERE last IS NOT NULL GROUP BY version"
		" ORDER BY max(last) DESC, version DESC LIMIT ?",
	[FZ_SQL_ADD_ALARM] = "INSERT INTO alarm VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
			     " ON CONFLICT DO NOTHING",
	[FZ_SQL_ALARMS] = "SELECT service, base, head, function, text, change, low, high, first,"
			  " raised FROM alarm WHERE project ="
			  " (SELECT id FROM project WHERE name = ?1)"
			  " AND (?2 = '' OR service = ?2)"
			  " ORDER BY raised DESC, service, head, function LIMIT ?3",
	[FZ_SQL_PREVIOUS] = PREVIOUS,
	/* ?1: minute before which cells are old; ?2: first series. Number of cells. */
	[FZ_SQL_OLD_CELL] = "SELECT cell.id, series.id, 1 FROM series CROSS JOIN cell"
			    " ON cell.series = series.id WHERE series.id >= ?2 AND minute < ?1"
			    " ORDER BY series.id LIMIT 1",
	[FZ_SQL_OLD_HOUR] = "SELECT old_hour.id, series.id, n FROM series CROSS JOIN old_hour"
			    " ON old_hour.series = series.id WHERE series.id >= ?2 AND last < ?1"
			    " ORDER BY series.id LIMIT 1",
	[FZ_SQL_FORGET_VALUES] = "DELETE FROM cell_values WHERE cell = ?",
	[FZ_SQL_FORGET_CELL] = "DELETE FROM cell WHERE id = ?",
	[FZ_SQL_FORGET_HOUR] = "DELETE FROM old_hour WHERE id = ?",
	[FZ_SQL_PART_OF_PUSHES] = "SELECT project, id FROM push WHERE (project, id) > (?, ?)"
				  " ORDER BY project, id LIMIT 1 OFFSET ?",
	[FZ_SQL_FORGET_PUSHES] = "DELETE FROM push WHERE (project, id) > (?, ?)"
				 " AND (project, id) <= (?, ?) AND last < ?",
	/* ?1: maximum number of rows */
	[FZ_SQL_FORGET_ALARMS] = "DELETE FROM alarm WHERE (project, service, head, function) IN"
				 " (SELECT project, service, head, function FROM alarm"
				 " WHERE raised < ?2 LIMIT ?1)",
	[FZ_SQL_FORGET_SERIES] = "DELETE FROM series WHERE id IN (SELECT id FROM series"
				 " WHERE " LAST_MINUTE " IS NULL LIMIT ?1)",
	[FZ_SQL_FORGET_HOSTS] = "DELETE FROM host WHERE id IN (SELECT id FROM host"
				" WHERE id NOT IN (SELECT host FROM host_sum) LIMIT ?1)",
	[FZ_SQL_SWEEP] = "UPDATE sweep SET generation = generation + 1, active = 1",
	[FZ_SQL_SWEEPING] = "SELECT generation FROM sweep WHERE active",
	[FZ_SQL_SWEPT] = "UPDATE sweep SET active = 0",
	[FZ_SQL_USE] = "INSERT INTO in_use VALUES (?, ?) ON CONFLICT DO NOTHING",
	[FZ_SQL_USE_NONE] = "DELETE FROM in_use",
	[FZ_SQL_LAST_CELL] = "SELECT max(id) FROM cell",
	[FZ_SQL_PART_OF_VALUES] = "SELECT bytes FROM cell_values WHERE cell >= ? AND cell < ?",
	[FZ_SQL_LAST_OLD_HOUR] = "SELECT max(id) FROM old_hour",
	[FZ_SQL_PART_OF_OLD_HOURS] = "SELECT bytes FROM old_hour WHERE id >= ? AND id < ? AND"
				     " length(bytes) > 0",
	/* a node's id is larger than its parent's */
	[FZ_SQL_NODES] = "SELECT id, parent FROM node ORDER BY id DESC",
	[FZ_SQL_FORGET_NODE] = "DELETE FROM node WHERE id = ?1 AND"
			       " NOT EXISTS (SELECT 1 FROM in_use WHERE what = 1 AND id = ?1)",
	[FZ_SQL_USED_FUNCTIONS] = "SELECT function FROM node",
	[FZ_SQL_FUNCTIONS] = "SELECT id, 0 FROM function",
	[FZ_SQL_FORGET_FUNCTION] = "DELETE FROM function WHERE id = ?1 AND"
				   " NOT EXISTS (SELECT 1 FROM in_use WHERE what = 2 AND id = ?1)",
	[FZ_SQL_STALE] =
		"SELECT series, hour, host FROM stale_hour WHERE hour >= 0 AND hour < ? LIMIT ?",
	[FZ_SQL_NOT_STALE] = "DELETE FROM stale_hour WHERE series = ? AND hour = ? AND host = ?",
	[FZ_SQL_CELL_AT] = "SELECT cell.id, cpu, wall, samples, lost, bytes FROM cell"
			   " LEFT JOIN cell_values ON cell_values.cell = cell.id"
			   " WHERE series = ? AND minute = ? AND host = ?",
	[FZ_SQL_PUT_HOUR] = PUT_HOUR("INSERT OR REPLACE", "hour"),
	[FZ_SQL_FIND_HOURS] = FIND_HOURS("hour", "cells"),
	[FZ_SQL_FIND_HOUR_SUMS] = FIND_HOURS("hour", HOUR_SUMS),
	[FZ_SQL_STALE_HOURS] = "SELECT DISTINCT hour FROM stale_hour WHERE series = ? AND"
			       " hour >= ? AND hour < ?",
	[FZ_SQL_HOUR_VALUES] = "SELECT bytes FROM hour WHERE id = ?",
	/* ?1 .. ?3: the previous cell; ?4: minute before which cells are summed */
	[FZ_SQL_AGING_CELL] =
		"SELECT cell.series, minute, host FROM series CROSS JOIN cell"
		" ON cell.series = series.id WHERE series.id >= ?1 AND minute < ?4 AND"
		" (cell.series, minute, host) > (?1, ?2, ?3) ORDER BY series.id, minute, host"
		" LIMIT 1",
	[FZ_SQL_GET_OLD_HOUR] = "SELECT id, cells, bytes FROM old_hour WHERE series = ? AND"
				" hour = ? AND host = ?",
	[FZ_SQL_PUT_OLD_HOUR] = PUT_HOUR("INSERT", "old_hour"),
	[FZ_SQL_FIND_OLD_HOURS] = FIND_HOURS("old_hour", "cells"),
	[FZ_SQL_FIND_OLD_HOUR_SUMS] = FIND_HOURS("old_hour", HOUR_SUMS),
	[FZ_SQL_OLD_HOUR_VALUES] = "SELECT bytes FROM old_hour WHERE id = ?",
};

int fz_sqlite_load(struct fz_error *err)
{
	static const struct fz_library_symbol symbols[] = {
		{ "sqlite3_open_v2", &fz_sqlite.open },
		{ "sqlite3_close_v2", &fz_sqlite.close },
		{ "sqlite3_exec", &fz_sqlite.exec },
		{ "sqlite3_prepare_v3", &fz_sqlite.prepare },
		{ "sqlite3_finalize", &fz_sqlite.finalize },
		{ "sqlite3_reset", &fz_sqlite.reset },
		{ "sqlite3_step", &fz_sqlite.step },
		{ "sqlite3_bind_int64", &fz_sqlite.bind_int },
		{ "sqlite3_bind_text64", &fz_sqlite.bind_text },
		{ "sqlite3_bind_blob64", &fz_sqlite.bind_blob },
		{ "sqlite3_bind_double", &fz_sqlite.bind_double },
		{ "sqlite3_column_int64", &fz_sqlite.column_int },
		{ "sqlite3_column_double", &fz_sqlite.column_double },
		{ "sqlite3_column_text", &fz_sqlite.column_text },
		{ "sqlite3_column_blob", &fz_sqlite.column_blob },
		{ "sqlite3_column_bytes", &fz_sqlite.column_bytes },
		{ "sqlite3_changes", &fz_sqlite.changes },
		{ "sqlite3_last_insert_rowid", &fz_sqlite.last_id },
		{ "sqlite3_errmsg", &fz_sqlite.message },
		{ "sqlite3_extended_errcode", &fz_sqlite.code },
		{ "sqlite3_busy_timeout", &fz_sqlite.busy_timeout },
		{ "sqlite3_file_control", &fz_sqlite.control },
	};

	return fz_library_load("libsqlite3.so.0", "libsqlite3-0", symbols, FZ_ARRAY_LEN(symbols),
			       err);
}

int fz_sql_fail(struct fz_sql *s, struct fz_error *err)
{
	const char *what = s->db ? fz_sqlite.message(s->db) : "out of memory";
	int code = s->db ? fz_sqlite.code(s->db) & 0xff : SQLITE_NOMEM;

	switch (code) {
	case SQLITE_FULL:
	case SQLITE_IOERR:
		return fz_fail(err, FZ_ESYSTEM,
			       "%s: disk full or I/O error (%s); free space or delete older "
			       "profiles (fizeau serve --retain DAYS)",
			       s->path, what);
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
		return fz_fail(err, FZ_EINPUT, "%s: not a fizeau store, or damaged (%s)", s->path,
			       what);
	case SQLITE_CONSTRAINT:
		return fz_fail(err, FZ_EINPUT, "sums are larger than 63 bits (%s)", what);
	case SQLITE_BUSY:
		return fz_fail(err, FZ_EAGAIN, "%s: another process is writing to it; try again",
			       s->path);
	case SQLITE_READONLY:
		return fz_fail(
			err, FZ_EPERM,
			"%s: no permission to write to it or its folder, which SQLite needs even "
			"for reading; check the permissions, or use a copy",
			s->path);
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
		return fz_fail(err, FZ_EPERM, "%s: cannot open (%s); check its permissions",
			       s->path, what);
	default:
		return fz_fail(err, FZ_ESYSTEM, "%s: %s", s->path, what);
	}
}

int fz_sql_script(struct fz_sql *s, const char *text, struct fz_error *err)
{
	return fz_sqlite.exec(s->db, text, NULL, NULL, NULL) == SQLITE_OK ? 0 : fz_sql_fail(s, err);
}

sqlite3_stmt *fz_sql_once(struct fz_sql *s, const char *text)
{
	sqlite3_stmt *statement = NULL;

	fz_sqlite.prepare(s->db, text, -1, 0, &statement, NULL);
	return statement;
}

void fz_sql_drop(sqlite3_stmt **statement)
{
	fz_sqlite.finalize(*statement);
}

void fz_sql_close(struct fz_sql *s)
{
	for (int i = 0; i < FZ_SQL_NAMES; i++)
		fz_sqlite.finalize(s->prepared[i]);
	fz_sqlite.close(s->db);
	free(s->path);
	*s = (struct fz_sql){ 0 };
}

sqlite3_stmt *fz_sql_kept(struct fz_sql *s, sqlite3_stmt **at, const char *text)
{
	if (!*at)
		fz_sqlite.prepare(s->db, text, -1, SQLITE_PREPARE_PERSISTENT, at, NULL);
	return *at;
}

sqlite3_stmt *fz_sql(struct fz_sql *s, enum fz_sql_name name)
{
	return fz_sql_kept(s, &s->prepared[name], statements[name]);
}

void fz_sql_text(sqlite3_stmt *statement, int parameter, struct fz_str text)
{
	fz_sqlite.bind_text(statement, parameter, text.p ? text.p : "", text.n, SQLITE_TRANSIENT,
			    SQLITE_UTF8);
}

void fz_sql_bytes(sqlite3_stmt *statement, int parameter, struct fz_str bytes)
{
	fz_sqlite.bind_blob(statement, parameter, bytes.p, bytes.n, SQLITE_STATIC);
}

struct fz_str fz_sql_column_bytes(sqlite3_stmt *statement, int column)
{
	const char *bytes = fz_sqlite.column_blob(statement, column);

	return (struct fz_str){ bytes ? bytes : "",
				(size_t)fz_sqlite.column_bytes(statement, column) };
}

struct fz_str fz_sql_column(sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)fz_sqlite.column_text(statement, column);

	return (struct fz_str){ text ? text : "",
				(size_t)fz_sqlite.column_bytes(statement, column) };
}

int fz_sql_step(struct fz_sql *s, sqlite3_stmt *statement, struct fz_error *err)
{
	int r = statement ? fz_sqlite.step(statement) : SQLITE_ERROR;

	if (r == SQLITE_ROW)
		return 1;
	r = r == SQLITE_DONE ? 0 : fz_sql_fail(s, err);
	fz_sql_reset(statement);
	return r;
}

void fz_sql_reset(sqlite3_stmt *statement)
{
	fz_sqlite.reset(statement);
}

int fz_sql_run(struct fz_sql *s, enum fz_sql_name name, struct fz_error *err)
{
	int r = fz_sql_step(s, fz_sql(s, name), err);

	if (r == 1)
		fz_sql_reset(fz_sql(s, name));
	return r < 0 ? r : 0;
}

int fz_sql_fail_moved(const char *path, struct fz_error *err)
{
	return fz_fail(err, FZ_ESYSTEM,
		       "%s: deleted, moved or replaced since it was opened; restart the server",
		       path);
}

/* Nobody would find what is written to a deleted file. */
static int check_place(struct fz_sql *s, struct fz_error *err)
{
	int moved = 0;

	fz_sqlite.control(s->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
	return moved ? fz_sql_fail_moved(s->path, err) : 0;
}

int fz_sql_end(struct fz_sql *s, int r, struct fz_error *err)
{
	if (!r)
		r = check_place(s, err);
	if (!r)
		r = fz_sql_run(s, FZ_SQL_COMMIT, err);
	if (r)
		fz_sql_run(s, FZ_SQL_ROLLBACK, NULL);
	return r;
}

int fz_sql_read_id(struct fz_sql *s, sqlite3_stmt *statement, int64_t *ret, struct fz_error *err)
{
	int r = fz_sql_step(s, statement, err);

	*ret = r == 1 ? fz_sqlite.column_int(statement, 0) : 0;
	if (r == 1)
		fz_sql_reset(statement);
	return r < 0 ? r : 0;
}
