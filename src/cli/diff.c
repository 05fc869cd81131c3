/* SPDX-License-Identifier: MIT */
/* fizeau diff: compare two recordings. */
#include "cli/cli.h"
#include "cli/fleet.h"
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
		fz_cli_warn("diff: comparing programs of the same name from different folders; "
			    "'fizeau show' prints the paths, 'fizeau diff BASE HEAD' compares "
			    "other recordings");
	return r ? r
		 : compare(&(struct fz_cli_side){ &base, 1, .range = o->range },
			   &(struct fz_cli_side){ &head, 1, .range = o->range }, o, err);
}

static struct fz_cli_output output = FZ_CLI_OUTPUT_DEFAULTS;
static struct fz_cli_range base_range, head_range;
static struct fz_cli_fleet fleet;

/* Compare two releases of a server or its store. */
static int compare_releases(char **names, int n, struct fz_cli_output *o, struct fz_error *err)
{
	struct fz_profile *profile[FZ_SIDES];

	if (n != FZ_SIDES)
		return fz_fail(err, FZ_EUSAGE,
			       "--%s requires two sides, such as SERVICE@VERSION SERVICE@VERSION",
			       fleet.store ? "store" : "server");
	if (base_range.text || head_range.text || o->range.from.kind || o->range.to.kind)
		return fz_fail(
			err, FZ_EUSAGE,
			"--base-range, --head-range, --from and --to apply to recordings; use "
			"--since and --until for releases");
	int r = fz_cli_fleet_load(&fleet, (const char *const *)names, o->metric, profile, err);
	if (r)
		return r;
	fz_auto(fz_profile_freep) struct fz_profile *base = profile[FZ_BASE];
	fz_auto(fz_profile_freep) struct fz_profile *head = profile[FZ_HEAD];
	o->labels[FZ_BASE] = names[FZ_BASE];
	o->labels[FZ_HEAD] = names[FZ_HEAD];
	return fz_cli_output_write_diff(o, base, head, err);
}

static const struct fz_opt option_table[] = {
	FZ_OPT_HEADING("Samples"),
	FZ_OPT_RENAMED("base", "base-range"),
	FZ_OPT_RENAMED("head", "head-range"),
	FZ_OPT(CALL, "base-range", "RANGE", &base_range,
	       "use only this time range of the base: 0s-30s, 500ms-, 0%-50%; with a single "
	       "RECORDING, compare the range with --head-range",
	       .call = fz_cli_range_set, .common = true),
	FZ_OPT(CALL, "head-range", "RANGE", &head_range, "use only this time range of the head",
	       .call = fz_cli_range_set, .common = true),
	FZ_CLI_OUTPUT_PART_ENTRIES(output), /* apply to both sides */
	FZ_CLI_OUTPUT_PROCESS_ENTRY(output),
	FZ_CLI_OUTPUT_METRIC_ENTRY(output),
	FZ_CLI_OUTPUT_UNIT_ENTRY(output),
	FZ_CLI_OUTPUT_FILE_ENTRIES(output),
	FZ_CLI_OUTPUT_TREE_ENTRIES(output),
	FZ_CLI_OUTPUT_HEATMAP_ENTRY(output),
	FZ_CLI_OUTPUT_PAGE_ENTRIES(output),
	FZ_CLI_OUTPUT_SOURCE_ENTRY(output),
	FZ_CLI_OUTPUT_SOURCE_ROOT_ENTRY(output),
	FZ_CLI_OUTPUT_TEXT_ENTRIES(output),
	FZ_CLI_OUTPUT_COMPARE_ENTRIES(output),
	FZ_CLI_OUTPUT_GATE_ENTRIES(output),
	FZ_OPT_HEADING("Releases on a server"),
	FZ_CLI_FLEET_SERVER_ENTRIES(fleet),
	FZ_OPT(STRING, "store", "PATH", &fleet.store,
	       "read a local server's database file instead of querying a server"),
	FZ_OPT(CALL, "label", "KEY=VALUE", &fleet,
	       "only profiles pushed with this label; repeatable", .call = fz_cli_fleet_add_label),
	FZ_OPT(CALL, "since", "TIME", &fleet, "only profiles newer than this: 90m, 24h, 7d",
	       .call = fz_cli_fleet_set_since),
	FZ_OPT(CALL, "until", "TIME", &fleet, "only profiles older than this",
	       .call = fz_cli_fleet_set_since),
	{ .kind = FZ_OPT_END },
};

/* Make two ranges of one recording the sides. */
static int split(const struct fz_opt_state *state, struct fz_cli_side *ret_base,
		 struct fz_cli_side *ret_head, struct fz_error *err)
{
	static char latest[] = "@1";
	static char *names[FZ_SIDES];
	bool base = base_range.text, head = head_range.text;

	if ((base || head) && (output.range.from.kind || output.range.to.kind))
		return fz_fail(err, FZ_EUSAGE, "--%s-range and --%s exclude each other",
			       base ? "base" : "head", output.range.from.kind ? "from" : "to");
	if (state->argument_count > 1 || (!base && !head))
		return state->argument_count
			       ? fz_cli_sides_split(state->arguments, state->argument_count,
						    ret_base, ret_head, err)
			       : 0;
	if (!base || !head)
		return fz_fail(err, FZ_EUSAGE,
			       "--%s-range of a single recording requires --%s-range",
			       base ? "base" : "head", base ? "head" : "base");
	names[FZ_BASE] = names[FZ_HEAD] = state->argument_count ? state->arguments[0] : latest;
	if (strcmp(names[FZ_BASE], "-") == 0)
		return fz_fail(err, FZ_EUSAGE,
			       "standard input can only be read once; write it to a file first");
	*ret_base = (struct fz_cli_side){ &names[FZ_BASE], 1 };
	*ret_head = (struct fz_cli_side){ &names[FZ_HEAD], 1 };
	return 0;
}

static int run(struct fz_opt_state *state)
{
	struct fz_error err;

	struct fz_cli_side base = { 0 }, head = { 0 };
	bool releases = fz_cli_fleet_asked(&fleet);
	if (!releases && split(state, &base, &head, &err))
		return fz_cli_fail("diff", &err);
	base.number_unit = head.number_unit = output.number_unit;
	base.range = base_range.text ? base_range : output.range;
	head.range = head_range.text ? head_range : output.range;
	base.range.marks = head.range.marks = output.range.marks;
	int r = fz_cli_output_check(&output, true, NULL, &err);
	if (!r && releases)
		r = compare_releases(state->arguments, state->argument_count, &output, &err);
	else if (!r && !base.n)
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
	.summary = "compare two recordings and report what became slower or faster",
	.usage = "[options] [BASE HEAD | BASE... :: HEAD... | RECORDING]",
	.examples = "  $ fizeau diff                            # the last two recordings of a "
		    "program\n"
		    "  $ fizeau diff before.fz after.fz         # as text\n"
		    "  $ fizeau diff @2 @1 -o diff.html         # as a page\n"
		    "  $ fizeau diff a1.fz a2.fz :: b1.fz b2.fz # several runs per side\n"
		    "  $ fizeau diff app.fz --base-range 0%-50% --head-range 50%-100%  # first "
		    "half against second\n"
		    "  $ fizeau diff old.bin new.bin --format json\n"
		    "  $ fizeau diff main HEAD --fail-on regression --threshold 5%\n"
		    "  $ fizeau diff api@1.4 api@1.5 --server http://localhost:4999  # releases\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_RECORDING,
	.run = run,
};
