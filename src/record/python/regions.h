/* SPDX-License-Identifier: MIT */
/* Regions with the frames of a thread; the rest of regions.c is declared in walk.h. */
#pragma once

#include "walk.h"

/* Index of the region that contains [at, at + size), or FZ_NONE. */
uint32_t fz_py_region_find(const struct fz_py_walk *w, uint64_t at, uint32_t size);
/* Add regions for a frame that the walk met outside of all, or that was not copied, and for its
 * neighbourhood, so that the next plan includes them. */
void fz_py_region_learn(struct fz_py_walk *w, const struct fz_py_walk_context *c,
			const struct fz_py_plan *plan, uint64_t at);
