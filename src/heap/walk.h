/* SPDX-License-Identifier: MIT */
/* Finds objects in a copy of a process's memory.
 *
 *   roots: modules, frames of threads, then objects held only by C code (the collector's lists)
 *     -> queue of {object, stack of its holder} -> type, size, references -> queue ...
 *
 * An address is an object if it has a plausible reference count and its type is a type. Bodies of
 * unknown types are scanned for addresses of objects. The copy is untrusted: every address, count
 * and size is checked against it, and every object is visited once.
 */
#pragma once

#include "layout.h"
#include "memory.h"
#include "profile/profile.h"
#include "record/python/object.h"

/* How to find the references of an object. */
enum fz_heap_kind {
	FZ_HEAP_OTHER, /* scanned */
	FZ_HEAP_FIXED, /* only its fields are scanned, because numbers follow them */
	FZ_HEAP_PLAIN, /* none */
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
	uint64_t address; /* 0: not a type but a module or a frame with named variables */
	uint64_t flags, basic, item, weak_list, keys;
	int64_t dict;
	uint64_t kind_basic; /* size of the kind itself; subclasses are larger */
	enum fz_heap_kind kind;
	uint32_t name;  /* string */
	uint32_t frame; /* of the profile */
	uint64_t bytes, objects;
};

struct fz_heap_item {
	uint64_t object;
	uint32_t stack;
	uint32_t owner; /* type whose attributes are in a dict; FZ_NONE for a plain dict */
};

/* Memory of C code from malloc. */
struct fz_heap_block {
	uint64_t address, size;
	uint32_t stack; /* of its holder */
	unsigned blocks;
};

/* A heap of malloc. */
struct fz_heap_arena {
	uint64_t start, end;
	uint64_t *used; /* one bit per 16 bytes: a used chunk starts there */
};

struct fz_heap_walk {
	struct fz_heap_memory memory;
	struct fz_process *process;
	struct fz_process view; /* reads the copy, for readers of strings */
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
	struct fz_heap_block *blocks; /* processed when the queue is empty */
	size_t block_head, block_n, block_cap;
	uint64_t *bytes, *objects; /* by stack */
	uint32_t stack_cap;
	uint32_t values_type; /* pseudo type: attribute values outside their object */
	uint32_t block_type;  /* pseudo type: memory of C code */
	uint64_t changed;
};

/* ---- heap.c ---- */

/* Sets w->view, which reads the copy. */
void fz_heap_view(struct fz_heap_walk *w);

/* ---- types.c ---- */

bool fz_heap_word(struct fz_heap_walk *w, uint64_t at, uint64_t *ret);
/* Strips the tag of a reference in a frame. */
static inline uint64_t fz_heap_untag(const struct fz_heap_walk *w, uint64_t word)
{
	return word & ~(uint64_t)w->shape->tag_bits;
}
/* Reads the entries of a dict at the address of its keys; false if not copied, or changed. */
bool fz_heap_entries(struct fz_heap_walk *w, uint64_t keys, struct fz_py_entries *ret);
/* Reads key and value of entry i; 0 if empty. */
bool fz_heap_entry(struct fz_heap_walk *w, const struct fz_py_entries *e, uint64_t i,
		   uint64_t *ret_key, uint64_t *ret_value);
/* Index of the type of an object; FZ_NONE if there is no object at this address. */
uint32_t fz_heap_type_of(struct fz_heap_walk *w, uint64_t object);
/* Adds a type_info with just a name. */
uint32_t fz_heap_add_owner(struct fz_heap_walk *w, struct fz_str name, struct fz_str file,
			   int32_t line, enum fz_kind kind);
/* Finds `type`, starting at any object. */
bool fz_heap_find_type_type(struct fz_heap_walk *w, uint64_t object);

/* ---- sizes.c ---- */

/* Size of an object like sys.getsizeof; 0 if it cannot be an object. */
uint64_t fz_heap_size(struct fz_heap_walk *w, const struct fz_heap_type_info *t, uint64_t object);
/* Numbers of slots for variables of a code object. */
bool fz_heap_code_slots(struct fz_heap_walk *w, uint64_t code, uint64_t *ret_locals,
			uint64_t *ret_all);
/* Bytes of data that an array of NumPy owns. */
uint64_t fz_heap_array_data(struct fz_heap_walk *w, uint64_t object);
/* Capacity for attributes of the keys of a class. */
bool fz_heap_keys_room(struct fz_heap_walk *w, uint64_t keys, uint64_t *ret);

/* ---- queue.c ---- */

/* Queues an object unless it is queued already; false if there is no object at this address. */
bool fz_heap_queue(struct fz_heap_walk *w, uint64_t object, uint32_t stack, uint32_t owner);
/* The same for a reference that must be an object, or 0. */
void fz_heap_refer(struct fz_heap_walk *w, uint64_t object, uint32_t stack);
/* Returns the stack of an owner's attribute below `stack`. */
uint32_t fz_heap_attribute(struct fz_heap_walk *w, uint32_t owner, uint64_t name, uint32_t stack);
void fz_heap_count(struct fz_heap_walk *w, uint32_t type, uint32_t stack, uint64_t bytes);
uint32_t fz_heap_stack(struct fz_heap_walk *w, uint32_t parent, uint32_t frame);

/* ---- blocks.c ---- */

enum { FZ_HEAP_BLOCKS = 2 }; /* largest chain of blocks from an object */

/* Finds the arenas of malloc. */
void fz_heap_find_arenas(struct fz_heap_walk *w);
/* Queues the block at an address, if there is one, with a chain of up to `blocks`. */
void fz_heap_block(struct fz_heap_walk *w, uint64_t address, uint32_t stack, unsigned blocks);
/* Queues objects, and blocks unless `blocks` is 0, that any word of this memory refers to, except
 * the one at `leave_out`. */
void fz_heap_scan(struct fz_heap_walk *w, uint64_t from, uint64_t to, uint64_t leave_out,
		  uint32_t stack, unsigned blocks);
/* Marks the block at an address as part of an object. */
void fz_heap_block_known(struct fz_heap_walk *w, uint64_t address);
/* Processes the next block; false if there is none. */
bool fz_heap_take_block(struct fz_heap_walk *w);

/* ---- references.c ---- */

/* Queues the references of an object, below the object's own stack. */
void fz_heap_references(struct fz_heap_walk *w, const struct fz_heap_item *item, uint32_t type,
			uint64_t size, uint32_t holder);

/* ---- roots.c ---- */

/* Queues the modules in sys.modules, and their variables. */
void fz_heap_add_modules(struct fz_heap_walk *w, uint64_t dict);
/* Queues the variables of executing functions. */
void fz_heap_add_threads(struct fz_heap_walk *w, uint64_t interpreter);

enum { FZ_HEAP_LISTS = 4 }; /* three generations, and the permanent one */

/* Finds the heads of the collector's lists; returns their number. */
uint32_t fz_heap_lists(struct fz_heap_walk *w, uint64_t interpreter, uint64_t ret[FZ_HEAP_LISTS]);
/* Reads the next and previous links, without the collector's two flag bits. */
bool fz_heap_links(struct fz_heap_walk *w, uint64_t at, uint64_t ret[2]);

/* ---- walk.c ---- */

/* Finds and counts all objects. */
int fz_heap_walk(struct fz_heap_walk *w, struct fz_error *err);
void fz_heap_walk_release(struct fz_heap_walk *w);
