/* SPDX-License-Identifier: MIT */
/* The answer of a tool: an object whose members are printed in order, within a budget.
 *
 *   says        text without a title, first the headline
 *   KEY         text, or a list of texts
 *   KEY         rows: a list of objects that have the same members
 *
 * It is written as text or JSON. If it is too long, rows are omitted, the last ones first, or those
 * with the highest "rank", a hidden member; the answer has the number of omitted rows.
 */
#pragma once

#include "base/buf.h"
#include "mcp/tools.h"

/* Text from outside, made printable, in at most so many columns. */
json_t *fz_mcp_printable(struct fz_str text, unsigned columns);
/* A sentence; an empty one adds nothing. */
void fz_mcp_say(struct fz_mcp_call *c, const char *key, const struct fz_buf *text);
/* One more of a list of sentences, each of its lines for itself. */
void fz_mcp_say_also(struct fz_mcp_call *c, const char *key, const char *text);
/* A cell with a value in a unit, with its sign for a change; nothing where it is not finite. */
void fz_mcp_value(const struct fz_mcp_call *c, json_t *row, const char *key, double value,
		  const char *unit);
void fz_mcp_change(const struct fz_mcp_call *c, json_t *row, const char *key, double value,
		   const char *unit);
/* The call that would tell more. */
FZ_PRINTF(2, 3)
void fz_mcp_next(struct fz_mcp_call *c, const char *fmt, ...);

json_t *fz_mcp_answer_result(const struct fz_mcp_call *c, unsigned budget, bool structures);
json_t *fz_mcp_answer_error(const char *message, unsigned budget);
