/* SPDX-License-Identifier: MIT */
/* Memory that several threads share while each reads something. A part is what one of them has
 * taken, with a limit of its own; only its owner's thread uses it. */
#pragma once

#include <stdatomic.h>

#include "base.h"
#include "error.h"

struct fz_budget {
	uint64_t limit;            /* bytes */
	atomic_ullong taken, peak; /* by all parts; never above the limit */
};

struct fz_budget_part {
	struct fz_budget *budget;
	uint64_t limit, taken;
	enum { FZ_BUDGET_FITS, FZ_BUDGET_OVER_PART, FZ_BUDGET_OVER_ALL } state;
};

/* Take memory, or nothing and false. Then nothing more can be taken until something is given back.
 */
bool fz_budget_take(struct fz_budget_part *part, uint64_t bytes);
void fz_budget_give(struct fz_budget_part *part, uint64_t bytes);
/* Report that a part cannot take what reading `name` needs: FZ_ELIMIT, or FZ_EAGAIN if only others
 * are in the way. 0 if it can. */
int fz_budget_check(const struct fz_budget_part *part, const char *name, struct fz_error *err);
void fz_budget_release(struct fz_budget_part *part);
