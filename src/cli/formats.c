/* SPDX-License-Identifier: MIT */
/* Print the input and output formats from the tables of formats and reports. */
#include "cli/formats.h"

#include "cli/cli.h"
#include "format/format.h"
#include "report/report.h"

static void add_row(struct fz_buf *b, const char *name, bool reads, const char *writes,
		    const char *suffixes, const char *title)
{
	fz_buf_printf(b, "  %-12s %-5s %-9s %s%s%s%s\n", name, reads ? "yes" : "-", writes, title,
		      *suffixes ? " (" : "", suffixes, *suffixes ? ")" : "");
}

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

int fz_cli_formats_print(void)
{
	fz_auto(fz_buf_release) struct fz_buf b = { 0 };

	fz_buf_str(&b, "Choose an output format by --format NAME or by the suffix of -o FILE. "
		       "Input formats are\ndetected by content, also when compressed by gzip "
		       "or zstd.\n\n");
	fz_buf_printf(&b, "  %-12s %-5s %-9s %s\n", "name", "read", "written", "description");
	for (size_t i = 0; fz_formats[i]; i++) {
		const struct fz_format *f = fz_formats[i];
		const struct fz_report *r = report_of(f);
		add_row(&b, r ? r->name : f->name, f->read, writes(r), f->suffixes, f->title);
		if (f->notes)
			fz_buf_printf(&b, "  %-28s %s\n", "", f->notes);
	}
	for (size_t i = 0; fz_report_at(i); i++) {
		const struct fz_report *r = fz_report_at(i);
		if (!is_format(r))
			add_row(&b, r->name, false, writes(r), r->suffixes, r->title);
	}
	fz_cli_print(fz_buf_view(&b));
	return FZ_EXIT_OK;
}
