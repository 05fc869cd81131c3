/* SPDX-License-Identifier: MIT */
/* Shortens names. The last component is the most informative, so it is cut last.
 *
 *   Parser.parse_statement (12 %)     all of it
 *   std::map<…>::find                 without template arguments
 *   …parse_statement                  the last component
 *   parse_st…                         as much of that as fits
 *
 * The same as in web/labels.js.
 */
#include "report/svg_label.h"

#include "base/short_name.h"

#include <string.h>

static const double character_width = 6.8;

static size_t count_characters(struct fz_str s)
{
	size_t chars = 0;

	for (size_t i = 0; i < s.n; i++)
		chars += ((uint8_t)s.p[i] & 0xc0) != 0x80;
	return chars;
}

/* At most `room` characters of s. */
static struct fz_str cut_text(struct fz_str s, size_t room)
{
	size_t at = 0;

	for (size_t chars = 0; at < s.n && chars < room; chars++) {
		uint32_t code;
		size_t n = fz_utf8_decode(s.p + at, s.n - at, &code);
		at += n ? n : 1;
	}
	return (struct fz_str){ s.p, at };
}

double fz_svg_label_width(size_t characters)
{
	return (double)characters * character_width;
}

size_t fz_svg_label(struct fz_buf *out, const char *glyph, struct fz_str name, const char *tail,
		    double px)
{
	double characters = (px - 8) / character_width;
	size_t all = characters > 0 ? (size_t)characters : 0;
	size_t before = count_characters(fz_str_of(glyph)), behind = strlen(tail);
	size_t room = all - FZ_MIN(all, before), n = count_characters(name);
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	/* Without room for both, prefer the name to the glyph, which only repeats the colour. */
	if (room < 3 && n > room)
		return before ? fz_svg_label(out, "", name, tail, px) : 0;
	if (n > room) {
		fz_short_name(name, "…", &text);
		name = fz_buf_view(&text);
		n = count_characters(name);
	}
	fz_buf_str(out, glyph);
	if (n <= room) {
		fz_buf_add(out, name.p, name.n);
		if (n + behind > room)
			return before + n;
		fz_buf_str(out, tail);
		return before + n + behind;
	}
	struct fz_str last = fz_str_component(name);
	n = count_characters(last);
	if (n < room) {
		fz_buf_str(out, "…");
		fz_buf_add(out, last.p, last.n);
		return before + 1 + n;
	}
	last = cut_text(last, room - 1);
	fz_buf_add(out, last.p, last.n);
	fz_buf_str(out, "…");
	return before + room;
}
