/* SPDX-License-Identifier: MIT */
/* The parts of JSON reports that describe a recording. */
#pragma once

#include "base/json.h"
#include "profile/profile.h"

/* Members of an open object: "samples", and for a reconstructed tree, whose rows are no samples,
 * "calls". */
void fz_report_json_counts(struct fz_json *j, const struct fz_profile *p, uint64_t samples);
/* Member "facts"; unknown ones are left out. */
void fz_report_json_facts(struct fz_json *j, const struct fz_profile *p);
