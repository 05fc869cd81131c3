/* SPDX-License-Identifier: MIT */
/* Functions for engines: waiting while the loop's duties are served, and writing samples. */
#pragma once

#include "record/oncpu.h"
#include "record/sampler_state.h"

/* A sampled stack. */
struct fz_engine_sample {
	const struct fz_python_stack *stack;
	int64_t time; /* fz_clock_now() */
	int64_t weight;
	enum fz_oncpu_answer oncpu;
	uint32_t cpu; /* where the thread was seen; FZ_NONE: unknown */
};

void fz_sampler_write(struct fz_sampler *s, const struct fz_engine_sample *sample);
/* Add a fact with CPU time that is in no sample, as a share of the whole, unless negligible. */
void fz_sampler_note_missing(struct fz_sampler *s, const char *fact, int64_t part, int64_t whole);
/* Add a fact with the number and CPU time of threads without a stack, unless negligible. */
void fz_sampler_note_silent(struct fz_sampler *s, uint32_t threads, int64_t used);
/* Is it time to measure the machine's speed, on the CPU of the next sample? */
bool fz_sampler_wants_probe(const struct fz_sampler *s);
/* When the requested duration is over; INT64_MAX: unlimited. */
int64_t fz_sampler_deadline(const struct fz_sampler *s);
/* When the loop must run at the latest, whatever is sampled. */
int64_t fz_sampler_duty(const struct fz_sampler *s);
/* Wait until `when` while handling events. Returns early only if sampling ended, paused or resumed.
 */
void fz_sampler_wait(struct fz_sampler *s, int64_t when);
/* Handle events if `news` is set or the last poll was long ago. An engine woken by an event must
 * call this, else it is woken again at once; with raised priority it could then starve the process
 * that it waits for. */
void fz_sampler_poll(struct fz_sampler *s, bool news);
