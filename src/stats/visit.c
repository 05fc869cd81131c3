/* SPDX-License-Identifier: MIT */
/* Counting visits, and finding samples that repeat others. */
#include "visit.h"

static void settle(struct fz_visits *v)
{
	uint64_t length = v->end - v->start;

	if (length == 0)
		return;
	v->samples += length;
	v->squares += (double)length * (double)length;
	v->longest = FZ_MAX(v->longest, length);
	v->visits++;
}

void fz_visits_enter(struct fz_visits *v, uint64_t at)
{
	if (v->depth++ > 0)
		return;
	fz_assert(at >= v->end);
	if (at == v->end)
		return; /* the visit continues */
	settle(v);
	v->start = v->end = at;
}

void fz_visits_leave(struct fz_visits *v, uint64_t at)
{
	fz_assert(v->depth > 0 && at >= v->end);
	if (--v->depth == 0)
		v->end = at;
}

struct fz_visit_sum fz_visits_sum(const struct fz_visits *v)
{
	struct fz_visits all = *v;

	fz_assert(v->depth == 0);
	settle(&all);
	double k = (double)all.samples, m = all.visits;
	return (struct fz_visit_sum){
		.samples = k,
		.visits = m,
		.square = m > 1 ? m / (m - 1) * FZ_MAX(0, all.squares - k * k / m) : 0,
		.longest = (double)all.longest,
	};
}

size_t fz_visit_find_bursts(const int64_t *time, size_t n, int64_t interval, bool *ret_burst)
{
	size_t bursts = 0;

	for (size_t i = 0; i < n; i++) {
		if (i > 0 && time[i] == time[i - 1])
			ret_burst[i] = ret_burst[i - 1];
		else
			ret_burst[i] = i > 0 && time[i] - time[i - 1] < interval / 10;
		bursts += ret_burst[i];
	}
	return bursts;
}
