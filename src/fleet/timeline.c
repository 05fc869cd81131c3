/* SPDX-License-Identifier: MIT */
/* A service over time.
 *
 *   series -> first and last minute -> length of a bucket -> sums of each series by bucket
 *
 * The engine adds up cells, so memory here is bounded by the size of the result, not by the number
 * of cells.
 */
#include "fleet/engine.h"
#include "fleet/series.h"

struct summer {
	struct fz_fleet *f;
	const struct fz_fleet_query *q;
	struct fz_fleet_timeline *t;
	struct fz_fleet_series_list series;
	uint32_t *band; /* of each version */
	/* of each band and bucket */
	struct sums {
		int64_t cpu_ns, samples, cells;
	} * sums;
	int64_t cpu_ns; /* of all */
	bool overflow;
};

/* Choose a length of buckets that people are used to, or as many days as necessary. */
static int64_t bucket_minutes(int64_t span)
{
	static const int64_t lengths[] = { 1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440 };
	int64_t days = 1;

	/* One more, because the first one begins at a multiple. */
	for (size_t i = 0; i < FZ_ARRAY_LEN(lengths); i++)
		if (span / lengths[i] + 2 <= FZ_FLEET_BUCKETS)
			return lengths[i];
	while (span / (1440 * days) + 2 > FZ_FLEET_BUCKETS)
		days *= 2;
	return 1440 * days;
}

static void cut_time(struct summer *k)
{
	const struct fz_fleet_series *list = k->series.list;
	struct fz_fleet_timeline *t = k->t;
	int64_t first = INT64_MAX, last = 0;

	for (uint32_t i = 0; i < k->series.n; i++) {
		first = FZ_MIN(first, list[i].first);
		last = FZ_MAX(last, list[i].last);
	}
	t->metric = list[0].kind.metric;
	t->minutes = bucket_minutes(last - first);
	t->first = first - first % t->minutes;
	t->buckets = (uint32_t)((last - t->first) / t->minutes) + 1;
}

/* ---- versions ---- */

static int compare_versions(const void *a, const void *b, void *arg)
{
	const struct fz_fleet_version *versions = arg;
	const struct fz_fleet_version *x = &versions[*(const uint32_t *)a];
	const struct fz_fleet_version *y = &versions[*(const uint32_t *)b];

	return FZ_CMP(x->first, y->first) ?: strcmp(x->name, y->name);
}

/* Indices of the versions with cells in the query's time, in order. */
static uint32_t *sort_versions(const struct summer *k, uint32_t *ret_n)
{
	uint32_t *order = fz_calloc(FZ_MAX(k->series.version_n, 1), sizeof(*order)), n = 0;
	fz_auto(fz_free_ptr) bool *is_there = fz_calloc(FZ_MAX(k->series.version_n, 1), 1);

	for (uint32_t i = 0; i < k->series.n; i++)
		is_there[k->series.list[i].version] = true;
	for (uint32_t v = 0; v < k->series.version_n; v++)
		if (is_there[v])
			order[n++] = v;
	qsort_r(order, n, sizeof(*order), compare_versions, k->series.versions);
	*ret_n = n;
	return order;
}

static void make_bands(struct summer *k)
{
	struct fz_fleet_timeline *t = k->t;
	uint32_t n;
	fz_auto(fz_free_ptr) uint32_t *order = sort_versions(k, &n);
	uint32_t own = FZ_MIN(n, FZ_FLEET_BANDS);

	k->band = fz_calloc(FZ_MAX(k->series.version_n, 1), sizeof(*k->band));
	t->older = n - own;
	t->band_n = own + (t->older > 0);
	t->bands = fz_calloc(FZ_MAX(t->band_n, 1), sizeof(*t->bands));
	for (uint32_t i = 0; i < n; i++) {
		const struct fz_fleet_version *v = &k->series.versions[order[i]];
		bool is_own = i >= t->older;
		uint32_t band = is_own ? i - t->older + (t->older > 0) : 0;

		k->band[order[i]] = band;
		if (is_own || i == 0)
			t->bands[band] =
				(struct fz_fleet_band){ is_own ? v->name : NULL, v->first };
	}
}

/* ---- sums ---- */

static void add(struct summer *k, int64_t *sum, int64_t more)
{
	k->overflow |= __builtin_add_overflow(*sum, more, sum);
}

static void add_sum(void *arg, const struct fz_fleet_sum_row *row)
{
	struct summer *k = arg;

	/* The row may be of minutes stored after the query for series. */
	if (row->bucket < 0 || row->bucket >= k->t->buckets)
		return;
	uint32_t band = k->band[k->series.list[row->series].version];
	struct sums *sums = &k->sums[(size_t)band * k->t->buckets + (size_t)row->bucket];

	add(k, &sums->cpu_ns, row->cpu_ns);
	add(k, &sums->samples, row->samples);
	add(k, &sums->cells, row->cells);
	add(k, &k->cpu_ns, row->cpu_ns);
}

/* Use CPU time if any was measured, else samples. */
static void read_costs(struct summer *k)
{
	struct fz_fleet_timeline *t = k->t;
	size_t n = (size_t)t->band_n * t->buckets;

	t->by_cpu = k->cpu_ns > 0;
	t->amounts = fz_calloc(FZ_MAX(n, 1), sizeof(*t->amounts));
	for (size_t i = 0; i < n; i++)
		t->amounts[i] = (struct fz_fleet_amount){ t->by_cpu ? k->sums[i].cpu_ns
								    : k->sums[i].samples,
							  k->sums[i].cells };
}

static int sum_up(struct summer *k, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *name = fz_fleet_query_name(k->q);
	fz_auto(fz_free_ptr) int64_t *ids = fz_calloc(k->series.n, sizeof(*ids));

	cut_time(k);
	make_bands(k);
	k->sums = fz_calloc(FZ_MAX((size_t)k->t->band_n * k->t->buckets, 1), sizeof(*k->sums));
	for (uint32_t i = 0; i < k->series.n; i++)
		ids[i] = k->series.list[i].id;
	int r = k->f->engine->sums(k->f, k->q, ids, k->series.n, k->t->first, k->t->minutes,
				   add_sum, k, err);
	if (!r && k->overflow)
		r = fz_fail(err, FZ_ELIMIT,
			    "%s: sums are larger than 63 bits; query a shorter time", name);
	if (!r)
		read_costs(k);
	free(k->sums);
	free(k->band);
	return r;
}

int fz_fleet_timeline(struct fz_fleet *f, const struct fz_fleet_query *q,
		      struct fz_fleet_timeline *ret, struct fz_error *err)
{
	struct fz_fleet_query of = *q;
	struct fz_fleet_timeline t = { 0 };
	struct summer k = { .f = f, .q = &of, .t = &t };

	of.version = NULL;
	int r = fz_fleet_series(f, &of, &t.arena, &k.series, err);
	if (!r)
		r = sum_up(&k, err);
	fz_fleet_series_release(&k.series);
	if (r)
		fz_fleet_timeline_release(&t);
	else
		*ret = t;
	return r;
}

void fz_fleet_timeline_release(struct fz_fleet_timeline *t)
{
	free(t->bands);
	free(t->amounts);
	fz_arena_release(&t->arena);
	*t = (struct fz_fleet_timeline){ 0 };
}
