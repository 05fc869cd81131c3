/* SPDX-License-Identifier: MIT */
/* Functions of symbol tables by address. libdwfl goes through all symbols for each address, which
 * takes tens of milliseconds where there are a million; here they are sorted once. */
#pragma once

#include <elfutils/libdwfl.h>

#include "base/base.h"

struct fz_symtab;

struct fz_symtab *fz_symtab_new(Dwfl_Module *module);
void fz_symtab_free(struct fz_symtab *t);
/* The name that dwfl_module_addrinfo chooses among symbols that have a size and hold the address;
 * NULL: there are none, and it may have another. Borrowed from the module. */
const char *fz_symtab_find(const struct fz_symtab *t, uint64_t address);
/* Whether all have a size: what is not found here dwfl_module_addrinfo does not find either. */
bool fz_symtab_is_whole(const struct fz_symtab *t);
