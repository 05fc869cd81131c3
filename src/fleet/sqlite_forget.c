/* SPDX-License-Identifier: MIT */
/* Deletes old data from a SQLite store while others write to it.
 *
 *   old cells with their values, pushes, alarms   |  transactions of a bounded number of rows:
 *   series and hosts without cells                |  pushes wait for one of them at most
 *   nodes without values, functions without nodes |
 *
 * There is no index of the nodes that have values: all values are read, in parts and outside of
 * transactions. Pushes note what they use meanwhile in in_use, starting before the first part is
 * read; rows noted there are not deleted. A push that began earlier notices that another connection
 * wrote, and looks up all names again (sqlite.c).
 *
 * A process that dies during a sweep leaves in_use active, so pushes note more than necessary until
 * the next sweep. If two run at once, the first one stops, because its generation is over.
 */
#include "fleet/sqlite_calls.h"

enum { SCANNED_ROWS = 2000 };

struct forgetting {
	struct fz_sqlite_store *f;
	struct fz_sql *sql;
	int64_t before;
	bool (*between)(void *arg, int64_t rows);
	void *arg;
	bool open;           /* a transaction */
	int64_t rows;        /* deleted in it */
	int64_t changed;     /* series whose change was noted in it; 0: none */
	bool ended;          /* stopped by `between` or by another sweep */
	int64_t generation;  /* of our sweep; 0: not begun */
	int64_t cells;       /* deleted in all */
	struct fz_map nodes; /* used nodes, later used functions */
	int64_t *unused;
	size_t unused_n, unused_cap;
};

static void release(struct forgetting *k)
{
	fz_map_release(&k->nodes);
	free(k->unused);
}

/* ---- transactions ---- */

static int begin(struct forgetting *k, struct fz_error *err)
{
	int64_t generation = 0;
	int r = k->open ? 0 : fz_sql_run(k->sql, FZ_SQL_BEGIN, err);

	if (r || k->open)
		return r;
	k->open = true;
	k->rows = 0;
	k->changed = 0;
	if (k->generation)
		r = fz_sql_read_id(k->sql, fz_sql(k->sql, FZ_SQL_SWEEPING), &generation, err);
	k->ended |= !r && generation != k->generation;
	return r;
}

static void report_rows(struct forgetting *k, int64_t rows)
{
	if (k->between && !k->between(k->arg, rows))
		k->ended = true;
}

static int end(struct forgetting *k, struct fz_error *err)
{
	if (!k->open)
		return 0;
	k->open = false;
	int r = fz_sql_end(k->sql, 0, err);
	if (!r)
		report_rows(k, k->rows);
	return r;
}

static int end_if_full(struct forgetting *k, struct fz_error *err)
{
	return k->rows < FZ_FLEET_SLICE ? 0 : end(k, err);
}

/* Run a DELETE; *ret: number of deleted rows. */
static int delete_rows(struct forgetting *k, sqlite3_stmt *s, int64_t *ret, struct fz_error *err)
{
	int r = fz_sql_step(k->sql, s, err);

	*ret = r ? 0 : fz_sqlite.changes(k->sql->db);
	k->rows += *ret;
	return r;
}

/* The same in a separate transaction. */
static int delete_alone(struct forgetting *k, sqlite3_stmt *s, int64_t *ret, struct fz_error *err)
{
	int r = begin(k, err);

	if (!r)
		r = delete_rows(k, s, ret, err);
	return r ? r : end(k, err);
}

static int delete_by_id(struct forgetting *k, enum fz_sql_name name, int64_t id,
			struct fz_error *err)
{
	sqlite3_stmt *s = fz_sql(k->sql, name);
	int64_t n;

	fz_sqlite.bind_int(s, 1, id);
	return delete_rows(k, s, &n, err);
}

/* ---- old rows ---- */

/* An old cell or hour. */
struct old {
	int64_t id, series, cells; /* id 0: none */
};

/* Find the next one. ret->series: where to continue. */
static int next_old(struct forgetting *k, enum fz_sql_name find, struct old *ret,
		    struct fz_error *err)
{
	sqlite3_stmt *s = fz_sql(k->sql, find);

	fz_sqlite.bind_int(s, 1, k->before);
	fz_sqlite.bind_int(s, 2, ret->series);
	ret->id = 0;
	int r = fz_sql_step(k->sql, s, err);
	if (r != 1)
		return r;
	*ret = (struct old){ fz_sqlite.column_int(s, 0), fz_sqlite.column_int(s, 1),
			     fz_sqlite.column_int(s, 2) };
	fz_sql_reset(s);
	return 0;
}

/* Once in each transaction. */
static int note_change(struct forgetting *k, int64_t series, struct fz_error *err)
{
	if (k->changed == series)
		return 0;
	k->changed = series;
	return fz_sqlite_note_change(k->sql, series, err);
}

static int forget_old(struct forgetting *k, enum fz_sql_name find, struct fz_error *err)
{
	struct old old = { 0 };
	int r = next_old(k, find, &old, err);

	/* Avoid a write transaction if there are none, as is usual. */
	while (!r && old.id && !k->ended) {
		r = begin(k, err);
		if (!r)
			r = next_old(k, find, &old, err);
		if (r || !old.id)
			break;
		/* Delete a cell together with its values. */
		if (find == FZ_SQL_OLD_CELL)
			r = delete_by_id(k, FZ_SQL_FORGET_VALUES, old.id, err);
		if (!r)
			r = delete_by_id(k,
					 find == FZ_SQL_OLD_CELL ? FZ_SQL_FORGET_CELL
								 : FZ_SQL_FORGET_HOUR,
					 old.id, err);
		k->cells += r ? 0 : old.cells;
		if (!r)
			r = note_change(k, old.series, err);
		if (!r)
			r = end_if_full(k, err);
	}
	return r ? r : end(k, err);
}

/* Advance to the last push of the next part; *project INT64_MAX at the end. */
static int end_of_part(struct forgetting *k, int64_t *project, struct fz_buf *id,
		       struct fz_error *err)
{
	sqlite3_stmt *s = fz_sql(k->sql, FZ_SQL_PART_OF_PUSHES);

	fz_sqlite.bind_int(s, 1, *project);
	fz_sql_text(s, 2, fz_buf_view(id));
	fz_sqlite.bind_int(s, 3, FZ_FLEET_SLICE - 1);
	int r = fz_sql_step(k->sql, s, err);
	if (r < 0)
		return r;
	struct fz_str found = r == 1 ? fz_sql_column(s, 1) : fz_str_of("");
	*project = r == 1 ? fz_sqlite.column_int(s, 0) : INT64_MAX;
	fz_buf_reset(id);
	fz_buf_add(id, found.p, found.n);
	if (r == 1)
		fz_sql_reset(s);
	return 0;
}

/* Delete old pushes in order of ids, because their time is not indexed. */
static int forget_pushes(struct forgetting *k, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf id = { 0 };
	int64_t project = 0, n;
	int r = 0;

	while (!r && project != INT64_MAX && !k->ended) {
		sqlite3_stmt *s = fz_sql(k->sql, FZ_SQL_FORGET_PUSHES);

		fz_sqlite.bind_int(s, 1, project);
		fz_sql_text(s, 2, fz_buf_view(&id));
		r = end_of_part(k, &project, &id, err);
		fz_sqlite.bind_int(s, 3, project);
		fz_sql_text(s, 4, fz_buf_view(&id));
		fz_sqlite.bind_int(s, 5, k->before);
		if (!r)
			r = delete_alone(k, s, &n, err);
	}
	return r;
}

/* Repeat a statement that finds and deletes rows, in transactions of limited size. */
static int forget_found(struct forgetting *k, enum fz_sql_name name, struct fz_error *err)
{
	int64_t n = FZ_FLEET_SLICE;
	int r = 0;

	while (!r && n == FZ_FLEET_SLICE && !k->ended) {
		sqlite3_stmt *s = fz_sql(k->sql, name);

		fz_sqlite.bind_int(s, 1, FZ_FLEET_SLICE);
		if (name == FZ_SQL_FORGET_ALARMS)
			fz_sqlite.bind_int(s, 2, k->before);
		r = delete_alone(k, s, &n, err);
	}
	return r;
}

/* ---- unused rows ---- */

static int begin_sweep(struct forgetting *k, struct fz_error *err)
{
	int r = begin(k, err);

	if (!r)
		r = fz_sql_run(k->sql, FZ_SQL_SWEEP, err);
	if (!r)
		r = fz_sql_run(k->sql, FZ_SQL_USE_NONE, err);
	if (!r)
		r = fz_sql_read_id(k->sql, fz_sql(k->sql, FZ_SQL_SWEEPING), &k->generation, err);
	fz_sqlite_forget_known(k->f);
	return r ? r : end(k, err);
}

static int end_sweep(struct forgetting *k, struct fz_error *err)
{
	int r = begin(k, err);

	if (!r && !k->ended) {
		r = fz_sql_run(k->sql, FZ_SQL_SWEPT, err);
		if (!r)
			r = fz_sql_run(k->sql, FZ_SQL_USE_NONE, err);
	}
	fz_sqlite_forget_known(k->f);
	return r ? r : end(k, err);
}

static int read_nodes(struct forgetting *k, struct fz_str bytes, struct fz_error *err)
{
	struct fz_cell_reader reader = fz_cell_reader_of(&k->f->codec, bytes);
	struct fz_cell_value v;

	while (fz_cell_reader_next(&reader, &v))
		fz_map_put(&k->nodes, (uint64_t)v.node, 1);
	return reader.bad ? fz_sqlite_fail_values(k->sql, err) : 0;
}

/* Collect the nodes of the values of all cells or old hours, some at a time. */
static int read_used_nodes(struct forgetting *k, enum fz_sql_name last_id, enum fz_sql_name part,
			   struct fz_error *err)
{
	int64_t last;
	int r = fz_sql_read_id(k->sql, fz_sql(k->sql, last_id), &last, err);

	for (int64_t id = 0; !r && id <= last && !k->ended; id += SCANNED_ROWS) {
		sqlite3_stmt *s = fz_sql(k->sql, part);

		fz_sqlite.bind_int(s, 1, id);
		fz_sqlite.bind_int(s, 2, id + SCANNED_ROWS);
		while ((r = fz_sql_step(k->sql, s, err)) == 1) {
			r = read_nodes(k, fz_sql_column_bytes(s, 0), err);
			if (r) {
				fz_sql_reset(s);
				break;
			}
		}
		report_rows(k, 0);
	}
	return r;
}

/* Collect unused ids from rows of {id, id of the row that it uses or 0}, users before used. */
static int read_unused(struct forgetting *k, enum fz_sql_name name, struct fz_error *err)
{
	sqlite3_stmt *s = fz_sql(k->sql, name);
	int r;

	k->unused_n = 0;
	while ((r = fz_sql_step(k->sql, s, err)) == 1) {
		int64_t id = fz_sqlite.column_int(s, 0);

		if (fz_map_get(&k->nodes, (uint64_t)id) != FZ_NONE) {
			fz_map_put(&k->nodes, (uint64_t)fz_sqlite.column_int(s, 1), 1);
			continue;
		}
		fz_push(k->unused, k->unused_n, k->unused_cap, id);
	}
	return r;
}

static int forget_unused(struct forgetting *k, enum fz_sql_name name, struct fz_error *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < k->unused_n; i++) {
		r = begin(k, err);
		if (k->ended)
			break;
		if (!r)
			r = delete_by_id(k, name, k->unused[i], err);
		if (!r)
			r = end_if_full(k, err);
	}
	return r ? r : end(k, err);
}

static int read_used_functions(struct forgetting *k, struct fz_error *err)
{
	sqlite3_stmt *s = fz_sql(k->sql, FZ_SQL_USED_FUNCTIONS);
	int r;

	fz_map_clear(&k->nodes);
	while ((r = fz_sql_step(k->sql, s, err)) == 1)
		fz_map_put(&k->nodes, (uint64_t)fz_sqlite.column_int(s, 0), 1);
	return r;
}

static int sweep(struct forgetting *k, struct fz_error *err)
{
	int r = begin_sweep(k, err);

	/* Cells first, because values move from cells to old hours. */
	if (!r)
		r = read_used_nodes(k, FZ_SQL_LAST_CELL, FZ_SQL_PART_OF_VALUES, err);
	if (!r)
		r = read_used_nodes(k, FZ_SQL_LAST_OLD_HOUR, FZ_SQL_PART_OF_OLD_HOURS, err);
	if (!r && !k->ended)
		r = read_unused(k, FZ_SQL_NODES, err);
	if (!r && !k->ended)
		r = forget_unused(k, FZ_SQL_FORGET_NODE, err);
	if (!r && !k->ended)
		r = read_used_functions(k, err);
	if (!r && !k->ended)
		r = read_unused(k, FZ_SQL_FUNCTIONS, err);
	if (!r && !k->ended)
		r = forget_unused(k, FZ_SQL_FORGET_FUNCTION, err);
	return r || k->ended ? r : end_sweep(k, err);
}

int64_t fz_sqlite_forget(struct fz_fleet *fleet, int64_t before,
			 bool (*between)(void *arg, int64_t rows), void *arg, struct fz_error *err)
{
	static const enum fz_sql_name found[] = { FZ_SQL_FORGET_ALARMS, FZ_SQL_FORGET_SERIES,
						  FZ_SQL_FORGET_HOSTS };
	struct fz_sqlite_store *f = fz_sqlite_store(fleet);
	fz_auto(release) struct forgetting k = {
		.f = f, .sql = &f->sql, .before = before, .between = between, .arg = arg
	};
	int r = forget_old(&k, FZ_SQL_OLD_CELL, err);

	if (!r && !k.ended)
		r = forget_old(&k, FZ_SQL_OLD_HOUR, err);
	if (!r && k.cells)
		r = forget_pushes(&k, err);
	for (size_t i = 0; !r && k.cells && i < FZ_ARRAY_LEN(found); i++)
		r = forget_found(&k, found[i], err);
	if (!r && k.cells && !k.ended)
		r = sweep(&k, err);
	if (k.open)
		fz_sql_end(k.sql, r ? r : FZ_EINTERRUPTED, NULL);
	fz_sqlite_forget_known(f);
	return r ? r : k.cells;
}
