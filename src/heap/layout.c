/* SPDX-License-Identifier: MIT */
/* The table of layouts; fields are in layout.h. The values are from the headers of 3.8.18, 3.9.18,
 * 3.10.13, 3.11.7, 3.12.1, 3.13.0, 3.13.15, 3.14.8 and 3.15.0, and for additions of sys.getsizeof,
 * which the headers lack, from tests with the interpreters. */
#include "layout.h"

#include "record/python/layouts.h"

#define NONE FZ_PY_ABSENT

/* Up to 3.13 the whole first word; later its last quarter has flags. */
#define ALL_BITS UINT64_MAX
#define NOT_FLAGS ((1ull << 48) - 1)

#define TWO_WORDS (FZ_HEAP_MANAGED_DICT | FZ_HEAP_MANAGED_WEAKREF)

/* clang-format off */
#define OLD_MODULE { .state = 32, .definition = 24, .state_size = NONE }

static const struct fz_heap_layout layouts[] = {
	[8 - FZ_PY_MINOR_MIN] = {
		.values = FZ_HEAP_NO_VALUES, .references = ALL_BITS,
		.type_size = 416, .type_keys = 872, .code_stack = 32, .code_locals = 28,
		.module = OLD_MODULE, .frame_top = 72, .pool_size = 4096,
	},
	[9 - FZ_PY_MINOR_MIN] = {
		.values = FZ_HEAP_NO_VALUES, .references = ALL_BITS,
		.type_size = 408, .type_keys = 864, .code_stack = 32, .code_locals = 28,
		.module = OLD_MODULE, .frame_top = 72, .pool_size = 4096,
	},
	[10 - FZ_PY_MINOR_MIN] = {
		.values = FZ_HEAP_NO_VALUES, .references = ALL_BITS,
		.type_size = 408, .type_keys = 872, .code_stack = 32, .code_locals = 28,
		.module = OLD_MODULE, .frame_top = 80, .pool_size = 16384,
	},
	[11 - FZ_PY_MINOR_MIN] = {
		.values = FZ_HEAP_VALUES_OUTSIDE, .references = ALL_BITS,
		.cleared = 4, .digits_min = 1, .with_words = FZ_HEAP_MANAGED_DICT, .static_prefix = true,
		.type_size = 408, .type_keys = 872, .code_stack = 68, .code_locals = 76,
		.module = OLD_MODULE, .frame_top = NONE, .pool_size = 16384,
	},
	[12 - FZ_PY_MINOR_MIN] = {
		.values = FZ_HEAP_VALUES_TAGGED, .references = ALL_BITS,
		.cleared = 4, .digits_min = 1, .with_words = TWO_WORDS, .static_prefix = true,
		.type_size = 416, .type_keys = 880, .code_stack = 64, .code_locals = 72,
		.module = OLD_MODULE, .frame_top = NONE, .pool_size = 16384,
	},
	[13 - FZ_PY_MINOR_MIN] = {
		.values = FZ_HEAP_VALUES_INLINE, .references = ALL_BITS,
		.cleared = 4, .digits_min = 1, .with_words = TWO_WORDS,
		.type_size = 416, .type_keys = 880, .code_stack = 64, .code_locals = 72,
		.module = OLD_MODULE, .frame_top = NONE, .pool_size = 16384,
	},
	[14 - FZ_PY_MINOR_MIN] = {
		.values = FZ_HEAP_VALUES_INLINE, .references = NOT_FLAGS, .tag_bits = 3,
		.cleared = 4, .digits_min = 1, .with_words = TWO_WORDS,
		.type_size = 416, .type_keys = 880, .code_stack = 64, .code_locals = 72,
		.module = OLD_MODULE, .frame_top = NONE, .pool_size = 16384,
	},
	[15 - FZ_PY_MINOR_MIN] = {
		.values = FZ_HEAP_VALUES_INLINE, .references = NOT_FLAGS, .tag_bits = 3,
		.cleared = 5, .digits_min = 1, .with_words = TWO_WORDS, .bytes_header = 33,
		.type_size = 424, .type_keys = 888, .code_stack = 64, .code_locals = 72,
		.module = { .state = 24, .definition = NONE, .state_size = 56 },
		.frame_top = NONE, .pool_size = 16384,
	},
};
/* clang-format on */

const struct fz_heap_layout *fz_heap_layout_of(unsigned minor)
{
	_Static_assert(FZ_ARRAY_LEN(layouts) == FZ_PY_MINOR_MAX - FZ_PY_MINOR_MIN + 1,
		       "a row for each version");
	fz_assert(minor >= FZ_PY_MINOR_MIN && minor <= FZ_PY_MINOR_MAX);
	return &layouts[minor - FZ_PY_MINOR_MIN];
}
