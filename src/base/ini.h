/* SPDX-License-Identifier: MIT */
/* Reads files of sections with lines 'key = value', such as fizeau.ini. libinih splits the lines; a
 * value is one line, so an indented line does not continue the previous value.
 */
#pragma once

#include "base/base.h"
#include "base/error.h"

struct fz_ini {
	void *to;          /* the caller's data */
	char *section;     /* of the previous line; NULL: none */
	char message[512]; /* the first error; "" if none */
};

struct fz_ini_line {
	const char *section; /* the whole head, including what follows its first word */
	bool begins;         /* the first line of its section */
	const char *name;    /* of the key; NULL: the section's head itself */
	const char *value;   /* NULL likewise */
};

/* Handles a line; returns 1, or 0 from fz_ini_complain if it is wrong. */
typedef int (*fz_ini_take)(struct fz_ini *ini, const struct fz_ini_line *line);

/* Records an error in a line; returns 0. */
__attribute__((format(printf, 2, 3))) int fz_ini_complain(struct fz_ini *ini, const char *fmt, ...);

/* Parses a text; fails with FZ_EINPUT and "FILE:LINE: reason". */
int fz_ini_parse(const char *text, const char *file, fz_ini_take take, void *to,
		 struct fz_error *err);

/* Reads the text of a file, freed by the caller; NULL if it is missing and not `wanted`. Fails with
 * FZ_EINPUT or an errno. */
int fz_ini_load(const char *path, bool wanted, char **ret_text, struct fz_error *err);
