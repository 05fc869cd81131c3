/* SPDX-License-Identifier: MIT */
/* Fits a series as steps plus autocorrelated noise, the most likely kind of a table (arma.h), and
 * finds the further steps that would increase the likelihood most. */
#pragma once

#include "arma.h"

#include <stdbool.h>

enum {
	FZ_REGRESS_MAX = FZ_ARMA_MAX, /* values of a series */
	FZ_REGRESS_STEPS = 24,        /* and steps in it */
	FZ_LEVEL_MIN = 6,             /* values of a level between two steps */
	FZ_END_MIN = 3,               /* values of the first level and of the last */
};

/* Steps, by position: the first value of the new level. */
struct fz_breaks {
	size_t at[FZ_REGRESS_STEPS];
	size_t n;
};

void fz_breaks_add(struct fz_breaks *b, size_t at);
/* Whether a step at that place leaves all levels of n values long enough. */
bool fz_breaks_fit(const struct fz_breaks *b, size_t n, size_t at);

/* One or two further steps (there and back). Cost: INFINITY if there is no room. */
struct fz_extension {
	double cost;
	size_t at[2];
};

/* Returns -2 log likelihood of y[0..n) up to a constant; floor is the least variance of the noise.
 * Sets ret, unless NULL, to the best single step and the best pair of steps to add. */
double fz_regress(const double *y, size_t n, const struct fz_breaks *breaks, double floor,
		  struct fz_extension ret[2]);
