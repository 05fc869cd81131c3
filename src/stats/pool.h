/* SPDX-License-Identifier: MIT */
/* Estimates how much costs vary between runs of one side, from all functions together.
 *
 * A few runs say little about one function: three per side have four degrees of freedom. But a
 * program has tens or hundreds of functions, and their costs vary for two reasons that all share
 * (the trend of edgeR's quasi-likelihood test, Lund et al. 2012):
 *
 *     squares_i  ~  dispersion sampling_i + own^2 freedom_i
 *
 *     sampling   variance by sampling, from visits (visit.h) or, without their order, as if
 *                samples were independent
 *     dispersion factor on it: samples come in clumps, and work varies
 *     own        relative noise, which no number of samples removes
 *
 * The variance of each function is then shrunk towards this fit, less so if functions differ much
 * (`freedom`).
 */
#pragma once

#include <stddef.h>

/* One function: sum of squares of its log costs around the mean of their side, over all runs. */
struct fz_pool_item {
	double squares, sampling, freedom;
};

struct fz_pool {
	double dispersion; /* at least 1 */
	double own;        /* a deviation, at least FZ_POOL_LEAST_OWN */
	double freedom;    /* degrees of freedom of this as a prior of each function */
};

#define FZ_POOL_LEAST_OWN 0.01

/* Fits dispersion and own noise. The prior counts more the fewer functions there are. */
struct fz_pool fz_pool_fit(const struct fz_pool_item *items, size_t n, const struct fz_pool *prior);
