/* SPDX-License-Identifier: MIT */
/* What `run` and `attach` share: options, where the recording goes, what is said at the end. */
#pragma once

#include "capture/count/count.h"
#include "capture/facts.h"
#include "capture/git.h"
#include "capture/launch.h"
#include "capture/load.h"
#include "capture/sampler.h"
#include "cli/cli.h"
#include "cli/mode.h"
#include "cli/output.h"
#include "cli/tasks.h"
#include "live/live.h"

enum { FZ_CLOCK_NONE = -1 };

enum fz_native_kind { FZ_NATIVE_NONE, FZ_NATIVE_MARKERS, FZ_NATIVE_STACKS };
extern const char *const fz_native_names[];

struct fz_record_options {
	struct fz_rate rate;
	double duration; /* seconds; 0: until the process ends */
	bool all_threads, blocking, realtime_stats;
	bool no_gc, opcodes;
	struct fz_cli_tasks async;
	enum fz_python_tasks tasks; /* which follow from them; set by fz_record_check */
	int native;                 /* enum fz_native_kind */
	int mode;  /* index in fz_cli_mode_names; FZ_CLI_MODE_NONE: as the clock has it */
	int clock; /* enum fz_clock; FZ_CLOCK_NONE: as the mode has it */
	bool no_source;
	bool subprocesses;
	bool live;         /* show what is recorded while it is */
	bool look_only;    /* keep no recording unless one is asked for */
	bool count, cache; /* under Valgrind, instead of sampling */
	int engine;        /* enum fz_counter_engine: what counts there */
	struct fz_cli_output output;
};

#define FZ_RECORD_DEFAULTS                                                        \
	((struct fz_record_options){ .rate = { 1000000000 },                      \
				     .mode = FZ_CLI_MODE_NONE,                    \
				     .clock = FZ_CLOCK_NONE,                      \
				     .engine = FZ_COUNTER_ANY,                    \
				     .async = { .mode = FZ_CLI_ASYNC_NOT_GIVEN }, \
				     .output = FZ_CLI_OUTPUT_DEFAULTS })

int fz_record_parse_rate(const char *text, const struct fz_opt *opt, struct fz_error *err);
int fz_record_parse_duration(const char *text, const struct fz_opt *opt, struct fz_error *err);

/* The entries of the option table; o is a struct fz_record_options that lives as long. */
/* clang-format off */
#define FZ_RECORD_SAMPLING_ENTRIES(o)                                                                \
	{ .kind = FZ_OPT_GROUP, .help = "Sampling" },                                              \
	{ .kind = FZ_OPT_CALL, .short_name = 'r', .long_name = "sampling-rate",                    \
	  .argument = "RATE", .value = &(o).rate, .call = fz_record_parse_rate,                    \
	  .help = "samples a second: 1000, 2.5khz, 10k, or max (default 1khz)" },                  \
	{ .kind = FZ_OPT_CALL, .short_name = 'd', .long_name = "duration",                         \
	  .argument = "SECONDS", .value = &(o).duration, .call = fz_record_parse_duration,         \
	  .help = "stop after so many seconds (default: when the program ends)" },                 \
	{ .kind = FZ_OPT_FLAG, .short_name = 'a', .long_name = "all-threads",                      \
	  .value = &(o).all_threads,                                                               \
	  .help = "sample every thread, not only the main one" },                                  \
	{ .kind = FZ_OPT_FLAG, .long_name = "subprocesses",                                        \
	  .value = &(o).subprocesses,                                                              \
	  .help = "sample the processes that it starts as well, and theirs" },                     \
	{ .kind = FZ_OPT_CHOICE, .long_name = "mode", .argument = "MODE",                          \
	  .value = &(o).mode, .choices = fz_cli_mode_names,                                        \
	  .help = "which samples to keep: wall (default): all; cpu: of CPU time, the same as "     \
		  "--clock cpu; gil: of threads that hold the GIL; exception: of threads that "    \
		  "raise or handle an exception" },                                                \
	{ .kind = FZ_OPT_CHOICE, .long_name = "clock", .argument = "CLOCK",                        \
	  .value = &(o).clock, .choices = fz_clock_names,                                          \
	  .help = "wall: a sample each interval of time, whatever a thread does; cpu: each "       \
		  "interval of CPU time that a thread used (default: cpu for --mode cpu, else "    \
		  "wall)" },                                                                       \
	{ .kind = FZ_OPT_CHOICE, .long_name = "native", .argument = "KIND", .optional = true,      \
	  .min = FZ_NATIVE_MARKERS, .value = &(o).native, .choices = fz_native_names,              \
	  .help = "show <native> where C code lies between Python frames (markers), or the "       \
		  "native frames themselves (stacks: stops the program for each sample)" },        \
	{ .kind = FZ_OPT_FLAG, .long_name = "no-gc", .value = &(o).no_gc,                          \
	  .help = "do not show <GC> while garbage is collected" },                                 \
	{ .kind = FZ_OPT_FLAG, .long_name = "opcodes", .value = &(o).opcodes,                      \
	  .help = "record the bytecode instruction of each frame" },                               \
	FZ_CLI_TASKS_ENTRIES((o).async, "running"),                                                  \
	{ .kind = FZ_OPT_FLAG, .long_name = "task-names", .value = &(o).async.names,               \
	  .help = "of --async-aware: each task by its own name (Task-7), instead of those of one "   \
		  "coroutine, or of names that differ in a number, as one" },                      \
	{ .kind = FZ_OPT_FLAG, .long_name = "blocking", .value = &(o).blocking,                    \
	  .help = "stop the program for the moment of each sample: exact, but slows it down" },    \
	{ .kind = FZ_OPT_FLAG, .long_name = "realtime-stats", .value = &(o).realtime_stats,        \
	  .help = "a line about the sampling on stderr each second" },                             \
	{ .kind = FZ_OPT_FLAG, .long_name = "no-source", .value = &(o).no_source,                  \
	  .help = "do not store the text of executed source files" }

#define FZ_RECORD_OPTION_ENTRIES(o)                                                               \
	FZ_RECORD_SAMPLING_ENTRIES(o),                                                            \
	FZ_CLI_OUTPUT_FILE_ENTRIES((o).output),                                                    \
	FZ_CLI_OUTPUT_SWITCH_ENTRIES((o).output),                                                  \
	FZ_CLI_OUTPUT_PAGE_ENTRIES((o).output),                                                    \
	FZ_CLI_OUTPUT_TEXT_ENTRIES((o).output),                                                    \
	FZ_CLI_OUTPUT_SORT_ENTRY((o).output),                                                      \
	{ .kind = FZ_OPT_CHOICE, .long_name = "compression", .argument = "HOW",                      \
	  .value = &(o).output.compression, .choices = fz_cli_compression_names,                   \
	  .help = "of --binary: auto (default) or zstd, or none" },                                \
	FZ_CLI_OUTPUT_PSTATS_ENTRIES((o).output),                                                      \
	FZ_CLI_OUTPUT_COMPARE_ENTRIES((o).output)
/* clang-format on */

/* For commands that start the program. */
/* clang-format off */
#define FZ_COUNT_OPTION_ENTRIES(o)                                                                 \
	{ .kind = FZ_OPT_GROUP, .help = "Counting" },                                              \
	{ .kind = FZ_OPT_FLAG, .long_name = "count", .value = &(o).count,                          \
	  .help = "count instructions under Valgrind instead of sampling: slow, but the same in "  \
		  "every run" },                                                                   \
	{ .kind = FZ_OPT_FLAG, .long_name = "cache", .value = &(o).cache,                          \
	  .help = "with --count: memory accesses and cache misses as well" },                     \
	FZ_RECORD_CALLGRIND_ENTRY(o, "with --count: by")
#define FZ_RECORD_CALLGRIND_ENTRY(o, how)                                                          \
	{ .kind = FZ_OPT_SET, .long_name = "callgrind", .value = &(o).engine,                      \
	  .min = FZ_COUNTER_CALLGRIND,                                                             \
	  .help = how " Valgrind's own callgrind, which stands in where our tool was not built "   \
		  "(slower, contexts not exact)" }
/* clang-format on */

struct fz_record {
	struct fz_record_options *options;
	const char *command; /* "run", "attach" or "compare" */
	char *const *argv;   /* what was started, NULL for attach */
	const char *folder;  /* where it was started; NULL: where we are */
	char *path;          /* of the .fz that is written */
	int fd;
	bool stored;    /* in the store */
	bool temporary; /* to be removed when what was asked for is written */
	bool existed;   /* -o names a file that was there before */
	bool complete;
	bool told;      /* that the program ended before what it started */
	bool never_ran; /* the interpreter has said why; there is nothing to add or to keep */
	struct fz_profile *profile;
	struct fz_fz_writer *writer;
	struct fz_sampler sampler;
	struct fz_sampler_options sampling;
	struct fz_live *live; /* NULL: nothing is shown meanwhile */
	struct fz_git git;
	const struct fz_child *child; /* what we started; NULL for attach */
	struct fz_load_start load;    /* when it began */
	sigset_t old_mask;
	int signal_fd;
	uint64_t last_taken; /* for the realtime figures */
	int64_t last_cpu_ns;
};

/* The mode and the clock that follow from what was given, as a recording names them. */
enum fz_mode fz_record_mode(const struct fz_record_options *o);
enum fz_clock fz_record_clock(const struct fz_record_options *o);
/* Whether the options fit together and the output can be written; `diff`: it will be a diff. */
int fz_record_check(struct fz_record_options *o, bool diff, struct fz_error *err);
/* Find out that the recording can be written before anything starts; `program` names it in the
 * store. Nothing that was there is touched yet. */
int fz_record_prepare(struct fz_record *r, struct fz_record_options *options, const char *command,
		      const char *program, struct fz_error *err);
/* The same for one of several runs: a temporary file that fz_record_take reads and removes. */
int fz_record_prepare_run(struct fz_record *r, struct fz_record_options *options,
			  const char *command, struct fz_error *err);
/* From here on signals are collected instead of acted upon. */
int fz_record_catch_signals(struct fz_record *r, struct fz_error *err);
/* The process is there: set up what is recorded. `started`: by us, from r->argv. */
void fz_record_begin(struct fz_record *r, pid_t pid, int pidfd, bool started, int64_t start);
/* Begin the file; what it held before is gone from here on. */
int fz_record_begin_file(struct fz_record *r, struct fz_error *err);
/* After r->sampler has run: complete the file, say how it went. `exit_fact` is how the program
 * ended or "". Returns the exit status of attach. */
int fz_record_end(struct fz_record *r, const char *exit_fact);
/* Instead of fz_record_end: complete the file, read it, remove it. Without a sample that is an
 * error which says why. */
int fz_record_take(struct fz_record *r, const char *exit_fact, struct fz_profile **ret,
		   struct fz_error *err);
void fz_record_release(struct fz_record *r);
