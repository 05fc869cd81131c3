/* SPDX-License-Identifier: MIT */
/* Similarity of names.
 *
 * The last component of a qualified name is split into words: at underscores, capitals and digits.
 * Words that only mark a version are dropped. Two names are alike if one has all words of the
 * other, or if most words are in both:
 *
 *   parse      parse                 alike      get_name       get name         not: one of two
 *   parse_v2   parse                            set_name       set name
 */
#include "compare/link_internal.h"

#include <ctype.h>

enum { WORDS_MAX = 12 };

struct words {
	struct fz_str word[WORDS_MAX];
	uint32_t n;
};

bool fz_link_is_anonymous(struct fz_str name)
{
	struct fz_str tail = fz_outline_tail(name);

	return fz_str_starts(tail, "<") && fz_str_ends(tail, ">");
}

bool fz_link_is_generic(struct fz_str name)
{
	bool special = fz_str_starts(name, "__") && fz_str_ends(name, "__") &&
		       !memchr(name.p, '.', name.n);

	return name.n == 0 || special || fz_link_is_anonymous(name);
}

bool fz_link_is_generic_file(struct fz_str file)
{
	static const char *const names[] = { "__init__.py", "__main__.py", "setup.py",
					     "conftest.py", "main.py",     "utils.py" };
	struct fz_str base = fz_path_base(file);

	for (size_t i = 0; i < FZ_ARRAY_LEN(names); i++)
		if (fz_str_eq(base, fz_str_of(names[i])))
			return true;
	return base.n == 0;
}

static bool is_version(struct fz_str word)
{
	static const char *const words[] = { "v", "new", "old", "impl", "legacy" };

	for (size_t i = 0; i < FZ_ARRAY_LEN(words); i++)
		if (word.n == strlen(words[i]) && strncasecmp(word.p, words[i], word.n) == 0)
			return true;
	return false;
}

/* Whether a new word starts at p[i]. */
static bool starts_word(const char *p, size_t i, size_t n)
{
	if (!isalpha((unsigned char)p[i]))
		return false;
	if (i == 0 || !isalpha((unsigned char)p[i - 1]))
		return true;
	return isupper((unsigned char)p[i]) && (islower((unsigned char)p[i - 1]) ||
						(i + 1 < n && islower((unsigned char)p[i + 1])));
}

static struct words words_of(struct fz_str tail)
{
	struct words w = { 0 };

	for (size_t i = 0; i < tail.n && w.n < WORDS_MAX;) {
		size_t start = i;
		if (!starts_word(tail.p, i++, tail.n))
			continue;
		while (i < tail.n && isalpha((unsigned char)tail.p[i]) &&
		       !starts_word(tail.p, i, tail.n))
			i++;
		struct fz_str word = { tail.p + start, i - start };
		if (!is_version(word))
			w.word[w.n++] = word;
	}
	return w;
}

static uint32_t count_shared(const struct words *a, const struct words *b)
{
	bool used[WORDS_MAX] = { false };
	uint32_t shared = 0;

	for (uint32_t i = 0; i < a->n; i++)
		for (uint32_t k = 0; k < b->n; k++) {
			if (used[k] || a->word[i].n != b->word[k].n ||
			    strncasecmp(a->word[i].p, b->word[k].p, a->word[i].n) != 0)
				continue;
			used[k] = true;
			shared++;
			break;
		}
	return shared;
}

bool fz_link_alike(struct fz_str a, struct fz_str b)
{
	struct words x = words_of(fz_outline_tail(a)), y = words_of(fz_outline_tail(b));
	uint32_t shared = count_shared(&x, &y);

	return shared > 0 && (shared == FZ_MIN(x.n, y.n) || 2 * shared > FZ_MAX(x.n, y.n));
}
