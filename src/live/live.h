/* SPDX-License-Identifier: MIT */
/* The live view of a running program.
 *
 *   sampler's thread: fz_live_sample, fz_live_tick      view's thread: keys, counting, drawing
 *
 * The view draws the data that the sampler passes on (feed.h) and never blocks it. */
#pragma once

#include "live/options.h"
#include "record/sampler_state.h"

struct fz_live;

/* Fails if the view cannot be shown here. */
int fz_live_check(struct fz_error *err);
/* Take over the terminal. Blocks SIGWINCH, SIGTSTP and SIGCONT in this thread. When the user
 * leaves, the process sends SIGTERM to itself. */
int fz_live_start(const struct fz_live_options *options, struct fz_live **ret,
		  struct fz_error *err);
/* Restore the terminal, at once, or if the user froze the view, when the user leaves it. how: how
 * the program ended, for the title bar; NULL if it continues. live may be NULL. */
void fz_live_stop(struct fz_live *live, const char *how);

/* Callbacks for struct fz_sampling, with the view as arg. */
void fz_live_sample(struct fz_live *live, const struct fz_sampler *s,
		    const struct fz_sample *sample, int64_t weight);
void fz_live_tick(struct fz_live *live, const struct fz_sampler *s);
