/* SPDX-License-Identifier: MIT */
/* What continuous integration asks of a comparison: is it bad enough to stop?
 *
 * A gate closes only on what is known to have changed, and only past a threshold: noise never
 * stops anybody, and neither does a real change that nobody would mind.
 */
#pragma once

#include "base/buf.h"
#include "compare/judge.h"

enum fz_gate {
	FZ_GATE_NONE,
	FZ_GATE_REGRESSION, /* the run is slower */
	FZ_GATE_CHANGE,     /* the run is slower or faster */
	FZ_GATE_FUNCTION,   /* a function costs more, by self or by total */
};
extern const char *const fz_gate_names[]; /* "none", "regression", ...; NULL-terminated */

/* True when the gate closes; why is then a sentence without a full stop for people. The threshold
 * is a part of the base, of the run or of the function (0.05 is 5 %); a new function that changed
 * is past every threshold. When the gate cannot judge the run, why says so and it stays open. */
bool fz_gate_closes(enum fz_gate gate, double threshold, const struct fz_diff *d,
		    const struct fz_judgement *j, struct fz_buf *why);
