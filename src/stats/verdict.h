/* SPDX-License-Identifier: MIT */
/* The result of every test of this folder, and its three verdicts.
 *
 *            interval of the change            verdict
 *      ------[====]-----|-----0-----|------    changed    (significant in its family)
 *      -----------------|-[===0=]---|------    unchanged  (all of it within -margin..+margin)
 *      ---------------[=|=====0=====|==]---    unknown    (too little data to say either)
 *                    -margin     +margin
 */
#pragma once

#include <stdbool.h>

/* The result of one test, in cost per unit of exposure of the base side. */
struct fz_change {
	double base, head;        /* estimates */
	double change, low, high; /* head - base with its 95 % interval */
	double statistic;         /* z or t: positive when head costs more; NaN when not tested */
	double p;                 /* two-sided; NaN when not tested */
	bool tested;              /* enough samples for a test; the interval is valid in any case */
};

enum fz_verdict { FZ_VERDICT_UNKNOWN, FZ_VERDICT_UNCHANGED, FZ_VERDICT_CHANGED, FZ_VERDICTS };
extern const char *const fz_verdict_names[FZ_VERDICTS]; /* as in JSON */

/* Returns the verdict for the interval [low, high] of a change; NaN if there is none. rejected: the
 * test rejected "nothing changed"; then the interval must exclude 0. margin: largest change that
 * counts as none, in the unit of the change. A 95 % interval inside the margins is two one-sided
 * tests of equivalence (TOST), each at 2.5 %. */
enum fz_verdict fz_verdict_of(double low, double high, bool rejected, double margin);
