/* SPDX-License-Identifier: MIT */
/* fizeau list: the recordings of the local store, newest first.
 *
 *        made               lasted  kind   ended     commit    command
 *   -    2026-11-22 09:38   4.10 s  wall   running   3c82fae+  pid 4711: app.py --slow
 *   @1   2026-11-22 09:37   579 ms  wall   exit 3    3c82fae   app.py --fast
 *
 * Unfinished recordings come first, without a number.
 */
#include "cli/cli.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/table.h"
#include "profile/runs.h"
#include "report/recording.h"
#include "store/store.h"

#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int limit;

static const struct fz_opt option_table[] = {
	FZ_OPT(INT, "limit", "N", &limit, "show only the newest N", .short_name = 'l', .min = 1,
	       .max = INT32_MAX),
	{ .kind = FZ_OPT_END },
};

struct row {
	const char *path;
	size_t number; /* 0: unfinished */
	struct fz_store_name name;
	struct fz_profile *p; /* facts; NULL: none yet */
};

/* A killed recorder stored no duration; the file was last written at about its end. */
static int64_t last_written(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return 0;
	return fz_clock_ns(st.st_mtim);
}

static bool is_cut(const struct row *r)
{
	return r->p && r->number && fz_recording_is_cut(r->p);
}

static int64_t start_of(const struct row *r)
{
	return r->p && r->p->run_count ? r->p->runs[0].start_unix_ns : r->name.start_unix_ns;
}

/* Duration of one run in ns. */
static double lasted(const struct row *r)
{
	if (!r->number)
		return (double)(fz_clock_unix() - start_of(r));
	if (is_cut(r))
		return (double)FZ_MAX(last_written(r->path) - start_of(r), 0);
	return r->p ? (double)r->p->recording.duration_ns / FZ_MAX(r->p->run_count, 1) : 0;
}

/* How it ended: "running" if unfinished, "" if the file cannot be read. */
static const char *ending_of(const struct row *r, char out[FZ_RECORDING_WORD])
{
	if (!r->number)
		return "running";
	return r->p ? fz_recording_ending(r->p, out) : "";
}

static void add_command(struct fz_table *t, const struct row *r)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	if (!r->number)
		fz_buf_printf(&text, "pid %d: ", r->name.pid);
	if (r->p && fz_profile_fact(r->p, "command").n)
		fz_recording_command(r->p, &text);
	else
		fz_buf_add(&text, r->name.program.p, r->name.program.n);
	fz_table_text(fz_buf_view(&text), fz_table_last(t), t->style, t->out);
}

static void add_row(struct fz_table *t, const struct row *r)
{
	char made[32], kind[FZ_RECORDING_WORD] = "", ending[FZ_RECORDING_WORD];
	char commit[FZ_RECORDING_WORD] = "";
	const struct fz_run *failed;
	time_t start = (time_t)(start_of(r) / FZ_SECOND);
	struct tm local;

	localtime_r(&start, &local);
	strftime(made, sizeof(made), "%Y-%m-%d %H:%M", &local);
	if (r->p) {
		fz_recording_kind(r->p, kind);
		fz_recording_commit(r->p, commit);
	}
	fz_table_cell(t, made);
	fz_table_value(t, lasted(r), "ns");
	fz_table_cell(t, kind);
	t->hue = r->p && fz_profile_failed_runs(r->p, &failed) ? FZ_HUE_RED : FZ_HUE_NONE;
	fz_table_cell(t, ending_of(r, ending));
	t->hue = FZ_HUE_NONE;
	fz_table_cell(t, commit);
	add_command(t, r);
}

static void add_broken(struct fz_table *t, const struct row *r, bool ours, const char *why)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	struct stat st;

	if (ours && stat(r->path, &st) == 0 && st.st_size == 0)
		fz_buf_printf(&text, "empty: recording of %.*s was killed before it wrote any data",
			      (int)r->name.program.n, r->name.program.p);
	else
		fz_buf_printf(&text, "unreadable: %s", why);
	fz_buf_printf(&text, "; 'fizeau rm @%zu' deletes it", r->number);
	fz_table_str(t, fz_buf_view(&text));
}

static void add_recording(struct fz_table *t, size_t number, const char *path)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	struct row row = { .path = path, .number = number, .name = { .program = FZ_STR("") } };
	bool ours = fz_store_parse_name(path, &row.name);
	char name[32] = "-";
	struct fz_error err;
	int broken = fz_store_facts(path, &p, &err);

	row.p = p;
	if (number)
		snprintf(name, sizeof(name), "@%zu", number);
	fz_table_cell(t, name);
	if (!broken || (ours && !number))
		add_row(t, &row);
	else
		add_broken(t, &row, ours, err.message);
	fz_table_end(t);
}

static int list(struct fz_opt_state *state)
{
	static const struct fz_column columns[] = {
		{ .min = 4 },
		{ "made", .gap = 1, .min = 16 },
		{ "lasted", FZ_RIGHT, .gap = 1, .min = 8 },
		{ "kind", .gap = 2, .min = 5 },
		{ "ended", .gap = 2, .min = 8 },
		{ "commit", .gap = 2, .min = 8 },
		{ "command", .gap = 2 },
	};
	struct fz_style style = fz_style_of(STDOUT_FILENO, FZ_COLOR_AUTO);
	fz_auto(fz_store_list_release) struct fz_store_list l = { 0 };
	fz_auto(fz_store_list_release) struct fz_store_list open = { 0 };
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };
	struct fz_table t;
	struct fz_error err;
	char cwd[4096];

	if (state->argument_count)
		return fz_cli_errorf("list: takes no arguments");
	if (!getcwd(cwd, sizeof(cwd)))
		return fz_cli_errorf("list: the current folder no longer exists");
	fz_auto(fz_free_ptr) char *folder = fz_store_folder(cwd);
	if (fz_store_list(folder, &l, &open, &err))
		return fz_cli_error(&err);
	if (l.n == 0 && open.n == 0) {
		fz_cli_note("no recordings in %s; use 'fizeau run' to make one", folder);
		return FZ_EXIT_OK;
	}
	fz_table_init(&t, columns, FZ_ARRAY_LEN(columns), &style, &out);
	fz_table_titles(&t);
	for (size_t i = 0; i < open.n; i++)
		add_recording(&t, 0, open.paths[i]);
	for (size_t i = 0; i < l.n && (limit == 0 || i < (size_t)limit); i++)
		add_recording(&t, i + 1, l.paths[i]);
	fz_cli_print(fz_buf_view(&out));
	return FZ_EXIT_OK;
}

const struct fz_command fz_command_list = {
	.name = "list",
	.summary = "list stored recordings",
	.usage = "[options]",
	.examples = "  $ fizeau list           # @1 is the latest\n"
		    "  $ fizeau list -l 5\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_NOTHING,
	.run = list,
};
