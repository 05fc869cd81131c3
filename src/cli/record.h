/* SPDX-License-Identifier: MIT */
/* What `run` and `attach` share: options, where the recording goes, what is said at the end. */
#pragma once

#include "cli/cli.h"
#include "cli/mode.h"
#include "cli/output.h"
#include "cli/tasks.h"
#include "record/record.h"

enum { FZ_CLOCK_NONE = -1 };

extern const char *const fz_native_names[]; /* by enum fz_native_kind */

struct fz_cli_record {
	struct fz_record_options how; /* whole after fz_cli_record_check */
	struct fz_cli_tasks async;
	int mode;  /* index in fz_cli_mode_names; FZ_CLI_MODE_NONE: as the clock has it */
	int clock; /* enum fz_clock; FZ_CLOCK_NONE: as the mode has it */
	bool realtime_stats;
	bool live;      /* show what is recorded while it is */
	bool look_only; /* keep no recording unless one is asked for */
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
/* The same; 0 is no time at all: the shortest that there is. */
int fz_cli_parse_time(const char *text, const struct fz_opt *opt, struct fz_error *err);

/* The entries of the option table; o is a struct fz_cli_record that lives as long. */
/* clang-format off */
#define FZ_RECORD_SAMPLING_ENTRIES(o)                                                                \
	{ .kind = FZ_OPT_GROUP, .help = "Sampling" },                                              \
	{ .kind = FZ_OPT_CALL, .short_name = 'r', .long_name = "sampling-rate",                    \
	  .argument = "RATE", .value = &(o).how.rate, .call = fz_cli_parse_rate,                    \
	  .help = "samples a second: 1000, 2.5khz, 10k, or max (default 1khz)" },                  \
	{ .kind = FZ_OPT_CALL, .short_name = 'd', .long_name = "duration",                         \
	  .argument = "SECONDS", .value = &(o).how.duration, .call = fz_cli_parse_time,             \
	  .help = "stop after so many seconds (default: when the program ends)" },                 \
	{ .kind = FZ_OPT_FLAG, .short_name = 'a', .long_name = "all-threads",                      \
	  .value = &(o).how.all_threads,                                                               \
	  .help = "sample every thread, not only the main one" },                                  \
	{ .kind = FZ_OPT_FLAG, .long_name = "subprocesses",                                        \
	  .value = &(o).how.subprocesses,                                                              \
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
	{ .kind = FZ_OPT_CHOICE, .long_name = "engine", .argument = "ENGINE",                      \
	  .value = &(o).how.sampled_by, .choices = fz_engine_choices,                              \
	  .help = "who reads the stacks: bpf: the kernel, for --mode cpu, as root; read: we, "     \
		  "from outside (the default without --wait); auto: bpf where it can tell all that is asked for" },   \
	{ .kind = FZ_OPT_CHOICE, .long_name = "native", .argument = "KIND", .optional = true,      \
	  .min = FZ_NATIVE_MARKERS, .value = &(o).how.native, .choices = fz_native_names,              \
	  .help = "show <native> where C code lies between Python frames (markers), or the "       \
		  "native frames themselves (stacks: stops the program for each sample)" },        \
	{ .kind = FZ_OPT_FLAG, .long_name = "no-gc", .value = &(o).how.no_gc,                          \
	  .help = "do not show <GC> while garbage is collected" },                                 \
	{ .kind = FZ_OPT_FLAG, .long_name = "opcodes", .value = &(o).how.opcodes,                      \
	  .help = "record the bytecode instruction of each frame" },                               \
	FZ_CLI_TASKS_ENTRIES((o).async, "running"),                                                  \
	{ .kind = FZ_OPT_FLAG, .long_name = "task-names", .value = &(o).async.names,               \
	  .help = "of --async-aware: each task by its own name (Task-7), instead of those of one "   \
		  "coroutine, or of names that differ in a number, as one" },                      \
	{ .kind = FZ_OPT_FLAG, .long_name = "blocking", .value = &(o).how.blocking,                    \
	  .help = "stop the program for the moment of each sample: exact, but slows it down" },    \
	{ .kind = FZ_OPT_FLAG, .long_name = "realtime-stats", .value = &(o).realtime_stats,        \
	  .help = "a line about the sampling on stderr each second" },                             \
	{ .kind = FZ_OPT_FLAG, .long_name = "no-source", .value = &(o).how.no_source,                  \
	  .help = "do not store the text of executed source files" }

#define FZ_RECORD_OPTION_ENTRIES(o)                                                               \
	FZ_RECORD_SAMPLING_ENTRIES(o),                                                            \
	{ .kind = FZ_OPT_FLAG, .long_name = "wait", .value = &(o).how.waits,                         \
	  .help = "besides CPU time each wait with its exact length, what it was for and who "    \
		  "ended it: by the kernel, as root; else, or with --engine read, what for, "    \
		  "sampled" },                                           \
	{ .kind = FZ_OPT_FLAG, .long_name = "pagefaults", .value = &(o).how.growth,                  \
	  .help = "instead of time the bytes by which the resident set grew, by stack, of all "   \
		  "threads: by the kernel, as root" },                                            \
	{ .kind = FZ_OPT_STRING, .long_name = "control", .argument = "URI",                        \
	  .value = &(o).how.control,                                                               \
	  .help = "unix:PATH: a socket on which the program or you say enable, disable, status "  \
		  "or quit meanwhile" },                                                           \
	{ .kind = FZ_OPT_FLAG, .long_name = "paused", .value = &(o).how.paused,                    \
	  .help = "sample nothing until enable is said on the socket of --control" },              \
	FZ_CLI_OUTPUT_FILE_ENTRIES((o).output),                                                    \
	FZ_CLI_OUTPUT_TREE_ENTRIES((o).output),                                                    \
	FZ_CLI_OUTPUT_SWITCH_ENTRIES((o).output),                                                  \
	FZ_CLI_OUTPUT_PAGE_ENTRIES((o).output),                                                    \
	FZ_CLI_OUTPUT_TEXT_ENTRIES((o).output),                                                    \
	FZ_CLI_OUTPUT_SORT_ENTRY((o).output),                                                      \
	{ .kind = FZ_OPT_CHOICE, .long_name = "compression", .argument = "HOW",                      \
	  .value = &(o).output.compression, .choices = fz_cli_compression_names,                   \
	  .help = "of --binary: auto (default) or zstd, or none" },                                \
	FZ_CLI_OUTPUT_PSTATS_ENTRIES((o).output),                                                      \
	FZ_CLI_OUTPUT_COMPARE_ENTRIES((o).output),                                                 \
	FZ_CLI_OUTPUT_SOURCE_ROOT_ENTRY((o).output)
/* clang-format on */

/* For commands that start the program. */
/* clang-format off */
#define FZ_COUNT_OPTION_ENTRIES(o)                                                                 \
	{ .kind = FZ_OPT_GROUP, .help = "Counting" },                                              \
	{ .kind = FZ_OPT_FLAG, .long_name = "count", .value = &(o).how.count,                          \
	  .help = "count instructions under Valgrind instead of sampling: slow, but the same in "  \
		  "every run" },                                                                   \
	{ .kind = FZ_OPT_FLAG, .long_name = "cache", .value = &(o).how.cache,                          \
	  .help = "with --count: memory accesses and cache misses as well" },                     \
	{ .kind = FZ_OPT_FLAG, .long_name = "memory", .value = &(o).how.memory,                        \
	  .help = "with --count: the most bytes held at one time, and those held at the end" },   \
	FZ_RECORD_CALLGRIND_ENTRY(o, "with --count: by")
#define FZ_RECORD_CALLGRIND_ENTRY(o, by)                                                          \
	{ .kind = FZ_OPT_SET, .long_name = "callgrind", .value = &(o).how.engine,                      \
	  .min = FZ_COUNTER_CALLGRIND,                                                             \
	  .help = by " Valgrind's own callgrind, which stands in where our tool was not built "   \
		  "(slower, contexts not exact)" }
/* clang-format on */

/* Whether the options fit together and the output can be written; `diff`: it will be a diff. */
int fz_cli_record_check(struct fz_cli_record *o, bool diff, struct fz_error *err);
/* The same, and find out that the recording can be written where it is to go; `program` names it in
 * the store. r is initialised with o->how. */
int fz_cli_record_prepare(struct fz_record *r, struct fz_cli_record *o, const char *program,
			  struct fz_error *err);
/* Who prints figures each second, when that was asked for. */
struct fz_record_looker fz_cli_record_looker(const struct fz_cli_record *o);
/* After r->sampler has run: complete the recording, write what was asked for, say how it went.
 * `exit_fact` is how the program ended or "". never_ran: the interpreter has said why; there is
 * nothing to add or to keep. Returns the exit status of attach. */
int fz_cli_record_end(struct fz_record *r, struct fz_cli_record *o, const char *exit_fact,
		      bool never_ran);
