/* SPDX-License-Identifier: MIT */
/* libiberty knows the languages. Parameters are left out: in a flame graph they are noise, and
 * functions that differ in nothing else are told apart by where they are declared.
 */
#include "symbol/demangle.h"

#include "base/base.h"
#include "base/str.h"

#include <libiberty/demangle.h>

enum { NAME_BYTES_MAX = 4096 };

/* What GCC and LLVM append to the name of a part or a copy of a function. */
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

/* Length of the name itself: up to a mark, or to "@VERSION". */
static size_t plain_length(const char *symbol)
{
	size_t n = strcspn(symbol, "@");

	for (size_t i = 1; i < n; i++)
		if (symbol[i] == '.' && is_copy_mark(symbol + i))
			return i;
	return n ? n : strlen(symbol);
}

char *fz_demangle(const char *symbol)
{
	fz_auto(fz_free_ptr) char *plain = fz_strndup(symbol, plain_length(symbol));

	if (strlen(plain) > NAME_BYTES_MAX)
		return fz_steal(plain);
	char *readable = cplus_demangle(plain, DMGL_AUTO | DMGL_ANSI);
	return readable ? readable : fz_steal(plain);
}
