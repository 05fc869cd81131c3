/* SPDX-License-Identifier: MIT */
/* fizeau compare: record a command at two revisions, or two commands, interleaved; see
 * bench/revisions.h. */
#include "bench/revisions.h"

#include "cli/record.h"

#include "profile/runs.h"

#include <stdio.h>

static struct {
	struct fz_cli_record record;
	struct fz_compare_options compare;
} options = { .record = FZ_CLI_RECORD_DEFAULTS, .compare.warmup = 1 };

static const struct fz_opt option_table[] = {
	FZ_OPT_HEADING("Runs"),
	FZ_OPT(INT, "runs", "N", &options.compare.runs,
	       "runs per side (default: 20 s of runs, 3 to 10)", .short_name = 'n', .min = 1,
	       .max = 1000, .common = true),
	FZ_OPT(INT, "warmup", "N", &options.compare.warmup,
	       "discarded runs per side before the measured ones (default 1)", .min = 0,
	       .max = 1000),
	FZ_OPT(STRING, "setup", "COMMAND", &options.compare.setup,
	       "shell command to build or install each tree first", .common = true),
	FZ_OPT_RENAMED("base", "base-command"),
	FZ_OPT_RENAMED("head", "head-command"),
	FZ_OPT(STRING, "base-command", "COMMAND", &options.compare.commands[FZ_BASE],
	       "shell command of the base, to compare two commands instead of two revisions",
	       .common = true),
	FZ_OPT(STRING, "head-command", "COMMAND", &options.compare.commands[FZ_HEAD],
	       "shell command of the head", .common = true),
	FZ_OPT(FLAG, "ignore-failure", NULL, &options.compare.ignore_failure,
	       "also use runs that exit with a status other than 0"),
	FZ_OPT(FLAG, "show-output", NULL, &options.compare.show_output,
	       "show the command's output, on standard error"),
	FZ_OPT_HEADING("Recording"),
	FZ_OPT(CALL, "sampling-rate", "RATE", &options.record.how.rate,
	       "samples per second: 1000, 2.5khz, 10k (default 1khz)", .short_name = 'r',
	       .call = fz_cli_parse_rate),
	FZ_OPT(CHOICE, "clock", "CLOCK", &options.record.clock,
	       "cpu (default): sample CPU time, which depends little on other load; "
	       "wall: sample wall time, including waits",
	       .choices = fz_clock_names),
	FZ_OPT(FLAG, "all-threads", NULL, &options.record.how.all_threads,
	       "with --clock wall: sample every thread, not only the main thread; --clock cpu "
	       "always does",
	       .short_name = 'a'),
	FZ_OPT(FLAG, "blocking", NULL, &options.record.how.blocking,
	       "stop the program during each sample: exact, but slower"),
	FZ_OPT(FLAG, "no-source", NULL, &options.record.how.no_source,
	       "do not store source code in the recording"),
	FZ_COUNT_OPTION_ENTRIES(options.record),
	FZ_CLI_OUTPUT_METRIC_ENTRY(options.record.output),
	FZ_CLI_OUTPUT_FILE_ENTRIES(options.record.output),
	FZ_CLI_OUTPUT_TREE_ENTRIES(options.record.output),
	FZ_CLI_OUTPUT_PAGE_ENTRIES(options.record.output),
	FZ_CLI_OUTPUT_TEXT_ENTRIES(options.record.output),
	FZ_CLI_OUTPUT_COMPARE_ENTRIES(options.record.output),
	FZ_CLI_OUTPUT_GATE_ENTRIES(options.record.output),
	{ .kind = FZ_OPT_END },
};

static void print_sides(const struct fz_paired_run *c)
{
	const struct fz_profile *base = c->side[FZ_BASE].profile;
	const struct fz_profile *head = c->side[FZ_HEAD].profile;
	char runs[FZ_NUMBER_SIZE];

	fprintf(stderr, "fizeau: base %s, %s; ", c->side[FZ_BASE].label,
		fz_format_plural(base->run_count, "run", runs));
	fprintf(stderr, "head %s, %s; %s, ", c->side[FZ_HEAD].label,
		fz_format_plural(head->run_count, "run", runs),
		fz_runs_alternate(base, head) ? "interleaved" : "one after the other");
	if (options.record.how.count)
		fputs("counted", stderr);
	else
		fprintf(stderr, "by the %s clock", fz_clock_names[options.record.clock]);
	if (options.compare.warmup)
		fprintf(stderr, "; after %s per side",
			fz_format_plural(options.compare.warmup, "warm-up run", runs));
	fputs("\n", stderr);
}

static int report(struct fz_paired_run *c, struct fz_error *err)
{
	struct fz_cli_output *o = &options.record.output;

	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		if (c->side[s].profile->run_count == 0)
			return fz_fail(err, FZ_EINTERRUPTED,
				       "interrupted before each side had a complete run");
		o->labels[s] = c->side[s].label;
	}
	print_sides(c);
	/* Save before the report can fail, but print the paths after the verdict. */
	int rc = fz_paired_run_keep(c, err);
	if (!rc)
		rc = fz_cli_output_write_diff(o, c->side[FZ_BASE].profile, c->side[FZ_HEAD].profile,
					      err);
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		if (c->side[s].kept)
			fz_cli_note("%s saved in %s until the next comparison of this project",
				    fz_side_names[s], c->side[s].kept);
	return rc;
}

/* ---- the command ---- */

static int compare(struct fz_paired_run *c, struct fz_error *err)
{
	int rc = fz_cli_record_check(&options.record, true, err);

	if (rc)
		return rc;
	options.compare.record = options.record.how;
	/* The command lines are expected to differ. */
	if (options.compare.commands[FZ_BASE])
		options.record.output.force = options.record.output.two_commands = true;
	rc = fz_paired_run_make(c, &options.compare, &fz_cli_notify, err);
	return rc ? rc : report(c, err);
}

/* [REV] -- CMD, or --base-command and --head-command. */
static int parse_arguments(const struct fz_opt_state *state, char ***ret_argv, struct fz_error *err)
{
	bool commands = options.compare.commands[FZ_BASE] || options.compare.commands[FZ_HEAD];
	int before = state->saw_dashes ? state->after_dashes : state->argument_count;
	int words = state->argument_count - before;

	enum fz_side given = options.compare.commands[FZ_BASE] ? FZ_BASE : FZ_HEAD;
	if (commands && !options.compare.commands[!given])
		return fz_fail(err, FZ_EUSAGE, "--%s-command requires --%s-command",
			       fz_side_names[given], fz_side_names[!given]);
	if (commands && state->argument_count)
		return fz_fail(
			err, FZ_EUSAGE,
			"--base-command and --head-command allow no further command or revision");
	if (commands)
		return 0;
	if (words == 0)
		return fz_fail(err, FZ_EUSAGE,
			       "no command; add one after '--', for example: fizeau compare HEAD~1 "
			       "-- python3 bench.py");
	if (before > 1)
		return fz_fail(
			err, FZ_EUSAGE,
			"expected at most one revision, the base; the head is the working tree");
	options.compare.revision = before ? state->arguments[0] : NULL;
	struct fz_launch_words command = { .words = state->arguments + before, .n = (size_t)words };
	return fz_launch_command(&command, ret_argv, err);
}

static void begin(void)
{
	options.record.clock = FZ_CLOCK_CPU;
	/* Runs are complete, alternate on one machine, and do the same work, even with two
	 * commands.
	 */
	options.record.output.scale = FZ_SCALE_TIME;
}

static int run(struct fz_opt_state *state)
{
	fz_auto(fz_paired_run_release) struct fz_paired_run c = { 0 };
	fz_auto(fz_free_ptr) char **child = NULL;
	struct fz_error err;

	int rc = parse_arguments(state, &child, &err);
	options.compare.argv = child;
	if (!rc)
		rc = compare(&c, &err);
	fz_cli_output_release(&options.record.output);
	if (rc)
		fz_cli_fail("compare", &err);
	if (c.stopped_by)
		return 128 + c.stopped_by;
	if (rc)
		return FZ_EXIT_TROUBLE;
	return options.record.output.closed ? FZ_EXIT_REGRESSION : FZ_EXIT_OK;
}

const struct fz_command fz_command_compare = {
	.name = "compare",
	.summary = "record a command at two revisions, interleaved, and compare",
	.usage = "[options] [REV] -- COMMAND [ARGUMENTS]",
	.examples =
		"  $ fizeau compare HEAD~1 -- python3 bench.py   # effect of the last commit\n"
		"  $ fizeau compare -- python3 bench.py          # effect of uncommitted edits\n"
		"  $ fizeau compare -n 10 v1.0 --setup 'make' -o diff.html -- ./bench.sh\n"
		"  $ fizeau compare --base-command 'python3 a.py' --head-command 'python3 b.py'\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_PROGRAM,
	.begin = begin,
	.run = run,
};
