/* SPDX-License-Identifier: MIT */
/* Gates; see gate.h. */
#include "compare/gate.h"

#include <math.h>

#include "base/text.h"
#include "profile/cost_words.h"

const char *const fz_gate_names[] = { "none", "regression", "change", "function-regression", NULL };

static void explain_run(const struct fz_diff *d, const struct fz_judged_run *run, double threshold,
			struct fz_buf *why)
{
	const struct fz_cost_words *words = fz_cost_words(d->metric, d->unit);
	char change[FZ_NUMBER_SIZE], limit[FZ_NUMBER_SIZE];

	fz_buf_printf(why, "the run %s %s by %s, past the threshold of %s", words->is,
		      run->word == FZ_RUN_SLOWER ? words->more : words->less,
		      fz_format_percent(fabs(run->change), change),
		      fz_format_percent(threshold, limit));
}

static bool run_closes(enum fz_gate gate, double threshold, const struct fz_diff *d,
		       const struct fz_judgement *j, struct fz_buf *why)
{
	const struct fz_judged_run *run = &j->run;
	bool asked = run->word == FZ_RUN_SLOWER ||
		     (gate == FZ_GATE_CHANGE && run->word == FZ_RUN_FASTER);

	if (isnan(run->change)) {
		fz_buf_str(why, "no verdict for the run, so the gate was not applied; shares "
				"and windows never have one");
		return false;
	}
	if (!asked || fabs(run->change) < threshold)
		return false;
	explain_run(d, run, threshold, why);
	return true;
}

/* Whether a function certainly costs more, by more than the threshold. */
static bool exceeds_threshold(const struct fz_diff *d, const struct fz_judged *judged,
			      const int64_t *cost, double threshold)
{
	double scaled = d->factor * (double)cost[FZ_BASE];
	double change = fz_diff_delta(d, cost[FZ_BASE], cost[FZ_HEAD]);

	return judged->verdict == FZ_VERDICT_CHANGED && change > 0 && change >= threshold * scaled;
}

static bool function_closes(double threshold, const struct fz_diff *d, const struct fz_judgement *j,
			    struct fz_buf *why)
{
	const struct fz_cost_words *words = fz_cost_words(d->metric, d->unit);
	char safe[256], limit[FZ_NUMBER_SIZE];
	const struct fz_diff_function *worst = NULL;
	double largest = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->function_count; i++) {
		const struct fz_diff_cost *cost = &d->functions[i].cost;
		bool self = exceeds_threshold(d, &j->self[i], cost->self, threshold);
		if (!self && !exceeds_threshold(d, &j->total[i], cost->total, threshold))
			continue;
		const int64_t *by = self ? cost->self : cost->total;
		double change = fz_diff_delta(d, by[FZ_BASE], by[FZ_HEAD]);
		n++;
		if (!worst || change > largest) {
			worst = &d->functions[i];
			largest = change;
		}
	}
	if (!worst)
		return false;
	size_t length = fz_str_printable(worst->name.p, worst->name.n, safe, sizeof(safe));
	fz_buf_printf(why, "%s %s %s, past the threshold of %s: %.*s%s",
		      n == 1 ? "a function" : "functions", n == 1 ? words->is : words->are,
		      words->more, fz_format_percent(threshold, limit), (int)length, safe,
		      n == 1 ? "" : " most of all");
	return true;
}

bool fz_gate_closes(enum fz_gate gate, double threshold, const struct fz_diff *d,
		    const struct fz_judgement *j, struct fz_buf *why)
{
	switch (gate) {
	case FZ_GATE_REGRESSION:
	case FZ_GATE_CHANGE:
		return run_closes(gate, threshold, d, j, why);
	case FZ_GATE_FUNCTION:
		return function_closes(threshold, d, j, why);
	case FZ_GATE_NONE:
		break;
	}
	return false;
}
