/* SPDX-License-Identifier: MIT */
/* Sizes of objects like sys.getsizeof: including exclusively owned memory (a list's items, a dict's
 * keys) and what precedes the object (the collector's header, addresses of attributes). */
#include "walk.h"

#include "heap/layout.h"

enum {
	LIST_ALLOCATED = 32,
	BYTEARRAY_ALLOCATED = 24,
	SET_SMALL = 8, /* entries in the object itself */
	ODICT_NODE = 32,
	ARRAY_ALLOCATED = 32,
	ARRAY_DESCRIPTION = 40,
	/* in a code object of 3.8 - 3.10 */
	CODE_BYTECODE = 48,
	CODE_CELLS_OF_ARGUMENTS = 96,
	CODE_CACHE_SIZE = 172,
	CODE_CACHE_ENTRY = 32,
	NDARRAY_OWNS = 4,
	NDARRAY_DIMENSIONS_MAX = 64,
};
#define SIZE_LIMIT (1ull << 46)

static bool word32(struct fz_heap_walk *w, uint64_t at, uint32_t *ret)
{
	const uint8_t *p = fz_heap_memory_at(&w->memory, at, 4);

	if (p)
		memcpy(ret, p, 4);
	return p;
}

/* Number of names in a tuple of a code object; 0 if the version has no such tuple. */
static bool names_in(struct fz_heap_walk *w, uint64_t code, uint32_t at, uint64_t *ret)
{
	uint64_t tuple;

	*ret = 0;
	return at == FZ_PY_ABSENT || (fz_heap_word(w, code + at, &tuple) &&
				      fz_heap_word(w, tuple + w->layout->object.var_size, ret));
}

bool fz_heap_code_slots(struct fz_heap_walk *w, uint64_t code, uint64_t *ret_locals,
			uint64_t *ret_all)
{
	uint64_t cells, frees;
	uint32_t locals, stack;

	if (code % 8 || !word32(w, code + w->shape->code_stack, &stack) ||
	    !word32(w, code + w->shape->code_locals, &locals) ||
	    !names_in(w, code, w->layout->code.cells, &cells) ||
	    !names_in(w, code, w->layout->code.frees, &frees) ||
	    (locals | stack | cells | frees) >> 24)
		return false;
	*ret_locals = locals + cells + frees;
	*ret_all = *ret_locals + stack;
	return true;
}

/* Capacity of keys: two thirds of the slots of their index. */
static uint64_t keys_room(const struct fz_py_entries *e)
{
	return e->slots * 2 / 3;
}

static uint64_t keys_bytes(uint64_t keys, const struct fz_py_entries *e)
{
	return e->at - keys + keys_room(e) * e->words * 8;
}

/* From 3.11 on, shared keys have less room for new attributes with each new instance. */
bool fz_heap_keys_room(struct fz_heap_walk *w, uint64_t keys, uint64_t *ret)
{
	enum { ROOM_MAX = 255 };
	struct fz_py_entries e;

	if (!fz_heap_entries(w, keys, &e))
		return false;
	*ret = w->shape->values == FZ_HEAP_NO_VALUES ? keys_room(&e) : e.usable + e.n;
	return e.usable <= ROOM_MAX && e.n <= ROOM_MAX && *ret <= ROOM_MAX;
}

static uint64_t dict_extra(struct fz_heap_walk *w, uint64_t object)
{
	uint64_t keys, values, references, shared = 0;
	struct fz_py_entries e;

	if (!fz_heap_word(w, object + w->layout->dict.keys, &keys) ||
	    !fz_heap_word(w, object + w->layout->dict.values, &values) ||
	    !fz_heap_entries(w, keys, &e) || !fz_heap_word(w, keys, &references) ||
	    (values && !fz_heap_keys_room(w, keys, &shared)))
		return SIZE_LIMIT;
	return shared * 8 + (references == 1 ? keys_bytes(keys, &e) : 0);
}

static uint64_t odict_extra(struct fz_heap_walk *w, uint64_t object)
{
	uint64_t keys, used;
	struct fz_py_entries e;

	if (!fz_heap_word(w, object + w->layout->dict.keys, &keys) ||
	    !fz_heap_word(w, object + w->layout->object.var_size, &used) ||
	    !fz_heap_entries(w, keys, &e) || used > keys_room(&e))
		return SIZE_LIMIT;
	return dict_extra(w, object) + e.slots * 8 + used * ODICT_NODE;
}

/* Size of a str, whose header has one of three sizes. */
static uint64_t str_size(struct fz_heap_walk *w, const struct fz_heap_type_info *t, uint64_t object)
{
	const struct fz_py_layout *l = w->layout;
	uint64_t length, size, utf8_length, utf8, data;
	uint32_t state;

	if (!fz_heap_word(w, object + l->unicode.length, &length) ||
	    !word32(w, object + l->unicode.state, &state) || length > SIZE_LIMIT / 8)
		return SIZE_LIMIT;
	unsigned kind = state >> l->unicode_shift & 7;
	bool compact = state >> (l->unicode_shift + 3) & 1;
	bool ascii = state >> (l->unicode_shift + 4) & 1;
	if (compact && ascii)
		return l->unicode.ascii_data + length + 1;
	if (!fz_heap_word(w, object + l->unicode.ascii_data, &utf8_length) ||
	    !fz_heap_word(w, object + l->unicode.ascii_data + 8, &utf8))
		return SIZE_LIMIT;
	size = compact ? l->unicode.compact_data : t->kind_basic;
	data = object + l->unicode.compact_data;
	if (!compact && !fz_heap_word(w, data, &data))
		return SIZE_LIMIT;
	size += (length + 1) * kind;
	return size + (utf8 && utf8 != data ? utf8_length + 1 : 0);
}

static uint64_t array_extra(struct fz_heap_walk *w, uint64_t object)
{
	uint64_t allocated, description;
	uint32_t item;

	/* The description, {letter, size of an item, ...}, is constant, and so not in the copy. */
	if (!fz_heap_word(w, object + ARRAY_ALLOCATED, &allocated) ||
	    !fz_heap_word(w, object + ARRAY_DESCRIPTION, &description))
		return SIZE_LIMIT;
	if (!fz_process_read(w->process, description + 4, &item, sizeof(item)) || item > 16 ||
	    allocated > SIZE_LIMIT / 16)
		return SIZE_LIMIT;
	return allocated * item;
}

/* Returns 0 for an array without dimensions. */
uint64_t fz_heap_array_data(struct fz_heap_walk *w, uint64_t object)
{
	uint64_t fields[6], bytes = 0;
	const uint8_t *p = fz_heap_memory_at(&w->memory, object + FZ_HEAP_NDARRAY_DIMENSIONS, 48);

	if (!p)
		return SIZE_LIMIT;
	memcpy(fields, p, sizeof(fields));
	uint32_t n = (uint32_t)fields[0];
	if (!(fields[5] & NDARRAY_OWNS))
		return 0;
	for (uint32_t i = 0; i < FZ_MIN(n, (uint32_t)NDARRAY_DIMENSIONS_MAX); i++) {
		uint64_t length, stride, all;
		if (!fz_heap_word(w, fields[1] + i * 8, &length) ||
		    !fz_heap_word(w, fields[2] + i * 8, &stride) ||
		    __builtin_mul_overflow(length, stride, &all))
			return SIZE_LIMIT;
		if (!length)
			return 0;
		bytes = FZ_MAX(bytes, all);
	}
	return FZ_MIN(bytes, SIZE_LIMIT);
}

/* Data, and a length and a stride for each dimension. */
static uint64_t ndarray_extra(struct fz_heap_walk *w, uint64_t object)
{
	uint32_t n;

	if (!word32(w, object + FZ_HEAP_NDARRAY_DIMENSIONS, &n) || n > NDARRAY_DIMENSIONS_MAX)
		return SIZE_LIMIT;
	return fz_heap_array_data(w, object) + n * 16ul;
}

/* A frame object up to 3.10 has one slot in its body. */
static uint64_t frame_extra(struct fz_heap_walk *w, const struct fz_heap_type_info *t,
			    uint64_t object)
{
	const struct fz_py_layout *l = w->layout;
	bool is_heap = l->frames == FZ_PY_FRAMES_HEAP;
	uint64_t code, locals, all, frame = object;

	if (t->kind == FZ_HEAP_GENERATOR)
		frame = object + l->coro.frame;
	else if (!is_heap && !fz_heap_word(w, object + FZ_HEAP_FRAME_DATA, &frame))
		return SIZE_LIMIT;
	if (!fz_heap_word(w, frame + l->frame.code, &code) ||
	    !fz_heap_code_slots(w, fz_heap_untag(w, code), &locals, &all))
		return SIZE_LIMIT;
	return (all - (is_heap && all)) * 8;
}

/* Caches of a frequently called code object of 3.8 - 3.10. */
static uint64_t code_extra(struct fz_heap_walk *w, uint64_t object)
{
	const struct fz_py_layout *l = w->layout;
	uint64_t of_arguments, map, bytecode, length = 0, cells = 0;
	const uint8_t *entries = fz_heap_memory_at(&w->memory, object + CODE_CACHE_SIZE, 1);

	if (l->frames != FZ_PY_FRAMES_HEAP)
		return 0;
	if (!entries || !fz_heap_word(w, object + CODE_CELLS_OF_ARGUMENTS, &of_arguments) ||
	    !fz_heap_word(w, object + FZ_HEAP_CODE_CACHES, &map) ||
	    !fz_heap_word(w, object + CODE_BYTECODE, &bytecode) ||
	    (of_arguments && !names_in(w, object, l->code.cells, &cells)) ||
	    (map && !fz_heap_word(w, bytecode + l->bytes.size, &length)) || (cells | length) >> 32)
		return SIZE_LIMIT;
	return cells * 8 + (map ? length / 2 + *entries * CODE_CACHE_ENTRY : 0);
}

/* Size of items in the object itself. */
static uint64_t items_size(struct fz_heap_walk *w, const struct fz_heap_type_info *t,
			   uint64_t object)
{
	uint64_t word, n;

	if (!t->item || t->kind == FZ_HEAP_TYPE || t->kind == FZ_HEAP_GENERATOR ||
	    t->kind == FZ_HEAP_FRAME)
		return 0;
	if (!fz_heap_word(w, object + w->layout->object.var_size, &word))
		return SIZE_LIMIT;
	n = (int64_t)word < 0 ? -word : word;
	if (t->kind == FZ_HEAP_INT) {
		enum { TAG_BITS = 3, TAGGED_FROM = 12 };
		n = w->layout->minor < TAGGED_FROM ? n : word >> TAG_BITS;
		n = FZ_MAX(n, (uint64_t)w->shape->digits_min);
	}
	if (n > SIZE_LIMIT / (t->item + 1))
		return SIZE_LIMIT;
	return t->kind == FZ_HEAP_CODE ? (n * t->item + 7) & ~7ull : n * t->item;
}

/* Size of exclusively owned memory. */
static uint64_t extra(struct fz_heap_walk *w, const struct fz_heap_type_info *t, uint64_t object)
{
	const struct fz_py_layout *l = w->layout;
	uint64_t n, m;

	switch (t->kind) {
	case FZ_HEAP_LIST:
		return fz_heap_word(w, object + LIST_ALLOCATED, &n) && n < SIZE_LIMIT / 8
			       ? n * 8
			       : SIZE_LIMIT;
	case FZ_HEAP_BYTEARRAY:
		if (!fz_heap_word(w, object + BYTEARRAY_ALLOCATED, &n))
			return SIZE_LIMIT;
		return n ? n + w->shape->bytes_header : 0;
	case FZ_HEAP_SET:
		if (!fz_heap_word(w, object + l->set.mask, &n) ||
		    n > SIZE_LIMIT / FZ_HEAP_SET_ENTRY)
			return SIZE_LIMIT;
		return n < SET_SMALL ? 0 : (n + 1) * FZ_HEAP_SET_ENTRY;
	case FZ_HEAP_DICT:
		return dict_extra(w, object);
	case FZ_HEAP_ODICT:
		return odict_extra(w, object);
	case FZ_HEAP_TYPE:
		/* In the body of the type, not of its instances. */
		return 0;
	case FZ_HEAP_DEQUE:
		if (!fz_heap_word(w, object + 16, &n) ||
		    !fz_heap_word(w, object + FZ_HEAP_DEQUE_LEFT, &m) || n > SIZE_LIMIT / 16 ||
		    m >= FZ_HEAP_DEQUE_BLOCK)
			return SIZE_LIMIT;
		return (m + n + FZ_HEAP_DEQUE_BLOCK - 1) / FZ_HEAP_DEQUE_BLOCK *
		       (FZ_HEAP_DEQUE_BLOCK + 2) * 8;
	case FZ_HEAP_ARRAY:
		return array_extra(w, object);
	case FZ_HEAP_NDARRAY:
		return ndarray_extra(w, object);
	case FZ_HEAP_GENERATOR:
	case FZ_HEAP_FRAME:
		return frame_extra(w, t, object);
	case FZ_HEAP_CODE:
		return code_extra(w, object);
	default:
		return 0;
	}
}

/* Size of a type. One defined in C has a shorter body than a class, and no collector's header,
 * which sys.getsizeof still adds in some versions. */
static uint64_t type_size(struct fz_heap_walk *w, const struct fz_heap_type_info *t,
			  uint64_t object)
{
	uint64_t flags, keys;
	struct fz_py_entries e;

	if (!fz_heap_word(w, object + w->layout->type.flags, &flags))
		return 0;
	if (!(flags & FZ_HEAP_CLASS))
		return w->shape->type_size + (w->shape->static_prefix ? FZ_HEAP_PREFIX : 0);
	if (!fz_heap_word(w, object + w->shape->type_keys, &keys))
		return 0;
	return t->basic + FZ_HEAP_PREFIX +
	       (keys && fz_heap_entries(w, keys, &e) ? keys_bytes(keys, &e) : 0);
}

uint64_t fz_heap_size(struct fz_heap_walk *w, const struct fz_heap_type_info *t, uint64_t object)
{
	/* Python does not count fields of subclasses of int. */
	uint64_t size, basic = t->kind == FZ_HEAP_INT ? t->kind_basic : t->basic;

	if (t->kind == FZ_HEAP_TYPE)
		return type_size(w, t, object);
	size = t->kind == FZ_HEAP_STR ? str_size(w, t, object)
				      : basic + items_size(w, t, object) + extra(w, t, object);
	/* (Objects without references may have untouched pages.) */
	if (t->kind == FZ_HEAP_OTHER && !fz_heap_memory_at(&w->memory, object, size))
		return 0;
	size += (t->flags & FZ_HEAP_COLLECTED ? FZ_HEAP_PREFIX : 0) +
		(t->flags & w->shape->with_words ? FZ_HEAP_PREFIX : 0);
	return size < SIZE_LIMIT ? size : 0;
}
