/* SPDX-License-Identifier: MIT */
/* Folded text: one stack a line, root first, frames joined by ";", then a blank and a number.
 *
 * Names that would break this are escaped, and only those, so that ordinary files are as every
 * other tool writes them: ";", line ends, NUL, and blanks or "#" where they would be taken for
 * something else become \xHH, as does ":" in a file's name; a backslash before an "x" becomes
 * \x5c, and an empty name is "\x".
 */
#pragma once

#include "base/io.h"
#include "profile/profile.h"

/* Lines that another text is turned into. */
struct fz_collapsed_lines {
	/* 1 and a line, valid until the next; 0 at the end; or an error. */
	int (*next)(void *arg, struct fz_str *line, struct fz_error *err);
	void *arg;
	const char *name; /* of the file */
};

int fz_collapsed_read_lines(const struct fz_collapsed_lines *from, struct fz_profile *p,
			    struct fz_error *err);
int fz_collapsed_read(struct fz_input *in, struct fz_profile *p, struct fz_error *err);
int fz_collapsed_write(const struct fz_profile *p, struct fz_output *out, struct fz_error *err);
int fz_folded_write(const struct fz_profile *p, struct fz_output *out, struct fz_error *err);

/* A frame of which only the name is shown, escaped. kind is enum fz_kind. */
void fz_collapsed_add_name(struct fz_buf *b, struct fz_str name, uint8_t kind);
/* Undo the escapes, in place; returns the new length. */
size_t fz_collapsed_unescape(char *text, size_t n);
