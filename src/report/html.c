/* SPDX-License-Identifier: MIT */
/* Writing the HTML file: the viewer, one document built by tools/embed, with its placeholders
 * replaced.
 *
 *   <!--fz:NAME-->   title, header (JSON), data (base64), static (table for readers without script)
 *
 * Profile text enters the document in two ways only: inside JSON and base64, which contain no "<",
 * and escaped in the title and the static table.
 */
#include "html.h"

#include "base/text.h"
#include "findings.h"
#include "markup.h"
#include "page_build.h"
#include "page_columns.h"
#include "page_data.h"
#include "viewer.h"

enum { STATIC_ROWS = 20 };

struct document {
	const struct fz_page *page;
	const struct fz_html_options *options;
	struct fz_columns columns;
	struct fz_output *out;
};

static void write_title(struct document *d)
{
	const char *const *labels = d->options->labels;
	struct fz_str root = fz_page_root(d->page);

	fz_html_write(d->out, root);
	fz_output_str(d->out, root.n ? " &middot; " : "");
	fz_html_write(d->out, fz_str_of(fz_page_kind(d->page, d->options->inverted)));
	if (d->page->is_diff && labels[FZ_BASE] && labels[FZ_HEAD]) {
		fz_output_str(d->out, " &middot; ");
		fz_html_write(d->out, fz_str_of(labels[FZ_BASE]));
		fz_output_str(d->out, " &rarr; ");
		fz_html_write(d->out, fz_str_of(labels[FZ_HEAD]));
	} else if (labels[FZ_HEAD]) {
		fz_output_str(d->out, " &middot; ");
		fz_html_write(d->out, fz_str_of(labels[FZ_HEAD]));
	}
}

static void write_header(struct document *d)
{
	fz_page_write_header(d->page, d->options, &d->columns, d->out);
}

static void write_data(struct document *d)
{
	fz_columns_write(&d->columns, d->out);
}

/* ---- the static table ---- */

static void write_cell(struct document *d, const char *text)
{
	fz_output_str(d->out, "<td>");
	fz_html_write(d->out, fz_str_of(text));
	fz_output_str(d->out, "</td>");
}

static void write_costs(struct document *d, const int64_t cost[FZ_SIDES])
{
	const struct fz_page *page = d->page;
	char text[FZ_NUMBER_SIZE];
	double base = (double)cost[FZ_BASE], head = (double)cost[FZ_HEAD];
	double expected = page->factor * base;

	if (page->is_diff)
		write_cell(d, fz_format_value(base, page->unit, text));
	if (page->is_diff && fz_findings_shows_scale(page->factor))
		write_cell(d, fz_format_value(expected, page->unit, text));
	write_cell(d, fz_format_value(head, page->unit, text));
	if (page->is_diff)
		write_cell(d, fz_format_change(head - expected, page->unit, text));
	else
		write_cell(d, fz_format_percent(
				      page->sum[FZ_HEAD] ? head / (double)page->sum[FZ_HEAD] : 0,
				      text));
}

static void write_row(struct document *d, const struct fz_page_function *f)
{
	fz_output_str(d->out, "<tr><td>");
	fz_html_write(d->out, f->name);
	fz_output_str(d->out, "</td><td>");
	fz_html_write(d->out, f->file);
	if (f->line > 0)
		fz_output_printf(d->out, ":%d", (int)f->line);
	fz_output_str(d->out, "</td>");
	write_costs(d, f->cost.self);
	write_costs(d, f->cost.total);
	fz_output_str(d->out, "</tr>\n");
}

static void write_static_head(struct document *d)
{
	static const char *const costs[] = { "Self", "Total" };
	const struct fz_page *page = d->page;

	fz_output_str(d->out, "<tr><th>Function</th><th>File</th>");
	for (size_t i = 0; i < FZ_ARRAY_LEN(costs); i++) {
		if (!page->is_diff) {
			fz_output_printf(d->out, "<th>%s</th><th>Share</th>", costs[i]);
			continue;
		}
		fz_output_printf(d->out, "<th>%s before</th>", costs[i]);
		if (fz_findings_shows_scale(page->factor))
			fz_output_printf(d->out, "<th>%s expected</th>", costs[i]);
		fz_output_printf(d->out, "<th>%s after</th><th>Change</th>", costs[i]);
	}
	fz_output_str(d->out, "</tr>\n");
}

static void write_static(struct document *d)
{
	const struct fz_page *page = d->page;
	fz_auto(fz_free_ptr) uint32_t *order = fz_page_rank_functions(page);
	uint32_t shown = 0;

	write_static_head(d);
	for (uint32_t i = 0; i < page->function_count && shown < STATIC_ROWS; i++) {
		const struct fz_page_function *f = &page->functions[order[i]];
		if (!f->cost.total[FZ_BASE] && !f->cost.total[FZ_HEAD])
			continue;
		write_row(d, f);
		shown++;
	}
}

/* ---- filling the placeholders ---- */

static const struct mark {
	const char *name;
	void (*write)(struct document *d);
} marks[] = {
	{ "title", write_title },
	{ "header", write_header },
	{ "data", write_data },
	{ "static", write_static },
};

static void fill_mark(void *arg, struct fz_str name)
{
	struct document *d = arg;

	for (size_t i = 0; i < FZ_ARRAY_LEN(marks); i++) {
		if (fz_str_eq(fz_str_of(marks[i].name), name)) {
			marks[i].write(d);
			return;
		}
	}
	fz_assert(!"the page template has an unknown placeholder");
}

static void write_page(const struct fz_page *page, const struct fz_html_options *o,
		       struct fz_output *out)
{
	struct document d = { .page = page, .options = o, .out = out };

	fz_page_fill_columns(page, o, &d.columns);
	fz_viewer_fill(fz_viewer_html, fill_mark, &d, out);
	fz_columns_release(&d.columns);
}

int fz_report_html_profile(const struct fz_profile *p, const struct fz_html_options *o,
			   struct fz_output *out, struct fz_error *err)
{
	struct fz_page page;

	int r = fz_page_of_profile(&page, p, o->metric, false, FZ_PAGE_VIEWER, err);
	if (r)
		return r;
	write_page(&page, o, out);
	fz_page_release(&page);
	return 0;
}

int fz_report_html_diff(const struct fz_diff *d, const struct fz_html_options *o,
			struct fz_output *out, struct fz_error *err)
{
	struct fz_page page;

	(void)err;
	fz_assert(!d->inverted && (!o->judgement || o->judgement->path_self));
	fz_page_of_diff(&page, d, FZ_PAGE_VIEWER);
	page.judgement = o->judgement;
	write_page(&page, o, out);
	fz_page_release(&page);
	return 0;
}
