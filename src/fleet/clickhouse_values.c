/* SPDX-License-Identifier: MIT */
/* Values of cells found on ClickHouse, and the functions of their nodes.
 *
 *   parts of cells, by put and number  <- values, which refer to them
 *   node -> parent, function -> texts     of all queried services, in these days
 *
 * Each part of a cell stores the number of its values. A different number means that data was
 * deleted meanwhile or is damaged, which is an error instead of wrong sums.
 */
#include "fleet/clickhouse_read.h"

/* ---- values ---- */

/* Part of a cell, found by put and number. */
struct part {
	uint64_t put;
	int64_t number, left; /* left: values not yet read */
	uint32_t cell;
};

struct reader {
	struct fz_clickhouse *c;
	struct part *parts;
	size_t n, cap, at;  /* at: part of the last value */
	struct fz_map seen; /* series */
	int64_t *series;
	uint32_t series_n, series_cap;
	int64_t first, last;  /* minutes */
	const uint32_t *unit; /* of each cell */
	void (*take)(void *arg, uint32_t unit, int64_t node, int64_t value, int64_t n);
	void *arg;
};

static int compare_parts(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return FZ_CMP(x->put, y->put) ?: FZ_CMP(x->number, y->number);
}

static void add_cell(struct reader *k, uint32_t cell, int64_t key)
{
	const struct fz_clickhouse_read *read = k->c->read;

	for (uint32_t i = (uint32_t)key; i < read->part_n && read->parts[i].first == key; i++) {
		const struct fz_cell_part *of = &read->parts[i];
		uint32_t *slot = fz_map_slot(&k->seen, of->series);

		if (*slot == FZ_NONE) {
			fz_push(k->series, k->series_n, k->series_cap, (int64_t)of->series);
			*slot = 0;
		}
		fz_push(k->parts, k->n, k->cap,
			(struct part){ of->put, of->number, of->nodes, cell });
		k->first = FZ_MIN(k->first, of->minute);
		k->last = FZ_MAX(k->last, of->minute);
	}
}

/* Values of one part are usually consecutive. */
static struct part *part_of(struct reader *k, uint64_t put, int64_t number)
{
	struct part key = { .put = put, .number = number };

	if (compare_parts(&k->parts[k->at], &key) == 0)
		return &k->parts[k->at];
	struct part *found = bsearch(&key, k->parts, k->n, sizeof(key), compare_parts);
	if (found)
		k->at = (size_t)(found - k->parts);
	return found;
}

static int read_values(struct reader *k, uint32_t shard, const struct fz_buf *answer,
		       struct fz_error *err)
{
	struct fz_cursor rows = fz_rows_of(answer), *row = &rows;

	while (fz_row_next(row)) {
		uint64_t put = fz_cursor_u64(row);
		int64_t number = fz_cursor_u32(row);
		int64_t node = fz_row_read_int(row), value = fz_row_read_int(row);
		int64_t n = fz_row_read_int(row);
		struct part *part = row->bad ? NULL : part_of(k, put, number);

		if (!part)
			continue;
		part->left--;
		if (k->unit[part->cell] != FZ_NONE)
			k->take(k->arg, k->unit[part->cell], node, value, n);
	}
	return fz_clickhouse_check(k->c, shard, row, err);
}

static int check_all(const struct reader *k, struct fz_error *err)
{
	for (size_t i = 0; i < k->n; i++)
		if (k->parts[i].left != 0)
			return fz_clickhouse_fail_lost("values", err);
	return 0;
}

static int read_all(struct reader *k, struct fz_error *err)
{
	struct fz_buf answers[FZ_CLICKHOUSE_SHARDS];
	fz_auto(fz_buf_release) struct fz_buf sql = { 0 };

	fz_buf_str(&sql, "SELECT put, cell, node, value, n FROM fizeau_value WHERE ");
	fz_sql_add_series(&sql, k->series, k->series_n);
	fz_sql_add_time(&sql, k->first, k->last + 1);
	fz_buf_str(&sql, "1 ORDER BY series, minute, put, cell, node FORMAT RowBinary");
	/* Cells without their values would give wrong results. */
	int r = fz_clickhouse_query(k->c, fz_buf_view(&sql), FZ_MISSING_FAILS, answers, err);
	if (r)
		return r;
	for (uint32_t i = 0; !r && i < k->c->n; i++)
		r = read_values(k, i, &answers[i], err);
	fz_clickhouse_release_answers(answers);
	return r ? r : check_all(k, err);
}

int fz_clickhouse_each(struct fz_fleet *f, const struct fz_fleet_found *found, const uint32_t *unit,
		       void (*take)(void *arg, uint32_t unit, int64_t node, int64_t value,
				    int64_t n),
		       void *arg, struct fz_error *err)
{
	struct reader k = {
		.c = fz_clickhouse(f), .first = INT64_MAX, .unit = unit, .take = take, .arg = arg
	};
	int r = 0;

	for (uint32_t i = 0; i < found->cell_n; i++)
		add_cell(&k, i, found->cells[i].key);
	if (k.n) {
		qsort(k.parts, k.n, sizeof(*k.parts), compare_parts);
		r = read_all(&k, err);
	}
	free(k.parts);
	free(k.series);
	fz_map_release(&k.seen);
	return r;
}

/* ---- nodes ---- */

static int fail_twice(const struct fz_clickhouse *c, uint32_t shard, struct fz_error *err)
{
	return fz_fail(err, FZ_EINPUT, "%s: damaged: two functions or paths have the same number",
		       c->shards[shard].name);
}

static int read_nodes(struct fz_clickhouse *c, uint32_t shard, const struct fz_buf *answer,
		      struct fz_error *err)
{
	struct fz_cursor rows = fz_rows_of(answer), *row = &rows;
	struct fz_clickhouse_read *r = c->read;

	while (fz_row_next(row)) {
		uint64_t id = fz_cursor_u64(row);
		struct fz_node_entry e = { .parent = fz_cursor_u64(row) };

		e.function = fz_cursor_u64(row);
		if (row->bad)
			break;
		uint32_t *slot = fz_map_slot(&r->node_map, id);
		if (*slot != FZ_NONE &&
		    (r->nodes[*slot].parent != e.parent || r->nodes[*slot].function != e.function))
			return fail_twice(c, shard, err);
		if (*slot != FZ_NONE)
			continue;
		*slot = r->node_n;
		fz_push(r->nodes, r->node_n, r->node_cap, e);
	}
	return fz_clickhouse_check(c, shard, row, err);
}

static struct fz_str keep(struct fz_clickhouse_read *r, struct fz_str s)
{
	return (struct fz_str){ fz_arena_strndup(&r->texts, s.p, s.n), s.n };
}

static bool is_same(const struct fz_fleet_node_row *a, const struct fz_fleet_node_row *b)
{
	return fz_str_eq(a->name, b->name) && fz_str_eq(a->file, b->file) &&
	       fz_str_eq(a->module, b->module) && a->first_line == b->first_line &&
	       a->kind == b->kind;
}

static int read_functions(struct fz_clickhouse *c, uint32_t shard, const struct fz_buf *answer,
			  struct fz_error *err)
{
	struct fz_cursor rows = fz_rows_of(answer), *row = &rows;
	struct fz_clickhouse_read *r = c->read;

	while (fz_row_next(row)) {
		uint64_t id = fz_cursor_u64(row);
		struct fz_fleet_node_row f = { .name = fz_row_read_text(row) };

		f.file = fz_row_read_text(row);
		f.module = fz_row_read_text(row);
		f.first_line = fz_row_read_int(row);
		f.kind = fz_cursor_u64(row);
		if (row->bad)
			break;
		uint32_t *slot = fz_map_slot(&r->function_map, id);
		if (*slot != FZ_NONE && !is_same(&r->functions[*slot], &f))
			return fail_twice(c, shard, err);
		if (*slot != FZ_NONE)
			continue;
		*slot = r->function_n;
		f.name = keep(r, f.name);
		f.file = keep(r, f.file);
		f.module = keep(r, f.module);
		fz_push(r->functions, r->function_n, r->function_cap, f);
	}
	return fz_clickhouse_check(c, shard, row, err);
}

/* Load a table's rows for all queried services on the days of the found cells. */
static int load(struct fz_clickhouse *c, const char *columns, const char *table,
		int (*read)(struct fz_clickhouse *c, uint32_t shard, const struct fz_buf *answer,
			    struct fz_error *err),
		struct fz_error *err)
{
	const struct fz_clickhouse_read *of = c->read;
	int64_t first = INT64_MAX, last = 0;
	int r = 0;

	for (uint32_t i = 0; i < of->part_n; i++) {
		first = FZ_MIN(first, of->parts[i].minute);
		last = FZ_MAX(last, of->parts[i].minute);
	}
	for (uint32_t i = 0; !r && i < of->scope_n; i += 2) {
		struct fz_buf answers[FZ_CLICKHOUSE_SHARDS];
		fz_auto(fz_buf_release) struct fz_buf sql = { 0 };

		fz_buf_printf(&sql, "SELECT DISTINCT %s FROM fizeau_%s WHERE ", columns, table);
		fz_sql_add_scope(&sql, of->scopes[i], of->scopes[i + 1], NULL);
		fz_buf_printf(&sql, "day >= %lld AND day <= %lld FORMAT RowBinary",
			      (long long)fz_clickhouse_day(first),
			      (long long)fz_clickhouse_day(last));
		r = fz_clickhouse_query(c, fz_buf_view(&sql), FZ_MISSING_FAILS, answers, err);
		if (r)
			return r;
		for (uint32_t shard = 0; !r && shard < c->n; shard++)
			r = read(c, shard, &answers[shard], err);
		fz_clickhouse_release_answers(answers);
	}
	return r;
}

static int load_nodes(struct fz_clickhouse *c, struct fz_error *err)
{
	int r = load(c, "node, parent, function", "node", read_nodes, err);

	if (!r)
		r = load(c, "function, name, file, module, line, kind", "function", read_functions,
			 err);
	if (!r)
		c->read->known_parts = c->read->part_n;
	return r;
}

int fz_clickhouse_node(struct fz_fleet *f, int64_t node,
		       void (*take)(void *arg, const struct fz_fleet_node_row *row), void *arg,
		       struct fz_error *err)
{
	struct fz_clickhouse *c = fz_clickhouse(f);
	struct fz_clickhouse_read *r = c->read;
	uint32_t place = fz_map_get(&r->node_map, (uint64_t)node);

	if (place == FZ_NONE && r->known_parts < r->part_n) {
		int failed = load_nodes(c, err);

		if (failed)
			return failed;
		place = fz_map_get(&r->node_map, (uint64_t)node);
	}
	uint32_t function =
		place == FZ_NONE ? FZ_NONE : fz_map_get(&r->function_map, r->nodes[place].function);
	if (function == FZ_NONE)
		return fz_clickhouse_fail_lost("a function", err);
	struct fz_fleet_node_row row = r->functions[function];
	row.parent = (int64_t)r->nodes[place].parent;
	take(arg, &row);
	return 0;
}
