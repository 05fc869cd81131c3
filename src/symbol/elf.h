/* SPDX-License-Identifier: MIT */
/* Finds symbols and sections in ELF images, in another process's memory or in a file. */
#pragma once

#include "base/base.h"
#include "base/error.h"

/* Reads bytes of an image: at memory addresses if mapped, at offsets in a file. */
struct fz_elf_source {
	bool (*read)(void *arg, uint64_t at, void *out, size_t n);
	void *arg;
};

struct fz_elf_symbol {
	const char *name;
	uint64_t address; /* 0: not found */
};

/* Sets the memory addresses of named dynamic symbols of an image mapped at `base`, through its hash
 * tables and without opening a file; 0 if not found. FZ_EUNSUPPORTED if it is not an ELF image of
 * this machine's class and byte order. */
int fz_elf_find_mapped(const struct fz_elf_source *memory, uint64_t base,
		       struct fz_elf_symbol *symbols, size_t n, struct fz_error *err);

/* The same from a file whose header is mapped at `base`, for all its symbol tables and for sections
 * by name. Addresses are also those in memory. */
struct fz_elf_section {
	const char *name;
	uint64_t address, size;
};
int fz_elf_find_file(const struct fz_elf_source *file, uint64_t base, struct fz_elf_symbol *symbols,
		     size_t n, struct fz_elf_section *sections, size_t section_n,
		     struct fz_error *err);
