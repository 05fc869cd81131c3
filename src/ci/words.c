/* SPDX-License-Identifier: MIT */
/* The sentences that all reports share; see report.h. */
#include "ci/report.h"

#include <math.h>
#include <stdio.h>

/* ---- one benchmark ---- */

const char *fz_ci_change(double change, char out[FZ_NUMBER_SIZE])
{
	if (isnan(change))
		out[0] = '\0';
	else if (change >= 1)
		snprintf(out, FZ_NUMBER_SIZE, isinf(change) ? "new cost" : "x %.*f",
			 change < 9 ? 2 : 0, 1 + change);
	else
		fz_format_percent_change(change, out);
	return out;
}

void fz_ci_wall(const struct fz_ci_bench *b, struct fz_buf *out)
{
	char change[FZ_NUMBER_SIZE], low[FZ_NUMBER_SIZE], high[FZ_NUMBER_SIZE];

	if (!b->wall.n)
		return;
	fz_buf_str(out, fz_format_percent_change(b->wall.change, change));
	if (isfinite(b->wall.low))
		fz_buf_printf(out, " [%s, %s]", fz_format_percent_change(b->wall.low, low),
			      fz_format_percent_change(b->wall.high, high));
	if (!b->wall.decided)
		fz_buf_str(out, ", not decided");
}

void fz_ci_place(const struct fz_ci_result *r, const struct fz_ci_bench *b, struct fz_buf *out)
{
	fz_ci_place_text(&b->place, r->unit, out);
}

void fz_ci_place_text(const struct fz_ci_place *p, const char *unit, struct fz_buf *out)
{
	char change[FZ_NUMBER_SIZE];

	if (!p->context)
		return;
	fz_buf_printf(out, "%s %s", p->context, fz_format_change(p->change, unit, change));
	if (p->base > 0 && p->change > p->base)
		fz_buf_printf(out, " (x %.1f)", 1 + p->change / p->base);
	else if (p->base <= 0)
		fz_buf_str(out, " (new)");
}

const char *fz_ci_excuse(const struct fz_ci_bench *b, const char **ret_why)
{
	*ret_why = b->ignored ? b->ignored : b->accepted;
	if (!*ret_why || b->verdict == FZ_CI_SAME)
		return NULL;
	return b->ignored ? "ignored" : "accepted";
}

static void add_figures(const struct fz_ci_result *r, const struct fz_ci_bench *b,
			struct fz_buf *out)
{
	char change[FZ_NUMBER_SIZE], base[FZ_NUMBER_SIZE], head[FZ_NUMBER_SIZE];

	fz_format_value(b->count[FZ_BASE], r->unit, base);
	fz_format_value(b->count[FZ_HEAD], r->unit, head);
	if (b->verdict == FZ_CI_NEW)
		fz_buf_printf(out, "new: %s %s", head, r->metric);
	else if (b->verdict == FZ_CI_MISSING)
		fz_buf_printf(out, "missing: the base has it with %s %s", base, r->metric);
	else
		fz_buf_printf(out, "%s %s (%s -> %s)", fz_ci_change(b->change, change), r->metric,
			      base, head);
}

static void begin_part(struct fz_buf *out, size_t start)
{
	if (out->n > start)
		fz_buf_str(out, "; ");
}

void fz_ci_reasons(const struct fz_ci_result *r, const struct fz_ci_bench *b, struct fz_buf *out)
{
	const char *why, *excuse = fz_ci_excuse(b, &why);
	size_t start = out->n;

	if (b->trouble)
		fz_buf_printf(out, "not measured: %s", b->trouble);
	if (b->wall.n) {
		begin_part(out, start);
		fz_buf_str(out, "by the clock ");
		fz_ci_wall(b, out);
	}
	if (b->place.context) {
		begin_part(out, start);
		fz_buf_str(out, "in ");
		fz_ci_place(r, b, out);
	}
	if (excuse) {
		begin_part(out, start);
		fz_buf_printf(out, "%s: %s", excuse, why);
	}
}

void fz_ci_sentence(const struct fz_ci_result *r, const struct fz_ci_bench *b, struct fz_buf *out)
{
	fz_auto(fz_buf_release) struct fz_buf reasons = { 0 };
	size_t start = out->n;

	fz_ci_reasons(r, b, &reasons);
	if (!b->trouble)
		add_figures(r, b, out);
	if (reasons.n) {
		begin_part(out, start);
		fz_buf_add(out, reasons.p, reasons.n);
	}
}

/* ---- all ---- */

static void add_count(struct fz_buf *out, uint32_t n, const char *word, const char **separator)
{
	if (!n)
		return;
	fz_buf_printf(out, "%s%u %s", *separator, n, word);
	*separator = ", ";
}

void fz_ci_headline(const struct fz_ci_result *r, struct fz_buf *out)
{
	static const enum fz_ci_verdict order[] = {
		FZ_CI_SLOWER, FZ_CI_DISAGREE, FZ_CI_MISSING, FZ_CI_NOT_COMPARABLE,
		FZ_CI_FASTER, FZ_CI_LAYOUT,   FZ_CI_NEW,     FZ_CI_SAME,
	};
	const char *separator = ": ";
	int status = fz_ci_exit(r);

	fz_buf_str(out, status == 2 ? "Performance could not be judged"
			: status    ? "Performance regression"
				    : "No performance regression");
	for (size_t i = 0; i < FZ_ARRAY_LEN(order); i++)
		add_count(out, r->count[order[i]], fz_ci_verdict_names[order[i]], &separator);
	if (!r->n)
		fz_buf_str(out, ": no benchmark was counted");
}

/* ---- a terminal ---- */

static enum fz_hue hue_of(const struct fz_ci_bench *b)
{
	switch (b->verdict) {
	case FZ_CI_SLOWER:
	case FZ_CI_MISSING:
		return FZ_HUE_RED;
	case FZ_CI_FASTER:
		return FZ_HUE_BLUE;
	case FZ_CI_DISAGREE:
	case FZ_CI_NOT_COMPARABLE:
		return FZ_HUE_PURPLE;
	default:
		return FZ_HUE_NONE;
	}
}

static void text_row(const struct fz_ci_result *r, const struct fz_ci_bench *b, int width,
		     const struct fz_style *style, struct fz_buf *out)
{
	char name[256], change[FZ_NUMBER_SIZE], base[FZ_NUMBER_SIZE], head[FZ_NUMBER_SIZE];
	char limit[FZ_NUMBER_SIZE];
	const char *why, *excuse = fz_ci_excuse(b, &why);

	fz_str_printable(b->name.p, b->name.n, name, sizeof(name));
	fz_format_value(b->count[FZ_BASE], r->unit, base);
	fz_format_value(b->count[FZ_HEAD], r->unit, head);
	fz_buf_printf(out, "%s%-14s%s %-*s %15s %15s %9s", fz_hue_on(style, hue_of(b)),
		      fz_ci_verdict_names[b->verdict], fz_hue_off(style, hue_of(b)), width, name,
		      b->on_side[FZ_BASE] ? base : "-", b->on_side[FZ_HEAD] ? head : "-",
		      fz_ci_change(b->change, change));
	fz_buf_printf(out, " %8s\n", fz_format_percent(b->limit, limit));
	if (b->wall.n) {
		fz_buf_str(out, "               clock: ");
		fz_ci_wall(b, out);
		fz_buf_printf(out, ", %u pairs\n", b->wall.n);
	}
	if (b->place.context) {
		fz_buf_str(out, "               where: ");
		fz_ci_place(r, b, out);
		if (b->place.file)
			fz_buf_printf(out, "  %s:%d", b->place.file, b->place.line);
		fz_buf_char(out, '\n');
	}
	if (excuse)
		fz_buf_printf(out, "               %s: %s\n", excuse, why);
}

void fz_ci_text(const struct fz_ci_result *r, const struct fz_style *style, struct fz_buf *out)
{
	int width = 9;

	for (uint32_t i = 0; i < r->n; i++)
		width = FZ_MAX(width, (int)FZ_MIN(r->benches[i].name.n, (size_t)40));
	if (r->n)
		fz_buf_printf(out, "%s%-14s %-*s %15s %15s %9s %8s%s\n",
			      fz_hue_on(style, FZ_HUE_DIM), "verdict", width, "benchmark", "base",
			      "head", "change", "limit", fz_hue_off(style, FZ_HUE_DIM));
	for (uint32_t i = 0; i < r->n; i++)
		text_row(r, &r->benches[i], width, style, out);
	if (r->n)
		fz_buf_char(out, '\n');
	fz_ci_headline(r, out);
	fz_buf_str(out, ".\n");
}
