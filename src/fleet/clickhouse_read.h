/* SPDX-License-Identifier: MIT */
/* Reading from ClickHouse; engine.h. The cells that a handle found, and their nodes and functions.
 */
#pragma once

#include "fleet/clickhouse_calls.h"

struct fz_clickhouse_read {
	/* parts of found cells, cell by cell; a cell's key is the index of its first part */
	struct fz_cell_part {
		uint64_t series, put;
		int64_t number, nodes, minute;
		uint32_t first; /* index of the cell's first part */
	} * parts;
	uint32_t part_n, part_cap;
	/* queried projects and services, alternating */
	char **scopes;
	uint32_t scope_n, scope_cap;
	/* node -> index; function -> index */
	struct fz_map node_map, function_map;
	struct fz_node_entry {
		uint64_t parent, function;
	} * nodes;
	struct fz_fleet_node_row *functions;
	uint32_t node_n, node_cap, function_n, function_cap;
	uint32_t known_parts; /* number of parts whose nodes are loaded */
	struct fz_arena texts;
};

void fz_clickhouse_read_free(struct fz_clickhouse_read *r);

/* ---- lists: clickhouse_lists.c ---- */

int fz_clickhouse_list(struct fz_fleet *f, const char *project,
		       void (*take)(void *arg, const struct fz_fleet_entry *e), void *arg,
		       struct fz_error *err);
int fz_clickhouse_alarms(struct fz_fleet *f, const char *project, const char *service,
			 unsigned most, void (*take)(void *arg, const struct fz_fleet_alarm *a),
			 void *arg, struct fz_error *err);
int fz_clickhouse_previous(struct fz_fleet *f, const char *project, const char *service,
			   const char *version, struct fz_buf *ret, struct fz_error *err);
int fz_clickhouse_names(struct fz_fleet *f, const char *project, const char *service, unsigned most,
			void (*take)(void *arg, struct fz_str name), void *arg,
			struct fz_error *err);

/* ---- series and cells: clickhouse_read.c ---- */

/* The error for found cells or values that have been deleted meanwhile. */
int fz_clickhouse_fail_lost(const char *what, struct fz_error *err);

int fz_clickhouse_state(struct fz_fleet *f, const char *project, const char *service,
			const char *version, struct fz_buf *ret, struct fz_error *err);

int fz_clickhouse_series(struct fz_fleet *f, const struct fz_fleet_query *q,
			 void (*take)(void *arg, const struct fz_fleet_series_row *row), void *arg,
			 struct fz_error *err);
int fz_clickhouse_cells(struct fz_fleet *f, const struct fz_fleet_query *q, const int64_t *series,
			uint32_t n, int (*take)(void *arg, const struct fz_fleet_cell_row *row),
			void *arg, struct fz_error *err);
int fz_clickhouse_starts(struct fz_fleet *f, const struct fz_fleet_query *q, const int64_t *series,
			 uint32_t n, void (*take)(void *arg, struct fz_str host, int64_t minute),
			 void *arg, struct fz_error *err);
int fz_clickhouse_sums(struct fz_fleet *f, const struct fz_fleet_query *q, const int64_t *series,
		       uint32_t n, int64_t first, int64_t minutes,
		       void (*take)(void *arg, const struct fz_fleet_sum_row *row), void *arg,
		       struct fz_error *err);

/* ---- values and nodes: clickhouse_values.c ---- */

int fz_clickhouse_each(struct fz_fleet *f, const struct fz_fleet_found *found, const uint32_t *unit,
		       void (*take)(void *arg, uint32_t unit, int64_t node, int64_t value,
				    int64_t n),
		       void *arg, struct fz_error *err);
int fz_clickhouse_node(struct fz_fleet *f, int64_t node,
		       void (*take)(void *arg, const struct fz_fleet_node_row *row), void *arg,
		       struct fz_error *err);
