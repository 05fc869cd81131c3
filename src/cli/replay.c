/* SPDX-License-Identifier: MIT */
/* fizeau replay: convert a recording or report on it. */
#include "cli/cli.h"
#include "cli/load.h"
#include "cli/mode.h"
#include "cli/output.h"

static struct fz_cli_output output = FZ_CLI_OUTPUT_DEFAULTS;
static bool list_formats;
static int mode = FZ_CLI_MODE_NONE;

static const struct fz_opt option_table[] = {
	FZ_OPT_HEADING("Samples"),
	FZ_OPT(CHOICE, "mode", "MODE", &mode,
	       "only samples of threads that were on a CPU (cpu), held the GIL (gil), or raised or "
	       "handled an exception (exception)",
	       .choices = fz_cli_mode_names, .common = true),
	FZ_CLI_OUTPUT_PART_ENTRIES(output),
	FZ_CLI_OUTPUT_PROCESS_ENTRY(output),
	FZ_CLI_OUTPUT_METRIC_ENTRY(output),
	FZ_OPT(FLAG, "metric-line", NULL, &output.metric_line,
	       "begin folded text with a comment that names the metric and its unit, which fizeau "
	       "reads again but other tools may not"),
	FZ_CLI_OUTPUT_UNIT_ENTRY(output),
	FZ_CLI_OUTPUT_FILE_ENTRIES(output),
	FZ_CLI_OUTPUT_TREE_ENTRIES(output),
	FZ_CLI_OUTPUT_SWITCH_ENTRIES(output),
	FZ_CLI_OUTPUT_PAGE_ENTRIES(output),
	FZ_CLI_OUTPUT_SOURCE_ENTRY(output),
	FZ_CLI_OUTPUT_SOURCE_ROOT_ENTRY(output),
	FZ_CLI_OUTPUT_TEXT_ENTRIES(output),
	FZ_CLI_OUTPUT_SORT_ENTRY(output),
	FZ_CLI_OUTPUT_PSTATS_ENTRIES(output),
	FZ_CLI_OUTPUT_COMPARE_ENTRIES(output),
	FZ_OPT_HEADING("Help"),
	FZ_OPT(FLAG, "list-formats", NULL, &list_formats,
	       "list the supported file formats and exit", .common = true),
	{ .kind = FZ_OPT_END },
};

/* Warn that a unit was guessed; comparisons do this among their warnings. */
static void warn_guess(const char *name, const struct fz_profile *p)
{
	struct fz_str guess = fz_profile_fact(p, "numbers");

	if (guess.n && p->numbers.bare)
		fz_cli_warn(
			"%s: reading the numbers as %.*s; use --input-unit to specify their unit",
			name, (int)guess.n, guess.p);
}

static int run(struct fz_opt_state *state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	struct fz_error err;

	output.replays = true;
	if (list_formats)
		return fz_cli_formats_print();
	if (state->argument_count != 1)
		return fz_cli_errorf("replay: expected one recording, got %d",
				     state->argument_count);
	int r = fz_cli_output_check(&output, false, NULL, &err);
	if (!r)
		r = fz_cli_load(state->arguments[0], output.number_unit, &p, &err);
	if (!r)
		r = fz_cli_check_numbers(output.number_unit, output.base, p, &err);
	if (!r && !output.base)
		warn_guess(state->arguments[0], p);
	if (!r && mode != FZ_CLI_MODE_NONE)
		r = fz_cli_mode_keep(p, fz_cli_mode(mode), state->arguments[0], &err);
	output.labels[FZ_HEAD] = state->arguments[0];
	if (!r)
		r = fz_cli_output_write(&output, p, &err);
	fz_cli_output_release(&output);
	return r ? fz_cli_error(&err) : FZ_EXIT_OK;
}

const struct fz_command fz_command_replay = {
	.name = "replay",
	.summary = "report on a recording or convert it to another format",
	.usage = "[options] RECORDING",
	.examples = "  $ fizeau replay app.bin                      # print the hottest functions\n"
		    "  $ fizeau replay app.fz --flamegraph          # write a flame graph page\n"
		    "  $ fizeau replay app.bin -o app.folded        # folded stacks, for "
		    "flamegraph.pl and others\n"
		    "  $ fizeau replay --collapsed -o - app.bin     # folded stacks in CPython's "
		    "format\n"
		    "  $ fizeau replay heap.pb.gz --metric alloc_space  # another tool's profile\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_RECORDING,
	.run = run,
};
