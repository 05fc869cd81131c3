/* SPDX-License-Identifier: MIT */
/* SQLite as the engine of a store uses it: the library, loaded when a store is opened, its
 * statements, which are written and prepared in one place, and a store's handle.
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
	FZ_SQL_FIND_CELLS,
	FZ_SQL_NODE,
	FZ_SQL_SERVICES,
	FZ_SQL_VERSIONS,
	FZ_SQL_ADD_ALARM,
	FZ_SQL_ALARMS,
	FZ_SQL_PREVIOUS,
	FZ_SQL_OLD_CELL,
	FZ_SQL_FORGET_VALUES,
	FZ_SQL_FORGET_CELL,
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
	FZ_SQL_STALE_HOURS,
	FZ_SQL_HOUR_VALUES,
	FZ_SQL_NAMES
};

struct fz_sql {
	sqlite3 *db;
	char *path;
	sqlite3_stmt *prepared[FZ_SQL_NAMES];
};

/* Opens the file, and makes the tables where they are missing (of ":memory:", or when writing). */
int fz_sql_open(struct fz_sql *s, const char *path, bool writing, struct fz_error *err);
/* The same of a file that is no store, to be written: `made` is what makes its tables, in one
 * transaction which ends with a user_version of 1. The statements above are not for it. */
int fz_sql_open_with(struct fz_sql *s, const char *path, const char *made, struct fz_error *err);
/* A statement of such a file, for one use; NULL, with which stepping fails, when it cannot be
 * prepared. */
sqlite3_stmt *fz_sql_once(struct fz_sql *s, const char *text);
void fz_sql_drop(sqlite3_stmt **statement); /* for fz_auto */
void fz_sql_close(struct fz_sql *s);
sqlite3_stmt *fz_sql(struct fz_sql *s, enum fz_sql_name name);
/* The same of somebody else's: prepared once, and kept where `at` is until that is finalised. */
sqlite3_stmt *fz_sql_kept(struct fz_sql *s, sqlite3_stmt **at, const char *text);
void fz_sql_text(sqlite3_stmt *statement, int parameter, struct fz_str text);
/* Bytes that stay until the statement is reset. */
void fz_sql_bytes(sqlite3_stmt *statement, int parameter, struct fz_str bytes);
struct fz_str fz_sql_column(sqlite3_stmt *statement, int column);       /* until it is stepped */
struct fz_str fz_sql_column_bytes(sqlite3_stmt *statement, int column); /* likewise */
/* 1: a row; 0: done, and reset; else an error, and reset. */
int fz_sql_step(struct fz_sql *s, sqlite3_stmt *statement, struct fz_error *err);
void fz_sql_reset(sqlite3_stmt *statement);
/* Several statements, of which nothing is asked; they end a transaction that they begin. */
int fz_sql_script(struct fz_sql *s, const char *text, struct fz_error *err);
/* A statement without parameters or rows. */
int fz_sql_run(struct fz_sql *s, enum fz_sql_name name, struct fz_error *err);
/* All since FZ_SQL_BEGIN is there, or nothing where r is an error, which is returned. */
int fz_sql_end(struct fz_sql *s, int r, struct fz_error *err);

struct fz_sqlite_store {
	struct fz_fleet fleet;
	struct fz_sql sql;
	/* of a writer: numbers of functions and nodes, as places in ids */
	struct fz_map function_map, node_map;
	int64_t *ids;
	uint32_t id_n, id_cap;
	struct fz_cell_value *values; /* of the cell that is being written */
	size_t value_cap;
	struct fz_buf bytes; /* the same as bytes */
	struct fz_cell_codec codec;
	int64_t data_version; /* of SQLite: moves when another connection writes */
	int64_t sweeping;     /* what is used is noted for this deletion; 0: there is none */
	bool reading;         /* in a transaction that looking for series began */
	/* of a reader: hours that found cells are of; a cell's group is a place here, plus 1 */
	struct fz_sqlite_hour {
		int64_t id;
		uint32_t cells;
	} * hours;
	uint32_t hour_n, hour_cap;
};

static inline struct fz_sqlite_store *fz_sqlite_store(struct fz_fleet *f)
{
	return (struct fz_sqlite_store *)(void *)f;
}

/* In the table in_use. */
enum fz_sql_used { FZ_SQL_USED_NODE = 1, FZ_SQL_USED_FUNCTION = 2 };

/* Ids are looked up again. */
void fz_sqlite_forget_known(struct fz_sqlite_store *f);
int64_t fz_sqlite_forget(struct fz_fleet *fleet, int64_t before,
			 bool (*between)(void *arg, int64_t rows), void *arg, struct fz_error *err);

/* Makes layout 4 of layout 3, inside a transaction. */
int fz_sqlite_convert_values(struct fz_sql *s, struct fz_error *err);
/* Puts values behind the first *n of f->values. False: the bytes are none. */
bool fz_sqlite_append_values(struct fz_sqlite_store *f, struct fz_str bytes, size_t *n);
int64_t fz_sqlite_sum_hours(struct fz_fleet *fleet, int64_t before, struct fz_error *err);
int fz_sqlite_fail_values(const struct fz_sql *s, struct fz_error *err);

/* The first column of the row that a statement with its parameters has, which is reset; 0: none. */
int fz_sql_take_id(struct fz_sql *s, sqlite3_stmt *statement, int64_t *ret, struct fz_error *err);

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
int fz_sqlite_cells(struct fz_fleet *fleet, const struct fz_fleet_query *q, const int64_t *series,
		    uint32_t n, int (*take)(void *arg, const struct fz_fleet_cell_row *row),
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
