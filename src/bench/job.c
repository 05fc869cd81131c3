/* SPDX-License-Identifier: MIT */
/* Runs of a command in separate processes; see job.h.
 *
 *   SCRATCH/job-3.fz     counts of a run
 *   SCRATCH/job-3.fz.txt its error message
 *
 * A run is a fork of ours that counts, writes its recording there and exits.
 */
#include "bench/job.h"

#include "base/clock.h"
#include "base/io.h"
#include "format/format.h"
#include "profile/benchmarks.h"
#include "bench/bench_env.h"
#include "bench/origin.h"

#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { POLL_NS = 20000000, TROUBLE_MAX = 2048 };

static void write_trouble(const struct fz_job *job, bool fatal, const char *text)
{
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s.txt", job->path);
	FILE *f = fopen(path, "we");

	if (!f || fprintf(f, "%c%s", fatal ? '!' : '.', text) < 0 || fclose(f))
		_exit(errno);
}

/* Report a failed run. It is not fatal, because counting the command gives more information. */
static void judge_end(const struct fz_workspace *w, const struct fz_job *job,
		      const struct fz_child *child)
{
	char how[32], text[256];

	if (child->status == 0)
		return;
	fz_trial_describe(child, how, sizeof(how));
	if (w->series.late)
		snprintf(text, sizeof(text), "the command was still running after %g s (--timeout)",
			 w->series.patience);
	else
		snprintf(text, sizeof(text), "the command ended with %s%s",
			 WIFEXITED(child->status) ? "status " : "", how);
	write_trouble(job, false, text);
}

static void run_native(struct fz_workspace *w, const struct fz_job *job)
{
	fz_auto(fz_environ_release) struct fz_environ marking;
	struct fz_launch_place place = { .folder = job->checkout->folder,
					 .no_input = true,
					 .own_group = true,
					 .output = w->output,
					 .errors = -1 };
	struct fz_child child;
	struct fz_error err;

	fz_checkout_environ(w, job->checkout, &marking);
	if (!fz_environ_get(&marking, "PYTHONHASHSEED"))
		fz_environ_set(&marking, "PYTHONHASHSEED", "0");
	fz_bench_env_set(&marking, "count", NULL, NULL, NULL);
	place.environ = marking.list;
	if (fz_series_run(&w->series, (char **)w->argv, &place, &child, &err))
		write_trouble(job, true, err.message);
	else
		judge_end(w, job, &child);
}

static bool is_measured(const struct fz_profile *p)
{
	fz_auto(fz_benchmarks_release) struct fz_benchmarks list;

	fz_benchmarks_read(p, &list);
	return fz_benchmarks_measured(&list);
}

static void run_counted(struct fz_workspace *w, const struct fz_job *job)
{
	fz_auto(fz_environ_release) struct fz_environ own;
	struct fz_launch_place place = { .folder = job->checkout->folder,
					 .output = w->output,
					 .errors = -1 };
	struct fz_bench_options o = { .what = FZ_BENCH_COUNT,
				      .cache = w->record.cache,
				      .memory = w->record.memory,
				      .apart = w->record.apart,
				      .native = w->native,
				      .whole = w->whole,
				      .root = job->checkout->tree,
				      .other = job->other,
				      .timeout = w->series.patience };
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	fz_auto(fz_free_ptr) char *why = NULL;
	struct fz_error err;

	fz_checkout_environ(w, job->checkout, &own);
	place.environ = own.list;
	if (fz_bench_measure(&w->series, &o, (char **)w->argv, &place, &p, &err)) {
		write_trouble(job, true, err.message);
	} else if (fz_origin_check(p, job->checkout->tree, &err)) {
		write_trouble(job, true, err.message);
	} else if (!is_measured(p)) {
		why = fz_benchmarks_trouble(p);
		write_trouble(job, true, why ? why : "nothing was counted");
	} else if (fz_format_save(p, &fz_format_fz, job->path, &err)) {
		write_trouble(job, true, err.message);
	}
}

static void start(struct fz_workspace *w, struct fz_job *job, size_t number)
{
	pid_t parent = getpid();

	job->path = fz_asprintf("%s/job-%zu.fz", w->scratch.path, number);
	fflush(NULL);
	job->pid = fork();
	if (job->pid) {
		/* The first one reports how all are counted. */
		w->series.warned_counting |= !job->native;
		return;
	}
	/* Signals to us alone are passed on; the terminal's reach both. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	if (job->native)
		run_native(w, job);
	else
		run_counted(w, job);
	fflush(NULL);
	_exit(0);
}

static void finish(struct fz_job *job, int status)
{
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s.txt", job->path);
	fz_auto(fz_free_ptr) char *text = fz_read_small(path, TROUBLE_MAX, NULL);
	struct fz_error err;

	job->pid = 0;
	if (text && *text) {
		job->fatal = *text == '!';
		job->trouble = fz_strdup(text + 1);
	} else if (status) {
		job->fatal = true;
		job->trouble = fz_asprintf("the run's results were lost: %s",
					   WIFEXITED(status) ? strerror(WEXITSTATUS(status))
							     : strsignal(WTERMSIG(status)));
	}
	if (!job->native && !job->fatal && fz_format_load(job->path, &job->profile, &err)) {
		job->fatal = true;
		if (!job->trouble)
			job->trouble = fz_strdup(err.message);
	}
	unlink(path);
	unlink(job->path);
}

/* Finish a run that has ended and return it; NULL, after a short sleep, if none has. */
static struct fz_job *reap(struct fz_job *jobs, size_t n)
{
	int status;

	for (size_t i = 0; i < n; i++)
		if (jobs[i].pid > 0 && waitpid(jobs[i].pid, &status, WNOHANG) == jobs[i].pid) {
			finish(&jobs[i], status);
			return &jobs[i];
		}
	nanosleep(&(struct timespec){ .tv_nsec = POLL_NS }, NULL);
	return NULL;
}

static void pass_on(const struct fz_job *jobs, size_t n, int number)
{
	for (size_t i = 0; i < n; i++)
		if (jobs[i].pid > 0)
			kill(jobs[i].pid, number);
}

/* Report progress once a second. */
static void report_progress(const struct fz_workspace *w, const char *what, size_t done, size_t n,
			    int64_t start, int64_t *second)
{
	int64_t now = (fz_clock_now() - start) / FZ_SECOND;

	if (now == *second)
		return;
	*second = now;
	fz_notify_progress(w->series.notify, "%s: %s, %zu of %zu runs, %lld s", w->series.command,
			   what, done, n, (long long)now);
}

bool fz_jobs_run(struct fz_workspace *w, struct fz_job *jobs, size_t n, unsigned parallel,
		 const char *what)
{
	size_t next = 0, running = 0;
	static size_t numbers;
	int64_t begun = fz_clock_now(), second = -1;
	bool passed_on = false;

	fz_assert(parallel > 0 || n == 0);
	while (next < n || running) {
		if (what)
			report_progress(w, what, next - running, n, begun, &second);
		bool stopped = fz_series_stopped(&w->series);
		if (stopped && !passed_on)
			pass_on(jobs, next, w->series.stopped_by);
		passed_on = stopped;
		if (stopped)
			n = next;
		if (next < n && running < parallel) {
			start(w, &jobs[next++], numbers++);
			running++;
		} else if (running && reap(jobs, next)) {
			running--;
		}
	}
	if (what)
		fz_notify_progress_end(w->series.notify);
	return !fz_series_stopped(&w->series);
}

void fz_job_release(struct fz_job *job)
{
	fz_profile_free(job->profile);
	free(job->trouble);
	free(job->path);
	job->profile = NULL;
	job->trouble = job->path = NULL;
}
