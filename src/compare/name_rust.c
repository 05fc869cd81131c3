/* SPDX-License-Identifier: MIT */
/* Makes Rust's names of two manglings equal. The legacy one has no type arguments and names the
 * module of an implementation; v0 has both types and arguments. Only their common part is compared:
 *
 *   legacy                                 v0                              both
 *   a::sum                                 a::sum::<u32>                   a::sum
 *   a::Tree<T>::sum                        <a::Tree<u32>>::sum             a::Tree::sum
 *   alloc::slice::<impl [T]>::sort         <[u64]>::sort                   [_]::sort
 *   a::x::<impl G for a::T<U>>::up         <a::T<u32> as G>::up            <a::T as G>::up
 *   a::main::{{closure}}                   a::main::{closure#2}            a::main::{closure}
 *
 * A trait's own methods have no type in legacy names: a::Grow::up where v0 has <a::Tree as
 * a::Grow>::up.
 */
#include "compare/names.h"

#include <ctype.h>

#include "base/buf.h"
#include "base/map.h"
#include "compare/name_internal.h"

enum { DEPTH_MAX = 64 };

static bool add_path(struct fz_buf *out, struct fz_str s, int depth);

static struct fz_str part(struct fz_str s, size_t from, size_t to)
{
	return (struct fz_str){ s.p + from, to - from };
}

/* A legacy name has the parameter, "T", where v0 has the type. */
static bool is_parameter(struct fz_str type)
{
	return type.n && isupper((unsigned char)type.p[0]) && !memmem(type.p, type.n, "::", 2);
}

static bool add_type(struct fz_buf *out, struct fz_str s, int depth)
{
	static const struct {
		const char *start, *all;
	} shapes[] = { { "&mut ", "&mut _" },     { "&", "&_" },  { "*mut ", "*mut _" },
		       { "*const ", "*const _" }, { "[", "[_]" }, { "(", "(_)" } };

	for (size_t i = 0; i < FZ_ARRAY_LEN(shapes); i++)
		if (fz_str_starts(s, shapes[i].start)) {
			fz_buf_str(out, shapes[i].all);
			return true;
		}
	return add_path(out, s, depth);
}

/* "X", "X as Trait", "impl X" or "impl Trait for X", from between < and >. */
static bool add_implementation(struct fz_buf *out, struct fz_str s, int depth)
{
	bool legacy = fz_str_starts(s, "impl ");

	if (legacy)
		s = part(s, strlen("impl "), s.n);
	const char *word = legacy ? " for " : " as ";
	size_t at = fz_str_find_outside(s, word);
	if (at == s.n)
		return add_type(out, s, depth);
	struct fz_str first = part(s, 0, at), second = part(s, at + strlen(word), s.n);
	struct fz_str type = legacy ? second : first, trait = legacy ? first : second;
	if (is_parameter(type))
		return add_path(out, trait, depth);
	fz_buf_char(out, '<');
	if (!add_type(out, type, depth))
		return false;
	fz_buf_str(out, " as ");
	if (!add_path(out, trait, depth))
		return false;
	fz_buf_char(out, '>');
	return true;
}

/* Adds a part of a path, between two "::". */
static bool add_part(struct fz_buf *out, struct fz_str s, size_t start, int depth)
{
	size_t end = fz_str_find_outside(s, "<");

	if (end == 0) {
		bool first = out->n == start;
		if (s.p[s.n - 1] != '>')
			return false;
		struct fz_str inner = part(s, 1, s.n - 1);
		if (!first && !fz_str_starts(inner, "impl "))
			return true; /* type arguments */
		out->n = start;
		return add_implementation(out, inner, depth - 1);
	}
	if (out->n > start)
		fz_buf_str(out, "::");
	if (fz_str_starts(s, "{closure") || fz_str_starts(s, "{{closure"))
		fz_buf_str(out, "{closure}");
	else
		fz_buf_add(out, s.p, end);
	return true;
}

static bool add_path(struct fz_buf *out, struct fz_str s, int depth)
{
	size_t start = out->n;

	if (depth == 0)
		return false;
	while (s.n) {
		size_t end = fz_str_find_outside(s, "::");
		if (end == 0 || !add_part(out, part(s, 0, end), start, depth))
			return false;
		s = part(s, FZ_MIN(end + 2, s.n), s.n);
	}
	return out->n > start;
}

/* Compiled code without a source file may be Rust. */
static bool may_be_rust(const struct fz_profile *p, const struct fz_function *f)
{
	struct fz_str file = p->strings[f->file];

	return f->kind != FZ_KIND_PYTHON && (file.n == 0 || fz_str_ends(file, ".rs"));
}

struct manglings {
	bool legacy, v0;
};

static struct manglings manglings_of(const struct fz_profile *p)
{
	struct manglings m = { 0 };

	for (uint32_t i = 0; i < p->function_count; i++) {
		struct fz_str s = p->strings[p->functions[i].name];
		if (!may_be_rust(p, &p->functions[i]))
			continue;
		bool legacy = memmem(s.p, s.n, "{{closure}}", strlen("{{closure}}")) ||
			      memmem(s.p, s.n, "<impl ", strlen("<impl "));
		m.legacy |= legacy;
		m.v0 |= !legacy && (memmem(s.p, s.n, "{closure#", strlen("{closure#")) ||
				    memmem(s.p, s.n, "::<", 3));
	}
	return m;
}

bool fz_name_joins_rust(const struct fz_profile *const p[2])
{
	struct manglings a = manglings_of(p[0]), b = manglings_of(p[1]);

	return (a.legacy || a.v0) && (b.legacy || b.v0) && (a.legacy || b.legacy) &&
	       (a.v0 || b.v0) && (a.legacy != b.legacy || a.v0 != b.v0);
}

struct fz_str fz_name_without_rust_types(struct fz_arena *arena, const struct fz_profile *p,
					 const struct fz_function *f, struct fz_str name)
{
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };

	if (!may_be_rust(p, f) || !memmem(name.p, name.n, "::", 2) ||
	    !add_path(&out, name, DEPTH_MAX))
		return name;
	return (struct fz_str){ fz_arena_strndup(arena, out.p, out.n), out.n };
}

/* "a::Grow::up" for "<a::Tree as a::Grow>::up", or "". */
static struct fz_str without_type(struct fz_arena *arena, struct fz_str s)
{
	struct fz_str inner = part(s, FZ_MIN(1, s.n), s.n);
	size_t as = fz_str_find_outside(inner, " as "), end = fz_str_find_outside(inner, ">");

	if (!fz_str_starts(s, "<") || as >= end || end == inner.n)
		return FZ_STR("");
	size_t from = as + strlen(" as ");
	char *text = fz_arena_alloc(arena, inner.n + 1);
	memcpy(text, inner.p + from, end - from);
	memcpy(text + end - from, inner.p + end + 1, inner.n - end - 1);
	return (struct fz_str){ text, inner.n - from - 1 };
}

static uint64_t hash_of(struct fz_str s)
{
	return fz_hash_bytes(s.p, s.n);
}

void fz_name_join_rust_traits(struct fz_arena *arena, const struct fz_profile *const p[2],
			      struct fz_name *const names[2])
{
	struct fz_map seen[2] = { 0 };

	for (int s = 0; s < 2; s++)
		for (uint32_t i = 0; i < p[s]->function_count; i++)
			if (may_be_rust(p[s], &p[s]->functions[i]))
				fz_map_put(&seen[s], hash_of(names[s][i].name), i);
	for (int s = 0; s < 2; s++)
		for (uint32_t i = 0; i < p[s]->function_count; i++) {
			struct fz_str *name = &names[s][i].name;
			if (!may_be_rust(p[s], &p[s]->functions[i]) ||
			    fz_map_get(&seen[!s], hash_of(*name)) != FZ_NONE)
				continue;
			struct fz_str trait = without_type(arena, *name);
			if (trait.n && (fz_map_get(&seen[0], hash_of(trait)) != FZ_NONE ||
					fz_map_get(&seen[1], hash_of(trait)) != FZ_NONE))
				*name = trait;
		}
	fz_map_release(&seen[0]);
	fz_map_release(&seen[1]);
}
