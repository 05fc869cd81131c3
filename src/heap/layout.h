/* SPDX-License-Identifier: MIT */
/* Where each version of CPython keeps what the tables of record/python/layouts.h do not have.
 * Offsets are from the beginning of the object, and sizes in bytes. Source:
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
	FZ_HEAP_CLASS = 1 << 9, /* not a type of C code */
	FZ_HEAP_READY = 1 << 12,
	FZ_HEAP_COLLECTED = 1 << 14,

	/* before an object: the collector's header, and the addresses of attributes */
	FZ_HEAP_PREFIX = 16,
	FZ_HEAP_DICT_BEFORE = -24,
	FZ_HEAP_VALUES_BEFORE = -32,

	FZ_HEAP_MODULE_DICT = 16,
	FZ_HEAP_FRAME_DATA = 24,   /* of a frame object from 3.11 on: its frame */
	FZ_HEAP_CODE_CACHES = 152, /* of 3.8 - 3.10: addresses of a map and of entries */
	FZ_HEAP_SET_ENTRY = 16,
	FZ_HEAP_DEQUE_LEFT = 40,
	FZ_HEAP_DEQUE_BLOCK = 64, /* items of a block, between two links */
};
#define FZ_HEAP_IS_TYPE (1ull << 31) /* a flag: its instances are types */

/* Where attributes are that need no dict. */
enum fz_heap_attributes {
	FZ_HEAP_NO_VALUES,
	FZ_HEAP_VALUES_OUTSIDE, /* 3.11: one word before the object is their address */
	FZ_HEAP_VALUES_TAGGED,  /* 3.12: it is that or, if even, the address of a dict */
	FZ_HEAP_VALUES_INLINE,  /* 3.13 on: behind the object */
};

struct fz_heap_layout {
	uint8_t values;     /* enum fz_heap_attributes */
	uint8_t cleared;    /* state of a generator from which on it has no frame */
	uint8_t tag_bits;   /* of what a frame refers to */
	uint8_t digits_min; /* that sys.getsizeof counts in an int */
	/* Bits of the first word that count references; the others are flags. */
	uint64_t references;
	uint32_t with_words;   /* flags of a type whose objects have two words before them */
	uint32_t type_size;    /* of a type of C code */
	uint32_t type_keys;    /* of a class: keys that its instances share */
	bool static_prefix;    /* sys.getsizeof adds the collector's header to types of C code */
	uint32_t bytes_header; /* of the bytes object that a bytearray keeps its data in; 0: none */
	uint32_t pool_size;    /* of Python's allocator; a power of two */
	uint32_t code_stack, code_locals;
	struct {
		uint32_t state, definition, state_size; /* the last two: one of them is absent */
	} module;
	uint32_t frame_top; /* of a frame object: the end of its values, from 3.10 on counted */
};

/* Of a build with the GIL; every version from FZ_PY_MINOR_MIN to FZ_PY_MINOR_MAX has one. */
const struct fz_heap_layout *fz_heap_layout_of(unsigned minor);
