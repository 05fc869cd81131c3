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
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000.0

enum { SUMMARY_ROWS = 5 };

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

static int check_options(const struct fz_record_options *o, struct fz_error *err)
{
	if (o->clock == FZ_CLOCK_CPU && o->rate.micro_hz == 0)
		return fz_fail(err, FZ_EUSAGE, "--clock cpu needs a rate, not 'max'");
	return 0;
}

static int open_output(struct fz_record *r, struct fz_error *err)
{
	r->path = fz_strdup(r->options->output);
	r->existed = access(r->path, F_OK) == 0;
	/* Not truncated yet: should the program not start, the old recording is still there. */
	r->fd = open(r->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
	if (r->fd < 0)
		return fz_fail_errno(err, "%s", r->path);
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

int fz_record_prepare(struct fz_record *r, const struct fz_record_options *options,
		      const char *command, const char *program, struct fz_error *err)
{
	*r = (struct fz_record){ .options = options,
				 .command = command,
				 .fd = -1,
				 .signal_fd = -1,
				 .git = { .out = -1 } };
	int rc = check_options(options, err);
	if (rc)
		return rc;
	return options->output ? open_output(r, err) : open_in_store(r, program, err);
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

static void print_realtime(void *arg, const struct fz_sampler *s)
{
	struct fz_record *r = arg;
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

static void set_recording(struct fz_record *r)
{
	const struct fz_record_options *o = r->options;
	struct fz_recording *rec = &r->profile->recording;
	char text[64];

	rec->mode = o->clock == FZ_CLOCK_CPU ? FZ_MODE_CPU : FZ_MODE_WALL;
	rec->features_known = true;
	rec->features = FZ_FEATURE_GC | (o->all_threads ? FZ_FEATURE_ALL_THREADS : 0u) |
			(o->blocking ? FZ_FEATURE_BLOCKING : 0u);
	rec->interval_ns = o->rate.micro_hz ? fz_rate_time(o->rate, 1) : 0;
	fz_profile_set_fact(r->profile, "rate",
			    fz_str_of(fz_rate_format(o->rate, text, sizeof(text))));
	fz_profile_set_fact(r->profile, "clock", fz_str_of(fz_clock_names[o->clock]));
	fz_profile_set_fact(r->profile, "mode", fz_str_of(fz_clock_names[o->clock]));
}

static void begin_profile(struct fz_record *r)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	r->profile = fz_profile_new();
	fz_profile_add_run(r->profile,
			   &(struct fz_run){ .start_unix_ns = (int64_t)now.tv_sec * 1000000000 +
							      now.tv_nsec });
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
}

int fz_record_begin_file(struct fz_record *r, struct fz_error *err)
{
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
		.on_second = o->realtime_stats ? print_realtime : NULL,
		.arg = r,
	};
	if (started && getcwd(cwd, sizeof(cwd)))
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

/* The file could not be written to its end: what was sampled before is there. */
static void report_trouble(const struct fz_record *r, const struct fz_error *err)
{
	char n[FZ_NUMBER_SIZE];

	fz_cli_warn("%s: recording stopped: %s; what was sampled until then (%s) can be read",
		    r->path, err->message,
		    fz_format_plural((int64_t)r->sampler.samples, "sample", n));
}

static void say_nothing_sampled(const struct fz_record *r)
{
	const struct fz_target *t = &r->sampler.target;

	if (t->opened)
		fz_cli_warn("%s: the program ended before a sample was taken", r->command);
	else if (t->why.code && t->why.code != FZ_EAGAIN && t->why.code != FZ_EGONE)
		fz_cli_warn("%s: nothing was recorded: %s", r->command, t->why.message);
	else
		fz_cli_warn("%s: nothing was recorded: the command never became a Python "
			    "program (3.8 or newer)",
			    r->command);
}

static void print_summary(const struct fz_record *r, const struct fz_profile *p, const char *out)
{
	int fd = strcmp(r->command, "run") == 0 ? STDERR_FILENO : STDOUT_FILENO;
	struct fz_text_options options = { .style = fz_style_of(fd, FZ_COLOR_AUTO),
					   .limit = SUMMARY_ROWS };
	struct fz_output *text = fz_output_memory();

	fz_report_text_profile(p, &options, text);
	struct fz_str s = fz_buf_view(fz_output_buffer(text));
	fz_write_full(fd, s.p, s.n);
	fz_output_abort(text);
	fprintf(stderr, "fizeau: recorded to %s\n", out);
}

static int finish_file(struct fz_record *r)
{
	struct fz_error err;

	if (r->sampler.end == FZ_END_OUTPUT) {
		report_trouble(r, &r->sampler.trouble);
		return FZ_EXIT_TROUBLE;
	}
	if (fz_fz_writer_finish(r->writer, &err)) {
		report_trouble(r, &err);
		return FZ_EXIT_TROUBLE;
	}
	return FZ_EXIT_OK;
}

int fz_record_end(struct fz_record *r, const char *exit_fact)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	struct fz_error err;

	r->complete = true;
	fz_sampler_release(&r->sampler);
	complete_facts(r, exit_fact);
	int status = finish_file(r);
	/* From here on Ctrl-C ends us as usual. */
	sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
	if (r->sampler.samples == 0) {
		say_nothing_sampled(r);
		if (r->stored)
			unlink(r->path);
		return status;
	}
	if (fz_format_load(r->path, &p, &err))
		return fz_cli_error(&err);
	print_summary(r, p, r->path);
	return status;
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
