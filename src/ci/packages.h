/* SPDX-License-Identifier: MIT */
/* The packages that a Python interpreter finds installed: benchmarks run them too. */
#pragma once

#include "base/buf.h"

/* Add "packages 12 89abcdef01234567\n": how many there are, and a hash of their names and versions
 * ("pytest-7.2.1.dist-info"); nothing for a program that is no Python. "called" is the path by
 * which it is run, which tells a virtual environment; "path" is where links lead from there. */
void fz_packages_describe(const char *called, const char *path, struct fz_buf *out);
