/* SPDX-License-Identifier: MIT */
/* Functions that Python runs at start-up and for imports.
 *
 * There are many, and a short run samples each a few times or never, which is too little for a
 * verdict. Reports sum them in one line.
 */
#pragma once

#include "compare/diff.h"

/* For each of d->functions: is it in the interpreter's library and only ever called by start-up or
 * the import machinery? Freed by the caller. */
bool *fz_startup_functions(const struct fz_diff *d);
