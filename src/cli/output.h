/* SPDX-License-Identifier: MIT */
/* The output of commands: options that run, attach, replay and diff share.
 *
 *   parse options -> fz_cli_output_check -> (record, load, compare) -> fz_cli_output_write...
 *
 * The check finds all errors before work begins: an unknown format, a folder that cannot be
 * written, a baseline that cannot be read or compared.
 */
#pragma once

#include "cli/cli.h"
#include "cli/range.h"
#include "compare/diff.h"
#include "compare/gate.h"
#include "profile/profile.h"
#include "format/format.h"
#include "report/disk_source.h"
#include "report/report.h"

enum { FZ_CLI_RULES_MAX = 64, FZ_CLI_LIMIT_NOT_GIVEN = -1 };
enum fz_cli_compression {
	FZ_CLI_COMPRESSION_AUTO,
	FZ_CLI_COMPRESSION_ZSTD,
	FZ_CLI_COMPRESSION_NONE,
};

struct fz_cli_output {
	/* set by the options */
	const char *file;      /* -o */
	const char *format;    /* --format, or the format of a switch such as --binary */
	bool switched;         /* by a switch, as in CPython's profiler */
	const char *baseline;  /* --diff-flamegraph */
	const char *process;   /* --process; NULL: all */
	const char *metric;    /* --metric; NULL: the profile's main one */
	bool metric_line;      /* of folded text */
	int color;             /* enum fz_color_when */
	int limit;             /* of text; FZ_CLI_LIMIT_NOT_GIVEN */
	int sort;              /* of text: enum fz_text_sort */
	bool sorted;           /* sort was given */
	int match, scale;      /* enum fz_match, enum fz_scale_mode */
	int number_unit;       /* of fz_number_unit_names */
	double work[FZ_SIDES]; /* --work; 0: not given */
	bool force;
	bool no_rename, fold_recursion, as_measured;
	bool table, verbose; /* of a diff's text */
	struct fz_cli_rules {
		const char *list[FZ_CLI_RULES_MAX + 1]; /* NULL-terminated */
		uint32_t n;
	} maps, renames, threads;
	bool no_idle;
	struct fz_cli_range range; /* --from, --to; applied by fz_cli_output_write */
	struct fz_source_root source_roots[FZ_CLI_RULES_MAX];
	uint32_t source_root_n;
	const char *filter; /* --filter */
	const char *root;   /* --root */
	const char *own;    /* --own */
	bool invert;
	bool browser, no_source;
	bool all_frames;              /* of a tree */
	double min_share;             /* of a tree; below 0: not given */
	bool per_line;                /* of pstats */
	bool no_summary;              /* of tables */
	int compression;              /* of --binary: enum fz_cli_compression */
	int gate;                     /* enum fz_gate */
	double delta;                 /* struct fz_judge_options */
	double threshold;             /* of the gate */
	bool gated;                   /* --threshold was given */
	int palette;                  /* enum fz_palette */
	const char *labels[FZ_SIDES]; /* names of the sides; set by the command */
	uint64_t pid;                 /* of default file names; 0: of the first thread */
	bool replays;                 /* set by replay: be less strict, like CPython's */
	bool closed;                  /* set by fz_cli_output_write_diff: the gate failed */
	bool two_commands;            /* the sides are expected to have different commands */
	/* set by the check */
	const struct fz_report *chosen; /* NULL: none requested */
	struct fz_profile *base;        /* of the baseline */
	char *path;                     /* of the file; NULL: standard output or a default name */
	char *folder;                   /* of the default name; NULL: the current one */
};

#define FZ_CLI_OUTPUT_DEFAULTS   \
	((struct fz_cli_output){ \
		.threshold = 0.05, .limit = FZ_CLI_LIMIT_NOT_GIVEN, .min_share = -1 })

/* Option callbacks; the value is the struct fz_cli_output. */
int fz_cli_output_set_format(const char *text, const struct fz_opt *opt, struct fz_error *err);
int fz_cli_output_set_switch(const char *text, const struct fz_opt *opt, struct fz_error *err);
int fz_cli_output_set_baseline(const char *text, const struct fz_opt *opt, struct fz_error *err);
int fz_cli_output_set_delta(const char *text, const struct fz_opt *opt, struct fz_error *err);
int fz_cli_output_set_threshold(const char *text, const struct fz_opt *opt, struct fz_error *err);
int fz_cli_output_set_min_share(const char *text, const struct fz_opt *opt, struct fz_error *err);
int fz_cli_output_set_work(const char *text, const struct fz_opt *opt, struct fz_error *err);
int fz_cli_output_set_scale(const char *text, const struct fz_opt *opt, struct fz_error *err);
int fz_cli_output_set_sort(const char *text, const struct fz_opt *opt, struct fz_error *err);
int fz_cli_output_add_map(const char *text, const struct fz_opt *opt, struct fz_error *err);
int fz_cli_output_add_rename(const char *text, const struct fz_opt *opt, struct fz_error *err);
int fz_cli_output_add_source_root(const char *text, const struct fz_opt *opt, struct fz_error *err);
int fz_cli_output_add_thread(const char *text, const struct fz_opt *opt, struct fz_error *err);
/* For completion. */
void fz_cli_output_list_formats(struct fz_buf *out);
void fz_cli_output_list_scales(struct fz_buf *out);
void fz_cli_output_list_sorts(struct fz_buf *out);
extern const char *const fz_cli_compression_names[];
extern const char *const fz_cli_color_names[];

/* Entries for a command's option table; o is a struct fz_cli_output that outlives it. */
#define FZ_CLI_OUTPUT_FILE_ENTRIES(o)                                                           \
	{ .kind = FZ_OPT_GROUP, .help = "Output" },                                             \
		{ .kind = FZ_OPT_STRING,                                                        \
		  .short_name = 'o',                                                            \
		  .common = true,                                                               \
		  .long_name = "output",                                                        \
		  .argument = "FILE",                                                           \
		  .help = "write to FILE; its suffix selects the format; - is standard output", \
		  .value = &(o).file },                                                         \
	{                                                                                       \
		.kind = FZ_OPT_CALL, .common = true, .long_name = "format", .argument = "NAME", \
		.help = "output format ('fizeau help formats' lists them)", .value = &(o),      \
		.call = fz_cli_output_set_format, .list_values = fz_cli_output_list_formats     \
	}

/* For commands that read profiles: which part to show, and from which end. */
#define FZ_CLI_OUTPUT_PART_ENTRIES(o)                                                            \
	FZ_CLI_RANGE_ENTRIES((o).range),                                                         \
		{ .kind = FZ_OPT_CALL,                                                           \
		  .common = true,                                                                \
		  .long_name = "thread",                                                         \
		  .argument = "NAME",                                                            \
		  .help = "only samples of threads with this name or id; repeatable",            \
		  .value = &(o),                                                                 \
		  .call = fz_cli_output_add_thread },                                            \
		{ .kind = FZ_OPT_STRING,                                                         \
		  .common = true,                                                                \
		  .long_name = "filter",                                                         \
		  .argument = "REGEX",                                                           \
		  .help = "only samples with a function whose name or file matches",             \
		  .value = &(o).filter },                                                        \
		{ .kind = FZ_OPT_STRING,                                                         \
		  .long_name = "root",                                                           \
		  .argument = "REGEX",                                                           \
		  .help = "start stacks at the first function whose name or file matches; drop " \
			  "samples without one",                                                 \
		  .value = &(o).root },                                                          \
		{ .kind = FZ_OPT_FLAG,                                                           \
		  .common = true,                                                                \
		  .long_name = "no-idle",                                                        \
		  .help = "drop samples of waiting threads (on I/O, a lock or a timer)",         \
		  .value = &(o).no_idle },                                                       \
	{                                                                                        \
		.kind = FZ_OPT_FLAG, .common = true, .long_name = "invert",                      \
		.help = "invert stacks: from the running function to its callers",               \
		.value = &(o).invert                                                             \
	}

#define FZ_CLI_OUTPUT_HEATMAP_ENTRY(o)                                                         \
	{                                                                                      \
		.kind = FZ_OPT_CALL, .long_name = "heatmap",                                   \
		.help = "write the cost of each source line, as a folder of pages or with -o " \
			"FILE.html as one page (--format heatmap)",                            \
		.value = &(o), .call = fz_cli_output_set_switch                                \
	}

#define FZ_CLI_OUTPUT_TREE_ENTRIES(o)                                                           \
	{ .kind = FZ_OPT_CALL,                                                                  \
	  .common = true,                                                                       \
	  .long_name = "tree",                                                                  \
	  .help = "print the call tree of application code; other frames are folded (--format " \
		  "tree)",                                                                      \
	  .value = &(o),                                                                        \
	  .call = fz_cli_output_set_switch },                                                   \
		{ .kind = FZ_OPT_FLAG,                                                          \
		  .long_name = "all-frames",                                                    \
		  .help = "with --tree or svg: do not fold frames; in a diff, show every path", \
		  .value = &(o).all_frames },                                                   \
	{                                                                                       \
		.kind = FZ_OPT_CALL, .long_name = "min-share", .argument = "PERCENT",           \
		.help = "with --tree: hide rows below PERCENT of the total (default 1%)",       \
		.value = &(o), .call = fz_cli_output_set_min_share                              \
	}

/* Tachyon's switches. */
#define FZ_CLI_OUTPUT_SWITCH_ENTRIES(o)                                                         \
	{ .kind = FZ_OPT_CALL,                                                                  \
	  .common = true,                                                                       \
	  .long_name = "flamegraph",                                                            \
	  .help = "write a flame graph page (--format html)",                                   \
	  .value = &(o),                                                                        \
	  .call = fz_cli_output_set_switch },                                                   \
		{ .kind = FZ_OPT_CALL,                                                          \
		  .long_name = "diff-flamegraph",                                               \
		  .argument = "BASELINE",                                                       \
		  .help = "write a page with the difference to another recording",              \
		  .value = &(o),                                                                \
		  .call = fz_cli_output_set_baseline },                                         \
		FZ_CLI_OUTPUT_HEATMAP_ENTRY(o),                                                 \
		{ .kind = FZ_OPT_CALL,                                                          \
		  .long_name = "pstats",                                                        \
		  .help = "print the function table of CPython's profiler, or with -o write a " \
			  "file for Python's pstats module (--format pstats)",                  \
		  .value = &(o),                                                                \
		  .call = fz_cli_output_set_switch },                                           \
		{ .kind = FZ_OPT_CALL,                                                          \
		  .long_name = "gecko",                                                         \
		  .help = "write a profile for profiler.firefox.com (--format gecko)",          \
		  .value = &(o),                                                                \
		  .call = fz_cli_output_set_switch },                                           \
		{ .kind = FZ_OPT_CALL,                                                          \
		  .long_name = "jsonl",                                                         \
		  .help = "write the cost of each code position, one JSON record per line "     \
			  "(--format jsonl)",                                                   \
		  .value = &(o),                                                                \
		  .call = fz_cli_output_set_switch },                                           \
		{ .kind = FZ_OPT_CALL,                                                          \
		  .long_name = "collapsed",                                                     \
		  .help = "write folded stacks, one per line (--format collapsed)",             \
		  .value = &(o),                                                                \
		  .call = fz_cli_output_set_switch },                                           \
	{                                                                                       \
		.kind = FZ_OPT_CALL, .long_name = "binary",                                     \
		.help = "write CPython's binary recording format (--format binary)",            \
		.value = &(o), .call = fz_cli_output_set_switch                                 \
	}

#define FZ_CLI_OUTPUT_PAGE_ENTRIES(o)                                                            \
	{ .kind = FZ_OPT_FLAG,                                                                   \
	  .long_name = "browser",                                                                \
	  .help = "open the written page in a browser",                                          \
	  .value = &(o).browser },                                                               \
		{ .kind = FZ_OPT_STRING,                                                         \
		  .long_name = "own",                                                            \
		  .argument = "REGEX",                                                           \
		  .help = "treat files and modules that match as application code (default: by " \
			  "folder)",                                                             \
		  .value = &(o).own },                                                           \
	{                                                                                        \
		.kind = FZ_OPT_CHOICE, .long_name = "palette", .argument = "NAME",               \
		.help = "colours of pages: fizeau (default) or tachyon", .value = &(o).palette,  \
		.choices = fz_palette_names                                                      \
	}
/* For commands that read recordings whose source may be elsewhere. */
#define FZ_CLI_OUTPUT_SOURCE_ROOT_ENTRY(o)                                                      \
	{                                                                                       \
		.kind = FZ_OPT_CALL, .long_name = "source-root", .argument = "OLD=NEW",         \
		.help = "for pages: read source files recorded below OLD from NEW; repeatable", \
		.value = &(o), .call = fz_cli_output_add_source_root                            \
	}
/* For commands that do not record; record.h has the option for the others. */
#define FZ_CLI_OUTPUT_SOURCE_ENTRY(o)                                                  \
	{                                                                              \
		.kind = FZ_OPT_FLAG, .long_name = "no-source",                         \
		.help = "do not include source code in pages", .value = &(o).no_source \
	}

#define FZ_CLI_OUTPUT_TEXT_ENTRIES(o)                                                  \
	{ .kind = FZ_OPT_INT,                                                          \
	  .short_name = 'l',                                                           \
	  .common = true,                                                              \
	  .long_name = "limit",                                                        \
	  .argument = "N",                                                             \
	  .help = "maximum rows of a table (default 15) or a tree (default 100)",      \
	  .value = &(o).limit,                                                         \
	  .min = 0,                                                                    \
	  .max = 1000000 },                                                            \
	{                                                                              \
		.kind = FZ_OPT_CHOICE, .long_name = "color", .argument = "WHEN",       \
		.help = "use colours: auto (default: on a terminal), always or never", \
		.value = &(o).color, .choices = fz_cli_color_names                     \
	}

/* For commands that read recordings. */
#define FZ_CLI_OUTPUT_PROCESS_ENTRY(o)                                                             \
	{                                                                                          \
		.kind = FZ_OPT_STRING, .long_name = "process", .argument = "PROCESS",              \
		.help = "only the process with this id, or processes whose command contains this " \
			"text",                                                                    \
		.value = &(o).process                                                              \
	}

/* For commands that read profiles, which can have several metrics. */
#define FZ_CLI_OUTPUT_METRIC_ENTRY(o)                                                             \
	{                                                                                         \
		.kind = FZ_OPT_STRING, .common = true, .long_name = "metric", .argument = "NAME", \
		.help = "metric to report, if the profile has several: cpu, wall, samples, "      \
			"bytes, instructions, ...",                                               \
		.value = &(o).metric                                                              \
	}

/* For the table of one profile. */
#define FZ_CLI_OUTPUT_SORT_ENTRY(o)                                                               \
	{                                                                                         \
		.kind = FZ_OPT_CALL, .long_name = "sort", .argument = "KEY",                      \
		.help = "sort tables by self (default), total or name, or by a key of CPython's " \
			"profiler (tottime, cumtime, ...)",                                       \
		.value = &(o), .call = fz_cli_output_set_sort,                                    \
		.list_values = fz_cli_output_list_sorts                                           \
	}

#define FZ_CLI_OUTPUT_PSTATS_ENTRIES(o)                                                         \
	{ .kind = FZ_OPT_FLAG,                                                                  \
	  .long_name = "per-line",                                                              \
	  .help = "with --pstats: one entry per line instead of per function, as CPython does", \
	  .value = &(o).per_line },                                                             \
	{                                                                                       \
		.kind = FZ_OPT_FLAG, .long_name = "no-summary",                                 \
		.help = "omit the summary below tables", .value = &(o).no_summary               \
	}

/* For commands that read files of other tools. */
#define FZ_CLI_OUTPUT_UNIT_ENTRY(o)                                                                \
	FZ_OPT_RENAMED("unit", "input-unit"),                                                      \
	{                                                                                          \
		.kind = FZ_OPT_CHOICE, .long_name = "input-unit", .argument = "UNIT",              \
		.help = "unit of the numbers in folded-stack input; auto (default): detect, else " \
			"samples",                                                                 \
		.value = &(o).number_unit, .choices = fz_number_unit_names                         \
	}

#define FZ_CLI_OUTPUT_COMPARE_ENTRIES(o)                                                          \
	{ .kind = FZ_OPT_GROUP, .help = "Comparison" },                                           \
		{ .kind = FZ_OPT_FLAG,                                                            \
		  .long_name = "table",                                                           \
		  .help = "print tables of all functions (default: only what changed)",           \
		  .value = &(o).table },                                                          \
		{ .kind = FZ_OPT_FLAG,                                                            \
		  .long_name = "verbose",                                                         \
		  .help = "print everything: tables, inferred matches, warnings, how it was "     \
			  "measured",                                                             \
		  .value = &(o).verbose },                                                        \
		{ .kind = FZ_OPT_CHOICE,                                                          \
		  .long_name = "match",                                                           \
		  .argument = "RULE",                                                             \
		  .help = "how to match functions: full (default): by canonical name, then "      \
			  "detect moved and renamed functions and wrappers; names: by canonical " \
			  "name only; exact: by recorded file and function, as CPython does",     \
		  .value = &(o).match,                                                            \
		  .choices = fz_match_names },                                                    \
		{ .kind = FZ_OPT_FLAG,                                                            \
		  .long_name = "no-rename-detection",                                             \
		  .help = "do not detect renamed functions",                                      \
		  .value = &(o).no_rename },                                                      \
		FZ_OPT_RENAMED("no-rename", "no-rename-detection"),                               \
		{ .kind = FZ_OPT_CALL,                                                            \
		  .long_name = "map",                                                             \
		  .argument = "OLD=NEW",                                                          \
		  .help = "match function OLD of the base (FUNCTION or FILE:FUNCTION) with NEW "  \
			  "of the head; OLD= marks it as removed",                                \
		  .value = &(o),                                                                  \
		  .call = fz_cli_output_add_map },                                                \
		{ .kind = FZ_OPT_CALL,                                                            \
		  .long_name = "rename",                                                          \
		  .argument = "REGEX=TEXT",                                                       \
		  .help = "replace matches in function and file names of both sides before "      \
			  "comparing",                                                            \
		  .value = &(o),                                                                  \
		  .call = fz_cli_output_add_rename },                                             \
		{ .kind = FZ_OPT_FLAG,                                                            \
		  .long_name = "fold-recursion",                                                  \
		  .help = "merge recursive calls into the first call of the function",            \
		  .value = &(o).fold_recursion },                                                 \
		{ .kind = FZ_OPT_CALL,                                                            \
		  .long_name = "scale",                                                           \
		  .argument = "MODE",                                                             \
		  .help = "how to scale costs: auto (default): by metric; time: total time; "     \
			  "window: per second recorded; amount: raw memory or event counts; "     \
			  "share: equal totals; reference: relative to what most functions did; " \
			  "work: per item of --work",                                             \
		  .value = &(o),                                                                  \
		  .call = fz_cli_output_set_scale,                                                \
		  .list_values = fz_cli_output_list_scales },                                     \
		{ .kind = FZ_OPT_FLAG,                                                            \
		  .long_name = "as-measured",                                                     \
		  .help = "compare raw times (default: normalised to the base run's machine "     \
			  "speed)",                                                               \
		  .value = &(o).as_measured },                                                    \
		{ .kind = FZ_OPT_CALL,                                                            \
		  .long_name = "work",                                                            \
		  .argument = "BASE:HEAD",                                                        \
		  .help = "amount of work done by each side (requests, iterations), for --scale " \
			  "work",                                                                 \
		  .value = &(o),                                                                  \
		  .call = fz_cli_output_set_work },                                               \
		FZ_OPT_RENAMED("units", "work"),                                                  \
	{                                                                                         \
		.kind = FZ_OPT_FLAG, .long_name = "force",                                        \
		.help = "compare recordings even if they were made with different settings",      \
		.value = &(o).force                                                               \
	}

/* For commands whose whole purpose is to compare; FZ_EXIT_REGRESSION when o.closed. */
#define FZ_CLI_OUTPUT_GATE_ENTRIES(o)                                                              \
	{ .kind = FZ_OPT_CHOICE,                                                                   \
	  .common = true,                                                                          \
	  .long_name = "fail-on",                                                                  \
	  .argument = "WHAT",                                                                      \
	  .help = "exit with status 1 if the run is significantly slower (regression), slower or " \
		  "faster (change), or if any function is slower (function-regression)",           \
	  .value = &(o).gate,                                                                      \
	  .choices = fz_gate_names },                                                              \
		{ .kind = FZ_OPT_CALL,                                                             \
		  .common = true,                                                                  \
		  .long_name = "threshold",                                                        \
		  .argument = "PERCENT",                                                           \
		  .help = "with --fail-on: ignore changes below PERCENT (default 5%)",             \
		  .value = &(o),                                                                   \
		  .call = fz_cli_output_set_threshold },                                           \
	{                                                                                          \
		.kind = FZ_OPT_CALL, .long_name = "same-within", .argument = "PERCENT",            \
		.help = "call a function the same if it changed by at most PERCENT of the run "    \
			"(default 0.2%)",                                                          \
		.value = &(o), .call = fz_cli_output_set_delta                                     \
	}

/* Check the output. diff: the command always writes a diff. planned: the settings of the new
 * recording, to compare with the baseline's; NULL: unknown. */
int fz_cli_output_check(struct fz_cli_output *o, bool diff, const struct fz_recording *planned,
			struct fz_error *err);
/* True if neither a file nor a format nor a baseline was given. */
bool fz_cli_output_is_default(const struct fz_cli_output *o);
/* True if the output is a native recording in a file, which a recorder can write directly. */
bool fz_cli_output_is_recording(const struct fz_cli_output *o);
/* Write the requested report (by default text) of a profile, or with a baseline of the diff.
 * Reports written files on standard error. */
int fz_cli_output_write(struct fz_cli_output *o, struct fz_profile *p, struct fz_error *err);
int fz_cli_output_write_diff(struct fz_cli_output *o, struct fz_profile *base,
			     struct fz_profile *head, struct fz_error *err);
/* Print the table of functions to standard output, as fz_cli_output_write does. */
void fz_cli_output_print(const struct fz_cli_output *o, struct fz_profile *p);
/* Report that a file was written; does nothing for standard output and special files. */
void fz_cli_output_report(const char *path);
void fz_cli_output_release(struct fz_cli_output *o);

/* ---- per_process.c: one file per process, as CPython's profiler writes them (docs/tachyon.md)
 * ---- */

/* With several processes, the program's file is the requested one, and each other process gets one
 * beside it. Pages show all processes, so the program's page covers all. */
bool fz_cli_per_process_wanted(const struct fz_cli_output *o, const struct fz_profile *p);
int fz_cli_per_process_write(struct fz_cli_output *o, struct fz_profile *p, struct fz_error *err);
