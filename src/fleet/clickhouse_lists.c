/* SPDX-License-Identifier: MIT */
/* Lists of what a ClickHouse store contains. Each shard sums its own rows; the data of a host and
 * service is on one shard, so hosts and cells are added up here. */
#include <math.h>

#include "fleet/clickhouse_read.h"
#include "fleet/texts.h"

/* Query all shards and pass each row to `take`, which must read all its columns. Invalid rows are
 * read as empty and make this fail at the end. */
static int each_row(struct fz_clickhouse *c, const struct fz_buf *sql,
		    void (*take)(void *arg, struct fz_cursor *row), void *arg, struct fz_error *err)
{
	struct fz_buf answers[FZ_CLICKHOUSE_SHARDS];
	int r = fz_clickhouse_query(c, fz_buf_view(sql), FZ_MISSING_GOES, answers, err);

	if (r)
		return r;
	for (uint32_t i = 0; !r && i < c->n; i++) {
		struct fz_cursor row = fz_rows_of(&answers[i]);

		while (fz_row_next(&row))
			take(arg, &row);
		r = fz_clickhouse_check(c, i, &row, err);
	}
	fz_clickhouse_release_answers(answers);
	return r;
}

/* ---- services and versions ---- */

struct spans {
	struct fz_texts names;
	struct fz_arena arena;
	struct span {
		const char *name;
		int64_t first, last; /* minutes */
		int64_t second;      /* of versions: when the second host began */
	} * list;
	uint32_t cap;
};

static void release_spans(struct spans *s)
{
	fz_texts_release(&s->names);
	fz_arena_release(&s->arena);
	free(s->list);
}

static void read_span(void *arg, struct fz_cursor *row)
{
	struct spans *s = arg;
	struct fz_str name = fz_row_read_text(row);
	int64_t first = fz_row_read_int(row), last = fz_row_read_int(row);

	if (row->bad)
		return;
	uint32_t n = s->names.n, place = fz_texts_place(&s->names, &s->arena, name);
	if (place == n) {
		fz_grow(s->list, n, s->cap);
		s->list[place] = (struct span){ s->names.list[place], INT64_MAX, last, INT64_MAX };
	}
	s->list[place].second = FZ_MIN(s->list[place].second, FZ_MAX(s->list[place].first, first));
	s->list[place].first = FZ_MIN(s->list[place].first, first);
	s->list[place].last = FZ_MAX(s->list[place].last, last);
}

/* A version with several hosts begins when the second one does: one clock may be behind. */
static int64_t beginning_of(const struct span *s)
{
	return s->second < INT64_MAX ? s->second : s->first;
}

/* Get the spans of all services or, with a service, of its versions; these by host, since each host
 * is on one shard. */
static int find_spans(struct fz_clickhouse *c, const char *project, const char *service,
		      struct spans *ret, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf sql = { 0 };
	const char *name = service ? "version" : "service";

	fz_buf_printf(&sql,
		      "SELECT %s, toInt64(min(minute)), toInt64(max(minute)) FROM fizeau_cell"
		      " WHERE " FZ_SQL_NO_SUM " AND ",
		      name);
	fz_sql_add_scope(&sql, project, service, NULL);
	fz_sql_add_puts(&sql, project, service, 0, INT64_MAX);
	fz_buf_printf(&sql, " GROUP BY %s%s FORMAT RowBinary", name, service ? ", host" : "");
	return each_row(c, &sql, read_span, ret, err);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct span *)a)->name, ((const struct span *)b)->name);
}

/* Last seen first. */
static int compare_last(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return FZ_CMP(y->last, x->last) ?: strcmp(y->name, x->name);
}

int fz_clickhouse_names(struct fz_fleet *f, const char *project, const char *service, unsigned most,
			void (*take)(void *arg, struct fz_str name), void *arg,
			struct fz_error *err)
{
	fz_auto(release_spans) struct spans spans = { 0 };
	int r = find_spans(fz_clickhouse(f), project, service, &spans, err);

	if (r || !spans.names.n)
		return r;
	qsort(spans.list, spans.names.n, sizeof(*spans.list),
	      service ? compare_last : compare_names);
	for (uint32_t i = 0; i < spans.names.n && i < most; i++)
		take(arg, fz_str_of(spans.list[i].name));
	return 0;
}

int fz_clickhouse_previous(struct fz_fleet *f, const char *project, const char *service,
			   const char *version, struct fz_buf *ret, struct fz_error *err)
{
	fz_auto(release_spans) struct spans spans = { 0 };
	const struct span *own = NULL;
	int r = find_spans(fz_clickhouse(f), project, service, &spans, err);

	if (r || !spans.names.n)
		return r;
	qsort(spans.list, spans.names.n, sizeof(*spans.list), compare_last);
	for (uint32_t i = 0; i < spans.names.n; i++)
		if (strcmp(spans.list[i].name, version) == 0)
			own = &spans.list[i];
	for (uint32_t i = 0; own && i < spans.names.n; i++) {
		if (&spans.list[i] == own || beginning_of(&spans.list[i]) >= beginning_of(own))
			continue;
		fz_buf_str(ret, spans.list[i].name);
		break;
	}
	return 0;
}

/* ---- entries ---- */

struct lister {
	struct fz_clickhouse *c;
	struct fz_arena arena;
	struct fz_texts names; /* keys of the entries */
	struct listed {
		struct fz_fleet_entry e;
		int64_t main;
	} * list;
	uint32_t cap;
};

static void release_lister(struct lister *k)
{
	fz_texts_release(&k->names);
	fz_arena_release(&k->arena);
	free(k->list);
}

static const char *keep(struct lister *k, struct fz_str s)
{
	return fz_arena_strndup(&k->arena, s.p, s.n);
}

static void add_entry(struct lister *k, const struct fz_str texts[4], const struct listed *row)
{
	fz_auto(fz_free_ptr) char *name = fz_asprintf(
		"%.*s\n%.*s\n%zu\n%.*s%.*s", (int)texts[0].n, texts[0].p, (int)texts[1].n,
		texts[1].p, texts[2].n, (int)texts[2].n, texts[2].p, (int)texts[3].n, texts[3].p);
	uint32_t n = k->names.n, place = fz_texts_place(&k->names, &k->arena, fz_str_of(name));

	if (place == n) {
		fz_grow(k->list, n, k->cap);
		k->list[place] = *row;
		k->list[place].e.service = keep(k, texts[0]);
		k->list[place].e.version = keep(k, texts[1]);
		k->list[place].e.metric = keep(k, texts[2]);
		k->list[place].e.unit = keep(k, texts[3]);
		return;
	}
	struct listed *of = &k->list[place];
	of->main = FZ_MAX(of->main, row->main);
	of->e.first = FZ_MIN(of->e.first, row->e.first);
	of->e.last = FZ_MAX(of->e.last, row->e.last);
	of->e.hosts += row->e.hosts;
	of->e.cells += row->e.cells;
	of->e.samples += row->e.samples;
	of->e.lost += row->e.lost;
	of->e.cpu_ns += row->e.cpu_ns;
	of->e.wall_ns += row->e.wall_ns;
}

static void read_listed(void *arg, struct fz_cursor *row)
{
	struct listed l = { 0 };
	struct fz_str texts[4];

	for (int t = 0; t < 4; t++)
		texts[t] = fz_row_read_text(row);
	l.main = fz_row_read_int(row);
	l.e.first = fz_row_read_int(row);
	l.e.last = fz_row_read_int(row);
	l.e.hosts = fz_row_read_int(row);
	l.e.cells = fz_row_read_int(row);
	l.e.cpu_ns = fz_row_read_double(row);
	l.e.wall_ns = fz_row_read_double(row);
	l.e.samples = fz_row_read_int(row);
	l.e.lost = fz_row_read_int(row);
	if (!row->bad)
		add_entry(arg, texts, &l);
}

static int list_cells(struct lister *k, const char *project, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf sql = { 0 };

	fz_buf_str(&sql, "SELECT service, version, metric, unit, max(main), toInt64(min(minute)),"
			 " toInt64(max(minute)), toInt64(uniqExact(host)),"
			 " toInt64(uniqExact(series, minute, host)), sum(toFloat64(cpu)),"
			 " sum(toFloat64(wall)), sum(samples), sum(lost) FROM fizeau_cell"
			 " WHERE " FZ_SQL_NO_SUM " AND ");
	fz_sql_add_scope(&sql, project, NULL, NULL);
	fz_sql_add_puts(&sql, project, NULL, 0, INT64_MAX);
	fz_buf_str(&sql, " GROUP BY service, version, metric, unit FORMAT RowBinary");
	return each_row(k->c, &sql, read_listed, k, err);
}

static void read_pushes(void *arg, struct fz_cursor *row)
{
	struct lister *k = arg;
	struct fz_str service = fz_row_read_text(row), version = fz_row_read_text(row);
	int64_t pushes = fz_row_read_int(row);

	for (uint32_t l = 0; !row->bad && l < k->names.n; l++)
		if (fz_str_eq(fz_str_of(k->list[l].e.service), service) &&
		    fz_str_eq(fz_str_of(k->list[l].e.version), version))
			k->list[l].e.pushes += pushes;
}

/* Pushes are counted per release, for all metrics together. */
static int count_pushes(struct lister *k, const char *project, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf sql = { 0 };

	fz_sql_format(
		&sql,
		"SELECT service, v, toInt64(count()) FROM (SELECT service, host, id,"
		" argMin(version, put) AS v FROM fizeau_push WHERE project = {} AND host != ''"
		" GROUP BY service, host, id) GROUP BY service, v FORMAT RowBinary",
		project);
	return each_row(k->c, &sql, read_pushes, k, err);
}

static int compare_listed(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	return strcmp(x->e.service, y->e.service) ?: FZ_CMP(y->e.last, x->e.last) ?:
	       strcmp(y->e.version, x->e.version) ?: FZ_CMP(y->main, x->main) ?:
	       strcmp(x->e.metric, y->e.metric);
}

int fz_clickhouse_list(struct fz_fleet *f, const char *project,
		       void (*take)(void *arg, const struct fz_fleet_entry *e), void *arg,
		       struct fz_error *err)
{
	fz_auto(release_lister) struct lister k = { .c = fz_clickhouse(f) };
	int r = list_cells(&k, project, err);

	if (!r)
		r = count_pushes(&k, project, err);
	if (r || !k.names.n)
		return r;
	qsort(k.list, k.names.n, sizeof(*k.list), compare_listed);
	for (uint32_t i = 0; i < k.names.n; i++)
		take(arg, &k.list[i].e);
	return 0;
}

/* ---- alarms ---- */

static int compare_alarms(const void *a, const void *b)
{
	const struct fz_fleet_alarm *x = a, *y = b;

	return FZ_CMP(y->raised, x->raised) ?: strcmp(x->service, y->service) ?:
	       strcmp(x->head, y->head) ?: strcmp(x->function, y->function);
}

struct alarms {
	struct fz_arena arena;
	struct fz_fleet_alarm *list;
	uint32_t n, cap;
};

static void release_alarms(struct alarms *k)
{
	fz_arena_release(&k->arena);
	free(k->list);
}

static void read_alarm(void *arg, struct fz_cursor *row)
{
	struct alarms *k = arg;
	const char *texts[5];
	struct fz_fleet_alarm a;

	for (int i = 0; i < 5; i++) {
		struct fz_str text = fz_row_read_text(row);

		texts[i] = fz_arena_strndup(&k->arena, text.p, text.n);
	}
	a = (struct fz_fleet_alarm){ .service = texts[0],
				     .base = texts[1],
				     .head = texts[2],
				     .function = texts[3],
				     .text = texts[4] };
	a.change = fz_row_read_double(row);
	a.low = fz_row_read_double(row);
	a.high = fz_row_read_double(row);
	a.first_seen = fz_row_read_int(row);
	a.raised = fz_row_read_int(row);
	fz_push(k->list, k->n, k->cap, a);
}

int fz_clickhouse_alarms(struct fz_fleet *f, const char *project, const char *service,
			 unsigned most, void (*take)(void *arg, const struct fz_fleet_alarm *a),
			 void *arg, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf sql = { 0 };
	fz_auto(release_alarms) struct alarms k = { 0 };

	fz_buf_str(&sql, "SELECT service, base, head, function, text, change, low, high,"
			 " toInt64(first), toInt64(raised) FROM fizeau_alarm WHERE ");
	fz_sql_add_scope(&sql, project, *service ? service : NULL, NULL);
	/* Two servers may have raised the same alarm at once. */
	fz_buf_printf(&sql,
		      "1 ORDER BY raised DESC, service, head, function"
		      " LIMIT 1 BY service, head, function LIMIT %u FORMAT RowBinary",
		      most);
	int r = each_row(fz_clickhouse(f), &sql, read_alarm, &k, err);

	if (k.n)
		qsort(k.list, k.n, sizeof(*k.list), compare_alarms);
	for (uint32_t i = 0; !r && i < k.n && i < most; i++)
		take(arg, &k.list[i]);
	return r;
}
