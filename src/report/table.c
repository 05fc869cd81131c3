/* SPDX-License-Identifier: MIT */
/* Functions and files in at most so many columns; see table.h. */
#include "table.h"

#include <limits.h>
#include <stdio.h>

enum { FILE_MIN_COLUMNS = 8, NAME_MIN_COLUMNS = 8 };

void fz_table_place(const struct fz_source_place *place, unsigned columns,
		    const struct fz_style *style, struct fz_buf *out)
{
	char line[16] = "";

	if (place->line > 0)
		snprintf(line, sizeof(line), ":%d", (int)place->line);
	bool linked = fz_source_link_begin(place, style, out);
	fz_table_path(place->file, columns - FZ_MIN((unsigned)strlen(line), columns), style, out);
	fz_buf_str(out, line);
	if (linked)
		fz_source_link_end(out);
}

void fz_table_function(struct fz_str name, const struct fz_source_place *place, unsigned columns,
		       const struct fz_style *style, struct fz_buf *out)
{
	fz_auto(fz_buf_release) struct fz_buf shown = { 0 };

	fz_table_text(name, UINT_MAX, style, &shown);
	unsigned width = (unsigned)(fz_str_columns(fz_buf_view(&shown)) + strlen(" ()"));
	char line[16] = "";
	if (place->line > 0)
		snprintf(line, sizeof(line), ":%d", (int)place->line);
	unsigned behind = (unsigned)strlen(line);
	bool in_file = place->file.n > 0 && !fz_str_eq(place->file, FZ_STR("~"));
	if (!in_file || width + behind + FILE_MIN_COLUMNS > columns) {
		bool has_line = in_file && behind + NAME_MIN_COLUMNS <= columns;
		fz_table_name(name, columns - (has_line ? behind : 0), style, out);
		fz_buf_str(out, has_line ? line : "");
		return;
	}
	fz_buf_printf(out, "%s (", shown.p ? shown.p : "");
	fz_table_place(place, columns - width, style, out);
	fz_buf_char(out, ')');
}

/* Name of what a metric measures: "wall time". */
static const char *metric_title(const char *metric)
{
	static const struct {
		const char *name, *title;
	} titles[] = {
		{ "wall", "wall time" },
		{ "cpu", "CPU time" },
		{ "gil", "GIL time" },
		{ "exception", "time in exceptions" },
		{ "resident", "resident memory" },
	};

	for (size_t i = 0; i < FZ_ARRAY_LEN(titles); i++)
		if (strcmp(titles[i].name, metric) == 0)
			return titles[i].title;
	return metric;
}

void fz_table_add_metric(const char *metric, const char *unit, struct fz_buf *out)
{
	bool counted = strcmp(unit, "count") == 0;

	if (counted || strcmp(metric, unit) != 0)
		fz_buf_printf(out, " %s%s", counted ? "" : "of ", metric_title(metric));
}
