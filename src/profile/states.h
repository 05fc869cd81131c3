/* SPDX-License-Identifier: MIT */
/* Numbers of samples in each state of a thread. */
#pragma once

#include "profile/profile.h"

struct fz_states {
	uint64_t samples;
	uint64_t gil, waiting; /* holding the GIL, waiting for it */
	uint64_t cpu, cpu_unknown;
	uint64_t exception; /* raising or handling one */
	uint64_t gc;        /* collecting garbage */
};

/* Returns the states of each thread and, at index thread_count, the sum. Freed by the caller. */
struct fz_states *fz_profile_states(const struct fz_profile *p);

/* One column of a table of states. */
struct fz_state_kind {
	const char *key;   /* machine-readable: "gil" */
	const char *title; /* for display: "holding the GIL" */
	size_t count;      /* offset in struct fz_states */
	bool of_known_cpu; /* share of the samples with known CPU state */
};
enum { FZ_STATE_KINDS = 5 };
extern const struct fz_state_kind fz_state_kinds[FZ_STATE_KINDS];

uint64_t fz_state_count(const struct fz_states *s, const struct fz_state_kind *kind);
/* NaN if unknown. */
double fz_state_share(const struct fz_states *s, const struct fz_state_kind *kind);
