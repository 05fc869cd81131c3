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

#define FZ_CLI_RECORD_DEFAULTS                                                                \
	{                                                                                     \
		.how = FZ_RECORD_DEFAULTS, .mode = FZ_CLI_MODE_NONE, .clock = FZ_CLOCK_NONE,  \
		.async = { .mode = FZ_CLI_ASYNC_NOT_GIVEN }, .output = FZ_CLI_OUTPUT_DEFAULTS \
	}

int fz_cli_parse_rate(const char *text, const struct fz_opt *opt, struct fz_error *err);
int fz_cli_parse_duration(const char *text, const struct fz_opt *opt, struct fz_error *err);
/* The same, but 0 is valid and means the shortest possible time. */
int fz_cli_parse_time(const char *text, const struct fz_opt *opt, struct fz_error *err);

/* Entries for a command's option table; o is a struct fz_cli_record that outlives it. */
#define FZ_RECORD_SAMPLING_ENTRIES(o)                                                             \
	FZ_OPT_HEADING("Sampling"),                                                               \
		FZ_OPT(CALL, "sampling-rate", "RATE", &(o).how.rate,                              \
		       "samples per second: 1000, 2.5khz, 10k or max (default 1khz)",             \
		       .short_name = 'r', .call = fz_cli_parse_rate, .common = true),             \
		FZ_OPT(CALL, "duration", "SECONDS", &(o).how.duration,                            \
		       "stop after SECONDS (default: when the program ends)", .short_name = 'd',  \
		       .call = fz_cli_parse_time, .common = true),                                \
		FZ_OPT(FLAG, "all-threads", NULL, &(o).how.all_threads,                           \
		       "sample every thread, not only the main thread", .short_name = 'a',        \
		       .common = true),                                                           \
		FZ_OPT(FLAG, "subprocesses", NULL, &(o).how.subprocesses,                         \
		       "also sample child processes, recursively", .common = true),               \
		FZ_OPT(CHOICE, "mode", "MODE", &(o).mode,                                         \
		       "which samples to record: wall (default): all; cpu: CPU time (same as "    \
		       "--clock cpu); gil: threads that hold the GIL; exception: threads that "   \
		       "raise or handle an exception",                                            \
		       .choices = fz_cli_mode_names, .common = true),                             \
		FZ_OPT(CHOICE, "clock", "CLOCK", &(o).clock,                                      \
		       "sampling clock: wall: a sample per interval of wall time; cpu: a sample " \
		       "per interval of CPU time used by the thread (default: cpu with --mode "   \
		       "cpu, else wall)",                                                         \
		       .choices = fz_clock_names),                                                \
		FZ_OPT(CHOICE, "engine", "ENGINE", &(o).how.sampled_by,                           \
		       "stack reader: read (default without --wait): from outside; bpf: in the "  \
		       "kernel, for --mode cpu and --wait, needs root; auto: bpf if it supports " \
		       "the given options, else read",                                            \
		       .choices = fz_engine_choices),                                             \
		FZ_OPT(CHOICE, "native", "KIND", &(o).how.native,                                 \
		       "record C code between Python frames: markers (default KIND): show it as " \
		       "<native>; stacks: record native frames, which stops the program during "  \
		       "each sample",                                                             \
		       .min = FZ_NATIVE_MARKERS, .choices = fz_native_names, .optional = true,    \
		       .common = true),                                                           \
		FZ_OPT(FLAG, "no-gc", NULL, &(o).how.no_gc,                                       \
		       "do not show <GC> during garbage collection"),                             \
		FZ_OPT(FLAG, "opcodes", NULL, &(o).how.opcodes,                                   \
		       "record the current bytecode instruction of each frame"),                  \
		FZ_CLI_TASKS_ENTRIES((o).async, "running"),                                       \
		FZ_OPT(FLAG, "task-names", NULL, &(o).async.names,                                \
		       "with --async-aware: separate tasks by name (Task-7) instead of merging "  \
		       "tasks of one coroutine and names that differ only in a number"),          \
		FZ_OPT(FLAG, "blocking", NULL, &(o).how.blocking,                                 \
		       "stop the program during each sample: exact, but slower"),                 \
		FZ_OPT(FLAG, "realtime-stats", NULL, &(o).realtime_stats,                         \
		       "print sampling statistics to standard error every second"),               \
		FZ_OPT(FLAG, "no-source", NULL, &(o).how.no_source,                               \
		       "do not store source code in the recording")

#define FZ_RECORD_OPTION_ENTRIES(o)                                                               \
	FZ_RECORD_SAMPLING_ENTRIES(o),                                                            \
		FZ_OPT(FLAG, "wait", NULL, &(o).how.waits,                                        \
		       "also record every wait: duration, reason, who ended it (needs root); "    \
		       "without root or with --engine read, sample the reasons",                  \
		       .common = true),                                                           \
		FZ_OPT(FLAG, "pagefaults", NULL, &(o).how.growth,                                 \
		       "profile resident-memory growth instead of time (needs root)"),            \
		FZ_OPT(STRING, "control", "URI", &(o).how.control,                                \
		       "accept enable, disable, status and quit on this socket (unix:PATH)"),     \
		FZ_OPT(FLAG, "paused", NULL, &(o).how.paused,                                     \
		       "start without sampling; wait for enable on the --control socket"),        \
		FZ_CLI_OUTPUT_FILE_ENTRIES((o).output), FZ_CLI_OUTPUT_TREE_ENTRIES((o).output),   \
		FZ_CLI_OUTPUT_SWITCH_ENTRIES((o).output), FZ_CLI_OUTPUT_PAGE_ENTRIES((o).output), \
		FZ_CLI_OUTPUT_TEXT_ENTRIES((o).output), FZ_CLI_OUTPUT_SORT_ENTRY((o).output),     \
		FZ_OPT(CHOICE, "compression", "HOW", &(o).output.compression,                     \
		       "compression of --binary: auto (default), zstd or none",                   \
		       .choices = fz_cli_compression_names),                                      \
		FZ_CLI_OUTPUT_PSTATS_ENTRIES((o).output),                                         \
		FZ_CLI_OUTPUT_COMPARE_ENTRIES((o).output),                                        \
		FZ_CLI_OUTPUT_SOURCE_ROOT_ENTRY((o).output)

/* For commands that start the program. */
#define FZ_COUNT_OPTION_ENTRIES(o)                                                                \
	FZ_OPT_HEADING("Counting"),                                                               \
		FZ_OPT(FLAG, "count", NULL, &(o).how.count,                                       \
		       "count instructions under Valgrind instead of sampling: slow but "         \
		       "reproducible",                                                            \
		       .common = true),                                                           \
		FZ_OPT(FLAG, "cache", NULL, &(o).how.cache,                                       \
		       "with --count: also count memory accesses and cache misses"),              \
		FZ_OPT(FLAG, "memory", NULL, &(o).how.memory,                                     \
		       "with --count: also track heap memory: peak bytes, and bytes live at the " \
		       "end"),                                                                    \
		FZ_OPT(FLAG, "interpreter-frames", NULL, &(o).how.interpreter_frames,             \
		       "with --count: include the native frames of the Python and Node "          \
		       "interpreters"),                                                           \
		FZ_RECORD_CALLGRIND_ENTRY(o, "with --count: use")
#define FZ_RECORD_CALLGRIND_ENTRY(o, by)                                                   \
	FZ_OPT(SET, "callgrind", NULL, &(o).how.engine,                                    \
	       by " Valgrind's callgrind, the fallback if Fizeau's own tool is not built " \
		  "(slower, call contexts not exact)",                                     \
	       .min = FZ_COUNTER_CALLGRIND)

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
