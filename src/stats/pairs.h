/* SPDX-License-Identifier: MIT */
/* Two programs timed in turn: by which factor the second is slower than the first.
 *
 * Each pair gives a ratio that neither a slow machine nor a busy one changes much, for it meets
 * both alike. The interval is that of the median ratio by the sign test: it needs no assumption
 * about how times scatter. Who looks after each few pairs whether they decide looks several times,
 * so each look must be surer than 95 %.
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

/* first[i], second[i] > 0. looks: how often the caller may ask in all. margin: what counts as no
 * change, 0.02 is 2 %. */
struct fz_pairs fz_pairs_test(const double *first, const double *second, unsigned n, unsigned looks,
			      double margin);
