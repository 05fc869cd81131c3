/* SPDX-License-Identifier: MIT */
/* fizeau ci: compare the benchmarks of a change with those of its base; see bench/ci_run.h for the
 * measurement and ci_write.c for the reports. */
#include "cli/ci.h"

#include "cli/counts.h"

enum { OTHERS_DEFAULT = 2, PARALLEL_MAX = 64 };

static struct fz_cli_ci_options options;
static struct fz_cli_counts counts = { .who = "ci" };

static int set_metrics(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	if (fz_ci_parse_metrics(fz_str_of(text), opt->value))
		return 0;
	return fz_fail(err, FZ_EUSAGE, "invalid --metric '%s': must be %s", text,
		       fz_ci_metrics_wanted);
}

/* clang-format off */
static const struct fz_opt option_table[] = {
	{ .kind = FZ_OPT_GROUP, .help = "Comparison" },
	{ .kind = FZ_OPT_STRING, .common = true, .long_name = "base", .argument = "BASE", .value = &options.run.base,
	  .help = "compare with the merge base of this branch or commit (default: the pull "
		  "request's target, else the main branch), or with a recording, such as "
		  "head.fz of an earlier report" },
	{ .kind = FZ_OPT_STRING, .common = true, .long_name = "save", .argument = "PLACE", .value = &counts.save,
	  .help = "store counts, so that each commit is counted once, in: cache (default), "
		  "notes (git notes, refs/notes/fizeau), branch (fizeau-data), a server "
		  "(http://HOST:PORT), none, or a file" },
	{ .kind = FZ_OPT_STRING, .common = true, .long_name = "setup", .argument = "COMMAND",
	  .value = &options.run.setup,
	  .help = "shell command to build or install each tree first" },
	{ .kind = FZ_OPT_STRING, .common = true, .long_name = "config", .argument = "FILE",
	  .value = &options.run.config,
	  .help = "read thresholds and other settings from FILE (default: fizeau.ini at the "
		  "top of the checkout)" },
	{ .kind = FZ_OPT_GROUP, .help = "Measuring" },
	{ .kind = FZ_OPT_CALL, .common = true, .long_name = "metric", .argument = "LIST",
	  .value = &options.run.metrics, .call = set_metrics,
	  .help = "comma-separated metrics to compare, each with its own verdict: "
		  "instructions (default), peak, live, bytes, allocations, calls, syscalls, "
		  "cycles" },
	{ .kind = FZ_OPT_CALL, .long_name = "timeout", .argument = "SECONDS",
	  .value = &options.run.timeout, .call = fz_cli_parse_duration,
	  .help = "time limit of each run (default 600)" },
	{ .kind = FZ_OPT_INT, .long_name = "others", .argument = "N", .value = &options.run.others,
	  .min = 0, .max = FZ_CI_OTHERS_MAX,
	  .help = "extra base runs with a changed environment, to measure how far the counts "
		  "vary (default 2)" },
	{ .kind = FZ_OPT_FLAG, .long_name = "no-wall", .value = &options.run.no_wall,
	  .help = "do not confirm changes by wall time" },
	{ .kind = FZ_OPT_FLAG, .long_name = "cache", .value = &options.run.cache,
	  .help = "also simulate caches: detects layout changes and estimates cycles" },
	FZ_OPT_RENAMED("native", "interpreter-frames"),
	{ .kind = FZ_OPT_FLAG, .long_name = "interpreter-frames", .value = &options.run.native,
	  .help = "count the native frames of the Python and Node interpreters separately "
		  "instead of in their callers" },
	{ .kind = FZ_OPT_INT, .short_name = 'j', .long_name = "jobs", .argument = "N",
	  .value = &options.run.parallel, .min = 1, .max = PARALLEL_MAX,
	  .help = "number of parallel counting runs (default: one per processor)" },
	{ .kind = FZ_OPT_FLAG, .long_name = "show-output", .value = &options.run.show_output,
	  .help = "show the command's output, on standard error" },
	{ .kind = FZ_OPT_GROUP, .help = "Output" },
	{ .kind = FZ_OPT_STRING, .short_name = 'o', .common = true, .long_name = "output", .argument = "FOLDER",
	  .value = &options.output,
	  .help = "write comment.md, report.html, report.json, junit.xml, badge.svg, "
		  "annotations.txt, base.fz and head.fz to FOLDER" },
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

static int ci(struct fz_ci_run *c, struct fz_error *err)
{
	int rc = fz_cli_ci_server_check(&options, err);

	if (rc)
		return rc;
	rc = fz_ci_run_begin(c, &options.run, &fz_cli_notify, err);
	c->result.link = options.link;
	if (!rc) {
		fz_cli_ci_server_fetch(c, &options);
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

	/* To run a program of that name, use "--". */
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
	/* --token-file is for both; --save uses it only if it is a URL. */
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
	.summary = "check a pull request for performance regressions",
	.usage = "[options] -- COMMAND [ARGUMENTS]\n"
		 "       fizeau ci merge [options] FOLDER...\n"
		 "       fizeau ci accept [options] BENCHMARK",
	.examples = "  $ fizeau ci -- pytest tests/bench         # this branch against the main "
		    "branch\n"
		    "  $ fizeau ci --base v1.0 --setup make -- ./benchmarks\n"
		    "  $ fizeau ci -o report -- node bench.mjs   # write all reports to report/\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_PROGRAM,
	.run = run,
};
