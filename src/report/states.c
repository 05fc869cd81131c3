/* SPDX-License-Identifier: MIT */
/* Shares of what threads were doing.
 *
 *      GIL   CPU   GC  samples  thread
 *     48 %  51 %  1 %    2,497  main
 *      2 %   2 %  0 %    2,497  worker 1
 *     25 %  26 %  0 %    4,994  all
 *
 * Shows only states that occur, and the threads with most samples.
 */
#include "report/states.h"

#include "profile/processes.h"
#include "profile/states.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>

enum { THREADS_SHOWN = 10 };

struct states {
	const struct fz_profile *p;
	struct fz_states *list;
	const struct fz_states *all;
	const struct fz_state_kind *kinds[FZ_STATE_KINDS]; /* those that occur */
	unsigned kind_n;
	struct fz_processes processes;
	uint32_t *order; /* threads with samples, by descending number of samples */
	uint32_t n;
};

static int compare_threads(const void *pa, const void *pb, void *arg)
{
	const struct fz_states *list = arg;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return FZ_CMP(list[b].samples, list[a].samples) ?: FZ_CMP(a, b);
}

static void count_states(const struct fz_profile *p, struct states *ret)
{
	*ret = (struct states){ .p = p,
				.list = fz_profile_states(p),
				.processes = fz_profile_processes(p) };
	ret->all = &ret->list[p->thread_count];
	ret->order = fz_calloc(p->thread_count + 1ul, sizeof(*ret->order));
	for (uint32_t i = 0; i < p->thread_count; i++)
		if (ret->list[i].samples)
			ret->order[ret->n++] = i;
	if (ret->n)
		qsort_r(ret->order, ret->n, sizeof(*ret->order), compare_threads, ret->list);
	for (unsigned i = 0; i < FZ_STATE_KINDS; i++)
		if (fz_state_count(ret->all, &fz_state_kinds[i]))
			ret->kinds[ret->kind_n++] = &fz_state_kinds[i];
}

static void release(struct states *s)
{
	fz_processes_release(&s->processes);
	free(s->list);
	free(s->order);
}

static void print_sentence(const struct states *s, const struct fz_style *style, struct fz_buf *out)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	char share[FZ_NUMBER_SIZE];

	for (unsigned i = 0; i < s->kind_n; i++)
		fz_buf_printf(&text, "%s%s %s", i ? ", " : "State: ",
			      fz_format_percent(fz_state_share(s->all, s->kinds[i]), share),
			      s->kinds[i]->title);
	fz_buf_str(&text, ".");
	fz_table_wrap(text.p, style, out);
}

static struct fz_str short_name(const struct fz_profile *p, uint32_t i, char *text, size_t size)
{
	const struct fz_thread *t = &p->threads[i];

	if (t->is_main)
		return FZ_STR("main");
	if (t->name)
		return p->strings[t->name];
	snprintf(text, size, "tid %llu", (unsigned long long)t->tid);
	return fz_str_of(text);
}

struct fz_str fz_report_thread_name(const struct fz_profile *p, const struct fz_processes *ps,
				    uint32_t i, char *text, size_t size)
{
	struct fz_str name = short_name(p, i, text, size);

	if (ps->n < 2)
		return name;
	fz_auto(fz_free_ptr) char *copy = fz_strndup(name.p, name.n);
	fz_auto(fz_free_ptr) char *label = fz_process_label(&ps->list[ps->of_thread[i]]);
	snprintf(text, size, "%s of %s", copy, label);
	return fz_str_of(text);
}

static void add_states(struct fz_table *t, const struct fz_states *states, struct fz_str name)
{
	char text[FZ_NUMBER_SIZE];

	for (unsigned i = 0; i < FZ_STATE_KINDS; i++) {
		double share = fz_state_share(states, &fz_state_kinds[i]);
		fz_table_cell(t, isnan(share) ? "-" : fz_format_percent(share, text));
	}
	fz_table_count(t, (int64_t)states->samples);
	fz_table_text(name, fz_table_last(t), t->style, t->out);
}

static void add_thread(struct fz_table *t, size_t i, const void *arg)
{
	const struct states *s = arg;
	uint32_t thread = s->order[i];
	char name[256];

	add_states(t, &s->list[thread],
		   fz_report_thread_name(s->p, &s->processes, thread, name, sizeof(name)));
}

static void add_all(struct fz_table *t, size_t i, const void *arg)
{
	(void)i;
	add_states(t, ((const struct states *)arg)->all, FZ_STR("all"));
}

static void print_table(const struct states *s, const struct fz_style *style, struct fz_buf *out)
{
	static const struct fz_column columns[FZ_STATE_KINDS + 2] = {
		{ "GIL", FZ_RIGHT, .gap = 2, .min = 9 },
		{ "waits", FZ_RIGHT, .gap = 2, .min = 9 },
		{ "CPU", FZ_RIGHT, .gap = 2, .min = 9 },
		{ "GC", FZ_RIGHT, .gap = 2, .min = 9 },
		{ "exception", FZ_RIGHT, .gap = 2, .min = 9 },
		{ "samples", FZ_RIGHT, .gap = 2, .min = 9 },
		{ "thread", .gap = 2 },
	};
	uint32_t shown = FZ_MIN(s->n, (uint32_t)THREADS_SHOWN);
	struct fz_table t;

	fz_table_init(&t, columns, FZ_ARRAY_LEN(columns), style, out);
	for (unsigned i = 0; i < FZ_STATE_KINDS; i++)
		if (!fz_state_count(s->all, &fz_state_kinds[i]))
			t.hidden |= 1u << i;
	fz_table_measure(&t, 1, add_all, s);
	fz_table_print(&t, shown, add_thread, s);
	fz_table_more(&t, s->n - shown, "thread");
	fz_table_rows(&t, 1, add_all, s);
}

void fz_report_states_text(const struct fz_profile *p, const struct fz_style *style,
			   struct fz_buf *out)
{
	struct states s;

	/* Samples do not measure time in recordings of waits, for which waits.h has reports, or of
	 * growth. */
	if (p->recording.features & (FZ_FEATURE_WAITS | FZ_FEATURE_GROWTH))
		return;
	count_states(p, &s);
	if (s.kind_n && s.n > 1)
		print_table(&s, style, out);
	else if (s.kind_n)
		print_sentence(&s, style, out);
	release(&s);
}

static void write_states(const struct fz_states *s, struct fz_json *j)
{
	fz_json_kint(j, "samples", (int64_t)s->samples);
	for (unsigned i = 0; i < FZ_STATE_KINDS; i++)
		fz_json_kint(j, fz_state_kinds[i].key,
			     (int64_t)fz_state_count(s, &fz_state_kinds[i]));
	fz_json_kint(j, "cpu_unknown", (int64_t)s->cpu_unknown);
}

void fz_report_states_json(const struct fz_profile *p, struct fz_json *j)
{
	struct states s;

	count_states(p, &s);
	fz_json_kopen(j, "states", '{');
	write_states(s.all, j);
	fz_json_kopen(j, "threads", '[');
	for (uint32_t i = 0; i < s.n; i++) {
		const struct fz_thread *t = &p->threads[s.order[i]];
		fz_json_open(j, '{');
		fz_json_kstr(j, "name", p->strings[t->name]);
		if (s.processes.n > 1)
			fz_json_kint(j, "pid", (int64_t)t->pid);
		fz_json_kint(j, "tid", (int64_t)t->tid);
		fz_json_kbool(j, "main", t->is_main);
		write_states(&s.list[s.order[i]], j);
		fz_json_close(j, '}');
	}
	fz_json_close(j, ']');
	fz_json_close(j, '}');
	release(&s);
}
