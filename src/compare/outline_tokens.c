/* SPDX-License-Identifier: MIT */
/* Tokens of Python's text, by logical line.
 *
 * A line continues within brackets and after a backslash. Nothing here fails: text other than
 * Python gives odd tokens, and an unterminated string ends at the end of its line.
 */
#include "compare/outline.h"

#include <ctype.h>

enum { TAB = 8 };

void fz_tokens_init(struct fz_tokens *t, struct fz_str text)
{
	*t = (struct fz_tokens){ .p = text.p, .end = text.p + text.n, .line = 1, .at_start = true };
	if (fz_str_starts(text, "\xef\xbb\xbf"))
		t->p += 3;
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Skips indentation, comments and empty lines before a logical line. */
static void skip_to_line(struct fz_tokens *t)
{
	uint32_t indent = 0;

	for (; t->p < t->end; t->p++) {
		if (*t->p == ' ')
			indent++;
		else if (*t->p == '\t')
			indent = (indent / TAB + 1) * TAB;
		else if (*t->p == '\n' || *t->p == '\r' || *t->p == '\f') {
			indent = 0;
			t->line += *t->p == '\n';
		} else if (*t->p == '#') {
			while (t->p + 1 < t->end && t->p[1] != '\n')
				t->p++;
		} else {
			break;
		}
	}
	t->indent = indent;
}

/* Skips white space between two tokens of a logical line. */
static void skip_within_line(struct fz_tokens *t)
{
	for (; t->p < t->end; t->p++) {
		bool joins =
			*t->p == '\\' && t->p + 1 < t->end && (t->p[1] == '\n' || t->p[1] == '\r');
		if (*t->p == '#') {
			while (t->p + 1 < t->end && t->p[1] != '\n')
				t->p++;
		} else if (joins) {
			t->p += t->p[1] == '\r' && t->p + 2 < t->end && t->p[2] == '\n' ? 2 : 1;
			t->line++;
		} else if (*t->p == '\n' && t->depth > 0) {
			t->line++;
		} else if (*t->p != ' ' && *t->p != '\t' && *t->p != '\r' && *t->p != '\f') {
			break;
		}
	}
}

/* Reads from the first quotation mark through the last. */
static struct fz_str take_string(struct fz_tokens *t)
{
	char quote = *t->p;
	bool triple = t->end - t->p >= 3 && t->p[1] == quote && t->p[2] == quote;
	const char *start = t->p += triple ? 3 : 1;

	for (; t->p < t->end; t->p++) {
		if (*t->p == '\\' && t->p + 1 < t->end) {
			t->p++;
			t->line += *t->p == '\n';
			continue;
		}
		if (*t->p == '\n') {
			if (!triple)
				break;
			t->line++;
		}
		if (*t->p == quote &&
		    (!triple || (t->end - t->p >= 3 && t->p[1] == quote && t->p[2] == quote)))
			break;
	}
	struct fz_str text = { start, (size_t)(t->p - start) };
	if (t->p < t->end && *t->p == quote)
		t->p += triple ? 3 : 1;
	return text;
}

/* The length of a string's prefix (rb, f, ...) at p; -1 if no string starts there. */
static int string_prefix(const struct fz_tokens *t)
{
	int n = 0;

	while (n < 3 && t->p + n < t->end && strchr("rRbBfFuUtT", t->p[n]) && t->p[n])
		n++;
	return t->p + n < t->end && (t->p[n] == '"' || t->p[n] == '\'') ? n : -1;
}

static struct fz_str take_while_name(struct fz_tokens *t, bool number)
{
	const char *start = t->p;

	while (t->p < t->end && (is_name(*t->p) || (number && *t->p == '.')))
		t->p++;
	return (struct fz_str){ start, (size_t)(t->p - start) };
}

static struct fz_str take_operator(struct fz_tokens *t)
{
	const char *start = t->p++;
	bool doubles = strchr("*/<>=&|", *start) != NULL;

	if (strchr("([{", *start))
		t->depth++;
	else if (strchr(")]}", *start))
		t->depth -= t->depth > 0;
	else if (doubles && t->p < t->end && *t->p == *start)
		t->p++;
	if (strchr("+-*/%@&|^<>=!:", *start) && t->p < t->end && *t->p == '=')
		t->p++;
	else if (*start == '-' && t->p < t->end && *t->p == '>')
		t->p++;
	return (struct fz_str){ start, (size_t)(t->p - start) };
}

struct fz_token fz_tokens_next(struct fz_tokens *t)
{
	struct fz_token token = { .kind = FZ_TOKEN_END };

	if (t->at_start)
		skip_to_line(t);
	else
		skip_within_line(t);
	token.line = t->line;
	token.indent = t->indent;
	token.depth = t->depth;
	if (t->p >= t->end)
		return token;
	t->at_start = *t->p == '\n';
	if (t->at_start) {
		token.kind = FZ_TOKEN_NEWLINE;
		return token;
	}
	int prefix = string_prefix(t);
	if (prefix >= 0) {
		t->p += prefix;
		token.kind = FZ_TOKEN_STRING;
		token.text = take_string(t);
	} else if (isdigit((unsigned char)*t->p)) {
		token.kind = FZ_TOKEN_NUMBER;
		token.text = take_while_name(t, true);
	} else if (is_name(*t->p)) {
		token.kind = FZ_TOKEN_NAME;
		token.text = take_while_name(t, false);
	} else {
		token.kind = FZ_TOKEN_OPERATOR;
		token.text = take_operator(t);
		token.depth = FZ_MIN(token.depth, t->depth);
	}
	return token;
}
