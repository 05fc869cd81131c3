/* SPDX-License-Identifier: MIT */
/* fizeau push: send recordings to a server. Pushing the same recording as the same release again
 * changes nothing, so a failed push can be repeated. */
#include "cli/cli.h"
#include "cli/fleet.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "git/command.h"
#include "base/io.h"
#include "base/text.h"
#include "fleet/client.h"
#include "fleet/fleet.h"
#include "fleet/sides.h"
#include "format/format.h"
#include "store/store.h"

static struct fz_cli_fleet fleet;
static const char *service, *version, *host;

static const struct fz_opt option_table[] = {
	FZ_CLI_FLEET_SERVER_ENTRIES(fleet),
	FZ_OPT(STRING, "service", "NAME", &service, "service name of the program"),
	FZ_OPT(STRING, "version", "NAME", &version,
	       "release of the program (default: the recorded commit, else the commit of the "
	       "current folder)"),
	FZ_OPT(CALL, "label", "KEY=VALUE", &fleet, "attach a label, such as region=eu; repeatable",
	       .call = fz_cli_fleet_add_label),
	FZ_OPT(STRING, "host", "NAME", &host,
	       "host name to report (default: the recorded host, else this one)"),
	{ .kind = FZ_OPT_END },
};

#ifdef FZ_FLEET

enum { COMMIT_DIGITS = 12 };
#define FILE_MAX ((uint64_t)1 << 30)

static int read_bytes(const char *path, struct fz_buf *ret, struct fz_error *err)
{
	fz_auto(fz_input_closep) struct fz_input *in = NULL;
	int r = fz_input_open(path, &in, err);

	return r ? r : fz_input_read_all(in, ret, FILE_MAX, err);
}

static char *commit_here(struct fz_error *err)
{
	static const char *const words[] = { "describe",    "--always",    "--dirty",
					     "--abbrev=12", "--exclude=*", NULL };
	char *line = NULL;

	if (fz_git_call_line(FZ_GIT_ASKS_TREE, NULL, words, &line, NULL, err))
		return NULL;
	return line;
}

/* The version from the option or the recording; the caller frees. */
static char *version_of(const struct fz_profile *p, struct fz_error *err)
{
	struct fz_str commit = fz_profile_fact(p, "git.commit");
	bool dirty = fz_str_eq(fz_profile_fact(p, "git.dirty"), FZ_STR("yes"));

	if (version)
		return fz_strdup(version);
	if (commit.n)
		return fz_asprintf("%.*s%s", (int)FZ_MIN(commit.n, COMMIT_DIGITS), commit.p,
				   dirty ? "-dirty" : "");
	char *here = commit_here(err);
	if (!here)
		fz_fail(err, FZ_EUSAGE, "no version: not in a git checkout; use --version NAME");
	return here;
}

static char *host_of(const struct fz_profile *p)
{
	struct fz_str fact = fz_profile_fact(p, "host");
	char name[HOST_NAME_MAX + 1] = "";

	if (host)
		return fz_strdup(host);
	if (fact.n)
		return fz_strndup(fact.p, fact.n);
	gethostname(name, sizeof(name) - 1);
	return fz_strdup(name);
}

static void print_answer(const char *name, const struct fz_fleet_push *push,
			 const struct fz_buf *answer)
{
	char minutes[FZ_NUMBER_SIZE], samples[FZ_NUMBER_SIZE];
	json_t *parsed = json_loadb(answer->p ? answer->p : "", answer->n, 0, NULL);
	const char *status = json_string_value(json_object_get(parsed, "status"));
	const char *kept = json_is_true(json_object_get(parsed, "kept"))
				   ? "; the complete recording is stored"
				   : "";
	int64_t unlabelled = json_integer_value(json_object_get(parsed, "unlabelled"));

	if (status && strcmp(status, "known") == 0)
		printf("%s: already on the server as %s@%s%s\n", name, push->service, push->version,
		       kept);
	else
		printf("%s: pushed as %s@%s, %s of %s%s\n", name, push->service, push->version,
		       fz_format_plural(json_integer_value(json_object_get(parsed, "samples")),
					"sample", samples),
		       fz_format_plural(json_integer_value(json_object_get(parsed, "minutes")),
					"minute", minutes),
		       kept);
	if (unlabelled)
		printf("%s: labels of %s are not stored; see fizeau-push(1)\n", name,
		       fz_format_plural(unlabelled, "sample", samples));
	json_decref(parsed);
}

static int push_one(const struct fz_client *client, const char *name, const char *labels,
		    struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *path = NULL;
	fz_auto(fz_profile_freep) struct fz_profile *facts = NULL;
	fz_auto(fz_buf_release) struct fz_buf bytes = { 0 };
	fz_auto(fz_buf_release) struct fz_buf answer = { 0 };
	int r = fz_store_resolve(name, &path, err);

	if (!r)
		r = fz_format_load_facts(path, &facts, err);
	if (!r)
		r = read_bytes(path, &bytes, err);
	if (r)
		return r;
	fz_auto(fz_free_ptr) char *release = version_of(facts, err);
	fz_auto(fz_free_ptr) char *where = host_of(facts);
	if (!release)
		return err->code;
	struct fz_fleet_push push = {
		.service = service, .version = release, .host = where, .labels = labels
	};
	struct fz_str body = fz_buf_view(&bytes);
	fz_auto(fz_free_ptr) char *id = fz_fleet_id(&push, body, 0);
	push.id = id;
	fz_auto(fz_free_ptr) char *plain = fz_client_push_query(&push);
	/* The server decides whether it keeps whole recordings. */
	fz_auto(fz_free_ptr) char *query = fz_asprintf("%s&keep=yes", plain);
	r = fz_fleet_check_version(release, err);
	if (!r)
		r = fz_fleet_check_name("host", where, err);
	if (!r)
		r = fz_client_request(client, query, &body, &answer, err);
	if (!r)
		print_answer(name, &push, &answer);
	return r ? fz_error_prefix(err, "%s", name) : 0;
}

static int push_all(char **names, int n, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *token = NULL;
	fz_auto(fz_buf_release) struct fz_buf labels = { 0 };
	int r = fz_fleet_check_service(service, err);

	if (!r)
		r = fz_fleet_labels(fleet.labels, fleet.label_n, &labels, err);
	if (!r)
		r = fz_cli_fleet_token(&fleet, &token, err);
	fz_auto(fz_connection_close) struct fz_connection connection = { 0 };
	struct fz_client client = { .server = fleet.server,
				    .token = token,
				    .connection = &connection };
	for (int i = 0; !r && i < n; i++)
		r = push_one(&client, names[i], labels.p, err);
	return r;
}

#endif

static int run(struct fz_opt_state *state)
{
	if (!state->argument_count)
		return fz_cli_errorf("push: specify a recording; @1 is the latest");
	if (!fleet.server)
		return fz_cli_errorf("push: --server URL is required");
	if (!service)
		return fz_cli_errorf("push: --service NAME is required");
	return fz_cli_fleet_do("push", FZ_CLI_FLEET_WORK(push_all), state);
}

const struct fz_command fz_command_push = {
	.name = "push",
	.summary = "send recordings to a server",
	.usage = "[options] RECORDING...",
	.examples =
		"  $ fizeau push @1 --server http://localhost:4999 --service api\n"
		"  $ fizeau push app.fz --server http://fleet:4999 --service api --version 1.4\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_RECORDING,
	.run = run,
};
