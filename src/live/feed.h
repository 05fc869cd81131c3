/* SPDX-License-Identifier: MIT */
/* Passes data from the sampler to the view, so that drawing never delays the sampler.
 *
 *   sampler thread                          view thread
 *   samples -> weights by (thread, stack)
 *              new table entries      --slot-->  mirror profile, model
 *
 * The sampler sums samples in its own batch and, every few milliseconds, puts the batch into a slot
 * if that is empty: one atomic exchange, no lock. While the view is busy (or frozen) the sampler
 * goes on adding to its batch, whose size is bounded by the number of different stacks. The view's
 * mirror of the tables gives every entry the index that it has in the sampler's profile, because
 * both intern the same things in the same order.
 */
#pragma once

#include <stdatomic.h>

#include "record/sampler.h"
#include "profile/profile.h"

/* Weight of one stack in one thread since the last batch. */
struct fz_live_cell {
	uint32_t thread, stack; /* stack FZ_NONE: no Python code */
	uint32_t count;
	int64_t weight;
};

/* What a thread was doing: samples with each property. */
struct fz_live_states {
	uint64_t samples, has_gil, on_cpu, cpu_known, waits_gil, exception, collecting;
};

struct fz_live_batch {
	struct fz_live_cell *cells;
	uint32_t cell_n, cell_cap;
	struct fz_map by_key; /* (thread, stack) -> cell */
	struct fz_live_states *states;
	uint32_t state_n, state_cap; /* by thread */
	/* table entries that are new */
	struct fz_str *strings; /* the text is the sampler's, which outlives the view */
	struct fz_function *functions;
	struct fz_frame *frames;
	struct fz_stack *stacks;
	uint32_t string_n, function_n, frame_n, stack_n;
	struct fz_thread *threads; /* all of them: names come later */
	uint32_t thread_n;
	struct fz_quality quality;
	pid_t pid;         /* of the process that is sampled */
	uint8_t python[3]; /* its version; 0: none found yet */
	int64_t now;       /* fz_clock_now() of the last sample */
};

/* What a saved copy of the recording needs besides the file. */
struct fz_live_facts {
	struct fz_str *keys, *values; /* the text is the sampler's */
	uint32_t n;
	struct fz_source_text *sources;
	struct fz_str *files; /* of the sources */
	uint32_t source_n;
	struct fz_recording recording;
	struct fz_quality quality;
	struct fz_run run;
	int error; /* of the flush */
};

struct fz_live_feed {
	struct fz_live_batch *own; /* of the sampler's thread */
	_Atomic(struct fz_live_batch *) slot;
	_Atomic(struct fz_live_facts *) facts;
	atomic_bool save_wanted;
	int wake;                                        /* eventfd: something is in a slot */
	int64_t published;                               /* fz_clock_now() of the last batch */
	uint32_t string_n, function_n, frame_n, stack_n; /* published */
};

int fz_live_feed_init(struct fz_live_feed *f, struct fz_error *err);
void fz_live_feed_release(struct fz_live_feed *f);

/* ---- on the sampler's thread ---- */

void fz_live_feed_add(struct fz_live_feed *f, const struct fz_sampler *s,
		      const struct fz_sample *sample, int64_t weight);
/* Hand over what there is; answers a wish for facts, for which the recording is flushed. */
void fz_live_feed_tick(struct fz_live_feed *f, const struct fz_sampler *s);

/* ---- on the view's thread ---- */

/* The next batch or NULL; freed by the taker. */
struct fz_live_batch *fz_live_feed_take(struct fz_live_feed *f);
void fz_live_batch_free(struct fz_live_batch *b);
/* Repeat the batch's table entries in the mirror. */
void fz_live_batch_mirror(const struct fz_live_batch *b, struct fz_profile *mirror);
/* Ask for facts; they come within a second. */
void fz_live_feed_want_facts(struct fz_live_feed *f);
struct fz_live_facts *fz_live_feed_take_facts(struct fz_live_feed *f);
void fz_live_facts_free(struct fz_live_facts *facts);
