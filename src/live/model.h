/* SPDX-License-Identifier: MIT */
/* The counts of the live view: cost of functions by scope, over time and since a mark.
 *
 * A scope is everything, one process or one thread; a sample counts in each that it belongs to:
 *
 *   scope 0: all     scope: process 4711     scope: thread 4713
 *      \____________________|_____________________/
 *               rows: (scope, function) -> self, total; at the mark; lately
 *
 * A function that occurs several times on a stack counts once in its total, and shares are relative
 * to the scope's sum, so none exceeds 100 %. "Lately" is a ring of half-second bins.
 */
#pragma once

#include "live/feed.h"

enum {
	FZ_LIVE_BINS = 16, /* half seconds in the ring */
	FZ_LIVE_ALL = 0,   /* the scope of everything */
};

struct fz_live_cost {
	int64_t self, total;
};

/* One function in one scope. */
struct fz_live_row {
	uint32_t scope, function;
	struct fz_live_cost now, mark;
	uint64_t seen; /* number of the last stack with the function */
	uint32_t bin;  /* newest valid bin */
	float self_bins[FZ_LIVE_BINS], total_bins[FZ_LIVE_BINS];
};

enum fz_live_scope_kind { FZ_LIVE_SCOPE_ALL, FZ_LIVE_SCOPE_PROCESS, FZ_LIVE_SCOPE_THREAD };

struct fz_live_scope {
	enum fz_live_scope_kind kind;
	uint64_t pid;
	uint32_t thread; /* of the mirror */
	int64_t sum, mark_sum;
	uint64_t samples;
	uint32_t threads; /* in it */
	uint32_t bin;
	float bins[FZ_LIVE_BINS];
	struct fz_live_states states, before; /* before: at the start of the last bin */
	float gil_bins[FZ_LIVE_BINS];         /* share of the samples that held the GIL */
	uint32_t *rows;                       /* indices of model rows */
	uint32_t row_n, row_cap;
};

struct fz_live_model {
	struct fz_profile *mirror; /* tables only, no samples; owned */
	struct fz_live_row *rows;
	uint32_t row_n, row_cap;
	struct fz_map row_map; /* (scope, function) -> row */
	struct fz_live_scope *scopes;
	uint32_t scope_n, scope_cap;
	/* by thread: its scope and that of its process; FZ_NONE: none yet */
	uint32_t *thread_scope, *process_scope;
	uint32_t thread_cap;
	/* weight of each stack in each thread, for call trees */
	struct fz_live_cell *cells;
	uint32_t cell_n, cell_cap;
	struct fz_map cell_map;
	uint64_t stack_number; /* number of stacks that were added */
	uint32_t bin;          /* the current half second */
	int64_t first, last;   /* fz_clock_now() of the first and last batch; 0: none yet */
	int64_t marked;        /* time of the mark; 0: none */
	struct fz_quality quality;
	pid_t pid;
	uint8_t python[3];
};

void fz_live_model_init(struct fz_live_model *m);
void fz_live_model_release(struct fz_live_model *m);
/* Count a batch. */
void fz_live_model_add(struct fz_live_model *m, const struct fz_live_batch *b);
/* Reset all counts, but not the tables. */
void fz_live_model_reset(struct fz_live_model *m);
/* Set the mark: from now on changes are relative to this moment. */
void fz_live_model_mark(struct fz_live_model *m);
void fz_live_model_unmark(struct fz_live_model *m);

/* Shares of a scope, from 0 to 1. */
double fz_live_share(int64_t part, int64_t whole);
/* Shares since the mark, and before it. Without a mark the first is of all time. */
struct fz_live_shares {
	double self, total;
};
struct fz_live_shares fz_live_since(const struct fz_live_model *m, const struct fz_live_row *r);
struct fz_live_shares fz_live_before(const struct fz_live_model *m, const struct fz_live_row *r);
/* Share in each bin, oldest first; NaN if the scope has no time there. */
void fz_live_history(const struct fz_live_model *m, const struct fz_live_row *r, bool total,
		     double out[FZ_LIVE_BINS]);
/* Share in the newest two seconds minus that in the bins before, in points; 0 if unknown. */
double fz_live_trend(const struct fz_live_model *m, const struct fz_live_row *r, bool total);

enum fz_live_sort {
	FZ_LIVE_SORT_SELF,
	FZ_LIVE_SORT_TOTAL,
	FZ_LIVE_SORT_TREND,
	FZ_LIVE_SORT_CHANGE, /* since the mark */
	FZ_LIVE_SORT_NAME,
	FZ_LIVE_SORTS
};
extern const char *const fz_live_sort_names[FZ_LIVE_SORTS];

struct fz_live_query {
	uint32_t scope;
	enum fz_live_sort sort;
	bool by_total;        /* trends and changes of the total, not of self */
	struct fz_str filter; /* part of "function file", any case; "" for all */
};

/* Matching rows of a scope, sorted; returns their number. The caller frees *ret. */
uint32_t fz_live_rows(const struct fz_live_model *m, const struct fz_live_query *q,
		      const struct fz_live_row ***ret);
