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
/* One profile: facts, functions and call tree of the default metric, "schema": 1. Inverted, the
 * tree goes from what ran to its callers. */
void fz_report_json_profile(const struct fz_profile *p, bool inverted, struct fz_output *out);
/* "scale" of an open object: how base values are multiplied, and by what right. */
void fz_report_json_scale(struct fz_json *j, const struct fz_diff *d);
/* "warnings" of an open object. */
void fz_report_json_warnings(struct fz_json *j, const struct fz_diff *d);
/* The parts of a diff that tell what was inferred: "name_rules", "links" and "shifts" of an open
 * object. */
void fz_report_json_rules(struct fz_json *j, const struct fz_diff *d);
void fz_report_json_links(struct fz_json *j, const struct fz_diff *d);
void fz_report_json_splits(struct fz_json *j, const struct fz_diff *d);
void fz_report_json_shifts(struct fz_json *j, const struct fz_diff *d);
/* "words" of an open object: what people call "slower" and "faster", of what was measured. */
void fz_report_json_words(struct fz_json *j, const char *metric, const char *unit);
/* "verdict" of the run, also as the sentences of the text report. */
void fz_report_json_verdict(struct fz_json *j, const struct fz_diff *d,
			    const struct fz_judgement *verdicts);
