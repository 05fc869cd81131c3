/* SPDX-License-Identifier: MIT */
/* Pushes as rows of ClickHouse's tables. */
#pragma once

#include "fleet/clickhouse_calls.h"

enum { FZ_ROWS_DAYS = 64 /* maximum of a push, plus 1 */ };

struct fz_clickhouse_rows {
	int64_t came; /* set by the caller: when the pushes were about to be written */
	struct fz_buf push, cell, value, node, function;
	int64_t days[2 * FZ_ROWS_DAYS]; /* days of the cells */
	uint32_t day_n;
};

extern const struct fz_clickhouse_table {
	const char *name, *columns;
	size_t rows; /* offset of its rows in the struct */
} fz_clickhouse_tables[5];

/* Add the rows of a push. `put` must be unique. Functions and nodes are only added if the shard
 * does not have them for that day. On error nothing was added. */
int fz_clickhouse_add_rows(struct fz_shard *s, const struct fz_fleet_item *item, uint64_t put,
			   struct fz_clickhouse_rows *rows, struct fz_error *err);
/* Rows of fz_clickhouse_tables[table]. */
struct fz_buf *fz_clickhouse_rows_of(struct fz_clickhouse_rows *rows, size_t table);
/* Should rows be sent before more are added? */
bool fz_clickhouse_rows_full(const struct fz_clickhouse_rows *rows);
void fz_clickhouse_rows_reset(struct fz_clickhouse_rows *rows);
void fz_clickhouse_rows_release(struct fz_clickhouse_rows *rows);
