/* SPDX-License-Identifier: MIT */
/* Whose code a function is: the program's own, or what it stands on.
 *
 * Told by where files lie. What a user says is own code (the fact "own": an extended regular
 * expression of files and modules) takes the place of that: it alone is own, then.
 */
#pragma once

#include "profile/profile.h"

enum fz_origin {
	FZ_ORIGIN_OWN,
	FZ_ORIGIN_STDLIB,  /* the language's library */
	FZ_ORIGIN_LIBRARY, /* installed packages */
	FZ_ORIGIN_OTHER,   /* the system, interpreters, markers, code that no file is known of */
};

#define FZ_ORIGIN_FACT "own"

/* Of a source file or a shared object, as recorded or canonical (compare/names.h); cwd: the
 * program's folder, "" when unknown. */
enum fz_origin fz_origin_of_file(struct fz_str path, struct fz_str cwd);
/* Of each function, enum fz_origin; function_count entries, freed by the caller. */
uint8_t *fz_profile_origins(const struct fz_profile *p);
