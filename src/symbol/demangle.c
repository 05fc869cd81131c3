/* SPDX-License-Identifier: MIT */
/* libiberty demangles C++ and Rust. Parameters are omitted: in a flame graph they are noise, and
 * functions that only differ in them are distinguished by their declarations.
 *
 *   __pyx_pw_4cmod_5Thing_1method    Cython: prefix of a wrapper, scopes with their lengths, a
 * number that makes the name unique, the name -> cmod.Thing.method
 *
 * The wrapper and the function get the same name, because the compiler decides which one remains.
 */
#include "symbol/demangle.h"

#include "base/buf.h"
#include "base/str.h"

#include <libiberty/demangle.h>

enum { NAME_BYTES_MAX = 4096 };

/* Suffixes of GCC and LLVM for parts and copies of a function. */
static const char *const copies[] = { ".cold",     ".constprop",  ".isra",  ".part",
				      ".lto_priv", ".localalias", ".llvm",  ".warm",
				      ".hot",      ".clone",      ".ipa_ra" };

static bool is_copy_mark(const char *p)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(copies); i++) {
		size_t n = strlen(copies[i]);
		if (strncmp(p, copies[i], n) == 0 && (p[n] == 0 || p[n] == '.'))
			return true;
	}
	return false;
}

/* Length of the name without suffixes and "@VERSION"; "core..clone..Clone" is a path of Rust. */
static size_t plain_length(const char *symbol)
{
	size_t n = strcspn(symbol, "@");

	for (size_t i = 1; i < n; i++)
		if (symbol[i] == '.' && symbol[i - 1] != '.' && is_copy_mark(symbol + i))
			return i;
	return n ? n : strlen(symbol);
}

/* ---- Cython ---- */

/* Cython's prefixes of a function's scope: the function itself, its wrapper for Python's arguments,
 * a `cdef` function, properties, the body of a generator (Cython/Compiler/Naming.py). */
static const char *const cython_prefixes[] = { "__pyx_pf_",      "__pyx_pw_",      "__pyx_f_",
					       "__pyx_getprop_", "__pyx_setprop_", "__pyx_gb_" };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The part after the prefix, and after that of a specialisation of fused types, "__pyx_fuse_0". */
static const char *after_prefix(const char *symbol)
{
	if (strncmp(symbol, "__pyx_fuse_", strlen("__pyx_fuse_")) == 0)
		for (symbol += strlen("__pyx_fuse_"); is_digit(*symbol); symbol++)
			;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cython_prefixes); i++) {
		size_t n = strlen(cython_prefixes[i]);
		if (strncmp(symbol, cython_prefixes[i], n) == 0)
			return symbol + n;
	}
	return NULL;
}

/* Takes a scope, preceded by its length, from the front: "5Thing_" of "5Thing_method". */
static bool take_scope(const char **at, struct fz_str *ret)
{
	const char *p = *at;
	size_t n = 0;

	for (; is_digit(*p) && n < NAME_BYTES_MAX; p++)
		n = 10 * n + (size_t)(*p - '0');
	if (n == 0 || strnlen(p, n + 2) < n + 2 || p[n] != '_')
		return false;
	*ret = (struct fz_str){ p, n };
	*at = p + n + 1;
	return true;
}

/* The name after all scopes, without the number that makes it unique: "1hot". */
static struct fz_str last_name(const char *at)
{
	static const char lambda[] = "__pyx_lambda_funcdef_";

	while (is_digit(*at))
		at++;
	if (strncmp(at, lambda, strlen(lambda)) == 0)
		return FZ_STR("<lambda>");
	/* The name of a generator's function is not included. */
	if (strncmp(at, "generator", strlen("generator")) == 0)
		return FZ_STR("<generator>");
	return fz_str_of(at);
}

char *fz_demangle_cython(const char *symbol)
{
	const char *at = after_prefix(symbol);
	fz_auto(fz_buf_release) struct fz_buf name = { 0 };
	struct fz_str scope;

	while (at && take_scope(&at, &scope))
		fz_buf_printf(&name, "%.*s.", (int)scope.n, scope.p);
	if (!name.n)
		return NULL;
	struct fz_str last = last_name(at);
	if (!last.n)
		return NULL;
	fz_buf_add(&name, last.p, last.n);
	return fz_strndup(name.p, name.n);
}

char *fz_demangle(const char *symbol)
{
	fz_auto(fz_free_ptr) char *plain = fz_strndup(symbol, plain_length(symbol));

	if (strlen(plain) > NAME_BYTES_MAX)
		return fz_steal(plain);
	char *readable = fz_demangle_cython(plain);
	if (!readable)
		readable = cplus_demangle(plain, DMGL_AUTO | DMGL_ANSI);
	return readable ? readable : fz_steal(plain);
}
