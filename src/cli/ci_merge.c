/* SPDX-License-Identifier: MIT */
/* fizeau ci merge: combine the reports of several jobs; see bench/ci_merge.h. */
#include "cli/ci.h"

#include "bench/ci_merge.h"

static struct fz_cli_ci_options options;

static const struct fz_opt option_table[] = {
	FZ_OPT(STRING, "output", "FOLDER", &options.output,
	       "write the combined reports to FOLDER, as 'fizeau ci -o' does", .short_name = 'o'),
	FZ_OPT(STRING, "link", "URL", &options.link, "link to report.html for the comment"),
	FZ_CLI_COLOR_ENTRY(&options.color),
	FZ_CLI_CI_SERVER_ENTRIES(options),
	FZ_CLI_CI_SPOOL_ENTRIES(options),
	{ .kind = FZ_OPT_END },
};

static int run(struct fz_opt_state *state)
{
	fz_auto(fz_ci_run_release) struct fz_ci_run c = { 0 };
	struct fz_error err;

	if (state->argument_count == 0)
		return fz_cli_errorf(
			"ci merge: no reports; specify the folders written by 'fizeau ci -o'");
	int rc = fz_cli_ci_server_check(&options, &err);
	if (!rc)
		rc = fz_ci_merge(&c, (const char *const *)state->arguments,
				 (size_t)state->argument_count, &err);
	if (!rc)
		fz_ci_merge_find(&c, NULL); /* without the commit there are no links */
	if (!rc)
		fz_cli_ci_server_fetch(&c, &options);
	if (!rc && c.rules.config)
		fz_ci_accept(&c.result, &c.rules);
	c.result.link = options.link;
	if (!rc)
		rc = fz_cli_ci_report(&c, &options, &err);
	if (!rc)
		fz_cli_ci_server_send(&c, &options);
	fz_repository_release(&c.workspace.repository);
	if (!rc)
		return fz_ci_exit(&c.result);
	return fz_cli_fail("ci merge", &err);
}

const struct fz_command fz_command_ci_merge = {
	.name = "ci merge",
	.summary = "combine the reports of several jobs into one verdict",
	.usage = "[options] FOLDER...",
	.examples = "  $ fizeau ci merge -o report shard-*/   # folders written by 'fizeau ci "
		    "-o'\n",
	.options = option_table,
	.run = run,
};
