/* SPDX-License-Identifier: MIT */
/* Estimates how much slower the second of two programs is than the first, when both are timed
 * alternately.
 *
 * A slow or busy machine affects both programs of a pair alike and hardly changes their ratio. The
 * interval of the median ratio is that of the sign test, which assumes nothing about the
 * distribution of times. A caller that tests repeatedly as pairs arrive needs more than 95 %
 * confidence each time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct fz_pairs {
	unsigned n;
	double change;    /* median of second / first, less 1 */
	double low, high; /* its interval; NaN with too few pairs */
	bool decided;     /* all of it is on one side of 0, or within the margin around it */
};

enum { FZ_PAIRS_MIN = 8 };

/* first[i], second[i] > 0. looks: how often the caller may test in all. margin: largest ratio less
 * 1 that counts as no change; 0.02 is 2 %. */
struct fz_pairs fz_pairs_test(const double *first, const double *second, unsigned n, unsigned looks,
			      double margin);
