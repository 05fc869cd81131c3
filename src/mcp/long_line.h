/* SPDX-License-Identifier: MIT */
/* Finds the id of a request whose line is too long to be parsed, so that the client does not wait
 * for its answer: many clients write the id after the parameters. Takes the line in parts and keeps
 * no more than one short value of it.
 */
#pragma once

#include "base/str.h"

#include <jansson.h>

enum { FZ_MCP_TOKEN_MAX = 256 /* bytes of an id as JSON */ };

struct fz_mcp_long_line {
	unsigned depth; /* of nested objects and arrays */
	bool in_string, escaped;
	bool is_id; /* the current value of the outermost object is its id */
	/* the current key or value of the outermost object, or the start of one that is too long */
	char token[FZ_MCP_TOKEN_MAX + 1];
	size_t n;
	json_t *id; /* NULL: not found yet */
};

void fz_mcp_long_line_add(struct fz_mcp_long_line *l, struct fz_str part);
void fz_mcp_long_line_release(struct fz_mcp_long_line *l);
