/* SPDX-License-Identifier: MIT */
/* Writes to a SQLite store: one file, for loads that one machine can handle.
 *
 *   transaction, ends on the disk {push {id, names, nodes, cells, values}, push ...}
 *
 * Each push is its own savepoint: if it fails, nothing of it is stored, and the others are.
 *
 * While unused rows are being deleted, each push notes what it uses (sqlite_forget.c).
 *
 * Maps cache the ids of functions and nodes by content, because most of each push was pushed
 * before. They are cleared after a rollback, after retention, and when another connection has
 * written since: it may have deleted rows, whose ids SQLite uses again for other names.
 */
#include "fleet/sqlite_calls.h"

enum { KNOWN_MAX = 1 << 20 };

/* Clear the cache if another connection wrote or if it is too large. Called inside a write
 * transaction, so no other connection can write until it ends. */
static int check_known(struct fz_sqlite_store *f, struct fz_error *err)
{
	int64_t version;
	int r = fz_sql_read_id(&f->sql, fz_sql(&f->sql, FZ_SQL_DATA_VERSION), &version, err);

	if (!r)
		r = fz_sql_read_id(&f->sql, fz_sql(&f->sql, FZ_SQL_SWEEPING), &f->sweeping, err);
	if (!r && (version != f->data_version || f->id_n > KNOWN_MAX))
		fz_sqlite_forget_known(f);
	f->data_version = r ? 0 : version;
	return r;
}

static int open_store(const char *path, enum fz_fleet_access access, struct fz_fleet **ret,
		      struct fz_error *err)
{
	struct fz_sqlite_store *f = fz_calloc(1, sizeof(*f));
	int r = fz_sql_open(&f->sql, path, access == FZ_FLEET_WRITE, err);

	if (r)
		free(f);
	else
		*ret = &f->fleet;
	return r;
}

static void close_store(struct fz_fleet *fleet)
{
	struct fz_sqlite_store *f = fz_sqlite_store(fleet);

	fz_sql_close(&f->sql);
	fz_map_release(&f->function_map);
	fz_map_release(&f->node_map);
	free(f->ids);
	free(f->values);
	fz_buf_release(&f->bytes);
	fz_cell_codec_release(&f->codec);
	free(f->hours);
	free(f);
}

/* ---- ids of names ---- */

static int insert(struct fz_sqlite_store *f, sqlite3_stmt *s, int64_t *ret, struct fz_error *err)
{
	int r = fz_sql_step(&f->sql, s, err);

	if (!r)
		*ret = fz_sqlite.last_id(f->sql.db);
	return r;
}

/* Fail if the number of other names, from `count`, has reached the limit. */
static int check_room(struct fz_sqlite_store *f, sqlite3_stmt *count, int64_t most,
		      const char *what, const char *of, struct fz_error *err)
{
	int64_t n;
	int r = fz_sql_read_id(&f->sql, count, &n, err);

	if (!r && n >= most)
		return fz_fail(err, FZ_ELIMIT,
			       "%s already has %lld %s; a value that changes with each push must "
			       "not be a name",
			       of, (long long)n, what);
	return r;
}

static int put_project(struct fz_sqlite_store *f, const char *name, int64_t *ret,
		       struct fz_error *err)
{
	sqlite3_stmt *s = fz_sql(&f->sql, FZ_SQL_PUT_PROJECT);

	fz_sql_text(s, 1, fz_str_of(name));
	int r = fz_sql_step(&f->sql, s, err);
	if (r)
		return r;
	s = fz_sql(&f->sql, FZ_SQL_GET_PROJECT);
	fz_sql_text(s, 1, fz_str_of(name));
	return fz_sql_read_id(&f->sql, s, ret, err);
}

static int put_host(struct fz_sqlite_store *f, int64_t project, const char *name, int64_t *ret,
		    struct fz_error *err)
{
	sqlite3_stmt *s = fz_sql(&f->sql, FZ_SQL_GET_HOST);

	fz_sqlite.bind_int(s, 1, project);
	fz_sql_text(s, 2, fz_str_of(name));
	int r = fz_sql_read_id(&f->sql, s, ret, err);
	if (r || *ret)
		return r;
	s = fz_sql(&f->sql, FZ_SQL_COUNT_HOSTS);
	fz_sqlite.bind_int(s, 1, project);
	r = check_room(f, s, FZ_FLEET_HOSTS, "hosts", "the project", err);
	if (r)
		return r;
	s = fz_sql(&f->sql, FZ_SQL_ADD_HOST);
	fz_sqlite.bind_int(s, 1, project);
	fz_sql_text(s, 2, fz_str_of(name));
	return insert(f, s, ret, err);
}

static int check_series(struct fz_sqlite_store *f, int64_t project,
			const struct fz_fleet_push *push, struct fz_error *err)
{
	const struct {
		enum fz_sql_name count;
		int64_t most;
		const char *what, *of, *texts[2];
	} rooms[] = {
		{ FZ_SQL_COUNT_SERVICES,
		  FZ_FLEET_SERVICES,
		  "services",
		  "the project",
		  { push->service } },
		{ FZ_SQL_COUNT_VERSIONS,
		  FZ_FLEET_VERSIONS,
		  "versions",
		  push->service,
		  { push->service, push->version } },
		{ FZ_SQL_COUNT_LABELS,
		  push->of_samples ? FZ_FLEET_SAMPLE_SETS : FZ_FLEET_LABEL_SETS,
		  "sets of labels",
		  push->service,
		  { push->service, push->labels } },
	};
	int r = 0;

	for (size_t i = 0; !r && i < FZ_ARRAY_LEN(rooms); i++) {
		sqlite3_stmt *s = fz_sql(&f->sql, rooms[i].count);

		fz_sqlite.bind_int(s, 1, project);
		for (int t = 0; t < 2 && rooms[i].texts[t]; t++)
			fz_sql_text(s, 2 + t, fz_str_of(rooms[i].texts[t]));
		r = check_room(f, s, rooms[i].most, rooms[i].what, rooms[i].of, err);
	}
	return r;
}

static int put_series(struct fz_sqlite_store *f, int64_t project, const struct fz_fleet_push *push,
		      const struct fz_fleet_kind *kind, int64_t *ret, struct fz_error *err)
{
	int r = 0;

	for (int adding = 0; adding < 2; adding++) {
		sqlite3_stmt *s = fz_sql(&f->sql, adding ? FZ_SQL_ADD_SERIES : FZ_SQL_GET_SERIES);

		fz_sqlite.bind_int(s, 1, project);
		fz_sql_text(s, 2, fz_str_of(push->service));
		fz_sql_text(s, 3, fz_str_of(push->version));
		fz_sql_text(s, 4, fz_str_of(push->labels));
		fz_sql_text(s, 5, kind->metric);
		fz_sql_text(s, 6, kind->unit);
		fz_sql_text(s, 7, kind->clock);
		fz_sqlite.bind_int(s, 8, kind->mode);
		fz_sqlite.bind_int(s, 9, kind->features);
		fz_sqlite.bind_int(s, 10, kind->interval_ns);
		fz_sqlite.bind_int(s, 11, kind->main);
		if (adding)
			return insert(f, s, ret, err);
		r = fz_sql_read_id(&f->sql, s, ret, err);
		if (!r && *ret == 0)
			r = check_series(f, project, push, err);
		if (r || *ret)
			break;
	}
	return r;
}

/* Keep a row that a push uses from being deleted by a running sweep. */
static int note_use(struct fz_sqlite_store *f, enum fz_sql_used what, int64_t id,
		    struct fz_error *err)
{
	if (!f->sweeping)
		return 0;
	sqlite3_stmt *s = fz_sql(&f->sql, FZ_SQL_USE);
	fz_sqlite.bind_int(s, 1, what);
	fz_sqlite.bind_int(s, 2, id);
	return fz_sql_step(&f->sql, s, err);
}

static void know(struct fz_sqlite_store *f, uint32_t *slot, int64_t id)
{
	fz_grow(f->ids, f->id_n, f->id_cap);
	f->ids[f->id_n] = id;
	*slot = f->id_n++;
}

static uint64_t function_key(int64_t project, const struct fz_profile *p,
			     const struct fz_function *g)
{
	const struct fz_str texts[] = { fz_profile_text(p, g->name), fz_profile_text(p, g->file),
					fz_profile_text(p, g->module) };
	uint64_t parts[FZ_ARRAY_LEN(texts) + 2] = { (uint64_t)project,
						    FZ_KEY(g->first_line, g->kind) };

	for (size_t i = 0; i < FZ_ARRAY_LEN(texts); i++)
		parts[i + 2] = fz_map_hash(texts[i].p, texts[i].n);
	return fz_map_hash(parts, sizeof(parts));
}

static int put_function(struct fz_sqlite_store *f, int64_t project, const struct fz_profile *p,
			const struct fz_function *g, int64_t *ret, struct fz_error *err)
{
	uint64_t key = function_key(project, p, g);
	uint32_t known = fz_map_get(&f->function_map, key);
	int r = 0;

	if (known != FZ_NONE) {
		*ret = f->ids[known];
		return 0;
	}
	*ret = 0;
	for (int adding = 0; !r && *ret == 0 && adding < 2; adding++) {
		sqlite3_stmt *s =
			fz_sql(&f->sql, adding ? FZ_SQL_ADD_FUNCTION : FZ_SQL_GET_FUNCTION);

		fz_sqlite.bind_int(s, 1, project);
		fz_sql_text(s, 2, fz_profile_text(p, g->name));
		fz_sql_text(s, 3, fz_profile_text(p, g->file));
		fz_sql_text(s, 4, fz_profile_text(p, g->module));
		fz_sqlite.bind_int(s, 5, g->first_line);
		fz_sqlite.bind_int(s, 6, g->kind);
		r = adding ? insert(f, s, ret, err) : fz_sql_read_id(&f->sql, s, ret, err);
	}
	if (!r)
		r = note_use(f, FZ_SQL_USED_FUNCTION, *ret, err);
	if (!r)
		know(f, fz_map_slot(&f->function_map, key), *ret);
	return r;
}

/* parent 0: none. Functions belong to one project, so nodes do, too. */
static int put_node(struct fz_sqlite_store *f, int64_t parent, int64_t function, int64_t *ret,
		    struct fz_error *err)
{
	bool small = parent <= UINT32_MAX && function <= UINT32_MAX;
	uint32_t known = small ? fz_map_get(&f->node_map, FZ_KEY(parent, function)) : FZ_NONE;
	int r = 0;

	if (known != FZ_NONE) {
		*ret = f->ids[known];
		return 0;
	}
	*ret = 0;
	for (int adding = 0; !r && *ret == 0 && adding < 2; adding++) {
		sqlite3_stmt *s = fz_sql(&f->sql, adding ? FZ_SQL_ADD_NODE : FZ_SQL_GET_NODE);

		fz_sqlite.bind_int(s, 1, parent);
		fz_sqlite.bind_int(s, 2, function);
		r = adding ? insert(f, s, ret, err) : fz_sql_read_id(&f->sql, s, ret, err);
	}
	if (!r)
		r = note_use(f, FZ_SQL_USED_NODE, *ret, err);
	if (!r && small)
		know(f, fz_map_slot(&f->node_map, FZ_KEY(parent, function)), *ret);
	return r;
}

/* ---- put ---- */

static int put_nodes(struct fz_sqlite_store *f, int64_t project, const struct fz_fleet_batch *b,
		     int64_t *ret, struct fz_error *err)
{
	int r = 0;

	for (uint32_t i = 0; !r && i < b->node_n; i++) {
		const struct fz_fleet_node *node = &b->nodes[i];
		int64_t function;

		r = put_function(f, project, b->profile, &b->profile->functions[node->function],
				 &function, err);
		if (!r)
			r = put_node(f, node->parent == FZ_NONE ? 0 : ret[node->parent], function,
				     &ret[i], err);
	}
	return r;
}

static int put_cell(struct fz_sqlite_store *f, int64_t series, int64_t host,
		    const struct fz_fleet_cell *c, int64_t *ret, struct fz_error *err)
{
	sqlite3_stmt *s = fz_sql(&f->sql, FZ_SQL_ADD_CELL);
	const int64_t numbers[] = { series,
				    c->minute,
				    host,
				    c->exposure.cpu_ns,
				    c->exposure.wall_ns,
				    c->exposure.samples,
				    c->exposure.lost };

	for (size_t i = 0; i < FZ_ARRAY_LEN(numbers); i++)
		fz_sqlite.bind_int(s, (int)i + 1, numbers[i]);
	return fz_sql_read_id(&f->sql, s, ret, err);
}

/* Append the values that a cell has from earlier pushes to the first n of f->values. */
static int get_values(struct fz_sqlite_store *f, int64_t cell, size_t *n, struct fz_error *err)
{
	sqlite3_stmt *s = fz_sql(&f->sql, FZ_SQL_GET_VALUES);

	fz_sqlite.bind_int(s, 1, cell);
	int r = fz_sql_step(&f->sql, s, err);
	if (r != 1)
		return r;
	bool good = fz_sqlite_append_values(f, fz_sql_column_bytes(s, 0), n);
	fz_sql_reset(s);
	return good ? 0 : fz_sqlite_fail_values(&f->sql, err);
}

/* Add the first n of f->values to a cell. */
static int add_values(struct fz_sqlite_store *f, int64_t cell, size_t n, struct fz_error *err)
{
	int r = get_values(f, cell, &n, err);

	if (r)
		return r;
	if (!fz_cell_values_add_up(f->values, &n))
		return fz_fail(err, FZ_EINPUT, "sums are larger than 63 bits");
	fz_buf_reset(&f->bytes);
	fz_cell_values_write(&f->codec, f->values, n, &f->bytes);
	sqlite3_stmt *s = fz_sql(&f->sql, FZ_SQL_PUT_VALUES);
	fz_sqlite.bind_int(s, 1, cell);
	fz_sql_bytes(s, 2, fz_buf_view(&f->bytes));
	return fz_sql_step(&f->sql, s, err);
}

/* Sort values by cell: those of cell i are ret[from[i]] .. ret[from[i + 1] - 1]. */
static void order_values(const struct fz_fleet_batch *b, size_t *from, size_t *ret)
{
	for (size_t i = 0; i < b->value_n; i++)
		from[b->values[i].cell + 1]++;
	for (uint32_t i = 0; i < b->cell_n; i++)
		from[i + 1] += from[i];
	for (size_t i = b->value_n; i-- > 0;)
		ret[--from[b->values[i].cell + 1]] = i;
	memmove(from, from + 1, b->cell_n * sizeof(*from));
	from[b->cell_n] = b->value_n;
}

static int put_values(struct fz_sqlite_store *f, const struct fz_fleet_batch *b,
		      const int64_t *cell, const int64_t *node, struct fz_error *err)
{
	fz_auto(fz_free_ptr) size_t *from = fz_calloc((size_t)b->cell_n + 1, sizeof(*from));
	fz_auto(fz_free_ptr) size_t *order = fz_calloc(FZ_MAX(b->value_n, 1), sizeof(*order));
	int r = 0;

	order_values(b, from, order);
	for (uint32_t i = 0; !r && i < b->cell_n; i++) {
		size_t n = 0;

		for (size_t j = from[i]; j < from[i + 1]; j++) {
			const struct fz_fleet_value *v = &b->values[order[j]];

			fz_push(f->values, n, f->value_cap,
				(struct fz_cell_value){ node[v->node], v->value, v->n });
		}
		if (n)
			r = add_values(f, cell[i], n, err);
	}
	return r;
}

/* An existing id must belong to the same push; otherwise this push would be lost. */
static int check_same_push(struct fz_sqlite_store *f, int64_t project,
			   const struct fz_fleet_item *item, struct fz_error *err)
{
	const struct fz_fleet_push *push = item->push;
	sqlite3_stmt *s = fz_sql(&f->sql, FZ_SQL_COUNT_SAME_PUSH);
	int64_t n;

	fz_sqlite.bind_int(s, 1, project);
	fz_sql_text(s, 2, fz_str_of(push->id));
	fz_sql_text(s, 3, fz_str_of(push->service));
	fz_sql_text(s, 4, fz_str_of(push->version));
	fz_sqlite.bind_int(s, 5, (int64_t)item->digest);
	int r = fz_sql_read_id(&f->sql, s, &n, err);
	return !r && n == 0 ? fz_fleet_fail_id(push->id, err) : r;
}

/* *ret_new is false if the id existed. */
static int add_push(struct fz_sqlite_store *f, int64_t project, const struct fz_fleet_item *item,
		    bool *ret_new, struct fz_error *err)
{
	const struct fz_fleet_push *push = item->push;
	const struct fz_fleet_batch *b = item->batch;
	sqlite3_stmt *s = fz_sql(&f->sql, FZ_SQL_ADD_PUSH);
	int64_t last = 0;

	for (uint32_t i = 0; i < b->cell_n; i++)
		last = FZ_MAX(last, b->cells[i].minute);
	fz_sqlite.bind_int(s, 1, project);
	fz_sql_text(s, 2, fz_str_of(push->id));
	fz_sql_text(s, 3, fz_str_of(push->service));
	fz_sql_text(s, 4, fz_str_of(push->version));
	fz_sqlite.bind_int(s, 5, last);
	fz_sqlite.bind_int(s, 6, (int64_t)item->digest);
	int r = fz_sql_step(&f->sql, s, err);
	*ret_new = !r && fz_sqlite.changes(f->sql.db) > 0;
	return r || *ret_new ? r : check_same_push(f, project, item, err);
}

static int put_content(struct fz_sqlite_store *f, int64_t project, const struct fz_fleet_push *push,
		       const struct fz_fleet_batch *b, struct fz_error *err)
{
	fz_auto(fz_free_ptr) int64_t *node = fz_calloc(FZ_MAX(b->node_n, 1), sizeof(*node));
	fz_auto(fz_free_ptr) int64_t *cell = fz_calloc(FZ_MAX(b->cell_n, 1), sizeof(*cell));
	int64_t series[FZ_METRICS_MAX], host;
	int r = put_host(f, project, push->host, &host, err);

	for (uint32_t i = 0; !r && i < b->kind_n; i++)
		r = put_series(f, project, push, &b->kinds[i], &series[i], err);
	for (uint32_t i = 0; !r && i < b->kind_n; i++)
		r = fz_sqlite_note_change(&f->sql, series[i], err);
	if (!r)
		r = put_nodes(f, project, b, node, err);
	for (uint32_t i = 0; !r && i < b->cell_n; i++)
		r = put_cell(f, series[b->cells[i].kind], host, &b->cells[i], &cell[i], err);
	return r ? r : put_values(f, b, cell, node, err);
}

static int put_one(struct fz_sqlite_store *f, struct fz_fleet_item *item)
{
	const struct fz_fleet_push *push = item->push;
	struct fz_error *err = &item->err;
	bool is_new = false;
	int64_t project;
	int r = put_project(f, push->project, &project, err);

	if (!r)
		r = add_push(f, project, item, &is_new, err);
	if (!r && is_new)
		r = put_content(f, project, push, item->batch, err);
	item->put = is_new ? FZ_FLEET_STORED : FZ_FLEET_KNOWN;
	return r;
}

/* Fails if nothing can be written any more. An error of this push alone is stored in the item. */
static int put_inside(struct fz_sqlite_store *f, struct fz_fleet_item *item, struct fz_error *err)
{
	int r = fz_sql_run(&f->sql, FZ_SQL_PUT_BEGIN, err);

	if (r)
		return r;
	item->result = put_one(f, item);
	if (item->result) {
		/* If the disk is full SQLite may have rolled back the whole transaction. */
		r = fz_sql_run(&f->sql, FZ_SQL_PUT_UNDO, NULL);
		if (r)
			*err = item->err;
		fz_sqlite_forget_known(f);
	}
	return r ? item->result : fz_sql_run(&f->sql, FZ_SQL_PUT_END, err);
}

static void put_all(struct fz_fleet *fleet, struct fz_fleet_item *const *items, size_t n)
{
	struct fz_sqlite_store *f = fz_sqlite_store(fleet);
	struct fz_error err;

	int r = fz_sql_run(&f->sql, FZ_SQL_BEGIN, &err);
	bool begun = !r;
	if (!r)
		r = check_known(f, &err);
	for (size_t i = 0; !r && i < n; i++)
		r = put_inside(f, items[i], &err);
	if (begun)
		r = fz_sql_end(&f->sql, r, &err);
	if (!r)
		return;
	fz_sqlite_forget_known(f);
	for (size_t i = 0; i < n; i++) {
		items[i]->result = r;
		items[i]->err = err;
	}
}

static int raise_alarm(struct fz_fleet *fleet, const char *project, const struct fz_fleet_alarm *a,
		       bool *ret, struct fz_error *err)
{
	struct fz_sqlite_store *f = fz_sqlite_store(fleet);
	const char *const texts[] = { a->service, a->base, a->head, a->function, a->text };
	const double numbers[] = { a->change, a->low, a->high }; /* NaN becomes NULL */
	int64_t id;
	int r = put_project(f, project, &id, err);

	if (r)
		return r;
	sqlite3_stmt *s = fz_sql(&f->sql, FZ_SQL_ADD_ALARM);
	fz_sqlite.bind_int(s, 1, id);
	for (int i = 0; i < (int)FZ_ARRAY_LEN(texts); i++)
		fz_sql_text(s, 2 + i, fz_str_of(texts[i]));
	for (int i = 0; i < (int)FZ_ARRAY_LEN(numbers); i++)
		fz_sqlite.bind_double(s, 7 + i, numbers[i]);
	fz_sqlite.bind_int(s, 10, a->first_seen);
	fz_sqlite.bind_int(s, 11, a->raised);
	r = fz_sql_step(&f->sql, s, err);
	*ret = !r && fz_sqlite.changes(f->sql.db) > 0;
	return r;
}

const struct fz_fleet_engine fz_fleet_sqlite = {
	.open = open_store,
	.convert = fz_sql_convert,
	.close = close_store,
	.put_all = put_all,
	.forget = fz_sqlite_forget,
	.forgets_beside = true,
	.sum_hours = fz_sqlite_sum_hours,
	.age = fz_sqlite_age,
	.raise = raise_alarm,
	.alarms = fz_sqlite_alarms,
	.previous = fz_sqlite_previous,
	.list = fz_sqlite_list,
	.names = fz_sqlite_names,
	.series = fz_sqlite_series,
	.state = fz_sqlite_state,
	.cells = fz_sqlite_cells,
	.starts = fz_sqlite_starts,
	.sums = fz_sqlite_sums,
	.each = fz_sqlite_each,
	.node = fz_sqlite_node,
};
