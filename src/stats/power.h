/* SPDX-License-Identifier: MIT */
/* The smallest change of a function of a given size that a comparison detects four times out of
 * five, and the number of runs needed to detect a smaller one.
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
	double alpha;   /* p below which it is reported as changed */
	double sides;   /* relative standard deviation between the sides, however many runs */
};

/* alpha of a single test, and of a test in a family, where Benjamini-Hochberg requires about this
 * p. */
#define FZ_POWER_ALPHA_ONE 0.05
#define FZ_POWER_ALPHA_FAMILY 0.001

/* Smallest detectable relative change: 0.1 is 10 %. */
double fz_power_smallest_change(const struct fz_power *power, size_t base_runs, size_t head_runs);

/* Runs per side needed to detect `change` (relative, > 0), at least 1. A double, because it may be
 * huge; INFINITY if no number of runs is enough. */
double fz_power_runs_needed(const struct fz_power *power, double change);
