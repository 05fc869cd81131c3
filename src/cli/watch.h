/* SPDX-License-Identifier: MIT */
/* The live view of a recording: `run --live`, `attach --live`, `top`. */
#pragma once

#include "record/launch.h"
#include "cli/record.h"
#include "live/live.h"

/* The program's output is collected while the view has the terminal. */
struct fz_watch {
	struct fz_launch_place place; /* for the program; redirects output to a terminal only */
	int output;                   /* file with the output; -1: none */
	char *title;
	const char *program;  /* for the name of copies in the store */
	struct fz_live *live; /* NULL: not shown */
};

#define FZ_WATCH_OPTION_ENTRY(o)                                                              \
	FZ_OPT(FLAG, "live", NULL, &(o).live, "show what the program is doing while it runs", \
	       .common = true)

/* Fails before anything starts if the view cannot be shown. collect: set w->place for the program.
 */
int fz_watch_prepare(struct fz_watch *w, bool collect, struct fz_error *err);
/* Set the title from the words of a command. */
void fz_watch_title(struct fz_watch *w, char *const words[]);
void fz_watch_title_of(struct fz_watch *w, pid_t pid);
/* The callbacks to set before fz_record_begin. */
struct fz_record_callbacks fz_watch_callbacks(struct fz_watch *w);
/* After fz_record_begin_file: start the view. */
int fz_watch_begin(struct fz_watch *w, const struct fz_record *r, enum fz_color_when color,
		   struct fz_error *err);
/* Restore the terminal. how: how the program ended; NULL if it continues or we end it. */
void fz_watch_end(struct fz_watch *w, const char *how);
/* True if the view sent this signal because the user left it. */
bool fz_watch_left(const struct signalfd_siginfo *info);
/* Print the collected output, and release. */
void fz_watch_release(struct fz_watch *w);
