/* SPDX-License-Identifier: MIT */
/* Where CPython 3.11 keeps what the tables of record/python/layouts.h do not have. Offsets are from
 * the beginning of the object, and sizes in bytes. Source: Include/cpython/object.h,
 * Include/internal/pycore_{gc,object,frame}.h, Objects/moduleobject.c, Modules/_collectionsmodule.c
 */
#pragma once

enum {
	/* in a type */
	FZ_HEAP_TYPE_BASIC_SIZE = 32,
	FZ_HEAP_TYPE_ITEM_SIZE = 40,
	FZ_HEAP_TYPE_WEAK_LIST = 208,
	FZ_HEAP_TYPE_DICT_OFFSET = 288,
	FZ_HEAP_TYPE_STATIC_SIZE = 408, /* of a type of C code */
	FZ_HEAP_TYPE_KEYS = 872,        /* of a class: keys that its instances share */
	/* its flags */
	FZ_HEAP_MANAGED_DICT = 1 << 4,
	FZ_HEAP_CLASS = 1 << 9, /* not a type of C code */
	FZ_HEAP_READY = 1 << 12,
	FZ_HEAP_COLLECTED = 1 << 14,

	/* before an object: the collector's header, and the addresses of attributes */
	FZ_HEAP_PREFIX = 16,
	FZ_HEAP_DICT_BEFORE = -24,
	FZ_HEAP_VALUES_BEFORE = -32,

	FZ_HEAP_MODULE_DICT = 16,
	FZ_HEAP_FRAME_DATA = 24, /* of a frame object: its frame */
	FZ_HEAP_SET_ENTRY = 16,
	FZ_HEAP_DEQUE_LEFT = 40,
	FZ_HEAP_DEQUE_BLOCK = 64, /* items of a block, between two links */
};
#define FZ_HEAP_IS_TYPE (1ull << 31) /* a flag: its instances are types */
