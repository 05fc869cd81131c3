/* SPDX-License-Identifier: MIT */
/* From an address in an ELF file to functions and lines, the inlined ones included.
 *
 * Debug information comes from the file itself, or by its build id from /usr/lib/debug, or, when
 * DEBUGINFOD_URLS is set in our environment, from such a server. Without any the symbol tables
 * give a name, and without those the answer is nothing.
 */
#pragma once

#include "base/str.h"
#include "symbol/image.h"

struct fz_symbols;

/* NULL: nothing can be known. The image must outlive it. */
struct fz_symbols *fz_symbols_new(const struct fz_image *image);
void fz_symbols_free(struct fz_symbols *s);

/* One call at an address: a function, or one that was inlined there. */
struct fz_symbols_call {
	const char *name; /* readable; valid until the next lookup */
	const char *file; /* where it is declared; NULL: unknown */
	int line;         /* where in that file; 0: unknown */
	int first_line;   /* of the declaration; 0: unknown */
};

enum { FZ_SYMBOLS_CALLS_MAX = 64 };
/* The calls at an address, innermost first; their number, 0 when nothing is known. */
unsigned fz_symbols_find(struct fz_symbols *s, uint64_t address,
			 struct fz_symbols_call ret[FZ_SYMBOLS_CALLS_MAX]);
