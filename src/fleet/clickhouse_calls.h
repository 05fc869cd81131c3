/* SPDX-License-Identifier: MIT */
/* ClickHouse as the engine of a store uses it: shards, which are databases of servers, and how they
 * are asked, by HTTP.
 *
 * Texts from outside stand in statements as hexadecimal digits only, and go in and come out as
 * RowBinary; so whatever they are, they are text.
 */
#pragma once

#include "base/map.h"
#include "fleet/engine.h"

enum { FZ_CLICKHOUSE_SHARDS = 64 };

struct fz_shard {
	char *server;   /* "http://host:8123" */
	char *database; /* letters, digits, "_" */
	char *name;     /* both, for messages */
	uint32_t place;
	bool ready;       /* has its tables, and is the one of that place */
	bool missing;     /* it did not answer */
	int64_t retry_ns; /* of a writer: when it is asked again */
	/* of a writer: what was written of a day, and names that there are */
	struct fz_map written, names, counts;
};

struct fz_clickhouse {
	struct fz_fleet fleet;
	bool writing;
	uint32_t n;
	struct fz_shard shards[FZ_CLICKHOUSE_SHARDS];
	char *headers[3];      /* who we are; NULL-terminated */
	struct fz_buf missing; /* what fz_fleet_missing says */
	struct fz_clickhouse_read *read;
};

static inline struct fz_clickhouse *fz_clickhouse(struct fz_fleet *f)
{
	return (struct fz_clickhouse *)(void *)f;
}

/* "http://host:8123/database,http://..."; nobody is asked. */
int fz_clickhouse_parse(const char *urls, struct fz_clickhouse *ret, struct fz_error *err);
void fz_clickhouse_release(struct fz_clickhouse *c);

/* A statement; its answer is in `ret`. FZ_EAGAIN: the shard does not answer, or is too busy. From
 * several threads, of several shards. */
int fz_shard_ask(struct fz_clickhouse *c, struct fz_shard *s, struct fz_str sql, struct fz_buf *ret,
		 struct fz_error *err);
/* Rows of a table; `columns` as "a, b". */
int fz_shard_insert(struct fz_clickhouse *c, struct fz_shard *s, const char *table,
		    const char *columns, const struct fz_buf *rows, struct fz_error *err);
/* Sees to it that it has its tables, and is what it should be. */
int fz_shard_prepare(struct fz_clickhouse *c, struct fz_shard *s, struct fz_error *err);

enum fz_missing { FZ_MISSING_GOES, FZ_MISSING_FAILS };

/* The same question to all shards that are not missing, at once. One that does not answer is
 * missing from then on; where that may not be, or none is left, it is an error. */
int fz_clickhouse_ask(struct fz_clickhouse *c, struct fz_str sql, enum fz_missing how,
		      struct fz_buf answers[FZ_CLICKHOUSE_SHARDS], struct fz_error *err);
void fz_clickhouse_release_answers(struct fz_buf answers[FZ_CLICKHOUSE_SHARDS]);
/* An answer was not read to its end, or beyond it. */
int fz_clickhouse_check(const struct fz_clickhouse *c, uint32_t shard, const struct fz_cursor *row,
			struct fz_error *err);

/* ---- statements and rows ---- */

/* As unhex('...'). */
void fz_sql_add_text(struct fz_buf *sql, const char *text);
/* Text with a {} for each of the texts that follow. */
void fz_sql_format(struct fz_buf *sql, const char *format, ...);
/* "project = ... AND [service = ... AND [version = ... AND]] " of those that are not NULL. */
void fz_sql_add_scope(struct fz_buf *sql, const char *project, const char *service,
		      const char *version);
/* "minute >= ... AND minute < ... AND " */
void fz_sql_add_time(struct fz_buf *sql, int64_t from, int64_t until);
/* "series IN (...) AND " */
void fz_sql_add_series(struct fz_buf *sql, const int64_t *series, size_t n);
/* "put IN (...)": the pushes that count: of those that have one id the one with the smallest
 * number. Of these minutes, and of some before and after them; service NULL: of all. */
void fz_sql_add_puts(struct fz_buf *sql, const char *project, const char *service, int64_t from,
		     int64_t until);

void fz_row_text(struct fz_buf *row, struct fz_str text);
void fz_row_double(struct fz_buf *row, double v);
struct fz_str fz_row_take_text(struct fz_cursor *row);
int64_t fz_row_take_int(struct fz_cursor *row);
double fz_row_take_double(struct fz_cursor *row);
/* Whether there is another row. */
static inline bool fz_row_next(const struct fz_cursor *row)
{
	return !row->bad && fz_cursor_left(row) > 0;
}

static inline struct fz_cursor fz_rows_of(const struct fz_buf *answer)
{
	return fz_cursor_of(answer->p, answer->n);
}

/* The day of a minute, which is what parts of tables are of. */
static inline int64_t fz_clickhouse_day(int64_t minute)
{
	return minute / 1440;
}
