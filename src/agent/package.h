/* SPDX-License-Identifier: MIT */
/* The version of the package that a program belongs to. The caller frees what is returned; NULL:
 * it is not known. */
#pragma once

#include "agent/program.h"

/* Of a Python package, by what its metadata says of modules and commands. */
char *fz_agent_python_package(const struct fz_agent_program *p);

/* Of packages of Debian, each of n files: an array of as many versions, of which each is freed with
 * it. */
char **fz_agent_debian_packages(const char *const *files, size_t n);
