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
 * Roots are at the top. Heights must be known before the first byte is written: a first walk counts
 * the rows. Text of the profile is escaped wherever it is written.
 */
#include "svg.h"

#include "base/text.h"
#include "findings.h"
#include "markup.h"
#include "page_build.h"
#include "page_fold.h"
#include "page_saved.h"
#include "profile/cost_words.h"
#include "profile/machinery.h"
#include "profile/origin.h"
#include "svg_colors.h"
#include "svg_label.h"

#include <math.h>
#include <stdio.h>

enum {
	WIDTH = 1200,
	MARGIN = 12,
	ROW = 18,
	MARK = FZ_COLOR_MARK_HEIGHT, /* height below the text that a plate leaves free for textures
				      * and underlines */
	HEADER = 52,
	VERDICT_ROW = 18,
	FOOTER = 40,
	LISTED = 12, /* functions that changed most */
	BLOCK_TITLE = 30,
};

static const double usual_min_width = 0.8, small_min_width = 3;

/* ---- blocks ---- */

struct block {
	const char *name;
	int64_t *width; /* by node, in the profile's unit */
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
	bool inverted, judged;
	bool sums;  /* there are paths that are significant only as a sum */
	bool pale;  /* draw foreign code paler than the program's own */
	bool *keep; /* by node: draw it; NULL: draw all */
	bool *gone; /* by node: shown as removed below the head; NULL: single profile */
	double min_width;
	double header;              /* height above the frames */
	struct fz_findings changed; /* by own time, in a judged diff; else empty */
	const struct fz_finding *listed[LISTED];
	uint32_t listed_n;
};

static double pixels(const struct block *b, double value)
{
	return value * (WIDTH - 2 * MARGIN) / (double)b->all;
}

static bool is_drawn(const struct picture *pic, const struct block *b, uint32_t i)
{
	return pixels(b, (double)b->width[i]) >= pic->min_width && (!pic->keep || pic->keep[i]);
}

/* Place children side by side from their parent's left edge. */
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

/* Count the rows: the largest depth of a drawn node. */
static void count_rows(const struct picture *pic, struct block *b)
{
	const struct fz_page *page = pic->page;
	fz_auto(fz_free_ptr) uint32_t *depth = fz_calloc(page->n + 1ul, sizeof(*depth));

	b->rows = 0;
	for (uint32_t i = 0; i < page->n;) {
		if (!is_drawn(pic, b, i)) {
			i += page->size[i];
			continue;
		}
		depth[i] = page->parent[i] == FZ_NONE ? 1 : depth[page->parent[i]] + 1;
		b->rows = FZ_MAX(b->rows, depth[i]);
		i++;
	}
}

/* Add a block. width: by node; takes ownership. */
static void add_block(struct picture *pic, const char *name, int64_t *width, int64_t all)
{
	struct block *b = &pic->block[pic->blocks];

	if (all <= 0) {
		free(width);
		return;
	}
	*b = (struct block){ .name = name, .width = width, .all = all };
	place_nodes(pic->page, b);
	count_rows(pic, b);
	pic->blocks++;
}

static int64_t *head_widths(const struct fz_page *page, int64_t *ret_all)
{
	int64_t *width = fz_reallocarray(NULL, page->n + 1ul, sizeof(*width));

	memcpy(width, page->total[FZ_HEAD], page->n * sizeof(*width));
	*ret_all = page->sum[FZ_HEAD];
	return width;
}

/* Add a block of removed nodes: those that saved time, or all in an inverted or unjudged tree or if
 * all frames are wanted. */
static void add_gone(struct picture *pic)
{
	bool saved_only = pic->judged && !pic->inverted && !pic->options->all_frames;
	int64_t all;

	pic->gone = fz_page_gone(pic->page, saved_only);
	int64_t *width = fz_page_gone_widths(pic->page, pic->gone, &all);
	add_block(pic, "Gone", width, all);
}

/* ---- text ---- */

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
	double base = (double)values[FZ_BASE][i], expected = page->factor * base;
	fz_output_printf(pic->out, "%s → %s (%s%s%s", fz_format_value(base, page->unit, a),
			 fz_format_value(head, page->unit, b),
			 fz_format_change(head - expected, page->unit, c), base ? ", " : "",
			 base ? fz_format_percent_change((head - expected) / expected, p) : "");
	if (base && fz_findings_shows_scale(page->factor))
		fz_output_printf(pic->out, " of the expected %s",
				 fz_format_value(expected, page->unit, a));
	fz_output_str(pic->out, ")");
}

static void write_tooltip(struct picture *pic, uint32_t i)
{
	const struct fz_page *page = pic->page;
	const struct fz_page_function *f = &page->functions[page->function[i]];
	const int64_t *const self[] = { page->self[0], page->self[1] };
	const int64_t *const total[] = { page->total[0], page->total[1] };

	fz_output_str(pic->out, "<title>");
	fz_html_write(pic->out, f->name);
	if (f->file.n) {
		fz_output_str(pic->out, "\n");
		fz_html_write(pic->out, f->file);
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

	if (!page->is_diff)
		return fz_color_of_share((double)values[FZ_HEAD][i] / (double)b->all);
	return b->name && !pic->gone[i] ? FZ_COLOR_KEPT : fz_color_of_diff(page, pic->options, i);
}

static bool is_new(int color)
{
	color &= ~FZ_COLOR_OF_SUM;
	return color == FZ_COLOR_NEW || color == FZ_COLOR_NEW_UNSURE;
}

static bool is_hollow(int color)
{
	return color == FZ_COLOR_REMOVED || color == FZ_COLOR_KEPT || color == FZ_COLOR_MOVED_AWAY;
}

/* CSS class of a dotted edge. */
static const char *edge_of(int color)
{
	switch (color & ~FZ_COLOR_OF_SUM) {
	case FZ_COLOR_NEW:
		return " n";
	case FZ_COLOR_NEW_UNSURE:
	case FZ_COLOR_MOVED:
	case FZ_COLOR_MOVED_AWAY:
		return " o";
	default:
		return "";
	}
}

static bool is_pale(const struct picture *pic, uint32_t i, int color)
{
	const struct fz_page *page = pic->page;

	return pic->pale && page->functions[page->function[i]].origin != FZ_ORIGIN_OWN &&
	       !is_hollow(color);
}

static void write_area(struct picture *pic, const char *class, double left, double y, double width,
		       int height)
{
	fz_output_printf(pic->out, "<path class=\"%s\" d=\"M%.2f %.1fh%.2fv%dh-%.2fz\"/>", class,
			 left, y, width, height, width);
}

/* Draw an underline for the change of the frame's own time, to the scale of frames. */
static void write_mark(struct picture *pic, const struct block *b, uint32_t i, double left,
		       double bottom, double px)
{
	bool of_sum = false;
	char class[16];
	double change = b->name || !pic->page->is_diff
				? 0
				: fz_color_own_change(pic->page, pic->options, i, &of_sum);
	double width = FZ_MIN(pixels(b, fabs(change)), px);

	if (width < 0.5)
		return;
	snprintf(class, sizeof(class), "%s%d%s", of_sum ? "d" : "c",
		 (change > 0 ? FZ_COLOR_MORE : FZ_COLOR_LESS) + 3, of_sum ? "" : " m");
	if (of_sum)
		fz_output_printf(pic->out, "<path class=\"%s\" d=\"M%.2f %.1fh%.2f\"/>", class,
				 left, bottom - MARK / 2.0, width);
	else
		write_area(pic, class, left, bottom - MARK, width, MARK);
}

/* Draw a plain background under the text, if the frame has a texture. Pale colours are translucent
 * and need a white one below. */
static void write_plate(struct picture *pic, int color, bool pale, double left, double y,
			double width)
{
	bool unsure = color == FZ_COLOR_UNSURE || color == FZ_COLOR_NEW_UNSURE;
	int plain = !unsure ? color & ~FZ_COLOR_OF_SUM : pale ? FZ_COLORS : FZ_COLOR_SAME;
	char class[16];

	if (color == plain)
		return;
	snprintf(class, sizeof(class), "c%d%s", plain, pale && !unsure ? " p" : "");
	if (pale && !unsure)
		write_area(pic, "w", left, y, width, ROW - 1 - MARK);
	write_area(pic, class, left, y, width, ROW - 1 - MARK);
}

static void write_text(struct picture *pic, const struct block *b, uint32_t i, double left,
		       double y, double px)
{
	struct fz_buf text = { 0 };
	int color = node_color(pic, b, i);
	bool pale = is_pale(pic, i, color);
	char share[FZ_NUMBER_SIZE], tail[FZ_NUMBER_SIZE + 16];

	fz_format_percent((double)b->width[i] / (double)b->all, share);
	snprintf(tail, sizeof(tail), " (%s)%s", share, is_new(color) ? " (new)" : "");
	size_t n = fz_svg_label(&text, fz_color_glyph(color),
				pic->page->functions[pic->page->function[i]].name, tail, px);
	if (n) {
		write_plate(pic, color, pale, left + 1, y,
			    FZ_MIN(fz_svg_label_width(n) + 6, px - 2));
		fz_output_printf(pic->out, "<text%s x=\"%.2f\" y=\"%.1f\">",
				 fz_color_is_dark(color) && !pale ? " class=\"w\"" : "", left + 4,
				 y + 12.5);
		fz_html_write(pic->out, fz_buf_view(&text));
		fz_output_str(pic->out, "</text>");
	}
	fz_buf_release(&text);
}

/* CSS class of hatching that contrasts with a colour. */
static const char *hatch_on(int color, bool pale)
{
	return fz_color_is_dark(color) && !pale ? "hl" : "hd";
}

static void write_frame(struct picture *pic, const struct block *b, uint32_t i, double y)
{
	double px = pixels(b, (double)b->width[i]);
	double left = MARGIN + pixels(b, b->left[i]);
	int color = node_color(pic, b, i);

	fz_output_str(pic->out, "<g>");
	write_tooltip(pic, i);
	fz_output_printf(
		pic->out,
		"<rect class=\"c%d%s%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\"/>",
		color & ~FZ_COLOR_OF_SUM, px > 5 ? edge_of(color) : "",
		is_pale(pic, i, color) ? " p" : "", left, y, FZ_MAX(px - (px > 3 ? 0.8 : 0), 0.3),
		ROW - 1);
	if (color & FZ_COLOR_OF_SUM)
		write_area(pic, hatch_on(color, is_pale(pic, i, color)), left, y, px, ROW - 1);
	if (!is_hollow(color))
		write_mark(pic, b, i, left, y + ROW - 1, px);
	if (px > 24)
		write_text(pic, b, i, left, y, px);
	fz_output_str(pic->out, "</g>\n");
}

static void write_block(struct picture *pic, const struct block *b, double top)
{
	const struct fz_page *page = pic->page;
	fz_auto(fz_free_ptr) uint32_t *depth = fz_calloc(page->n + 1ul, sizeof(*depth));

	for (uint32_t i = 0; i < page->n;) {
		if (!is_drawn(pic, b, i)) {
			i += page->size[i];
			continue;
		}
		depth[i] = page->parent[i] == FZ_NONE ? 0 : depth[page->parent[i]] + 1;
		write_frame(pic, b, i, top + (double)depth[i] * ROW);
		i++;
	}
}

/* ---- the document ---- */

/* Choose functions whose own time certainly changed, except the import machinery: its importers are
 * the cause. */
static void choose_listed(struct picture *pic)
{
	const struct fz_findings *all = &pic->changed;

	fz_findings_init(&pic->changed, pic->page->diff, pic->page->judgement, false);
	for (uint32_t i = 0; i < all->count[FZ_VERDICT_CHANGED] && pic->listed_n < LISTED; i++)
		if (!fz_machinery_imports(all->rows[i].f->file))
			pic->listed[pic->listed_n++] = &all->rows[i];
}

/* Lines for these, and a title. */
static uint32_t lines_listed(const struct picture *pic)
{
	return pic->listed_n ? pic->listed_n + 1 : 0;
}

static void write_changes(struct picture *pic, double y)
{
	if (pic->listed_n)
		fz_output_printf(pic->out,
				 "<text class=\"q\" x=\"%d\" y=\"%.1f\">Significant changes by own "
				 "%s</text>\n",
				 MARGIN, y + ROW, fz_cost_noun(pic->page->metric, pic->page->unit));
	for (uint32_t i = 0; i < pic->listed_n; i++) {
		const struct fz_finding *r = pic->listed[i];
		char change[FZ_NUMBER_SIZE], percent[FZ_NUMBER_SIZE];
		fz_output_printf(pic->out, "<text x=\"%d\" y=\"%.1f\">%s %s (%s) ", MARGIN,
				 y + (i + 2) * ROW, r->change > 0 ? "▲" : "▼",
				 fz_format_change(r->change, pic->page->unit, change),
				 fz_finding_percent(r, percent));
		fz_html_write(pic->out, r->f->name);
		fz_output_str(pic->out, "</text>\n");
	}
}

static double picture_height(const struct picture *pic)
{
	double height =
		pic->header + FOOTER + (double)(lines_listed(pic) + (pic->sums ? 1 : 0)) * ROW;

	for (int i = 0; i < pic->blocks; i++)
		height += (double)pic->block[i].rows * ROW + (i ? BLOCK_TITLE : 0);
	return height + (pic->blocks ? 0 : 2 * ROW);
}

/* Flags by node: it is coloured, or a node below is. Freed by the caller. */
static bool *find_changed(const struct fz_page *page, const struct fz_html_options *o)
{
	bool *keep = fz_calloc(page->n + 1ul, sizeof(*keep));

	for (uint32_t i = page->n; i-- > 0;) {
		int color = fz_color_of_diff(page, o, i);
		keep[i] |= color != FZ_COLOR_SAME && color != FZ_COLOR_UNSURE &&
			   color != FZ_COLOR_NEW_UNSURE;
		if (keep[i] && page->parent[i] != FZ_NONE)
			keep[page->parent[i]] = true;
	}
	return keep;
}

/* Write the verdict, as in the text report. */
static void write_verdict(struct picture *pic)
{
	static const struct fz_style style = { 0 };
	struct fz_buf text = { 0 };

	fz_findings_verdict(pic->page->diff, pic->page->judgement, &style, &text);
	fz_output_printf(pic->out, "<text x=\"%d\" y=\"%d\">", MARGIN, HEADER + 8);
	fz_html_write(pic->out, fz_buf_view(&text));
	fz_output_str(pic->out, "</text>\n");
	fz_buf_release(&text);
}

/* Names of the sides, if they have some: the library's have none. */
static void write_labels(struct picture *pic)
{
	const char *const *labels = pic->options->labels;
	const char *base = pic->page->is_diff ? labels[FZ_BASE] : NULL, *head = labels[FZ_HEAD];

	if (base)
		fz_html_write(pic->out, fz_str_of(base));
	if (base && head)
		fz_output_str(pic->out, " → ");
	if (head)
		fz_html_write(pic->out, fz_str_of(head));
	if (base || head)
		fz_output_str(pic->out, " · ");
}

static void write_heading(struct picture *pic)
{
	const struct fz_page *page = pic->page;
	char a[FZ_NUMBER_SIZE], b[FZ_NUMBER_SIZE];

	fz_output_printf(pic->out, "<text class=\"t\" x=\"%d\" y=\"24\">%s</text>\n", MARGIN,
			 fz_page_kind(page, pic->inverted));
	fz_output_printf(pic->out, "<text class=\"q\" x=\"%d\" y=\"42\">", MARGIN);
	write_labels(pic);
	fz_format_value((double)page->sum[FZ_BASE], page->unit, a);
	fz_format_value((double)page->sum[FZ_HEAD], page->unit, b);
	fz_output_printf(pic->out, page->is_diff ? "%s: %s → %s" : "%s: %.0s%s", page->metric, a,
			 b);
	if (page->diff && fz_findings_shows_scale(page->factor))
		fz_output_printf(pic->out, " · base scaled by %.4g", page->factor);
	fz_output_str(pic->out, "</text>\n");
	if (pic->judged)
		write_verdict(pic);
}

struct key {
	int color;
	const char *glyph, *text;
};

static void write_keys(struct picture *pic, const struct key *keys, size_t n, double *x, double y)
{
	for (size_t i = 0; i < n; i++, *x += 110)
		fz_output_printf(
			pic->out,
			"<rect class=\"c%d%s\" x=\"%.0f\" y=\"%.1f\" width=\"14\" height=\"12\"/>"
			"<text x=\"%.0f\" y=\"%.1f\">%s%s</text>\n",
			keys[i].color, edge_of(keys[i].color), *x, y, *x + 20, y + 10,
			keys[i].glyph, keys[i].text);
}

/* Write the key of sums, below the other keys. */
static void write_sum_key(struct picture *pic, double y)
{
	static const int colors[] = { FZ_COLOR_MORE + 2, FZ_COLOR_LESS + 2, FZ_COLOR_NEW };
	double x = MARGIN;

	for (size_t i = 0; i < FZ_ARRAY_LEN(colors); i++, x += 16) {
		fz_output_printf(pic->out,
				 "<rect class=\"c%d\" x=\"%.0f\" y=\"%.1f\" width=\"14\" "
				 "height=\"12\"/>",
				 colors[i], x, y);
		write_area(pic, hatch_on(colors[i], false), x, y, 14, 12);
	}
	fz_output_printf(pic->out,
			 "<text x=\"%.0f\" y=\"%.1f\">significant only combined with its other "
			 "paths</text>\n",
			 x + 4, y + 10);
}

static void write_color_scale(struct picture *pic, double x, double y)
{
	bool own = pic->options->palette == FZ_PALETTE_TACHYON;

	fz_output_printf(pic->out, "<text class=\"q\" x=\"%.0f\" y=\"%.1f\">", x, y);
	fz_output_printf(pic->out,
			 !pic->page->is_diff ? "share of self %s, from below 1 %% to 60 %% and more"
			 : pic->options->inverted
				 ? "own %s of the leaf; stronger = bigger change (15/30/50/100 %%)"
			 : own ? "own %s; stronger = bigger change (15/30/50/100 %%)"
			       : "stronger = bigger change (15/30/50/100 %%); underline = own %s",
			 fz_cost_noun(pic->page->metric, pic->page->unit));
	fz_output_str(pic->out, "</text>\n");
}

static bool has_moved(const struct picture *pic)
{
	const struct fz_page *page = pic->page;

	for (uint32_t i = 0; i < page->n; i++)
		if (fz_color_of_diff(page, pic->options, i) == FZ_COLOR_MOVED)
			return true;
	return false;
}

static void write_legend(struct picture *pic, double y)
{
	const struct fz_cost_words *words = fz_cost_words(pic->page->metric, pic->page->unit);
	const struct key changes[] = { { FZ_COLOR_MORE + 2, "▲ ", words->more },
				       { FZ_COLOR_LESS + 2, "▼ ", words->less },
				       { FZ_COLOR_NEW, "+ ", "new" },
				       { FZ_COLOR_REMOVED, "− ", "gone" } };
	static const struct key by_size = { FZ_COLOR_SAME, "", "within 15 %" };
	static const struct key moved = { FZ_COLOR_MOVED, "⇄ ", "moved" };
	static const struct key judged[] = { { FZ_COLOR_SAME, "", "same" },
					     { FZ_COLOR_UNSURE, "", "unsure" } };
	bool is_diff = pic->page->is_diff;
	double x = MARGIN;

	if (is_diff)
		write_keys(pic, changes, FZ_ARRAY_LEN(changes), &x, y);
	if (is_diff && has_moved(pic))
		write_keys(pic, &moved, 1, &x, y);
	if (is_diff && pic->judged)
		write_keys(pic, judged, FZ_ARRAY_LEN(judged), &x, y);
	else if (is_diff)
		write_keys(pic, &by_size, 1, &x, y);
	for (int i = FZ_COLOR_HEAT; !is_diff && i < FZ_COLOR_UNSURE; i++, x += 16)
		fz_output_printf(
			pic->out,
			"<rect class=\"c%d\" x=\"%.0f\" y=\"%.1f\" width=\"16\" height=\"12\"/>\n",
			i, x, y);
	write_color_scale(pic, x + 8, y + 10);
}

static void write_picture(struct picture *pic)
{
	double height = picture_height(pic), y = pic->header;

	fz_output_printf(pic->out,
			 "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" "
			 "width=\"%d\" height=\"%.0f\">\n",
			 WIDTH, height, WIDTH, height);
	fz_color_write_style(pic->options->palette, pic->judged, pic->sums, pic->out);
	fz_output_str(pic->out, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
	write_heading(pic);
	if (!pic->blocks) {
		fz_output_printf(pic->out,
				 "<text x=\"%d\" y=\"%d\">There are no samples to draw."
				 "</text>\n",
				 MARGIN, (int)pic->header + ROW);
		y += 2 * ROW;
	}
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
	write_legend(pic, y + 16);
	if (pic->sums)
		write_sum_key(pic, y + 16 + ROW);
	write_changes(pic, y + FOOTER - 6 + (pic->sums ? ROW : 0));
	fz_output_str(pic->out, "</svg>\n");
}

/* If nothing is the program's own code, all code is treated as such. */
static bool has_own_code(const struct fz_page *page)
{
	for (uint32_t i = 0; i < page->function_count; i++)
		if (page->functions[i].origin == FZ_ORIGIN_OWN)
			return true;
	return false;
}

/* Is any path significant only together with others? */
static bool has_sums(const struct fz_page *page, const struct fz_html_options *o)
{
	const struct fz_judgement *j = page->judgement;

	for (uint32_t i = 0; !o->inverted && j->path_self && i < page->diff->node_count; i++)
		if (j->path_self[i].of_sum || j->path_total[i].of_sum)
			return true;
	return false;
}

static void draw(const struct fz_page *page, const struct fz_html_options *o, struct fz_output *out)
{
	bool judged = fz_color_by_verdict(page, o);
	struct picture pic = { .page = page,
			       .options = o,
			       .out = out,
			       .inverted = o->inverted,
			       .judged = judged,
			       .sums = judged && has_sums(page, o),
			       .pale = o->palette != FZ_PALETTE_TACHYON && has_own_code(page),
			       .min_width = o->changed_only ? small_min_width : usual_min_width,
			       .header = HEADER + (judged ? VERDICT_ROW : 0) };
	int64_t all;
	int64_t *head = head_widths(page, &all);

	if (page->is_diff && o->changed_only)
		pic.keep = find_changed(page, o);

	add_block(&pic, NULL, head, all);
	if (page->is_diff)
		add_gone(&pic);
	if (judged)
		choose_listed(&pic);
	write_picture(&pic);
	fz_findings_release(&pic.changed);
	for (int i = 0; i < pic.blocks; i++) {
		free(pic.block[i].left);
		free(pic.block[i].width);
	}
	free(pic.gone);
	free(pic.keep);
}

int fz_report_svg_profile(const struct fz_profile *p, const struct fz_html_options *o,
			  struct fz_output *out, struct fz_error *err)
{
	struct fz_page page;

	int r = fz_page_of_profile(&page, p, o->metric, o->inverted, FZ_PAGE_PICTURE, err);
	if (r)
		return r;
	if (!o->inverted && !o->all_frames)
		fz_page_fold(&page, false);
	draw(&page, o, out);
	fz_page_release(&page);
	return 0;
}

int fz_report_svg_diff(const struct fz_diff *d, const struct fz_html_options *o,
		       struct fz_output *out, struct fz_error *err)
{
	struct fz_page page;

	(void)err;
	fz_page_of_diff(&page, d, FZ_PAGE_PICTURE);
	page.judgement = o->judgement;
	if (!o->inverted && !o->all_frames)
		fz_page_fold(&page, fz_color_by_verdict(&page, o));
	draw(&page, o, out);
	fz_page_release(&page);
	return 0;
}
