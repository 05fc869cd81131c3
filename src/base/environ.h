/* SPDX-License-Identifier: MIT */
/* The environment of a program to be started. Our own is never changed: in a server, or in the
 * host of the library, other threads read it. */
#pragma once

#include <stddef.h>

struct fz_environ {
	char **list; /* "NAME=value", ended by NULL, as execve takes it; owned */
	size_t n, cap;
};

/* A copy; from: NULL is ours. */
void fz_environ_init(struct fz_environ *e, char *const *from);
void fz_environ_release(struct fz_environ *e);
/* Borrowed until the variable is changed; NULL: there is none of that name. */
const char *fz_environ_get(const struct fz_environ *e, const char *name);
void fz_environ_set(struct fz_environ *e, const char *name, const char *value);
/* However often it is there, as unsetenv does. */
void fz_environ_unset(struct fz_environ *e, const char *name);
/* All whose names begin so. */
void fz_environ_unset_prefix(struct fz_environ *e, const char *prefix);
/* Put a word in front of what a list such as PATH holds. */
void fz_environ_prepend(struct fz_environ *e, const char *name, const char *word, char separator);
