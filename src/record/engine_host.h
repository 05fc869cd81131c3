/* SPDX-License-Identifier: MIT */
/* What engines call: waiting beside the loop's duties, and writing what they took. */
#pragma once

#include "record/oncpu.h"
#include "record/sampler_state.h"

/* A stack that was taken. */
struct fz_engine_sample {
	const struct fz_python_stack *stack;
	int64_t time; /* fz_clock_now() */
	int64_t weight;
	enum fz_oncpu_answer oncpu;
	uint32_t cpu; /* where the thread was seen; FZ_NONE: not known */
};

void fz_sampler_write(struct fz_sampler *s, const struct fz_engine_sample *sample);
/* CPU time that is in no sample, as a share of the whole: a fact, if it is worth one. */
void fz_sampler_note_missing(struct fz_sampler *s, const char *fact, int64_t part, int64_t whole);
/* Threads without a stack, and the CPU time that they used: a fact, if it is worth one. */
void fz_sampler_note_silent(struct fz_sampler *s, uint32_t threads, int64_t used);
/* Is it time to look at the machine's speed where the next sample is? */
bool fz_sampler_wants_look(const struct fz_sampler *s);
/* When its duration is over; INT64_MAX: it has none. */
int64_t fz_sampler_deadline(const struct fz_sampler *s);
/* The latest time at which the loop must come round, whatever is sampled. */
int64_t fz_sampler_duty(const struct fz_sampler *s);
/* Wait until `when`, seeing to events; earlier only when the sampling has ended, or was switched on
 * or off. */
void fz_sampler_wait(struct fz_sampler *s, int64_t when);
/* See to events, if there are news or that was long ago. Who was woken by one and does not would be
 * woken again at once, and a sampler that may preempt would keep from running whom it waits for. */
void fz_sampler_poll(struct fz_sampler *s, bool news);
