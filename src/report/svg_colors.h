/* SPDX-License-Identifier: MIT */
/* The colours of a static picture, the same as in the page (web/colors.js).
 *
 * In a diff red costs more, blue costs less, grey did not change, purple is new or, hollow,
 * removed. With verdicts only significant changes are coloured, and frames that noise could explain
 * are hatched; frames significant only as a sum of paths are hatched in their colour. Frames that
 * are new or gone only because cost moved between callees are neutral, with a dotted edge. Colours
 * are by total; an underline in a frame is the change of its own time. In one profile a colour is a
 * share.
 */
#pragma once

#include "base/io.h"
#include "report/html_options.h"
#include "report/page.h"

/* The numbers are the same as in web/colors.js. */
enum fz_color {
	FZ_COLOR_SAME,
	FZ_COLOR_MORE, /* four steps */
	FZ_COLOR_LESS = FZ_COLOR_MORE + 4,
	FZ_COLOR_NEW = FZ_COLOR_LESS + 4,
	FZ_COLOR_REMOVED,
	FZ_COLOR_KEPT, /* around what was removed */
	FZ_COLOR_HEAT, /* eight steps */
	FZ_COLOR_UNSURE = FZ_COLOR_HEAT + 8,
	FZ_COLOR_NEW_UNSURE, /* only in the head; its cost is within noise */
	FZ_COLOR_MOVED,      /* only in the head; another callee had the cost */
	FZ_COLOR_MOVED_AWAY, /* only in the base; another callee has the cost */
	FZ_COLORS,
	/* Added to a step or to FZ_COLOR_NEW: certain only together with the function's other
	 * paths. The same colour, hatched. */
	FZ_COLOR_OF_SUM = 64
};

/* Height of the underline in a frame. */
enum { FZ_COLOR_MARK_HEIGHT = 3 };

/* Colour of a node of a diff. Verdicts are used if the page is judged, except in CPython's palette,
 * which has no colours for them. */
int fz_color_of_diff(const struct fz_page *page, const struct fz_html_options *o, uint32_t node);
/* Certain change of a node's own time, in the profile's unit, to mark in its frame, which is
 * coloured by total. 0 if there is none, or if colours are by own time. of_sum: certain only
 * together with the function's other paths. */
double fz_color_own_change(const struct fz_page *page, const struct fz_html_options *o,
			   uint32_t node, bool *ret_of_sum);
bool fz_color_by_verdict(const struct fz_page *page, const struct fz_html_options *o);
/* Colour in a single profile, by share. */
int fz_color_of_share(double share);
/* Does the colour need white text? */
bool fz_color_is_dark(int color);
/* Sign before a name, "▲ ", "" ...: conveys the colour's meaning without colour. */
const char *fz_color_glyph(int color);
/* Style and patterns of a picture: class c0, c1, ... for each colour, n and o for dotted edges. */
void fz_color_write_style(enum fz_palette palette, bool judged, bool sums, struct fz_output *out);
