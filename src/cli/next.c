/* SPDX-License-Identifier: MIT */
/* fizeau without a command, where there are recordings: what can be done with them.
 *
 *   2 recordings here; the latest is of app.py. Next:
 *     fizeau show                       what the latest holds
 *     fizeau replay @1 --browser        where its time went, as a page
 *     fizeau diff                       what changed since the run before
 */
#include "cli/next.h"

#include "report/recording.h"
#include "report/table.h"
#include "store/store.h"

#include <unistd.h>

enum { COMMAND_COLUMNS = 40 };

static void add_step(const char *command, const char *does, struct fz_buf *out)
{
	fz_buf_printf(out, "  %-28s %s\n", command, does);
}

/* "app.py --slow", or the name that the recorder gave the file. */
static void add_program(const char *path, struct fz_buf *out)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	struct fz_store_name name;
	struct fz_error err;

	if (!fz_store_facts(path, &p, &err) && fz_profile_fact(p, "command").n)
		fz_recording_command(p, out);
	else if (fz_store_parse_name(path, &name))
		fz_buf_add(out, name.program.p, name.program.n);
	else
		fz_buf_str(out, path);
}

static bool has_pair(void)
{
	fz_auto(fz_free_ptr) char *base = NULL;
	fz_auto(fz_free_ptr) char *head = NULL;
	struct fz_error err;
	bool namesakes;

	return fz_store_last_two(&base, &head, &namesakes, &err) == 0;
}

bool fz_cli_next_steps(struct fz_buf *out)
{
	fz_auto(fz_store_list_release) struct fz_store_list list = { 0 };
	fz_auto(fz_buf_release) struct fz_buf program = { 0 };
	struct fz_style style = fz_style_of(STDERR_FILENO, FZ_COLOR_AUTO);
	struct fz_error err;

	if (fz_store_list_here(&list, NULL, &err) || !list.n)
		return false;
	add_program(list.paths[0], &program);
	fz_buf_printf(out, "%zu recording%s here; the latest is of ", list.n,
		      list.n == 1 ? "" : "s");
	fz_table_text(fz_buf_view(&program), COMMAND_COLUMNS, &style, out);
	fz_buf_str(out, ". Next:\n");
	add_step("fizeau show", "what the latest recording holds", out);
	add_step("fizeau replay @1 --browser", "where its time went, as a page", out);
	if (has_pair()) {
		add_step("fizeau diff", "what changed since the run before", out);
		add_step("fizeau diff --browser", "the same as a page", out);
	} else {
		add_step("fizeau run PROGRAM", "record it again, then compare with 'fizeau diff'",
			 out);
	}
	add_step("fizeau list", "all recordings", out);
	add_step("fizeau help", "all commands", out);
	return true;
}
