/* SPDX-License-Identifier: MIT */
/* Converts label sets of the file to sets of the store and keeps those with most samples.
 *
 *   row -> set "k=v\0..." -> text "\nk=v\n" with the labels of the push -> part
 *
 * Names of threads, spans, profiles and containers are not labels: they differ from push to push or
 * from start to start. A set is dropped as a whole if it has an invalid label, a label of the push
 * with another value, or more labels than the store has room for, because part of a set would be
 * mistaken for a smaller set.
 */
#include "serve/sample_labels.h"

#include <string.h>

#include "base/arena.h"
#include "fleet/texts.h"

struct splitter {
	const struct fz_profile *p;
	const char *push_labels;
	struct fz_arena arena;
	struct fz_texts texts;
	uint32_t *text_of; /* of each set; FZ_NONE: lost */
	uint64_t *samples; /* of each text */
	uint32_t *part_of; /* of each text; FZ_NONE: lost */
};

static void release(struct splitter *k)
{
	fz_texts_release(&k->texts);
	fz_arena_release(&k->arena);
	free(k->text_of);
	free(k->samples);
	free(k->part_of);
}

static bool is_ignored(const char *label)
{
	static const char *const keys[] = {
		"__",        "thread_id=",  "thread_name=",  "span_id=", "span_name=",
		"trace_id=", "profile_id=", "container.id=", "k8s.pod.", "service.instance.id="
	};

	for (size_t i = 0; i < FZ_ARRAY_LEN(keys); i++)
		if (strncmp(label, keys[i], strlen(keys[i])) == 0)
			return true;
	return false;
}

/* Whether the push has the same label with another value. */
static bool contradicts(const char *push_labels, const char *label)
{
	size_t key = strcspn(label, "=") + 1, n = strlen(label);

	for (const char *line = push_labels; *line && line[1]; line += strcspn(line + 1, "\n") + 1)
		if (strncmp(line + 1, label, key) == 0)
			return strncmp(line + 1, label, n) != 0 || line[1 + n] != '\n';
	return false;
}

enum { LIST_MAX = 2 * FZ_FLEET_LABELS_MAX };

/* Add the labels of the push to a list; they are copied. */
static size_t list_push(struct splitter *k, const char **list)
{
	size_t n = 0;

	for (const char *at = k->push_labels + (*k->push_labels == '\n'); *at;
	     at += strcspn(at, "\n") + 1)
		list[n++] = fz_arena_strndup(&k->arena, at, strcspn(at, "\n"));
	return n;
}

/* The text of a set, with the labels of the push; false if the set cannot be kept. */
static bool make_text(struct splitter *k, struct fz_str set, struct fz_buf *ret)
{
	const char *list[LIST_MAX];
	size_t n = list_push(k, list);

	for (size_t at = 0; at < set.n; at += strlen(set.p + at) + 1) {
		const char *label = set.p + at;

		if (is_ignored(label))
			continue;
		if (n == LIST_MAX || contradicts(k->push_labels, label))
			return false;
		list[n++] = label;
	}
	return fz_fleet_labels(list, n, ret, NULL) == 0;
}

static void place_sets(struct splitter *k)
{
	uint32_t sets = k->p->label_set_count;

	k->text_of = fz_calloc(sets, sizeof(*k->text_of));
	k->samples = fz_calloc(sets + 1, sizeof(*k->samples));
	k->part_of = fz_calloc(sets + 1, sizeof(*k->part_of));
	/* The first text is that of part 0. */
	fz_texts_place(&k->texts, &k->arena, fz_str_of(k->push_labels));
	for (uint32_t i = 0; i < sets; i++) {
		fz_auto(fz_buf_release) struct fz_buf text = { 0 };

		k->text_of[i] = make_text(k, k->p->label_sets[i], &text)
					? fz_texts_place(&k->texts, &k->arena, fz_buf_view(&text))
					: FZ_NONE;
	}
}

static uint32_t text_of_row(const struct splitter *k, size_t row)
{
	uint32_t set = k->p->samples.label[row];

	return set == FZ_NONE ? 0 : k->text_of[set];
}

/* Give the texts with most samples a part each, in this order; with equal numbers, the first in the
 * file. */
static void choose_parts(struct splitter *k, struct fz_sample_labels *ret)
{
	for (uint32_t i = 1; i < k->texts.n; i++)
		k->part_of[i] = FZ_NONE;
	for (; ret->part_n <= FZ_SAMPLE_SETS; ret->part_n++) {
		uint32_t best = FZ_NONE;

		for (uint32_t i = 1; i < k->texts.n; i++)
			if (k->part_of[i] == FZ_NONE && k->samples[i] &&
			    (best == FZ_NONE || k->samples[i] > k->samples[best]))
				best = i;
		if (best == FZ_NONE)
			return;
		k->part_of[best] = ret->part_n;
		fz_buf_str(&ret->labels[ret->part_n], k->texts.list[best]);
	}
}

/* Samples of a row that a push counts: those with a stack (fleet/batch.c). */
static uint32_t pushed_count(const struct fz_profile *p, size_t row)
{
	return p->samples.stack[row] == FZ_NONE ? 0 : fz_sample_count(p, row);
}

void fz_sample_labels_of(const struct fz_profile *p, const char *push_labels,
			 struct fz_sample_labels *ret)
{
	const struct fz_samples *s = &p->samples;
	fz_auto(release) struct splitter k = { .p = p, .push_labels = push_labels };

	*ret = (struct fz_sample_labels){ .part_n = 1 };
	fz_buf_str(&ret->labels[0], push_labels);
	if (!s->label)
		return;
	place_sets(&k);
	for (size_t row = 0; row < s->n; row++)
		if (text_of_row(&k, row) != FZ_NONE)
			k.samples[text_of_row(&k, row)] += pushed_count(p, row);
	choose_parts(&k, ret);
	ret->part_of = fz_calloc(FZ_MAX(s->n, 1), sizeof(*ret->part_of));
	for (size_t row = 0; row < s->n; row++) {
		uint32_t text = text_of_row(&k, row);
		uint32_t part = text == FZ_NONE ? FZ_NONE : k.part_of[text];

		ret->lost += part == FZ_NONE ? pushed_count(p, row) : 0;
		ret->part_of[row] = part == FZ_NONE ? 0 : part;
		ret->samples[ret->part_of[row]] += pushed_count(p, row);
	}
}

void fz_sample_labels_release(struct fz_sample_labels *l)
{
	free(l->part_of);
	for (uint32_t i = 0; i <= FZ_SAMPLE_SETS; i++)
		fz_buf_release(&l->labels[i]);
}
