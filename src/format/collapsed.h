/* SPDX-License-Identifier: MIT */
/* Folded text: one stack per line, root first, frames joined by ";", then a space and a number.
 *
 * Only names that would break this are escaped, so ordinary files look like those of other tools:
 * ";", line ends, NUL, and ambiguous spaces and "#" become \xHH, as does ":" in a file's name; a
 * backslash before an "x" becomes \x5c, and an empty name is "\x".
 */
#pragma once

#include "base/io.h"
#include "profile/profile.h"

/* Source of folded lines converted from another text. */
struct fz_collapsed_lines {
	/* Returns 1 and a line that is valid until the next call, 0 at the end, or an error. */
	int (*next)(void *arg, struct fz_str *line, struct fz_error *err);
	void *arg;
	const char *name; /* of the file */
};

int fz_collapsed_read_lines(const struct fz_collapsed_lines *from, struct fz_profile *p,
			    struct fz_error *err);
int fz_collapsed_read(struct fz_input *in, struct fz_profile *p, struct fz_error *err);
int fz_collapsed_write(const struct fz_profile *p, struct fz_output *out, struct fz_error *err);
int fz_folded_write(const struct fz_profile *p, struct fz_output *out, struct fz_error *err);

/* Appends a frame with only its name, escaped. kind is enum fz_kind. */
void fz_collapsed_add_name(struct fz_buf *b, struct fz_str name, uint8_t kind);
/* Undoes the escapes in place; returns the new length. */
size_t fz_collapsed_unescape(char *text, size_t n);
