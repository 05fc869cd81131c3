/* SPDX-License-Identifier: MIT */
/* Whether the words of a judgement agree with its intervals, and both with what is shown. cmocka.h
 * comes first. */
#pragma once

#include <math.h>

#include "compare/judge.h"

static inline void check_agreement_of(const struct fz_judged *v, const struct fz_diff *d,
				      const int64_t *cost, double margin, bool shown)
{
	double delta = fz_diff_delta(d, cost[FZ_BASE], cost[FZ_HEAD]);
	double expected = fabs(fz_diff_expected(d, cost[FZ_BASE])); /* (files hold any sign) */

	if (isnan(v->low)) {
		assert_true(isnan(v->high) && v->verdict != FZ_VERDICT_CHANGED);
		assert_true(v->verdict == FZ_VERDICT_UNKNOWN || !shown);
		return;
	}
	assert_true(isfinite(v->low) && isfinite(v->high));
	assert_true(v->low <= delta && delta <= v->high);
	assert_true(v->low >= -expected * (1 + 1e-9));
	assert_true(v->confidence >= 0.95 && v->confidence <= 1);
	if (v->verdict == FZ_VERDICT_UNCHANGED)
		assert_true(v->low >= -margin && v->high <= margin);
	else
		assert_true((v->verdict == FZ_VERDICT_CHANGED) == (v->low > 0 || v->high < 0));
}

static inline void check_run_agreement(const struct fz_diff *d, const struct fz_judgement *j,
				       double margin)
{
	const struct fz_judged_run *run = &j->run;
	bool certain = run->word == FZ_RUN_SLOWER || run->word == FZ_RUN_FASTER;

	if (isnan(run->low)) {
		assert_int_equal(run->word, FZ_RUN_UNKNOWN);
		return;
	}
	assert_true(isfinite(run->low) && isfinite(run->high) && run->low >= -1);
	assert_true(run->low <= run->change && run->change <= run->high);
	if (run->word == FZ_RUN_SAME)
		assert_true(run->low >= -margin && run->high <= margin);
	else
		assert_true(certain == (run->low > 0 || run->high < 0));
	assert_true(!certain || (run->word == FZ_RUN_SLOWER) == (run->low > 0));
	(void)d;
}

static inline void check_agreement(const struct fz_diff *d, const struct fz_judgement *j)
{
	double run = (fz_diff_expected(d, d->total[FZ_BASE]) + (double)d->total[FZ_HEAD]) / 2;
	double larger = FZ_MAX(fz_diff_expected(d, d->total[FZ_BASE]), (double)d->total[FZ_HEAD]);
	double margin = j->delta * (j->method == FZ_JUDGE_COUNTS ? larger : run);

	margin = margin * (1 + 1e-6) + 1;
	check_run_agreement(d, j, FZ_JUDGE_DEFAULTS.run_delta);
	for (uint32_t i = 0; i < d->function_count; i++) {
		/* With 90 % of the run it has the run's verdict instead of its own. */
		if ((double)d->functions[i].cost.self[FZ_HEAD] < 0.9 * (double)d->total[FZ_HEAD] &&
		    j->self[i].verdict == FZ_VERDICT_CHANGED && !isnan(j->self[i].p))
			assert_true(j->self[i].p <= 0.05);
		check_agreement_of(&j->self[i], d, d->functions[i].cost.self, margin, true);
		check_agreement_of(&j->total[i], d, d->functions[i].cost.total, margin, true);
	}
	for (uint32_t i = 0; j->path_self && i < d->node_count; i++) {
		check_agreement_of(&j->path_self[i], d, d->nodes[i].cost.self, margin, false);
		check_agreement_of(&j->path_total[i], d, d->nodes[i].cost.total, margin, false);
	}
}
