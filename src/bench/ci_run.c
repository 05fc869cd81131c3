/* SPDX-License-Identifier: MIT */
/* Counting and judging both sides; see ci_run.h.
 *
 *   base (merge-base) --stored, or counted--\
 *                  .--others-----> floors ---> suspects --> verdicts
 *   head (this tree) --counted--------------/       |
 *                                                    `-- timed alternately
 *
 * If the base was counted before in the same environment, its stored counts are used; otherwise it
 * is counted in this job, on this machine.
 */
#include "bench/ci_run.h"

#include "record/count/count.h"
#include "bench/environment.h"
#include "bench/ci_source.h"
#include "bench/texts.h"
#include "bench/revision.h"

#include <unistd.h>

/* ---- counting ---- */

static unsigned parallel(const struct fz_ci_run_options *o)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return o->parallel ? (unsigned)o->parallel : n > 0 ? (unsigned)n : 1;
}

static bool has_file(const struct fz_checkout *c, const char *name)
{
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/%s", c->folder, name);

	return access(path, F_OK) == 0;
}

static bool is_tracked(const struct fz_ci_run *c, const char *file)
{
	const char *const words[] = { "ls-files", "--error-unmatch", "--", file, NULL };
	int status;

	return !fz_repository_git(&c->workspace.repository, c->checkout[FZ_HEAD].folder, words,
				  NULL, NULL, &status, NULL) &&
	       status == 0;
}

/* An argument of the command that names a file of the head that the base lacks: "tests/bench", or
 * "bench.py" of "bench.py::test_sort". Not what was built in the head's tree, which is not part of
 * the change. The caller frees; NULL if there is none. */
static char *find_new_file(const struct fz_ci_run *c)
{
	for (const char *const *arg = (const char *const *)c->workspace.argv; arg && *arg; arg++) {
		fz_auto(fz_free_ptr) char *file = fz_strndup(*arg, strcspn(*arg, ":"));
		if (*file && *file != '/' && *file != '-' &&
		    has_file(&c->checkout[FZ_HEAD], file) &&
		    !has_file(&c->checkout[FZ_BASE], file) && is_tracked(c, file))
			return fz_steal(file);
	}
	return NULL;
}

/* True if the base cannot run the benchmarks because the change adds the first ones. */
static bool is_first(struct fz_ci_run *c, const struct fz_job *job)
{
	fz_auto(fz_free_ptr) char *file = NULL;

	if (job->checkout == &c->checkout[FZ_BASE])
		file = find_new_file(c);
	if (!file)
		return false;
	c->base_is_empty = true;
	fz_ci_note(&c->result, "the base has no %s, so all benchmarks are new", file);
	return true;
}

/* Make a base without benchmarks, with the metrics of the head. */
static int add_empty_base(struct fz_ci_run *c, struct fz_error *err)
{
	const struct fz_profile *head = c->profile[FZ_HEAD];
	struct fz_profile *base = c->profile[FZ_BASE] = fz_profile_new();

	for (uint32_t i = 0; i < head->metric_count; i++)
		fz_profile_add_metric(base, fz_str_of(head->metrics[i].name),
				      fz_str_of(head->metrics[i].unit), head->metrics[i].each,
				      head->metrics[i].column != NULL);
	base->default_metric = head->default_metric;
	base->recording = head->recording;
	fz_profile_set_fact(base, "environment", fz_buf_view(&c->environment));
	return fz_ci_collect(&c->result, FZ_BASE, base, c->workspace.whole, err);
}

/* Run the command natively, once per side: a failure would take ten times longer under Valgrind. */
static int try_out(struct fz_ci_run *c, struct fz_error *err)
{
	struct fz_job jobs[FZ_SIDES] = { 0 };
	size_t n = 0;
	int rc = 0;

	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		if (c->checkout[s].tree)
			jobs[n++] = (struct fz_job){ .checkout = &c->checkout[s], .native = true };
	/* In sequence, because they share the bytecode that they write. */
	if (!fz_jobs_run(&c->workspace, jobs, n, 1, "trying the command"))
		rc = fz_series_interrupted(err);
	for (size_t i = 0; i < n; i++) {
		bool excused = jobs[i].trouble && is_first(c, &jobs[i]);
		if (!rc && jobs[i].fatal && !excused)
			rc = fz_fail(err, FZ_EINPUT, "%s: %s", jobs[i].checkout->name,
				     jobs[i].trouble);
		else if (!rc && jobs[i].trouble && !excused)
			fz_notify_warn(c->notify, "ci: %s: %s; counting it to find out why",
				       jobs[i].checkout->name, jobs[i].trouble);
		fz_job_release(&jobs[i]);
	}
	return rc;
}

static int side_failed(const struct fz_ci_run *c, const struct fz_job *job, enum fz_side s,
		       struct fz_error *err)
{
	if (s == FZ_HEAD || !c->untracked)
		return fz_fail(err, FZ_EINPUT, "%s: %s", job->checkout->name, job->trouble);
	return fz_fail(err, FZ_EINPUT,
		       "%s: %s; its tree has no untracked files, such as %s: commit them, or "
		       "create them with --setup",
		       job->checkout->name, job->trouble, c->untracked);
}

/* Take the result of a side; failures of some benchmarks are in its recording. */
static int measure_side(struct fz_ci_run *c, struct fz_job *job, enum fz_side s,
			struct fz_error *err)
{
	if (job->fatal)
		return side_failed(c, job, s, err);
	c->profile[s] = fz_steal(job->profile);
	fz_profile_set_fact(c->profile[s], "environment", fz_buf_view(&c->environment));
	return fz_ci_collect(&c->result, s, c->profile[s], c->workspace.whole, err);
}

/* Count sides without stored counts, and one side in other environments, all in parallel. */
static int count_sides(struct fz_ci_run *c, struct fz_error *err)
{
	struct fz_job jobs[FZ_SIDES + FZ_CI_OTHERS_MAX] = { 0 };
	enum fz_side moved = c->profile[FZ_BASE] || c->base_is_empty ? FZ_HEAD : FZ_BASE;
	bool known = c->profile[FZ_BASE] && fz_ci_read_floors(&c->result, c->profile[FZ_BASE]);
	size_t n = 0, others = known ? 0 : (size_t)c->options->others;
	int rc = 0;

	for (int s = FZ_HEAD; s >= FZ_BASE; s--)
		if (!c->profile[s] && !(s == FZ_BASE && c->base_is_empty))
			jobs[n++].checkout = &c->checkout[s];
	size_t sides = n;
	for (size_t i = 0; i < others; i++)
		jobs[n++] = (struct fz_job){ .checkout = &c->checkout[moved],
					     .other = (unsigned)i + 1 };
	if (!fz_jobs_run(&c->workspace, jobs, n, parallel(c->options), "counting"))
		rc = fz_series_interrupted(err);
	for (size_t i = 0; i < sides && !rc; i++)
		rc = measure_side(c, &jobs[i],
				  jobs[i].checkout == &c->checkout[FZ_HEAD] ? FZ_HEAD : FZ_BASE,
				  err);
	if (!rc && c->base_is_empty)
		rc = add_empty_base(c, err);
	for (size_t i = sides; i < n && !rc; i++)
		if (jobs[i].profile)
			fz_ci_disturb(&c->result, moved, jobs[i].profile, c->workspace.whole);
	if (!rc && others)
		fz_ci_write_floors(&c->result, c->profile[moved]);
	for (size_t i = 0; i < n; i++)
		fz_job_release(&jobs[i]);
	return rc;
}

/* ---- before ---- */

static int load_config(struct fz_ci_run *c, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *usual =
		fz_asprintf("%s/fizeau.ini", c->workspace.repository.root);
	int rc = fz_ci_config_load(&c->config, c->options->config ? c->options->config : usual,
				   c->options->config != NULL, err);

	if (rc)
		return rc;
	if (c->options->timeout > 0)
		c->config.timeout = c->options->timeout;
	if (c->options->no_wall)
		c->config.wall = false;
	if (c->options->metrics.n)
		c->config.metrics = c->options->metrics;
	c->result.metrics = c->config.metrics;
	fz_revision_count_for(&c->config.metrics, &c->workspace.record);
	c->workspace.series.patience = c->config.timeout;
	c->rules = (struct fz_ci_rules){
		.config = &c->config, .today = c->today, .is_part = fz_ci_run_is_part, .arg = c
	};
	return 0;
}

static void name_sides(struct fz_ci_run *c)
{
	const struct fz_repository *r = &c->workspace.repository;

	c->labels[FZ_BASE] =
		c->base_file ? fz_strdup(c->base_file) : fz_asprintf("%.10s", c->base_commit);
	c->labels[FZ_HEAD] = fz_asprintf("%.10s%s", c->checkout[FZ_HEAD].commit,
					 r->dirty       ? " with uncommitted edits"
					 : c->untracked ? " with untracked files"
							: "");
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		c->result.labels[s] = c->labels[s];
	/* With edits, line numbers differ from those of the commit. */
	if (!r->dirty)
		c->files = fz_ci_source_files(r, c->checkout[FZ_HEAD].commit);
	c->result.files = c->files;
}

/* After --setup, which may build the program. */
static void describe_environment(struct fz_ci_run *c, const struct fz_counter *counter)
{
	struct fz_environment e = { .argv = c->workspace.argv,
				    .folder = c->checkout[FZ_HEAD].folder,
				    .root = c->workspace.repository.root,
				    .prefix = c->workspace.repository.prefix,
				    .setup = c->options->setup,
				    .valgrind = counter->valgrind,
				    .imports = c->workspace.imports,
				    .cache = c->workspace.record.cache,
				    .memory = c->workspace.record.memory,
				    .apart = c->workspace.record.apart,
				    .native = c->options->native };

	fz_environment_describe(&e, &c->environment);
	c->result.environment = c->environment.p;
}

static int prepare(struct fz_ci_run *c, struct fz_error *err)
{
	struct fz_counter counter = { 0 };
	/* Fail before anything is built or checked out. */
	int rc = fz_counter_find(&counter, err);

	if (!rc)
		rc = fz_workspace_find(&c->workspace, FZ_WORKSPACE_REMEDY, err);
	if (!rc)
		rc = fz_workspace_open(&c->workspace, "ci", c->notify, c->options->show_output,
				       err);
	if (!rc)
		rc = load_config(c, err);
	if (!rc)
		rc = fz_checkout_here(&c->workspace, &c->checkout[FZ_HEAD], err);
	if (!rc)
		rc = fz_ci_run_find_base(c, err);
	if (!rc) {
		c->untracked = fz_repository_untracked(&c->workspace.repository);
		name_sides(c);
		rc = fz_checkout_set_up(&c->workspace, &c->checkout[FZ_HEAD], err);
	}
	if (!rc) {
		fz_workspace_find_imports(&c->workspace, (char **)c->workspace.argv);
		describe_environment(c, &counter);
		rc = fz_ci_run_get_base(c, err);
	}
	fz_counter_end(&counter);
	return rc;
}

int fz_ci_run_begin(struct fz_ci_run *c, const struct fz_ci_run_options *o,
		    const struct fz_notify *notify, struct fz_error *err)
{
	*c = (struct fz_ci_run){ .options = o,
				 .notify = notify,
				 .workspace = FZ_WORKSPACE_NONE,
				 .result = FZ_CI_RESULT_INIT };
	fz_ci_config_init(&c->config);
	fz_ci_today(c->today);
	c->workspace.argv = o->argv;
	c->workspace.whole = fz_revision_whole(o->argv);
	c->workspace.setup = o->setup;
	c->workspace.native = o->native;
	c->workspace.record.cache = o->cache;
	return prepare(c, err);
}

/* ---- after ---- */

int fz_ci_run_measure(struct fz_ci_run *c, struct fz_error *err)
{
	int rc = try_out(c, err);

	if (!rc)
		rc = count_sides(c, err);
	if (rc)
		return rc;
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		c->result.trees[s] = c->checkout[s].tree;
	fz_ci_find_renamed(&c->result, c->profile[FZ_BASE], c->profile[FZ_HEAD]);
	fz_ci_suspect(&c->result, &c->rules);
	return fz_ci_run_time(c, err);
}

/* Of a base with stored counts, as committed. */
static void read_texts(struct fz_ci_run *c)
{
	const struct fz_repository *r = &c->workspace.repository;

	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		const char *tree = c->checkout[s].tree;
		fz_auto(fz_free_ptr) char *root =
			tree ? fz_strdup(tree) : fz_texts_root(r, c->profile[s]);
		if (root && (tree || c->base_commit))
			fz_texts_add(r, tree ? NULL : c->base_commit, root, c->profile[s]);
	}
}

int fz_ci_run_judge(struct fz_ci_run *c, struct fz_error *err)
{
	const char *const roots[FZ_SIDES] = { c->checkout[FZ_BASE].tree,
					      c->checkout[FZ_HEAD].tree };

	fz_assert(c->profile[FZ_BASE] && c->profile[FZ_HEAD]);
	read_texts(c);
	for (uint32_t i = 0; i < c->result.metrics.n; i++) {
		const char *metric = c->result.metrics.list[i];
		fz_auto(fz_comparison_freep) struct fz_comparison *found = NULL;
		int rc = fz_ci_diff(&c->result, c->profile[FZ_BASE], c->profile[FZ_HEAD], metric,
				    &found, err);
		if (rc)
			return rc;
		fz_ci_locate(&c->result, found->diff, metric, roots);
	}
	fz_ci_judge(&c->result, &c->rules);
	return 0;
}

void fz_ci_run_close(struct fz_ci_run *c)
{
	if (c->checkout[FZ_BASE].tree)
		fz_checkout_remove(&c->workspace, &c->checkout[FZ_BASE]);
	fz_workspace_close(&c->workspace);
}

void fz_ci_run_release(struct fz_ci_run *c)
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		fz_checkout_release(&c->checkout[s]);
		fz_profile_free(c->profile[s]);
		free(c->labels[s]);
	}
	fz_ci_release(&c->result);
	fz_ci_config_release(&c->config);
	fz_buf_release(&c->environment);
	free(c->baseline_folder);
	free(c->base_commit);
	free(c->untracked);
	free(c->files);
}
