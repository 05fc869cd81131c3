/* SPDX-License-Identifier: MIT */
/* fizeau history: chart benchmark costs over commits and find the changes; see
 * bench/history_run.h. */
#include "bench/history_run.h"

#include "cli/counts.h"
#include "cli/output.h"
#include "cli/revision.h"

#include <unistd.h>

enum { COMMITS_DEFAULT = 30, COMMITS_MAX = 10000 };

static struct {
	struct fz_history_run_options run;
	const char *output;
	int format, color;
} options = { .run = { .commits = COMMITS_DEFAULT, .count.metric = FZ_REVISION_METRIC } };

static struct fz_cli_counts counts = { .who = "history" };

static const struct fz_opt option_table[] = {
	FZ_OPT_HEADING("Selection"),
	FZ_OPT(INT, "commits", "N", &options.run.commits,
	       "limit to the latest N commits (default 30)", .short_name = 'n', .min = 1,
	       .max = COMMITS_MAX),
	FZ_OPT(STRING, "filter", "TEXT", &options.run.filter,
	       "run only benchmarks whose names contain TEXT", .short_name = 'k'),
	FZ_OPT(CALL, "threshold", "PART", &options.run.threshold,
	       "smallest change to report, such as 5% (default: from fizeau.ini, else 2%)",
	       .call = fz_cli_parse_threshold),
	FZ_OPT_HEADING("Counting"),
	FZ_REVISION_OPTION_ENTRIES(options.run.count),
	FZ_CLI_COUNTS_ENTRIES(counts),
	FZ_OPT(FLAG, "fresh", NULL, &options.run.fresh,
	       "recount commits that already have stored counts"),
	FZ_OPT_HEADING("Output"),
	FZ_OPT(CHOICE, "format", "NAME", &options.format, "output format: text (default) or json",
	       .choices = fz_cli_counts_formats),
	FZ_OPT(STRING, "output", "FILE", &options.output,
	       "also write FILE: JSON if its suffix is .json, else an HTML page with charts",
	       .short_name = 'o'),
	FZ_OPT_RENAMED("html", "output"),
	FZ_CLI_COLOR_ENTRY(&options.color),
	{ .kind = FZ_OPT_END },
};

static int write_file(const struct fz_history_run *r, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *title = fz_asprintf(
		"Benchmarks of %s", fz_path_base(fz_str_of(r->workspace.repository.root)).p);
	struct fz_output *out;
	int rc = fz_output_open(options.output, &out, err);

	if (rc)
		return rc;
	if (fz_str_ends(fz_str_of(options.output), ".json"))
		fz_history_json(&r->history, out);
	else
		fz_history_html(&r->history, title, out);
	rc = fz_output_close(out, err);
	if (!rc)
		fz_cli_output_report(options.output);
	return rc;
}

static int print(const struct fz_history_run *r, struct fz_error *err)
{
	struct fz_style style = fz_style_of(STDOUT_FILENO, (enum fz_color_when)options.color);
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	struct fz_output *out;

	if (options.format == 0) {
		fz_history_text(&r->history, &style, &text);
		fz_cli_print(fz_buf_view(&text));
		return 0;
	}
	int rc = fz_output_open("-", &out, err);
	if (rc)
		return rc;
	fz_history_json(&r->history, out);
	return fz_output_close(out, err);
}

static int history(struct fz_history_run *r, struct fz_error *err)
{
	int rc = options.output ? fz_cli_output_try(options.output, err) : 0;

	if (!rc)
		rc = fz_history_run_make(r, &options.run, &fz_cli_notify, err);
	if (!rc && options.output)
		rc = write_file(r, err);
	if (!rc && !(options.output && strcmp(options.output, "-") == 0))
		rc = print(r, err);
	fz_history_run_close(r);
	return rc;
}

/* [REVISIONS] [-- CMD] */
static int parse_arguments(const struct fz_opt_state *state, char ***ret_argv, struct fz_error *err)
{
	int before = state->saw_dashes ? state->after_dashes : state->argument_count;
	struct fz_launch_words words = { .words = state->arguments + before,
					 .n = (size_t)(state->argument_count - before),
					 .plain = true };

	if (before > 1)
		return fz_fail(err, FZ_EUSAGE,
			       "expected one revision range, such as v1.0..HEAD; the command comes "
			       "after '--'");
	options.run.range = before ? state->arguments[0] : "HEAD";
	if (!words.n)
		return 0;
	return fz_launch_command(&words, ret_argv, err);
}

static int run(struct fz_opt_state *state)
{
	fz_auto(fz_history_run_release) struct fz_history_run r = { 0 };
	fz_auto(fz_free_ptr) char **child = NULL;
	struct fz_error err;

	int rc = parse_arguments(state, &child, &err);
	options.run.argv = child;
	if (!rc)
		rc = fz_cli_counts_place(&counts, &options.run.save, &options.run.server, &err);
	if (!rc)
		rc = history(&r, &err);
	if (rc)
		fz_cli_fail("history", &err);
	fz_cli_counts_release(&counts);
	if (r.workspace.series.stopped_by)
		return 128 + r.workspace.series.stopped_by;
	return rc ? FZ_EXIT_TROUBLE : FZ_EXIT_OK;
}

const struct fz_command fz_command_history = {
	.name = "history",
	.summary = "chart benchmark costs over commits and find the changes",
	.usage = "[options] [REVISIONS] [-- COMMAND [ARGUMENTS]]",
	.examples = "  $ fizeau history -- ./benchmarks     # the last 30 commits\n"
		    "  $ fizeau history v1.0..HEAD -k parse -o history.html -- ./benchmarks\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_PROGRAM,
	.run = run,
};
