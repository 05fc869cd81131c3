/* SPDX-License-Identifier: MIT */
/* Untrusted text: views, number parsing with limits, escaping for output. */
#pragma once

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
/* memcmp order, shorter first on a tie. */
int fz_str_cmp(struct fz_str a, struct fz_str b);

/* Without white space (of the C locale) at either end. */
struct fz_str fz_str_trimmed(struct fz_str s);
/* The next word between white space, taken off the front; empty: there is none left. */
struct fz_str fz_str_take_word(struct fz_str *s);
/* The next line without its "\n", taken off the front with it. */
struct fz_str fz_str_take_line(struct fz_str *s);

/* The next item of a list such as "a, b", taken off the front with its separator. */
struct fz_str fz_str_take_item(struct fz_str *s, const char *separator);

/* Decimal digits only, the whole view, at most max. False leaves *ret untouched. */
bool fz_parse_u64(struct fz_str s, uint64_t max, uint64_t *ret);
/* Decimal fraction such as "12" or "0.5", no exponent, no sign, finite. */
bool fz_parse_decimal(struct fz_str s, double *ret);
/* "90m", "24h", "7d": so long ago, in seconds; more than 0. */
bool fz_parse_ago(struct fz_str s, int64_t *ret_seconds);

/* Length of the valid UTF-8 sequence at p (1-4), or 0 when it is not one. Rejects surrogates,
 * overlong forms and values above U+10FFFF. *ret_code receives the code point. */
size_t fz_utf8_decode(const char *p, size_t n, uint32_t *ret_code);
/* Write the UTF-8 form of a code point (invalid ones become U+FFFD) to out[4]; its length. */
size_t fz_utf8_encode(uint32_t code, char out[4]);
bool fz_utf8_valid(struct fz_str s);

/* Copy text so that it can be shown on a terminal on one line: control characters, DEL, C1,
 * bidirectional overrides and invalid UTF-8 become \n, \t or \xHH. Always terminates; cuts at
 * the end of out. Returns the length written. */
size_t fz_str_printable(const char *in, size_t n, char *out, size_t out_size);

/* Columns that a printable UTF-8 text takes on a terminal. */
size_t fz_str_columns(struct fz_str s);

/* File name part of a path, never empty for a non-empty path ("dir/" stays "dir/"). */
struct fz_str fz_path_base(struct fz_str path);
/* A path up to its last slash; "./" when there is none. */
struct fz_str fz_path_folder(struct fz_str path);
