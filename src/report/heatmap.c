/* SPDX-License-Identifier: MIT */
/* Writing heat maps: the viewer (web/heatmap.js) with the data of all files or of one file.
 *
 *   one page    header {view: "all"}    every file, line and text
 *   a folder    index.html              header {view: "index"}, only the list of files
 *               file_0000.html ...      header {view: "file"}, one file's lines, text, and calls
 *                                       from and to it; only names of the other files
 *
 * Text of a profile reaches a document inside JSON and base64 only, where "<" cannot occur, and
 * escaped in the title and the table for readers without script.
 */
#include "report/json_facts.h"
#include "report/heatmap.h"

#include "base/text.h"
#include "report/heatmap_columns.h"
#include "report/json.h"
#include "report/markup.h"
#include "report/text.h"
#include "report/viewer.h"

#include <stdio.h>
#include <unistd.h>

enum {
	VERSION = 1,
	STATIC_ROWS = 40,
};

struct page {
	const struct fz_heat *h;
	const struct fz_html_options *options;
	enum fz_heat_view view;
	uint32_t file; /* for FZ_HEAT_FILE */
	struct fz_columns columns;
	struct fz_output *out;
};

/* ---- header ---- */

static void write_fact(struct fz_json *j, const struct fz_profile *p, const char *key)
{
	struct fz_str value = fz_profile_fact(p, key);

	if (value.n)
		fz_json_kstr(j, key, value);
}

static void write_side(struct page *page, struct fz_json *j, int side)
{
	const struct fz_profile *p = page->h->profile[side];
	const struct fz_recording *r = &p->recording;
	fz_auto(fz_buf_release) struct fz_buf quality = { 0 };
	char version[32];

	fz_report_quality(page->h->diff ? page->h->diff->recorded[side] : p, &quality);
	fz_json_kopen(j, fz_side_names[side], '{');
	if (page->options->labels[side])
		fz_json_kstr(j, "label", fz_str_of(page->options->labels[side]));
	write_fact(j, p, "command");
	write_fact(j, p, "git.commit");
	if (r->python[0]) {
		snprintf(version, sizeof(version), "%d.%d.%d", r->python[0], r->python[1],
			 r->python[2]);
		fz_json_kstr(j, "python", fz_str_of(version));
	}
	if (r->mode)
		fz_json_kstr(j, "mode", fz_str_of(fz_mode_names[r->mode]));
	fz_report_json_counts(j, p, page->h->samples[side]);
	fz_json_kint(j, "sum", page->h->sum[side]);
	fz_json_kint(j, "duration_ns", r->duration_ns);
	fz_json_kint(j, "interval_ns", r->interval_ns);
	fz_json_kstr(j, "quality", fz_buf_view(&quality));
	fz_json_close(j, '}');
}

static void write_header(struct page *page)
{
	static const char *const views[] = { "all", "index", "file" };
	struct fz_json j;

	fz_json_init(&j, page->out, 0);
	fz_json_open(&j, '{');
	fz_json_kstr(&j, "format", FZ_STR("fizeau-heatmap"));
	fz_json_kint(&j, "version", VERSION);
	fz_json_kstr(&j, "kind", fz_str_of(page->h->diff ? "diff" : "profile"));
	fz_json_kstr(&j, "view", fz_str_of(views[page->view]));
	if (page->view == FZ_HEAT_FILE)
		fz_json_kint(&j, "file", page->file);
	fz_json_kstr(&j, "metric", fz_str_of(page->h->metric));
	fz_json_kstr(&j, "unit", fz_str_of(page->h->unit));
	fz_json_kdouble(&j, "factor", page->h->factor);
	if (page->h->diff) {
		fz_report_json_words(&j, page->h->metric, page->h->unit);
		fz_json_kstr(&j, "scale", fz_str_of(fz_scale_names[page->h->diff->scale]));
	}
	if (page->h->judgement)
		fz_json_kstr(&j, "word",
			     fz_str_of(fz_run_word_names[page->h->judgement->run.word]));
	for (int side = page->h->diff ? FZ_BASE : FZ_HEAD; side < FZ_SIDES; side++)
		write_side(page, &j, side);
	fz_json_key(&j, "columns");
	fz_columns_directory(&page->columns, &j);
	fz_json_close(&j, '}');
}

/* ---- the document ---- */

static void write_title(struct page *page)
{
	const char *label = page->options->labels[FZ_HEAD];

	if (page->view == FZ_HEAT_FILE) {
		fz_html_write(page->out, page->h->files[page->file].name);
		fz_output_str(page->out, " · ");
	}
	fz_output_str(page->out, page->h->diff ? "Differential heat map" : "Heat map");
	if (label) {
		fz_output_str(page->out, " · ");
		fz_html_write(page->out, fz_str_of(label));
	}
}

static void write_static(struct page *page)
{
	const struct fz_heat *h = page->h;
	char self[FZ_NUMBER_SIZE], total[FZ_NUMBER_SIZE];

	fz_output_str(page->out, "<tr><th>File</th><th>Self</th><th>Total</th></tr>\n");
	for (uint32_t i = 0; i < h->file_count && i < STATIC_ROWS; i++) {
		const struct fz_heat_file *f = &h->files[i];
		fz_output_str(page->out, "<tr><td>");
		fz_html_write(page->out, f->name);
		fz_output_printf(page->out, "</td><td>%s</td><td>%s</td></tr>\n",
				 fz_format_value((double)f->cost.self[FZ_HEAD], h->unit, self),
				 fz_format_value((double)f->cost.total[FZ_HEAD], h->unit, total));
	}
}

static void write_data(struct page *page)
{
	fz_columns_write(&page->columns, page->out);
}

static void fill_mark(void *arg, struct fz_str name)
{
	static const struct {
		const char *name;
		void (*write)(struct page *page);
	} marks[] = {
		{ "title", write_title },
		{ "header", write_header },
		{ "data", write_data },
		{ "static", write_static },
	};

	for (size_t i = 0; i < FZ_ARRAY_LEN(marks); i++) {
		if (fz_str_eq(fz_str_of(marks[i].name), name)) {
			marks[i].write(arg);
			return;
		}
	}
	fz_assert(!"the heat map template has an unknown placeholder");
}

static void write_page(const struct fz_heat *h, const struct fz_html_options *o,
		       enum fz_heat_view view, uint32_t file, struct fz_output *out)
{
	struct page page = { .h = h, .options = o, .view = view, .file = file, .out = out };

	fz_heat_columns(h, view, file, o->no_source, &page.columns);
	fz_viewer_fill(fz_heatmap_html, fill_mark, &page, out);
	fz_columns_release(&page.columns);
}

/* ---- a folder ---- */

static char *page_path(const char *folder, uint32_t file)
{
	return fz_asprintf("%s/file_%04u.html", folder, file);
}

static int write_file(const struct fz_heat *h, const struct fz_html_options *o,
		      enum fz_heat_view view, uint32_t file, const char *path, struct fz_error *err)
{
	struct fz_output *out;
	int r = fz_output_open(path, &out, err);

	if (r)
		return r;
	write_page(h, o, view, file, out);
	return fz_output_close(out, err);
}

/* The index is written last, when its pages exist. Surplus pages of an older heat map are
 * removed. */
static int write_folder(const struct fz_heat *h, const struct fz_html_options *o,
			const char *folder, struct fz_error *err)
{
	int r = fz_make_output_folder(folder, err);

	for (uint32_t i = 0; i < h->file_count && !r; i++) {
		fz_auto(fz_free_ptr) char *path = page_path(folder, i);
		r = write_file(h, o, FZ_HEAT_FILE, i, path, err);
	}
	fz_auto(fz_free_ptr) char *index = fz_asprintf("%s/index.html", folder);
	if (!r)
		r = write_file(h, o, FZ_HEAT_INDEX, 0, index, err);
	for (uint32_t i = h->file_count; !r; i++) {
		fz_auto(fz_free_ptr) char *path = page_path(folder, i);
		if (unlink(path))
			break;
	}
	if (r)
		rmdir(folder); /* fails if it is not empty */
	return r;
}

/* ---- public functions ---- */

int fz_report_heatmap_profile(const struct fz_profile *p, const struct fz_html_options *o,
			      struct fz_output *out, struct fz_error *err)
{
	struct fz_heat h;
	int r = fz_heat_of_profile(&h, p, o->metric, err);

	if (r)
		return r;
	write_page(&h, o, FZ_HEAT_ALL, 0, out);
	fz_heat_release(&h);
	return 0;
}

int fz_report_heatmap_diff(const struct fz_diff *d, const struct fz_html_options *o,
			   struct fz_output *out, struct fz_error *err)
{
	struct fz_heat h;

	(void)err;
	fz_heat_of_diff(&h, d, o->judgement);
	write_page(&h, o, FZ_HEAT_ALL, 0, out);
	fz_heat_release(&h);
	return 0;
}

int fz_report_heatmap_profile_folder(const struct fz_profile *p, const struct fz_html_options *o,
				     const char *folder, struct fz_error *err)
{
	struct fz_heat h;
	int r = fz_heat_of_profile(&h, p, o->metric, err);

	if (r)
		return r;
	r = write_folder(&h, o, folder, err);
	fz_heat_release(&h);
	return r;
}

int fz_report_heatmap_diff_folder(const struct fz_diff *d, const struct fz_html_options *o,
				  const char *folder, struct fz_error *err)
{
	struct fz_heat h;

	fz_heat_of_diff(&h, d, o->judgement);
	int r = write_folder(&h, o, folder, err);
	fz_heat_release(&h);
	return r;
}
