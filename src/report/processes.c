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
#include "report/table.h"
#include "report/text.h"

enum { SHOWN = 10, COLUMN = 9, NAME_AT = 2 };

/* The value shown for each process. */
struct column {
	bool counted; /* its cost, not its samples */
	const char *name;
	int width;
};

static int compare(const void *pa, const void *pb)
{
	const struct fz_profile_process *a = pa, *b = pb;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return (a->pid > b->pid) - (a->pid < b->pid);
}

static int compare_cost(const void *pa, const void *pb)
{
	const struct fz_profile_process *a = pa, *b = pb;

	return a->cost != b->cost ? (a->cost > b->cost ? -1 : 1) : compare(pa, pb);
}

/* "python3 app.py" for "/usr/bin/python3 app.py". */
static struct fz_str without_folder(struct fz_str command)
{
	const char *blank = memchr(command.p, ' ', command.n);
	size_t word = blank ? (size_t)(blank - command.p) : command.n;
	size_t cut = word - fz_path_base((struct fz_str){ command.p, word }).n;

	return (struct fz_str){ command.p + cut, command.n - cut };
}

static int64_t value_of(const struct fz_profile_process *p, const struct column *c)
{
	return c->counted ? p->cost : (int64_t)p->samples;
}

/* Sort the processes and choose the column, as wide as the first value, the largest. */
static struct column column_of(const struct fz_profile *p, const struct fz_processes *ps)
{
	struct column c = { .counted = fz_report_is_counted(p), .name = "samples" };
	char number[FZ_NUMBER_SIZE];

	if (c.counted)
		c.name = p->metrics[p->default_metric].name;
	qsort(ps->list, ps->n, sizeof(*ps->list), c.counted ? compare_cost : compare);
	size_t width = strlen(fz_format_count(value_of(&ps->list[0], &c), number));
	c.width = (int)FZ_MAX(width, strlen(c.name)) + NAME_AT;
	return c;
}

static void print_row(const struct fz_profile_process *p, const struct column *c,
		      const struct fz_style *style, struct fz_buf *out)
{
	char number[FZ_NUMBER_SIZE];

	fz_buf_printf(out, "%*llu", COLUMN, (unsigned long long)p->pid);
	if (p->parent)
		fz_buf_printf(out, "%*llu", COLUMN, (unsigned long long)p->parent);
	else
		fz_buf_printf(out, "%*s", COLUMN, "-");
	fz_buf_printf(out, "%*s%*s", c->width, fz_format_count(value_of(p, c), number), NAME_AT,
		      "");
	fz_table_text(without_folder(p->command),
		      fz_table_rest(style, 2 * COLUMN + c->width + NAME_AT + 1), style, out);
	fz_buf_char(out, '\n');
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

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return fz_str_cmp(a->name, b->name);
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

/* Print samples by owner; nothing if all have the same. */
static void print_owners(const struct fz_processes *ps, const char *what,
			 struct fz_str (*of)(const struct fz_profile_process *p),
			 const struct fz_style *style, struct fz_buf *out)
{
	fz_auto(fz_free_ptr) struct owner *list = fz_calloc(ps->n, sizeof(*list));
	uint32_t n = sum_owners(ps, of, list);
	char number[FZ_NUMBER_SIZE];

	if (n < 2)
		return;
	fz_buf_printf(out, "%s%*s%*s%s%s\n", fz_hue_on(style, FZ_HUE_DIM), 3 * COLUMN, "samples",
		      NAME_AT, "", what, fz_hue_off(style, FZ_HUE_DIM));
	for (uint32_t i = 0; i < n && i < SHOWN; i++) {
		fz_buf_printf(out, "%*s%*s", 3 * COLUMN,
			      fz_format_count((int64_t)list[i].samples, number), NAME_AT, "");
		fz_table_text(list[i].name.n ? list[i].name : FZ_STR("-"),
			      fz_table_rest(style, 3 * COLUMN + NAME_AT + 1), style, out);
		fz_buf_char(out, '\n');
	}
	if (n > SHOWN)
		fz_buf_printf(out, "%*s%u more\n", 3 * COLUMN + NAME_AT, "and ", n - SHOWN);
	fz_buf_char(out, '\n');
}

/* Are the processes worth a table? True for several, or one chosen from several; a program's only
 * process has no recorded command here. */
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
	fz_auto(fz_processes_release) struct fz_processes ps = fz_profile_processes(p);

	uint32_t n = fz_processes_sampled(&ps);

	if (!is_worth_a_table(&ps))
		return;
	struct column c = column_of(p, &ps);
	fz_buf_printf(out, "%s%*s%*s%*s%*sprocess%s\n", fz_hue_on(style, FZ_HUE_DIM), COLUMN, "pid",
		      COLUMN, "parent", c.width, c.name, NAME_AT, "",
		      fz_hue_off(style, FZ_HUE_DIM));
	for (uint32_t i = 0; i < n && i < SHOWN; i++)
		print_row(&ps.list[i], &c, style, out);
	if (n > SHOWN)
		fz_buf_printf(out, "%*s%u more\n", 2 * COLUMN + c.width + NAME_AT, "and ",
			      n - SHOWN);
	fz_buf_char(out, '\n');
	print_owners(&ps, "user", user_of, style, out);
	print_owners(&ps, "control group", cgroup_of, style, out);
}

void fz_report_processes_json(const struct fz_profile *p, struct fz_json *j)
{
	fz_auto(fz_processes_release) struct fz_processes ps = fz_profile_processes(p);

	if (!is_worth_a_table(&ps))
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
		if (ps.list[i].user.n)
			fz_json_kstr(j, "user", ps.list[i].user);
		if (ps.list[i].cgroup.n)
			fz_json_kstr(j, "cgroup", ps.list[i].cgroup);
		fz_json_kint(j, "threads", ps.list[i].threads);
		fz_json_kint(j, "samples", (int64_t)ps.list[i].samples);
		fz_json_close(j, '}');
	}
	fz_json_close(j, ']');
}
