/* SPDX-License-Identifier: MIT */
/* A diff as two-column folded text, the convention of FlameGraph's difffolded.pl: "main;work 12
 * 15", one line for each path with self cost on either side, base before head. flamegraph.pl and
 * inferno draw it. Lines that begin with '#' are comments for readers: no tool parses them as a
 * path, because they do not end in a number.
 */
#pragma once

#include "base/io.h"
#include "compare/judge.h"

/* With `scaled`, the base column is multiplied by the diff's factor as by `difffolded.pl -n`:
 * truncated to integers, but a cost never becomes 0. Lines are in the order of the nodes. j: NULL
 * for no comments. */
void fz_report_folded_diff(const struct fz_diff *d, const struct fz_judgement *j, bool scaled,
			   struct fz_output *out);
