/* SPDX-License-Identifier: MIT */
/* Strings and tables of a Firefox Profiler file; see gecko.c. */
#include "report/gecko_writer.h"
#include "symbol/opcode.h"

#include <stdio.h>

enum { RESOURCE_LIBRARY = 1 };

/* The local number of something, which gets the next one if it has none. */
static uint32_t take(uint32_t *id, uint32_t *list, uint32_t *n, uint32_t global)
{
	if (id[global] == FZ_NONE) {
		id[global] = *n;
		list[(*n)++] = global;
	}
	return id[global];
}

/* ---- strings ---- */

static uint32_t string_id(struct fz_gecko_writer *w, uint32_t string)
{
	return take(w->string_id, w->strings, &w->string_count, string);
}

/* After the profile's own strings come the names of markers, the file names of its strings, and the
 * names of instructions. */
uint32_t fz_gecko_marker_string(struct fz_gecko_writer *w, enum fz_gecko_marker marker)
{
	return string_id(w, w->p->string_count + marker);
}

uint32_t fz_gecko_opcode_string(struct fz_gecko_writer *w, uint8_t opcode)
{
	return string_id(w, 2 * w->p->string_count + FZ_GECKO_MARKERS + opcode);
}

struct fz_gecko_opcode fz_gecko_opcode(const struct fz_gecko_writer *w, uint8_t opcode)
{
	const uint8_t *python = w->p->recording.python;
	const struct fz_opcode *op = fz_opcode_find(python, opcode);
	const struct fz_opcode *base = op ? fz_opcode_find(python, op->base) : NULL;
	struct fz_gecko_opcode ret = { .specialised = op && op->base != opcode };

	snprintf(ret.base, sizeof(ret.base), "<%d>", opcode);
	if (base)
		snprintf(ret.base, sizeof(ret.base), "%s", base->name);
	if (ret.specialised)
		snprintf(ret.title, sizeof(ret.title), "%s (%s)", op->name, ret.base);
	else
		snprintf(ret.title, sizeof(ret.title), "%s", ret.base);
	return ret;
}

static void write_opcode_name(struct fz_gecko_writer *w, uint8_t opcode)
{
	struct fz_gecko_opcode op = fz_gecko_opcode(w, opcode);

	fz_json_str(&w->j, fz_str_of(op.title));
}

void fz_gecko_write_strings(struct fz_gecko_writer *w)
{
	fz_json_kopen(&w->j, "stringArray", '[');
	for (uint32_t i = 0; i < w->string_count; i++) {
		uint32_t s = w->strings[i];
		uint32_t own = w->p->string_count;
		if (s < own)
			fz_json_str(&w->j, w->p->strings[s]);
		else if (s < own + FZ_GECKO_MARKERS)
			fz_json_str(&w->j, fz_str_of(fz_gecko_marker_name(s - own)));
		else if (s < 2 * own + FZ_GECKO_MARKERS)
			fz_json_str(&w->j, fz_path_base(w->p->strings[s - own - FZ_GECKO_MARKERS]));
		else
			write_opcode_name(w, (uint8_t)(s - 2 * own - FZ_GECKO_MARKERS));
	}
	fz_json_close(&w->j, ']');
}

/* ---- columns ---- */

typedef int64_t value_of(const struct fz_gecko_writer *w, uint32_t i);

/* Write a column; FZ_NONE and negative values become null. */
static void column(struct fz_gecko_writer *w, const char *name, uint32_t n, value_of *value)
{
	fz_json_kopen(&w->j, name, '[');
	for (uint32_t i = 0; i < n; i++) {
		int64_t v = value(w, i);
		if (v < 0 || v == FZ_NONE)
			fz_json_null(&w->j);
		else
			fz_json_int(&w->j, v);
	}
	fz_json_close(&w->j, ']');
}

void fz_gecko_nulls(struct fz_gecko_writer *w, const char *name, uint32_t n)
{
	fz_json_kopen(&w->j, name, '[');
	for (uint32_t i = 0; i < n; i++)
		fz_json_null(&w->j);
	fz_json_close(&w->j, ']');
}

void fz_gecko_constants(struct fz_gecko_writer *w, const char *name, uint32_t n, int64_t v)
{
	fz_json_kopen(&w->j, name, '[');
	for (uint32_t i = 0; i < n; i++)
		fz_json_int(&w->j, v);
	fz_json_close(&w->j, ']');
}

/* ---- what a thread uses ---- */

void fz_gecko_add_used(struct fz_gecko_writer *w, const size_t *rows, size_t n)
{
	const struct fz_profile *p = w->p;

	memset(w->stack_id, 0xff, p->stack_count * sizeof(uint32_t));
	memset(w->frame_id, 0xff, p->frame_count * sizeof(uint32_t));
	memset(w->function_id, 0xff, p->function_count * sizeof(uint32_t));
	memset(w->resource_id, 0xff, p->string_count * sizeof(uint32_t));
	w->stack_n = w->frame_n = w->function_n = w->resource_n = 0;
	for (size_t i = 0; i < n; i++)
		for (uint32_t s = p->samples.stack[rows[i]];
		     s != FZ_NONE && w->stack_id[s] == FZ_NONE; s = p->stacks[s].parent)
			w->stack_id[s] = 0;
	for (uint32_t s = 0; s < p->stack_count; s++) {
		if (w->stack_id[s] == FZ_NONE)
			continue;
		w->stack_id[s] = w->stack_n;
		w->stacks[w->stack_n++] = s;
		uint32_t frame = p->stacks[s].frame;
		uint32_t function = p->frames[frame].function;
		take(w->frame_id, w->frames, &w->frame_n, frame);
		take(w->function_id, w->functions, &w->function_n, function);
		take(w->resource_id, w->resources, &w->resource_n, p->functions[function].file);
	}
}

/* ---- tables ---- */

static const struct fz_function *function_of(const struct fz_gecko_writer *w, uint32_t frame)
{
	return &w->p->functions[w->p->frames[frame].function];
}

static int64_t category(const struct fz_gecko_writer *w, const struct fz_function *f)
{
	if (f->kind == FZ_KIND_MARKER) {
		struct fz_str name = w->p->strings[f->name];
		return fz_str_eq(name, FZ_STR("<GC>"))       ? FZ_GECKO_GC
		       : fz_str_eq(name, FZ_STR("<native>")) ? FZ_GECKO_NATIVE
							     : FZ_GECKO_OTHER;
	}
	return f->kind == FZ_KIND_NATIVE || f->kind == FZ_KIND_KERNEL ? FZ_GECKO_NATIVE
								      : FZ_GECKO_PYTHON;
}

static int64_t stack_frame(const struct fz_gecko_writer *w, uint32_t i)
{
	return w->frame_id[w->p->stacks[w->stacks[i]].frame];
}

static int64_t stack_prefix(const struct fz_gecko_writer *w, uint32_t i)
{
	uint32_t parent = w->p->stacks[w->stacks[i]].parent;

	return parent == FZ_NONE ? -1 : w->stack_id[parent];
}

static int64_t stack_category(const struct fz_gecko_writer *w, uint32_t i)
{
	return category(w, function_of(w, w->p->stacks[w->stacks[i]].frame));
}

static int64_t frame_category(const struct fz_gecko_writer *w, uint32_t i)
{
	return category(w, function_of(w, w->frames[i]));
}

static int64_t frame_function(const struct fz_gecko_writer *w, uint32_t i)
{
	return w->function_id[w->p->frames[w->frames[i]].function];
}

static int64_t frame_line(const struct fz_gecko_writer *w, uint32_t i)
{
	int32_t line = w->p->frames[w->frames[i]].line;

	return line > 0 ? line : -1;
}

static int64_t frame_column(const struct fz_gecko_writer *w, uint32_t i)
{
	return w->p->frames[w->frames[i]].column;
}

static int64_t function_name(const struct fz_gecko_writer *w, uint32_t i)
{
	return string_id((struct fz_gecko_writer *)w, w->p->functions[w->functions[i]].name);
}

static int64_t function_file(const struct fz_gecko_writer *w, uint32_t i)
{
	const struct fz_function *f = &w->p->functions[w->functions[i]];

	return f->file && f->kind != FZ_KIND_MARKER && f->kind != FZ_KIND_TASK
		       ? string_id((struct fz_gecko_writer *)w, f->file)
		       : -1;
}

static int64_t function_line(const struct fz_gecko_writer *w, uint32_t i)
{
	int32_t line = w->lines[w->functions[i]];

	return line > 0 ? line : -1;
}

static int64_t function_resource(const struct fz_gecko_writer *w, uint32_t i)
{
	return w->resource_id[w->p->functions[w->functions[i]].file];
}

static int64_t resource_name(const struct fz_gecko_writer *w, uint32_t i)
{
	return string_id((struct fz_gecko_writer *)w,
			 w->p->string_count + FZ_GECKO_MARKERS + w->resources[i]);
}

static void flags(struct fz_gecko_writer *w, const char *name)
{
	fz_json_kopen(&w->j, name, '[');
	for (uint32_t i = 0; i < w->function_n; i++)
		fz_json_bool(&w->j,
			     category(w, &w->p->functions[w->functions[i]]) == FZ_GECKO_PYTHON);
	fz_json_close(&w->j, ']');
}

void fz_gecko_open_table(struct fz_gecko_writer *w, const char *name)
{
	fz_json_kopen(&w->j, name, '{');
}

void fz_gecko_close_table(struct fz_gecko_writer *w, uint64_t n)
{
	fz_json_kint(&w->j, "length", (int64_t)n);
	fz_json_close(&w->j, '}');
}

void fz_gecko_write_tables(struct fz_gecko_writer *w)
{
	fz_gecko_open_table(w, "stackTable");
	column(w, "frame", w->stack_n, stack_frame);
	column(w, "category", w->stack_n, stack_category);
	fz_gecko_constants(w, "subcategory", w->stack_n, 0);
	column(w, "prefix", w->stack_n, stack_prefix);
	fz_gecko_close_table(w, w->stack_n);

	fz_gecko_open_table(w, "frameTable");
	fz_gecko_constants(w, "address", w->frame_n, -1);
	fz_gecko_constants(w, "inlineDepth", w->frame_n, 0);
	column(w, "category", w->frame_n, frame_category);
	fz_gecko_constants(w, "subcategory", w->frame_n, 0);
	column(w, "func", w->frame_n, frame_function);
	fz_gecko_nulls(w, "nativeSymbol", w->frame_n);
	fz_gecko_nulls(w, "innerWindowID", w->frame_n);
	column(w, "line", w->frame_n, frame_line);
	column(w, "column", w->frame_n, frame_column);
	fz_gecko_close_table(w, w->frame_n);

	fz_gecko_open_table(w, "funcTable");
	column(w, "name", w->function_n, function_name);
	flags(w, "isJS");
	flags(w, "relevantForJS");
	column(w, "resource", w->function_n, function_resource);
	column(w, "fileName", w->function_n, function_file);
	column(w, "lineNumber", w->function_n, function_line);
	fz_gecko_nulls(w, "columnNumber", w->function_n);
	fz_gecko_close_table(w, w->function_n);

	fz_gecko_open_table(w, "resourceTable");
	fz_gecko_nulls(w, "lib", w->resource_n);
	column(w, "name", w->resource_n, resource_name);
	fz_gecko_nulls(w, "host", w->resource_n);
	fz_gecko_constants(w, "type", w->resource_n, RESOURCE_LIBRARY);
	fz_gecko_close_table(w, w->resource_n);

	fz_gecko_open_table(w, "nativeSymbols");
	fz_gecko_nulls(w, "libIndex", 0);
	fz_gecko_nulls(w, "address", 0);
	fz_gecko_nulls(w, "name", 0);
	fz_gecko_nulls(w, "functionSize", 0);
	fz_gecko_close_table(w, 0);
}
