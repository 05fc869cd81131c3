/* SPDX-License-Identifier: MIT */
/* What a comparison could have seen: the smallest change of a function of a given size that is
 * found four times out of five, and how many runs it takes to see a smaller one.
 *
 * "No change found" means little without it, so every report prints it.
 */
#pragma once

#include <stddef.h>

struct fz_power {
	double samples; /* of one run */
	double share;   /* of the function in the run; 1: the run itself */
	double phi;     /* dispersion of counts; 1 is Poisson's */
	double kappa;   /* relative standard deviation from run to run */
	double alpha;   /* p below which it is called changed */
};

/* One test alone, and one among a family after Benjamini-Hochberg, where p must be about this
 * small. */
#define FZ_POWER_ALPHA_ONE 0.05
#define FZ_POWER_ALPHA_FAMILY 0.001

/* Smallest visible relative change: 0.1 is 10 %. */
double fz_power_smallest_change(const struct fz_power *power, size_t base_runs, size_t head_runs);

/* Runs a side that it takes to see `change` (relative, > 0), at least 1. May be huge: a double. */
double fz_power_runs_needed(const struct fz_power *power, double change);
