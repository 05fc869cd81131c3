/* SPDX-License-Identifier: MIT */
/* Finds references of objects: by layout if the kind of their type is known, else by a scan of
 * their body. Borrowed references (the referent of a weak reference, the list of an object's weak
 * references) are omitted. */
#include "walk.h"

#include "heap/layout.h"

enum {
	STATE_SIZE = 56, /* in a module's definition */
	STATE_MAX = 1 << 16,
	WEAKREF_CALLBACK = 24,
	DEQUE_FIRST = 24,
	ARRAY_ITEMS = 24,
	BYTEARRAY_BYTES = 32,
	NDARRAY_BASE = 48,
	NDARRAY_DATA = 16,
	NDARRAY_DESCRIPTION = 56,
	DESCRIPTION_KIND = 24, /* a letter */
};

/* Whether most references of a container lead to no object, so its memory has been reused. */
static bool is_gone(const struct fz_heap_walk *w, uint64_t changed_before, uint64_t items)
{
	enum { CHANGED_MAX = 64 };
	uint64_t changed = w->changed - changed_before;

	return changed > CHANGED_MAX && changed > items / 2;
}

/* Follows n consecutive references. */
static void refer_all(struct fz_heap_walk *w, uint64_t at, uint64_t n, uint32_t stack)
{
	uint64_t word, before = w->changed;

	for (uint64_t i = 0; i < n && !is_gone(w, before, i); i++) {
		if (!fz_heap_word(w, at + i * 8, &word)) {
			w->changed++;
			return;
		}
		fz_heap_refer(w, word, stack);
	}
}

/* Follows the entries of a dict, or of an object's attributes. `values`: address of separate
 * values, or 0.
 */
static void entries(struct fz_heap_walk *w, uint64_t keys, uint64_t values, uint32_t owner,
		    uint32_t stack)
{
	struct fz_py_entries e = { 0 };
	bool changed = !fz_heap_entries(w, keys, &e);
	uint64_t key, value, before = w->changed;

	fz_heap_block_known(w, keys);
	for (uint64_t i = 0; i < e.n && !changed && !is_gone(w, before, i); i++) {
		changed = !fz_heap_entry(w, &e, i, &key, &value) ||
			  (values && !fz_heap_word(w, values + i * 8, &value));
		if (changed || !key)
			continue;
		fz_heap_refer(w, key, stack);
		if (value)
			fz_heap_refer(w, value,
				      owner == FZ_NONE ? stack
						       : fz_heap_attribute(w, owner, key, stack));
	}
	w->changed += changed;
}

static void dict(struct fz_heap_walk *w, const struct fz_heap_item *item, uint32_t stack)
{
	uint64_t keys, values;

	if (fz_heap_word(w, item->object + w->layout->dict.keys, &keys) &&
	    fz_heap_word(w, item->object + w->layout->dict.values, &values))
		entries(w, keys, fz_py_dict_values(w->layout, values), item->owner,
			item->owner == FZ_NONE ? stack : item->stack);
}

/* Follows attributes without a dict: one block of memory, with a small header before the values. */
static void attribute_values(struct fz_heap_walk *w, const struct fz_heap_type_info *t,
			     uint64_t values, uint32_t type, uint32_t holder)
{
	uint64_t room;
	const uint8_t *prefix = fz_heap_memory_at(&w->memory, values - 1, 1);

	if (!prefix || !fz_heap_keys_room(w, t->keys, &room)) {
		w->changed++;
		return;
	}
	fz_heap_count(w, w->values_type, fz_heap_stack(w, holder, w->types[w->values_type].frame),
		      *prefix + room * 8);
	entries(w, t->keys, values, type, holder);
}

/* The same after the object: {capacity, used, embedded, valid, 4 unused bytes}, values, and a byte
 * per value for their order. Invalid ones have moved to a dict. */
static void inline_values(struct fz_heap_walk *w, const struct fz_heap_type_info *t, uint64_t at,
			  uint32_t type, uint32_t holder)
{
	enum { ROOM, VALID = 3, HEADER = 8 };
	const uint8_t *p = fz_heap_memory_at(&w->memory, at, HEADER);

	if (!p) {
		w->changed++;
		return;
	}
	fz_heap_count(w, w->values_type, fz_heap_stack(w, holder, w->types[w->values_type].frame),
		      HEADER + p[ROOM] * 8ul + ((p[ROOM] + 7ul) & ~7ul));
	if (p[VALID])
		entries(w, t->keys, at + HEADER, type, holder);
}

/* Follows values whose names are in the class. Returns the address of the pointer to a dict, or
 * 0. */
static uint64_t managed(struct fz_heap_walk *w, const struct fz_heap_type_info *t, uint64_t object,
			uint32_t type, uint32_t holder)
{
	uint64_t at = object + (uint64_t)FZ_HEAP_DICT_BEFORE, word;

	switch (w->shape->values) {
	case FZ_HEAP_VALUES_OUTSIDE:
		if (fz_heap_word(w, object + (uint64_t)FZ_HEAP_VALUES_BEFORE, &word) && word &&
		    t->keys)
			attribute_values(w, t, word, type, holder);
		return at;
	case FZ_HEAP_VALUES_TAGGED:
		if (!fz_heap_word(w, at, &word) || !(word & 1))
			return at;
		if (t->keys)
			attribute_values(w, t, word + 1, type, holder);
		return 0;
	default:
		if (t->flags & FZ_HEAP_INLINE_VALUES && t->keys)
			inline_values(w, t, object + t->basic, type, holder);
		return at;
	}
}

/* Follows the attributes of an object: its dict, or values. */
static void attributes(struct fz_heap_walk *w, uint64_t object, uint32_t type, uint64_t size,
		       uint32_t holder)
{
	const struct fz_heap_type_info t = w->types[type];
	uint64_t at = 0, word;

	if (w->shape->values != FZ_HEAP_NO_VALUES && t.flags & FZ_HEAP_MANAGED_DICT) {
		at = managed(w, &t, object, type, holder);
	} else if (t.dict > 0) {
		at = object + (uint64_t)t.dict;
	} else if (t.dict < 0) {
		uint64_t added = t.kind == FZ_HEAP_INT ? t.basic - t.kind_basic : 0;
		at = object + size + added - (t.flags & FZ_HEAP_COLLECTED ? FZ_HEAP_PREFIX : 0);
		at = ((at + 7) & ~7ull) + (uint64_t)t.dict;
	}
	if (at && fz_heap_word(w, at, &word) && word)
		fz_heap_queue(w, word, holder, type);
}

static void set(struct fz_heap_walk *w, uint64_t object, uint32_t stack)
{
	enum { MASK_MAX = 1 << 30 };
	uint64_t table, mask, key, hash, before = w->changed;

	if (!fz_heap_word(w, object + w->layout->set.table, &table) ||
	    !fz_heap_word(w, object + w->layout->set.mask, &mask) || mask > MASK_MAX)
		return;
	fz_heap_block_known(w, table);
	for (uint64_t i = 0; i <= mask && !is_gone(w, before, i); i++) {
		if (!fz_heap_word(w, table + i * FZ_HEAP_SET_ENTRY, &key) ||
		    !fz_heap_word(w, table + i * FZ_HEAP_SET_ENTRY + 8, &hash)) {
			w->changed++;
			return;
		}
		/* A removed key leaves a dummy with a hash that no key has. */
		if (key && hash != UINT64_MAX)
			fz_heap_refer(w, key, stack);
	}
}

static void deque(struct fz_heap_walk *w, uint64_t object, uint32_t stack)
{
	uint64_t n, block, index, word, before = w->changed, taken = 0;

	if (!fz_heap_word(w, object + 16, &n) || !fz_heap_word(w, object + DEQUE_FIRST, &block) ||
	    !fz_heap_word(w, object + FZ_HEAP_DEQUE_LEFT, &index) || n > w->memory.bytes / 8)
		return;
	fz_heap_block_known(w, block);
	for (; n && !is_gone(w, before, taken); n--, index++, taken++) {
		if (index >= FZ_HEAP_DEQUE_BLOCK) {
			index = 0;
			if (!fz_heap_word(w, block + (FZ_HEAP_DEQUE_BLOCK + 1) * 8, &block))
				break;
			fz_heap_block_known(w, block);
		}
		if (!fz_heap_word(w, block + (1 + index) * 8, &word))
			break;
		fz_heap_refer(w, word, stack);
	}
	w->changed += n > 0;
}

/* Follows the values of a frame, some of which are tagged. */
static void scan_frame(struct fz_heap_walk *w, uint64_t from, uint64_t to, uint32_t stack)
{
	uint64_t word;

	for (uint64_t at = from; at + 8 <= to && fz_heap_word(w, at, &word); at += 8)
		if (word)
			fz_heap_queue(w, fz_heap_untag(w, word), stack, FZ_NONE);
}

/* Number of values in a frame, from the word with their end, a count or an address. Without it (the
 * frame is executing) only variables count. */
static uint64_t values_of(struct fz_heap_walk *w, uint64_t first, uint64_t top_at, bool counted,
			  uint64_t locals, uint64_t all)
{
	uint64_t top;

	if (!fz_heap_word(w, top_at, &top))
		return 0;
	if (!counted)
		return top < first ? locals : FZ_MIN((top - first) / 8, all);
	return (int32_t)top < 0 ? locals : FZ_MIN(top & UINT32_MAX, all);
}

/* Follows a frame in a generator or a frame object, up to the top of its stack. */
static void frame(struct fz_heap_walk *w, uint64_t at, uint32_t stack)
{
	enum { ADDRESS_FROM = 14 };
	const struct fz_py_layout *l = w->layout;
	uint64_t code, locals, all, first = at + l->frame.locals;

	if (!fz_heap_word(w, at + l->frame.code, &code) ||
	    !fz_heap_code_slots(w, fz_heap_untag(w, code), &locals, &all))
		return;
	scan_frame(w, at, at + l->frame.position, stack);
	scan_frame(w, first,
		   first + 8 * values_of(w, first, at + l->coro.stack, l->minor < ADDRESS_FROM,
					 locals, all),
		   stack);
}

/* The same up to 3.10, where every frame is an object. */
static void heap_frame(struct fz_heap_walk *w, uint64_t object, uint32_t stack)
{
	enum { COUNTED_FROM = 10 };
	const struct fz_py_layout *l = w->layout;
	uint64_t code, locals, all, n, first = object + l->frame.locals;

	if (!fz_heap_word(w, object + l->frame.code, &code) ||
	    !fz_heap_code_slots(w, code, &locals, &all))
		return;
	n = values_of(w, first, object + w->shape->frame_top, l->minor >= COUNTED_FROM, 0, all);
	if (l->minor >= COUNTED_FROM)
		n += locals;
	scan_frame(w, object + l->frame.previous, object + l->frame.position, stack);
	scan_frame(w, first, first + 8 * FZ_MAX(n, locals), stack);
}

/* Follows a generator; a finished one only has the code of its frame. */
static void generator(struct fz_heap_walk *w, uint64_t object, uint64_t weak_list, uint32_t stack)
{
	const uint8_t *state = fz_heap_memory_at(&w->memory, object + w->layout->coro.state, 1);
	uint64_t at = object + w->layout->coro.frame, code;

	fz_heap_scan(w, object + 16, at, object + weak_list, stack, 0);
	if (state && (int8_t)*state < w->shape->cleared)
		frame(w, at, stack);
	else if (fz_heap_word(w, at + w->layout->frame.code, &code))
		fz_heap_queue(w, fz_heap_untag(w, code), stack, FZ_NONE);
}

/* Size of a module's state in C. */
static bool state_size(struct fz_heap_walk *w, uint64_t object, uint64_t *ret)
{
	uint64_t definition;

	if (w->shape->module.definition == FZ_PY_ABSENT)
		return fz_heap_word(w, object + w->shape->module.state_size, ret);
	return fz_heap_word(w, object + w->shape->module.definition, &definition) && definition &&
	       fz_heap_word(w, definition + STATE_SIZE, ret);
}

static void module(struct fz_heap_walk *w, uint64_t object, uint32_t stack)
{
	uint64_t word, state, size;

	if (fz_heap_word(w, object + FZ_HEAP_MODULE_DICT, &word) && word)
		fz_heap_refer(w, word, stack);
	if (fz_heap_word(w, object + w->shape->module.state, &state) && state &&
	    state_size(w, object, &size) && size <= STATE_MAX) {
		fz_heap_block(w, state, stack, FZ_HEAP_BLOCKS - 1);
		fz_heap_scan(w, state, state + size, 0, stack, 0);
	}
}

static void ndarray(struct fz_heap_walk *w, const struct fz_heap_type_info *t, uint64_t object,
		    uint32_t stack)
{
	uint64_t base, description, data, lengths, bytes = fz_heap_array_data(w, object);
	const uint8_t *kind;

	if (!fz_heap_word(w, object + NDARRAY_BASE, &base) ||
	    !fz_heap_word(w, object + NDARRAY_DESCRIPTION, &description) ||
	    !fz_heap_word(w, object + NDARRAY_DATA, &data) ||
	    !fz_heap_word(w, object + FZ_HEAP_NDARRAY_DIMENSIONS + 8, &lengths))
		return;
	fz_heap_block_known(w, lengths);
	if (bytes)
		fz_heap_block_known(w, data);
	fz_heap_scan(w, object + NDARRAY_BASE, object + t->basic, object + t->weak_list, stack, 0);
	kind = fz_heap_memory_at(&w->memory, description + DESCRIPTION_KIND, 1);
	if (kind && *kind == 'O' && !base)
		fz_heap_scan(w, data, data + bytes, 0, stack, 0);
}

static void known(struct fz_heap_walk *w, const struct fz_heap_item *item,
		  const struct fz_heap_type_info *t, uint32_t stack)
{
	const struct fz_py_layout *l = w->layout;
	uint64_t object = item->object, at, n;

	switch (t->kind) {
	case FZ_HEAP_ODICT:
	case FZ_HEAP_DICT:
		dict(w, item, stack);
		break;
	case FZ_HEAP_LIST:
		if (fz_heap_word(w, object + 16, &n) && n &&
		    fz_heap_word(w, object + l->list.items, &at)) {
			fz_heap_block_known(w, at);
			refer_all(w, at, n, stack);
		}
		break;
	case FZ_HEAP_TUPLE:
		if (fz_heap_word(w, object + 16, &n))
			refer_all(w, object + l->tuple.items, n, stack);
		break;
	case FZ_HEAP_SET:
		set(w, object, stack);
		break;
	case FZ_HEAP_MODULE:
		module(w, object, stack);
		break;
	case FZ_HEAP_WEAKREF:
		fz_heap_scan(w, object + WEAKREF_CALLBACK, object + WEAKREF_CALLBACK + 8, 0, stack,
			     0);
		break;
	case FZ_HEAP_GENERATOR:
		generator(w, object, t->weak_list, stack);
		break;
	case FZ_HEAP_FRAME:
		if (l->frames == FZ_PY_FRAMES_HEAP) {
			heap_frame(w, object, stack);
			break;
		}
		fz_heap_scan(w, object + 16, object + FZ_HEAP_FRAME_DATA, 0, stack, 0);
		if (fz_heap_word(w, object + FZ_HEAP_FRAME_DATA, &at))
			frame(w, at, stack);
		break;
	case FZ_HEAP_DEQUE:
		deque(w, object, stack);
		break;
	case FZ_HEAP_BYTEARRAY:
	case FZ_HEAP_ARRAY:
		if (fz_heap_word(
			    w, object + (t->kind == FZ_HEAP_ARRAY ? ARRAY_ITEMS : BYTEARRAY_BYTES),
			    &at))
			fz_heap_block_known(w, at);
		break;
	case FZ_HEAP_NDARRAY:
		ndarray(w, t, object, stack);
		break;
	default:
		break;
	}
}

/* Marks caches of a code object of 3.8 - 3.10, which sys.getsizeof counts. */
static void code_caches(struct fz_heap_walk *w, uint64_t object)
{
	uint64_t at;

	for (int i = 0; w->layout->frames == FZ_PY_FRAMES_HEAP && i < 2; i++)
		if (fz_heap_word(w, object + FZ_HEAP_CODE_CACHES + i * 8, &at))
			fz_heap_block_known(w, at);
}

void fz_heap_references(struct fz_heap_walk *w, const struct fz_heap_item *item, uint32_t type,
			uint64_t size, uint32_t holder)
{
	/* A copy, because new types may move the table. */
	const struct fz_heap_type_info t = w->types[type];
	uint64_t object = item->object, from = object + 16, to = object + t.basic, flags, keys;

	if (t.kind != FZ_HEAP_TYPE && t.kind != FZ_HEAP_MODULE)
		attributes(w, object, type, size, holder);
	if (t.kind == FZ_HEAP_TYPE && fz_heap_word(w, object + w->layout->type.flags, &flags)) {
		if (!(flags & FZ_HEAP_CLASS))
			to = object + w->shape->type_size;
		else if (fz_heap_word(w, object + w->shape->type_keys, &keys) && keys)
			entries(w, keys, 0, FZ_NONE, holder);
	} else if (t.kind == FZ_HEAP_OTHER && t.item) {
		to = object + size - (t.flags & FZ_HEAP_COLLECTED ? FZ_HEAP_PREFIX : 0);
	} else if (t.kind != FZ_HEAP_OTHER && t.kind != FZ_HEAP_FIXED && t.kind != FZ_HEAP_CODE) {
		known(w, item, &t, holder);
		from = object + t.kind_basic;
	} else if (t.kind == FZ_HEAP_CODE) {
		code_caches(w, object);
	}
	if (t.kind != FZ_HEAP_INT && t.kind != FZ_HEAP_TUPLE && t.kind != FZ_HEAP_PLAIN &&
	    t.kind != FZ_HEAP_GENERATOR && t.kind != FZ_HEAP_FRAME)
		fz_heap_scan(w, from, to, t.weak_list ? object + t.weak_list : 0, holder,
			     t.kind == FZ_HEAP_TYPE || t.kind == FZ_HEAP_CODE ? 0 : FZ_HEAP_BLOCKS);
}
