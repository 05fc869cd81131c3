/* SPDX-License-Identifier: MIT */
/* What `run` and `attach` share.
 *
 *   prepare: find the place, open it        nothing has started yet, nothing old is overwritten
 *   begin:   write the head of the file     the target runs
 *   (sampling: blocks are appended)
 *   end:     facts, sources, end mark       then outputs in other formats, then the summary
 */
#include "cli/record.h"

#include "base/clock.h"
#include "base/outfile.h"
#include "format/format.h"
#include "report/text.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000.0

enum { FILES_MIN = 32 };

const char *const fz_native_names[] = { "none", "markers", "stacks", NULL };

int fz_record_parse_rate(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	return fz_rate_parse(text, opt->value, err);
}

int fz_record_parse_duration(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	double seconds;

	if (!fz_parse_decimal(fz_str_of(text), &seconds) || seconds <= 0 || seconds > 1e9)
		return fz_fail(err, FZ_EUSAGE,
			       "'%s' is no duration; write seconds such as 10 or 0.5", text);
	*(double *)opt->value = seconds;
	return 0;
}

/* ---- before ---- */

enum fz_mode fz_record_mode(const struct fz_record_options *o)
{
	if (o->mode != FZ_CLI_MODE_NONE)
		return fz_cli_mode(o->mode);
	return o->clock == FZ_CLOCK_CPU ? FZ_MODE_CPU : FZ_MODE_WALL;
}

enum fz_clock fz_record_clock(const struct fz_record_options *o)
{
	if (o->clock != FZ_CLOCK_NONE)
		return (enum fz_clock)o->clock;
	return fz_record_mode(o) == FZ_MODE_CPU ? FZ_CLOCK_CPU : FZ_CLOCK_WALL;
}

static int check_mode(const struct fz_record_options *o, struct fz_error *err)
{
	enum fz_mode mode = fz_record_mode(o);
	enum fz_clock clock = fz_record_clock(o);

	if ((mode == FZ_MODE_CPU && clock == FZ_CLOCK_WALL) ||
	    (mode == FZ_MODE_WALL && clock == FZ_CLOCK_CPU))
		return fz_fail(err, FZ_EUSAGE,
			       "--mode %s and --clock %s contradict each other; leave one out",
			       fz_mode_names[mode], fz_clock_names[clock]);
	if (clock == FZ_CLOCK_CPU && o->rate.micro_hz == 0)
		return fz_fail(err, FZ_EUSAGE, "%s needs a rate, not 'max'",
			       o->clock == FZ_CLOCK_CPU ? "--clock cpu" : "--mode cpu");
	return 0;
}

/* How it will be recorded, as far as a comparison cares. */
static struct fz_recording plan(const struct fz_record_options *o)
{
	return (struct fz_recording){
		.mode = fz_record_mode(o),
		.features_known = true,
		.features =
			(o->all_threads ? FZ_FEATURE_ALL_THREADS : 0u) |
			(o->native ? FZ_FEATURE_NATIVE : 0u) | (o->no_gc ? 0u : FZ_FEATURE_GC) |
			(o->opcodes ? FZ_FEATURE_OPCODES : 0u) |
			(o->tasks != FZ_PYTHON_TASKS_NONE ? FZ_FEATURE_TASKS : 0u) |
			(o->tasks == FZ_PYTHON_TASKS_ALL ? FZ_FEATURE_WAITING_TASKS : 0u) |
			(o->blocking || o->native == FZ_NATIVE_STACKS ? FZ_FEATURE_BLOCKING : 0u),
		.interval_ns = o->rate.micro_hz ? fz_rate_time(o->rate, 1) : 0,
		.error_rate = NAN,
		.missed_rate = NAN,
		.achieved_hz = NAN,
	};
}

/* A recorder without files to open would see nothing and call it an end. Our own limit is not
 * raised: the program would inherit that. */
static int check_files(struct fz_error *err)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= FILES_MIN)
		return 0;
	return fz_fail(err, FZ_EINPUT,
		       "only %llu files may be open, and recording takes %d; raise that with "
		       "'ulimit -n 1024'",
		       (unsigned long long)limit.rlim_cur, FILES_MIN);
}

/* A task that waits uses no CPU time and holds nothing. */
static int check_tasks(struct fz_record_options *o, struct fz_error *err)
{
	int rc = fz_cli_tasks_check(&o->async, FZ_PYTHON_TASKS_RUNNING, &o->tasks, err);

	if (rc || o->tasks == FZ_PYTHON_TASKS_NONE)
		return rc;
	if (o->native == FZ_NATIVE_STACKS)
		return fz_fail(err, FZ_EUSAGE,
			       "--async-aware: cannot be had with --native=stacks; --native "
			       "shows where native code runs");
	if (o->tasks == FZ_PYTHON_TASKS_ALL && fz_record_mode(o) != FZ_MODE_WALL)
		return fz_fail(err, FZ_EUSAGE,
			       "--async-mode all: cannot be had with --mode %s, since waiting "
			       "tasks only wait; --async-mode running can",
			       fz_mode_names[fz_record_mode(o)]);
	return 0;
}

/* Valgrind counts one process to its end: what says how to sample would say nothing. */
static int check_count(const struct fz_record_options *o, struct fz_error *err)
{
	const struct {
		bool given;
		const char *name;
	} options[] = {
		{ o->subprocesses, "--subprocesses" },
		{ o->live, "--live" },
		{ o->realtime_stats, "--realtime-stats" },
		{ o->mode != FZ_CLI_MODE_NONE, "--mode" },
		{ o->native, "--native" },
		{ o->opcodes, "--opcodes" },
		{ o->blocking, "--blocking" },
		{ o->duration > 0, "--duration" },
	};

	if (o->engine == FZ_COUNTER_CALLGRIND && !o->count)
		return fz_fail(err, FZ_EUSAGE, "--callgrind: counts instructions; add --count");
	if (o->cache && !o->count)
		return fz_fail(err, FZ_EUSAGE, "--cache: counts cache misses; add --count");
	for (size_t i = 0; o->count && i < FZ_ARRAY_LEN(options); i++)
		if (options[i].given)
			return fz_fail(err, FZ_EUSAGE,
				       "%s: is of no use with --count, which does not sample; "
				       "leave one out",
				       options[i].name);
	return 0;
}

int fz_record_check(struct fz_record_options *o, bool diff, struct fz_error *err)
{
	int rc = check_mode(o, err);

	if (!rc)
		rc = check_tasks(o, err);
	if (rc)
		return rc;
	struct fz_recording planned = plan(o);
	if (o->live && o->realtime_stats)
		return fz_fail(err, FZ_EUSAGE,
			       "--realtime-stats: cannot be had with the live view, which shows "
			       "them");
	rc = check_count(o, err);
	if (rc)
		return rc;
	o->output.no_source = o->no_source;
	rc = check_files(err);
	if (rc)
		return rc;
	rc = fz_cli_output_check(&o->output, diff, &planned, err);
	if (!rc && o->output.compression != FZ_CLI_COMPRESSION_NOT_GIVEN &&
	    (!o->output.chosen || strcmp(o->output.chosen->name, "binary") != 0))
		return fz_fail(err, FZ_EUSAGE, "--compression: is for --binary only");
	return rc;
}

static int open_output(struct fz_record *r, struct fz_error *err)
{
	bool direct;
	int rc = fz_outfile_resolve(r->options->output.path, &r->path, &direct, err);

	if (rc)
		return rc;
	r->existed = direct || access(r->path, F_OK) == 0;
	/* Not truncated yet: should the program not start, the old recording is still there. */
	r->fd = open(r->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | (direct ? 0 : O_NOFOLLOW),
		     0666);
	return r->fd < 0 ? fz_fail_errno(err, "%s", r->path) : 0;
}

/* What is asked for is made from the recording afterwards. */
static int open_temporary(struct fz_record *r, struct fz_error *err)
{
	r->path = fz_asprintf("%s/fizeau-XXXXXX.fz", fz_temporary_folder());
	r->temporary = true;
	r->fd = mkostemps(r->path, (int)strlen(".fz"), O_CLOEXEC);
	if (r->fd < 0)
		return fz_fail_errno(err, "%s: no temporary file can be made; set TMPDIR", r->path);
	return 0;
}

static int open_in_store(struct fz_record *r, const char *program, struct fz_error *err)
{
	char cwd[4096];

	if (!getcwd(cwd, sizeof(cwd)))
		return fz_fail_errno(err, "the current folder");
	fz_auto(fz_free_ptr) char *folder = fz_store_folder(cwd);
	r->stored = true;
	return fz_store_create(folder, program, &r->path, &r->fd, err);
}

static struct fz_record new_record(struct fz_record_options *options, const char *command)
{
	return (struct fz_record){ .options = options,
				   .command = command,
				   .fd = -1,
				   .signal_fd = -1,
				   .git = { .out = -1 } };
}

int fz_record_prepare_run(struct fz_record *r, struct fz_record_options *options,
			  const char *command, struct fz_error *err)
{
	*r = new_record(options, command);
	return open_temporary(r, err);
}

int fz_record_prepare(struct fz_record *r, struct fz_record_options *options, const char *command,
		      const char *program, struct fz_error *err)
{
	*r = new_record(options, command);
	int rc = fz_record_check(options, false, err);
	if (rc)
		return rc;
	if (fz_cli_output_is_default(&options->output) && !options->look_only)
		return open_in_store(r, program, err);
	return fz_cli_output_is_recording(&options->output) ? open_output(r, err)
							    : open_temporary(r, err);
}

int fz_record_catch_signals(struct fz_record *r, struct fz_error *err)
{
	static const int caught[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD };
	static const int stopping[] = { SIGTSTP, SIGTTIN, SIGTTOU };
	bool running = strcmp(r->command, "run") == 0;
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < FZ_ARRAY_LEN(caught); i++) {
		bool ends = caught[i] == SIGHUP || caught[i] == SIGINT || caught[i] == SIGTERM;
		if (running || ends || caught[i] == SIGCHLD)
			sigaddset(&mask, caught[i]);
	}
	/* Who stops others must let go before standing still: Ctrl-Z, and a terminal that stops
	 * whoever writes to it from the background. */
	if (r->options->blocking || r->options->native == FZ_NATIVE_STACKS)
		for (size_t i = 0; i < FZ_ARRAY_LEN(stopping); i++)
			sigaddset(&mask, stopping[i]);
	/* An ignored SIGCHLD would take the exit status from us. */
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &mask, &r->old_mask);
	r->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return r->signal_fd < 0 ? fz_fail_errno(err, "signalfd") : 0;
}

/* ---- while it runs ---- */

static void print_realtime(struct fz_record *r, const struct fz_sampler *s)
{
	const struct fz_quality *q = &s->profile->quality;
	char rate[FZ_NUMBER_SIZE], gap[FZ_NUMBER_SIZE];
	int64_t cpu = fz_clock_read(CLOCK_PROCESS_CPUTIME_ID);

	fprintf(stderr,
		"fizeau: %4.0f s: %s samples/s, %llu retried, %llu rejected, %llu missed, longest "
		"gap %s, sampler %.1f %% of a core\n",
		(double)(fz_clock_now() - s->options->start) / SECOND,
		fz_format_count((int64_t)(q->taken - r->last_taken), rate),
		(unsigned long long)q->retried, (unsigned long long)fz_quality_rejected(q),
		(unsigned long long)q->missed, fz_format_ns((double)q->longest_gap_ns, gap),
		100 * (double)(cpu - r->last_cpu_ns) / SECOND);
	r->last_taken = q->taken;
	r->last_cpu_ns = cpu;
}

/* The program has ended but not all that it started: say why we don't end. */
static void tell_of_rest(struct fz_record *r, const struct fz_sampler *s)
{
	char n[FZ_NUMBER_SIZE];

	if (r->told || r->live || !s->family || !s->processes[0]->ended ||
	    fz_family_count(s->family) == 0)
		return;
	r->told = true;
	fz_cli_note("the program has ended; what it started is recorded on (processes: %s) until "
		    "that has ended, too, or Ctrl-C",
		    fz_format_count((int64_t)fz_family_count(s->family), n));
}

static void on_second(void *arg, const struct fz_sampler *s)
{
	struct fz_record *r = arg;

	tell_of_rest(r, s);

	/* Not left for the end: we may be killed before. */
	fz_git_poll(&r->git, r->profile);
	if (r->live)
		fz_live_tick(r->live, s);
	if (r->options->realtime_stats)
		print_realtime(r, s);
}

static void on_sample(void *arg, const struct fz_sampler *s, const struct fz_sample *sample,
		      int64_t weight)
{
	struct fz_record *r = arg;

	fz_live_sample(r->live, s, sample, weight);
}

static void set_recording(struct fz_record *r)
{
	const struct fz_record_options *o = r->options;
	char text[64];

	r->profile->recording = plan(o);
	fz_profile_set_fact(r->profile, "rate",
			    fz_str_of(fz_rate_format(o->rate, text, sizeof(text))));
	fz_profile_set_fact(r->profile, "clock", fz_str_of(fz_clock_names[fz_record_clock(o)]));
	fz_profile_set_fact(r->profile, "mode", fz_str_of(fz_mode_names[fz_record_mode(o)]));
}

static void begin_profile(struct fz_record *r)
{
	r->profile = fz_profile_new();
	fz_profile_add_run(r->profile, &(struct fz_run){ .start_unix_ns = fz_clock_unix() });
	fz_sampler_add_metrics(r->profile, fz_record_clock(r->options), r->options->rate);
	r->profile->samples.ordered = r->profile->samples.timed = true;
	fz_facts_machine(r->profile);
	fz_facts_load(r->profile, "load.start");
	set_recording(r);
	if (r->argv)
		fz_facts_command(r->profile, r->argv);
	if (r->folder)
		fz_profile_set_fact(r->profile, "cwd", fz_str_of(r->folder));
}

int fz_record_begin_file(struct fz_record *r, struct fz_error *err)
{
	/* What we started runs since then; what we attach to is recorded from now on. */
	if (!r->sampling.started) {
		r->sampling.start = fz_clock_now();
		r->profile->runs[0].start_unix_ns = fz_clock_unix();
	}
	/* A device or pipe cannot be emptied, and need not. */
	if (r->existed && ftruncate(r->fd, 0) && errno != EINVAL)
		return fz_fail_errno(err, "%s", r->path);
	int rc = fz_fz_writer_new(r->fd, r->profile, &r->writer, err);
	r->sampler.writer = r->writer;
	return rc;
}

void fz_record_begin(struct fz_record *r, pid_t pid, int pidfd, bool started, int64_t start)
{
	const struct fz_record_options *o = r->options;
	char cwd[4096];

	begin_profile(r);
	r->sampling = (struct fz_sampler_options){
		.pid = pid,
		.pidfd = pidfd,
		.signal_fd = r->signal_fd,
		.descendants = started,
		.started = started,
		.family = o->subprocesses,
		.python = { .all_threads = o->all_threads,
			    .gc = !o->no_gc,
			    .native = o->native == FZ_NATIVE_MARKERS,
			    .opcodes = o->opcodes,
			    .tasks = o->tasks,
			    .task_names = o->async.names },
		.blocking = o->blocking,
		.stacks = o->native == FZ_NATIVE_STACKS,
		.watched = o->live,
		.sources = !o->no_source,
		.clock = fz_record_clock(o),
		.mode = fz_record_mode(o),
		.rate = o->rate,
		.start = start,
		.duration_ns = (int64_t)(o->duration * SECOND),
		.on_signal = r->sampling.on_signal,
		.on_second = on_second,
		.on_sample = o->live ? on_sample : NULL,
		.arg = r,
	};
	if (started && r->folder)
		fz_git_start(&r->git, r->folder);
	else if (started && getcwd(cwd, sizeof(cwd)))
		fz_git_start(&r->git, cwd);
	fz_sampler_init(&r->sampler, &r->sampling, r->profile);
	/* Of what we started all counts. */
	fz_load_begin(&r->load, started ? 0 : pid);
}

/* ---- after ---- */

/* How the run ended, and what the processors did meanwhile. */
static void complete_run(struct fz_record *r, struct fz_run *run)
{
	enum fz_end end = r->sampler.end;
	const struct fz_child *child = r->child;
	bool over = child && child->reaped;
	int64_t ran = over ? child->ran_ns : 0, waited = over ? child->waited_ns : 0;
	pid_t pid = over ? 0 : r->sampling.pid;

	if (!over)
		fz_load_read_waits(pid, &ran, &waited);
	run->load = fz_load_end(&r->load, pid, ran, waited);
	run->duration_ns = r->sampler.end_time - r->sampler.options->start;
	if (end == FZ_END_TIME || end == FZ_END_SIGNAL)
		run->outcome = FZ_OUTCOME_STOPPED;
	else if (child)
		fz_launch_set_outcome(child, run);
}

static void complete_facts(struct fz_record *r, const char *exit_fact)
{
	struct fz_profile *p = r->profile;
	struct fz_recording *rec = &p->recording;
	const struct fz_quality *q = &p->quality;
	const struct fz_sampler *s = &r->sampler;
	double samples = (double)s->samples;

	complete_run(r, &p->runs[0]);
	rec->duration_ns = p->runs[0].duration_ns;
	rec->complete = s->options->started && s->end == FZ_END_EXIT;
	rec->achieved_hz = (double)q->taken * SECOND / (double)FZ_MAX(rec->duration_ns, 1);
	rec->error_rate = samples > 0 ? 100 * (double)fz_quality_rejected(q) / samples : NAN;
	rec->missed_rate =
		q->taken ? 100 * (double)q->missed / (double)(q->missed + q->taken) : NAN;
	fz_facts_load(p, "load.end");
	fz_profile_set_fact(p, "exit", fz_str_of(exit_fact));
	uint64_t left_out = fz_sampler_left_out(s);
	if (left_out) {
		char n[24];
		snprintf(n, sizeof(n), "%llu", (unsigned long long)left_out);
		fz_profile_set_fact(p, "unsampled", fz_str_of(n));
	}
	fz_git_finish(&r->git, p);
}

/* Why there was nothing to sample in a program that could be sampled. */
static const char *what_never_was(const struct fz_record *r)
{
	enum fz_mode mode = fz_record_mode(r->options);

	if (mode == FZ_MODE_GIL)
		return "no thread held the GIL while it was watched";
	if (mode == FZ_MODE_EXCEPTION)
		return "no thread handled an exception while it was watched";
	if (r->sampler.end == FZ_END_EXIT)
		return "the program ended before a sample was taken";
	if (fz_record_clock(r->options) == FZ_CLOCK_CPU)
		return "no thread used the CPU for as long as an interval; record for longer";
	return "the time was over before a sample was taken; record for longer";
}

static int why_nothing_sampled(const struct fz_record *r, struct fz_error *err)
{
	const struct fz_target *t = &r->sampler.processes[0]->target;

	if (r->sampler.refusal.code)
		return fz_fail(err, FZ_EINPUT, "nothing was recorded: %s",
			       r->sampler.refusal.message);
	if (r->options->subprocesses && !r->sampler.found && !r->sampling.stacks)
		return fz_fail(err, FZ_EINPUT,
			       "nothing was recorded: no process of the program was Python; "
			       "--native=stacks records others");
	if (r->sampler.found)
		return fz_fail(err, FZ_EGONE, "nothing was recorded: %s", what_never_was(r));
	if (t->why.code && t->why.code != FZ_EAGAIN && t->why.code != FZ_EGONE)
		return fz_fail(err, FZ_EINPUT, "nothing was recorded: %s", t->why.message);
	return fz_fail(err, FZ_EINPUT,
		       "nothing was recorded: the program ended before a sample was taken");
}

/* Complete the file. When that fails what was written before can still be read. */
static int finish_file(struct fz_record *r, struct fz_error *err)
{
	if (r->sampler.end != FZ_END_OUTPUT)
		return fz_fz_writer_finish(r->writer, err);
	*err = r->sampler.trouble;
	return err->code;
}

static void say_stopped(const struct fz_record *r, const struct fz_profile *p,
			const struct fz_error *why)
{
	char n[FZ_NUMBER_SIZE];

	fz_cli_warn("%s: %s; recorded until then: %s", r->path, why->message,
		    fz_format_plural((int64_t)fz_profile_sample_total(p), "sample", n));
}

static void print_quality(struct fz_profile *p)
{
	fz_auto(fz_buf_release) struct fz_buf b = { 0 };

	fz_report_quality(p, &b);
	fprintf(stderr, "fizeau: %s\n", b.p ? b.p : "");
}

/* What was asked for, made from the recording; without being asked, the store and a table. */
static int write_outputs(struct fz_record *r, struct fz_profile *p, struct fz_error *err)
{
	struct fz_cli_output *o = &r->options->output;
	bool running = strcmp(r->command, "run") == 0;

	if (r->stored) {
		fz_cli_output_print(o, p, running ? STDERR_FILENO : STDOUT_FILENO);
		fz_cli_note("recorded to %s", r->path);
		return 0;
	}
	print_quality(p);
	if (!r->temporary)
		return 0;
	int rc = fz_cli_output_write(o, p, err);
	if (rc)
		fz_cli_note("the recording is kept in %s", r->path);
	else
		unlink(r->path);
	return rc;
}

/* Read it back, and give what is in it only by address its names: then it is to be written anew. */
static int read_back(struct fz_record *r, struct fz_profile **ret, bool *ret_named,
		     struct fz_error *err)
{
	int rc = fz_format_load(r->path, ret, err);

	if (!rc)
		*ret_named = fz_sampler_name(&r->sampler, ret);
	return rc;
}

static int keep_names(struct fz_record *r, const struct fz_profile *p, struct fz_error *err)
{
	if (r->temporary)
		return 0;
	return r->stored ? fz_store_save(p, r->path, err)
			 : fz_format_save(p, &fz_format_fz, r->path, err);
}

int fz_record_take(struct fz_record *r, const char *exit_fact, struct fz_profile **ret,
		   struct fz_error *err)
{
	bool named;

	r->complete = true;
	fz_sampler_let_go(&r->sampler);
	complete_facts(r, exit_fact);
	int rc = finish_file(r, err);
	if (!rc && r->sampler.samples == 0)
		rc = why_nothing_sampled(r, err);
	if (!rc)
		rc = read_back(r, ret, &named, err);
	unlink(r->path);
	return rc;
}

/* A program without asyncio, or with another kind of task, shows as without the option. */
static void warn_no_tasks(const struct fz_record *r, const struct fz_profile *p)
{
	if (r->options->tasks == FZ_PYTHON_TASKS_NONE)
		return;
	for (uint32_t i = 0; i < p->function_count; i++)
		if (p->functions[i].kind == FZ_KIND_TASK)
			return;
	fz_cli_warn("--async-aware: no task of asyncio was seen; these are the stacks of threads");
}

int fz_record_end(struct fz_record *r, const char *exit_fact)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	struct fz_error trouble, err;
	bool named;

	r->complete = true;
	for (int i = 0; i < FZ_WARNINGS; i++)
		if (r->sampler.warnings[i])
			fz_cli_warn("%s", r->sampler.warnings[i]);
	fz_sampler_let_go(&r->sampler);
	complete_facts(r, exit_fact);
	int broken = finish_file(r, &trouble);
	/* From here on Ctrl-C ends us as usual. */
	sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
	if (r->options->look_only && !broken && fz_cli_output_is_default(&r->options->output)) {
		unlink(r->path);
		return FZ_EXIT_OK;
	}
	if (r->sampler.samples == 0 || r->never_ran) {
		if (!r->never_ran && why_nothing_sampled(r, &err))
			fz_cli_warn("%s: %s", r->command, err.message);
		if (r->stored || r->temporary)
			unlink(r->path);
		return broken ? FZ_EXIT_TROUBLE : FZ_EXIT_OK;
	}
	if (read_back(r, &p, &named, &err))
		return fz_cli_error(broken ? &trouble : &err);
	/* Where there is no room for names what was recorded stays as it is. */
	if (named && keep_names(r, p, &err) && !broken) {
		trouble = err;
		broken = trouble.code;
	}
	warn_no_tasks(r, p);
	if (broken)
		say_stopped(r, p, &trouble);
	if (write_outputs(r, p, &err))
		return fz_cli_error(&err);
	return broken ? FZ_EXIT_TROUBLE : FZ_EXIT_OK;
}

void fz_record_release(struct fz_record *r)
{
	/* It came to nothing: leave no empty file behind. */
	if (r->fd >= 0 && !r->complete && !r->existed)
		unlink(r->path);
	if (r->profile)
		fz_sampler_release(&r->sampler);
	fz_fz_writer_free(r->writer);
	fz_profile_free(r->profile);
	fz_close_fd(&r->signal_fd);
	fz_close_fd(&r->fd);
	free(r->path);
}
