/* SPDX-License-Identifier: MIT */
/* fizeau history: what benchmarks cost over the commits, and which of them changed that.
 *
 *   commits of the range ---- kept by `ci` or by us? ---- yes --.
 *                                     '--- no, with a command: counted now, and kept
 *                                                               '--> series -> turns -> where
 *
 * The newest commits are counted first: who does not want to wait for the others ends it, and
 * what is known by then is shown.
 */
#include "capture/facts.h"
#include "ci/baseline.h"
#include "ci/history.h"
#include "cli/revision.h"

#include <stdio.h>
#include <unistd.h>

enum { COMMITS_DEFAULT = 30, COMMITS_MAX = 10000 };

static const char *const format_names[] = { "text", "json", NULL };

static struct {
	struct fz_revision_options count;
	const char *filter, *html;
	double threshold; /* 0: as fizeau.ini says */
	int commits, save, format, color;
	bool fresh;
} options;

/* clang-format off */
static const struct fz_opt option_table[] = {
	{ .kind = FZ_OPT_GROUP, .help = "What is shown" },
	{ .kind = FZ_OPT_INT, .short_name = 'n', .long_name = "commits", .argument = "N",
	  .value = &options.commits, .min = 1, .max = COMMITS_MAX,
	  .help = "at most so many commits, the latest (default 30)" },
	{ .kind = FZ_OPT_STRING, .short_name = 'k', .long_name = "filter", .argument = "TEXT",
	  .value = &options.filter, .help = "only benchmarks whose names contain this" },
	{ .kind = FZ_OPT_CALL, .long_name = "threshold", .argument = "PART",
	  .value = &options.threshold, .call = fz_cli_parse_threshold,
	  .help = "the smallest change that counts, 5% say (default: as fizeau.ini says, else 2%)" },
	{ .kind = FZ_OPT_GROUP, .help = "Counting" },
	FZ_REVISION_OPTION_ENTRIES(options.count),
	{ .kind = FZ_OPT_CHOICE, .long_name = "save", .argument = "PLACE", .value = &options.save,
	  .choices = fz_baseline_names,
	  .help = "where counts are kept: cache (default), notes (of git: refs/notes/fizeau), "
		  "branch (fizeau-data)" },
	{ .kind = FZ_OPT_FLAG, .long_name = "fresh", .value = &options.fresh,
	  .help = "count commits again whose counts are kept" },
	{ .kind = FZ_OPT_GROUP, .help = "Output" },
	{ .kind = FZ_OPT_CHOICE, .long_name = "format", .argument = "NAME",
	  .value = &options.format, .choices = format_names, .help = "text (default), json" },
	{ .kind = FZ_OPT_STRING, .long_name = "html", .argument = "FILE", .value = &options.html,
	  .help = "write a page of charts as well" },
	{ .kind = FZ_OPT_CHOICE, .long_name = "color", .argument = "WHEN", .value = &options.color,
	  .choices = fz_cli_color_names, .help = "auto (default), always, never" },
	{ .kind = FZ_OPT_END },
};
/* clang-format on */

/* A recording that is kept of one of the commits. */
struct found {
	uint32_t commit;
	struct fz_kept kept;
};

struct run {
	struct fz_workspace workspace; /* without a command only its repository is used */
	struct fz_ci_config config;
	struct fz_baselines baselines;
	char *cache;
	struct fz_history history;
	struct found *found;
	size_t n, cap;
	char *const *argv; /* NULL: nothing is counted */
	const char *range;
};

static void release(struct run *r)
{
	fz_history_release(&r->history);
	fz_ci_config_release(&r->config);
	fz_repository_release(&r->workspace.repository);
	free(r->found);
	free(r->cache);
}

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

/* Append what git says of at most so many commits, latest first: "HASH DAY SUBJECT" a line. */
static int ask_titles(const struct run *r, const char *revision, int most, struct fz_buf *out,
		      struct fz_error *err)
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

/* Split in place. */
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
		fz_grow(t->list, t->n, t->cap);
		t->list[t->n++] = (struct fz_history_commit){ at, day, subject };
		at = next;
	}
}

/* Of A..B also A: what came after is compared with it. */
static void add_start(const struct run *r, struct fz_buf *titles)
{
	const char *last = titles->p;

	for (const char *p = titles->p; *p; p++)
		if (*p == '\n' && p[1])
			last = p + 1;
	fz_auto(fz_free_ptr) char *parent = fz_asprintf("%.*s^", (int)strcspn(last, " "), last);
	ask_titles(r, parent, 1, titles, NULL);
}

static int find_commits(struct run *r, struct fz_error *err)
{
	fz_auto(titles_release) struct titles t = { 0 };

	if (*r->range == '-')
		return fz_revision_unknown(&r->workspace.repository, r->range, err);
	int rc = ask_titles(r, r->range, options.commits, &t.text, err);
	if (rc)
		return rc;
	if (!t.text.n)
		return fz_fail(err, FZ_EUSAGE, "'%s': there is no commit in it", r->range);
	if (strstr(r->range, ".."))
		add_start(r, &t.text);
	split_titles(&t);
	for (uint32_t i = 0; i < t.n / 2; i++) {
		struct fz_history_commit other = t.list[i];
		t.list[i] = t.list[t.n - 1 - i];
		t.list[t.n - 1 - i] = other;
	}
	fz_history_init(&r->history, t.list, t.n);
	return 0;
}

static uint32_t commit_of(const struct run *r, const char *hash)
{
	for (uint32_t i = 0; i < r->history.n; i++)
		if (strcmp(r->history.commits[i].commit, hash) == 0)
			return i;
	return FZ_NONE;
}

/* ---- what is kept ---- */

static bool is_found(const struct run *r, uint32_t commit, const char *key)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->found[i].commit == commit &&
		    (!key || strcmp(r->found[i].kept.key, key) == 0))
			return true;
	return false;
}

/* Of another command's benchmarks there is nothing to be shown where one was given. */
static bool is_ours(const struct run *r, const struct fz_profile *p)
{
	fz_auto(fz_profile_freep) struct fz_profile *asked = NULL;

	if (!r->argv)
		return true;
	asked = fz_profile_new();
	fz_facts_command(asked, r->argv);
	return fz_str_eq(fz_profile_fact(asked, "command"), fz_profile_fact(p, "command"));
}

static int take(struct run *r, uint32_t commit, const struct fz_kept *kept,
		const struct fz_profile *p, struct fz_error *err)
{
	int rc = fz_history_add(&r->history, commit, p, r->config.metric, options.filter, err);

	if (rc)
		return rc;
	fz_grow(r->found, r->n, r->cap);
	r->found[r->n++] = (struct found){ commit, *kept };
	return 0;
}

static void take_kept(struct run *r)
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
			rc = take(r, commit, &l.list[i], p, &err);
		if (rc)
			fz_cli_warn("history: %.10s: %s", l.list[i].commit, err.message);
	}
}

/* ---- counting what is not ---- */

static void show_progress(const char *commit, uint32_t done, uint32_t all)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[Kfizeau: counting %.10s, %u of %u\r", commit, done + 1,
			all);
}

static int count_commit(struct run *r, uint32_t commit, struct fz_error *err)
{
	const char *hash = r->history.commits[commit].commit;
	fz_auto(fz_revision_release) struct fz_revision counted = { 0 };
	enum fz_baseline_place place = (enum fz_baseline_place)options.save;
	struct fz_kept kept = { .place = place };
	int rc = fz_revision_count(&r->workspace, hash, false, &counted, err);

	if (rc)
		return rc;
	if (counted.trouble)
		fz_cli_note("%.10s%s: %s", hash, counted.profile ? "" : " is left out",
			    counted.trouble);
	if (!counted.profile)
		return 0;
	/* What is not complete is shown, not kept: somebody would compare with it. */
	if (counted.trouble)
		return take(r, commit, &kept, counted.profile, err);
	rc = fz_baseline_save(&r->baselines, place, hash, counted.profile, err);
	if (rc)
		return rc;
	snprintf(kept.commit, sizeof(kept.commit), "%s", hash);
	fz_baseline_key(fz_profile_fact(counted.profile, "environment"), kept.key);
	return take(r, commit, &kept, counted.profile, err);
}

static int count_missing(struct run *r, struct fz_error *err)
{
	uint32_t missing = 0, done = 0;
	int rc = 0;

	for (uint32_t i = 0; i < r->history.n; i++)
		missing += options.fresh || !is_found(r, i, NULL);
	for (uint32_t i = r->history.n; i-- > 0 && !rc;) {
		if (!options.fresh && is_found(r, i, NULL))
			continue;
		show_progress(r->history.commits[i].commit, done++, missing);
		rc = count_commit(r, i, err);
	}
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	if (rc && fz_series_stopped(&r->workspace.series) && r->n) {
		fz_cli_warn("history: interrupted; commits that were not counted are left out");
		rc = 0;
	}
	return rc;
}

/* ---- where ---- */

static struct fz_profile *read_found(const struct run *r, uint32_t commit, const char *environment)
{
	struct fz_profile *p = NULL;
	char key[FZ_BASELINE_KEY_SIZE];

	fz_baseline_key(fz_str_of(environment), key);
	for (size_t i = 0; i < r->n && !p; i++)
		if (r->found[i].commit == commit && strcmp(r->found[i].kept.key, key) == 0)
			fz_baseline_read(&r->baselines, &r->found[i].kept, &p, NULL);
	return p;
}

/* The top of the checkout that a recording was made in. */
static char *root_of(const struct run *r, const struct fz_profile *p)
{
	struct fz_str folder = fz_profile_fact(p, "cwd");
	size_t prefix = strlen(r->workspace.repository.prefix);

	if (prefix && folder.n > prefix && fz_str_ends(folder, r->workspace.repository.prefix))
		folder.n -= prefix;
	while (folder.n > 1 && folder.p[folder.n - 1] == '/')
		folder.n--;
	return fz_strndup(folder.p, folder.n);
}

static void locate(struct run *r, const struct fz_history_series *s,
		   const struct fz_history_turn *turn)
{
	const char *environment = r->history.environments[s->environment[turn->step.at]];
	uint32_t since = (uint32_t)turn->step.since, at = (uint32_t)turn->step.at;
	fz_auto(fz_profile_freep) struct fz_profile *base = read_found(r, since, environment);
	fz_auto(fz_profile_freep) struct fz_profile *head = read_found(r, at, environment);

	if (!base || !head)
		return;
	fz_auto(fz_free_ptr) char *base_root = root_of(r, base);
	fz_auto(fz_free_ptr) char *head_root = root_of(r, head);
	const char *const roots[FZ_SIDES] = { base_root, head_root };
	fz_history_locate(&r->history, since, at, base, head, roots);
}

/* One pair of recordings tells where all benchmarks changed between its commits. */
static void locate_all(struct run *r)
{
	for (uint32_t i = 0; i < r->history.series_n; i++) {
		const struct fz_history_series *s = &r->history.series[i];
		for (uint32_t t = 0; t < s->turn_n; t++)
			if (!s->turns[t].place.context)
				locate(r, s, &s->turns[t]);
	}
}

/* ---- the command ---- */

static int nothing_known(const struct run *r, struct fz_error *err)
{
	if (options.filter && r->n)
		return fz_fail(err, FZ_EINPUT, "no benchmark has '%s' in its name", options.filter);
	if (r->argv)
		return fz_fail(err, FZ_EINPUT, "no commit could be counted");
	return fz_fail(err, FZ_EINPUT,
		       "no counts are kept of these commits; give the command, and they are "
		       "counted: fizeau history -- COMMAND");
}

static int write_page(const struct run *r, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *title = fz_asprintf(
		"Benchmarks of %s", fz_path_base(fz_str_of(r->workspace.repository.root)).p);
	struct fz_output *out;
	int rc = fz_output_open(options.html, &out, err);

	if (rc)
		return rc;
	fz_history_html(&r->history, title, out);
	return fz_output_close(out, err);
}

static int print(const struct run *r, struct fz_error *err)
{
	struct fz_style style = fz_style_of(STDOUT_FILENO, (enum fz_color_when)options.color);
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	struct fz_output *out;

	if (options.format == 0) {
		fz_history_text(&r->history, &style, &text);
		fz_cli_print(fz_buf_view(&text));
		return 0;
	}
	int rc = fz_output_open("-", &out, err);
	if (rc)
		return rc;
	fz_history_json(&r->history, out);
	return fz_output_close(out, err);
}

static int open_repository(struct run *r, struct fz_error *err)
{
	if (r->argv)
		return fz_revision_open(&r->workspace, "history", &options.count, r->argv,
					&fz_cli_notify, &r->config, err);
	int rc = fz_repository_find(&r->workspace.repository, err);
	return rc ? rc
		  : fz_revision_configure(&r->workspace.repository, &options.count, &r->config,
					  err);
}

static int history(struct run *r, struct fz_error *err)
{
	int rc = open_repository(r, err);

	if (!rc)
		rc = fz_workspace_cache_folder("baselines", &r->cache, err);
	r->baselines = (struct fz_baselines){ &r->workspace.repository, r->cache };
	if (!rc)
		rc = find_commits(r, err);
	if (!rc)
		take_kept(r);
	if (!rc && r->argv)
		rc = count_missing(r, err);
	if (rc)
		return rc;
	fz_history_find(&r->history, &r->config, options.threshold);
	if (!r->history.series_n)
		return nothing_known(r, err);
	locate_all(r);
	if (options.html)
		rc = write_page(r, err);
	return rc ? rc : print(r, err);
}

/* [REVISIONS] [-- CMD] */
static int take_arguments(const struct fz_opt_state *state, struct run *r, char ***ret_argv,
			  struct fz_error *err)
{
	int before = state->saw_dashes ? state->after_dashes : state->argument_count;
	struct fz_launch_words words = { .words = state->arguments + before,
					 .n = (size_t)(state->argument_count - before),
					 .plain = true };

	if (before > 1)
		return fz_fail(err, FZ_EUSAGE,
			       "takes one range of revisions, such as v1.0..HEAD; the command to "
			       "count comes after '--'");
	r->range = before ? state->arguments[0] : "HEAD";
	if (!words.n)
		return 0;
	int rc = fz_launch_command(&words, ret_argv, err);
	r->argv = rc ? NULL : *ret_argv;
	return rc;
}

static int run(const struct fz_command *command, int argc, char **argv)
{
	struct fz_opt_state state = { .options = option_table };
	fz_auto(release) struct run r = { .workspace = FZ_WORKSPACE_NONE };
	fz_auto(fz_free_ptr) char **child = NULL;
	struct fz_error err;
	int status;

	options.commits = COMMITS_DEFAULT;
	options.count.metric = FZ_REVISION_METRIC;
	if (!fz_cli_parse(command, &state, argc, argv, &status))
		return status;
	fz_ci_config_init(&r.config);
	int rc = take_arguments(&state, &r, &child, &err);
	if (!rc)
		rc = history(&r, &err);
	fz_workspace_close(&r.workspace);
	if (rc) {
		fz_error_prefix(&err, "history");
		fz_cli_error(&err);
	}
	if (r.workspace.series.stopped_by)
		return 128 + r.workspace.series.stopped_by;
	return rc ? FZ_EXIT_TROUBLE : FZ_EXIT_OK;
}

const struct fz_command fz_command_history = {
	.name = "history",
	.summary = "what benchmarks cost over the commits, and which changed that",
	.usage = "[options] [REVISIONS] [-- COMMAND [ARGUMENTS]]",
	.examples = "  $ fizeau history -- ./benchmarks     # count the last 30 commits\n"
		    "  $ fizeau history v1.0..HEAD -k parse --html history.html -- ./benchmarks\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_PROGRAM,
	.run = run,
};
