/* SPDX-License-Identifier: MIT */
/* fizeau bisect: find the commit that changed a benchmark; see bench/bisect.h. */
#include "bench/bisect.h"

#include "cli/counts.h"
#include "cli/revision.h"

#include <unistd.h>

static struct {
	struct fz_bisect_options search;
	int format, color;
} options = { .search.count.metric = FZ_REVISION_METRIC };

static struct fz_cli_counts counts = { .who = "bisect" };

static const struct fz_opt option_table[] = {
	FZ_OPT_HEADING("Search"),
	FZ_OPT(STRING, "filter", "TEXT", &options.search.filter,
	       "only benchmarks whose names contain TEXT; of several, the one that changed most",
	       .short_name = 'k'),
	FZ_OPT(CALL, "threshold", "PART", &options.search.threshold,
	       "a commit is bad if it differs from GOOD by more than PART, such as 5% (default: "
	       "if it is closer to BAD than to GOOD)",
	       .call = fz_cli_parse_threshold),
	FZ_OPT(FLAG, "first-parent", NULL, &options.search.first_parent,
	       "follow only the first parent of merge commits"),
	FZ_OPT_HEADING("Counting"),
	FZ_REVISION_OPTION_ENTRIES(options.search.count),
	FZ_CLI_COUNTS_ENTRIES(counts),
	FZ_OPT_HEADING("Output"),
	FZ_OPT(CHOICE, "format", "NAME", &options.format, "output format: text (default) or json",
	       .choices = fz_cli_counts_formats),
	FZ_CLI_COLOR_ENTRY(&options.color),
	{ .kind = FZ_OPT_END },
};

static int print(const struct fz_bisect *b, struct fz_error *err)
{
	struct fz_style style = fz_style_of(STDOUT_FILENO, (enum fz_color_when)options.color);
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	struct fz_output *out;

	if (options.format == 0) {
		fz_ci_search_text(&b->search, &style, &text);
		fz_cli_print(fz_buf_view(&text));
		return 0;
	}
	int rc = fz_output_open("-", &out, err);
	if (rc)
		return rc;
	fz_ci_search_json(&b->search, out);
	return fz_output_close(out, err);
}

static int bisect(struct fz_bisect *b, struct fz_error *err)
{
	int rc = fz_bisect_make(b, &options.search, &fz_cli_notify, err);

	if (!rc)
		rc = print(b, err);
	fz_bisect_close(b);
	return rc;
}

/* GOOD [BAD] -- CMD */
static int parse_arguments(const struct fz_opt_state *state, char ***ret_argv, struct fz_error *err)
{
	int before = state->saw_dashes ? state->after_dashes : state->argument_count;
	struct fz_launch_words words = { .words = state->arguments + before,
					 .n = (size_t)(state->argument_count - before),
					 .plain = true };

	if (before < 1 || before > 2)
		return fz_fail(err, FZ_EUSAGE,
			       "expected one or two revisions: GOOD [BAD] (default for BAD: HEAD)");
	if (!words.n)
		return fz_fail(err, FZ_EUSAGE,
			       "no command; add one after '--', for example: fizeau bisect v1.0 "
			       "HEAD -- python3 bench.py");
	options.search.ends[0] = state->arguments[0];
	options.search.ends[1] = before > 1 ? state->arguments[1] : "HEAD";
	return fz_launch_command(&words, ret_argv, err);
}

static int exit_of(const struct fz_ci_search *s)
{
	if (s->found != FZ_NONE)
		return FZ_EXIT_OK;
	return s->hidden_n ? FZ_EXIT_TROUBLE : FZ_EXIT_REGRESSION;
}

static int run(struct fz_opt_state *state)
{
	fz_auto(fz_bisect_release) struct fz_bisect b = { .search = FZ_CI_SEARCH_INIT };
	fz_auto(fz_free_ptr) char **child = NULL;
	struct fz_error err;

	int rc = parse_arguments(state, &child, &err);
	options.search.argv = child;
	if (!rc)
		rc = fz_cli_counts_place(&counts, &options.search.save, &options.search.server,
					 &err);
	if (!rc)
		rc = bisect(&b, &err);
	if (rc)
		fz_cli_fail("bisect", &err);
	fz_cli_counts_release(&counts);
	if (b.workspace.series.stopped_by)
		return 128 + b.workspace.series.stopped_by;
	return rc ? FZ_EXIT_TROUBLE : exit_of(&b.search);
}

const struct fz_command fz_command_bisect = {
	.name = "bisect",
	.summary = "find the commit and function that changed a benchmark",
	.usage = "[options] GOOD [BAD] -- COMMAND [ARGUMENTS]",
	.examples = "  $ fizeau bisect v1.0 HEAD -- ./benchmarks\n"
		    "  $ fizeau bisect --setup make -k parse --threshold 5% v1.0 -- ./benchmarks\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_PROGRAM,
	.run = run,
};
