/* SPDX-License-Identifier: MIT */
/* The part of a diff's text that lists everything inferred, so that the reader can check it.
 *
 *   Renamed or moved: 2 functions
 *     score  how            function
 *      1.00  moved          load (tools/io.py:3)
 *                             was load (util.py)
 */
#include "report/text.h"

#include "report/findings.h"
#include "report/table.h"

enum { SHIFT_COLUMNS = 2 };

static const char *const how_titles[] = {
	[FZ_LINK_BODY] = "body",
	[FZ_LINK_SCOPE] = "scope",
	[FZ_LINK_MOVED] = "moved",
	[FZ_LINK_NAME] = "name",
	[FZ_LINK_NEIGHBOURHOOD] = "neighbourhood",
	[FZ_LINK_MAPPED] = "mapped",
};

static void heading(const char *text, const struct fz_style *style, struct fz_buf *out)
{
	fz_buf_printf(out, "\n%s%s%s", fz_hue_on(style, FZ_HUE_BOLD), text,
		      fz_hue_off(style, FZ_HUE_BOLD));
}

static void add_link(struct fz_table *t, size_t i, const void *arg)
{
	const struct fz_diff *d = arg;
	const struct fz_diff_function *f = &d->functions[d->links[i]];
	struct fz_source_place place = fz_source_place_of(d, f);
	char score[FZ_NUMBER_SIZE];

	fz_table_cell(t, fz_format_decimal(f->link.score, 2, score));
	fz_table_cell(t, how_titles[f->link.how]);
	fz_table_function(f->name, &place, fz_table_last(t), t->style, t->out);
	unsigned room = fz_table_below(t, t->n - 1);
	fz_buf_str(t->out, "  was ");
	fz_table_function(f->link.name, &(struct fz_source_place){ f->link.file },
			  room - (unsigned)strlen("  was "), t->style, t->out);
}

static void print_links(const struct fz_diff *d, const struct fz_style *style, struct fz_buf *out)
{
	static const struct fz_column columns[] = {
		{ "score", FZ_RIGHT, .gap = 2 },
		{ "how", .gap = 2, .min = 13 },
		{ "function", .gap = 2 },
	};
	struct fz_table t;

	if (d->link_count == 0)
		return;
	heading("Renamed or moved", style, out);
	fz_buf_str(out, ": ");
	fz_findings_rows(d, d->link_count, "", out);
	fz_buf_char(out, '\n');
	fz_table_init(&t, columns, FZ_ARRAY_LEN(columns), style, out);
	fz_table_print(&t, d->link_count, add_link, d);
	fz_table_wrap("To correct this: --map OLD= rejects a match, --map OLD=NEW sets one; "
		      "--no-rename-detection and --match names infer less.",
		      style, out);
}

static void print_shift(const struct fz_diff *d, const struct fz_diff_shift *s,
			const struct fz_style *style, struct fz_buf *out)
{
	const struct fz_diff_function *f = &d->functions[d->nodes[s->node].function];
	char cost[FZ_SIDES][FZ_NUMBER_SIZE], change[FZ_NUMBER_SIZE];

	fz_buf_str(out, "  ");
	struct fz_source_place place = fz_source_place_of(d, f);
	fz_table_function(f->name, &place, fz_table_rest(style, SHIFT_COLUMNS), style, out);
	fz_buf_printf(out, "\n    %u removed, %s -> %u new, %s: %s\n", s->callees[FZ_BASE],
		      fz_format_value((double)s->cost[FZ_BASE], d->unit, cost[FZ_BASE]),
		      s->callees[FZ_HEAD],
		      fz_format_value((double)s->cost[FZ_HEAD], d->unit, cost[FZ_HEAD]),
		      fz_format_change(fz_diff_delta(d, s->cost[FZ_BASE], s->cost[FZ_HEAD]),
				       d->unit, change));
}

static void print_shifts(const struct fz_diff *d, const struct fz_style *style, struct fz_buf *out)
{
	if (d->shift_count == 0)
		return;
	heading("Cost that only moved between callees of", style, out);
	fz_buf_str(out, ":\n");
	for (uint32_t i = 0; i < d->shift_count; i++)
		print_shift(d, &d->shifts[i], style, out);
}

static void print_rules(const struct fz_diff *d, const struct fz_style *style, struct fz_buf *out)
{
	struct fz_buf line = { 0 };

	if (d->rule_count == 0)
		return;
	fz_buf_str(&line, "Ignored when comparing names: ");
	for (uint32_t i = 0; i < d->rule_count; i++) {
		const struct fz_diff_rule *r = &d->rules[i];
		fz_buf_printf(&line, "%s%s (%u and %u %s)", i ? "; " : "", r->text,
			      r->functions[FZ_BASE], r->functions[FZ_HEAD],
			      fz_findings_words(d)->many);
	}
	fz_buf_char(&line, '.');
	fz_buf_char(out, '\n');
	fz_table_wrap(line.p, style, out);
	fz_buf_release(&line);
}

void fz_report_inferred(const struct fz_diff *d, const struct fz_style *style, struct fz_buf *out)
{
	print_links(d, style, out);
	print_shifts(d, style, out);
	print_rules(d, style, out);
}
