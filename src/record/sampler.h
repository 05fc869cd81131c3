/* SPDX-License-Identifier: MIT */
/* The sampling loop: when to sample, the weight of a sample, and when to stop.
 *
 * Instants are on a grid of absolute times; between them the sampler sleeps. Missed instants are
 * not repeated: the next sample gets their weight, and they are counted as missed.
 */
#pragma once

#include "record/sampler_state.h"

/* The number of threads that were found but not sampled. */
uint64_t fz_sampler_left_out(const struct fz_sampler *s);
/* The part in ns of the CPU time `used` by the program and its descendants that is in no sample,
 * although the program had been found; by the wall clock only that of threads that were never
 * sampled. 0 if unknown. */
int64_t fz_sampler_unsampled(const struct fz_sampler *s, int64_t used);
/* The process to display as the sampled one: the first that is open, otherwise the first; NULL when
 * sampling the whole machine. */
const struct fz_target *fz_sampler_target(const struct fz_sampler *s);

/* Add the metrics of a recording by this clock: the clock's time, and for the wall clock "wait",
 * the part in which a runnable thread had no CPU, and "disk", the part in which it waited for a
 * disk. */
void fz_sampler_add_metrics(struct fz_profile *p, enum fz_clock clock, struct fz_rate rate);
/* Add the metric "resident": bytes by which the resident set grew. */
void fz_sampler_add_growth(struct fz_profile *p);
/* The metrics must be added to the profile beforehand; the writer, if there is one, must be set
 * before fz_sampler_run. */
void fz_sampler_init(struct fz_sampler *s, const struct fz_record_options *options,
		     const struct fz_sampling *sampling, struct fz_profile *profile);
/* Open the target now, for a process that should be Python already. Waits a moment for one that is
 * just starting. */
int fz_sampler_open(struct fz_sampler *s, struct fz_error *err);
/* Sample until something ends it, and release the target; s->end is the reason. */
void fz_sampler_run(struct fz_sampler *s);
/* Pause or resume sampling; the time in between is in no sample. */
void fz_sampler_pause(struct fz_sampler *s, bool paused);
/* When sampling the whole machine, in a callback of the loop: complete the profile with what was
 * sampled until now, and continue with `next`, which has the same metrics. No tick is lost in
 * between, and processes are reported anew. The caller still owns the profile, and now *ret_images,
 * which name its addresses (fz_images_resolve). */
void fz_sampler_turn(struct fz_sampler *s, struct fz_profile *next, struct fz_images *ret_images);
/* After the run: name the addresses in the recording that was read back. False if there are none.
 */
bool fz_sampler_name(struct fz_sampler *s, struct fz_profile **p);
void fz_sampler_release(struct fz_sampler *s);
