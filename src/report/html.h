/* SPDX-License-Identifier: MIT */
/* One self-contained HTML file: the viewer (web/) with the data of a profile or a diff in it. */
#pragma once

#include "base/error.h"
#include "base/io.h"
#include "diff/judge.h"
#include "profile/profile.h"

enum fz_palette {
	FZ_PALETTE_FIZEAU,
	FZ_PALETTE_TACHYON, /* exactly the colours of CPython's differential flame graph */
};
extern const char *const fz_palette_names[]; /* NULL-terminated, in the order of the enum */

/* What was decided of a benchmark elsewhere; the page repeats it. */
struct fz_html_verdict {
	struct fz_str benchmark;
	const char *word;      /* "slower" */
	struct fz_str reasons; /* in a line; may be empty */
};

struct fz_html_options {
	enum fz_palette palette;
	bool no_source;    /* leave stored source text out */
	bool changed_only; /* a picture shows only paths to what changed, is new or removed */
	bool inverted;     /* open with callers: leaf functions are the roots */
	uint32_t metric;   /* of fz_report_html_profile; FZ_NONE: the default */
	const char *labels[FZ_SIDES]; /* what the sides are called (file names); NULL: nothing */
	/* Of the diff, for a page; with paths. NULL: differences are shown as they are. */
	const struct fz_judgement *judgement;
	const struct fz_html_verdict *verdicts; /* of its benchmarks; borrowed */
	size_t verdict_count;
};

#define FZ_HTML_DEFAULTS ((struct fz_html_options){ .metric = FZ_NONE })

int fz_report_html_profile(const struct fz_profile *p, const struct fz_html_options *o,
			   struct fz_output *out, struct fz_error *err);
/* Wants a diff made with `cells` and `lines`, and not inverted: the page inverts by itself. */
int fz_report_html_diff(const struct fz_diff *d, const struct fz_html_options *o,
			struct fz_output *out, struct fz_error *err);
