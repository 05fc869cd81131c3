/* SPDX-License-Identifier: MIT */
/* What `run` and `attach` share: options, where the recording goes, what is said at the end. */
#pragma once

#include "capture/facts.h"
#include "capture/git.h"
#include "capture/sampler.h"
#include "cli/cli.h"
#include "cli/output.h"

struct fz_record_options {
	struct fz_rate rate;
	double duration; /* seconds; 0: until the process ends */
	bool all_threads, blocking, realtime_stats;
	int clock; /* enum fz_clock */
	bool no_source;
	struct fz_cli_output output;
};

#define FZ_RECORD_DEFAULTS \
	((struct fz_record_options){ .rate = { 1000000000 }, .output = FZ_CLI_OUTPUT_DEFAULTS })

int fz_record_parse_rate(const char *text, const struct fz_opt *opt, struct fz_error *err);
int fz_record_parse_duration(const char *text, const struct fz_opt *opt, struct fz_error *err);

/* The entries of the option table; o is a struct fz_record_options that lives as long. */
/* clang-format off */
#define FZ_RECORD_OPTION_ENTRIES(o)                                                                \
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
	{ .kind = FZ_OPT_CHOICE, .long_name = "clock", .argument = "CLOCK",                        \
	  .value = &(o).clock, .choices = fz_clock_names,                                          \
	  .help = "wall: a sample each interval of time, whatever a thread does; cpu: each "       \
		  "interval of CPU time that a thread used (default wall)" },                      \
	{ .kind = FZ_OPT_FLAG, .long_name = "blocking", .value = &(o).blocking,                    \
	  .help = "stop the program for the moment of each sample: exact, but slows it down" },    \
	{ .kind = FZ_OPT_FLAG, .long_name = "realtime-stats", .value = &(o).realtime_stats,        \
	  .help = "a line about the sampling on stderr each second" },                             \
	{ .kind = FZ_OPT_FLAG, .long_name = "no-source", .value = &(o).no_source,                  \
	  .help = "do not store the text of executed source files" },                              \
	FZ_CLI_OUTPUT_FILE_ENTRIES((o).output),                                                    \
	FZ_CLI_OUTPUT_SWITCH_ENTRIES((o).output),                                                  \
	FZ_CLI_OUTPUT_PAGE_ENTRIES((o).output),                                                    \
	FZ_CLI_OUTPUT_TEXT_ENTRIES((o).output),                                                    \
	FZ_CLI_OUTPUT_SORT_ENTRY((o).output),                                                      \
	FZ_CLI_OUTPUT_COMPARE_ENTRIES((o).output)
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
	bool never_ran; /* the interpreter has said why; there is nothing to add or to keep */
	struct fz_profile *profile;
	struct fz_fz_writer *writer;
	struct fz_sampler sampler;
	struct fz_sampler_options sampling;
	struct fz_git git;
	sigset_t old_mask;
	int signal_fd;
	uint64_t last_taken; /* for the realtime figures */
	int64_t last_cpu_ns;
};

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
