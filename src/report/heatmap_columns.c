/* SPDX-License-Identifier: MIT */
/* A heat map's data as columns, which web/heat_data.js reads by name.
 *
 * Lists of lines are in order of files; "file.lines" has the number of lines per file on this page.
 * Functions are numbered in order of first use, so that a page of one file contains only those of
 * its lines and calls.
 */
#include "report/heatmap_columns.h"

#include "report/heatmap_hot.h"
#include "report/line_runs.h"
#include "symbol/opcode.h"

#include <stdio.h>

enum {
	TEXT_BYTES_MAX = 24 << 20, /* of source text in one page; further files show none */
	OPCODES = 256,
	COLUMNS_MAX = 8, /* of one list */
};

struct filler {
	const struct fz_heat *h;
	enum fz_heat_view view;
	uint32_t file; /* for FZ_HEAT_FILE */
	bool no_source;
	struct fz_columns *columns;
	uint32_t *number_of; /* by function; FZ_NONE: not on this page */
	uint32_t *functions; /* by number */
	uint32_t function_n;
	uint32_t opcode_number[OPCODES]; /* FZ_NONE: not on this page */
	int64_t *scratch;
};

static bool shows_file(const struct filler *f, uint32_t file)
{
	return f->view == FZ_HEAT_ALL || (f->view == FZ_HEAT_FILE && file == f->file);
}

/* Stores the values of row i on a side, one for each column. Returns whether this page has it. */
typedef bool row_of(const struct filler *f, size_t i, int side, int64_t *ret);

/* Add a column for each name. Names must be static: columns keep the pointers. */
static void fill_rows(struct filler *f, const char *const *names, size_t name_n, size_t n, int side,
		      row_of *row)
{
	int64_t values[COLUMNS_MAX] = { 0 };

	for (size_t what = 0; what < name_n; what++) {
		size_t kept = 0;
		for (size_t i = 0; i < n; i++)
			if (row(f, i, side, values))
				f->scratch[kept++] = values[what];
		fz_columns_numbers(f->columns, names[what], f->scratch, kept);
	}
}

/* ---- files ---- */

static bool file_row(const struct filler *f, size_t i, int side, int64_t *ret)
{
	const struct fz_heat_file *file = &f->h->files[i];

	ret[0] = file->cost.self[side];
	ret[1] = file->cost.total[side];
	ret[2] = file->on_side[side] != FZ_NONE;
	ret[3] = shows_file(f, (uint32_t)i) ? file->line_count[side] : 0;
	ret[4] = file->origin;
	return true;
}

static struct fz_str recorded_path(const struct fz_heat *h, const struct fz_heat_file *file)
{
	int side = file->on_side[FZ_HEAD] != FZ_NONE ? FZ_HEAD : FZ_BASE;

	return h->profile[side]->strings[file->on_side[side]];
}

/* Mark files with a function whose own cost, or total, certainly changed. */
static void fill_changed(struct filler *f, const char *name, bool total)
{
	const struct fz_heat *h = f->h;

	memset(f->scratch, 0, h->file_count * sizeof(*f->scratch));
	for (uint32_t i = 0; i < h->function_count; i++) {
		const struct fz_heat_function *of = &h->functions[i];
		if ((total ? of->total_verdict : of->self_verdict) == FZ_VERDICT_CHANGED)
			f->scratch[of->file] = 1;
	}
	fz_columns_numbers(f->columns, name, f->scratch, h->file_count);
}

static void fill_files(struct filler *f)
{
	static const char *const names[][5] = {
		{ "file.self.base", "file.total.base", "file.has.base", "file.lines.base" },
		{ "file.self.head", "file.total.head", "file.has.head", "file.lines.head",
		  "file.origin" },
	};
	const struct fz_heat *h = f->h;

	fz_columns_begin_strings(f->columns, "file.name");
	for (uint32_t i = 0; i < h->file_count; i++)
		fz_columns_string(f->columns, h->files[i].name);
	fz_columns_end_strings(f->columns);
	fz_columns_begin_strings(f->columns, "file.path");
	for (uint32_t i = 0; i < h->file_count; i++)
		fz_columns_string(f->columns, recorded_path(h, &h->files[i]));
	fz_columns_end_strings(f->columns);
	for (int side = h->diff ? FZ_BASE : FZ_HEAD; side < FZ_SIDES; side++)
		fill_rows(f, names[side], side == FZ_HEAD ? 5 : 4, h->file_count, side, file_row);
	if (!h->judgement)
		return;
	fill_changed(f, "file.changed.self", false);
	fill_changed(f, "file.changed.total", true);
}

/* ---- lines ---- */

static bool line_row(const struct filler *f, size_t i, int side, int64_t *ret)
{
	const struct fz_heat_line *l = &f->h->lines[side][i];

	ret[0] = l->line;
	ret[1] = l->self;
	ret[2] = l->total;
	ret[3] = l->function == FZ_NONE ? 0 : f->number_of[l->function] + 1ll;
	return shows_file(f, l->file);
}

static void fill_lines(struct filler *f, int side)
{
	static const char *const names[][4] = {
		{ "line.number.base", "line.self.base", "line.total.base", "line.function.base" },
		{ "line.number.head", "line.self.head", "line.total.head", "line.function.head" },
	};

	fill_rows(f, names[side], 4, f->h->line_count[side], side, line_row);
}

static bool same_text(const struct fz_source_text *a, const struct fz_source_text *b)
{
	return a && b && a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

/* Align a file's texts if both are on the page and differ; returns the number of runs. */
static size_t align_texts(const struct fz_source_text *const text[FZ_SIDES],
			  const int64_t number[FZ_SIDES], struct fz_line_runs *runs)
{
	struct fz_line_list lines[FZ_SIDES];
	size_t n;

	if (!number[FZ_BASE] || !number[FZ_HEAD] || number[FZ_BASE] == number[FZ_HEAD])
		return 0;
	for (int side = 0; side < FZ_SIDES; side++)
		fz_lines_init(&lines[side], (struct fz_str){ text[side]->text, text[side]->size });
	n = fz_line_runs_add(runs, lines);
	for (int side = 0; side < FZ_SIDES; side++)
		fz_lines_release(&lines[side]);
	return n;
}

/* Add the text number + 1 of each file and side; a text common to both sides is stored once. */
static void fill_texts(struct filler *f)
{
	const struct fz_heat *h = f->h;
	fz_auto(fz_line_runs_release) struct fz_line_runs runs = { 0 };
	int64_t *of[FZ_SIDES];
	int64_t count = 0;
	size_t bytes = 0;

	for (int side = 0; side < FZ_SIDES; side++)
		of[side] = fz_calloc(h->file_count + 1ul, sizeof(int64_t));
	fz_columns_begin_strings(f->columns, "text");
	memset(f->scratch, 0, h->file_count * sizeof(*f->scratch));
	for (uint32_t i = 0; i < h->file_count; i++) {
		const struct fz_source_text *text[FZ_SIDES] = { NULL };
		if (!shows_file(f, i) || f->no_source)
			continue;
		for (int side = FZ_SIDES; side-- > 0;) {
			uint32_t string = h->files[i].on_side[side];
			if (string != FZ_NONE)
				text[side] = fz_profile_source(h->profile[side], string);
			if (side == FZ_BASE && same_text(text[FZ_BASE], text[FZ_HEAD])) {
				of[FZ_BASE][i] = of[FZ_HEAD][i];
				continue;
			}
			if (!text[side] || bytes + text[side]->size > TEXT_BYTES_MAX)
				continue;
			bytes += text[side]->size;
			fz_columns_string(f->columns,
					  (struct fz_str){ text[side]->text, text[side]->size });
			of[side][i] = ++count;
		}
		const int64_t number[FZ_SIDES] = { of[FZ_BASE][i], of[FZ_HEAD][i] };
		f->scratch[i] = (int64_t)align_texts(text, number, &runs);
	}
	fz_columns_end_strings(f->columns);
	fz_columns_numbers(f->columns, "file.text.base", of[FZ_BASE], h->file_count);
	fz_columns_numbers(f->columns, "file.text.head", of[FZ_HEAD], h->file_count);
	if (runs.n) {
		fz_columns_numbers(f->columns, "file.aligned", f->scratch, h->file_count);
		fz_line_runs_columns(&runs, f->columns);
	}
	free(of[FZ_BASE]);
	free(of[FZ_HEAD]);
}

/* ---- functions and calls ---- */

static bool shows_call(const struct filler *f, const struct fz_heat_call *c)
{
	return shows_file(f, c->file) || shows_file(f, f->h->functions[c->callee].file);
}

static void use_function(struct filler *f, uint32_t function)
{
	if (function == FZ_NONE || f->number_of[function] != FZ_NONE)
		return;
	f->number_of[function] = f->function_n;
	f->functions[f->function_n++] = function;
}

static void number_functions(struct filler *f)
{
	const struct fz_heat *h = f->h;

	for (int side = FZ_SIDES; side-- > 0;)
		for (uint32_t i = 0; i < h->line_count[side]; i++)
			if (shows_file(f, h->lines[side][i].file))
				use_function(f, h->lines[side][i].function);
	for (size_t i = 0; i < h->call_count; i++)
		if (shows_call(f, &h->calls[i]))
			use_function(f, h->calls[i].callee);
}

static const struct fz_heat_function *function_at(const struct filler *f, size_t i)
{
	return &f->h->functions[f->functions[i]];
}

static bool function_row(const struct filler *f, size_t i, int side, int64_t *ret)
{
	const struct fz_heat_function *of = function_at(f, i);
	int64_t values[] = { of->file,     of->line,         of->side,         of->state,
			     of->presence, of->self_verdict, of->total_verdict };

	(void)side;
	memcpy(ret, values, sizeof(values));
	return true;
}

static bool function_cost_row(const struct filler *f, size_t i, int side, int64_t *ret)
{
	ret[0] = function_at(f, i)->cost.self[side];
	ret[1] = function_at(f, i)->cost.total[side];
	return true;
}

static void fill_functions(struct filler *f)
{
	static const char *const costs[][2] = {
		{ "function.self.base", "function.total.base" },
		{ "function.self.head", "function.total.head" },
	};
	static const char *const names[] = {
		"function.file",          "function.line",     "function.side",
		"function.state",         "function.presence", "function.verdict.self",
		"function.verdict.total",
	};
	size_t of_diff = f->h->judgement ? FZ_ARRAY_LEN(names) : 5;
	uint32_t n = f->function_n;

	fz_columns_begin_strings(f->columns, "function.name");
	for (uint32_t i = 0; i < n; i++)
		fz_columns_string(f->columns, function_at(f, i)->name);
	fz_columns_end_strings(f->columns);
	fill_rows(f, names, f->h->diff ? of_diff : 2, n, FZ_HEAD, function_row);
	for (int side = f->h->diff ? FZ_BASE : FZ_HEAD; side < FZ_SIDES; side++)
		fill_rows(f, costs[side], 2, n, side, function_cost_row);
}

static bool call_row(const struct filler *f, size_t i, int side, int64_t *ret)
{
	const struct fz_heat_call *c = &f->h->calls[i];

	(void)side;
	ret[0] = c->file;
	ret[1] = c->line;
	ret[2] = f->number_of[c->callee];
	ret[3] = c->weight;
	return shows_call(f, c);
}

static void fill_calls(struct filler *f)
{
	static const char *const names[] = { "call.file", "call.line", "call.callee",
					     "call.weight" };

	fill_rows(f, names, FZ_ARRAY_LEN(names), f->h->call_count, FZ_HEAD, call_row);
}

/* ---- spans and instructions ---- */

static bool span_row(const struct filler *f, size_t i, int side, int64_t *ret)
{
	const struct fz_heat_spot *s = &f->h->spans[i];
	int64_t values[] = { s->file, s->line, s->end_line, s->from, s->to, s->self, s->total };

	(void)side;
	memcpy(ret, values, sizeof(values));
	return shows_file(f, s->file);
}

static void fill_spans(struct filler *f)
{
	static const char *const names[] = { "span.file", "span.line", "span.end",  "span.from",
					     "span.to",   "span.self", "span.total" };

	fill_rows(f, names, FZ_ARRAY_LEN(names), f->h->span_count, FZ_HEAD, span_row);
}

static void fill_opcode_names(struct filler *f)
{
	const struct fz_heat *h = f->h;
	const uint8_t *python = h->profile[FZ_HEAD]->recording.python;
	const char *base[OPCODES] = { NULL };
	uint32_t *number = f->opcode_number, count = 0;
	char text[16];

	memset(number, 0xff, sizeof(f->opcode_number));
	fz_columns_begin_strings(f->columns, "opcode.name");
	for (size_t i = 0; i < h->opcode_count; i++) {
		uint8_t code = h->opcodes[i].opcode;
		if (!shows_file(f, h->opcodes[i].file) || number[code] != FZ_NONE)
			continue;
		const struct fz_opcode *op = fz_opcode_find(python, code);
		const struct fz_opcode *of =
			op && op->base != code ? fz_opcode_find(python, op->base) : NULL;
		snprintf(text, sizeof(text), "<%d>", code);
		fz_columns_string(f->columns, fz_str_of(op ? op->name : text));
		base[count] = of ? of->name : "";
		number[code] = count++;
	}
	fz_columns_end_strings(f->columns);
	fz_columns_begin_strings(f->columns, "opcode.base");
	for (uint32_t i = 0; i < count; i++)
		fz_columns_string(f->columns, fz_str_of(base[i]));
	fz_columns_end_strings(f->columns);
}

static bool opcode_row(const struct filler *f, size_t i, int side, int64_t *ret)
{
	const struct fz_heat_spot *s = &f->h->opcodes[i];
	int64_t values[] = { s->file, s->line, f->opcode_number[s->opcode], s->self, s->total };

	(void)side;
	memcpy(ret, values, sizeof(values));
	return shows_file(f, s->file);
}

static void fill_opcodes(struct filler *f)
{
	static const char *const names[] = { "op.file", "op.line", "op.name", "op.self",
					     "op.total" };

	if (!f->h->opcode_count)
		return;
	fill_opcode_names(f);
	fill_rows(f, names, FZ_ARRAY_LEN(names), f->h->opcode_count, FZ_HEAD, opcode_row);
}

static void fill_all(struct filler *f)
{
	fill_files(f);
	if (f->view != FZ_HEAT_FILE)
		fz_heat_hot_columns(f->h, f->no_source, f->columns);
	if (f->view == FZ_HEAT_INDEX)
		return;
	number_functions(f);
	for (int side = f->h->diff ? FZ_BASE : FZ_HEAD; side < FZ_SIDES; side++)
		fill_lines(f, side);
	fill_texts(f);
	fill_functions(f);
	fill_calls(f);
	fill_spans(f);
	fill_opcodes(f);
}

static size_t longest_column(const struct fz_heat *h)
{
	size_t n = FZ_MAX(h->file_count, h->function_count);

	n = FZ_MAX(n, FZ_MAX(h->line_count[FZ_BASE], h->line_count[FZ_HEAD]));
	n = FZ_MAX(n, FZ_MAX(h->span_count, h->opcode_count));
	return FZ_MAX(n, h->call_count) + 1;
}

void fz_heat_columns(const struct fz_heat *h, enum fz_heat_view view, uint32_t file, bool no_source,
		     struct fz_columns *columns)
{
	size_t functions = (h->function_count + 1ul) * sizeof(uint32_t);
	struct filler f = { .h = h, .view = view, .file = file, .no_source = no_source };

	f.columns = columns;
	f.scratch = fz_calloc(longest_column(h), sizeof(*f.scratch));
	f.functions = fz_malloc(functions);
	f.number_of = fz_malloc(functions);
	memset(f.number_of, 0xff, functions);
	fill_all(&f);
	free(f.scratch);
	free(f.functions);
	free(f.number_of);
}
