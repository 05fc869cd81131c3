/* SPDX-License-Identifier: MIT */
/* Processes of a recording:
 *
 *       pid   parent  samples  process
 *     13203        1    3,179  python3 par.py
 *     13246    13203      150  python3 child.py 1
 *
 * followed by samples per user and per control group, if these are known. For counts, a column of
 * the counted metric replaces the samples.
 */
#include "report/processes.h"

#include "profile/processes.h"
#include "report/recording.h"
#include "report/table.h"

#include <stdio.h>

enum { SHOWN = 10 };

static int compare(const void *pa, const void *pb)
{
	const struct fz_profile_process *a = pa, *b = pb;

	return FZ_CMP(b->samples, a->samples) ?: FZ_CMP(a->pid, b->pid);
}

static int compare_cost(const void *pa, const void *pb)
{
	const struct fz_profile_process *a = pa, *b = pb;

	return FZ_CMP(b->cost, a->cost) ?: compare(pa, pb);
}

/* "python3 app.py" for "/usr/bin/python3 app.py". */
static struct fz_str without_folder(struct fz_str command)
{
	const char *blank = memchr(command.p, ' ', command.n);
	size_t word = blank ? (size_t)(blank - command.p) : command.n;
	size_t cut = word - fz_path_base((struct fz_str){ command.p, word }).n;

	return (struct fz_str){ command.p + cut, command.n - cut };
}

struct view {
	const struct fz_processes *ps;
	bool counted; /* show the cost of each, not its samples */
};

static void add_process(struct fz_table *t, size_t i, const void *arg)
{
	const struct view *v = arg;
	const struct fz_profile_process *p = &v->ps->list[i];
	char text[FZ_NUMBER_SIZE];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)p->pid);
	fz_table_cell(t, text);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)p->parent);
	fz_table_cell(t, p->parent ? text : "-");
	fz_table_count(t, v->counted ? p->cost : (int64_t)p->samples);
	fz_table_text(without_folder(p->command), fz_table_last(t), t->style, t->out);
}

/* ---- owners ---- */

struct owner {
	struct fz_str name;
	uint64_t samples;
};

static struct fz_str user_of(const struct fz_profile_process *p)
{
	return p->user;
}

static struct fz_str cgroup_of(const struct fz_profile_process *p)
{
	return p->cgroup;
}

static int compare_owners(const void *pa, const void *pb)
{
	const struct owner *a = pa, *b = pb;

	return FZ_CMP(b->samples, a->samples) ?: fz_str_cmp(a->name, b->name);
}

static uint32_t sum_owners(const struct fz_processes *ps,
			   struct fz_str (*of)(const struct fz_profile_process *p),
			   struct owner *ret)
{
	uint32_t n = 0, k;

	for (uint32_t i = 0; i < ps->n; i++) {
		struct fz_str name = of(&ps->list[i]);
		if (!ps->list[i].samples)
			continue;
		for (k = 0; k < n && !fz_str_eq(ret[k].name, name); k++)
			;
		if (k == n)
			ret[n++] = (struct owner){ .name = name };
		ret[k].samples += ps->list[i].samples;
	}
	qsort(ret, n, sizeof(*ret), compare_owners);
	return n;
}

static void add_owner(struct fz_table *t, size_t i, const void *arg)
{
	const struct owner *o = (const struct owner *)arg + i;

	fz_table_count(t, (int64_t)o->samples);
	fz_table_text(o->name.n ? o->name : FZ_STR("-"), fz_table_last(t), t->style, t->out);
}

/* Print samples by owner; nothing if all have the same. */
static void print_owners(const struct fz_processes *ps, const char *what,
			 struct fz_str (*of)(const struct fz_profile_process *p),
			 const struct fz_style *style, struct fz_buf *out)
{
	static const struct fz_column columns[] = {
		{ "samples", FZ_RIGHT, .min = 27 },
		{ NULL, .gap = 2 },
	};
	fz_auto(fz_free_ptr) struct owner *list = fz_calloc(ps->n, sizeof(*list));
	uint32_t n = sum_owners(ps, of, list), shown = FZ_MIN(n, (uint32_t)SHOWN);
	struct fz_table t;

	if (n < 2)
		return;
	fz_table_init(&t, columns, FZ_ARRAY_LEN(columns), style, out);
	t.titles[1] = what;
	fz_table_print(&t, shown, add_owner, list);
	fz_table_more(&t, n - shown, NULL);
	fz_buf_char(out, '\n');
}

/* Are the processes worth a table? True for several, or for one chosen from several. A program's
 * only process has no command of its own. */
static bool is_worth_a_table(const struct fz_processes *ps)
{
	bool known = false;

	for (uint32_t i = 0; i < ps->n; i++)
		known |= ps->list[i].samples && ps->list[i].command.n;
	return known || fz_processes_sampled(ps) > 1;
}

void fz_report_processes_text(const struct fz_profile *p, const struct fz_style *style,
			      struct fz_buf *out)
{
	static const struct fz_column columns[] = {
		{ "pid", FZ_RIGHT, .min = 9 },
		{ "parent", FZ_RIGHT, .gap = 2, .min = 7 },
		{ "samples", FZ_RIGHT, .gap = 2 },
		{ "process", .gap = 2 },
	};
	fz_auto(fz_processes_release) struct fz_processes ps = fz_profile_processes(p);
	const struct view v = { &ps, fz_recording_is_counted(p) };
	uint32_t n = fz_processes_sampled(&ps), shown = FZ_MIN(n, (uint32_t)SHOWN);
	struct fz_table t;

	if (!is_worth_a_table(&ps))
		return;
	qsort(ps.list, ps.n, sizeof(*ps.list), v.counted ? compare_cost : compare);
	fz_table_init(&t, columns, FZ_ARRAY_LEN(columns), style, out);
	if (v.counted)
		t.titles[2] = p->metrics[p->default_metric].name;
	fz_table_print(&t, shown, add_process, &v);
	fz_table_more(&t, n - shown, NULL);
	fz_buf_char(out, '\n');
	print_owners(&ps, "user", user_of, style, out);
	print_owners(&ps, "control group", cgroup_of, style, out);
}

static void write_process(const struct fz_profile_process *process, struct fz_str command,
			  struct fz_json *j)
{
	fz_json_open(j, '{');
	fz_json_kint(j, "pid", (int64_t)process->pid);
	if (process->parent)
		fz_json_kint(j, "parent", (int64_t)process->parent);
	fz_json_kstr(j, "name", fz_process_name(command));
	fz_json_kstr(j, "command", command);
	if (process->user.n)
		fz_json_kstr(j, "user", process->user);
	if (process->cgroup.n)
		fz_json_kstr(j, "cgroup", process->cgroup);
	fz_json_kint(j, "threads", process->threads);
	fz_json_kint(j, "samples", (int64_t)process->samples);
	fz_json_close(j, '}');
}

/* The command of a program's only process is that of the recording. Other profilers' files may have
 * no process ids. */
void fz_report_processes_json(const struct fz_profile *p, struct fz_json *j)
{
	fz_auto(fz_processes_release) struct fz_processes ps = fz_profile_processes(p);

	fz_json_kopen(j, "processes", '[');
	for (uint32_t i = 0; i < ps.n; i++) {
		const struct fz_profile_process *process = &ps.list[i];
		struct fz_str own = process->command;
		if (process->samples && process->pid)
			write_process(process, own.n ? own : fz_profile_fact(p, "command"), j);
	}
	fz_json_close(j, ']');
}
