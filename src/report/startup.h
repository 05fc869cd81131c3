/* SPDX-License-Identifier: MIT */
/* Functions that Python runs at start-up and for imports.
 *
 * Each short run samples other parts of them: many functions, each a few times or never, too few
 * for a verdict. Reports sum them in one line.
 */
#pragma once

#include "compare/diff.h"

/* For each of d->functions, whether it belongs to the interpreter's library and was only ever
 * called by its start-up or its import machinery. The caller frees it. */
bool *fz_startup_functions(const struct fz_diff *d);
