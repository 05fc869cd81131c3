/* SPDX-License-Identifier: MIT */
/* Series and their cells, from all shards of a store on ClickHouse.
 *
 *   shard 0: series, counts -+
 *   shard 1: series, counts -+-> one row per series -> their cells, from all shards
 *
 * A handle sees the pushes that existed when it queried cells. Values come from the same pushes
 * (clickhouse_values.c), whatever has arrived since.
 */
#include "fleet/clickhouse_read.h"

#include <math.h>

#include "fleet/hour_cells.h"

void fz_clickhouse_read_free(struct fz_clickhouse_read *r)
{
	if (!r)
		return;
	free(r->parts);
	free(r->scopes);
	free(r->nodes);
	free(r->functions);
	fz_map_release(&r->node_map);
	fz_map_release(&r->function_map);
	fz_arena_release(&r->texts);
	free(r);
}

/* ---- state ---- */

/* The numbers of pushes are random, so their exclusive or identifies them. Roll-ups have no host,
 * because they cover all versions. Retention drops the cells of a day later than its pushes. */
int fz_clickhouse_state(struct fz_fleet *f, const char *project, const char *service,
			const char *version, struct fz_buf *ret, struct fz_error *err)
{
	struct fz_clickhouse *c = fz_clickhouse(f);
	struct fz_buf answers[FZ_CLICKHOUSE_SHARDS];
	fz_auto(fz_buf_release) struct fz_buf sql = { 0 };

	fz_buf_str(&sql, "SELECT toUInt64(count()), groupBitXor(put), ifNull((SELECT"
			 " toUInt64(min(toUInt32(partition))) FROM system.parts WHERE active AND"
			 " database = currentDatabase() AND table = 'fizeau_cell'), 0)"
			 " FROM fizeau_push WHERE ");
	fz_sql_add_scope(&sql, project, service, NULL);
	if (version)
		fz_sql_format(&sql, "(version = {} OR host = '') AND ", version);
	fz_buf_str(&sql, "1 FORMAT RowBinary");
	int r = fz_clickhouse_query(c, fz_buf_view(&sql), FZ_MISSING_GOES, answers, err);
	if (r)
		return r;
	for (uint32_t i = 0; !r && i < c->n; i++) {
		struct fz_cursor row = fz_rows_of(&answers[i]);

		for (int column = 0; fz_row_next(&row) && column < 3; column++)
			fz_buf_printf(ret, "%llx:", (unsigned long long)fz_cursor_u64(&row));
		fz_buf_char(ret, ' ');
		r = fz_clickhouse_check(c, i, &row, err);
	}
	fz_clickhouse_release_answers(answers);
	return r;
}

/* ---- series ---- */

struct series {
	struct fz_fleet_series_row *list;
	uint32_t n, cap;
	struct fz_map map; /* id -> index */
};

static void release_series(struct series *s)
{
	free(s->list);
	fz_map_release(&s->map);
}

static bool is_same(const struct fz_fleet_series_row *a, const struct fz_fleet_series_row *b)
{
	return fz_str_eq(a->version, b->version) && fz_str_eq(a->labels, b->labels) &&
	       fz_str_eq(a->kind.metric, b->kind.metric) && fz_str_eq(a->kind.unit, b->kind.unit) &&
	       fz_str_eq(a->kind.clock, b->kind.clock) && a->kind.mode == b->kind.mode &&
	       a->kind.features == b->kind.features && a->kind.interval_ns == b->kind.interval_ns &&
	       a->kind.main == b->kind.main;
}

/* Merge a row. False if another series has the same number. */
static bool add_series(struct series *all, const struct fz_fleet_series_row *row)
{
	uint32_t *slot = fz_map_slot(&all->map, (uint64_t)row->id);

	if (*slot == FZ_NONE) {
		*slot = all->n;
		fz_push(all->list, all->n, all->cap, *row);
		return true;
	}
	struct fz_fleet_series_row *of = &all->list[*slot];
	if (!is_same(of, row))
		return false;
	of->begun = FZ_MIN(of->begun, row->begun);
	if (row->cells) {
		of->first = of->cells ? FZ_MIN(of->first, row->first) : row->first;
		of->last = of->cells ? FZ_MAX(of->last, row->last) : row->last;
	}
	of->cells += row->cells;
	return true;
}

static int read_series(const struct fz_clickhouse *c, uint32_t shard, const struct fz_buf *answer,
		       struct series *all, struct fz_error *err)
{
	struct fz_cursor rows = fz_rows_of(answer), *row = &rows;

	while (fz_row_next(row)) {
		struct fz_fleet_series_row s = { .id = fz_row_read_int(row) };

		s.version = fz_row_read_text(row);
		s.labels = fz_row_read_text(row);
		s.kind.metric = fz_row_read_text(row);
		s.kind.unit = fz_row_read_text(row);
		s.kind.clock = fz_row_read_text(row);
		s.kind.mode = (int32_t)fz_row_read_int(row);
		s.kind.features = (int32_t)fz_row_read_int(row);
		s.kind.interval_ns = fz_row_read_int(row);
		s.kind.main = fz_row_read_int(row);
		s.cells = fz_row_read_int(row);
		s.first = fz_row_read_int(row);
		s.last = fz_row_read_int(row);
		s.begun = fz_row_read_int(row);
		if (!row->bad && !add_series(all, &s))
			return fz_fail(err, FZ_EINPUT, "%s: two series have the same number",
				       c->shards[shard].name);
	}
	return fz_clickhouse_check(c, shard, row, err);
}

static int compare_series(const void *a, const void *b)
{
	const struct fz_fleet_series_row *x = a, *y = b;

	return FZ_CMP(x->begun, y->begun) ?: fz_str_cmp(x->version, y->version) ?:
	       FZ_CMP(x->id, y->id);
}

/* "if(AGED, ..., ...)": cells in a query's time, whole hours of those that are AGED. */
static void add_in_time(struct fz_buf *sql, const struct fz_fleet_query *q, const char *aged)
{
	fz_buf_printf(sql, "if(%s, ", aged);
	fz_sql_add_time(sql, fz_nearest_hour(FZ_MAX(q->from, 0)) * FZ_HOUR_MINUTES,
			fz_nearest_hour(q->until) * FZ_HOUR_MINUTES);
	fz_buf_str(sql, "1, ");
	fz_sql_add_time(sql, q->from, q->until);
	fz_buf_str(sql, "1)");
}

static void add_wanted(struct fz_buf *sql, const struct fz_fleet_query *q)
{
	fz_auto(fz_buf_release) struct fz_buf aged = { 0 };

	fz_sql_add_aged(&aged, q->project, q->service, q->from, q->until);
	add_in_time(sql, q, aged.p);
}

static void write_series_query(const struct fz_fleet_query *q, struct fz_buf *sql)
{
	fz_buf_str(sql, "SELECT series, version, labels, metric, unit, clock, mode, features,"
			" period, main, toInt64(uniqExactIf((host, minute), (");
	add_wanted(sql, q);
	fz_buf_str(sql, ") AS wanted)), toInt64(minIf(minute, wanted)),"
			" toInt64(maxIf(minute, wanted)), toInt64(min(minute)) FROM fizeau_cell"
			" WHERE " FZ_SQL_NO_SUM " AND ");
	fz_sql_add_scope(sql, q->project, q->service, q->version);
	fz_sql_add_puts(sql, q->project, q->service, 0, INT64_MAX);
	fz_buf_str(sql, " GROUP BY series, version, labels, metric, unit, clock, mode, features,"
			" period, main FORMAT RowBinary");
}

int fz_clickhouse_series(struct fz_fleet *f, const struct fz_fleet_query *q,
			 void (*take)(void *arg, const struct fz_fleet_series_row *row), void *arg,
			 struct fz_error *err)
{
	struct fz_clickhouse *c = fz_clickhouse(f);
	struct fz_buf answers[FZ_CLICKHOUSE_SHARDS];
	fz_auto(fz_buf_release) struct fz_buf sql = { 0 };
	fz_auto(release_series) struct series all = { 0 };

	write_series_query(q, &sql);
	int r = fz_clickhouse_query(c, fz_buf_view(&sql), FZ_MISSING_GOES, answers, err);
	if (r)
		return r;
	for (uint32_t i = 0; !r && i < c->n; i++)
		r = read_series(c, i, &answers[i], &all, err);
	if (all.n)
		qsort(all.list, all.n, sizeof(*all.list), compare_series);
	for (uint32_t i = 0; !r && i < all.n; i++)
		take(arg, &all.list[i]);
	fz_clickhouse_release_answers(answers);
	return r;
}

/* ---- cells ---- */

/* The sums of an hour, host and series whose cells were read last. */
struct sums {
	uint32_t series;
	int64_t hour, key; /* key: of the cell that gets the sums */
	struct fz_str host;
	struct {
		uint64_t put; /* of the sum */
		bool found;
	} * list;
	uint32_t n, cap;
};

struct finder {
	struct fz_clickhouse *c;
	struct fz_map series; /* id -> index in the list */
	int (*take)(void *arg, const struct fz_fleet_cell_row *row);
	void *arg;
	struct fz_fleet_cell_row cell; /* being added up */
	bool any, overflow;
	struct sums sums;
};

/* A row of the shard: a cell whose values are in sums, a sum of an hour, or another cell. */
struct row {
	uint32_t series;
	struct fz_str host;
	const struct fz_cell_part *part;
	struct fz_fleet_exposure exposure;
	enum { ROW_AGED, ROW_SUM, ROW_CELL } kind;
	uint64_t age; /* ROW_AGED: the number of the sum */
};

#define NO_PARTS ((int64_t)UINT32_MAX)

static int end_cell(struct finder *k)
{
	bool any = k->any;

	k->any = false;
	return any ? k->take(k->arg, &k->cell) : 0;
}

static void add(struct finder *k, int64_t *sum, int64_t more)
{
	k->overflow |= __builtin_add_overflow(*sum, more, sum);
}

static void add_part(struct fz_clickhouse_read *read, const struct fz_cell_part *part,
		     int64_t first)
{
	fz_grow(read->parts, read->part_n, read->part_cap);
	read->parts[read->part_n] = *part;
	read->parts[read->part_n++].first = (uint32_t)first;
}

/* ---- cells whose values are in sums ---- */

int fz_clickhouse_fail_lost(const char *what, struct fz_error *err)
{
	return fz_fail(err, FZ_EAGAIN, "the store changed while it was read, or lost %s; try again",
		       what);
}

static bool is_of_sums(const struct sums *s, const struct row *row)
{
	return s->n && s->series == row->series && fz_str_eq(s->host, row->host) &&
	       s->hour == row->part->minute / FZ_HOUR_MINUTES;
}

static int end_sums(struct sums *s, struct fz_error *err)
{
	bool lost = false;

	for (uint32_t i = 0; i < s->n; i++)
		lost |= !s->list[i].found;
	s->n = 0;
	return lost ? fz_clickhouse_fail_lost("values", err) : 0;
}

static uint32_t find_sum(const struct sums *s, uint64_t put)
{
	uint32_t i = 0;

	while (i < s->n && s->list[i].put != put)
		i++;
	return i;
}

/* The first cell of an hour, host and series gets their sums, which follow. */
static int begin_aged(struct finder *k, const struct row *row, int64_t *ret_key,
		      struct fz_error *err)
{
	struct sums *s = &k->sums;
	bool first = !is_of_sums(s, row);
	int r = first ? end_sums(s, err) : 0;

	if (first) {
		s->series = row->series;
		s->host = row->host;
		s->hour = row->part->minute / FZ_HOUR_MINUTES;
		s->key = k->c->read->part_n;
	}
	*ret_key = first ? s->key : NO_PARTS;
	if (find_sum(s, row->age) == s->n) {
		fz_grow(s->list, s->n, s->cap);
		s->list[s->n].put = row->age;
		s->list[s->n++].found = false;
	}
	return r;
}

/* A sum without cells belongs to a roll-up that does not count, or did not yet when cells were
 * queried. */
static void add_sum(struct finder *k, const struct row *row)
{
	struct sums *s = &k->sums;
	uint32_t i = is_of_sums(s, row) ? find_sum(s, row->part->put) : s->n;

	if (i == s->n)
		return;
	s->list[i].found = true;
	add_part(k->c->read, row->part, s->key);
}

/* Add one push's part of a cell. Parts of a cell are consecutive. */
static int add_cell_part(struct finder *k, const struct row *row, struct fz_error *err)
{
	bool by_hour = row->kind == ROW_AGED;
	bool same = k->any && k->cell.series == row->series && k->cell.by_hour == by_hour &&
		    k->cell.minute == row->part->minute && fz_str_eq(k->cell.host, row->host);
	int64_t key = k->c->read->part_n;
	int r = same ? 0 : end_cell(k);

	if (!r && by_hour)
		r = begin_aged(k, row, &key, err);
	if (!same)
		k->cell = (struct fz_fleet_cell_row){
			.series = row->series,
			.minute = row->part->minute,
			.minutes = 1,
			.key = key,
			.host = row->host,
			.by_hour = by_hour,
		};
	k->any = true;
	add(k, &k->cell.exposure.cpu_ns, row->exposure.cpu_ns);
	add(k, &k->cell.exposure.wall_ns, row->exposure.wall_ns);
	add(k, &k->cell.exposure.samples, row->exposure.samples);
	add(k, &k->cell.exposure.lost, row->exposure.lost);
	if (!by_hour)
		add_part(k->c->read, row->part, k->cell.key);
	return r;
}

static int read_cells(struct finder *k, uint32_t shard, const struct fz_buf *answer,
		      struct fz_error *err)
{
	struct fz_cursor rows = fz_rows_of(answer), *row = &rows;
	int r = 0;

	while (!r && fz_row_next(row)) {
		struct fz_cell_part part = { .series = fz_cursor_u64(row) };
		struct fz_str host = fz_row_read_text(row);
		struct row cell = { .host = host, .part = &part };
		struct fz_fleet_exposure *e = &cell.exposure;

		part.minute = fz_row_read_int(row);
		part.put = fz_cursor_u64(row);
		part.number = fz_row_read_int(row);
		part.nodes = fz_row_read_int(row);
		e->cpu_ns = fz_row_read_int(row);
		e->wall_ns = fz_row_read_int(row);
		e->samples = fz_row_read_int(row);
		e->lost = fz_row_read_int(row);
		cell.kind = fz_row_read_int(row);
		cell.age = fz_cursor_u64(row);
		cell.series = fz_map_get(&k->series, part.series);
		if (row->bad || cell.series == FZ_NONE)
			continue;
		if (cell.kind == ROW_SUM)
			add_sum(k, &cell);
		else
			r = add_cell_part(k, &cell, err);
	}
	if (!r)
		r = end_cell(k);
	if (!r)
		r = end_sums(&k->sums, err);
	if (r)
		return r;
	if (k->overflow)
		return fz_fail(err, FZ_ELIMIT, "%s: sums are larger than 63 bits",
			       k->c->shards[shard].name);
	return fz_clickhouse_check(k->c, shard, row, err);
}

static void add_scope(struct fz_clickhouse_read *r, const struct fz_fleet_query *q)
{
	for (uint32_t i = 0; i < r->scope_n; i += 2)
		if (strcmp(r->scopes[i], q->project) == 0 &&
		    strcmp(r->scopes[i + 1], q->service) == 0)
			return;
	for (int i = 0; i < 2; i++) {
		const char *text = i ? q->service : q->project;

		fz_push(r->scopes, r->scope_n, r->scope_cap,
			fz_arena_strndup(&r->texts, text, strlen(text)));
	}
}

static void map_series(struct fz_map *map, const int64_t *series, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		fz_map_put(map, (uint64_t)series[i], i);
}

/* Cells are found with the hours before and after, for those that are known only by the hour. */
static void add_selection(struct fz_buf *sql, const struct fz_fleet_query *q, const int64_t *series,
			  uint32_t n)
{
	fz_sql_add_scope(sql, q->project, q->service, q->version);
	fz_sql_add_series(sql, series, n);
	fz_sql_add_time(sql, q->from - FZ_HOUR_MINUTES,
			FZ_MIN(q->until, UINT32_MAX) + FZ_HOUR_MINUTES);
}

/* Queries once which sums count: a cell is in the sum whose number is the cell's age, and a sum
 * without such cells is ignored. */
static void write_cells_query(const struct fz_fleet_query *q, const int64_t *series, uint32_t n,
			      struct fz_buf *sql)
{
	fz_buf_str(sql, "SELECT series, host, toInt64(minute), put, toInt64(number),"
			" toInt64(nodes), cpu, wall, samples, lost,"
			" toInt64(multiIf(number >= " FZ_SQL_SUM ", 1, age != 0, 0, 2)) AS part,"
			" age FROM (SELECT series, host, minute, intDiv(minute, 60) AS hour, put,"
			" number, nodes, cpu, wall, samples, lost FROM fizeau_cell WHERE ");
	add_selection(sql, q, series, n);
	fz_buf_str(sql, "(number >= " FZ_SQL_SUM " OR ");
	fz_sql_add_puts(sql, q->project, q->service, q->from, q->until);
	fz_buf_str(sql, ")) AS c ANY LEFT JOIN ");
	fz_sql_add_aged_rows(sql, "hour, put, age", q->project, q->service, q->from, q->until);
	fz_buf_str(sql, " AS a USING hour, put WHERE ");
	add_in_time(sql, q, "part < 2");
	fz_buf_str(sql, " ORDER BY series, host, intDiv(minute, 60), part, minute, put, number"
			" FORMAT RowBinary");
}

int fz_clickhouse_cells(struct fz_fleet *f, const struct fz_fleet_query *q, const int64_t *series,
			uint32_t n, int (*take)(void *arg, const struct fz_fleet_cell_row *row),
			void *arg, struct fz_error *err)
{
	struct finder k = { .c = fz_clickhouse(f), .take = take, .arg = arg };
	struct fz_buf answers[FZ_CLICKHOUSE_SHARDS];
	fz_auto(fz_buf_release) struct fz_buf sql = { 0 };

	write_cells_query(q, series, n, &sql);
	add_scope(k.c->read, q);
	int r = fz_clickhouse_query(k.c, fz_buf_view(&sql), FZ_MISSING_GOES, answers, err);
	if (r)
		return r;
	map_series(&k.series, series, n);
	for (uint32_t i = 0; !r && i < k.c->n; i++)
		r = read_cells(&k, i, &answers[i], err);
	fz_map_release(&k.series);
	free(k.sums.list);
	fz_clickhouse_release_answers(answers);
	return r;
}

/* ---- first minutes of hosts ---- */

static int read_starts(const struct fz_clickhouse *c, uint32_t shard, const struct fz_buf *answer,
		       void (*take)(void *arg, struct fz_str host, int64_t minute), void *arg,
		       struct fz_error *err)
{
	struct fz_cursor rows = fz_rows_of(answer), *row = &rows;

	while (fz_row_next(row)) {
		struct fz_str host = fz_row_read_text(row);
		int64_t minute = fz_row_read_int(row);

		if (!row->bad)
			take(arg, host, minute);
	}
	return fz_clickhouse_check(c, shard, row, err);
}

int fz_clickhouse_starts(struct fz_fleet *f, const struct fz_fleet_query *q, const int64_t *series,
			 uint32_t n, void (*take)(void *arg, struct fz_str host, int64_t minute),
			 void *arg, struct fz_error *err)
{
	struct fz_clickhouse *c = fz_clickhouse(f);
	struct fz_buf answers[FZ_CLICKHOUSE_SHARDS];
	fz_auto(fz_buf_release) struct fz_buf sql = { 0 };

	fz_buf_str(&sql, "SELECT host, toInt64(min(minute)) FROM fizeau_cell WHERE ");
	add_selection(&sql, q, series, n);
	fz_sql_add_puts(&sql, q->project, q->service, q->from, q->until);
	fz_buf_str(&sql, " AND " FZ_SQL_NO_SUM " AND ");
	add_wanted(&sql, q);
	fz_buf_str(&sql, " GROUP BY host FORMAT RowBinary");
	int r = fz_clickhouse_query(c, fz_buf_view(&sql), FZ_MISSING_GOES, answers, err);
	if (r)
		return r;
	for (uint32_t i = 0; !r && i < c->n; i++)
		r = read_starts(c, i, &answers[i], take, arg, err);
	fz_clickhouse_release_answers(answers);
	return r;
}

/* ---- sums ---- */

static int read_sums(const struct fz_clickhouse *c, uint32_t shard, const struct fz_map *series,
		     const struct fz_buf *answer,
		     void (*take)(void *arg, const struct fz_fleet_sum_row *row), void *arg,
		     struct fz_error *err)
{
	/* Sums of integers in ClickHouse overflow silently. */
	static const double most = 9e18;
	struct fz_cursor rows = fz_rows_of(answer), *row = &rows;

	while (fz_row_next(row)) {
		struct fz_fleet_sum_row s = { .series = fz_map_get(series, fz_cursor_u64(row)) };

		s.bucket = fz_row_read_int(row);
		s.cpu_ns = fz_row_read_int(row);
		s.samples = fz_row_read_int(row);
		s.cells = fz_row_read_int(row);
		double cpu = fz_row_read_double(row), samples = fz_row_read_double(row);
		if (fabs(cpu) > most || fabs(samples) > most)
			return fz_fail(err, FZ_ELIMIT,
				       "%s: sums are larger than 63 bits; query a shorter time",
				       c->shards[shard].name);
		if (!row->bad && s.series != FZ_NONE)
			take(arg, &s);
	}
	return fz_clickhouse_check(c, shard, row, err);
}

int fz_clickhouse_sums(struct fz_fleet *f, const struct fz_fleet_query *q, const int64_t *series,
		       uint32_t n, int64_t first, int64_t minutes,
		       void (*take)(void *arg, const struct fz_fleet_sum_row *row), void *arg,
		       struct fz_error *err)
{
	struct fz_clickhouse *c = fz_clickhouse(f);
	struct fz_buf answers[FZ_CLICKHOUSE_SHARDS];
	fz_auto(fz_buf_release) struct fz_buf sql = { 0 };
	fz_auto(fz_map_release) struct fz_map map = { 0 };

	fz_buf_printf(&sql,
		      "SELECT series, intDiv(toInt64(minute) - toInt64(%lld), toInt64(%lld)) AS"
		      " bucket, sum(cpu), sum(samples), toInt64(uniqExact(host, minute)),"
		      " sum(toFloat64(cpu)), sum(toFloat64(samples)) FROM fizeau_cell WHERE ",
		      (long long)first, (long long)minutes);
	add_selection(&sql, q, series, n);
	fz_sql_add_puts(&sql, q->project, q->service, q->from, q->until);
	fz_buf_str(&sql, " AND " FZ_SQL_NO_SUM " AND ");
	add_wanted(&sql, q);
	fz_buf_str(&sql, " GROUP BY series, bucket FORMAT RowBinary");
	int r = fz_clickhouse_query(c, fz_buf_view(&sql), FZ_MISSING_GOES, answers, err);
	if (r)
		return r;
	map_series(&map, series, n);
	for (uint32_t i = 0; !r && i < c->n; i++)
		r = read_sums(c, i, &map, &answers[i], take, arg, err);
	fz_clickhouse_release_answers(answers);
	return r;
}
