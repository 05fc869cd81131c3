/* SPDX-License-Identifier: MIT */
/* Cache of functions at addresses in files across recordings, since most recordings of a machine
 * have the same code, and resolving a name is hundreds of times slower than a lookup here. Only for
 * files with a build id, which changes with the contents. */
#pragma once

#include "symbol/symbols.h"

struct fz_names;

struct fz_names *fz_names_new(void);
void fz_names_free(struct fz_names *n);

/* Gets the calls at an address, as from fz_symbols_find, valid until the next fz_names_put; false
 * if not cached. module: of an image. */
bool fz_names_get(const struct fz_names *n, const char *module, uint64_t address,
		  struct fz_symbols_call ret[FZ_SYMBOLS_CALLS_MAX], unsigned *ret_n);
/* Stores a copy. At the limit all others are dropped. */
void fz_names_put(struct fz_names *n, const char *module, uint64_t address,
		  const struct fz_symbols_call *calls, unsigned call_n);
/* Whether the module can be cached: it has a build id. */
bool fz_names_can_cache(const char *module);
