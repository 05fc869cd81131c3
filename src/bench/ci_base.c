/* SPDX-License-Identifier: MIT */
/* The base of `fizeau ci`: a recording that the user names, or the merge base; see ci_run.h.
 *
 *   --base FILE -------------------------------.
 *   --base REV -> merge-base -> kept? -- yes ---+-> counts
 *                                 `--- no -> worktree, counted in this job
 */
#include "bench/ci_run.h"

#include "bench/environment.h"
#include "format/format.h"
#include "bench/baseline.h"

#include <unistd.h>

/* ---- which ---- */

static bool exists(const struct fz_repository *r, const char *revision)
{
	fz_auto(fz_free_ptr) char *commit = NULL;

	return !fz_repository_commit(r, revision, &commit, NULL);
}

/* The target branch of the pull request, if the CI service provides it; else the main branch. */
static char *default_base(const struct fz_repository *r)
{
	static const char *const branches[] = { "origin/HEAD", "origin/main", "origin/master",
						"main", "master" };
	const char *target = getenv("GITHUB_BASE_REF");

	if (!target || !*target)
		target = getenv("CI_MERGE_REQUEST_TARGET_BRANCH_NAME");
	if (target && *target)
		return fz_asprintf("origin/%s", target);
	for (size_t i = 0; i < FZ_ARRAY_LEN(branches); i++)
		if (exists(r, branches[i]))
			return fz_strdup(branches[i]);
	return fz_strdup("HEAD~1");
}

static int missing_history(const struct fz_repository *r, const char *revision,
			   struct fz_error *err)
{
	if (fz_repository_is_shallow(r))
		return fz_fail(err, FZ_EINPUT,
			       "'%s': not in this shallow clone, or its merge base is not; fetch "
			       "the full history (fetch-depth: 0, or git fetch --unshallow)",
			       revision);
	return fz_fail(err, FZ_EUSAGE,
		       "'%s': no such revision, or no common history with this checkout; fetch it, "
		       "or specify another with --base",
		       revision);
}

/* On the main branch itself the base is the previous commit, or HEAD if there are edits. */
static int base_of_head(struct fz_ci_run *c, struct fz_error *err)
{
	const struct fz_repository *r = &c->workspace.repository;

	if (r->dirty) {
		c->base_commit = fz_strdup(c->checkout[FZ_HEAD].commit);
		return 0;
	}
	if (exists(r, "HEAD~1"))
		return fz_repository_commit(r, "HEAD~1", &c->base_commit, err);
	return missing_history(r, "HEAD~1", err);
}

/* True if HEAD is a merge of that commit. Reads the commit object of HEAD, because a shallow clone
 * has no parents. */
static bool is_merge_of(const struct fz_repository *r, const char *commit)
{
	static const char *const words[] = { "cat-file", "commit", "HEAD", NULL };
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };
	int status, parents = 0;
	bool found = false;

	if (fz_repository_git(r, NULL, words, &out, NULL, &status, NULL) || status)
		return false;
	struct fz_str rest = fz_buf_view(&out), line;
	while ((line = fz_str_take_line(&rest)).n) {
		if (!fz_str_starts(line, "parent "))
			continue;
		parents++;
		found |= fz_str_ends(line, commit);
	}
	return found && parents > 1;
}

/* CI services check out a pull request as its merge with the tip of its target branch, often
 * without any history. The base is then that tip. */
static bool use_merged_tip(struct fz_ci_run *c, const char *revision)
{
	const struct fz_repository *r = &c->workspace.repository;
	fz_auto(fz_free_ptr) char *tip = NULL;

	if (!fz_repository_is_shallow(r) || fz_repository_commit(r, revision, &tip, NULL) ||
	    !is_merge_of(r, tip))
		return false;
	fz_notify_note(c->notify, "shallow clone: comparing HEAD with %.10s, which it merges", tip);
	c->base_commit = fz_steal(tip);
	return true;
}

static int find_commit(struct fz_ci_run *c, const char *revision, struct fz_error *err)
{
	const struct fz_repository *r = &c->workspace.repository;
	const char *const words[] = { "merge-base", "HEAD", revision, NULL };

	if (*revision == '-' || !exists(r, revision))
		return missing_history(r, revision, err);
	char *commit = fz_repository_query(r, words);
	if (!commit && use_merged_tip(c, revision))
		return 0;
	if (!commit)
		return missing_history(r, revision, err);
	if (strcmp(commit, c->checkout[FZ_HEAD].commit) == 0 && !c->options->base) {
		free(commit);
		return base_of_head(c, err);
	}
	c->base_commit = commit;
	return 0;
}

int fz_ci_run_find_base(struct fz_ci_run *c, struct fz_error *err)
{
	const char *base = c->options->base;

	if (base && access(base, F_OK) == 0 && !exists(&c->workspace.repository, base)) {
		c->base_file = base;
		return 0;
	}
	fz_auto(fz_free_ptr) char *revision =
		base ? fz_strdup(base) : default_base(&c->workspace.repository);
	return find_commit(c, revision, err);
}

/* ---- its counts ---- */

/* Check whether the recording was counted in another environment. */
static void compare_environment(struct fz_ci_run *c)
{
	struct fz_str then = fz_profile_fact(c->profile[FZ_BASE], "environment"), a, b;

	if (!then.n) {
		fz_ci_note(&c->result, "%s has no record of its counting environment",
			   c->base_file);
	} else if (fz_environment_differ(then, fz_buf_view(&c->environment), &a, &b)) {
		c->result.comparable = false;
		fz_ci_note(&c->result,
			   "%s was counted in a different environment: '%.*s' instead of '%.*s'",
			   c->base_file, (int)a.n, a.p, (int)b.n, b.p);
	}
}

static int collect_base(struct fz_ci_run *c, struct fz_error *err)
{
	return fz_ci_collect(&c->result, FZ_BASE, c->profile[FZ_BASE], c->workspace.whole, err);
}

static int load_file(struct fz_ci_run *c, struct fz_error *err)
{
	int rc = fz_format_load(c->base_file, &c->profile[FZ_BASE], err);

	if (rc)
		return fz_error_prefix(err, "--base");
	compare_environment(c);
	rc = collect_base(c, err);
	return rc ? fz_error_prefix(err, "--base %s", c->base_file) : 0;
}

int fz_ci_run_check_out_base(struct fz_ci_run *c, struct fz_error *err)
{
	if (c->checkout[FZ_BASE].tree)
		return 0;
	if (!c->base_commit)
		return fz_fail(err, FZ_EUSAGE, "the base is only a recording");
	return fz_checkout_add(&c->workspace, c->base_commit, "base", &c->checkout[FZ_BASE], err);
}

/* A clone does not fetch notes, and not every CI service fetches all branches. */
static void note_how_to_fetch(const struct fz_ci_run *c)
{
	int place = c->options->save ? fz_baseline_place_of(c->options->save) : -1;
	fz_auto(fz_free_ptr) char *command =
		place >= 0 ? fz_baseline_fetch(&c->baselines, (enum fz_baseline_place)place) : NULL;

	if (command)
		fz_notify_note(c->notify,
			       "this clone has no counts of earlier jobs; fetch them from a remote "
			       "with: %s",
			       command);
}

static int count_base_here(struct fz_ci_run *c, struct fz_error *err)
{
	note_how_to_fetch(c);
	return fz_ci_run_check_out_base(c, err);
}

int fz_ci_run_get_base(struct fz_ci_run *c, struct fz_error *err)
{
	int rc = fz_workspace_cache_folder("baselines", &c->baseline_folder, err);
	if (rc)
		return rc;
	c->baselines = (struct fz_baselines){ .repository = &c->workspace.repository,
					      .cache = c->baseline_folder,
					      .server = c->options->server };
	if (c->base_file)
		return load_file(c, err);
	bool found = fz_baseline_find(&c->baselines, c->base_commit, fz_buf_view(&c->environment),
				      &c->profile[FZ_BASE], &c->base_from);
	fz_counts_warn(&c->baselines, "ci", c->notify);
	if (!found)
		return count_base_here(c, err);
	fz_auto(fz_free_ptr) char *where = fz_baseline_describe(&c->baselines, &c->base_from);
	fz_notify_note(c->notify, "using stored counts of the base from %s", where);
	return collect_base(c, err);
}

/* ---- keeping ---- */

/* If both sides are the same commit, store the base, which has the floors. */
static int keep_both(struct fz_ci_run *c, enum fz_baseline_place place, struct fz_error *err)
{
	const struct fz_checkout *head = &c->checkout[FZ_HEAD];
	bool is_base = c->base_commit && strcmp(c->base_commit, head->commit) == 0;
	/* A base that is stored elsewhere is not copied, unless --save names a place. */
	bool found = c->base_from.commit[0] && !c->options->save;
	bool differs = c->workspace.repository.dirty || c->untracked;
	const char *commits[FZ_SIDES] = {
		found || c->base_is_empty ? NULL : c->base_commit,
		differs || is_base ? NULL : head->commit,
	};
	enum fz_baseline_place kept;
	int rc = 0;

	for (enum fz_side s = 0; s < FZ_SIDES && !rc; s++)
		if (commits[s] && !fz_baseline_is_kept(&c->baselines, place, commits[s],
						       fz_buf_view(&c->environment)))
			rc = fz_counts_save(&c->baselines, place, commits[s], c->profile[s], "ci",
					    c->notify, &kept, err);
	return rc;
}

int fz_ci_run_keep(struct fz_ci_run *c, struct fz_error *err)
{
	const char *save = c->options->save ? c->options->save : fz_baseline_names[0];
	int place = fz_baseline_place_of(save), rc;

	/* Incomplete counts must not become a base. */
	if (strcmp(save, "none") == 0 || c->result.trouble_n)
		return 0;
	if (place < 0) {
		rc = fz_format_save(c->profile[FZ_HEAD], &fz_format_fz, save, err);
		return rc ? fz_error_prefix(err, "--save") : 0;
	}
	if (c->workspace.repository.dirty && c->options->save)
		fz_notify_note(c->notify,
			       "not storing the counts of this tree: it has uncommitted edits");
	else if (c->untracked && c->options->save)
		fz_notify_note(c->notify,
			       "not storing the counts of this tree: %s is untracked; commit or "
			       "ignore it",
			       c->untracked);
	rc = keep_both(c, (enum fz_baseline_place)place, err);
	if (!rc || c->options->save)
		return rc;
	/* The cache is only the default, so a failure is not an error. */
	fz_notify_warn(c->notify, "ci: %s", err->message);
	return 0;
}

/* ---- commits between ---- */

bool fz_ci_run_is_part(void *arg, const char *commit)
{
	const struct fz_ci_run *c = arg;
	const struct fz_repository *r = &c->workspace.repository;
	const char *const in_head[] = { "merge-base", "--is-ancestor", commit, "HEAD", NULL };
	const char *const in_base[] = { "merge-base", "--is-ancestor", commit, c->base_commit,
					NULL };
	int head = 1, base = 1;

	if (*commit == '-' || !c->base_commit || !exists(r, commit))
		return false;
	return !fz_repository_git(r, NULL, in_head, NULL, NULL, &head, NULL) && head == 0 &&
	       !fz_repository_git(r, NULL, in_base, NULL, NULL, &base, NULL) && base != 0;
}
