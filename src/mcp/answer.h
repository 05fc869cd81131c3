/* SPDX-License-Identifier: MIT */
/* The answer of a tool: an object whose members are printed in order, within a budget.
 *
 *   says        text without a title, first the headline
 *   KEY         text, or a list of texts
 *   KEY         rows: a list of objects that have the same members
 *
 * It is written as text or JSON. If it is too long, rows are omitted, the last ones first, or those
 * with the highest "rank", a hidden member; the answer states the number of omitted rows.
 */
#pragma once

#include "base/buf.h"
#include "mcp/call.h"

/* Untrusted text, made printable, in at most `columns` columns. */
json_t *fz_mcp_printable(struct fz_str text, unsigned columns);
/* Add a sentence, unless it is empty. */
void fz_mcp_add_text(struct fz_mcp_call *c, const char *key, const struct fz_buf *text);
/* Append each line of the text to a list of sentences. */
void fz_mcp_append_text(struct fz_mcp_call *c, const char *key, const char *text);
/* Add a cell with a value in a unit, or the cell "change" with its sign; nothing if it is not
 * finite. */
void fz_mcp_value(const struct fz_mcp_call *c, json_t *row, const char *key, double value,
		  const char *unit);
void fz_mcp_change(const struct fz_mcp_call *c, json_t *row, double value, const char *unit);
/* Suggest the next call. */
FZ_PRINTF(2, 3)
void fz_mcp_next(struct fz_mcp_call *c, const char *fmt, ...);

json_t *fz_mcp_answer_result(const struct fz_mcp_call *c, unsigned budget, bool structures);
json_t *fz_mcp_answer_error(const char *message, unsigned budget);
