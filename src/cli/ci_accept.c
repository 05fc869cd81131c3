/* SPDX-License-Identifier: MIT */
/* fizeau ci accept: accept a change of a run on a server, with a reason. Like [accept] in
 * fizeau.ini, but for one benchmark of one commit or pull request. */
#include "cli/ci.h"

#include <stdio.h>

#include "bench/report.h"
#include "bench/ci_source.h"

static struct fz_cli_ci_options options;
static const char *reason, *commit, *metric;
static bool withdraw;

static const struct fz_opt option_table[] = {
	FZ_OPT(STRING, "reason", "TEXT", &reason, "why the change is intended"),
	FZ_OPT(FLAG, "withdraw", NULL, &withdraw, "withdraw the acceptance"),
	FZ_OPT(STRING, "commit", "REVISION", &commit,
	       "branch of the change (default: that of this checkout or of the pull request)"),
	FZ_OPT(STRING, "metric", "NAME", &metric, "metric to accept (default: the one that fails)"),
	FZ_CLI_CI_SERVER_ENTRIES(options),
	{ .kind = FZ_OPT_END },
};

#ifdef FZ_FLEET

#include <jansson.h>

#include "fleet/client.h"

static void wish(const char *benchmark, const struct fz_ci_source *s, struct fz_output *out)
{
	struct fz_json j;

	fz_json_init(&j, out, 0);
	fz_json_open(&j, '{');
	fz_ci_json_text(&j, "repository", s->repository);
	if (options.pull && !commit)
		fz_ci_json_text(&j, "pull", options.pull);
	else
		fz_ci_json_text(&j, "commit", s->head.hash);
	fz_ci_json_text(&j, "benchmark", benchmark);
	if (metric)
		fz_ci_json_text(&j, "metric", metric);
	if (withdraw)
		fz_json_kbool(&j, "withdraw", true);
	else
		fz_ci_json_text(&j, "reason", reason);
	fz_json_close(&j, '}');
}

static void print_answer(const char *benchmark, const struct fz_buf *answer)
{
	json_t *parsed = json_loadb(answer->p ? answer->p : "", answer->n, 0, NULL);
	long long failing = json_integer_value(json_object_get(parsed, "failing"));
	char number[FZ_NUMBER_SIZE];

	printf("%s: %s; run %lld %s, with %s\n", benchmark,
	       withdraw ? "no longer accepted" : "accepted",
	       (long long)json_integer_value(json_object_get(parsed, "run")),
	       json_string_value(json_object_get(parsed, "status")),
	       fz_format_plural(failing, "failure", number));
	json_decref(parsed);
}

static int accept_change(char **names, int n, struct fz_error *err)
{
	fz_auto(fz_repository_release) struct fz_repository repository = { 0 };
	fz_auto(fz_ci_source_release) struct fz_ci_source source = { 0 };
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	fz_auto(fz_buf_release) struct fz_buf answer = { 0 };
	fz_auto(fz_free_ptr) char *token = NULL;
	const struct fz_ci_source_options as = { .repository = options.repository,
						 .pull = options.pull };
	int rc = fz_cli_ci_server_check(&options, err);

	(void)n;
	if (!rc)
		rc = fz_cli_fleet_token(&options.fleet, &token, err);
	if (!rc)
		rc = fz_repository_find(&repository, err);
	if (!rc)
		rc = fz_ci_source_find(&repository, commit ? commit : "HEAD", NULL, &as, &source,
				       err);
	if (rc)
		return rc;
	const struct fz_client client = { .server = options.fleet.server,
					  .token = token,
					  .type = "application/json" };
	wish(names[0], &source, out);
	struct fz_str body = fz_buf_view(fz_output_buffer(out));
	rc = fz_client_request(&client, "/api/accept", &body, &answer, err);
	if (!rc)
		print_answer(names[0], &answer);
	return rc;
}

#endif

static int run(struct fz_opt_state *state)
{
	if (state->argument_count != 1)
		return fz_cli_errorf("ci accept: specify one benchmark, as named in the report");
	if (!options.fleet.server)
		return fz_cli_errorf("ci accept: --server URL is required");
	if (!reason == !withdraw)
		return fz_cli_errorf("ci accept: --reason TEXT is required (or --withdraw)");
	return fz_cli_fleet_do("ci accept", FZ_CLI_FLEET_WORK(accept_change), state);
}

const struct fz_command fz_command_ci_accept = {
	.name = "ci accept",
	.summary = "accept a benchmark change stored on a server, with a reason",
	.usage = "--server URL --reason TEXT [options] BENCHMARK",
	.examples = "  $ fizeau ci accept --server http://fleet:4999 --pull 128 \\\n"
		    "      --reason 'easier to read' test_parse_pr\n",
	.options = option_table,
	.run = run,
};
