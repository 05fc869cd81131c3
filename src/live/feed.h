/* SPDX-License-Identifier: MIT */
/* Passes data from the sampler to the view, so that drawing never delays the sampler.
 *
 *   sampler thread                          view thread
 *   samples -> weights by (thread, stack)
 *              new table entries      --slot-->  mirror profile, model
 *
 * The sampler sums samples in its own batch and, every few milliseconds, puts the batch into a slot
 * if that is empty: one atomic exchange, no lock. While the view is busy (or frozen) the sampler
 * continues to fill its batch, whose size is bounded by the number of different stacks. In the
 * view's mirror of the tables, entries have the same indices as in the sampler's profile, because
 * both intern the same entries in the same order.
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

/* Numbers of samples of a thread with each property. */
struct fz_live_states {
	uint64_t samples, has_gil, on_cpu, cpu_known, waits_gil, exception, collecting;
};

struct fz_live_batch {
	struct fz_live_cell *cells;
	uint32_t cell_n, cell_cap;
	struct fz_map by_key; /* (thread, stack) -> cell */
	struct fz_live_states *states;
	uint32_t state_n, state_cap; /* by thread */
	/* new table entries */
	struct fz_str *strings; /* borrowed from the sampler, which outlives the view */
	struct fz_function *functions;
	struct fz_frame *frames;
	struct fz_stack *stacks;
	uint32_t string_n, function_n, frame_n, stack_n;
	struct fz_thread *threads; /* all of them, since names may change */
	uint32_t thread_n;
	struct fz_quality quality;
	pid_t pid;         /* of the sampled process */
	uint8_t python[3]; /* its version; 0: none found yet */
	int64_t now;       /* fz_clock_now() of the last sample */
};

/* Data for a saved copy of the recording that is not in the file. */
struct fz_live_facts {
	struct fz_str *keys, *values; /* borrowed from the sampler */
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
/* Publish the batch; if facts were requested, flush the recording and publish them, too. */
void fz_live_feed_tick(struct fz_live_feed *f, const struct fz_sampler *s);

/* ---- on the view's thread ---- */

/* The next batch or NULL; the caller frees. */
struct fz_live_batch *fz_live_feed_take(struct fz_live_feed *f);
void fz_live_batch_free(struct fz_live_batch *b);
/* Add the batch's table entries to the mirror. */
void fz_live_batch_mirror(const struct fz_live_batch *b, struct fz_profile *mirror);
/* Request facts; they are available within a second. */
void fz_live_feed_want_facts(struct fz_live_feed *f);
struct fz_live_facts *fz_live_feed_take_facts(struct fz_live_feed *f);
void fz_live_facts_free(struct fz_live_facts *facts);
