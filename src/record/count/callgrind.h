/* SPDX-License-Identifier: MIT */
/* Counting with Valgrind's own callgrind, where our tool is not there.
 *
 * Totals are those of our tool. Contexts come from --separate-callers: a function that calls itself
 * is one frame or two, callers beyond the 200th are not told apart, functions of one name neither.
 * Of Node's whole program there would be gigabytes of contexts; there it is a graph, from which the
 * tree is inferred. Python functions are seen from 3.12 on, through the interpreter's perf
 * trampoline, whose instructions are counted with them. Random bytes are not held still, and
 * magic paths mark nothing: only client requests do.
 */
#pragma once

#include "record/count/count.h"

enum { FZ_CALLGRIND_OPTIONS = 8 };

/* Its options, besides those that every tool gets, into a NULL-terminated list. */
void fz_counter_callgrind_options(const struct fz_counter *c,
				  const char *ret[FZ_CALLGRIND_OPTIONS]);
/* The metrics of what it counts. */
void fz_counter_callgrind_add_metrics(const struct fz_counter *c, struct fz_profile *p);
/* Read one of its files, of all that a process did or of one part. */
int fz_counter_callgrind_read(const struct fz_counter *c, const char *path, long pid,
			      uint32_t process, struct fz_profile *p, struct fz_error *err);
