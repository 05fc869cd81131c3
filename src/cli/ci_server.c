/* SPDX-License-Identifier: MIT */
/* fizeau ci --server: sends the results of a run to a server, and reads the changes that were
 * accepted there.
 *
 *   before   GET /api/accepted  -> [accept]s of the configuration
 *   after    POST /api/benchmarks (report.json) -> number of the run
 *            POST /api/benchmarks/page, for each page
 *
 * The id of a run is a hash of what is sent, so a run that is sent twice is stored once. Everything
 * goes through a spool, where it waits for the next run while the server is unreachable. A spool
 * belongs to one server, repository and token, so results cannot go to another project. */
#include "cli/ci.h"

#ifdef FZ_FLEET

#include <jansson.h>
#include <time.h>

#include "agent/sender.h"
#include "bench/accepted.h"
#include "bench/report.h"
#include "fleet/client.h"
#include "bench/ci_merge.h"
#include "bench/ci_source.h"

enum { SECONDS_MAX = 120 };

struct link {
	struct fz_client client;
	char *token;
	struct fz_ci_source source;
};

static void release_link(struct link *l)
{
	free(l->token);
	fz_ci_source_release(&l->source);
}

static int check(const struct fz_cli_ci_options *o, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *token = NULL;
	const struct fz_client client = { .server = o->fleet.server };
	int rc = fz_cli_fleet_token(&o->fleet, &token, err);

	return rc ? rc : fz_client_check(&client, err);
}

static int open_link(struct fz_ci_run *c, const struct fz_cli_ci_options *o, struct link *ret,
		     struct fz_error *err)
{
	const struct fz_repository *r = &c->workspace.repository;
	int rc = fz_cli_fleet_token(&o->fleet, &ret->token, err);

	ret->client = (struct fz_client){ .server = o->fleet.server,
					  .token = ret->token,
					  .seconds = SECONDS_MAX,
					  .attempts = FZ_CLIENT_ATTEMPTS };
	/* Merged reports have no checkout yet. */
	if (!rc && !r->root)
		rc = fz_ci_merge_find(c, err);
	const struct fz_ci_source_options as = {
		.repository = o->repository,
		.pull = o->pull,
		.into = c->base_file ? NULL : o->run.base,
	};
	return rc ? rc
		  : fz_ci_source_find(r, c->checkout[FZ_HEAD].commit, c->base_commit, &as,
				      &ret->source, err);
}

static void add_parameter(struct fz_buf *out, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	fz_buf_printf(out, "&%s=", name);
	fz_buf_uri_part(out, fz_str_of(value));
}

/* ---- accepted changes ---- */

static int query_accepted(struct fz_ci_run *c, const struct fz_cli_ci_options *o,
			  struct fz_error *err)
{
	fz_auto(release_link) struct link l = { 0 };
	fz_auto(fz_buf_release) struct fz_buf query = { 0 }, answer = { 0 };
	struct fz_results_accepted a;
	const json_t *one;
	size_t i;
	int rc = open_link(c, o, &l, err);

	if (rc)
		return rc;
	const struct fz_ci_compared here = { l.source.pull, l.source.branch, l.source.head.hash,
					     l.source.patch };
	fz_buf_str(&query, "/api/accepted?");
	add_parameter(&query, "repository", l.source.repository);
	rc = fz_client_request(&l.client, query.p, NULL, &answer, err);
	if (rc)
		return rc;
	json_t *parsed = json_loadb(answer.p ? answer.p : "", answer.n, 0, NULL);
	json_array_foreach(json_object_get(parsed, "accepted"), i, one)
	{
		if (fz_ci_accepted_read(one, &a))
			fz_ci_accepted_apply(&a, &here, &c->config);
	}
	json_decref(parsed);
	return 0;
}

void fz_cli_ci_server_fetch(struct fz_ci_run *c, const struct fz_cli_ci_options *o)
{
	struct fz_error err;

	if (o->fleet.server && query_accepted(c, o, &err))
		fz_cli_warn("ci: cannot read accepted changes from the server: %s", err.message);
}

/* ---- results ---- */

static void add_commit(struct fz_buf *out, const char *side, const struct fz_ci_source_commit *c)
{
	fz_auto(fz_free_ptr) char *subject = fz_asprintf("%s_subject", side);

	if (!c->hash)
		return;
	add_parameter(out, side, c->hash);
	add_parameter(out, subject, c->subject);
	fz_buf_printf(out, "&%s_time=%lld", side, (long long)c->time);
}

/* The caller frees both. */
static char *query_of(const struct fz_ci_source *s, bool edited, struct fz_str report,
		      char **ret_id)
{
	struct fz_buf out = { 0 };

	fz_buf_str(&out, "/api/benchmarks?");
	add_parameter(&out, "repository", s->repository);
	add_parameter(&out, "pages", s->commit_pages);
	add_parameter(&out, "pull", s->pull);
	add_parameter(&out, "branch", s->branch);
	add_parameter(&out, "into", s->into);
	add_parameter(&out, "patch", s->patch);
	add_commit(&out, "head", &s->head);
	add_commit(&out, "base", &s->base);
	if (edited)
		add_parameter(&out, "edited", "yes");
	const struct fz_fleet_push push = {
		.service = out.p, .version = "", .host = "", .labels = ""
	};
	*ret_id = fz_fleet_id(&push, report, 0);
	add_parameter(&out, "id", *ret_id);
	return fz_buf_take(&out);
}

/* Pushes to the spool and from there to the server. */
struct outbox {
	const struct link *link;
	struct fz_agent_spool *spool; /* NULL: none; send directly */
	char *run_query;              /* owned */
	int64_t run;                  /* its number on the server; 0: not sent yet */
	uint64_t before;              /* number of pushes of earlier runs that were sent */
};

static void parse_run(struct outbox *o, const struct fz_buf *answer)
{
	json_t *parsed = json_loadb(answer->p ? answer->p : "", answer->n, 0, NULL);

	o->run = json_integer_value(json_object_get(parsed, "run"));
	json_decref(parsed);
}

static void on_gone(void *arg, const struct fz_agent_spooled *p, const struct fz_buf *answer)
{
	struct outbox *o = arg;

	if (!answer || o->run)
		return;
	if (strcmp(p->query.p, o->run_query) == 0)
		parse_run(o, answer);
	else
		o->before++;
}

/* Open the spool; returns its folder. If that fails, pushes are sent but not kept. */
static char *open_spool(struct outbox *box, const struct fz_cli_ci_options *o,
			const struct fz_notify *notify)
{
	uint64_t limit = o->spool.limit ? o->spool.limit : FZ_CLI_SPOOL_LIMIT;
	const struct link *l = box->link;
	struct fz_error err;
	char *folder = NULL;

	if (fz_cli_spool_folder(&o->spool, o->fleet.server, l->source.repository, l->token, &folder,
				&err) ||
	    fz_agent_spool_open(folder, limit, true, notify, &box->spool, &err))
		fz_cli_warn("ci: results cannot be queued if the server is unreachable: %s",
			    err.message);
	return folder;
}

static int put(struct outbox *o, const char *query, struct fz_str body, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf answer = { 0 };

	if (o->spool && !fz_agent_spool_add(o->spool, query, body, time(NULL), err))
		return 0;
	int rc = fz_client_request(&o->link->client, query, &body, &answer, err);
	if (!rc && !o->run)
		parse_run(o, &answer);
	return rc;
}

static int put_page(struct fz_ci_run *c, struct outbox *o, const char *id, const char *metric,
		    struct fz_error *err)
{
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	fz_auto(fz_free_ptr) char *name = fz_cli_ci_page_name(&c->result, metric);
	fz_auto(fz_buf_release) struct fz_buf query = { 0 };
	int rc = fz_cli_ci_page(c, metric, out, err);

	fz_buf_str(&query, "/api/benchmarks/page?");
	add_parameter(&query, "repository", o->link->source.repository);
	add_parameter(&query, "id", id);
	add_parameter(&query, "name", name);
	return rc ? rc : put(o, query.p, fz_buf_view(fz_output_buffer(out)), err);
}

static int put_all(struct fz_ci_run *c, struct outbox *o, struct fz_error *err)
{
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	fz_auto(fz_free_ptr) char *id = NULL;
	bool edited = strchr(c->result.labels[FZ_HEAD], ' ');

	fz_ci_json(&c->result, out);
	struct fz_str report = fz_buf_view(fz_output_buffer(out));
	fz_auto(fz_free_ptr) char *query = query_of(&o->link->source, edited, report, &id);
	int rc = put(o, query, report, err);
	for (uint32_t i = 0; !rc && i < c->result.metrics.n; i++)
		rc = put_page(c, o, id, c->result.metrics.list[i], err);
	o->run_query = fz_steal(query);
	return rc;
}

static void print_sent(const struct outbox *o, const char *server)
{
	fz_auto(fz_free_ptr) char *page = fz_client_url(server, "/change");
	char n[FZ_NUMBER_SIZE];

	if (o->before)
		fz_cli_note("ci: sent queued results of earlier runs to the server (pushes: %s)",
			    fz_format_count((int64_t)o->before, n));
	if (o->run)
		fz_cli_note("results: %s?run=%lld", page, (long long)o->run);
}

/* Send what is in the spool, if there is one. */
static void empty(struct outbox *o, const char *folder, const struct fz_notify *notify)
{
	const struct fz_agent_send how = { .client = &o->link->client,
					   .spool = o->spool,
					   .notify = notify,
					   .tells_age = true,
					   .gone = on_gone,
					   .arg = o };
	struct fz_error err;

	if (o->spool && fz_agent_send(&how, &err))
		fz_cli_warn("ci: some or all results were not sent to the server and are queued in "
			    "%s until the next run: %s; this does not affect the verdict",
			    folder, err.message);
}

static int send(struct fz_ci_run *c, const struct fz_cli_ci_options *o, struct fz_error *err)
{
	static char command[] = "ci";
	static const struct fz_notify notify = { .call = fz_cli_fleet_notify, .arg = command };
	fz_auto(release_link) struct link l = { 0 };
	struct outbox box = { .link = &l };
	int rc = open_link(c, o, &l, err);

	if (rc)
		return rc;
	if (c->untracked)
		fz_cli_note("ci: the server does not store the counts of this tree: %s is "
			    "untracked; commit or ignore it",
			    c->untracked);
	fz_auto(fz_free_ptr) char *folder = open_spool(&box, o, &notify);
	rc = put_all(c, &box, err);
	empty(&box, folder, &notify);
	print_sent(&box, o->fleet.server);
	fz_agent_spool_close(box.spool);
	free(box.run_query);
	return rc;
}

void fz_cli_ci_server_send(struct fz_ci_run *c, const struct fz_cli_ci_options *o)
{
	struct fz_error err;

	if (o->fleet.server && send(c, o, &err))
		fz_cli_warn("ci: some or all results were not sent to the server: %s; this does "
			    "not affect the verdict, and results sent again are stored once",
			    err.message);
}

#else

static int check(const struct fz_cli_ci_options *o, struct fz_error *err)
{
	(void)o;
	fz_cli_fleet_missing(err);
	return fz_error_prefix(err, "--server");
}

void fz_cli_ci_server_fetch(struct fz_ci_run *c, const struct fz_cli_ci_options *o)
{
	(void)c;
	(void)o;
}

void fz_cli_ci_server_send(struct fz_ci_run *c, const struct fz_cli_ci_options *o)
{
	(void)c;
	(void)o;
}

#endif

int fz_cli_ci_server_check(const struct fz_cli_ci_options *o, struct fz_error *err)
{
	if (o->fleet.server)
		return check(o, err);
	bool sends = o->fleet.token_file || o->spool.folder || o->spool.limit;
	return o->repository || o->pull || (sends && !o->run.server)
		       ? fz_fail(err, FZ_EUSAGE,
				 "--repository, --pull, --token-file, --spool and --spool-limit "
				 "require --server URL")
		       : 0;
}
