/* SPDX-License-Identifier: MIT */
/* fizeau compare: the same command at two revisions, or two commands, recorded in turn; see
 * bench/revisions.h. */
#include "bench/revisions.h"

#include "cli/record.h"

#include <stdio.h>

static struct {
	struct fz_cli_record record;
	struct fz_compare_options compare;
} options;

/* clang-format off */
static const struct fz_opt option_table[] = {
	{ .kind = FZ_OPT_GROUP, .help = "What is compared" },
	{ .kind = FZ_OPT_INT, .short_name = 'n', .long_name = "runs", .argument = "N",
	  .value = &options.compare.runs, .min = 1, .max = 1000,
	  .help = "runs a side (default 3)" },
	{ .kind = FZ_OPT_INT, .long_name = "warmup", .argument = "N",
	  .value = &options.compare.warmup, .min = 0, .max = 1000,
	  .help = "runs a side before those that count (default 1)" },
	{ .kind = FZ_OPT_STRING, .long_name = "setup", .argument = "COMMAND",
	  .value = &options.compare.setup,
	  .help = "run by sh in each tree before anything else, to build or install it" },
	{ .kind = FZ_OPT_STRING, .long_name = "base", .argument = "COMMAND",
	  .value = &options.compare.commands[FZ_BASE],
	  .help = "compare two commands instead of two revisions: the old one, run by sh" },
	{ .kind = FZ_OPT_STRING, .long_name = "head", .argument = "COMMAND",
	  .value = &options.compare.commands[FZ_HEAD],
	  .help = "the new one" },
	{ .kind = FZ_OPT_FLAG, .long_name = "ignore-failure", .value = &options.compare.ignore_failure,
	  .help = "count runs that end with a status other than 0" },
	{ .kind = FZ_OPT_FLAG, .long_name = "show-output", .value = &options.compare.show_output,
	  .help = "let the command's output through, to standard error" },
	{ .kind = FZ_OPT_GROUP, .help = "Recording" },
	{ .kind = FZ_OPT_CALL, .short_name = 'r', .long_name = "sampling-rate",
	  .argument = "RATE", .value = &options.record.how.rate, .call = fz_cli_parse_rate,
	  .help = "samples a second: 1000, 2.5khz, 10k (default 1khz)" },
	{ .kind = FZ_OPT_CHOICE, .long_name = "clock", .argument = "CLOCK",
	  .value = &options.record.clock, .choices = fz_clock_names,
	  .help = "cpu (default): by the CPU time that a thread used, which other load on the "
		  "machine hardly disturbs; wall: by time, waiting included" },
	{ .kind = FZ_OPT_FLAG, .short_name = 'a', .long_name = "all-threads",
	  .value = &options.record.how.all_threads,
	  .help = "sample every thread, not only the main one" },
	{ .kind = FZ_OPT_FLAG, .long_name = "blocking", .value = &options.record.how.blocking,
	  .help = "stop the program for the moment of each sample: exact, but slows it down" },
	{ .kind = FZ_OPT_FLAG, .long_name = "no-source", .value = &options.record.how.no_source,
	  .help = "do not store the text of executed source files" },
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
/* clang-format on */

static void say_what_was_done(const struct fz_paired_run *c)
{
	uint32_t base = c->side[FZ_BASE].profile->run_count;
	uint32_t head = c->side[FZ_HEAD].profile->run_count;
	char b[FZ_NUMBER_SIZE], w[FZ_NUMBER_SIZE];

	fprintf(stderr, "fizeau: base %s, %s; ", c->side[FZ_BASE].label,
		fz_format_plural(base, "run", b));
	fprintf(stderr, "head %s, %s; %s, ", c->side[FZ_HEAD].label,
		fz_format_plural(head, "run", b),
		base > 1 || head > 1 ? "taken in turn" : "one after the other");
	if (options.record.how.count)
		fputs("counted", stderr);
	else
		fprintf(stderr, "by the %s clock", fz_clock_names[options.record.clock]);
	if (options.compare.warmup)
		fprintf(stderr, "; before them %s a side, not counted",
			fz_format_plural(options.compare.warmup, "warm-up run", w));
	fputs("\n", stderr);
}

static int report(struct fz_paired_run *c, struct fz_error *err)
{
	struct fz_cli_output *o = &options.record.output;

	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		if (c->side[s].profile->run_count == 0)
			return fz_fail(err, FZ_EINTERRUPTED,
				       "interrupted before both sides had a complete run");
		o->labels[s] = c->side[s].label;
	}
	say_what_was_done(c);
	/* Before anything can go wrong; the verdict is said first. */
	int rc = fz_paired_run_keep(c, err);
	if (!rc)
		rc = fz_cli_output_write_diff(o, c->side[FZ_BASE].profile, c->side[FZ_HEAD].profile,
					      err);
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		if (c->side[s].kept)
			fz_cli_note("%s is kept in %s until the next comparison of this project",
				    s == FZ_BASE ? "base" : "head", c->side[s].kept);
	return rc;
}

/* ---- the command ---- */

static int compare(struct fz_paired_run *c, struct fz_error *err)
{
	int rc = fz_cli_record_check(&options.record, true, err);

	if (rc)
		return rc;
	options.compare.record = options.record.how;
	/* Two commands are meant to differ. */
	if (options.compare.commands[FZ_BASE])
		options.record.output.force = options.record.output.two_commands = true;
	rc = fz_paired_run_make(c, &options.compare, &fz_cli_notify, err);
	return rc ? rc : report(c, err);
}

/* [REV] -- CMD, or --base and --head. */
static int take_arguments(const struct fz_opt_state *state, char ***ret_argv, struct fz_error *err)
{
	bool commands = options.compare.commands[FZ_BASE] || options.compare.commands[FZ_HEAD];
	int before = state->saw_dashes ? state->after_dashes : state->argument_count;
	int words = state->argument_count - before;

	if (commands && (!options.compare.commands[FZ_BASE] || !options.compare.commands[FZ_HEAD]))
		return fz_fail(err, FZ_EUSAGE, "--base and --head: need each other");
	if (commands && state->argument_count)
		return fz_fail(err, FZ_EUSAGE,
			       "--base and --head: are the commands; there is no other to run");
	if (commands)
		return 0;
	if (words == 0)
		return fz_fail(err, FZ_EUSAGE,
			       "nothing to run; write the command after '--', for example: fizeau "
			       "compare HEAD~1 -- python3 bench.py");
	if (before > 1)
		return fz_fail(err, FZ_EUSAGE,
			       "takes one revision, the base; the head is the working tree");
	options.compare.revision = before ? state->arguments[0] : NULL;
	struct fz_launch_words command = { .words = state->arguments + before, .n = (size_t)words };
	return fz_launch_command(&command, ret_argv, err);
}

static int run(const struct fz_command *command, int argc, char **argv)
{
	struct fz_opt_state state = { .options = option_table };
	fz_auto(fz_paired_run_release) struct fz_paired_run c = { 0 };
	fz_auto(fz_free_ptr) char **child = NULL;
	struct fz_error err;
	int status;

	options.record = FZ_CLI_RECORD_DEFAULTS;
	options.record.clock = FZ_CLOCK_CPU;
	/* Complete runs of the same work in turn on one machine, also by two different commands. */
	options.record.output.scale = FZ_SCALE_TIME;
	options.compare.runs = 3;
	options.compare.warmup = 1;
	if (!fz_cli_parse(command, &state, argc, argv, &status))
		return status;
	int rc = take_arguments(&state, &child, &err);
	options.compare.argv = child;
	if (!rc)
		rc = compare(&c, &err);
	fz_cli_output_release(&options.record.output);
	if (rc) {
		fz_error_prefix(&err, "compare");
		fz_cli_error(&err);
	}
	if (c.stopped_by)
		return 128 + c.stopped_by;
	if (rc)
		return FZ_EXIT_TROUBLE;
	return options.record.output.closed ? FZ_EXIT_REGRESSION : FZ_EXIT_OK;
}

const struct fz_command fz_command_compare = {
	.name = "compare",
	.summary = "record a command at two revisions in turn, and compare",
	.usage = "[options] [REV] -- COMMAND [ARGUMENTS]",
	.examples =
		"  $ fizeau compare HEAD~1 -- python3 bench.py   # what did the last commit do?\n"
		"  $ fizeau compare -- python3 bench.py          # what did my edits do?\n"
		"  $ fizeau compare -n 10 v1.0 --setup 'make' -o diff.html -- ./bench.sh\n"
		"  $ fizeau compare --base 'python3 a.py' --head 'python3 b.py'\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_PROGRAM,
	.run = run,
};
