/* SPDX-License-Identifier: MIT */
/* fizeau ci: what a change does to the benchmarks of a project; see bench/ci_run.h for how it is
 * measured, ci_write.c for the reports. */
#include "cli/ci.h"

#include "cli/counts.h"

enum { OTHERS_DEFAULT = 2, PARALLEL_MAX = 64 };

static struct fz_cli_ci_options options;
static struct fz_cli_counts counts = { .who = "ci" };

static int set_metrics(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	if (fz_ci_parse_metrics(fz_str_of(text), opt->value))
		return 0;
	return fz_fail(err, FZ_EUSAGE, "--metric %s: must be %s", text, fz_ci_metrics_wanted);
}

/* clang-format off */
static const struct fz_opt option_table[] = {
	{ .kind = FZ_OPT_GROUP, .help = "What is compared" },
	{ .kind = FZ_OPT_STRING, .long_name = "base", .argument = "BASE", .value = &options.run.base,
	  .help = "the branch or commit that this is compared with, at the commit where the two "
		  "parted (default: what the pull request goes into, else the main branch); or a "
		  "recording, such as head.fz of an earlier report" },
	{ .kind = FZ_OPT_STRING, .long_name = "save", .argument = "PLACE", .value = &counts.save,
	  .help = "where counts are kept, so that a commit is counted once: cache (default), "
		  "notes (of git: refs/notes/fizeau), branch (fizeau-data), a server "
		  "(http://HOST:PORT), none, or a file for this tree's" },
	{ .kind = FZ_OPT_STRING, .long_name = "setup", .argument = "COMMAND",
	  .value = &options.run.setup,
	  .help = "run by sh in each tree first, to build or install it" },
	{ .kind = FZ_OPT_STRING, .long_name = "config", .argument = "FILE",
	  .value = &options.run.config,
	  .help = "thresholds and the like (default: fizeau.ini at the top of the checkout)" },
	{ .kind = FZ_OPT_GROUP, .help = "Measuring" },
	{ .kind = FZ_OPT_CALL, .long_name = "metric", .argument = "LIST",
	  .value = &options.run.metrics, .call = set_metrics,
	  .help = "what is compared, with commas between: instructions (default), peak, live, "
		  "bytes, allocations, calls, syscalls, cycles; each has a verdict of its own" },
	{ .kind = FZ_OPT_CALL, .long_name = "timeout", .argument = "SECONDS",
	  .value = &options.run.timeout, .call = fz_cli_parse_duration,
	  .help = "of each run (default 600)" },
	{ .kind = FZ_OPT_INT, .long_name = "others", .argument = "N", .value = &options.run.others,
	  .min = 0, .max = FZ_CI_OTHERS_MAX,
	  .help = "runs of the base in other surroundings, for the limits (default 2)" },
	{ .kind = FZ_OPT_FLAG, .long_name = "no-wall", .value = &options.run.no_wall,
	  .help = "do not confirm by the clock" },
	{ .kind = FZ_OPT_FLAG, .long_name = "cache", .value = &options.run.cache,
	  .help = "simulate caches as well: tells changes of layout, and estimates cycles" },
	{ .kind = FZ_OPT_FLAG, .long_name = "native", .value = &options.run.native,
	  .help = "count the insides of the interpreters of Python and Node apart, not as their callers' own" },
	{ .kind = FZ_OPT_INT, .short_name = 'j', .long_name = "jobs", .argument = "N",
	  .value = &options.run.parallel, .min = 1, .max = PARALLEL_MAX,
	  .help = "count so many runs side by side (default: one for each processor)" },
	{ .kind = FZ_OPT_FLAG, .long_name = "show-output", .value = &options.run.show_output,
	  .help = "let the command's output through, to standard error" },
	{ .kind = FZ_OPT_GROUP, .help = "Output" },
	{ .kind = FZ_OPT_STRING, .short_name = 'o', .long_name = "output", .argument = "FOLDER",
	  .value = &options.output,
	  .help = "write comment.md, report.html, report.json, junit.xml, badge.svg, "
		  "annotations.txt, base.fz and head.fz there" },
	{ .kind = FZ_OPT_STRING, .long_name = "link", .argument = "URL", .value = &options.link,
	  .help = "where report.html will be found, for the comment" },
	{ .kind = FZ_OPT_CHOICE, .long_name = "color", .argument = "WHEN", .value = &options.color,
	  .choices = fz_cli_color_names, .help = "auto (default), always, never" },
	FZ_CLI_CI_SERVER_ENTRIES(options),
	FZ_CLI_CI_SPOOL_ENTRIES(options),
	{ .kind = FZ_OPT_END },
};
/* clang-format on */

static int ci(struct fz_ci_run *c, struct fz_error *err)
{
	int rc = fz_cli_ci_server_check(&options, err);

	if (rc)
		return rc;
	rc = fz_ci_run_begin(c, &options.run, &fz_cli_notify, err);
	c->result.link = options.link;
	if (!rc) {
		fz_cli_ci_server_ask(c, &options);
		rc = fz_ci_run_measure(c, err);
	}
	if (!rc)
		rc = fz_ci_run_judge(c, err);
	if (!rc)
		rc = fz_cli_ci_report(c, &options, err);
	if (!rc) {
		fz_cli_ci_server_send(c, &options);
		rc = fz_ci_run_keep(c, err);
	}
	fz_ci_run_close(c);
	return rc;
}

static int run(const struct fz_command *command, int argc, char **argv)
{
	struct fz_opt_state state = { .options = option_table, .stop_at_first = true };
	fz_auto(fz_ci_run_release) struct fz_ci_run c = { 0 };
	fz_auto(fz_free_ptr) char **child = NULL;
	struct fz_error err;
	int status;

	/* A program of that name comes after "--". */
	if (argc > 1 && strcmp(argv[1], "merge") == 0)
		return fz_cli_ci_merge(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "accept") == 0)
		return fz_cli_ci_accept(argc - 1, argv + 1);
	options.run.others = OTHERS_DEFAULT;
	if (!fz_cli_parse(command, &state, argc, argv, &status))
		return status;
	struct fz_launch_words words = { .words = state.arguments,
					 .n = (size_t)state.argument_count,
					 .plain = state.saw_dashes && state.after_dashes == 0 };
	int rc = fz_launch_command(&words, &child, &err);
	options.run.save = counts.save;
	/* One token for both; without an address at --save it is --server's. */
	if (counts.save && fz_baseline_place_of(counts.save) == FZ_BASELINE_SERVER)
		counts.fleet.token_file = options.fleet.token_file;
	counts.spool = options.spool;
	if (!rc)
		rc = fz_cli_counts_open(&counts, &options.run.server, &err);
	if (!rc) {
		options.run.argv = child;
		rc = ci(&c, &err);
	}
	if (rc) {
		fz_error_prefix(&err, "ci");
		fz_cli_error(&err);
	}
	fz_cli_counts_release(&counts);
	if (c.workspace.series.stopped_by)
		return 128 + c.workspace.series.stopped_by;
	return rc ? FZ_EXIT_TROUBLE : fz_ci_exit(&c.result);
}

const struct fz_command fz_command_ci = {
	.name = "ci",
	.summary = "what a pull request does to performance: a verdict for each benchmark",
	.usage = "[options] -- COMMAND [ARGUMENTS]\n"
		 "       fizeau ci merge [options] FOLDER...\n"
		 "       fizeau ci accept [options] BENCHMARK",
	.examples =
		"  $ fizeau ci -- pytest tests/bench         # this branch against the main "
		"branch\n"
		"  $ fizeau ci --base v1.0 --setup make -- ./benchmarks\n"
		"  $ fizeau ci -o report -- node bench.mjs   # comment, page, JUnit in report/\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_PROGRAM,
	.run = run,
};
