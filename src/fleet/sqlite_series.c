/* SPDX-License-Identifier: MIT */
/* Series, by what is asked; sqlite_series.h. Rows come by their numbers, so versions are found in
 * the order in which they were first pushed. */
#include "fleet/sqlite_series.h"

#include "base/map.h"
#include "fleet/sqlite_calls.h"

struct metric {
	struct fz_str name, unit;
	int64_t cells;
	bool wanted;
};

struct finder {
	struct fz_fleet *f;
	const struct fz_fleet_query *q;
	struct fz_arena *texts;
	struct fz_fleet_series_list found;
	struct fz_map version_map; /* hash of a name -> its place */
	struct metric *metrics;
	uint32_t metric_n, metric_cap;
	bool any; /* of that version, whatever its labels */
};

char *fz_fleet_query_name(const struct fz_fleet_query *q)
{
	return q->version ? fz_asprintf("%s@%s", q->service, q->version) : fz_strdup(q->service);
}

/* ---- what is wrong ---- */

/* "a, b, c" of a statement's rows. */
static int join_names(struct fz_fleet *f, sqlite3_stmt *s, struct fz_buf *out, struct fz_error *err)
{
	enum { SHOWN = 5 };
	int r, n = 0;

	while ((r = fz_sql_step(&f->sql, s, err)) == 1) {
		struct fz_str name = fz_sql_column(s, 0);

		if (n < SHOWN)
			fz_buf_printf(out, "%s%.*s", n ? ", " : "", (int)name.n, name.p);
		else if (n == SHOWN)
			fz_buf_str(out, ", ...");
		n++;
	}
	return r;
}

/* Which of the names in a query is of nothing. */
static int fail_missing(struct fz_fleet *f, const struct fz_fleet_query *q, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf versions = { 0 };
	fz_auto(fz_buf_release) struct fz_buf services = { 0 };
	sqlite3_stmt *s = fz_sql(&f->sql, FZ_SQL_VERSIONS);

	fz_sql_text(s, 1, fz_str_of(q->project));
	fz_sql_text(s, 2, fz_str_of(q->service));
	int r = join_names(f, s, &versions, err);
	s = fz_sql(&f->sql, FZ_SQL_SERVICES);
	fz_sql_text(s, 1, fz_str_of(q->project));
	if (!r)
		r = join_names(f, s, &services, err);
	if (r)
		return r;
	if (versions.n)
		return fz_fail(err, FZ_EINPUT,
			       "%s@%s: nothing is known of it; the latest versions of %s are: %s",
			       q->service, q->version, q->service, versions.p);
	return fz_fail(err, FZ_EINPUT, "%s: there is no such service; there %s %s", q->service,
		       services.n ? "are:" : "is", services.n ? services.p : "none");
}

static int fail_metric(const struct finder *k, const char *name, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf names = { 0 };

	for (uint32_t i = 0; i < k->metric_n; i++)
		fz_buf_printf(&names, "%s%.*s", names.n ? ", " : "", (int)k->metrics[i].name.n,
			      k->metrics[i].name.p);
	return fz_fail(err, FZ_EUSAGE, "%s: has no metric '%s'; it has: %s", name,
		       k->q->metric ? k->q->metric : "", names.p);
}

/* ---- rows ---- */

/* Whether each label of one set is in another. */
static bool has_labels(struct fz_str set, const char *wanted)
{
	for (const char *at = wanted; *at == '\n' && at[1];) {
		const char *end = strchr(at + 1, '\n');

		fz_assert(end);
		if (!memmem(set.p, set.n, at, (size_t)(end - at) + 1))
			return false;
		at = end;
	}
	return true;
}

static struct fz_str keep(struct finder *k, struct fz_str s)
{
	return (struct fz_str){ fz_arena_strndup(k->texts, s.p, s.n), s.n };
}

static uint32_t version_of(struct finder *k, struct fz_str name, int64_t first)
{
	struct fz_fleet_series_list *l = &k->found;
	uint64_t hash = fz_map_hash(name.p, name.n);
	uint32_t *slot = fz_map_slot(&k->version_map, hash);

	/* Names with equal hashes have places that follow from one another. */
	while (*slot != FZ_NONE && !fz_str_eq(fz_str_of(l->versions[*slot].name), name)) {
		hash = fz_hash64(hash);
		slot = fz_map_slot(&k->version_map, hash);
	}
	if (*slot == FZ_NONE) {
		fz_grow(l->versions, l->version_n, l->version_cap);
		l->versions[l->version_n] =
			(struct fz_fleet_version){ fz_arena_strndup(k->texts, name.p, name.n),
						   INT64_MAX };
		*slot = l->version_n++;
	}
	l->versions[*slot].first = FZ_MIN(l->versions[*slot].first, first);
	return *slot;
}

static uint32_t metric_of(struct finder *k, struct fz_str name, struct fz_str unit)
{
	for (uint32_t i = 0; i < k->metric_n; i++)
		if (fz_str_eq(k->metrics[i].name, name) && fz_str_eq(k->metrics[i].unit, unit))
			return i;
	fz_grow(k->metrics, k->metric_n, k->metric_cap);
	k->metrics[k->metric_n] = (struct metric){ .name = keep(k, name), .unit = keep(k, unit) };
	return k->metric_n++;
}

/* Of the columns of FZ_SQL_FIND_SERIES. */
static void take_row(struct finder *k, sqlite3_stmt *s)
{
	struct fz_fleet_series_list *l = &k->found;

	k->any = true;
	if (!has_labels(fz_sql_column(s, 1), k->q->labels))
		return;
	uint32_t version = version_of(k, fz_sql_column(s, 12), fz_sqlite.column_int(s, 13));
	if (fz_sqlite.column_int(s, 9) == 0)
		return;
	uint32_t metric = metric_of(k, fz_sql_column(s, 2), fz_sql_column(s, 3));
	struct metric *m = &k->metrics[metric];
	fz_grow(l->list, l->n, l->cap);
	l->list[l->n] = (struct fz_fleet_series){
		.id = fz_sqlite.column_int(s, 0),
		.cells = fz_sqlite.column_int(s, 9),
		.first = fz_sqlite.column_int(s, 10),
		.last = fz_sqlite.column_int(s, 11),
		.version = version,
		.metric = metric,
		.kind = { .metric = m->name,
			  .unit = m->unit,
			  .clock = keep(k, fz_sql_column(s, 4)),
			  .mode = (int32_t)fz_sqlite.column_int(s, 5),
			  .features = (int32_t)fz_sqlite.column_int(s, 6),
			  .interval_ns = fz_sqlite.column_int(s, 7),
			  .main = fz_sqlite.column_int(s, 8) },
	};
	m->cells += l->list[l->n].cells;
	m->wanted |= k->q->metric ? fz_str_eq(m->name, fz_str_of(k->q->metric))
				  : l->list[l->n].kind.main;
	l->n++;
}

static int find_all(struct finder *k, struct fz_error *err)
{
	sqlite3_stmt *s = fz_sql(&k->f->sql, FZ_SQL_FIND_SERIES);
	int r;

	fz_sql_text(s, 1, fz_str_of(k->q->project));
	fz_sql_text(s, 2, fz_str_of(k->q->service));
	fz_sql_text(s, 3, fz_str_of(k->q->version ? k->q->version : ""));
	fz_sqlite.bind_int(s, 4, k->q->from);
	fz_sqlite.bind_int(s, 5, k->q->until);
	while ((r = fz_sql_step(&k->f->sql, s, err)) == 1)
		take_row(k, s);
	return r;
}

/* ---- one metric ---- */

/* The one that is asked for, or that most cells are about. */
static uint32_t choose(const struct finder *k)
{
	uint32_t best = FZ_NONE;
	int64_t most = 0;

	for (uint32_t i = 0; i < k->metric_n; i++) {
		if (!k->metrics[i].wanted || k->metrics[i].cells <= most)
			continue;
		most = k->metrics[i].cells;
		best = i;
	}
	return best;
}

static int find(struct finder *k, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *name = fz_fleet_query_name(k->q);
	struct fz_fleet_series_list *l = &k->found;
	uint32_t kept = 0;
	int r = find_all(k, err);

	if (r)
		return r;
	if (!k->any)
		return fail_missing(k->f, k->q, err);
	if (l->n == 0)
		return fz_fail(err, FZ_EINPUT, "%s: has no profiles with these labels in that time",
			       name);
	uint32_t metric = choose(k);
	if (metric == FZ_NONE)
		return fail_metric(k, name, err);
	for (uint32_t i = 0; i < l->n; i++)
		if (l->list[i].metric == metric)
			l->list[kept++] = l->list[i];
	l->n = kept;
	return 0;
}

int fz_fleet_series(struct fz_fleet *f, const struct fz_fleet_query *q, struct fz_arena *texts,
		    struct fz_fleet_series_list *ret, struct fz_error *err)
{
	struct finder k = { .f = f, .q = q, .texts = texts };
	int r = f->reading ? 0 : fz_sql_run(&f->sql, FZ_SQL_BEGIN_READING, err);

	if (r)
		return r;
	f->reading = true;
	r = find(&k, err);
	fz_map_release(&k.version_map);
	free(k.metrics);
	if (r)
		fz_fleet_series_release(&k.found);
	else
		*ret = k.found;
	return r;
}

void fz_fleet_series_release(struct fz_fleet_series_list *s)
{
	free(s->list);
	free(s->versions);
	*s = (struct fz_fleet_series_list){ 0 };
}
