/* SPDX-License-Identifier: MIT */
/* What Python does before a program and whenever a module is imported.
 *
 * Each short run samples other bits of it: many functions, each a few times or never, of which
 * nothing can be told. Reports tell them in one line.
 */
#pragma once

#include "compare/diff.h"

/* For each of d->functions, whether it belongs to the interpreter's library and was only ever
 * called by its start-up or its import machinery. The caller frees it. */
bool *fz_startup_functions(const struct fz_diff *d);
