/* SPDX-License-Identifier: MIT */
/* Counting with Valgrind's own callgrind, if our tool is not installed.
 *
 * Totals equal those of our tool. Contexts come from --separate-callers: recursion appears as at
 * most two frames, and callers beyond the 200th and functions with equal names are not
 * distinguished. A whole Node program would have gigabytes of contexts, so it is counted as a
 * graph, from which the tree is inferred. Python functions are visible from 3.12 on, through the
 * interpreter's perf trampoline, whose instructions are included. Random bytes are not fixed, and
 * only client requests mark parts, not magic paths.
 */
#pragma once

#include "record/count/counter.h"

enum { FZ_CALLGRIND_OPTIONS = 8 };

/* Store its options, besides those that every tool gets, in a NULL-terminated list. */
void fz_counter_callgrind_options(const struct fz_counter *c,
				  const char *ret[FZ_CALLGRIND_OPTIONS]);
/* Add the metrics that it counts. */
void fz_counter_callgrind_add_metrics(const struct fz_counter *c, struct fz_profile *p);
/* Read one of its files: of a whole process or of one part. */
int fz_counter_callgrind_read(const struct fz_counter *c, const char *path, long pid,
			      uint32_t process, struct fz_profile *p, struct fz_error *err);
