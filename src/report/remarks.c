/* SPDX-License-Identifier: MIT */
/* Warnings about what a format omits or changes when a profile is written; see report.h. */
#include "report/report.h"

#include "base/text.h"
#include "format/metric_fit.h"
#include "format/tachyon_plan.h"

static void add(struct fz_buf *out, const char *text)
{
	fz_buf_printf(out, "%s%s", out->n ? "; " : "", text);
}

static void remark_left_out(const struct fz_profile *p, int64_t left, const char *why,
			    struct fz_buf *out)
{
	int64_t total = fz_fit_total(p);
	char percent[FZ_NUMBER_SIZE];

	if (left <= 0 || total <= 0)
		return;
	fz_auto(fz_free_ptr) char *text =
		fz_asprintf("%s of '%s' %s and is left out",
			    fz_format_percent((double)left / (double)total, percent),
			    p->metrics[p->default_metric].name, why);
	add(out, text);
}

static void remark_rounding(const struct fz_profile *p, struct fz_buf *out)
{
	fz_auto(fz_tachyon_plan_release) struct fz_tachyon_plan plan = { 0 };
	char percent[FZ_NUMBER_SIZE], interval[FZ_NUMBER_SIZE];
	struct fz_error err;

	if (fz_fit_is_even(p) || fz_tachyon_plan_init(&plan, p, &err) || plan.moved < 0.01)
		return;
	fz_auto(fz_free_ptr) char *text = fz_asprintf(
		"%s of '%s' is rounded to whole samples of %s",
		fz_format_percent(plan.moved, percent), p->metrics[p->default_metric].name,
		fz_format_ns((double)plan.interval_ns, interval));
	add(out, text);
}

void fz_report_remarks(const struct fz_report *r, const struct fz_profile *p, struct fz_buf *out)
{
	bool binary = r->codec && strcmp(r->codec, "tachyon") == 0;

	if (!p->metric_count)
		return;
	if (r->drops_stackless)
		remark_left_out(p, fz_fit_stackless(p), "has no stack", out);
	if (r->drops_negative)
		remark_left_out(p, -fz_fit_negative(p), "is negative", out);
	if (r->holds_times && fz_fit_assumes_length(p))
		add(out,
		    "samples are written as 1 ms each, because the sampling interval is unknown");
	if (binary && fz_fit_makes_samples(p))
		add(out, "samples are converted from times, not sampled; CPython cannot "
			 "distinguish them");
	if (binary)
		remark_rounding(p, out);
}
