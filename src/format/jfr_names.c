/* SPDX-License-Identifier: MIT */
/* Descriptors of the JVM's class files (JVM specification, 4.3) and names of generated code. */
#include "jfr_names.h"

#include <ctype.h>

static const char *const basic[] = {
	['B'] = "byte", ['C'] = "char",  ['D'] = "double",  ['F'] = "float", ['I'] = "int",
	['J'] = "long", ['S'] = "short", ['Z'] = "boolean", ['V'] = "void",
};

/* Names that are followed by irrelevant numbers. */
static const char *const numbered[] = { "$$Lambda$", "GeneratedMethodAccessor",
					"GeneratedConstructorAccessor",
					"GeneratedSerializationConstructorAccessor", "$Proxy" };

/* Takes one type from the front, empty at the end; `dims`: number of preceding "[". */
static struct fz_str take_type(struct fz_str *s, unsigned *dims)
{
	struct fz_str type = { s->p, 0 };

	for (*dims = 0; s->n && *s->p == '['; s->p++, s->n--)
		++*dims;
	if (!s->n)
		return type;
	type.p = s->p;
	const char *end = *s->p == 'L' ? memchr(s->p, ';', s->n) : s->p;
	if (end)
		type.n = (size_t)(end - s->p) + 1;
	s->p += type.n;
	s->n -= type.n;
	return type;
}

/* Appends a type; only the last part of "Ljava/lang/String;" unless `whole`, because packages are
 * long. */
static bool add_type(struct fz_buf *to, struct fz_str type, unsigned dims, bool whole)
{
	uint8_t code = type.n ? (uint8_t)*type.p : 0;

	if (code == 'L' && type.n > 2) {
		struct fz_str name = { type.p + 1, type.n - 2 };
		const char *slash = whole ? NULL : memrchr(name.p, '/', name.n);
		if (slash)
			name = (struct fz_str){ slash + 1, name.n - (size_t)(slash + 1 - name.p) };
		fz_jfr_add_class(to, name);
	} else if (code < FZ_ARRAY_LEN(basic) && basic[code]) {
		fz_buf_str(to, basic[code]);
	} else {
		return false;
	}
	for (; dims > 0; dims--)
		fz_buf_str(to, "[]");
	return true;
}

/* Start of "+0x00007f1234" or "/1234" at the end, which Java names cannot contain; the end if there
 * is none. */
static size_t before_number(struct fz_str s)
{
	size_t n = s.n;

	while (n > 0 && isxdigit((unsigned char)s.p[n - 1]))
		n--;
	if (n > 2 && n < s.n && s.p[n - 1] == 'x' && s.p[n - 2] == '0' && strchr("/+.", s.p[n - 3]))
		return n - 3;
	return n > 1 && n < s.n && s.p[n - 1] == '/' && isdigit((unsigned char)s.p[n]) ? n - 1
										       : s.n;
}

static struct fz_str without_number(struct fz_str s)
{
	size_t n = s.n;

	while (n > 0 && isdigit((unsigned char)s.p[n - 1]))
		n--;
	for (size_t i = 0; n < s.n && i < FZ_ARRAY_LEN(numbered); i++)
		if (fz_str_ends((struct fz_str){ s.p, n }, numbered[i]))
			return (struct fz_str){ s.p, n - (s.p[n - 1] == '$') };
	return s;
}

void fz_jfr_add_class(struct fz_buf *to, struct fz_str name)
{
	struct fz_str left = name;
	unsigned dims;

	if (name.n && *name.p == '[') {
		struct fz_str type = take_type(&left, &dims);
		if (add_type(to, type, dims, true))
			return;
	}
	for (size_t n = 0; n != name.n; name.n = before_number(name))
		n = name.n;
	name = without_number(name);
	for (size_t i = 0; i < name.n; i++)
		fz_buf_char(to, name.p[i] == '/' ? '.' : name.p[i]);
}

void fz_jfr_add_parameters(struct fz_buf *to, struct fz_str descriptor)
{
	struct fz_str s = descriptor;
	size_t before = to->n;
	unsigned dims;

	if (!s.n || *s.p != '(')
		return;
	for (s.p++, s.n--; s.n && *s.p != ')';) {
		fz_buf_str(to, to->n == before ? "(" : ", ");
		struct fz_str type = take_type(&s, &dims);
		if (!add_type(to, type, dims, false)) {
			to->n = before;
			return;
		}
	}
	fz_buf_str(to, to->n == before ? "()" : ")");
}

bool fz_jfr_is_native(struct fz_str descriptor)
{
	return fz_str_ends(descriptor, ")L;");
}
