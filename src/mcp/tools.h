/* SPDX-License-Identifier: MIT */
/* The table of tools: their arguments and their functions. */
#pragma once

#include "mcp/handles.h"
#include "mcp/mcp.h"
#include "record/notify.h"

#include <jansson.h>

enum fz_mcp_type { FZ_MCP_STRING, FZ_MCP_INTEGER, FZ_MCP_FLAG, FZ_MCP_WORDS };

struct fz_mcp_argument {
	const char *name, *help;
	enum fz_mcp_type type;
	bool required;
	int min, max;               /* of an integer */
	const char *const *choices; /* of a string; NULL: any */
};

/* The tokens of an answer are estimated; see docs/mcp.md. */
enum {
	FZ_MCP_BYTES_A_TOKEN = 2,
	FZ_MCP_BUDGET_MIN = 100,
	FZ_MCP_BUDGET_DEFAULT = 500,
	FZ_MCP_BUDGET_MAX = 20000,
};

/* A call that is being answered, in its own process. */
struct fz_mcp_call {
	const struct fz_mcp_options *options;
	struct fz_mcp_handles *handles;
	const char *scratch; /* folder for new recordings; NULL: none may be made */
	const struct fz_notify *notify;
	const json_t *arguments; /* checked */
	bool structured;         /* values as numbers, not as text */
	json_t *answer;          /* object, in the order of output: answer.h */
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

/* An argument of a call; NULL or `otherwise` if it was not given. */
const char *fz_mcp_text(const struct fz_mcp_call *c, const char *name);
int fz_mcp_number(const struct fz_mcp_call *c, const char *name, int otherwise);
bool fz_mcp_flag(const struct fz_mcp_call *c, const char *name);
