/* SPDX-License-Identifier: MIT */
/* Processes of a recording:
 *
 *       pid   parent  samples  process
 *     13203        1    3,179  python3 par.py
 *     13246    13203      150  python3 child.py 1
 */
#include "report/processes.h"

#include "profile/processes.h"
#include "report/table.h"

enum { SHOWN = 10, COLUMN = 9, NAME_AT = 2 };

static int compare(const void *pa, const void *pb)
{
	const struct fz_profile_process *a = pa, *b = pb;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return (a->pid > b->pid) - (a->pid < b->pid);
}

/* "python3 app.py" of "/usr/bin/python3 app.py". */
static struct fz_str without_folder(struct fz_str command)
{
	const char *blank = memchr(command.p, ' ', command.n);
	size_t word = blank ? (size_t)(blank - command.p) : command.n;
	size_t cut = word - fz_path_base((struct fz_str){ command.p, word }).n;

	return (struct fz_str){ command.p + cut, command.n - cut };
}

static void print_row(const struct fz_profile_process *p, const struct fz_style *style,
		      struct fz_buf *out)
{
	char number[FZ_NUMBER_SIZE];

	fz_buf_printf(out, "%*llu", COLUMN, (unsigned long long)p->pid);
	if (p->parent)
		fz_buf_printf(out, "%*llu", COLUMN, (unsigned long long)p->parent);
	else
		fz_buf_printf(out, "%*s", COLUMN, "-");
	fz_buf_printf(out, "%*s%*s", COLUMN, fz_format_count((int64_t)p->samples, number), NAME_AT,
		      "");
	fz_table_text(without_folder(p->command), fz_table_rest(style, 3 * COLUMN + NAME_AT + 1),
		      style, out);
	fz_buf_char(out, '\n');
}

void fz_report_processes_text(const struct fz_profile *p, const struct fz_style *style,
			      struct fz_buf *out)
{
	fz_auto(fz_processes_release) struct fz_processes ps = fz_profile_processes(p);

	uint32_t n = fz_processes_sampled(&ps);

	if (n < 2)
		return;
	qsort(ps.list, ps.n, sizeof(*ps.list), compare);
	fz_buf_printf(out, "%s%*s%*s%*s%*sprocess%s\n", fz_hue_on(style, FZ_HUE_DIM), COLUMN, "pid",
		      COLUMN, "parent", COLUMN, "samples", NAME_AT, "",
		      fz_hue_off(style, FZ_HUE_DIM));
	for (uint32_t i = 0; i < n && i < SHOWN; i++)
		print_row(&ps.list[i], style, out);
	if (n > SHOWN)
		fz_buf_printf(out, "%*s%u more\n", 3 * COLUMN + NAME_AT, "and ", n - SHOWN);
	fz_buf_char(out, '\n');
}

void fz_report_processes_json(const struct fz_profile *p, struct fz_json *j)
{
	fz_auto(fz_processes_release) struct fz_processes ps = fz_profile_processes(p);

	if (fz_processes_sampled(&ps) < 2)
		return;
	fz_json_key(j, "processes");
	fz_json_open(j, '[');
	for (uint32_t i = 0; i < ps.n; i++) {
		if (!ps.list[i].samples)
			continue;
		fz_json_open(j, '{');
		fz_json_kint(j, "pid", (int64_t)ps.list[i].pid);
		if (ps.list[i].parent)
			fz_json_kint(j, "parent", (int64_t)ps.list[i].parent);
		fz_json_kstr(j, "name", ps.list[i].name);
		fz_json_kstr(j, "command", ps.list[i].command);
		fz_json_kint(j, "threads", ps.list[i].threads);
		fz_json_kint(j, "samples", (int64_t)ps.list[i].samples);
		fz_json_close(j, '}');
	}
	fz_json_close(j, ']');
}
