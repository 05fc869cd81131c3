/* SPDX-License-Identifier: MIT */
/* Finds memory of C code from glibc's malloc or from Python's allocator:
 *
 *   arena {chunk, chunk, ...}   contiguous: the heap of the process, or one of a thread
 *   chunk {size of the previous chunk, own size with three flags}, the block ...
 *   pool {header, block, block, ...}   at a multiple of its size, blocks of one size
 *
 * A word of an object's body refers to a block if a used chunk starts there (all chunks are listed
 * first), or an mmapped chunk, or if it is a used block of a pool with a plausible header.
 *
 * Blocks are processed after all objects, because memory of builtin types counts as part of the
 * object and is marked by then. A block is scanned like a body, but chains of blocks end after two,
 * because reused memory contains stale addresses, which lead to more of them.
 */
#include "walk.h"

enum {
	HEADER = 16,
	USED_BEFORE = 1, /* flags in a size */
	OWN_PAGES = 2,
	FLAGS = 7,
	CHUNK_MIN = 32,
	PAGE = 4096,
	THREAD_HEAP = 64 << 20, /* size and alignment */
	/* in the header of a pool */
	POOL_FREE = 8,
	POOL_CLASS = 36,
	POOL_NEXT = 40, /* offset of the first never-used block, and of the last one */
	POOL_HEADER = 48,
	POOL_STEP = 16, /* between sizes of blocks */
	POOL_CLASSES = 32,
};
#define CHUNK_MAX (1ull << 46)

void fz_heap_block_known(struct fz_heap_walk *w, uint64_t address)
{
	if (address % 8 == 0 && fz_heap_memory_at(&w->memory, address, 8))
		fz_heap_memory_mark(&w->memory, address);
}

/* Marks used chunks from `at` on; false if they do not end with the arena. */
static bool walk_chunks(struct fz_heap_walk *w, struct fz_heap_arena *a, uint64_t at)
{
	uint64_t word, next;

	while (fz_heap_word(w, at + 8, &word)) {
		uint64_t size = word & ~(uint64_t)FLAGS;
		if (size < CHUNK_MIN || size % 16 || size > a->end - at)
			return false;
		if (size == a->end - at)
			return true;
		if (!fz_heap_word(w, at + size + 8, &next))
			return false;
		uint64_t bit = (at - a->start) / 16;
		if (next & USED_BEFORE)
			a->used[bit / 64] |= 1ull << (bit & 63);
		at += size;
	}
	return false;
}

static struct fz_heap_arena *add_arena(struct fz_heap_walk *w, uint64_t start, uint64_t end)
{
	fz_grow(w->arenas, w->arena_n, w->arena_cap);
	struct fz_heap_arena *a = &w->arenas[w->arena_n++];
	*a = (struct fz_heap_arena){ start, end, fz_calloc((end - start) / 1024 + 1, 8) };
	return a;
}

/* Adds the heap of a thread, which starts with {arena, previous heap, size, ...}. The offset of the
 * first chunk depends on glibc's version: it is the one from which the chunks end with the heap. */
static void add_thread_heap(struct fz_heap_walk *w, uint64_t at)
{
	enum { SIZE = 16, BEFORE_MAX = 4096 };
	uint64_t arena, size;

	if (!fz_heap_word(w, at, &arena) || !fz_heap_word(w, at + SIZE, &size) || !arena ||
	    !fz_heap_memory_at(&w->memory, arena, 8) || size < PAGE || size > THREAD_HEAP ||
	    size % PAGE)
		return;
	struct fz_heap_arena *a = add_arena(w, at, at + size);
	for (uint64_t before = CHUNK_MIN; before < BEFORE_MAX; before += 16) {
		if (walk_chunks(w, a, at + before))
			return;
		memset(a->used, 0, (size / 1024 + 1) * 8);
	}
}

static int by_start(const void *a, const void *b)
{
	const struct fz_heap_arena *x = a, *y = b;

	return FZ_CMP(x->start, y->start);
}

void fz_heap_find_arenas(struct fz_heap_walk *w)
{
	const struct fz_heap_memory *m = &w->memory;

	if (m->heap_end > m->heap_start)
		walk_chunks(w, add_arena(w, m->heap_start, m->heap_end), m->heap_start);
	for (uint32_t i = 0; i < m->n; i++) {
		const struct fz_heap_segment *s = &m->list[i];
		uint64_t at = (s->start + THREAD_HEAP - 1) & ~(THREAD_HEAP - 1ull);
		for (; at < s->end; at += THREAD_HEAP)
			add_thread_heap(w, at);
	}
	if (w->arena_n)
		qsort(w->arenas, w->arena_n, sizeof(*w->arenas), by_start);
}

static bool is_used(const struct fz_heap_walk *w, uint64_t chunk)
{
	uint32_t lo = 0, hi = w->arena_n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (w->arenas[mid].end <= chunk)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == w->arena_n || chunk < w->arenas[lo].start)
		return false;
	uint64_t bit = (chunk - w->arenas[lo].start) / 16;
	return w->arenas[lo].used[bit / 64] >> (bit & 63) & 1;
}

static bool is_free(struct fz_heap_walk *w, uint64_t pool, uint64_t at)
{
	uint64_t next, left = w->shape->pool_size / POOL_STEP;

	if (!fz_heap_word(w, pool + POOL_FREE, &next))
		return true;
	for (; next && left; left--)
		if (next == at || !fz_heap_word(w, next, &next))
			return true;
	return next;
}

/* Size of a block of Python's allocator; 0 if there is none. */
static uint64_t pool_block_size(struct fz_heap_walk *w, uint64_t at)
{
	uint64_t pool = at & ~(w->shape->pool_size - 1ull);
	const uint8_t *header = fz_heap_memory_at(&w->memory, pool, POOL_HEADER);
	uint32_t class, next, last;

	if (!header || at < pool + POOL_HEADER)
		return 0;
	memcpy(&class, header + POOL_CLASS, 4);
	memcpy(&next, header + POOL_NEXT, 4);
	memcpy(&last, header + POOL_NEXT + 4, 4);
	uint64_t size = (class + 1ull) * POOL_STEP;
	if (class >= POOL_CLASSES || last != w->shape->pool_size - size || next > last + size ||
	    at - pool >= next || (at - pool - POOL_HEADER) % size || is_free(w, pool, at))
		return 0;
	return size;
}

/* Size of a block of malloc; 0 if there is none. */
static uint64_t chunk_block_size(struct fz_heap_walk *w, uint64_t at)
{
	uint64_t chunk = at - HEADER, before, word;

	if (at < PAGE || !fz_heap_word(w, at - 8, &word) || !fz_heap_memory_at(&w->memory, at, 8))
		return 0;
	uint64_t size = word & ~(uint64_t)FLAGS;
	if (is_used(w, chunk))
		return size - HEADER / 2;
	/* From glibc 2.43 on, the size excludes the header. */
	uint64_t pages = (size + PAGE - 1) & ~(PAGE - 1ull);
	return (word & FLAGS) == OWN_PAGES && chunk % PAGE == 0 && size && size < CHUNK_MAX &&
			       (pages == size || pages == size + HEADER) &&
			       fz_heap_word(w, chunk, &before) && !before
		       ? pages - HEADER
		       : 0;
}

/* Whether the block contains an object, after an optional prefix. */
static bool is_object(struct fz_heap_walk *w, uint64_t at)
{
	return fz_heap_memory_is_marked(&w->memory, at + FZ_HEAP_PREFIX) ||
	       fz_heap_memory_is_marked(&w->memory, at + 2ul * FZ_HEAP_PREFIX);
}

void fz_heap_block(struct fz_heap_walk *w, uint64_t address, uint32_t stack, unsigned blocks)
{
	uint64_t size;

	if (address % 16)
		return;
	if (!(size = chunk_block_size(w, address)))
		size = pool_block_size(w, address);
	if (!size)
		return;
	fz_push(w->blocks, w->block_n, w->block_cap,
		(struct fz_heap_block){ address, size, stack, blocks });
}

void fz_heap_scan(struct fz_heap_walk *w, uint64_t from, uint64_t to, uint64_t leave_out,
		  uint32_t stack, unsigned blocks)
{
	uint64_t word;

	for (uint64_t at = from & ~7ull; at + 8 <= to; at += 8) {
		if (!fz_heap_word(w, at, &word))
			return;
		if (word && at != leave_out && !fz_heap_queue(w, word, stack, FZ_NONE) && blocks)
			fz_heap_block(w, word, stack, blocks - 1);
	}
}

bool fz_heap_take_block(struct fz_heap_walk *w)
{
	if (w->block_head == w->block_n) {
		w->block_head = w->block_n = 0;
		return false;
	}
	const struct fz_heap_block b = w->blocks[w->block_head++];
	if (!is_object(w, b.address) && fz_heap_memory_mark(&w->memory, b.address)) {
		fz_heap_count(w, w->block_type,
			      fz_heap_stack(w, b.stack, w->types[w->block_type].frame), b.size);
		fz_heap_scan(w, b.address, b.address + b.size, 0, b.stack, b.blocks);
	}
	return true;
}
