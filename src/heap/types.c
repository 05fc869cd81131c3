/* SPDX-License-Identifier: MIT */
/* Recognizes types, and finds their names and the layout of their instances. */
#include "walk.h"

#include "heap/layout.h"
#include "record/python/object.h"

enum {
	BASES_MAX = 64,
	NAME_MAX = 255,
	ENTRIES_MAX = 4096,
	SIZE_MAX_OF_TYPE = 1 << 20,
};
#define REFERENCES_MAX (1ull << 40) /* addresses in free lists are larger */

static const struct {
	const char *name;
	enum fz_heap_kind kind;
} kinds[] = {
	{ "int", FZ_HEAP_INT },
	{ "float", FZ_HEAP_PLAIN },
	{ "complex", FZ_HEAP_PLAIN },
	{ "bytes", FZ_HEAP_PLAIN },
	{ "str", FZ_HEAP_STR },
	{ "bytearray", FZ_HEAP_BYTEARRAY },
	{ "dict", FZ_HEAP_DICT },
	{ "frozendict", FZ_HEAP_DICT },
	{ "collections.OrderedDict", FZ_HEAP_ODICT },
	{ "list", FZ_HEAP_LIST },
	{ "tuple", FZ_HEAP_TUPLE },
	{ "set", FZ_HEAP_SET },
	{ "frozenset", FZ_HEAP_SET },
	{ "type", FZ_HEAP_TYPE },
	{ "module", FZ_HEAP_MODULE },
	{ "weakref", FZ_HEAP_WEAKREF },
	{ "weakref.ReferenceType", FZ_HEAP_WEAKREF },
	{ "weakproxy", FZ_HEAP_WEAKREF },
	{ "weakref.ProxyType", FZ_HEAP_WEAKREF },
	{ "weakcallableproxy", FZ_HEAP_WEAKREF },
	{ "weakref.CallableProxyType", FZ_HEAP_WEAKREF },
	{ "code", FZ_HEAP_CODE },
	{ "memoryview", FZ_HEAP_FIXED },
	{ "re.Pattern", FZ_HEAP_FIXED },
	{ "re.Match", FZ_HEAP_FIXED },
	{ "generator", FZ_HEAP_GENERATOR },
	{ "coroutine", FZ_HEAP_GENERATOR },
	{ "async_generator", FZ_HEAP_GENERATOR },
	{ "frame", FZ_HEAP_FRAME },
	{ "collections.deque", FZ_HEAP_DEQUE },
	{ "array.array", FZ_HEAP_ARRAY },
	{ "numpy.ndarray", FZ_HEAP_NDARRAY },
};

bool fz_heap_word(struct fz_heap_walk *w, uint64_t at, uint64_t *ret)
{
	const uint8_t *p = at % 8 ? NULL : fz_heap_memory_at(&w->memory, at, 8);

	if (p)
		memcpy(ret, p, 8);
	return p;
}

bool fz_heap_entries(struct fz_heap_walk *w, uint64_t keys, struct fz_py_entries *ret)
{
	uint64_t head[FZ_PY_KEYS_WORDS];
	const uint8_t *p = keys % 8 ? NULL : fz_heap_memory_at(&w->memory, keys, sizeof(head));

	if (!p)
		return false;
	memcpy(head, p, sizeof(head));
	return fz_py_dict_entries(w->layout, keys, head, ret);
}

bool fz_heap_entry(struct fz_heap_walk *w, const struct fz_py_entries *e, uint64_t i,
		   uint64_t *ret_key, uint64_t *ret_value)
{
	uint64_t at = e->at + (i * e->words + e->words - 2) * 8;

	return fz_heap_word(w, at, ret_key) && fz_heap_word(w, at + 8, ret_value);
}

/* ---- names ---- */

/* Reads the name of a type defined in C, a constant that is not in the copy. */
static bool c_name(struct fz_heap_walk *w, uint64_t at, char out[NAME_MAX + 1])
{
	size_t n = 0;

	while (n < NAME_MAX) {
		size_t part = FZ_MIN((size_t)NAME_MAX - n, 64 - (size_t)((at + n) & 63));
		if (!fz_process_read(w->process, at + n, out + n, part))
			return false;
		if (memchr(out + n, 0, part))
			return true;
		n += part;
	}
	out[n] = '\0';
	return true;
}

static bool module_of(struct fz_heap_walk *w, uint64_t dict, struct fz_buf *out)
{
	uint64_t keys, key, value;
	struct fz_py_entries e;

	if (!fz_heap_word(w, dict + w->layout->dict.keys, &keys) || !fz_heap_entries(w, keys, &e))
		return false;
	for (uint64_t i = 0; i < FZ_MIN(e.n, (uint64_t)ENTRIES_MAX); i++) {
		if (!fz_heap_entry(w, &e, i, &key, &value))
			return false;
		if (key && fz_py_text_is(&w->view, w->layout, key, "__module__"))
			return fz_py_read_text(&w->view, w->layout, value, out);
	}
	return false;
}

/* Appends "module.Class", for builtins just the name. */
static bool add_name(struct fz_heap_walk *w, uint64_t type, uint64_t flags, struct fz_buf *out)
{
	char name[NAME_MAX + 1];
	uint64_t at, dict, qualname;

	if (flags & FZ_HEAP_CLASS && fz_heap_word(w, type + w->layout->type.dict, &dict) &&
	    fz_heap_word(w, type + w->layout->type.qualname, &qualname)) {
		if (module_of(w, dict, out) && !fz_str_eq(fz_buf_view(out), FZ_STR("builtins")))
			fz_buf_char(out, '.');
		else
			fz_buf_reset(out);
		if (fz_py_read_text(&w->view, w->layout, qualname, out))
			return true;
		fz_buf_reset(out);
	}
	if (!fz_heap_word(w, type + w->layout->object.type_name, &at) || !c_name(w, at, name))
		return false;
	fz_buf_str(out, strncmp(name, "builtins.", 9) == 0 ? name + 9 : name);
	return true;
}

/* ---- types ---- */

/* Up to 3.10 a generator refers to an ordinary frame object. */
static enum fz_heap_kind kind_in(const struct fz_heap_walk *w, enum fz_heap_kind kind)
{
	bool is_plain = kind == FZ_HEAP_GENERATOR && w->layout->frames == FZ_PY_FRAMES_HEAP;

	return is_plain ? FZ_HEAP_OTHER : kind;
}

/* The first base with a known name determines the layout of instances. */
static void find_kind(struct fz_heap_walk *w, struct fz_heap_type_info *t)
{
	uint64_t type = t->address, flags;

	for (int depth = 0; type && depth < BASES_MAX; depth++) {
		fz_auto(fz_buf_release) struct fz_buf name = { 0 };
		if (!fz_heap_word(w, type + w->layout->type.flags, &flags))
			return;
		if (add_name(w, type, flags, &name))
			for (size_t i = 0; i < FZ_ARRAY_LEN(kinds); i++)
				if (fz_str_eq(fz_buf_view(&name), fz_str_of(kinds[i].name)) &&
				    fz_heap_word(w, type + FZ_HEAP_TYPE_BASIC_SIZE,
						 &t->kind_basic)) {
					t->kind = kind_in(w, kinds[i].kind);
					return;
				}
		if (!fz_heap_word(w, type + w->layout->type.base, &type))
			return;
	}
}

uint32_t fz_heap_add_owner(struct fz_heap_walk *w, struct fz_str name, struct fz_str file,
			   int32_t line, enum fz_kind kind)
{
	struct fz_profile *p = w->profile;
	struct fz_heap_type_info t = { .name = fz_profile_string(p, name) };
	const struct fz_function f = { .name = t.name,
				       .file = fz_profile_string(p, file),
				       .first_line = line,
				       .kind = (uint8_t)kind };
	const struct fz_frame frame = fz_frame_at(fz_profile_function(p, &f), FZ_NO_LINE);

	t.frame = fz_profile_frame(p, &frame);
	fz_grow(w->types, w->type_n, w->type_cap);
	w->types[w->type_n] = t;
	return w->type_n++;
}

/* Whether the chain of types from here ends in `type`, whose type is itself. */
static bool is_type(struct fz_heap_walk *w, uint64_t type)
{
	uint64_t meta, flags, meta_flags;

	return type % 8 == 0 && fz_heap_memory_at(&w->memory, type, w->shape->type_size) &&
	       fz_heap_word(w, type + w->layout->object.type, &meta) &&
	       fz_heap_word(w, type + w->layout->type.flags, &flags) && flags & FZ_HEAP_READY &&
	       (meta == w->type_type ||
		(meta % 8 == 0 && fz_heap_memory_at(&w->memory, meta, w->shape->type_size) &&
		 fz_heap_word(w, meta + w->layout->type.flags, &meta_flags) &&
		 meta_flags & FZ_HEAP_IS_TYPE && meta_flags & FZ_HEAP_READY));
}

static uint32_t new_type(struct fz_heap_walk *w, uint64_t type)
{
	fz_auto(fz_buf_release) struct fz_buf name = { 0 };
	struct fz_heap_type_info t = { .address = type };
	uint64_t dict;

	if (!is_type(w, type) || !fz_heap_word(w, type + w->layout->type.flags, &t.flags) ||
	    !fz_heap_word(w, type + FZ_HEAP_TYPE_BASIC_SIZE, &t.basic) ||
	    !fz_heap_word(w, type + FZ_HEAP_TYPE_ITEM_SIZE, &t.item) ||
	    !fz_heap_word(w, type + FZ_HEAP_TYPE_WEAK_LIST, &t.weak_list) ||
	    !fz_heap_word(w, type + FZ_HEAP_TYPE_DICT_OFFSET, &dict) || t.basic < 16 ||
	    t.basic > SIZE_MAX_OF_TYPE || t.item > SIZE_MAX_OF_TYPE ||
	    !add_name(w, type, t.flags, &name))
		return FZ_NONE;
	t.dict = (int64_t)dict;
	if (t.flags & FZ_HEAP_CLASS)
		fz_heap_word(w, type + w->shape->type_keys, &t.keys);
	find_kind(w, &t);
	uint32_t index = fz_heap_add_owner(w, fz_buf_view(&name), FZ_STR(""), 0, FZ_KIND_PYTHON);
	t.name = w->types[index].name;
	t.frame = w->types[index].frame;
	w->types[index] = t;
	return index;
}

uint32_t fz_heap_type_of(struct fz_heap_walk *w, uint64_t object)
{
	uint64_t header[2];
	const uint8_t *p = object % 8 ? NULL : fz_heap_memory_at(&w->memory, object, 16);

	if (!p)
		return FZ_NONE;
	memcpy(header, p, sizeof(header));
	header[0] &= w->shape->references;
	if (!header[0] || header[0] >= REFERENCES_MAX || !header[1] || header[1] % 8 ||
	    header[1] >> 47 || !fz_heap_memory_at(&w->memory, header[1], w->shape->type_size))
		return FZ_NONE;
	/* Indices are stored plus 1; 0 means not a type. */
	uint32_t known = fz_map_get(&w->by_address, header[1]);
	if (known == FZ_NONE) {
		known = new_type(w, header[1]) + 1;
		fz_map_put(&w->by_address, header[1], known);
	}
	return known - 1;
}

bool fz_heap_find_type_type(struct fz_heap_walk *w, uint64_t object)
{
	uint64_t type, flags;

	for (int i = 0; i < BASES_MAX; i++) {
		if (!fz_heap_word(w, object + w->layout->object.type, &type))
			return false;
		if (type == object)
			break;
		object = type;
	}
	w->type_type = object;
	return fz_heap_word(w, object + w->layout->type.flags, &flags) && flags & FZ_HEAP_IS_TYPE;
}
