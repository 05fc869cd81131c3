/* SPDX-License-Identifier: MIT */
/* Files of sections with lines 'key = value', such as fizeau.ini. libinih splits the lines; a value
 * is one line, so an indented line does not vanish in the value before it.
 */
#pragma once

#include "base/base.h"
#include "base/error.h"

struct fz_ini {
	void *to;          /* where the caller keeps what it reads */
	char *section;     /* of the line before; NULL: there was none */
	char message[512]; /* the first thing that is wrong; "": nothing */
};

struct fz_ini_line {
	const char *section; /* with what follows its first word */
	bool begins;         /* the first line of its section */
	const char *name;    /* of the key; NULL: the section's head itself */
	const char *value;   /* NULL likewise */
};

/* Returns 0 when the line is wrong, as fz_ini_complain says, else 1. */
typedef int (*fz_ini_take)(struct fz_ini *ini, const struct fz_ini_line *line);

/* What is wrong with a line; returns 0, for whoever takes it. */
__attribute__((format(printf, 2, 3))) int fz_ini_complain(struct fz_ini *ini, const char *fmt, ...);

/* FZ_EINPUT with "FILE:LINE: what is wrong". */
int fz_ini_parse(const char *text, const char *file, fz_ini_take take, void *to,
		 struct fz_error *err);

/* The text of a file, to be freed by the caller; NULL where it is missing and not wanted. FZ_EINPUT
 * or errno's. */
int fz_ini_load(const char *path, bool wanted, char **ret_text, struct fz_error *err);
