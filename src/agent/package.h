/* SPDX-License-Identifier: MIT */
/* The version of the package of a program. The caller frees what is returned; NULL if unknown. */
#pragma once

#include "agent/program.h"

/* The version of a Python package, found by the modules and commands in its metadata. */
char *fz_agent_python_package(const struct fz_agent_program *p);

/* The versions of the Debian packages of n files, as an array; the caller frees the array and its
 * strings. */
char **fz_agent_debian_packages(const char *const *files, size_t n);
