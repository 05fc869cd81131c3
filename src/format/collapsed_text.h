/* SPDX-License-Identifier: MIT */
/* The text of folded stacks, a line or a frame at a time: pure functions on views. */
#pragma once

#include "profile/profile.h"

#define FZ_COLLAPSED_VALUE_MAX ((uint64_t)1 << 60)

enum fz_collapsed_dialect {
	FZ_COLLAPSED_NAMES,  /* FlameGraph: names, perhaps with _[k] and the like */
	FZ_COLLAPSED_COLON,  /* Tachyon: file:function:line, where functions may have colons */
	FZ_COLLAPSED_AUSTIN, /* file:function:line, where files may */
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

/* Take the last word off the line if it is a number. The blanks before it go too. */
bool fz_collapsed_take_value(struct fz_str *line, struct fz_collapsed_value *ret);
/* Split a frame the way the dialect writes it; false when it does not look like that. */
bool fz_collapsed_split(enum fz_collapsed_dialect dialect, struct fz_str frame,
			struct fz_collapsed_parts *ret);
/* "<GC>", "[unknown]" */
bool fz_collapsed_is_bracketed(struct fz_str frame);
/* "tid:N" (Tachyon), or "P1" and below it "T2" or "T0:2" (austin). */
bool fz_collapsed_is_thread(struct fz_str frame, bool root, struct fz_thread *t);
bool fz_collapsed_all_digits(struct fz_str s);
/* Blanks off both ends. */
struct fz_str fz_collapsed_trimmed(struct fz_str s);
int fz_collapsed_sniff(const uint8_t *head, size_t n, const char *name);
