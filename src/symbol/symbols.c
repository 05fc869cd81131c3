/* SPDX-License-Identifier: MIT */
/* libdwfl finds the debug information, libdw reads it. libdw would search linearly for each
 * address, so sorted arrays are built:
 *
 *   units      [lo, hi) -> compilation unit           once per file
 *   functions  [lo, hi) -> its subprogram             once per unit, on demand
 *   inlined    the subprogram's own tree, walked for each address
 *
 * The line of the innermost call comes from the line table, that of an outer one from the place of
 * the inlined call. A line is only used if it is in the file that declares the function.
 */
#include "symbol/symbols.h"

#include "symbol/demangle.h"
#include "symbol/symtab.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { DEPTH_MAX = 256, RANGES_MAX = 16 << 20 };

struct range {
	uint64_t lo, hi;
	uint32_t value;
};

struct ranges {
	struct range *list;
	size_t n, cap;
};

struct unit {
	Dwarf_Die die;
	bool read;
	struct ranges functions; /* values: in `dies` */
	Dwarf_Die *dies;
	size_t die_n, die_cap;
};

struct fz_symbols {
	Dwfl *dwfl;
	Dwfl_Module *module;
	Dwarf *dwarf; /* NULL: no debug information */
	uint64_t bias, dwarf_bias;
	struct unit *units;
	size_t unit_n, unit_cap;
	struct ranges by_unit;
	struct fz_symtab *table;           /* created on demand */
	char *names[FZ_SYMBOLS_CALLS_MAX]; /* of the last lookup */
	unsigned name_n;
};

/* ---- ranges ---- */

static void add_range(struct ranges *r, uint64_t lo, uint64_t hi, uint32_t value)
{
	if (lo >= hi || lo == 0 || r->n >= RANGES_MAX)
		return; /* code discarded by the linker starts at 0 */
	fz_push(r->list, r->n, r->cap, (struct range){ lo, hi, value });
}

static int by_lo(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return FZ_CMP(x->lo, y->lo) ?: FZ_CMP(y->hi, x->hi); /* outer one first */
}

static void sort_ranges(struct ranges *r)
{
	if (r->n)
		qsort(r->list, r->n, sizeof(*r->list), by_lo);
}

/* The nearest range at or below an address that contains it; ranges are rarely nested. */
static uint32_t find_range(const struct ranges *r, uint64_t address)
{
	enum { BACK = 16 };
	size_t lo = 0, hi = r->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (r->list[mid].lo <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (size_t i = lo; i > 0 && lo - i < BACK; i--)
		if (address < r->list[i - 1].hi)
			return r->list[i - 1].value;
	return FZ_NONE;
}

static void add_ranges_of(struct ranges *r, Dwarf_Die *die, uint32_t value)
{
	Dwarf_Addr base, lo, hi;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0)
		add_range(r, lo, hi, value);
}

/* ---- opening ---- */

static const Dwfl_Callbacks callbacks = { .find_elf = dwfl_build_id_find_elf,
					  .find_debuginfo = dwfl_standard_find_debuginfo,
					  .section_address = dwfl_offline_section_address };

static void read_units(struct fz_symbols *s)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;

	while (dwarf_get_units(s->dwarf, cu, &cu, NULL, &type, &die, NULL) == 0) {
		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		fz_grow(s->units, s->unit_n, s->unit_cap);
		s->units[s->unit_n] = (struct unit){ .die = die };
		add_ranges_of(&s->by_unit, &die, (uint32_t)s->unit_n++);
	}
	sort_ranges(&s->by_unit);
}

struct fz_symbols *fz_symbols_new(const struct fz_image *image)
{
	struct fz_symbols *s = fz_calloc(1, sizeof(*s));
	int fd = fcntl(fz_image_fd(image), F_DUPFD_CLOEXEC, 3);

	s->dwfl = dwfl_begin(&callbacks);
	if (s->dwfl && fd >= 0) {
		dwfl_report_begin(s->dwfl);
		s->module = dwfl_report_offline(s->dwfl, fz_image_name(image), fz_image_path(image),
						fd);
		if (s->module)
			fd = -1; /* ownership moved */
		dwfl_report_end(s->dwfl, NULL, NULL);
	}
	fz_close_fd(&fd);
	GElf_Addr bias;
	if (!s->module || !dwfl_module_getelf(s->module, &bias)) {
		fz_symbols_free(s);
		return NULL;
	}
	s->bias = bias;
	Dwarf_Addr dwarf_bias;
	s->dwarf = dwfl_module_getdwarf(s->module, &dwarf_bias);
	if (s->dwarf) {
		s->dwarf_bias = dwarf_bias;
		read_units(s);
	}
	return s;
}

static void forget_names(struct fz_symbols *s)
{
	while (s->name_n > 0)
		free(s->names[--s->name_n]);
}

void fz_symbols_free(struct fz_symbols *s)
{
	if (!s)
		return;
	forget_names(s);
	for (size_t i = 0; i < s->unit_n; i++) {
		free(s->units[i].functions.list);
		free(s->units[i].dies);
	}
	free(s->units);
	free(s->by_unit.list);
	fz_symtab_free(s->table);
	if (s->dwfl)
		dwfl_end(s->dwfl);
	free(s);
}

/* ---- functions of a unit ---- */

/* Adds a function; false if it is only declared here, or inlined everywhere. */
static bool add_function(struct unit *u, Dwarf_Die *die)
{
	size_t before = u->functions.n;

	fz_grow(u->dies, u->die_n, u->die_cap);
	u->dies[u->die_n] = *die;
	add_ranges_of(&u->functions, die, (uint32_t)u->die_n);
	u->die_n += u->functions.n > before;
	return u->functions.n > before;
}

/* Reads functions, also in namespaces, classes and other functions. */
static void read_functions(struct unit *u, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die child;

	if (depth > DEPTH_MAX || dwarf_child(parent, &child))
		return;
	do {
		bool inside = false;
		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			inside = add_function(u, &child);
			break;
		case DW_TAG_namespace:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_module:
		case DW_TAG_lexical_block:
			inside = true;
			break;
		default:
			break;
		}
		if (inside)
			read_functions(u, &child, depth + 1);
	} while (dwarf_siblingof(&child, &child) == 0);
}

static Dwarf_Die *find_function(struct fz_symbols *s, uint64_t address, struct unit **ret_unit)
{
	uint32_t i = find_range(&s->by_unit, address);

	if (i == FZ_NONE)
		return NULL;
	struct unit *u = &s->units[i];
	if (!u->read) {
		Dwarf_Die split, *root = &u->die;
		uint8_t type;
		if (dwarf_cu_info(u->die.cu, NULL, &type, NULL, &split, NULL, NULL, NULL) == 0 &&
		    type == DW_UT_skeleton && split.addr)
			root = &split;
		read_functions(u, root, 0);
		sort_ranges(&u->functions);
		u->read = true;
	}
	uint32_t f = find_range(&u->functions, address);
	*ret_unit = u;
	return f == FZ_NONE ? NULL : &u->dies[f];
}

/* Appends the calls inlined at an address to the function itself, outermost first. */
static unsigned find_inlined(Dwarf_Die *function, uint64_t address, Dwarf_Die *out, unsigned max)
{
	Dwarf_Die child, at = *function;
	unsigned n = 1;

	out[0] = *function;
	for (unsigned depth = 0; depth < DEPTH_MAX && dwarf_child(&at, &child) == 0; depth++) {
		bool found = false;
		do {
			int tag = dwarf_tag(&child);
			if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block)
				continue;
			if (dwarf_haspc(&child, address) != 1)
				continue;
			if (tag == DW_TAG_inlined_subroutine && n < max)
				out[n++] = child;
			at = child;
			found = true;
			break;
		} while (dwarf_siblingof(&child, &child) == 0);
		if (!found)
			break;
	}
	return n;
}

/* ---- calls ---- */

static char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	const char *linkage = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &a) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &a))
		linkage = dwarf_formstring(&a);
	if (linkage)
		return fz_demangle(linkage);
	const char *plain = dwarf_attr_integrate(die, DW_AT_name, &a) ? dwarf_formstring(&a) : NULL;
	if (!plain)
		return NULL;
	char *cython = fz_demangle_cython(plain);
	return cython ? cython : fz_strdup(plain);
}

static int number_of(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute a;
	Dwarf_Word v;

	if (!dwarf_attr(die, attribute, &a) || dwarf_formudata(&a, &v) || v > INT32_MAX)
		return 0;
	return (int)v;
}

static const char *call_file(struct unit *u, Dwarf_Die *inlined)
{
	Dwarf_Files *files;
	size_t n;
	int i = number_of(inlined, DW_AT_call_file);

	if (dwarf_getsrcfiles(&u->die, &files, &n) || (size_t)i >= n)
		return NULL;
	return dwarf_filesrc(files, (size_t)i, NULL, NULL);
}

/* DWARF 5 numbers files from 0, as clang does; in libdw, 0 means no file. */
static const char *declaring_file(Dwarf_Die *die)
{
	const char *file = dwarf_decl_file(die);
	Dwarf_Attribute a;
	Dwarf_Die unit;
	Dwarf_Files *files;
	Dwarf_Half version;
	Dwarf_Word i;
	size_t n;

	if (file || !dwarf_attr_integrate(die, DW_AT_decl_file, &a) || dwarf_formudata(&a, &i) ||
	    i || !dwarf_cu_die(a.cu, &unit, &version, NULL, NULL, NULL, NULL, NULL) ||
	    version < 5 || dwarf_getsrcfiles(&unit, &files, &n) || !n)
		return file;
	return dwarf_filesrc(files, 0, NULL, NULL);
}

static bool same_file(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* Sets ret to calls, innermost first; dies are outermost first. */
static unsigned describe(struct fz_symbols *s, struct unit *u, Dwarf_Die *dies, unsigned n,
			 uint64_t address, struct fz_symbols_call *ret)
{
	Dwarf_Line *entry = dwarf_getsrc_die(&u->die, address);
	const char *file = entry ? dwarf_linesrc(entry, NULL, NULL) : NULL;
	int line = 0;

	if (entry)
		dwarf_lineno(entry, &line);
	for (unsigned i = 0; i < n; i++) {
		Dwarf_Die *die = &dies[n - 1 - i];
		int first = 0;
		char *name = name_of(die);
		if (!name)
			return i; /* the symbol tables may know more */
		s->names[s->name_n++] = name;
		dwarf_decl_line(die, &first);
		const char *declared = declaring_file(die);
		ret[i] = (struct fz_symbols_call){
			.name = name,
			.file = declared ? declared : file,
			.first_line = declared ? FZ_MAX(first, 0) : 0,
			.line = !declared || same_file(file, declared) ? FZ_MAX(line, 0) : 0,
		};
		if (i + 1 < n) {
			file = call_file(u, die);
			line = number_of(die, DW_AT_call_line);
		}
	}
	return n;
}

static unsigned find_in_dwarf(struct fz_symbols *s, uint64_t address, struct fz_symbols_call *ret)
{
	Dwarf_Die dies[FZ_SYMBOLS_CALLS_MAX];
	struct unit *u;
	Dwarf_Die *function = s->dwarf ? find_function(s, address, &u) : NULL;

	if (!function)
		return 0;
	unsigned n = find_inlined(function, address, dies, FZ_SYMBOLS_CALLS_MAX);
	unsigned done = describe(s, u, dies, n, address, ret);
	if (done == n)
		return n;
	forget_names(s);
	return 0;
}

static const char *find_symbol(struct fz_symbols *s, uint64_t at)
{
	GElf_Off offset;
	GElf_Sym sym;

	if (!s->table)
		s->table = fz_symtab_new(s->module);
	const char *name = fz_symtab_find(s->table, at);
	if (name || fz_symtab_is_whole(s->table))
		return name;
	name = dwfl_module_addrinfo(s->module, at, &offset, &sym, NULL, NULL, NULL);
	return name && name[0] && !(sym.st_size && offset >= sym.st_size) ? name : NULL;
}

unsigned fz_symbols_find(struct fz_symbols *s, uint64_t address,
			 struct fz_symbols_call ret[FZ_SYMBOLS_CALLS_MAX])
{
	forget_names(s);
	uint64_t at = address + s->bias;
	unsigned n = find_in_dwarf(s, at - s->dwarf_bias, ret);
	if (n)
		return n;
	const char *name = find_symbol(s, at);
	if (!name)
		return 0;
	s->names[s->name_n++] = fz_demangle(name);
	ret[0] = (struct fz_symbols_call){ .name = s->names[0] };
	return 1;
}
