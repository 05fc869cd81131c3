/* SPDX-License-Identifier: MIT */
/* fizeau attach: record a process that runs already; it is left alone afterwards. */
#include "cli/record.h"

#include "base/str.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct fz_record_options options;

static const struct fz_opt option_table[] = {
	FZ_RECORD_OPTION_ENTRIES(options),
	{ .kind = FZ_OPT_END },
};

static bool on_signal(void *arg, const struct signalfd_siginfo *info)
{
	(void)arg;
	(void)info;
	return true;
}

static int open_process(const char *text, pid_t *ret_pid, int *ret_fd, struct fz_error *err)
{
	uint64_t pid;

	if (!fz_parse_u64(fz_str_of(text), INT_MAX, &pid) || pid == 0)
		return fz_fail(err, FZ_EUSAGE, "'%s' is no process id", text);
	*ret_fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	if (*ret_fd < 0 && (errno == EINVAL || errno == ENOENT))
		return fz_fail(err, FZ_EUSAGE, "%s is a thread; name its process", text);
	if (*ret_fd < 0 && errno == ESRCH)
		return fz_fail(err, FZ_EGONE, "no process %s", text);
	if (*ret_fd < 0)
		return fz_fail_errno(err, "process %s", text);
	*ret_pid = (pid_t)pid;
	return 0;
}

/* The name of a process for the store's file name. */
static void process_name(pid_t pid, char *out, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	FILE *f = fopen(path, "re");
	if (!f || !fgets(out, (int)size, f))
		snprintf(out, size, "process");
	if (f)
		fclose(f);
	out[strcspn(out, "\n")] = 0;
}

static int record_process(struct fz_record *r, pid_t pid, int pidfd, struct fz_error *err)
{
	char name[64];

	process_name(pid, name, sizeof(name));
	int rc = fz_record_prepare(r, &options, "attach", name, err);
	if (!rc)
		rc = fz_record_catch_signals(r, err);
	if (rc)
		return rc;
	r->sampling.on_signal = on_signal;
	fz_record_begin(r, pid, pidfd, false, fz_clock_now());
	rc = fz_sampler_open(&r->sampler, err);
	if (!rc)
		rc = fz_record_begin_file(r, err);
	if (!rc)
		fz_sampler_run(&r->sampler);
	return rc;
}

static int attach(const struct fz_command *command, int argc, char **argv)
{
	struct fz_opt_state state = { .options = option_table };
	struct fz_record record;
	struct fz_error err;
	int status, pidfd = -1;
	pid_t pid = 0;

	options = FZ_RECORD_DEFAULTS;
	if (!fz_cli_parse(command, &state, argc, argv, &status))
		return status;
	if (state.argument_count != 1)
		return fz_cli_errorf("attach: name one process id");
	if (open_process(state.arguments[0], &pid, &pidfd, &err)) {
		fz_error_prefix(&err, "attach");
		return fz_cli_error(&err);
	}
	if (record_process(&record, pid, pidfd, &err)) {
		fz_error_prefix(&err, "attach");
		status = fz_cli_error(&err);
	} else {
		status = fz_record_end(&record, record.sampler.end == FZ_END_EXIT ? "ended" : "");
	}
	fz_record_release(&record);
	fz_cli_output_release(&options.output);
	close(pidfd);
	return status;
}

const struct fz_command fz_command_attach = {
	.name = "attach",
	.summary = "record a process that is running",
	.usage = "[options] PID",
	.examples = "  $ fizeau attach 4711                 # until it ends or Ctrl-C\n"
		    "  $ fizeau attach -d 10 -a -r 5khz 4711\n",
	.run = attach,
};
