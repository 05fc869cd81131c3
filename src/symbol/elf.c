/* SPDX-License-Identifier: MIT */
/* Reads ELF images in memory and in files.
 *
 * In memory only the tables of PT_DYNAMIC are reliable: hash table -> symbol table -> string table,
 * with GNU's hash table preferred to SysV's. In files the section headers refer to .dynsym, .symtab
 * and named sections. Neither is trusted: every count is limited, every read may fail, and
 * addresses are added in unsigned arithmetic.
 */
#include <elf.h>

#include "elf.h"

enum {
	PHDRS_MAX = 128,
	SHDRS_MAX = 4096,
	DYNAMIC_MAX = 1024,
	DYNAMIC_AT_ONCE = 64,
	CHAIN_MAX = 1 << 16,
	SYMBOLS_MAX = 1 << 22,
	NAME_MAX_LENGTH = 128,
};

static bool get(const struct fz_elf_source *s, uint64_t at, void *out, size_t n)
{
	return s->read(s->arg, at, out, n);
}

static int read_header(const struct fz_elf_source *s, uint64_t at, Elf64_Ehdr *e,
		       struct fz_error *err)
{
	if (!get(s, at, e, sizeof(*e)) || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0)
		return fz_fail(err, FZ_EINPUT, "no ELF header");
	if (e->e_ident[EI_CLASS] != ELFCLASS64)
		return fz_fail(err, FZ_EUNSUPPORTED, "a 32-bit program");
	if (e->e_ident[EI_DATA] != ELFDATA2LSB)
		return fz_fail(err, FZ_EUNSUPPORTED, "a big-endian program");
	return 0;
}

/* Reads the program headers; the first PT_LOAD determines the bias. */
static bool read_bias(const struct fz_elf_source *s, uint64_t header, const Elf64_Ehdr *e,
		      uint64_t base, uint64_t *ret_bias, Elf64_Phdr *ret_dynamic)
{
	Elf64_Phdr list[PHDRS_MAX];
	unsigned n = FZ_MIN(e->e_phnum, PHDRS_MAX);
	bool have_load = false;

	*ret_dynamic = (Elf64_Phdr){ 0 };
	if (!get(s, header + e->e_phoff, list, n * sizeof(*list)))
		return false;
	for (const Elf64_Phdr *ph = list; ph < list + n; ph++) {
		if (ph->p_type == PT_LOAD && !have_load) {
			*ret_bias = base - (ph->p_vaddr & ~(uint64_t)4095);
			have_load = true;
		}
		if (ph->p_type == PT_DYNAMIC)
			*ret_dynamic = *ph;
	}
	return have_load;
}

/* Addresses of the tables of PT_DYNAMIC in memory. */
struct dynamic {
	uint64_t strings, symbols, gnu_hash, hash;
};

static bool read_dynamic(const struct fz_elf_source *s, uint64_t bias, const Elf64_Phdr *ph,
			 struct dynamic *ret)
{
	uint64_t n = FZ_MIN(ph->p_memsz / sizeof(Elf64_Dyn), (uint64_t)DYNAMIC_MAX);
	Elf64_Dyn list[DYNAMIC_AT_ONCE];

	*ret = (struct dynamic){ 0 };
	for (uint64_t i = 0; i < n; i++) {
		uint64_t k = i % DYNAMIC_AT_ONCE;
		if (k == 0 && !get(s, bias + ph->p_vaddr + i * sizeof(*list), list,
				   FZ_MIN(n - i, (uint64_t)DYNAMIC_AT_ONCE) * sizeof(*list)))
			return false;
		Elf64_Dyn d = list[k];
		/* glibc's loader makes these absolute, musl's does not. */
		uint64_t v = d.d_un.d_ptr < bias ? d.d_un.d_ptr + bias : d.d_un.d_ptr;
		if (d.d_tag == DT_NULL)
			break;
		if (d.d_tag == DT_STRTAB)
			ret->strings = v;
		else if (d.d_tag == DT_SYMTAB)
			ret->symbols = v;
		else if (d.d_tag == DT_GNU_HASH)
			ret->gnu_hash = v;
		else if (d.d_tag == DT_HASH)
			ret->hash = v;
	}
	return ret->strings && ret->symbols;
}

static bool name_is(const struct fz_elf_source *s, uint64_t at, const char *name)
{
	char text[NAME_MAX_LENGTH];
	size_t n = strlen(name) + 1;

	return n <= sizeof(text) && get(s, at, text, n) && memcmp(text, name, n) == 0;
}

/* Whether symbol `index` is a definition with this name; sets its address. */
static bool add_symbol(const struct fz_elf_source *s, const struct dynamic *d, uint64_t bias,
		       uint32_t index, struct fz_elf_symbol *sym)
{
	Elf64_Sym e;

	if (!get(s, d->symbols + (uint64_t)index * sizeof(e), &e, sizeof(e)) ||
	    e.st_shndx == SHN_UNDEF || !name_is(s, d->strings + e.st_name, sym->name))
		return false;
	sym->address = bias + e.st_value;
	return true;
}

static bool find_gnu(const struct fz_elf_source *s, const struct dynamic *d, uint64_t bias,
		     struct fz_elf_symbol *sym)
{
	uint32_t head[4], hash = 5381, index, entry;

	if (!get(s, d->gnu_hash, head, sizeof(head)) || head[0] == 0)
		return false;
	for (const char *c = sym->name; *c; c++)
		hash = hash * 33 + (uint8_t)*c;
	uint64_t buckets = d->gnu_hash + 16 + 8ull * head[2];
	uint64_t chain = buckets + 4ull * head[0];
	if (!get(s, buckets + 4ull * (hash % head[0]), &index, 4) || index < head[1])
		return false;
	for (unsigned i = 0; i < CHAIN_MAX; i++, index++) {
		if (!get(s, chain + 4ull * (index - head[1]), &entry, 4))
			return false;
		if ((entry | 1) == (hash | 1) && add_symbol(s, d, bias, index, sym))
			return true;
		if (entry & 1)
			return false;
	}
	return false;
}

static bool find_sysv(const struct fz_elf_source *s, const struct dynamic *d, uint64_t bias,
		      struct fz_elf_symbol *sym)
{
	uint32_t head[2], hash = 0, index;

	if (!get(s, d->hash, head, sizeof(head)) || head[0] == 0)
		return false;
	for (const char *c = sym->name; *c; c++) {
		hash = (hash << 4) + (uint8_t)*c;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	if (!get(s, d->hash + 8 + 4ull * (hash % head[0]), &index, 4))
		return false;
	for (unsigned i = 0; i < CHAIN_MAX && index != 0; i++) {
		if (add_symbol(s, d, bias, index, sym))
			return true;
		if (!get(s, d->hash + 8 + 4ull * (head[0] + (uint64_t)index), &index, 4))
			return false;
	}
	return false;
}

int fz_elf_find_mapped(const struct fz_elf_source *memory, uint64_t base,
		       struct fz_elf_symbol *symbols, size_t n, struct fz_error *err)
{
	Elf64_Ehdr e;
	Elf64_Phdr ph;
	struct dynamic d;
	uint64_t bias = 0;
	int rc = read_header(memory, base, &e, err);

	if (rc < 0)
		return rc;
	if (!read_bias(memory, base, &e, base, &bias, &ph) || ph.p_vaddr == 0 ||
	    !read_dynamic(memory, bias, &ph, &d))
		return fz_fail(err, FZ_EINPUT, "no dynamic symbols");
	for (size_t i = 0; i < n; i++)
		if (!d.gnu_hash || !find_gnu(memory, &d, bias, &symbols[i]))
			if (d.hash)
				find_sysv(memory, &d, bias, &symbols[i]);
	return 0;
}

/* ---- files ---- */

static void scan_table(const struct fz_elf_source *f, const Elf64_Shdr *table, uint64_t strings,
		       uint64_t bias, struct fz_elf_symbol *symbols, size_t n)
{
	enum { BATCH = 256 };
	Elf64_Sym batch[BATCH];
	uint64_t count = FZ_MIN(table->sh_size / sizeof(Elf64_Sym), (uint64_t)SYMBOLS_MAX);

	for (uint64_t i = 0; i < count; i += BATCH) {
		size_t k = (size_t)FZ_MIN((uint64_t)BATCH, count - i);
		if (!get(f, table->sh_offset + i * sizeof(batch[0]), batch, k * sizeof(batch[0])))
			return;
		for (size_t j = 0; j < k; j++) {
			if (batch[j].st_shndx == SHN_UNDEF ||
			    ELF64_ST_TYPE(batch[j].st_info) != STT_OBJECT)
				continue;
			for (size_t m = 0; m < n; m++)
				if (!symbols[m].address &&
				    name_is(f, strings + batch[j].st_name, symbols[m].name))
					symbols[m].address = bias + batch[j].st_value;
		}
	}
}

int fz_elf_find_file(const struct fz_elf_source *file, uint64_t base, struct fz_elf_symbol *symbols,
		     size_t n, struct fz_elf_section *sections, size_t section_n,
		     struct fz_error *err)
{
	Elf64_Ehdr e;
	Elf64_Phdr ph;
	Elf64_Shdr sh, names, strings;
	uint64_t bias = 0;
	int rc = read_header(file, 0, &e, err);

	if (rc < 0)
		return rc;
	if (!read_bias(file, 0, &e, base, &bias, &ph))
		return fz_fail(err, FZ_EINPUT, "damaged ELF program headers");
	unsigned count = FZ_MIN(e.e_shnum, SHDRS_MAX);
	if (!e.e_shoff || e.e_shstrndx >= count ||
	    !get(file, e.e_shoff + e.e_shstrndx * sizeof(sh), &names, sizeof(names)))
		return 0;
	for (unsigned i = 0; i < count; i++) {
		if (!get(file, e.e_shoff + i * sizeof(sh), &sh, sizeof(sh)))
			break;
		for (size_t k = 0; k < section_n; k++)
			if (name_is(file, names.sh_offset + sh.sh_name, sections[k].name)) {
				sections[k].address = bias + sh.sh_addr;
				sections[k].size = sh.sh_size;
			}
		if ((sh.sh_type == SHT_DYNSYM || sh.sh_type == SHT_SYMTAB) && sh.sh_link < count &&
		    get(file, e.e_shoff + sh.sh_link * sizeof(sh), &strings, sizeof(strings)))
			scan_table(file, &sh, strings.sh_offset, bias, symbols, n);
	}
	return 0;
}
