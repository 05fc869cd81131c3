/* SPDX-License-Identifier: MIT */
/* Series of counts over commits; see history_run.h.
 *
 *   commits of the range ---- stored by `ci` or by us? -- yes --.
 *                                     '--- no, with a command: counted now, and stored
 *                                                               '--> series -> turns -> places
 *
 * The newest commits are counted first: the user can interrupt, and what has been counted by then
 * is shown.
 */
#include "bench/history_run.h"

#include "record/facts.h"
#include "git/forge.h"
#include "bench/baseline.h"
#include "bench/texts.h"

#include <stdio.h>

/* ---- commits ---- */

struct titles {
	struct fz_buf text;
	struct fz_history_commit *list;
	uint32_t n, cap;
};

static void titles_release(struct titles *t)
{
	fz_buf_release(&t->text);
	free(t->list);
}

/* Append lines "HASH DAY SUBJECT" of at most `most` commits, latest first. */
static int list_titles(const struct fz_history_run *r, const char *revision, int most,
		       struct fz_buf *out, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *count = fz_asprintf("--max-count=%d", most);
	const char *const words[] = { "log",
				      "--first-parent",
				      "--no-show-signature",
				      count,
				      "--format=%H %cs %s",
				      revision,
				      "--",
				      NULL };
	int status = 1;
	int rc = fz_repository_git(&r->workspace.repository, NULL, words, out, NULL, &status, err);

	return rc ? rc : status ? fz_revision_unknown(&r->workspace.repository, revision, err) : 0;
}

/* Split the lines in place. */
static void split_titles(struct titles *t)
{
	char *at = t->text.p;

	while (at && *at) {
		char *end = at + strcspn(at, "\n"), *day = at + strcspn(at, " "), *subject;
		char *next = end + (*end == '\n');
		*end = '\0';
		if (*day)
			*day++ = '\0';
		subject = day + strcspn(day, " ");
		if (*subject)
			*subject++ = '\0';
		fz_push(t->list, t->n, t->cap, (struct fz_history_commit){ at, day, subject });
		at = next;
	}
}

/* For A..B also add A, with which the next commit is compared. */
static void add_start(const struct fz_history_run *r, struct fz_buf *titles)
{
	const char *last = titles->p;

	for (const char *p = titles->p; *p; p++)
		if (*p == '\n' && p[1])
			last = p + 1;
	fz_auto(fz_free_ptr) char *parent = fz_asprintf("%.*s^", (int)strcspn(last, " "), last);
	list_titles(r, parent, 1, titles, NULL);
}

/* Find the web pages of commits from the default remote. */
static void find_pages(struct fz_history_run *r)
{
	fz_auto(fz_free_ptr) char *remote = fz_repository_remote(&r->workspace.repository);
	fz_auto(fz_free_ptr) char *pages = fz_forge_commits(remote);

	if (pages)
		r->history.commit_pages = fz_arena_strndup(&r->history.arena, pages, strlen(pages));
}

static int find_commits(struct fz_history_run *r, struct fz_error *err)
{
	fz_auto(titles_release) struct titles t = { 0 };

	if (*r->options->range == '-')
		return fz_revision_unknown(&r->workspace.repository, r->options->range, err);
	int rc = list_titles(r, r->options->range, r->options->commits, &t.text, err);
	if (rc)
		return rc;
	if (!t.text.n)
		return fz_fail(err, FZ_EUSAGE, "'%s': no commits in this range", r->options->range);
	if (strstr(r->options->range, ".."))
		add_start(r, &t.text);
	split_titles(&t);
	for (uint32_t i = 0; i < t.n / 2; i++) {
		struct fz_history_commit other = t.list[i];
		t.list[i] = t.list[t.n - 1 - i];
		t.list[t.n - 1 - i] = other;
	}
	fz_history_init(&r->history, t.list, t.n);
	find_pages(r);
	return 0;
}

static uint32_t commit_of(const struct fz_history_run *r, const char *hash)
{
	for (uint32_t i = 0; i < r->history.n; i++)
		if (strcmp(r->history.commits[i].commit, hash) == 0)
			return i;
	return FZ_NONE;
}

/* ---- stored counts ---- */

static bool is_found(const struct fz_history_run *r, uint32_t commit, const char *key)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->found[i].commit == commit &&
		    (!key || strcmp(r->found[i].kept.key, key) == 0))
			return true;
	return false;
}

/* True if no command was given or p was recorded with it. */
static bool is_ours(const struct fz_history_run *r, const struct fz_profile *p)
{
	fz_auto(fz_profile_freep) struct fz_profile *asked = NULL;

	if (!r->options->argv)
		return true;
	asked = fz_profile_new();
	fz_facts_command(asked, r->options->argv);
	return fz_str_eq(fz_profile_fact(asked, "command"), fz_profile_fact(p, "command"));
}

static int add_result(struct fz_history_run *r, uint32_t commit, const struct fz_kept *kept,
		      const struct fz_profile *p, struct fz_error *err)
{
	int rc = fz_history_add(&r->history, commit, p, r->config.metrics.list[0],
				r->options->filter, err);

	if (rc)
		return rc;
	fz_push(r->found, r->n, r->cap, (struct fz_history_found){ commit, *kept });
	return 0;
}

/* True if the server is unreachable, which is reported once and not for each commit. */
static bool is_away(const struct fz_history_run *r, const struct fz_kept *k)
{
	return k->place == FZ_BASELINE_SERVER && r->baselines.server->trouble.code;
}

static void read_kept(struct fz_history_run *r)
{
	fz_auto(fz_kept_release) struct fz_kept_list l = { 0 };

	fz_baseline_list(&r->baselines, NULL, &l);
	for (size_t i = 0; i < l.n; i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
		uint32_t commit = commit_of(r, l.list[i].commit);
		struct fz_error err;
		if (commit == FZ_NONE || is_found(r, commit, l.list[i].key))
			continue;
		int rc = fz_baseline_read(&r->baselines, &l.list[i], &p, &err);
		if (!rc && is_ours(r, p))
			rc = add_result(r, commit, &l.list[i], p, &err);
		if (rc && !is_away(r, &l.list[i]))
			fz_notify_warn(r->notify, "history: %.10s: %s", l.list[i].commit,
				       err.message);
	}
	fz_counts_warn(&r->baselines, "history", r->notify);
}

/* ---- counting the others ---- */

static int count_commit(struct fz_history_run *r, uint32_t commit, struct fz_error *err)
{
	const char *hash = r->history.commits[commit].commit;
	fz_auto(fz_revision_release) struct fz_revision counted = { 0 };
	enum fz_baseline_place place = (enum fz_baseline_place)r->options->save;
	struct fz_kept kept = { .place = place };
	int rc = fz_revision_count(&r->workspace, hash, false, &counted, err);

	if (rc)
		return rc;
	if (counted.trouble)
		fz_notify_note(r->notify, "%.10s%s: %s", hash, counted.profile ? "" : " is omitted",
			       counted.trouble);
	if (!counted.profile)
		return 0;
	/* Incomplete counts are shown but not stored, so that nothing is compared with them. */
	if (counted.trouble)
		return add_result(r, commit, &kept, counted.profile, err);
	rc = fz_counts_save(&r->baselines, place, hash, counted.profile, "history", r->notify,
			    &kept.place, err);
	if (rc)
		return rc;
	snprintf(kept.commit, sizeof(kept.commit), "%s", hash);
	fz_baseline_key(fz_profile_fact(counted.profile, "environment"), kept.key);
	return add_result(r, commit, &kept, counted.profile, err);
}

static int count_missing(struct fz_history_run *r, struct fz_error *err)
{
	uint32_t missing = 0, done = 0;
	int rc = 0;

	for (uint32_t i = 0; i < r->history.n; i++)
		missing += r->options->fresh || !is_found(r, i, NULL);
	for (uint32_t i = r->history.n; i-- > 0 && !rc;) {
		if (!r->options->fresh && is_found(r, i, NULL))
			continue;
		done++;
		fz_notify_progress(r->notify, "counting %.10s, %u of %u",
				   r->history.commits[i].commit, done, missing);
		rc = count_commit(r, i, err);
	}
	fz_notify_progress_end(r->notify);
	if (rc && fz_series_stopped(&r->workspace.series) && r->n) {
		fz_notify_warn(r->notify,
			       "history: interrupted; the remaining commits are omitted");
		rc = 0;
	}
	return rc;
}

/* ---- places ---- */

static struct fz_profile *read_found(const struct fz_history_run *r, uint32_t commit,
				     const char *environment)
{
	struct fz_profile *p = NULL;
	char key[FZ_BASELINE_KEY_SIZE];

	fz_baseline_key(fz_str_of(environment), key);
	for (size_t i = 0; i < r->n && !p; i++)
		if (r->found[i].commit == commit && strcmp(r->found[i].kept.key, key) == 0)
			fz_baseline_read(&r->baselines, &r->found[i].kept, &p, NULL);
	return p;
}

static void locate(struct fz_history_run *r, const struct fz_history_series *s,
		   const struct fz_history_turn *turn)
{
	const char *environment = r->history.environments[s->environment[turn->step.at]];
	uint32_t since = (uint32_t)turn->step.since, at = (uint32_t)turn->step.at;
	fz_auto(fz_profile_freep) struct fz_profile *base = read_found(r, since, environment);
	fz_auto(fz_profile_freep) struct fz_profile *head = read_found(r, at, environment);

	if (!base || !head)
		return;
	fz_auto(fz_free_ptr) char *base_root = fz_texts_root(&r->workspace.repository, base);
	fz_auto(fz_free_ptr) char *head_root = fz_texts_root(&r->workspace.repository, head);
	const char *const roots[FZ_SIDES] = { base_root, head_root };
	fz_history_locate(&r->history, since, at, base, head, roots);
}

/* One pair of recordings gives the places of all benchmarks that changed between its commits. */
static void locate_all(struct fz_history_run *r)
{
	for (uint32_t i = 0; i < r->history.series_n; i++) {
		const struct fz_history_series *s = &r->history.series[i];
		for (uint32_t t = 0; t < s->turn_n; t++)
			if (!s->turns[t].place.context)
				locate(r, s, &s->turns[t]);
	}
}

/* ---- all of it ---- */

static int nothing_known(const struct fz_history_run *r, struct fz_error *err)
{
	if (r->options->filter && r->n)
		return fz_fail(err, FZ_EINPUT, "no benchmark name contains '%s'",
			       r->options->filter);
	if (r->options->argv)
		return fz_fail(err, FZ_EINPUT, "no commits could be counted");
	return fz_fail(err, FZ_EINPUT,
		       "no stored counts of these commits; add the command to count them: fizeau "
		       "history -- COMMAND");
}

static int open_repository(struct fz_history_run *r, struct fz_error *err)
{
	if (r->options->argv)
		return fz_revision_open(&r->workspace, "history", &r->options->count,
					r->options->argv, r->notify, &r->config, err);
	int rc = fz_repository_find(&r->workspace.repository, err);
	return rc ? rc
		  : fz_revision_configure(&r->workspace.repository, &r->options->count, &r->config,
					  err);
}

int fz_history_run_make(struct fz_history_run *r, const struct fz_history_run_options *o,
			const struct fz_notify *notify, struct fz_error *err)
{
	*r = (struct fz_history_run){ .options = o,
				      .notify = notify,
				      .workspace = FZ_WORKSPACE_NONE };
	fz_ci_config_init(&r->config);
	int rc = open_repository(r, err);
	if (!rc)
		rc = fz_workspace_cache_folder("baselines", &r->cache, err);
	r->baselines = (struct fz_baselines){ &r->workspace.repository, r->cache, o->server };
	if (!rc)
		rc = find_commits(r, err);
	if (!rc)
		read_kept(r);
	if (!rc && o->argv)
		rc = count_missing(r, err);
	if (rc)
		return rc;
	fz_history_find(&r->history, &r->config, o->threshold);
	if (!r->history.series_n)
		return nothing_known(r, err);
	locate_all(r);
	return 0;
}

void fz_history_run_close(struct fz_history_run *r)
{
	fz_workspace_close(&r->workspace);
}

void fz_history_run_release(struct fz_history_run *r)
{
	fz_history_release(&r->history);
	fz_ci_config_release(&r->config);
	fz_repository_release(&r->workspace.repository);
	free(r->found);
	free(r->cache);
}
