/* SPDX-License-Identifier: MIT */
/* Finds the series of a query; see series.h. */
#include "fleet/series.h"

#include "fleet/engine.h"
#include "fleet/texts.h"

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
	struct fz_texts versions;
	struct metric *metrics;
	uint32_t metric_n, metric_cap;
	bool any; /* any series of that version, with any labels */
};

char *fz_fleet_query_name(const struct fz_fleet_query *q)
{
	return q->version ? fz_asprintf("%s@%s", q->service, q->version) : fz_strdup(q->service);
}

/* ---- errors ---- */

enum { SHOWN = 5 };

/* "a, b, c" */
struct joined {
	struct fz_buf text;
	int n;
};

static void join(void *arg, struct fz_str name)
{
	struct joined *j = arg;

	if (j->n < SHOWN)
		fz_buf_printf(&j->text, "%s%.*s", j->n ? ", " : "", (int)name.n, name.p);
	else if (j->n == SHOWN)
		fz_buf_str(&j->text, ", ...");
	j->n++;
}

/* Report which name in the query does not exist, and list existing ones. */
static int fail_missing(struct fz_fleet *f, const struct fz_fleet_query *q, struct fz_error *err)
{
	struct joined versions = { 0 }, services = { 0 };
	int r = f->engine->names(f, q->project, q->service, SHOWN + 1, join, &versions, err);

	if (!r && versions.n)
		r = fz_fail(err, FZ_EINPUT, "%s@%s: %s; the latest versions of %s are: %s",
			    q->service, q->version,
			    strstr(q->version, "..")
				    ? "is neither a version nor a time range such as 2h..1h or "
				      "2026-11-23T06:15..2026-11-23T07:00"
				    : "unknown version",
			    q->service, versions.text.p);
	if (!r)
		r = f->engine->names(f, q->project, NULL, SHOWN + 1, join, &services, err);
	if (!r)
		r = fz_fail(err, FZ_EINPUT, "%s: no such service; there %s %s", q->service,
			    services.n ? "are:" : "is", services.n ? services.text.p : "none");
	fz_buf_release(&versions.text);
	fz_buf_release(&services.text);
	return r;
}

static int fail_metric(const struct finder *k, const char *name, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf names = { 0 };

	for (uint32_t i = 0; i < k->metric_n; i++)
		fz_buf_printf(&names, "%s%.*s", names.n ? ", " : "", (int)k->metrics[i].name.n,
			      k->metrics[i].name.p);
	return fz_fail(err, FZ_EUSAGE, "%s: no metric '%s'; available: %s", name,
		       k->q->metric ? k->q->metric : "", names.p);
}

/* ---- rows ---- */

/* Does the set contain all wanted labels? */
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
	uint32_t place = fz_texts_place(&k->versions, k->texts, name);

	if (place == l->version_n) {
		fz_push(l->versions, l->version_n, l->version_cap,
			(struct fz_fleet_version){ k->versions.list[place], INT64_MAX });
	}
	l->versions[place].first = FZ_MIN(l->versions[place].first, first);
	return place;
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

static void add_row(void *arg, const struct fz_fleet_series_row *row)
{
	struct finder *k = arg;
	struct fz_fleet_series_list *l = &k->found;

	k->any = true;
	if (!has_labels(row->labels, k->q->labels))
		return;
	uint32_t version = version_of(k, row->version, row->begun);
	if (row->cells == 0)
		return;
	uint32_t metric = metric_of(k, row->kind.metric, row->kind.unit);
	struct metric *m = &k->metrics[metric];
	fz_grow(l->list, l->n, l->cap);
	struct fz_fleet_series *s = &l->list[l->n++];
	*s = (struct fz_fleet_series){ .id = row->id,
				       .cells = row->cells,
				       .first = row->first,
				       .last = row->last,
				       .version = version,
				       .metric = metric,
				       .kind = row->kind };
	s->kind.metric = m->name;
	s->kind.unit = m->unit;
	s->kind.clock = keep(k, row->kind.clock);
	m->cells += s->cells;
	m->wanted |= k->q->metric ? fz_str_eq(m->name, fz_str_of(k->q->metric)) : s->kind.main;
}

/* ---- one metric ---- */

/* Order of preference: CPU time, time, samples, then the rest. What a program did is preferred to
 * what it holds or waits for, which agents push just as often. */
static size_t rank_of(const struct metric *m)
{
	static const char *const names[] = { "cpu", "wall", "samples" };
	size_t i = 0;

	while (i < FZ_ARRAY_LEN(names) && !fz_str_eq(m->name, fz_str_of(names[i])))
		i++;
	return i;
}

static bool is_better(const struct metric *a, const struct metric *b)
{
	size_t x = rank_of(a), y = rank_of(b);

	return x != y ? x < y : a->cells > b->cells;
}

/* The wanted metric, or the best of the main ones; FZ_NONE if there is none. */
static uint32_t choose(const struct finder *k)
{
	uint32_t best = FZ_NONE;

	for (uint32_t i = 0; i < k->metric_n; i++)
		if (k->metrics[i].wanted &&
		    (best == FZ_NONE || is_better(&k->metrics[i], &k->metrics[best])))
			best = i;
	return best;
}

static int find(struct finder *k, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *name = fz_fleet_query_name(k->q);
	struct fz_fleet_series_list *l = &k->found;
	uint32_t kept = 0;
	int r = k->f->engine->series(k->f, k->q, add_row, k, err);

	if (r)
		return r;
	if (!k->any)
		return fail_missing(k->f, k->q, err);
	if (l->n == 0)
		return fz_fail(err, FZ_EINPUT,
			       "%s: no profiles with these labels in this time range", name);
	uint32_t metric = choose(k);
	if (metric == FZ_NONE)
		return fail_metric(k, name, err);
	for (uint32_t i = 0; i < l->n; i++)
		if (l->list[i].metric == metric)
			l->list[kept++] = l->list[i];
	l->n = kept;
	return 0;
}

/* Missing data may be on a shard that does not respond. */
static int fail_for_missing(struct fz_fleet *f, int result, struct fz_error *err)
{
	const char *missing = fz_fleet_missing(f);

	if (!missing)
		return result;
	fz_auto(fz_free_ptr) char *what = fz_strdup(err->message);
	return fz_fail(err, FZ_EAGAIN, "%s does not respond; the other shards report: %s", missing,
		       what);
}

int fz_fleet_series(struct fz_fleet *f, const struct fz_fleet_query *q, struct fz_arena *texts,
		    struct fz_fleet_series_list *ret, struct fz_error *err)
{
	struct finder k = { .f = f, .q = q, .texts = texts };
	int r = find(&k, err);

	if (r == FZ_EINPUT || r == FZ_EUSAGE)
		r = fail_for_missing(f, r, err);
	fz_texts_release(&k.versions);
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
