/* SPDX-License-Identifier: MIT */
/* Where the frames of a thread are; the rest of regions.c is declared in walk.h. */
#pragma once

#include "walk.h"

/* Index of the region that holds [at, at + size), or FZ_NONE. */
uint32_t fz_py_region_find(const struct fz_py_walk *w, uint64_t at, uint32_t size);
/* The walk came to a frame that is in none, or was not copied: look around there, so that the next
 * plan has it. */
void fz_py_region_learn(struct fz_py_walk *w, const struct fz_py_walk_context *c,
			const struct fz_py_plan *plan, uint64_t at);
