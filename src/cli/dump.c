/* SPDX-License-Identifier: MIT */
/* fizeau dump: print the current stacks of processes, as tracebacks. */
#include "cli/cli.h"
#include "base/clock.h"
#include "cli/output.h"
#include "cli/pid.h"
#include "cli/tasks.h"

#include "base/json.h"
#include "record/process.h"
#include "record/python/python.h"
#include "record/sources.h"
#include "record/stop.h"
#include "report/traceback.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { BELOW_MAX = 256 }; /* descendants of a process */
enum { TRIES_MAX = 50, TORN_TRIES_MAX = 10, TRY_PAUSE_NS = 500000, START_PATIENCE_NS = 1000000000 };

static struct {
	bool all_threads, subprocesses, native, no_gc, opcodes, blocking, json, locals;
	int verbose;
	struct fz_cli_tasks async;
	enum fz_python_tasks tasks;
	int color;
	const char *pid; /* --pid */
} options = { .async.mode = FZ_CLI_ASYNC_NOT_GIVEN };

static int more(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	(void)text;
	(void)err;
	++*(int *)opt->value;
	return 0;
}

static const struct fz_opt option_table[] = {
	FZ_OPT_HEADING("Stacks"),
	FZ_OPT(FLAG, "all-threads", NULL, &options.all_threads,
	       "also print idle threads, not only the main thread and running ones",
	       .short_name = 'a'),
	FZ_OPT(FLAG, "subprocesses", NULL, &options.subprocesses,
	       "also print the Python processes that each process started; it can be any program"),
	FZ_OPT(FLAG, "native", NULL, &options.native,
	       "show <native> where C code runs between Python frames"),
	FZ_OPT(FLAG, "opcodes", NULL, &options.opcodes,
	       "print the current bytecode instruction of each frame (Python 3.11 and later)"),
	FZ_OPT(FLAG, "locals", NULL, &options.locals,
	       "print the local variables of each frame; they may contain secrets",
	       .short_name = 'l'),
	FZ_OPT(CALL, "verbose", NULL, &options.verbose,
	       "like --locals, with longer values; -vv for even longer ones", .short_name = 'v',
	       .call = more),
	FZ_CLI_TASKS_ENTRIES(options.async, "all"),
	FZ_OPT(FLAG, "no-gc", NULL, &options.no_gc, "do not show <GC> during garbage collection"),
	FZ_OPT(FLAG, "blocking", NULL, &options.blocking,
	       "stop the program while reading: exact on every Python version"),
	FZ_OPT_HEADING("Output"),
	FZ_OPT(FLAG, "json", NULL, &options.json, "print one JSON object"),
	FZ_CLI_COLOR_ENTRY(&options.color),
	FZ_CLI_PID_ENTRY(options.pid),
	{ .kind = FZ_OPT_END },
};

/* The stacks of one process. */
struct look {
	pid_t pid;
	struct fz_process process;
	struct fz_profile *profile;
	struct fz_python *python;
	struct fz_stopper *stopper;
	struct fz_traceback *threads;
	uint32_t n;
	bool unreadable; /* some thread could not be read */
	bool torn;       /* some variable changed while it was read */
	uint32_t hidden; /* threads that wait */
	struct fz_python_glance glance;
};

static void release(struct look *l)
{
	fz_stop_free(l->stopper);
	fz_python_close(l->python);
	fz_process_release(&l->process);
	fz_profile_free(l->profile);
	free(l->threads);
}

static void pause_between_tries(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = TRY_PAUSE_NS }, NULL);
}

/* Open the interpreter. A program that is just starting becomes readable within milliseconds. */
static int open_python(struct look *l, struct fz_error *err)
{
	struct fz_python_options o = { .all_threads = options.all_threads ||
						      options.tasks == FZ_PYTHON_TASKS_NONE,
				       .stopped = options.blocking,
				       .gc = !options.no_gc,
				       .native = options.native,
				       .opcodes = options.opcodes,
				       .locals = options.locals ? 1 + (unsigned)options.verbose : 0,
				       .tasks = options.tasks,
				       .task_names = true };
	int64_t give_up = fz_clock_now() + START_PATIENCE_NS;
	int rc;

	while ((rc = fz_python_open(l->pid, &o, l->profile, &l->python, err)) == FZ_EAGAIN &&
	       fz_clock_now() < give_up)
		pause_between_tries();
	return rc ? rc : fz_python_check(l->python, FZ_MODE_WALL, err);
}

static unsigned cpu_state(char state)
{
	/* Stopped by our own --blocking, or gone. */
	if (state == 't' || state == 0)
		return 0;
	return state == 'R' ? FZ_TRACEBACK_ON_CPU : FZ_TRACEBACK_OFF_CPU;
}

/* Main thread first, then by age. */
static int by_thread(const void *a, const void *b, void *arg)
{
	const struct fz_traceback *x = a, *y = b;
	const struct fz_thread *threads = arg;
	bool x_main = x->status & FZ_STATUS_MAIN_THREAD, y_main = y->status & FZ_STATUS_MAIN_THREAD;
	uint64_t x_tid = threads[x->thread].tid, y_tid = threads[y->thread].tid;

	return FZ_CMP(y_main, x_main) ?: FZ_CMP(x_tid, y_tid);
}

/* True if a thread is printed. Without --all-threads waiting threads are only counted. */
static bool is_wanted(struct look *l, const struct fz_python_stack *s, char state)
{
	bool idle = fz_python_is_idle(s->status, state), code = s->stack != FZ_NONE;

	l->glance.threads += code;
	l->glance.idle += code && idle;
	if (options.all_threads || options.tasks != FZ_PYTHON_TASKS_NONE ||
	    (s->status & FZ_STATUS_MAIN_THREAD) || (code && !idle))
		return true;
	l->hidden += code;
	return false;
}

static void keep(struct look *l, const struct fz_python_sample *s)
{
	l->n = l->hidden = 0;
	l->glance = (struct fz_python_glance){ 0 };
	l->unreadable = false;
	l->torn = s->torn;
	l->threads = fz_reallocarray(l->threads, s->n + 1, sizeof(*l->threads));
	for (uint32_t i = 0; i < s->n; i++) {
		const struct fz_python_stack *stack = &s->stacks[i];
		char state = fz_process_thread_state(l->pid,
						     (pid_t)l->profile->threads[stack->thread].tid);
		if (!is_wanted(l, stack, state))
			continue;
		l->unreadable |= stack->rejected;
		l->threads[l->n++] = (struct fz_traceback){
			.pid = (uint64_t)l->pid,
			.thread = stack->thread,
			.stack = stack->stack,
			.status = stack->status,
			.state = stack->waiting ? FZ_TRACEBACK_OFF_CPU : cpu_state(state),
			.unreadable = stack->rejected,
			.locals = s->locals ? &s->locals[i] : NULL,
		};
		memcpy(l->threads[l->n - 1].python, fz_python_info(l->python)->version,
		       sizeof(l->threads[0].python));
	}
	qsort_r(l->threads, l->n, sizeof(*l->threads), by_thread, l->profile->threads);
}

/* Read stacks until no thread changed while it was read. */
static int take(struct look *l, struct fz_error *err)
{
	struct fz_python_sample s;
	int rc = 0;

	for (int i = 0; i < TRIES_MAX; i++) {
		if (l->stopper && fz_stop_all(l->stopper, false))
			return fz_fail(err, FZ_EGONE, "process %d has ended", (int)l->pid);
		rc = fz_python_sample_take(l->python, &s, err);
		if (l->stopper)
			fz_stop_resume(l->stopper);
		if (rc)
			return rc;
		keep(l, &s);
		if (!l->unreadable && (!l->torn || i + 1 >= TORN_TRIES_MAX))
			return 0;
		pause_between_tries();
	}
	return 0;
}

static int look_at(struct look *l, pid_t pid, struct fz_error *err)
{
	*l = (struct look){ .pid = pid, .profile = fz_profile_new() };
	int rc = fz_process_open(&l->process, pid, err);

	if (!rc)
		rc = open_python(l, err);
	if (!rc && options.blocking)
		rc = fz_stop_new(pid, false, &l->stopper, err);
	if (!rc)
		rc = take(l, err);
	if (rc)
		return rc;
	struct fz_sources *sources = fz_sources_new(l->profile);
	fz_sources_process(sources, pid, false);
	fz_sources_finish(sources);
	fz_sources_free(sources);
	return 0;
}

/* ---- printing ---- */

static void warn_inexact(const struct look *l)
{
	const struct fz_python_info *info = fz_python_info(l->python);

	if (l->unreadable)
		fz_cli_warn("dump: process %d: a running thread changed while its stack was read; "
			    "use --blocking to stop it",
			    (int)l->pid);
	else if (l->torn)
		fz_cli_warn("dump: process %d: variables that %s are shown as ?%s", (int)l->pid,
			    options.blocking ? "have invalid values" : "changed while being read",
			    options.blocking ? "" : "; use --blocking to stop the process");
	else if (!info->exact && !options.blocking)
		fz_cli_warn("dump: process %d: stacks of running threads can be wrong on Python "
			    "%u.%u; use --blocking",
			    (int)l->pid, info->version[0], info->version[1]);
}

static void print_text(const struct look *l, bool first)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	struct fz_style style = fz_style_of(STDOUT_FILENO, (enum fz_color_when)options.color);

	for (uint32_t i = 0; i < l->n; i++) {
		if (!first || i)
			fz_buf_char(&text, '\n');
		fz_report_traceback(l->profile, &l->threads[i], &style, &text);
	}
	if (l->hidden)
		fz_buf_printf(&text, "\n%u idle %s not shown; use -a to show all.\n", l->hidden,
			      l->hidden == 1 ? "thread is" : "threads are");
	if (l->n == 0)
		fz_buf_printf(&text, "%sProcess %d has no running %s.\n", first ? "" : "\n",
			      (int)l->pid,
			      options.tasks == FZ_PYTHON_TASKS_NONE ? "Python thread" : "task");
	fz_cli_print(fz_buf_view(&text));
}

static void add_json(const struct look *l, struct fz_json *json)
{
	const struct fz_python_info *info = fz_python_info(l->python);
	char version[16];

	snprintf(version, sizeof(version), "%u.%u.%u", info->version[0], info->version[1],
		 info->version[2]);
	fz_json_open(json, '{');
	fz_json_kint(json, "pid", l->pid);
	fz_json_kstr(json, "python", fz_str_of(version));
	fz_json_kbool(json, "exact", info->exact || options.blocking);
	fz_json_kopen(json, "threads", '[');
	for (uint32_t i = 0; i < l->n; i++)
		fz_report_traceback_json(l->profile, &l->threads[i], json);
	fz_json_close(json, ']');
	fz_json_close(json, '}');
}

static int refuse(pid_t pid, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf below = { 0 };

	if (pid && err->code == FZ_EAGAIN)
		fz_cli_name_below("dump", pid, &below);
	if (below.n) {
		struct fz_error why = *err;
		fz_fail(err, why.code, "%s; %s", why.message, below.p);
	}
	fz_error_prefix(err, "dump");
	return fz_cli_error(err);
}

/* Print one process, as JSON if `json` is not NULL. */
static int dump_one(pid_t pid, struct fz_json *json, bool first)
{
	struct look l = { .process = { .pidfd = -1, .stat_fd = -1, .mem_fd = -1 } };
	struct fz_error err;
	int status = FZ_EXIT_OK;

	if (look_at(&l, pid, &err)) {
		status = refuse(pid, &err);
	} else {
		warn_inexact(&l);
		if (json)
			add_json(&l, json);
		else
			print_text(&l, first);
		if (!options.subprocesses)
			fz_cli_hint_workers("dump", pid, &l.glance, true);
	}
	release(&l);
	return status;
}

/* Print the process that a word names, and with --subprocesses its Python descendants. */
static int dump_word(const char *word, struct fz_json *json, int *shown)
{
	pid_t pids[1 + BELOW_MAX];
	size_t n = 0;
	struct fz_error err;
	int status = FZ_EXIT_OK;

	if (fz_cli_pid(word, &pids[0], NULL, &err))
		return refuse(0, &err);
	if (options.subprocesses)
		n = fz_cli_python_below(pids[0], pids + 1, BELOW_MAX);
	for (size_t i = n && !fz_cli_is_python(pids[0]); i <= n; i++) {
		int rc = dump_one(pids[i], json, *shown == 0);
		*shown += !rc;
		status = rc ? rc : status;
	}
	return status;
}

static int dump_all(const char *const *words, int n)
{
	struct fz_output *memory = options.json ? fz_output_memory() : NULL;
	struct fz_json json;
	int status = FZ_EXIT_OK, shown = 0;

	if (memory) {
		fz_json_init(&json, memory, 6);
		fz_json_open(&json, '{');
		fz_json_kopen(&json, "processes", '[');
	}
	for (int i = 0; i < n; i++) {
		int rc = dump_word(words[i], memory ? &json : NULL, &shown);
		status = rc ? rc : status;
	}
	if (memory) {
		fz_json_close(&json, ']');
		fz_json_close(&json, '}');
		fz_output_str(memory, "\n");
		fz_cli_print(fz_buf_view(fz_output_buffer(memory)));
		fz_output_abort(memory);
	}
	return status;
}

static int dump(struct fz_opt_state *state)
{
	struct fz_error err;

	if (fz_cli_tasks_check(&options.async, FZ_PYTHON_TASKS_ALL, &options.tasks, &err))
		return fz_cli_fail("dump", &err);
	options.locals |= options.verbose > 0;
	if (options.locals && options.tasks != FZ_PYTHON_TASKS_NONE)
		return fz_cli_errorf("dump: --locals cannot be combined with --async-aware");
	if (options.pid && !state->argument_count)
		return dump_all(&options.pid, 1);
	if (options.pid)
		return fz_cli_errorf("dump: --pid cannot be combined with process id arguments");
	if (state->argument_count < 1)
		return fz_cli_errorf("dump: specify one or more process ids");
	return dump_all((const char *const *)state->arguments, state->argument_count);
}

const struct fz_command fz_command_dump = {
	.name = "dump",
	.summary = "print the current stacks of processes, like a traceback",
	.usage = "[options] PID...",
	.examples = "  $ fizeau dump 4711              # main and running threads\n"
		    "  $ fizeau dump -a 4711           # all threads\n"
		    "  $ fizeau dump --locals 4711     # with the values of variables\n"
		    "  $ fizeau dump -a --json 4711    # for scripts\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_PROCESS,
	.run = dump,
};
