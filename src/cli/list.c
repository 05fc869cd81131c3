/* SPDX-License-Identifier: MIT */
/* fizeau list: the recordings of the local store, newest first. */
#include "cli/cli.h"

#include "base/io.h"
#include "report/table.h"
#include "store/store.h"

#include <limits.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int limit;

static const struct fz_opt option_table[] = {
	{ .kind = FZ_OPT_INT,
	  .short_name = 'l',
	  .long_name = "limit",
	  .argument = "N",
	  .help = "show the newest N only",
	  .value = &limit,
	  .min = 1,
	  .max = INT32_MAX },
	{ .kind = FZ_OPT_END },
};

static void format_start(const struct fz_profile *p, char *out, size_t size)
{
	time_t start = p->run_count ? (time_t)(p->runs[0].start_unix_ns / 1000000000) : 0;
	struct tm local;

	localtime_r(&start, &local);
	strftime(out, size, "%Y-%m-%d %H:%M:%S", &local);
}

/* "3c82fae", with a "+" when the checkout held changes that were not committed. */
static void format_commit(const struct fz_profile *p, char *out, size_t size)
{
	struct fz_str commit = fz_profile_fact(p, "git.commit");
	bool dirty = fz_str_eq(fz_profile_fact(p, "git.dirty"), FZ_STR("yes"));

	snprintf(out, size, "%.*s%s", (int)FZ_MIN(commit.n, 7), commit.p, dirty ? "+" : "");
}

static void add_recording(size_t number, const char *path, const struct fz_style *style,
			  struct fz_buf *out)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	char start[32], duration[FZ_NUMBER_SIZE], samples[FZ_NUMBER_SIZE], commit[16], name[32];
	struct fz_error err;

	snprintf(name, sizeof(name), "@%zu", number);
	fz_buf_printf(out, "%-4s ", name);
	if (fz_store_facts(path, &p, &err)) {
		fz_buf_str(out, "unreadable: ");
		fz_table_text(fz_str_of(err.message), UINT_MAX, style, out);
		fz_buf_printf(out, "; 'fizeau rm @%zu' deletes it\n", number);
		return;
	}
	format_start(p, start, sizeof(start));
	format_commit(p, commit, sizeof(commit));
	fz_buf_printf(out, "%s %8s %9s  %-8s  ", start,
		      fz_format_ns((double)p->recording.duration_ns, duration),
		      fz_format_count((int64_t)p->quality.taken, samples), commit);
	fz_table_text(fz_profile_fact(p, "program"), FZ_MAX(style->columns, 70u) - 56, style, out);
	fz_buf_char(out, '\n');
}

static int list(const struct fz_command *command, int argc, char **argv)
{
	struct fz_opt_state state = { .options = option_table };
	struct fz_style style = fz_style_of(STDOUT_FILENO, FZ_COLOR_AUTO);
	fz_auto(fz_store_list_release) struct fz_store_list l = { 0 };
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };
	struct fz_error err;
	char cwd[4096];
	int status;

	if (!fz_cli_parse(command, &state, argc, argv, &status))
		return status;
	if (state.argument_count)
		return fz_cli_errorf("list: takes no arguments");
	if (!getcwd(cwd, sizeof(cwd)))
		return fz_cli_errorf("list: the current folder is gone");
	fz_auto(fz_free_ptr) char *folder = fz_store_folder(cwd);
	if (fz_store_list(folder, &l, &err))
		return fz_cli_error(&err);
	if (l.n == 0) {
		fz_cli_note("no recordings in %s; 'fizeau run' makes one", folder);
		return FZ_EXIT_OK;
	}
	fz_buf_printf(&out, "%-4s %-19s %8s %9s  %-8s  %s\n", "", "made", "lasted", "samples",
		      "commit", "program");
	for (size_t i = 0; i < l.n && (limit == 0 || i < (size_t)limit); i++)
		add_recording(i + 1, l.paths[i], &style, &out);
	fz_cli_print(fz_buf_view(&out));
	return FZ_EXIT_OK;
}

const struct fz_command fz_command_list = {
	.name = "list",
	.summary = "list the recordings of the local store",
	.usage = "[options]",
	.examples = "  $ fizeau list           # @1 is the latest\n"
		    "  $ fizeau list -l 5\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_NOTHING,
	.run = list,
};
