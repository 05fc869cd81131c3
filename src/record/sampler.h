/* SPDX-License-Identifier: MIT */
/* The sampling loop: when to look, what a sample weighs, and when to stop.
 *
 * Instants lie on a grid of absolute times; between them the sampler sleeps. When it comes too
 * late for some instants they are not made up for: the one sample it takes then weighs the time
 * of all of them, and they are counted as missed.
 */
#pragma once

#include "record/sampler_state.h"

/* How many threads were met and not sampled. */
uint64_t fz_sampler_left_out(const struct fz_sampler *s);
/* The process to show as the one that is sampled: the first that is open, else the first; NULL: it
 * is the whole machine. */
const struct fz_target *fz_sampler_target(const struct fz_sampler *s);

/* The metrics of a recording by this clock: the clock's time, and by the wall clock "wait", what of
 * it a thread could run but had no CPU, and "disk", what of it a thread waited for one. */
void fz_sampler_add_metrics(struct fz_profile *p, enum fz_clock clock, struct fz_rate rate);
/* The one of growth: "resident", bytes by which the resident set grew. */
void fz_sampler_add_growth(struct fz_profile *p);
/* The metrics must be added to the profile beforehand; the writer, if there is one, must be set
 * before fz_sampler_run. */
void fz_sampler_init(struct fz_sampler *s, const struct fz_record_options *options,
		     const struct fz_sampling *sampling, struct fz_profile *profile);
/* Open the target now, or say why not: for a process that should be Python already. Waits a
 * moment for one that is just starting. */
int fz_sampler_open(struct fz_sampler *s, struct fz_error *err);
/* Sample until something ends it, and let go of the target; s->end says what. */
void fz_sampler_run(struct fz_sampler *s);
/* Take no samples, or take them again: time in between is not charged to anything. */
void fz_sampler_pause(struct fz_sampler *s, bool paused);
/* Of the whole machine, from a callback of its loop: what was sampled until now is all that is in
 * its profile; from here on it goes to `next`, which has the same metrics. No tick is lost in
 * between, and processes are met anew. The caller owns the profile as before, and *ret_images,
 * which give its addresses their names (fz_images_resolve). */
void fz_sampler_turn(struct fz_sampler *s, struct fz_profile *next, struct fz_images *ret_images);
/* After the run: give addresses in the recording, which was read back,
 * their names. False: there are none. */
bool fz_sampler_name(struct fz_sampler *s, struct fz_profile **p);
/* Let go of the target, and of everything else. */
void fz_sampler_let_go(struct fz_sampler *s);
void fz_sampler_release(struct fz_sampler *s);
