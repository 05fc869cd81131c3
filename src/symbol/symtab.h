/* SPDX-License-Identifier: MIT */
/* Finds functions of symbol tables by address. libdwfl scans all symbols for each address, which
 * takes tens of milliseconds for a million; here they are sorted once. */
#pragma once

#include <elfutils/libdwfl.h>

#include "base/base.h"

struct fz_symtab;

struct fz_symtab *fz_symtab_new(Dwfl_Module *module);
void fz_symtab_free(struct fz_symtab *t);
/* Returns the name that dwfl_module_addrinfo chooses among symbols with a size that contain the
 * address; NULL if there are none, and then libdwfl may find others. Borrowed from the module. */
const char *fz_symtab_find(const struct fz_symtab *t, uint64_t address);
/* Whether all symbols have a size: then dwfl_module_addrinfo finds nothing that is not found
 * here. */
bool fz_symtab_is_whole(const struct fz_symtab *t);
