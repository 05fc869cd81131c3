/* SPDX-License-Identifier: MIT */
/* Numbers texts from 0 on, in the order in which they are added. */
#pragma once

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"

struct fz_texts {
	/* hash of a text -> its number; on a collision the hash is hashed again */
	struct fz_map map;
	char **list; /* terminated, in the arena of the caller */
	uint32_t n, cap;
};

/* Return the number of a text, adding it if new: then the number is the previous t->n. */
uint32_t fz_texts_place(struct fz_texts *t, struct fz_arena *arena, struct fz_str text);
/* The number of a text; FZ_NONE if it was not added. */
uint32_t fz_texts_find(const struct fz_texts *t, struct fz_str text);
void fz_texts_release(struct fz_texts *t);
