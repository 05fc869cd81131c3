/* SPDX-License-Identifier: MIT */
/* Names of the kernel's functions, from a text in the form of /proc/kallsyms: "ADDRESS TYPE NAME"
 * a line and, of a module, "[MODULE]" behind it.
 */
#pragma once

#include "base/str.h"

struct fz_kallsyms;

/* NULL: there is none, or its addresses are hidden from us. */
struct fz_kallsyms *fz_kallsyms_open(const char *path);
void fz_kallsyms_free(struct fz_kallsyms *k); /* NULL is allowed */
/* The function around an address. Valid as long as the table; the module is "" in the kernel
 * itself. False: the address lies before all. */
bool fz_kallsyms_find(const struct fz_kallsyms *k, uint64_t address, struct fz_str *ret_name,
		      struct fz_str *ret_module);
/* Where the kernel's code begins: its symbol _text; 0: the table has none. */
uint64_t fz_kallsyms_text(const struct fz_kallsyms *k);
