/* SPDX-License-Identifier: MIT */
/* Shared libraries that only some commands need: loaded when one of these runs, so that all others
 * start as fast without them, and do not need them at all.
 *
 * A library is never unloaded. Its functions are named in a struct of pointers that have the types
 * of its header:
 *
 *     static struct { __typeof__(&curl_easy_init) init; } curl;
 *     { "curl_easy_init", &curl.init },
 */
#pragma once

#include "base.h"
#include "error.h"

struct fz_library_symbol {
	const char *name;
	void *ret; /* address of the pointer */
};

/* `file` is its soname, `package` the Debian package that an error names. Sets all or nothing. */
int fz_library_load(const char *file, const char *package, const struct fz_library_symbol *symbols,
		    size_t n, struct fz_error *err);
