/* SPDX-License-Identifier: MIT */
/* Text reports for terminals: the hottest functions of a profile, and the findings of a diff.
 *
 * Equal input and style give equal bytes. Text from a target is made printable; colour only repeats
 * the meaning of signs and words.
 */
#pragma once

#include "base/buf.h"
#include "base/io.h"
#include "base/text.h"
#include "compare/judge.h"
#include "profile/tree.h"

/* By weight, or by number of samples where both are shown. */
enum fz_text_sort {
	FZ_TEXT_SORT_SELF,
	FZ_TEXT_SORT_TOTAL,
	FZ_TEXT_SORT_NAME,
	FZ_TEXT_SORT_SELF_SAMPLES,
	FZ_TEXT_SORT_TOTAL_SAMPLES,
};

/* Default number of rows of a table and of a call tree. */
enum { FZ_TEXT_ROWS = 15, FZ_TEXT_TREE_ROWS = 100, FZ_TEXT_BRIEF_ROWS = 8 };
/* Default minimum cost of a row of a call tree, as a fraction of the whole. */
#define FZ_TEXT_TREE_SHARE 0.01

/* Amount of detail in a diff's text. */
enum fz_text_detail {
	FZ_TEXT_BRIEF,   /* the verdict, what changed, how it was measured */
	FZ_TEXT_TABLE,   /* the verdict, and tables of all functions */
	FZ_TEXT_VERBOSE, /* also what was inferred, all warnings and facts of both recordings */
};

struct fz_text_options {
	enum fz_text_detail detail; /* of a diff */
	struct fz_style style;
	unsigned limit;       /* rows of the main table */
	unsigned brief_limit; /* rows of a table in a diff's short text */
	enum fz_text_sort sort;
	bool no_summary;              /* of a profile: only the table or tree */
	unsigned tree_limit;          /* rows of a call tree */
	unsigned csv_limit;           /* rows of CSV */
	double min_share;             /* minimum cost of a row of a call tree, as a fraction of the
				       * whole */
	bool all_frames;              /* of a call tree: also show foreign frames */
	const char *labels[FZ_SIDES]; /* names of a diff's sides; NULL: none */
	bool beside;                  /* a markdown report is written to the current folder */
	const char *picture; /* file name of a picture next to a markdown report; NULL: none */
};

#define FZ_TEXT_DEFAULTS                                              \
	((struct fz_text_options){ .limit = FZ_TEXT_ROWS,             \
				   .brief_limit = FZ_TEXT_BRIEF_ROWS, \
				   .tree_limit = FZ_TEXT_TREE_ROWS,   \
				   .csv_limit = UINT32_MAX,           \
				   .min_share = FZ_TEXT_TREE_SHARE })

/* The hottest functions of the default metric, and how well the sampling went. */
void fz_report_text_profile(const struct fz_profile *p, const struct fz_text_options *o,
			    struct fz_output *out);
/* The run's verdict, the functions that changed, new and removed code, scaling and quality. */
void fz_report_text_diff(const struct fz_diff *d, const struct fz_judgement *j,
			 const struct fz_text_options *o, struct fz_output *out);
/* As folded call trees (call_tree.h). */
void fz_report_tree_profile(const struct fz_profile *p, bool inverted,
			    const struct fz_text_options *o, struct fz_output *out);
void fz_report_tree_diff(const struct fz_diff *d, const struct fz_judgement *j,
			 const struct fz_text_options *o, struct fz_output *out);
/* Heading and summary around tables and trees: how the program failed, and what was recorded;
 * sampling quality. */
void fz_report_profile_heading(const struct fz_tree *t, const struct fz_style *style,
			       struct fz_buf *out);
void fz_report_profile_summary(const struct fz_profile *p, const struct fz_style *style,
			       struct fz_buf *out);
/* The same for a diff: verdict and warnings; how far to trust it. */
void fz_report_diff_headline(const struct fz_diff *d, const struct fz_judgement *j,
			     const struct fz_text_options *o, struct fz_buf *out);
void fz_report_diff_trust(const struct fz_diff *d, const struct fz_judgement *j,
			  const struct fz_text_options *o, struct fz_buf *out);
/* What a diff inferred in order to match functions: every link with its score, cost that only moved
 * between callees, and what was removed from names. Nothing if it inferred nothing.
 */
void fz_report_inferred(const struct fz_diff *d, const struct fz_style *style, struct fz_buf *out);
/* A line stating that the tree was reconstructed, and whether totals of functions were; "" if it
 * was recorded. */
const char *fz_report_tree_note(const struct fz_profile *p);
/* One sentence without a full stop about the recording's sampling quality: "2,497 samples, 3
 * rejected (0.1 %: 3 root missing), 0 instants missed, longest gap 3.2 ms". */
void fz_report_quality(const struct fz_profile *p, struct fz_buf *out);
