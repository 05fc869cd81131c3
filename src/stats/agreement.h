/* SPDX-License-Identifier: MIT */
/* The scale that functions agree on: where only shares are known, how many samples of the head
 * stand against one of the base in a function that did not change.
 *
 * To make both totals equal would charge one function's change to all others. Here each function of
 * some size has one vote, and those that changed are outvoted, whatever their weight:
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
	double scale; /* head samples for a sample of the base; 0: nothing to tell it from */
	double error; /* standard deviation of its logarithm */
	bool agreed;  /* one scale explains the functions much better than any other; otherwise
			 `error` reaches over all that are possible */
};

struct fz_agreement_setup {
	double usual; /* the scale of equal rates and whole runs, which is likely; 0: there is none
		       */
	double runs[2]; /* of base and head: by so much less their sums differ */
};

/* base[i] and head[i] are self samples of the same function. Swapping the sides (and inverting
 * `usual`) inverts the scale. */
struct fz_agreement fz_agreement_of(const struct fz_agreement_setup *setup, const double *base,
				    const double *head, size_t n);
