/* SPDX-License-Identifier: MIT */
/* What continuous integration is told: a verdict for each benchmark of two counted revisions.
 *
 *   counted profiles --collect--> benchmarks --judge--> verdicts --> text, markdown, JUnit, ...
 *        union tree --locate----------^   ^
 *        wall-clock pairs -----------------'
 *
 * What is judged is a benchmark by one metric: with several it has a verdict for each. A benchmark
 * is a marker at the root of a counted recording (docs/counting.md). Counts are exact,
 * but what they depend on is not only the program: how far a benchmark moves when nothing but its
 * surroundings is changed is its floor, and less than three times that is no change. What is
 * past it is measured by the clock as well, because more instructions need not take longer.
 *
 * + always means more cost.
 */
#pragma once

#include "base/arena.h"
#include "bench/config.h"
#include "compare/comparison.h"
#include "stats/pairs.h"

enum fz_ci_verdict {
	FZ_CI_SAME,
	FZ_CI_SLOWER,
	FZ_CI_FASTER,
	FZ_CI_LAYOUT,   /* as many instructions, other cache misses */
	FZ_CI_DISAGREE, /* counts and clock say the opposite */
	FZ_CI_NEW,
	FZ_CI_MISSING,
	FZ_CI_NOT_COMPARABLE, /* counted under other circumstances */
	FZ_CI_VERDICTS
};
/* In files for programs, whatever was counted; for people there is fz_ci_word. */
extern const char *const fz_ci_verdict_names[FZ_CI_VERDICTS];

/* Where the change of a benchmark lies: the shortest context that holds 80 % of it. */
struct fz_ci_place {
	const char *context; /* "parse_body > parse_issue_fixed"; NULL: none holds as much */
	double change;       /* in the metric's unit */
	double base;         /* what the context cost before */
	const char *file;    /* in the checkout, relative to its top; NULL: not there */
	int32_t line;        /* that changed, as far as texts show it; else the function's first */
};

/* A benchmark by one metric. */
struct fz_ci_bench {
	struct fz_str name;
	const char *metric, *unit;
	const char *was; /* what the base calls it; NULL: the same */
	bool on_side[FZ_SIDES];
	double count[FZ_SIDES];
	double cycles[FZ_SIDES]; /* estimated; 0: caches were not simulated */
	double change;           /* count, relative to the base; NaN when only one side has it */
	double floor;            /* largest relative change by surroundings alone; NaN: not known */
	double limit;            /* what must be passed: threshold or three floors */
	const char *ignored;     /* the reason; NULL: it counts */
	const char *accepted;    /* why its change is accepted; NULL: it is not */
	const char *accepted_by; /* the commit of which that was acknowledged; NULL: fizeau.ini */
	const char *trouble;     /* why it was not measured, or not all of it; NULL: it was */
	bool suspect;            /* past its limit */
	struct fz_pairs wall;    /* n is 0 when not measured */
	double wall_ns[FZ_SIDES];
	enum fz_ci_verdict verdict;
	bool fails; /* closes the gate */
	struct fz_ci_place place;
};

/* Whether base and head have these counts, but for what their surroundings alone move. */
bool fz_ci_has_counts(const struct fz_ci_bench *b, const double count[FZ_SIDES]);

struct fz_ci_result {
	struct fz_arena arena;
	struct fz_ci_bench *benches; /* in order of names until judged, then of importance */
	uint32_t n, cap;
	struct fz_ci_metric_list metrics; /* by which it is judged */
	const char *labels[FZ_SIDES];
	const char *trees[FZ_SIDES]; /* folders of both sides' files, while they are there */
	const char *link;            /* to the page with flame graphs; NULL: none */
	const char *files;           /* page of the head's files (git/forge.h); NULL: none */
	const char *environment;
	char **troubles; /* what went wrong, one line each: the results are not complete */
	uint32_t trouble_n, trouble_cap;
	char **notes; /* what one should know, one line each */
	uint32_t note_n, note_cap;
	bool comparable; /* both sides were counted under the same circumstances */
	uint32_t count[FZ_CI_VERDICTS];
	uint32_t failing;
};

#define FZ_CI_RESULT_INIT ((struct fz_ci_result){ .comparable = true })

void fz_ci_release(struct fz_ci_result *r);
FZ_PRINTF(2, 3)
void fz_ci_trouble(struct fz_ci_result *r, const char *fmt, ...);
FZ_PRINTF(2, 3)
void fz_ci_note(struct fz_ci_result *r, const char *fmt, ...);

/* Add the benchmarks of a side by r->metrics, and what went wrong with them. `whole` names what is
 * counted when nothing is marked. Fails when the recording was not counted by such a metric. */
int fz_ci_collect(struct fz_ci_result *r, enum fz_side side, const struct fz_profile *p,
		  const char *whole, struct fz_error *err);
/* A benchmark by its name and a metric of fz_ci_metrics; made when it is not there. */
struct fz_ci_bench *fz_ci_bench_of(struct fz_ci_result *r, struct fz_str name, const char *metric);
/* A side once more in other surroundings: raises floors. */
void fz_ci_disturb(struct fz_ci_result *r, enum fz_side side, const struct fz_profile *p,
		   const char *whole);
/* Floors travel with the recording whose surroundings were changed. False: it lacks those of a
 * metric. */
void fz_ci_write_floors(const struct fz_ci_result *r, struct fz_profile *p);
bool fz_ci_read_floors(struct fz_ci_result *r, const struct fz_profile *p);
/* Which changes are past their limits; after that only the clock can say more. `today` is
 * "2026-11-20"; is_part tells whether a commit lies between base and head. */
struct fz_ci_rules {
	const struct fz_ci_config *config;
	const char *today;
	bool (*is_part)(void *arg, const char *commit);
	void *arg;
};
enum { FZ_CI_DAY_SIZE = 16 };
void fz_ci_today(char out[FZ_CI_DAY_SIZE]);
void fz_ci_suspect(struct fz_ci_result *r, const struct fz_ci_rules *rules);
/* Verdicts, and whether the gate closes. */
void fz_ci_judge(struct fz_ci_result *r, const struct fz_ci_rules *rules);
/* Of those that fail for costing more: which are accepted, after all that was judged. */
void fz_ci_accept(struct fz_ci_result *r, const struct fz_ci_rules *rules);
/* How many there are of each verdict, and which come first; fz_ci_judge does that itself. */
void fz_ci_tally(struct fz_ci_result *r);
/* Benchmarks that only have another name in the head become one each. */
void fz_ci_find_renamed(struct fz_ci_result *r, const struct fz_profile *base,
			const struct fz_profile *head);
/* For fz_diff_options.maps, of those; the caller frees the array. */
const char **fz_ci_maps(struct fz_ci_result *r);
/* The comparison of two counted sides, by a metric of fz_ci_metrics. */
int fz_ci_diff(struct fz_ci_result *r, const struct fz_profile *base, const struct fz_profile *head,
	       const char *metric, struct fz_comparison **ret, struct fz_error *err);
/* The path of a function's file below the top of a checkout; "" if the file lies elsewhere. */
struct fz_str fz_ci_file_below(const struct fz_profile *p, uint32_t function, const char *root);
/* Say where suspects changed by the metric that the tree is of. roots: tops of the checkouts. */
void fz_ci_locate(struct fz_ci_result *r, const struct fz_diff *d, const char *metric,
		  const char *const roots[FZ_SIDES]);

/* 0, 1 for a regression, 2 for trouble or nothing to judge: what the reports' headline says. */
int fz_ci_exit(const struct fz_ci_result *r);
