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
	bool to_file;  /* -o was there: for reports with text_on_stdout */
	bool scaled;   /* two-column folded text: multiply the base column */
	bool inverted; /* from what ran to its callers; a codec's profile is turned round before */
	bool uncompressed; /* CPython's binary recording */
};

struct fz_report {
	const char *name, *alias;
	const char *title;    /* for people; NULL: the codec's */
	const char *suffixes; /* space separated, with dot */
	/* What a file is called when the user names none, %llu being a process id; NULL: the report
	 * goes to standard output. */
	const char *profile_file, *diff_file;
	const char *codec;    /* its name in src/format, which writes profiles */
	bool binary;          /* never to a terminal */
	bool text_on_stdout;  /* without -o a text on standard output, with it a file */
	bool no_unreadable;   /* CPython's: without samples that could not be read */
	bool page;            /* what a browser shows; its diffs want cells and lines */
	bool inverts;         /* can be written from what ran to its callers */
	bool turns_itself;    /* and its reader can turn it: its diffs are always straight */
	bool holds_times;     /* and nothing else: samples get a length */
	bool drops_stackless; /* samples without a stack have no place in it */
	const char *
		picture; /* suffix of a small picture that a file of it gets beside it, and names */
	int (*profile)(const struct fz_report *r, const struct fz_report_options *o,
		       const struct fz_profile *p, struct fz_output *out, struct fz_error *err);
	int (*diff)(const struct fz_report_options *o, const struct fz_diff *d,
		    const struct fz_judgement *j, struct fz_output *out, struct fz_error *err);
	/* What can be a folder of pages besides: it is one unless its name ends like a page. */
	int (*profile_folder)(const struct fz_report_options *o, const struct fz_profile *p,
			      const char *folder, struct fz_error *err);
	int (*diff_folder)(const struct fz_report_options *o, const struct fz_diff *d,
			   const struct fz_judgement *j, const char *folder, struct fz_error *err);
};

/* One after the other; NULL behind the last. */
const struct fz_report *fz_report_at(size_t i);
/* NULL when there is none of that name, or suffix. */
const struct fz_report *fz_report_by_name(const char *name);
const struct fz_report *fz_report_by_suffix(const char *path);
bool fz_report_writes(const struct fz_report *r, bool diff);
/* Whether a report of that name is a folder. */
bool fz_report_is_folder(const struct fz_report *r, const char *path);
/* What the user must know of a profile that was written so; nothing: it says all. */
void fz_report_remarks(const struct fz_report *r, const struct fz_profile *p, struct fz_buf *out);
/* "text, html, json": those that write a diff, or a profile. */
void fz_report_names(bool diff, struct fz_buf *out);
