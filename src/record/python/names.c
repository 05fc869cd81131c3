/* SPDX-License-Identifier: MIT */
/* sys.modules["threading"].__dict__["_active"][ident]._name, by reading dicts (object.h) from
 * outside, with a linear search. Attributes of an instance are in a dict (3.8 - 3.10), in a
 * separate array whose names are the type's cached keys (3.11, 3.12), or in an array inside the
 * instance (3.13).
 */
#include "names.h"
#include "object.h"

enum { ENTRIES_MAX = 1 << 17 };

struct entry {
	uint64_t key, value;
};

struct dict {
	struct entry *entries;
	uint32_t n;
};

static void dict_release(struct dict *d)
{
	free(d->entries);
	d->entries = NULL;
}

static bool get(const struct fz_py_names *s, uint64_t at, void *out, size_t n)
{
	return at && at % 8 == 0 && fz_process_read(s->process, at, out, n);
}

/* Size of the common header of objects; the fields of the object's type follow. */
static uint32_t header(const struct fz_py_names *s)
{
	return s->layout->object.var_size;
}

/* Names and values of a keys object; values come from `values` when the keys are shared. */
static bool read_keys(const struct fz_py_names *s, uint64_t keys, uint64_t values, struct dict *ret)
{
	uint64_t head[FZ_PY_KEYS_WORDS];
	struct fz_py_entries e;

	if (!get(s, keys, head, sizeof(head)) || !fz_py_dict_entries(s->layout, keys, head, &e) ||
	    e.n > ENTRIES_MAX)
		return false;
	uint64_t n = e.n, words = e.words;
	fz_auto(fz_free_ptr) uint64_t *raw = fz_calloc(n * words + n + 1, sizeof(*raw));
	uint64_t *split = raw + n * words;
	if (n && (!get(s, e.at, raw, n * words * sizeof(*raw)) ||
		  (values && !get(s, values, split, n * sizeof(*raw)))))
		return false;
	ret->n = (uint32_t)n;
	ret->entries = fz_calloc(n + 1, sizeof(*ret->entries));
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t *entry = raw + i * words + (words - 2);
		ret->entries[i] = (struct entry){ entry[0], values ? split[i] : entry[1] };
	}
	return true;
}

static bool read_dict(const struct fz_py_names *s, uint64_t dict, struct dict *ret)
{
	uint64_t keys, values;

	if (!get(s, dict + s->layout->dict.keys, &keys, 8) ||
	    !get(s, dict + s->layout->dict.values, &values, 8))
		return false;
	return read_keys(s, keys, fz_py_dict_values(s->layout, values), ret);
}

static uint64_t find_name(const struct fz_py_names *s, const struct dict *d, const char *name)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (d->entries[i].value &&
		    fz_py_text_is(s->process, s->layout, d->entries[i].key, name))
			return d->entries[i].value;
	return 0;
}

uint64_t fz_py_names_item(const struct fz_py_names *s, uint64_t dict, const char *name)
{
	fz_auto(dict_release) struct dict d = { 0 };

	return dict && read_dict(s, dict, &d) ? find_name(s, &d, name) : 0;
}

/* Names that the instances of a class share, from 3.11 on. */
static bool cached_keys(const struct fz_py_names *s, uint64_t type, uint64_t *ret)
{
	enum { CACHED_KEYS_311 = 872, CACHED_KEYS = 880, CACHED_KEYS_FREE = 896 };
	uint32_t offset = s->layout->minor == 11     ? CACHED_KEYS_311
			  : s->layout->free_threaded ? CACHED_KEYS_FREE
						     : CACHED_KEYS;

	return get(s, type + offset, ret, 8);
}

/* Attributes of an instance of a class written in Python. */
static bool read_instance(const struct fz_py_names *s, uint64_t object, struct dict *ret)
{
	unsigned minor = s->layout->minor;
	uint64_t type, keys, word, values = 0;

	if (minor <= 10)
		return get(s, object + header(s), &word, 8) && read_dict(s, word, ret);
	/* The word before an object; free-threaded builds have no GC header between. */
	if (!get(s, object - (s->layout->free_threaded ? 8 : 24), &word, 8))
		return false;
	if (minor == 11) {
		if (!get(s, object - 32, &values, 8))
			return false;
	} else if (minor == 12) {
		values = word & 1 ? word + 1 : 0;
	} else if (word == 0) {
		values = object + header(s) + 8;
	}
	if (!values)
		return read_dict(s, word, ret);
	return get(s, object + s->layout->object.type, &type, 8) && cached_keys(s, type, &keys) &&
	       read_keys(s, keys, values, ret);
}

uint64_t fz_py_names_attribute(const struct fz_py_names *s, uint64_t object, const char *name)
{
	fz_auto(dict_release) struct dict d = { 0 };

	return read_instance(s, object, &d) ? find_name(s, &d, name) : 0;
}

uint32_t fz_py_names_slot(const struct fz_py_names *s, uint64_t type, const char *name)
{
	fz_auto(dict_release) struct dict d = { 0 };
	uint64_t keys;

	if (!cached_keys(s, type, &keys) || !read_keys(s, keys, 0, &d))
		return FZ_NONE;
	for (uint32_t i = 0; i < d.n; i++)
		if (fz_py_text_is(s->process, s->layout, d.entries[i].key, name))
			return i;
	return FZ_NONE;
}

/* Value of a non-negative int of up to 90 bits, cut to 64. */
static bool read_int(const struct fz_py_names *s, uint64_t object, uint64_t *ret)
{
	uint64_t size;
	uint32_t digits[3] = { 0 };

	if (!get(s, object + header(s), &size, 8))
		return false;
	if (s->layout->minor >= 12)
		size >>= 3;
	if (size > FZ_ARRAY_LEN(digits) ||
	    (size && !get(s, object + header(s) + 8, digits, size * sizeof(digits[0]))))
		return false;
	*ret = digits[0] | (uint64_t)digits[1] << 30 | (uint64_t)digits[2] << 60;
	return true;
}

uint64_t fz_py_names_module(const struct fz_py_names *s, uint64_t modules_at, const char *name)
{
	uint64_t modules, dict;

	if (!get(s, modules_at, &modules, 8))
		return 0;
	uint64_t module = fz_py_names_item(s, modules, name);
	return module && get(s, module + header(s), &dict, 8) ? dict : 0;
}

void fz_py_names_read(struct fz_py_names *names, struct fz_process *process,
		      const struct fz_py_runtime *runtime, uint64_t interp, uint64_t *active)
{
	fz_auto(dict_release) struct dict threads = { 0 };
	uint64_t ident;

	fz_py_names_release(names);
	*names = (struct fz_py_names){ .process = process, .layout = &runtime->layout };
	if (runtime->layout.minor > 13)
		return;
	if (!*active)
		*active = fz_py_names_item(
			names,
			fz_py_names_module(names, interp + runtime->layout.interp.modules,
					   "threading"),
			"_active");
	if (!*active || !read_dict(names, *active, &threads)) {
		*active = 0;
		return;
	}
	for (uint32_t i = 0; i < threads.n; i++) {
		if (!threads.entries[i].value || !read_int(names, threads.entries[i].key, &ident))
			continue;
		fz_push(names->list, names->n, names->cap,
			(struct fz_py_thread_entry){ ident, threads.entries[i].value });
	}
}

bool fz_py_names_get(const struct fz_py_names *names, uint64_t ident, struct fz_buf *ret)
{
	for (uint32_t i = 0; i < names->n; i++) {
		fz_auto(dict_release) struct dict attributes = { 0 };
		if (names->list[i].ident != ident)
			continue;
		if (!read_instance(names, names->list[i].thread, &attributes))
			return false;
		uint64_t name = find_name(names, &attributes, "_name");
		return name && fz_py_read_text(names->process, names->layout, name, ret);
	}
	return false;
}

void fz_py_names_release(struct fz_py_names *names)
{
	free(names->list);
	*names = (struct fz_py_names){ 0 };
}
