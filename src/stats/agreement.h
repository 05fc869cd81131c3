/* SPDX-License-Identifier: MIT */
/* The scale that functions agree on: the number of head samples per base sample in a function that
 * did not change, for profiles of which only shares are known.
 *
 * Scaling both totals to be equal would charge one function's change to all others. Instead each
 * sizable function has one vote, and functions that changed are outvoted whatever their weight:
 *
 *     parse  1000 -> 3000        ln 3.00
 *     load   1000 -> 1020        ln 1.02  \
 *     save    400 ->  392        ln 0.98   > agree: 1.0
 *     log     200 ->  207        ln 1.04  /
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct fz_agreement {
	double scale; /* head samples per base sample; 0: unknown */
	double error; /* standard deviation of its logarithm */
	bool agreed;  /* one scale explains the functions much better than any other; otherwise
			 `error` covers all possible scales */
};

struct fz_agreement_setup {
	double usual;   /* the likely scale, from equal rates and whole runs; 0: none */
	double runs[2]; /* number of runs of base and head; sums of more runs vary less */
};

/* base[i] and head[i] are self samples of the same function. Swapping the sides (and inverting
 * `usual`) inverts the scale. */
struct fz_agreement fz_agreement_of(const struct fz_agreement_setup *setup, const double *base,
				    const double *head, size_t n);
