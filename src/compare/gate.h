/* SPDX-License-Identifier: MIT */
/* Gates of continuous integration: is a change bad enough to fail the job?
 *
 * A gate closes only on certain changes above a threshold, so neither noise nor a small real change
 * fails a job.
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

/* Whether the gate closes; `why` is then a sentence without a full stop. The threshold is relative
 * to the base cost of the run or of the function (0.05 is 5 %); a new function that changed exceeds
 * any. If the run cannot be judged, the gate stays open and `why` has the reason. */
bool fz_gate_closes(enum fz_gate gate, double threshold, const struct fz_diff *d,
		    const struct fz_judgement *j, struct fz_buf *why);
