/* SPDX-License-Identifier: MIT */
/* ELF images: the same bytes as a file and as a mapped image of the target. */
#include "fuzz.h"

#include "symbol/elf.h"

struct image {
	const uint8_t *data;
	size_t n;
};

enum { BASE = 0x10000 };

static bool read_file(void *arg, uint64_t at, void *out, size_t n)
{
	const struct image *image = arg;

	if (at > image->n || n > image->n - at)
		return false;
	memcpy(out, image->data + at, n);
	return true;
}

static bool read_mapped(void *arg, uint64_t at, void *out, size_t n)
{
	return at >= BASE && read_file(arg, at - BASE, out, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct image image = { data, n };
	struct fz_elf_source file = { read_file, &image }, mapped = { read_mapped, &image };
	struct fz_elf_symbol symbols[] = { { .name = "_PyRuntime" }, { .name = "Py_Version" } };
	struct fz_elf_section sections[] = { { .name = ".PyRuntime" } };
	struct fz_error err;

	fz_elf_find_mapped(&mapped, BASE, symbols, FZ_ARRAY_LEN(symbols), &err);
	fz_elf_find_file(&file, BASE, symbols, FZ_ARRAY_LEN(symbols), sections,
			 FZ_ARRAY_LEN(sections), &err);
	return 0;
}
