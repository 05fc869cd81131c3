/* SPDX-License-Identifier: MIT */
/* Origin of a function's code: the program itself, or its libraries.
 *
 * It is derived from paths, unless the user specifies own code (the fact "own": an extended regular
 * expression for files and modules): then only matching code is own.
 */
#pragma once

#include "profile/profile.h"

enum fz_origin {
	FZ_ORIGIN_OWN,
	FZ_ORIGIN_STDLIB,  /* the language's library */
	FZ_ORIGIN_LIBRARY, /* installed packages */
	FZ_ORIGIN_OTHER,   /* the system, interpreters, markers, code without a known file */
};

#define FZ_ORIGIN_FACT "own"

/* Origin of a source file or a shared object, as recorded or canonical (compare/names.h); cwd: the
 * program's folder, "" if unknown. */
enum fz_origin fz_origin_of_file(struct fz_str path, struct fz_str cwd);
/* True for CPython and its library, in any folder: "python3.11", "libpython3.11.so.1.0". */
bool fz_origin_is_interpreter(struct fz_str path);
/* Returns enum fz_origin of each function; function_count entries, freed by the caller. */
uint8_t *fz_profile_origins(const struct fz_profile *p);
