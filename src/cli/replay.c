/* SPDX-License-Identifier: MIT */
/* fizeau replay: any readable recording to any output. */
#include "cli/cli.h"
#include "cli/output.h"

static int run(const struct fz_command *command, int argc, char **argv)
{
	struct fz_cli_output output = FZ_CLI_OUTPUT_DEFAULTS;
	const struct fz_opt options[] = {
		FZ_CLI_OUTPUT_FILE_ENTRIES(output),    FZ_CLI_OUTPUT_SWITCH_ENTRIES(output),
		FZ_CLI_OUTPUT_PAGE_ENTRIES(output),    FZ_CLI_OUTPUT_SOURCE_ENTRY(output),
		FZ_CLI_OUTPUT_TEXT_ENTRIES(output),    FZ_CLI_OUTPUT_SORT_ENTRY(output),
		FZ_CLI_OUTPUT_COMPARE_ENTRIES(output), { .kind = FZ_OPT_END },
	};
	struct fz_opt_state state = { .options = options };
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	struct fz_error err;
	int status;

	if (!fz_cli_parse(command, &state, argc, argv, &status))
		return status;
	if (state.argument_count != 1)
		return fz_cli_errorf("replay: needs one recording, but got %d",
				     state.argument_count);
	int r = fz_cli_output_check(&output, false, NULL, &err);
	if (!r)
		r = fz_cli_load(state.arguments[0], &p, &err);
	output.labels[FZ_HEAD] = state.arguments[0];
	if (!r)
		r = fz_cli_output_write(&output, p, &err);
	fz_cli_output_release(&output);
	return r ? fz_cli_error(&err) : FZ_EXIT_OK;
}

const struct fz_command fz_command_replay = {
	.name = "replay",
	.summary = "show a recording, or write it in another format",
	.usage = "[options] RECORDING",
	.examples = "  fizeau replay app.bin                      its hottest functions\n"
		    "  fizeau replay app.fz --flamegraph           a page with its flame graph\n"
		    "  fizeau replay app.bin -o app.folded        for flamegraph.pl and others\n"
		    "  fizeau replay --collapsed -o - app.bin     the same as CPython writes it\n",
	.run = run,
};
