/* SPDX-License-Identifier: MIT */
/* How much costs vary between runs of one side, by what all functions show together.
 *
 * A few runs say little of one function: three a side have four degrees of freedom. But a program
 * has tens or hundreds of functions, and what makes their costs vary is of two kinds, which all
 * share (the trend of edgeR's quasi-likelihood test, Lund et al. 2012):
 *
 *     squares_i  ~  dispersion sampling_i + own^2 freedom_i
 *
 *     sampling   what chance makes of a function's samples, by its visits (visit.h) or, without
 * their order, as if each was drawn by itself dispersion by how many times more: samples come in
 * clumps, work is never quite the same own        relative noise, which no number of samples
 * removes
 *
 * Each function is then shrunk towards that, the less the more functions differ in it (`freedom`).
 */
#pragma once

#include <stddef.h>

/* One function: squares of its log costs about the mean of their side, of all runs. */
struct fz_pool_item {
	double squares, sampling, freedom;
};

struct fz_pool {
	double dispersion; /* at least 1 */
	double own;        /* a deviation, at least FZ_POOL_LEAST_OWN */
	double freedom;    /* that this is worth for each function, in degrees */
};

#define FZ_POOL_LEAST_OWN 0.01

/* prior: what is known beforehand and how well; the fewer functions there are, the more it counts.
 */
struct fz_pool fz_pool_fit(const struct fz_pool_item *items, size_t n, const struct fz_pool *prior);
