/* SPDX-License-Identifier: MIT */
/* fizeau run: start a program, record it, end as it ended.
 *
 * The terminal sends its signals (Ctrl-C, hang-up) to the whole foreground group, so the program
 * has them already; those are not sent again. What somebody sent to us alone is passed on. Either
 * way it is the program that decides when the recording ends.
 */
#include "cli/record.h"

#include "capture/launch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TERM_PATIENCE_MS = 2000 };

static struct {
	struct fz_record_options record;
	bool module, keep;
	const char *python;
} options;

static const struct fz_opt option_table[] = {
	FZ_RECORD_OPTION_ENTRIES(options.record),
	{ .kind = FZ_OPT_GROUP, .help = "Program" },
	{ .kind = FZ_OPT_FLAG,
	  .short_name = 'm',
	  .long_name = "module",
	  .help = "run a module, as python -m does; its name comes first",
	  .value = &options.module },
	{ .kind = FZ_OPT_STRING,
	  .long_name = "python",
	  .argument = "PATH",
	  .help = "the interpreter for scripts and modules (default: python3 of PATH)",
	  .value = &options.python },
	{ .kind = FZ_OPT_FLAG,
	  .long_name = "keep",
	  .help = "leave the program running when --duration is over",
	  .value = &options.keep },
	{ .kind = FZ_OPT_END },
};

struct run {
	struct fz_record record;
	struct fz_child child;
};

/* ---- signals ---- */

static void pass_on(pid_t pid, const struct signalfd_siginfo *info)
{
	if (info->ssi_code != SI_KERNEL)
		kill(pid, (int)info->ssi_signo);
}

static bool on_signal(void *arg, const struct signalfd_siginfo *info)
{
	/* The record is the first member. */
	const struct run *run = arg;

	pass_on(run->child.pid, info);
	return false;
}

/* Wait for the program, for at most so many milliseconds (-1: for good). False: still there. */
static bool wait_for_child(struct run *run, int milliseconds)
{
	struct pollfd fds[] = { { .fd = run->child.pidfd, .events = POLLIN },
				{ .fd = run->record.signal_fd, .events = POLLIN } };
	int64_t until = fz_clock_now() + (int64_t)milliseconds * 1000000;

	for (;;) {
		int left = -1;
		if (milliseconds >= 0)
			left = (int)FZ_MAX((until - fz_clock_now()) / 1000000, 0);
		int n = poll(fds, FZ_ARRAY_LEN(fds), left);
		if (n == 0)
			return false;
		if (n > 0 && fds[0].revents)
			break;
		struct signalfd_siginfo info;
		while (read(run->record.signal_fd, &info, sizeof(info)) == sizeof(info))
			if (info.ssi_signo != SIGCHLD)
				pass_on(run->child.pid, &info);
	}
	fz_launch_wait(&run->child);
	return true;
}

/* ---- how it ended ---- */

static void describe_exit(const struct fz_child *child, char *out, size_t size)
{
	if (!child->reaped)
		snprintf(out, size, "still running");
	else if (WIFSIGNALED(child->status))
		snprintf(out, size, "signal %d", WTERMSIG(child->status));
	else
		snprintf(out, size, "%d", WEXITSTATUS(child->status));
}

/* Die of the signal that the program died of, so that our parent sees what it would have seen;
 * the core, if any, was the program's. */
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

/* The duration is over. */
static void end_child(struct run *run)
{
	if (options.keep)
		return;
	kill(run->child.pid, SIGTERM);
	if (wait_for_child(run, TERM_PATIENCE_MS))
		return;
	fz_cli_warn("run: the program did not end on SIGTERM within 2 s and is killed");
	kill(run->child.pid, SIGKILL);
	fz_launch_wait(&run->child);
}

/* ---- the command ---- */

static int not_started(const struct fz_error *err)
{
	fz_cli_error(err);
	return FZ_EXIT_NOT_STARTED;
}

/* Whether python -m found nothing to run: it failed before runpy ran a module's code. Looking for
 * the module beforehand would need another interpreter. */
static bool module_missing(const struct run *run)
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

static int record_child(struct run *run, int64_t start)
{
	struct fz_record *r = &run->record;
	struct fz_error err;
	char how[32];

	r->sampling.on_signal = on_signal;
	fz_record_begin(r, run->child.pid, run->child.pidfd, true, start);
	if (fz_record_begin_file(r, &err)) {
		fz_cli_warn("run: nothing is recorded: %s", err.message);
		wait_for_child(run, -1);
		return exit_as(&run->child);
	}
	fz_sampler_run(&r->sampler);
	enum fz_end end = r->sampler.end;
	if (end == FZ_END_TIME)
		end_child(run);
	else
		wait_for_child(run, -1);
	r->never_ran = module_missing(run);
	describe_exit(&run->child, how, sizeof(how));
	fz_record_end(r, how);
	return end == FZ_END_TIME ? FZ_EXIT_OK : exit_as(&run->child);
}

static int start_and_record(struct run *run, char *const argv[], const char *program)
{
	struct fz_error err;
	int status;

	if (fz_record_prepare(&run->record, &options.record, "run", program, &err) ||
	    fz_record_catch_signals(&run->record, &err)) {
		status = not_started(&err);
	} else {
		int64_t start = fz_clock_now();
		if (fz_launch_start(argv, &run->record.old_mask, &run->child, &err)) {
			fz_error_prefix(&err, "run");
			status = not_started(&err);
		} else {
			run->record.argv = argv;
			status = record_child(run, start);
		}
	}
	fz_record_release(&run->record);
	fz_launch_release(&run->child);
	return status;
}

static int run_command(const struct fz_command *command, int argc, char **argv)
{
	struct fz_opt_state state = { .options = option_table, .stop_at_first = true };
	struct run run = { .child = { .pidfd = -1 } };
	struct fz_error err;
	int status;

	options.record = FZ_RECORD_DEFAULTS;
	if (!fz_cli_parse(command, &state, argc, argv, &status))
		return status;
	if (options.keep && options.record.duration == 0)
		return fz_cli_errorf("run: --keep: needs a --duration after which to keep it");
	struct fz_launch_words words = { .words = state.arguments,
					 .n = (size_t)state.argument_count,
					 .module = options.module,
					 .plain = state.saw_dashes && state.after_dashes == 0,
					 .python = options.python };
	fz_auto(fz_free_ptr) char **child_argv = NULL;
	if (fz_launch_command(&words, &child_argv, &err)) {
		fz_error_prefix(&err, "run");
		return not_started(&err);
	}
	return start_and_record(&run, child_argv, fz_path_base(fz_str_of(state.arguments[0])).p);
}

const struct fz_command fz_command_run = {
	.name = "run",
	.summary = "start a program, record it, and end with its exit status",
	.usage = "[options] [-m MODULE | SCRIPT.py | [--] PROGRAM] [ARGUMENTS]",
	.examples = "  $ fizeau run script.py --its-own options    # kept in the store\n"
		    "  $ fizeau run -r 10khz -a -o server.fz -m myserver\n"
		    "  $ fizeau run -d 30 -- ./manage.sh runserver  # whatever it becomes\n",
	.run = run_command,
};
