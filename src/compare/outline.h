/* SPDX-License-Identifier: MIT */
/* The definitions of a Python source file, and the words of each body.
 *
 *   class Parser:               0  <module>       all of the file
 *       def feed(self):   ->    1  Parser         a class
 *           self.n += 1         2  Parser.feed    self n += 1
 *
 * This is not a compiler: only the extent and the names of definitions must be right. White space,
 * comments, docstrings, decorators, signatures, brackets, commas and quotation marks are not words,
 * so formatters and annotations change nothing.
 */
#pragma once

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"

struct fz_definition {
	struct fz_str name; /* qualified like in Python: "Parser.feed", "f.<locals>.g" */
	struct fz_str tail; /* its last component */
	uint32_t parent;    /* the enclosing definition; FZ_NONE for the module */
	int32_t first_line; /* of its first decorator */
	int32_t line;       /* of "def" or "class" */
	int32_t last_line;
	/* range of its body in the outline's words, nested definitions included */
	uint32_t words, end;
	bool is_class;
};

struct fz_outline {
	struct fz_definition *definitions; /* in order of lines; 0 is the module */
	uint32_t n, cap;
	uint32_t *words; /* hashes */
	uint32_t word_count, word_cap;
	struct fz_map by_name; /* hash of a qualified name -> its first definition */
	struct fz_arena arena; /* names */
};

/* The text must outlive the outline. */
void fz_outline_init(struct fz_outline *o, struct fz_str text);
void fz_outline_release(struct fz_outline *o);
/* The innermost definition around a line; the module if there is none. */
uint32_t fz_outline_at(const struct fz_outline *o, int32_t line);
/* The first definition of that qualified name, or FZ_NONE. */
uint32_t fz_outline_find(const struct fz_outline *o, struct fz_str name);
/* The definition with that last component whose "def" or first decorator is at a line, or
 * FZ_NONE. */
uint32_t fz_outline_find_at(const struct fz_outline *o, struct fz_str tail, int32_t line);
/* The last component of a qualified name: "feed" of "Parser.feed". */
struct fz_str fz_outline_tail(struct fz_str name);
/* The hash of a word. */
uint32_t fz_outline_word(struct fz_str word);

/* ---- outline_tokens.c ---- */

enum fz_token_kind {
	FZ_TOKEN_END,
	FZ_TOKEN_NEWLINE, /* a logical line ends */
	FZ_TOKEN_NAME,    /* keywords, too */
	FZ_TOKEN_NUMBER,
	FZ_TOKEN_STRING, /* its text is without prefix and quotation marks */
	FZ_TOKEN_OPERATOR,
};

struct fz_token {
	enum fz_token_kind kind;
	struct fz_str text;
	int32_t line;
	uint32_t indent; /* of the line it starts */
	uint32_t depth;  /* number of open brackets */
};

struct fz_tokens {
	const char *p, *end;
	int32_t line;
	uint32_t indent, depth;
	bool at_start; /* at the start of a logical line */
};

void fz_tokens_init(struct fz_tokens *t, struct fz_str text);
struct fz_token fz_tokens_next(struct fz_tokens *t);
