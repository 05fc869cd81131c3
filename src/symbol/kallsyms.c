/* SPDX-License-Identifier: MIT */
/* The text is read once and sorted by address. It has no sizes: a function extends to the next one.
 * Of several names for an address the usual one is kept.
 */
#include "symbol/kallsyms.h"

#include "base/io.h"

enum { TEXT_MAX = 64 << 20 };

struct entry {
	uint64_t start;
	struct fz_str name, module;
	bool global;
};

struct fz_kallsyms {
	char *text;
	struct entry *list;
	size_t n, cap;
	uint64_t start_of_text; /* of the symbol _text, which shares its address with others; 0:
				   none */
};

/* Prefixes of aliases in the kernel: for early position-independent code, and for 32-bit programs.
 */
static const char *const of_second_names[] = { "__pi_", "__ia32_" };

static bool is_second_name(struct fz_str name)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(of_second_names); i++)
		if (fz_str_starts(name, of_second_names[i]))
			return true;
	return false;
}

static size_t underscores(struct fz_str name)
{
	size_t n = 0;

	while (n < name.n && name.p[n] == '_')
		n++;
	return n;
}

/* Orders by address, then names before aliases, global before local ones, fewer leading
 * underscores, longer ones.
 */
static int by_start(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	size_t ux = underscores(x->name), uy = underscores(y->name);

	return FZ_CMP(x->start, y->start) ?: is_second_name(x->name) - is_second_name(y->name) ?:
	       y->global - x->global ?: FZ_CMP(ux, uy) ?: FZ_CMP(y->name.n, x->name.n) ?:
	       fz_str_cmp(x->name, y->name);
}

static void add_line(struct fz_kallsyms *k, struct fz_str line)
{
	struct fz_str address = fz_str_take_word(&line), type = fz_str_take_word(&line);
	struct fz_str name = fz_str_take_word(&line), module = fz_str_take_word(&line);
	struct entry e = { .name = name, .module = module };
	char *end;

	if (type.n != 1 || !strchr("tTwW", *type.p) || !e.name.n)
		return;
	/* The word is followed by a space. */
	e.start = strtoull(address.p, &end, 16);
	if (end != address.p + address.n || !e.start)
		return;
	e.global = *type.p == 'T';
	if (fz_str_eq(e.name, FZ_STR("_text")))
		k->start_of_text = e.start;
	fz_push(k->list, k->n, k->cap, e);
}

static void keep_first_of_each(struct fz_kallsyms *k)
{
	size_t n = 0;

	for (size_t i = 0; i < k->n; i++) {
		fz_assert(!n || k->list[n - 1].start <= k->list[i].start);
		if (!n || k->list[n - 1].start != k->list[i].start)
			k->list[n++] = k->list[i];
	}
	k->n = n;
}

struct fz_kallsyms *fz_kallsyms_open(const char *path)
{
	size_t n;
	char *text = fz_read_small(path, TEXT_MAX, &n);

	if (!text)
		return NULL;
	struct fz_kallsyms *k = fz_calloc(1, sizeof(*k));
	k->text = text;
	for (const char *line = text, *end; (end = memchr(line, '\n', (size_t)(text + n - line)));
	     line = end + 1)
		add_line(k, (struct fz_str){ line, (size_t)(end - line) });
	if (!k->n) {
		fz_kallsyms_free(k);
		return NULL;
	}
	qsort(k->list, k->n, sizeof(*k->list), by_start);
	keep_first_of_each(k);
	return k;
}

void fz_kallsyms_free(struct fz_kallsyms *k)
{
	if (!k)
		return;
	free(k->text);
	free(k->list);
	free(k);
}

bool fz_kallsyms_find(const struct fz_kallsyms *k, uint64_t address, struct fz_str *ret_name,
		      struct fz_str *ret_module)
{
	size_t lo = 0, hi = k->n;

	fz_assert(k->n > 0); /* fz_kallsyms_open returns no empty table */
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (k->list[mid].start <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return false;
	*ret_name = k->list[lo - 1].name;
	*ret_module = k->list[lo - 1].module;
	return true;
}

uint64_t fz_kallsyms_text(const struct fz_kallsyms *k)
{
	return k->start_of_text;
}
