/* SPDX-License-Identifier: MIT */
/* What all functions of a comparison have in common: the drift of the machine between the sides.
 *
 * A machine that was busier makes every function cost more by about the same factor; a program
 * that became slower in one function does not. How large the drift may be is known before: it is
 * the prior, a few percent where the machine's speed was measured, more where it was not. The
 * functions update it:
 *
 *     prior         Student's curve around 0, cut off at its far ends
 *     a function    is unchanged, and then its log ratio lies around the drift as closely as its
 *                   own noise lets it, or is changed, and then says next to nothing
 *     posterior     prior times what each function says: mean and variance
 *
 * So a function that stands still is evidence against drift, however much another one changed, and
 * no function pulls the drift far, for beyond its noise it is taken for changed.
 *
 * When all changed by the same factor nobody can tell a slower program from a slower machine. Any
 * part of it may be the machine's, as far as the prior says that machines go, which may as well
 * have become faster:
 *
 *     functions at   0  | 0.1 ...             all at 0.2
 *     drift          [0]                      [-0.1 ........ 0.2]          prior +-0.1
 *
 * What is told of a function or a run must hold for every drift in that range.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One function: the logarithm of head / base, by what is expected if nothing changed. */
struct fz_drift_witness {
	double log_ratio;
	double variance; /* of its own: sampling, and noise that others do not share */
	double cost;     /* how much of the run it is, in any unit */
};

struct fz_drift_prior {
	bool relative;    /* only what functions do against each other counts, whoever did the rest
			   */
	double deviation; /* of the logarithm of the drift, above 0 */
	double freedom;   /* degrees of freedom of that deviation, above 0 */
};

struct fz_drift_belief {
	double low, high; /* the range of the logarithm of the drift */
	double variance;  /* of each end */
	double freedom;   /* the prior's */
};

enum {
	FZ_DRIFT_LARGEST = 48, /* witnesses that are kept one by one */
	FZ_DRIFT_GRID = 121,
};

struct fz_drift {
	double value[FZ_DRIFT_GRID]; /* of the log drift */
	double sum[FZ_DRIFT_GRID];   /* log densities, up to a constant: prior and all witnesses */
	double said[FZ_DRIFT_LARGEST][FZ_DRIFT_GRID];
	double cost[FZ_DRIFT_LARGEST];
	size_t index[FZ_DRIFT_LARGEST]; /* of the witness in what was given */
	size_t n;                       /* of the largest */
	struct fz_drift_prior of;       /* the prior */
};

void fz_drift_init(struct fz_drift *d, const struct fz_drift_prior *prior,
		   const struct fz_drift_witness *witnesses, size_t n);

/* The drift as seen by others than a part of the run that costs `cost`. Bit i of `inside` is set
 * when the i-th largest witness is in that part: what it says counts the less, the more of the part
 * it is. `own` is the part itself when it is a witness, but none of the largest, else NULL. */
struct fz_drift_belief fz_drift_seen_by_others(const struct fz_drift *d, double cost,
					       uint64_t inside, const struct fz_drift_witness *own);
