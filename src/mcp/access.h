/* SPDX-License-Identifier: MIT */
/* Permissions of a client: read files below the root and recordings in its store, and run the
 * commands that the user allowed. */
#pragma once

#include "base/error.h"
#include "mcp/mcp.h"

#include <jansson.h>

/* Resolve a name to a file (the caller frees): a path below the root, or "@N" or a git revision in
 * the root's store. Errors for other names do not reveal whether a file exists. */
int fz_mcp_resolve(const char *name, char **ret, struct fz_error *err);
/* True if that file may be read after resolving links. */
bool fz_mcp_may_read(const char *path);
/* Returns 0 if this command may be run: its words equal those of an allowed command, which may end
 * in "*" for any further words. No shell interprets them. */
int fz_mcp_may_run(const struct fz_mcp_options *o, const json_t *words, struct fz_error *err);
