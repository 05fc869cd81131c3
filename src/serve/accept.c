/* SPDX-License-Identifier: MIT */
/* Benchmark changes that were accepted on the server; [accept] in fizeau.ini does the same in the
 * repository.
 *
 *   POST /api/accept   {"run": 12, "benchmark": "parse", "metric": "instructions", "reason": "..."}
 *                      or, instead of the run, {"repository", "commit" or "pull"};
 *                      {"withdraw": true} instead of the reason removes it
 *   GET  /api/accepted?repository=R   all of them, for jobs
 *
 * The run defines how much is accepted: its change plus the benchmark's own limit. The acceptance
 * applies to comparisons that include the commit, to its pull request, and to the target branch
 * after a merge under another commit (bench/accepted.h).
 *
 * Only JSON is accepted, because forms of other sites cannot send it.
 */
#include "serve/results.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "bench/accepted.h"
#include "format/jsonread.h"
#include "serve/inputs.h"
#include "serve/routes.h"

enum { BODY_MAX = 1 << 16 };

static void write_one(void *arg, const struct fz_results_accepted *a)
{
	fz_ci_accepted_write(arg, a);
}

static int write_accepted(struct fz_server *s, const struct fz_http_request *q,
			  struct fz_http_answer *ret, struct fz_error *err)
{
	fz_auto(fz_results_closep) struct fz_results *r = NULL;
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	struct fz_json j;
	int rc = fz_server_open_results(s, &r, err);

	fz_json_init(&j, out, 0);
	fz_json_open(&j, '{');
	fz_json_kopen(&j, "accepted", '[');
	if (!rc)
		rc = fz_results_accepted(r, q->project, fz_inputs_text(q, "repository"), write_one,
					 &j, err);
	fz_json_close(&j, ']');
	fz_json_close(&j, '}');
	struct fz_str text = fz_buf_view(fz_output_buffer(out));
	if (!rc)
		fz_buf_add(&ret->body, text.p, text.n);
	ret->type = "application/json";
	return rc;
}

/* ---- requests ---- */

struct acceptance {
	const char *benchmark, *metric, *reason; /* borrowed from the JSON */
	bool withdraw;
	struct fz_results_query of;
};

/* NULL if missing. */
static const char *text_of(const json_t *v, const char *key)
{
	return json_string_value(json_object_get(v, key));
}

static int check_acceptance(const struct acceptance *w, struct fz_error *err)
{
	const char *const texts[][2] = { { "benchmark", w->benchmark }, { "reason", w->reason } };
	int rc = 0;

	if (!w->of.run && !(w->of.repository && (w->of.head || w->of.pull)))
		return fz_fail(
			err, FZ_EUSAGE,
			"specify the run: \"run\", or \"repository\" with \"commit\" or \"pull\"");
	if (!w->benchmark)
		return fz_fail(err, FZ_EUSAGE, "missing parameter: benchmark");
	if (!w->withdraw && !(w->reason && *w->reason))
		return fz_fail(err, FZ_EUSAGE,
			       "missing parameter: reason (why the change is intended)");
	if (w->of.head && !fz_server_is_hash(w->of.head))
		return fz_fail(err, FZ_EUSAGE, "commit: invalid commit hash '%.80s'", w->of.head);
	for (size_t i = 0; !rc && i < FZ_ARRAY_LEN(texts); i++)
		if (texts[i][1])
			rc = fz_server_check_text(texts[i][0], texts[i][1], err);
	return rc;
}

static int read_request(struct fz_server *s, const struct fz_http_request *q, json_t **json,
			struct acceptance *ret, struct fz_error *err)
{
	fz_auto(fz_input_closep) struct fz_input *in = NULL;
	fz_auto(fz_budget_release) struct fz_budget_part memory = fz_server_memory(s);

	if (!fz_str_starts(q->type, "application/json"))
		return fz_fail(err, FZ_EUNSUPPORTED, "Content-Type must be application/json");
	if (q->body.n == 0 || q->body.n > BODY_MAX)
		return fz_fail(err, q->body.n ? FZ_ELIMIT : FZ_EINPUT,
			       "the body has %zu bytes; the limit is 1 to %d", q->body.n, BODY_MAX);
	int rc = fz_server_open_body(q->body, &memory, &in, err);
	if (!rc)
		rc = fz_jsonread_load(in, json, err);
	if (rc)
		return rc;
	const json_t *v = *json;
	*ret = (struct acceptance){ .benchmark = text_of(v, "benchmark"),
				    .metric = text_of(v, "metric"),
				    .reason = text_of(v, "reason"),
				    .withdraw = json_is_true(json_object_get(v, "withdraw")),
				    .of = { .project = q->project,
					    .repository = text_of(v, "repository"),
					    .pull = text_of(v, "pull"),
					    .head = text_of(v, "commit"),
					    .run = fz_jsonread_int(json_object_get(v, "run"), 0),
					    .most = 1 } };
	return check_acceptance(ret, err);
}

/* ---- changes ---- */

static const struct fz_ci_bench *find(const struct fz_ci_result *r, const struct acceptance *w)
{
	for (uint32_t i = 0; i < r->n; i++) {
		const struct fz_ci_bench *b = &r->benches[i];
		if (fz_str_eq(b->name, fz_str_of(w->benchmark)) &&
		    (!w->metric || strcmp(b->metric, w->metric) == 0) &&
		    b->verdict == FZ_CI_SLOWER && (w->withdraw ? b->accepted != NULL : b->fails))
			return b;
	}
	return NULL;
}

static int keep(struct fz_server *s, const struct fz_server_run *run, const struct acceptance *w,
		const struct fz_ci_bench *b, struct fz_error *err)
{
	double limit = isfinite(b->limit) ? b->limit : 0;
	struct fz_results_accepted a = {
		.name = w->benchmark,
		.metric = b->metric,
		.reason = w->reason ? w->reason : "",
		.commit = run->head,
		.pull = run->pull,
		.into = run->into,
		.patch = run->patch,
		.count = { b->count[FZ_BASE], b->count[FZ_HEAD] },
		/* A run of the target branch itself. */
		.landed = !*run->pull && strcmp(run->branch, run->into) == 0 ? run->head : "",
		/* If the base count was 0, accept any increase. */
		.change = isfinite(b->change) ? (1 + b->change) * (1 + limit) - 1 : INFINITY,
		.time = fz_clock_unix() / FZ_SECOND,
	};
	bool was;

	if (!w->withdraw)
		return fz_results_accept(s->results, w->of.project, run->repository, &a, err);
	int rc = fz_results_refuse(s->results, w->of.project, run->repository, &a, &was, err);
	if (!rc && !was)
		rc = fz_fail(err, FZ_EINPUT,
			     "'%.80s' was accepted elsewhere: in fizeau.ini, or for another commit "
			     "of the pull request",
			     w->benchmark);
	return rc;
}

/* Update the run's headline and exit status, and respond with the new status. */
static int judge_again(struct fz_server *s, const struct acceptance *w, int64_t id,
		       struct fz_http_answer *ret, struct fz_error *err)
{
	const struct fz_results_query q = { .project = w->of.project, .run = id };
	fz_auto(fz_buf_release) struct fz_buf headline = { 0 };
	struct fz_server_run run;
	int rc = fz_server_find_run(s->results, &q, &run, err);

	if (rc != 1)
		return rc;
	fz_ci_headline(&run.result, &headline);
	rc = fz_results_judge(s->results, id, fz_ci_exit(&run.result), headline.p, err);
	const struct fz_inputs_member members[] = { { "run", id },
						    { "failing", run.result.failing } };
	fz_inputs_answer(ret, fz_server_run_status(&run.result), members, FZ_ARRAY_LEN(members));
	fz_server_run_release(&run);
	return rc;
}

static int change(struct fz_server *s, const struct acceptance *w, struct fz_http_answer *ret,
		  struct fz_error *err)
{
	struct fz_server_run run;
	int rc = fz_server_find_run(s->results, &w->of, &run, err);

	if (rc == 0)
		fz_server_no_run(ret);
	if (rc != 1)
		return rc;
	const struct fz_ci_bench *b = find(&run.result, w);
	rc = b ? keep(s, &run, w, b, err)
	       : fz_fail(err, FZ_EINPUT, "in run %lld of %s no benchmark '%.80s' %s",
			 (long long)run.id, run.repository, w->benchmark,
			 w->withdraw ? "is accepted" : "fails for costing more");
	int64_t id = run.id;
	fz_server_run_release(&run);
	return rc ? rc : judge_again(s, w, id, ret, err);
}

static int accept_change(struct fz_server *s, const struct fz_http_request *q,
			 struct fz_http_answer *ret, struct fz_error *err)
{
	fz_auto(fz_jsonread_release) json_t *json = NULL;
	struct acceptance w;
	int rc = read_request(s, q, &json, &w, err);

	if (rc)
		return rc;
	pthread_mutex_lock(&s->results_writing);
	rc = change(s, &w, ret, err);
	pthread_mutex_unlock(&s->results_writing);
	return rc;
}

/* ---- routes ---- */

void fz_answer_accepted(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	fz_server_answer(arg, q, ret, write_accepted);
}

void fz_answer_accept(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	fz_server_answer(arg, q, ret, accept_change);
}
