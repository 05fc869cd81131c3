/* SPDX-License-Identifier: MIT */
/* Changes of benchmarks that somebody acknowledged on a server: as JSON, and where they hold.
 *
 * The commit of which that was said is part of what is compared where a pull request is merged. It
 * never arrives where one is squashed or rebased: there the change is known again by the text of
 * its patch, or by its counts, once, and only where it was going: on the branch that it was to go
 * into. The commit that it was found in stands for it from then on, so that a later change, like it
 * or not, is another one. */
#pragma once

#include <jansson.h>

#include "base/json.h"
#include "bench/ci.h"
#include "fleet/results.h"

void fz_ci_accepted_write(struct fz_json *j, const struct fz_results_accepted *a);
/* Texts are the JSON's. False: it is none. */
bool fz_ci_accepted_read(const json_t *v, struct fz_results_accepted *ret);

/* What is compared; "" is what nobody says. */
struct fz_ci_compared {
	const char *pull, *branch, *head, *patch;
};
/* Whether it holds there without another look: it is the same pull request, commit or patch. */
bool fz_ci_accepted_is_here(const struct fz_results_accepted *a, const struct fz_ci_compared *c);
/* Whether it holds there for a benchmark with its counts. */
bool fz_ci_accepted_may_land(const struct fz_results_accepted *a, const struct fz_ci_compared *c);
/* For one run: what it is to know of that. */
void fz_ci_accepted_take(const struct fz_results_accepted *a, const struct fz_ci_compared *c,
			 struct fz_ci_config *config);
