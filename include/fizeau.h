/* SPDX-License-Identifier: MIT */
/* libfizeau: load or build profiles, merge them, compare them, read the result, write reports.
 *
 *	struct fizeau_error err;
 *	struct fizeau_profile *base, *head;
 *	struct fizeau_diff *diff;
 *
 *	if (fizeau_profile_load("before.fz", &base, &err) ||
 *	    fizeau_profile_load("after.fz", &head, &err) ||
 *	    fizeau_diff_new(base, head, NULL, &diff, &err))
 *		fprintf(stderr, "%s\n", err.message);
 *
 * examples/compare.c is a whole program.
 *
 * Errors. A function that can fail returns 0 or a negative enum fizeau_status and then describes
 * the failure in the caller's struct fizeau_error, which may be NULL. What a function hands out
 * through a pointer named ret is set on success only. NULL where an object or a ret is wanted is
 * FIZEAU_EUSAGE, or 0, "" and NULL from what returns something else. Running out of memory ends the
 * process, after the host was told: fizeau_on_out_of_memory.
 *
 * Growth. A struct that begins with a size may get more members behind: set it to its sizeof,
 * before options are read from it or an answer is written into it, and either side may be the newer
 * one. The others stay as they are.
 *
 * Ownership. What a function named _new, _load, _build or _merge returns belongs to the caller, who
 * gives it back to the _free of the same type; NULL is allowed there. Every string and struct that
 * is handed out belongs to the object that was asked, and lives as long. A diff refers to its two
 * profiles: free it first.
 *
 * Threads. Different objects may be used in different threads at the same time. One object may be
 * read by several threads, because reading changes nothing; whoever changes or frees it must be
 * alone with it. The handler for out of memory is one for all threads. No call changes the locale,
 * the signals, the environment or the current folder of the process.
 *
 * Text is UTF-8 where the profile was; names come from the programs that were profiled and may hold
 * anything, control characters and line ends included.
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

/* Of this header. */
#define FIZEAU_VERSION_MAJOR 0
#define FIZEAU_VERSION_MINOR 1
#define FIZEAU_VERSION_PATCH 0
/* "0.1.0": of the library that is running. */
FIZEAU_API const char *fizeau_version(void);

/* ---- errors ---- */

enum fizeau_status {
	FIZEAU_OK = 0,
	FIZEAU_EINPUT = -1,       /* a file does not hold what it should; not comparable */
	FIZEAU_ELIMIT = -2,       /* larger than is accepted */
	FIZEAU_ESYSTEM = -3,      /* a system call failed: sys_errno */
	FIZEAU_EPERM = -4,        /* not allowed to read or write a file */
	FIZEAU_EUNSUPPORTED = -6, /* understood, but not possible */
	FIZEAU_EUSAGE = -7        /* a wrong argument */
};

struct fizeau_error {
	int code;           /* enum fizeau_status */
	int sys_errno;      /* errno where a system call failed, else 0 */
	char message[1024]; /* one line, safe to print */
};

/* Called, in whichever thread, when there is no memory for so many bytes. When it returns, the
 * process is aborted. NULL: nothing is called. */
FIZEAU_API void fizeau_on_out_of_memory(void (*handler)(size_t bytes));

/* ---- profiles ---- */

struct fizeau_profile;

/* Read a profile in any format that is known, plain or packed by gzip or zstd; "-" is standard
 * input. */
FIZEAU_API int fizeau_profile_load(const char *path, struct fizeau_profile **ret,
				   struct fizeau_error *err);
/* The same from memory, which need not outlive the call. `name` stands in error messages. */
FIZEAU_API int fizeau_profile_load_memory(const void *data, size_t size, const char *name,
					  struct fizeau_profile **ret, struct fizeau_error *err);
FIZEAU_API void fizeau_profile_free(struct fizeau_profile *p);

/* Several recordings of the same command as one of several runs, in this order. FIZEAU_EINPUT when
 * they were made in different ways. */
FIZEAU_API int fizeau_profile_merge(const struct fizeau_profile *const profiles[], size_t count,
				    struct fizeau_profile **ret, struct fizeau_error *err);
/* Fold recursion in it: a call of a function that is on the stack already goes back to that frame.
 * What a function cost stays the same. FIZEAU_ELIMIT when there is no room for the new stacks. */
FIZEAU_API int fizeau_profile_fold_recursion(struct fizeau_profile *p, struct fizeau_error *err);
/* Executions of the command that it holds, at least 1. */
FIZEAU_API size_t fizeau_profile_run_count(const struct fizeau_profile *p);

/* The metric that costs are given in ("wall", "cpu", "samples", ...) and its unit. */
FIZEAU_API const char *fizeau_profile_metric(const struct fizeau_profile *p);
FIZEAU_API const char *fizeau_profile_unit(const struct fizeau_profile *p);
/* Number of samples, and the cost of all of them. */
FIZEAU_API uint64_t fizeau_profile_samples(const struct fizeau_profile *p);
FIZEAU_API int64_t fizeau_profile_total(const struct fizeau_profile *p);
/* What the recorder noted: "command", "python", "git.commit", ...; "" when it did not. */
FIZEAU_API const char *fizeau_profile_fact(const struct fizeau_profile *p, const char *key);

struct fizeau_function {
	const char *name; /* qualified */
	const char *file; /* as recorded; "" when unknown */
	int line;         /* first line where known, else the hottest; 0 when unknown */
	int64_t self;     /* cost of the samples that ended in it */
	int64_t total;    /* of those it was in: once a sample, however often it recurs */
};

/* Functions that were in a sample, by falling total. */
FIZEAU_API size_t fizeau_profile_function_count(const struct fizeau_profile *p);
/* NULL when index is not below the count. */
FIZEAU_API const struct fizeau_function *fizeau_profile_function(const struct fizeau_profile *p,
								 size_t index);

/* ---- building a profile, sample by sample ---- */

struct fizeau_builder;

struct fizeau_builder_options {
	size_t size;         /* of this struct */
	const char *metric;  /* "wall", "cpu", "instructions", ...; NULL: "samples" */
	const char *unit;    /* "ns", "count" or "bytes"; NULL: "count" */
	int64_t interval_ns; /* between samples; 0: not sampled in time */
	int complete;        /* not 0: the command was recorded from its start to its end */
	int ordered; /* not 0: samples are added as they were taken, so noise can be judged by it */
};

/* options may be NULL: all zero. */
FIZEAU_API int fizeau_builder_new(const struct fizeau_builder_options *options,
				  struct fizeau_builder **ret, struct fizeau_error *err);
/* The samples that follow belong to another run, of 65,536 at most. */
FIZEAU_API void fizeau_builder_next_run(struct fizeau_builder *b);
/* When the run began, in ns since 1970: so a comparison knows that runs were taken in turn. */
FIZEAU_API void fizeau_builder_began(struct fizeau_builder *b, int64_t unix_ns);
/* What there is to know about the recording: "command", "program", "git.commit", ... */
FIZEAU_API void fizeau_builder_fact(struct fizeau_builder *b, const char *key, const char *value);

struct fizeau_frame {
	const char *name;
	const char *file; /* NULL: unknown */
	int line;         /* where it was; 0: unknown */
};

/* A sample of the main thread: frames from the outermost to the one that ran, and what it costs,
 * which may be below 0 (memory that was given back). FIZEAU_EUSAGE: a frame without a name. */
FIZEAU_API int fizeau_builder_add(struct fizeau_builder *b, const struct fizeau_frame *frames,
				  size_t count, int64_t cost);
/* The profile, as if it had been loaded. The builder is gone, also when that fails: FIZEAU_ELIMIT
 * when there was more than a profile may hold. */
FIZEAU_API int fizeau_builder_build(struct fizeau_builder *b, struct fizeau_profile **ret,
				    struct fizeau_error *err);
/* Without a profile; NULL is allowed. */
FIZEAU_API void fizeau_builder_free(struct fizeau_builder *b);

/* ---- diffs ---- */

struct fizeau_diff;

enum fizeau_match {
	FIZEAU_MATCH_FULL = 0,  /* canonical names, then moved and renamed functions, wrappers */
	FIZEAU_MATCH_NAMES = 1, /* canonical names: another checkout or Python version compares */
	FIZEAU_MATCH_EXACT = 2  /* file and function as recorded, as CPython's profiler compares */
};

enum fizeau_scale {
	FIZEAU_SCALE_AUTO = 0,      /* unit with units; else by what was measured: fizeau-diff(1) */
	FIZEAU_SCALE_TIME = 1,      /* as measured; sample counts by the ratio of the intervals */
	FIZEAU_SCALE_SHARE = 2,     /* both totals made equal */
	FIZEAU_SCALE_REFERENCE = 3, /* what most functions agree on taken as unchanged */
	FIZEAU_SCALE_UNIT = 4,      /* for each unit of work: base_units and head_units */
	FIZEAU_SCALE_WINDOW = 5,    /* for each second that was recorded */
	FIZEAU_SCALE_AMOUNT = 6     /* memory and events as they are */
};

struct fizeau_diff_options {
	size_t size; /* of this struct */
	enum fizeau_match match;
	enum fizeau_scale scale;
	const char *metric; /* NULL: the head's, or else one that both have */
	int force;          /* not 0: compare what was recorded in different ways */
	double base_units;  /* of work that each side did; 0: unknown */
	double head_units;
	int as_measured;  /* not 0: the head not at the speed that the machine had for the base */
	int no_rename;    /* not 0: never take a function for a renamed one */
	double delta;     /* changes up to it are none: part of the run; 0: 0.002 */
	double run_delta; /* the same for the run itself; 0: 0.05 */
	/* Lists that end in NULL and need not outlive the call; NULL: none. As fizeau-diff(1) says
	 * of
	 * --map ("old=new", "old=") and --rename ("regex=text"; not with FIZEAU_MATCH_EXACT). */
	const char *const *maps;
	const char *const *renames;
};

/* Compare two profiles. options may be NULL: all zero. FIZEAU_EINPUT when the two cannot be
 * compared; the message then says why. */
FIZEAU_API int fizeau_diff_new(const struct fizeau_profile *base, const struct fizeau_profile *head,
			       const struct fizeau_diff_options *options, struct fizeau_diff **ret,
			       struct fizeau_error *err);
FIZEAU_API void fizeau_diff_free(struct fizeau_diff *d);

FIZEAU_API const char *fizeau_diff_metric(const struct fizeau_diff *d);
FIZEAU_API const char *fizeau_diff_unit(const struct fizeau_diff *d);
/* The scaling in force (never AUTO), and what base costs are multiplied by before they are
 * compared. */
FIZEAU_API enum fizeau_scale fizeau_diff_scale(const struct fizeau_diff *d);
FIZEAU_API double fizeau_diff_factor(const struct fizeau_diff *d);
/* Call paths that are gone and had self cost: how many, and that cost as recorded. */
FIZEAU_API size_t fizeau_diff_elided_count(const struct fizeau_diff *d);
FIZEAU_API int64_t fizeau_diff_elided_time(const struct fizeau_diff *d);
/* Differences between the recordings that matter, one sentence each; NULL beyond the last. */
FIZEAU_API const char *fizeau_diff_warning(const struct fizeau_diff *d, size_t index);

/* MOVED, of nodes only: new or removed, but its cost only went from one callee to another. */
enum fizeau_state { FIZEAU_COMMON = 0, FIZEAU_NEW = 1, FIZEAU_REMOVED = 2, FIZEAU_MOVED = 3 };

/* base_ and head_ are costs of one run: those recorded, divided by the number of runs.
 * diff_ = head - factor * base: above 0 costs more. */
struct fizeau_cost {
	int64_t base_self, base_total;
	int64_t head_self, head_total;
	double diff_self, diff_total;
};

struct fizeau_diff_function {
	size_t size;      /* of this struct */
	const char *name; /* canonical; as recorded with FIZEAU_MATCH_EXACT */
	const char *file; /* the same; "" when unknown */
	int line;         /* in the head, of removed functions in the base; 0 when unknown */
	enum fizeau_state state;
	struct fizeau_cost cost; /* a total counts a sample once */
};

/* Which differences are real; docs/statistics.md says how that is decided. */
enum fizeau_verdict { FIZEAU_UNKNOWN = 0, FIZEAU_UNCHANGED = 1, FIZEAU_CHANGED = 2 };
enum fizeau_run_word {
	FIZEAU_RUN_UNKNOWN = 0,
	FIZEAU_RUN_SAME = 1,
	FIZEAU_RUN_SLOWER = 2,
	FIZEAU_RUN_FASTER = 3
};

/* Of the whole run, relative to factor * base: 0.1 is 10 %. NaN where that is not known: by share
 * both runs were made equal. */
struct fizeau_run_verdict {
	size_t size; /* of this struct */
	enum fizeau_run_word word;
	double change, low, high; /* with its 95 % interval */
	double smallest_visible;  /* by share: of a function with a tenth of the run */
};
FIZEAU_API int fizeau_diff_run_verdict(const struct fizeau_diff *d, struct fizeau_run_verdict *ret);

/* Of a function; the interval lies around diff_self or diff_total, NaN when there is none. */
struct fizeau_function_verdict {
	size_t size; /* of this struct */
	enum fizeau_verdict self, total;
	double self_low, self_high, total_low, total_high;
};
/* FIZEAU_EUSAGE when index is not below the count of functions. */
FIZEAU_API int fizeau_diff_function_verdict(const struct fizeau_diff *d, size_t index,
					    struct fizeau_function_verdict *ret);

/* How a function of the base was found again. */
struct fizeau_link {
	size_t size;      /* of this struct */
	const char *how;  /* "exact", "moved", "name", "neighbourhood", "mapped"; "none" */
	double score;     /* 0 to 1: how sure an inferred link is */
	const char *name; /* in the base; "" where there is none */
	const char *file;
};
FIZEAU_API int fizeau_diff_link(const struct fizeau_diff *d, size_t index, struct fizeau_link *ret);

/* A path of calls. Nodes are in preorder: a parent comes before its children, and the nodes
 * index .. index + count - 1 are a node with everything below it. */
struct fizeau_diff_node {
	size_t size;     /* of this struct */
	size_t function; /* index for fizeau_diff_function */
	int64_t parent;  /* index of the caller's node; -1 for a root */
	size_t count;    /* nodes, itself and everything below */
	enum fizeau_state state;
	struct fizeau_cost cost;
};

/* Functions of both sides, by falling total of the larger side (the base scaled). */
FIZEAU_API size_t fizeau_diff_function_count(const struct fizeau_diff *d);
/* Fill *ret; FIZEAU_EUSAGE when index is not below the count. */
FIZEAU_API int fizeau_diff_function(const struct fizeau_diff *d, size_t index,
				    struct fizeau_diff_function *ret);
FIZEAU_API size_t fizeau_diff_node_count(const struct fizeau_diff *d);
FIZEAU_API int fizeau_diff_node(const struct fizeau_diff *d, size_t index,
				struct fizeau_diff_node *ret);

/* ---- reports ---- */

/* Write a file as `fizeau replay` and `fizeau diff` do; path "-" is standard output. `format` is a
 * name such as "text", "html", "svg", "json", "folded" (profiles also "collapsed", "binary", "fz"),
 * or NULL for the one that the path's suffix names. The file appears when it is complete. */
FIZEAU_API int fizeau_profile_write(const struct fizeau_profile *p, const char *format,
				    const char *path, struct fizeau_error *err);
FIZEAU_API int fizeau_diff_write(const struct fizeau_diff *d, const char *format, const char *path,
				 struct fizeau_error *err);
/* The same into memory: *ret_data has *ret_size bytes and a zero behind them, and is given back to
 * fizeau_free. `format` must be named. */
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
