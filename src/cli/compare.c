/* SPDX-License-Identifier: MIT */
/* fizeau compare: the same command at two revisions, or two commands, recorded in turn.
 *
 *   base  ---B1      B2---B3      B4---        in turn, so that whatever else the machine does
 *   head      H1---H2      H3---H4             meets both sides alike
 *
 * The base runs in a git worktree in the cache folder, the head in the user's own tree, in the
 * same folder below the top of each. Neither tree is written to: recordings, the worktree and
 * Python's bytecode all go to the cache.
 *
 * Ctrl-C ends the series, not us: what was measured is compared, and the worktree is removed
 * whatever happens.
 */
#include "session/measure.h"

#include "cli/origin.h"
#include "cli/record.h"
#include "session/checkout.h"
#include "format/format.h"
#include "base/map.h"
#include "profile/merge.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AGAIN_MAX = 3 };

static struct {
	struct fz_cli_record record;
	int runs, warmup;
	const char *command[FZ_SIDES]; /* --base, --head */
	const char *setup;
	bool ignore_failure, show_output;
} options;

/* clang-format off */
static const struct fz_opt option_table[] = {
	{ .kind = FZ_OPT_GROUP, .help = "What is compared" },
	{ .kind = FZ_OPT_INT, .short_name = 'n', .long_name = "runs", .argument = "N",
	  .value = &options.runs, .min = 1, .max = 1000,
	  .help = "runs a side (default 3)" },
	{ .kind = FZ_OPT_INT, .long_name = "warmup", .argument = "N",
	  .value = &options.warmup, .min = 0, .max = 1000,
	  .help = "runs a side before those that count (default 1)" },
	{ .kind = FZ_OPT_STRING, .long_name = "setup", .argument = "COMMAND",
	  .value = &options.setup,
	  .help = "run by sh in each tree before anything else, to build or install it" },
	{ .kind = FZ_OPT_STRING, .long_name = "base", .argument = "COMMAND",
	  .value = &options.command[FZ_BASE],
	  .help = "compare two commands instead of two revisions: the old one, run by sh" },
	{ .kind = FZ_OPT_STRING, .long_name = "head", .argument = "COMMAND",
	  .value = &options.command[FZ_HEAD],
	  .help = "the new one" },
	{ .kind = FZ_OPT_FLAG, .long_name = "ignore-failure", .value = &options.ignore_failure,
	  .help = "count runs that end with a status other than 0" },
	{ .kind = FZ_OPT_FLAG, .long_name = "show-output", .value = &options.show_output,
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
	FZ_CLI_OUTPUT_FILE_ENTRIES(options.record.output),
	FZ_CLI_OUTPUT_PAGE_ENTRIES(options.record.output),
	FZ_CLI_OUTPUT_TEXT_ENTRIES(options.record.output),
	FZ_CLI_OUTPUT_COMPARE_ENTRIES(options.record.output),
	FZ_CLI_OUTPUT_GATE_ENTRIES(options.record.output),
	{ .kind = FZ_OPT_END },
};
/* clang-format on */

static const char *const side_names[FZ_SIDES] = { "base", "head" };

struct side {
	char *label; /* what reports call it */
	struct fz_checkout checkout;
	char **argv;
	struct fz_profile *profile; /* of all its runs */
};

struct comparison {
	struct fz_workspace workspace;
	struct side side[FZ_SIDES];
	bool seen; /* something was recorded: it can be */
};

static void release(struct comparison *c)
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		free(c->side[s].label);
		fz_checkout_release(&c->side[s].checkout);
		free(c->side[s].argv);
		fz_profile_free(c->side[s].profile);
	}
}

/* ---- where ---- */

static int open_workspace(struct comparison *c, struct fz_error *err)
{
	c->workspace.record = options.record.how;
	c->workspace.setup = options.setup;
	return fz_workspace_open(&c->workspace, "compare", &fz_cli_notify, options.show_output,
				 err);
}

/* Without a revision: what is not committed yet, else the last commit. */
static const char *default_revision(const struct fz_repository *r)
{
	return r->dirty ? "HEAD" : "HEAD~1";
}

/* A revision and the user's tree; both set up. */
static int check_out(struct comparison *c, const char *revision, struct fz_error *err)
{
	struct fz_repository *r = &c->workspace.repository;
	struct side *base = &c->side[FZ_BASE], *head = &c->side[FZ_HEAD];
	fz_auto(fz_free_ptr) char *commit = NULL;
	int rc = fz_workspace_find(&c->workspace, "compare two commands with --base and --head",
				   err);

	if (rc)
		return rc;
	if (!revision)
		revision = default_revision(r);
	rc = fz_repository_commit(r, revision, &commit, err);
	if (!rc)
		rc = open_workspace(c, err);
	if (rc)
		return rc;
	base->label = fz_asprintf("%s (%.10s)", revision, commit);
	head->label = fz_strdup(r->dirty ? "working tree, not committed" : "working tree (HEAD)");
	rc = fz_checkout_add(&c->workspace, commit, "the base", &base->checkout, err);
	if (!rc)
		rc = fz_checkout_here(&c->workspace, &head->checkout, err);
	return rc ? rc : fz_checkout_set_up(&c->workspace, &head->checkout, err);
}

static int two_commands(struct comparison *c, struct fz_error *err)
{
	char cwd[4096];

	if (!getcwd(cwd, sizeof(cwd)))
		return fz_fail_errno(err, "the current folder");
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		char **argv = fz_calloc(4, sizeof(*argv));
		argv[0] = (char *)"sh";
		argv[1] = (char *)"-c";
		argv[2] = (char *)options.command[s];
		c->side[s].argv = argv;
		c->side[s].checkout =
			(struct fz_checkout){ .name = "this folder", .folder = fz_strdup(cwd) };
		c->side[s].label = fz_strdup(options.command[s]);
	}
	/* They are meant to differ. */
	options.record.output.force = true;
	int rc = open_workspace(c, err);
	/* They share a folder, which is set up once. */
	return rc ? rc : fz_checkout_set_up(&c->workspace, &c->side[FZ_HEAD].checkout, err);
}

/* ---- runs ---- */

static int check_status(const struct fz_series_run *run, struct fz_error *err)
{
	char how[32];

	if (options.ignore_failure || !run->child.reaped || run->child.status == 0)
		return 0;
	fz_trial_describe(&run->child, how, sizeof(how));
	return fz_fail(err, FZ_EINPUT,
		       "the command ended with %s%s, so there is nothing to compare; "
		       "--ignore-failure compares all the same",
		       WIFEXITED(run->child.status) ? "status " : "", how);
}

static void show_progress(enum fz_side s, const char *kind, int i, int n)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[Kfizeau: %s, %s %d of %d\r", side_names[s], kind, i + 1, n);
}

/* It ran to its end, but nothing was recorded of it. */
static bool is_unseen(struct comparison *c, const struct fz_series_run *run, int rc)
{
	bool unlucky = rc == FZ_EGONE || (rc == FZ_EINPUT && c->seen);

	return unlucky && !run->profile && run->child.reaped && run->child.status == 0 &&
	       !fz_series_stopped(&c->workspace.series);
}

static int run_side(struct comparison *c, enum fz_side s, const char *kind, int i, int n,
		    struct fz_error *err)
{
	struct side *side = &c->side[s];
	struct fz_launch_place place = { .folder = side->checkout.folder,
					 .no_input = true,
					 .output = c->workspace.output,
					 .errors = -1 };
	struct fz_series_run run;

	show_progress(s, kind, i, n);
	int rc = fz_series_record(&c->workspace.series, side->argv, &place, &run, err);
	/* A short program may have come and gone while a busy machine did not let us look. */
	for (int again = 0; is_unseen(c, &run, rc) && again < AGAIN_MAX; again++) {
		fz_cli_warn("compare: %s, %s %d of %d is taken again: %s", side_names[s], kind,
			    i + 1, n, err->message);
		rc = fz_series_record(&c->workspace.series, side->argv, &place, &run, err);
	}
	c->seen |= run.profile != NULL;
	if (fz_series_stopped(&c->workspace.series)) {
		fz_cli_warn("compare: interrupted; %s of %s that was not finished is left out",
			    kind, side_names[s]);
		rc = 0;
	} else {
		int failed = check_status(&run, err);
		rc = failed ? failed : rc;
		if (!rc && strcmp(kind, "run") == 0)
			rc = fz_profile_merge(side->profile, run.profile, err);
	}
	fz_profile_free(run.profile);
	return rc ? fz_error_prefix(err, "%s, %s %d of %d", side_names[s], kind, i + 1, n) : 0;
}

/* Base and head n times, the first of each pair in turn. */
static int run_in_turn(struct comparison *c, const char *kind, int n, struct fz_error *err)
{
	for (int i = 0; i < 2 * n; i++) {
		enum fz_side s = (i + 1) / 2 % 2 ? FZ_HEAD : FZ_BASE;
		int rc = fz_series_stopped(&c->workspace.series)
				 ? 0
				 : run_side(c, s, kind, i / 2, n, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int measure(struct comparison *c, struct fz_error *err)
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		c->side[s].profile = fz_profile_new();
	int rc = run_in_turn(c, "warm-up", options.warmup, err);
	if (!rc)
		rc = run_in_turn(c, "run", options.runs, err);
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	return rc;
}

/* ---- what came of it ---- */

static void warn_about_origin(const struct comparison *c)
{
	const struct side *base = &c->side[FZ_BASE], *head = &c->side[FZ_HEAD];
	const char *trees[FZ_SIDES] = { base->checkout.tree, head->checkout.tree };

	if (!trees[FZ_BASE])
		return;
	fz_auto(fz_free_ptr) char *b =
		fz_origin_strange(base->profile, trees[FZ_BASE], trees[FZ_HEAD]);
	fz_auto(fz_free_ptr) char *h =
		fz_origin_strange(head->profile, trees[FZ_HEAD], trees[FZ_BASE]);
	if (b && h && strcmp(b, h) == 0)
		fz_cli_warn("compare: both sides ran the same code, %s, not that of their own "
			    "trees; install each tree with --setup or set PYTHONPATH to its folder",
			    b);
	else if (b || h)
		fz_cli_warn("compare: the %s ran %s instead of its own tree's file; use paths "
			    "relative to the tree, or install each tree with --setup",
			    b ? "base" : "head", b ? b : h);
}

static void say_what_was_done(const struct comparison *c)
{
	uint32_t base = c->side[FZ_BASE].profile->run_count;
	uint32_t head = c->side[FZ_HEAD].profile->run_count;
	char b[FZ_NUMBER_SIZE], w[FZ_NUMBER_SIZE];

	fprintf(stderr, "fizeau: base %s, %s; ", c->side[FZ_BASE].label,
		fz_format_plural(base, "run", b));
	fprintf(stderr, "head %s, %s; taken in turn, ", c->side[FZ_HEAD].label,
		fz_format_plural(head, "run", b));
	if (options.record.how.count)
		fputs("counted", stderr);
	else
		fprintf(stderr, "by the %s clock", fz_clock_names[options.record.clock]);
	if (options.warmup)
		fprintf(stderr, "; before them %s a side, not counted",
			fz_format_plural(options.warmup, "warm-up run", w));
	fputs("\n", stderr);
}

/* The last comparison of each project stays in the cache, for reports of another kind. */
static int keep_recordings(const struct comparison *c, struct fz_error *err)
{
	const struct fz_checkout *head = &c->side[FZ_HEAD].checkout;
	fz_auto(fz_free_ptr) char *cache = NULL;
	struct fz_str top = fz_str_of(head->tree ? head->tree : head->folder);
	/* Two projects may be called the same. */
	unsigned place = (unsigned)fz_hash_bytes(top.p, top.n);
	int rc = fz_workspace_cache_folder("compare", &cache, err);

	for (enum fz_side s = 0; s < FZ_SIDES && !rc; s++) {
		fz_auto(fz_free_ptr) char *path = fz_asprintf(
			"%s/%s-%08x-%s.fz", cache, fz_path_base(top).p, place, side_names[s]);
		rc = fz_format_save(c->side[s].profile, &fz_format_fz, path, err);
		if (!rc)
			fz_cli_note("%s is kept in %s", side_names[s], path);
	}
	return rc;
}

static int report(struct comparison *c, struct fz_error *err)
{
	struct fz_cli_output *o = &options.record.output;

	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		if (c->side[s].profile->run_count == 0)
			return fz_fail(err, FZ_EINTERRUPTED,
				       "interrupted before both sides had a complete run");
		o->labels[s] = c->side[s].label;
	}
	say_what_was_done(c);
	int rc = keep_recordings(c, err);
	return rc ? rc
		  : fz_cli_output_write_diff(o, c->side[FZ_BASE].profile, c->side[FZ_HEAD].profile,
					     err);
}

/* ---- the command ---- */

static int compare(const char *revision, struct comparison *c, struct fz_error *err)
{
	int rc = fz_cli_record_check(&options.record, true, err);

	if (rc)
		return rc;
	rc = options.command[FZ_BASE] ? two_commands(c, err) : check_out(c, revision, err);
	if (!rc)
		rc = measure(c, err);
	if (!rc)
		warn_about_origin(c);
	fz_checkout_remove(&c->workspace, &c->side[FZ_BASE].checkout);
	fz_workspace_close(&c->workspace);
	return rc ? rc : report(c, err);
}

/* [REV] -- CMD, or --base and --head; ret_revision is NULL when none was given. */
static int take_arguments(const struct fz_opt_state *state, struct comparison *c,
			  const char **ret_revision, struct fz_error *err)
{
	bool commands = options.command[FZ_BASE] || options.command[FZ_HEAD];
	int before = state->saw_dashes ? state->after_dashes : state->argument_count;
	int words = state->argument_count - before;

	if (commands && (!options.command[FZ_BASE] || !options.command[FZ_HEAD]))
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
	*ret_revision = before ? state->arguments[0] : NULL;
	struct fz_launch_words command = { .words = state->arguments + before, .n = (size_t)words };
	int rc = fz_launch_command(&command, &c->side[FZ_HEAD].argv, err);
	if (!rc)
		rc = fz_launch_command(&command, &c->side[FZ_BASE].argv, err);
	return rc;
}

static int run(const struct fz_command *command, int argc, char **argv)
{
	struct fz_opt_state state = { .options = option_table };
	fz_auto(release) struct comparison c = { .workspace = FZ_WORKSPACE_NONE };
	const char *revision = NULL;
	struct fz_error err;
	int status;

	options.record = FZ_CLI_RECORD_DEFAULTS;
	options.record.clock = FZ_CLOCK_CPU;
	/* Complete runs of the same work in turn on one machine, also by two different commands. */
	options.record.output.scale = FZ_SCALE_TIME;
	options.runs = 3;
	options.warmup = 1;
	if (!fz_cli_parse(command, &state, argc, argv, &status))
		return status;
	int rc = take_arguments(&state, &c, &revision, &err);
	if (!rc)
		rc = compare(revision, &c, &err);
	fz_cli_output_release(&options.record.output);
	if (rc) {
		fz_error_prefix(&err, "compare");
		fz_cli_error(&err);
	}
	if (c.workspace.series.stopped_by)
		return 128 + c.workspace.series.stopped_by;
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
