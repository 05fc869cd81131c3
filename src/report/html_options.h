/* SPDX-License-Identifier: MIT */
/* What a page or a picture shows, and how. */
#pragma once

#include "compare/judge.h"
#include "profile/profile.h"

enum fz_palette {
	FZ_PALETTE_FIZEAU,
	FZ_PALETTE_TACHYON, /* exactly the colours of CPython's differential flame graph */
};
extern const char *const fz_palette_names[]; /* NULL-terminated, in the order of the enum */

/* A gate's decision on a benchmark, repeated by the page. Relative values are fractions of the
 * base's count. */
struct fz_html_benchmark {
	struct fz_str name;
	const char *metric, *unit; /* of its counts; may differ from the tree's */
	const char *page;          /* page with the tree of that metric; NULL: this one, or none */
	const char *verdict;       /* "slower", whatever the metric */
	const char *word;          /* word shown for the verdict: "larger" */
	bool fails;                /* makes the gate fail */
	double count[FZ_SIDES];    /* NaN: missing on that side */
	double change, limit;      /* relative; NaN: not known */
	struct fz_str where; /* "parse_body > parse_issue_fixed +142,605 (x 3.1)"; may be empty */
	const char *file;    /* NULL: not known */
	int32_t line;
	struct fz_str clock, note; /* one line each; may be empty */
};

/* A gate's decision; the page of a diff of benchmarks opens with it. */
struct fz_html_gate {
	int status; /* exit status of the command */
	struct fz_str headline, why;
	const struct fz_html_benchmark *list; /* the worst first */
	size_t n;
};

struct fz_html_options {
	enum fz_palette palette;
	bool no_source;    /* leave stored source text out */
	bool changed_only; /* a picture shows only paths to what changed, is new or removed */
	bool all_frames;   /* of a picture: do not fold imports and paths of noise */
	bool inverted;     /* open with callers: leaf functions are the roots */
	bool opens_source; /* open with the list of files; the page contains their whole texts */
	uint32_t metric;   /* for fz_report_html_profile; FZ_NONE: the default */
	const char *labels[FZ_SIDES]; /* names of the sides (file names); NULL: none */
	/* The diff's judgement, for a page; must include paths. NULL: differences are shown without
	 * verdicts. */
	const struct fz_judgement *judgement;
	const struct fz_html_gate *gate; /* borrowed; NULL: there was none */
};

#define FZ_HTML_DEFAULTS ((struct fz_html_options){ .metric = FZ_NONE })
