/* SPDX-License-Identifier: MIT */
/* Parses folded text by line or frame: pure functions on views. */
#pragma once

#include "profile/profile.h"

#define FZ_COLLAPSED_VALUE_MAX ((uint64_t)1 << 60)

enum fz_collapsed_dialect {
	FZ_COLLAPSED_NAMES,  /* FlameGraph: names, perhaps with _[k] or similar */
	FZ_COLLAPSED_COLON,  /* Tachyon: file:function:line; functions may contain colons */
	FZ_COLLAPSED_AUSTIN, /* file:function:line; files may contain colons */
	FZ_COLLAPSED_PAREN,  /* py-spy, austin-diff: function (file:line) */
};

/* The number at the end of a line. Austin's full mode has three: us, idle, bytes. */
struct fz_collapsed_value {
	uint64_t whole;
	double fraction;
	bool is_full, idle;
	int64_t bytes;
};

struct fz_collapsed_parts {
	struct fz_str name, file;
	int32_t line;
};

/* Strips the last word and the spaces before it if it is a number. */
bool fz_collapsed_take_value(struct fz_str *line, struct fz_collapsed_value *ret);
/* Splits a frame according to a dialect; false if it does not match. */
bool fz_collapsed_split(enum fz_collapsed_dialect dialect, struct fz_str frame,
			struct fz_collapsed_parts *ret);
/* "<GC>", "[unknown]" */
bool fz_collapsed_is_bracketed(struct fz_str frame);
/* Parses "tid:N" (Tachyon), or "P1" followed by "T2" or "T0:2" (austin). */
bool fz_collapsed_is_thread(struct fz_str frame, bool root, struct fz_thread *t);
bool fz_collapsed_all_digits(struct fz_str s);
/* Strips spaces from both ends. */
struct fz_str fz_collapsed_trimmed(struct fz_str s);
int fz_collapsed_sniff(const uint8_t *head, size_t n, const char *name);
