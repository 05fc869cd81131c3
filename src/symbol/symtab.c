/* SPDX-License-Identifier: MIT */
/* Two sorted arrays, since a local symbol only counts if no global one contains the address; see
 * symtab.h.
 *
 *   list     [lo, lo + size) -> number of the symbol, by lo
 *   reach    largest end of all ranges up to here; an address beyond it is in none of them
 */
#include "symbol/symtab.h"

enum { HOLDERS_MAX = 64, SYMBOLS_MAX = 16 << 20 };

struct range {
	uint64_t lo;
	uint32_t size, number;
};

struct table {
	struct range *list;
	uint64_t *reach;
	size_t n, cap;
};

struct fz_symtab {
	Dwfl_Module *module;
	struct table global, local;
	bool has_labels; /* symbols without a size */
};

static int by_lo(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return FZ_CMP(x->lo, y->lo) ?: FZ_CMP(x->number, y->number);
}

static void add_symbols(struct fz_symtab *all, struct table *t, int from, int to)
{
	for (int i = from; i < to; i++) {
		GElf_Sym sym;
		GElf_Addr address;
		const char *name =
			dwfl_module_getsym_info(all->module, i, &sym, &address, NULL, NULL, NULL);
		int type = name ? GELF_ST_TYPE(sym.st_info) : STT_FILE;

		if (!name || !name[0] || sym.st_shndx == SHN_UNDEF || type == STT_SECTION ||
		    type == STT_FILE || type == STT_TLS)
			continue;
		if (!sym.st_size || sym.st_size > UINT32_MAX) {
			all->has_labels = true;
			continue;
		}
		fz_push(t->list, t->n, t->cap,
			(struct range){ address, (uint32_t)sym.st_size, (uint32_t)i });
	}
	if (!t->n)
		return;
	qsort(t->list, t->n, sizeof(*t->list), by_lo);
	t->reach = fz_reallocarray(NULL, t->n, sizeof(*t->reach));
	for (size_t i = 0; i < t->n; i++) {
		uint64_t hi = t->list[i].lo + t->list[i].size;
		t->reach[i] = i ? FZ_MAX(t->reach[i - 1], hi) : hi;
	}
}

struct fz_symtab *fz_symtab_new(Dwfl_Module *module)
{
	struct fz_symtab *t = fz_calloc(1, sizeof(*t));
	int n = dwfl_module_getsymtab(module);
	int first_global = n > 0 ? dwfl_module_getsymtab_first_global(module) : 0;

	t->module = module;
	t->has_labels = n > SYMBOLS_MAX;
	n = FZ_MIN(n, (int)SYMBOLS_MAX);
	add_symbols(t, &t->global, FZ_MAX(first_global, 1), n);
	add_symbols(t, &t->local, 1, FZ_MIN(first_global, n));
	return t;
}

void fz_symtab_free(struct fz_symtab *t)
{
	if (!t)
		return;
	free(t->global.list);
	free(t->global.reach);
	free(t->local.list);
	free(t->local.reach);
	free(t);
}

static int by_number(const void *a, const void *b)
{
	const struct range *const *x = a, *const *y = b;

	return FZ_CMP((*x)->number, (*y)->number);
}

/* Symbols that contain the address, in the order of their table. */
static size_t holders_of(const struct table *t, uint64_t address, const struct range **ret)
{
	size_t lo = 0, hi = t->n, n = 0;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (t->list[mid].lo <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (size_t i = lo; i > 0 && t->reach[i - 1] > address && n < HOLDERS_MAX; i--)
		if (address - t->list[i - 1].lo < t->list[i - 1].size)
			ret[n++] = &t->list[i - 1];
	qsort(ret, n, sizeof(*ret), by_number);
	return n;
}

static int binding(const struct fz_symtab *t, const struct range *r, const char **ret_name)
{
	GElf_Sym sym;
	GElf_Addr address;

	*ret_name = dwfl_module_getsym_info(t->module, (int)r->number, &sym, &address, NULL, NULL,
					    NULL);
	switch (GELF_ST_BIND(sym.st_info)) {
	case STB_GLOBAL:
		return 3;
	case STB_WEAK:
		return 2;
	case STB_LOCAL:
		return 1;
	default:
		return 0;
	}
}

/* Chooses the nearest start, then the stronger binding, then the smaller one, like libdwfl. */
static const char *choose(const struct fz_symtab *t, const struct table *from, uint64_t address)
{
	const struct range *holders[HOLDERS_MAX], *best = NULL;
	size_t n = from->n ? holders_of(from, address, holders) : 0;
	const char *name, *best_name = NULL;
	int best_binding = 0;

	for (size_t i = 0; i < n; i++) {
		const struct range *r = holders[i];
		int how = binding(t, r, &name);
		bool better = !best || r->lo > best->lo || how > best_binding;
		if (!better && r->lo == best->lo)
			better = r->size < best->size && best_binding <= how;
		if (!better)
			continue;
		best = r;
		best_name = name;
		best_binding = how;
	}
	return best_name;
}

const char *fz_symtab_find(const struct fz_symtab *t, uint64_t address)
{
	const char *name = choose(t, &t->global, address);

	return name ? name : choose(t, &t->local, address);
}

bool fz_symtab_is_whole(const struct fz_symtab *t)
{
	return !t->has_labels;
}
