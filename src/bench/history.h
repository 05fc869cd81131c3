/* SPDX-License-Identifier: MIT */
/* What benchmarks cost over the commits of a history, and where that changed.
 *
 *   recordings of commits --add--> a series for each benchmark --find--> turns --locate--> where
 *
 *   commits      0     1     2     3     4     5         oldest first
 *   parse      1000  1000    -   1300  1300  1310        NaN: not known
 *                           turn: at 3 since 1
 *
 * Counts are compared only with those of the same environment: between two of different ones there
 * is no turn.
 */
#pragma once

#include "base/map.h"
#include "bench/report.h"
#include "stats/steps.h"

struct fz_history_commit {
	const char *commit, *day, *subject;
};

/* A change from one commit to a later one. */
struct fz_history_turn {
	struct fz_step step; /* at, since: commits */
	struct fz_ci_place place;
};

struct fz_history_series {
	struct fz_str name;
	double *count;         /* by commit; NaN: not known */
	uint32_t *environment; /* by commit: which; FZ_NONE where the count is not known */
	struct fz_history_turn *turns;
	uint32_t turn_n;
	uint32_t first, last, known; /* commits whose counts are known, and how many */
	uint32_t oldest, latest;     /* of its counts: the first that was added, and the last */
	double limit;                /* the largest that was said of it; 0: none was */
	double least;                /* smallest relative change that counts */
};

struct fz_history {
	struct fz_arena arena;
	const char *metric, *unit;
	struct fz_history_commit *commits;
	uint32_t n;
	const char *commit_pages;         /* what a hash is appended to for its page; NULL: none */
	struct fz_history_series *series; /* once turns are found: those that changed first */
	uint32_t series_n, series_cap;
	struct fz_map names;             /* of series, until turns are found */
	struct fz_history_count *counts; /* all that is known, until turns are found */
	uint32_t count_n, count_cap;
	char **environments; /* their texts */
	uint32_t environment_n, environment_cap;
};

/* commits: oldest first; texts are copied. */
void fz_history_init(struct fz_history *h, const struct fz_history_commit *commits, uint32_t n);
void fz_history_release(struct fz_history *h);
/* Add a recording of a commit: benchmarks whose names contain the filter (NULL: all). */
int fz_history_add(struct fz_history *h, uint32_t commit, const struct fz_profile *p,
		   const char *metric, const char *filter, struct fz_error *err);
/* Add one count, by h->metric, which is to be set. limit: the smallest relative change that counted
 * there; 0: not known. Texts are copied. */
void fz_history_add_count(struct fz_history *h, uint32_t commit, struct fz_str name,
			  struct fz_str environment, double count, double limit);
/* Make the series of what was added, and find their turns. Where a commit was counted in several
 * environments, a series has those of the environment that knows most of it. threshold: 0 is
 * the limit that was said of a series, else that of the configuration. */
void fz_history_find(struct fz_history *h, const struct fz_ci_config *config, double threshold);
/* Say where the turns of one commit lie, from recordings of it and of the one before. */
void fz_history_locate(struct fz_history *h, uint32_t since, uint32_t at,
		       const struct fz_profile *base, const struct fz_profile *head,
		       const char *const roots[FZ_SIDES]);

void fz_history_text(const struct fz_history *h, const struct fz_style *style, struct fz_buf *out);
void fz_history_json(const struct fz_history *h, struct fz_output *out);
/* The series that changed first, at most `most`, as cards: <section>s of a page that has
 * web/history.css. */
void fz_history_cards(const struct fz_history *h, uint32_t most, struct fz_buf *out);
/* A page of charts. */
void fz_history_html(const struct fz_history *h, const char *title, struct fz_output *out);
