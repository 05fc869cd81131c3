/* SPDX-License-Identifier: MIT */
/* Objects in a copy of a process's memory.
 *
 *   roots: modules, frames of threads, then what only C code holds (the lists of the collector)
 *     -> queue of {object, stack of its holder} -> type, size, references -> queue ...
 *
 * An address is an object if it has a plausible reference count and its type is a type. Bodies of
 * types that are not known by name are scanned for addresses of objects. The copy is hostile:
 * every address, count and size is checked against it, and every object is taken once.
 */
#pragma once

#include "heap.h"
#include "layout.h"
#include "memory.h"
#include "record/python/dict.h"

/* How the references of an object are found. */
enum fz_heap_kind {
	FZ_HEAP_OTHER, /* scanned */
	FZ_HEAP_FIXED, /* the same, but what follows its fields is numbers */
	FZ_HEAP_PLAIN, /* has none */
	FZ_HEAP_INT,
	FZ_HEAP_STR,
	FZ_HEAP_BYTEARRAY,
	FZ_HEAP_DICT,
	FZ_HEAP_ODICT,
	FZ_HEAP_LIST,
	FZ_HEAP_TUPLE,
	FZ_HEAP_SET,
	FZ_HEAP_TYPE,
	FZ_HEAP_MODULE,
	FZ_HEAP_WEAKREF,
	FZ_HEAP_CODE,
	FZ_HEAP_GENERATOR,
	FZ_HEAP_FRAME,
	FZ_HEAP_DEQUE,
	FZ_HEAP_ARRAY,
	FZ_HEAP_NDARRAY,
};

struct fz_heap_type_info {
	uint64_t address; /* 0: of no type, but of a module or a frame whose variables have names */
	uint64_t flags, basic, item, weak_list, keys;
	int64_t dict;
	uint64_t kind_basic; /* size of what the kind knows: subclasses add to it */
	enum fz_heap_kind kind;
	uint32_t name;  /* string */
	uint32_t frame; /* of the profile */
	uint64_t bytes, objects;
};

struct fz_heap_item {
	uint64_t object;
	uint32_t stack;
	uint32_t owner; /* type whose attributes a dict has; FZ_NONE: it is a plain dict */
};

/* Memory that C code has from malloc. */
struct fz_heap_block {
	uint64_t address, size;
	uint32_t stack; /* of what points to it */
	unsigned blocks;
};

/* A heap of malloc. */
struct fz_heap_arena {
	uint64_t start, end;
	uint64_t *used; /* one bit for each 16 bytes: a chunk that is used begins there */
};

struct fz_heap_walk {
	struct fz_heap_memory memory;
	struct fz_process *process;
	struct fz_process view; /* of the copy, for readers of strings */
	const struct fz_py_layout *layout;
	const struct fz_heap_layout *shape;
	uint64_t runtime;
	struct fz_profile *profile;
	uint64_t type_type; /* address of `type` */
	struct fz_heap_type_info *types;
	uint32_t type_n, type_cap;
	struct fz_map by_address; /* index of the type at an address, plus 1; 0: not a type */
	struct fz_map attributes; /* frame by type and name */
	struct fz_heap_item *queue;
	size_t head, tail, queue_cap;
	struct fz_heap_arena *arenas;
	uint32_t arena_n, arena_cap;
	struct fz_heap_block *blocks; /* to be taken when the queue is empty */
	size_t block_head, block_n, block_cap;
	uint64_t *bytes, *objects; /* by stack */
	uint32_t stack_cap;
	uint32_t values_type; /* pseudo type: attribute values outside their object */
	uint32_t block_type;  /* pseudo type: memory of C code */
	uint64_t changed;
};

/* ---- heap.c ---- */

/* Let readers of single objects read the copy. */
void fz_heap_view(struct fz_heap_walk *w);

/* ---- types.c ---- */

bool fz_heap_word(struct fz_heap_walk *w, uint64_t at, uint64_t *ret);
/* What a frame refers to, without its tag. */
static inline uint64_t fz_heap_untag(const struct fz_heap_walk *w, uint64_t word)
{
	return word & ~(uint64_t)w->shape->tag_bits;
}
/* The entries of a dict, from the address of its keys. False: they were not copied, or changed. */
bool fz_heap_entries(struct fz_heap_walk *w, uint64_t keys, struct fz_py_entries *ret);
/* Key and value of entry i, 0 where there is none. */
bool fz_heap_entry(struct fz_heap_walk *w, const struct fz_py_entries *e, uint64_t i,
		   uint64_t *ret_key, uint64_t *ret_value);
/* Index of the type of an object; FZ_NONE if no object is at this address. */
uint32_t fz_heap_type_of(struct fz_heap_walk *w, uint64_t object);
/* A type_info that only has a name. */
uint32_t fz_heap_add_owner(struct fz_heap_walk *w, struct fz_str name, struct fz_str file,
			   int32_t line, enum fz_kind kind);
/* Find `type` from any object. */
bool fz_heap_find_type_type(struct fz_heap_walk *w, uint64_t object);

/* ---- sizes.c ---- */

/* Bytes of an object, as sys.getsizeof says; 0: it cannot be one. */
uint64_t fz_heap_size(struct fz_heap_walk *w, const struct fz_heap_type_info *t, uint64_t object);
/* Slots for variables of a code object. */
bool fz_heap_code_slots(struct fz_heap_walk *w, uint64_t code, uint64_t *ret_locals,
			uint64_t *ret_all);
/* Number of attributes that the keys of a class have room for. */
bool fz_heap_keys_room(struct fz_heap_walk *w, uint64_t keys, uint64_t *ret);

/* ---- references.c ---- */

/* Queue what an object holds, below the object's own stack. */
void fz_heap_references(struct fz_heap_walk *w, const struct fz_heap_item *item, uint32_t type,
			uint64_t size, uint32_t holder);

enum { FZ_HEAP_BLOCKS = 2 }; /* blocks between an object and the last one that it holds */

/* Queue what any word of this memory refers to, but for the one at `leave_out`: objects, and blocks
 * unless `blocks` is 0. */
void fz_heap_scan(struct fz_heap_walk *w, uint64_t from, uint64_t to, uint64_t leave_out,
		  uint32_t stack, unsigned blocks);

/* ---- blocks.c ---- */

/* Find the blocks of malloc. */
void fz_heap_find_arenas(struct fz_heap_walk *w);
/* Queue the block at an address, if there is one, and `blocks` behind it. */
void fz_heap_block(struct fz_heap_walk *w, uint64_t address, uint32_t stack, unsigned blocks);
/* What is at an address counts with an object. */
void fz_heap_block_known(struct fz_heap_walk *w, uint64_t address);
/* Take the next block. False: there is none. */
bool fz_heap_take_block(struct fz_heap_walk *w);

/* ---- roots.c ---- */

/* Queue what sys.modules holds, and the variables of modules. */
void fz_heap_add_modules(struct fz_heap_walk *w, uint64_t dict);
/* Queue the variables of functions that run. */
void fz_heap_add_threads(struct fz_heap_walk *w, uint64_t interpreter);

enum { FZ_HEAP_LISTS = 4 }; /* three generations, and what is never collected */

/* Heads of the collector's lists; returns how many were found. */
uint32_t fz_heap_lists(struct fz_heap_walk *w, uint64_t interpreter, uint64_t ret[FZ_HEAP_LISTS]);
/* Next and previous, without the two bits of each that are the collector's own. */
bool fz_heap_links(struct fz_heap_walk *w, uint64_t at, uint64_t ret[2]);

/* ---- walk.c ---- */

/* Queue an object unless it was queued before. False: no object is at this address. */
bool fz_heap_queue(struct fz_heap_walk *w, uint64_t object, uint32_t stack, uint32_t owner);
/* The same, where a reference must be an object. 0 is nothing. */
void fz_heap_refer(struct fz_heap_walk *w, uint64_t object, uint32_t stack);
/* Stack of an attribute of that owner below `stack`. */
uint32_t fz_heap_attribute(struct fz_heap_walk *w, uint32_t owner, uint64_t name, uint32_t stack);
void fz_heap_count(struct fz_heap_walk *w, uint32_t type, uint32_t stack, uint64_t bytes);
uint32_t fz_heap_stack(struct fz_heap_walk *w, uint32_t parent, uint32_t frame);
/* Find and count everything. */
int fz_heap_walk(struct fz_heap_walk *w, struct fz_error *err);
void fz_heap_walk_release(struct fz_heap_walk *w);
