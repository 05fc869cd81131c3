/* SPDX-License-Identifier: MIT */
/* The interface between a store and its storage engine. Everything else is independent of the
 * engine: the series of a query (series.h), the order of cells (find.c), buckets of time
 * (timeline.c).
 *
 * Texts passed to callbacks are valid until the callback returns. Errors are those of the functions
 * of the same name in fleet.h.
 */
#pragma once

#include "fleet/fleet.h"

/* A version's set of labels and kind of profile; each cell belongs to one series. */
struct fz_fleet_series_row {
	int64_t id;                 /* assigned by the engine; the same in all rows of the series */
	int64_t cells, first, last; /* in the query's time */
	int64_t begun;              /* its first minute at any time */
	struct fz_str version, labels;
	struct fz_fleet_kind kind;
};

/* series: index in the queried list; key: for `each`. */
struct fz_fleet_cell_row {
	uint32_t series;
	int64_t minute, key;
	/* as in struct fz_fleet_cell */
	uint32_t group;
	bool by_hour;
	uint32_t minutes;
	struct fz_str host;
	struct fz_fleet_exposure exposure;
};

struct fz_fleet_sum_row {
	uint32_t series;
	int64_t bucket; /* (minute - first) / minutes */
	int64_t cpu_ns, samples, cells;
};

struct fz_fleet_node_row {
	int64_t parent; /* 0: a root */
	struct fz_str name, file, module;
	int64_t first_line;
	uint64_t kind;
};

/* Fails for an id that another push has. */
int fz_fleet_fail_id(const char *id, struct fz_error *err);

struct fz_fleet_engine {
	int (*open)(const char *path, enum fz_fleet_access access, struct fz_fleet **ret,
		    struct fz_error *err);
	/* NULL: all stores have the same layout */
	int (*convert)(const char *path, void (*progress)(void *arg, int percent), void *arg,
		       struct fz_error *err);
	void (*close)(struct fz_fleet *f);
	/* NULL: a store is available as a whole or not at all */
	const char *(*missing)(struct fz_fleet *f);

	void (*put_all)(struct fz_fleet *f, struct fz_fleet_item *const *items, size_t n);
	int64_t (*forget)(struct fz_fleet *f, int64_t before,
			  bool (*between)(void *arg, int64_t rows), void *arg,
			  struct fz_error *err);
	bool forgets_beside;
	/* NULL: the engine keeps no sums of hours */
	int64_t (*sum_hours)(struct fz_fleet *f, int64_t before, struct fz_error *err);
	int64_t (*age)(struct fz_fleet *f, int64_t before, bool (*between)(void *arg, int64_t rows),
		       void *arg, struct fz_error *err);
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
	/* At most `most` services by name or, with a service, its versions, last seen first. */
	int (*names)(struct fz_fleet *f, const char *project, const char *service, unsigned most,
		     void (*take)(void *arg, struct fz_str name), void *arg, struct fz_error *err);

	/* All series of a query's service and version that have cells, in a fixed order; labels and
	 * metric are ignored. From then on the handle does not see changes by others to the cells
	 * that it finds and their values. */
	int (*series)(struct fz_fleet *f, const struct fz_fleet_query *q,
		      void (*take)(void *arg, const struct fz_fleet_series_row *row), void *arg,
		      struct fz_error *err);
	int (*state)(struct fz_fleet *f, const char *project, const char *service,
		     const char *version, struct fz_buf *ret, struct fz_error *err);
	/* Cells of these series in a query's time: one for each series, host and minute (or hour,
	 * if the query permits it), or two if one is by_hour. If `take` returns an error, stop and
	 * return it. */
	int (*cells)(struct fz_fleet *f, const struct fz_fleet_query *q, const int64_t *series,
		     uint32_t n, int (*take)(void *arg, const struct fz_fleet_cell_row *row),
		     void *arg, struct fz_error *err);
	/* The first minute of each host in the same cells. A host may have several rows, of which
	 * the earliest counts. */
	int (*starts)(struct fz_fleet *f, const struct fz_fleet_query *q, const int64_t *series,
		      uint32_t n, void (*take)(void *arg, struct fz_str host, int64_t minute),
		      void *arg, struct fz_error *err);
	/* Sums of the same cells. A series and bucket may have several rows. */
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

/* The first member of each engine's handle. */
struct fz_fleet {
	const struct fz_fleet_engine *engine;
};

extern const struct fz_fleet_engine fz_fleet_sqlite, fz_fleet_clickhouse;
