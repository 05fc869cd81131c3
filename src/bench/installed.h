/* SPDX-License-Identifier: MIT */
/* The installed packages of a Python interpreter, which benchmarks use. */
#pragma once

#include <glob.h>

#include "base/buf.h"

/* True if a path is that of a Python interpreter. */
bool fz_installed_is_python(const char *path);
/* Add files that match a pattern in that interpreter's folders of packages; see below. */
void fz_installed_find(const char *called, const char *path, const char *kind, glob_t *found);

/* Add "packages 12 89abcdef01234567\n": their number, and a hash of their names and versions
 * ("pytest-7.2.1.dist-info"); nothing for a program that is not Python. called: the path by which
 * it is run, perhaps in a virtual environment; path: the same with links resolved. */
void fz_installed_describe(const char *called, const char *path, struct fz_buf *out);
