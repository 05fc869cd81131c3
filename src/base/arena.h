/* SPDX-License-Identifier: MIT */
/* Memory that is released all at once. Allocations are never freed individually or moved. */
#pragma once

#include "base.h"

struct fz_arena {
	struct fz_arena_block *blocks; /* newest first */
	size_t used;                   /* in the newest block */
	size_t bytes;                  /* allocated from the system, for limits */
};

void fz_arena_release(struct fz_arena *a);
/* 8-aligned, uninitialised. */
void *fz_arena_alloc(struct fz_arena *a, size_t size);
/* Terminated copy. */
char *fz_arena_strndup(struct fz_arena *a, const char *s, size_t n);
