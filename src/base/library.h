/* SPDX-License-Identifier: MIT */
/* Loads shared libraries on demand, so that commands that do not need them start faster and work
 * without them.
 *
 * A library is never unloaded. Its functions are pointers in a struct, with the types of its
 * header:
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

/* `file` is its soname, `package` the Debian package for error messages. Sets all symbols or
 * none. */
int fz_library_load(const char *file, const char *package, const struct fz_library_symbol *symbols,
		    size_t n, struct fz_error *err);
