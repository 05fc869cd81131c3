/* SPDX-License-Identifier: MIT */
/* Reading from a store on SQLite.
 *
 *   series -> their cells and values (sqlite_cells.c), and nodes
 *
 * The query for series, or for their state, begins a transaction that lasts as long as the handle:
 * everything read after it is of that instant, whatever is pushed meanwhile.
 */
#include <math.h>

#include "fleet/sqlite_calls.h"

/* ---- lists ---- */

int fz_sqlite_list(struct fz_fleet *fleet, const char *project,
		   void (*take)(void *arg, const struct fz_fleet_entry *e), void *arg,
		   struct fz_error *err)
{
	struct fz_sqlite_store *f = fz_sqlite_store(fleet);
	sqlite3_stmt *s = fz_sql(&f->sql, FZ_SQL_LIST);
	int r;

	fz_sql_text(s, 1, fz_str_of(project));
	while ((r = fz_sql_step(&f->sql, s, err)) == 1) {
		struct fz_fleet_entry e = {
			.service = fz_sql_column(s, 0).p,
			.version = fz_sql_column(s, 1).p,
			.metric = fz_sql_column(s, 2).p,
			.unit = fz_sql_column(s, 3).p,
			.first = fz_sqlite.column_int(s, 4),
			.last = fz_sqlite.column_int(s, 5),
			.hosts = fz_sqlite.column_int(s, 6),
			.cells = fz_sqlite.column_int(s, 7),
			.pushes = fz_sqlite.column_int(s, 8),
			.cpu_ns = fz_sqlite.column_double(s, 9),
			.wall_ns = fz_sqlite.column_double(s, 10),
			.samples = fz_sqlite.column_int(s, 11),
			.lost = fz_sqlite.column_int(s, 12),
		};
		take(arg, &e);
	}
	return r;
}

int fz_sqlite_alarms(struct fz_fleet *fleet, const char *project, const char *service,
		     unsigned most, void (*take)(void *arg, const struct fz_fleet_alarm *a),
		     void *arg, struct fz_error *err)
{
	struct fz_sqlite_store *f = fz_sqlite_store(fleet);
	sqlite3_stmt *s = fz_sql(&f->sql, FZ_SQL_ALARMS);
	int r;

	fz_sql_text(s, 1, fz_str_of(project));
	fz_sql_text(s, 2, fz_str_of(service));
	fz_sqlite.bind_int(s, 3, most);
	while ((r = fz_sql_step(&f->sql, s, err)) == 1) {
		bool is_new = !fz_sqlite.column_text(s, 5);
		struct fz_fleet_alarm a = {
			.service = fz_sql_column(s, 0).p,
			.base = fz_sql_column(s, 1).p,
			.head = fz_sql_column(s, 2).p,
			.function = fz_sql_column(s, 3).p,
			.text = fz_sql_column(s, 4).p,
			.change = is_new ? NAN : fz_sqlite.column_double(s, 5),
			.low = is_new ? NAN : fz_sqlite.column_double(s, 6),
			.high = is_new ? NAN : fz_sqlite.column_double(s, 7),
			.first_seen = fz_sqlite.column_int(s, 8),
			.raised = fz_sqlite.column_int(s, 9),
		};
		take(arg, &a);
	}
	return r;
}

int fz_sqlite_previous(struct fz_fleet *fleet, const char *project, const char *service,
		       const char *version, struct fz_buf *ret, struct fz_error *err)
{
	struct fz_sqlite_store *f = fz_sqlite_store(fleet);
	sqlite3_stmt *s = fz_sql(&f->sql, FZ_SQL_PREVIOUS);

	fz_sql_text(s, 1, fz_str_of(project));
	fz_sql_text(s, 2, fz_str_of(service));
	fz_sql_text(s, 3, fz_str_of(version));
	int r = fz_sql_step(&f->sql, s, err);
	if (r != 1)
		return r;
	struct fz_str name = fz_sql_column(s, 0);
	fz_buf_add(ret, name.p, name.n);
	fz_sql_reset(s);
	return 0;
}

int fz_sqlite_names(struct fz_fleet *fleet, const char *project, const char *service, unsigned most,
		    void (*take)(void *arg, struct fz_str name), void *arg, struct fz_error *err)
{
	struct fz_sqlite_store *f = fz_sqlite_store(fleet);
	sqlite3_stmt *s = fz_sql(&f->sql, service ? FZ_SQL_VERSIONS : FZ_SQL_SERVICES);
	int r, parameter = 1;

	fz_sql_text(s, parameter++, fz_str_of(project));
	if (service)
		fz_sql_text(s, parameter++, fz_str_of(service));
	fz_sqlite.bind_int(s, parameter, most);
	while ((r = fz_sql_step(&f->sql, s, err)) == 1)
		take(arg, fz_sql_column(s, 0));
	return r;
}

/* ---- series and cells ---- */

static int begin_reading(struct fz_sqlite_store *f, struct fz_error *err)
{
	int r = f->reading ? 0 : fz_sql_run(&f->sql, FZ_SQL_BEGIN_READING, err);

	f->reading |= !r;
	return r;
}

int fz_sqlite_state(struct fz_fleet *fleet, const char *project, const char *service,
		    const char *version, struct fz_buf *ret, struct fz_error *err)
{
	struct fz_sqlite_store *f = fz_sqlite_store(fleet);
	int r = begin_reading(f, err);

	if (r)
		return r;
	sqlite3_stmt *s = fz_sql(&f->sql, FZ_SQL_STATE);
	fz_sql_text(s, 1, fz_str_of(project));
	fz_sql_text(s, 2, fz_str_of(service));
	fz_sql_text(s, 3, fz_str_of(version ? version : ""));
	while ((r = fz_sql_step(&f->sql, s, err)) == 1)
		fz_buf_printf(ret, "%lld:%lld ", (long long)fz_sqlite.column_int(s, 0),
			      (long long)fz_sqlite.column_int(s, 1));
	return r;
}

int fz_sqlite_series(struct fz_fleet *fleet, const struct fz_fleet_query *q,
		     void (*take)(void *arg, const struct fz_fleet_series_row *row), void *arg,
		     struct fz_error *err)
{
	struct fz_sqlite_store *f = fz_sqlite_store(fleet);
	int r = begin_reading(f, err);

	if (r)
		return r;
	sqlite3_stmt *s = fz_sql(&f->sql, FZ_SQL_FIND_SERIES);
	fz_sql_text(s, 1, fz_str_of(q->project));
	fz_sql_text(s, 2, fz_str_of(q->service));
	fz_sql_text(s, 3, fz_str_of(q->version ? q->version : ""));
	fz_sqlite.bind_int(s, 4, q->from);
	fz_sqlite.bind_int(s, 5, q->until);
	while ((r = fz_sql_step(&f->sql, s, err)) == 1) {
		struct fz_fleet_series_row row = {
			.id = fz_sqlite.column_int(s, 0),
			.labels = fz_sql_column(s, 1),
			.kind = { .metric = fz_sql_column(s, 2),
				  .unit = fz_sql_column(s, 3),
				  .clock = fz_sql_column(s, 4),
				  .mode = (int32_t)fz_sqlite.column_int(s, 5),
				  .features = (int32_t)fz_sqlite.column_int(s, 6),
				  .interval_ns = fz_sqlite.column_int(s, 7),
				  .main = fz_sqlite.column_int(s, 8) },
			.cells = fz_sqlite.column_int(s, 9),
			.first = fz_sqlite.column_int(s, 10),
			.last = fz_sqlite.column_int(s, 11),
			.version = fz_sql_column(s, 12),
			.begun = fz_sqlite.column_int(s, 13),
		};
		take(arg, &row);
	}
	return r;
}

/* ---- nodes ---- */

/* A node's id is larger than its parent's; anything else would be damage. */
int fz_sqlite_node(struct fz_fleet *fleet, int64_t node,
		   void (*take)(void *arg, const struct fz_fleet_node_row *row), void *arg,
		   struct fz_error *err)
{
	struct fz_sqlite_store *f = fz_sqlite_store(fleet);
	sqlite3_stmt *s = fz_sql(&f->sql, FZ_SQL_NODE);

	fz_sqlite.bind_int(s, 1, node);
	int r = fz_sql_step(&f->sql, s, err);
	if (r < 0)
		return r;
	if (r == 0 || fz_sqlite.column_int(s, 0) >= node) {
		fz_sql_reset(s);
		return fz_fail(err, FZ_EINPUT, "%s: damaged: a node is missing", f->sql.path);
	}
	struct fz_fleet_node_row row = { .parent = fz_sqlite.column_int(s, 0),
					 .name = fz_sql_column(s, 1),
					 .file = fz_sql_column(s, 2),
					 .module = fz_sql_column(s, 3),
					 .first_line = fz_sqlite.column_int(s, 4),
					 .kind = (uint64_t)fz_sqlite.column_int(s, 5) };
	take(arg, &row);
	fz_sql_reset(s);
	return 0;
}
