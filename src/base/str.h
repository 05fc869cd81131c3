/* SPDX-License-Identifier: MIT */
/* Untrusted text: views, number parsing with limits, escaping for output. */
#pragma once

#include <regex.h>

#include "base.h"

/* A borrowed piece of text, not terminated. */
struct fz_str {
	const char *p;
	size_t n;
};

#define FZ_STR(lit) ((struct fz_str){ (lit), sizeof(lit) - 1 })

static inline struct fz_str fz_str_of(const char *s)
{
	return (struct fz_str){ s, strlen(s) };
}

static inline bool fz_str_eq(struct fz_str a, struct fz_str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool fz_str_starts(struct fz_str s, const char *prefix);
bool fz_str_ends(struct fz_str s, const char *suffix);
/* Whether the expression matches anywhere in the text, which may contain any byte. */
bool fz_str_matches(struct fz_str s, const regex_t *regex);
/* Number of bytes with which both begin. */
size_t fz_str_shared(struct fz_str a, struct fz_str b);
/* memcmp order, shorter first on a tie. */
int fz_str_cmp(struct fz_str a, struct fz_str b);

/* Strips white space (of the C locale) from both ends. */
struct fz_str fz_str_trimmed(struct fz_str s);
/* Takes the next word, separated by white space, from the front; empty at the end. */
struct fz_str fz_str_take_word(struct fz_str *s);
/* Takes the next line and its "\n" from the front; returns it without "\n". */
struct fz_str fz_str_take_line(struct fz_str *s);

/* Takes the next item of a list such as "a, b", and its separator, from the front. */
struct fz_str fz_str_take_item(struct fz_str *s, const char *separator);

/* Parses the whole view as decimal digits, at most max. On false *ret is unchanged. */
bool fz_parse_u64(struct fz_str s, uint64_t max, uint64_t *ret);
/* Parses the hexadecimal digits at the start, without "0x"; returns how many there are. *ret (NULL:
 * only count them) is UINT64_MAX if their value is greater. */
size_t fz_parse_hex(struct fz_str s, uint64_t *ret);
/* Parses a finite decimal fraction such as "12" or "0.5", without exponent or sign. */
bool fz_parse_decimal(struct fz_str s, double *ret);
/* Parses a positive age, "90m", "24h", "7d", to seconds. */
bool fz_parse_ago(struct fz_str s, int64_t *ret_seconds);

/* Length of the valid UTF-8 sequence at p (1-4), or 0 if invalid. Rejects surrogates, overlong
 * forms and values above U+10FFFF. *ret_code receives the code point. */
size_t fz_utf8_decode(const char *p, size_t n, uint32_t *ret_code);
/* Writes the UTF-8 form of a code point (invalid ones become U+FFFD) to out[4]; returns its
 * length. */
size_t fz_utf8_encode(uint32_t code, char out[4]);
bool fz_utf8_valid(struct fz_str s);

/* Copies text in a form that is safe on a terminal, on one line: control characters, DEL, C1,
 * bidirectional overrides and invalid UTF-8 become \n, \t or \xHH. Always NUL-terminates; truncates
 * to out_size. Returns the length written. */
size_t fz_str_printable(const char *in, size_t n, char *out, size_t out_size);

/* Position of `text` outside brackets, or s.n if it is not there. */
size_t fz_str_find_outside(struct fz_str s, const char *text);
/* The last component of a function's name, "find" of "Index<a::b>::find": outside of brackets, a
 * component ends at a dot, colon, slash or number sign. */
struct fz_str fz_str_component(struct fz_str name);

/* Columns that a printable UTF-8 text takes on a terminal. */
size_t fz_str_columns(struct fz_str s);

/* Copies a Windows path with a drive or a server, "C:\\app\\x.py", with slashes in place of
 * backslashes; NULL for other paths. The caller frees. */
char *fz_path_slashed(struct fz_str path);
/* File name part of a path, never empty for a non-empty path ("dir/" stays "dir/"). */
struct fz_str fz_path_base(struct fz_str path);
/* A path up to its last slash; "./" if there is none. Both accept Windows paths. */
struct fz_str fz_path_folder(struct fz_str path);
