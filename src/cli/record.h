/* SPDX-License-Identifier: MIT */
/* Shared by `run` and `attach`: options, output file, summary. */
#pragma once

#include "cli/cli.h"
#include "cli/mode.h"
#include "cli/output.h"
#include "cli/tasks.h"
#include "record/record.h"

enum { FZ_CLOCK_NONE = -1 };

extern const char *const fz_native_names[]; /* by enum fz_native_kind */

struct fz_cli_record {
	struct fz_record_options how; /* complete after fz_cli_record_check */
	struct fz_cli_tasks async;
	int mode;  /* index in fz_cli_mode_names; FZ_CLI_MODE_NONE: by the clock */
	int clock; /* enum fz_clock; FZ_CLOCK_NONE: by the mode */
	bool realtime_stats;
	bool live;      /* show the live view */
	bool look_only; /* keep no recording unless one is requested */
	struct fz_cli_output output;
};

#define FZ_CLI_RECORD_DEFAULTS                                                \
	((struct fz_cli_record){ .how = FZ_RECORD_DEFAULTS,                   \
				 .mode = FZ_CLI_MODE_NONE,                    \
				 .clock = FZ_CLOCK_NONE,                      \
				 .async = { .mode = FZ_CLI_ASYNC_NOT_GIVEN }, \
				 .output = FZ_CLI_OUTPUT_DEFAULTS })

int fz_cli_parse_rate(const char *text, const struct fz_opt *opt, struct fz_error *err);
int fz_cli_parse_duration(const char *text, const struct fz_opt *opt, struct fz_error *err);
/* The same, but 0 is valid and means the shortest possible time. */
int fz_cli_parse_time(const char *text, const struct fz_opt *opt, struct fz_error *err);

/* Entries for a command's option table; o is a struct fz_cli_record that outlives it. */
/* clang-format off */
#define FZ_RECORD_SAMPLING_ENTRIES(o)                                                              \
	{ .kind = FZ_OPT_GROUP, .help = "Sampling" },                                              \
	{ .kind = FZ_OPT_CALL, .short_name = 'r', .common = true, .long_name = "sampling-rate",    \
	  .argument = "RATE", .value = &(o).how.rate, .call = fz_cli_parse_rate,                   \
	  .help = "samples per second: 1000, 2.5khz, 10k or max (default 1khz)" },                 \
	{ .kind = FZ_OPT_CALL, .short_name = 'd', .common = true, .long_name = "duration",         \
	  .argument = "SECONDS", .value = &(o).how.duration, .call = fz_cli_parse_time,            \
	  .help = "stop after SECONDS (default: when the program ends)" },                         \
	{ .kind = FZ_OPT_FLAG, .short_name = 'a', .common = true, .long_name = "all-threads",      \
	  .value = &(o).how.all_threads,                                                           \
	  .help = "sample every thread, not only the main thread" },                               \
	{ .kind = FZ_OPT_FLAG, .common = true, .long_name = "subprocesses",                        \
	  .value = &(o).how.subprocesses,                                                          \
	  .help = "also sample child processes, recursively" },                                    \
	{ .kind = FZ_OPT_CHOICE, .common = true, .long_name = "mode", .argument = "MODE",          \
	  .value = &(o).mode, .choices = fz_cli_mode_names,                                        \
	  .help = "which samples to record: wall (default): all; cpu: CPU time (same as "          \
		  "--clock cpu); gil: threads that hold the GIL; exception: threads that "         \
		  "raise or handle an exception" },                                                \
	{ .kind = FZ_OPT_CHOICE, .long_name = "clock", .argument = "CLOCK",                        \
	  .value = &(o).clock, .choices = fz_clock_names,                                          \
	  .help = "sampling clock: wall: a sample per interval of wall time; cpu: a sample "       \
		  "per interval of CPU time used by the thread (default: cpu with --mode cpu, "    \
		  "else wall)" },                                                                  \
	{ .kind = FZ_OPT_CHOICE, .long_name = "engine", .argument = "ENGINE",                      \
	  .value = &(o).how.sampled_by, .choices = fz_engine_choices,                              \
	  .help = "stack reader: read (default without --wait): from outside; bpf: in the "        \
		  "kernel, for --mode cpu and --wait, needs root; auto: bpf if it supports "       \
		  "the given options, else read" },                                                \
	{ .kind = FZ_OPT_CHOICE, .common = true, .long_name = "native", .argument = "KIND", .optional = true, \
	  .min = FZ_NATIVE_MARKERS, .value = &(o).how.native, .choices = fz_native_names,          \
	  .help = "record C code between Python frames: markers (default KIND): show it as "       \
		  "<native>; stacks: record native frames, which stops the program during "        \
		  "each sample" },                                                                 \
	{ .kind = FZ_OPT_FLAG, .long_name = "no-gc", .value = &(o).how.no_gc,                      \
	  .help = "do not show <GC> during garbage collection" },                                  \
	{ .kind = FZ_OPT_FLAG, .long_name = "opcodes", .value = &(o).how.opcodes,                  \
	  .help = "record the current bytecode instruction of each frame" },                       \
	FZ_CLI_TASKS_ENTRIES((o).async, "running"),                                                \
	{ .kind = FZ_OPT_FLAG, .long_name = "task-names", .value = &(o).async.names,               \
	  .help = "with --async-aware: keep tasks apart by name (Task-7) instead of merging "      \
		  "tasks of one coroutine and names that differ only in a number" },               \
	{ .kind = FZ_OPT_FLAG, .long_name = "blocking", .value = &(o).how.blocking,                \
	  .help = "stop the program during each sample: exact, but slower" },                      \
	{ .kind = FZ_OPT_FLAG, .long_name = "realtime-stats", .value = &(o).realtime_stats,        \
	  .help = "print sampling statistics to standard error every second" },                    \
	{ .kind = FZ_OPT_FLAG, .long_name = "no-source", .value = &(o).how.no_source,              \
	  .help = "do not store source code in the recording" }

#define FZ_RECORD_OPTION_ENTRIES(o)                                                                \
	FZ_RECORD_SAMPLING_ENTRIES(o),                                                             \
	{ .kind = FZ_OPT_FLAG, .common = true, .long_name = "wait", .value = &(o).how.waits,       \
	  .help = "also record every wait: duration, reason, who ended it (needs root); "          \
		  "without root or with --engine read, sample the reasons" },                      \
	{ .kind = FZ_OPT_FLAG, .long_name = "pagefaults", .value = &(o).how.growth,                \
	  .help = "profile resident-memory growth instead of time (needs root)" },                 \
	{ .kind = FZ_OPT_STRING, .long_name = "control", .argument = "URI",                        \
	  .value = &(o).how.control,                                                               \
	  .help = "accept enable, disable, status and quit on this socket (unix:PATH)" },          \
	{ .kind = FZ_OPT_FLAG, .long_name = "paused", .value = &(o).how.paused,                    \
	  .help = "start without sampling; wait for enable on the --control socket" },             \
	FZ_CLI_OUTPUT_FILE_ENTRIES((o).output),                                                    \
	FZ_CLI_OUTPUT_TREE_ENTRIES((o).output),                                                    \
	FZ_CLI_OUTPUT_SWITCH_ENTRIES((o).output),                                                  \
	FZ_CLI_OUTPUT_PAGE_ENTRIES((o).output),                                                    \
	FZ_CLI_OUTPUT_TEXT_ENTRIES((o).output),                                                    \
	FZ_CLI_OUTPUT_SORT_ENTRY((o).output),                                                      \
	{ .kind = FZ_OPT_CHOICE, .long_name = "compression", .argument = "HOW",                    \
	  .value = &(o).output.compression, .choices = fz_cli_compression_names,                   \
	  .help = "compression of --binary: auto (default), zstd or none" },                       \
	FZ_CLI_OUTPUT_PSTATS_ENTRIES((o).output),                                                  \
	FZ_CLI_OUTPUT_COMPARE_ENTRIES((o).output),                                                 \
	FZ_CLI_OUTPUT_SOURCE_ROOT_ENTRY((o).output)
/* clang-format on */

/* For commands that start the program. */
/* clang-format off */
#define FZ_COUNT_OPTION_ENTRIES(o)                                                                 \
	{ .kind = FZ_OPT_GROUP, .help = "Counting" },                                              \
	{ .kind = FZ_OPT_FLAG, .common = true, .long_name = "count", .value = &(o).how.count,      \
	  .help = "count instructions under Valgrind instead of sampling: slow but "               \
		  "reproducible" },                                                                \
	{ .kind = FZ_OPT_FLAG, .long_name = "cache", .value = &(o).how.cache,                      \
	  .help = "with --count: also count memory accesses and cache misses" },                   \
	{ .kind = FZ_OPT_FLAG, .long_name = "memory", .value = &(o).how.memory,                    \
	  .help = "with --count: also track heap memory: peak bytes, and bytes live at the "       \
		  "end" },                                                                         \
	{ .kind = FZ_OPT_FLAG, .long_name = "interpreter-frames",                                  \
	  .value = &(o).how.interpreter_frames,                                                    \
	  .help = "with --count: include the native frames of the Python and Node interpreters" }, \
	FZ_RECORD_CALLGRIND_ENTRY(o, "with --count: use")
#define FZ_RECORD_CALLGRIND_ENTRY(o, by)                                                           \
	{ .kind = FZ_OPT_SET, .long_name = "callgrind", .value = &(o).how.engine,                  \
	  .min = FZ_COUNTER_CALLGRIND,                                                             \
	  .help = by " Valgrind's callgrind, the fallback if Fizeau's own tool is not built "      \
		     "(slower, call contexts not exact)" }
/* clang-format on */

/* Check that the options fit together and the output can be written. diff: it will be a diff. */
int fz_cli_record_check(struct fz_cli_record *o, bool diff, struct fz_error *err);
/* The same, and open the file of the recording; in the store it is named after `program`. r must be
 * initialised with o->how. */
int fz_cli_record_prepare(struct fz_record *r, struct fz_cli_record *o, const char *program,
			  struct fz_error *err);
/* Callbacks that print statistics every second, if requested. */
struct fz_record_callbacks fz_cli_record_callbacks(const struct fz_cli_record *o);
/* After r->sampler has run: complete the recording, write the outputs and print a summary.
 * exit_fact: how the program ended, or "". never_ran: the interpreter has printed an error, so
 * discard the recording silently. Returns the exit status of attach. */
int fz_cli_record_end(struct fz_record *r, struct fz_cli_record *o, const char *exit_fact,
		      bool never_ran);
