/* SPDX-License-Identifier: MIT */
/* The recordings of the root's store, newest first. */
#include "base/clock.h"
#include "base/text.h"
#include "mcp/access.h"
#include "mcp/answer.h"
#include "mcp/tools.h"
#include "report/recording.h"
#include "store/store.h"

#include <stdio.h>
#include <time.h>

enum { ROWS_MAX = 200, COMMAND_COLUMNS = 80 };

static void add_row(json_t *rows, size_t number, const struct fz_profile *p)
{
	char name[32], made[32] = "", word[FZ_RECORDING_WORD];
	fz_auto(fz_buf_release) struct fz_buf command = { 0 };
	time_t start = p->run_count ? (time_t)(p->runs[0].start_unix_ns / FZ_SECOND) : 0;
	struct tm local;
	json_t *row = json_object();

	snprintf(name, sizeof(name), "@%zu", number);
	json_object_set_new(row, "name", json_string(name));
	if (localtime_r(&start, &local))
		strftime(made, sizeof(made), "%Y-%m-%d %H:%M", &local);
	json_object_set_new(row, "made", json_string(made));
	json_object_set_new(row, "kind", json_string(fz_recording_kind(p, word)));
	json_object_set_new(row, "ended", json_string(fz_recording_ending(p, word)));
	json_object_set_new(
		row, "commit",
		fz_mcp_printable(fz_str_of(fz_recording_commit(p, word)), FZ_RECORDING_WORD));
	fz_recording_command(p, &command);
	json_object_set_new(row, "command",
			    fz_mcp_printable(fz_buf_view(&command), COMMAND_COLUMNS));
	json_array_append_new(rows, row);
}

static int list(struct fz_mcp_call *c, struct fz_error *err)
{
	fz_auto(fz_store_list_release) struct fz_store_list l = { 0 };
	json_t *rows = json_array();
	char text[FZ_NUMBER_SIZE];
	int64_t n = 0;
	int r = fz_store_list_here(&l, NULL, err);

	for (size_t i = 0; !r && i < l.n; i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
		struct fz_error broken;

		if (!fz_mcp_may_read(l.paths[i]))
			continue;
		n++;
		if (i < ROWS_MAX && !fz_store_facts(l.paths[i], &p, &broken))
			add_row(rows, i + 1, p);
	}
	json_object_set_new(c->answer, "says", json_string(fz_format_plural(n, "recording", text)));
	if (json_array_size(rows))
		json_object_set(c->answer, "recordings", rows);
	else
		fz_mcp_next(c, "create a recording with 'fizeau run PROGRAM'");
	json_decref(rows);
	return r;
}

const struct fz_mcp_tool fz_mcp_tool_list = {
	.name = "list_recordings",
	.title = "List recordings",
	.help = "Recordings in the project's store, newest first. Other profile files, in any "
		"supported format, are specified by path.",
	.arguments = (const struct fz_mcp_argument[]){ { 0 } },
	.run = list,
};
