/* SPDX-License-Identifier: MIT */
/* A search through history, for people and for programs; see search.h. */
#include "bench/search.h"

#include <math.h>

const char *const fz_ci_side_names[] = { "unknown", "good", "bad", "skipped" };

void fz_ci_search_release(struct fz_ci_search *s)
{
	fz_ci_release(&s->ends);
	fz_ci_release(&s->change);
	for (uint32_t i = 0; i < s->hidden_n; i++)
		free(s->hidden[i]);
	free(s->hidden);
	free(s->steps);
	fz_arena_release(&s->arena);
	*s = FZ_CI_SEARCH_INIT;
}

static const char *keep(struct fz_ci_search *s, const char *text)
{
	return fz_arena_strndup(&s->arena, text, strlen(text));
}

struct fz_ci_step *fz_ci_search_add(struct fz_ci_search *s, const char *commit, const char *day,
				    const char *subject)
{
	fz_grow(s->steps, s->n, s->cap);
	struct fz_ci_step *step = &s->steps[s->n++];
	*step = (struct fz_ci_step){ .commit = keep(s, commit),
				     .day = keep(s, day),
				     .subject = keep(s, subject),
				     .count = NAN };
	return step;
}

static const struct fz_ci_bench *bench_in(const struct fz_ci_search *s,
					  const struct fz_ci_result *r)
{
	for (uint32_t i = 0; i < r->n && s->name; i++)
		if (fz_str_eq(r->benches[i].name, fz_str_of(s->name)))
			return &r->benches[i];
	return NULL;
}

/* ---- a terminal ---- */

void fz_ci_search_line(const struct fz_ci_search *s, const struct fz_ci_step *step,
		       struct fz_buf *out)
{
	char number[FZ_NUMBER_SIZE], change[FZ_NUMBER_SIZE];
	double good = s->good == FZ_NONE ? NAN : s->steps[s->good].count;

	fz_buf_printf(out, "%.10s", step->commit);
	if (!isnan(step->count))
		fz_buf_printf(
			out, " %s",
			fz_format_value(step->count, fz_ci_unit(s->ends.metrics.list[0]), number));
	if (good > 0 && step != &s->steps[s->good] && !isnan(step->count))
		fz_buf_printf(out, " (%s)", fz_ci_change(step->count / good - 1, change));
	fz_buf_printf(out, ": %s", fz_ci_side_names[step->side]);
	if (step->why)
		fz_buf_printf(out, ", %s", step->why);
}

static void add_printable(struct fz_buf *out, struct fz_str text)
{
	char safe[512];

	fz_buf_add(out, safe, fz_str_printable(text.p, text.n, safe, sizeof(safe)));
}

static void text_step(const struct fz_ci_step *step, const struct fz_style *style,
		      struct fz_buf *out)
{
	fz_buf_printf(out, "%s%.10s%s %s ", fz_hue_on(style, FZ_HUE_BOLD), step->commit,
		      fz_hue_off(style, FZ_HUE_BOLD), step->day);
	add_printable(out, fz_str_of(step->subject));
	fz_buf_char(out, '\n');
}

/* "test_parse: +18.9 % instructions (...)", and where. */
static void text_change(const struct fz_ci_search *s, const struct fz_ci_bench *b,
			const struct fz_style *style, struct fz_buf *out)
{
	enum fz_hue hue = b->change > 0 ? FZ_HUE_RED : FZ_HUE_BLUE;
	char change[FZ_NUMBER_SIZE], base[FZ_NUMBER_SIZE], head[FZ_NUMBER_SIZE];

	add_printable(out, fz_str_of(s->name));
	fz_buf_printf(out, ": %s%s%s %s (%s -> %s)\n", fz_hue_on(style, hue),
		      fz_ci_change(b->change, change), fz_hue_off(style, hue), b->metric,
		      fz_format_value(b->count[FZ_BASE], b->unit, base),
		      fz_format_value(b->count[FZ_HEAD], b->unit, head));
	if (!b->place.context)
		return;
	fz_buf_str(out, "where: ");
	fz_ci_place(b, out);
	if (b->place.file)
		fz_buf_printf(out, "  %s:%d", b->place.file, b->place.line);
	fz_buf_char(out, '\n');
}

/* Other benchmarks that the same commit changed. */
static void text_others(const struct fz_ci_search *s, const struct fz_ci_bench *but,
			struct fz_buf *out)
{
	char change[FZ_NUMBER_SIZE];
	const char *separator = "also: ";

	for (uint32_t i = 0; i < s->change.n; i++) {
		const struct fz_ci_bench *b = &s->change.benches[i];
		if (b == but || !b->suspect)
			continue;
		fz_buf_str(out, separator);
		add_printable(out, b->name);
		fz_buf_printf(out, " %s", fz_ci_change(b->change, change));
		separator = ", ";
	}
	if (*separator == ',')
		fz_buf_char(out, '\n');
}

static void text_found(const struct fz_ci_search *s, const struct fz_style *style,
		       struct fz_buf *out)
{
	const struct fz_ci_bench *b = bench_in(s, &s->change), *whole = bench_in(s, &s->ends);
	char change[FZ_NUMBER_SIZE];

	text_step(&s->steps[s->found], style, out);
	text_change(s, b, style, out);
	text_others(s, b, out);
	if (!s->parent)
		fz_buf_printf(out, "its parent could not be counted; compared with %.10s\n",
			      s->steps[s->before].commit);
	/* Other commits may also have changed the benchmark. */
	if (fabs(whole->change - b->change) > 0.1 * fabs(whole->change))
		fz_buf_printf(out, "from good to bad it is %s\n",
			      fz_ci_change(whole->change, change));
}

static void text_hidden(const struct fz_ci_search *s, const struct fz_style *style,
			struct fz_buf *out)
{
	const struct fz_ci_bench *b = bench_in(s, &s->change);

	fz_buf_str(out, "one of these, of which only the last could be counted:\n");
	for (uint32_t i = s->hidden_n; i-- > 0;)
		fz_buf_printf(out, "  %.10s\n", s->hidden[i]);
	text_change(s, b, style, out);
}

static void text_same(const struct fz_ci_search *s, struct fz_buf *out)
{
	char change[FZ_NUMBER_SIZE], limit[FZ_NUMBER_SIZE];

	for (uint32_t i = 0; i < s->ends.n; i++) {
		const struct fz_ci_bench *b = &s->ends.benches[i];
		if (isnan(b->change))
			continue;
		add_printable(out, b->name);
		fz_buf_printf(out, ": %s %s, not past %s\n", fz_ci_change(b->change, change),
			      b->metric, fz_format_percent(b->limit, limit));
	}
	fz_buf_printf(out, "good (%.10s) and bad (%.10s) do not differ.\n",
		      s->steps[s->good].commit, s->steps[s->bad].commit);
}

static uint32_t count_skipped(const struct fz_ci_search *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		n += s->steps[i].side == FZ_CI_SKIPPED;
	return n;
}

void fz_ci_search_text(const struct fz_ci_search *s, const struct fz_style *style,
		       struct fz_buf *out)
{
	uint32_t skipped = count_skipped(s);
	char commits[FZ_NUMBER_SIZE];

	if (s->found != FZ_NONE)
		text_found(s, style, out);
	else if (s->hidden_n)
		text_hidden(s, style, out);
	else
		text_same(s, out);
	if (!s->range)
		return;
	fz_buf_printf(out, "%s%s between good and bad, %u counted", fz_hue_on(style, FZ_HUE_DIM),
		      fz_format_plural(s->range, "commit", commits), s->n - skipped);
	if (skipped)
		fz_buf_printf(out, ", %u skipped", skipped);
	fz_buf_printf(out, "%s\n", fz_hue_off(style, FZ_HUE_DIM));
}

/* ---- JSON ---- */

static void json_step(struct fz_json *j, const struct fz_ci_step *step)
{
	fz_json_open(j, '{');
	fz_ci_json_text(j, "commit", step->commit);
	fz_ci_json_text(j, "date", step->day);
	fz_ci_json_text(j, "subject", step->subject);
	fz_ci_json_text(j, "side", fz_ci_side_names[step->side]);
	fz_json_kdouble(j, "count", step->count);
	fz_ci_json_text(j, "why", step->why);
	fz_json_close(j, '}');
}

static void json_step_at(struct fz_json *j, const char *key, const struct fz_ci_search *s,
			 uint32_t step)
{
	fz_json_key(j, key);
	if (step == FZ_NONE)
		fz_json_null(j);
	else
		json_step(j, &s->steps[step]);
}

static void json_change(struct fz_json *j, const char *key, const struct fz_ci_bench *b)
{
	fz_json_key(j, key);
	if (!b) {
		fz_json_null(j);
		return;
	}
	fz_json_open(j, '{');
	fz_json_kdouble(j, "before", b->count[FZ_BASE]);
	fz_json_kdouble(j, "after", b->count[FZ_HEAD]);
	fz_json_kdouble(j, "change", b->change);
	fz_json_kdouble(j, "limit", b->limit);
	fz_ci_json_where(j, &b->place);
	fz_json_close(j, '}');
}

void fz_ci_search_json(const struct fz_ci_search *s, struct fz_output *out)
{
	struct fz_json j;

	fz_assert(s->found == FZ_NONE || (s->found < s->n && s->before < s->n));
	fz_json_init(&j, out, 2);
	fz_json_open(&j, '{');
	fz_json_kint(&j, "schema", 1);
	fz_ci_json_text(&j, "kind", "bisect");
	fz_ci_json_text(&j, "benchmark", s->name);
	fz_ci_json_text(&j, "metric", s->ends.metrics.list[0]);
	json_step_at(&j, "found", s, s->found);
	json_step_at(&j, "before", s, s->before);
	json_change(&j, "change", bench_in(s, &s->change));
	json_step_at(&j, "good", s, s->good);
	json_step_at(&j, "bad", s, s->bad);
	json_change(&j, "whole", bench_in(s, &s->ends));
	fz_json_kint(&j, "range", s->range);
	fz_json_kopen(&j, "candidates", '[');
	for (uint32_t i = 0; i < s->hidden_n; i++)
		fz_json_str(&j, fz_str_of(s->hidden[i]));
	fz_json_close(&j, ']');
	fz_json_kopen(&j, "steps", '[');
	for (uint32_t i = 0; i < s->n; i++)
		json_step(&j, &s->steps[i]);
	fz_json_close(&j, ']');
	fz_json_close(&j, '}');
	fz_output_str(out, "\n");
}
