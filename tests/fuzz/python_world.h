/* SPDX-License-Identifier: MIT */
/* What a forged interpreter is made of, see fuzz_python.c: objects in one piece of memory, words
 * that are numbered, and the simplest objects of Python, by the offsets of `world.l`. */
#pragma once

#include <string.h>

#include "base/base.h"
#include "record/python/layouts.h"

enum {
	WORLD_BYTES = 128 << 10,
	MARKS_MAX = 2048,
	OBJECTS_MAX = 256,
};

static struct world {
	uint8_t *bytes; /* an unmapped page follows */
	size_t used;
	struct fz_py_layout l;
	struct {
		uint64_t *at, value;
	} marks[MARKS_MAX];
	uint32_t mark_n;
	uint64_t objects[OBJECTS_MAX];
	uint32_t object_n;
	uint64_t pthread;
	uint64_t values;
} world;

static uint64_t address(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static uint64_t object(size_t n)
{
	uint8_t *p = world.bytes + world.used;

	world.used += (n + 15) & ~15ull;
	fz_assert(world.used <= WORLD_BYTES && world.object_n < OBJECTS_MAX);
	world.objects[world.object_n++] = address(p);
	return address(p);
}

/* An absent field lies nowhere. */
static void put(uint64_t base, uint32_t offset, uint64_t value)
{
	if (offset == FZ_PY_ABSENT)
		return;
	uint64_t *at = (uint64_t *)(uintptr_t)((base + offset) & ~7ull);
	memcpy((void *)(uintptr_t)(base + offset), &value, sizeof(value));
	fz_assert(world.mark_n < MARKS_MAX);
	world.marks[world.mark_n++].at = at;
}

static void put_small(uint64_t base, uint32_t offset, uint32_t value, size_t width)
{
	if (offset == FZ_PY_ABSENT)
		return;
	memcpy((void *)(uintptr_t)(base + offset), &value, width);
	world.marks[world.mark_n++].at = (uint64_t *)(uintptr_t)((base + offset) & ~7ull);
}

static uint64_t make_text(const char *text)
{
	const struct fz_py_layout *l = &world.l;
	uint64_t s = object(128);

	put(s, l->unicode.length, strlen(text));
	put_small(s, l->unicode.state, 1u << l->unicode_shift | 3u << (l->unicode_shift + 3), 4);
	memcpy((void *)(uintptr_t)(s + l->unicode.ascii_data), text, strlen(text));
	return s;
}

/* ---- values ---- */

static uint64_t make_type(const char *name, uint64_t flags)
{
	const struct fz_py_layout *l = &world.l;
	uint64_t type = object(1024), text = object(32);

	memcpy((void *)(uintptr_t)text, name, strlen(name));
	put(type, l->object.type_name, text);
	put(type, l->type.flags, flags);
	return type;
}

static uint64_t make_set(uint64_t key)
{
	const struct fz_py_layout *l = &world.l;
	uint64_t set = object(128), table = object(128);

	put(set, l->set.used, 1);
	put(set, l->set.mask, 7);
	put(set, l->set.table, table);
	put(table, 16, key);
	put(table, 24, 77);
	return set;
}

struct pair {
	uint64_t key, value;
};

static uint64_t make_dict_of(const struct pair *pairs, size_t n)
{
	const struct fz_py_layout *l = &world.l;
	uint64_t dict = object(64), keys = object(64 + 24 * n);
	bool old = l->minor <= 10;

	put(keys, 8, old ? 8 : 0 | 3 << 8 | 0 << 16);
	put(keys, old ? 32 : 24, n);
	uint64_t entry = keys + (old ? 48 : 40);
	for (size_t i = 0; i < n; i++, entry += 24) {
		put(entry, 8, pairs[i].key);
		put(entry, 16, pairs[i].value);
	}
	put(dict, l->dict.keys, keys);
	put(dict, l->dict.values, 0);
	return dict;
}

static uint64_t make_dict(uint64_t key, uint64_t value)
{
	return make_dict_of(&(struct pair){ key, value }, 1);
}
