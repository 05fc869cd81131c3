/* SPDX-License-Identifier: MIT */
/* What a store asks of the engine that keeps it. All else is the same whatever the engine: which
 * series a question is about (series.h), cells and how they are ordered (find.c), time cut into
 * buckets (timeline.c).
 *
 * Texts that an engine hands out are its own until the callback returns. Errors are as fleet.h
 * says of the function of the same name.
 */
#pragma once

#include "fleet/fleet.h"

/* A set of labels and a kind of profile of a version: cells belong to one. */
struct fz_fleet_series_row {
	int64_t id;                 /* the engine's; the same in all rows that are of it */
	int64_t cells, first, last; /* in the time that is asked for */
	int64_t begun;              /* its first minute, whatever time is asked for */
	struct fz_str version, labels;
	struct fz_fleet_kind kind;
};

/* Of a series, which is a place in the list that was asked about; `key` is for `each`. */
struct fz_fleet_cell_row {
	uint32_t series;
	int64_t minute, key;
	uint32_t group; /* as of struct fz_fleet_cell */
	struct fz_str host;
	struct fz_fleet_exposure exposure;
};

struct fz_fleet_sum_row {
	uint32_t series;
	int64_t bucket; /* of (minute - first) / minutes */
	int64_t cpu_ns, samples, cells;
};

struct fz_fleet_node_row {
	int64_t parent; /* 0: a root */
	struct fz_str name, file, module;
	int64_t first_line;
	uint64_t kind;
};

/* The error for an id that another push has. */
int fz_fleet_fail_id(const char *id, struct fz_error *err);

struct fz_fleet_engine {
	int (*open)(const char *path, enum fz_fleet_access access, struct fz_fleet **ret,
		    struct fz_error *err);
	void (*close)(struct fz_fleet *f);
	const char *(*missing)(struct fz_fleet *f); /* NULL: all of a store is there or nothing */

	void (*put_all)(struct fz_fleet *f, struct fz_fleet_item *const *items, size_t n);
	int64_t (*forget)(struct fz_fleet *f, int64_t before,
			  bool (*between)(void *arg, int64_t rows), void *arg,
			  struct fz_error *err);
	bool forgets_beside;
	int64_t (*sum_hours)(struct fz_fleet *f, int64_t before,
			     struct fz_error *err); /* or NULL */
	int (*raise)(struct fz_fleet *f, const char *project, const struct fz_fleet_alarm *a,
		     bool *ret, struct fz_error *err);

	int (*alarms)(struct fz_fleet *f, const char *project, const char *service, unsigned most,
		      void (*take)(void *arg, const struct fz_fleet_alarm *a), void *arg,
		      struct fz_error *err);
	int (*previous)(struct fz_fleet *f, const char *project, const char *service,
			const char *version, struct fz_buf *ret, struct fz_error *err);
	int (*list)(struct fz_fleet *f, const char *project,
		    void (*take)(void *arg, const struct fz_fleet_entry *e), void *arg,
		    struct fz_error *err);
	/* At most `most`: services by name, or the versions of one, that seen last first. */
	int (*names)(struct fz_fleet *f, const char *project, const char *service, unsigned most,
		     void (*take)(void *arg, struct fz_str name), void *arg, struct fz_error *err);

	/* All series of a query's service and version that have cells, in an order that is the same
	 * each time; its labels and metric play no part. From here to the end of the handle
	 * nobody's changes are seen in cells that are found and their values. */
	int (*series)(struct fz_fleet *f, const struct fz_fleet_query *q,
		      void (*take)(void *arg, const struct fz_fleet_series_row *row), void *arg,
		      struct fz_error *err);
	/* Cells of these series in a query's time, until `take` returns an error, which is
	 * returned: one for each host and minute of a series. */
	int (*cells)(struct fz_fleet *f, const struct fz_fleet_query *q, const int64_t *series,
		     uint32_t n, int (*take)(void *arg, const struct fz_fleet_cell_row *row),
		     void *arg, struct fz_error *err);
	/* The same as sums; there may be several rows of a series and bucket. */
	int (*sums)(struct fz_fleet *f, const struct fz_fleet_query *q, const int64_t *series,
		    uint32_t n, int64_t first, int64_t minutes,
		    void (*take)(void *arg, const struct fz_fleet_sum_row *row), void *arg,
		    struct fz_error *err);
	int (*each)(struct fz_fleet *f, const struct fz_fleet_found *found, const uint32_t *unit,
		    void (*take)(void *arg, uint32_t unit, int64_t node, int64_t value, int64_t n),
		    void *arg, struct fz_error *err);
	int (*node)(struct fz_fleet *f, int64_t node,
		    void (*take)(void *arg, const struct fz_fleet_node_row *row), void *arg,
		    struct fz_error *err);
};

/* An engine's handle begins with this. */
struct fz_fleet {
	const struct fz_fleet_engine *engine;
};

extern const struct fz_fleet_engine fz_fleet_sqlite, fz_fleet_clickhouse;
