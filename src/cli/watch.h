/* SPDX-License-Identifier: MIT */
/* The live view of a recording: `run --live`, `attach --live`, `top`. */
#pragma once

#include "record/launch.h"
#include "cli/record.h"
#include "live/live.h"

/* What the program prints is collected while the view has the terminal. */
struct fz_watch {
	struct fz_launch_place place; /* for the program; only what would go to the terminal */
	int output;                   /* the file that collects; -1: nothing is */
	char *title;
	const char *program;  /* for the name of copies in the store */
	struct fz_live *live; /* NULL: nothing is shown */
};

#define FZ_WATCH_OPTION_ENTRY(o)                                                           \
	{                                                                                  \
		.kind = FZ_OPT_FLAG, .common = true, .long_name = "live",                  \
		.help = "show what the program is doing while it runs", .value = &(o).live \
	}

/* Before anything starts: can it be shown? With `collect`, w->place is what the program gets. */
int fz_watch_prepare(struct fz_watch *w, bool collect, struct fz_error *err);
/* The words as one line, for the title. */
void fz_watch_title(struct fz_watch *w, char *const words[]);
void fz_watch_title_of(struct fz_watch *w, pid_t pid);
/* Before fz_record_begin: what it is told of. */
struct fz_record_looker fz_watch_looker(struct fz_watch *w);
/* After fz_record_begin_file: show it from now on. */
int fz_watch_begin(struct fz_watch *w, const struct fz_record *r, enum fz_color_when color,
		   struct fz_error *err);
/* Give the terminal back; how: the program's end, NULL when it goes on or is ended by us. */
void fz_watch_end(struct fz_watch *w, const char *how);
/* The user left the view, which sends the signal. */
bool fz_watch_left(const struct signalfd_siginfo *info);
/* Print what was collected, and release. */
void fz_watch_release(struct fz_watch *w);
