/* SPDX-License-Identifier: MIT */
/* Exposure ratios. The reference modes take medians of logarithms or of values whose weighted
 * median commutes with inversion up to the mean of two neighbours; that mean is geometric, so
 * that swapping the sides inverts rho exactly. */
#include "exposure.h"

#include <math.h>

#include "base/base.h"
#include "order.h"

enum { MIN_SAMPLES = 10 }; /* of a function that serves as a reference */

static double ratio(double above, double below)
{
	return above > 0 && below > 0 ? above / below : 0;
}

double fz_exposure_time(double base_interval, double head_interval)
{
	return ratio(base_interval, head_interval);
}

double fz_exposure_share(double base_samples, double head_samples)
{
	return ratio(head_samples, base_samples);
}

double fz_exposure_unit(double base_units, double base_interval, double head_units,
			double head_interval)
{
	return ratio(head_units * base_interval, base_units * head_interval);
}

double fz_exposure_reference(const double *base, const double *head, size_t n)
{
	fz_auto(fz_free_ptr) struct fz_weighted *logs =
		fz_reallocarray(NULL, FZ_MAX(n, 1), sizeof(*logs));
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		if (base[i] < MIN_SAMPLES || head[i] < MIN_SAMPLES)
			continue;
		logs[used++] = (struct fz_weighted){ .value = log(head[i] / base[i]),
						     .weight = sqrt(base[i] * head[i]) };
	}
	return used ? exp(fz_weighted_median(logs, used)) : 0;
}

static bool in_every_run(const double *counts, size_t runs)
{
	for (size_t r = 0; r < runs; r++)
		if (counts[r] < MIN_SAMPLES)
			return false;
	return true;
}

/* Of the functions used, log(count / geometric mean over runs) in run r. */
static double run_offset(const double *counts, const size_t *used, size_t n, size_t runs, size_t r,
			 double *scratch)
{
	for (size_t i = 0; i < n; i++) {
		const double *row = counts + used[i] * runs;
		double sum = 0;

		for (size_t k = 0; k < runs; k++)
			sum += log(row[k]);
		scratch[i] = log(row[r]) - sum / (double)runs;
	}
	return fz_median(scratch, n);
}

size_t fz_exposure_runs(const double *counts, size_t functions, size_t runs, double *ret_exposure)
{
	size_t room = FZ_MAX(functions, 1);
	fz_auto(fz_free_ptr) size_t *used = fz_reallocarray(NULL, room, sizeof(*used));
	fz_auto(fz_free_ptr) double *scratch = fz_reallocarray(NULL, room, sizeof(*scratch));
	size_t n = 0;
	double sum = 0;

	for (size_t i = 0; i < functions; i++)
		if (in_every_run(counts + i * runs, runs))
			used[n++] = i;
	if (n == 0)
		return 0;
	for (size_t r = 0; r < runs; r++) {
		ret_exposure[r] = exp(run_offset(counts, used, n, runs, r, scratch));
		sum += ret_exposure[r];
	}
	for (size_t r = 0; r < runs; r++)
		ret_exposure[r] *= (double)runs / sum;
	return n;
}
