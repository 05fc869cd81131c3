/* SPDX-License-Identifier: MIT */
#include "verdict.h"

#include "base/base.h"

const char *const fz_verdict_names[FZ_VERDICTS] = { "unknown", "unchanged", "changed" };

enum fz_verdict fz_verdict_of(double low, double high, bool rejected, double margin)
{
	fz_assert(margin >= 0);
	fz_assert(!rejected || low > 0 || high < 0);
	if (rejected)
		return FZ_VERDICT_CHANGED;
	if (low >= -margin && high <= margin)
		return FZ_VERDICT_UNCHANGED;
	return FZ_VERDICT_UNKNOWN;
}
