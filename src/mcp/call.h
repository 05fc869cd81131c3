/* SPDX-License-Identifier: MIT */
/* A call of a tool: its arguments and its answer. */
#pragma once

#include "mcp/handles.h"
#include "mcp/mcp.h"
#include "record/notify.h"

#include <jansson.h>

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

/* An argument of a call; NULL or `otherwise` if it was not given. */
static inline const char *fz_mcp_text(const struct fz_mcp_call *c, const char *name)
{
	return json_string_value(json_object_get(c->arguments, name));
}

static inline int fz_mcp_number(const struct fz_mcp_call *c, const char *name, int otherwise)
{
	const json_t *v = json_object_get(c->arguments, name);

	return v ? (int)json_integer_value(v) : otherwise;
}

static inline bool fz_mcp_flag(const struct fz_mcp_call *c, const char *name)
{
	return json_is_true(json_object_get(c->arguments, name));
}
