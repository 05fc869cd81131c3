/* SPDX-License-Identifier: MIT */
/* Blocks of malloc in a synthetic heap of words: which addresses are blocks, their sizes, and what
 * they refer to. */
#include "heap/walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum {
	WORDS = 8192,   /* 64 KiB */
	HEAP = 0x10000, /* where it lies in the target */
	POOL = 0x18000,
	PAGES = 0x1c000,
	END = HEAP + WORDS * 8,
	USED = 1, /* flags of a chunk's size */
	OWN_PAGES = 2,
};

struct world {
	uint64_t words[WORDS], seen[WORDS / 64];
	struct fz_heap_segment segment;
	struct fz_heap_walk w;
	struct fz_process process;
};

static struct world t;

static void put(uint64_t at, uint64_t value)
{
	t.words[(at - HEAP) / 8] = value;
}

static void put_halves(uint64_t at, uint32_t low, uint32_t high)
{
	put(at, (uint64_t)high << 32 | low);
}

/* A chunk, and its flag in the next one. */
static uint64_t put_chunk(uint64_t at, uint64_t size, bool used)
{
	put(at + 8, (t.words[(at + 8 - HEAP) / 8] & USED) | size);
	put(at + size + 8, used ? USED : 0);
	return at + size;
}

static int set_up(void **state)
{
	uint64_t at = HEAP;

	(void)state;
	t = (struct world){ 0 };
	t.segment = (struct fz_heap_segment){ HEAP, END, (uint8_t *)t.words, t.seen };
	t.w.memory = (struct fz_heap_memory){
		.list = &t.segment, .n = 1, .bytes = WORDS * 8, .heap_start = HEAP, .heap_end = POOL
	};
	t.w.process = &t.process;
	t.w.layout = fz_py_layout_static(12);
	t.w.shape = fz_heap_layout_of(12);
	t.w.profile = fz_profile_new();
	t.w.block_type = fz_heap_add_owner(&t.w, FZ_STR("[memory of C code]"), FZ_STR(""), 0,
					   FZ_KIND_MARKER);
	put(HEAP + 8, USED);
	at = put_chunk(at, 0x100, true);  /* block at 0x10010 */
	at = put_chunk(at, 0x1000, true); /* 0x10110 */
	at = put_chunk(at, 0x200, false); /* 0x11110: it was freed */
	at = put_chunk(at, 0x300, true);  /* 0x11310 */
	put(at + 8, (POOL - at) | USED);  /* the rest */
	/* A pool of blocks of 48 bytes: the first four were used, the third is free. */
	put_halves(POOL, 3, 0);
	put(POOL + 8, POOL + 48 + 2 * 48);
	put_halves(POOL + 32, 0, 2);
	put_halves(POOL + 40, 48 + 4 * 48, 16384 - 48);
	put(PAGES + 8, 0x2000 | OWN_PAGES);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	t.w.memory = (struct fz_heap_memory){ 0 };
	fz_profile_free(t.w.profile);
	fz_heap_walk_release(&t.w);
	return 0;
}

static uint32_t stack_of(const char *name)
{
	return fz_profile_stack(t.w.profile, FZ_NONE,
				fz_profile_frame_named(t.w.profile, fz_str_of(name), FZ_STR(""),
						       FZ_NO_LINE, FZ_KIND_PYTHON));
}

/* Bytes and blocks that an address leads to. */
static uint64_t taken(uint64_t address, uint64_t *ret_n)
{
	struct fz_heap_type_info *all = &t.w.types[t.w.block_type];

	all->bytes = all->objects = 0;
	memset(t.seen, 0, sizeof(t.seen));
	fz_heap_block(&t.w, address, stack_of("holder"), FZ_HEAP_BLOCKS - 1);
	while (fz_heap_take_block(&t.w))
		;
	*ret_n = t.w.types[t.w.block_type].objects;
	return t.w.types[t.w.block_type].bytes;
}

static void test_sizes(void **state)
{
	static const struct {
		uint64_t at, bytes;
	} cases[] = {
		{ HEAP + 0x10, 0x100 - 8 },
		{ HEAP + 0x110, 0x1000 - 8 },
		{ HEAP + 0x1110, 0 }, /* free */
		{ HEAP + 0x1310, 0x300 - 8 },
		{ HEAP + 0x1610, 0 }, /* the rest of the heap */
		{ HEAP + 0x20, 0 },   /* inside a block */
		{ HEAP + 0x18, 0 },
		{ POOL + 48, 48 },
		{ POOL + 48 + 48, 48 },
		{ POOL + 48 + 2 * 48, 0 }, /* free */
		{ POOL + 48 + 3 * 48, 48 },
		{ POOL + 48 + 4 * 48, 0 }, /* never used */
		{ POOL + 48 + 16, 0 },
		{ PAGES + 16, 0x2000 - 16 },
		{ END - 16, 0 },
		{ END + 16, 0 },
		{ 16, 0 },
	};
	uint64_t n;

	(void)state;
	fz_heap_find_arenas(&t.w);
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++)
		if (taken(cases[i].at, &n) != cases[i].bytes)
			fail_msg("%#llx", (unsigned long long)cases[i].at);
	/* As glibc writes the size from 2.43 on. */
	put(PAGES + 8, (0x2000 - 16) | OWN_PAGES);
	assert_int_equal(taken(PAGES + 16, &n), 0x2000 - 16);
}

/* A block leads to a second one, which leads nowhere. */
static void test_chain(void **state)
{
	uint64_t n;

	(void)state;
	put(HEAP + 0x18, HEAP + 0x110);
	put(HEAP + 0x110, HEAP + 0x1310);
	fz_heap_find_arenas(&t.w);
	assert_int_equal(taken(HEAP + 0x10, &n), 0x100 - 8 + 0x1000 - 8);
	assert_int_equal(n, 2);
	/* Memory that counts with an object is not a block of its own. */
	memset(t.seen, 0, sizeof(t.seen));
	fz_heap_block_known(&t.w, HEAP + 0x110);
	fz_heap_block(&t.w, HEAP + 0x110, stack_of("holder"), 1);
	t.w.types[t.w.block_type].bytes = 0;
	assert_true(fz_heap_take_block(&t.w));
	assert_false(fz_heap_take_block(&t.w));
	assert_int_equal(t.w.types[t.w.block_type].bytes, 0);
}

/* The heap of a thread, which begins with words about it and an arena. */
static void test_thread(void **state)
{
	enum { BASE = 64 << 20, FIRST = 0x8b0, SIZE = 0x8000 };
	uint64_t n, *heap = t.words;

	(void)state;
	memset(t.words, 0, sizeof(t.words));
	t.segment.start = BASE;
	t.segment.end = BASE + WORDS * 8;
	t.w.memory.heap_start = t.w.memory.heap_end = 0;
	heap[0] = BASE + 0x40;
	heap[2] = SIZE;
	heap[FIRST / 8 + 1] = 0x400 | USED;
	heap[(FIRST + 0x400) / 8 + 1] = (SIZE - FIRST - 0x400) | USED;
	fz_heap_find_arenas(&t.w);
	assert_int_equal(taken(BASE + FIRST + 16, &n), 0x400 - 8);
	assert_int_equal(taken(BASE + FIRST + 0x400 + 16, &n), 0);
	heap[2] = SIZE + 8;
	free(t.w.arenas[0].used);
	t.w.arena_n = 0;
	fz_heap_find_arenas(&t.w);
	assert_int_equal(taken(BASE + FIRST + 16, &n), 0);
}

/* Behind a chunk that cannot be one nothing is known. */
static void test_damaged(void **state)
{
	static const uint64_t sizes[] = { 0, 8, 24, 40, 0x10000000, UINT64_MAX };
	uint64_t n;

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(sizes); i++) {
		put(HEAP + 0x108, sizes[i]);
		fz_heap_find_arenas(&t.w);
		assert_int_equal(taken(HEAP + 0x110, &n), 0);
		assert_int_equal(taken(HEAP + 0x1310, &n), 0);
		free(t.w.arenas[0].used);
		t.w.arena_n = 0;
	}
	/* A list of free blocks without an end. */
	put(POOL + 48 + 2 * 48, POOL + 48 + 2 * 48);
	assert_int_equal(taken(POOL + 48, &n), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sizes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_chain, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_thread, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_damaged, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
