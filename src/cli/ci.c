/* SPDX-License-Identifier: MIT */
/* fizeau ci: what a change does to the benchmarks of a project.
 *
 *   base (merge-base) --kept, or counted--\                     /--> text, folder of reports
 *                  .--others---> floors ---> suspects --> verdicts
 *   head (this tree) --counted------------/       |            \--> exit status
 *                                                  `-- timed in turn
 *
 * A base that was counted before under the same circumstances is taken from where it was kept;
 * else it is counted in this job, on this machine. Its parts are in ci.h.
 */
#include "cli/ci.h"

#include "capture/count/count.h"
#include "ci/environment.h"
#include "session/revision.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { OTHERS_DEFAULT = 2, OTHERS_MAX = 20, PARALLEL_MAX = 64 };

static struct fz_ci_options options;

/* clang-format off */
static const struct fz_opt option_table[] = {
	{ .kind = FZ_OPT_GROUP, .help = "What is compared" },
	{ .kind = FZ_OPT_STRING, .long_name = "base", .argument = "BASE", .value = &options.base,
	  .help = "the branch or commit that this is compared with, at the commit where the two "
		  "parted (default: what the pull request goes into, else the main branch); or a "
		  "recording, such as head.fz of an earlier report" },
	{ .kind = FZ_OPT_STRING, .long_name = "save", .argument = "PLACE", .value = &options.save,
	  .help = "where counts are kept, so that a commit is counted once: cache (default), "
		  "notes (of git: refs/notes/fizeau), branch (fizeau-data), none, or a file for "
		  "this tree's" },
	{ .kind = FZ_OPT_STRING, .long_name = "setup", .argument = "COMMAND",
	  .value = &options.setup,
	  .help = "run by sh in each tree first, to build or install it" },
	{ .kind = FZ_OPT_STRING, .long_name = "config", .argument = "FILE",
	  .value = &options.config,
	  .help = "thresholds and the like (default: fizeau.ini at the top of the checkout)" },
	{ .kind = FZ_OPT_GROUP, .help = "Measuring" },
	{ .kind = FZ_OPT_CALL, .long_name = "timeout", .argument = "SECONDS",
	  .value = &options.timeout, .call = fz_cli_parse_duration,
	  .help = "of each run (default 600)" },
	{ .kind = FZ_OPT_INT, .long_name = "others", .argument = "N", .value = &options.others,
	  .min = 0, .max = OTHERS_MAX,
	  .help = "runs of the base in other surroundings, for the floors (default 2)" },
	{ .kind = FZ_OPT_FLAG, .long_name = "no-wall", .value = &options.no_wall,
	  .help = "do not confirm by the clock" },
	{ .kind = FZ_OPT_FLAG, .long_name = "cache", .value = &options.cache,
	  .help = "simulate caches as well: tells changes of layout, and estimates cycles" },
	{ .kind = FZ_OPT_FLAG, .long_name = "native", .value = &options.native,
	  .help = "count functions of the Python interpreter apart, not as their callers' own" },
	{ .kind = FZ_OPT_INT, .short_name = 'j', .long_name = "jobs", .argument = "N",
	  .value = &options.parallel, .min = 1, .max = PARALLEL_MAX,
	  .help = "count so many runs side by side (default: one for each processor)" },
	{ .kind = FZ_OPT_FLAG, .long_name = "show-output", .value = &options.show_output,
	  .help = "let the command's output through, to standard error" },
	{ .kind = FZ_OPT_GROUP, .help = "Output" },
	{ .kind = FZ_OPT_STRING, .short_name = 'o', .long_name = "output", .argument = "FOLDER",
	  .value = &options.output,
	  .help = "write comment.md, report.html, report.json, junit.xml, badge.svg, "
		  "annotations.txt, base.fz and head.fz there" },
	{ .kind = FZ_OPT_STRING, .long_name = "link", .argument = "URL", .value = &options.link,
	  .help = "where report.html will be found, for the comment" },
	{ .kind = FZ_OPT_CHOICE, .long_name = "color", .argument = "WHEN", .value = &options.color,
	  .choices = fz_cli_color_names, .help = "auto (default), always, never" },
	{ .kind = FZ_OPT_END },
};
/* clang-format on */

/* ---- counting ---- */

static unsigned parallel(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return options.parallel ? (unsigned)options.parallel : n > 0 ? (unsigned)n : 1;
}

/* The command as usual, once a side: what fails here would fail for ten times as long. */
static int try_out(struct fz_ci_run *c, struct fz_error *err)
{
	struct fz_job jobs[FZ_SIDES] = { 0 };
	size_t n = 0;
	int rc = 0;

	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		if (c->checkout[s].tree)
			jobs[n++] = (struct fz_job){ .checkout = &c->checkout[s], .native = true };
	/* One after the other: they share the bytecode that they write. */
	if (!fz_jobs_run(&c->workspace, jobs, n, 1))
		rc = fz_series_interrupted(err);
	for (size_t i = 0; i < n; i++) {
		if (!rc && jobs[i].fatal)
			rc = fz_fail(err, FZ_EINPUT, "%s: %s", jobs[i].checkout->name,
				     jobs[i].trouble);
		fz_job_release(&jobs[i]);
	}
	return rc;
}

/* A run of a side; what went wrong with some benchmarks is in its recording. */
static int take_side(struct fz_ci_run *c, struct fz_job *job, enum fz_side s, struct fz_error *err)
{
	if (job->fatal)
		return fz_fail(err, FZ_EINPUT, "%s: %s", job->checkout->name, job->trouble);
	c->profile[s] = fz_steal(job->profile);
	fz_profile_set_fact(c->profile[s], "environment", fz_buf_view(&c->environment));
	return fz_ci_collect(&c->result, s, c->profile[s], c->config.metric, c->workspace.whole,
			     err);
}

/* What is not known yet, side by side: both sides, and one of them in other surroundings. */
static int count_sides(struct fz_ci_run *c, struct fz_error *err)
{
	struct fz_job jobs[FZ_SIDES + OTHERS_MAX] = { 0 };
	enum fz_side moved = c->profile[FZ_BASE] ? FZ_HEAD : FZ_BASE;
	bool known = c->profile[FZ_BASE] && fz_ci_read_floors(&c->result, c->profile[FZ_BASE]);
	size_t n = 0, others = known ? 0 : (size_t)options.others;
	int rc = 0;

	for (int s = FZ_HEAD; s >= FZ_BASE; s--)
		if (!c->profile[s])
			jobs[n++].checkout = &c->checkout[s];
	size_t sides = n;
	for (size_t i = 0; i < others; i++)
		jobs[n++] = (struct fz_job){ .checkout = &c->checkout[moved],
					     .other = (unsigned)i + 1 };
	if (!fz_jobs_run(&c->workspace, jobs, n, parallel()))
		rc = fz_series_interrupted(err);
	for (size_t i = 0; i < sides && !rc; i++)
		rc = take_side(c, &jobs[i],
			       jobs[i].checkout == &c->checkout[FZ_HEAD] ? FZ_HEAD : FZ_BASE, err);
	for (size_t i = sides; i < n && !rc; i++)
		if (jobs[i].profile)
			fz_ci_disturb(&c->result, moved, jobs[i].profile, c->config.metric,
				      c->workspace.whole);
	if (!rc && others)
		fz_ci_write_floors(&c->result, c->profile[moved]);
	for (size_t i = 0; i < n; i++)
		fz_job_release(&jobs[i]);
	return rc;
}

/* ---- the command ---- */

static int load_config(struct fz_ci_run *c, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *usual =
		fz_asprintf("%s/fizeau.ini", c->workspace.repository.root);
	int rc = fz_ci_config_load(&c->config, options.config ? options.config : usual,
				   options.config != NULL, err);

	if (rc)
		return rc;
	if (options.timeout > 0)
		c->config.timeout = options.timeout;
	if (options.no_wall)
		c->config.wall = false;
	if (strcmp(c->config.metric, "cycles") == 0)
		options.cache = true;
	c->workspace.record.cache = options.cache;
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
					 r->dirty ? " with edits that are not committed" : "");
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		c->result.labels[s] = c->labels[s];
	c->result.link = options.link;
}

/* After --setup, which may build the program. */
static void describe_environment(struct fz_ci_run *c, const struct fz_counter *counter)
{
	struct fz_environment e = { .argv = c->workspace.argv,
				    .folder = c->checkout[FZ_HEAD].folder,
				    .root = c->workspace.repository.root,
				    .prefix = c->workspace.repository.prefix,
				    .setup = options.setup,
				    .valgrind = counter->valgrind,
				    .cache = options.cache,
				    .native = options.native };

	fz_environment_describe(&e, &c->environment);
	c->result.environment = c->environment.p;
}

static int prepare(struct fz_ci_run *c, struct fz_error *err)
{
	struct fz_counter counter = { 0 };
	/* Before anything is built or checked out. */
	int rc = fz_counter_find(&counter, err);

	if (!rc)
		rc = fz_workspace_find(&c->workspace, FZ_WORKSPACE_REMEDY, err);
	if (!rc)
		rc = fz_workspace_open(&c->workspace, "ci", &fz_cli_notify, options.show_output,
				       err);
	if (!rc)
		rc = load_config(c, err);
	if (!rc)
		rc = fz_checkout_here(&c->workspace, &c->checkout[FZ_HEAD], err);
	if (!rc)
		rc = fz_ci_run_find_base(c, err);
	if (!rc) {
		name_sides(c);
		rc = fz_checkout_set_up(&c->workspace, &c->checkout[FZ_HEAD], err);
	}
	if (!rc) {
		describe_environment(c, &counter);
		rc = fz_ci_run_get_base(c, err);
	}
	fz_counter_end(&counter);
	return rc;
}

static int measure(struct fz_ci_run *c, struct fz_error *err)
{
	int rc = try_out(c, err);

	if (!rc)
		rc = count_sides(c, err);
	if (rc)
		return rc;
	fz_ci_suspect(&c->result, &c->rules);
	return fz_ci_run_time(c, err);
}

static int ci(struct fz_ci_run *c, struct fz_error *err)
{
	int rc = prepare(c, err);

	if (!rc)
		rc = measure(c, err);
	if (!rc)
		rc = fz_ci_run_report(c, err);
	if (!rc)
		rc = fz_ci_run_keep(c, err);
	if (c->checkout[FZ_BASE].tree)
		fz_checkout_remove(&c->workspace, &c->checkout[FZ_BASE]);
	fz_workspace_close(&c->workspace);
	return rc;
}

static void find_today(struct fz_ci_run *c)
{
	time_t now = time(NULL);
	struct tm utc;

	gmtime_r(&now, &utc);
	strftime(c->today, sizeof(c->today), "%Y-%m-%d", &utc);
}

static void release(struct fz_ci_run *c)
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
}

static int run(const struct fz_command *command, int argc, char **argv)
{
	struct fz_opt_state state = { .options = option_table, .stop_at_first = true };
	fz_auto(release) struct fz_ci_run c = { .options = &options,
						.workspace = FZ_WORKSPACE_NONE,
						.result = FZ_CI_RESULT_INIT };
	fz_auto(fz_free_ptr) char **child = NULL;
	struct fz_error err;
	int status;

	options.others = OTHERS_DEFAULT;
	if (!fz_cli_parse(command, &state, argc, argv, &status))
		return status;
	struct fz_launch_words words = { .words = state.arguments,
					 .n = (size_t)state.argument_count,
					 .plain = state.saw_dashes && state.after_dashes == 0 };
	fz_ci_config_init(&c.config);
	find_today(&c);
	int rc = fz_launch_command(&words, &child, &err);
	if (!rc) {
		c.workspace.argv = child;
		c.workspace.whole = fz_revision_whole(child);
		c.workspace.setup = options.setup;
		c.workspace.native = options.native;
		rc = ci(&c, &err);
	}
	if (rc) {
		fz_error_prefix(&err, "ci");
		fz_cli_error(&err);
	}
	if (c.workspace.series.stopped_by)
		return 128 + c.workspace.series.stopped_by;
	return rc ? FZ_EXIT_TROUBLE : fz_ci_exit(&c.result);
}

const struct fz_command fz_command_ci = {
	.name = "ci",
	.summary = "what a pull request does to performance: a verdict for each benchmark",
	.usage = "[options] -- COMMAND [ARGUMENTS]",
	.examples =
		"  $ fizeau ci -- pytest tests/bench         # this branch against the main "
		"branch\n"
		"  $ fizeau ci --base v1.0 --setup make -- ./benchmarks\n"
		"  $ fizeau ci -o report -- node bench.mjs   # comment, page, JUnit in report/\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_PROGRAM,
	.run = run,
};
