/* SPDX-License-Identifier: MIT */
/* Reports for programs. The schemas are documented in docs/diff-json.md and stable. */
#pragma once

#include "base/io.h"
#include "base/json.h"
#include "compare/judge.h"
#include "profile/profile.h"

/* A diff, "schema": 1. */
void fz_report_json_diff(const struct fz_diff *d, const struct fz_judgement *verdicts,
			 struct fz_output *out);
/* One profile: facts, functions and call tree of the default metric, "schema": 1. An inverted tree
 * goes from the innermost functions to their callers. */
void fz_report_json_profile(const struct fz_profile *p, bool inverted, struct fz_output *out);
/* Member "scale" of an open object: factor of base values, and its justification. */
void fz_report_json_scale(struct fz_json *j, const struct fz_diff *d);
/* Member "warnings" of an open object. */
void fz_report_json_warnings(struct fz_json *j, const struct fz_diff *d);
/* What a diff inferred: members "name_rules", "links" and "shifts" of an open object. */
void fz_report_json_rules(struct fz_json *j, const struct fz_diff *d);
void fz_report_json_links(struct fz_json *j, const struct fz_diff *d);
void fz_report_json_splits(struct fz_json *j, const struct fz_diff *d);
void fz_report_json_shifts(struct fz_json *j, const struct fz_diff *d);
/* Member "words" of an open object: the words for "slower" and "faster" that fit the metric. */
void fz_report_json_words(struct fz_json *j, const char *metric, const char *unit);
/* Member "verdict" of the run, including the sentences of the text report. */
void fz_report_json_verdict(struct fz_json *j, const struct fz_diff *d,
			    const struct fz_judgement *verdicts);
