/* SPDX-License-Identifier: MIT */
/* Finds the cells of a query.
 *
 *   labels, metric -> series -> their cells in that time, by host and minute
 */
#include "fleet/engine.h"
#include "fleet/series.h"
#include "fleet/texts.h"

enum { CELLS_MAX = 4 << 20 };

struct finder {
	const struct fz_fleet_query *q;
	struct fz_fleet_found *found;
	struct fz_texts hosts;
	struct fz_error *err;
};

static int add_cell(void *arg, const struct fz_fleet_cell_row *row)
{
	struct finder *k = arg;
	struct fz_fleet_found *found = k->found;

	fz_push(found->cells, found->cell_n, found->cell_cap,
		(struct fz_fleet_cell){
			.kind = row->series,
			.host = fz_texts_place(&k->hosts, &found->arena, row->host),
			.minute = row->minute,
			.exposure = row->exposure,
			.key = row->key,
			.group = row->group,
			.by_hour = row->by_hour,
			.minutes = row->minutes,
		});
	if (found->cell_n < CELLS_MAX)
		return 0;
	fz_auto(fz_free_ptr) char *name = fz_fleet_query_name(k->q);
	return fz_fail(k->err, FZ_ELIMIT,
		       "%s: more than %d cells of a host and minute; query a shorter time "
		       "(--since, --until)",
		       name, CELLS_MAX);
}

static int compare_cells(const void *a, const void *b)
{
	const struct fz_fleet_cell *x = a, *y = b;

	return FZ_CMP(x->minute, y->minute) ?: FZ_CMP(x->key, y->key);
}

static int compare_names(const void *a, const void *b, void *arg)
{
	char *const *hosts = arg;

	return strcmp(hosts[*(const uint32_t *)a], hosts[*(const uint32_t *)b]);
}

/* Sort cells by host name, minute and key. Names are compared once per host, not for each of its
 * many cells. The cells of a host are mostly in order already. */
static void sort_cells(struct fz_fleet_found *found)
{
	fz_auto(fz_free_ptr) uint32_t *order = fz_calloc(found->host_n, sizeof(*order));
	fz_auto(fz_free_ptr) uint32_t *from = fz_calloc((size_t)found->host_n + 1, sizeof(*from));
	struct fz_fleet_cell *sorted = fz_calloc(found->cell_n, sizeof(*sorted));
	uint32_t n = 0;

	for (uint32_t i = 0; i < found->host_n; i++)
		order[i] = i;
	qsort_r(order, found->host_n, sizeof(*order), compare_names, found->hosts);
	for (uint32_t i = 0; i < found->cell_n; i++)
		from[found->cells[i].host]++;
	for (uint32_t i = 0; i < found->host_n; i++) {
		uint32_t cells = from[order[i]];

		from[order[i]] = n;
		n += cells;
	}
	for (uint32_t i = 0; i < found->cell_n; i++)
		sorted[from[found->cells[i].host]++] = found->cells[i];
	for (uint32_t i = 0, until; i < found->cell_n; i = until) {
		bool in_order = true;

		for (until = i + 1; until < found->cell_n && sorted[until].host == sorted[i].host;
		     until++)
			in_order &= compare_cells(&sorted[until - 1], &sorted[until]) <= 0;
		if (!in_order)
			qsort(&sorted[i], until - i, sizeof(*sorted), compare_cells);
	}
	free(found->cells);
	found->cells = sorted;
	found->cell_cap = found->cell_n;
}

static int64_t *ids_of(const struct fz_fleet_series_list *series)
{
	int64_t *ids = fz_calloc(series->n, sizeof(*ids));

	for (uint32_t i = 0; i < series->n; i++)
		ids[i] = series->list[i].id;
	return ids;
}

static int find(struct fz_fleet *f, struct finder *k)
{
	fz_auto(fz_fleet_series_release) struct fz_fleet_series_list series = { 0 };
	struct fz_fleet_found *found = k->found;
	int r = fz_fleet_series(f, k->q, &found->arena, &series, k->err);

	if (r)
		return r;
	fz_auto(fz_free_ptr) int64_t *ids = ids_of(&series);
	found->kinds = fz_calloc(series.n, sizeof(*found->kinds));
	found->kind_n = series.n;
	for (uint32_t i = 0; i < series.n; i++)
		found->kinds[i] = series.list[i].kind;
	r = f->engine->cells(f, k->q, ids, series.n, add_cell, k, k->err);
	found->hosts = k->hosts.list;
	found->host_n = k->hosts.n;
	k->hosts.list = NULL;
	if (!r && found->cell_n)
		sort_cells(found);
	return r;
}

int fz_fleet_find(struct fz_fleet *f, const struct fz_fleet_query *q, struct fz_fleet_found *ret,
		  struct fz_error *err)
{
	struct fz_fleet_found found = { 0 };
	struct finder k = { .q = q, .found = &found, .err = err };
	int r = find(f, &k);

	fz_texts_release(&k.hosts);
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

/* ---- first minutes of hosts ---- */

static void add_start(void *arg, struct fz_str host, int64_t minute)
{
	struct fz_fleet_starts *k = arg;
	uint32_t place = fz_texts_place(&k->hosts, &k->arena, host);

	if (place == k->n)
		fz_push(k->minutes, k->n, k->cap, minute);
	k->minutes[place] = FZ_MIN(k->minutes[place], minute);
}

int fz_fleet_find_starts(struct fz_fleet *f, const struct fz_fleet_query *q,
			 struct fz_fleet_starts *ret, struct fz_error *err)
{
	fz_auto(fz_fleet_series_release) struct fz_fleet_series_list series = { 0 };
	struct fz_fleet_starts starts = { 0 };
	int r = fz_fleet_series(f, q, &starts.arena, &series, err);

	if (!r) {
		fz_auto(fz_free_ptr) int64_t *ids = ids_of(&series);

		r = f->engine->starts(f, q, ids, series.n, add_start, &starts, err);
	}
	if (r)
		fz_fleet_starts_release(&starts);
	else
		*ret = starts;
	return r;
}

void fz_fleet_starts_release(struct fz_fleet_starts *s)
{
	fz_texts_release(&s->hosts);
	free(s->minutes);
	fz_arena_release(&s->arena);
	*s = (struct fz_fleet_starts){ 0 };
}
