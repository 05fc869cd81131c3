/* SPDX-License-Identifier: MIT */
/* Ordering functions and wording verdicts; see findings.h. */
#include "report/findings.h"

#include "report/table.h"

#include <math.h>
#include <stdio.h>

/* ---- functions ---- */

static int rank(const struct fz_finding *r)
{
	static const int ranks[FZ_VERDICTS] = {
		[FZ_VERDICT_CHANGED] = 0,
		[FZ_VERDICT_UNKNOWN] = 1,
		[FZ_VERDICT_UNCHANGED] = 2,
	};

	return ranks[r->judged->verdict];
}

static int compare_findings(const void *pa, const void *pb)
{
	const struct fz_finding *a = pa, *b = pb;
	double size_a = fabs(a->change), size_b = fabs(b->change);

	if (rank(a) != rank(b))
		return rank(a) - rank(b);
	if (size_a != size_b)
		return size_a > size_b ? -1 : 1;
	int c = fz_str_cmp(a->f->name, b->f->name);
	if (!c)
		c = fz_str_cmp(a->f->file, b->f->file);
	return c ? c : (a->f > b->f) - (a->f < b->f);
}

void fz_findings_init(struct fz_findings *ret, const struct fz_diff *d,
		      const struct fz_judgement *j, bool total)
{
	*ret = (struct fz_findings){ .rows = fz_calloc(d->function_count, sizeof(*ret->rows)) };
	for (uint32_t i = 0; i < d->function_count; i++) {
		const struct fz_diff_function *f = &d->functions[i];
		const int64_t *cost = total ? f->cost.total : f->cost.self;
		struct fz_finding *r = &ret->rows[ret->n];

		if (!cost[FZ_BASE] && !cost[FZ_HEAD])
			continue;
		*r = (struct fz_finding){ .f = f,
					  .judged = total ? &j->total[i] : &j->self[i],
					  .before = d->factor * (double)cost[FZ_BASE],
					  .after = (double)cost[FZ_HEAD] };
		r->change = r->after - r->before;
		ret->count[r->judged->verdict]++;
		ret->n++;
	}
	if (ret->n)
		qsort(ret->rows, ret->n, sizeof(*ret->rows), compare_findings);
}

void fz_findings_release(struct fz_findings *f)
{
	free(f->rows);
	*f = (struct fz_findings){ 0 };
}

double fz_finding_margin(const struct fz_finding *r)
{
	return FZ_MAX(r->judged->high - r->change, r->change - r->judged->low);
}

const char *fz_finding_percent(const struct fz_finding *r, char out[FZ_NUMBER_SIZE])
{
	if (r->f->state == FZ_NEW)
		return "new";
	if (r->f->state == FZ_REMOVED)
		return "removed";
	if (r->before == 0)
		return "from 0";
	/* Beyond this a factor reads better than a percentage. */
	if (r->change / r->before >= 99.995) {
		char number[FZ_NUMBER_SIZE];
		fz_format_decimal(r->after / r->before, 0, number);
		snprintf(out, FZ_NUMBER_SIZE, "%.*s x", FZ_NUMBER_SIZE - 3, number);
		return out;
	}
	return fz_format_percent_change(r->change / r->before, out);
}

const char *fz_plus_minus(const struct fz_style *style)
{
	return style->ascii ? "+-" : "\u00b1";
}

void fz_findings_summary(const struct fz_findings *f, const struct fz_judgement *j,
			 const struct fz_style *style, struct fz_buf *out)
{
	char changed[FZ_NUMBER_SIZE], same[FZ_NUMBER_SIZE], unknown[FZ_NUMBER_SIZE];
	char delta[FZ_NUMBER_SIZE];

	fz_buf_printf(out, "%s changed, %s unchanged within %s%s of the run, %s cannot tell",
		      fz_format_count(f->count[FZ_VERDICT_CHANGED], changed),
		      fz_format_count(f->count[FZ_VERDICT_UNCHANGED], same), fz_plus_minus(style),
		      fz_format_percent(j->delta, delta),
		      fz_format_count(f->count[FZ_VERDICT_UNKNOWN], unknown));
}

/* ---- the run ---- */

static bool is_time(const struct fz_diff *d)
{
	return strcmp(d->unit, "ns") == 0;
}

/* "2.33 s", "2,330 samples" */
static void add_total(const struct fz_diff *d, double value, struct fz_buf *out)
{
	char number[FZ_NUMBER_SIZE];

	fz_buf_str(out, fz_format_value(value, d->unit, number));
	if (!is_time(d))
		fz_buf_printf(out, " %s", d->metric);
}

/* "2.33 s -> 2.98 s of wall time" */
static void add_totals(const struct fz_diff *d, double before, struct fz_buf *out)
{
	add_total(d, before, out);
	fz_buf_str(out, " -> ");
	add_total(d, (double)d->total[FZ_HEAD], out);
	if (is_time(d))
		fz_buf_printf(out, " of %s", fz_table_metric_title(d->metric));
}

/* "[-1.2 %, +3.4 %]" */
static void add_interval(const struct fz_judged_run *run, struct fz_buf *out)
{
	char low[FZ_NUMBER_SIZE], high[FZ_NUMBER_SIZE];

	fz_buf_printf(out, "[%s, %s]", fz_format_percent_change(run->low, low),
		      fz_format_percent_change(run->high, high));
}

static void add_verdict(const struct fz_judgement *j, const struct fz_style *style,
			struct fz_buf *out)
{
	const struct fz_judged_run *run = &j->run;
	char number[FZ_NUMBER_SIZE];

	switch (run->word) {
	case FZ_RUN_SLOWER:
	case FZ_RUN_FASTER:
		fz_buf_printf(out, "%s by %s ", run->word == FZ_RUN_SLOWER ? "Slower" : "Faster",
			      fz_format_percent(fabs(run->change), number));
		add_interval(run, out);
		break;
	case FZ_RUN_SAME:
		if (j->method == FZ_JUDGE_IDENTICAL)
			fz_buf_str(out, "No change, both are one recording");
		else
			fz_buf_printf(out, "No change beyond %s%s", fz_plus_minus(style),
				      fz_format_percent(FZ_MAX(-run->low, run->high), number));
		break;
	case FZ_RUN_UNKNOWN:
	case FZ_RUN_WORDS:
		fz_buf_str(out, j->method == FZ_JUDGE_NONE ? "Not judged"
							   : "Cannot tell slower from faster");
		break;
	}
}

/* The change of the total, with the interval where the verdict did not have it. */
static void add_change(const struct fz_diff *d, const struct fz_judgement *j, double before,
		       struct fz_buf *out)
{
	double change = (double)d->total[FZ_HEAD] - before;
	bool told = j->run.word == FZ_RUN_SLOWER || j->run.word == FZ_RUN_FASTER;
	char number[FZ_NUMBER_SIZE], percent[FZ_NUMBER_SIZE];

	fz_buf_printf(out, ", %s", fz_format_change(change, d->unit, number));
	if (told || before <= 0)
		return;
	fz_buf_printf(out, " (%s", fz_format_percent_change(change / before, percent));
	if (j->method != FZ_JUDGE_IDENTICAL && isfinite(j->run.low)) {
		fz_buf_char(out, ' ');
		add_interval(&j->run, out);
	}
	fz_buf_char(out, ')');
}

void fz_findings_headline(const struct fz_diff *d, const struct fz_judgement *j,
			  const struct fz_style *style, struct fz_buf *out)
{
	double before = d->factor * (double)d->total[FZ_BASE];

	if (d->scale == FZ_SCALE_SHARE && j->method != FZ_JUDGE_IDENTICAL) {
		fz_buf_str(out, "Total: ");
		add_totals(d, (double)d->total[FZ_BASE], out);
		fz_buf_str(out, "; compared by share, so nothing is said about the whole run.");
		return;
	}
	add_verdict(j, style, out);
	fz_buf_str(out, ": ");
	add_totals(d, before, out);
	add_change(d, j, before, out);
	fz_buf_char(out, '.');
}

void fz_findings_power(const struct fz_judgement *j, struct fz_buf *out)
{
	const struct fz_judged_run *run = &j->run;
	char number[FZ_NUMBER_SIZE], more[FZ_NUMBER_SIZE], goal[FZ_NUMBER_SIZE];

	if (!isfinite(run->smallest_visible))
		return;
	fz_buf_printf(out, "The smallest change of the run that would show here: %s",
		      fz_format_percent(run->smallest_visible, number));
	if (run->more_runs > 0 && run->more_runs < 1e6)
		fz_buf_printf(out, "; %s a side would show %s",
			      fz_format_plural((int64_t)ceil(run->more_runs), "more run", more),
			      fz_format_percent(FZ_JUDGE_DEFAULTS.run_delta, goal));
	fz_buf_char(out, '.');
}

void fz_findings_method(const struct fz_diff *d, const struct fz_judgement *j, struct fz_buf *out)
{
	const struct fz_profile *base = d->profile[FZ_BASE], *head = d->profile[FZ_HEAD];

	switch (j->method) {
	case FZ_JUDGE_IDENTICAL:
		fz_buf_str(out, "Judged: the two recordings are one.");
		break;
	case FZ_JUDGE_VISITS:
		fz_buf_printf(out,
			      "Judged: one run a side, by how often and how long each function "
			      "was seen, with the noise of a %s clock.",
			      j->cpu_clock ? "CPU" : "wall");
		break;
	case FZ_JUDGE_APPROXIMATE:
		fz_buf_str(out, "Judged: approximately. A recording does not tell the order of "
				"its samples, so a usual noise is assumed.");
		break;
	case FZ_JUDGE_RUNS:
		fz_buf_printf(out,
			      "Judged: %u against %u runs, by how they differ among "
			      "themselves.",
			      FZ_MAX(base->run_count, 1), FZ_MAX(head->run_count, 1));
		break;
	case FZ_JUDGE_COUNTS:
		fz_buf_str(out, "Judged: counted, not sampled; by what counts differ from run to "
				"run.");
		break;
	case FZ_JUDGE_NONE:
	case FZ_JUDGE_METHODS:
		fz_buf_str(out, "Not judged: there are no samples on a side, or there is no test "
				"for this metric.");
		break;
	}
}

static void add_reason(const struct fz_diff *d, struct fz_buf *out)
{
	switch (d->scale) {
	case FZ_SCALE_SHARE:
		fz_buf_str(out, " to make the totals equal");
		break;
	case FZ_SCALE_REFERENCE:
		fz_buf_str(out, ", so that the typical function is unchanged");
		break;
	case FZ_SCALE_UNIT:
		fz_buf_printf(out, " for %.10g units of work after %.10g", d->units[FZ_HEAD],
			      d->units[FZ_BASE]);
		break;
	case FZ_SCALE_TIME:
	case FZ_SCALE_AUTO:
		if (strcmp(d->metric, "samples") == 0)
			fz_buf_str(out, " for the different sampling rates");
		else
			fz_buf_str(out, " for the different numbers of runs");
		break;
	}
}

void fz_findings_scaling(const struct fz_diff *d, struct fz_buf *out)
{
	char number[FZ_NUMBER_SIZE];

	fz_buf_printf(out, "Scaling: %s", fz_scale_names[d->scale]);
	if (d->factor == 1)
		fz_buf_str(out, "; base values stand as recorded.");
	else
		fz_buf_printf(out, "; base values are multiplied by %s",
			      fz_format_decimal(d->factor, 4, number));
	if (d->factor == 1)
		return;
	add_reason(d, out);
	fz_buf_char(out, '.');
}
