/* SPDX-License-Identifier: MIT */
/* ClickHouse as the engine of a store, for loads that exceed one machine.
 *
 *   push -> the shard of its service and host     query -> all shards -> merged here
 *
 * A shard is a database on some server; shards do not know each other. Each shard stores its pushes
 * alone: clickhouse_put.c explains how a push counts once, whatever fails. Queries are answered by
 * the shards that respond, and fz_fleet_missing names the others.
 */
#include "fleet/clickhouse_put.h"
#include "fleet/clickhouse_read.h"

static void close_store(struct fz_fleet *f)
{
	struct fz_clickhouse *c = fz_clickhouse(f);

	fz_clickhouse_read_free(c->read);
	fz_clickhouse_release(c);
	free(c);
}

static int open_store(const char *path, enum fz_fleet_access access, struct fz_fleet **ret,
		      struct fz_error *err)
{
	struct fz_clickhouse *c = fz_calloc(1, sizeof(*c));
	struct fz_buf answers[FZ_CLICKHOUSE_SHARDS];
	int r = fz_clickhouse_parse(path, c, err);

	c->writing = access == FZ_FLEET_WRITE;
	c->read = fz_calloc(1, sizeof(*c->read));
	if (!r)
		r = fz_clickhouse_query(c, (struct fz_str){ 0 }, FZ_MISSING_GOES, answers, err);
	if (r)
		close_store(&c->fleet);
	else
		*ret = &c->fleet;
	return r;
}

static const char *missing(struct fz_fleet *f)
{
	struct fz_clickhouse *c = fz_clickhouse(f);

	fz_buf_reset(&c->missing);
	for (uint32_t i = 0; i < c->n; i++)
		if (c->shards[i].missing)
			fz_buf_printf(&c->missing, "%s%s", c->missing.n ? ", " : "",
				      c->shards[i].name);
	return c->missing.n ? c->missing.p : NULL;
}

const struct fz_fleet_engine fz_fleet_clickhouse = {
	.open = open_store,
	.close = close_store,
	.missing = missing,
	.put_all = fz_clickhouse_put_all,
	.forget = fz_clickhouse_forget,
	.age = fz_clickhouse_age,
	.raise = fz_clickhouse_raise,
	.alarms = fz_clickhouse_alarms,
	.previous = fz_clickhouse_previous,
	.list = fz_clickhouse_list,
	.names = fz_clickhouse_names,
	.series = fz_clickhouse_series,
	.state = fz_clickhouse_state,
	.cells = fz_clickhouse_cells,
	.starts = fz_clickhouse_starts,
	.sums = fz_clickhouse_sums,
	.each = fz_clickhouse_each,
	.node = fz_clickhouse_node,
};
