/* SPDX-License-Identifier: MIT */
/* Verdicts for people and for programs. All agree: they share the headline, which is derived from
 * the same data as the exit status. */
#pragma once

#include "base/io.h"
#include "base/json.h"
#include "base/text.h"
#include "bench/ci.h"

enum { FZ_CI_MARKDOWN_MAX = 60000 }; /* bytes; GitHub's limit is 65,536 characters */

/* The first line of a comment, by which it is found and replaced. */
#define FZ_CI_MARKER "<!-- fizeau ci -->"

/* "Performance: 1 of 12 benchmarks is slower" */
void fz_ci_headline(const struct fz_ci_result *r, struct fz_buf *out);
/* "instructions, peak" */
void fz_ci_metrics_text(const struct fz_ci_result *r, struct fz_buf *out);
/* The reason for the exit status: "test_parse takes 19.4 % more instructions (limit 2.0 %)" */
void fz_ci_why(const struct fz_ci_result *r, struct fz_buf *out);
/* A benchmark's change in one sentence: "+18.9 % instructions (1,000 -> 1,189), wall time ..."
 */
void fz_ci_sentence(const struct fz_ci_bench *b, struct fz_buf *out);
/* Its former name, why it was not measured, why it is excused; or nothing. */
void fz_ci_note_of(const struct fz_ci_bench *b, struct fz_buf *out);
/* "+12.3 %", "-0.1 %"; "x 3.2" if more than doubled. */
const char *fz_ci_change(double change, char out[FZ_NUMBER_SIZE]);
/* "wall time +11.2 % [+9.0 %, +13.1 %]", "wall time inconclusive"; nothing if not measured. */
void fz_ci_clock(const struct fz_ci_bench *b, struct fz_buf *out);
/* "parse_body > parse_issue_fixed +183,490 (x 3.2)"; nothing if unknown. */
void fz_ci_place(const struct fz_ci_bench *b, struct fz_buf *out);
void fz_ci_place_text(const struct fz_ci_place *p, const char *unit, struct fz_buf *out);
/* Its verdict for people: "slower", for bytes "larger" (profile/cost_words.h). */
const char *fz_ci_word(const struct fz_ci_bench *b);
/* The word for all benchmarks with a verdict, after their number; mixed: for metrics of different
 * kinds. */
const char *fz_ci_word_of_all(const struct fz_ci_result *r, enum fz_ci_verdict v,
			      const char *mixed);
/* "ignored" or "accepted", with the reason in *ret_why; NULL if neither. */
const char *fz_ci_excuse(const struct fz_ci_bench *b, const char **ret_why);

void fz_ci_text(const struct fz_ci_result *r, const struct fz_style *style, struct fz_buf *out);
void fz_ci_markdown(const struct fz_ci_result *r, struct fz_buf *out);
/* For programs: every verdict with its figures. */
void fz_ci_json(const struct fz_ci_result *r, struct fz_output *out);
enum { FZ_CI_READ_MAX = 20000 }; /* verdicts of a report */
/* Add such a JSON report to a result, which may have benchmarks of other reports. FZ_EINPUT if it
 * is not a report, is of another change, or repeats a benchmark. FZ_ELIMIT: too many. */
int fz_ci_read(struct fz_ci_result *r, struct fz_input *in, struct fz_error *err);
/* Parts of the JSON that other reports share. */
void fz_ci_json_text(struct fz_json *j, const char *key, const char *text); /* NULL: null */
void fz_ci_json_where(struct fz_json *j, const struct fz_ci_place *p);
void fz_ci_junit(const struct fz_ci_result *r, struct fz_buf *out);
/* Workflow commands: "::warning file=...,line=...,title=...::..." */
void fz_ci_annotations(const struct fz_ci_result *r, struct fz_buf *out);
void fz_ci_badge(const struct fz_ci_result *r, struct fz_buf *out);
