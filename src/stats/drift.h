/* SPDX-License-Identifier: MIT */
/* The drift of the machine between the sides, which all functions of a comparison share.
 *
 * A busier machine makes every function cost more by about the same factor; a program that became
 * slower in one function does not. The prior says how large the drift may be: a few percent if the
 * machine's speed was measured, otherwise more. The functions update it:
 *
 *     prior         Student's t around 0, truncated at the far ends
 *     a function    either is unchanged, so its log ratio is the drift plus its own noise, or
 *                   changed, and then it has hardly any influence
 *     posterior     prior times the likelihood of each function: mean and variance
 *
 * So an unchanged function is evidence against drift, however much another one changed. No function
 * shifts the drift far, because beyond its noise it counts as changed.
 *
 * If all functions changed by the same factor, a slower program looks like a slower machine. Any
 * part of the change may be the machine's, within the prior, and the machine may even have become
 * faster:
 *
 *     functions at   0  | 0.1 ...             all at 0.2
 *     drift          [0]                      [-0.1 ........ 0.2]          prior +-0.1
 *
 * A verdict on a function or a run must hold for every drift in that range.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One function. log_ratio: logarithm of head / base over the ratio expected if nothing changed. */
struct fz_drift_witness {
	double log_ratio;
	double variance; /* own variance: sampling, and noise that others do not share */
	double cost;     /* in any unit, the same for all */
};

struct fz_drift_prior {
	bool relative;    /* only changes relative to other functions count */
	double deviation; /* of the logarithm of the drift, above 0 */
	double freedom;   /* degrees of freedom of that deviation, above 0 */
};

struct fz_drift_belief {
	double low, high; /* range of the logarithm of the drift */
	double variance;  /* of each end */
	double freedom;   /* the prior's */
};

enum {
	FZ_DRIFT_LARGEST = 48, /* witnesses whose evidence is stored one by one */
	FZ_DRIFT_GRID = 121,
};

struct fz_drift {
	double value[FZ_DRIFT_GRID]; /* log drift */
	double sum[FZ_DRIFT_GRID];   /* log densities, up to a constant: prior and all witnesses */
	double evidence[FZ_DRIFT_LARGEST][FZ_DRIFT_GRID];
	double cost[FZ_DRIFT_LARGEST];
	size_t index[FZ_DRIFT_LARGEST]; /* index among all witnesses */
	size_t n;                       /* number of the largest */
	struct fz_drift_prior of;       /* the prior */
};

void fz_drift_init(struct fz_drift *d, const struct fz_drift_prior *prior,
		   const struct fz_drift_witness *witnesses, size_t n);

/* Returns the drift without the evidence of one part of the run, which costs `cost`. Bit i of
 * `inside` is set if the i-th largest witness is in that part; a witness counts less the larger its
 * share of the part is. `own` is the part itself if it is a witness but not among the largest, else
 * NULL. */
struct fz_drift_belief fz_drift_without(const struct fz_drift *d, double cost, uint64_t inside,
					const struct fz_drift_witness *own);
