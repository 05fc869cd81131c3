/* SPDX-License-Identifier: MIT */
/* Worktrees and runs; see yard.h.
 *
 *   CACHE/XXXXXX/base/PROJECT    worktree: the same last folder name as the user's
 *   CACHE/XXXXXX/pycache         bytecode of all runs, so that no tree is written to
 *   CACHE/XXXXXX/job-3.fz        what a run counted
 *
 * A run is a fork of ours that counts, writes its recording there and ends; what went wrong it
 * writes into a file beside.
 */
#include "cli/cli.h"
#include "cli/yard.h"

#include "base/gitcall.h"
#include "base/io.h"
#include "format/format.h"
#include "profile/benchmarks.h"
#include "session/bench_env.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_NS = 20000000, TROUBLE_MAX = 2048 };

/* /tmp/fizeau-0: anybody may have made it before us, and would see and choose what lies there. */
static int check_ours(const char *folder, struct fz_error *err)
{
	static const char remedy[] = "set XDG_CACHE_HOME to a folder of yours";
	struct stat st;
	int rc = fz_make_folder(folder, err);

	if (rc)
		return rc;
	if (lstat(folder, &st))
		return fz_fail_errno(err, "%s", folder);
	if (st.st_uid != geteuid())
		return fz_fail(err, FZ_EPERM, "%s: belongs to another user (%u); %s", folder,
			       (unsigned)st.st_uid, remedy);
	if (!S_ISDIR(st.st_mode))
		return fz_fail(err, FZ_EPERM, "%s: is no folder; %s", folder, remedy);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return fz_fail(err, FZ_EPERM, "%s: others may write there; %s", folder, remedy);
	return 0;
}

int fz_yard_cache_folder(const char *what, char **ret, struct fz_error *err)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	fz_auto(fz_free_ptr) char *top = NULL;
	int rc = 0;

	if (cache && cache[0] == '/') {
		top = fz_asprintf("%s/fizeau", cache);
	} else if (home && home[0] == '/') {
		top = fz_asprintf("%s/.cache/fizeau", home);
	} else {
		top = fz_asprintf("%s/fizeau-%d", fz_temporary_folder(), (int)geteuid());
		rc = check_ours(top, err);
	}
	if (!rc)
		*ret = fz_asprintf("%s/%s", top, what);
	return rc;
}

int fz_yard_find(struct fz_yard *y, const char *remedy, struct fz_error *err)
{
	struct fz_error why;
	int rc = fz_repository_find(&y->repository, &why);

	return rc == FZ_EUSAGE ? fz_fail(err, rc, "%s; %s", why.message, remedy)
	       : rc            ? fz_fail(err, rc, "%s", why.message)
			       : 0;
}

int fz_yard_open(struct fz_yard *y, const char *command, bool show_output, struct fz_error *err)
{
	fz_series_begin(&y->series, command, &y->record, &fz_cli_notify);
	y->open = true;
	fz_gitcall_leave_hook();
	int rc = fz_yard_cache_folder(command, &y->cache, err);
	if (rc)
		return rc;
	if (fz_scratch_make(y->cache, &y->scratch, err))
		return fz_error_prefix(err, "no cache folder; set XDG_CACHE_HOME");
	rc = fz_caretaker_start(&y->caretaker, &y->scratch, err);
	if (rc)
		return rc;
	fz_auto(fz_free_ptr) char *bytecode = fz_asprintf("%s/pycache", y->scratch.path);
	/* Not into the trees. The first run writes it, also where none is to be written beside the
	 * sources: every run would else compile every module again. */
	if (!getenv("PYTHONPYCACHEPREFIX")) {
		setenv("PYTHONPYCACHEPREFIX", bytecode, 1);
		unsetenv("PYTHONDONTWRITEBYTECODE");
	}
	y->output = show_output ? STDERR_FILENO : open("/dev/null", O_WRONLY | O_CLOEXEC);
	return y->output < 0 ? fz_fail_errno(err, "/dev/null") : 0;
}

void fz_yard_close(struct fz_yard *y)
{
	struct fz_error err;

	free(y->whole);
	y->whole = NULL;
	fz_repository_release(&y->repository);
	if (!y->open)
		return;
	if (fz_scratch_remove(&y->scratch, &err))
		fz_cli_warn("%s: %s", y->series.command, err.message);
	fz_caretaker_stop(&y->caretaker);
	if (y->output != STDERR_FILENO)
		fz_close_fd(&y->output);
	free(y->cache);
	y->cache = NULL;
	y->open = false;
	fz_series_end(&y->series);
}

/* ---- sites ---- */

void fz_site_release(struct fz_site *site)
{
	free(site->commit);
	free(site->tree);
	free(site->folder);
	*site = (struct fz_site){ 0 };
}

int fz_yard_here(struct fz_yard *y, struct fz_site *ret, struct fz_error *err)
{
	const struct fz_repository *r = &y->repository;
	char *commit;
	int rc = fz_repository_commit(r, "HEAD", &commit, err);

	if (rc)
		return rc;
	*ret = (struct fz_site){ .name = "head",
				 .commit = commit,
				 .tree = fz_strdup(r->root),
				 .folder = fz_asprintf("%s/%s", r->root, r->prefix) };
	return 0;
}

int fz_yard_set_up(struct fz_yard *y, const struct fz_site *site, struct fz_error *err)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)y->setup, NULL };
	struct fz_launch_place place = { .folder = site->folder,
					 .no_input = true,
					 .own_group = true,
					 .output = STDERR_FILENO,
					 .errors = -1 };
	struct fz_child child;

	if (!y->setup || fz_series_stopped(&y->series))
		return 0;
	int rc = fz_series_run(&y->series, argv, &place, &child, err);
	if (rc)
		return fz_error_prefix(err, "%s cannot be built: --setup '%s'", site->name,
				       y->setup);
	if (child.status && !fz_series_stopped(&y->series))
		return fz_fail(err, FZ_EINPUT, "%s cannot be built: --setup '%s' failed%s%.10s",
			       site->name, y->setup, site->commit ? " at " : "",
			       site->commit ? site->commit : "");
	return 0;
}

/* git leaves their folders in a new worktree empty; filling them may need the network. */
static void warn_about_submodules(const struct fz_yard *y, const struct fz_site *site)
{
	fz_auto(fz_free_ptr) char *list = fz_asprintf("%s/.gitmodules", site->tree);

	if (!access(list, F_OK) && !y->setup)
		fz_cli_warn("%s: %s is checked out without its submodules; --setup 'git submodule "
			    "update --init --recursive' gets them",
			    y->series.command, site->name);
}

char *fz_yard_tree(const struct fz_yard *y)
{
	return fz_asprintf("%s/base/%s", y->scratch.path,
			   fz_path_base(fz_str_of(y->repository.root)).p);
}

int fz_yard_check_out(struct fz_yard *y, const char *commit, const char *name, struct fz_site *ret,
		      struct fz_error *err)
{
	const struct fz_repository *r = &y->repository;

	*ret = (struct fz_site){ .name = name, .commit = fz_strdup(commit), .worktree = true };
	ret->tree = fz_yard_tree(y);
	ret->folder = fz_asprintf("%s/%s", ret->tree, r->prefix);
	int rc = fz_worktree_add(r, commit, ret->tree, err);
	if (!rc)
		warn_about_submodules(y, ret);
	if (!rc && access(ret->folder, F_OK))
		rc = fz_fail(err, FZ_EUSAGE, "%s (%.10s) has no folder %s", name, commit,
			     r->prefix);
	if (!rc)
		rc = fz_yard_set_up(y, ret, err);
	if (rc)
		fz_yard_leave(y, ret);
	return rc;
}

void fz_yard_leave(struct fz_yard *y, struct fz_site *site)
{
	struct fz_error err;

	if (site->worktree && fz_worktree_remove(&y->repository, site->tree, &err))
		fz_cli_warn("%s: %s", y->series.command, err.message);
	fz_site_release(site);
}

/* ---- runs ---- */

static void write_trouble(const struct fz_job *job, bool fatal, const char *text)
{
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s.txt", job->path);
	FILE *f = fopen(path, "we");

	if (!f)
		_exit(1);
	fprintf(f, "%c%s", fatal ? '!' : '.', text);
	fclose(f);
}

/* What is to be said of a run that did not end well; counted it tells more. */
static void judge_end(const struct fz_yard *y, const struct fz_job *job,
		      const struct fz_child *child)
{
	char how[32], text[256];

	if (child->status == 0)
		return;
	fz_trial_describe(child, how, sizeof(how));
	if (y->series.late)
		snprintf(text, sizeof(text), "the command still ran after %g s (--timeout)",
			 y->series.patience);
	else
		snprintf(text, sizeof(text), "the command ended with %s%s",
			 WIFEXITED(child->status) ? "status " : "", how);
	write_trouble(job, false, text);
}

static void run_native(struct fz_yard *y, const struct fz_job *job)
{
	struct fz_launch_place place = { .folder = job->site->folder,
					 .no_input = true,
					 .own_group = true,
					 .output = y->output,
					 .errors = -1 };
	struct fz_bench_env env;
	struct fz_child child;
	struct fz_error err;

	setenv("PYTHONHASHSEED", "0", 0);
	fz_bench_env_set(&env, "count", NULL, NULL);
	if (fz_series_run(&y->series, (char **)y->argv, &place, &child, &err))
		write_trouble(job, true, err.message);
	else
		judge_end(y, job, &child);
}

static bool is_measured(const struct fz_profile *p)
{
	fz_auto(fz_benchmarks_release) struct fz_benchmarks list;

	fz_benchmarks_read(p, &list);
	for (size_t i = 0; i < list.n; i++)
		if (list.list[i].stack != FZ_NONE)
			return true;
	return false;
}

static void run_counted(struct fz_yard *y, const struct fz_job *job)
{
	struct fz_launch_place place = { .folder = job->site->folder,
					 .output = y->output,
					 .errors = -1 };
	struct fz_bench_options o = { .what = FZ_BENCH_COUNT,
				      .cache = y->record.cache,
				      .native = y->native,
				      .whole = y->whole,
				      .root = job->site->tree,
				      .other = job->other,
				      .timeout = y->series.patience };
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	fz_auto(fz_free_ptr) char *why = NULL;
	struct fz_error err;

	if (fz_bench_measure(&y->series, &o, (char **)y->argv, &place, &p, &err)) {
		write_trouble(job, true, err.message);
	} else if (!is_measured(p)) {
		why = fz_benchmarks_trouble(p);
		write_trouble(job, true, why ? why : "nothing was counted");
	} else if (fz_format_save(p, &fz_format_fz, job->path, &err)) {
		write_trouble(job, true, err.message);
	}
}

static void start(struct fz_yard *y, struct fz_job *job, size_t number)
{
	pid_t parent = getpid();

	job->path = fz_asprintf("%s/job-%zu.fz", y->scratch.path, number);
	fflush(NULL);
	job->pid = fork();
	if (job->pid)
		return;
	/* What is sent to us alone is passed on; the terminal reaches both. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	if (job->native)
		run_native(y, job);
	else
		run_counted(y, job);
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
		job->trouble = fz_strdup("the run was lost");
	}
	if (!job->native && !job->fatal && fz_format_load(job->path, &job->profile, &err)) {
		job->fatal = true;
		if (!job->trouble)
			job->trouble = fz_strdup(err.message);
	}
	unlink(path);
	unlink(job->path);
}

/* A run has ended: which. Waits a moment; NULL: none yet. */
static struct fz_job *reap(struct fz_job *jobs, size_t n)
{
	int status;

	for (size_t i = 0; i < n; i++)
		if (jobs[i].pid > 0 && waitpid(jobs[i].pid, &status, WNOHANG) == jobs[i].pid) {
			finish(&jobs[i], status);
			return &jobs[i];
		}
	nanosleep(&(struct timespec){ .tv_nsec = LOOK_NS }, NULL);
	return NULL;
}

static void pass_on(const struct fz_job *jobs, size_t n, int number)
{
	for (size_t i = 0; i < n; i++)
		if (jobs[i].pid > 0)
			kill(jobs[i].pid, number);
}

bool fz_yard_run(struct fz_yard *y, struct fz_job *jobs, size_t n, unsigned parallel)
{
	size_t next = 0, running = 0;
	static size_t numbers;
	bool told = false;

	while (next < n || running) {
		bool stopped = fz_series_stopped(&y->series);
		if (stopped && !told)
			pass_on(jobs, next, y->series.stopped_by);
		told = stopped;
		if (stopped)
			n = next;
		if (next < n && running < parallel) {
			start(y, &jobs[next++], numbers++);
			running++;
		} else if (running && reap(jobs, next)) {
			running--;
		}
	}
	return !fz_series_stopped(&y->series);
}

void fz_job_release(struct fz_job *job)
{
	fz_profile_free(job->profile);
	free(job->trouble);
	free(job->path);
	job->profile = NULL;
	job->trouble = job->path = NULL;
}
