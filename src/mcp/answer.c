/* SPDX-License-Identifier: MIT */
/* Builds answers as text within a token budget; see answer.h. The estimate is two bytes of UTF-8
 * per token: about right for tables of numbers, twice too high for prose (docs/mcp.md). */
#include "mcp/answer.h"

#include "report/table.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define RANK "rank"
#define LEFT_OUT "left_out"

static const struct fz_style plain = { .columns = 200 };

/* ---- making one ---- */

json_t *fz_mcp_printable(struct fz_str text, unsigned columns)
{
	fz_auto(fz_buf_release) struct fz_buf b = { 0 };

	fz_table_text(text, columns, &plain, &b);
	return json_stringn(b.p ? b.p : "", b.n);
}

void fz_mcp_add_text(struct fz_mcp_call *c, const char *key, const struct fz_buf *text)
{
	struct fz_str s = fz_str_trimmed(fz_buf_view(text));

	if (s.n)
		json_object_set_new(c->answer, key, fz_mcp_printable(s, UINT_MAX));
}

void fz_mcp_append_text(struct fz_mcp_call *c, const char *key, const char *text)
{
	json_t *list = json_object_get(c->answer, key);
	struct fz_str rest = fz_str_of(text);

	if (!list) {
		list = json_array();
		json_object_set_new(c->answer, key, list);
	}
	while (rest.n)
		json_array_append_new(list, fz_mcp_printable(fz_str_take_line(&rest), UINT_MAX));
}

static void put_number(const struct fz_mcp_call *c, json_t *row, const char *key, double value,
		       const char *text)
{
	bool whole = fabs(value) < 1e15 && value == rint(value);

	if (!isfinite(value))
		return;
	json_object_set_new(row, key,
			    !c->structured ? json_string(text)
			    : whole        ? json_integer((json_int_t)value)
					   : json_real(value));
}

void fz_mcp_value(const struct fz_mcp_call *c, json_t *row, const char *key, double value,
		  const char *unit)
{
	char text[FZ_NUMBER_SIZE];

	put_number(c, row, key, value, fz_format_value(value, unit, text));
}

void fz_mcp_change(const struct fz_mcp_call *c, json_t *row, double value, const char *unit)
{
	char text[FZ_NUMBER_SIZE];

	put_number(c, row, "change", value, fz_format_change(value, unit, text));
}

void fz_mcp_next(struct fz_mcp_call *c, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fz_mcp_append_text(c, "next", text);
}

/* ---- as text ---- */

static void add_scalar(const json_t *v, struct fz_buf *out)
{
	if (json_is_string(v))
		fz_buf_add(out, json_string_value(v), json_string_length(v));
	else if (json_is_integer(v))
		fz_buf_printf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	else
		fz_buf_char(out, '-');
}

/* The first row determines the columns; missing cells of later rows are "-". */
static void add_rows(const json_t *rows, struct fz_buf *out)
{
	json_t *first = json_array_get(rows, 0);
	const char *key, *between = "";
	json_t *v;

	json_object_foreach(first, key, v)
	{
		fz_buf_printf(out, "%s%s", between, key);
		between = " | ";
	}
	fz_buf_char(out, '\n');
	for (size_t i = 0; i < json_array_size(rows); i++) {
		between = "";
		json_object_foreach(first, key, v)
		{
			fz_buf_str(out, between);
			add_scalar(json_object_get(json_array_get(rows, i), key), out);
			between = " | ";
		}
		fz_buf_char(out, '\n');
	}
}

static void add_member(const char *key, const json_t *v, struct fz_buf *out)
{
	bool rows = json_is_object(json_array_get(v, 0));

	if (strcmp(key, "says") != 0)
		fz_buf_printf(out, "%s:%s", key, json_is_array(v) ? "\n" : " ");
	if (strcmp(key, LEFT_OUT) == 0)
		fz_buf_str(out, "(raise budget_tokens) ");
	if (rows) {
		add_rows(v, out);
		return;
	}
	for (size_t i = 0; i < json_array_size(v); i++) {
		add_scalar(json_array_get(v, i), out);
		fz_buf_char(out, '\n');
	}
	if (!json_is_array(v)) {
		add_scalar(v, out);
		fz_buf_char(out, '\n');
	}
}

static void add_text(json_t *answer, struct fz_buf *out)
{
	const char *key;
	json_t *v;

	json_object_foreach(answer, key, v) add_member(key, v, out);
	while (out->n && out->p[out->n - 1] == '\n')
		out->p[--out->n] = 0;
}

static char *as_json(const json_t *v)
{
	return json_dumps(v, JSON_COMPACT | JSON_REAL_PRECISION(6));
}

/* ---- within a budget ---- */

/* Drop the least important row: of the longest list the last one, or that with the highest rank. */
static bool drop_row(json_t *answer)
{
	json_t *longest = NULL, *v;
	const char *key;
	size_t at = 0;

	json_object_foreach(answer, key, v)
	{
		bool rows = json_is_object(json_array_get(v, 0));
		if (rows && (!longest || json_array_size(v) > json_array_size(longest)))
			longest = v;
	}
	if (!longest || json_array_size(longest) < 2)
		return false;
	at = json_array_size(longest) - 1;
	for (size_t i = 0; i < json_array_size(longest); i++) {
		json_t *rank = json_object_get(json_array_get(longest, i), RANK);
		json_t *worst = json_object_get(json_array_get(longest, at), RANK);
		if (json_integer_value(rank) > json_integer_value(worst))
			at = i;
	}
	json_array_remove(longest, at);
	json_object_set_new(
		answer, LEFT_OUT,
		json_integer(json_integer_value(json_object_get(answer, LEFT_OUT)) + 1));
	return true;
}

/* Drop the last member, but never the first, if the answer does not fit even without rows. */
static bool drop_member(json_t *answer)
{
	const char *key, *first = NULL, *last = NULL;
	json_t *v;

	json_object_foreach(answer, key, v)
	{
		first = first ? first : key;
		if (strcmp(key, LEFT_OUT) != 0)
			last = key;
	}
	if (!last || last == first)
		return false;
	json_object_del(answer, last);
	json_object_set_new(
		answer, LEFT_OUT,
		json_integer(json_integer_value(json_object_get(answer, LEFT_OUT)) + 1));
	return true;
}

static json_t *without_ranks(const json_t *answer)
{
	json_t *copy = json_deep_copy(answer), *v, *row;
	const char *key;
	size_t i;

	json_object_foreach(copy, key, v) json_array_foreach(v, i, row) json_object_del(row, RANK);
	return copy;
}

/* Cut to at most `bytes` bytes at the end of a character. */
static void cut(struct fz_buf *text, size_t bytes)
{
	static const char mark[] = "...";

	if (text->n <= bytes)
		return;
	size_t n = bytes - (sizeof(mark) - 1);
	while (n && (text->p[n] & 0xc0) == 0x80)
		n--;
	text->n = n;
	fz_buf_str(text, mark);
}

static json_t *text_content(const struct fz_buf *text)
{
	struct fz_str s = fz_buf_view(text);
	json_t *string = json_stringn(s.p, s.n);

	fz_assert(string);
	return json_pack("[{s:s, s:o}]", "type", "text", "text", string);
}

static json_t *text_result(json_t *answer, size_t bytes)
{
	struct fz_buf text = { 0 };

	for (;;) {
		json_t *shown = without_ranks(answer);
		fz_buf_reset(&text);
		add_text(shown, &text);
		json_decref(shown);
		if (text.n <= bytes || !(drop_row(answer) || drop_member(answer)))
			break;
	}
	cut(&text, bytes);
	json_t *result = json_pack("{s:o}", "content", text_content(&text));
	fz_buf_release(&text);
	return result;
}

/* The text beside the JSON. */
static const char *headline(const json_t *answer)
{
	const json_t *says = json_object_get(answer, "says");
	const char *text = json_string_value(json_is_array(says) ? json_array_get(says, 0) : says);

	return text ? text : "";
}

/* Structured content if the client supports it, else its JSON as text, cut if it is too long. */
static json_t *structured_pair(const json_t *answer, const char *json, size_t bytes,
			       bool structures)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	bool whole = structures && strlen(json) <= bytes;

	if (!structures)
		fz_buf_str(&text, json);
	else if (!whole || strlen(json) + strlen(headline(answer)) <= bytes)
		fz_buf_str(&text, headline(answer));
	cut(&text, bytes);
	json_t *result = json_pack("{s:o}", "content", text_content(&text));
	if (whole)
		json_object_set_new(result, "structuredContent", json_deep_copy(answer));
	return result;
}

/* Rows are dropped to make space for the headline, other members only if the JSON is too long. */
static json_t *structured_result(json_t *answer, size_t bytes, bool structures)
{
	for (;;) {
		json_t *shown = without_ranks(answer), *result = NULL;
		fz_auto(fz_free_ptr) char *json = as_json(shown);
		size_t n = strlen(json), beside = structures ? strlen(headline(shown)) : 0;
		bool shorter = (n + beside > bytes && drop_row(answer)) ||
			       (n > bytes && drop_member(answer));
		if (!shorter)
			result = structured_pair(shown, json, bytes, structures);
		json_decref(shown);
		if (result)
			return result;
	}
}

json_t *fz_mcp_answer_result(const struct fz_mcp_call *c, unsigned budget, bool structures)
{
	size_t bytes = (size_t)budget * FZ_MCP_BYTES_A_TOKEN;

	return c->structured ? structured_result(c->answer, bytes, structures)
			     : text_result(c->answer, bytes);
}

json_t *fz_mcp_answer_error(const char *message, unsigned budget)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	fz_buf_str(&text, message);
	if (!fz_utf8_valid(fz_buf_view(&text)))
		fz_buf_reset(&text);
	cut(&text, (size_t)budget * FZ_MCP_BYTES_A_TOKEN);
	return json_pack("{s:o, s:b}", "content", text_content(&text), "isError", 1);
}
