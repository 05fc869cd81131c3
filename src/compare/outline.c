/* SPDX-License-Identifier: MIT */
/* Definitions of a file by its indentation.
 *
 * A stack holds the open definitions; a logical line closes those with at least its indentation.
 * Words are stored in order, so a definition's body is a range of them that contains the bodies of
 * nested definitions.
 */
#include "compare/outline.h"

enum { DEEPEST = 64 };

struct builder {
	struct fz_outline *o;
	struct fz_tokens tokens;
	struct open {
		uint32_t definition, indent;
	} open[DEEPEST];
	uint32_t depth;     /* number of open definitions */
	int32_t decorators; /* line of the first decorator before a definition; 0 if none */
	int32_t last_line;  /* of the last logical line */
};

struct fz_str fz_outline_tail(struct fz_str name)
{
	const char *dot = name.n ? memrchr(name.p, '.', name.n) : NULL;

	return dot ? (struct fz_str){ dot + 1, (size_t)(name.p + name.n - dot - 1) } : name;
}

uint32_t fz_outline_word(struct fz_str word)
{
	return (uint32_t)fz_hash_bytes(word.p, word.n);
}

static bool is_word(const struct fz_token *t, const char *word)
{
	return t->kind == FZ_TOKEN_NAME && fz_str_eq(t->text, fz_str_of(word));
}

/* Whether a token is punctuation that formatters add and remove. */
static bool only_groups(const struct fz_token *t)
{
	return t->kind == FZ_TOKEN_OPERATOR && t->text.n == 1 && strchr("()[]{},.:;", *t->text.p);
}

static void add_word(struct fz_outline *o, const struct fz_token *t)
{
	if (only_groups(t))
		return;
	fz_push(o->words, o->word_count, o->word_cap, fz_outline_word(t->text));
}

static struct fz_str qualified(struct fz_outline *o, uint32_t parent, struct fz_str tail)
{
	const struct fz_definition *p = &o->definitions[parent];
	const char *between = p->is_class ? "." : ".<locals>.";
	size_t n = strlen(between);

	if (p->parent == FZ_NONE)
		return tail;
	char *text = fz_arena_alloc(&o->arena, p->name.n + n + tail.n);
	memcpy(text, p->name.p, p->name.n);
	memcpy(text + p->name.n, between, n);
	memcpy(text + p->name.n + n, tail.p, tail.n);
	return (struct fz_str){ text, p->name.n + n + tail.n };
}

static uint32_t add_definition(struct fz_outline *o, struct fz_definition d)
{
	uint32_t *slot = fz_map_slot(&o->by_name, fz_hash_bytes(d.name.p, d.name.n));

	fz_assert(!o->n || o->definitions[o->n - 1].line <= d.line);
	if (*slot == FZ_NONE)
		*slot = o->n;
	fz_grow(o->definitions, o->n, o->cap);
	o->definitions[o->n] = d;
	return o->n++;
}

static void close_definitions(struct builder *b, uint32_t indent)
{
	while (b->depth > 1 && b->open[b->depth - 1].indent >= indent) {
		struct fz_definition *d = &b->o->definitions[b->open[--b->depth].definition];
		d->end = b->o->word_count;
		d->last_line = b->last_line;
	}
}

/* Reads the tokens of a line from `t`, as words if `keep`; returns the one that ends the line. */
static void take_rest(struct builder *b, struct fz_token t, bool keep)
{
	while (t.kind != FZ_TOKEN_NEWLINE && t.kind != FZ_TOKEN_END) {
		if (keep)
			add_word(b->o, &t);
		b->last_line = b->tokens.line;
		t = fz_tokens_next(&b->tokens);
	}
}

/* Reads the rest of a definition's first line after "def" or "class": name, header, and any
 * statement. */
static void open_definition(struct builder *b, const struct fz_token *keyword, uint32_t indent)
{
	struct fz_token name = fz_tokens_next(&b->tokens), t = name;
	uint32_t parent = b->open[b->depth - 1].definition;

	if (name.kind != FZ_TOKEN_NAME || b->depth == DEEPEST) {
		take_rest(b, name, true);
		return;
	}
	while (t.kind != FZ_TOKEN_NEWLINE && t.kind != FZ_TOKEN_END &&
	       !(t.kind == FZ_TOKEN_OPERATOR && t.depth == 0 && fz_str_eq(t.text, FZ_STR(":")))) {
		b->last_line = b->tokens.line;
		t = fz_tokens_next(&b->tokens);
	}
	uint32_t at = add_definition(
		b->o,
		(struct fz_definition){ .name = qualified(b->o, parent, name.text),
					.tail = name.text,
					.parent = parent,
					.line = keyword->line,
					.first_line = b->decorators ? b->decorators : keyword->line,
					.words = b->o->word_count,
					.is_class = is_word(keyword, "class") });
	b->open[b->depth++] = (struct open){ at, indent };
	b->decorators = 0;
	take_rest(b, t, true);
}

/* Reads a statement, and drops one that is just a string, such as a docstring. */
static void take_statement(struct builder *b, struct fz_token first)
{
	struct fz_token second = { 0 };

	b->decorators = 0;
	if (first.kind == FZ_TOKEN_STRING) {
		second = fz_tokens_next(&b->tokens);
		b->last_line = b->tokens.line;
		if (second.kind == FZ_TOKEN_NEWLINE || second.kind == FZ_TOKEN_END)
			return;
		add_word(b->o, &first);
		first = second;
	}
	take_rest(b, first, true);
}

static void take_line(struct builder *b, struct fz_token first)
{
	uint32_t indent = first.indent;

	close_definitions(b, indent);
	if (first.kind == FZ_TOKEN_OPERATOR && fz_str_eq(first.text, FZ_STR("@"))) {
		b->decorators = b->decorators ? b->decorators : first.line;
		take_rest(b, first, false);
		return;
	}
	if (is_word(&first, "async")) {
		struct fz_token keyword = fz_tokens_next(&b->tokens);
		if (is_word(&keyword, "def")) {
			open_definition(b, &keyword, indent);
			return;
		}
		add_word(b->o, &first);
		first = keyword;
	}
	if (is_word(&first, "def") || is_word(&first, "class"))
		open_definition(b, &first, indent);
	else
		take_statement(b, first);
}

void fz_outline_init(struct fz_outline *o, struct fz_str text)
{
	struct builder b = { .o = o, .depth = 1 };

	*o = (struct fz_outline){ 0 };
	fz_tokens_init(&b.tokens, text);
	add_definition(o, (struct fz_definition){ .name = FZ_STR("<module>"),
						  .tail = FZ_STR("<module>"),
						  .parent = FZ_NONE,
						  .first_line = 1,
						  .line = 1 });
	for (;;) {
		struct fz_token t = fz_tokens_next(&b.tokens);
		if (t.kind == FZ_TOKEN_END)
			break;
		if (t.kind != FZ_TOKEN_NEWLINE)
			take_line(&b, t);
	}
	close_definitions(&b, 0);
	o->definitions[0].end = o->word_count;
	o->definitions[0].last_line = INT32_MAX;
}

void fz_outline_release(struct fz_outline *o)
{
	free(o->definitions);
	free(o->words);
	fz_map_release(&o->by_name);
	fz_arena_release(&o->arena);
}

/* Returns the first definition whose "def" is on that line or a later one. */
static uint32_t first_from(const struct fz_outline *o, int32_t line)
{
	uint32_t low = 0, high = o->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (o->definitions[middle].line < line)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t fz_outline_at(const struct fz_outline *o, int32_t line)
{
	uint32_t at =
		FZ_MAX(first_from(o, line), 1u); /* a definition on line 1 is not the module */

	/* The definition or its decorators may start there; else it is the one before or around
	 * it. */
	if (at == o->n || o->definitions[at].first_line > line)
		at -= at > 0;
	while (at != 0 && o->definitions[at].last_line < line)
		at = o->definitions[at].parent;
	return at;
}

uint32_t fz_outline_find(const struct fz_outline *o, struct fz_str name)
{
	uint32_t at = fz_map_get(&o->by_name, fz_hash_bytes(name.p, name.n));

	return at != FZ_NONE && fz_str_eq(o->definitions[at].name, name) ? at : FZ_NONE;
}

uint32_t fz_outline_find_at(const struct fz_outline *o, struct fz_str tail, int32_t line)
{
	for (uint32_t i = first_from(o, line); i < o->n; i++) {
		const struct fz_definition *d = &o->definitions[i];
		if (d->first_line > line)
			break;
		if (fz_str_eq(d->tail, tail))
			return i;
	}
	return FZ_NONE;
}
