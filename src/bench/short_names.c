/* SPDX-License-Identifier: MIT */
/* Shortening benchmark names to what distinguishes them; see short_names.h.
 *
 *   tests/test_it.py::test_parse_document_of_orders[small]      test_parse_…orders[small]
 *   tests/test_it.py::test_parse_document_of_orders[large]      test_parse_…orders[large]
 *   tests/test_it.py::test_parse_document_of_users[small]       test_parse_…users[small]
 *
 * The file is omitted if the rest is unique. The rest is sorted, so names that share most are
 * neighbours. If a name agrees with others in FZ_SHORT_SAME bytes, only the start of these and the
 * word in which the names differ are kept; the remainder is shortened in the same way.
 */
#include "bench/short_names.h"

#include "base/base.h"
#include "base/buf.h"

#include <ctype.h>
#include <stdlib.h>

/* Kept of a cut part: its first START bytes, or OWN bytes beyond what it shares with less similar
 * names if that is more; and up to WORD bytes before the next difference. */
enum { START = 11, OWN = 4, WORD = 7 };

struct entry {
	struct fz_str name, shown;
	struct fz_str whole; /* shown where a shorter form is not unique */
	uint32_t of;
};

/* Length of the file in "tests/test_bench.py::test_x"; 0 if a name begins with none. */
static size_t file_length(struct fz_str name)
{
	bool has_suffix = false;

	for (size_t i = 0; i + 2 < name.n && name.p[i] != '['; i++) {
		if (name.p[i] == ':' && name.p[i + 1] == ':')
			return has_suffix ? i : 0;
		has_suffix = name.p[i] != '/' && (has_suffix || name.p[i] == '.');
	}
	return 0;
}

static struct fz_str without_file(struct fz_str name)
{
	size_t file = file_length(name), from = file ? file + 2 : 0;

	return (struct fz_str){ name.p + from, name.n - from };
}

static int by_shown(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;
	int r = fz_str_cmp(a->shown, b->shown);

	return r ? r : fz_str_cmp(a->name, b->name);
}

/* Show different names that would look the same as a whole. Sorts the list. */
static void separate(struct entry *list, uint32_t n)
{
	qsort(list, n, sizeof(*list), by_shown);
	for (uint32_t i = 0, end; i < n; i = end) {
		struct fz_str shown = list[i].shown;
		bool differ = false;
		for (end = i + 1; end < n && fz_str_eq(list[end].shown, shown); end++)
			differ = differ || !fz_str_eq(list[end].name, list[i].name);
		for (uint32_t k = i; k < end && differ; k++)
			list[k].shown = list[k].whole;
	}
	qsort(list, n, sizeof(*list), by_shown);
}

/* Bytes that an entry shares with others: the least number at or above a limit (SIZE_MAX: none),
 * and the largest below it. */
struct shared {
	size_t least, below;
};

/* Add the bytes that entry i shares with others in one direction. */
static void add_shared(const struct entry *list, uint32_t n, uint32_t i, int step, size_t limit,
		       struct shared *s)
{
	size_t shared = SIZE_MAX;

	/* Below 0, k wraps to more than n. */
	for (uint32_t k = i + (uint32_t)step; k < n; k += (uint32_t)step) {
		if (fz_str_eq(list[k].name, list[i].name))
			continue;
		shared = FZ_MIN(shared, fz_str_shared(list[i].shown, list[k].shown));
		if (shared < limit) {
			s->below = FZ_MAX(s->below, shared);
			return;
		}
		s->least = FZ_MIN(s->least, shared);
	}
}

/* Is p[at] inside a character of UTF-8? */
static bool is_inside(struct fz_str s, size_t at)
{
	return at < s.n && ((unsigned char)s.p[at] & 0xc0) == 0x80;
}

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* Start of the word in which a name differs from others that share `shared` bytes with it. */
static size_t word_start(struct fz_str name, size_t shared)
{
	size_t first = shared - WORD, at = shared;

	while (at > first && (at == name.n || is_letter(name.p[at - 1])))
		at--;
	if (at > first && name.p[at - 1] == '[')
		at--;
	while (at < shared && is_inside(name, at))
		at++;
	return at;
}

static struct fz_str cut(struct fz_arena *arena, const struct entry *list, uint32_t n, uint32_t i)
{
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };
	struct fz_str name = list[i].shown;
	size_t from = 0;

	for (;;) {
		struct shared s = { SIZE_MAX, from };
		add_shared(list, n, i, -1, from + FZ_SHORT_SAME, &s);
		add_shared(list, n, i, 1, from + FZ_SHORT_SAME, &s);
		if (s.least == SIZE_MAX)
			break;
		size_t end = FZ_MAX(from + START, s.below + OWN);
		size_t next = word_start(name, s.least);
		while (is_inside(name, end))
			end--;
		if (end >= next)
			break;
		fz_buf_add(&out, name.p + from, end - from);
		fz_buf_str(&out, "…");
		from = next;
	}
	if (!from)
		return name;
	fz_buf_add(&out, name.p + from, name.n - from);
	return (struct fz_str){ fz_arena_strndup(arena, out.p, out.n), out.n };
}

void fz_short_names(struct fz_arena *arena, const struct fz_str *names, uint32_t n,
		    struct fz_short_name *ret)
{
	fz_auto(fz_free_ptr) struct entry *list = fz_calloc(n + 1, sizeof(*list));
	fz_auto(fz_free_ptr) struct fz_str *cuts = fz_calloc(n + 1, sizeof(*cuts));

	for (uint32_t i = 0; i < n; i++)
		list[i] = (struct entry){ names[i], without_file(names[i]), names[i], i };
	separate(list, n);
	for (uint32_t i = 0; i < n; i++) {
		struct entry *e = &list[i];
		bool is_whole = e->shown.n == e->name.n;
		ret[e->of].file = (struct fz_str){ e->name.p, is_whole ? 0 : file_length(e->name) };
		e->whole = e->shown;
		cuts[i] = cut(arena, list, n, i);
	}
	for (uint32_t i = 0; i < n; i++)
		list[i].shown = cuts[i];
	separate(list, n);
	for (uint32_t i = 0; i < n; i++)
		ret[list[i].of].shown = list[i].shown;
}
