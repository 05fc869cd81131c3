/* SPDX-License-Identifier: MIT */
/* Two sides recorded alternately; see revisions.h.
 *
 *   base  ---B1      B2---B3      B4---        alternately, so that other load affects both sides
 *   head      H1---H2      H3---H4             equally
 *
 * The base runs in a git worktree in a scratch folder, the head in the user's own tree, in the same
 * folder relative to the top. The user's tree is not written to: recordings, the worktree and
 * Python's bytecode all go elsewhere.
 *
 * Ctrl-C ends only the series: what was measured is compared, and the worktree is always removed.
 */
#include "bench/revisions.h"

#include "base/clock.h"
#include "base/map.h"
#include "format/format.h"
#include "profile/merge.h"
#include "bench/checkout.h"
#include "record/measure.h"
#include "bench/origin.h"
#include "bench/revision.h"

#include <sys/wait.h>
#include <unistd.h>

enum { AGAIN_MAX = 3 };

struct side {
	struct fz_checkout checkout;
	char *shell[4]; /* a command that sh runs */
	char *const *argv;
};

struct comparison {
	const struct fz_compare_options *options;
	const struct fz_notify *notify;
	struct fz_paired_run *result;
	struct fz_workspace workspace;
	struct side side[FZ_SIDES];
	bool seen;          /* some run was recorded, so it is possible */
	int64_t longest_ns; /* of the measured runs so far */
};

/* ---- checkouts ---- */

static int open_workspace(struct comparison *c, struct fz_error *err)
{
	c->workspace.record = c->options->record;
	/* Threads that wait use no CPU time, so all threads can be recorded. */
	c->workspace.record.all_threads |= c->options->record.clock == FZ_CLOCK_CPU;
	c->workspace.setup = c->options->setup;
	return fz_workspace_open(&c->workspace, "compare", c->notify, c->options->show_output, err);
}

/* The base if no revision is given, so that uncommitted edits or the last commit are compared. */
static const char *default_revision(const struct fz_repository *r)
{
	return r->dirty ? "HEAD" : "HEAD~1";
}

/* Check out a revision, and set up both it and the user's tree. */
static int check_out(struct comparison *c, struct fz_error *err)
{
	const char *revision = c->options->revision;
	struct fz_repository *r = &c->workspace.repository;
	struct side *base = &c->side[FZ_BASE], *head = &c->side[FZ_HEAD];
	fz_auto(fz_free_ptr) char *commit = NULL;
	int rc = fz_workspace_find(&c->workspace,
				   "use --base-command and --head-command to compare two commands",
				   err);

	if (rc)
		return rc;
	if (!revision)
		revision = default_revision(r);
	if (fz_repository_commit(r, revision, &commit, NULL))
		return fz_revision_unknown(r, revision, err);
	rc = open_workspace(c, err);
	if (rc)
		return rc;
	c->result->side[FZ_BASE].label = fz_asprintf("%s (%.10s)", revision, commit);
	c->result->side[FZ_HEAD].label =
		fz_strdup(r->dirty ? "working tree, not committed" : "working tree (HEAD)");
	rc = fz_checkout_add(&c->workspace, commit, "the base", &base->checkout, err);
	if (!rc)
		rc = fz_checkout_here(&c->workspace, &head->checkout, err);
	if (!rc)
		rc = fz_checkout_set_up(&c->workspace, &head->checkout, err);
	if (!rc)
		fz_workspace_find_imports(&c->workspace, (char **)head->argv);
	return rc;
}

static int two_commands(struct comparison *c, struct fz_error *err)
{
	char cwd[4096];

	if (!getcwd(cwd, sizeof(cwd)))
		return fz_fail_errno(err, "the current folder");
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		struct side *side = &c->side[s];
		side->shell[0] = (char *)"sh";
		side->shell[1] = (char *)"-c";
		side->shell[2] = (char *)c->options->commands[s];
		side->argv = side->shell;
		side->checkout =
			(struct fz_checkout){ .name = "this folder", .folder = fz_strdup(cwd) };
		c->result->side[s].label = fz_strdup(c->options->commands[s]);
	}
	int rc = open_workspace(c, err);
	/* Both use the same folder, which is set up once. */
	return rc ? rc : fz_checkout_set_up(&c->workspace, &c->side[FZ_HEAD].checkout, err);
}

/* ---- runs ---- */

static int check_status(const struct comparison *c, const struct fz_series_run *run,
			struct fz_error *err)
{
	char how[32];

	if (c->options->ignore_failure || !run->child.reaped || run->child.status == 0)
		return 0;
	fz_trial_describe(&run->child, how, sizeof(how));
	return fz_fail(err, FZ_EINPUT,
		       "the command ended with %s%s; use --ignore-failure to compare anyway",
		       WIFEXITED(run->child.status) ? "status " : "", how);
}

/* True if a run succeeded but had no samples. */
static bool is_unseen(struct comparison *c, const struct fz_series_run *run, int rc)
{
	bool unlucky = rc == FZ_EGONE || (rc == FZ_EINPUT && c->seen);

	return unlucky && !run->profile && run->child.reaped && run->child.status == 0 &&
	       !fz_series_stopped(&c->workspace.series);
}

/* A warm-up before counted runs is not counted: under the counter Python writes no bytecode, so
 * every counted run would compile every module. */
static int run_once(struct comparison *c, char *const argv[], bool warm_up,
		    const struct fz_launch_place *place, struct fz_series_run *ret,
		    struct fz_error *err)
{
	if (!warm_up || !c->workspace.record.count)
		return fz_series_record(&c->workspace.series, argv, place, ret, err);
	*ret = (struct fz_series_run){ 0 };
	return fz_series_run(&c->workspace.series, argv, place, &ret->child, err);
}

static int run_side(struct comparison *c, enum fz_side s, const char *name, bool warm_up,
		    struct fz_error *err)
{
	struct side *side = &c->side[s];
	fz_auto(fz_environ_release) struct fz_environ own;
	struct fz_launch_place place = { .folder = side->checkout.folder,
					 .no_input = true,
					 .output = c->workspace.output,
					 .errors = -1 };
	struct fz_series_run run;

	fz_notify_progress(c->notify, "%s", name);
	fz_workspace_keep_bytecode(&c->workspace, fz_side_names[s]);
	fz_checkout_environ(&c->workspace, &side->checkout, &own);
	place.environ = own.list;
	int rc = run_once(c, side->argv, warm_up, &place, &run, err);
	/* On a busy machine a short program may end before it is sampled. */
	for (int again = 0; is_unseen(c, &run, rc) && again < AGAIN_MAX; again++) {
		fz_notify_warn(c->notify, "compare: %s: %s; retrying", name, err->message);
		rc = run_once(c, side->argv, warm_up, &place, &run, err);
	}
	c->seen |= run.profile != NULL;
	if (fz_series_stopped(&c->workspace.series)) {
		fz_notify_warn(c->notify, "compare: interrupted; dropping the unfinished %s of %s",
			       warm_up ? "warm-up" : "run", fz_side_names[s]);
		rc = 0;
	} else {
		int failed = check_status(c, &run, err);
		rc = failed ? failed : rc;
		if (!rc && run.profile)
			rc = fz_origin_check(run.profile, side->checkout.tree, err);
		if (!rc && !warm_up)
			rc = fz_profile_merge(c->result->side[s].profile, run.profile, err);
	}
	fz_profile_free(run.profile);
	return rc ? fz_error_prefix(err, "%s", name) : 0;
}

int fz_paired_run_count(int64_t run_ns, bool counted)
{
	const int64_t enough_ns = 20 * FZ_SECOND;
	const int64_t least = 3, most = counted ? least : 10;

	return (int)FZ_MAX(least, FZ_MIN(most, enough_ns / FZ_MAX(run_ns, 1)));
}

/* Run base and head once each, in alternating order. n: number of pairs; 0: not known yet. */
static int run_pair(struct comparison *c, bool warm_up, int i, int n, struct fz_error *err)
{
	for (int k = 0; k < 2 && !fz_series_stopped(&c->workspace.series); k++) {
		enum fz_side s = (i + k) % 2 ? FZ_HEAD : FZ_BASE;
		fz_auto(fz_free_ptr) char *of = n ? fz_asprintf(" of %d", n) : fz_strdup("");
		fz_auto(fz_free_ptr) char *name = fz_asprintf(
			"%s, %s %d%s", fz_side_names[s], warm_up ? "warm-up" : "run", i + 1, of);
		int64_t start = fz_clock_now();
		int rc = run_side(c, s, name, warm_up, err);

		if (rc)
			return rc;
		if (!warm_up)
			c->longest_ns = FZ_MAX(c->longest_ns, fz_clock_now() - start);
	}
	return 0;
}

static int measure(struct comparison *c, struct fz_error *err)
{
	int n = c->options->runs, rc = 0;

	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		c->result->side[s].profile = fz_profile_new();
	for (int i = 0; i < c->options->warmup && !rc; i++)
		rc = run_pair(c, true, i, c->options->warmup, err);
	for (int i = 0; (i == 0 || i < n) && !rc; i++) {
		rc = run_pair(c, false, i, n, err);
		if (!n)
			n = fz_paired_run_count(c->longest_ns, c->options->record.count);
	}
	fz_notify_progress_end(c->notify);
	for (enum fz_side s = 0; s < FZ_SIDES && c->options->setup; s++)
		fz_profile_set_fact(c->result->side[s].profile, "setup",
				    fz_str_of(c->options->setup));
	return rc;
}

/* ---- results ---- */

int fz_paired_run_make(struct fz_paired_run *ret, const struct fz_compare_options *o,
		       const struct fz_notify *notify, struct fz_error *err)
{
	struct comparison c = {
		.options = o, .notify = notify, .result = ret, .workspace = FZ_WORKSPACE_NONE
	};

	*ret = (struct fz_paired_run){ 0 };
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		c.side[s].argv = o->argv;
	int rc = o->commands[FZ_BASE] ? two_commands(&c, err) : check_out(&c, err);
	if (!rc)
		rc = measure(&c, err);
	if (!rc) {
		const struct fz_checkout *head = &c.side[FZ_HEAD].checkout;
		ret->project = fz_strdup(head->tree ? head->tree : head->folder);
	}
	fz_checkout_remove(&c.workspace, &c.side[FZ_BASE].checkout);
	fz_checkout_release(&c.side[FZ_HEAD].checkout);
	fz_workspace_close(&c.workspace);
	ret->stopped_by = c.workspace.series.stopped_by;
	return rc;
}

int fz_paired_run_keep(struct fz_paired_run *c, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *cache = NULL;
	struct fz_str top = fz_str_of(c->project);
	/* Two projects may have the same name. */
	unsigned place = (unsigned)fz_hash_bytes(top.p, top.n);
	int rc = fz_workspace_cache_folder("compare", &cache, err);

	for (enum fz_side s = 0; s < FZ_SIDES && !rc; s++) {
		fz_auto(fz_free_ptr) char *path = fz_asprintf(
			"%s/%s-%08x-%s.fz", cache, fz_path_base(top).p, place, fz_side_names[s]);
		rc = fz_format_save(c->side[s].profile, &fz_format_fz, path, err);
		if (!rc)
			c->side[s].kept = fz_steal(path);
	}
	return rc;
}

void fz_paired_run_release(struct fz_paired_run *c)
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		free(c->side[s].label);
		free(c->side[s].kept);
		fz_profile_free(c->side[s].profile);
	}
	free(c->project);
}
