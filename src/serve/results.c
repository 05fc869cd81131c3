/* SPDX-License-Identifier: MIT */
/* The API for benchmarks: requests of `fizeau ci --server`, status and badges.
 *
 *   POST /api/benchmarks?repository=R&id=ID&head=SHA&...    a run: its body is report.json
 *   POST /api/benchmarks/page?repository=R&id=ID&name=N     a page of it; or run=NUMBER
 *   GET  /api/status, /badge.svg?repository=R[&pull=N|...]  the latest verdict
 *
 * A report may come from a job that ran untrusted code: the parser of reports (bench/report.h)
 * checks it, and verdicts are computed again.
 */
#include "serve/results.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/map.h"
#include "bench/accepted.h"
#include "serve/inputs.h"
#include "serve/routes.h"

enum { SHA_MIN = 7, SHA_MAX = 64 };

int fz_server_open_results(const struct fz_server *s, struct fz_results **ret, struct fz_error *err)
{
	if (!s->results)
		return fz_fail(
			err, FZ_EINPUT,
			"this server does not store benchmarks; start it with --benchmarks FILE");
	return fz_server_open_benchmarks(s, ret, err);
}

void fz_server_no_run(struct fz_http_answer *ret)
{
	ret->status = 404;
	fz_buf_str(&ret->body, "no such run; 'fizeau ci --server' sends one\n");
}

const char *fz_server_run_status(const struct fz_ci_result *r)
{
	static const char *const words[] = { "passed", "failed", "not known" };

	return words[fz_ci_exit(r)];
}

/* ---- names ---- */

bool fz_server_is_hash(const char *text)
{
	size_t n = strspn(text, "0123456789abcdef");

	return !text[n] && n >= SHA_MIN && n <= SHA_MAX;
}

static int check_hash(const char *what, const char *text, struct fz_error *err)
{
	if (fz_server_is_hash(text))
		return 0;
	return fz_fail(err, FZ_EUSAGE, "%s: invalid commit hash '%.80s'", what, text);
}

int fz_server_check_text(const char *what, const char *text, struct fz_error *err)
{
	if (strlen(text) > FZ_RESULTS_NAME_MAX)
		return fz_fail(err, FZ_EUSAGE, "%s: '%.40s...' has more than %d bytes", what, text,
			       FZ_RESULTS_NAME_MAX);
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return fz_fail(err, FZ_EUSAGE, "%s: contains control characters", what);
	if (!fz_utf8_valid(fz_str_of(text)))
		return fz_fail(err, FZ_EUSAGE, "%s: not valid UTF-8", what);
	return 0;
}

/* Check the URL of commit pages, which readers' pages link to. */
static int check_pages(const char *text, struct fz_error *err)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._~/-";

	if (!*text)
		return 0;
	if (strncmp(text, "https://", 8) != 0 || text[8 + strspn(text + 8, letters)])
		return fz_fail(err, FZ_EUSAGE, "pages: invalid commit URL '%.80s' (expected https)",
			       text);
	return fz_server_check_text("pages", text, err);
}

static int parse_seconds(const struct fz_http_request *q, const char *name, const char *what,
			 int64_t *ret, struct fz_error *err)
{
	const char *text = fz_inputs_text(q, name);
	uint64_t seconds = 0;

	if (*text && !fz_parse_u64(fz_str_of(text), INT32_MAX * 4ULL, &seconds))
		return fz_fail(err, FZ_EUSAGE, "%s: invalid value '%.80s' (expected %s)", name,
			       text, what);
	*ret = (int64_t)seconds;
	return 0;
}

static int parse_commit(const struct fz_http_request *q, const char *side, const char *branch,
			struct fz_results_commit *ret, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *subject = fz_asprintf("%s_subject", side);
	fz_auto(fz_free_ptr) char *time = fz_asprintf("%s_time", side);

	*ret = (struct fz_results_commit){ .sha = fz_inputs_text(q, side),
					   .branch = branch,
					   .subject = fz_inputs_text(q, subject) };
	int rc = *ret->sha ? check_hash(side, ret->sha, err) : 0;
	if (!rc)
		rc = fz_server_check_text(subject, ret->subject, err);
	return rc ? rc : parse_seconds(q, time, "time in seconds since 1970", &ret->time, err);
}

/* ---- storing a run ---- */

/* When the run was made: a run that was sent late states its age. */
static int parse_received(const struct fz_http_request *q, int64_t *ret, struct fz_error *err)
{
	int64_t now = fz_clock_unix() / FZ_SECOND, age;
	int rc = parse_seconds(q, "age", "number of seconds", &age, err);

	*ret = rc ? now : FZ_MAX(now - age, 0);
	return rc;
}

static int parse_run(const struct fz_http_request *q, struct fz_results_run *run,
		     struct fz_error *err)
{
	static const char *const texts[] = { "pull", "branch", "into" };
	int rc = fz_fleet_check_name("repository", fz_inputs_text(q, "repository"), err);

	*run = (struct fz_results_run){ .project = q->project,
					.repository = fz_inputs_text(q, "repository"),
					.id = fz_inputs_text(q, "id"),
					.commit_pages = fz_inputs_text(q, "pages"),
					.pull = fz_inputs_text(q, "pull"),
					.branch = fz_inputs_text(q, "branch"),
					.into = fz_inputs_text(q, "into"),
					.patch = fz_inputs_text(q, "patch") };
	if (!rc && *run->patch && !fz_server_is_hash(run->patch))
		rc = fz_fail(err, FZ_EUSAGE, "patch: invalid digest '%.80s'", run->patch);
	if (!rc)
		rc = parse_received(q, &run->received, err);
	if (!rc)
		rc = fz_fleet_check_name("id", run->id, err);
	if (!rc)
		rc = check_pages(run->commit_pages, err);
	for (size_t i = 0; !rc && i < FZ_ARRAY_LEN(texts); i++)
		if (*fz_inputs_text(q, texts[i]))
			rc = fz_fleet_check_name(texts[i], fz_inputs_text(q, texts[i]), err);
	/* A commit of a pull request belongs to no branch of the charts. */
	if (!rc)
		rc = parse_commit(q, "head", *run->pull ? "" : run->branch, &run->head, err);
	if (!rc && !*run->head.sha)
		rc = fz_fail(err, FZ_EUSAGE, "missing parameter: head (a commit)");
	return rc ? rc : parse_commit(q, "base", fz_inputs_text(q, "into"), &run->base, err);
}

static int read_report(struct fz_input *in, struct fz_ci_result *ret, struct fz_error *err)
{
	int rc = fz_ci_read(ret, in, err);

	if (!rc)
		fz_ci_tally(ret);
	return rc;
}

static int read_body(struct fz_server *s, struct fz_str body, struct fz_ci_result *ret,
		     struct fz_error *err)
{
	fz_auto(fz_input_closep) struct fz_input *in = NULL;
	fz_auto(fz_budget_release) struct fz_budget_part memory = fz_server_memory(s);

	if (!body.n)
		return fz_fail(err, FZ_EINPUT, "the body is empty; send report.json");
	int rc = fz_server_open_body(body, &memory, &in, err);
	return rc ? rc : read_report(in, ret, err);
}

static int check_names(const struct fz_ci_result *r, struct fz_error *err)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->benches[i].name.n == 0 || r->benches[i].name.n > FZ_RESULTS_NAME_MAX)
			return fz_fail(err, FZ_ELIMIT,
				       "a benchmark name has %zu bytes; the limit is 1 to %d",
				       r->benches[i].name.n, FZ_RESULTS_NAME_MAX);
	return 0;
}

/* Collect the counts that are valid for a commit, which excludes edited trees and failed
 * measurements.
 */
static void add_values(const struct fz_ci_result *r, bool edited, struct fz_results_run *run,
		       struct fz_results_value *ret)
{
	for (uint32_t i = 0; i < r->n; i++) {
		const struct fz_ci_bench *b = &r->benches[i];
		bool alike = b->verdict != FZ_CI_NOT_COMPARABLE;

		for (enum fz_side s = 0; s < FZ_SIDES; s++) {
			if (!b->on_side[s] || b->trouble || !isfinite(b->count[s]) ||
			    (s == FZ_HEAD ? edited : !alike))
				continue;
			ret[run->value_n++] =
				(struct fz_results_value){ .name = b->name,
							   .metric = fz_str_of(b->metric),
							   .of_base = s == FZ_BASE,
							   .count = b->count[s],
							   .limit = isfinite(b->limit) ? b->limit
										       : 0 };
		}
	}
	run->values = ret;
}

/* Update an accepted change from a run: its new patch and counts in the pull request, or that
 * it was merged into the target branch. */
static int follow(struct fz_results *results, const struct fz_results_run *run,
		  const struct fz_ci_bench *b, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *name = fz_strndup(b->name.p, b->name.n);
	const struct fz_results_accepted a = { .name = name,
					       .metric = b->metric,
					       .reason = "",
					       .commit = b->accepted_by,
					       .pull = run->pull,
					       .into = run->branch,
					       .patch = run->patch,
					       .landed = run->head.sha,
					       .count = { b->count[FZ_BASE], b->count[FZ_HEAD] } };

	return (*run->pull ? fz_results_follow : fz_results_land)(results, run->project,
								  run->repository, &a, err);
}

static int follow_all(struct fz_results *results, const struct fz_results_run *run,
		      const struct fz_ci_result *r, struct fz_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < r->n; i++)
		if (r->benches[i].accepted_by && r->benches[i].verdict == FZ_CI_SLOWER)
			rc = follow(results, run, &r->benches[i], err);
	return rc;
}

static int store_run(struct fz_server *s, const struct fz_http_request *q,
		     struct fz_http_answer *ret, struct fz_error *err)
{
	fz_auto(fz_ci_release) struct fz_ci_result result = FZ_CI_RESULT_INIT;
	fz_auto(fz_buf_release) struct fz_buf headline = { 0 };
	struct fz_results_run run;
	char key[20];
	int64_t id;
	bool is_new;
	int rc = parse_run(q, &run, err);

	if (!rc)
		rc = read_body(s, q->body, &result, err);
	if (!rc)
		rc = check_names(&result, err);
	if (rc)
		return rc;
	fz_auto(fz_free_ptr) struct fz_results_value *values =
		fz_calloc(FZ_SIDES * (size_t)result.n + 1, sizeof(*values));
	const char *environment = result.environment ? result.environment : "";
	snprintf(key, sizeof(key), "%016llx",
		 (unsigned long long)fz_hash_bytes(environment, strlen(environment)));
	add_values(&result, *fz_inputs_text(q, "edited"), &run, values);
	fz_ci_headline(&result, &headline);
	run.environment = key;
	run.headline = headline.p;
	run.exit = fz_ci_exit(&result);
	run.report = q->body;
	pthread_mutex_lock(&s->results_writing);
	rc = fz_results_put(s->results, &run, &id, &is_new, err);
	if (!rc && is_new && !*fz_inputs_text(q, "edited"))
		rc = follow_all(s->results, &run, &result, err);
	pthread_mutex_unlock(&s->results_writing);
	if (rc)
		return rc;
	fz_inputs_answer(ret, is_new ? "stored" : "known", &(struct fz_inputs_member){ "run", id },
			 1);
	return 0;
}

/* "report.html", "report-peak.html" */
static bool is_page_name(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz-");

	return n > 0 && n < FZ_FLEET_NAME_MAX && strcmp(name + n, ".html") == 0;
}

static int parse_id(const char *text, int64_t *ret, struct fz_error *err)
{
	uint64_t id;

	if (!fz_parse_u64(fz_str_of(text), INT64_MAX, &id) || !id)
		return fz_fail(err, FZ_EUSAGE, "run: invalid run number '%.80s'", text);
	*ret = (int64_t)id;
	return 0;
}

/* Find the run by its number, or by the id with which it was sent. */
static int parse_run_of_page(struct fz_server *s, const struct fz_http_request *q, int64_t *ret,
			     struct fz_error *err)
{
	const char *run = fz_http_parameter(q, "run");
	fz_auto(fz_results_closep) struct fz_results *r = NULL;

	if (run)
		return parse_id(run, ret, err);
	int rc = fz_server_open_results(s, &r, err);
	return rc ? rc
		  : fz_results_find(r, q->project, fz_inputs_text(q, "repository"),
				    fz_inputs_text(q, "id"), ret, err);
}

static int store_page(struct fz_server *s, const struct fz_http_request *q,
		      struct fz_http_answer *ret, struct fz_error *err)
{
	const char *name = fz_inputs_text(q, "name");
	int64_t run = 0;
	int rc = parse_run_of_page(s, q, &run, err);

	if (!rc && !is_page_name(name))
		rc = fz_fail(err, FZ_EUSAGE,
			     "name: invalid page name '%.80s' (expected e.g. report.html)", name);
	if (!rc && !q->body.n)
		rc = fz_fail(err, FZ_EINPUT, "the body is empty; send a page");
	if (rc)
		return rc;
	pthread_mutex_lock(&s->results_writing);
	rc = fz_results_put_page(s->results, q->project, run, name, q->body, err);
	pthread_mutex_unlock(&s->results_writing);
	if (!rc)
		fz_inputs_answer(ret, "stored", NULL, 0);
	return rc;
}

/* ---- reading a run ---- */

struct finding {
	struct fz_server_run *run;
	int rc;
	struct fz_error *err;
};

static const char *kept(struct fz_server_run *run, struct fz_str text)
{
	return fz_arena_strndup(&run->result.arena, text.p, text.n);
}

static void add_found(void *arg, const struct fz_results_found *f)
{
	struct finding *k = arg;
	struct fz_server_run *run = k->run;
	fz_auto(fz_input_closep) struct fz_input *in = NULL;

	run->result = FZ_CI_RESULT_INIT;
	k->rc = fz_input_open_memory(f->report.p, f->report.n, "the report", &in, k->err);
	if (!k->rc)
		k->rc = read_report(in, &run->result, k->err);
	run->id = f->id;
	run->received = f->received;
	run->repository = kept(run, f->repository);
	run->commit_pages = kept(run, f->commit_pages);
	run->pull = kept(run, f->pull);
	run->branch = kept(run, f->branch);
	run->into = kept(run, f->into);
	run->patch = kept(run, f->patch);
	run->head = kept(run, f->head);
	run->base = kept(run, f->base);
	run->subject = kept(run, f->subject);
	run->report = kept(run, f->report);
}

/* Reset changes that were accepted when the job ran, because they may have been withdrawn
 * since. */
static void forget_accepted(struct fz_ci_result *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		struct fz_ci_bench *b = &r->benches[i];
		if (!b->accepted_by || b->verdict != FZ_CI_SLOWER)
			continue;
		b->fails = !b->ignored;
		b->accepted = NULL;
	}
}

/* Apply an accepted change by the rules of fizeau.ini: same benchmark and metric, up to its
 * limit. Only the job knows which commits are included. */
static void add_accepted(void *arg, const struct fz_results_accepted *a)
{
	struct fz_server_run *run = arg;
	const struct fz_ci_compared c = { run->pull, run->branch, run->head, run->patch };
	bool here = fz_ci_accepted_is_here(a, &c), lands = fz_ci_accepted_may_land(a, &c);

	for (uint32_t i = 0; i < run->result.n; i++) {
		struct fz_ci_bench *b = &run->result.benches[i];
		bool told = b->accepted_by && strcmp(b->accepted_by, a->commit) == 0;
		if (b->verdict != FZ_CI_SLOWER || !b->fails || b->change > a->change ||
		    !(here || told || (lands && fz_ci_has_counts(b, a->count))) ||
		    !fz_str_eq(b->name, fz_str_of(a->name)) || strcmp(b->metric, a->metric) != 0)
			continue;
		b->accepted = kept(run, fz_str_of(a->reason));
		b->fails = false;
	}
}

int fz_server_find_run(struct fz_results *r, const struct fz_results_query *q,
		       struct fz_server_run *ret, struct fz_error *err)
{
	struct finding k = { .run = ret, .err = err };
	int rc = fz_results_last(r, q, add_found, &k, err);

	if (rc != 1)
		return rc;
	forget_accepted(&ret->result);
	rc = k.rc ? k.rc
		  : fz_results_accepted(r, q->project, ret->repository, add_accepted, ret, err);
	fz_ci_tally(&ret->result);
	if (rc)
		fz_server_run_release(ret);
	return rc ? rc : 1;
}

void fz_server_run_release(struct fz_server_run *run)
{
	fz_ci_release(&run->result);
}

static void keep_first(void *arg, struct fz_str name)
{
	struct fz_buf *ret = arg;

	if (!ret->n)
		fz_buf_add(ret, name.p, name.n);
}

int fz_server_parse_run_query(struct fz_results *r, const struct fz_http_request *q,
			      struct fz_buf *branch, struct fz_results_query *ret,
			      struct fz_error *err)
{
	const char *run = fz_http_parameter(q, "run");

	*ret = (struct fz_results_query){ .project = q->project,
					  .repository = fz_http_parameter(q, "repository"),
					  .pull = fz_http_parameter(q, "pull"),
					  .branch = fz_http_parameter(q, "branch"),
					  .head = fz_http_parameter(q, "commit"),
					  .most = 1 };
	int rc = ret->head ? check_hash("commit", ret->head, err) : 0;

	if (!rc && run)
		rc = parse_id(run, &ret->run, err);
	if (!rc && !run && !ret->repository)
		rc = fz_fail(err, FZ_EUSAGE, "missing parameter: repository");
	if (rc || run || ret->pull || ret->branch || ret->head)
		return rc;
	rc = fz_results_branches(r, q->project, ret->repository, keep_first, branch, err);
	if (branch->n)
		ret->branch = branch->p;
	return rc;
}

/* Returns 1, or 0 after a 404 response if there is none. */
static int find(const struct fz_server *s, const struct fz_http_request *q,
		struct fz_server_run *run, struct fz_http_answer *ret, struct fz_error *err)
{
	fz_auto(fz_results_closep) struct fz_results *r = NULL;
	fz_auto(fz_buf_release) struct fz_buf branch = { 0 };
	struct fz_results_query query;
	int rc = fz_server_open_results(s, &r, err);

	if (!rc)
		rc = fz_server_parse_run_query(r, q, &branch, &query, err);
	if (!rc)
		rc = fz_server_find_run(r, &query, run, err);
	if (rc == 0)
		fz_server_no_run(ret);
	return rc;
}

static int write_badge(struct fz_server *s, const struct fz_http_request *q,
		       struct fz_http_answer *ret, struct fz_error *err)
{
	struct fz_server_run run;
	int rc = find(s, q, &run, ret, err);

	if (rc != 1)
		return rc;
	ret->type = "image/svg+xml";
	fz_ci_badge(&run.result, &ret->body);
	fz_server_run_release(&run);
	return 0;
}

static void status_json(const struct fz_server_run *run, struct fz_output *out)
{
	fz_auto(fz_buf_release) struct fz_buf headline = { 0 }, why = { 0 };
	const struct fz_ci_result *r = &run->result;
	uint32_t accepted = 0;
	struct fz_json j;

	for (uint32_t i = 0; i < r->n; i++)
		accepted += r->benches[i].accepted != NULL;
	fz_ci_headline(r, &headline);
	fz_ci_why(r, &why);
	fz_json_init(&j, out, 0);
	fz_json_open(&j, '{');
	fz_json_kstr(&j, "repository", fz_str_of(run->repository));
	fz_json_kstr(&j, "status", fz_str_of(fz_server_run_status(r)));
	fz_json_kint(&j, "exit", fz_ci_exit(r));
	fz_json_kstr(&j, "headline", fz_buf_view(&headline));
	fz_json_kstr(&j, "why", fz_buf_view(&why));
	fz_json_kint(&j, "benchmarks", r->n);
	fz_json_kint(&j, "failing", r->failing);
	fz_json_kint(&j, "accepted", accepted);
	fz_json_kstr(&j, "pull", fz_str_of(run->pull));
	fz_json_kstr(&j, "branch", fz_str_of(run->branch));
	fz_json_kstr(&j, "head", fz_str_of(run->head));
	fz_json_kstr(&j, "base", fz_str_of(run->base));
	fz_json_kint(&j, "run", run->id);
	fz_json_kint(&j, "received", run->received);
	fz_json_close(&j, '}');
}

static int write_status(struct fz_server *s, const struct fz_http_request *q,
			struct fz_http_answer *ret, struct fz_error *err)
{
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	struct fz_server_run run;
	int rc = find(s, q, &run, ret, err);

	if (rc != 1)
		return rc;
	status_json(&run, out);
	struct fz_str text = fz_buf_view(fz_output_buffer(out));
	fz_buf_add(&ret->body, text.p, text.n);
	ret->type = "application/json";
	fz_server_run_release(&run);
	return 0;
}

/* ---- routes ---- */

void fz_server_answer(struct fz_server *s, const struct fz_http_request *q,
		      struct fz_http_answer *ret,
		      int (*write)(struct fz_server *s, const struct fz_http_request *q,
				   struct fz_http_answer *ret, struct fz_error *err))
{
	struct fz_error err;

	fz_server_begin_work(s);
	int rc = s->results ? write(s, q, ret, &err) : fz_server_open_results(s, NULL, &err);
	if (rc < 0)
		fz_http_refuse(ret, &err);
	fz_server_end_work(s);
}

void fz_answer_run(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	fz_server_answer(arg, q, ret, store_run);
}

void fz_answer_run_page(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	fz_server_answer(arg, q, ret, store_page);
}

void fz_answer_badge(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	fz_server_answer(arg, q, ret, write_badge);
}

void fz_answer_status(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	fz_server_answer(arg, q, ret, write_status);
}
