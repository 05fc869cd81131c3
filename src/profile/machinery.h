/* SPDX-License-Identifier: MIT */
/* What Python does before a program and whenever a module is imported, by its files as they were
 * recorded or in canonical form.
 */
#pragma once

#include "base/str.h"

/* Of the interpreter's library, or without a file. */
bool fz_machinery_is_library(struct fz_str file);
/* Code that imports modules. */
bool fz_machinery_imports(struct fz_str file);
/* Code that runs a module as the program. */
bool fz_machinery_runs(struct fz_str file);
