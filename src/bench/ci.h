/* SPDX-License-Identifier: MIT */
/* Results for continuous integration: a verdict for each benchmark of two counted revisions.
 *
 *   counted profiles --collect--> benchmarks --judge--> verdicts --> text, markdown, JUnit, ...
 *        union tree --locate----------^   ^
 *        wall-clock pairs -----------------'
 *
 * A benchmark has a verdict for each metric. It is a marker at the root of a counted recording
 * (docs/counting.md). Counts are exact but also depend on the program's environment: the floor of a
 * benchmark is how much it changes when only the environment does, and less than three floors is
 * not a change. Larger changes are also timed, because more instructions do not always take longer.
 *
 * + always means more cost.
 */
#pragma once

#include "base/arena.h"
#include "bench/config.h"
#include "bench/short_names.h"
#include "compare/comparison.h"
#include "stats/pairs.h"

enum fz_ci_verdict {
	FZ_CI_SAME,
	FZ_CI_SLOWER,
	FZ_CI_FASTER,
	FZ_CI_LAYOUT,   /* same instructions, different cache misses */
	FZ_CI_DISAGREE, /* counts and clock contradict each other */
	FZ_CI_NEW,
	FZ_CI_MISSING,
	FZ_CI_NOT_COMPARABLE, /* counted in different environments, or not measured */
	FZ_CI_VERDICTS
};
/* Names for machine-readable files; fz_ci_word has words for people. */
extern const char *const fz_ci_verdict_names[FZ_CI_VERDICTS];

/* The location of a benchmark's change: the shortest context with 80 % of it. */
struct fz_ci_place {
	const char *context; /* "parse_body > parse_issue_fixed"; NULL: none has that much */
	double change;       /* in the metric's unit */
	double base;         /* cost of the context in the base */
	const char *file;    /* relative to the top of the checkout; NULL: not in it */
	int32_t line;        /* the changed line, if known; else the function's first line */
};

/* A benchmark by one metric. */
struct fz_ci_bench {
	struct fz_str name;
	struct fz_short_name shown; /* for people; set by fz_ci_tally */
	const char *metric, *unit;
	const char *was; /* its name in the base; NULL: the same */
	bool on_side[FZ_SIDES];
	double count[FZ_SIDES];
	double cycles[FZ_SIDES]; /* estimated; 0: caches were not simulated */
	double change;           /* of the count, relative to the base; NaN: only on one side */
	double floor;            /* largest relative change by environment alone; NaN: unknown */
	double limit;            /* the change must exceed this: threshold or three floors */
	const char *ignored;     /* the reason; NULL: not ignored */
	const char *accepted;    /* why its change is accepted; NULL: it is not */
	const char *accepted_by; /* the commit that was accepted; NULL: by fizeau.ini */
	const char *trouble;     /* why it was not measured completely; NULL: it was */
	bool suspect;            /* exceeds its limit */
	struct fz_pairs wall;    /* n is 0 if not measured */
	double wall_ns[FZ_SIDES];
	enum fz_ci_verdict verdict;
	bool fails; /* closes the gate */
	struct fz_ci_place place;
};

/* True if base and head have these counts, apart from differences by environment. */
bool fz_ci_has_counts(const struct fz_ci_bench *b, const double count[FZ_SIDES]);

struct fz_ci_result {
	struct fz_arena arena;
	struct fz_ci_bench *benches; /* by name until judged, then by importance */
	uint32_t n, cap;
	struct fz_ci_metric_list metrics; /* by which they are judged */
	const char *labels[FZ_SIDES];
	const char *trees[FZ_SIDES]; /* folders of both sides' files, while they exist */
	const char *link;            /* to the page with flame graphs; NULL: none */
	const char *files;           /* page of the head's files (git/forge.h); NULL: none */
	const char *environment;
	char **troubles; /* failures, one line each: the results are not complete */
	uint32_t trouble_n, trouble_cap;
	char **notes; /* for the user, one line each */
	uint32_t note_n, note_cap;
	bool comparable; /* both sides were counted in the same environment */
	uint32_t count[FZ_CI_VERDICTS];
	uint32_t failing;
};

#define FZ_CI_RESULT_INIT ((struct fz_ci_result){ .comparable = true })

void fz_ci_release(struct fz_ci_result *r);
FZ_PRINTF(2, 3)
void fz_ci_trouble(struct fz_ci_result *r, const char *fmt, ...);
FZ_PRINTF(2, 3)
void fz_ci_note(struct fz_ci_result *r, const char *fmt, ...);

/* Add the benchmarks of a side by r->metrics, with their failures. `whole` is the name of the
 * benchmark if nothing is marked. Fails if the recording does not have such a metric. */
int fz_ci_collect(struct fz_ci_result *r, enum fz_side side, const struct fz_profile *p,
		  const char *whole, struct fz_error *err);
/* The benchmark of a name and a metric of fz_ci_metrics; created if it does not exist. */
struct fz_ci_bench *fz_ci_bench_of(struct fz_ci_result *r, struct fz_str name, const char *metric);
/* Raise floors by a run of a side in another environment. */
void fz_ci_disturb(struct fz_ci_result *r, enum fz_side side, const struct fz_profile *p,
		   const char *whole);
/* Floors are stored in the recording of the side whose environment was changed. The second function
 * returns false if those of a metric are missing. */
void fz_ci_write_floors(const struct fz_ci_result *r, struct fz_profile *p);
bool fz_ci_read_floors(struct fz_ci_result *r, const struct fz_profile *p);
struct fz_ci_rules {
	const struct fz_ci_config *config;
	const char *today;                              /* "2026-11-20" */
	bool (*is_part)(void *arg, const char *commit); /* is it between base and head? */
	void *arg;
};
enum { FZ_CI_DAY_SIZE = 16 };
void fz_ci_today(char out[FZ_CI_DAY_SIZE]);
/* Find the changes that exceed their limits; they can then be timed. */
void fz_ci_suspect(struct fz_ci_result *r, const struct fz_ci_rules *rules);
/* Set the verdicts, and which benchmarks fail. */
void fz_ci_judge(struct fz_ci_result *r, const struct fz_ci_rules *rules);
/* After judging: let benchmarks that fail for costing more pass if their change is accepted. */
void fz_ci_accept(struct fz_ci_result *r, const struct fz_ci_rules *rules);
/* Count the verdicts, sort by importance and shorten names; fz_ci_judge does this, too. */
void fz_ci_tally(struct fz_ci_result *r);
/* Merge benchmarks that were renamed in the head into one each. */
void fz_ci_find_renamed(struct fz_ci_result *r, const struct fz_profile *base,
			const struct fz_profile *head);
/* Compare two counted sides by a metric of fz_ci_metrics. */
int fz_ci_diff(struct fz_ci_result *r, const struct fz_profile *base, const struct fz_profile *head,
	       const char *metric, struct fz_comparison **ret, struct fz_error *err);
/* The path of a function's file relative to the top of a checkout; "" if the file is elsewhere. */
struct fz_str fz_ci_file_below(const struct fz_profile *p, uint32_t function, const char *root);
/* Set where suspects changed, by the metric of the union tree d. roots: tops of the checkouts. */
void fz_ci_locate(struct fz_ci_result *r, const struct fz_diff *d, const char *metric,
		  const char *const roots[FZ_SIDES]);

/* The exit status, which agrees with the reports' headlines: 0; 1 for a regression; 2 for failures
 * or if there is nothing to judge. */
int fz_ci_exit(const struct fz_ci_result *r);
