/* SPDX-License-Identifier: MIT */
/* The colours of a static picture, the same as in the page (web/colors.js).
 *
 * In a diff red costs more, blue costs less, grey did not change, purple is new or, hollow,
 * removed. With verdicts only significant changes are coloured, and frames that noise could explain
 * are hatched; frames significant only as a sum of paths are hatched in their colour. What is new
 * or gone only because its cost moved between callees is neutral, with a dotted edge. Colours are
 * by total; an underline in a frame is the change of its own time. In one profile a colour is a
 * share.
 */
#pragma once

#include "report/html.h"
#include "report/page.h"

/* The numbers are those of web/colors.js. */
enum fz_color {
	FZ_COLOR_SAME,
	FZ_COLOR_MORE, /* four steps */
	FZ_COLOR_LESS = FZ_COLOR_MORE + 4,
	FZ_COLOR_NEW = FZ_COLOR_LESS + 4,
	FZ_COLOR_REMOVED,
	FZ_COLOR_KEPT, /* around what was removed */
	FZ_COLOR_HEAT, /* eight steps */
	FZ_COLOR_UNSURE = FZ_COLOR_HEAT + 8,
	FZ_COLOR_NEW_UNSURE, /* only the head has it; its cost is within noise */
	FZ_COLOR_MOVED,      /* only the head has it; another callee had the cost */
	FZ_COLOR_MOVED_AWAY, /* only the base has it; another callee has the cost */
	FZ_COLORS,
	/* Added to a step or to FZ_COLOR_NEW: certain only together with the function's other
	 * paths. The same colour, hatched. */
	FZ_COLOR_OF_SUM = 64
};

/* Height of the underline in a frame. */
enum { FZ_COLOR_MARK_HEIGHT = 3 };

/* Colour of a node of a diff. Verdicts are used where the page has a judgement and the palette is
 * not that of CPython, whose colours have no word for them. */
int fz_color_of_diff(const struct fz_page *page, const struct fz_html_options *o, uint32_t node);
/* What a node's own time is known to have changed, in the profile's unit: to be marked in its
 * frame, whose colour tells of its total. 0: nothing, or the colour tells of own time itself.
 * of_sum: certain only together with the function's other paths. */
double fz_color_own_change(const struct fz_page *page, const struct fz_html_options *o,
			   uint32_t node, bool *ret_of_sum);
bool fz_color_by_verdict(const struct fz_page *page, const struct fz_html_options *o);
/* Of one profile, by share. */
int fz_color_of_share(double share);
/* Whether text on it is white. */
bool fz_color_is_dark(int color);
/* "▲ ", "" ... in front of a name: says the same without colour. */
const char *fz_color_glyph(int color);
/* "#rrggbb"; of FZ_COLOR_UNSURE what is hatched. */
const char *fz_color_fill(enum fz_palette palette, int color);
/* Style and patterns of a picture: class c0, c1, ... for each colour, n and o for dotted edges. */
void fz_color_write_style(enum fz_palette palette, bool judged, bool sums, struct fz_output *out);
