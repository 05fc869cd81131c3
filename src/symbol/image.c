/* SPDX-License-Identifier: MIT */
/* libelf opens the file, libdw reads its unwind tables, which are converted to rows that an
 * unwinder can cache and apply in nanoseconds.
 *
 *      .eh_frame_hdr     sorted table: function start -> description   (stripping keeps it; static
 *                        programs have none)
 *      .eh_frame         description -> libdw -> Dwarf_Frame -> fz_row
 *
 * A Dwarf_Frame owns the expressions of its row, so frames with expressions are kept as long as the
 * image.
 */
#include "symbol/image.h"

#include "base/buf.h"
#include "base/str.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <unistd.h>

enum { PHDRS_MAX = 64, SYMBOLS_MAX = 16 << 20, FRAMES_KEPT_MAX = 1 << 16, OPS_MAX = 64 };

struct segment {
	uint64_t offset, size, address;
};

struct fz_image {
	int fd;
	char *path, *module;
	Elf *elf;
	struct segment segments[PHDRS_MAX];
	size_t segment_n;
	uint64_t header_offset, header_address, header_size; /* .eh_frame_hdr */
	Dwarf_CFI *cfi;
	bool cfi_tried;
	Dwarf_Frame **frames; /* kept because rows point to them */
	size_t frame_n, frame_cap;
	uint32_t *starts; /* function starts relative to start_base, sorted; read when needed */
	uint64_t start_base;
	uint32_t start_n, start_cap;
	bool starts_tried;
};

/* ---- opening ---- */

static void add_build_id(const struct fz_image *image, struct fz_buf *out)
{
	const void *bits;
	ssize_t n = dwelf_elf_gnu_build_id(image->elf, &bits);

	if (n <= 0 || n > 64)
		return;
	fz_buf_char(out, ' ');
	fz_buf_hex(out, bits, (size_t)n);
}

static bool read_segments(struct fz_image *image)
{
	size_t n;

	if (elf_getphdrnum(image->elf, &n))
		return false;
	for (size_t i = 0; i < FZ_MIN(n, (size_t)PHDRS_MAX); i++) {
		GElf_Phdr ph;
		if (!gelf_getphdr(image->elf, (int)i, &ph))
			return false;
		if (ph.p_type == PT_LOAD)
			image->segments[image->segment_n++] =
				(struct segment){ ph.p_offset, ph.p_filesz, ph.p_vaddr };
		if (ph.p_type == PT_GNU_EH_FRAME) {
			image->header_offset = ph.p_offset;
			image->header_address = ph.p_vaddr;
			image->header_size = ph.p_filesz;
		}
	}
	return image->segment_n > 0;
}

int fz_image_open(int fd, const char *path, struct fz_image **ret, struct fz_error *err)
{
	struct fz_image *image = fz_calloc(1, sizeof(*image));
	fz_auto(fz_buf_release) struct fz_buf module = { 0 };

	elf_version(EV_CURRENT);
	image->fd = fd;
	image->path = fz_strdup(path);
	image->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!image->elf || elf_kind(image->elf) != ELF_K_ELF || !read_segments(image)) {
		fz_image_free(image);
		return fz_fail(err, FZ_EINPUT, "%s: not an ELF file", path);
	}
	fz_buf_str(&module, path);
	add_build_id(image, &module);
	image->module = fz_buf_take(&module);
	*ret = image;
	return 0;
}

void fz_image_free(struct fz_image *image)
{
	if (!image)
		return;
	for (size_t i = 0; i < image->frame_n; i++)
		free(image->frames[i]);
	free(image->frames);
	free(image->starts);
	if (image->cfi)
		dwarf_cfi_end(image->cfi);
	elf_end(image->elf);
	fz_close_fd(&image->fd);
	free(image->path);
	free(image->module);
	free(image);
}

int fz_image_fd(const struct fz_image *image)
{
	return image->fd;
}

const char *fz_image_module(const struct fz_image *image)
{
	return image->module;
}

const char *fz_image_path(const struct fz_image *image)
{
	return image->path;
}

const char *fz_image_name(const struct fz_image *image)
{
	return fz_path_base(fz_str_of(image->path)).p;
}

bool fz_image_address(const struct fz_image *image, uint64_t offset, uint64_t *ret)
{
	/* Segments are mapped in whole pages, so they include a bit before and after them. */
	for (size_t i = 0; i < image->segment_n; i++) {
		const struct segment *s = &image->segments[i];
		if (offset >= s->offset && offset - s->offset < s->size) {
			*ret = s->address + (offset - s->offset);
			return true;
		}
	}
	return false;
}

static Dwarf_CFI *unwind_table(struct fz_image *image)
{
	if (!image->cfi_tried)
		image->cfi = dwarf_getcfi_elf(image->elf);
	image->cfi_tried = true;
	return image->cfi;
}

/* ---- function starts ---- */

/* Does the unwind table describe this address? */
static bool is_described(struct fz_image *image, uint64_t address)
{
	Dwarf_CFI *cfi = unwind_table(image);
	Dwarf_Frame *frame;

	if (!cfi || dwarf_cfi_addrframe(cfi, address, &frame))
		return false;
	free(frame);
	return true;
}

/* Encodings of numbers. */
enum { PC_RELATIVE_S4 = 0x1b, U4 = 0x03, TABLE_S4 = 0x3b };

/* Reads the table of pairs of signed 32-bit numbers relative to its own address, as written by all
 * linkers; other encodings are not supported. */
static bool read_starts(struct fz_image *image)
{
	uint8_t head[12];
	uint32_t n;

	if (image->header_size < sizeof(head) ||
	    pread(image->fd, head, sizeof(head), (off_t)image->header_offset) != sizeof(head) ||
	    head[0] != 1 || head[1] != PC_RELATIVE_S4 || head[2] != U4 || head[3] != TABLE_S4)
		return false;
	memcpy(&n, head + 8, sizeof(n));
	if (n == 0 || n > (image->header_size - sizeof(head)) / 8)
		return false;
	size_t bytes = (size_t)n * 8;
	fz_auto(fz_free_ptr) uint32_t *table = fz_malloc(bytes);
	if (pread(image->fd, table, bytes, (off_t)(image->header_offset + sizeof(head))) !=
	    (ssize_t)bytes)
		return false;
	image->starts = fz_reallocarray(NULL, n, sizeof(*image->starts));
	for (uint32_t i = 0; i < n; i++)
		image->starts[i] = table[2 * (size_t)i];
	image->start_n = n;
	image->start_base = image->header_address;
	return true;
}

/* How the start in the description at an offset is written: a byte of what it shares with others.
 */
static uint8_t start_encoding(const unsigned char *ident, Elf_Data *data, Dwarf_Off at)
{
	Dwarf_CFI_Entry e;
	Dwarf_Off next;

	if (dwarf_next_cfi(ident, data, true, at, &next, &e) || !dwarf_cfi_cie_p(&e) ||
	    !strchr(e.cie.augmentation, 'R') || !e.cie.augmentation_data_size)
		return 0;
	return e.cie.augmentation_data[e.cie.augmentation_data_size - 1];
}

static int compare_starts(const void *a, const void *b)
{
	const int32_t *x = a, *y = b;

	return FZ_CMP(*x, *y);
}

/* Reads the descriptions themselves, which are in any order. */
static void read_descriptions(struct fz_image *image, const GElf_Shdr *head, Elf_Data *data)
{
	const unsigned char *ident = (const unsigned char *)elf_getident(image->elf, NULL);
	Dwarf_CFI_Entry e;
	Dwarf_Off next;
	int32_t start;

	image->start_base = head->sh_addr;
	for (Dwarf_Off at = 0; dwarf_next_cfi(ident, data, true, at, &next, &e) == 0; at = next) {
		if (dwarf_cfi_cie_p(&e) || e.fde.end - e.fde.start < (ptrdiff_t)sizeof(start) ||
		    start_encoding(ident, data, e.fde.CIE_pointer) != PC_RELATIVE_S4)
			continue;
		memcpy(&start, e.fde.start, sizeof(start));
		int64_t place = e.fde.start - (const uint8_t *)data->d_buf;
		fz_push(image->starts, image->start_n, image->start_cap, (uint32_t)(place + start));
	}
	if (image->start_n)
		qsort(image->starts, image->start_n, sizeof(*image->starts), compare_starts);
}

static void find_descriptions(struct fz_image *image)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(image->elf, &names))
		return;
	while ((section = elf_nextscn(image->elf, section))) {
		GElf_Shdr head;
		const char *name = gelf_getshdr(section, &head)
					   ? elf_strptr(image->elf, names, head.sh_name)
					   : NULL;
		Elf_Data *data =
			name && strcmp(name, ".eh_frame") == 0 ? elf_rawdata(section, NULL) : NULL;
		if (data && data->d_buf) {
			read_descriptions(image, &head, data);
			return;
		}
	}
}

bool fz_image_function_start(struct fz_image *image, uint64_t address, uint64_t *ret)
{
	if (!image->starts_tried && !read_starts(image) && !image->header_size)
		find_descriptions(image);
	image->starts_tried = true;
	int64_t wanted = (int64_t)(address - image->start_base);
	uint32_t lo = 0, hi = image->start_n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if ((int32_t)image->starts[mid] <= wanted)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0 || !is_described(image, address))
		return false;
	*ret = image->start_base + (uint64_t)(int64_t)(int32_t)image->starts[lo - 1];
	return true;
}

/* ---- symbols by name ---- */

static bool find_in_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *head, const char *name,
			  uint64_t *ret_lo, uint64_t *ret_hi)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t n = head->sh_entsize ? head->sh_size / head->sh_entsize : 0;

	for (size_t i = 0; data && i < FZ_MIN(n, (size_t)SYMBOLS_MAX); i++) {
		GElf_Sym sym;
		if (!gelf_getsym(data, (int)i, &sym) || sym.st_shndx == SHN_UNDEF || !sym.st_size)
			continue;
		const char *text = elf_strptr(elf, head->sh_link, sym.st_name);
		if (!text || strcmp(text, name) != 0)
			continue;
		*ret_lo = sym.st_value;
		*ret_hi = sym.st_value + sym.st_size;
		return true;
	}
	return false;
}

bool fz_image_symbol(struct fz_image *image, const char *name, uint64_t *ret_lo, uint64_t *ret_hi)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(image->elf, section))) {
		GElf_Shdr head;
		if (!gelf_getshdr(section, &head) ||
		    (head.sh_type != SHT_SYMTAB && head.sh_type != SHT_DYNSYM))
			continue;
		if (find_in_table(image->elf, section, &head, name, ret_lo, ret_hi))
			return true;
	}
	return false;
}

/* ---- unwind rows ---- */

/* Callee-saved registers, and the return address. */
#if defined(__x86_64__)
static const uint8_t kept_registers[] = { 3, 6, 12, 13, 14, 15 };
#else
static const uint8_t kept_registers[] = { 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29 };
#endif

static int64_t op_offset(const Dwarf_Op *op)
{
	switch (op->atom) {
	case DW_OP_bregx:
		return (int64_t)op->number2;
	case DW_OP_regx:
	case DW_OP_call_frame_cfa:
		return 0;
	default:
		return (int64_t)op->number;
	}
}

static bool fits(int64_t v)
{
	return v >= INT32_MIN && v <= INT32_MAX;
}

/* "register + offset" in one operation; everything else stays an expression. */
static bool cfa_is_simple(const Dwarf_Op *ops, size_t n, struct fz_row *row)
{
	uint64_t reg;

	if (n != 1)
		return false;
	if (ops->atom >= DW_OP_breg0 && ops->atom <= DW_OP_breg31)
		reg = ops->atom - DW_OP_breg0;
	else if (ops->atom == DW_OP_bregx)
		reg = ops->number;
	else
		return false;
	if (reg >= FZ_REGS || !fits(op_offset(ops)))
		return false;
	row->cfa_reg = (uint8_t)reg;
	row->cfa_offset = (int32_t)op_offset(ops);
	return true;
}

/* Recognizes libdw's forms of "saved at CFA + n" and "is CFA + n". */
static void make_rule(const Dwarf_Op *ops, size_t n, struct fz_rule *rule)
{
	bool value = n && ops[n - 1].atom == DW_OP_stack_value;
	size_t k = n - value;
	int64_t offset = 0;

	if (k && ops[0].atom == DW_OP_call_frame_cfa) {
		bool simple = k == 1;
		if (k == 2 && ops[1].atom == DW_OP_plus_uconst) {
			offset = (int64_t)ops[1].number;
			simple = true;
		} else if (k == 3 && ops[2].atom == DW_OP_plus &&
			   (ops[1].atom == DW_OP_consts || ops[1].atom == DW_OP_constu)) {
			offset = (int64_t)ops[1].number;
			simple = true;
		}
		if (simple && fits(offset)) {
			rule->kind = value ? FZ_RULE_VALUE : FZ_RULE_OFFSET;
			rule->offset = (int32_t)offset;
			return;
		}
	}
	rule->kind = value || n > OPS_MAX ? FZ_RULE_UNDEFINED : FZ_RULE_EXPRESSION;
	rule->ops = ops;
	rule->op_n = (uint16_t)FZ_MIN(n, (size_t)OPS_MAX);
}

/* Reads the rule of a register; false if it has none because it is unchanged. *ret_keep: the row
 * refers to the frame's memory. */
static bool read_rule(Dwarf_Frame *frame, int reg, struct fz_rule *ret, bool *ret_keep)
{
	Dwarf_Op own[3], *ops;
	size_t n;

	*ret = (struct fz_rule){ .kind = FZ_RULE_UNDEFINED, .reg = (uint8_t)reg };
	if (dwarf_frame_register(frame, reg, own, &ops, &n))
		return true;
	if (n == 0)
		return ops != NULL; /* NULL: same value; else undefined */
	make_rule(ops, n, ret);
	if (ret->kind == FZ_RULE_EXPRESSION) {
		*ret_keep = true;
		if (ops == own) /* in our own temporary array */
			ret->kind = FZ_RULE_UNDEFINED;
	}
	return true;
}

/* Kept registers, the return address and the stack pointer. */
_Static_assert(FZ_ARRAY_LEN(kept_registers) + 2 <= FZ_ROW_RULES_MAX,
	       "a row has no room for a rule");

static bool fill_row(Dwarf_Frame *frame, struct fz_row *row, bool *ret_keep)
{
	bool signal = false;
	Dwarf_Op *ops;
	size_t n;
	int return_reg = dwarf_frame_info(frame, NULL, NULL, &signal);

	if (return_reg < 0 || return_reg >= FZ_REGS || dwarf_frame_cfa(frame, &ops, &n) || n == 0 ||
	    n > OPS_MAX)
		return false;
	row->signal_frame = signal;
	if (!cfa_is_simple(ops, n, row)) {
		row->cfa_ops = ops;
		row->cfa_op_n = (uint16_t)n;
		*ret_keep = true;
	}
	for (size_t i = 0; i < FZ_ARRAY_LEN(kept_registers); i++)
		if (read_rule(frame, kept_registers[i], &row->rules[row->rule_n], ret_keep))
			row->rule_n++;
	struct fz_rule *back = &row->rules[row->rule_n];
	if (read_rule(frame, return_reg, back, ret_keep)) {
		row->outermost = back->kind == FZ_RULE_UNDEFINED;
		back->reg = FZ_REG_RETURN;
		row->rule_n++;
	}
	if (signal && read_rule(frame, FZ_REG_SP, &row->rules[row->rule_n], ret_keep))
		row->rule_n++;
	return true;
}

void fz_image_row(struct fz_image *image, uint64_t address, struct fz_row *ret)
{
	Dwarf_CFI *cfi = unwind_table(image);
	Dwarf_Frame *frame;
	bool keep = false;

	*ret = (struct fz_row){ 0 };
	if (!cfi || dwarf_cfi_addrframe(cfi, address, &frame))
		return;
	ret->known = fill_row(frame, ret, &keep);
	if (!keep || image->frame_n >= FRAMES_KEPT_MAX) {
		if (keep)
			ret->known = false;
		free(frame);
		return;
	}
	fz_push(image->frames, image->frame_n, image->frame_cap, frame);
}
