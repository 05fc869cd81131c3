/* SPDX-License-Identifier: MIT */
/* Handles of earlier answers: "d3" is a comparison of two recordings, "r4" one recording.
 *
 * A handle stores the state of its files: function ids belong to these files, so a file that
 * changed is refused. The table has a limit; the oldest handles are dropped.
 */
#pragma once

#include "base/error.h"
#include "compare/diff.h"

#include <jansson.h>

enum { FZ_MCP_HANDLES_MAX = 64 };

struct fz_mcp_handle {
	uint32_t id;
	struct {
		char *path, *stamp; /* NULL: the base of one recording */
		char *label;
	} side[FZ_SIDES];
	bool measured; /* the files are ours, and go with it */
};

struct fz_mcp_handles {
	struct fz_mcp_handle list[FZ_MCP_HANDLES_MAX];
	uint32_t n;
	uint32_t next; /* id of the one that a call may add */
	bool added;    /* the last of the list is new */
};

/* The handle of that name; NULL, and *ret_gone when it was forgotten. */
const struct fz_mcp_handle *fz_mcp_handle_find(const struct fz_mcp_handles *h, const char *name,
					       bool *ret_gone);
/* Whether its files are still those. */
int fz_mcp_handle_check(const struct fz_mcp_handle *h, struct fz_error *err);
/* One for these files, perhaps there already; path[FZ_BASE] is NULL for one recording. At most one
 * a call is new. */
const struct fz_mcp_handle *fz_mcp_handle_add(struct fz_mcp_handles *h, char *const path[FZ_SIDES],
					      char *const label[FZ_SIDES], bool measured);
void fz_mcp_handle_name(const struct fz_mcp_handle *h, char out[16]);
/* The one that a call added goes from its process to ours. NULL: none was. */
json_t *fz_mcp_handles_added(const struct fz_mcp_handles *h);
void fz_mcp_handles_take(struct fz_mcp_handles *h, const json_t *added);
void fz_mcp_handles_release(struct fz_mcp_handles *h);
