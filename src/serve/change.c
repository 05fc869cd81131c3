/* SPDX-License-Identifier: MIT */
/* The page of a pull request, or of another run, and the reports that came with it.
 *
 *   GET /change?repository=R&pull=N   its last run: benchmarks, failing ones first, with
 *       or ?run=12                    base, head and difference; and earlier runs
 *   GET /report/12/report.html        a page that `fizeau ci -o` wrote
 *
 * A report is untrusted: it is served sandboxed without an origin, so that it cannot use the
 * reader's access.
 */
#include "serve/gate.h"

#include <math.h>

#include "report/markup.h"
#include "serve/inputs.h"
#include "serve/routes.h"

enum { EARLIER = 20 };

/* ---- a benchmark ---- */

static const char *class_of(const struct fz_ci_bench *b)
{
	switch (b->verdict) {
	case FZ_CI_SLOWER:
	case FZ_CI_MISSING:
		return b->fails ? "more" : "";
	case FZ_CI_FASTER:
		return "less";
	case FZ_CI_DISAGREE:
	case FZ_CI_NOT_COMPARABLE:
		return "new";
	default:
		return "quiet";
	}
}

static void add_buf(struct fz_buf *out, struct fz_buf *text)
{
	fz_html_escape(out, fz_buf_view(text));
	fz_buf_reset(text);
}

static void add_side(const struct fz_ci_bench *b, enum fz_side s, struct fz_buf *out)
{
	char number[FZ_NUMBER_SIZE];

	fz_buf_printf(out, "<td data-name=\"%s\">%s", fz_side_names[s],
		      b->on_side[s] ? fz_format_value(b->count[s], b->unit, number) : "–");
}

static void add_where(const struct fz_ci_bench *b, struct fz_buf *out)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	fz_ci_clock(b, &text);
	if (text.n) {
		fz_buf_str(out, "<p>");
		add_buf(out, &text);
		fz_buf_str(out, "</p>");
	}
	fz_ci_place(b, &text);
	if (text.n) {
		fz_buf_str(out, "<p><code>");
		add_buf(out, &text);
		fz_buf_str(out, "</code></p>");
	}
	if (b->place.file) {
		fz_buf_printf(&text, "%s:%d", b->place.file, b->place.line);
		fz_buf_str(out, "<p><code>");
		add_buf(out, &text);
		fz_buf_str(out, "</code></p>");
	}
	fz_ci_note_of(b, &text);
	if (text.n) {
		fz_buf_str(out, "<p class=\"note\">");
		add_buf(out, &text);
		fz_buf_str(out, "</p>");
	}
}

/* The script turns this into a form. */
static void add_act(const struct fz_server_run *run, const struct fz_ci_bench *b,
		    struct fz_buf *out)
{
	bool withdraws = b->verdict == FZ_CI_SLOWER && !b->fails && b->accepted;

	if (!withdraws && !(b->verdict == FZ_CI_SLOWER && b->fails))
		return;
	fz_buf_printf(out,
		      "<div class=\"acts\" data-run=\"%lld\" data-act=\"%s\" data-metric=\"%s\" "
		      "data-benchmark=\"",
		      (long long)run->id, withdraws ? "withdraw" : "accept", b->metric);
	fz_html_escape(out, b->name);
	fz_buf_str(out, "\"></div>");
}

static void add_bench(const struct fz_server_run *run, const struct fz_ci_bench *b,
		      struct fz_buf *out)
{
	char number[FZ_NUMBER_SIZE];
	fz_auto(fz_free_ptr) char *name = fz_strndup(b->name.p, b->name.n);

	fz_buf_printf(out, "<tr%s><td class=\"verdict %s\">%s<td class=\"name\"><a href=\"",
		      b->fails ? " class=\"fails\"" : "", class_of(b), fz_ci_word(b));
	fz_gate_address(out, "/repository", run->repository, "benchmark", name);
	fz_buf_printf(out, "&amp;metric=%s\">", b->metric);
	fz_html_name(out, b->name);
	fz_buf_str(out, "</a>");
	if (run->result.metrics.n > 1)
		fz_buf_printf(out, "<small>%s</small>", b->metric);
	add_side(b, FZ_BASE, out);
	add_side(b, FZ_HEAD, out);
	fz_buf_printf(out, "<td%s><b class=\"%s\">%s</b>",
		      isnan(b->change) ? "" : " data-name=\"change\"", class_of(b),
		      fz_ci_change(b->change, number));
	fz_buf_printf(out, "<td data-name=\"limit\">%s<td class=\"where\">",
		      fz_format_percent(b->limit, number));
	add_where(b, out);
	add_act(run, b, out);
	fz_buf_char(out, '\n');
}

/* ---- the page ---- */

static void add_page_link(void *arg, struct fz_str name)
{
	struct fz_buf *out = arg;

	fz_buf_str(out, "/");
	fz_html_escape(out, name);
	fz_buf_char(out, '\n');
}

/* "Full report", "Full report: peak" */
static int add_reports(struct fz_results *r, int64_t run, struct fz_buf *out, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf names = { 0 };
	int rc = fz_results_pages(r, run, add_page_link, &names, err);
	struct fz_str rest = fz_buf_view(&names);

	if (rc || !rest.n)
		return rc;
	fz_buf_str(out, "<p class=\"choices\">");
	while (rest.n) {
		struct fz_str name = fz_str_take_line(&rest);
		struct fz_str metric = { name.p + strlen("/report-"), 0 };
		size_t around = strlen("/report-") + strlen(".html");

		metric.n = name.n > around ? name.n - around : 0;
		fz_buf_printf(out,
			      "<a class=\"button\" href=\"/report/%lld%.*s\">Full report%s%.*s"
			      "</a> ",
			      (long long)run, (int)name.n, name.p, metric.n ? ": " : "",
			      (int)metric.n, metric.n ? metric.p : "");
	}
	fz_buf_str(out, "</p>");
	return 0;
}

static void add_lines(const char *class, char *const *lines, uint32_t n, struct fz_buf *out)
{
	for (uint32_t i = 0; i < n; i++) {
		fz_buf_printf(out, "<p class=\"%s\">", class);
		fz_gate_text(out, lines[i]);
		fz_buf_str(out, "</p>\n");
	}
}

static int add_verdict(struct fz_results *r, const struct fz_server_run *run, struct fz_buf *out,
		       struct fz_error *err)
{
	static const char *const classes[] = { "less", "more", "new" };
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	const struct fz_ci_result *result = &run->result;

	fz_buf_printf(out, "<section class=\"full\"><h2 class=\"answer %s\">",
		      classes[fz_ci_exit(result)]);
	fz_ci_headline(result, &text);
	add_buf(out, &text);
	fz_buf_str(out, "</h2>\n<p>");
	fz_ci_why(result, &text);
	add_buf(out, &text);
	fz_buf_str(out, "</p>\n<p class=\"quiet\">");
	if (*run->base) {
		fz_gate_commit(out, run->commit_pages, run->base);
		fz_buf_str(out, " → ");
	}
	fz_gate_commit(out, run->commit_pages, run->head);
	fz_buf_char(out, ' ');
	fz_gate_text(out, run->subject);
	fz_buf_str(out, ", ");
	fz_gate_time(out, run->received);
	fz_buf_str(out, " UTC</p>\n");
	add_lines("new", result->troubles, result->trouble_n, out);
	add_lines("note", result->notes, result->note_n, out);
	int rc = add_reports(r, run->id, out, err);
	fz_buf_str(out, "</section>\n");
	return rc;
}

static void add_earlier(void *arg, const struct fz_results_found *f)
{
	struct fz_buf *out = arg;

	fz_buf_printf(out, "<li><a href=\"/change?run=%lld\">", (long long)f->id);
	fz_gate_time(out, f->received);
	fz_buf_str(out, "</a> ");
	fz_gate_commit(out, f->commit_pages.p, f->head.p);
	fz_buf_char(out, ' ');
	fz_gate_text(out, f->headline.p);
	fz_buf_str(out, "</li>\n");
}

static int add_all_runs(struct fz_results *r, const char *project, const struct fz_server_run *run,
			struct fz_buf *out, struct fz_error *err)
{
	const struct fz_results_query q = { .project = project,
					    .repository = run->repository,
					    .pull = *run->pull ? run->pull : NULL,
					    .branch = *run->pull ? NULL : run->branch,
					    .most = EARLIER };

	fz_buf_str(out, "<section class=\"full\"><h2>Runs</h2>\n<ol class=\"turns\">\n");
	int rc = fz_results_runs(r, &q, add_earlier, out, err);
	fz_buf_str(out, "</ol></section>\n");
	return rc;
}

static void add_benches(const struct fz_server_run *run, struct fz_buf *out)
{
	fz_buf_str(
		out,
		"<section class=\"full\"><h2>Benchmarks</h2>\n<div class=\"wide\">"
		"<table class=\"rows\"><thead><tr><th>Verdict<th class=\"text\">Benchmark<th>Base"
		"<th>Head<th>Change<th>Limit<th class=\"text where\">Where</thead><tbody>\n");
	for (uint32_t i = 0; i < run->result.n; i++)
		add_bench(run, &run->result.benches[i], out);
	fz_buf_str(out, "</tbody></table></div></section>\n");
}

static int write_found(struct fz_results *r, const char *project, const struct fz_server_run *run,
		       struct fz_gate_page *page, struct fz_error *err)
{
	const char *name = *run->pull ? run->pull : run->branch;
	int rc = add_verdict(r, run, &page->content, err);

	fz_gate_text(&page->title, run->repository);
	fz_buf_str(&page->title, *run->pull ? ": pull request " : ": ");
	fz_gate_text(&page->title, name);
	fz_buf_str(&page->subtitle, "project ");
	fz_gate_text(&page->subtitle, project);
	fz_buf_str(&page->subtitle, ", <a href=\"");
	fz_gate_address(&page->subtitle, "/repository", run->repository, NULL, NULL);
	fz_buf_str(&page->subtitle, "\">");
	fz_gate_text(&page->subtitle, run->repository);
	fz_buf_str(&page->subtitle, "</a>");
	add_benches(run, &page->content);
	return rc ? rc : add_all_runs(r, project, run, &page->content, err);
}

static int write_change(struct fz_server *s, const struct fz_http_request *q,
			struct fz_http_answer *ret, struct fz_error *err)
{
	fz_auto(fz_gate_page_release) struct fz_gate_page page = { .asks_token =
									   s->options.tokens };
	fz_auto(fz_results_closep) struct fz_results *r = NULL;
	fz_auto(fz_buf_release) struct fz_buf branch = { 0 };
	struct fz_results_query query;
	struct fz_server_run run;
	int rc = fz_server_open_results(s, &r, err);

	if (!rc)
		rc = fz_server_parse_run_query(r, q, &branch, &query, err);
	if (!rc)
		rc = fz_server_find_run(r, &query, &run, err);
	if (rc == 0)
		fz_server_no_run(ret);
	if (rc != 1)
		return rc;
	rc = write_found(r, q->project, &run, &page, err);
	fz_server_run_release(&run);
	if (!rc)
		fz_gate_page_write(&page, ret);
	return rc;
}

/* ---- reports ---- */

static int write_report(struct fz_server *s, const struct fz_http_request *q,
			struct fz_http_answer *ret, struct fz_error *err)
{
	fz_auto(fz_results_closep) struct fz_results *r = NULL;
	const char *slash = strchr(q->rest, '/');
	uint64_t run;
	int rc = 0;

	if (slash &&
	    fz_parse_u64((struct fz_str){ q->rest, (size_t)(slash - q->rest) }, INT64_MAX, &run)) {
		rc = fz_server_open_results(s, &r, err);
		if (!rc)
			rc = fz_results_page(r, q->project, (int64_t)run, slash + 1, &ret->body,
					     err);
	}
	if (rc == 0)
		fz_server_no_run(ret);
	if (rc != 1)
		return rc;
	ret->type = "text/html; charset=utf-8";
	/* In addition, the page has its own policy. */
	ret->policy = "sandbox allow-scripts allow-downloads allow-popups; default-src 'none'; "
		      "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
		      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
	return 0;
}

void fz_answer_change(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	fz_server_answer(arg, q, ret, write_change);
}

void fz_answer_report(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	fz_server_answer(arg, q, ret, write_report);
}
