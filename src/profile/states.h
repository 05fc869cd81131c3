/* SPDX-License-Identifier: MIT */
/* What threads were doing, counted in samples. */
#pragma once

#include "profile/profile.h"

struct fz_states {
	uint64_t samples;
	uint64_t gil, waiting; /* holding the GIL, waiting for it */
	uint64_t cpu, cpu_unknown;
	uint64_t exception; /* raising or handling one */
	uint64_t gc;        /* collecting garbage */
};

/* Each thread's, and behind them, at thread_count, all threads' together. Freed by the caller. */
struct fz_states *fz_profile_states(const struct fz_profile *p);

/* One column of a table of states. */
struct fz_state_kind {
	const char *key;   /* for programs: "gil" */
	const char *title; /* for people: "holding the GIL" */
	size_t count;      /* where it is in struct fz_states */
	bool of_known_cpu; /* its share is of the samples for which the CPU was looked at */
};
enum { FZ_STATE_KINDS = 5 };
extern const struct fz_state_kind fz_state_kinds[FZ_STATE_KINDS];

uint64_t fz_state_count(const struct fz_states *s, const struct fz_state_kind *kind);
/* NaN when nothing is known. */
double fz_state_share(const struct fz_states *s, const struct fz_state_kind *kind);
