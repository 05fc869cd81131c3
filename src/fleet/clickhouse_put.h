/* SPDX-License-Identifier: MIT */
/* Writing to ClickHouse; engine.h. */
#pragma once

#include "fleet/clickhouse_calls.h"

void fz_clickhouse_put_all(struct fz_fleet *f, struct fz_fleet_item *const *items, size_t n);
int64_t fz_clickhouse_forget(struct fz_fleet *f, int64_t before,
			     bool (*between)(void *arg, int64_t rows), void *arg,
			     struct fz_error *err);
int64_t fz_clickhouse_age(struct fz_fleet *f, int64_t before,
			  bool (*between)(void *arg, int64_t rows), void *arg,
			  struct fz_error *err);
int fz_clickhouse_raise(struct fz_fleet *f, const char *project, const struct fz_fleet_alarm *a,
			bool *ret, struct fz_error *err);

/* Prepare a shard; one that did not respond is skipped for a while. */
int fz_shard_reach(struct fz_clickhouse *c, struct fz_shard *s, struct fz_error *err);
/* The days before a day of which a table has rows, as a UInt32 each. */
int fz_shard_days(struct fz_clickhouse *c, struct fz_shard *s, const char *table, int64_t before,
		  struct fz_buf *ret, struct fz_error *err);
/* A new number of a push. */
uint64_t fz_clickhouse_draw(void);
/* Check and count the names of a push. FZ_ELIMIT if there are too many. */
int fz_shard_check_names(struct fz_clickhouse *c, struct fz_shard *s,
			 const struct fz_fleet_push *push, struct fz_error *err);
