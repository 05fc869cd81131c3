/* SPDX-License-Identifier: MIT */
/* Verdicts for other programs: JSON, JUnit, GitHub's workflow commands, a badge. */
#include "bench/report.h"
#include "report/markup.h"

#include <math.h>
#include <stdio.h>

/* ---- JSON ---- */

void fz_ci_json_text(struct fz_json *j, const char *key, const char *text)
{
	fz_json_key(j, key);
	if (text)
		fz_json_str(j, fz_str_of(text));
	else
		fz_json_null(j);
}

/* A side's figure, or null if it does not have the benchmark. */
static void json_side(struct fz_json *j, const char *key, bool there, double v)
{
	fz_json_kdouble(j, key, there ? v : NAN);
}

static void json_wall(struct fz_json *j, const struct fz_ci_bench *b)
{
	fz_json_key(j, "wall");
	if (!b->wall.n) {
		fz_json_null(j);
		return;
	}
	fz_json_open(j, '{');
	fz_json_kint(j, "pairs", b->wall.n);
	fz_json_kdouble(j, "base_ns", b->wall_ns[FZ_BASE]);
	fz_json_kdouble(j, "head_ns", b->wall_ns[FZ_HEAD]);
	fz_json_kdouble(j, "change", b->wall.change);
	fz_json_kdouble(j, "low", b->wall.low);
	fz_json_kdouble(j, "high", b->wall.high);
	fz_json_kbool(j, "decided", b->wall.decided);
	fz_json_close(j, '}');
}

void fz_ci_json_where(struct fz_json *j, const struct fz_ci_place *p)
{
	fz_json_key(j, "where");
	if (!p->context) {
		fz_json_null(j);
		return;
	}
	fz_json_open(j, '{');
	fz_ci_json_text(j, "context", p->context);
	fz_json_kdouble(j, "change", p->change);
	fz_json_kdouble(j, "base", p->base);
	fz_ci_json_text(j, "file", p->file);
	fz_json_kint(j, "line", p->line);
	fz_json_close(j, '}');
}

static void json_bench(struct fz_json *j, const struct fz_ci_bench *b)
{
	fz_json_open(j, '{');
	fz_json_kstr(j, "name", b->name);
	fz_ci_json_text(j, "metric", b->metric);
	fz_ci_json_text(j, "renamed_from", b->was);
	fz_ci_json_text(j, "verdict", fz_ci_verdict_names[b->verdict]);
	fz_json_kbool(j, "fails", b->fails);
	json_side(j, "base", b->on_side[FZ_BASE], b->count[FZ_BASE]);
	json_side(j, "head", b->on_side[FZ_HEAD], b->count[FZ_HEAD]);
	fz_json_kdouble(j, "change", b->change);
	fz_json_kdouble(j, "floor", b->floor);
	fz_json_kdouble(j, "limit", b->limit);
	json_side(j, "base_cycles", b->cycles[FZ_BASE] > 0, b->cycles[FZ_BASE]);
	json_side(j, "head_cycles", b->cycles[FZ_HEAD] > 0, b->cycles[FZ_HEAD]);
	fz_ci_json_text(j, "trouble", b->trouble);
	fz_ci_json_text(j, "ignored", b->ignored);
	fz_ci_json_text(j, "accepted", b->accepted);
	if (b->accepted_by)
		fz_ci_json_text(j, "accepted_by", b->accepted_by);
	json_wall(j, b);
	fz_ci_json_where(j, &b->place);
	fz_json_close(j, '}');
}

static void json_lines(struct fz_json *j, const char *key, char *const *lines, uint32_t n)
{
	fz_json_kopen(j, key, '[');
	for (uint32_t i = 0; i < n; i++)
		fz_json_str(j, fz_str_of(lines[i]));
	fz_json_close(j, ']');
}

void fz_ci_json(const struct fz_ci_result *r, struct fz_output *out)
{
	fz_auto(fz_buf_release) struct fz_buf headline = { 0 }, metrics = { 0 };
	struct fz_json j;

	fz_ci_headline(r, &headline);
	fz_ci_metrics_text(r, &metrics);
	fz_json_init(&j, out, 2);
	fz_json_open(&j, '{');
	fz_json_kint(&j, "schema", 1);
	fz_json_kstr(&j, "headline", fz_buf_view(&headline));
	fz_json_kint(&j, "exit", fz_ci_exit(r));
	fz_json_kstr(&j, "metric", fz_buf_view(&metrics));
	fz_ci_json_text(&j, "base", r->labels[FZ_BASE]);
	fz_ci_json_text(&j, "head", r->labels[FZ_HEAD]);
	fz_ci_json_text(&j, "environment", r->environment);
	json_lines(&j, "troubles", r->troubles, r->trouble_n);
	json_lines(&j, "notes", r->notes, r->note_n);
	fz_json_kopen(&j, "benchmarks", '[');
	for (uint32_t i = 0; i < r->n; i++)
		json_bench(&j, &r->benches[i]);
	fz_json_close(&j, ']');
	fz_json_close(&j, '}');
	fz_output_str(out, "\n");
}

/* ---- JUnit ---- */

/* The element that says why a case did not pass; NULL if it did. */
static const char *element_of(const struct fz_ci_bench *b)
{
	const char *why;

	if (b->fails)
		return "failure";
	if (b->verdict == FZ_CI_NOT_COMPARABLE)
		return "error";
	return fz_ci_excuse(b, &why) || b->verdict == FZ_CI_MISSING ? "skipped" : NULL;
}

static void junit_case(const struct fz_ci_result *r, const struct fz_ci_bench *b,
		       struct fz_buf *out)
{
	fz_auto(fz_buf_release) struct fz_buf sentence = { 0 };
	const char *element = element_of(b);

	fz_ci_sentence(b, &sentence);
	fz_buf_str(out, "  <testcase classname=\"fizeau\" name=\"");
	fz_html_escape(out, b->name);
	if (r->metrics.n > 1)
		fz_buf_printf(out, " (%s)", b->metric);
	fz_buf_str(out, "\">\n");
	if (element) {
		fz_buf_printf(out, "    <%s message=\"%s: ", element, fz_ci_word(b));
		fz_html_escape(out, fz_buf_view(&sentence));
		fz_buf_str(out, "\"/>\n");
	}
	fz_buf_printf(out, "    <system-out>%s: ", fz_ci_word(b));
	fz_html_escape(out, fz_buf_view(&sentence));
	fz_buf_str(out, "</system-out>\n  </testcase>\n");
}

void fz_ci_junit(const struct fz_ci_result *r, struct fz_buf *out)
{
	uint32_t skipped = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		const char *element = element_of(&r->benches[i]);
		skipped += element && strcmp(element, "skipped") == 0;
	}
	fz_buf_printf(out,
		      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"fizeau ci\" "
		      "tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%u\">\n",
		      r->n + r->trouble_n, r->failing,
		      r->count[FZ_CI_NOT_COMPARABLE] + r->trouble_n, skipped);
	for (uint32_t i = 0; i < r->n; i++)
		junit_case(r, &r->benches[i], out);
	for (uint32_t i = 0; i < r->trouble_n; i++) {
		fz_buf_printf(out, "  <testcase classname=\"fizeau\" name=\"trouble %u\">\n",
			      i + 1);
		fz_buf_str(out, "    <error message=\"");
		fz_html_escape(out, fz_str_of(r->troubles[i]));
		fz_buf_str(out, "\"/>\n  </testcase>\n");
	}
	fz_buf_str(out, "</testsuite>\n");
}

/* ---- annotations ---- */

/* Escape for GitHub: characters that would end the command or a property, as %XX. */
static void escape_command(struct fz_buf *out, struct fz_str s, bool property)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		if (c < ' ' || c == '%' || (property && (c == ':' || c == ',')))
			fz_buf_printf(out, "%%%02X", c);
		else
			fz_buf_char(out, (char)c);
	}
}

/* GitHub shows this many errors and as many warnings of a step, and drops the rest. */
enum { ANNOTATIONS_MAX = 10 };

static bool is_annotated(const struct fz_ci_bench *b)
{
	return b->fails || b->verdict == FZ_CI_SLOWER || b->verdict == FZ_CI_DISAGREE ||
	       b->verdict == FZ_CI_MISSING;
}

static void annotate(const struct fz_ci_bench *b, struct fz_buf *out)
{
	struct fz_buf sentence = { 0 };

	fz_buf_str(out, b->fails ? "::error " : "::warning ");
	if (b->place.file) {
		fz_buf_str(out, "file=");
		escape_command(out, fz_str_of(b->place.file), true);
		fz_buf_printf(out, ",line=%d,", b->place.line);
	}
	fz_buf_printf(out, "title=%s%%3A ", fz_ci_word(b));
	escape_command(out, b->shown.shown, true);
	fz_buf_str(out, "::");
	fz_ci_sentence(b, &sentence);
	escape_command(out, fz_buf_view(&sentence), false);
	fz_buf_char(out, '\n');
	fz_buf_release(&sentence);
}

/* Annotate the benchmarks that fail, or those that do not. If there are too many, the last
 * annotation gives the number of the others. */
static void annotate_all(const struct fz_ci_result *r, bool fails, uint32_t room,
			 struct fz_buf *out)
{
	uint32_t wanted = 0, annotated = 0;
	char count[FZ_NUMBER_SIZE];

	for (uint32_t i = 0; i < r->n; i++)
		wanted += is_annotated(&r->benches[i]) && r->benches[i].fails == fails;
	uint32_t most = wanted <= room ? wanted : room - 1;
	for (uint32_t i = 0; i < r->n && annotated < most; i++) {
		const struct fz_ci_bench *b = &r->benches[i];
		if (!is_annotated(b) || b->fails != fails)
			continue;
		annotate(b, out);
		annotated++;
	}
	if (annotated < wanted)
		fz_buf_printf(out, "::%s title=fizeau ci::and %s; the summary lists all\n",
			      fails ? "error" : "warning",
			      fz_format_plural(wanted - annotated, "more benchmark", count));
}

void fz_ci_annotations(const struct fz_ci_result *r, struct fz_buf *out)
{
	uint32_t troubles = FZ_MIN(r->trouble_n, (uint32_t)ANNOTATIONS_MAX / 2);

	for (uint32_t i = 0; i < troubles; i++) {
		fz_buf_str(out, "::error title=fizeau ci::");
		escape_command(out, fz_str_of(r->troubles[i]), false);
		fz_buf_char(out, '\n');
	}
	annotate_all(r, true, ANNOTATIONS_MAX - troubles, out);
	annotate_all(r, false, ANNOTATIONS_MAX, out);
}

/* ---- badge ---- */

void fz_ci_badge(const struct fz_ci_result *r, struct fz_buf *out)
{
	static const char *const colors[] = { "#2e7d32", "#b71c1c", "#5f6368" };
	int status = fz_ci_exit(r);
	char text[64];
	enum { LEFT = 80, LETTER = 7, PADDING = 14 };

	if (status == 2)
		snprintf(text, sizeof(text), "unknown");
	else if (status)
		snprintf(text, sizeof(text), "%u %s", r->failing,
			 fz_ci_word_of_all(r, FZ_CI_SLOWER, "worse"));
	else if (r->count[FZ_CI_FASTER])
		snprintf(text, sizeof(text), "%u %s", r->count[FZ_CI_FASTER],
			 fz_ci_word_of_all(r, FZ_CI_FASTER, "better"));
	else
		snprintf(text, sizeof(text), "same");
	int right = (int)strlen(text) * LETTER + PADDING;
	fz_buf_printf(out,
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"20\" "
		      "role=\"img\" aria-label=\"performance: %s\">\n"
		      "<title>performance: %s</title>\n"
		      "<rect rx=\"3\" width=\"%d\" height=\"20\" fill=\"#444\"/>\n"
		      "<rect rx=\"3\" x=\"%d\" width=\"%d\" height=\"20\" fill=\"%s\"/>\n"
		      "<g fill=\"#fff\" text-anchor=\"middle\" font-size=\"11\" "
		      "font-family=\"Verdana,DejaVu Sans,sans-serif\">\n"
		      "<text x=\"%d\" y=\"14\">performance</text>\n"
		      "<text x=\"%d\" y=\"14\">%s</text>\n</g>\n</svg>\n",
		      LEFT + right, text, text, LEFT + right, LEFT, right, colors[status], LEFT / 2,
		      LEFT + right / 2, text);
}
