/* SPDX-License-Identifier: MIT */
/* fizeau doctor: explain why recording fails and how to fix it.
 *
 * Without a process: check what this machine permits. With one: try each step of reading it, up to
 * the first that fails.
 */
#include "cli/cli.h"
#include "cli/fleet.h"
#include "cli/pid.h"

#include "base/io.h"
#include "base/str.h"
#include "record/asleep.h"
#include "record/count/count.h"
#include "record/cpuclock.h"
#include "record/engine_choice.h"
#include "record/priority.h"
#include "record/process.h"
#include "record/python/python.h"
#include "record/stop.h"

#include <limits.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

static const struct fz_opt option_table[] = { { .kind = FZ_OPT_END } };

enum { CAP_SYS_PTRACE_BIT = 19, CAP_PERFMON_BIT = 38, SAMPLES = 100, WHAT_COLUMNS = 24 };

/* Print a row. If `what` is too long for its column, such as a path, it gets its own line. */
static void print_row(const char *what, const char *found)
{
	char safe_what[256], safe_found[1024];

	fz_str_printable(what, strlen(what), safe_what, sizeof(safe_what));
	fz_str_printable(found, strlen(found), safe_found, sizeof(safe_found));
	if (fz_str_columns(fz_str_of(safe_what)) > WHAT_COLUMNS)
		printf("%s\n%*s %s\n", safe_what, WHAT_COLUMNS, "", safe_found);
	else
		printf("%-*s %s\n", WHAT_COLUMNS, safe_what, safe_found);
}

static void step(void *arg, const char *what, const char *found)
{
	(void)arg;
	print_row(what, found);
}

/* ---- the machine ---- */

/* The number in a file such as /proc/sys/..., or -1. */
static long read_number(const char *path)
{
	size_t n;
	fz_auto(fz_free_ptr) char *text = fz_read_small(path, 4096, &n);

	return text ? strtol(text, NULL, 10) : -1;
}

static bool have_capability(unsigned bit)
{
	size_t n;
	fz_auto(fz_free_ptr) char *text = fz_read_small("/proc/self/status", 65536, &n);
	const char *line = text ? strstr(text, "CapEff:") : NULL;

	return line && (strtoull(line + strlen("CapEff:"), NULL, 16) >> bit & 1);
}

static void check_ptrace(void)
{
	static const char *const scopes[] = {
		"0: you can record any of your processes",
		"1: 'run' works; 'attach' requires sudo or 'sysctl kernel.yama.ptrace_scope=0'",
		"2: requires CAP_SYS_PTRACE: use sudo or 'sysctl kernel.yama.ptrace_scope=0'",
		"3: no process can be read until the next boot",
	};
	long scope = read_number("/proc/sys/kernel/yama/ptrace_scope");

	if (have_capability(CAP_SYS_PTRACE_BIT))
		print_row("CAP_SYS_PTRACE", "yes: processes of every user can be recorded");
	else
		print_row("CAP_SYS_PTRACE", "no: processes of your own user can be recorded");
	if (scope < 0)
		print_row("ptrace_scope", "not restricted (no Yama)");
	else
		print_row("ptrace_scope", scopes[FZ_MIN(scope, 3)]);
}

static void check_reading(void)
{
	fz_auto(fz_process_release) struct fz_process self;
	uint64_t source = 42, copy = 0;
	struct fz_error err;

	if (fz_process_open(&self, getpid(), &err))
		print_row("process_vm_readv", err.message);
	else if (!fz_process_read_u64(&self, (uint64_t)(uintptr_t)&source, &copy) || copy != source)
		print_row("process_vm_readv", "refused: in a container, start it with "
					      "'docker run --cap-add=SYS_PTRACE'");
	else if (self.mem_fd >= 0)
		print_row("process_vm_readv", "refused; using /proc/PID/mem, which is slower");
	else
		print_row("process_vm_readv", "works");
}

static void check_perf(void)
{
	char text[160];
	long paranoid = read_number("/proc/sys/kernel/perf_event_paranoid");
	struct fz_cpuclock *clock;
	struct fz_error err;

	snprintf(text, sizeof(text), "%ld%s", paranoid,
		 have_capability(CAP_PERFMON_BIT) ? ", overridden by CAP_PERFMON" : "");
	print_row("perf_event_paranoid", paranoid < 0 ? "this kernel has no perf" : text);
	if (fz_cpuclock_new(getpid(), false, 1000000, &clock, &err)) {
		print_row("--clock cpu", err.message);
		return;
	}
	enum fz_cpuclock_kind kind = fz_cpuclock_kind(clock);
	snprintf(text, sizeof(text), "%s%s", fz_cpuclock_names[kind],
		 kind == FZ_CPUCLOCK_SCHEDSTAT
			 ? "; 'sysctl kernel.perf_event_paranoid=2' enables an exact clock"
			 : "");
	print_row("--clock cpu", text);
	fz_cpuclock_free(clock);
}

static void check_engine(void)
{
	struct fz_error err;

	if (fz_engine_check_bpf(FZ_ENGINE_FOR_MACHINE, &err))
		print_row("--system", err.message);
	else
		print_row("--system", "works: 'fizeau attach --system' can sample all processes");
	if (fz_engine_check_bpf(FZ_ENGINE_FOR_THREADS, &err))
		print_row("--engine bpf", err.message);
	else
		print_row("--engine bpf",
			  "works: '--engine auto' samples Python in the kernel with --mode "
			  "cpu");
}

static void check_waits(void)
{
	fz_auto(fz_free_ptr) char *text = NULL;
	struct fz_error why, err;

	if (!fz_engine_check_bpf(FZ_ENGINE_FOR_WAITS, &why))
		print_row("--wait", "works: the kernel records every wait of Python programs");
	else if (fz_asleep_check(getpid(), &err))
		print_row("--wait", err.message);
	else
		print_row("--wait", text = fz_asprintf("sampled, not exact: %s", why.message));
}

static void check_priority(void)
{
	enum fz_priority priority = fz_priority_raise();

	fz_priority_lower();
	print_row("priority",
		  priority == FZ_PRIORITY_REAL_TIME
			  ? "real-time: samples are on time on a busy machine"
			  : "normal: samples are late on a busy machine; CAP_SYS_NICE or "
			    "'ulimit -r 1' allows real-time priority");
}

/* ---- this build ---- */

static void check_count(void)
{
	struct fz_counter counter = { 0 };
	fz_auto(fz_free_ptr) char *text = NULL;
	struct fz_error err;

	if (fz_counter_find(&counter, &err))
		print_row("--count", err.message);
	else if (counter.instead)
		print_row("--count", text = fz_asprintf("callgrind: %s", counter.instead));
	else
		print_row("--count",
			  text = fz_asprintf("works, with Valgrind %s", counter.valgrind));
	fz_counter_end(&counter);
}

static void check_servers(void)
{
	struct fz_error err;

	print_row("push, pull, agent", fz_cli_fleet_check_client(&err) ? err.message : "work");
	print_row("serve", fz_cli_fleet_check_server(&err) ? err.message : "works");
}

static void check_machine(void)
{
	struct utsname u;
	char text[sizeof(u.release) + sizeof(u.machine) + 16];

	print_row("fizeau", FZ_VERSION);
	if (uname(&u) == 0) {
		snprintf(text, sizeof(text), "Linux %s %s", u.release, u.machine);
		print_row("kernel", text);
	}
	snprintf(text, sizeof(text), "%d", (int)geteuid());
	print_row("user id", text);
	check_ptrace();
	check_reading();
	check_perf();
	check_engine();
	check_waits();
	check_priority();
	check_count();
	check_servers();
}

/* ---- a process ---- */

static int take_samples(struct fz_python *python, struct fz_error *err)
{
	struct fz_python_sample sample;
	char text[160];
	unsigned retries = 0, rejected = 0, stacks = 0;

	for (int i = 0; i < SAMPLES; i++) {
		int rc = fz_python_sample_take(python, &sample, err);
		if (rc)
			return rc;
		retries += sample.retries;
		stacks += sample.n;
		for (uint32_t k = 0; k < sample.n; k++)
			rejected += sample.stacks[k].rejected;
	}
	snprintf(text, sizeof(text), "%d samples: %u stacks, %u rejected, %u reads retried",
		 SAMPLES, stacks, rejected, retries);
	print_row("samples", text);
	return 0;
}

/* Native stacks only require that the process can be stopped. */
static int check_stop(pid_t pid, struct fz_error *err)
{
	struct fz_stopper *stopper;
	int rc = fz_stop_new(pid, false, &stopper, err);

	if (!rc) {
		fz_stop_free(stopper);
		print_row("result", "no Python; only native stacks can be recorded");
	}
	return rc;
}

static void print_descendants(pid_t pid)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	fz_cli_name_below("attach", pid, &text);
	if (text.n)
		print_row("descendants", text.p);
}

static int check_process(const char *word)
{
	struct fz_python_options options = { .all_threads = true, .gc = true, .step = step };
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	struct fz_python *python;
	struct fz_error err;
	uint64_t pid;

	if (!fz_parse_u64(fz_str_of(word), INT_MAX, &pid) || pid == 0)
		return fz_cli_errorf("doctor: invalid process id '%s'", word);
	int rc = fz_python_open((pid_t)pid, &options, p, &python, &err);
	if (!rc) {
		rc = take_samples(python, &err);
		fz_python_close(python);
		if (!rc)
			print_row("result", "can be recorded");
	} else if (rc == FZ_EAGAIN) {
		rc = check_stop((pid_t)pid, &err);
		print_descendants((pid_t)pid);
	}
	fflush(stdout);
	return rc ? fz_cli_error(&err) : FZ_EXIT_OK;
}

static int doctor(struct fz_opt_state *state)
{
	if (state->argument_count > 1)
		return fz_cli_errorf("doctor: specify at most one process id");
	check_machine();
	return state->argument_count ? check_process(state->arguments[0]) : FZ_EXIT_OK;
}

const struct fz_command fz_command_doctor = {
	.name = "doctor",
	.summary = "explain why a process cannot be recorded and how to fix it",
	.usage = "[PID]",
	.examples = "  $ fizeau doctor        # check this machine\n"
		    "  $ fizeau doctor 4711   # check each step of reading a process\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_PROCESS,
	.run = doctor,
};
