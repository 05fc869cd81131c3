/* SPDX-License-Identifier: MIT */
/* A series as a sum of steps and of noise that remembers, the most likely of a table (arma.h); and
 * which further steps would make it most likely. */
#pragma once

#include "arma.h"

#include <stdbool.h>

enum {
	FZ_REGRESS_MAX = FZ_ARMA_MAX, /* values of a series */
	FZ_REGRESS_STEPS = 24,        /* and steps in it */
	FZ_LEVEL_MIN = 6,             /* values of a level between two of them */
	FZ_END_MIN = 3,               /* of the first and of the last */
};

/* Steps, by position: the first value of the new level. */
struct fz_breaks {
	size_t at[FZ_REGRESS_STEPS];
	size_t n;
};

void fz_breaks_add(struct fz_breaks *b, size_t at);
/* Whether a step at that place leaves all levels of n values long enough. */
bool fz_breaks_fit(const struct fz_breaks *b, size_t n, size_t at);

/* A further step, or two of them (there and back again). Cost: INFINITY when there is no room. */
struct fz_extension {
	double cost;
	size_t at[2];
};

/* -2 log likelihood of y[0..n), but for a constant; floor is the least variance of the noise.
 * ret, unless NULL, is what one and what two further steps would make of it at best. */
double fz_regress(const double *y, size_t n, const struct fz_breaks *breaks, double floor,
		  struct fz_extension ret[2]);
