/* SPDX-License-Identifier: MIT */
/* One table of everything that can be written about a profile or a diff.
 *
 * Adding a report is one row in report.c. Formats that other programs read back live in src/format
 * and appear here by their name there.
 */
#pragma once

#include "base/io.h"
#include "compare/judge.h"
#include "report/html.h"
#include "report/pstats_text.h"
#include "report/text.h"

struct fz_report_options {
	struct fz_text_options text;
	struct fz_html_options html; /* of pages and pictures */
	struct fz_pstats_options pstats;
	bool to_file;      /* -o was given: for reports with text_on_stdout */
	bool scaled;       /* two-column folded text: multiply the base column by the factor */
	bool inverted;     /* callers below callees; for a codec, the caller inverts the profile */
	bool uncompressed; /* CPython's binary recording */
};

struct fz_report {
	const char *name, *alias;
	const char *title;    /* for people; NULL: the codec's */
	const char *suffixes; /* space separated, with dot */
	/* Default file name, %llu being a process id; NULL: the report goes to standard output. */
	const char *profile_file, *diff_file;
	const char *codec;    /* its name in src/format, which writes profiles */
	bool binary;          /* never written to a terminal */
	bool text_on_stdout;  /* without -o text on standard output, with -o a file */
	bool no_unreadable;   /* CPython's: omits samples that could not be read */
	bool page;            /* shown in a browser; its diffs need cells and lines */
	bool inverts;         /* can be written inverted */
	bool turns_itself;    /* inverted by its reader: its diffs are always straight */
	bool holds_times;     /* stores only times: samples get a length */
	bool drops_stackless; /* samples without a stack are dropped */
	bool drops_negative;  /* negative costs are dropped */
	bool folder;          /* index.html in a folder, unless the name ends like a page's */
	const char *picture;  /* suffix of a picture written next to it, and linked */
	int (*profile)(const struct fz_report *r, const struct fz_report_options *o,
		       const struct fz_profile *p, struct fz_output *out, struct fz_error *err);
	int (*diff)(const struct fz_report_options *o, const struct fz_diff *d,
		    const struct fz_judgement *j, struct fz_output *out, struct fz_error *err);
};

/* Report number i; NULL after the last. */
const struct fz_report *fz_report_at(size_t i);
/* NULL if there is no report with that name, or suffix. */
const struct fz_report *fz_report_by_name(const char *name);
const struct fz_report *fz_report_by_suffix(const char *path);
bool fz_report_writes(const struct fz_report *r, bool diff);
/* Is a report written to this path a folder with index.html? */
bool fz_report_is_folder(const struct fz_report *r, const char *path);
/* Convert a profile to the form that a report shows: costs of one run, unless the report writes a
 * recording, and what `inverted` and no_unreadable require. Call once, before the report's
 * `profile`. */
int fz_report_prepare(const struct fz_report *r, const struct fz_report_options *o,
		      struct fz_profile *p, struct fz_error *err);
/* Append what the format omits or changes of a profile; nothing if it stores everything. */
void fz_report_remarks(const struct fz_report *r, const struct fz_profile *p, struct fz_buf *out);
/* Append the names of the reports that write a diff, or a profile: "text, html, json". */
void fz_report_names(bool diff, struct fz_buf *out);
