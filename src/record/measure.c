/* SPDX-License-Identifier: MIT */
/* Runs of a series, sampled or counted; see measure.h. */
#include "record/measure.h"

#include "base/clock.h"
#include "profile/merge.h"
#include "record/count/count.h"
#include "record/sources.h"
#include "profile/benchmarks.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void warn_once(struct fz_series *s, const struct fz_record *r)
{
	for (int i = 0; i < FZ_WARNINGS; i++) {
		const char *warning = r->sampler.warnings[i];
		if (warning && !s->warned[i])
			fz_notify_warn(s->notify, "%s", warning);
		s->warned[i] |= warning != NULL;
	}
}

/* Sample the running program until it ends. */
static int record_program(struct fz_series *s, struct fz_trial *t, int64_t start,
			  struct fz_series_run *ret, struct fz_error *err)
{
	struct fz_record *r = &t->record;
	char how[32];

	r->sampling.on_signal = fz_trial_on_signal;
	fz_record_begin(r, t->child.pid, t->child.pidfd, true, start);
	fz_record_begin_file(r);
	fz_sampler_run(&r->sampler);
	ret->timed_out = r->sampler.end == FZ_END_TIME;
	if (ret->timed_out)
		fz_trial_terminate(t);
	else
		fz_trial_wait(t, -1);
	warn_once(s, r);
	fz_trial_describe(&t->child, how, sizeof(how));
	return fz_record_finish(r, how, &ret->profile, err);
}

static int record_sampled(struct fz_series *s, char *const argv[],
			  const struct fz_launch_place *place, struct fz_series_run *ret,
			  struct fz_error *err)
{
	struct fz_trial t = { .child = { .pidfd = -1 } };
	struct fz_series_run run = { 0 };

	fz_record_init(&t.record, s->options, s->command, s->notify);
	t.record.callbacks = s->callbacks;
	int rc = fz_record_to_temporary(&t.record, err);
	if (!rc)
		rc = fz_record_load(&t.record, err);
	if (!rc)
		rc = fz_record_catch_signals(&t.record, s->all_signals, err);
	if (!rc) {
		int64_t start = fz_clock_now();
		rc = fz_launch_start(argv, &s->old_mask, place, &t.child, err);
		t.record.argv = argv;
		t.record.child = &t.child;
		t.record.folder = place ? place->folder : NULL;
		if (!rc)
			rc = record_program(s, &t, start, &run, err);
		sigprocmask(SIG_SETMASK, &t.record.old_mask, NULL);
	}
	if (t.stopped_by)
		s->stopped_by = t.stopped_by;
	run.child = t.child;
	fz_record_release(&t.record);
	fz_launch_release(&t.child);
	*ret = run;
	ret->child.pidfd = -1;
	return rc;
}

int fz_series_record(struct fz_series *s, char *const argv[], const struct fz_launch_place *place,
		     struct fz_series_run *ret, struct fz_error *err)
{
	return s->options->count ? fz_series_count(s, argv, place, ret, err)
				 : record_sampled(s, argv, place, ret, err);
}

/* ---- several as one recording ---- */

static void keep_worst(struct fz_runs *runs, const struct fz_series_run *run)
{
	if (!runs->worst.pid || runs->worst.status == 0)
		runs->worst = run->child;
	runs->timed_out |= run->timed_out;
}

/* A run that was cut short did less work, so it is used only if no run was complete. */
static int add_run(struct fz_runs *runs, struct fz_series *s, const struct fz_series_run *run,
		   struct fz_error *err)
{
	/* The signal may have arrived as the program ended, and not have been read yet. */
	if (fz_series_stopped(s) && runs->all->run_count) {
		fz_notify_warn(s->notify, "%s: interrupted; dropping the unfinished run",
			       s->command);
		return 0;
	}
	return fz_profile_merge(runs->all, run->profile, err);
}

int fz_runs_record(struct fz_series *s, char *const argv[], int n, struct fz_runs *ret,
		   struct fz_error *err)
{
	int rc = 0;

	fz_assert(n > 0);
	*ret = (struct fz_runs){ .all = fz_profile_new() };
	for (int i = 0; i < n && !rc && !fz_series_stopped(s); i++) {
		struct fz_series_run run;
		rc = fz_series_record(s, argv, NULL, &run, err);
		if (run.child.pid)
			keep_worst(ret, &run);
		if (!rc)
			rc = add_run(ret, s, &run, err);
		else if (n > 1)
			fz_error_prefix(err, "run %d of %d", i + 1, n);
		fz_profile_free(run.profile);
	}
	return rc;
}

/* ---- counted ---- */

void fz_trial_add_facts(struct fz_profile *p, char *const argv[], const char *folder,
			const struct fz_child *child)
{
	struct fz_git git = { .out = -1 };
	char how[32], cwd[4096];

	if (!folder)
		folder = getcwd(cwd, sizeof(cwd)) ? cwd : ".";
	fz_git_start(&git, folder);
	fz_facts_machine(p);
	fz_facts_command(p, argv);
	fz_profile_set_fact(p, "cwd", fz_str_of(folder));
	fz_trial_describe(child, how, sizeof(how));
	fz_profile_set_fact(p, "exit", fz_str_of(how));
	fz_launch_set_outcome(child, &p->runs[0]);
	fz_git_finish(&git, p);
	if (!fz_profile_fact(p, "program").n)
		fz_facts_words(p, argv, folder);
	p->recording = (struct fz_recording){ .features_known = true,
					      .duration_ns = p->runs[0].duration_ns,
					      .complete = WIFEXITED(child->status),
					      .error_rate = NAN,
					      .missed_rate = NAN,
					      .achieved_hz = NAN };
}

void fz_series_report_counter(struct fz_series *s, const struct fz_counter *counter)
{
	if (counter->variables && !s->warned_counting)
		fz_notify_note(s->notify,
			       "%s: the environment sets %s; counts may differ where it is not set",
			       s->command, counter->variables);
	if (counter->instead && !s->warned_counting)
		fz_notify_warn(s->notify,
			       "%s: counting with callgrind, which is several times slower, has "
			       "inexact call trees and only sees benchmarks defined by client "
			       "requests: %s",
			       s->command, counter->instead);
	s->warned_counting = true;
}

static void warn_of_unknown_instruction(const struct fz_series *s, const struct fz_child *child)
{
	if (child->reaped && WIFSIGNALED(child->status) && WTERMSIG(child->status) == SIGILL)
		fz_notify_warn(s->notify,
			       "%s: the program ended with SIGILL, perhaps at an instruction that "
			       "Valgrind does not support (AVX-512); build it for an older "
			       "processor to count it",
			       s->command);
}

/* A killed program writes no counts, but processes that it started may. */
static void warn_of_killed(const struct fz_series *s, const struct fz_counter *counter,
			   const struct fz_child *child)
{
	if (counter->silent && child->reaped && WIFSIGNALED(child->status))
		fz_notify_warn(
			s->notify,
			"%s: the program was killed: only the processes it started were counted",
			s->command);
}

/* Only reports of benchmarks print this otherwise. */
static void warn_of_allocator(const struct fz_series *s, const struct fz_profile *p)
{
	fz_auto(fz_free_ptr) char *why = s->options->memory ? fz_benchmarks_trouble(p) : NULL;

	if (why)
		fz_notify_warn(s->notify, "%s: %s", s->command, why);
}

/* Start the program and wait, passing signals on. */
static int run_counted(struct fz_series *s, char *const argv[], const struct fz_launch_place *place,
		       const struct fz_counter *counter, struct fz_child *ret, struct fz_error *err)
{
	static const struct fz_launch_place ours = { .output = -1, .errors = -1 };

	struct fz_launch_place at = place ? *place : ours;
	at.environ = counter->environ.list;
	/* A program that the time limit ends may have children. */
	at.own_group |= s->patience > 0;
	return fz_series_run(s, argv, &at, ret, err);
}

/* Keep the text of what ran, as a sampler does while it runs. */
static void add_sources(const struct fz_series *s, const char *folder, struct fz_profile *p)
{
	if (s->options->no_source)
		return;
	struct fz_sources *sources = fz_sources_new(p);
	fz_sources_ended(sources, folder, p->runs[0].start_unix_ns);
	fz_sources_finish(sources);
	fz_sources_free(sources);
}

int fz_series_count(struct fz_series *s, char *const argv[], const struct fz_launch_place *place,
		    struct fz_series_run *ret, struct fz_error *err)
{
	struct fz_counter counter = { .engine = s->options->engine,
				      .cache = s->options->cache,
				      .memory = s->options->memory,
				      .other = s->other,
				      .options = s->counts };
	fz_auto(fz_free_ptr) char **wrapped = NULL;
	int64_t start = fz_clock_unix(), began = fz_clock_now();

	counter.options.cwd = place ? place->folder : NULL;
	*ret = (struct fz_series_run){ .child = { .pidfd = -1 } };
	int rc = fz_counter_find(&counter, err);
	if (!rc)
		rc = fz_counter_begin(&counter, argv, place ? place->environ : NULL, &wrapped, err);
	if (!rc)
		fz_series_report_counter(s, &counter);
	if (!rc)
		rc = run_counted(s, wrapped, place, &counter, &ret->child, err);
	int64_t lasted = fz_clock_now() - began;
	ret->timed_out = s->late;
	/* If the program was ended, only marked parts that were completed are meaningful. */
	counter.options.late = s->late;
	counter.pid = ret->child.pid;
	if (!rc)
		rc = fz_counter_read(&counter, &ret->profile, err);
	if (ret->profile) {
		ret->profile->runs[0].start_unix_ns = start;
		ret->profile->runs[0].duration_ns = lasted;
		fz_trial_add_facts(ret->profile, argv, place ? place->folder : NULL, &ret->child);
		add_sources(s, counter.options.cwd, ret->profile);
		warn_of_unknown_instruction(s, &ret->child);
		warn_of_killed(s, &counter, &ret->child);
		warn_of_allocator(s, ret->profile);
	}
	fz_counter_end(&counter);
	return rc;
}
