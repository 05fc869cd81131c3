/* SPDX-License-Identifier: MIT */
/* Two profiles as one union tree: match functions, align trees, scale.
 *
 *   base profile -> tree A \
 *                           > functions matched -> nodes aligned -> union tree -> every report
 *   head profile -> tree B /
 *
 * A node of the union tree is a path of matched functions; it knows its cost on both sides. All
 * sums, scaling and judgement happen here, once; reports only choose what to show.
 */
#pragma once

#include "base/buf.h"
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
	FZ_SCALE_AUTO,  /* unit with units; else by what was measured: scale.c */
	FZ_SCALE_TIME,  /* factor 1 for times; ratio of intervals for bare counts */
	FZ_SCALE_SHARE, /* only shares are known: as the functions agree, or totals made equal */
	FZ_SCALE_REFERENCE, /* what most functions agree on taken as unchanged */
	FZ_SCALE_UNIT,      /* for each unit of work that was done */
	FZ_SCALE_WINDOW,    /* for each second that was recorded of a running program */
	FZ_SCALE_AMOUNT,    /* memory, events, instructions: as they are */
};
extern const char *const fz_scale_names[]; /* in files: "auto", "time", ...; NULL-terminated */
/* The same in text and options: "work" for FZ_SCALE_UNIT. */
const char *fz_scale_word(enum fz_scale_mode mode);

/* Where the factor of share or reference comes from. */
enum fz_scale_basis {
	FZ_BASIS_GIVEN,     /* neither of these */
	FZ_BASIS_TOTALS,    /* totals made equal: asked for, or nothing else to go by */
	FZ_BASIS_AGREED,    /* functions that agree stand still */
	FZ_BASIS_SCATTERED, /* functions do not agree: anything within the error is possible */
};
extern const char *const fz_basis_names[]; /* "given", "totals", ... */

/* FZ_MOVED is a node's only: new or removed, but its cost only went from one callee to another; see
 * struct fz_diff_shift. */
enum fz_state { FZ_COMMON, FZ_NEW, FZ_REMOVED, FZ_MOVED };
extern const char *const fz_state_names[]; /* "common", "new", "removed", "moved" */

/* Whether the other side's code has a function that only one side ran, as far as that is known:
 * from its recorded source, or because both ran the same library. */
enum fz_presence { FZ_PRESENCE_UNKNOWN, FZ_PRESENCE_NO, FZ_PRESENCE_YES };
extern const char *const fz_presence_names[]; /* "unknown", "no", "yes" */

/* Why a function of the base is taken for one of the head. */
enum fz_link_how {
	FZ_LINK_NONE,          /* only one side has it */
	FZ_LINK_EXACT,         /* same name, same file */
	FZ_LINK_BODY,          /* other name, the same body */
	FZ_LINK_SCOPE,         /* in a class, function or file that became another */
	FZ_LINK_MOVED,         /* same name; the file has another name or place */
	FZ_LINK_NAME,          /* same name, which only they have, and callers or callees alike */
	FZ_LINK_NEIGHBOURHOOD, /* other name, same callers and callees */
	FZ_LINK_MAPPED,        /* the user said so */
};
extern const char *const fz_link_names[]; /* "none", "exact", ... */

struct fz_diff_function;
/* What a function is that only one side ran: "new", "newly called", "gone", "no longer called";
 * where nothing says which, "new or newly called", "gone or no longer called". "" when both did. */
const char *fz_diff_word(const struct fz_diff_function *f);

struct fz_link {
	uint8_t how;              /* enum fz_link_how */
	double score;             /* 0..1; how sure an inferred link is */
	struct fz_str name, file; /* what the base calls it */
};

struct fz_diff_options {
	enum fz_match match;
	enum fz_scale_mode scale;
	double units[FZ_SIDES]; /* of work done on each side; 0: not known */
	struct fz_str metric;   /* name; empty: the head's default, which both must have */
	bool cells, lines;      /* as for trees */
	bool inverted;
	bool no_rename;             /* never infer that a function was renamed */
	const char *const *renames; /* NULL-terminated own rules "regex=text"; NULL: none */
	const char *const *maps;    /* NULL-terminated "old=new" and "old="; NULL: none */
	/* Folders that the files of each side lie in, as they ran; NULL: not known, or gone. */
	const char *trees[FZ_SIDES];
	bool as_measured;  /* not at the base's speed */
	bool two_commands; /* that the sides' commands differ is no surprise */
	bool force;        /* compare what cannot be compared: a warning instead of an error */
};

struct fz_diff_cost {
	int64_t self[FZ_SIDES], total[FZ_SIDES]; /* recorded values in `unit`, not scaled */
};

/* A function of either side, or of both when they were matched. */
struct fz_diff_function {
	uint32_t on_side[FZ_SIDES]; /* profile function, FZ_NONE when absent; where several of a
				       side were merged, the first */
	struct fz_str name, file;   /* for display: canonical, or as recorded with FZ_MATCH_EXACT */
	int32_t line;               /* first line, else hottest line, of head (base when removed);
				       0 when unknown */
	uint8_t kind;               /* enum fz_kind */
	uint8_t state;              /* enum fz_state */
	uint8_t presence;           /* enum fz_presence; of FZ_NEW and FZ_REMOVED */
	struct fz_link link;
	struct fz_diff_cost cost; /* a total counts a sample once however often it recurs */
	/* With speed_scale.used: of the head, as measured; cost has it at the base's speed. */
	int64_t measured_self, measured_total;
};

struct fz_diff_node {
	uint32_t function; /* index in functions */
	uint32_t parent;   /* FZ_NONE for a root */
	uint32_t size;     /* nodes in the subtree, itself included */
	uint8_t state;
	/* A wrapper: code below it on one side is called without it on the other. The base's cost
	 * of that is in the totals of the wrapper's callers, not in its own. */
	bool wraps;
	struct fz_diff_cost cost;
};

/* Below a node that both sides have, new callees cost what removed ones did: a function that was
 * split, merged or replaced. The callees and all below them have state FZ_MOVED. */
struct fz_diff_shift {
	uint32_t node;
	uint32_t callees[FZ_SIDES];
	int64_t cost[FZ_SIDES]; /* total of those callees */
};

/* A new function, and one of both sides that most of its code was in and is no more. */
struct fz_diff_split {
	uint32_t function, from;
};

/* A way in which names were made canonical, and how many functions of each side it changed. */
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

/* What a side's recording says about the machine's speed. */
struct fz_speed_scale_side {
	double piece; /* ns that the piece of work took on average, by CPU time of the program */
	struct fz_speed_range range;
	int64_t waited;   /* ns that threads waited for a CPU; only by the wall clock */
	double stretched; /* time on a CPU and waiting for one over time on one */
	int64_t *even;    /* of each row: its weight with speed and waiting evened out */
};

/* The head at the base's speed: compare/speed_scale.c. */
struct fz_speed_scale {
	bool used; /* else costs are as measured on both sides */
	struct fz_speed_scale_side side[FZ_SIDES];
	int64_t total;          /* of the head, as measured */
	struct fz_profile view; /* of the head; owns nothing */
};

struct fz_diff {
	/* Borrowed: must outlive the diff. With speed_scale.used the head is speed_scale.view. */
	const struct fz_profile *profile[FZ_SIDES];
	/* As they were loaded, before a comparison scaled weights; for what reports print about
	 * the recordings themselves. */
	const struct fz_profile *recorded[FZ_SIDES];
	struct fz_tree *tree[FZ_SIDES];
	struct fz_arena arena;
	const char *metric, *unit;
	struct fz_speed_scale speed_scale;
	enum fz_match match;
	bool inverted;            /* nodes go from what ran to its callers */
	enum fz_scale_mode scale; /* never AUTO */
	double units[FZ_SIDES];   /* as given */
	double factor;            /* multiplies base values before they are compared */
	double factor_error;      /* standard deviation of its logarithm; 0: exact */
	enum fz_scale_basis basis;
	bool per_run;                       /* costs are of one run; see fz_diff_per_run */
	uint64_t samples[FZ_SIDES];         /* those with a stack; others take no part in a diff */
	int64_t total[FZ_SIDES];            /* their weight: the sum of self over all nodes */
	struct fz_diff_function *functions; /* by descending larger scaled total, then name */
	uint32_t function_count;
	struct fz_diff_node *nodes; /* preorder; siblings by descending larger scaled side */
	uint32_t node_count;
	uint32_t *node_of[FZ_SIDES];     /* node that a node of tree[side] became */
	uint32_t *function_of[FZ_SIDES]; /* function that a profile function became; FZ_NONE: not
					    in any counted sample */
	struct fz_diff_thread *threads;
	uint32_t thread_count;
	struct fz_diff_cell *cells;
	size_t cell_count;
	uint32_t *links; /* functions whose partner was inferred or mapped */
	uint32_t link_count;
	struct fz_diff_split *splits;
	uint32_t split_count;
	struct fz_diff_shift *shifts; /* in order of nodes */
	uint32_t shift_count;
	struct fz_diff_rule *rules; /* those that changed a name */
	uint32_t rule_count;
	uint32_t elided_count; /* removed nodes that had self time */
	int64_t elided_time;   /* their self, in unit */
	char **warnings;       /* differences between the recordings that matter, one line each */
	uint32_t warning_count;
	uint32_t urgent; /* so many of the first warnings come before any verdict */
};

/* Fails with FZ_EINPUT when the two cannot be compared (no common metric; other mode or features,
 * unless forced); the message then names both sides' values. */
int fz_diff_new(const struct fz_profile *base, const struct fz_profile *head,
		const struct fz_diff_options *options, struct fz_diff **ret, struct fz_error *err);
/* Whether an own rule or a mapping can be used; FZ_EUSAGE if not. */
int fz_diff_check_rename(const char *text, struct fz_error *err);
int fz_diff_check_map(const char *text, struct fz_error *err);
/* Whether recordings made like this may be compared, before there are samples; FZ_EINPUT if not. */
int fz_diff_comparable(const struct fz_recording *base, const struct fz_recording *head,
		       struct fz_error *err);
/* The same question: what differs is appended, "mode (base: wall; head: cpu)". */
bool fz_diff_recorded_otherwise(const struct fz_recording *base, const struct fz_recording *head,
				struct fz_buf *out);
/* Whether fz_diff_new would refuse without force; then both configurations are appended to `out`
 * side by side, what differs marked with a star. */
bool fz_diff_differences(const struct fz_profile *base, const struct fz_profile *head,
			 struct fz_buf *out);
void fz_diff_free(struct fz_diff *d);
void fz_diff_freep(struct fz_diff **d);

/* The function that most of a new one's code was in; NULL. */
const struct fz_diff_function *fz_diff_origin(const struct fz_diff *d,
					      const struct fz_diff_function *f);
/* Whether the totals of both sides may be compared: shares know nothing of the whole, and a window
 * is as long as it was made. */
static inline bool fz_diff_knows_whole(const struct fz_diff *d)
{
	return d->scale != FZ_SCALE_SHARE && d->scale != FZ_SCALE_WINDOW;
}
/* Whether the sides are two ranges of one recording. */
bool fz_diff_is_one_recording(const struct fz_diff *d);
/* What a base value lets expect of the head if nothing changed. */
static inline double fz_diff_expected(const struct fz_diff *d, int64_t base)
{
	return d->factor * (double)base;
}
/* head - factor * base */
static inline double fz_diff_delta(const struct fz_diff *d, int64_t base, int64_t head)
{
	return (double)head - d->factor * (double)base;
}
/* The delta relative to factor * base (0.5: half as much again); NaN when that is 0. */
double fz_diff_ratio(const struct fz_diff *d, int64_t base, int64_t head);
