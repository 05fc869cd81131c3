/* SPDX-License-Identifier: MIT */
#include "fleet/texts.h"

uint32_t fz_texts_place(struct fz_texts *t, struct fz_arena *arena, struct fz_str text)
{
	uint64_t hash = fz_map_hash(text.p, text.n);
	uint32_t *slot = fz_map_slot(&t->map, hash);

	while (*slot != FZ_NONE && !fz_str_eq(fz_str_of(t->list[*slot]), text)) {
		hash = fz_hash64(hash);
		slot = fz_map_slot(&t->map, hash);
	}
	if (*slot != FZ_NONE)
		return *slot;
	fz_grow(t->list, t->n, t->cap);
	t->list[t->n] = fz_arena_strndup(arena, text.p, text.n);
	return *slot = t->n++;
}

uint32_t fz_texts_find(const struct fz_texts *t, struct fz_str text)
{
	uint64_t hash = fz_map_hash(text.p, text.n);
	uint32_t place = fz_map_get(&t->map, hash);

	while (place != FZ_NONE && !fz_str_eq(fz_str_of(t->list[place]), text)) {
		hash = fz_hash64(hash);
		place = fz_map_get(&t->map, hash);
	}
	return place;
}

void fz_texts_release(struct fz_texts *t)
{
	fz_map_release(&t->map);
	free(t->list);
	*t = (struct fz_texts){ 0 };
}
