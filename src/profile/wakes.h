/* SPDX-License-Identifier: MIT */
/* Which thread of a program let which go on, and when: by releasing a lock, sending what it waited
 * for, or starting it. Not by letting go of the GIL: whose turn that is is no order of the
 * program's. What the longest chain of a run is made of (critical.h).
 *
 *   worker   ======refresh======>|
 *   main     ....<lock wait>.....|===== ...        a wake of main, by worker, at the bar
 */
#pragma once

#include "base/base.h"

struct fz_wake {
	int64_t time;    /* ns since the run began: where the wait's sample is, too */
	uint32_t thread; /* that could go on from then, or began */
	uint32_t by;     /* thread that did it */
	uint16_t run;
};

struct fz_wakes {
	struct fz_wake *list;
	size_t n, cap;
};

void fz_wakes_add(struct fz_wakes *w, const struct fz_wake *wake);
/* Keep those of a range of time, from <= time <= to, counted from its beginning. */
void fz_wakes_keep_range(struct fz_wakes *w, int64_t from, int64_t to);
