/* SPDX-License-Identifier: MIT */
/* fizeau heap: which types hold the memory of a Python process, and what holds them. */
#include "cli/busy.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/pid.h"
#include "heap/heap.h"
#include "profile/heap_fact.h"
#include "report/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROWS = 20 };

static struct fz_cli_output output = FZ_CLI_OUTPUT_DEFAULTS;
static int limit = ROWS;
static const char *pid_option;

static const struct fz_opt option_table[] = {
	FZ_CLI_OUTPUT_FILE_ENTRIES(output),
	FZ_OPT(INT, "limit", "N", &limit, "print N types and N holders (default: 20)",
	       .short_name = 'l', .min = 1, .max = 1000000),
	FZ_CLI_COLOR_ENTRY(&output.color),
	FZ_CLI_PID_ENTRY(pid_option),
	{ .kind = FZ_OPT_END },
};

/* Memory held by a stack of one or two frames, including all below it. */
struct holder {
	uint32_t stack;
	uint64_t bytes, objects;
};

static int by_bytes(const void *a, const void *b)
{
	const struct holder *x = a, *y = b;

	return FZ_CMP(y->bytes, x->bytes) ?: FZ_CMP(x->stack, y->stack);
}

/* A stack's callers have lower indices. */
static struct holder *find_holders(const struct fz_profile *p, uint32_t *ret_n)
{
	struct holder *list = fz_calloc(p->stack_count + 1, sizeof(*list));
	uint32_t n = 0;

	for (size_t row = 0; row < p->samples.n; row++) {
		uint32_t stack = p->samples.stack[row];
		list[stack].bytes += (uint64_t)fz_sample_weight(p, 0, row);
		list[stack].objects += (uint64_t)fz_sample_weight(p, 1, row);
	}
	for (uint32_t i = p->stack_count; i-- > 0;) {
		if (p->stacks[i].depth <= 2)
			continue;
		struct holder *parent = &list[p->stacks[i].parent];
		parent->bytes += list[i].bytes;
		parent->objects += list[i].objects;
	}
	for (uint32_t i = 0; i < p->stack_count; i++)
		if (p->stacks[i].depth <= 2 && list[i].bytes)
			list[n++] = (struct holder){ i, list[i].bytes, list[i].objects };
	qsort(list, n, sizeof(*list), by_bytes);
	*ret_n = n;
	return list;
}

/* Tables of types and of holders, their sum and their profile. */
struct view {
	const struct fz_profile *p;
	const struct fz_heap_result *r;
	const struct holder *holders;
};

static void add_sizes(struct fz_table *t, uint64_t bytes, uint64_t all, uint64_t objects)
{
	fz_table_value(t, (double)bytes, "bytes");
	fz_table_percent(t, all ? (double)bytes / (double)all : 0);
	fz_table_count(t, (int64_t)objects);
}

static void add_type(struct fz_table *t, size_t i, const void *arg)
{
	const struct view *v = arg;
	const struct fz_heap_type *type = &v->r->types[i];

	add_sizes(t, type->bytes, v->r->bytes, type->objects);
	fz_table_text(fz_profile_text(v->p, type->name), fz_table_last(t), t->style, t->out);
}

/* Add a holder; attributes and variables are prefixed with their module or function. */
static void add_holder(struct fz_table *t, size_t i, const void *arg)
{
	const struct view *v = arg;
	const struct holder *h = &v->holders[i];
	const struct fz_function *f = fz_profile_stack_function(v->p, h->stack);
	uint32_t parent = v->p->stacks[h->stack].parent;

	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	struct fz_str name = fz_profile_text(v->p, f->name);
	fz_buf_add(&text, name.p, name.n);
	if (parent != FZ_NONE && f->kind != FZ_KIND_UNKNOWN) {
		name = fz_profile_text(v->p, fz_profile_stack_function(v->p, parent)->name);
		fz_buf_printf(&text, " in %.*s", (int)name.n, name.p);
	}
	add_sizes(t, h->bytes, v->r->bytes, h->objects);
	fz_table_text(fz_buf_view(&text), fz_table_last(t), t->style, t->out);
}

/* Print up to --limit of n rows. */
static void print_table(const struct view *v, uint32_t n, const char *title, const char *noun,
			fz_table_row_fn *add, const struct fz_style *style, struct fz_buf *out)
{
	enum { NAME = 3 };
	static const struct fz_column columns[] = {
		{ "bytes", FZ_RIGHT, .min = 11 },
		{ "share", FZ_RIGHT, .gap = 1, .min = 8 },
		{ "objects", FZ_RIGHT, .gap = 1, .min = 12 },
		{ NULL, .gap = 2 },
	};
	uint32_t shown = FZ_MIN(n, (uint32_t)limit);
	char number[FZ_NUMBER_SIZE];
	struct fz_table t;

	fz_buf_char(out, '\n');
	fz_table_init(&t, columns, FZ_ARRAY_LEN(columns), style, out);
	t.titles[NAME] = title;
	fz_table_print(&t, shown, add, v);
	if (shown < n)
		fz_buf_printf(out, "%s not shown; use --limit to show more.\n",
			      fz_format_plural(n - shown, noun, number));
}

static void print(pid_t pid, const struct fz_profile *p, const struct fz_heap_result *r)
{
	const struct fz_style style = fz_style_of(STDOUT_FILENO, (enum fz_color_when)output.color);
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };
	uint32_t n;
	fz_auto(fz_free_ptr) struct holder *holders = find_holders(p, &n);
	const struct view v = { p, r, holders };
	char a[FZ_NUMBER_SIZE], b[FZ_NUMBER_SIZE];

	fz_buf_printf(&out, "Process %d, Python %u.%u.%u: %s in %s.\n", (int)pid, r->python[0],
		      r->python[1], r->python[2], fz_format_value((double)r->bytes, "bytes", a),
		      fz_format_plural((int64_t)r->objects, "object", b));
	print_table(&v, r->n, "type", "type", add_type, &style, &out);
	print_table(&v, n, "held by", "holder", add_holder, &style, &out);
	fz_cli_print(fz_buf_view(&out));
}

static void describe(pid_t pid, struct fz_profile *p, const struct fz_heap_result *r)
{
	char number[FZ_NUMBER_SIZE], name[64];

	snprintf(number, sizeof(number), "%u.%u.%u", r->python[0], r->python[1], r->python[2]);
	fz_profile_set_fact(p, "python", fz_str_of(number));
	fz_cli_process_name(pid, name, sizeof(name));
	fz_profile_set_fact(p, "program", fz_str_of(name));
	fz_profile_set_fact(p, "clock", FZ_STR(FZ_HEAP_CLOCK));
	memcpy(p->recording.python, r->python, sizeof(r->python));
	if (r->changed)
		fz_profile_note(p, "%s changed while being read",
				fz_format_plural((int64_t)r->changed, "reference", number));
}

static int take(const char *word, struct fz_profile *p, struct fz_error *err)
{
	struct fz_heap_result r;
	char a[FZ_NUMBER_SIZE], b[FZ_NUMBER_SIZE];
	pid_t pid;
	int rc = fz_cli_pid(word, &pid, NULL, err);

	if (rc)
		return rc;
	fz_cli_busy("reading the memory of process %d", (int)pid);
	rc = fz_heap_record(pid, p, &r, err);
	fz_cli_busy_end();
	if (!rc) {
		describe(pid, p, &r);
		fz_cli_note("heap: read %s in %s",
			    fz_format_value((double)r.read_bytes, "bytes", a),
			    fz_format_ns((double)r.read_ns, b));
		if (r.changed)
			fz_cli_warn("heap: %s changed while being read",
				    fz_format_plural((int64_t)r.changed, "reference", a));
		if (fz_cli_output_is_default(&output))
			print(pid, p, &r);
		else
			rc = fz_cli_output_write(&output, p, err);
	}
	fz_heap_result_release(&r);
	return rc;
}

static int heap(struct fz_opt_state *state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	struct fz_error err;

	if (state->argument_count + !!pid_option != 1)
		return fz_cli_errorf("heap: specify one process id");
	output.untimed = true;
	int rc = fz_cli_output_check(&output, false, NULL, &err);
	if (!rc) {
		p = fz_profile_new();
		rc = take(pid_option ? pid_option : state->arguments[0], p, &err);
		if (rc)
			fz_error_prefix(&err, "heap");
	}
	fz_cli_output_release(&output);
	return rc ? fz_cli_error(&err) : FZ_EXIT_OK;
}

const struct fz_command fz_command_heap = {
	.name = "heap",
	.summary = "print which types hold a process's memory, and what holds them",
	.usage = "[options] PID",
	.examples = "  $ fizeau heap 4711             # types and holders by bytes\n"
		    "  $ fizeau heap 4711 -o a.fz     # a recording of it, for diff\n"
		    "  $ fizeau heap 4711 -o a.html   # a flame graph of holders\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_PROCESS,
	.run = heap,
};
