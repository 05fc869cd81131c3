/* SPDX-License-Identifier: MIT */
/* fizeau attach: record a running process, which continues afterwards.
 * fizeau top: the same with a live view. */
#include "cli/pid.h"
#include "base/clock.h"
#include "cli/record.h"
#include "cli/system.h"
#include "cli/watch.h"

#include <stdio.h>

static struct fz_cli_record options = FZ_CLI_RECORD_DEFAULTS;
static bool main_thread, idle;
static const char *pid_word; /* --pid; NULL: the argument is used */

static const struct fz_opt option_table[] = {
	FZ_RECORD_OPTION_ENTRIES(options),
	FZ_OPT_HEADING("Target"),
	FZ_CLI_SYSTEM_ENTRY(options),
	FZ_OPT_HEADING("Threads"),
	FZ_OPT(FLAG, "main-thread", NULL, &main_thread,
	       "sample only the main thread (default: every thread, if several run Python code and "
	       "no output format is given)"),
	FZ_OPT(FLAG, "idle", NULL, &idle, "include waiting threads in the table"),
	FZ_OPT_HEADING("Live view"),
	FZ_WATCH_OPTION_ENTRY(options),
	FZ_CLI_PID_ENTRY(pid_word),
	{ .kind = FZ_OPT_END },
};

static const struct fz_opt top_option_table[] = {
	FZ_RECORD_SAMPLING_ENTRIES(options),
	FZ_CLI_SYSTEM_ENTRY(options),
	FZ_CLI_OUTPUT_FILE_ENTRIES(options.output),
	FZ_CLI_COLOR_ENTRY(&options.output.color),
	FZ_CLI_PID_ENTRY(pid_word),
	{ .kind = FZ_OPT_END },
};

/* True if we may choose which threads to sample. Not with options that other programs read, with
 * tasks, or with a baseline, whose settings must match. */
static bool may_choose_threads(void)
{
	const struct fz_cli_output *o = &options.output;

	return !main_thread && !options.how.all_threads && !o->baseline &&
	       options.async.mode == FZ_CLI_ASYNC_NOT_GIVEN && !options.async.aware &&
	       (fz_cli_output_is_default(o) || fz_cli_output_is_recording(o));
}

/* A shell or the like is recorded by its native stacks, which is rarely intended. */
static void note_below(const char *command, pid_t pid)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	fz_cli_name_below(command, pid, &text);
	if (text.n)
		fz_cli_note("%d is not Python; %s", (int)pid, text.p);
}

/* Sample all threads of a server, whose main thread only waits. */
static void choose_threads(const char *command, pid_t pid)
{
	struct fz_python_glance glance;

	if (!fz_python_glance(pid, &glance)) {
		if (!options.how.subprocesses)
			note_below(command, pid);
		return;
	}
	if (!options.how.subprocesses)
		fz_cli_hint_workers(command, pid, &glance, false);
	if (glance.threads < 2 || !may_choose_threads())
		return;
	options.how.all_threads = true;
	options.output.no_idle = !idle;
	fz_cli_note("sampling all %u Python threads, of which %u are waiting%s; --main-thread "
		    "samples only the main thread",
		    glance.threads, glance.idle,
		    idle || !fz_cli_output_is_default(&options.output)
			    ? ""
			    : " and hidden in the table (--idle shows them)");
}

/* SIGUSR1 saves the recording; other signals end it. */
static bool on_signal(void *arg, const struct signalfd_siginfo *info)
{
	if (info->ssi_signo != SIGUSR1)
		return true;
	fz_record_save(arg);
	return false;
}

static void watch_title(struct fz_watch *watch, pid_t pid)
{
	char title[] = "the whole machine";

	if (options.how.machine)
		fz_watch_title(watch, (char *[]){ title, NULL });
	else
		fz_watch_title_of(watch, pid);
}

/* On a terminal, tell what ends the recording. pid 0: the whole machine. */
static void show_progress(pid_t pid)
{
	char what[32] = "all processes", until[64] = "until Ctrl-C";

	if (pid)
		snprintf(what, sizeof(what), "process %d", (int)pid);
	if (options.how.duration > 0)
		snprintf(until, sizeof(until), "for %g s or until Ctrl-C", options.how.duration);
	else if (pid)
		snprintf(until, sizeof(until), "until it ends or Ctrl-C");
	fz_notify_progress(&fz_cli_notify, "recording %s %s", what, until);
}

/* pid 0: the whole machine. */
static int record_process(struct fz_record *r, const char *command, pid_t pid, int pidfd,
			  struct fz_error *err)
{
	struct fz_watch watch = { .output = -1 };
	char name[64];

	fz_record_init(r, &options.how, command, &fz_cli_notify);
	if (options.how.machine)
		snprintf(name, sizeof(name), "system");
	else
		fz_cli_process_name(pid, name, sizeof(name));
	int rc = options.live ? fz_watch_prepare(&watch, false, err) : 0;
	if (!rc)
		rc = fz_cli_record_prepare(r, &options, name, err);
	r->saves = true;
	if (!rc)
		rc = fz_record_catch_signals(r, false, err);
	if (rc)
		return rc;
	if (!options.how.machine)
		choose_threads(command, pid);
	r->sampling.on_signal = on_signal;
	r->callbacks =
		options.live ? fz_watch_callbacks(&watch) : fz_cli_record_callbacks(&options);
	fz_record_begin(r, pid, pidfd, false, fz_clock_now());
	rc = fz_sampler_open(&r->sampler, err);
	if (!rc)
		fz_record_begin_file(r);
	if (!rc && options.live) {
		watch.program = name;
		watch_title(&watch, pid);
		rc = fz_watch_begin(&watch, r, (enum fz_color_when)options.output.color, err);
	}
	if (!rc && !options.live && !options.realtime_stats)
		show_progress(options.how.machine ? 0 : pid);
	if (!rc)
		fz_sampler_run(&r->sampler);
	fz_notify_progress_end(&fz_cli_notify);
	fz_watch_end(&watch, r->sampler.end == FZ_END_EXIT ? "the process has ended" : NULL);
	fz_watch_release(&watch);
	return rc;
}

static int attach_to(const char *command, struct fz_opt_state *state)
{
	struct fz_record record = { .fd = -1, .signal_fd = -1 };
	struct fz_error err;
	int status, pidfd = -1;
	pid_t pid = 0;

	if (fz_cli_system_settle(&options, &err))
		return fz_cli_fail(command, &err);
	int named = state->argument_count + (pid_word != NULL);
	if (options.how.machine && named)
		return fz_cli_errorf("%s: --system records all processes and allows no process id",
				     command);
	if (!options.how.machine && named != 1)
		return fz_cli_errorf("%s: specify one process id or --system", command);
	if (!options.how.machine &&
	    fz_cli_pid(pid_word ? pid_word : state->arguments[0], &pid, &pidfd, &err)) {
		return fz_cli_fail(command, &err);
	}
	if (record_process(&record, command, pid, pidfd, &err)) {
		status = fz_cli_fail(command, &err);
	} else {
		status = fz_cli_record_end(&record, &options,
					   record.sampler.end == FZ_END_EXIT ? "ended" : "", false);
	}
	fz_record_release(&record);
	fz_cli_output_release(&options.output);
	fz_close_fd(&pidfd);
	return status;
}

static void begin(void)
{
	fz_cli_system_begin(&options);
}

static int attach(struct fz_opt_state *state)
{
	return attach_to("attach", state);
}

/* The live view of all threads; keeps a recording only if one is requested. */
static int top(struct fz_opt_state *state)
{
	options.live = options.look_only = options.how.all_threads = true;
	return attach_to("top", state);
}

const struct fz_command fz_command_attach = {
	.name = "attach",
	.summary = "record a running process",
	.usage = "[options] PID | --system",
	.examples = "  $ fizeau attach 4711                 # until it ends or Ctrl-C\n"
		    "  $ fizeau attach -d 10 -a -r 5khz 4711\n"
		    "  $ fizeau attach --live 4711          # with a live view\n"
		    "  $ fizeau attach --system -d 30       # the whole machine\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_PROCESS,
	.begin = begin,
	.run = attach,
};

const struct fz_command fz_command_top = {
	.name = "top",
	.summary = "show live what a process is doing",
	.usage = "[options] PID | --system",
	.examples = "  $ fizeau top 4711            # q quits, ? lists the keys\n"
		    "  $ fizeau top -o x.fz 4711    # and save the recording\n"
		    "  $ fizeau top --system        # the whole machine\n",
	.options = top_option_table,
	.argument = FZ_ARGUMENT_PROCESS,
	.begin = begin,
	.run = top,
};
