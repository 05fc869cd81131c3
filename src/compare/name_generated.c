/* SPDX-License-Identifier: MIT */
/* Code generated at run time is numbered in the order of generation:
 *
 *   argmap_closeness_5 (<class 'argmap'> compilation 5)
 *                                             -> argmap_closeness_# (... compilation #)
 *   _lambdify (<lambdifygenerated-12>)        -> _lambdify (<lambdifygenerated-#>)
 *
 *   <ipython-input-3-15dedc3fbfe1>            -> <ipython-input-#>
 *   $TMPDIR/ipykernel_4242/1234567890.py      -> <ipython-input-#>
 *
 * The name of a notebook cell also contains a hash of its text, which changes with each edit.
 *
 * One more generated function shifts all later numbers, so numbers are not part of canonical names.
 * Such a number follows one of " -_[#" and precedes the end or one of " ]>._"; "Point2" is a name.
 */
#include "compare/name_internal.h"
#include "compare/names.h"

#include "base/map.h"

#include <ctype.h>

static bool is_between(struct fz_str s, size_t from, size_t end)
{
	return from > 0 && strchr(" -_[#", s.p[from - 1]) &&
	       (end == s.n || strchr(" ]>._", s.p[end]));
}

static size_t end_of_digits(struct fz_str s, size_t from)
{
	while (from < s.n && isdigit((unsigned char)s.p[from]))
		from++;
	return from;
}

static struct fz_str without_numbers(struct fz_arena *arena, struct fz_str s)
{
	char *text = fz_arena_alloc(arena, s.n + 1);
	size_t w = 0;

	for (size_t i = 0, end; i < s.n; i = end) {
		end = end_of_digits(s, i);
		if (end > i && is_between(s, i, end)) {
			text[w++] = '#';
			continue;
		}
		end = FZ_MAX(end, i + 1);
		memcpy(text + w, s.p + i, end - i);
		w += end - i;
	}
	text[w] = '\0';
	return w == s.n && memcmp(text, s.p, w) == 0 ? s : (struct fz_str){ text, w };
}

static const char cell_of_terminal[] = "<ipython-input-", cell_of_kernel[] = "/ipykernel_";

/* Returns the hash of a cell's text; "" if the file is not a cell. */
static struct fz_str cell_hash(struct fz_str file)
{
	const char *kernel = memmem(file.p, file.n, cell_of_kernel, strlen(cell_of_kernel));
	struct fz_str rest = FZ_STR("");

	if (fz_str_starts(file, cell_of_terminal) && fz_str_ends(file, ">")) {
		const char *hash = memrchr(file.p, '-', file.n);
		return (struct fz_str){ hash + 1, (size_t)(file.p + file.n - hash) - 2 };
	}
	if (kernel && fz_str_ends(file, ".py")) {
		size_t from = (size_t)(kernel - file.p) + strlen(cell_of_kernel);
		size_t slash = end_of_digits(file, from);
		size_t end = slash < file.n ? end_of_digits(file, slash + 1) : file.n;
		if (slash > from && end > slash + 1 && end + 3 == file.n && file.p[slash] == '/')
			rest = (struct fz_str){ file.p + slash + 1, end - slash - 1 };
	}
	return rest;
}

bool fz_name_number(struct fz_str file, uint32_t *ret)
{
	struct fz_str hash = cell_hash(file);
	uint64_t number;
	bool any = false;

	if (hash.n) {
		*ret = (uint32_t)fz_hash_bytes(hash.p, hash.n);
		return true;
	}

	if (!fz_str_starts(file, "<") || fz_str_starts(file, "<frozen "))
		return false;
	for (size_t i = 0, end; i < file.n; i = FZ_MAX(end, i + 1)) {
		end = end_of_digits(file, i);
		if (end == i || !is_between(file, i, end) ||
		    !fz_parse_u64((struct fz_str){ file.p + i, end - i }, UINT32_MAX, &number))
			continue;
		*ret = (uint32_t)number;
		any = true;
	}
	return any;
}

void fz_name_without_numbers(struct fz_name_counts *n, struct fz_arena *arena, struct fz_str file,
			     struct fz_name *name)
{
	uint32_t number;

	if (!fz_name_number(file, &number))
		return;
	struct fz_str shown = cell_hash(file).n ? FZ_STR("<ipython-input-#>")
						: without_numbers(arena, name->file);
	name->file = fz_name_after(n, FZ_NAME_GENERATED, name->file, shown);
	name->name = without_numbers(arena, name->name);
}
