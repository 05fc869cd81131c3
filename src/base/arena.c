/* SPDX-License-Identifier: MIT */
/* A list of blocks, each at least 64 KiB; large requests get a block of their own. */
#include "arena.h"

enum { BLOCK_SIZE = 64 * 1024 };

struct fz_arena_block {
	struct fz_arena_block *next;
	size_t size;
	char data[] __attribute__((aligned(16)));
};

void fz_arena_release(struct fz_arena *a)
{
	while (a->blocks) {
		struct fz_arena_block *next = a->blocks->next;
		free(a->blocks);
		a->blocks = next;
	}
	*a = (struct fz_arena){ 0 };
}

void *fz_arena_alloc(struct fz_arena *a, size_t size)
{
	fz_assert(size < SIZE_MAX / 2);
	size = (size + 7) & ~(size_t)7;
	if (!a->blocks || size > a->blocks->size - a->used) {
		size_t capacity = FZ_MAX(size, (size_t)BLOCK_SIZE);
		struct fz_arena_block *block = fz_malloc(sizeof(*block) + capacity);
		block->next = a->blocks;
		block->size = capacity;
		a->blocks = block;
		a->used = 0;
		a->bytes += capacity;
	}
	void *p = a->blocks->data + a->used;
	a->used += size;
	return p;
}

char *fz_arena_strndup(struct fz_arena *a, const char *s, size_t n)
{
	char *copy = fz_arena_alloc(a, n + 1);

	if (n)
		memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}
