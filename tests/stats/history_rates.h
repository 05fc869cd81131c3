/* SPDX-License-Identifier: MIT */
/* How often change points are found in made-up histories (noise.h). */
#pragma once

#include "base/base.h"
#include "noise.h"
#include "stats/changepoint.h"

struct rate {
	double found; /* the part of the series in which there is a point: within 3 commits of the
		       * step if there is one, anywhere if there is none */
	double off;   /* commits from it, on average */
};

static inline struct rate history_rate(const struct noise *noise, size_t n, size_t at, double step,
				       int rounds)
{
	fz_auto(fz_free_ptr) double *series = fz_reallocarray(NULL, n, sizeof(*series));
	struct chance chance = { 1 };
	struct rate rate = { 0 };

	for (int round = 0; round < rounds; round++) {
		fz_auto(fz_free_ptr) struct fz_changepoint *points = NULL;
		double nearest = INFINITY;

		make_history(&chance, noise, n, at, step, series);
		size_t count = fz_changepoint_find(series, n, &fz_changepoint_defaults, &points);
		for (size_t i = 0; i < count; i++)
			nearest = FZ_MIN(nearest, fabs((double)points[i].at - (double)at));
		if (at ? nearest > 3 : !count)
			continue;
		rate.found += 1.0 / rounds;
		rate.off += at ? nearest : 0;
	}
	rate.off /= FZ_MAX(1, rate.found * rounds);
	return rate;
}
