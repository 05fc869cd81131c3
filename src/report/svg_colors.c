/* SPDX-License-Identifier: MIT */
/* Colours of a picture's frames; see svg_colors.h. */
#include "report/svg_colors.h"

#include <math.h>

#define QUIET "#c3c8d2"     /* lines over what is unsure */
#define PALE_SAME "#f3f5f9" /* foreign code that did not change */

static const char *const heat[] = { "#f4eddf", "#f7e3bf", "#f8d394", "#f6bc68",
				    "#f09f49", "#e4803a", "#cf5d2e", "#b03a24" };
static const double heat_shares[] = { 0.01, 0.03, 0.06, 0.12, 0.18, 0.35, 0.6 };

/* The colours of web/colors.js, from SAME to REMOVED. */
static const char *const fills[][FZ_COLOR_REMOVED + 1] = {
	[FZ_PALETTE_FIZEAU] = { "#e7ebf2", "#ffd7cf", "#f1a59a", "#e2685c", "#b0201f", "#c5d9fd",
				"#93b8fc", "#4c90f2", "#1c53b4", "#b36db3", "#7446c2" },
	[FZ_PALETTE_TACHYON] = { "#bdbdbd", "#ffcdd2", "#ef9a9a", "#e57373", "#d32f2f", "#90caf9",
				 "#64b5f6", "#42a5f5", "#1976d2", "#9575cd", "#b39ddb" },
};

/* "#rrggbb"; for FZ_COLOR_UNSURE that of the hatching. */
static const char *fill_of(enum fz_palette palette, int color)
{
	color &= ~FZ_COLOR_OF_SUM;
	if (color >= FZ_COLOR_HEAT && color < FZ_COLOR_UNSURE)
		return heat[color - FZ_COLOR_HEAT];
	return fills[palette][color <= FZ_COLOR_REMOVED ? color : FZ_COLOR_SAME];
}

bool fz_color_is_dark(int color)
{
	color &= ~FZ_COLOR_OF_SUM;
	return color == FZ_COLOR_MORE + 3 || color == FZ_COLOR_LESS + 3 ||
	       (color >= FZ_COLOR_HEAT + 6 && color < FZ_COLOR_UNSURE);
}

const char *fz_color_glyph(int color)
{
	color &= ~FZ_COLOR_OF_SUM;
	if (color >= FZ_COLOR_MORE && color < FZ_COLOR_LESS)
		return "▲ ";
	if (color >= FZ_COLOR_LESS && color < FZ_COLOR_NEW)
		return "▼ ";
	if (color == FZ_COLOR_MOVED || color == FZ_COLOR_MOVED_AWAY)
		return "⇄ ";
	return color == FZ_COLOR_NEW || color == FZ_COLOR_NEW_UNSURE ? "+ "
	       : color == FZ_COLOR_REMOVED                           ? "− "
								     : "";
}

int fz_color_of_share(double share)
{
	size_t step = 0;

	while (step < FZ_ARRAY_LEN(heat_shares) && share >= heat_shares[step])
		step++;
	return FZ_COLOR_HEAT + (int)step;
}

static int step_of(double percent)
{
	return percent >= 100 ? 3 : percent > 50 ? 2 : percent > 30 ? 1 : 0;
}

static int by_difference(double base, double head)
{
	if (base == 0)
		return head > 0 ? FZ_COLOR_NEW : FZ_COLOR_SAME;
	double percent = (head - base) / base * 100;
	if (fabs(percent) < 15)
		return FZ_COLOR_SAME;
	return (percent > 0 ? FZ_COLOR_MORE : FZ_COLOR_LESS) + step_of(fabs(percent));
}

bool fz_color_by_verdict(const struct fz_page *page, const struct fz_html_options *o)
{
	return page->judgement && o->palette != FZ_PALETTE_TACHYON;
}

/* The function whose verdict applies: in an inverted tree that of the root, which is the innermost;
 * FZ_NONE: not judged. */
static uint32_t judged_function(const struct fz_page *page, bool inverted, uint32_t node)
{
	while (inverted && page->parent[node] != FZ_NONE)
		node = page->parent[node];
	return page->functions[page->function[node]].judged;
}

/* The verdict of the frame's path, if it was tested and the frame is only this path; else NULL. */
static const struct fz_judged *
tested_path(const struct fz_page *page, const struct fz_html_options *o, uint32_t node, bool total)
{
	const struct fz_judgement *j = page->judgement;
	const struct fz_judged *paths = total ? j->path_total : j->path_self;
	uint32_t origin = fz_page_origin(page, node);

	return paths && !o->inverted && origin != FZ_NONE && !isnan(paths[origin].low)
		       ? &paths[origin]
		       : NULL;
}

static bool is_of_sum(const struct fz_page *page, const struct fz_html_options *o, uint32_t node,
		      bool total)
{
	const struct fz_judged *path = tested_path(page, o, node, total);

	return path && path->of_sum;
}

/* The path's own verdict if it was tested, else the function's. */
static enum fz_verdict verdict_of(const struct fz_page *page, const struct fz_html_options *o,
				  uint32_t node, bool total)
{
	const struct fz_judgement *j = page->judgement;
	const struct fz_judged *functions = total ? j->total : j->self;
	const struct fz_judged *path = tested_path(page, o, node, total);
	uint32_t function = judged_function(page, o->inverted, node);

	if (path)
		return path->verdict;
	return function == FZ_NONE ? FZ_VERDICT_UNKNOWN : functions[function].verdict;
}

/* Are colours by total? CPython's are by own time. */
static bool is_by_total(const struct fz_html_options *o)
{
	return !o->inverted && o->palette != FZ_PALETTE_TACHYON;
}

/* Is the node a wrapper that only the head has? Its base cost is that of the code it wraps, so its
 * own change is unknown. */
static bool is_new_wrapper(const struct fz_page *page, const struct fz_html_options *o,
			   uint32_t node)
{
	uint32_t origin = fz_page_origin(page, node);

	return is_by_total(o) && page->diff && origin != FZ_NONE &&
	       page->diff->nodes[origin].wraps && page->total[FZ_HEAD][node] > 0;
}

/* Is it new or gone only because its cost moved from or to another callee? */
static bool is_moved(const struct fz_page *page, uint32_t node)
{
	uint32_t origin = fz_page_origin(page, node);

	return origin != FZ_NONE && page->diff->match == FZ_MATCH_FULL &&
	       page->diff->nodes[origin].state == FZ_MOVED;
}

/* Colour of a node that only the head has; solid if its cost is certain. */
static int color_of_new(const struct fz_page *page, const struct fz_html_options *o, uint32_t node)
{
	bool has_total = !o->inverted;

	if (is_moved(page, node))
		return FZ_COLOR_MOVED;
	if (!fz_color_by_verdict(page, o) ||
	    verdict_of(page, o, node, false) == FZ_VERDICT_CHANGED ||
	    (has_total && verdict_of(page, o, node, true) == FZ_VERDICT_CHANGED))
		return FZ_COLOR_NEW;
	return is_of_sum(page, o, node, false) || (has_total && is_of_sum(page, o, node, true))
		       ? FZ_COLOR_NEW | FZ_COLOR_OF_SUM
		       : FZ_COLOR_NEW_UNSURE;
}

/* Colour by verdict: a certain change is coloured even if small; a change certain only as a sum is
 * hatched, unless the path itself is the same. */
static int color_by_verdict(enum fz_verdict verdict, bool of_sum, int color, double change)
{
	int least = change > 0 ? FZ_COLOR_MORE : change < 0 ? FZ_COLOR_LESS : FZ_COLOR_SAME;

	if (verdict == FZ_VERDICT_CHANGED)
		return color == FZ_COLOR_SAME ? least : color;
	if (verdict == FZ_VERDICT_UNCHANGED)
		return of_sum && color != FZ_COLOR_SAME ? color | FZ_COLOR_OF_SUM : FZ_COLOR_SAME;
	if (!of_sum)
		return FZ_COLOR_UNSURE;
	return (color == FZ_COLOR_SAME ? least : color) | FZ_COLOR_OF_SUM;
}

int fz_color_of_diff(const struct fz_page *page, const struct fz_html_options *o, uint32_t node)
{
	bool by_total = is_by_total(o);
	int64_t *const *values = by_total || o->inverted ? page->total : page->self;
	double base = page->factor * (double)values[FZ_BASE][node];
	double head = (double)values[FZ_HEAD][node];
	int color = by_difference(base, head);
	bool is_before = page->total[FZ_BASE][node] > 0, is_after = page->total[FZ_HEAD][node] > 0;

	/* folded nodes have a cost but no verdict */
	if (fz_color_by_verdict(page, o) && judged_function(page, o->inverted, node) == FZ_NONE)
		return FZ_COLOR_UNSURE;
	if (is_before && !is_after)
		return is_moved(page, node) ? FZ_COLOR_MOVED_AWAY : FZ_COLOR_REMOVED;
	if (is_new_wrapper(page, o, node) ||
	    (is_after && !is_before && o->palette != FZ_PALETTE_TACHYON))
		return color_of_new(page, o, node);
	if (!fz_color_by_verdict(page, o) || (base == 0 && head == 0))
		return color;
	return color_by_verdict(verdict_of(page, o, node, by_total),
				is_of_sum(page, o, node, by_total), color, head - base);
}

double fz_color_own_change(const struct fz_page *page, const struct fz_html_options *o,
			   uint32_t node, bool *ret_of_sum)
{
	double base = page->factor * (double)page->self[FZ_BASE][node];
	double head = (double)page->self[FZ_HEAD][node];
	bool is_known = fz_color_by_verdict(page, o)
				? verdict_of(page, o, node, false) == FZ_VERDICT_CHANGED
				: by_difference(base, head) != FZ_COLOR_SAME;

	*ret_of_sum = fz_color_by_verdict(page, o) && !is_known && is_of_sum(page, o, node, false);
	return is_by_total(o) && (is_known || *ret_of_sum) ? head - base : 0;
}

/* ---- style ---- */

static void write_sum_style(enum fz_palette palette, struct fz_output *out)
{
	fz_output_str(out, ".hl{fill:url(#l)}.hd{fill:url(#d)}");
	for (int i = 0; i < 2; i++) {
		int color = (i ? FZ_COLOR_LESS : FZ_COLOR_MORE) + 3;
		fz_output_printf(out, ".d%d{stroke:%s;stroke-width:%d;stroke-dasharray:%d}", color,
				 fill_of(palette, color), FZ_COLOR_MARK_HEIGHT,
				 FZ_COLOR_MARK_HEIGHT);
	}
}

/* Lines as on the page (web/paint.js): of its colours, 1 pixel wide, every 9 pixels. */
static void write_pattern(struct fz_output *out, const char *id, const char *ground,
			  const char *lines)
{
	fz_output_printf(out,
			 "<pattern id=\"%s\" width=\"9\" height=\"9\" "
			 "patternUnits=\"userSpaceOnUse\"><path fill=\"%s\" d=\"M0 0h9v9H0z\"/>"
			 "<path stroke=\"%s\" d=\"M-1 1l2-2M0 9l9-9M8 10l2-2\"/></pattern>",
			 id, ground, lines);
}

void fz_color_write_style(enum fz_palette palette, bool judged, bool sums, struct fz_output *out)
{
	fz_output_str(
		out, "<style>text{font:11px system-ui,\"Segoe UI\",Roboto,\"Noto Sans\",sans-serif;"
		     "fill:#14161a}.w{fill:#fff}.q{fill:#626a79}"
		     ".t{font-size:15px;font-weight:600}rect{rx:2px}");
	for (int i = FZ_COLOR_SAME; i <= FZ_COLOR_NEW; i++)
		fz_output_printf(out, ".c%d{fill:%s}", i, fill_of(palette, i));
	const char *removed = fill_of(palette, FZ_COLOR_REMOVED);
	fz_output_printf(out,
			 ".n,.o{stroke:#14161a;stroke-dasharray:2 2;stroke-width:.8}.o{stroke:%s}"
			 ".c%d{fill:%s;fill-opacity:.13;stroke:%s}.c%d{fill:url(#h)}"
			 ".c%d{fill:url(#u)}.c%d{fill:%s}.c%d{fill:none}"
			 ".c%d{fill:none;stroke:" QUIET "}.p{fill-opacity:.5}.m{stroke:#fff;stroke-"
			 "width:.7}.c%d{fill:" PALE_SAME "}"
			 ".c%d.p{fill:url(#hp);fill-opacity:1}.c%d.p{fill:url(#up);fill-opacity:1}",
			 removed, FZ_COLOR_REMOVED, removed, removed, FZ_COLOR_UNSURE,
			 FZ_COLOR_NEW_UNSURE, FZ_COLOR_MOVED, fill_of(palette, FZ_COLOR_MOVED),
			 FZ_COLOR_MOVED_AWAY, FZ_COLOR_KEPT, FZ_COLORS, FZ_COLOR_UNSURE,
			 FZ_COLOR_NEW_UNSURE);
	if (sums)
		write_sum_style(palette, out);
	for (int i = FZ_COLOR_HEAT; i < FZ_COLOR_UNSURE; i++)
		fz_output_printf(out, ".c%d{fill:%s}", i, fill_of(palette, i));
	fz_output_str(out, "</style>\n");
	if (!judged)
		return;
	fz_output_str(out, "<defs>");
	write_pattern(out, "h", fill_of(palette, FZ_COLOR_UNSURE), QUIET);
	write_pattern(out, "hp", PALE_SAME, QUIET);
	write_pattern(out, "u", fill_of(palette, FZ_COLOR_NEW_UNSURE), removed);
	write_pattern(out, "up", PALE_SAME, removed);
	if (sums) {
		write_pattern(out, "l", "none", "#fff9");
		write_pattern(out, "d", "none", "#14161a99");
	}
	fz_output_str(out, "</defs>\n");
}
