/* SPDX-License-Identifier: MIT */
/* What commands write and where: the options that run, attach, replay and diff share.
 *
 *   parse options -> fz_cli_output_check -> (record, load, compare) -> fz_cli_output_write...
 *
 * Everything that can be wrong about an output is found by the check, before work begins: an
 * unknown format, a folder that cannot be written, a baseline that cannot be read or compared.
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
	const char *file;     /* -o */
	const char *format;   /* --format, or the name that a switch such as --binary stands for */
	bool switched;        /* it was asked for in CPython's way, by a switch */
	const char *baseline; /* --diff-flamegraph */
	const char *process;  /* --process; NULL: all */
	const char *metric;   /* --metric; NULL: the profile's main one */
	int color;            /* enum fz_color_when */
	int limit;            /* of text; FZ_CLI_LIMIT_NOT_GIVEN */
	int sort;             /* of text: enum fz_text_sort */
	bool sorted;          /* sort was given */
	int match, scale;     /* enum fz_match, enum fz_scale_mode */
	int number_unit;      /* of fz_number_unit_names */
	double units[FZ_SIDES]; /* --units; 0: not given */
	bool force;
	bool no_rename, fold_recursion, as_measured;
	bool table, verbose; /* of a diff's text */
	struct fz_cli_rules {
		const char *list[FZ_CLI_RULES_MAX + 1]; /* NULL-terminated */
		uint32_t n;
	} maps, renames, threads;
	bool no_idle;
	struct fz_cli_range range; /* --from, --to; of what fz_cli_output_write writes */
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
	double threshold;             /* of the gate */
	bool gated;                   /* --threshold was there */
	int palette;                  /* enum fz_palette */
	const char *labels[FZ_SIDES]; /* what the sides are called; set by the command */
	bool replays;      /* set by the command: it is replay, where CPython's is less strict */
	bool closed;       /* set by fz_cli_output_write_diff: the gate closed */
	bool two_commands; /* the sides are meant to be of different commands */
	/* set by the check */
	const struct fz_report *chosen; /* NULL: nothing was asked for */
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
int fz_cli_output_set_threshold(const char *text, const struct fz_opt *opt, struct fz_error *err);
int fz_cli_output_set_min_share(const char *text, const struct fz_opt *opt, struct fz_error *err);
int fz_cli_output_set_units(const char *text, const struct fz_opt *opt, struct fz_error *err);
int fz_cli_output_set_sort(const char *text, const struct fz_opt *opt, struct fz_error *err);
int fz_cli_output_add_map(const char *text, const struct fz_opt *opt, struct fz_error *err);
int fz_cli_output_add_rename(const char *text, const struct fz_opt *opt, struct fz_error *err);
int fz_cli_output_add_source_root(const char *text, const struct fz_opt *opt, struct fz_error *err);
int fz_cli_output_add_thread(const char *text, const struct fz_opt *opt, struct fz_error *err);
/* For completion. */
void fz_cli_output_list_formats(struct fz_buf *out);
void fz_cli_output_list_sorts(struct fz_buf *out);
extern const char *const fz_cli_compression_names[];
extern const char *const fz_cli_color_names[];

/* Entries for a command's option table; o is a struct fz_cli_output that lives as long. */
#define FZ_CLI_OUTPUT_FILE_ENTRIES(o)                                                            \
	{ .kind = FZ_OPT_GROUP, .help = "Output" },                                              \
		{ .kind = FZ_OPT_STRING,                                                         \
		  .short_name = 'o',                                                             \
		  .long_name = "output",                                                         \
		  .argument = "FILE",                                                            \
		  .help = "where to write; the suffix chooses the format; - is standard output", \
		  .value = &(o).file },                                                          \
	{                                                                                        \
		.kind = FZ_OPT_CALL, .long_name = "format", .argument = "NAME",                  \
		.help = "the format by name, whatever the suffix", .value = &(o),                \
		.call = fz_cli_output_set_format, .list_values = fz_cli_output_list_formats      \
	}

/* For commands that read profiles: what part of them to show, and from which end. */
#define FZ_CLI_OUTPUT_PART_ENTRIES(o)                                                         \
	FZ_CLI_RANGE_ENTRIES((o).range),                                                      \
		{ .kind = FZ_OPT_CALL,                                                        \
		  .long_name = "thread",                                                      \
		  .argument = "NAME",                                                         \
		  .help = "only samples of threads of this name or id; can be given several " \
			  "times",                                                            \
		  .value = &(o),                                                              \
		  .call = fz_cli_output_add_thread },                                         \
		{ .kind = FZ_OPT_STRING,                                                      \
		  .long_name = "filter",                                                      \
		  .argument = "REGEX",                                                        \
		  .help = "only samples that pass through a function whose name or file "     \
			  "matches",                                                          \
		  .value = &(o).filter },                                                     \
		{ .kind = FZ_OPT_STRING,                                                      \
		  .long_name = "root",                                                        \
		  .argument = "REGEX",                                                        \
		  .help = "let stacks begin at the first function whose name or file "        \
			  "matches; what has none is left out",                               \
		  .value = &(o).root },                                                       \
		{ .kind = FZ_OPT_FLAG,                                                        \
		  .long_name = "no-idle",                                                     \
		  .help = "no samples of threads that waited: for input, a lock, time",       \
		  .value = &(o).no_idle },                                                    \
	{                                                                                     \
		.kind = FZ_OPT_FLAG, .long_name = "invert",                                   \
		.help = "from what ran to its callers: trees, pages, pictures, JSON and "     \
			"folded stacks",                                                      \
		.value = &(o).invert                                                          \
	}

#define FZ_CLI_OUTPUT_HEATMAP_ENTRY(o)                                                     \
	{                                                                                  \
		.kind = FZ_OPT_CALL, .long_name = "heatmap",                               \
		.help = "a folder of pages with the cost of each source line, or with -o " \
			"FILE.html "                                                       \
			"one page: --format heatmap",                                      \
		.value = &(o), .call = fz_cli_output_set_switch                            \
	}

#define FZ_CLI_OUTPUT_TREE_ENTRIES(o)                                                             \
	{ .kind = FZ_OPT_CALL,                                                                    \
	  .long_name = "tree",                                                                    \
	  .help = "a call tree as text, frames that are not the program's own folded: --format "  \
		  "tree",                                                                         \
	  .value = &(o),                                                                          \
	  .call = fz_cli_output_set_switch },                                                     \
		{ .kind = FZ_OPT_FLAG,                                                            \
		  .long_name = "all-frames",                                                      \
		  .help = "of --tree and svg: nothing is folded; of a difference's tree: all "    \
			  "paths",                                                                \
		  .value = &(o).all_frames },                                                     \
	{                                                                                         \
		.kind = FZ_OPT_CALL, .long_name = "min-share", .argument = "PERCENT",             \
		.help = "of --tree: rows that cost at least that much of the whole (default 1%)", \
		.value = &(o), .call = fz_cli_output_set_min_share                                \
	}

/* Tachyon's switches. */
#define FZ_CLI_OUTPUT_SWITCH_ENTRIES(o)                                               \
	{ .kind = FZ_OPT_CALL,                                                        \
	  .long_name = "flamegraph",                                                  \
	  .help = "a page with the flame graph: --format html",                       \
	  .value = &(o),                                                              \
	  .call = fz_cli_output_set_switch },                                         \
		{ .kind = FZ_OPT_CALL,                                                \
		  .long_name = "diff-flamegraph",                                     \
		  .argument = "BASELINE",                                             \
		  .help = "a page with the difference to another recording",          \
		  .value = &(o),                                                      \
		  .call = fz_cli_output_set_baseline },                               \
		FZ_CLI_OUTPUT_HEATMAP_ENTRY(o),                                       \
		{ .kind = FZ_OPT_CALL,                                                \
		  .long_name = "pstats",                                              \
		  .help = "CPython's table of functions on standard output; with -o " \
			  "a file for Python's pstats: --format pstats",              \
		  .value = &(o),                                                      \
		  .call = fz_cli_output_set_switch },                                 \
		{ .kind = FZ_OPT_CALL,                                                \
		  .long_name = "gecko",                                               \
		  .help = "a profile for profiler.firefox.com: --format gecko",       \
		  .value = &(o),                                                      \
		  .call = fz_cli_output_set_switch },                                 \
		{ .kind = FZ_OPT_CALL,                                                \
		  .long_name = "jsonl",                                               \
		  .help = "costs of positions, a JSON record a line: --format jsonl", \
		  .value = &(o),                                                      \
		  .call = fz_cli_output_set_switch },                                 \
		{ .kind = FZ_OPT_CALL,                                                \
		  .long_name = "collapsed",                                           \
		  .help = "folded stacks, one a line: --format collapsed",            \
		  .value = &(o),                                                      \
		  .call = fz_cli_output_set_switch },                                 \
	{                                                                             \
		.kind = FZ_OPT_CALL, .long_name = "binary",                           \
		.help = "CPython's binary recording: --format binary", .value = &(o), \
		.call = fz_cli_output_set_switch                                      \
	}

#define FZ_CLI_OUTPUT_PAGE_ENTRIES(o)                                                            \
	{ .kind = FZ_OPT_FLAG,                                                                   \
	  .long_name = "browser",                                                                \
	  .help = "open the page in a browser",                                                  \
	  .value = &(o).browser },                                                               \
		{ .kind = FZ_OPT_STRING,                                                         \
		  .long_name = "own",                                                            \
		  .argument = "REGEX",                                                           \
		  .help = "the program's own code: files and modules that match, not what its "  \
			  "folders say",                                                         \
		  .value = &(o).own },                                                           \
	{                                                                                        \
		.kind = FZ_OPT_CHOICE, .long_name = "palette", .argument = "NAME",               \
		.help = "colours of a page: fizeau (default) or tachyon", .value = &(o).palette, \
		.choices = fz_palette_names                                                      \
	}
/* For commands that read recordings whose source may be elsewhere. */
#define FZ_CLI_OUTPUT_SOURCE_ROOT_ENTRY(o)                                                \
	{                                                                                 \
		.kind = FZ_OPT_CALL, .long_name = "source-root", .argument = "OLD=NEW",   \
		.help = "for a page: source that was below OLD is below NEW now; can be " \
			"given several times",                                            \
		.value = &(o), .call = fz_cli_output_add_source_root                      \
	}
/* For commands that don't record: there the option is the recorder's. */
#define FZ_CLI_OUTPUT_SOURCE_ENTRY(o)                                             \
	{                                                                         \
		.kind = FZ_OPT_FLAG, .long_name = "no-source",                    \
		.help = "leave source text out of pages", .value = &(o).no_source \
	}

#define FZ_CLI_OUTPUT_TEXT_ENTRIES(o)                                            \
	{ .kind = FZ_OPT_INT,                                                    \
	  .short_name = 'l',                                                     \
	  .long_name = "limit",                                                  \
	  .argument = "N",                                                       \
	  .help = "rows of a text table (default 15) or a tree (100)",           \
	  .value = &(o).limit,                                                   \
	  .min = 0,                                                              \
	  .max = 1000000 },                                                      \
	{                                                                        \
		.kind = FZ_OPT_CHOICE, .long_name = "color", .argument = "WHEN", \
		.help = "auto, always or never (default auto: on a terminal)",   \
		.value = &(o).color, .choices = fz_cli_color_names               \
	}

/* For commands that read recordings. */
#define FZ_CLI_OUTPUT_PROCESS_ENTRY(o)                                                           \
	{                                                                                        \
		.kind = FZ_OPT_STRING, .long_name = "process", .argument = "PROCESS",            \
		.help = "only the process of that number, or those with this in their commands", \
		.value = &(o).process                                                            \
	}

/* For commands that read profiles, which can have several. */
#define FZ_CLI_OUTPUT_METRIC_ENTRY(o)                                                             \
	{                                                                                         \
		.kind = FZ_OPT_STRING, .long_name = "metric", .argument = "NAME",                 \
		.help = "what to show of a profile that has several: cpu, wall, samples, bytes, " \
			"instructions, ...",                                                      \
		.value = &(o).metric                                                              \
	}

/* Of one profile's table. */
#define FZ_CLI_OUTPUT_SORT_ENTRY(o)                                                             \
	{                                                                                       \
		.kind = FZ_OPT_CALL, .long_name = "sort", .argument = "KEY",                    \
		.help = "order of a text table: self (default), total or name; CPython's keys " \
			"too (tottime, cumtime, ...)",                                          \
		.value = &(o), .call = fz_cli_output_set_sort,                                  \
		.list_values = fz_cli_output_list_sorts                                         \
	}

#define FZ_CLI_OUTPUT_PSTATS_ENTRIES(o)                                              \
	{ .kind = FZ_OPT_FLAG,                                                       \
	  .long_name = "per-line",                                                   \
	  .help = "entries of --pstats are lines of functions, as CPython's are",    \
	  .value = &(o).per_line },                                                  \
	{                                                                            \
		.kind = FZ_OPT_FLAG, .long_name = "no-summary",                      \
		.help = "tables without what sums them up", .value = &(o).no_summary \
	}

/* For commands that read what other tools wrote. */
#define FZ_CLI_OUTPUT_UNIT_ENTRY(o)                                                         \
	{                                                                                   \
		.kind = FZ_OPT_CHOICE, .long_name = "unit", .argument = "UNIT",             \
		.help = "what the numbers of folded text are; auto (default): samples, or " \
			"what they surely are",                                             \
		.value = &(o).number_unit, .choices = fz_number_unit_names                  \
	}

#define FZ_CLI_OUTPUT_COMPARE_ENTRIES(o)                                                           \
	{ .kind = FZ_OPT_GROUP, .help = "Comparison" },                                            \
		{ .kind = FZ_OPT_FLAG,                                                             \
		  .long_name = "table",                                                            \
		  .help = "print tables of all functions (default: only what changed)",            \
		  .value = &(o).table },                                                           \
		{ .kind = FZ_OPT_FLAG,                                                             \
		  .long_name = "verbose",                                                          \
		  .help = "print everything: tables, what was inferred, warnings, how it was "     \
			  "measured",                                                              \
		  .value = &(o).verbose },                                                         \
		{ .kind = FZ_OPT_CHOICE,                                                           \
		  .long_name = "match",                                                            \
		  .argument = "RULE",                                                              \
		  .help = "full (default): canonical names, then moved and renamed functions and " \
			  "wrappers; names: canonical names only; exact: file and function as "    \
			  "recorded, as CPython does",                                             \
		  .value = &(o).match,                                                             \
		  .choices = fz_match_names },                                                     \
		{ .kind = FZ_OPT_FLAG,                                                             \
		  .long_name = "no-rename",                                                        \
		  .help = "never infer that a function was renamed",                               \
		  .value = &(o).no_rename },                                                       \
		{ .kind = FZ_OPT_CALL,                                                             \
		  .long_name = "map",                                                              \
		  .argument = "OLD=NEW",                                                           \
		  .help = "a function of the base (FUNCTION or FILE:FUNCTION) is this one of the " \
			  "head; OLD= is gone",                                                    \
		  .value = &(o),                                                                   \
		  .call = fz_cli_output_add_map },                                                 \
		{ .kind = FZ_OPT_CALL,                                                             \
		  .long_name = "rename",                                                           \
		  .argument = "REGEX=TEXT",                                                        \
		  .help = "replace what matches in names and files of both sides before they are " \
			  "compared",                                                              \
		  .value = &(o),                                                                   \
		  .call = fz_cli_output_add_rename },                                              \
		{ .kind = FZ_OPT_FLAG,                                                             \
		  .long_name = "fold-recursion",                                                   \
		  .help = "count a function once on a stack: recursive calls go back to the "      \
			  "first",                                                                 \
		  .value = &(o).fold_recursion },                                                  \
		{ .kind = FZ_OPT_CHOICE,                                                           \
		  .long_name = "scale",                                                            \
		  .argument = "MODE",                                                              \
		  .help = "time: as measured; window: for each second recorded; amount: memory "   \
			  "and events as they are; share: totals made equal; reference: what "     \
			  "most functions agree on unchanged; unit: for each of --units; auto "    \
			  "(default): by what was measured",                                       \
		  .value = &(o).scale,                                                             \
		  .choices = fz_scale_names },                                                     \
		{ .kind = FZ_OPT_FLAG,                                                             \
		  .long_name = "as-measured",                                                      \
		  .help = "compare times as they were measured, also where the recordings know "   \
			  "how fast the machine was; else the head is told at the base's speed",   \
		  .value = &(o).as_measured },                                                     \
		{ .kind = FZ_OPT_CALL,                                                             \
		  .long_name = "units",                                                            \
		  .argument = "BASE:HEAD",                                                         \
		  .help = "how much each side did (requests, iterations), for --scale unit",       \
		  .value = &(o),                                                                   \
		  .call = fz_cli_output_set_units },                                               \
	{                                                                                          \
		.kind = FZ_OPT_FLAG, .long_name = "force",                                         \
		.help = "compare recordings that were made in different ways", .value = &(o).force \
	}

/* For commands whose whole purpose is to compare; FZ_EXIT_REGRESSION when o.closed. */
#define FZ_CLI_OUTPUT_GATE_ENTRIES(o)                                                         \
	{ .kind = FZ_OPT_CHOICE,                                                              \
	  .long_name = "fail-on",                                                             \
	  .argument = "WHAT",                                                                 \
	  .help = "exit with 1 when the run certainly became slower (regression), slower or " \
		  "faster (change), or any function slower (function-regression)",            \
	  .value = &(o).gate,                                                                 \
	  .choices = fz_gate_names },                                                         \
	{                                                                                     \
		.kind = FZ_OPT_CALL, .long_name = "threshold", .argument = "PERCENT",         \
		.help = "only when it did by at least that much (default 5%)", .value = &(o), \
		.call = fz_cli_output_set_threshold                                           \
	}

/* `diff`: the command always writes a diff. `planned`: how the new recording will be made, to be
 * compared with the baseline's; NULL: not known yet. */
int fz_cli_output_check(struct fz_cli_output *o, bool diff, const struct fz_recording *planned,
			struct fz_error *err);
/* Nothing was asked for: neither a file nor a format nor a baseline. */
bool fz_cli_output_is_default(const struct fz_cli_output *o);
/* The output is a native recording in a file, which a recorder can write by itself. */
bool fz_cli_output_is_recording(const struct fz_cli_output *o);
/* Write what was asked for (text when nothing was) about a profile: with a baseline, its diff.
 * Says on standard error which file was written. */
int fz_cli_output_write(struct fz_cli_output *o, struct fz_profile *p, struct fz_error *err);
int fz_cli_output_write_diff(struct fz_cli_output *o, struct fz_profile *base,
			     struct fz_profile *head, struct fz_error *err);
/* The table of functions, as fz_cli_output_write prints it, on standard output. */
void fz_cli_output_print(const struct fz_cli_output *o, struct fz_profile *p);
/* Say that a file was written. Standard output and what is no file are not told. */
void fz_cli_output_tell(const char *path);
void fz_cli_output_release(struct fz_cli_output *o);
