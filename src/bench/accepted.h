/* SPDX-License-Identifier: MIT */
/* Changes of benchmarks accepted on a server: as JSON, and where they apply.
 *
 * If a pull request is merged, the accepted commit is among the compared commits. If it is squashed
 * or rebased, that commit never lands. Then the change is recognised by the text of its patch or by
 * its counts, once, and only on its target branch. The commit in which it was recognised replaces
 * the accepted one from then on, so any later change must be accepted separately. */
#pragma once

#include <jansson.h>

#include "base/json.h"
#include "bench/ci.h"
#include "fleet/results.h"

void fz_ci_accepted_write(struct fz_json *j, const struct fz_results_accepted *a);
/* Texts are borrowed from v. False if v is not an accepted change. */
bool fz_ci_accepted_read(const json_t *v, struct fz_results_accepted *ret);

/* The compared revisions; "" if unknown. */
struct fz_ci_compared {
	const char *pull, *branch, *head, *patch;
};
/* True if it certainly applies: same pull request, commit or patch. */
bool fz_ci_accepted_is_here(const struct fz_results_accepted *a, const struct fz_ci_compared *c);
/* True if it applies to a benchmark with the same counts. */
bool fz_ci_accepted_may_land(const struct fz_results_accepted *a, const struct fz_ci_compared *c);
/* Add it to the configuration of a run. */
void fz_ci_accepted_apply(const struct fz_results_accepted *a, const struct fz_ci_compared *c,
			  struct fz_ci_config *config);
