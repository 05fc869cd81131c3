/* SPDX-License-Identifier: MIT */
/* Finding symbols and sections in ELF images, in another process's memory or in a file. */
#pragma once

#include "base/base.h"
#include "base/error.h"

/* Where bytes of the image come from: memory addresses for a mapped image, offsets for a file. */
struct fz_elf_source {
	bool (*read)(void *arg, uint64_t at, void *out, size_t n);
	void *arg;
};

struct fz_elf_symbol {
	const char *name;
	uint64_t address; /* 0: not found */
	uint64_t size;
};

/* Look names up in the dynamic symbols of the image that is mapped with its ELF header at `base`,
 * through its hash tables: no file is opened. `found` counts. FZ_EUNSUPPORTED: not an ELF image
 * of this machine's class and byte order. */
int fz_elf_find_mapped(const struct fz_elf_source *memory, uint64_t base,
		       struct fz_elf_symbol *symbols, size_t n, struct fz_error *err);

/* The same for a file, from all its symbol tables, and the address of a section by name (0: it
 * has none). Addresses are those in the file; *ret_bias is what to add to them when the file is
 * mapped with its header at `base`. */
struct fz_elf_section {
	const char *name;
	uint64_t address, size;
};
int fz_elf_find_file(const struct fz_elf_source *file, uint64_t base, struct fz_elf_symbol *symbols,
		     size_t n, struct fz_elf_section *sections, size_t section_n,
		     struct fz_error *err);
