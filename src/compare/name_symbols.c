/* SPDX-License-Identifier: MIT */
/* Strips the parts of function names that differ from run to run (0x7f..) or build to build
 * (.isra.0). Only addresses are stripped from Python's names, because a method may be called
 * "cold".
 */
#include "compare/comprehensions.h"
#include "compare/name_internal.h"

#include <ctype.h>
#include <stdio.h>

#include "base/buf.h"

static bool is_python(const struct fz_profile *p, const struct fz_function *f)
{
	return f->kind == FZ_KIND_PYTHON ||
	       (f->kind == FZ_KIND_UNKNOWN && fz_str_ends(p->strings[f->file], ".py"));
}

/* Strips the suffixes that compilers add to clones and parts of a function, with or without a
 * number. */
static struct fz_str without_clone_suffixes(struct fz_str s)
{
	static const char *const suffixes[] = { ".constprop", ".isra", ".part",    ".cold",
						".llvm",      "@plt",  ".lto_priv" };

	for (bool again = true; again;) {
		size_t n = s.n;
		again = false;
		while (n > 0 && isdigit((unsigned char)s.p[n - 1]))
			n--;
		if (n == s.n || n == 0 || s.p[n - 1] != '.')
			n = s.n;
		else
			n--;
		for (size_t i = 0; i < FZ_ARRAY_LEN(suffixes); i++) {
			struct fz_str head = { s.p, n };
			if (n > strlen(suffixes[i]) && fz_str_ends(head, suffixes[i])) {
				s.n = n - strlen(suffixes[i]);
				again = true;
				break;
			}
		}
	}
	return s;
}

/* Strips Rust's "::h" and 16 hexadecimal digits from the end. */
static struct fz_str without_rust_hash(struct fz_str s)
{
	if (s.n <= 19 || memcmp(s.p + s.n - 19, "::h", 3) != 0)
		return s;
	if (fz_parse_hex((struct fz_str){ s.p + s.n - 16, 16 }, NULL) == 16)
		s.n -= 19;
	return s;
}

static struct fz_str without_lambda_number(struct fz_str s)
{
	static const char mark[] = "$$Lambda";
	const char *at = memmem(s.p, s.n, mark, strlen(mark));

	if (at)
		s.n = (size_t)(at - s.p) + strlen(mark);
	return s;
}

/* Strips asyncio's serial number from "Task-12" and "<task Task-12 ...". */
static struct fz_str without_task_number(struct fz_arena *arena, struct fz_str s)
{
	static const char mark[] = "<task Task-";
	const size_t start = strlen(mark);
	struct fz_str tail = FZ_STR("");

	if (fz_str_starts(s, mark)) {
		size_t end = start;
		while (end < s.n && isdigit((unsigned char)s.p[end]))
			end++;
		if (end == start || end == s.n)
			return s;
		tail = (struct fz_str){ s.p + end, s.n - end };
		char *text = fz_arena_alloc(arena, start + tail.n);
		memcpy(text, s.p, start - 1);
		memcpy(text + start - 1, tail.p, tail.n);
		return (struct fz_str){ text, start - 1 + tail.n };
	}
	size_t n = s.n;

	while (n > 0 && isdigit((unsigned char)s.p[n - 1]))
		n--;
	if (n == strlen("Task-") && memcmp(s.p, "Task-", n) == 0)
		s.n = strlen("Task");
	return s;
}

/* Replaces 0x and digits by "0x...", like difffolded.pl; not in "libz.so.1+0x4b10", where the
 * number is the name. */
static struct fz_str without_addresses(struct fz_arena *arena, struct fz_str s)
{
	if (!memmem(s.p, s.n, "0x", 2))
		return s;
	char *text = fz_arena_alloc(arena, 2 * s.n + 1); /* 3 bytes become 5 */
	size_t w = 0;
	for (size_t i = 0; i < s.n; i++) {
		text[w++] = s.p[i];
		if (s.p[i] != '0' || (i > 0 && s.p[i - 1] == '+') || i + 2 >= s.n ||
		    s.p[i + 1] != 'x' || !isxdigit((unsigned char)s.p[i + 2]))
			continue;
		memcpy(text + w, "x...", 4);
		w += 4;
		i += 1 + fz_parse_hex((struct fz_str){ s.p + i + 2, s.n - i - 2 }, NULL);
	}
	text[w] = '\0';
	return (struct fz_str){ text, w };
}

/* "0x55d0c0de" */
static bool is_address(struct fz_str s)
{
	return s.n > 2 && fz_str_starts(s, "0x") &&
	       fz_parse_hex((struct fz_str){ s.p + 2, s.n - 2 }, NULL) == s.n - 2;
}

static int compare_texts(const void *a, const void *b)
{
	return fz_str_cmp(*(const struct fz_str *)a, *(const struct fz_str *)b);
}

static size_t list_addresses(const struct fz_profile *p, struct fz_str **ret)
{
	struct fz_str *list = fz_malloc((p->function_count + 1ul) * sizeof(*list));
	size_t n = 0;

	for (uint32_t i = 0; i < p->function_count; i++)
		if (is_address(p->strings[p->functions[i].name]))
			list[n++] = p->strings[p->functions[i].name];
	qsort(list, n, sizeof(*list), compare_texts);
	*ret = list;
	return n;
}

bool fz_name_addresses_agree(const struct fz_profile *const p[2])
{
	struct fz_str *list[2];
	size_t n[2], both = 0;

	for (int s = 0; s < 2; s++)
		n[s] = list_addresses(p[s], &list[s]);
	for (size_t i = 0; i < n[0]; i++)
		both += bsearch(&list[0][i], list[1], n[1], sizeof(*list[1]), compare_texts) !=
			NULL;
	free(list[0]);
	free(list[1]);
	return 2 * both > FZ_MIN(n[0], n[1]);
}

/* Rust numbers the closures of a function: {closure#3}. */
static struct fz_str without_closure_number(struct fz_arena *arena, struct fz_str s)
{
	static const char mark[] = "{closure#";
	const char *at = memmem(s.p, s.n, mark, strlen(mark));
	struct fz_buf out = { 0 };

	if (!at)
		return s;
	for (size_t i = 0; i < s.n;) {
		struct fz_str rest = { s.p + i, s.n - i };
		if (!fz_str_starts(rest, mark)) {
			fz_buf_char(&out, s.p[i++]);
			continue;
		}
		fz_buf_str(&out, "{closure");
		for (i += strlen(mark); i < s.n && isdigit((unsigned char)s.p[i]); i++)
			;
	}
	struct fz_str text = { fz_arena_strndup(arena, out.p, out.n), out.n };
	fz_buf_release(&out);
	return text;
}

/* "work [clone .isra.0]", as c++filt writes it. */
static struct fz_str without_clone_note(struct fz_str s)
{
	const char *at = memmem(s.p, s.n, " [clone ", strlen(" [clone "));

	if (at && at > s.p && fz_str_ends(s, "]"))
		s.n = (size_t)(at - s.p);
	return s;
}

/* "memcpy@@GLIBC_2.14" */
static struct fz_str without_symbol_version(struct fz_str s)
{
	const char *at = memrchr(s.p, '@', s.n);

	if (!at || at == s.p || at + 1 == s.p + s.n || !isupper((unsigned char)at[1]))
		return s;
	for (const char *c = at + 1; c < s.p + s.n; c++)
		if (!isupper((unsigned char)*c) && !isdigit((unsigned char)*c) && *c != '_' &&
		    *c != '.')
			return s;
	s.n = (size_t)(at - s.p);
	if (s.n > 1 && s.p[s.n - 1] == '@')
		s.n--;
	return s;
}

/* Strips the inline namespaces that C++ libraries use for versions. */
static struct fz_str without_inline_namespace(struct fz_arena *arena, struct fz_str s)
{
	static const char *const marks[] = { "std::__1::", "std::__cxx11::" };
	struct fz_buf out = { 0 };

	if (!memmem(s.p, s.n, "std::__", 7))
		return s;
	for (size_t i = 0; i < s.n;) {
		struct fz_str rest = { s.p + i, s.n - i };
		size_t skip = 0;
		for (size_t k = 0; k < FZ_ARRAY_LEN(marks); k++)
			skip = fz_str_starts(rest, marks[k]) ? strlen(marks[k]) : skip;
		if (skip)
			fz_buf_str(&out, "std::");
		else
			fz_buf_char(&out, s.p[i]);
		i += FZ_MAX(skip, 1);
	}
	struct fz_str text = { fz_arena_strndup(arena, out.p, out.n), out.n };
	fz_buf_release(&out);
	return text;
}

/* Strips the number from frames that represent a process or thread: "thread 4711", "Thread-3
 * (run)". */
static struct fz_str without_thread_number(struct fz_arena *arena, struct fz_str s)
{
	static const char *const marks[] = { "process ", "thread ", "Thread-", "pid ", "tid " };

	for (size_t k = 0; k < FZ_ARRAY_LEN(marks); k++) {
		size_t n = strlen(marks[k]), digits = n;
		if (!fz_str_starts(s, marks[k]))
			continue;
		while (digits < s.n && isdigit((unsigned char)s.p[digits]))
			digits++;
		if (digits == n || (digits < s.n && isalpha((unsigned char)s.p[digits])))
			return s;
		char *text = fz_arena_alloc(arena, s.n + 1);
		int w = snprintf(text, s.n + 1, "%.*s%.*s", (int)n - 1, s.p, (int)(s.n - digits),
				 s.p + digits);
		return (struct fz_str){ text, (size_t)w };
	}
	return s;
}

struct fz_str fz_name_of_function(struct fz_name_counts *n, struct fz_arena *arena,
				  const struct fz_profile *p, const struct fz_function *f)
{
	struct fz_str s = p->strings[f->name];

	if (n->join_comprehensions)
		s = fz_name_after(n, FZ_NAME_COMPREHENSION, s,
				  fz_name_without_comprehensions(arena, s));
	if (f->kind == FZ_KIND_TASK) {
		s = fz_name_after(n, FZ_NAME_TASK, s, without_task_number(arena, s));
	} else if (f->kind == FZ_KIND_MARKER) {
		s = fz_name_after(n, FZ_NAME_THREAD, s, without_thread_number(arena, s));
	} else if (!is_python(p, f)) {
		s = fz_name_after(n, FZ_NAME_THREAD, s, without_thread_number(arena, s));
		s = fz_name_after(n, FZ_NAME_LAMBDA, s, without_lambda_number(s));
		s = fz_name_after(n, FZ_NAME_CLONE, s, without_clone_note(s));
		s = fz_name_after(n, FZ_NAME_RUST, s, without_rust_hash(s));
		if (n->join_rust)
			s = fz_name_after(n, FZ_NAME_RUST_TYPES, s,
					  fz_name_without_rust_types(arena, p, f, s));
		s = fz_name_after(n, FZ_NAME_CLOSURE, s, without_closure_number(arena, s));
		s = fz_name_after(n, FZ_NAME_CLONE, s, without_clone_suffixes(s));
		s = fz_name_after(n, FZ_NAME_VERSION, s, without_symbol_version(s));
		s = fz_name_after(n, FZ_NAME_NAMESPACE, s, without_inline_namespace(arena, s));
	}
	if (n->keep_addresses && is_address(s))
		return s;
	return fz_name_after(n, FZ_NAME_ADDRESS, s, without_addresses(arena, s));
}
