/* SPDX-License-Identifier: MIT */
/* Bodies as sorted runs of words, so one pass over both counts the common ones. A body that is
 * shorter than a run is one run.
 */
#include "compare/body.h"

enum { RUN = 3, OWN_NAMES_MAX = 8, OWN_WORD = 1, CLASS_WORD = 2 };

/* Words of the definition's own name and of its classes' names. */
struct own_names {
	uint32_t word[OWN_NAMES_MAX];
	uint32_t n;
};

static struct own_names names_of(const struct fz_outline *o, uint32_t definition)
{
	struct own_names own = { 0 };

	for (uint32_t i = definition; i != FZ_NONE && own.n < OWN_NAMES_MAX;
	     i = o->definitions[i].parent)
		if (i == definition || o->definitions[i].is_class)
			own.word[own.n++] = fz_outline_word(o->definitions[i].tail);
	return own;
}

static uint32_t word_at(const struct fz_outline *o, uint32_t at, const struct own_names *own)
{
	uint32_t word = o->words[at];

	for (uint32_t i = 0; i < own->n; i++)
		if (word == own->word[i])
			return i == 0 ? OWN_WORD : CLASS_WORD;
	return word;
}

static int compare_runs(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return FZ_CMP(a, b);
}

void fz_body_init(struct fz_body *b, const struct fz_outline *o, uint32_t definition)
{
	const struct fz_definition *d = &o->definitions[definition];
	struct own_names own = names_of(o, definition);
	uint32_t words = d->end - d->words;
	uint32_t run = FZ_MIN(words, RUN);

	*b = (struct fz_body){ .n = words ? words - run + 1 : 0 };
	b->runs = fz_calloc(FZ_MAX(b->n, 1), sizeof(*b->runs));
	for (uint32_t i = 0; i < b->n; i++) {
		uint64_t hash = 0;
		for (uint32_t k = 0; k < run; k++)
			hash = fz_hash64(hash + word_at(o, d->words + i + k, &own) + 1);
		b->runs[i] = (uint32_t)hash;
	}
	qsort(b->runs, b->n, sizeof(*b->runs), compare_runs);
}

void fz_body_release(struct fz_body *b)
{
	free(b->runs);
	*b = (struct fz_body){ 0 };
}

uint32_t fz_body_common(const struct fz_body *a, const struct fz_body *b)
{
	uint32_t common = 0;

	for (uint32_t i = 0, k = 0; i < a->n && k < b->n;) {
		common += a->runs[i] == b->runs[k];
		uint32_t x = a->runs[i], y = b->runs[k];
		i += x <= y;
		k += y <= x;
	}
	return common;
}

void fz_body_subtract(const struct fz_body *from, const struct fz_body *what, struct fz_body *ret)
{
	*ret = (struct fz_body){ .runs = fz_calloc(FZ_MAX(from->n, 1), sizeof(*ret->runs)) };
	for (uint32_t i = 0, k = 0; i < from->n; i++) {
		while (k < what->n && what->runs[k] < from->runs[i])
			k++;
		if (k < what->n && what->runs[k] == from->runs[i])
			k++;
		else
			ret->runs[ret->n++] = from->runs[i];
	}
}

double fz_body_similarity(const struct fz_body *a, const struct fz_body *b)
{
	return a->n + b->n ? 2.0 * fz_body_common(a, b) / (a->n + b->n) : 1;
}
