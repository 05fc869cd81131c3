/* SPDX-License-Identifier: MIT */
/* Reading from a store on SQLite.
 *
 *   labels, metric -> series -> their cells in that time -> values of each, and what nodes are
 *
 * Looking for series (sqlite_series.h) begins a transaction that lasts as long as the handle: all
 * that comes after it is of that instant, whatever is pushed meanwhile.
 */
#include "fleet/fleet.h"

#include <math.h>

#include "fleet/sqlite_calls.h"
#include "fleet/sqlite_series.h"

enum { CELLS_MAX = 4 << 20 };

/* ---- what there is ---- */

int fz_fleet_list(struct fz_fleet *f, const char *project,
		  void (*take)(void *arg, const struct fz_fleet_entry *e), void *arg,
		  struct fz_error *err)
{
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

int fz_fleet_alarms(struct fz_fleet *f, const char *project, const char *service, unsigned most,
		    void (*take)(void *arg, const struct fz_fleet_alarm *a), void *arg,
		    struct fz_error *err)
{
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

int fz_fleet_previous(struct fz_fleet *f, const char *project, const char *service,
		      const char *version, struct fz_buf *ret, struct fz_error *err)
{
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

/* ---- cells ---- */

struct finder {
	struct fz_fleet *f;
	const struct fz_fleet_query *q;
	struct fz_fleet_found *found;
};

static uint32_t host_of(struct finder *k, struct fz_map *map, int64_t id, struct fz_str name)
{
	struct fz_fleet_found *found = k->found;
	uint32_t *slot = fz_map_slot(map, (uint64_t)id);

	if (*slot == FZ_NONE) {
		fz_grow(found->hosts, found->host_n, found->host_cap);
		found->hosts[found->host_n] = fz_arena_strndup(&found->arena, name.p, name.n);
		*slot = found->host_n++;
	}
	return *slot;
}

static int find_cells(struct finder *k, struct fz_map *hosts, const struct fz_fleet_series *of,
		      struct fz_error *err)
{
	struct fz_fleet_found *found = k->found;
	sqlite3_stmt *s = fz_sql(&k->f->sql, FZ_SQL_FIND_CELLS);
	int r;

	fz_grow(found->kinds, found->kind_n, found->kind_cap);
	found->kinds[found->kind_n] = of->kind;
	fz_sqlite.bind_int(s, 1, of->id);
	fz_sqlite.bind_int(s, 2, k->q->from);
	fz_sqlite.bind_int(s, 3, k->q->until);
	while ((r = fz_sql_step(&k->f->sql, s, err)) == 1) {
		fz_grow(found->cells, found->cell_n, found->cell_cap);
		found->cells[found->cell_n++] = (struct fz_fleet_cell){
			.kind = found->kind_n,
			.host = host_of(k, hosts, fz_sqlite.column_int(s, 2), fz_sql_column(s, 3)),
			.minute = fz_sqlite.column_int(s, 1),
			.exposure = { fz_sqlite.column_int(s, 4), fz_sqlite.column_int(s, 5),
				      fz_sqlite.column_int(s, 6), fz_sqlite.column_int(s, 7) },
			.key = fz_sqlite.column_int(s, 0),
		};
		if (found->cell_n < CELLS_MAX)
			continue;
		fz_sql_reset(s);
		fz_auto(fz_free_ptr) char *name = fz_fleet_query_name(k->q);
		return fz_fail(err, FZ_ELIMIT,
			       "%s: more than %d cells of a host and minute; ask for less time "
			       "(--since, --until)",
			       name, CELLS_MAX);
	}
	found->kind_n++;
	return r;
}

static int compare_cells(const void *a, const void *b, void *arg)
{
	const struct fz_fleet_cell *x = a, *y = b;
	char *const *hosts = arg;
	int order = x->host == y->host ? 0 : strcmp(hosts[x->host], hosts[y->host]);

	if (order == 0)
		order = (x->minute > y->minute) - (x->minute < y->minute);
	return order ? order : (x->key > y->key) - (x->key < y->key);
}

static int find(struct finder *k, struct fz_error *err)
{
	fz_auto(fz_fleet_series_release) struct fz_fleet_series_list series = { 0 };
	fz_auto(fz_map_release) struct fz_map hosts = { 0 };
	int r = fz_fleet_series(k->f, k->q, &k->found->arena, &series, err);

	for (uint32_t i = 0; !r && i < series.n; i++)
		r = find_cells(k, &hosts, &series.list[i], err);
	if (!r)
		qsort_r(k->found->cells, k->found->cell_n, sizeof(*k->found->cells), compare_cells,
			k->found->hosts);
	return r;
}

int fz_fleet_find(struct fz_fleet *f, const struct fz_fleet_query *q, struct fz_fleet_found *ret,
		  struct fz_error *err)
{
	struct fz_fleet_found found = { 0 };
	struct finder k = { .f = f, .q = q, .found = &found };
	int r = find(&k, err);

	if (r)
		fz_fleet_found_release(&found);
	else
		*ret = found;
	return r;
}

void fz_fleet_found_release(struct fz_fleet_found *found)
{
	free(found->kinds);
	free(found->cells);
	free(found->hosts);
	fz_arena_release(&found->arena);
	*found = (struct fz_fleet_found){ 0 };
}

/* ---- values ---- */

int fz_fleet_each(struct fz_fleet *f, const struct fz_fleet_found *found,
		  void (*take)(void *arg, uint32_t cell, int64_t node, int64_t value, int64_t n),
		  void *arg, struct fz_error *err)
{
	sqlite3_stmt *s = fz_sql(&f->sql, FZ_SQL_VALUES);
	int r = 0;

	for (uint32_t i = 0; !r && i < found->cell_n; i++) {
		fz_sqlite.bind_int(s, 1, found->cells[i].key);
		while ((r = fz_sql_step(&f->sql, s, err)) == 1)
			take(arg, i, fz_sqlite.column_int(s, 0), fz_sqlite.column_int(s, 1),
			     fz_sqlite.column_int(s, 2));
	}
	return r;
}

int fz_fleet_node(struct fz_fleet *f, int64_t node, struct fz_profile *p, int64_t *ret_parent,
		  uint32_t *ret_function, struct fz_error *err)
{
	sqlite3_stmt *s = fz_sql(&f->sql, FZ_SQL_NODE);

	fz_sqlite.bind_int(s, 1, node);
	int r = fz_sql_step(&f->sql, s, err);
	if (r == 0)
		return fz_fail(err, FZ_EINPUT, "%s: is damaged: a node is missing", f->sql.path);
	if (r < 0)
		return r;
	*ret_parent = fz_sqlite.column_int(s, 0);
	*ret_function = fz_profile_function(
		p,
		&(struct fz_function){ .name = fz_profile_string(p, fz_sql_column(s, 1)),
				       .file = fz_profile_string(p, fz_sql_column(s, 2)),
				       .module = fz_profile_string(p, fz_sql_column(s, 3)),
				       .first_line = (int32_t)fz_sqlite.column_int(s, 4),
				       .kind = (uint8_t)FZ_MIN((uint64_t)fz_sqlite.column_int(s, 5),
							       FZ_KIND_UNKNOWN) });
	fz_sql_reset(s);
	return 0;
}
