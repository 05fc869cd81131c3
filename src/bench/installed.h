/* SPDX-License-Identifier: MIT */
/* The packages that a Python interpreter finds installed: benchmarks run them too. */
#pragma once

#include <glob.h>

#include "base/buf.h"

/* Does a path lead to a Python interpreter? */
bool fz_installed_is_python(const char *path);
/* Add what matches a pattern in the folders where that interpreter has its packages; see below. */
void fz_installed_find(const char *called, const char *path, const char *kind, glob_t *found);

/* Add "packages 12 89abcdef01234567\n": how many there are, and a hash of their names and versions
 * ("pytest-7.2.1.dist-info"); nothing for a program that is no Python. "called" is the path by
 * which it is run, which tells a virtual environment; "path" is where links lead from there. */
void fz_installed_describe(const char *called, const char *path, struct fz_buf *out);
