/* SPDX-License-Identifier: MIT */
/* Pages of repositories.
 *
 *   GET /benchmarks                          the project's repositories, a row each
 *   GET /repository?repository=R             pull requests, and each benchmark over the commits of
 *       [&branch=B][&metric=M][&benchmark=N] a branch with its changes, found as `fizeau history`
 *                                            finds them
 *
 * A page shows the latest commits and the benchmarks that changed most, however much is stored.
 */
#include "bench/history.h"
#include "serve/gate.h"
#include "report/markup.h"
#include "serve/inputs.h"
#include "serve/routes.h"

#include <math.h>
#include <time.h>

enum {
	COMMITS = 100,     /* of a page */
	COMMITS_ONE = 500, /* of a page for one benchmark */
	COUNTS = 100000,   /* of a page, over all benchmarks */
	CARDS = 100,
	PULLS = 50,
};

/* CSS class for the colour of an exit status. */
static const char *class_of(int exit)
{
	static const char *const classes[] = { "less", "more", "new" };

	return exit >= 0 && exit < (int)FZ_ARRAY_LEN(classes) ? classes[exit] : "quiet";
}

/* ---- all repositories ---- */

static void add_repository(void *arg, const struct fz_results_repository *e)
{
	struct fz_buf *out = arg;
	fz_auto(fz_free_ptr) char *name = fz_strndup(e->name.p, e->name.n);
	static const char *const names[] = { "benchmarks", "commits", "pull requests" };
	const int64_t figures[] = { e->benchmarks, e->commits, e->pulls };
	char number[FZ_NUMBER_SIZE];

	fz_buf_str(out, "<tr><td class=\"name\"><a href=\"");
	fz_gate_address(out, "/repository", name, NULL, NULL);
	fz_buf_str(out, "\">");
	fz_gate_text(out, name);
	fz_buf_str(out, "</a>");
	for (size_t i = 0; i < FZ_ARRAY_LEN(figures); i++)
		fz_buf_printf(out, "<td data-name=\"%s\">%s", names[i],
			      fz_format_count(figures[i], number));
	fz_buf_str(out, "<td>");
	fz_gate_time(out, e->last);
	fz_buf_printf(out, "<td class=\"text %s\">", class_of(e->exit));
	fz_html_escape(out, e->headline);
	fz_buf_char(out, '\n');
}

static int write_repositories(struct fz_server *s, const struct fz_http_request *q,
			      struct fz_http_answer *ret, struct fz_error *err)
{
	fz_auto(fz_gate_page_release) struct fz_gate_page page = { 0 };
	fz_auto(fz_results_closep) struct fz_results *r = NULL;
	fz_auto(fz_buf_release) struct fz_buf rows = { 0 };
	int rc = fz_server_open_results(s, &r, err);

	if (!rc)
		rc = fz_results_repositories(r, q->project, add_repository, &rows, err);
	if (rc)
		return rc;
	fz_buf_str(&page.title, "Benchmarks");
	fz_buf_str(&page.subtitle, "project ");
	fz_gate_text(&page.subtitle, q->project);
	fz_buf_str(&page.subtitle, ", <a href=\"/\">all services</a>");
	fz_buf_str(&page.content, "<section class=\"full\"><h2>Repositories</h2>\n");
	if (rows.n) {
		fz_buf_str(&page.content,
			   "<div class=\"wide\"><table class=\"rows\"><thead><tr><th>Repository"
			   "<th>Benchmarks<th>Commits<th>Pull requests<th>Last run (UTC)"
			   "<th class=\"text\">Last run of a branch</thead><tbody>\n");
		fz_buf_add(&page.content, rows.p, rows.n);
		fz_buf_str(&page.content, "</tbody></table></div>");
	} else {
		fz_buf_str(&page.content, "<p class=\"empty\">No results yet: <code>fizeau ci "
					  "--server URL -- COMMAND</code></p>");
	}
	fz_buf_str(&page.content, "</section>\n");
	fz_gate_page_write(&page, ret);
	return 0;
}

/* ---- a repository: pull requests ---- */

static void add_pull(void *arg, const struct fz_results_found *f)
{
	struct fz_buf *out = arg;
	fz_auto(fz_free_ptr) char *repository = fz_strndup(f->repository.p, f->repository.n);

	fz_buf_str(out, "<tr><td class=\"name\"><a href=\"");
	fz_gate_address(out, "/change", repository, "pull", f->pull.p);
	fz_buf_str(out, "\">");
	fz_gate_text(out, f->pull.p);
	fz_buf_str(out, "</a><td class=\"text\">");
	fz_gate_text(out, f->subject.p);
	fz_buf_printf(out, "<td class=\"text %s\">", class_of(f->exit));
	fz_gate_text(out, f->headline.p);
	fz_buf_str(out, "<td>");
	fz_gate_commit(out, f->commit_pages.p, f->head.p);
	fz_buf_str(out, "<td>");
	fz_gate_time(out, f->received);
	fz_buf_char(out, '\n');
}

static int add_pulls(struct fz_results *r, const struct fz_http_request *q, const char *repository,
		     struct fz_buf *out, struct fz_error *err)
{
	const struct fz_results_query query = {
		.project = q->project, .repository = repository, .pulls = true, .most = PULLS
	};
	fz_auto(fz_buf_release) struct fz_buf rows = { 0 };
	int rc = fz_results_runs(r, &query, add_pull, &rows, err);

	if (rc || !rows.n)
		return rc;
	fz_buf_str(out, "<section class=\"full\"><h2>Pull requests</h2>\n<div class=\"wide\">"
			"<table class=\"rows\"><thead><tr><th>Pull request<th class=\"text\">Commit"
			"<th class=\"text\">Verdict<th>Head"
			"<th>Last run (UTC)</thead><tbody>\n");
	fz_buf_add(out, rows.p, rows.n);
	fz_buf_str(out, "</tbody></table></div></section>\n");
	return 0;
}

/* ---- accepted changes ---- */

static void add_accepted(void *arg, const struct fz_results_accepted *a)
{
	struct fz_buf *out = arg;
	char number[FZ_NUMBER_SIZE];

	fz_buf_str(out, "<tr><td class=\"name\">");
	fz_html_name(out, fz_str_of(a->name));
	fz_buf_printf(out, "<td>%s<td class=\"text\">", a->metric);
	fz_gate_text(out, a->reason);
	fz_buf_printf(out, "<td data-name=\"up to\">%s<td>%s",
		      isfinite(a->change) ? fz_ci_change(a->change, number) : "any",
		      *a->pull ? "pull request " : "");
	fz_gate_text(out, a->pull);
	fz_buf_printf(out, " <code>%.10s</code>", a->commit);
	if (*a->landed && strcmp(a->landed, a->commit) != 0)
		fz_buf_printf(out, ", on its branch <code>%.10s</code>", a->landed);
	fz_buf_str(out, "<td>");
	fz_gate_time(out, a->time);
	fz_buf_char(out, '\n');
}

static int add_all_accepted(struct fz_results *r, const struct fz_http_request *q,
			    const char *repository, struct fz_buf *out, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf rows = { 0 };
	int rc = fz_results_accepted(r, q->project, repository, add_accepted, &rows, err);

	if (rc || !rows.n)
		return rc;
	fz_buf_str(out, "<section class=\"full\"><h2>Accepted changes</h2>\n<div class=\"wide\">"
			"<table class=\"rows\"><thead><tr><th>Benchmark<th>Metric"
			"<th class=\"text\">Reason<th>Up to<th>Of<th>Since (UTC)</thead><tbody>\n");
	fz_buf_add(out, rows.p, rows.n);
	fz_buf_str(out, "</tbody></table></div></section>\n");
	return 0;
}

/* ---- benchmarks over commits ---- */

struct commits {
	struct fz_history_commit *list;
	int64_t *ids;
	uint32_t n, cap, id_cap;
	struct fz_arena texts;
};

static void release_commits(struct commits *c)
{
	free(c->list);
	free(c->ids);
	fz_arena_release(&c->texts);
}

static void add_commit(void *arg, const struct fz_results_point *p)
{
	struct commits *c = arg;
	time_t seconds = (time_t)p->time;
	char day[32] = "";
	struct tm t;

	if (gmtime_r(&seconds, &t))
		strftime(day, sizeof(day), "%Y-%m-%d", &t);
	uint32_t n = c->n;
	fz_grow(c->ids, n, c->id_cap);
	fz_grow(c->list, n, c->cap);
	c->ids[n] = p->id;
	c->list[n] = (struct fz_history_commit){
		.commit = fz_arena_strndup(&c->texts, p->sha.p, p->sha.n),
		.day = fz_arena_strndup(&c->texts, day, strlen(day)),
		.subject = fz_arena_strndup(&c->texts, p->subject.p, p->subject.n),
	};
	c->n++;
}

struct adding {
	struct fz_history *h;
	uint32_t commit;
	const char *only; /* benchmark; NULL: all */
	uint32_t left;    /* counts that may still be added */
};

static void add_count(void *arg, const struct fz_results_count *c)
{
	struct adding *a = arg;

	if ((a->only && !fz_str_eq(c->name, fz_str_of(a->only))) || a->left == 0)
		return;
	a->left--;
	fz_history_add_count(a->h, a->commit, c->name, c->environment, c->count, c->limit);
}

/* Load counts from the latest commit backwards, so that a limit drops the oldest. */
static int load_history(struct fz_results *r, const struct commits *c, const char *metric,
			const char *only, struct fz_history *h, struct fz_error *err)
{
	struct adding a = { .h = h, .only = only, .left = COUNTS };
	int rc = 0;

	fz_history_init(h, c->list, c->n);
	h->metric = metric;
	h->unit = fz_ci_unit(metric);
	for (uint32_t i = c->n; !rc && i > 0; i--) {
		a.commit = i - 1;
		rc = fz_results_counts(r, c->ids[i - 1], h->metric, add_count, &a, err);
	}
	return rc;
}

/* ---- the page ---- */

struct view {
	const char *repository, *branch, *metric, *benchmark; /* benchmark NULL: all */
	struct fz_buf branches, metrics;                      /* all names, a line each */
	char *first_branch, *first_metric;
};

static void release_view(struct view *v)
{
	fz_buf_release(&v->branches);
	fz_buf_release(&v->metrics);
	free(v->first_branch);
	free(v->first_metric);
}

static void add_choice(struct view *v, const char *branch, const char *metric, bool chosen,
		       struct fz_buf *out)
{
	fz_buf_printf(out, "<a class=\"button\"%s href=\"", chosen ? " aria-current=\"true\"" : "");
	fz_gate_address(out, "/repository", v->repository, "branch", branch);
	fz_buf_str(out, "&amp;metric=");
	fz_buf_uri_part(out, fz_str_of(metric));
	if (v->benchmark) {
		fz_buf_str(out, "&amp;benchmark=");
		fz_buf_uri_part(out, fz_str_of(v->benchmark));
	}
	fz_buf_str(out, "\">");
}

/* Add a button for each name (a line each), unless there is only one. */
static void add_choices(struct view *v, const struct fz_buf *names, bool of_branches,
			struct fz_buf *out)
{
	struct fz_str rest = fz_buf_view(names);

	if (!rest.n || memchr(rest.p, '\n', rest.n) == rest.p + rest.n - 1)
		return;
	fz_buf_str(out, "<p class=\"choices\">");
	while (rest.n) {
		struct fz_str line = fz_str_take_line(&rest);
		fz_auto(fz_free_ptr) char *name = fz_strndup(line.p, line.n);
		const char *branch = of_branches ? name : v->branch;
		const char *metric = of_branches ? v->metric : name;

		add_choice(v, branch, metric,
			   strcmp(name, of_branches ? v->branch : v->metric) == 0, out);
		fz_gate_text(out, name);
		fz_buf_str(out, "</a> ");
	}
	fz_buf_str(out, "</p>\n");
}

static void add_branch(void *arg, struct fz_str name)
{
	struct view *v = arg;

	if (!v->first_branch)
		v->first_branch = fz_strndup(name.p, name.n);
	if (!v->branch)
		v->branch = v->first_branch;
	fz_buf_printf(&v->branches, "%s\n", name.p);
}

static void add_metric(void *arg, struct fz_str name)
{
	struct view *v = arg;

	if (!v->first_metric)
		v->first_metric = fz_strndup(name.p, name.n);
	if (!v->metric)
		v->metric = v->first_metric;
	fz_buf_printf(&v->metrics, "%s\n", name.p);
}

static void add_title(const struct view *v, const struct fz_history *h, struct fz_buf *out)
{
	char number[FZ_NUMBER_SIZE], commits[FZ_NUMBER_SIZE];

	fz_buf_printf(out, "<h2>%s of ", h->metric);
	if (v->benchmark)
		fz_html_name(out, fz_str_of(v->benchmark));
	else
		fz_buf_str(out, fz_format_plural(h->series_n, "benchmark", number));
	fz_buf_printf(out, " over %s of ", fz_format_plural(h->n, "commit", commits));
	fz_gate_text(out, v->branch);
	fz_buf_str(out, "</h2>\n");
	if (h->series_n > CARDS)
		fz_buf_printf(out,
			      "<p class=\"quiet\">Showing the %d benchmarks that changed most; "
			      "<code>&amp;benchmark=NAME</code> shows another one.</p>\n",
			      CARDS);
}

static void add_head(struct view *v, const struct fz_history *h, struct fz_buf *out)
{
	fz_buf_str(out, "<section class=\"full\">");
	add_title(v, h, out);
	add_choices(v, &v->branches, true, out);
	add_choices(v, &v->metrics, false, out);
	fz_buf_str(out, "<p class=\"quiet\"><a href=\"");
	fz_gate_address(out, "/change", v->repository, "branch", v->branch);
	fz_buf_str(out, "\">Last run of this branch</a>, as <a href=\"");
	fz_gate_address(out, "/badge.svg", v->repository, "branch", v->branch);
	fz_buf_str(out, "\">badge</a>, as <a href=\"");
	fz_gate_address(out, "/api/status", v->repository, "branch", v->branch);
	fz_buf_str(out, "\">JSON</a></p></section>\n");
}

static void add_pages(void *arg, const struct fz_results_found *f)
{
	struct fz_buf *ret = arg;

	fz_buf_add(ret, f->commit_pages.p, f->commit_pages.n);
}

static int add_benchmarks(struct fz_results *r, const struct fz_http_request *q, struct view *v,
			  struct fz_buf *out, struct fz_error *err)
{
	const struct fz_results_query query = { .project = q->project,
						.repository = v->repository,
						.branch = v->branch,
						.most = v->benchmark ? COMMITS_ONE : COMMITS };
	const struct fz_results_query any = { .project = q->project,
					      .repository = v->repository,
					      .most = 1 };
	fz_auto(release_commits) struct commits c = { 0 };
	fz_auto(fz_history_release) struct fz_history h = { 0 };
	fz_auto(fz_buf_release) struct fz_buf pages = { 0 };
	struct fz_ci_config config;
	const char *metric = fz_ci_metric(fz_str_of(v->metric));
	int rc = metric ? 0 : fz_fail(err, FZ_EUSAGE, "metric: unknown metric '%.80s'", v->metric);

	if (!rc)
		rc = fz_results_commits(r, &query, add_commit, &c, err);
	if (!rc)
		rc = fz_results_runs(r, &any, add_pages, &pages, err);
	if (!rc)
		rc = load_history(r, &c, metric, v->benchmark, &h, err);
	if (rc)
		return rc;
	h.commit_pages = pages.n ? pages.p : NULL;
	fz_ci_config_init(&config);
	fz_history_find(&h, &config, 0);
	fz_ci_config_release(&config);
	add_head(v, &h, out);
	fz_history_cards(&h, CARDS, out);
	return 0;
}

static void add_last_run(void *arg, const struct fz_results_found *f)
{
	fz_buf_printf(
		arg,
		"<section class=\"full\"><p class=\"empty\">No run has counted a benchmark yet; <a "
		"href=\"/change?run=%lld\">the last run</a> shows why.</p></section>\n",
		(long long)f->id);
}

/* Content for a repository that has runs but nothing to show. */
static int add_empty(struct fz_results *r, const struct fz_http_request *q, struct fz_buf *out,
		     struct fz_error *err)
{
	const struct fz_results_query last = { .project = q->project,
					       .repository = fz_http_parameter(q, "repository"),
					       .most = 1 };

	return fz_results_runs(r, &last, add_last_run, out, err);
}

static int write_repository(struct fz_server *s, const struct fz_http_request *q,
			    struct fz_http_answer *ret, struct fz_error *err)
{
	fz_auto(fz_gate_page_release) struct fz_gate_page page = { 0 };
	fz_auto(fz_results_closep) struct fz_results *r = NULL;
	fz_auto(release_view) struct view v = {
		.repository = fz_http_parameter(q, "repository"),
		.branch = fz_http_parameter(q, "branch"),
		.metric = fz_http_parameter(q, "metric"),
		.benchmark = fz_http_parameter(q, "benchmark"),
	};
	int rc = v.repository ? fz_server_open_results(s, &r, err)
			      : fz_fail(err, FZ_EUSAGE, "missing parameter: repository");

	if (!rc)
		rc = fz_results_branches(r, q->project, v.repository, add_branch, &v, err);
	if (!rc)
		rc = fz_results_metrics(r, q->project, v.repository, add_metric, &v, err);
	if (!rc && !v.benchmark)
		rc = add_pulls(r, q, v.repository, &page.content, err);
	if (!rc && v.branch && v.metric)
		rc = add_benchmarks(r, q, &v, &page.content, err);
	if (!rc && !v.benchmark)
		rc = add_all_accepted(r, q, v.repository, &page.content, err);
	if (rc)
		return rc;
	if (!page.content.n && (rc = add_empty(r, q, &page.content, err)))
		return rc;
	if (!page.content.n) {
		fz_server_no_run(ret);
		return 0;
	}
	fz_gate_text(&page.title, v.repository);
	fz_buf_str(&page.subtitle, "project ");
	fz_gate_text(&page.subtitle, q->project);
	fz_buf_str(&page.subtitle, ", <a href=\"/benchmarks\">all repositories</a>");
	fz_gate_page_write(&page, ret);
	return 0;
}

void fz_answer_repositories(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	fz_server_answer(arg, q, ret, write_repositories);
}

void fz_answer_repository(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	fz_server_answer(arg, q, ret, write_repository);
}
