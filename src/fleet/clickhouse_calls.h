/* SPDX-License-Identifier: MIT */
/* ClickHouse for the engine of a store: shards, which are databases on servers, queried by HTTP.
 *
 * Texts from outside appear in statements only as hexadecimal digits, and are written and read as
 * RowBinary, so they are never parsed as SQL.
 */
#pragma once

#include "base/map.h"
#include "fleet/engine.h"

enum { FZ_CLICKHOUSE_SHARDS = 64 };

struct fz_shard {
	char *server;   /* "http://host:8123" */
	char *database; /* letters, digits, "_" */
	char *name;     /* URL of both, for messages */
	uint32_t place;
	bool ready;       /* it has its tables, and its place was checked */
	bool missing;     /* it did not answer */
	int64_t retry_ns; /* writer: when to try it again */
	/* writer: functions and nodes written per day; known names and their numbers */
	struct fz_map written, names, counts;
};

struct fz_clickhouse {
	struct fz_fleet fleet;
	bool writing;
	bool patient; /* a response may take minutes */
	uint32_t n;
	struct fz_shard shards[FZ_CLICKHOUSE_SHARDS];
	char *headers[3];      /* credentials; NULL-terminated */
	struct fz_buf missing; /* text of fz_fleet_missing */
	struct fz_clickhouse_read *read;
};

static inline struct fz_clickhouse *fz_clickhouse(struct fz_fleet *f)
{
	return (struct fz_clickhouse *)(void *)f;
}

/* Parse "http://host:8123/database,http://..."; connects to no server. */
int fz_clickhouse_parse(const char *urls, struct fz_clickhouse *ret, struct fz_error *err);
void fz_clickhouse_release(struct fz_clickhouse *c);

/* Run a statement; `ret` gets the response. FZ_EAGAIN if the shard does not respond or is too busy.
 * Different shards may be queried from different threads at once. */
int fz_shard_query(struct fz_clickhouse *c, struct fz_shard *s, struct fz_str sql,
		   struct fz_buf *ret, struct fz_error *err);
/* Insert rows into a table; `columns` as "a, b". */
int fz_shard_insert(struct fz_clickhouse *c, struct fz_shard *s, const char *table,
		    const char *columns, const struct fz_buf *rows, struct fz_error *err);
/* Create missing tables (when writing) and check the shard's layout and place. */
int fz_shard_prepare(struct fz_clickhouse *c, struct fz_shard *s, struct fz_error *err);

enum fz_missing { FZ_MISSING_GOES, FZ_MISSING_FAILS };

/* Send the same query to all shards that are not missing, in parallel. A shard that does not
 * respond is missing from then on; with FZ_MISSING_FAILS, or if none is left, that is an error. */
int fz_clickhouse_query(struct fz_clickhouse *c, struct fz_str sql, enum fz_missing how,
			struct fz_buf answers[FZ_CLICKHOUSE_SHARDS], struct fz_error *err);
void fz_clickhouse_release_answers(struct fz_buf answers[FZ_CLICKHOUSE_SHARDS]);
/* Fails unless the response was read exactly to its end. */
int fz_clickhouse_check(const struct fz_clickhouse *c, uint32_t shard, const struct fz_cursor *row,
			struct fz_error *err);

/* ---- statements and rows ---- */

/* Append `format`, with each {} replaced by the next text. */
void fz_sql_format(struct fz_buf *sql, const char *format, ...);
/* "[project = ... AND [service = ... AND [version = ... AND]]] " for those that are not NULL. */
void fz_sql_add_scope(struct fz_buf *sql, const char *project, const char *service,
		      const char *version);
/* "minute >= ... AND minute < ... AND " */
void fz_sql_add_time(struct fz_buf *sql, int64_t from, int64_t until);
/* "series IN (...) AND " */
void fz_sql_add_series(struct fz_buf *sql, const int64_t *series, size_t n);
/* "put IN (...)": the valid pushes, which are those with the smallest number of each id, in these
 * minutes and some before and after. NULL: of all projects, of all services. */
void fz_sql_add_puts(struct fz_buf *sql, const char *project, const char *service, int64_t from,
		     int64_t until);

/* The same, without pushes of the last FZ_SETTLED_SECONDS, so that no row with a smaller number can
 * follow. */
void fz_sql_add_settled_puts(struct fz_buf *sql, const char *project, const char *service,
			     int64_t from, int64_t until);

/* Writing a push takes at most half of it. */
enum { FZ_SETTLED_SECONDS = 1800 };

/* "(SELECT ... FROM fizeau_aged ...)": hours and pushes whose values are in sums that count
 * (clickhouse_age.c). */
void fz_sql_add_aged_rows(struct fz_buf *sql, const char *columns, const char *project,
			  const char *service, int64_t from, int64_t until);
/* "(intDiv(minute, 60), put) IN (...)": this push and hour are among them. */
void fz_sql_add_aged(struct fz_buf *sql, const char *project, const char *service, int64_t from,
		     int64_t until);

/* Cells from this number on are the sums of an hour; all others are what was observed. */
#define FZ_SQL_SUM "2147483648"
#define FZ_SQL_NO_SUM "number < " FZ_SQL_SUM

void fz_row_text(struct fz_buf *row, struct fz_str text);
void fz_row_double(struct fz_buf *row, double v);
struct fz_str fz_row_read_text(struct fz_cursor *row);
int64_t fz_row_read_int(struct fz_cursor *row);
double fz_row_read_double(struct fz_cursor *row);
/* Is there another row? */
static inline bool fz_row_next(const struct fz_cursor *row)
{
	return !row->bad && fz_cursor_left(row) > 0;
}

static inline struct fz_cursor fz_rows_of(const struct fz_buf *answer)
{
	return fz_cursor_of(answer->p, answer->n);
}

/* The day of a minute; tables are partitioned by day. */
static inline int64_t fz_clickhouse_day(int64_t minute)
{
	return minute / 1440;
}
