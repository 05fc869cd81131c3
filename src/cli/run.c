/* SPDX-License-Identifier: MIT */
/* fizeau run: start and record a program, and exit with its status.
 *
 * A single run is written to its file during recording. Several (--runs) are recorded one by one
 * to temporary files, and combined into one recording at the end.
 */
#include "record/measure.h"
#include "base/clock.h"
#include "cli/record.h"
#include "cli/system.h"
#include "cli/watch.h"
#include "format/format.h"
#include "store/store.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	struct fz_cli_record record;
	bool module, keep;
	int runs;
	const char *python;
} options = { .record = FZ_CLI_RECORD_DEFAULTS, .runs = 1 };

static const struct fz_opt option_table[] = {
	FZ_RECORD_OPTION_ENTRIES(options.record),
	FZ_OPT_HEADING("Live view"),
	FZ_WATCH_OPTION_ENTRY(options.record),
	FZ_COUNT_OPTION_ENTRIES(options.record),
	FZ_OPT_HEADING("Program"),
	FZ_OPT(FLAG, "module", NULL, &options.module,
	       "run the first argument as a module, as python -m does", .short_name = 'm',
	       .common = true),
	FZ_OPT(STRING, "python", "PATH", &options.python,
	       "interpreter for scripts and modules (default: python3 from $PATH)"),
	FZ_OPT(INT, "runs", "N", &options.runs,
	       "run the program N times and record all runs in one recording", .min = 1,
	       .max = 1000, .common = true),
	FZ_OPT(FLAG, "keep", NULL, &options.keep,
	       "do not end the program after --duration, when the live view is closed, or on quit "
	       "from the --control socket"),
	{ .kind = FZ_OPT_END },
};

/* ---- how it ended ---- */

/* Die of the same signal as the program, so that our parent gets its status, but without another
 * core dump. */
static int die_alike(int signal_number)
{
	struct rlimit no_core = { 0 };
	sigset_t mask;

	fflush(NULL);
	setrlimit(RLIMIT_CORE, &no_core);
	signal(signal_number, SIG_DFL);
	sigemptyset(&mask);
	sigaddset(&mask, signal_number);
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
	raise(signal_number);
	return 128 + signal_number;
}

static int exit_as(const struct fz_child *child)
{
	if (WIFSIGNALED(child->status))
		return die_alike(WTERMSIG(child->status));
	return WEXITSTATUS(child->status);
}

/* ---- one run ---- */

static int exit_not_started(int code)
{
	return code == FZ_EUSAGE ? FZ_EXIT_TROUBLE : FZ_EXIT_FAILED;
}

static int not_started(const struct fz_error *err)
{
	fz_cli_error(err);
	return exit_not_started(err->code);
}

/* True if python -m found no module, that is, failed before runpy ran a module's code. Searching
 * for the module beforehand would need another interpreter. */
static bool module_missing(const struct fz_trial *run)
{
	const struct fz_profile *p = run->record.profile;

	if (!options.module || !run->child.reaped || !WIFEXITED(run->child.status) ||
	    WEXITSTATUS(run->child.status) != 1)
		return false;
	for (uint32_t i = 0; i < p->function_count; i++)
		if (fz_str_eq(fz_profile_text(p, p->functions[i].name), FZ_STR("_run_code")))
			return false;
	return true;
}

/* Leaving the live view ends the run. */
static bool on_live_signal(void *arg, const struct signalfd_siginfo *info)
{
	return fz_watch_left(info) || fz_trial_on_signal(arg, info);
}

/* After sampling: end the program if we ended the sampling, and describe how it ended. */
static void end_child(struct fz_trial *run, struct fz_watch *watch, char *how, size_t size)
{
	enum fz_end end = run->record.sampler.end;
	bool ours = end == FZ_END_TIME || end == FZ_END_SIGNAL;

	/* Restore the terminal before ending the program. */
	if (ours)
		fz_watch_end(watch, NULL);
	if (ours && !options.keep)
		fz_trial_terminate(run);
	else if (!ours)
		fz_trial_wait(run, -1);
	fz_trial_describe(&run->child, how, size);
	if (!watch->live)
		return;
	fz_auto(fz_free_ptr) char *text = fz_asprintf("exit status %s", how);
	bool by_signal = WIFSIGNALED(run->child.status);
	fz_watch_end(watch, by_signal ? how : text);
}

static int record_child(struct fz_trial *run, struct fz_watch *watch, int64_t start)
{
	struct fz_record *r = &run->record;
	struct fz_error err;
	char how[32];

	r->sampling.on_signal = options.record.live ? on_live_signal : fz_trial_on_signal;
	r->callbacks = options.record.live ? fz_watch_callbacks(watch)
					   : fz_cli_record_callbacks(&options.record);
	fz_record_begin(r, run->child.pid, run->child.pidfd, true, start);
	fz_record_begin_file(r);
	if (options.record.live &&
	    fz_watch_begin(watch, r, (enum fz_color_when)options.record.output.color, &err)) {
		fz_cli_warn("run: nothing recorded: %s", err.message);
		fz_trial_wait(run, -1);
		return exit_as(&run->child);
	}
	fz_sampler_run(&r->sampler);
	enum fz_end end = r->sampler.end;
	end_child(run, watch, how, sizeof(how));
	fz_watch_release(watch);
	int trouble = fz_cli_record_end(r, &options.record, how, module_missing(run));
	bool ended_by_us = end == FZ_END_TIME || end == FZ_END_SIGNAL;
	int status = ended_by_us ? FZ_EXIT_OK : exit_as(&run->child);
	return trouble && status == FZ_EXIT_OK ? FZ_EXIT_FAILED : status;
}

static int prepare(struct fz_trial *run, struct fz_watch *watch, char *const argv[],
		   const char *program, struct fz_error *err)
{
	fz_record_init(&run->record, &options.record.how, "run", &fz_cli_notify);
	int rc = fz_cli_record_prepare(&run->record, &options.record, program, err);
	if (!rc)
		rc = fz_record_catch_signals(&run->record, true, err);
	if (!rc && options.record.live) {
		rc = fz_watch_prepare(watch, true, err);
		if (rc)
			fz_error_prefix(err, "run --live");
		watch->program = program;
		fz_watch_title(watch, argv);
	}
	return rc;
}

static int start_and_record(struct fz_trial *run, char *const argv[], const char *program)
{
	struct fz_watch watch = { .output = -1 };
	struct fz_error err;
	int status;

	if (prepare(run, &watch, argv, program, &err)) {
		status = not_started(&err);
	} else {
		int64_t start = fz_clock_now();
		if (fz_launch_start(argv, &run->record.old_mask,
				    options.record.live ? &watch.place : NULL, &run->child, &err)) {
			fz_error_prefix(&err, "run");
			status = not_started(&err);
		} else {
			run->record.argv = argv;
			run->record.child = &run->child;
			status = record_child(run, &watch, start);
		}
	}
	fz_watch_release(&watch);
	fz_record_release(&run->record);
	fz_cli_output_release(&options.record.output);
	fz_launch_release(&run->child);
	return status;
}

/* ---- several runs ---- */

static int record_series(struct fz_runs *runs, char *const argv[], struct fz_error *err)
{
	struct fz_series series;

	fz_series_begin(&series, "run", &options.record.how, &fz_cli_notify);
	series.all_signals = true;
	series.callbacks = fz_cli_record_callbacks(&options.record);
	int rc = fz_runs_record(&series, argv, options.runs, runs, err);
	fz_series_end(&series);
	return rc;
}

/* Create a file in the store. Keep it open, and so locked, until the recording is written to it. */
static int open_store(const char *program, char **ret_path, int *ret_fd, struct fz_error *err)
{
	char cwd[4096];

	if (!getcwd(cwd, sizeof(cwd)))
		return fz_fail_errno(err, "the current folder");
	fz_auto(fz_free_ptr) char *folder = fz_store_folder(cwd);
	return fz_store_create(folder, program, ret_path, ret_fd, err);
}

/* path: in the store; NULL: write the requested output. */
static int write_runs(const struct fz_runs *runs, const char *path, struct fz_error *err)
{
	struct fz_cli_output *o = &options.record.output;

	if (!path)
		return fz_cli_output_write(o, runs->all, err);
	int rc = fz_format_save(runs->all, &fz_format_fz, path, err);
	if (!rc) {
		fz_cli_output_print(o, runs->all);
		if (runs->all->run_count > 1)
			fz_cli_note("recorded %u runs to %s", runs->all->run_count, path);
		else
			fz_cli_note("recorded to %s", path);
	}
	return rc;
}

/* code: of an error before all runs were recorded, or 0. */
static int exit_of_runs(const struct fz_runs *runs, int code, bool wrong)
{
	if (!runs->worst.pid)
		return exit_not_started(code);
	if (runs->worst.status && !runs->timed_out)
		return exit_as(&runs->worst);
	return wrong ? FZ_EXIT_FAILED : FZ_EXIT_OK;
}

static int start_and_record_runs(char *const argv[], const char *program)
{
	fz_auto(fz_free_ptr) char *path = NULL;
	fz_auto(fz_close_fd) int fd = -1;
	struct fz_runs runs = { 0 };
	struct fz_error err;
	int rc = fz_cli_record_check(&options.record, false, &err);

	if (!rc && fz_cli_output_is_default(&options.record.output))
		rc = open_store(program, &path, &fd, &err);
	if (!rc)
		rc = record_series(&runs, argv, &err);
	if (rc)
		fz_cli_fail("run", &err);
	bool wrong = rc != 0;
	bool any = runs.all && runs.all->run_count;
	if (any && write_runs(&runs, path, &err)) {
		wrong = true;
		fz_cli_error(&err);
	} else if (path && !any) {
		unlink(path);
	}
	fz_profile_free(runs.all);
	fz_cli_output_release(&options.record.output);
	return exit_of_runs(&runs, rc, wrong);
}

/* ---- our options after the script's name, where they go to the script ---- */

enum { SCRIPT_MAX = 1 << 20 };

/* Without options that many programs have (output, format, limit). */
static const char *const only_ours[] = {
	"flamegraph",  "heatmap",        "pstats",  "collapsed",    "gecko",       "jsonl",
	"all-threads", "sampling-rate",  "opcodes", "subprocesses", "async-aware", "native",
	"blocking",    "realtime-stats", "no-gc",   "callgrind",    "no-source",
};

/* A script with any of these may parse its arguments, itself or with a library. */
static const char *const looks[] = { "arg", "opt", "click", "fire", "typer", "main", "exec" };

static const char *name_of(const struct fz_opt *table, const char *word)
{
	if (strncmp(word, "--", 2) != 0)
		return NULL;
	fz_auto(fz_free_ptr) char *name = fz_strndup(word + 2, strcspn(word + 2, "="));
	for (size_t i = 0; i < FZ_ARRAY_LEN(only_ours); i++) {
		if (strcmp(name, only_ours[i]) != 0)
			continue;
		for (const struct fz_opt *o = table; o->kind != FZ_OPT_END; o++)
			if (o->long_name && strcmp(o->long_name, name) == 0)
				return only_ours[i];
	}
	return NULL;
}

/* The text of a script, which the caller frees; NULL if it is not a readable script. */
static char *text_of(const char *path)
{
	size_t n = strlen(path);
	FILE *f = n > 3 && strcmp(path + n - 3, ".py") == 0 ? fopen(path, "re") : NULL;

	if (!f)
		return NULL;
	char *text = fz_malloc(SCRIPT_MAX + 1);
	text[fread(text, 1, SCRIPT_MAX, f)] = '\0';
	fclose(f);
	return text;
}

/* True if it is or may be an option of the script. */
static bool is_its_own(const char *text, const char *name, int status)
{
	enum { USAGE = 2 }; /* exit status of argparse and others */
	fz_auto(fz_free_ptr) char *variable = fz_strndup(name, strlen(name));

	for (char *c = variable; *c; c++)
		*c = *c == '-' ? '_' : *c;
	if (text && (strstr(text, name) || strstr(text, variable)))
		return true;
	for (size_t i = 0; !status && text && i < FZ_ARRAY_LEN(looks); i++)
		if (strstr(text, looks[i]))
			return true;
	return !text && status != USAGE;
}

/* After the program has ended, print a hint about the first option that was probably meant for us,
 * because only a profiler has it, the script does not mention it, and the script failed or parses
 * no arguments. words[0]: the program; status: its exit status. */
static void hint_misplaced(const struct fz_opt *table, char *const words[], int n, int status)
{
	const char *name = NULL;
	int i = 1;

	for (; i < n && strcmp(words[i], "--") != 0; i++)
		if ((name = name_of(table, words[i])))
			break;
	if (!name)
		return;
	fz_auto(fz_free_ptr) char *text = text_of(words[0]);
	if (!is_its_own(text, name, status))
		fz_cli_note("%s came after %s and was passed to it; to use it as an option of "
			    "fizeau, write: fizeau run %s %s ...",
			    words[i], words[0], words[i], words[0]);
}

/* ---- the command ---- */

static void begin(void)
{
	fz_cli_system_begin(&options.record);
}

static int run_command(struct fz_opt_state *state)
{
	struct fz_trial run = { .child = { .pidfd = -1 } };
	struct fz_error err;
	int status;

	if (fz_cli_system_settle(&options.record, &err))
		return fz_cli_fail("run", &err);
	if (options.keep && options.record.how.duration == 0 && !options.record.live &&
	    !options.record.how.control)
		return fz_cli_errorf("run: --keep requires --duration, --live or --control");
	if (options.runs > 1 && options.keep)
		return fz_cli_errorf("run: --keep cannot be combined with several --runs");
	if (options.runs > 1 && options.record.how.control)
		return fz_cli_errorf("run: --control cannot be combined with several --runs");
	if (options.runs > 1 && options.record.live)
		return fz_cli_errorf("run: --live cannot be combined with several --runs");
	struct fz_launch_words words = { .words = state->arguments,
					 .n = (size_t)state->argument_count,
					 .module = options.module,
					 .plain = state->saw_dashes && state->after_dashes == 0,
					 .python = options.python };
	fz_auto(fz_free_ptr) char **child_argv = NULL;
	if (fz_launch_command(&words, &child_argv, &err)) {
		fz_error_prefix(&err, "run");
		return not_started(&err);
	}
	const char *program = fz_path_base(fz_str_of(state->arguments[0])).p;
	status = options.runs > 1 || options.record.how.count
			 ? start_and_record_runs(child_argv, program)
			 : start_and_record(&run, child_argv, program);
	hint_misplaced(option_table, state->arguments, state->argument_count, status);
	return status;
}

const struct fz_command fz_command_run = {
	.name = "run",
	.summary = "start and record a program, and exit with its status",
	.usage = "[options] [-m MODULE | SCRIPT.py | [--] PROGRAM] [ARGUMENTS]",
	.examples = "  $ fizeau run script.py --script-option    # record to the local store\n"
		    "  $ fizeau run -r 10khz -a -o server.fz -m myserver\n"
		    "  $ fizeau run --runs 5 -o five.fz bench.py\n"
		    "  $ fizeau run -d 30 -- ./manage.sh runserver  # any command\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_PROGRAM,
	.stop_at_first = true,
	.begin = begin,
	.run = run_command,
};
