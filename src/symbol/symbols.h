/* SPDX-License-Identifier: MIT */
/* Resolves addresses in an ELF file to functions and lines, including inlined calls.
 *
 * Debug information comes from the file itself, by build id from /usr/lib/debug, or from a server
 * if DEBUGINFOD_URLS is set in our environment. Without it, names come from the symbol tables, if
 * any.
 */
#pragma once

#include "base/str.h"
#include "symbol/image.h"

struct fz_symbols;

/* NULL if there is no information. The image must outlive it. */
struct fz_symbols *fz_symbols_new(const struct fz_image *image);
void fz_symbols_free(struct fz_symbols *s);

/* One call at an address: a function, or one that was inlined there. */
struct fz_symbols_call {
	const char *name; /* readable; valid until the next lookup */
	const char *file; /* of its declaration; NULL: unknown */
	int line;         /* executing line in that file; 0: unknown */
	int first_line;   /* of the declaration; 0: unknown */
};

enum { FZ_SYMBOLS_CALLS_MAX = 64 };
/* Sets ret to the calls at an address, innermost first; returns their number, 0 if unknown. */
unsigned fz_symbols_find(struct fz_symbols *s, uint64_t address,
			 struct fz_symbols_call ret[FZ_SYMBOLS_CALLS_MAX]);
