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

static int take_cell(void *arg, const struct fz_fleet_cell_row *row)
{
	struct finder *k = arg;
	struct fz_fleet_found *found = k->found;

	fz_grow(found->cells, found->cell_n, found->cell_cap);
	found->cells[found->cell_n++] = (struct fz_fleet_cell){
		.kind = row->series,
		.host = fz_texts_place(&k->hosts, &found->arena, row->host),
		.minute = row->minute,
		.exposure = row->exposure,
		.key = row->key,
	};
	if (found->cell_n < CELLS_MAX)
		return 0;
	fz_auto(fz_free_ptr) char *name = fz_fleet_query_name(k->q);
	return fz_fail(k->err, FZ_ELIMIT,
		       "%s: more than %d cells of a host and minute; query a shorter time "
		       "(--since, --until)",
		       name, CELLS_MAX);
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

static int find(struct fz_fleet *f, struct finder *k)
{
	fz_auto(fz_fleet_series_release) struct fz_fleet_series_list series = { 0 };
	struct fz_fleet_found *found = k->found;
	int r = fz_fleet_series(f, k->q, &found->arena, &series, k->err);

	if (r)
		return r;
	fz_auto(fz_free_ptr) int64_t *ids = fz_calloc(series.n, sizeof(*ids));
	found->kinds = fz_calloc(series.n, sizeof(*found->kinds));
	found->kind_n = found->kind_cap = series.n;
	for (uint32_t i = 0; i < series.n; i++) {
		ids[i] = series.list[i].id;
		found->kinds[i] = series.list[i].kind;
	}
	r = f->engine->cells(f, k->q, ids, series.n, take_cell, k, k->err);
	found->hosts = k->hosts.list;
	found->host_n = k->hosts.n;
	found->host_cap = k->hosts.cap;
	k->hosts.list = NULL;
	if (!r && found->cell_n)
		qsort_r(found->cells, found->cell_n, sizeof(*found->cells), compare_cells,
			found->hosts);
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
