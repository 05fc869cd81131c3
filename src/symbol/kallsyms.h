/* SPDX-License-Identifier: MIT */
/* Names of the kernel's functions, from text in the form of /proc/kallsyms: lines "ADDRESS TYPE
 * NAME", for modules followed by "[MODULE]".
 */
#pragma once

#include "base/str.h"

struct fz_kallsyms;

/* NULL if there is none, or its addresses are hidden. */
struct fz_kallsyms *fz_kallsyms_open(const char *path);
void fz_kallsyms_free(struct fz_kallsyms *k); /* NULL is allowed */
/* Finds the function around an address, valid as long as the table; the module is "" in the kernel
 * itself. False if the address is below all. */
bool fz_kallsyms_find(const struct fz_kallsyms *k, uint64_t address, struct fz_str *ret_name,
		      struct fz_str *ret_module);
/* Start of the kernel's code, its symbol _text; 0 if missing. */
uint64_t fz_kallsyms_text(const struct fz_kallsyms *k);
