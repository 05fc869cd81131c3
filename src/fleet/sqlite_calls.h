/* SPDX-License-Identifier: MIT */
/* SQLite for the engine of a store: the library, loaded when a store is opened; opening a file;
 * prepared statements, with all their SQL in one place; and a store's handle.
 *
 * A statement is used from fz_sql to fz_sql_reset; parameters are set by their number, from 1. */
#pragma once

#include <sqlite3.h>

#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "fleet/cell_values.h"
#include "fleet/engine.h"

extern struct fz_sqlite {
	__typeof__(&sqlite3_open_v2) open;
	__typeof__(&sqlite3_close_v2) close;
	__typeof__(&sqlite3_exec) exec;
	__typeof__(&sqlite3_prepare_v3) prepare;
	__typeof__(&sqlite3_finalize) finalize;
	__typeof__(&sqlite3_reset) reset;
	__typeof__(&sqlite3_step) step;
	__typeof__(&sqlite3_bind_int64) bind_int;
	__typeof__(&sqlite3_bind_text64) bind_text;
	__typeof__(&sqlite3_bind_blob64) bind_blob;
	__typeof__(&sqlite3_bind_double) bind_double;
	__typeof__(&sqlite3_column_int64) column_int;
	__typeof__(&sqlite3_column_double) column_double;
	__typeof__(&sqlite3_column_text) column_text;
	__typeof__(&sqlite3_column_blob) column_blob;
	__typeof__(&sqlite3_column_bytes) column_bytes;
	__typeof__(&sqlite3_changes) changes;
	__typeof__(&sqlite3_last_insert_rowid) last_id;
	__typeof__(&sqlite3_errmsg) message;
	__typeof__(&sqlite3_extended_errcode) code;
	__typeof__(&sqlite3_busy_timeout) busy_timeout;
	__typeof__(&sqlite3_file_control) control;
} fz_sqlite;

int fz_sqlite_load(struct fz_error *err);

enum fz_sql_name {
	FZ_SQL_BEGIN,
	FZ_SQL_BEGIN_READING,
	FZ_SQL_COMMIT,
	FZ_SQL_DATA_VERSION,
	FZ_SQL_ROLLBACK,
	FZ_SQL_PUT_BEGIN,
	FZ_SQL_PUT_END,
	FZ_SQL_PUT_UNDO,
	FZ_SQL_ADD_PUSH,
	FZ_SQL_COUNT_SAME_PUSH,
	FZ_SQL_PUT_PROJECT,
	FZ_SQL_GET_PROJECT,
	FZ_SQL_GET_HOST,
	FZ_SQL_ADD_HOST,
	FZ_SQL_COUNT_HOSTS,
	FZ_SQL_GET_SERIES,
	FZ_SQL_ADD_SERIES,
	FZ_SQL_COUNT_SERVICES,
	FZ_SQL_COUNT_VERSIONS,
	FZ_SQL_COUNT_LABELS,
	FZ_SQL_GET_FUNCTION,
	FZ_SQL_ADD_FUNCTION,
	FZ_SQL_GET_NODE,
	FZ_SQL_ADD_NODE,
	FZ_SQL_ADD_CELL,
	FZ_SQL_GET_VALUES,
	FZ_SQL_PUT_VALUES,
	FZ_SQL_LIST,
	FZ_SQL_FIND_SERIES,
	FZ_SQL_COUNT_CHANGE,
	FZ_SQL_PUT_CHANGE,
	FZ_SQL_STATE,
	FZ_SQL_FIND_CELLS,
	FZ_SQL_NODE,
	FZ_SQL_SERVICES,
	FZ_SQL_VERSIONS,
	FZ_SQL_ADD_ALARM,
	FZ_SQL_ALARMS,
	FZ_SQL_PREVIOUS,
	FZ_SQL_OLD_CELL,
	FZ_SQL_OLD_HOUR,
	FZ_SQL_FORGET_VALUES,
	FZ_SQL_FORGET_CELL,
	FZ_SQL_FORGET_HOUR,
	FZ_SQL_PART_OF_PUSHES,
	FZ_SQL_FORGET_PUSHES,
	FZ_SQL_FORGET_ALARMS,
	FZ_SQL_FORGET_SERIES,
	FZ_SQL_FORGET_HOSTS,
	FZ_SQL_SWEEP,
	FZ_SQL_SWEEPING,
	FZ_SQL_SWEPT,
	FZ_SQL_USE,
	FZ_SQL_USE_NONE,
	FZ_SQL_LAST_CELL,
	FZ_SQL_PART_OF_VALUES,
	FZ_SQL_LAST_OLD_HOUR,
	FZ_SQL_PART_OF_OLD_HOURS,
	FZ_SQL_NODES,
	FZ_SQL_FORGET_NODE,
	FZ_SQL_USED_FUNCTIONS,
	FZ_SQL_FUNCTIONS,
	FZ_SQL_FORGET_FUNCTION,
	FZ_SQL_STALE,
	FZ_SQL_NOT_STALE,
	FZ_SQL_CELL_AT,
	FZ_SQL_PUT_HOUR,
	FZ_SQL_FIND_HOURS,
	FZ_SQL_FIND_HOUR_SUMS,
	FZ_SQL_STALE_HOURS,
	FZ_SQL_HOUR_VALUES,
	FZ_SQL_AGING_CELL,
	FZ_SQL_GET_OLD_HOUR,
	FZ_SQL_PUT_OLD_HOUR,
	FZ_SQL_FIND_OLD_HOURS,
	FZ_SQL_FIND_OLD_HOUR_SUMS,
	FZ_SQL_OLD_HOUR_VALUES,
	FZ_SQL_NAMES
};

struct fz_sql {
	sqlite3 *db;
	char *path;
	sqlite3_stmt *prepared[FZ_SQL_NAMES];
};

/* Open the file. When writing, create missing tables. */
int fz_sql_open(struct fz_sql *s, const char *path, bool writing, struct fz_error *err);
/* fz_fleet_convert */
int fz_sql_convert(const char *path, void (*progress)(void *arg, int percent), void *arg,
		   struct fz_error *err);
/* The same for writing a file that is not a store. `made`: SQL that creates its tables in one
 * transaction and sets user_version to 1. The statements above do not apply to it. */
int fz_sql_open_with(struct fz_sql *s, const char *path, const char *made, struct fz_error *err);
/* Prepare a statement for such a file, for one use. NULL on failure; stepping NULL fails. */
sqlite3_stmt *fz_sql_once(struct fz_sql *s, const char *text);
void fz_sql_drop(sqlite3_stmt **statement); /* for fz_auto */
void fz_sql_close(struct fz_sql *s);
sqlite3_stmt *fz_sql(struct fz_sql *s, enum fz_sql_name name);
/* The same for a caller's statement: prepared once and stored in *at; the caller finalises it. */
sqlite3_stmt *fz_sql_kept(struct fz_sql *s, sqlite3_stmt **at, const char *text);
void fz_sql_text(sqlite3_stmt *statement, int parameter, struct fz_str text);
/* Bind bytes, which must stay valid until the statement is reset. */
void fz_sql_bytes(sqlite3_stmt *statement, int parameter, struct fz_str bytes);
struct fz_str fz_sql_column(sqlite3_stmt *statement, int column); /* valid until the next step */
struct fz_str fz_sql_column_bytes(sqlite3_stmt *statement, int column); /* likewise */
/* Returns 1 for a row, 0 at the end or an error; the last two reset the statement. */
int fz_sql_step(struct fz_sql *s, sqlite3_stmt *statement, struct fz_error *err);
void fz_sql_reset(sqlite3_stmt *statement);
/* Describe the error of the last call. */
int fz_sql_fail(struct fz_sql *s, struct fz_error *err);
/* Run several statements, ignoring rows; they must end a transaction that they begin. */
int fz_sql_script(struct fz_sql *s, const char *text, struct fz_error *err);
/* Run a statement without parameters, ignoring rows. */
int fz_sql_run(struct fz_sql *s, enum fz_sql_name name, struct fz_error *err);
/* End the transaction: commit if r is 0 and the file is still at its path, else roll back. */
int fz_sql_end(struct fz_sql *s, int r, struct fz_error *err);
/* Fail because a file is not the one that was opened. */
int fz_sql_fail_moved(const char *path, struct fz_error *err);

struct fz_sqlite_store {
	struct fz_fleet fleet;
	struct fz_sql sql;
	/* writer: function or node -> index in ids */
	struct fz_map function_map, node_map;
	int64_t *ids;
	uint32_t id_n, id_cap;
	struct fz_cell_value *values; /* of the cell being written */
	size_t value_cap;
	struct fz_buf bytes; /* the same, encoded */
	struct fz_cell_codec codec;
	int64_t data_version; /* PRAGMA data_version: changes when another connection writes */
	int64_t sweeping;     /* generation of the running sweep, 0: none */
	bool reading;         /* inside the transaction begun by the query for series */
	/* reader: hours of found cells; a cell's group is an index here, plus 1 */
	struct fz_sqlite_hour {
		int64_t id;
		uint32_t cells;
		bool old; /* in old_hour */
	} * hours;
	uint32_t hour_n, hour_cap;
};

static inline struct fz_sqlite_store *fz_sqlite_store(struct fz_fleet *f)
{
	return (struct fz_sqlite_store *)(void *)f;
}

/* Values of in_use.what. */
enum fz_sql_used { FZ_SQL_USED_NODE = 1, FZ_SQL_USED_FUNCTION = 2 };

/* Clear the cache of ids. */
void fz_sqlite_forget_known(struct fz_sqlite_store *f);
int64_t fz_sqlite_forget(struct fz_fleet *fleet, int64_t before,
			 bool (*between)(void *arg, int64_t rows), void *arg, struct fz_error *err);

/* Replace the rows of the values of layout 3, if there are any left. */
int fz_sqlite_convert_values(struct fz_sql *s, void (*progress)(void *arg, int percent), void *arg,
			     struct fz_error *err);
/* Append decoded values to the first *n of f->values. False if the bytes are invalid. */
bool fz_sqlite_append_values(struct fz_sqlite_store *f, struct fz_str bytes, size_t *n);
int64_t fz_sqlite_sum_hours(struct fz_fleet *fleet, int64_t before, struct fz_error *err);
int64_t fz_sqlite_age(struct fz_fleet *fleet, int64_t before,
		      bool (*between)(void *arg, int64_t rows), void *arg, struct fz_error *err);
/* Note that answers from a series may have changed, inside the transaction that changes them. */
int fz_sqlite_note_change(struct fz_sql *s, int64_t series, struct fz_error *err);
int fz_sqlite_fail_values(const struct fz_sql *s, struct fz_error *err);

/* Get the first column of a statement's first row, or 0 if there is none, and reset it. */
int fz_sql_read_id(struct fz_sql *s, sqlite3_stmt *statement, int64_t *ret, struct fz_error *err);

/* ---- reading; engine.h ---- */

int fz_sqlite_list(struct fz_fleet *fleet, const char *project,
		   void (*take)(void *arg, const struct fz_fleet_entry *e), void *arg,
		   struct fz_error *err);
int fz_sqlite_alarms(struct fz_fleet *fleet, const char *project, const char *service,
		     unsigned most, void (*take)(void *arg, const struct fz_fleet_alarm *a),
		     void *arg, struct fz_error *err);
int fz_sqlite_previous(struct fz_fleet *fleet, const char *project, const char *service,
		       const char *version, struct fz_buf *ret, struct fz_error *err);
int fz_sqlite_names(struct fz_fleet *fleet, const char *project, const char *service, unsigned most,
		    void (*take)(void *arg, struct fz_str name), void *arg, struct fz_error *err);
int fz_sqlite_series(struct fz_fleet *fleet, const struct fz_fleet_query *q,
		     void (*take)(void *arg, const struct fz_fleet_series_row *row), void *arg,
		     struct fz_error *err);
int fz_sqlite_state(struct fz_fleet *fleet, const char *project, const char *service,
		    const char *version, struct fz_buf *ret, struct fz_error *err);
int fz_sqlite_cells(struct fz_fleet *fleet, const struct fz_fleet_query *q, const int64_t *series,
		    uint32_t n, int (*take)(void *arg, const struct fz_fleet_cell_row *row),
		    void *arg, struct fz_error *err);
int fz_sqlite_starts(struct fz_fleet *fleet, const struct fz_fleet_query *q, const int64_t *series,
		     uint32_t n, void (*take)(void *arg, struct fz_str host, int64_t minute),
		     void *arg, struct fz_error *err);
int fz_sqlite_sums(struct fz_fleet *fleet, const struct fz_fleet_query *q, const int64_t *series,
		   uint32_t n, int64_t first, int64_t minutes,
		   void (*take)(void *arg, const struct fz_fleet_sum_row *row), void *arg,
		   struct fz_error *err);
int fz_sqlite_each(struct fz_fleet *fleet, const struct fz_fleet_found *found, const uint32_t *unit,
		   void (*take)(void *arg, uint32_t unit, int64_t node, int64_t value, int64_t n),
		   void *arg, struct fz_error *err);
int fz_sqlite_node(struct fz_fleet *fleet, int64_t node,
		   void (*take)(void *arg, const struct fz_fleet_node_row *row), void *arg,
		   struct fz_error *err);
