/* SPDX-License-Identifier: MIT */
/* Layouts of each version of CPython that the tables of record/python/layouts.h lack. Offsets are
 * from the start of the object, sizes in bytes. Source:
 * Include/cpython/{object,code,frameobject,bytearrayobject}.h,
 * Include/internal/pycore_{gc,object,dict,frame,moduleobject}.h, Modules/_collectionsmodule.c
 */
#pragma once

#include "base/base.h"

/* The same in all versions. */
enum {
	/* in a type */
	FZ_HEAP_TYPE_BASIC_SIZE = 32,
	FZ_HEAP_TYPE_ITEM_SIZE = 40,
	FZ_HEAP_TYPE_WEAK_LIST = 208,
	FZ_HEAP_TYPE_DICT_OFFSET = 288,
	/* its flags */
	FZ_HEAP_INLINE_VALUES = 1 << 2,
	FZ_HEAP_MANAGED_WEAKREF = 1 << 3,
	FZ_HEAP_MANAGED_DICT = 1 << 4,
	FZ_HEAP_CLASS = 1 << 9, /* not a type defined in C */
	FZ_HEAP_READY = 1 << 12,
	FZ_HEAP_COLLECTED = 1 << 14,

	/* before an object: the collector's header, and addresses of attributes */
	FZ_HEAP_PREFIX = 16,
	FZ_HEAP_DICT_BEFORE = -24,
	FZ_HEAP_VALUES_BEFORE = -32,

	FZ_HEAP_MODULE_DICT = 16,
	FZ_HEAP_FRAME_DATA = 24,   /* of a frame object from 3.11 on: its frame */
	FZ_HEAP_CODE_CACHES = 152, /* of 3.8 - 3.10: addresses of a map and of entries */
	FZ_HEAP_SET_ENTRY = 16,
	FZ_HEAP_NDARRAY_DIMENSIONS = 24, /* number, lengths, strides, base, description, flags */
	FZ_HEAP_DEQUE_LEFT = 40,
	FZ_HEAP_DEQUE_BLOCK = 64, /* items per block, between two links */
};
#define FZ_HEAP_IS_TYPE (1ull << 31) /* flag: instances are types */

/* Place of attributes without a dict. */
enum fz_heap_attributes {
	FZ_HEAP_NO_VALUES,
	FZ_HEAP_VALUES_OUTSIDE, /* 3.11: a word before the object has their address */
	FZ_HEAP_VALUES_TAGGED,  /* 3.12: that word has it or, if even, the address of a dict */
	FZ_HEAP_VALUES_INLINE,  /* from 3.13 on: after the object */
};

struct fz_heap_layout {
	uint8_t values;     /* enum fz_heap_attributes */
	uint8_t cleared;    /* first state of a generator without a frame */
	uint8_t tag_bits;   /* of references in a frame */
	uint8_t digits_min; /* least number of digits that sys.getsizeof counts in an int */
	/* Bits of the reference count in the first word; the others are flags. */
	uint64_t references;
	uint32_t with_words;   /* flags of types whose objects have two words before them */
	uint32_t type_size;    /* of a type defined in C */
	uint32_t type_keys;    /* of a class: keys shared by its instances */
	bool static_prefix;    /* sys.getsizeof adds the collector's header to types defined in C */
	uint32_t bytes_header; /* header of the bytes object with a bytearray's data; 0: none */
	uint32_t pool_size;    /* of Python's allocator; a power of two */
	uint32_t code_stack, code_locals;
	struct {
		uint32_t state, definition, state_size; /* one of the last two is absent */
	} module;
	uint32_t frame_top; /* of a frame object: the end of its values; a count from 3.10 on */
};

/* Layout of a build with the GIL; exists for every version from FZ_PY_MINOR_MIN to
 * FZ_PY_MINOR_MAX. */
const struct fz_heap_layout *fz_heap_layout_of(unsigned minor);
