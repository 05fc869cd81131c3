/* SPDX-License-Identifier: MIT */
/* Decides which differences are real; all verdicts come from here.
 *
 *   samples -> evidence.h -> a test of src/stats -> families corrected -> verdicts
 *
 * The test follows from the recordings:
 *
 *   one recording compared with itself          identical: nothing changed
 *   one run per side, samples in order          visits
 *   one run per side, order unknown             approximate
 *   several runs                                runs
 *   deterministic counts (instructions, bytes)  counts
 *   anything else, or nothing on a side         none: everything is unknown
 *
 * Changes are head - factor * base in the comparison's unit, exactly as in reports, with intervals
 * around them; see docs/statistics.md. Unreadable samples ("[unreadable]") are never judged.
 */
#pragma once

#include "compare/diff.h"
#include "compare/judgement.h"

/* Divides costs and intervals by the number of runs per side, and the samples of both profiles,
 * too; nothing can be judged afterwards. Numbers of samples are not divided.
 */
void fz_diff_per_run(struct fz_diff *d, struct fz_judgement *j, struct fz_profile *base,
		     struct fz_profile *head);

/* For counts: the largest difference that is not a change, in unit, of the benchmark at that root
 * and anything below it. */
double fz_judge_benchmark_bound(const struct fz_diff *d, uint32_t root);

/* Never fails: anything that cannot be judged is unknown. The judgement keeps no pointer to the
 * diff. */
struct fz_judgement *fz_judge(const struct fz_diff *d, const struct fz_judge_options *options);
