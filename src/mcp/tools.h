/* SPDX-License-Identifier: MIT */
/* The table of tools: their arguments and their functions. */
#pragma once

#include "mcp/call.h"

enum fz_mcp_type { FZ_MCP_STRING, FZ_MCP_INTEGER, FZ_MCP_FLAG, FZ_MCP_WORDS };

struct fz_mcp_argument {
	const char *name, *help;
	enum fz_mcp_type type;
	bool required;
	int min, max;               /* of an integer */
	const char *const *choices; /* of a string; NULL: any */
};

struct fz_mcp_tool {
	const char *name, *title, *help;
	const struct fz_mcp_argument *arguments; /* the last one has no name */
	bool measures;                           /* runs a command; one call at a time */
	int (*run)(struct fz_mcp_call *c, struct fz_error *err);
};
extern const struct fz_mcp_tool fz_mcp_tool_list, fz_mcp_tool_summary, fz_mcp_tool_changes,
	fz_mcp_tool_verify, fz_mcp_tool_where, fz_mcp_tool_calls, fz_mcp_tool_compare;

/* NULL if there is no tool of that name. */
const struct fz_mcp_tool *fz_mcp_tool_find(const char *name);
/* All tools, for tools/list. */
json_t *fz_mcp_tools_describe(void);
/* Run a tool and return its result, with c->answer unset before. An error is a result, too, so that
 * the client's model can read it. structures: structured content is allowed. */
json_t *fz_mcp_tool_run(const struct fz_mcp_tool *tool, struct fz_mcp_call *c,
			const json_t *arguments, bool structures);
