/* SPDX-License-Identifier: MIT */
/* Two profiles as one union tree: match functions, align trees, scale.
 *
 *   base profile -> tree A \
 *                           > functions matched -> nodes aligned -> union tree -> every report
 *   head profile -> tree B /
 *
 * A node of the union tree is a path of matched functions with its cost on both sides. All sums,
 * scaling and judgement happen here, once; reports only select what to show.
 */
#pragma once

#include "base/buf.h"
#include "profile/speed.h"
#include "profile/tree.h"

enum fz_side { FZ_BASE, FZ_HEAD, FZ_SIDES };
extern const char *const fz_side_names[FZ_SIDES]; /* "base", "head" */

enum fz_match {
	FZ_MATCH_FULL,  /* canonical names, then moved and renamed functions, inserted and removed
			   wrappers; docs/matching.md */
	FZ_MATCH_NAMES, /* by path of canonical (file, function) */
	FZ_MATCH_EXACT, /* Tachyon's rule: path of (file, function) exactly as recorded */
};
extern const char *const fz_match_names[]; /* "full", "names", "exact"; NULL-terminated */

enum fz_scale_mode {
	FZ_SCALE_AUTO,  /* unit if units are given; else by what was measured: scale.c */
	FZ_SCALE_TIME,  /* factor 1 for times; ratio of intervals for numbers of samples */
	FZ_SCALE_SHARE, /* only shares are known: the scale that functions agree on, or equal totals
			 */
	FZ_SCALE_REFERENCE, /* the scale that most functions agree on counts as unchanged */
	FZ_SCALE_UNIT,      /* per unit of work */
	FZ_SCALE_WINDOW,    /* per recorded second of a running program */
	FZ_SCALE_AMOUNT,    /* memory, events, instructions: not scaled */
};
extern const char *const fz_scale_names[]; /* in files: "auto", "time", ...; NULL-terminated */
/* The name in text and options: "work" for FZ_SCALE_UNIT. */
const char *fz_scale_word(enum fz_scale_mode mode);

/* Origin of the factor of share or reference. */
enum fz_scale_basis {
	FZ_BASIS_GIVEN,     /* neither share nor reference */
	FZ_BASIS_TOTALS,    /* equal totals: requested, or nothing better is known */
	FZ_BASIS_AGREED,    /* functions that agree count as unchanged */
	FZ_BASIS_SCATTERED, /* functions do not agree: any factor within the error is possible */
};
extern const char *const fz_basis_names[]; /* "given", "totals", ... */

/* FZ_MOVED only occurs for nodes: new or removed, but the cost just moved from one callee to
 * another; see struct fz_diff_shift. */
enum fz_state { FZ_COMMON, FZ_NEW, FZ_REMOVED, FZ_MOVED };
extern const char *const fz_state_names[]; /* "common", "new", "removed", "moved" */

/* Whether the other side's code has a function that only one side recorded, known from its
 * recorded source, or because both ran the same library. */
enum fz_presence { FZ_PRESENCE_UNKNOWN, FZ_PRESENCE_NO, FZ_PRESENCE_YES };
extern const char *const fz_presence_names[]; /* "unknown", "no", "yes" */

/* Why a function of the base was matched with one of the head. */
enum fz_link_how {
	FZ_LINK_NONE,          /* only one side has it */
	FZ_LINK_EXACT,         /* same name, same file */
	FZ_LINK_BODY,          /* different name, same body */
	FZ_LINK_SCOPE,         /* in a class, function or file that was renamed */
	FZ_LINK_MOVED,         /* same name; the file was renamed or moved */
	FZ_LINK_NAME,          /* same, unique name, and similar callers or callees */
	FZ_LINK_NEIGHBOURHOOD, /* different name, same callers and callees */
	FZ_LINK_MAPPED,        /* mapped by the user */
};
extern const char *const fz_link_names[]; /* "none", "exact", ... */

struct fz_diff_function;
/* Describes a function that only one side recorded: "new", "newly recorded", "gone", "no longer
 * recorded"; if presence is unknown, "new or newly recorded", "gone or no longer recorded". "" if
 * both recorded it. A function in the other side's code may have run there, unless calls were
 * counted: it may have been too cheap to be sampled. */
const char *fz_diff_word(const struct fz_diff_function *f);

struct fz_link {
	uint8_t how;              /* enum fz_link_how */
	double score;             /* 0..1; confidence of an inferred link */
	struct fz_str name, file; /* in the base */
};

struct fz_diff_options {
	enum fz_match match;
	enum fz_scale_mode scale;
	double units[FZ_SIDES]; /* units of work on each side; 0: unknown */
	struct fz_str metric;   /* name; empty for the head's default, which both must have */
	bool cells, lines;      /* as for trees */
	bool inverted;
	bool join_comprehensions;   /* comprehensions.h; fz_comparison_new sets it */
	bool no_rename;             /* never infer renamed functions */
	const char *const *renames; /* NULL-terminated user rules "regex=text"; NULL: none */
	const char *const *maps;    /* NULL-terminated "old=new" and "old="; NULL: none */
	/* Folders of the files of each side, as they ran; NULL: unknown, or deleted. */
	const char *trees[FZ_SIDES];
	bool as_measured;  /* do not adjust to the base's speed */
	bool two_commands; /* the commands of the sides are expected to differ */
	bool force;        /* warn instead of failing if the recordings cannot be compared */
};

struct fz_diff_cost {
	int64_t self[FZ_SIDES], total[FZ_SIDES]; /* as recorded, in `unit`, not scaled */
};

/* A function of one side, or of both if matched. */
struct fz_diff_function {
	uint32_t on_side[FZ_SIDES]; /* profile function, or FZ_NONE; the first of several merged
				       ones */
	struct fz_str name, file;   /* for display: canonical; with FZ_MATCH_EXACT as recorded */
	int32_t line;  /* first line, else hottest line, of the head (removed: base); 0: unknown */
	uint8_t kind;  /* enum fz_kind */
	uint8_t state; /* enum fz_state */
	uint8_t presence; /* enum fz_presence; of FZ_NEW and FZ_REMOVED */
	struct fz_link link;
	struct fz_diff_cost cost; /* a total counts each sample once despite recursion */
	/* With speed_scale.used: the head's cost as measured; `cost` is at the base's speed. */
	int64_t measured_self, measured_total;
};

struct fz_diff_node {
	uint32_t function; /* index in functions */
	uint32_t parent;   /* FZ_NONE for a root */
	uint32_t size;     /* nodes in the subtree, itself included */
	uint8_t state;
	/* A wrapper: the other side calls the code below it without it. The base's cost of that
	 * code is in the totals of the wrapper's callers, not in its own. */
	bool wraps;
	struct fz_diff_cost cost;
};

/* New callees of a common node cost as much as its removed ones did: a function was split, merged
 * or replaced. The callees and all nodes below them have state FZ_MOVED. */
struct fz_diff_shift {
	uint32_t node;
	uint32_t callees[FZ_SIDES];
	int64_t cost[FZ_SIDES]; /* total of those callees */
};

/* A new function, and the common function from which most of its code was removed. */
struct fz_diff_split {
	uint32_t function, from;
};

/* A rule that makes names canonical, and the number of functions of each side it changed. */
struct fz_diff_rule {
	const char *text;
	uint32_t functions[FZ_SIDES];
};

/* Self weight of a node in one thread on one side; sorted by (node, thread). */
struct fz_diff_cell {
	uint32_t node, thread;
	int64_t self[FZ_SIDES];
};

/* Threads of both sides, matched by main flag, then name, then order. */
struct fz_diff_thread {
	uint32_t on_side[FZ_SIDES]; /* profile thread or FZ_NONE */
	char *label;                /* "main", "worker 3", "tid 4711" */
	char *process;              /* "app.py 4711"; NULL: neither side has several */
};

/* The machine's speed according to a side's recording. */
struct fz_speed_scale_side {
	double piece; /* mean duration of the piece of work, ns, weighted by CPU time of the program
		       */
	struct fz_speed_range range;
	int64_t waited;   /* ns that threads waited for a CPU; wall clock only */
	double stretched; /* (time on a CPU + waiting for one) / time on a CPU */
	int64_t *even;    /* of each row: its weight without the effects of speed and waiting */
};

/* The head at the base's speed: compare/speed_scale.c. */
struct fz_speed_scale {
	bool used; /* else costs of both sides are as measured */
	struct fz_speed_scale_side side[FZ_SIDES];
	/* Of the head, as measured: also samples that weigh nothing once it is adjusted. */
	int64_t total;
	uint64_t samples;
	struct fz_profile view; /* of the head; owns nothing */
};

struct fz_diff {
	/* Borrowed: must outlive the diff. With speed_scale.used the head is speed_scale.view. */
	const struct fz_profile *profile[FZ_SIDES];
	/* As loaded, before a comparison scaled weights; for reports about the recordings
	 * themselves. */
	const struct fz_profile *recorded[FZ_SIDES];
	struct fz_tree *tree[FZ_SIDES];
	struct fz_arena arena;
	const char *metric, *unit;
	struct fz_speed_scale speed_scale;
	enum fz_match match;
	bool inverted;            /* from the executing functions to their callers */
	enum fz_scale_mode scale; /* never AUTO */
	double units[FZ_SIDES];   /* as given */
	double factor;            /* multiplies base values before they are compared */
	double factor_error;      /* standard deviation of its logarithm; 0: exact */
	enum fz_scale_basis basis;
	bool per_run;                       /* costs are per run; see fz_diff_per_run */
	uint64_t samples[FZ_SIDES];         /* with a stack; others are not compared */
	int64_t total[FZ_SIDES];            /* their weight: the sum of self over all nodes */
	struct fz_diff_function *functions; /* by descending larger scaled total, then name */
	uint32_t function_count;
	struct fz_diff_node *nodes; /* preorder; siblings by descending larger scaled side */
	uint32_t node_count;
	uint32_t *node_of[FZ_SIDES];     /* node of a node of tree[side] */
	uint32_t *function_of[FZ_SIDES]; /* function of a profile function; FZ_NONE if in no counted
					    sample */
	struct fz_diff_thread *threads;
	uint32_t thread_count;
	struct fz_diff_cell *cells;
	size_t cell_count;
	uint32_t *links; /* functions with an inferred or mapped partner */
	uint32_t link_count;
	struct fz_diff_split *splits;
	uint32_t split_count;
	struct fz_diff_shift *shifts; /* in order of nodes */
	uint32_t shift_count;
	struct fz_diff_rule *rules; /* those that changed any name */
	uint32_t rule_count;
	uint32_t elided_count; /* removed nodes with self time */
	int64_t elided_time;   /* their self time, in `unit` */
	char **warnings;       /* relevant differences between the recordings, one line each */
	uint32_t warning_count;
	uint32_t urgent; /* number of warnings, the first ones, that are printed before any verdict
			  */
};

/* Fails with FZ_EINPUT if the two cannot be compared (no common metric; different mode or features,
 * unless forced); the message names both sides' values. */
int fz_diff_new(const struct fz_profile *base, const struct fz_profile *head,
		const struct fz_diff_options *options, struct fz_diff **ret, struct fz_error *err);
/* Checks a user rule and a mapping; FZ_EUSAGE if invalid. */
int fz_diff_check_rename(const char *text, struct fz_error *err);
int fz_diff_check_map(const char *text, struct fz_error *err);
/* Checks before sampling whether such recordings can be compared; if not, appends the differences,
 * "mode (base: wall; head: cpu)". */
bool fz_diff_recorded_differently(const struct fz_recording *base, const struct fz_recording *head,
				  struct fz_buf *out);
/* Whether fz_diff_new would fail without force; if so, appends both configurations to `out` side by
 * side, differences marked with a star. */
bool fz_diff_differences(const struct fz_profile *base, const struct fz_profile *head,
			 struct fz_buf *out);
/* Appends the runs of a recording to those in `all` (fz_profile_merge). Fails with FZ_EINPUT if the
 * two were recorded in different ways, unless forced. */
int fz_diff_add_runs(struct fz_profile *all, const struct fz_profile *p, bool force,
		     struct fz_error *err);
void fz_diff_free(struct fz_diff *d);
void fz_diff_freep(struct fz_diff **d);

/* The function that most of a new one's code was in, or NULL. */
const struct fz_diff_function *fz_diff_origin(const struct fz_diff *d,
					      const struct fz_diff_function *f);
/* Whether the totals of both sides can be compared: not by share, and not for a window, whose
 * length was chosen. */
static inline bool fz_diff_knows_whole(const struct fz_diff *d)
{
	return d->scale != FZ_SCALE_SHARE && d->scale != FZ_SCALE_WINDOW;
}
/* Whether a path has a negative cost, as in a difference of two profiles, which has no noise that
 * a test could know. */
bool fz_diff_is_subtracted(const struct fz_diff *d);
/* Whether the sides are two ranges of one recording. */
bool fz_diff_is_one_recording(const struct fz_diff *d);
/* The head value expected for a base value if nothing changed. */
static inline double fz_diff_expected(const struct fz_diff *d, int64_t base)
{
	return d->factor * (double)base;
}
/* head - factor * base */
static inline double fz_diff_delta(const struct fz_diff *d, int64_t base, int64_t head)
{
	return (double)head - d->factor * (double)base;
}
/* The delta relative to factor * base (0.5 is 50 % more); NaN if that is 0. */
double fz_diff_ratio(const struct fz_diff *d, int64_t base, int64_t head);
/* Recorded samples of a side, those with a stack: also the ones that weigh nothing once the head is
 * adjusted to the base's speed. */
static inline uint64_t fz_diff_recorded_samples(const struct fz_diff *d, enum fz_side side)
{
	return side == FZ_HEAD && d->speed_scale.used ? d->speed_scale.samples : d->samples[side];
}
