/* SPDX-License-Identifier: MIT */
/* The live view of a running program.
 *
 *   sampler's thread: fz_live_sample, fz_live_tick      view's thread: keys, counting, drawing
 *
 * The view draws the data that the sampler passes on (feed.h) and never blocks it. */
#pragma once

#include "base/text.h"
#include "record/sampler_state.h"

struct fz_live_options {
	const char *title; /* the command or program */
	pid_t pid;         /* what was started or attached to */
	bool started;      /* by us */
	enum fz_clock clock;
	struct fz_rate rate;
	enum fz_color_when color;
	int output;            /* file that collects the program's output; -1: not collected */
	int signals;           /* signalfd that ends a view which outlives the sampling */
	const char *recording; /* the file that is being written */
	/* A new file for a copy of the recording so far; the caller of it frees the path. */
	int (*new_copy)(void *arg, char **ret_path, struct fz_error *err);
	void *arg;
};

struct fz_live;

/* Can the view be shown here? */
int fz_live_check(struct fz_error *err);
/* Take over the terminal. Blocks SIGWINCH, SIGTSTP and SIGCONT in this thread. When the user wants
 * to leave, the process gets SIGTERM from itself. */
int fz_live_start(const struct fz_live_options *options, struct fz_live **ret,
		  struct fz_error *err);
/* Give the terminal back, at once or, where the user froze the view, when the user leaves it.
 * how: the program's end for the title bar, or NULL when it goes on. NULL is allowed for live. */
void fz_live_stop(struct fz_live *live, const char *how);

/* For struct fz_sampling, with the view as arg. */
void fz_live_sample(struct fz_live *live, const struct fz_sampler *s,
		    const struct fz_sample *sample, int64_t weight);
void fz_live_tick(struct fz_live *live, const struct fz_sampler *s);
