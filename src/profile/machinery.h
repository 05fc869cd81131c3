/* SPDX-License-Identifier: MIT */
/* Code that Python runs before a program and for imports, recognized by its files, as recorded or
 * canonical.
 */
#pragma once

#include "base/str.h"

/* Whether a file belongs to the standard library, or its name is empty. */
bool fz_machinery_is_library(struct fz_str file);
/* Whether a file's code imports modules. */
bool fz_machinery_imports(struct fz_str file);
/* Whether a file's code runs a module as the program. */
bool fz_machinery_runs(struct fz_str file);
