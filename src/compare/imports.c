/* SPDX-License-Identifier: MIT */
/* Import statements, found by the first word of a line and read as tokens. */
#include "compare/imports.h"

#include "base/buf.h"
#include "compare/outline.h"

static void add_path(struct fz_imports *s, struct fz_str path, uint32_t bits)
{
	uint32_t *slot = fz_map_slot(&s->paths, fz_hash_bytes(path.p, path.n));

	*slot = *slot == FZ_NONE ? bits : *slot | bits;
}

/* Adds every suffix that starts with a whole component, at byte `last` or before. */
static void add_tails(struct fz_imports *s, struct fz_str path, size_t last, uint32_t bits)
{
	for (size_t i = 0; i <= last && i < path.n; i++)
		if (i == 0 || path.p[i - 1] == '/')
			add_path(s, (struct fz_str){ path.p + i, path.n - i }, bits);
}

static struct fz_str without_library(struct fz_str file)
{
	static const char *const folders[] = { "site-packages/", "lib/python3/" };

	for (size_t i = 0; i < FZ_ARRAY_LEN(folders); i++)
		if (fz_str_starts(file, folders[i]))
			return (struct fz_str){ file.p + strlen(folders[i]),
						file.n - strlen(folders[i]) };
	return file;
}

/* Appends "pkg/sub/" for pkg/sub/a.py, minus one component for each level beyond the first. */
static void add_folder(struct fz_buf *path, struct fz_str file, uint32_t levels)
{
	size_t n = file.n;

	while (levels-- > 0) {
		n -= n > 0 && file.p[n - 1] == '/';
		while (n > 0 && file.p[n - 1] != '/')
			n--;
	}
	fz_buf_add(path, file.p, n);
}

struct statement {
	struct fz_imports *set;
	struct fz_str file;
	uint32_t bits;
	struct fz_tokens tokens;
	struct fz_token token;
};

static bool next_is_name(struct statement *st)
{
	st->token = fz_tokens_next(&st->tokens);
	return st->token.kind == FZ_TOKEN_NAME;
}

static bool is_operator(const struct fz_token *t, const char *text)
{
	return t->kind == FZ_TOKEN_OPERATOR && fz_str_eq(t->text, fz_str_of(text));
}

static bool is_over(const struct fz_token *t)
{
	return t->kind == FZ_TOKEN_NEWLINE || t->kind == FZ_TOKEN_END || is_operator(t, ";");
}

/* Appends "a.b.c" as a/b/c; the token after it becomes current. */
static void read_dotted(struct statement *st, struct fz_buf *path)
{
	while (st->token.kind == FZ_TOKEN_NAME) {
		fz_buf_add(path, st->token.text.p, st->token.text.n);
		st->token = fz_tokens_next(&st->tokens);
		if (!is_operator(&st->token, "."))
			break;
		fz_buf_char(path, '/');
		st->token = fz_tokens_next(&st->tokens);
	}
}

/* import a.b, c as d */
static void read_import(struct statement *st)
{
	struct fz_buf path = { 0 };

	st->token = fz_tokens_next(&st->tokens);
	while (!is_over(&st->token)) {
		fz_buf_reset(&path);
		read_dotted(st, &path);
		add_tails(st->set, fz_buf_view(&path), path.n, st->bits);
		while (!is_over(&st->token) && !is_operator(&st->token, ","))
			st->token = fz_tokens_next(&st->tokens);
		if (is_operator(&st->token, ","))
			st->token = fz_tokens_next(&st->tokens);
	}
	fz_buf_release(&path);
}

/* from ..a.b import c as d, e: the module, and names that may be modules in it. */
static void read_from(struct statement *st)
{
	struct fz_buf path = { 0 };
	uint32_t levels = 0;

	st->token = fz_tokens_next(&st->tokens);
	for (; is_operator(&st->token, "."); levels++)
		st->token = fz_tokens_next(&st->tokens);
	add_folder(&path, st->file, levels);
	if (!levels)
		fz_buf_reset(&path);
	if (!fz_str_eq(st->token.text, FZ_STR("import")))
		read_dotted(st, &path);
	size_t module = path.n;
	add_tails(st->set, fz_buf_view(&path), levels ? 0 : module, st->bits);
	while (!is_over(&st->token)) {
		bool renames =
			st->token.kind == FZ_TOKEN_NAME && fz_str_eq(st->token.text, FZ_STR("as"));
		if (!next_is_name(st) || renames)
			continue;
		path.n = module;
		if (module && path.p[module - 1] != '/')
			fz_buf_char(&path, '/');
		fz_buf_add(&path, st->token.text.p, st->token.text.n);
		add_tails(st->set, fz_buf_view(&path), levels ? 0 : module, st->bits);
	}
	fz_buf_release(&path);
}

void fz_imports_add(struct fz_imports *s, struct fz_str file, struct fz_str text, uint32_t bits)
{
	const char *end = text.p + text.n;

	for (const char *at = text.p; at && at < end;) {
		struct statement st = { .set = s, .file = without_library(file), .bits = bits };
		while (at < end && (*at == ' ' || *at == '\t'))
			at++;
		struct fz_str rest = { at, (size_t)(end - at) };
		bool from = fz_str_starts(rest, "from "), import = fz_str_starts(rest, "import ");
		if (from || import) {
			fz_tokens_init(&st.tokens, rest);
			next_is_name(&st);
			if (from)
				read_from(&st);
			else
				read_import(&st);
			at = st.tokens.p;
		}
		at = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
		at = at ? at + 1 : NULL;
	}
}

void fz_imports_release(struct fz_imports *s)
{
	fz_map_release(&s->paths);
}

struct fz_str fz_imports_module(struct fz_str file)
{
	if (fz_str_ends(file, ".py"))
		file.n -= strlen(".py");
	if (fz_str_ends(file, "/__init__"))
		file.n -= strlen("/__init__");
	return file;
}

uint32_t fz_imports_find(const struct fz_imports *s, struct fz_str file)
{
	struct fz_str whole = file;
	file = fz_imports_module(without_library(file));
	uint32_t bits = fz_map_get(&s->paths, fz_hash_bytes(file.p, file.n));
	const char *slash = memchr(file.p, '/', file.n);
	bool is_library = file.p != whole.p;
	if (bits == FZ_NONE && slash && !is_library) { /* below a folder that imports omit */
		size_t skip = (size_t)(slash + 1 - file.p);
		bits = fz_map_get(&s->paths, fz_hash_bytes(file.p + skip, file.n - skip));
	}
	return bits == FZ_NONE ? 0 : bits;
}
