/* SPDX-License-Identifier: MIT */
/* Costs of benchmarks over the commits of a history, and where they changed: turns.
 *
 *   recordings of commits --add--> one series per benchmark --find--> turns --locate--> places
 *
 *   commits      0     1     2     3     4     5         oldest first
 *   parse      1000  1000    -   1300  1300  1310        NaN: unknown
 *                           turn: at 3 since 1
 *
 * Only counts of the same environment are compared; a change of the environment is not a turn.
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
	double *count;         /* by commit; NaN: unknown */
	uint32_t *environment; /* by commit: index; FZ_NONE: count unknown */
	struct fz_history_turn *turns;
	uint32_t turn_n;
	uint32_t first, last;    /* commits of the first and last count in the latest environment */
	uint32_t oldest, latest; /* indices of the first and last count that was added */
	double limit;            /* the largest limit that was added; 0: none */
	double least;            /* smallest relative change that counts */
	bool moved;              /* some counts are from other environments than the last */
};

struct fz_history {
	struct fz_arena arena;
	const char *metric, *unit;
	struct fz_history_commit *commits;
	uint32_t n;
	const char *commit_pages;         /* append a hash for the commit's page; NULL: none */
	struct fz_history_series *series; /* after finding turns: largest change first */
	uint32_t series_n, series_cap;
	struct fz_map names;             /* of series, until turns are found */
	struct fz_history_count *counts; /* until turns are found */
	uint32_t count_n, count_cap;
	char **environments; /* their texts */
	uint32_t environment_n, environment_cap;
};

/* commits: oldest first; texts are copied. */
void fz_history_init(struct fz_history *h, const struct fz_history_commit *commits, uint32_t n);
void fz_history_release(struct fz_history *h);
/* Add the benchmarks of a commit's recording whose names contain the filter (NULL: all). */
int fz_history_add(struct fz_history *h, uint32_t commit, const struct fz_profile *p,
		   const char *metric, const char *filter, struct fz_error *err);
/* Add one count of h->metric, which must be set. limit: the smallest relative change that counted
 * as a change; 0: unknown. Texts are copied. */
void fz_history_add_count(struct fz_history *h, uint32_t commit, struct fz_str name,
			  struct fz_str environment, double count, double limit);
/* Make the series and find their turns. If a commit was counted in several environments, the count
 * of the environment with most counts of the series is used. threshold: the smallest change; 0: the
 * series' limit, or else that of the configuration. */
void fz_history_find(struct fz_history *h, const struct fz_ci_config *config, double threshold);
/* Set the places of a commit's turns, from recordings of it and of the one before. */
void fz_history_locate(struct fz_history *h, uint32_t since, uint32_t at,
		       const struct fz_profile *base, const struct fz_profile *head,
		       const char *const roots[FZ_SIDES]);

void fz_history_text(const struct fz_history *h, const struct fz_style *style, struct fz_buf *out);
void fz_history_json(const struct fz_history *h, struct fz_output *out);
/* The first `most` series as cards: <section>s for a page with web/history.css. */
void fz_history_cards(const struct fz_history *h, uint32_t most, struct fz_buf *out);
/* A page of charts. */
void fz_history_html(const struct fz_history *h, const char *title, struct fz_output *out);
