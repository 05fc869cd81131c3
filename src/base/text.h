/* SPDX-License-Identifier: MIT */
/* Format numbers and durations for people, and colour text. */
#pragma once

#include "base.h"
#include "str.h"

/* Print file names as links on terminals with colours, but not in continuous integration, whose
 * logs are read elsewhere, nor on the console. Few terminals support line numbers in links; others
 * would look for a file with the line in its name. */
enum fz_links { FZ_LINKS_NONE, FZ_LINKS_TO_FILES, FZ_LINKS_TO_LINES };

/* Properties of the terminal (or file) that text is printed to. */
struct fz_style {
	bool color;
	bool terminal;
	bool ascii;       /* no characters outside ASCII */
	uint8_t links;    /* enum fz_links */
	unsigned columns; /* at least 40; 80 if unknown */
};

enum fz_color_when { FZ_COLOR_AUTO, FZ_COLOR_ALWAYS, FZ_COLOR_NEVER };

/* Style of a file descriptor: a terminal, TERM, NO_COLOR, CLICOLOR_FORCE, FORCE_COLOR, CI, COLUMNS,
 * and the locale's character set (by name, even if not installed). */
struct fz_style fz_style_of(int fd, enum fz_color_when when);

enum fz_hue {
	FZ_HUE_NONE,
	FZ_HUE_BOLD,
	FZ_HUE_DIM,
	FZ_HUE_RED,
	FZ_HUE_BLUE,
	FZ_HUE_PURPLE,
	FZ_HUE_YELLOW,
	FZ_HUE_GREEN,
};
/* Escape sequences around coloured text; "" if the style has no colour. */
const char *fz_hue_on(const struct fz_style *s, enum fz_hue hue);
const char *fz_hue_off(const struct fz_style *s, enum fz_hue hue);

/* All of these write to a caller's buffer of FZ_NUMBER_SIZE bytes and return it. */
enum { FZ_NUMBER_SIZE = 48 };
char *fz_format_count(int64_t v, char out[FZ_NUMBER_SIZE]);              /* 1,234,567 */
char *fz_format_decimal(double v, int digits, char out[FZ_NUMBER_SIZE]); /* 1,234.5 */
char *fz_format_ns(double ns, char out[FZ_NUMBER_SIZE]); /* 1.23 s, 45.6 ms, 789 us */
/* A value in a metric's unit: "ns" as a duration, "bytes" as KiB.., others as a count. */
char *fz_format_value(double v, const char *unit, char out[FZ_NUMBER_SIZE]);
/* Likewise, always with a sign; "-" instead of U+2212, because it can be pasted and searched
 * for. */
char *fz_format_change(double v, const char *unit, char out[FZ_NUMBER_SIZE]);
char *fz_format_percent(double fraction, char out[FZ_NUMBER_SIZE]);        /* 12.3 % */
char *fz_format_percent_change(double fraction, char out[FZ_NUMBER_SIZE]); /* +12.3 % */
/* "1 sample", "2 samples": the noun gets an s unless n is 1. */
char *fz_format_plural(int64_t n, const char *noun, char out[FZ_NUMBER_SIZE]);
