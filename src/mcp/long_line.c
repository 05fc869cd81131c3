/* SPDX-License-Identifier: MIT */
/* Scans JSON without checking it; see long_line.h. */
#include "mcp/long_line.h"

static void keep(struct fz_mcp_long_line *l, char c)
{
	if (l->depth == 1 && l->n < sizeof(l->token))
		l->token[l->n++] = c;
}

static void end_key(struct fz_mcp_long_line *l)
{
	l->is_id = fz_str_eq((struct fz_str){ l->token, l->n }, FZ_STR("\"id\""));
	l->n = 0;
}

static void end_value(struct fz_mcp_long_line *l)
{
	if (l->is_id && l->n <= FZ_MCP_TOKEN_MAX) {
		json_decref(l->id);
		l->id = json_loadb(l->token, l->n, JSON_DECODE_ANY, NULL);
	}
	l->is_id = false;
	l->n = 0;
}

static void take_in_string(struct fz_mcp_long_line *l, char c)
{
	keep(l, c);
	l->in_string = l->escaped || c != '"';
	l->escaped = !l->escaped && c == '\\';
}

static void take(struct fz_mcp_long_line *l, char c)
{
	switch (c) {
	case '{':
	case '[':
		l->is_id = false;
		l->depth++;
		break;
	case '}':
	case ']':
		if (l->depth == 1)
			end_value(l);
		l->depth -= l->depth > 0;
		break;
	case ':':
		if (l->depth == 1)
			end_key(l);
		break;
	case ',':
		if (l->depth == 1)
			end_value(l);
		break;
	case ' ':
	case '\t':
	case '\r':
		break;
	default:
		l->in_string = c == '"';
		keep(l, c);
	}
}

void fz_mcp_long_line_add(struct fz_mcp_long_line *l, struct fz_str part)
{
	for (size_t i = 0; i < part.n; i++) {
		if (l->in_string)
			take_in_string(l, part.p[i]);
		else
			take(l, part.p[i]);
	}
}

void fz_mcp_long_line_release(struct fz_mcp_long_line *l)
{
	json_decref(l->id);
	*l = (struct fz_mcp_long_line){ 0 };
}
