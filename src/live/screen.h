/* SPDX-License-Identifier: MIT */
/* The terminal: setting it up, restoring it in every case, and writing text.
 *
 * The view draws on /dev/tty, so standard output can be redirected. All text is made printable
 * first and cut by columns. The terminal is restored at the end, on suspension, and by a signal
 * handler after a crash.
 */
#pragma once

#include <curses.h>
#include <termios.h>

#include "base/error.h"
#include "base/str.h"
#include "base/text.h"

enum fz_live_style {
	FZ_LIVE_TEXT,
	FZ_LIVE_DIM,
	FZ_LIVE_BOLD,
	FZ_LIVE_TITLE,    /* the bar at the top */
	FZ_LIVE_HEAD,     /* of the table */
	FZ_LIVE_SELECTED, /* the row under the cursor */
	FZ_LIVE_KEY,      /* a key in the bar at the bottom */
	FZ_LIVE_GOOD,
	FZ_LIVE_BAD,
	FZ_LIVE_MORE, /* costs more than before */
	FZ_LIVE_LESS,
	FZ_LIVE_HEAT, /* and FZ_LIVE_HEATS - 1 hotter ones */
	FZ_LIVE_HEATS = 10,
	FZ_LIVE_STYLES = FZ_LIVE_HEAT + FZ_LIVE_HEATS
};

struct fz_live_screen {
	struct fz_style style; /* color, ascii */
	int fd;                /* of the terminal */
	FILE *in, *out;
	SCREEN *screen;
	attr_t attributes[FZ_LIVE_STYLES];
	int rows, columns;
};

/* Fails with the reason and the remedy if the view cannot be shown here. */
int fz_live_screen_check(struct fz_error *err);
/* Take over the terminal; not thread-safe, so call it before the view's thread starts. */
int fz_live_screen_open(struct fz_live_screen *s, enum fz_color_when color, struct fz_error *err);
void fz_live_screen_close(struct fz_live_screen *s);
/* Restore the terminal temporarily, and take it again. */
void fz_live_screen_leave(struct fz_live_screen *s);
void fz_live_screen_return(struct fz_live_screen *s);
/* Adapt to a new window size. */
void fz_live_screen_resize(struct fz_live_screen *s);

/* Put text at most `width` columns wide, cut with an ellipsis; returns the columns used. */
int fz_live_put(struct fz_live_screen *s, int y, int x, int width, enum fz_live_style style,
		struct fz_str text);
/* The same, but cut text at its start, for paths. */
void fz_live_put_end(struct fz_live_screen *s, int y, int x, int width, enum fz_live_style style,
		     struct fz_str text);
__attribute__((format(printf, 6, 7))) int fz_live_printf(struct fz_live_screen *s, int y, int x,
							 int width, enum fz_live_style style,
							 const char *fmt, ...);
/* Right-aligned: the text ends at column x + width. */
__attribute__((format(printf, 6, 7))) int fz_live_print_right(struct fz_live_screen *s, int y,
							      int x, int width,
							      enum fz_live_style style,
							      const char *fmt, ...);
/* Fill `width` columns of the row from x on. */
void fz_live_fill(struct fz_live_screen *s, int y, int x, int width, enum fz_live_style style);
/* A line across the screen. */
void fz_live_rule(struct fz_live_screen *s, int y);
/* A bar; fraction 1 is the full width. */
void fz_live_bar(struct fz_live_screen *s, int y, int x, int width, enum fz_live_style style,
		 double fraction);
/* A graph, one column for each value from 0 to 1; NaN leaves a gap. */
void fz_live_graph(struct fz_live_screen *s, int y, int x, enum fz_live_style style,
		   const double *values, int n);
/* The heat of a share from 0 to 1. */
enum fz_live_style fz_live_heat(double share);
