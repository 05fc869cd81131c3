/* SPDX-License-Identifier: MIT */
/* The tables of tools and arguments: JSON schemas and argument checks are made from them; see
 * tools.h. */
#include "mcp/tools.h"

#include "mcp/answer.h"

static const struct fz_mcp_tool *const tools[] = {
	&fz_mcp_tool_changes, &fz_mcp_tool_where,   &fz_mcp_tool_verify, &fz_mcp_tool_compare,
	&fz_mcp_tool_calls,   &fz_mcp_tool_summary, &fz_mcp_tool_list,
};

/* Arguments of every tool. */
static const struct fz_mcp_argument common[] = {
	{ "budget_tokens", "maximum answer length in tokens, estimated (default 500)",
	  FZ_MCP_INTEGER, .min = FZ_MCP_BUDGET_MIN, .max = FZ_MCP_BUDGET_MAX },
	{ "structured", "JSON with numbers instead of text", FZ_MCP_FLAG },
	{ 0 },
};

static const char *const type_names[] = {
	[FZ_MCP_STRING] = "string",
	[FZ_MCP_INTEGER] = "integer",
	[FZ_MCP_FLAG] = "boolean",
	[FZ_MCP_WORDS] = "array",
};

const struct fz_mcp_tool *fz_mcp_tool_find(const char *name)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(tools); i++)
		if (strcmp(tools[i]->name, name) == 0)
			return tools[i];
	return NULL;
}

/* ---- schemas ---- */

static json_t *describe_argument(const struct fz_mcp_argument *a)
{
	json_t *schema =
		json_pack("{s:s, s:s}", "type", type_names[a->type], "description", a->help);

	if (a->type == FZ_MCP_INTEGER) {
		json_object_set_new(schema, "minimum", json_integer(a->min));
		json_object_set_new(schema, "maximum", json_integer(a->max));
	}
	if (a->type == FZ_MCP_WORDS)
		json_object_set_new(schema, "items", json_pack("{s:s}", "type", "string"));
	if (a->choices) {
		json_t *choices = json_array();
		for (size_t i = 0; a->choices[i]; i++)
			json_array_append_new(choices, json_string(a->choices[i]));
		json_object_set_new(schema, "enum", choices);
	}
	return schema;
}

static void describe_arguments(const struct fz_mcp_argument *list, json_t *properties,
			       json_t *required)
{
	for (; list->name; list++) {
		json_object_set_new(properties, list->name, describe_argument(list));
		if (list->required)
			json_array_append_new(required, json_string(list->name));
	}
}

static json_t *describe_tool(const struct fz_mcp_tool *t)
{
	json_t *properties = json_object(), *required = json_array();

	describe_arguments(t->arguments, properties, required);
	describe_arguments(common, properties, required);
	json_t *schema = json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties",
				   properties, "required", required, "additionalProperties", 0);
	return json_pack("{s:s, s:s, s:s, s:o, s:{s:b, s:b, s:b}}", "name", t->name, "title",
			 t->title, "description", t->help, "inputSchema", schema, "annotations",
			 "readOnlyHint", !t->measures, "destructiveHint", 0, "openWorldHint",
			 t->measures);
}

json_t *fz_mcp_tools_describe(void)
{
	json_t *list = json_array();

	for (size_t i = 0; i < FZ_ARRAY_LEN(tools); i++)
		json_array_append_new(list, describe_tool(tools[i]));
	return list;
}

/* ---- checks ---- */

static const struct fz_mcp_argument *find_argument(const struct fz_mcp_argument *list,
						   const char *name)
{
	for (; list->name; list++)
		if (strcmp(list->name, name) == 0)
			return list;
	return NULL;
}

static bool is_words(const json_t *v)
{
	for (size_t i = 0; i < json_array_size(v); i++)
		if (!json_is_string(json_array_get(v, i)))
			return false;
	return json_array_size(v) > 0;
}

static bool is_choice(const struct fz_mcp_argument *a, const char *text)
{
	for (size_t i = 0; a->choices && a->choices[i]; i++)
		if (strcmp(a->choices[i], text) == 0)
			return true;
	return !a->choices;
}

/* Why a value is invalid; NULL: it is valid. */
static const char *check_value(const struct fz_mcp_argument *a, const json_t *v)
{
	json_int_t n = json_integer_value(v);

	switch (a->type) {
	case FZ_MCP_STRING:
		return !json_is_string(v)                    ? "must be a string"
		       : !is_choice(a, json_string_value(v)) ? "is not one of its choices"
							     : NULL;
	case FZ_MCP_INTEGER:
		return json_is_integer(v) && n >= a->min && n <= a->max ? NULL : "is out of range";
	case FZ_MCP_FLAG:
		return json_is_boolean(v) ? NULL : "must be true or false";
	case FZ_MCP_WORDS:
		return is_words(v) ? NULL : "must be a list of strings";
	}
	return NULL;
}

static int fail_argument(const struct fz_mcp_argument *a, const char *what, struct fz_error *err)
{
	if (a->type == FZ_MCP_INTEGER)
		return fz_fail(err, FZ_EUSAGE, "%s: %s; an integer from %d to %d", a->name, what,
			       a->min, a->max);
	return fz_fail(err, FZ_EUSAGE, "%s: %s; %s", a->name, what, a->help);
}

static int check(const struct fz_mcp_tool *t, const json_t *arguments, struct fz_error *err)
{
	const char *name;
	json_t *v;

	json_object_foreach((json_t *)arguments, name, v)
	{
		const struct fz_mcp_argument *a = find_argument(t->arguments, name);
		if (!a)
			a = find_argument(common, name);
		if (!a)
			return fz_fail(err, FZ_EUSAGE, "%.100s: unknown argument of %s", name,
				       t->name);
		const char *what = check_value(a, v);
		if (what)
			return fail_argument(a, what, err);
	}
	for (const struct fz_mcp_argument *a = t->arguments; a->name; a++)
		if (a->required && !json_object_get(arguments, a->name))
			return fail_argument(a, "is missing", err);
	return 0;
}

/* ---- calls ---- */

json_t *fz_mcp_tool_run(const struct fz_mcp_tool *tool, struct fz_mcp_call *c,
			const json_t *arguments, bool structures)
{
	struct fz_error err;
	unsigned budget = FZ_MCP_BUDGET_DEFAULT;

	c->arguments = arguments;
	c->answer = json_object();
	int r = check(tool, arguments, &err);
	if (!r) {
		c->structured = fz_mcp_flag(c, "structured");
		budget = (unsigned)fz_mcp_number(c, "budget_tokens", FZ_MCP_BUDGET_DEFAULT);
		r = tool->run(c, &err);
	}
	json_t *result = r ? fz_mcp_answer_error(err.message, budget)
			   : fz_mcp_answer_result(c, budget, structures);
	json_decref(c->answer);
	c->answer = NULL;
	return result;
}
