/* SPDX-License-Identifier: MIT */
/* Permissions of a client: read files below the root and recordings in its store, and run the
 * commands that the user allowed. */
#pragma once

#include "mcp/tools.h"

/* The file that a name stands for (the caller frees): one below the root, "@N" or a git revision of
 * the root's store. Anything else is an error that tells nothing of what is there. */
int fz_mcp_resolve(const char *name, char **ret, struct fz_error *err);
/* Whether that file may be read, wherever links lead. */
bool fz_mcp_may_read(const char *path);
/* Whether these words may be run: one of the commands has the same words. One that ends in "*"
 * stands for any more words. No shell looks at either. */
int fz_mcp_may_run(const struct fz_mcp_options *o, const json_t *words, struct fz_error *err);
