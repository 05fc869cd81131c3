/* SPDX-License-Identifier: MIT */
/* The environment for a new program. Our own is never changed, because other threads of a server or
 * of the library's host read it. */
#pragma once

#include <stddef.h>

struct fz_environ {
	char **list; /* "NAME=value", NULL-terminated, for execve; owned */
	size_t n, cap;
};

/* Copies `from`; NULL: our own. */
void fz_environ_init(struct fz_environ *e, char *const *from);
void fz_environ_release(struct fz_environ *e);
/* Returns a value, valid until the variable changes; NULL if not set. */
const char *fz_environ_get(const struct fz_environ *e, const char *name);
void fz_environ_set(struct fz_environ *e, const char *name, const char *value);
/* Removes all occurrences of a variable, like unsetenv. */
void fz_environ_unset(struct fz_environ *e, const char *name);
/* Removes all variables whose names start with a prefix. */
void fz_environ_unset_prefix(struct fz_environ *e, const char *prefix);
/* Prepends a word to a list such as PATH. */
void fz_environ_prepend(struct fz_environ *e, const char *name, const char *word, char separator);
