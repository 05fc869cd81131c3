/* SPDX-License-Identifier: MIT */
/* The subject of a call: one recording, or two compared as by `fizeau diff`. */
#pragma once

#include "compare/comparison.h"
#include "compare/names.h"
#include "mcp/tools.h"

struct fz_mcp_subject {
	struct fz_profile *profile[FZ_SIDES]; /* a single recording is the head */
	struct fz_comparison *comparison;     /* NULL: a single recording */
	const struct fz_diff *diff;           /* of the comparison, or NULL */
	const struct fz_judgement *judgement; /* likewise */
	struct fz_tree *tree; /* of a single recording, with names and lines of its functions */
	struct fz_arena arena;
	struct fz_name *names;
	int32_t *lines;
	char name[16]; /* of its handle */
};

enum fz_mcp_wanted { FZ_MCP_ONE, FZ_MCP_TWO, FZ_MCP_ANY };

/* Open the subject named by the arguments "of", "base" and "head" (FZ_MCP_OF_ARGUMENT,
 * FZ_MCP_SIDE_ARGUMENTS).
 */
int fz_mcp_subject_open(struct fz_mcp_call *c, enum fz_mcp_wanted wanted,
			struct fz_mcp_subject *ret, struct fz_error *err);
/* Open two recordings that were just made. */
int fz_mcp_subject_measured(struct fz_mcp_call *c, char *const path[FZ_SIDES],
			    char *const label[FZ_SIDES], struct fz_mcp_subject *ret,
			    struct fz_error *err);
void fz_mcp_subject_release(struct fz_mcp_subject *s);

/* Resolve the argument "function", "f12" or a name, to an index of the diff's functions, or the
 * profile's. */
int fz_mcp_subject_function(const struct fz_mcp_call *c, const struct fz_mcp_subject *s,
			    uint32_t *ret, struct fz_error *err);
/* The function of a side's profile for such an index, or FZ_NONE. */
uint32_t fz_mcp_subject_on(const struct fz_mcp_subject *s, enum fz_side side, uint32_t function);
/* The index of a function of a side's profile, or FZ_NONE. */
uint32_t fz_mcp_subject_of(const struct fz_mcp_subject *s, enum fz_side side, uint32_t function);
uint32_t fz_mcp_subject_metric(const struct fz_mcp_subject *s, enum fz_side side);
const char *fz_mcp_subject_unit(const struct fz_mcp_subject *s);
/* Add the cells "id", "function" and "at" to a row; nothing for FZ_NONE. */
void fz_mcp_subject_id(json_t *row, uint32_t function);
void fz_mcp_subject_names(const struct fz_mcp_subject *s, json_t *row, uint32_t function);

#define FZ_MCP_OF_ARGUMENT                                                             \
	{                                                                              \
		"of", "handle of an earlier answer, such as d1 or r1, or a recording", \
			FZ_MCP_STRING                                                  \
	}
#define FZ_MCP_SIDE_ARGUMENTS                                                       \
	{ "base", "base recording: file, @N from list_recordings, or git revision", \
	  FZ_MCP_STRING },                                                          \
	{                                                                           \
		"head", "head recording", FZ_MCP_STRING                             \
	}
#define FZ_MCP_FUNCTION_ARGUMENT(is_required)                                  \
	{                                                                      \
		"function", "function id, such as f3, or name", FZ_MCP_STRING, \
			.required = is_required                                \
	}

/* Add the list of changes; shared by all tools that compare two recordings (tool_changes.c). */
void fz_mcp_add_changes(struct fz_mcp_call *c, const struct fz_mcp_subject *s);
