/* SPDX-License-Identifier: MIT */
/* Print the input and output formats from the tables of formats and reports. */

#include "base/table.h"
#include "cli/cli.h"
#include "format/format.h"
#include "report/report.h"

#include <unistd.h>

/* True if a report writes that format, with its codec or under its own name. */
static bool is_written_by(const struct fz_format *f, const struct fz_report *r)
{
	return strcmp(r->codec ? r->codec : r->name, f->name) == 0;
}

static const struct fz_report *report_of(const struct fz_format *f)
{
	for (size_t i = 0; fz_report_at(i); i++)
		if (is_written_by(f, fz_report_at(i)))
			return fz_report_at(i);
	return NULL;
}

static bool is_format(const struct fz_report *r)
{
	for (size_t i = 0; fz_formats[i]; i++)
		if (is_written_by(fz_formats[i], r))
			return true;
	return false;
}

static const char *writes(const struct fz_report *r)
{
	if (!r)
		return "-";
	return r->profile && r->diff ? "yes" : r->profile ? "profiles" : "diffs";
}

/* Add a format, its report, or both. */
static void add_row(struct fz_table *t, const struct fz_format *f, const struct fz_report *r)
{
	const char *suffixes = f ? f->suffixes : r->suffixes;

	fz_table_cell(t, r ? r->name : f->name);
	fz_table_cell(t, f && f->read ? "yes" : "-");
	fz_table_cell(t, writes(r));
	fz_table_last(t);
	fz_buf_printf(t->out, *suffixes ? "%s (%s)" : "%s", f ? f->title : r->title, suffixes);
	if (f && f->notes) {
		fz_table_below(t, t->n - 1);
		fz_buf_str(t->out, f->notes);
	}
	fz_table_end(t);
}

int fz_cli_formats_print(void)
{
	static const struct fz_column columns[] = {
		{ "name", .gap = 2, .min = 12 },
		{ "read", .gap = 1, .min = 5 },
		{ "written", .gap = 1, .min = 9 },
		{ "description", .gap = 1 },
	};
	struct fz_style style = fz_style_of(STDOUT_FILENO, FZ_COLOR_AUTO);
	fz_auto(fz_buf_release) struct fz_buf b = { 0 };
	struct fz_table t;

	fz_buf_str(&b, "Choose an output format by --format NAME or by the suffix of -o FILE. "
		       "Input formats are\ndetected by content, also when compressed by gzip "
		       "or zstd.\n\n");
	fz_table_init(&t, columns, FZ_ARRAY_LEN(columns), &style, &b);
	fz_table_titles(&t);
	for (size_t i = 0; fz_formats[i]; i++)
		add_row(&t, fz_formats[i], report_of(fz_formats[i]));
	for (size_t i = 0; fz_report_at(i); i++)
		if (!is_format(fz_report_at(i)))
			add_row(&t, NULL, fz_report_at(i));
	fz_cli_print(fz_buf_view(&b));
	return FZ_EXIT_OK;
}
