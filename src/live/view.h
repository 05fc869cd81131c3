/* SPDX-License-Identifier: MIT */
/* The state of the view, its key bindings, and drawing. */
#pragma once

#include "record/sources.h"
#include "live/calls.h"
#include "live/model.h"
#include "live/options.h"
#include "live/screen.h"

enum fz_live_panel {
	FZ_LIVE_PANEL_NONE,
	FZ_LIVE_PANEL_CALLS,
	FZ_LIVE_PANEL_LINES,
	FZ_LIVE_PANEL_OPCODES,
};

enum fz_live_page { FZ_LIVE_PAGE_TABLE, FZ_LIVE_PAGE_HELP, FZ_LIVE_PAGE_OUTPUT };

enum { FZ_LIVE_FILTER_MAX = 120 };

struct fz_live_view {
	const struct fz_live_options *options;
	struct fz_live_screen screen;
	struct fz_live_model model;
	struct fz_sources *sources; /* of the mirror */
	pid_t sources_pid;          /* whose files they are; 0: none yet */
	int64_t began;              /* fz_clock_now() */
	int64_t refresh;            /* between drawings, in ns */
	enum fz_live_page page;
	enum fz_live_panel panel;
	enum fz_live_sort sort;
	bool by_total, trends, frozen;
	/* the displayed scope; not an index, since indices change on a reset */
	enum fz_live_scope_kind scope_kind;
	uint64_t scope_pid;
	uint32_t scope_thread;
	char filter[FZ_LIVE_FILTER_MAX + 8];
	size_t filter_n;
	bool typing; /* the filter */
	/* the row under the cursor follows its function */
	uint32_t selected;          /* function; FZ_NONE: the first row */
	bool chosen;                /* moved by a key; else the cursor stays on the first row */
	uint32_t row, top;          /* its row, and the first visible row */
	uint32_t page_rows, shown;  /* rows that fit, rows that exist */
	struct fz_live_calls calls; /* of calls_of */
	uint32_t calls_of, calls_scope;
	int64_t calls_time;
	char message[512];
	int64_t message_until;
	char ended[64]; /* how the program ended; "": it runs */
	/* requested by keys */
	bool quit, save, suspend;
};

/* The current index of the displayed scope; FZ_LIVE_ALL if it does not exist. */
uint32_t fz_live_view_scope(const struct fz_live_view *v);
void fz_live_view_message(struct fz_live_view *v, const char *fmt, ...) FZ_PRINTF(2, 3);
/* Handle a key from get_wch. code: it is a KEY_ constant. */
void fz_live_view_key(struct fz_live_view *v, wint_t key, bool code);
void fz_live_view_draw(struct fz_live_view *v);
/* Parts of the drawing. */
void fz_live_view_draw_help(struct fz_live_view *v);
void fz_live_view_draw_output(struct fz_live_view *v);
void fz_live_view_draw_panel(struct fz_live_view *v, int y, int rows);
