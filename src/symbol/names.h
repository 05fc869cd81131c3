/* SPDX-License-Identifier: MIT */
/* What functions at addresses in files turned out to be, kept from one recording to the next: a
 * machine does mostly the same, and looking a name up takes hundreds of times as long as
 * remembering it. Only files with a build id have names here: those are other files when they
 * change. */
#pragma once

#include "symbol/symbols.h"

struct fz_names;

struct fz_names *fz_names_new(void);
void fz_names_free(struct fz_names *n);

/* The calls at an address, as fz_symbols_find has them, valid until the next fz_names_put; false:
 * it was not asked for. module: of an image. */
bool fz_names_get(const struct fz_names *n, const char *module, uint64_t address,
		  struct fz_symbols_call ret[FZ_SYMBOLS_CALLS_MAX], unsigned *ret_n);
/* Copies them. Where there are too many all others are forgotten. */
void fz_names_put(struct fz_names *n, const char *module, uint64_t address,
		  const struct fz_symbols_call *calls, unsigned call_n);
/* Whether the module's addresses can be kept: it has a build id. */
bool fz_names_may_keep(const char *module);
