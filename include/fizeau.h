/* SPDX-License-Identifier: MIT */
/* libfizeau: load, build, merge and compare profiles, read the results, write reports.
 *
 *     struct fizeau_error err;
 *     struct fizeau_profile *base, *head;
 *     struct fizeau_diff *diff;
 *
 *     if (fizeau_profile_load("before.fz", &base, &err) ||
 *         fizeau_profile_load("after.fz", &head, &err) ||
 *         fizeau_diff_new(base, head, NULL, &diff, &err))
 *             fprintf(stderr, "%s\n", err.message);
 *
 * examples/compare.c is a complete program.
 *
 * Errors. A function that can fail returns 0 or a negative enum fizeau_status, and on failure fills
 * the caller's struct fizeau_error, which may be NULL. Results named ret are set only on success.
 * Passing NULL for a required object or ret fails with FIZEAU_EUSAGE; functions that return no
 * status then return 0, "" or NULL. Running out of memory aborts the process after calling the
 * host's handler: fizeau_on_out_of_memory.
 *
 * Compatibility. A struct that starts with a size may get more members at its end. Set size to its
 * sizeof before passing the struct, so that host and library may have different versions. Other
 * structs never change.
 *
 * Ownership. Objects from functions named _new, _load, _build or _merge belong to the caller, who
 * frees them with the _free of the same type, which accepts NULL. Returned strings and structs
 * belong to the object they were read from, and live as long as it does. A diff refers to its two
 * profiles: free it first.
 *
 * Threads. Different objects may be used in different threads at the same time. Several threads may
 * read one object; changing or freeing it needs exclusive access. The out-of-memory handler is
 * process-wide. No call changes the locale, signal handlers, environment or current folder of the
 * process.
 *
 * Text is UTF-8 if it was in the profile; names come from profiled programs and may contain
 * anything, including control characters and line ends.
 *
 * Units. Costs are integers in the unit of the metric: "ns" (nanoseconds), "count" or "bytes".
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define FIZEAU_API __attribute__((visibility("default")))
#else
#define FIZEAU_API
#endif

/* Version of this header. */
#define FIZEAU_VERSION_MAJOR 0
#define FIZEAU_VERSION_MINOR 1
#define FIZEAU_VERSION_PATCH 0
/* Version of the loaded library: "0.1.0". */
FIZEAU_API const char *fizeau_version(void);

/* ---- errors ---- */

enum fizeau_status {
	FIZEAU_OK = 0,
	FIZEAU_EINPUT = -1,       /* invalid contents of a file; profiles not comparable */
	FIZEAU_ELIMIT = -2,       /* exceeds a limit */
	FIZEAU_ESYSTEM = -3,      /* a system call failed: sys_errno */
	FIZEAU_EPERM = -4,        /* not allowed to read or write a file */
	FIZEAU_EUNSUPPORTED = -6, /* valid, but not supported */
	FIZEAU_EUSAGE = -7        /* an invalid argument */
};

struct fizeau_error {
	int code;           /* enum fizeau_status */
	int sys_errno;      /* errno if a system call failed, else 0 */
	char message[1024]; /* one line, safe to print */
};

/* Sets a handler that is called, in any thread, if an allocation of that many bytes fails. The
 * process aborts when it returns. NULL: no handler. */
FIZEAU_API void fizeau_on_out_of_memory(void (*handler)(size_t bytes));

/* ---- profiles ---- */

struct fizeau_profile;

/* Reads a profile in any supported format, optionally compressed by gzip or zstd; "-" is standard
 * input. */
FIZEAU_API int fizeau_profile_load(const char *path, struct fizeau_profile **ret,
				   struct fizeau_error *err);
/* Likewise from memory, which need not outlive the call. `name` is used in error messages. */
FIZEAU_API int fizeau_profile_load_memory(const void *data, size_t size, const char *name,
					  struct fizeau_profile **ret, struct fizeau_error *err);
FIZEAU_API void fizeau_profile_free(struct fizeau_profile *p);

/* Merges recordings of the same command, in this order, into one profile with several runs.
 * FIZEAU_EINPUT if they were recorded differently. */
FIZEAU_API int fizeau_profile_merge(const struct fizeau_profile *const profiles[], size_t count,
				    struct fizeau_profile **ret, struct fizeau_error *err);
/* Folds recursion: a call of a function that is already on the stack returns to that frame. Costs
 * of functions do not change. FIZEAU_ELIMIT if there is no room for the new stacks. */
FIZEAU_API int fizeau_profile_fold_recursion(struct fizeau_profile *p, struct fizeau_error *err);
/* Number of executions of the command in the profile, at least 1. */
FIZEAU_API size_t fizeau_profile_run_count(const struct fizeau_profile *p);

/* The metric of costs ("wall", "cpu", "samples", ...) and its unit. */
FIZEAU_API const char *fizeau_profile_metric(const struct fizeau_profile *p);
FIZEAU_API const char *fizeau_profile_unit(const struct fizeau_profile *p);
/* Number of samples, and their total cost. */
FIZEAU_API uint64_t fizeau_profile_samples(const struct fizeau_profile *p);
FIZEAU_API int64_t fizeau_profile_total(const struct fizeau_profile *p);
/* A fact about the recording: "command", "python", "git.commit", ...; "" if unknown. */
FIZEAU_API const char *fizeau_profile_fact(const struct fizeau_profile *p, const char *key);

struct fizeau_function {
	const char *name; /* qualified */
	const char *file; /* as recorded; "" if unknown */
	int line;         /* first line if known, else the hottest; 0 if unknown */
	int64_t self;     /* cost of the samples with it innermost */
	int64_t total;    /* cost of the samples with it on the stack, each counted once */
};

/* Functions with samples, by descending total. */
FIZEAU_API size_t fizeau_profile_function_count(const struct fizeau_profile *p);
/* NULL if index is out of range. */
FIZEAU_API const struct fizeau_function *fizeau_profile_function(const struct fizeau_profile *p,
								 size_t index);

/* ---- building a profile, sample by sample ---- */

struct fizeau_builder;

struct fizeau_builder_options {
	size_t size;         /* of this struct */
	const char *metric;  /* "wall", "cpu", "instructions", ...; NULL: "samples" */
	const char *unit;    /* "ns", "count" or "bytes"; NULL: "count" */
	int64_t interval_ns; /* between samples; 0: not sampled in time */
	int complete;        /* not 0: the command was recorded from start to end */
	int ordered; /* not 0: samples are added in time order, from which noise is estimated */
};

/* options may be NULL: all zero. */
FIZEAU_API int fizeau_builder_new(const struct fizeau_builder_options *options,
				  struct fizeau_builder **ret, struct fizeau_error *err);
/* Starts the next run for the following samples; at most 65,536 runs. */
FIZEAU_API void fizeau_builder_next_run(struct fizeau_builder *b);
/* Sets the start of the run, in ns since 1970, which shows a comparison whether runs alternated. */
FIZEAU_API void fizeau_builder_began(struct fizeau_builder *b, int64_t unix_ns);
/* Sets a fact about the recording: "command", "program", "git.commit", ... */
FIZEAU_API void fizeau_builder_fact(struct fizeau_builder *b, const char *key, const char *value);

struct fizeau_frame {
	const char *name;
	const char *file; /* NULL: unknown */
	int line;         /* executing line; 0: unknown */
};

/* Adds a sample of the main thread: frames, outermost first, and its cost, which may be negative
 * (freed memory). FIZEAU_EUSAGE if a frame has no name. */
FIZEAU_API int fizeau_builder_add(struct fizeau_builder *b, const struct fizeau_frame *frames,
				  size_t count, int64_t cost);
/* Converts the builder to a profile and frees the builder, even on failure: FIZEAU_ELIMIT if a
 * limit of profiles was exceeded. */
FIZEAU_API int fizeau_builder_build(struct fizeau_builder *b, struct fizeau_profile **ret,
				    struct fizeau_error *err);
/* Frees a builder without building; NULL is allowed. */
FIZEAU_API void fizeau_builder_free(struct fizeau_builder *b);

/* ---- diffs ---- */

struct fizeau_diff;

enum fizeau_match {
	FIZEAU_MATCH_FULL = 0,  /* canonical names, then moved and renamed functions, wrappers */
	FIZEAU_MATCH_NAMES = 1, /* canonical names, independent of checkout and Python version */
	FIZEAU_MATCH_EXACT = 2  /* file and function as recorded, like CPython's profiler */
};

enum fizeau_scale {
	/* unit if units are given; else by what was measured: fizeau-diff(1) */
	FIZEAU_SCALE_AUTO = 0,
	FIZEAU_SCALE_TIME = 1,      /* as measured; sample counts by the ratio of the intervals */
	FIZEAU_SCALE_SHARE = 2,     /* equal totals */
	FIZEAU_SCALE_REFERENCE = 3, /* the scale that most functions agree on counts as unchanged */
	FIZEAU_SCALE_UNIT = 4,      /* per unit of work: base_units and head_units */
	FIZEAU_SCALE_WINDOW = 5,    /* per recorded second */
	FIZEAU_SCALE_AMOUNT = 6     /* memory and events, not scaled */
};

struct fizeau_diff_options {
	size_t size; /* of this struct */
	enum fizeau_match match;
	enum fizeau_scale scale;
	const char *metric; /* NULL: the head's default, else one that both have */
	int force;          /* not 0: compare even if recorded differently */
	double base_units;  /* units of work on each side; 0: unknown */
	double head_units;
	int as_measured; /* not 0: do not adjust the head to the machine's speed in the base */
	int no_rename;   /* not 0: never infer renamed functions */
	double delta; /* largest change that counts as none, as a fraction of the run; 0: 0.002 */
	double run_delta; /* likewise for the run itself; 0: 0.05 */
	/* NULL-terminated lists that need not outlive the call; NULL: none. See --map ("old=new",
	 * "old=") and --rename ("regex=text"; not with FIZEAU_MATCH_EXACT) in fizeau-diff(1). */
	const char *const *maps;
	const char *const *renames;
};

/* Compares two profiles. options may be NULL: all zero. FIZEAU_EINPUT, with the reason as message,
 * if they cannot be compared. */
FIZEAU_API int fizeau_diff_new(const struct fizeau_profile *base, const struct fizeau_profile *head,
			       const struct fizeau_diff_options *options, struct fizeau_diff **ret,
			       struct fizeau_error *err);
FIZEAU_API void fizeau_diff_free(struct fizeau_diff *d);

FIZEAU_API const char *fizeau_diff_metric(const struct fizeau_diff *d);
FIZEAU_API const char *fizeau_diff_unit(const struct fizeau_diff *d);
/* The chosen scaling (never AUTO), and the factor by which base costs are multiplied for the
 * comparison. */
FIZEAU_API enum fizeau_scale fizeau_diff_scale(const struct fizeau_diff *d);
FIZEAU_API double fizeau_diff_factor(const struct fizeau_diff *d);
/* Removed call paths with self cost: their number, and that cost as recorded. */
FIZEAU_API size_t fizeau_diff_elided_count(const struct fizeau_diff *d);
FIZEAU_API int64_t fizeau_diff_elided_time(const struct fizeau_diff *d);
/* Relevant differences between the recordings, one sentence each; NULL if index is out of range. */
FIZEAU_API const char *fizeau_diff_warning(const struct fizeau_diff *d, size_t index);

/* MOVED only occurs for nodes: new or removed, but the cost just moved from one callee to
 * another. */
enum fizeau_state { FIZEAU_COMMON = 0, FIZEAU_NEW = 1, FIZEAU_REMOVED = 2, FIZEAU_MOVED = 3 };

/* base_ and head_ are costs per run: as recorded, divided by the number of runs. diff_ = head -
 * factor * base; positive if the head costs more. */
struct fizeau_cost {
	int64_t base_self, base_total;
	int64_t head_self, head_total;
	double diff_self, diff_total;
};

struct fizeau_diff_function {
	size_t size;      /* of this struct */
	const char *name; /* canonical; as recorded with FIZEAU_MATCH_EXACT */
	const char *file; /* likewise; "" if unknown */
	int line;         /* in the head, of removed functions in the base; 0 if unknown */
	enum fizeau_state state;
	struct fizeau_cost cost; /* totals count each sample once */
};

/* Verdicts, which tell real differences from noise; see docs/statistics.md. */
enum fizeau_verdict { FIZEAU_UNKNOWN = 0, FIZEAU_UNCHANGED = 1, FIZEAU_CHANGED = 2 };
enum fizeau_run_word {
	FIZEAU_RUN_UNKNOWN = 0,
	FIZEAU_RUN_SAME = 1,
	FIZEAU_RUN_SLOWER = 2,
	FIZEAU_RUN_FASTER = 3
};

/* Verdict on the whole run, relative to factor * base: 0.1 is 10 %. NaN if unknown, as when scaled
 * by share, which makes both runs equal. */
struct fizeau_run_verdict {
	size_t size; /* of this struct */
	enum fizeau_run_word word;
	double change, low, high; /* with its 95 % interval */
	double smallest_visible;  /* by share: that of a function with a tenth of the run */
};
FIZEAU_API int fizeau_diff_run_verdict(const struct fizeau_diff *d, struct fizeau_run_verdict *ret);

/* Verdict on a function. The intervals contain diff_self and diff_total; NaN if there is no
 * interval. */
struct fizeau_function_verdict {
	size_t size; /* of this struct */
	enum fizeau_verdict self, total;
	double self_low, self_high, total_low, total_high;
};
/* FIZEAU_EUSAGE if index is out of range. */
FIZEAU_API int fizeau_diff_function_verdict(const struct fizeau_diff *d, size_t index,
					    struct fizeau_function_verdict *ret);

/* How a function of the base was matched: "exact", "body", "scope", "moved", "name",
 * "neighbourhood", "mapped"; "none" if it was not. */
struct fizeau_link {
	size_t size; /* of this struct */
	const char *how;
	double score;     /* 0 to 1: confidence of an inferred link */
	const char *name; /* in the base; "" if there is none */
	const char *file;
};
FIZEAU_API int fizeau_diff_link(const struct fizeau_diff *d, size_t index, struct fizeau_link *ret);

/* A call path. Nodes are in preorder: a parent precedes its children, and nodes index .. index +
 * count - 1 are the subtree of a node. */
struct fizeau_diff_node {
	size_t size;     /* of this struct */
	size_t function; /* index for fizeau_diff_function */
	int64_t parent;  /* index of the caller's node; -1 for a root */
	size_t count;    /* nodes in the subtree, itself included */
	enum fizeau_state state;
	struct fizeau_cost cost;
};

/* Functions of both sides, by descending total of the larger side (the base scaled). */
FIZEAU_API size_t fizeau_diff_function_count(const struct fizeau_diff *d);
/* Fills *ret; FIZEAU_EUSAGE if index is out of range. */
FIZEAU_API int fizeau_diff_function(const struct fizeau_diff *d, size_t index,
				    struct fizeau_diff_function *ret);
FIZEAU_API size_t fizeau_diff_node_count(const struct fizeau_diff *d);
FIZEAU_API int fizeau_diff_node(const struct fizeau_diff *d, size_t index,
				struct fizeau_diff_node *ret);

/* ---- reports ---- */

/* Writes a report like `fizeau replay -o` and `fizeau diff -o`, with source code only if it was
 * recorded; path "-" is standard output. `format` is a name such as "text", "html", "svg", "json",
 * "folded" (profiles also "collapsed", "binary", "fz"), or NULL for that of the path's suffix. Of
 * several runs, reports have the cost of one, and recordings that of all. The file appears when it
 * is complete. */
FIZEAU_API int fizeau_profile_write(const struct fizeau_profile *p, const char *format,
				    const char *path, struct fizeau_error *err);
FIZEAU_API int fizeau_diff_write(const struct fizeau_diff *d, const char *format, const char *path,
				 struct fizeau_error *err);
/* Likewise into memory: *ret_data has *ret_size bytes followed by a zero byte; free it with
 * fizeau_free. `format` is required. */
FIZEAU_API int fizeau_profile_write_memory(const struct fizeau_profile *p, const char *format,
					   char **ret_data, size_t *ret_size,
					   struct fizeau_error *err);
FIZEAU_API int fizeau_diff_write_memory(const struct fizeau_diff *d, const char *format,
					char **ret_data, size_t *ret_size,
					struct fizeau_error *err);
FIZEAU_API void fizeau_free(void *data);

#ifdef __cplusplus
}
#endif
