/* SPDX-License-Identifier: MIT */
/* Markdown for pull requests.
 *
 *   ### Slower by 27.9 % [+12.1 %, +43.7 %]: ...
 *   **Self**: 1 changed, ...
 *   | function | change | before -> after | where |
 *   <details> with callees </details>
 *   <details> unsure </details>
 *   picture
 *   > Warning: ...
 *   <details> how it was measured </details>
 *
 * What changed comes first, then what limits the result; only warnings such as a failed run precede
 * the verdict.
 *
 * A table has only as many columns as a phone shows, the function first; less important figures are
 * below the others in their cell.
 *
 * Names come from the measured program: every character that could be markup is written as a
 * character reference, so that it cannot become a link, a mention or the end of a cell. Each part
 * may use all room that the later parts do not need.
 */
#include "report/markdown.h"

#include "report/advice.h"
#include "report/file_pages.h"
#include "report/findings.h"
#include "report/markup.h"
#include "report/table.h"

#include <ctype.h>

enum {
	UNKNOWN_ROWS = 30,
	NAME_COLUMNS = 100,
	PLACE_COLUMNS = 60,
	WARNING_COLUMNS = 300,
	LABEL_COLUMNS = 80,
	/* Room reserved after the tables: for what was inferred, and the maximum size of the
	 * details at the end. */
	INFERRED_MIN = 8000,
	TRUST_MAX = 16000,
};

static const struct fz_style style = { .columns = NAME_COLUMNS };

struct view {
	const struct fz_diff *d;
	const struct fz_judgement *judgement;
	const char *const *labels;
	const char *picture;
	const struct fz_file_pages *pages;
	uint32_t limit;
	struct fz_buf *out;
};

/* Append untrusted text, printable and cut to `columns`. */
static void add_cut(struct fz_buf *out, const char *text, unsigned columns)
{
	struct fz_buf cut = { 0 };

	fz_table_text(fz_str_of(text), columns, &style, &cut);
	fz_markdown_escape(out, fz_buf_view(&cut));
	fz_buf_release(&cut);
}

/* Is there no room left for further rows? The parts that must follow need the rest. */
static bool is_full(const struct view *v)
{
	return v->out->n > FZ_MARKDOWN_MAX - TRUST_MAX - INFERRED_MIN - 2000;
}

/* ---- functions ---- */

/* Append "app.py:12", as a link if the file can be read. */
static void add_where(const struct view *v, const struct fz_diff_function *f)
{
	fz_auto(fz_buf_release) struct fz_buf path = { 0 };
	fz_auto(fz_buf_release) struct fz_buf room = { 0 };
	bool there = f->on_side[FZ_HEAD] != FZ_NONE;

	if (!f->file.n || fz_str_eq(f->file, FZ_STR("~")))
		return;
	fz_table_path(f->file, PLACE_COLUMNS, &style, &path);
	fz_markdown_place(v->out, fz_buf_view(&path), f->line, v->pages->page,
			  there ? fz_file_pages_path(v->pages, f->file, &room) : FZ_STR(""));
}

/* Append "▲ `parse`": the sign stands for the colour of other reports. */
static void add_function(const struct view *v, const struct fz_finding *r)
{
	fz_auto(fz_buf_release) struct fz_buf name = { 0 };
	bool changed = r->judged->verdict == FZ_VERDICT_CHANGED;

	fz_table_name(r->f->name, NAME_COLUMNS, &style, &name);
	fz_buf_str(v->out, !changed ? "? " : r->change > 0 ? "▲ " : "▼ ");
	fz_markdown_code(v->out, fz_buf_view(&name));
}

static void add_row(const struct view *v, const struct fz_finding *r)
{
	const char *unit = v->d->unit;
	char number[FZ_NUMBER_SIZE], interval[FZ_INTERVAL_SIZE];

	fz_buf_str(v->out, "| ");
	add_function(v, r);
	fz_buf_str(v->out, " | ");
	fz_markdown_value(v->out, fz_format_change(r->change, unit, number));
	fz_buf_str(v->out, "<br><sub>");
	fz_finding_interval(r, unit, &style, interval);
	fz_markdown_value(v->out, interval);
	fz_buf_str(v->out, *interval ? "<br>" : "");
	fz_markdown_value(v->out, fz_finding_percent(r, number));
	fz_buf_str(v->out, "</sub> | <sub>");
	fz_markdown_value(v->out, fz_format_value(r->before, unit, number));
	fz_buf_str(v->out, " → ");
	fz_markdown_value(v->out, fz_format_value(r->after, unit, number));
	if (fz_findings_scaled(v->d)) {
		fz_buf_str(v->out, "<br>expected ");
		fz_markdown_value(v->out, fz_format_value(r->expected, unit, number));
	}
	fz_buf_str(v->out, "</sub> | ");
	add_where(v, r->f);
	fz_buf_str(v->out, " |\n");
}

/* Append a table of as many rows of [from, to) as fit, and the number of the others. */
static void add_rows(const struct view *v, const struct fz_findings *f, uint32_t from, uint32_t to,
		     uint32_t limit)
{
	uint32_t i = from;

	if (from == to)
		return;
	fz_buf_printf(v->out, "\n| %s | %s | before → after | where |\n|:--|--:|--:|:--|\n",
		      fz_findings_words(v->d)->one, fz_findings_change_title(v->d));
	while (i < to && i - from < limit && !is_full(v))
		add_row(v, &f->rows[i++]);
	if (i == to)
		return;
	fz_buf_str(v->out, "\nand ");
	fz_findings_rows(v->d, to - i, "more ", v->out);
	fz_buf_char(v->out, '\n');
}

static void add_changed(const struct view *v, const struct fz_findings *f, const char *title)
{
	fz_buf_printf(v->out, "\n**%s**: ", title);
	fz_findings_summary(f, v->d, v->judgement, &style, v->out);
	fz_buf_str(v->out, ".\n");
	add_rows(v, f, 0, f->count[FZ_VERDICT_CHANGED], v->limit);
	if (!f->imports)
		return;
	fz_buf_char(v->out, '\n');
	fz_findings_imports(f, v->d->unit, v->out);
	fz_buf_str(v->out, ".\n");
}

static void add_unknown(const struct view *v, const struct fz_findings *f)
{
	uint32_t changed = f->count[FZ_VERDICT_CHANGED];
	uint32_t n = f->count[FZ_VERDICT_UNKNOWN] - f->startup;
	char count[FZ_NUMBER_SIZE], before[FZ_NUMBER_SIZE], after[FZ_NUMBER_SIZE];

	if (!n && !f->startup)
		return;
	fz_buf_str(v->out, "\n<details><summary>Unsure, by self: ");
	fz_findings_rows(v->d, n + f->startup, "", v->out);
	fz_buf_str(v->out, "</summary>\n");
	add_rows(v, f, changed, changed + n, UNKNOWN_ROWS);
	if (f->startup)
		fz_buf_printf(v->out,
			      "\nand %s of start-up and imports: %s -> %s; JSON lists them\n",
			      fz_format_plural(f->startup, "function", count),
			      fz_format_value(f->startup_before, v->d->unit, before),
			      fz_format_value(f->startup_after, v->d->unit, after));
	fz_buf_str(v->out, "\n</details>\n");
}

static void add_functions(const struct view *v)
{
	struct fz_findings self, total;

	fz_findings_init(&self, v->d, v->judgement, false);
	fz_findings_init(&total, v->d, v->judgement, true);
	add_changed(v, &self, "Self");
	fz_buf_printf(v->out, "\n<details><summary>With %s</summary>\n",
		      fz_findings_words(v->d)->below);
	fz_auto(fz_free_ptr) char *title =
		fz_asprintf("Total, with %s", fz_findings_words(v->d)->below);
	add_changed(v, &total, title);
	fz_buf_str(v->out, "\n</details>\n");
	add_unknown(v, &self);
	fz_findings_release(&self);
	fz_findings_release(&total);
}

/* ---- around the functions ---- */

static void add_warnings(const struct view *v, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		fz_buf_str(v->out, v->out->n ? "\n> Warning: " : "> Warning: ");
		add_cut(v->out, v->d->warnings[i], WARNING_COLUMNS);
		fz_buf_str(v->out, ".\n");
	}
}

static void add_beside(const struct view *v)
{
	fz_auto(fz_advice_release) struct fz_advice b;

	fz_advice_init(&b, v->d, v->judgement);
	for (uint32_t i = 0; i < b.n; i++)
		fz_buf_printf(v->out, "\n%s.\n", b.notes[i]);
	if (!b.command)
		return;
	fz_buf_printf(v->out, "\n%s:\n\n<pre>", b.advice);
	fz_html_escape(v->out, fz_str_of(b.command));
	fz_buf_str(v->out, "</pre>\n");
}

static void add_headline(const struct view *v)
{
	add_warnings(v, 0, v->d->urgent);
	fz_buf_str(v->out, v->out->n ? "\n### " : "### ");
	fz_findings_headline(v->d, v->judgement, &style, v->out);
	fz_buf_str(v->out, "\n");
}

/* Append what limits the result, and what would improve it. */
static void add_limits(const struct view *v)
{
	struct fz_buf power = { 0 };

	add_beside(v);
	fz_findings_power(v->judgement, &power);
	if (power.n)
		fz_buf_printf(v->out, "\n%s\n", power.p);
	fz_buf_release(&power);
	add_warnings(v, v->d->urgent, v->d->warning_count);
}

/* Append a link to the picture, which is a separate file beside the report. */
static void add_picture(const struct view *v)
{
	struct fz_buf path = { 0 };

	if (!v->picture)
		return;
	for (const char *c = v->picture; *c; c++) {
		if (isalnum((unsigned char)*c) || strchr("._-", *c))
			fz_buf_char(&path, *c);
		else
			fz_buf_printf(&path, "%%%02x", (unsigned char)*c);
	}
	fz_buf_printf(v->out, "\n![Call paths that changed](%s)\n", path.p);
	fz_buf_release(&path);
}

/* Append as many lines as fit, and the number of the others. */
static void add_lines(const struct view *v, const char *text)
{
	char count[FZ_NUMBER_SIZE];
	int64_t left = 0;

	for (const char *end; *text; text = end) {
		struct fz_buf line = { 0 };
		end = strchrnul(text, '\n');
		end += *end == '\n';
		fz_html_escape(&line, (struct fz_str){ text, (size_t)(end - text) });
		if (left == 0 && v->out->n + line.n < FZ_MARKDOWN_MAX - TRUST_MAX)
			fz_buf_add(v->out, line.p, line.n);
		else
			left++;
		fz_buf_release(&line);
	}
	if (left)
		fz_buf_printf(v->out, "... %s; text, JSON and page list everything\n",
			      fz_format_plural(left, "more line", count));
}

static void add_inferred(const struct view *v)
{
	struct fz_buf text = { 0 };

	fz_report_inferred(v->d, &style, &text);
	if (text.n) {
		fz_buf_str(v->out, "\n<details><summary>Renamed or moved</summary>\n\n<pre>");
		add_lines(v, text.p);
		fz_buf_str(v->out, "</pre>\n\n</details>\n");
	}
	fz_buf_release(&text);
}

static void add_trust(const struct view *v)
{
	static const char *const names[] = { "Base", "Head" };
	struct fz_buf quality = { 0 };

	fz_buf_str(v->out, "\n<details><summary>How it was measured</summary>\n\n- ");
	if (v->d->speed_scale.used) {
		fz_findings_speed(v->d, v->out);
		fz_buf_str(v->out, "\n- ");
	}
	fz_findings_scaling(v->d, v->out);
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		fz_buf_printf(v->out, "\n- %s", names[s]);
		if (v->labels[s]) {
			fz_buf_str(v->out, " <code>");
			add_cut(v->out, v->labels[s], LABEL_COLUMNS);
			fz_buf_str(v->out, "</code>");
		}
		fz_buf_str(v->out, ": ");
		fz_buf_reset(&quality);
		fz_report_quality(v->d->recorded[s], &quality);
		fz_markdown_escape(v->out, fz_buf_view(&quality));
		fz_buf_char(v->out, '.');
	}
	fz_buf_str(v->out, "\n- ");
	fz_findings_method(v->d, v->judgement, v->out);
	fz_buf_str(v->out, "\n\n</details>\n");
	fz_buf_release(&quality);
}

void fz_report_markdown_diff(const struct fz_diff *d, const struct fz_judgement *j,
			     const struct fz_text_options *o, struct fz_output *out)
{
	fz_auto(fz_file_pages_release) struct fz_file_pages pages;
	struct fz_buf text = { 0 };

	fz_file_pages_init(&pages, d->profile[FZ_HEAD], o->beside);
	struct view v = { .d = d,
			  .judgement = j,
			  .labels = o->labels,
			  .picture = o->picture,
			  .pages = &pages,
			  .limit = o->limit,
			  .out = &text };

	add_headline(&v);
	add_functions(&v);
	add_picture(&v);
	add_limits(&v);
	add_inferred(&v);
	add_trust(&v);
	fz_assert(text.n <= FZ_MARKDOWN_MAX);
	fz_output_add(out, text.p, text.n);
	fz_buf_release(&text);
}
