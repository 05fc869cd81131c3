/* SPDX-License-Identifier: MIT */
/* fizeau diff: two recordings, what changed between them. */
#include "cli/cli.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/sides.h"
#include "store/store.h"

static int compare(const struct fz_cli_side *base_side, const struct fz_cli_side *head_side,
		   struct fz_cli_output *o, struct fz_error *err)
{
	struct fz_profile *profile[FZ_SIDES];
	int r = fz_cli_sides_load(base_side, head_side, o->force, profile, err);

	if (r)
		return r;
	fz_auto(fz_profile_freep) struct fz_profile *base = profile[FZ_BASE];
	fz_auto(fz_profile_freep) struct fz_profile *head = profile[FZ_HEAD];
	r = fz_cli_check_numbers(o->number_unit, base, head, err);
	if (r)
		return r;
	fz_auto(fz_free_ptr) char *base_label = fz_cli_side_label(base_side);
	fz_auto(fz_free_ptr) char *head_label = fz_cli_side_label(head_side);
	o->labels[FZ_BASE] = base_label;
	o->labels[FZ_HEAD] = head_label;
	return fz_cli_output_write_diff(o, base, head, err);
}

static int compare_last_two(struct fz_cli_output *o, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *base = NULL;
	fz_auto(fz_free_ptr) char *head = NULL;
	bool namesakes;
	int r = fz_store_last_two(&base, &head, &namesakes, err);

	if (!r && namesakes)
		fz_cli_warn("diff: these programs have the same name and lie in different places; "
			    "'fizeau show' says where, and two names choose others");
	return r ? r
		 : compare(&(struct fz_cli_side){ &base, 1, 0 },
			   &(struct fz_cli_side){ &head, 1, 0 }, o, err);
}

static struct fz_cli_output output;

static const struct fz_opt option_table[] = {
	{ .kind = FZ_OPT_GROUP, .help = "Samples" },
	FZ_CLI_OUTPUT_PROCESS_ENTRY(output),
	FZ_CLI_OUTPUT_FILE_ENTRIES(output),
	FZ_CLI_OUTPUT_HEATMAP_ENTRY(output),
	FZ_CLI_OUTPUT_PAGE_ENTRIES(output),
	FZ_CLI_OUTPUT_SOURCE_ENTRY(output),
	FZ_CLI_OUTPUT_TEXT_ENTRIES(output),
	FZ_CLI_OUTPUT_METRIC_ENTRY(output),
	FZ_CLI_OUTPUT_PART_ENTRIES(output), /* of both */
	FZ_CLI_OUTPUT_UNIT_ENTRY(output),
	FZ_CLI_OUTPUT_COMPARE_ENTRIES(output),
	FZ_CLI_OUTPUT_GATE_ENTRIES(output),
	{ .kind = FZ_OPT_END },
};

static int run(const struct fz_command *command, int argc, char **argv)
{
	struct fz_opt_state state = { .options = option_table };
	struct fz_error err;
	int status;

	output = FZ_CLI_OUTPUT_DEFAULTS;
	if (!fz_cli_parse(command, &state, argc, argv, &status))
		return status;
	struct fz_cli_side base = { 0 }, head = { 0 };
	if (state.argument_count &&
	    fz_cli_sides_split(state.arguments, state.argument_count, &base, &head, &err)) {
		fz_error_prefix(&err, "diff");
		return fz_cli_error(&err);
	}
	base.number_unit = head.number_unit = output.number_unit;
	int r = fz_cli_output_check(&output, true, NULL, &err);
	if (!r && state.argument_count == 0)
		r = compare_last_two(&output, &err);
	else if (!r)
		r = compare(&base, &head, &output, &err);
	fz_cli_output_release(&output);
	if (r)
		return fz_cli_error(&err);
	return output.closed ? FZ_EXIT_REGRESSION : FZ_EXIT_OK;
}

const struct fz_command fz_command_diff = {
	.name = "diff",
	.summary = "compare two recordings: what became slower or faster",
	.usage = "[options] [BASE HEAD | BASE... :: HEAD...]",
	.examples = "  $ fizeau diff                            # the last two recordings of a "
		    "program\n"
		    "  $ fizeau diff before.fz after.fz         # what changed, as text\n"
		    "  $ fizeau diff @2 @1 -o diff.html         # as a page\n"
		    "  $ fizeau diff a1.fz a2.fz :: b1.fz b2.fz # several runs a side\n"
		    "  $ fizeau diff old.bin new.bin --format json\n"
		    "  $ fizeau diff main HEAD --fail-on regression --threshold 5%\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_RECORDING,
	.run = run,
};
