/* SPDX-License-Identifier: MIT */
/* fizeau ci merge: combine the reports of several jobs; see bench/ci_merge.h. */
#include "cli/ci.h"

#include "bench/ci_merge.h"

static struct fz_cli_ci_options options;

/* clang-format off */
static const struct fz_opt option_table[] = {
	{ .kind = FZ_OPT_STRING, .short_name = 'o', .long_name = "output", .argument = "FOLDER",
	  .value = &options.output, .help = "write the combined reports to FOLDER, as 'fizeau "
					    "ci -o' does" },
	{ .kind = FZ_OPT_STRING, .long_name = "link", .argument = "URL", .value = &options.link,
	  .help = "link to report.html for the comment" },
	{ .kind = FZ_OPT_CHOICE, .long_name = "color", .argument = "WHEN", .value = &options.color,
	  .choices = fz_cli_color_names, .help = "use colours: auto (default), always or "
						 "never" },
	FZ_CLI_CI_SERVER_ENTRIES(options),
	FZ_CLI_CI_SPOOL_ENTRIES(options),
	{ .kind = FZ_OPT_END },
};
/* clang-format on */

static const struct fz_command command = {
	.name = "ci merge",
	.summary = "combine the reports of several jobs into one verdict",
	.usage = "[options] FOLDER...",
	.examples = "  $ fizeau ci merge -o report shard-*/   # folders written by 'fizeau ci "
		    "-o'\n",
	.options = option_table,
};

int fz_cli_ci_merge(int argc, char **argv)
{
	struct fz_opt_state state = { .options = option_table };
	fz_auto(fz_ci_run_release) struct fz_ci_run c = { 0 };
	struct fz_error err;
	int status;

	if (!fz_cli_parse(&command, &state, argc, argv, &status))
		return status;
	if (state.argument_count == 0)
		return fz_cli_errorf(
			"ci merge: no reports; specify the folders written by 'fizeau ci -o'");
	int rc = fz_cli_ci_server_check(&options, &err);
	if (!rc)
		rc = fz_ci_merge(&c, (const char *const *)state.arguments,
				 (size_t)state.argument_count, &err);
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
	fz_error_prefix(&err, "ci merge");
	return fz_cli_error(&err);
}
