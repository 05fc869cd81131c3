/* SPDX-License-Identifier: MIT */
/* Numbers for texts: each has one, from 0 on in the order in which they came. */
#pragma once

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"

struct fz_texts {
	struct fz_map map; /* hash of a text -> its place; equal hashes have places that follow */
	char **list;       /* terminated, in the arena of who adds */
	uint32_t n, cap;
};

/* A text that is new has the number that `n` was before. */
uint32_t fz_texts_place(struct fz_texts *t, struct fz_arena *arena, struct fz_str text);
void fz_texts_release(struct fz_texts *t);
