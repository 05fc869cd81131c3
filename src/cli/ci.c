/* SPDX-License-Identifier: MIT */
/* fizeau ci: compare the benchmarks of a change with those of its base; see bench/ci_run.h for the
 * measurement and ci_write.c for the reports. */
#include "cli/ci.h"

#include "cli/counts.h"

enum { OTHERS_DEFAULT = 2, PARALLEL_MAX = 64 };

static struct fz_cli_ci_options options = { .run.others = OTHERS_DEFAULT };
static struct fz_cli_counts counts = { .who = "ci" };

static int set_metrics(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	if (fz_ci_parse_metrics(fz_str_of(text), opt->value))
		return 0;
	return fz_fail(err, FZ_EUSAGE, "invalid --metric '%s': must be %s", text,
		       fz_ci_metrics_wanted);
}

static const struct fz_opt option_table[] = {
	FZ_OPT_HEADING("Comparison"),
	FZ_OPT(STRING, "base", "BASE", &options.run.base,
	       "compare with the merge base of this branch or commit (default: the pull request's "
	       "target, else the main branch), or with a recording, such as head.fz of an earlier "
	       "report",
	       .common = true),
	FZ_OPT(STRING, "save", "PLACE", &counts.save,
	       "store counts, so that each commit is counted once, in: cache (default), notes (git "
	       "notes, refs/notes/fizeau), branch (fizeau-data), a server (http://HOST:PORT), "
	       "none, or a file",
	       .common = true),
	FZ_OPT(STRING, "setup", "COMMAND", &options.run.setup,
	       "shell command to build or install each tree first", .common = true),
	FZ_OPT(STRING, "config", "FILE", &options.run.config,
	       "read thresholds and other settings from FILE (default: fizeau.ini at the top of "
	       "the checkout)",
	       .common = true),
	FZ_OPT_HEADING("Measuring"),
	FZ_OPT(CALL, "metric", "LIST", &options.run.metrics,
	       "comma-separated metrics to compare, each with its own verdict: instructions "
	       "(default), peak, live, bytes, allocations, calls, syscalls, cycles",
	       .call = set_metrics, .common = true),
	FZ_OPT(CALL, "timeout", "SECONDS", &options.run.timeout,
	       "time limit of each run (default 600)", .call = fz_cli_parse_duration),
	FZ_OPT(INT, "others", "N", &options.run.others,
	       "extra base runs with a changed environment, to measure how far the counts vary "
	       "(default 2)",
	       .min = 0, .max = FZ_CI_OTHERS_MAX),
	FZ_OPT(FLAG, "no-wall", NULL, &options.run.no_wall, "do not confirm changes by wall time"),
	FZ_OPT(FLAG, "cache", NULL, &options.run.cache,
	       "also simulate caches, to detect layout changes and estimate cycles"),
	FZ_OPT_RENAMED("native", "interpreter-frames"),
	FZ_OPT(FLAG, "interpreter-frames", NULL, &options.run.native,
	       "count the native frames of the Python and Node interpreters separately instead of "
	       "in their callers"),
	FZ_OPT(INT, "jobs", "N", &options.run.parallel,
	       "number of parallel counting runs (default: one per processor)", .short_name = 'j',
	       .min = 1, .max = PARALLEL_MAX),
	FZ_OPT(FLAG, "show-output", NULL, &options.run.show_output,
	       "show the command's output, on standard error"),
	FZ_OPT_HEADING("Output"),
	FZ_OPT(STRING, "output", "FOLDER", &options.output,
	       "write comment.md, report.html, report.json, junit.xml, badge.svg, annotations.txt, "
	       "base.fz and head.fz to FOLDER",
	       .short_name = 'o', .common = true),
	FZ_OPT(STRING, "link", "URL", &options.link, "link to report.html for the comment"),
	FZ_CLI_COLOR_ENTRY(&options.color),
	FZ_CLI_CI_SERVER_ENTRIES(options),
	FZ_CLI_CI_SPOOL_ENTRIES(options),
	{ .kind = FZ_OPT_END },
};

static int try_to_write(const char *path, struct fz_error *err)
{
	fz_auto(fz_output_abortp) struct fz_output *out = NULL;

	return fz_output_open(path, &out, err);
}

/* Length of the folder above the first n bytes of a path; 0: none. */
static size_t above(const char *path, size_t n)
{
	while (n && path[n - 1] == '/')
		n--;
	while (n && path[n - 1] != '/')
		n--;
	return n;
}

static bool exists(const char *path, size_t n)
{
	fz_auto(fz_free_ptr) char *part = fz_strndup(path, n);

	return access(part, F_OK) == 0;
}

static int check_save(const char *save, struct fz_error *err)
{
	if (!save || strcmp(save, "none") == 0 || fz_baseline_place_of(save) >= 0 ||
	    !try_to_write(save, err))
		return 0;
	return fz_error_prefix(err, "--save");
}

/* Fails before the measurement if its results could not be written; leaves no folder behind. */
static int check_places(const struct fz_cli_ci_options *o, struct fz_error *err)
{
	size_t n = o->output ? strlen(o->output) : 0, existing = n;

	if (!o->output)
		return check_save(o->run.save, err);
	while (existing && !exists(o->output, existing))
		existing = above(o->output, existing);
	fz_auto(fz_free_ptr) char *comment = fz_asprintf("%s/comment.md", o->output);
	int rc = fz_make_output_folder(o->output, err);
	if (!rc)
		rc = try_to_write(comment, err);
	/* It may be in that folder. */
	if (!rc)
		rc = check_save(o->run.save, err);
	for (; n > existing; n = above(o->output, n)) {
		fz_auto(fz_free_ptr) char *made = fz_strndup(o->output, n);
		rmdir(made);
	}
	return rc;
}

static int ci(struct fz_ci_run *c, struct fz_error *err)
{
	int rc = fz_cli_ci_server_check(&options, err);

	if (!rc)
		rc = check_places(&options, err);
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

static int run(struct fz_opt_state *state)
{
	fz_auto(fz_ci_run_release) struct fz_ci_run c = { 0 };
	fz_auto(fz_free_ptr) char **child = NULL;
	struct fz_error err;
	struct fz_launch_words words = { .words = state->arguments,
					 .n = (size_t)state->argument_count,
					 .plain = state->saw_dashes && state->after_dashes == 0 };

	if (!words.n)
		return fz_cli_errorf(
			"ci: no command; add one after '--', for example: fizeau ci -- "
			"pytest tests/bench");
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
	if (rc)
		fz_cli_fail("ci", &err);
	fz_cli_counts_release(&counts);
	if (c.workspace.series.stopped_by)
		return 128 + c.workspace.series.stopped_by;
	return rc ? FZ_EXIT_TROUBLE : fz_ci_exit(&c.result);
}

static const struct fz_command *const parts[] = { &fz_command_ci_merge, &fz_command_ci_accept,
						  NULL };

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
	.stop_at_first = true,
	.parts = parts,
	.run = run,
};
