/* SPDX-License-Identifier: MIT */
/* Recording one process; see record.h.
 *
 *   to:       find the place, open it        nothing has started yet, no old file is overwritten
 *   begin:    write the file header          the target runs
 *   (sampling: blocks are appended)
 *   complete: facts, sources, end mark
 */
#include "record/record.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/outfile.h"
#include "base/text.h"
#include "record/control.h"
#include "record/engine_choice.h"
#include "record/process_tree.h"
#include "format/format.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { FILES_MIN = 32 };

/* ---- before ---- */

/* The feature of the requested waits; the engine that is chosen may change it. */
static unsigned feature_of_waits(const struct fz_record_options *o)
{
	if (!o->waits)
		return 0;
	return o->sampled_by == FZ_ENGINE_READ ? FZ_FEATURE_SAMPLED_WAITS : FZ_FEATURE_WAITS;
}

struct fz_recording fz_record_plan(const struct fz_record_options *o)
{
	return (struct fz_recording){
		.mode = o->growth ? FZ_MODE_UNKNOWN : o->mode,
		.features_known = true,
		.features =
			(o->all_threads ? FZ_FEATURE_ALL_THREADS : 0u) |
			(o->native ? FZ_FEATURE_NATIVE : 0u) | (o->no_gc ? 0u : FZ_FEATURE_GC) |
			(o->opcodes ? FZ_FEATURE_OPCODES : 0u) |
			(o->tasks != FZ_PYTHON_TASKS_NONE ? FZ_FEATURE_TASKS : 0u) |
			(o->tasks == FZ_PYTHON_TASKS_ALL ? FZ_FEATURE_WAITING_TASKS : 0u) |
			(o->blocking || o->native == FZ_NATIVE_STACKS ? FZ_FEATURE_BLOCKING : 0u) |
			feature_of_waits(o) | (o->growth ? FZ_FEATURE_GROWTH : 0u) |
			(o->machine ? FZ_FEATURE_MACHINE | FZ_FEATURE_NATIVE : 0u),
		.interval_ns = o->rate.micro_hz && !o->growth ? fz_rate_time(o->rate, 1) : 0,
		.error_rate = NAN,
		.missed_rate = NAN,
		.achieved_hz = NAN,
	};
}

/* A recorder that cannot open files would report that the program has ended. We do not raise our
 * own limit because the program would inherit it. */
int fz_record_check(struct fz_error *err)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= FILES_MIN)
		return 0;
	return fz_fail(err, FZ_EINPUT,
		       "the limit of %llu open files is too low (%d are required); raise it with "
		       "'ulimit -n 1024'",
		       (unsigned long long)limit.rlim_cur, FILES_MIN);
}

void fz_record_init(struct fz_record *r, const struct fz_record_options *options,
		    const char *command, const struct fz_notify *notify)
{
	*r = (struct fz_record){ .options = options,
				 .notify = notify,
				 .command = command,
				 .fd = -1,
				 .signal_fd = -1,
				 .git = { .out = -1 } };
}

int fz_record_to_temporary(struct fz_record *r, struct fz_error *err)
{
	r->path = fz_asprintf("%s/fizeau-XXXXXX.fz", fz_temporary_folder());
	r->temporary = true;
	r->fd = mkostemps(r->path, (int)strlen(".fz"), O_CLOEXEC);
	if (r->fd < 0)
		return fz_fail_errno(err, "%s: cannot create a temporary file; set TMPDIR",
				     r->path);
	return 0;
}

int fz_record_to_file(struct fz_record *r, const char *path, struct fz_error *err)
{
	bool direct;
	int rc = fz_outfile_resolve(path, &r->path, &direct, err);

	if (rc)
		return rc;
	if (direct) {
		free(fz_steal(r->path));
		return fz_record_to_temporary(r, err);
	}
	r->existed = access(r->path, F_OK) == 0;
	/* Do not truncate it yet: if the program does not start, the old recording is kept. */
	r->fd = open(r->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW, 0666);
	return r->fd < 0 ? fz_fail_errno(err, "%s", r->path) : 0;
}

int fz_record_to_store(struct fz_record *r, const char *program, struct fz_error *err)
{
	char cwd[4096];

	if (!getcwd(cwd, sizeof(cwd)))
		return fz_fail_errno(err, "the current folder");
	fz_auto(fz_free_ptr) char *folder = fz_store_folder(cwd);
	r->stored = true;
	return fz_store_create(folder, program, &r->path, &r->fd, err);
}

int fz_record_listen(struct fz_record *r, struct fz_error *err)
{
	const char *uri = r->options->control;

	return uri ? fz_control_open(uri, &r->sampler, &r->control, err) : 0;
}

int fz_record_catch_signals(struct fz_record *r, bool all, struct fz_error *err)
{
	static const int caught[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD };
	static const int stopping[] = { SIGTSTP, SIGTTIN, SIGTTOU };
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < FZ_ARRAY_LEN(caught); i++) {
		bool ends = caught[i] == SIGHUP || caught[i] == SIGINT || caught[i] == SIGTERM;
		if (all || ends || caught[i] == SIGCHLD || (caught[i] == SIGUSR1 && r->saves))
			sigaddset(&mask, caught[i]);
	}
	/* If we stop threads of the target, we must release them before we are stopped ourselves,
	 * by Ctrl-Z or by writing to the terminal from the background. */
	if (r->options->blocking || r->options->native == FZ_NATIVE_STACKS)
		for (size_t i = 0; i < FZ_ARRAY_LEN(stopping); i++)
			sigaddset(&mask, stopping[i]);
	/* If SIGCHLD were ignored, we would get no exit status. */
	sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	sigprocmask(SIG_BLOCK, &mask, &r->old_mask);
	r->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return r->signal_fd < 0 ? fz_fail_errno(err, "signalfd") : 0;
}

/* ---- while it runs ---- */

/* Report that the program has ended, but we still record its children. */
static void note_children(struct fz_record *r, const struct fz_sampler *s)
{
	char n[FZ_NUMBER_SIZE];

	if (r->told || r->options->watched || !s->tree || !s->processes[0]->ended ||
	    fz_process_tree_count(s->tree) == 0)
		return;
	r->told = true;
	fz_notify_note(r->notify,
		       "the program has ended; still recording its child processes (%s) until they "
		       "end or Ctrl-C",
		       fz_format_count((int64_t)fz_process_tree_count(s->tree), n));
}

static void on_second(void *arg, const struct fz_sampler *s)
{
	struct fz_record *r = arg;

	note_children(r, s);

	/* Not only at the end: we may be killed before. */
	fz_git_poll(&r->git, r->profile);
	if (r->callbacks.on_second)
		r->callbacks.on_second(r->callbacks.arg, s);
}

static void on_sample(void *arg, const struct fz_sampler *s, const struct fz_sample *sample,
		      int64_t weight)
{
	struct fz_record *r = arg;

	r->callbacks.on_sample(r->callbacks.arg, s, sample, weight);
}

void fz_record_save(struct fz_record *r)
{
	char n[FZ_NUMBER_SIZE];
	struct fz_error err;

	if (!r->writer)
		return;
	if (fz_file_writer_save(r->writer, &err))
		fz_notify_warn(r->notify, "%s", err.message);
	else
		fz_notify_note(r->notify, "%s so far; 'fizeau replay %s' reports on them",
			       fz_format_plural((int64_t)r->sampler.samples, "sample", n), r->path);
}

static void set_recording(struct fz_record *r)
{
	const struct fz_record_options *o = r->options;
	char text[64];

	r->profile->recording = fz_record_plan(o);
	if (o->growth)
		return;
	fz_profile_set_fact(r->profile, "rate",
			    fz_str_of(fz_rate_format(o->rate, text, sizeof(text))));
	fz_profile_set_fact(r->profile, "clock", fz_str_of(fz_clock_names[o->clock]));
	fz_profile_set_fact(r->profile, "mode", fz_str_of(fz_mode_names[o->mode]));
}

static void begin_profile(struct fz_record *r)
{
	r->profile = fz_profile_new();
	fz_profile_add_run(r->profile, &(struct fz_run){ .start_unix_ns = fz_clock_unix() });
	if (r->options->growth)
		fz_sampler_add_growth(r->profile);
	else
		fz_sampler_add_metrics(r->profile, r->options->clock, r->options->rate);
	r->profile->samples.ordered = r->profile->samples.timed = true;
	fz_facts_machine(r->profile);
	fz_facts_load(r->profile, "load.start");
	set_recording(r);
	if (r->argv)
		fz_facts_command(r->profile, r->argv);
	if (r->folder)
		fz_profile_set_fact(r->profile, "cwd", fz_str_of(r->folder));
}

void fz_record_begin_file(struct fz_record *r)
{
	/* A program that we started has a start time already; one that we attach to is recorded
	 * from now on. */
	if (!r->sampling.started) {
		r->sampling.start = fz_clock_now();
		r->profile->runs[0].start_unix_ns = fz_clock_unix();
	}
	r->writer = fz_file_writer_new(r->fd, r->profile);
	r->sampler.writer = r->writer;
}

/* Listen for marks while the process is recorded. If another recorder samples the same process, it
 * gets them. */
static void listen_for_marks(struct fz_record *r, pid_t pid)
{
	char uri[FZ_CONTROL_URI_SIZE];
	struct fz_error ignored;

	fz_control_uri(pid, uri);
	if (!r->control && fz_control_open(uri, &r->sampler, &r->control, &ignored))
		r->control = NULL;
}

int fz_record_load(struct fz_record *r, struct fz_error *err)
{
	if (r->options->subprocesses)
		fz_process_tree_prepare();
	return fz_engine_load(r->options, &r->loaded, err);
}

void fz_record_begin(struct fz_record *r, pid_t pid, int pidfd, bool started, int64_t start)
{
	char cwd[4096];

	begin_profile(r);
	if (pid)
		listen_for_marks(r, pid);
	r->sampling.pid = pid;
	r->sampling.pidfd = pidfd;
	r->sampling.signal_fd = r->signal_fd;
	r->sampling.started = started;
	r->sampling.loaded = &r->loaded;
	r->sampling.start = start;
	r->sampling.control = r->control;
	r->sampling.on_second = on_second;
	r->sampling.on_sample = r->callbacks.on_sample ? on_sample : NULL;
	r->sampling.arg = r;
	if (started && r->folder)
		fz_git_start(&r->git, r->folder);
	else if (started && getcwd(cwd, sizeof(cwd)))
		fz_git_start(&r->git, cwd);
	fz_sampler_init(&r->sampler, r->options, &r->sampling, r->profile);
	/* For a program that we started, all its CPU time counts. */
	fz_load_begin(&r->load, started ? 0 : pid);
}

/* ---- after ---- */

/* Set how the run ended and what the processors did meanwhile. */
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
	run->load.unsampled_ns = fz_sampler_unsampled(&r->sampler, run->load.used_ns);
	run->duration_ns = r->sampler.end_time - r->sampler.sampling->start;
	if (end == FZ_END_TIME || end == FZ_END_SIGNAL)
		run->outcome = FZ_OUTCOME_STOPPED;
	else if (child)
		fz_launch_set_outcome(child, run);
}

/* Note that the recording covers only a chosen part of the run. */
static void note_pause(struct fz_profile *p, int64_t paused_ns)
{
	char off[FZ_NUMBER_SIZE], all[FZ_NUMBER_SIZE];

	fz_profile_note(p, "sampling was disabled for %s of %s",
			fz_format_ns((double)paused_ns, off),
			fz_format_ns((double)p->runs[0].duration_ns, all));
}

static void complete_facts(struct fz_record *r, const char *exit_fact)
{
	struct fz_profile *p = r->profile;
	struct fz_recording *rec = &p->recording;
	const struct fz_quality *q = &p->quality;
	const struct fz_sampler *s = &r->sampler;
	double samples = (double)s->samples;

	complete_run(r, &p->runs[0]);
	rec->duration_ns = p->runs[0].duration_ns - s->paused_ns;
	rec->complete = s->sampling->started && s->end == FZ_END_EXIT && !s->paused_ns;
	/* Ignore a short pause, as between --paused and an immediate "enable". */
	if (s->paused_ns * 100 >= p->runs[0].duration_ns)
		note_pause(p, s->paused_ns);
	if (!r->options->growth)
		rec->achieved_hz =
			(double)q->taken * FZ_SECOND / (double)FZ_MAX(rec->duration_ns, 1);
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

/* Why a program that could be sampled has no samples. */
static const char *why_no_samples(const struct fz_record *r)
{
	enum fz_mode mode = r->options->mode;

	if (r->sampler.paused && r->sampler.profile->quality.taken == 0)
		return "sampling was never enabled; send 'enable' to the --control socket";
	if (mode == FZ_MODE_GIL)
		return "no thread held the GIL during the recording";
	if (mode == FZ_MODE_EXCEPTION)
		return "no thread handled an exception during the recording";
	if (r->options->tasks == FZ_PYTHON_TASKS_RUNNING && r->sampler.profile->quality.taken == 0)
		return "no task ran during the recording; use --async-mode all to record waiting "
		       "tasks";
	if (r->sampler.end == FZ_END_EXIT)
		return "the program ended before the first sample";
	if (!r->options->all_threads && fz_process_live(r->sampling.pid) != r->sampling.pid)
		return "the main thread has ended; use -a to record the others";
	if (r->options->growth)
		return "resident memory did not grow during the recording";
	if (r->options->clock == FZ_CLOCK_CPU)
		return "no thread used CPU time for a whole sampling interval; record for longer";
	return "the duration ended before the first sample; record for longer";
}

int fz_record_why_empty(const struct fz_record *r, struct fz_error *err)
{
	if (r->options->machine)
		return fz_fail(err, FZ_EGONE, "nothing was recorded: %s", why_no_samples(r));
	const struct fz_target *t = &r->sampler.processes[0]->target;

	if (r->sampler.refusal.code)
		return fz_fail(err, FZ_EINPUT, "nothing was recorded: %s",
			       r->sampler.refusal.message);
	if (r->options->subprocesses && !r->sampler.found && r->options->native != FZ_NATIVE_STACKS)
		return fz_fail(err, FZ_EINPUT,
			       "nothing was recorded: no process of the program was Python; use "
			       "--native=stacks to record other programs");
	if (r->sampler.found)
		return fz_fail(err, FZ_EGONE, "nothing was recorded: %s", why_no_samples(r));
	if (t->why.code && t->why.code != FZ_EAGAIN && t->why.code != FZ_EGONE)
		return fz_fail(err, FZ_EINPUT, "nothing was recorded: %s", t->why.message);
	if (r->sampler.end == FZ_END_TIME)
		return fz_fail(err, FZ_EGONE, "nothing was recorded: %s", why_no_samples(r));
	return fz_fail(err, FZ_EINPUT,
		       "nothing was recorded: the program ended before the first sample");
}

/* Complete the file. If that fails, what was written before can still be read. */
static int finish_file(struct fz_record *r, struct fz_error *err)
{
	if (r->sampler.end != FZ_END_OUTPUT)
		return fz_file_writer_finish(r->writer, err);
	*err = r->sampler.trouble;
	return err->code;
}

int fz_record_complete(struct fz_record *r, const char *exit_fact, struct fz_error *err)
{
	r->complete = true;
	/* Disconnects clients that still wait for a reply. */
	fz_lineserver_free(fz_steal(r->control));
	complete_facts(r, exit_fact);
	return finish_file(r, err);
}

static int keep_names(struct fz_record *r, const struct fz_profile *p, struct fz_error *err)
{
	if (r->temporary)
		return 0;
	return r->stored ? fz_store_save(p, r->path, err)
			 : fz_format_save(p, &fz_format_fz, r->path, err);
}

int fz_record_read(struct fz_record *r, struct fz_profile **ret, struct fz_error *ret_unnamed,
		   struct fz_error *err)
{
	int rc = fz_format_load(r->path, ret, err);

	*ret_unnamed = (struct fz_error){ 0 };
	if (!rc && fz_sampler_name(&r->sampler, ret))
		keep_names(r, *ret, ret_unnamed);
	return rc;
}

int fz_record_finish(struct fz_record *r, const char *exit_fact, struct fz_profile **ret,
		     struct fz_error *err)
{
	struct fz_error unnamed;
	int rc = fz_record_complete(r, exit_fact, err);

	if (!rc && r->sampler.samples == 0)
		rc = fz_record_why_empty(r, err);
	if (!rc)
		rc = fz_record_read(r, ret, &unnamed, err);
	unlink(r->path);
	return rc;
}

void fz_record_discard(const struct fz_record *r)
{
	if (r->stored)
		fz_store_discard(r->path);
	else
		unlink(r->path);
}

void fz_record_release(struct fz_record *r)
{
	/* Nothing was recorded: leave no empty file behind. */
	if (r->fd >= 0 && !r->complete && !r->existed)
		fz_record_discard(r);
	if (r->profile)
		fz_sampler_release(&r->sampler);
	fz_engine_unload(r->loaded);
	fz_lineserver_free(r->control);
	fz_file_writer_free(r->writer);
	fz_profile_free(r->profile);
	fz_close_fd(&r->signal_fd);
	fz_close_fd(&r->fd);
	free(r->path);
}
