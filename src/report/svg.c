/* SPDX-License-Identifier: MIT */
/* The picture as SVG, in one or two blocks of frames.
 *
 *   title, what is compared
 *   [ all                                  ]   block 1: width = the head's total
 *   [ frame          ][ frame ][           ]
 *   removed
 *   [ frame    ]                               block 2, of a diff: width = the base's total
 *   legend
 *
 * Roots are at the top. Heights are known before the first byte is written: a first walk counts
 * the rows that will be drawn. Text of the profile is escaped wherever it is written.
 */
#include "svg.h"

#include "base/text.h"
#include "markup.h"
#include "page.h"

#include <math.h>
#include <stdio.h>

enum {
	WIDTH = 1200,
	MARGIN = 12,
	ROW = 18,
	HEADER = 52,
	FOOTER = 40,
	BLOCK_TITLE = 30,
};

static const double min_width = 0.8, character_width = 6.8;

/* ---- colours ---- */

enum { SAME, MORE, LESS = MORE + 4, NEW = LESS + 4, REMOVED, KEPT, HEAT, COLORS = HEAT + 8 };

static const char *const heat[] = { "#f4eddf", "#f7e3bf", "#f8d394", "#f6bc68",
				    "#f09f49", "#e4803a", "#cf5d2e", "#b03a24" };
static const double heat_shares[] = { 0.01, 0.03, 0.06, 0.12, 0.18, 0.35, 0.6 };

/* As web/colors.js has them; from SAME to REMOVED. */
static const char *const fills[][REMOVED + 1] = {
	[FZ_PALETTE_FIZEAU] = { "#e7ebf2", "#ffd7cf", "#f1a59a", "#e2685c", "#b0201f", "#c5d9fd",
				"#93b8fc", "#4c90f2", "#1c53b4", "#b36db3", "#7446c2" },
	[FZ_PALETTE_TACHYON] = { "#bdbdbd", "#ffcdd2", "#ef9a9a", "#e57373", "#d32f2f", "#90caf9",
				 "#64b5f6", "#42a5f5", "#1976d2", "#9575cd", "#b39ddb" },
};

static bool is_dark(int color)
{
	return color == MORE + 3 || color == LESS + 3 || color >= HEAT + 6;
}

static int step_of(double percent)
{
	return percent >= 100 ? 3 : percent > 50 ? 2 : percent > 30 ? 1 : 0;
}

static int diff_color(double base, double head)
{
	if (base == 0)
		return head > 0 ? NEW : SAME;
	double percent = (head - base) / base * 100;
	if (fabs(percent) < 15)
		return SAME;
	return (percent > 0 ? MORE : LESS) + step_of(fabs(percent));
}

static int heat_color(double share)
{
	size_t step = 0;

	while (step < FZ_ARRAY_LEN(heat_shares) && share >= heat_shares[step])
		step++;
	return HEAT + (int)step;
}

static const char *const glyphs[COLORS] = {
	[MORE] = "▲ ", [MORE + 1] = "▲ ", [MORE + 2] = "▲ ", [MORE + 3] = "▲ ",
	[LESS] = "▼ ", [LESS + 1] = "▼ ", [LESS + 2] = "▼ ", [LESS + 3] = "▼ ",
	[NEW] = "+ ",  [REMOVED] = "− ",
};

/* ---- blocks ---- */

struct block {
	const char *name;
	int64_t *width; /* of each node, in the profile's unit */
	int64_t all;
	double *left;
	uint32_t rows;
};

struct picture {
	const struct fz_page *page;
	const struct fz_html_options *options;
	struct fz_output *out;
	struct block block[2];
	int blocks;
	bool inverted;
};

static bool is_removed(const struct fz_page *page, uint32_t i)
{
	return page->is_diff && page->total[FZ_HEAD][i] == 0 && page->total[FZ_BASE][i] > 0;
}

static double pixels(const struct block *b, double value)
{
	return value * (WIDTH - 2 * MARGIN) / (double)b->all;
}

/* Children follow each other from their parent's left edge. */
static void place_nodes(const struct fz_page *page, struct block *b)
{
	fz_auto(fz_free_ptr) double *next = fz_calloc(page->n + 1ul, sizeof(*next));
	double roots = 0;

	b->left = fz_calloc(page->n + 1ul, sizeof(*b->left));
	for (uint32_t i = 0; i < page->n; i++) {
		double *from = page->parent[i] == FZ_NONE ? &roots : &next[page->parent[i]];
		b->left[i] = next[i] = *from;
		*from += (double)b->width[i];
	}
}

/* Depths of the nodes that will be drawn decide the number of rows. */
static void count_rows(const struct fz_page *page, struct block *b)
{
	fz_auto(fz_free_ptr) uint32_t *depth = fz_calloc(page->n + 1ul, sizeof(*depth));

	b->rows = 0;
	for (uint32_t i = 0; i < page->n;) {
		if (pixels(b, (double)b->width[i]) < min_width) {
			i += page->size[i];
			continue;
		}
		depth[i] = page->parent[i] == FZ_NONE ? 1 : depth[page->parent[i]] + 1;
		b->rows = FZ_MAX(b->rows, depth[i]);
		i++;
	}
}

static void add_block(struct picture *pic, const char *name, int64_t *width, int64_t all)
{
	struct block *b = &pic->block[pic->blocks];

	*b = (struct block){ .name = name, .width = width, .all = all };
	if (all <= 0)
		return;
	place_nodes(pic->page, b);
	count_rows(pic->page, b);
	pic->blocks++;
}

static int64_t *head_widths(const struct fz_page *page, int64_t *ret_all)
{
	int64_t *width = fz_reallocarray(NULL, page->n + 1ul, sizeof(*width));

	memcpy(width, page->total[FZ_HEAD], page->n * sizeof(*width));
	*ret_all = page->sum[FZ_HEAD];
	return width;
}

/* Removed nodes keep their total; their callers the sum of what was removed below them. */
static int64_t *removed_widths(const struct fz_page *page, int64_t *ret_all)
{
	int64_t *width = fz_calloc(page->n + 1ul, sizeof(*width));

	*ret_all = 0;
	for (uint32_t i = page->n; i-- > 0;) {
		uint32_t parent = page->parent[i];
		if (is_removed(page, i))
			width[i] = page->total[FZ_BASE][i];
		if (parent == FZ_NONE)
			*ret_all += width[i];
		else if (!is_removed(page, parent))
			width[parent] += width[i];
	}
	return width;
}

/* ---- text ---- */

static void write_escaped(struct fz_output *out, struct fz_str s)
{
	struct fz_buf b = { 0 };

	fz_html_escape(&b, s);
	fz_output_add(out, b.p ? b.p : "", b.n);
	fz_buf_release(&b);
}

/* At most `room` characters of s; *ret_cut when it had more. */
static struct fz_str cut_text(struct fz_str s, size_t room, bool *ret_cut)
{
	size_t at = 0;

	for (size_t chars = 0; at < s.n && chars < room; chars++) {
		uint32_t code;
		size_t n = fz_utf8_decode(s.p + at, s.n - at, &code);
		at += n ? n : 1;
	}
	*ret_cut = at < s.n;
	return (struct fz_str){ s.p, at };
}

static size_t count_characters(struct fz_str s)
{
	size_t chars = 0;

	for (size_t i = 0; i < s.n; i++)
		chars += ((uint8_t)s.p[i] & 0xc0) != 0x80;
	return chars;
}

static void write_label(struct picture *pic, struct fz_str name, const char *glyph,
			const char *tail, double px)
{
	double characters = (px - 8) / character_width;
	size_t room = characters > 0 ? (size_t)characters : 0;
	size_t before = count_characters(fz_str_of(glyph)), behind = strlen(tail);
	bool cut;

	room -= FZ_MIN(room, before);
	if (room < 3 && count_characters(name) > room)
		return;
	fz_output_str(pic->out, glyph);
	if (count_characters(name) <= room) {
		write_escaped(pic->out, name);
		if (count_characters(name) + behind <= room)
			write_escaped(pic->out, fz_str_of(tail));
		return;
	}
	write_escaped(pic->out, cut_text(name, room > 1 ? room - 1 : 0, &cut));
	fz_output_str(pic->out, "…");
}

static void write_cost(struct picture *pic, const char *name, const int64_t *const values[FZ_SIDES],
		       uint32_t i)
{
	const struct fz_page *page = pic->page;
	char a[FZ_NUMBER_SIZE], b[FZ_NUMBER_SIZE], c[FZ_NUMBER_SIZE], p[FZ_NUMBER_SIZE];
	double head = (double)values[FZ_HEAD][i];

	fz_output_printf(pic->out, "\n%s ", name);
	if (!page->is_diff) {
		double all = (double)page->sum[FZ_HEAD];
		fz_output_printf(pic->out, "%s (%s)", fz_format_value(head, page->unit, a),
				 fz_format_percent(all ? head / all : 0, p));
		return;
	}
	double base = page->factor * (double)values[FZ_BASE][i];
	fz_output_printf(pic->out, "%s → %s (%s%s%s)", fz_format_value(base, page->unit, a),
			 fz_format_value(head, page->unit, b),
			 fz_format_change(head - base, page->unit, c), base ? ", " : "",
			 base ? fz_format_percent_change((head - base) / base, p) : "");
}

static void write_tooltip(struct picture *pic, uint32_t i)
{
	const struct fz_page *page = pic->page;
	const struct fz_page_function *f = &page->functions[page->function[i]];
	const int64_t *const self[] = { page->self[0], page->self[1] };
	const int64_t *const total[] = { page->total[0], page->total[1] };

	fz_output_str(pic->out, "<title>");
	write_escaped(pic->out, f->name);
	if (f->file.n) {
		fz_output_str(pic->out, "\n");
		write_escaped(pic->out, f->file);
		if (f->line > 0)
			fz_output_printf(pic->out, ":%d", (int)f->line);
	}
	if (!pic->inverted)
		write_cost(pic, "self", self, i);
	write_cost(pic, "total", total, i);
	fz_output_str(pic->out, "</title>");
}

/* ---- frames ---- */

static int node_color(const struct picture *pic, const struct block *b, uint32_t i)
{
	const struct fz_page *page = pic->page;
	int64_t *const *values = pic->inverted ? page->total : page->self;

	if (is_removed(page, i))
		return REMOVED;
	if (b->name)
		return KEPT;
	if (!page->is_diff)
		return heat_color((double)values[FZ_HEAD][i] / (double)b->all);
	return diff_color(page->factor * (double)values[FZ_BASE][i], (double)values[FZ_HEAD][i]);
}

static void write_frame(struct picture *pic, const struct block *b, uint32_t i, double y)
{
	const struct fz_page_function *f = &pic->page->functions[pic->page->function[i]];
	double px = pixels(b, (double)b->width[i]);
	double left = MARGIN + pixels(b, b->left[i]);
	int color = node_color(pic, b, i);
	char share[FZ_NUMBER_SIZE], tail[FZ_NUMBER_SIZE + 16];

	fz_output_str(pic->out, "<g>");
	write_tooltip(pic, i);
	fz_output_printf(
		pic->out,
		"<rect class=\"c%d%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\"/>", color,
		color == NEW && px > 5 ? " n" : "", left, y, FZ_MAX(px - (px > 3 ? 0.8 : 0), 0.3),
		ROW - 1);
	if (px > 24) {
		fz_format_percent((double)b->width[i] / (double)b->all, share);
		snprintf(tail, sizeof(tail), " (%s)%s", share, color == NEW ? " (new)" : "");
		fz_output_printf(pic->out, "<text%s x=\"%.2f\" y=\"%.1f\">",
				 is_dark(color) ? " class=\"w\"" : "", left + 4, y + 12.5);
		write_label(pic, f->name, glyphs[color] ? glyphs[color] : "", tail, px);
		fz_output_str(pic->out, "</text>");
	}
	fz_output_str(pic->out, "</g>\n");
}

static void write_block(struct picture *pic, const struct block *b, double top)
{
	const struct fz_page *page = pic->page;
	fz_auto(fz_free_ptr) uint32_t *depth = fz_calloc(page->n + 1ul, sizeof(*depth));

	for (uint32_t i = 0; i < page->n;) {
		if (pixels(b, (double)b->width[i]) < min_width) {
			i += page->size[i];
			continue;
		}
		depth[i] = page->parent[i] == FZ_NONE ? 0 : depth[page->parent[i]] + 1;
		write_frame(pic, b, i, top + (double)depth[i] * ROW);
		i++;
	}
}

/* ---- the document ---- */

static double picture_height(const struct picture *pic)
{
	double height = HEADER + FOOTER;

	for (int i = 0; i < pic->blocks; i++)
		height += (double)pic->block[i].rows * ROW + (i ? BLOCK_TITLE : 0);
	return height + (pic->blocks ? 0 : 2 * ROW);
}

static void write_style(struct picture *pic)
{
	const char *const *fill = fills[pic->options->palette];

	fz_output_str(
		pic->out,
		"<style>text{font:11px system-ui,\"Segoe UI\",Roboto,\"Noto Sans\",sans-serif;"
		"fill:#14161a}.w{fill:#fff}.q{fill:#626a79}"
		".t{font-size:15px;font-weight:600}rect{rx:2px}");
	for (int i = SAME; i <= NEW; i++)
		fz_output_printf(pic->out, ".c%d{fill:%s}", i, fill[i]);
	fz_output_printf(pic->out,
			 ".n{stroke:#14161a;stroke-dasharray:2 2;stroke-width:.8}"
			 ".c%d{fill:%s;fill-opacity:.13;stroke:%s}.c%d{fill:none;stroke:#c3c8d2}",
			 REMOVED, fill[REMOVED], fill[REMOVED], KEPT);
	for (int i = 0; i < 8; i++)
		fz_output_printf(pic->out, ".c%d{fill:%s}", HEAT + i, heat[i]);
	fz_output_str(pic->out, "</style>\n");
}

static void write_heading(struct picture *pic)
{
	const struct fz_page *page = pic->page;
	const char *const *labels = pic->options->labels;
	char a[FZ_NUMBER_SIZE], b[FZ_NUMBER_SIZE];

	fz_output_printf(pic->out, "<text class=\"t\" x=\"%d\" y=\"24\">%s</text>\n", MARGIN,
			 fz_page_kind(page->is_diff, pic->inverted));
	fz_output_printf(pic->out, "<text class=\"q\" x=\"%d\" y=\"42\">", MARGIN);
	for (int side = FZ_BASE; side < FZ_SIDES; side++) {
		if (!page->profile[side])
			continue;
		if (side == FZ_HEAD && page->is_diff)
			fz_output_str(pic->out, " → ");
		if (labels[side])
			write_escaped(pic->out, fz_str_of(labels[side]));
	}
	fz_format_value((double)page->sum[FZ_BASE], page->unit, a);
	fz_format_value((double)page->sum[FZ_HEAD], page->unit, b);
	fz_output_printf(pic->out, page->is_diff ? " · %s: %s → %s" : " · %s: %.0s%s", page->metric,
			 a, b);
	if (page->diff)
		fz_output_printf(pic->out, " · scale %s × %.4g", fz_scale_names[page->diff->scale],
				 page->factor);
	fz_output_str(pic->out, "</text>\n");
}

static void write_legend(struct picture *pic, double y)
{
	static const struct {
		int color;
		const char *text;
	} keys[] = { { MORE + 2, "▲ Slower" },
		     { LESS + 2, "▼ Faster" },
		     { SAME, "Within 15 %" },
		     { NEW, "+ New" },
		     { REMOVED, "− Removed" } };
	double x = MARGIN;

	for (size_t i = 0; pic->page->is_diff && i < FZ_ARRAY_LEN(keys); i++, x += 110)
		fz_output_printf(
			pic->out,
			"<rect class=\"c%d%s\" x=\"%.0f\" y=\"%.1f\" width=\"14\" height=\"12\"/>"
			"<text x=\"%.0f\" y=\"%.1f\">%s</text>\n",
			keys[i].color, keys[i].color == NEW ? " n" : "", x, y, x + 20, y + 10,
			keys[i].text);
	for (int i = 0; !pic->page->is_diff && i < 8; i++, x += 16)
		fz_output_printf(
			pic->out,
			"<rect class=\"c%d\" x=\"%.0f\" y=\"%.1f\" width=\"16\" height=\"12\"/>\n",
			HEAT + i, x, y);
	fz_output_printf(
		pic->out, "<text class=\"q\" x=\"%.0f\" y=\"%.1f\">%s</text>\n", x + 8, y + 10,
		pic->page->is_diff ? "by self time; steps at 15, 30, 50, 100 %"
				   : "share of self time, from below 1 % to 60 % and more");
}

static void write_picture(struct picture *pic)
{
	double height = picture_height(pic), y = HEADER;

	fz_output_printf(pic->out,
			 "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" "
			 "width=\"%d\" height=\"%.0f\">\n",
			 WIDTH, height, WIDTH, height);
	write_style(pic);
	fz_output_str(pic->out, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
	write_heading(pic);
	if (!pic->blocks)
		fz_output_printf(pic->out,
				 "<text x=\"%d\" y=\"%d\">There are no samples to draw."
				 "</text>\n",
				 MARGIN, HEADER + ROW);
	for (int i = 0; i < pic->blocks; i++) {
		struct block *b = &pic->block[i];
		char value[FZ_NUMBER_SIZE];
		if (b->name) {
			fz_output_printf(pic->out, "<text x=\"%d\" y=\"%.1f\">%s · %s</text>\n",
					 MARGIN, y + 19, b->name,
					 fz_format_value((double)b->all, pic->page->unit, value));
			y += BLOCK_TITLE;
		}
		write_block(pic, b, y);
		y += (double)b->rows * ROW;
	}
	write_legend(pic, height - FOOTER + 16);
	fz_output_str(pic->out, "</svg>\n");
}

static void draw(const struct fz_page *page, const struct fz_html_options *o, struct fz_output *out)
{
	struct picture pic = { .page = page, .options = o, .out = out, .inverted = o->inverted };
	int64_t all;
	int64_t *head = head_widths(page, &all);

	add_block(&pic, NULL, head, all);
	int64_t *removed = page->is_diff ? removed_widths(page, &all) : NULL;
	if (removed)
		add_block(&pic, "Removed", removed, all);
	write_picture(&pic);
	for (int i = 0; i < pic.blocks; i++)
		free(pic.block[i].left);
	free(head);
	free(removed);
}

int fz_report_svg_profile(const struct fz_profile *p, const struct fz_html_options *o,
			  struct fz_output *out, struct fz_error *err)
{
	struct fz_page page;

	int r = fz_page_of_profile(&page, p, o->metric, o->inverted, err);
	if (r)
		return r;
	draw(&page, o, out);
	fz_page_release(&page);
	return 0;
}

int fz_report_svg_diff(const struct fz_diff *d, const struct fz_html_options *o,
		       struct fz_output *out, struct fz_error *err)
{
	struct fz_page page;

	(void)err;
	fz_page_of_diff(&page, d);
	draw(&page, o, out);
	fz_page_release(&page);
	return 0;
}
