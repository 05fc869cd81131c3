/* SPDX-License-Identifier: MIT */
/* What every test of this folder answers, and the three words it is told in.
 *
 *            interval of the change            verdict
 *      ------[====]-----|-----0-----|------    changed    (significant in its family)
 *      -----------------|-[===0=]---|------    unchanged  (all of it within -margin..+margin)
 *      ---------------[=|=====0=====|==]---    unknown    (too little data to say either)
 *                    -margin     +margin
 */
#pragma once

#include <stdbool.h>

/* The outcome of one test, in cost for one unit of exposure of the base side. */
struct fz_change {
	double base, head;        /* estimates */
	double change, low, high; /* head - base with its 95 % interval */
	double statistic;         /* z or t: positive when head costs more; NaN when not tested */
	double p;                 /* two-sided; NaN when not tested */
	bool tested;              /* enough samples for a test; the interval holds in any case */
};

enum fz_verdict { FZ_VERDICT_UNKNOWN, FZ_VERDICT_UNCHANGED, FZ_VERDICT_CHANGED, FZ_VERDICTS };
extern const char *const fz_verdict_names[FZ_VERDICTS]; /* as in JSON */

/* The interval [low, high] of a change; NaN when there is none. rejected: "nothing changed" was,
 * and then the interval excludes 0. margin: the largest change that counts as none, in the unit of
 * the change. An interval of 95 % inside the margins is two one-sided tests of equivalence (TOST),
 * each at 2.5 %. */
enum fz_verdict fz_verdict_of(double low, double high, bool rejected, double margin);
