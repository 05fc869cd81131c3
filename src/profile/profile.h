/* SPDX-License-Identifier: MIT */
/* The model that readers produce, recorders fill and reports show.
 *
 *   string <- function {name, file, first line} <- frame {function, position}
 *                                                    ^
 *   stack {parent stack, frame}: a prefix tree, root first. FZ_NONE is the empty stack.
 *     ^
 *   sample {run, thread, stack, time, status, weight of each metric}, in columns
 *
 * Everything is a flat array addressed by uint32_t and interned: equal content has an equal index,
 * so stacks are compared by number, and a stack shares its callers with earlier ones. Indices never
 * change (except in fz_profile_keep_used). String 0 is "".
 *
 * Samples of one thread stay in the order they were taken; statistics count samples, weights only
 * scale them. The profile owns all its memory.
 */
#pragma once

#include <sys/types.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"

enum fz_kind {
	FZ_KIND_PYTHON,
	FZ_KIND_NATIVE,
	FZ_KIND_KERNEL,
	FZ_KIND_MARKER,  /* no code: <GC>, <native>, [unreadable], [waiting for CPU] */
	FZ_KIND_TASK,    /* an asyncio task */
	FZ_KIND_UNKNOWN, /* not in the format */
	FZ_KINDS
};

/* Identity is (name, file, first_line, module, kind). */
struct fz_function {
	uint32_t name;      /* string: qualified name */
	uint32_t file;      /* string: as recorded; "" when unknown */
	uint32_t module;    /* string: shared object and build id, for native code; else "" */
	int32_t first_line; /* 0 if unknown; distinguishes functions of one name in a file */
	uint8_t kind;       /* enum fz_kind */
};

enum { FZ_NO_LINE = -1, FZ_NO_OPCODE = 255 };

struct fz_frame {
	uint32_t function;
	int32_t line, end_line;     /* FZ_NO_LINE when unknown */
	int32_t column, end_column; /* bytes from 0; FZ_NO_LINE when unknown */
	uint8_t opcode;             /* FZ_NO_OPCODE if not recorded */
};

/* A frame with nothing but a line, or FZ_NO_LINE. */
static inline struct fz_frame fz_frame_at(uint32_t function, int32_t line)
{
	return (struct fz_frame){ .function = function,
				  .line = line,
				  .end_line = FZ_NO_LINE,
				  .column = FZ_NO_LINE,
				  .end_column = FZ_NO_LINE,
				  .opcode = FZ_NO_OPCODE };
}

struct fz_stack {
	uint32_t parent; /* stack of the caller; FZ_NONE: this is a root */
	uint32_t frame;
	uint32_t depth; /* frames in the stack, 1 for a root */
};

struct fz_thread {
	uint64_t pid;    /* 0 when unknown */
	uint64_t tid;    /* as seen from the recorder's namespace */
	uint32_t interp; /* interpreter id */
	uint32_t name;   /* string, "" when unknown */
	bool is_main;
};

/* Bits of a sample's status; the values are Tachyon's, except for the last two. */
enum fz_status {
	FZ_STATUS_HAS_GIL = 1,
	FZ_STATUS_ON_CPU = 2,
	FZ_STATUS_UNKNOWN = 4, /* unknown whether on CPU */
	FZ_STATUS_GIL_REQUESTED = 8,
	FZ_STATUS_HAS_EXCEPTION = 16,
	FZ_STATUS_MAIN_THREAD = 32,
	FZ_STATUS_GC = 64, /* collecting garbage */
	/* A waiting task, in addition to another stack of its thread at the same instant; no
	 * evidence about the thread. */
	FZ_STATUS_BESIDE = 128,
};

/* A metric gives each sample a weight: from its column, or `each` for all if column is NULL. */
struct fz_metric {
	const char *name; /* "wall", "cpu", "samples", "instructions", ...; owned by the profile */
	const char *unit; /* "ns", "count", "bytes" */
	int64_t each;
	int64_t *column;
};

enum { FZ_METRICS_MAX = 32 };

/* How an execution ended. */
enum fz_outcome {
	FZ_OUTCOME_UNKNOWN,
	FZ_OUTCOME_EXIT,    /* exited with a status */
	FZ_OUTCOME_SIGNAL,  /* killed by a signal, not by us */
	FZ_OUTCOME_STOPPED, /* the time limit of the recording ended first */
	FZ_OUTCOMES
};

/* Use of the processors while a run was recorded. All 0: unknown. */
struct fz_load {
	int64_t ran_ns;       /* program's first thread on a processor */
	int64_t waited_ns;    /* first thread waiting for a processor that others used, except the
				 sampler */
	int64_t used_ns;      /* by the program and its descendants */
	int64_t others_ns;    /* by others */
	int64_t stolen_ns;    /* by other virtual machines, as far as visible */
	int64_t machine_ns;   /* of all processors, idle or not */
	int64_t unsampled_ns; /* part of used_ns in no sample: of other threads or processes */
};

/* One execution of the command. */
struct fz_run {
	int64_t start_unix_ns; /* 0 when unknown */
	int64_t duration_ns;   /* of the sampling; 0 when unknown */
	enum fz_outcome outcome;
	int32_t status; /* exit status or signal number */
	struct fz_load load;
};

struct fz_samples {
	size_t n, cap;
	bool ordered; /* in time order within each thread; false for folded text, for example */
	bool timed;   /* `time` is valid */
	bool spans; /* a sample starts at `time` and lasts for its weight in the first metric, as in
		       a trace of calls; else it was taken at `time`, and covers the time before */
	uint16_t *run; /* NULL: all of run 0 */
	uint32_t *thread;
	uint32_t *stack; /* FZ_NONE: an empty stack */
	int64_t *time;   /* ns since the run began */
	uint8_t *status;
	uint32_t *count; /* number of equal samples in a row; NULL: 1 each */
	uint32_t *label; /* in label_sets of the profile, FZ_NONE: none; NULL: none at all */
};

enum fz_mode {
	FZ_MODE_UNKNOWN,
	FZ_MODE_WALL,
	FZ_MODE_CPU,
	FZ_MODE_GIL,
	FZ_MODE_ALL = 4,
	FZ_MODE_EXCEPTION = 5
};

/* Names of the modes; "" when unknown. */
extern const char *const fz_mode_names[FZ_MODE_EXCEPTION + 1];

/* What was recorded; recordings that differ in one are not comparable. */
enum fz_feature {
	FZ_FEATURE_ALL_THREADS = 1,
	FZ_FEATURE_NATIVE = 2,
	FZ_FEATURE_GC = 4,
	FZ_FEATURE_OPCODES = 8,
	FZ_FEATURE_BLOCKING = 16,
	FZ_FEATURE_TASKS = 32,           /* stacks of asyncio's tasks */
	FZ_FEATURE_WAITING_TASKS = 64,   /* of waiting ones, too */
	FZ_FEATURE_WAITS = 128,          /* samples of CPU time, and one of each wait: waits.h */
	FZ_FEATURE_MACHINE = 256,        /* all processes, each the root of its stacks */
	FZ_FEATURE_GROWTH = 512,         /* samples are growth of the resident set, in bytes */
	FZ_FEATURE_SAMPLED_WAITS = 1024, /* samples of wall time, some in waits */
};

/* Why a sample was rejected. fz_reject_names has names for display. */
enum fz_reject {
	FZ_REJECT_CHANGED,  /* the two copies of the frames never agreed */
	FZ_REJECT_ROOT,     /* the stack walk did not end at the thread's root */
	FZ_REJECT_UNMAPPED, /* memory was not mapped */
	FZ_REJECT_CORRUPT,  /* an impossible value: a loop, a length, a pointer */
	FZ_REJECTS
};
extern const char *const fz_reject_names[FZ_REJECTS];

/* Quality of the sampling. known == false and all 0 if not in the format. */
struct fz_quality {
	bool known;
	uint64_t taken;                /* sampling instants that produced stacks */
	uint64_t retried;              /* repeated reads */
	uint64_t rejected[FZ_REJECTS]; /* samples charged to [unreadable], by reason */
	uint64_t missed; /* instants that a late recorder skipped; their time is in weights */
	int64_t longest_gap_ns;
	uint64_t dropped_bytes; /* unreadable bytes of a damaged recording */
};

static inline uint64_t fz_quality_rejected(const struct fz_quality *q)
{
	uint64_t n = 0;

	for (int i = 0; i < FZ_REJECTS; i++)
		n += q->rejected[i];
	return n;
}

/* How it was recorded. Zero or "" means unknown. */
struct fz_recording {
	enum fz_mode mode;
	bool features_known;
	unsigned features;   /* enum fz_feature bits */
	int64_t interval_ns; /* requested; 0 if not sampled in time */
	int64_t duration_ns;
	uint8_t python[3];  /* version of the interpreter: 3, 15, 0 */
	bool complete;      /* the command was recorded from start to end */
	bool reconstructed; /* the tree was reconstructed from a graph */
	double error_rate;  /* percent, as Tachyon stores it; NaN when unknown */
	double missed_rate; /* percent; NaN when unknown */
	double achieved_hz; /* NaN when unknown */
};

/* A named fact about the recording, both strings: "command", "cwd", "host", "cpu",
 * "git.commit", "git.branch", "git.dirty", "program", "python", "clock", "notes", "fizeau". */
struct fz_fact {
	uint32_t key, value;
};

/* Largest stored source file, and all together. */
enum { FZ_SOURCE_MAX_BYTES = 1 << 20, FZ_SOURCES_MAX_BYTES = 16 << 20 };

/* Text of a source file as it was when the program ran. */
struct fz_source_text {
	uint32_t file; /* string: same as fz_function.file */
	uint32_t size;
	const char *text; /* terminated; owned by the profile */
};

/* The file that a profile was read from. Determines whose rights apply when reading files it names,
 * and how old these must be to be the ones that ran. */
struct fz_stored {
	bool known;              /* it was a file */
	bool has_sources;        /* its format stores sources, so missing ones were omitted */
	int64_t written_unix_ns; /* when the last byte was written */
	uid_t owner;
	gid_t group;
};

/* Limits of a profile; a reader fails with FZ_ELIMIT beyond. */
struct fz_limits {
	uint32_t strings, functions, frames, stacks, threads;
	uint64_t samples;
	uint64_t free_samples; /* allowed for files of any size; larger files may have more */
	uint64_t string_bytes;
};
extern const struct fz_limits fz_limits_default;

/* A thread let another one continue: by releasing a lock, sending what it waited for, or starting
 * it. Releasing the GIL does not count, because the program does not choose which thread gets it
 * next. The longest chain of a run consists of wakes (critical.h).
 *
 *   worker   ======refresh======>|
 *   main     ....<lock wait>.....|===== ...        a wake of main, by worker, at the bar
 */
struct fz_wake {
	int64_t time;    /* ns since the run began; equals the time of the wait's sample */
	uint32_t thread; /* the thread that continued or started */
	uint32_t by;     /* the thread that woke it */
	uint16_t run;
};

struct fz_wakes {
	struct fz_wake *list;
	size_t n, cap;
};

void fz_wakes_add(struct fz_wakes *w, const struct fz_wake *wake);
/* Keeps wakes with from <= time <= to, relative to `from`. */
void fz_wakes_keep_range(struct fz_wakes *w, int64_t from, int64_t to);

/* One timing of a constant piece of work, from which the speed of the machine is known (speed.h).
 */
struct fz_speed_probe {
	uint16_t run;
	uint16_t cpu;
	int64_t time;  /* ns since the run began */
	uint32_t cost; /* CPU time of the piece, ns; above 0 */
};

/* In order of run and time. */
struct fz_speed_track {
	struct fz_speed_probe *probes;
	size_t n, cap;
};

struct fz_profile {
	struct fz_arena arena;
	const struct fz_limits *limits;

	struct fz_str *strings;
	uint32_t string_count, string_cap;
	struct fz_function *functions;
	uint32_t function_count, function_cap;
	struct fz_frame *frames;
	uint32_t frame_count, frame_cap;
	struct fz_stack *stacks;
	uint32_t stack_count, stack_cap;
	struct fz_thread *threads;
	uint32_t thread_count, thread_cap;
	struct fz_run *runs;
	uint32_t run_count, run_cap;
	struct fz_metric metrics[FZ_METRICS_MAX];
	uint32_t metric_count;
	uint32_t default_metric;
	bool metric_chosen; /* chosen by the user: formats that would store numbers of samples store
			       its values */
	bool metric_line;   /* folded text starts with its name and unit, unless it is samples */
	struct fz_samples samples;
	struct fz_str *label_sets; /* of samples, distinct */
	uint32_t label_set_count, label_set_cap;
	struct fz_recording recording;
	struct fz_quality quality;
	struct fz_stored stored;
	struct fz_fact *facts;
	uint32_t fact_count, fact_cap;
	struct fz_source_text *sources;
	uint32_t source_count, source_cap;
	uint32_t disk_source_count; /* the last ones, which were read from disk for a report, not
				       recorded */
	struct fz_callgraph *callgraph; /* graph that the tree was reconstructed from, while
					   complete; see callgraph.h */
	struct fz_speed_track speed;    /* the machine's speed during the recording */
	struct fz_wakes wakes;          /* the ends of waits; none once a sample was removed */
	uint32_t skipped_lines;         /* malformed lines of a text format */
	/* For text whose numbers have no unit: the user's unit, set before reading (0: none; names
	 * in format.h), and whether this was such text. */
	struct {
		uint8_t unit;
		bool bare;
	} numbers;
	/* For an extracted range of time: fz_profile_times of the recording that it is from. */
	uint64_t range_of;
	bool per_run;   /* weights are per run; see per_run.h */
	bool per_round; /* wall times of benchmarks are per round */

	/* interning; private to profile.c */
	struct fz_map string_map, function_map, frame_map, stack_map, thread_map, label_map;
	uint64_t magnitude[FZ_METRICS_MAX]; /* sums of absolute weights, to keep every sum in range
					     */
	bool over_limit;
	/* source while reading, whose limit additions count towards; or NULL */
	struct fz_input *input;
};

struct fz_profile *fz_profile_new(void);
/* Returns a modifiable copy with the same indices. It shares the bytes of strings and sources with
 * p, which must outlive it. */
struct fz_profile *fz_profile_copy(const struct fz_profile *p);
void fz_profile_free(struct fz_profile *p);
void fz_profile_freep(struct fz_profile **p); /* for fz_auto */

/* Accounts for more memory. False, and sets over_limit, if that exceeds the limit for its file. */
bool fz_profile_takes(struct fz_profile *p, uint64_t bytes);
/* fz_grow for the tables of a reader. */
#define fz_profile_grow(p, arr, len, cap)                                             \
	do {                                                                          \
		if ((len) >= (cap))                                                   \
			fz_profile_takes((p), ((cap) ? (cap) : 16) * sizeof(*(arr))); \
		fz_grow((arr), (len), (cap));                                         \
	} while (0)
#define fz_profile_push(p, arr, len, cap, ...)     \
	do {                                       \
		fz_profile_grow(p, arr, len, cap); \
		(arr)[(len)++] = __VA_ARGS__;      \
	} while (0)

/* Interning. Beyond a limit these return index 0 (a valid string, function, ...) and set
 * over_limit, which fz_profile_check reports: readers need not test every call. */
uint32_t fz_profile_string(struct fz_profile *p, struct fz_str s);
uint32_t fz_profile_function(struct fz_profile *p, const struct fz_function *f);
uint32_t fz_profile_frame(struct fz_profile *p, const struct fz_frame *f);
uint32_t fz_profile_stack(struct fz_profile *p, uint32_t parent, uint32_t frame);
/* Drops stacks without samples in themselves or callees, and renumbers the others. */
void fz_profile_keep_used(struct fz_profile *p);
/* Identity of a thread is (pid, tid, interp); a later name or main flag is filled in. */
uint32_t fz_profile_thread(struct fz_profile *p, const struct fz_thread *t);
/* FZ_ELIMIT if anything exceeded a limit since the profile was created. */
int fz_profile_check(const struct fz_profile *p, struct fz_error *err);

/* Shorthand: a frame known by names and line only. */
uint32_t fz_profile_frame_named(struct fz_profile *p, struct fz_str name, struct fz_str file,
				int32_t line, enum fz_kind kind);
static inline struct fz_str fz_profile_text(const struct fz_profile *p, uint32_t string)
{
	return p->strings[string];
}

/* The function that a stack ends in. */
static inline const struct fz_function *fz_profile_stack_function(const struct fz_profile *p,
								  uint32_t stack)
{
	return &p->functions[p->frames[p->stacks[stack].frame].function];
}

/* Whether a stack ends in the collection of garbage. */
static inline bool fz_profile_stack_collects(const struct fz_profile *p, uint32_t stack)
{
	const struct fz_function *f = fz_profile_stack_function(p, stack);

	return f->kind == FZ_KIND_MARKER && fz_str_eq(p->strings[f->name], FZ_STR("<GC>"));
}

/* The file of fz_function.module, without the build id after it. */
struct fz_str fz_module_file(struct fz_str module);

/* Call before adding samples. Returns the index. With has_column each sample has its own weight. */
uint32_t fz_profile_add_metric(struct fz_profile *p, struct fz_str name, struct fz_str unit,
			       int64_t each, bool has_column);
/* Adds the metric "samples", at any time; FZ_NONE if there is no room. */
uint32_t fz_profile_count_samples(struct fz_profile *p);
/* Index of the metric with that name, or FZ_NONE. */
uint32_t fz_profile_find_metric(const struct fz_profile *p, struct fz_str name);
void fz_profile_add_run(struct fz_profile *p, const struct fz_run *run);

struct fz_sample {
	uint16_t run;
	uint32_t thread;
	uint32_t stack;
	int64_t time;
	uint8_t status;
	uint32_t count; /* 0 or 1: one */
	/* "key=value\0..." as in the file, whatever it contains; kept only until the profile is
	 * copied. */
	struct fz_str labels;
};
/* weights: one for each metric with a column, in order of the metrics; NULL if there are none. */
void fz_profile_add_sample(struct fz_profile *p, const struct fz_sample *s, const int64_t *weights);
static inline uint32_t fz_sample_count(const struct fz_profile *p, size_t row)
{
	return p->samples.count ? p->samples.count[row] : 1;
}
/* As index of a metric: the number of samples, which every profile has. */
#define FZ_METRIC_SAMPLES (UINT32_MAX - 1)
static inline int64_t fz_sample_weight(const struct fz_profile *p, uint32_t metric, size_t row)
{
	if (metric == FZ_METRIC_SAMPLES)
		return fz_sample_count(p, row);
	const struct fz_metric *m = &p->metrics[metric];
	return m->column ? m->column[row] : m->each * (int64_t)fz_sample_count(p, row);
}
/* Duration of a sample that starts at its time, ns; 0 if samples are instants. */
static inline int64_t fz_sample_span(const struct fz_profile *p, size_t row)
{
	return p->samples.spans && p->metric_count && p->metrics[0].column &&
			       p->metrics[0].column[row] > 0
		       ? p->metrics[0].column[row]
		       : 0;
}
/* End of a sample. */
static inline int64_t fz_sample_end(const struct fz_profile *p, size_t row)
{
	int64_t end;

	return __builtin_add_overflow(p->samples.time[row], fz_sample_span(p, row), &end)
		       ? INT64_MAX
		       : end;
}
/* Number of samples that count in a metric: with several kinds of events, each kind has rows of its
 * own, whose weight in the other metrics is 0. */
static inline uint32_t fz_sample_count_in(const struct fz_profile *p, uint32_t metric, size_t row)
{
	bool other = metric != FZ_METRIC_SAMPLES && p->metric_count > 1 &&
		     p->metrics[metric].column && !p->metrics[metric].column[row];

	return other ? 0 : fz_sample_count(p, row);
}
/* Whether a sample has a weight other than 0. */
bool fz_profile_has_values(const struct fz_profile *p, uint32_t metric);
/* Number of samples, including the counts of rows. */
uint64_t fz_profile_sample_total(const struct fz_profile *p);

/* Sets or replaces a fact; the value "" removes it. */
void fz_profile_set_fact(struct fz_profile *p, const char *key, struct fz_str value);
/* "" if absent. */
struct fz_str fz_profile_fact(const struct fz_profile *p, const char *key);
/* Whether we recorded it: then weights are elapsed time, and parts of it, such as a range of time,
 * also have samples at an even interval. */
bool fz_profile_is_ours(const struct fz_profile *p);
/* Adds a remark that readers of the figures need to the fact "notes". The text has no full stop. */
void fz_profile_note(struct fz_profile *p, const char *fmt, ...) FZ_PRINTF(2, 3);
/* Stores a copy of a file's text. A second text for the same file is ignored. */
void fz_profile_add_source(struct fz_profile *p, uint32_t file, struct fz_str text);
/* Number of recorded sources, which precede those read from disk. Matching uses only these. */
static inline uint32_t fz_profile_recorded_sources(const struct fz_profile *p)
{
	fz_assert(p->disk_source_count <= p->source_count);
	return p->source_count - p->disk_source_count;
}
const struct fz_source_text *fz_profile_source(const struct fz_profile *p, uint32_t file);
