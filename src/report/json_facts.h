/* SPDX-License-Identifier: MIT */
/* The parts of JSON reports that describe a recording. */
#pragma once

#include "base/json.h"
#include "compare/diff.h"

/* Members of an open object: "samples", and for a reconstructed tree, whose rows are no samples,
 * "calls". */
void fz_report_json_counts(struct fz_json *j, const struct fz_profile *p, uint64_t samples);
/* Recorded samples of a side, those with a stack: also the ones that weigh nothing once the head is
 * adjusted to the base's speed. */
uint64_t fz_report_samples(const struct fz_diff *d, enum fz_side side);
/* Member "facts"; unknown ones are left out. */
void fz_report_json_facts(struct fz_json *j, const struct fz_profile *p);
