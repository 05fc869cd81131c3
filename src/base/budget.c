/* SPDX-License-Identifier: MIT */
/* Only counts bytes; see budget.h. The owner of a part first takes bytes from the budget, then
 * allocates them. */
#include "budget.h"

bool fz_budget_take(struct fz_budget_part *part, uint64_t bytes)
{
	struct fz_budget *b = part->budget;
	unsigned long long all = atomic_load(&b->taken), peak;

	fz_assert(part->taken <= part->limit && all <= b->limit);
	if (part->state != FZ_BUDGET_FITS)
		return false;
	if (bytes > part->limit - part->taken) {
		part->state = FZ_BUDGET_OVER_PART;
		return false;
	}
	do {
		if (bytes > b->limit - all) {
			part->state = FZ_BUDGET_OVER_ALL;
			return false;
		}
	} while (!atomic_compare_exchange_weak(&b->taken, &all, all + bytes));
	part->taken += bytes;
	peak = atomic_load(&b->peak);
	while (peak < all + bytes && !atomic_compare_exchange_weak(&b->peak, &peak, all + bytes))
		;
	return true;
}

void fz_budget_give(struct fz_budget_part *part, uint64_t bytes)
{
	fz_assert(bytes <= part->taken);
	part->taken -= bytes;
	part->state = FZ_BUDGET_FITS;
	atomic_fetch_sub(&part->budget->taken, bytes);
}

int fz_budget_check(const struct fz_budget_part *part, const char *name, struct fz_error *err)
{
	if (part->state == FZ_BUDGET_OVER_PART)
		return fz_fail(err, FZ_ELIMIT, "%s: takes more than %llu MiB of memory to read",
			       name, (unsigned long long)(part->limit >> 20));
	if (part->state == FZ_BUDGET_OVER_ALL)
		return fz_fail(err, FZ_EAGAIN,
			       "%s: other profiles are being read, and all of them would take more "
			       "than %llu MiB of memory; try again in a few seconds",
			       name, (unsigned long long)(part->budget->limit >> 20));
	return 0;
}

void fz_budget_release(struct fz_budget_part *part)
{
	fz_budget_give(part, part->taken);
}
