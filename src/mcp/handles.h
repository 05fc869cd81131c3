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
	bool measured; /* the files are ours and are removed with the handle */
};

struct fz_mcp_handles {
	struct fz_mcp_handle list[FZ_MCP_HANDLES_MAX];
	uint32_t n;
	uint32_t next; /* id of the next handle */
	bool added;    /* the last of the list is new */
};

/* The handle of that name, or NULL; *ret_gone: it was dropped. */
const struct fz_mcp_handle *fz_mcp_handle_find(const struct fz_mcp_handles *h, const char *name,
					       bool *ret_gone);
/* Fails if its files have changed. */
int fz_mcp_handle_check(const struct fz_mcp_handle *h, struct fz_error *err);
/* Find or add a handle for these files; path[FZ_BASE] is NULL for one recording. A call can add at
 * most one. */
const struct fz_mcp_handle *fz_mcp_handle_add(struct fz_mcp_handles *h, char *const path[FZ_SIDES],
					      char *const label[FZ_SIDES], bool measured);
void fz_mcp_handle_name(const struct fz_mcp_handle *h, char out[16]);
/* Pass the handle that a call added from its process to ours. NULL: none. */
json_t *fz_mcp_handles_added(const struct fz_mcp_handles *h);
void fz_mcp_handles_take(struct fz_mcp_handles *h, const json_t *added);
void fz_mcp_handles_release(struct fz_mcp_handles *h);
