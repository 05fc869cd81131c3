/* SPDX-License-Identifier: MIT */
/* What `run` and `attach` share.
 *
 *   prepare: find the place, open it        nothing has started yet, nothing old is overwritten
 *   begin:   write the head of the file     the target runs
 *   (sampling: blocks are appended)
 *   end:     facts, sources, end mark       then outputs in other formats, then the summary
 */
#include "cli/record.h"

#include "format/format.h"
#include "report/text.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000.0

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

/* How it will be recorded, as far as a comparison cares. */
static struct fz_recording plan(const struct fz_record_options *o)
{
	return (struct fz_recording){
		.mode = o->clock == FZ_CLOCK_CPU ? FZ_MODE_CPU : FZ_MODE_WALL,
		.features_known = true,
		.features = FZ_FEATURE_GC | (o->all_threads ? FZ_FEATURE_ALL_THREADS : 0u) |
			    (o->blocking ? FZ_FEATURE_BLOCKING : 0u),
		.interval_ns = o->rate.micro_hz ? fz_rate_time(o->rate, 1) : 0,
		.error_rate = NAN,
		.missed_rate = NAN,
		.achieved_hz = NAN,
	};
}

int fz_record_check(struct fz_record_options *o, bool diff, struct fz_error *err)
{
	struct fz_recording planned = plan(o);

	if (o->clock == FZ_CLOCK_CPU && o->rate.micro_hz == 0)
		return fz_fail(err, FZ_EUSAGE, "--clock cpu needs a rate, not 'max'");
	o->output.no_source = o->no_source;
	return fz_cli_output_check(&o->output, diff, &planned, err);
}

static int open_output(struct fz_record *r, struct fz_error *err)
{
	r->path = fz_strdup(r->options->output.path);
	r->existed = access(r->path, F_OK) == 0;
	/* Not truncated yet: should the program not start, the old recording is still there. */
	r->fd = open(r->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
	if (r->fd < 0)
		return fz_fail_errno(err, "%s", r->path);
	return 0;
}

/* What is asked for is made from the recording afterwards. */
static int open_temporary(struct fz_record *r, struct fz_error *err)
{
	const char *folder = getenv("TMPDIR");

	r->path = fz_asprintf("%s/fizeau-XXXXXX.fz", folder && *folder ? folder : "/tmp");
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
	if (fz_cli_output_is_default(&options->output))
		return open_in_store(r, program, err);
	return fz_cli_output_is_recording(&options->output) ? open_output(r, err)
							    : open_temporary(r, err);
}

int fz_record_catch_signals(struct fz_record *r, struct fz_error *err)
{
	static const int caught[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD };
	bool running = strcmp(r->command, "run") == 0;
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < FZ_ARRAY_LEN(caught); i++) {
		bool ends = caught[i] == SIGHUP || caught[i] == SIGINT || caught[i] == SIGTERM;
		if (running || ends || caught[i] == SIGCHLD)
			sigaddset(&mask, caught[i]);
	}
	/* An ignored SIGCHLD would take the exit status from us. */
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &mask, &r->old_mask);
	r->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return r->signal_fd < 0 ? fz_fail_errno(err, "signalfd") : 0;
}

/* ---- while it runs ---- */

static int64_t cpu_time_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static uint64_t sum_rejected(const struct fz_quality *q)
{
	uint64_t n = 0;

	for (int i = 0; i < FZ_REJECTS; i++)
		n += q->rejected[i];
	return n;
}

static void print_realtime(struct fz_record *r, const struct fz_sampler *s)
{
	const struct fz_quality *q = &s->profile->quality;
	char rate[FZ_NUMBER_SIZE], gap[FZ_NUMBER_SIZE];
	int64_t cpu = cpu_time_ns();

	fprintf(stderr,
		"fizeau: %4.0f s: %s samples/s, %llu retried, %llu rejected, %llu missed, longest "
		"gap %s, sampler %.1f %% of a core\n",
		(double)(fz_clock_now() - s->options->start) / SECOND,
		fz_format_count((int64_t)(q->taken - r->last_taken), rate),
		(unsigned long long)q->retried, (unsigned long long)sum_rejected(q),
		(unsigned long long)q->missed, fz_format_ns((double)q->longest_gap_ns, gap),
		100 * (double)(cpu - r->last_cpu_ns) / SECOND);
	r->last_taken = q->taken;
	r->last_cpu_ns = cpu;
}

static void on_second(void *arg, const struct fz_sampler *s)
{
	struct fz_record *r = arg;

	/* Not left for the end: we may be killed before. */
	fz_git_poll(&r->git, r->profile);
	if (r->options->realtime_stats)
		print_realtime(r, s);
}

static void set_recording(struct fz_record *r)
{
	const struct fz_record_options *o = r->options;
	char text[64];

	r->profile->recording = plan(o);
	fz_profile_set_fact(r->profile, "rate",
			    fz_str_of(fz_rate_format(o->rate, text, sizeof(text))));
	fz_profile_set_fact(r->profile, "clock", fz_str_of(fz_clock_names[o->clock]));
	fz_profile_set_fact(r->profile, "mode", fz_str_of(fz_clock_names[o->clock]));
}

static int64_t unix_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void begin_profile(struct fz_record *r)
{
	r->profile = fz_profile_new();
	fz_profile_add_run(r->profile, &(struct fz_run){ .start_unix_ns = unix_now() });
	/* Most samples weigh one interval, which then costs no bytes. */
	int64_t each = r->options->rate.micro_hz ? fz_rate_time(r->options->rate, 1) : 0;
	fz_profile_add_metric(r->profile, fz_str_of(fz_clock_names[r->options->clock]),
			      FZ_STR("ns"), each, true);
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
		r->profile->runs[0].start_unix_ns = unix_now();
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
		.all_threads = o->all_threads,
		.blocking = o->blocking,
		.sources = !o->no_source,
		.clock = (enum fz_clock)o->clock,
		.rate = o->rate,
		.start = start,
		.duration_ns = (int64_t)(o->duration * SECOND),
		.on_signal = r->sampling.on_signal,
		.on_second = on_second,
		.arg = r,
	};
	if (started && r->folder)
		fz_git_start(&r->git, r->folder);
	else if (started && getcwd(cwd, sizeof(cwd)))
		fz_git_start(&r->git, cwd);
	fz_sampler_init(&r->sampler, &r->sampling, r->profile);
}

/* ---- after ---- */

static void complete_facts(struct fz_record *r, const char *exit_fact)
{
	struct fz_profile *p = r->profile;
	struct fz_recording *rec = &p->recording;
	const struct fz_quality *q = &p->quality;
	const struct fz_sampler *s = &r->sampler;
	double samples = (double)s->samples;

	p->runs[0].duration_ns = rec->duration_ns = s->end_time - s->options->start;
	rec->complete = s->options->started && s->end == FZ_END_EXIT;
	rec->achieved_hz = (double)q->taken * SECOND / (double)FZ_MAX(rec->duration_ns, 1);
	rec->error_rate = samples > 0 ? 100 * (double)sum_rejected(q) / samples : NAN;
	rec->missed_rate =
		q->taken ? 100 * (double)q->missed / (double)(q->missed + q->taken) : NAN;
	fz_facts_load(p, "load.end");
	fz_profile_set_fact(p, "exit", fz_str_of(exit_fact));
	fz_git_finish(&r->git, p);
}

static int why_nothing_sampled(const struct fz_record *r, struct fz_error *err)
{
	const struct fz_target *t = &r->sampler.target;

	if (r->sampler.refusal.code)
		return fz_fail(err, FZ_EINPUT, "nothing was recorded: %s",
			       r->sampler.refusal.message);
	if (t->opened)
		return fz_fail(err, FZ_EGONE, "the program ended before a sample was taken");
	if (t->why.code && t->why.code != FZ_EAGAIN && t->why.code != FZ_EGONE)
		return fz_fail(err, FZ_EINPUT, "nothing was recorded: %s", t->why.message);
	return fz_fail(err, FZ_EINPUT,
		       "nothing was recorded: the command never became a Python program (3.8 or "
		       "newer)");
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

int fz_record_take(struct fz_record *r, const char *exit_fact, struct fz_profile **ret,
		   struct fz_error *err)
{
	r->complete = true;
	fz_sampler_release(&r->sampler);
	complete_facts(r, exit_fact);
	int rc = finish_file(r, err);
	if (!rc && r->sampler.samples == 0)
		rc = why_nothing_sampled(r, err);
	if (!rc)
		rc = fz_format_load(r->path, ret, err);
	unlink(r->path);
	return rc;
}

int fz_record_end(struct fz_record *r, const char *exit_fact)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	struct fz_error trouble, err;

	r->complete = true;
	if (r->sampler.warning)
		fz_cli_warn("%s", r->sampler.warning);
	fz_sampler_release(&r->sampler);
	complete_facts(r, exit_fact);
	int broken = finish_file(r, &trouble);
	/* From here on Ctrl-C ends us as usual. */
	sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
	if (r->sampler.samples == 0 || r->never_ran) {
		if (!r->never_ran && why_nothing_sampled(r, &err))
			fz_cli_warn("%s: %s", r->command, err.message);
		if (r->stored || r->temporary)
			unlink(r->path);
		return broken ? FZ_EXIT_TROUBLE : FZ_EXIT_OK;
	}
	if (fz_format_load(r->path, &p, &err))
		return fz_cli_error(broken ? &trouble : &err);
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
