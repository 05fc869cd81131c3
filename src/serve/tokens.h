/* SPDX-License-Identifier: MIT */
/* Permissions: a file of lines "PROJECT read|write|read,write|badge TOKEN", with # for comments.
 * Read access includes badges. */
#pragma once

#include "base/error.h"
#include "base/str.h"

enum fz_right { FZ_RIGHT_READ = 1, FZ_RIGHT_WRITE = 2, FZ_RIGHT_BADGE = 4 };

struct fz_tokens {
	struct fz_token {
		char *project, *token;
		unsigned rights;
	} * list;
	size_t n, cap;
};

/* Load a file of tokens. Rejects a file that others can read, and tokens of fewer than 16 bytes. */
int fz_tokens_load(const char *path, struct fz_tokens *ret, struct fz_error *err);
void fz_tokens_release(struct fz_tokens *t);
/* Find a token; NULL if unknown. The time that this takes reveals nothing about the tokens. */
const struct fz_token *fz_tokens_find(const struct fz_tokens *t, struct fz_str token);
