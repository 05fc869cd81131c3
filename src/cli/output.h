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
	bool untimed;                 /* set by commands whose recordings have no times */
	bool replays;                 /* set by replay: be less strict, like CPython's replay */
	bool closed;                  /* set by fz_cli_output_write_diff: the gate failed */
	bool two_commands;            /* the sides are expected to have different commands */
	/* set by the check */
	const struct fz_report *chosen; /* NULL: none requested */
	struct fz_profile *base;        /* of the baseline */
	char *path;                     /* of the file; NULL: standard output or a default name */
	char *folder;                   /* of the default name; NULL: the current one */
};

#define FZ_CLI_OUTPUT_DEFAULTS                                                      \
	{                                                                           \
		.threshold = 0.05, .limit = FZ_CLI_LIMIT_NOT_GIVEN, .min_share = -1 \
	}

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
#define FZ_CLI_COLOR_ENTRY(when)                                              \
	FZ_OPT(CHOICE, "color", "WHEN", when,                                 \
	       "use colours: auto (default: on a terminal), always or never", \
	       .choices = fz_cli_color_names)

/* Entries for a command's option table; o is a struct fz_cli_output that outlives it. */
#define FZ_CLI_OUTPUT_FILE_ENTRIES(o)                                                        \
	FZ_OPT_HEADING("Output"),                                                            \
		FZ_OPT(STRING, "output", "FILE", &(o).file,                                  \
		       "write to FILE; its suffix selects the format; - is standard output", \
		       .short_name = 'o', .common = true),                                   \
		FZ_OPT(CALL, "format", "NAME", &(o),                                         \
		       "output format ('fizeau help formats' lists them)",                   \
		       .call = fz_cli_output_set_format,                                     \
		       .list_values = fz_cli_output_list_formats, .common = true)

/* For commands that read profiles: which part to show, and whether from callers or callees. */
#define FZ_CLI_OUTPUT_PART_ENTRIES(o)                                                              \
	FZ_CLI_RANGE_ENTRIES((o).range),                                                           \
		FZ_OPT(CALL, "thread", "NAME", &(o),                                               \
		       "only samples of threads with this name or id; repeatable",                 \
		       .call = fz_cli_output_add_thread, .common = true),                          \
		FZ_OPT(STRING, "filter", "REGEX", &(o).filter,                                     \
		       "only samples with a function whose name or file matches", .common = true), \
		FZ_OPT(STRING, "root", "REGEX", &(o).root,                                         \
		       "start stacks at the first function whose name or file matches; drop "      \
		       "samples without one"),                                                     \
		FZ_OPT(FLAG, "no-idle", NULL, &(o).no_idle,                                        \
		       "drop samples of waiting threads (on I/O, a lock or a timer)",              \
		       .common = true),                                                            \
		FZ_OPT(FLAG, "invert", NULL, &(o).invert,                                          \
		       "invert stacks: from the running function to its callers", .common = true)

#define FZ_CLI_OUTPUT_HEATMAP_ENTRY(o)                                                         \
	FZ_OPT(CALL, "heatmap", NULL, &(o),                                                    \
	       "write a page that opens with the cost of each source line (--format heatmap)", \
	       .call = fz_cli_output_set_switch)

#define FZ_CLI_OUTPUT_TREE_ENTRIES(o)                                                              \
	FZ_OPT(CALL, "tree", NULL, &(o),                                                           \
	       "print the call tree of application code; other frames are folded (--format tree)", \
	       .call = fz_cli_output_set_switch, .common = true),                                  \
		FZ_OPT(FLAG, "all-frames", NULL, &(o).all_frames,                                  \
		       "with --tree or svg: do not fold frames; in a diff, show every path"),      \
		FZ_OPT(CALL, "min-share", "PERCENT", &(o),                                         \
		       "with --tree: hide rows below PERCENT of the total (default 1%)",           \
		       .call = fz_cli_output_set_min_share)

/* Tachyon's switches. */
#define FZ_CLI_OUTPUT_SWITCH_ENTRIES(o)                                                            \
	FZ_OPT(CALL, "flamegraph", NULL, &(o), "write a flame graph page (--format html)",         \
	       .call = fz_cli_output_set_switch, .common = true),                                  \
		FZ_OPT(CALL, "diff-flamegraph", "BASELINE", &(o),                                  \
		       "write a page with the difference to another recording",                    \
		       .call = fz_cli_output_set_baseline),                                        \
		FZ_CLI_OUTPUT_HEATMAP_ENTRY(o),                                                    \
		FZ_OPT(CALL, "pstats", NULL, &(o),                                                 \
		       "print the function table of CPython's profiler, or with -o write a file "  \
		       "for Python's pstats module (--format pstats)",                             \
		       .call = fz_cli_output_set_switch),                                          \
		FZ_OPT(CALL, "gecko", NULL, &(o),                                                  \
		       "write a profile for profiler.firefox.com (--format gecko)",                \
		       .call = fz_cli_output_set_switch),                                          \
		FZ_OPT(CALL, "jsonl", NULL, &(o),                                                  \
		       "write the cost of each code position, one JSON record per line (--format " \
		       "jsonl)",                                                                   \
		       .call = fz_cli_output_set_switch),                                          \
		FZ_OPT(CALL, "collapsed", NULL, &(o),                                              \
		       "write folded stacks, one per line (--format collapsed)",                   \
		       .call = fz_cli_output_set_switch),                                          \
		FZ_OPT(CALL, "binary", NULL, &(o),                                                 \
		       "write CPython's binary recording format (--format binary)",                \
		       .call = fz_cli_output_set_switch)

#define FZ_CLI_OUTPUT_PAGE_ENTRIES(o)                                                         \
	FZ_OPT(FLAG, "browser", NULL, &(o).browser, "open the written page in a browser"),    \
		FZ_OPT(STRING, "own", "REGEX", &(o).own,                                      \
		       "treat files and modules that match as application code (default: by " \
		       "folder)"),                                                            \
		FZ_OPT(CHOICE, "palette", "NAME", &(o).palette,                               \
		       "colours of pages: fizeau (default) or tachyon",                       \
		       .choices = fz_palette_names)
/* For commands that read recordings whose source may be elsewhere. */
#define FZ_CLI_OUTPUT_SOURCE_ROOT_ENTRY(o)                                             \
	FZ_OPT(CALL, "source-root", "OLD=NEW", &(o),                                   \
	       "for pages: read source files recorded below OLD from NEW; repeatable", \
	       .call = fz_cli_output_add_source_root)
/* For commands that do not record; record.h has the option for the others. */
#define FZ_CLI_OUTPUT_SOURCE_ENTRY(o) \
	FZ_OPT(FLAG, "no-source", NULL, &(o).no_source, "do not include source code in pages")

#define FZ_CLI_OUTPUT_TEXT_ENTRIES(o)                                                              \
	FZ_OPT(INT, "limit", "N", &(o).limit,                                                      \
	       "maximum rows of a table (default 15), a tree (default 100) or csv (default: all)", \
	       .short_name = 'l', .min = 0, .max = 1000000, .common = true),                       \
		FZ_CLI_COLOR_ENTRY(&(o).color)

/* For commands that read recordings. */
#define FZ_CLI_OUTPUT_PROCESS_ENTRY(o)                     \
	FZ_OPT(STRING, "process", "PROCESS", &(o).process, \
	       "only the process with this id, or processes whose command contains this text")

/* For commands that read profiles, which can have several metrics. */
#define FZ_CLI_OUTPUT_METRIC_ENTRY(o)                                                      \
	FZ_OPT(STRING, "metric", "NAME", &(o).metric,                                      \
	       "metric to report, if the profile has several: cpu, wall, samples, bytes, " \
	       "instructions, ...",                                                        \
	       .common = true)

/* For the table of one profile. */
#define FZ_CLI_OUTPUT_SORT_ENTRY(o)                                                               \
	FZ_OPT(CALL, "sort", "KEY", &(o),                                                         \
	       "sort tables by self (default), total or name, or by a key of CPython's profiler " \
	       "(tottime, cumtime, ...)",                                                         \
	       .call = fz_cli_output_set_sort, .list_values = fz_cli_output_list_sorts)

#define FZ_CLI_OUTPUT_PSTATS_ENTRIES(o)                                                       \
	FZ_OPT(FLAG, "per-line", NULL, &(o).per_line,                                         \
	       "with --pstats: one entry per line instead of per function, as CPython does"), \
		FZ_OPT(FLAG, "no-summary", NULL, &(o).no_summary, "omit the summary below tables")

/* For commands that read files of other tools. */
#define FZ_CLI_OUTPUT_UNIT_ENTRY(o)                                                               \
	FZ_OPT_RENAMED("unit", "input-unit"),                                                     \
		FZ_OPT(CHOICE, "input-unit", "UNIT", &(o).number_unit,                            \
		       "unit of the numbers in folded-stack input; auto (default): detect, else " \
		       "samples",                                                                 \
		       .choices = fz_number_unit_names)

#define FZ_CLI_OUTPUT_COMPARE_ENTRIES(o)                                                           \
	FZ_OPT_HEADING("Comparison"),                                                              \
		FZ_OPT(FLAG, "table", NULL, &(o).table,                                            \
		       "print tables of all functions (default: only what changed)"),              \
		FZ_OPT(FLAG, "verbose", NULL, &(o).verbose,                                        \
		       "print everything: tables, inferred matches, warnings, how it was "         \
		       "measured"),                                                                \
		FZ_OPT(CHOICE, "match", "RULE", &(o).match,                                        \
		       "how to match functions: full (default): by canonical name, then detect "   \
		       "moved and renamed functions and wrappers; names: by canonical name only; " \
		       "exact: by recorded file and function, as CPython does",                    \
		       .choices = fz_match_names),                                                 \
		FZ_OPT(FLAG, "no-rename-detection", NULL, &(o).no_rename,                          \
		       "do not detect renamed functions"),                                         \
		FZ_OPT_RENAMED("no-rename", "no-rename-detection"),                                \
		FZ_OPT(CALL, "map", "OLD=NEW", &(o),                                               \
		       "match function OLD of the base (FUNCTION or FILE:FUNCTION) with NEW of "   \
		       "the head; OLD= marks it as removed",                                       \
		       .call = fz_cli_output_add_map),                                             \
		FZ_OPT(CALL, "rename", "REGEX=TEXT", &(o),                                         \
		       "replace matches in function and file names of both sides before "          \
		       "comparing",                                                                \
		       .call = fz_cli_output_add_rename),                                          \
		FZ_OPT(FLAG, "fold-recursion", NULL, &(o).fold_recursion,                          \
		       "merge recursive calls into the first call of the function"),               \
		FZ_OPT(CALL, "scale", "MODE", &(o),                                                \
		       "how to scale costs: auto (default): by metric; time: total time; window: " \
		       "per second recorded; amount: raw memory or event counts; share: equal "    \
		       "totals; reference: relative to what most functions did; work: per item "   \
		       "of --work",                                                                \
		       .call = fz_cli_output_set_scale, .list_values = fz_cli_output_list_scales), \
		FZ_OPT(FLAG, "as-measured", NULL, &(o).as_measured,                                \
		       "compare raw times (default: normalised to the base run's machine speed)"), \
		FZ_OPT(CALL, "work", "BASE:HEAD", &(o),                                            \
		       "amount of work done by each side (requests, iterations), for --scale "     \
		       "work",                                                                     \
		       .call = fz_cli_output_set_work),                                            \
		FZ_OPT_RENAMED("units", "work"),                                                   \
		FZ_OPT(FLAG, "force", NULL, &(o).force,                                            \
		       "compare recordings even if they were made with different settings")

/* For commands whose whole purpose is to compare; FZ_EXIT_REGRESSION when o.closed. */
#define FZ_CLI_OUTPUT_GATE_ENTRIES(o)                                                           \
	FZ_OPT(CHOICE, "fail-on", "WHAT", &(o).gate,                                            \
	       "exit with status 1 if the run is significantly slower (regression), slower or " \
	       "faster (change), or if any function is slower (function-regression)",           \
	       .choices = fz_gate_names, .common = true),                                       \
		FZ_OPT(CALL, "threshold", "PERCENT", &(o),                                      \
		       "with --fail-on: ignore changes below PERCENT (default 5%)",             \
		       .call = fz_cli_output_set_threshold, .common = true),                    \
		FZ_OPT(CALL, "same-within", "PERCENT", &(o),                                    \
		       "call a function the same if it changed by at most PERCENT of the run "  \
		       "(default 0.2%)",                                                        \
		       .call = fz_cli_output_set_delta)

/* Fails if the file could not be written; leaves nothing behind. */
int fz_cli_output_try(const char *path, struct fz_error *err);
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
 * next to it. Pages show all processes, so the program's page covers all. */
bool fz_cli_per_process_wanted(const struct fz_cli_output *o, const struct fz_profile *p);
int fz_cli_per_process_write(struct fz_cli_output *o, struct fz_profile *p, struct fz_error *err);
