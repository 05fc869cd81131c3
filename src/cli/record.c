/* SPDX-License-Identifier: MIT */
/* Shared by `run` and `attach`: check the options, choose the output file, and at the end write
 * other formats and print the summary. */
#include "cli/record.h"

#include "base/clock.h"
#include "record/count/count.h"
#include "record/engine_choice.h"
#include "cli/output.h"
#include "report/pstats_text.h"
#include "report/text.h"

#include <stdio.h>
#include <unistd.h>

const char *const fz_native_names[] = { "none", "markers", "stacks", NULL };

int fz_cli_parse_rate(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	struct fz_str trimmed = fz_str_trimmed(fz_str_of(text));
	fz_auto(fz_free_ptr) char *rate = fz_strndup(trimmed.p, trimmed.n);

	return fz_rate_parse(rate, opt->value, err);
}

int fz_cli_parse_duration(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	double seconds;

	if (!fz_parse_decimal(fz_str_of(text), &seconds) || seconds <= 0 || seconds > 1e9)
		return fz_fail(err, FZ_EUSAGE,
			       "invalid duration '%s': use seconds, such as 10 or 0.5", text);
	*(double *)opt->value = seconds;
	return 0;
}

int fz_cli_parse_time(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	double seconds;

	if (!fz_parse_decimal(fz_str_of(text), &seconds) || seconds != 0)
		return fz_cli_parse_duration(text, opt, err);
	*(double *)opt->value = 1.0 / FZ_SECOND;
	return 0;
}

/* ---- before ---- */

static enum fz_mode mode_of(const struct fz_cli_record *o)
{
	if (o->mode != FZ_CLI_MODE_NONE)
		return fz_cli_mode(o->mode);
	return o->clock == FZ_CLOCK_CPU ? FZ_MODE_CPU : FZ_MODE_WALL;
}

static enum fz_clock clock_of(const struct fz_cli_record *o)
{
	if (o->clock != FZ_CLOCK_NONE)
		return (enum fz_clock)o->clock;
	return mode_of(o) == FZ_MODE_CPU ? FZ_CLOCK_CPU : FZ_CLOCK_WALL;
}

static int check_mode(struct fz_cli_record *o, struct fz_error *err)
{
	enum fz_mode mode = mode_of(o);
	enum fz_clock clock = clock_of(o);

	if ((mode == FZ_MODE_CPU && clock == FZ_CLOCK_WALL) ||
	    (mode == FZ_MODE_WALL && clock == FZ_CLOCK_CPU))
		return fz_fail(err, FZ_EUSAGE, "--mode %s cannot be combined with --clock %s",
			       fz_mode_names[mode], fz_clock_names[clock]);
	if (clock == FZ_CLOCK_CPU && o->how.rate.micro_hz == 0)
		return fz_fail(err, FZ_EUSAGE, "%s requires a sampling rate other than 'max'",
			       o->clock == FZ_CLOCK_CPU ? "--clock cpu" : "--mode cpu");
	o->how.mode = mode;
	o->how.clock = clock;
	return 0;
}

/* A waiting task uses no CPU time and does not hold the GIL. */
static int check_tasks(struct fz_cli_record *o, struct fz_error *err)
{
	int rc = fz_cli_tasks_check(&o->async, FZ_PYTHON_TASKS_RUNNING, &o->how.tasks, err);

	o->how.task_names = o->async.names;
	if (rc || o->how.tasks == FZ_PYTHON_TASKS_NONE)
		return rc;
	if (o->how.native == FZ_NATIVE_STACKS)
		return fz_fail(err, FZ_EUSAGE,
			       "--async-aware cannot be combined with --native=stacks; use "
			       "--native to show where native code runs");
	if (o->how.tasks == FZ_PYTHON_TASKS_ALL && o->how.mode != FZ_MODE_WALL)
		return fz_fail(err, FZ_EUSAGE,
			       "--async-mode all cannot be combined with --mode %s; use "
			       "--async-mode running",
			       fz_mode_names[o->how.mode]);
	return 0;
}

/* Fails if options for sampling are given with --count, where they would have no effect. */
static int check_count(const struct fz_cli_record *o, struct fz_error *err)
{
	const struct {
		bool given;
		const char *name;
	} options[] = {
		{ o->how.subprocesses, "--subprocesses" },
		{ o->live, "--live" },
		{ o->realtime_stats, "--realtime-stats" },
		{ o->mode != FZ_CLI_MODE_NONE, "--mode" },
		{ o->how.waits, "--wait" },
		{ o->how.growth, "--pagefaults" },
		{ o->how.sampled_by == FZ_ENGINE_BPF, "--engine" },
		{ o->how.native, "--native" },
		{ o->how.opcodes, "--opcodes" },
		{ o->how.blocking, "--blocking" },
		{ o->how.duration > 0, "--duration" },
		{ o->how.control, "--control" },
	};

	if (o->how.engine == FZ_COUNTER_CALLGRIND && !o->how.count)
		return fz_fail(err, FZ_EUSAGE, "--callgrind requires --count");
	if (o->how.cache && !o->how.count)
		return fz_fail(err, FZ_EUSAGE, "--cache requires --count");
	if (o->how.memory && !o->how.count)
		return fz_fail(err, FZ_EUSAGE, "--memory requires --count");
	if (o->how.interpreter_frames && !o->how.count)
		return fz_fail(err, FZ_EUSAGE, "--interpreter-frames requires --count");
	for (size_t i = 0; o->how.count && i < FZ_ARRAY_LEN(options); i++)
		if (options[i].given)
			return fz_fail(err, FZ_EUSAGE,
				       "%s cannot be combined with --count, which does not sample",
				       options[i].name);
	return 0;
}

/* Enable what a metric requires. Fails before anything runs if the recording will not have it. */
static int check_counted_metric(struct fz_cli_record *o, struct fz_error *err)
{
	const char *metric = o->output.metric;
	bool cache = false, memory = false;

	if (!metric)
		return 0;
	bool counted = fz_count_needs(metric, &cache, &memory);
	if (!o->how.count)
		return memory ? fz_fail(err, FZ_EUSAGE, "--metric %s requires --count", metric) : 0;
	if (!counted)
		return fz_fail(err, FZ_EUSAGE,
			       "--metric %s is not available with --count; use instructions, "
			       "calls, syscalls, allocations, bytes, peak, live, reads, writes, "
			       "'I1 misses', 'D1 misses' or 'LL misses'",
			       metric);
	o->how.cache |= cache;
	o->how.memory |= memory;
	return 0;
}

/* With the wall clock, the kernel's engine can only record waits. */
static int check_waits(struct fz_cli_record *o, struct fz_error *err)
{
	bool bpf = o->how.sampled_by == FZ_ENGINE_BPF;

	if (!o->how.waits) {
		o->how.waits = bpf && o->how.mode == FZ_MODE_WALL && !o->live;
		return 0;
	}
	if (o->how.mode != FZ_MODE_WALL)
		return fz_fail(err, FZ_EUSAGE, "--wait cannot be combined with --mode or --clock");
	if (o->live)
		return fz_fail(err, FZ_EUSAGE,
			       "--wait cannot be combined with --live, which does not show waits");
	return 0;
}

/* r: load the kernel's engine for it, if requested; NULL: only check that this is possible. */
static int check_all(struct fz_cli_record *o, bool diff, struct fz_record *r, struct fz_error *err)
{
	int rc = check_mode(o, err);

	if (!rc)
		rc = check_tasks(o, err);
	if (!rc)
		rc = check_waits(o, err);
	if (rc)
		return rc;
	struct fz_recording planned = fz_record_plan(&o->how);
	if (o->how.paused && !o->how.control)
		return fz_fail(err, FZ_EUSAGE, "--paused requires --control unix:PATH");
	if (o->live && o->realtime_stats)
		return fz_fail(
			err, FZ_EUSAGE,
			"--realtime-stats cannot be combined with the live view, which shows them");
	rc = check_count(o, err);
	if (!rc)
		rc = check_counted_metric(o, err);
	if (!rc)
		rc = r ? fz_record_load(r, err) : fz_engine_check(&o->how, err);
	if (rc)
		return rc;
	o->output.no_source = o->how.no_source;
	o->output.untimed = o->how.count;
	o->how.watched = o->live;
	rc = fz_record_check(err);
	if (rc)
		return rc;
	return fz_cli_output_check(&o->output, diff, &planned, err);
}

int fz_cli_record_check(struct fz_cli_record *o, bool diff, struct fz_error *err)
{
	return check_all(o, diff, NULL, err);
}

int fz_cli_record_prepare(struct fz_record *r, struct fz_cli_record *o, const char *program,
			  struct fz_error *err)
{
	int rc = check_all(o, false, r, err);

	if (!rc)
		rc = fz_record_listen(r, err);
	if (rc)
		return rc;
	if (fz_cli_output_is_default(&o->output) && !o->look_only)
		return fz_record_to_store(r, program, err);
	/* Other outputs are made from the recording afterwards. */
	return fz_cli_output_is_recording(&o->output) ? fz_record_to_file(r, o->output.path, err)
						      : fz_record_to_temporary(r, err);
}

/* ---- while it runs ---- */

/* Print a line per second about the last recording that began. */
static void print_realtime(void *arg, const struct fz_sampler *s)
{
	static struct {
		int64_t start, cpu_ns;
		uint64_t taken;
	} last;
	const struct fz_quality *q = &s->profile->quality;
	char rate[FZ_NUMBER_SIZE], gap[FZ_NUMBER_SIZE];
	int64_t cpu = fz_clock_read(CLOCK_PROCESS_CPUTIME_ID);

	(void)arg;
	if (last.start != s->sampling->start) {
		last.start = s->sampling->start;
		last.cpu_ns = 0;
		last.taken = 0;
	}
	fprintf(stderr,
		"fizeau: %4.0f s: %s samples/s, %llu retried, %llu rejected, %llu missed, longest "
		"gap %s, sampler %.1f %% of a core\n",
		(double)(fz_clock_now() - s->sampling->start) / FZ_SECOND,
		fz_format_count((int64_t)(q->taken - last.taken), rate),
		(unsigned long long)q->retried, (unsigned long long)fz_quality_rejected(q),
		(unsigned long long)q->missed, fz_format_ns((double)q->longest_gap_ns, gap),
		100 * (double)(cpu - last.cpu_ns) / FZ_SECOND);
	last.taken = q->taken;
	last.cpu_ns = cpu;
}

struct fz_record_callbacks fz_cli_record_callbacks(const struct fz_cli_record *o)
{
	return (struct fz_record_callbacks){ .on_second =
						     o->realtime_stats ? print_realtime : NULL };
}

/* ---- after ---- */

/* A recording was not written to its end. Remove a file without any sample; returns true if it has
 * some. p: what can be read of it, or NULL. */
static bool report_stopped(const struct fz_record *r, const struct fz_profile *p,
			   const struct fz_error *why)
{
	int64_t samples = p ? (int64_t)fz_profile_sample_total(p) : 0;
	char n[FZ_NUMBER_SIZE];

	fz_cli_warn("%s: %s; recorded until then: %s", r->path, why->message,
		    fz_format_plural(samples, "sample", n));
	if (samples == 0)
		fz_record_discard(r);
	return samples > 0;
}

static void print_quality(struct fz_profile *p)
{
	fz_auto(fz_buf_release) struct fz_buf b = { 0 };

	fz_report_quality(p, &b);
	fprintf(stderr, "fizeau: %s\n", b.p ? b.p : "");
}

/* Print the summary of CPython's profiler, which scripts parse; not if a file goes to standard
 * output. */
static void print_sampling(const struct fz_cli_output *o, const struct fz_profile *p)
{
	fz_auto(fz_buf_release) struct fz_buf b = { 0 };

	if (!o->chosen || strcmp(o->chosen->name, "pstats") != 0 ||
	    (o->file && strcmp(o->file, "-") == 0))
		return;
	fz_report_pstats_sampling(p, &b);
	fz_cli_print(fz_buf_view(&b));
}

/* Write the requested outputs from the recording; by default it is in the store, and print a table.
 */
static int write_outputs(const struct fz_record *r, struct fz_cli_output *o, struct fz_profile *p,
			 struct fz_error *err)
{
	if (r->stored) {
		fz_cli_output_print(o, p);
		fz_cli_note("recorded to %s", r->path);
		return 0;
	}
	print_quality(p);
	if (!r->temporary) {
		fz_cli_output_report(r->path);
		return 0;
	}
	print_sampling(o, p);
	int rc = fz_cli_per_process_wanted(o, p) ? fz_cli_per_process_write(o, p, err)
						 : fz_cli_output_write(o, p, err);
	if (rc)
		fz_cli_note("recording saved in %s", r->path);
	else
		unlink(r->path);
	return rc;
}

/* Without asyncio, or with another kind of tasks, the option has no effect. */
static void warn_no_tasks(const struct fz_cli_record *o, const struct fz_profile *p)
{
	if (o->how.tasks == FZ_PYTHON_TASKS_NONE)
		return;
	for (uint32_t i = 0; i < p->function_count; i++)
		if (p->functions[i].kind == FZ_KIND_TASK)
			return;
	fz_cli_warn("--async-aware: no asyncio tasks were found; these are the stacks of threads");
}

/* Report that there are no samples, unless the interpreter has printed an error. */
static void leave_empty(const struct fz_record *r, bool never_ran)
{
	struct fz_error err;

	if (!never_ran && fz_record_why_empty(r, &err))
		fz_cli_warn("%s: %s", r->command, err.message);
	if (r->stored || r->temporary)
		fz_record_discard(r);
}

int fz_cli_record_end(struct fz_record *r, struct fz_cli_record *o, const char *exit_fact,
		      bool never_ran)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	struct fz_error trouble, unnamed, err;

	for (int i = 0; i < FZ_WARNINGS; i++)
		if (r->sampler.warnings[i])
			fz_cli_warn("%s", r->sampler.warnings[i]);
	int broken = fz_record_complete(r, exit_fact, &trouble);
	/* From here on Ctrl-C ends us. */
	sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
	if (o->look_only && !broken && fz_cli_output_is_default(&o->output)) {
		fz_record_discard(r);
		return FZ_EXIT_OK;
	}
	if (r->sampler.samples == 0 || never_ran) {
		leave_empty(r, never_ran);
		return broken ? FZ_EXIT_TROUBLE : FZ_EXIT_OK;
	}
	int unreadable = fz_record_read(r, &p, &unnamed, &err);
	if (unreadable && !broken)
		return fz_cli_error(&err);
	/* If names could not be written, the recording is unchanged. */
	if (!broken && unnamed.code) {
		trouble = unnamed;
		broken = trouble.code;
	}
	if (broken && !report_stopped(r, p, &trouble))
		return FZ_EXIT_TROUBLE;
	warn_no_tasks(o, p);
	if (write_outputs(r, &o->output, p, &err))
		return fz_cli_error(&err);
	return broken ? FZ_EXIT_TROUBLE : FZ_EXIT_OK;
}
