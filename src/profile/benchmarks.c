/* SPDX-License-Identifier: MIT */
/* Reads benchmarks. The root of a row is computed once for each stack; parents precede children, so
 * one pass in order is enough.
 */
#include "profile/benchmarks.h"

#include "base/buf.h"

#include <stdio.h>

#define TROUBLE "bench.trouble"

bool fz_benchmarks_any(const struct fz_profile *p)
{
	return fz_profile_fact(p, "bench").n != 0;
}

bool fz_benchmark_wanted(struct fz_str name, const char *filter)
{
	return !filter || memmem(name.p, name.n, filter, strlen(filter));
}

/* ---- floors ---- */

const char *fz_benchmark_floors_fact(const char *metric, char out[FZ_BENCHMARK_FACT_SIZE])
{
	bool usual = strcmp(metric, "instructions") == 0;

	snprintf(out, FZ_BENCHMARK_FACT_SIZE, "floors%s%s", usual ? "" : ".", usual ? "" : metric);
	return out;
}

struct fz_str fz_benchmarks_floors(const struct fz_profile *p, const char *metric)
{
	char fact[FZ_BENCHMARK_FACT_SIZE];

	return fz_profile_fact(p, fz_benchmark_floors_fact(metric, fact));
}

bool fz_benchmark_next_floor(struct fz_str *rest, struct fz_str *ret_name, double *ret_floor)
{
	while (rest->n) {
		const char *end = memchr(rest->p, '\n', rest->n);
		struct fz_str line = { rest->p, end ? (size_t)(end - rest->p) : rest->n };
		const char *tab = memrchr(line.p, '\t', line.n);
		size_t n = tab ? (size_t)(tab - line.p) : line.n;

		rest->p += line.n + !!end;
		rest->n -= line.n + !!end;
		if (!tab ||
		    !fz_parse_decimal((struct fz_str){ tab + 1, line.n - n - 1 }, ret_floor))
			continue;
		*ret_name = (struct fz_str){ line.p, n };
		return true;
	}
	return false;
}

double fz_benchmarks_floor(const struct fz_profile *p, const char *metric)
{
	struct fz_str rest = fz_benchmarks_floors(p, metric), name;
	double largest = 0, floor;

	while (fz_benchmark_next_floor(&rest, &name, &floor))
		if (floor > largest && floor < 1)
			largest = floor;
	return largest;
}

/* ---- rows ---- */

uint32_t fz_benchmark_root(struct fz_profile *p, struct fz_str name)
{
	return fz_profile_stack(
		p, FZ_NONE,
		fz_profile_frame_named(p, name, FZ_STR(""), FZ_NO_LINE, FZ_KIND_MARKER));
}

static bool is_marker(const struct fz_profile *p, uint32_t stack)
{
	return fz_profile_stack_function(p, stack)->kind == FZ_KIND_MARKER;
}

static struct fz_str stack_name(const struct fz_profile *p, uint32_t stack)
{
	return fz_profile_text(p, fz_profile_stack_function(p, stack)->name);
}

static struct fz_benchmark *add(struct fz_benchmarks *b, struct fz_str name, uint32_t stack)
{
	fz_grow(b->list, b->n, b->cap);
	b->list[b->n] = (struct fz_benchmark){ .name = name, .stack = stack };
	return &b->list[b->n++];
}

/* Returns the benchmark of each stack, or FZ_NONE. */
static uint32_t *find_roots(const struct fz_profile *p, struct fz_benchmarks *b)
{
	uint32_t *of = fz_calloc(p->stack_count + 1ul, sizeof(*of));

	for (uint32_t i = 0; i < p->stack_count; i++) {
		uint32_t parent = p->stacks[i].parent;
		if (parent != FZ_NONE) {
			of[i] = of[parent];
		} else if (is_marker(p, i)) {
			of[i] = (uint32_t)b->n;
			add(b, stack_name(p, i), i);
		} else {
			of[i] = FZ_NONE;
		}
	}
	return of;
}

static void add_round(struct fz_benchmark *b, int64_t ns)
{
	fz_push(b->rounds, b->round_n, b->round_cap, (double)ns);
}

static void add_rows(const struct fz_profile *p, const uint32_t *of, struct fz_benchmarks *b)
{
	uint32_t wall = fz_profile_find_metric(p, FZ_STR("wall"));

	for (size_t row = 0; row < p->samples.n; row++) {
		uint32_t stack = p->samples.stack[row];
		if (stack == FZ_NONE || of[stack] == FZ_NONE)
			continue;
		struct fz_benchmark *one = &b->list[of[stack]];
		for (uint32_t m = 0; m < p->metric_count; m++)
			one->total[m] += fz_sample_weight(p, m, row);
		if (wall != FZ_NONE && stack == one->stack && fz_sample_weight(p, wall, row) > 0)
			add_round(one, fz_sample_weight(p, wall, row));
	}
}

static void add_trouble(struct fz_benchmarks *b, struct fz_str name, struct fz_str what)
{
	struct fz_str *place = &b->trouble;

	if (name.n) {
		struct fz_benchmark *one = (struct fz_benchmark *)fz_benchmarks_find(b, name);
		place = one ? &one->trouble : &add(b, name, FZ_NONE)->trouble;
	}
	if (!place->n)
		*place = what;
}

/* Lines "NAME<tab>WHAT". */
static void add_troubles(const struct fz_profile *p, struct fz_benchmarks *b)
{
	struct fz_str rest = fz_profile_fact(p, TROUBLE);

	while (rest.n) {
		const char *end = memchr(rest.p, '\n', rest.n);
		size_t n = end ? (size_t)(end - rest.p) : rest.n;
		const char *tab = memchr(rest.p, '\t', n);
		size_t name = tab ? (size_t)(tab - rest.p) : (size_t)0;
		add_trouble(b, (struct fz_str){ rest.p, name },
			    (struct fz_str){ rest.p + name + !!tab, n - name - !!tab });
		rest.p += n + !!end;
		rest.n -= n + !!end;
	}
}

void fz_benchmarks_read(const struct fz_profile *p, struct fz_benchmarks *ret)
{
	*ret = (struct fz_benchmarks){ 0 };
	fz_auto(fz_free_ptr) uint32_t *of = find_roots(p, ret);

	add_rows(p, of, ret);
	add_troubles(p, ret);
}

bool fz_benchmarks_measured(const struct fz_benchmarks *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->list[i].stack != FZ_NONE)
			return true;
	return false;
}

void fz_benchmarks_release(struct fz_benchmarks *b)
{
	for (size_t i = 0; i < b->n; i++)
		free(b->list[i].rounds);
	free(b->list);
	*b = (struct fz_benchmarks){ 0 };
}

const struct fz_benchmark *fz_benchmarks_find(const struct fz_benchmarks *b, struct fz_str name)
{
	for (size_t i = 0; i < b->n; i++)
		if (fz_str_eq(b->list[i].name, name))
			return &b->list[i];
	return NULL;
}

char *fz_benchmarks_trouble(const struct fz_profile *p)
{
	fz_auto(fz_benchmarks_release) struct fz_benchmarks list = { 0 };

	fz_benchmarks_read(p, &list);
	if (list.trouble.n)
		return fz_strndup(list.trouble.p, list.trouble.n);
	for (size_t i = 0; i < list.n; i++)
		if (list.list[i].trouble.n)
			return fz_asprintf("%.*s: %.*s", (int)list.list[i].name.n,
					   list.list[i].name.p, (int)list.list[i].trouble.n,
					   list.list[i].trouble.p);
	return NULL;
}

void fz_benchmark_of_all(struct fz_profile *p, struct fz_str name)
{
	uint32_t root = fz_benchmark_root(p, name), n = p->stack_count;
	fz_auto(fz_free_ptr) uint32_t *moved = fz_calloc(n + 1ul, sizeof(*moved));

	/* Parents come before their children. */
	for (uint32_t i = 0; i < n; i++) {
		uint32_t parent = p->stacks[i].parent;
		moved[i] = i == root ? root
				     : fz_profile_stack(p, parent == FZ_NONE ? root : moved[parent],
							p->stacks[i].frame);
	}
	for (size_t row = 0; row < p->samples.n; row++) {
		uint32_t stack = p->samples.stack[row];
		p->samples.stack[row] = stack == FZ_NONE ? root : moved[stack];
	}
}

void fz_benchmark_add_trouble(struct fz_profile *p, struct fz_str name, const char *what)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	struct fz_str old = fz_profile_fact(p, TROUBLE);

	fz_buf_add(&text, old.p, old.n);
	/* Tabs and line ends are separators. */
	for (size_t i = 0; i < name.n; i++)
		fz_buf_char(&text, name.p[i] == '\t' || name.p[i] == '\n' ? ' ' : name.p[i]);
	fz_buf_printf(&text, "\t%s\n", what);
	fz_profile_set_fact(p, TROUBLE, fz_buf_view(&text));
}

void fz_benchmark_add_failure(struct fz_profile *p, struct fz_str name, struct fz_str why)
{
	char text[512] = "failed: ";
	size_t n = strlen(text);

	fz_str_printable(why.p, why.n, text + n, sizeof(text) - n);
	fz_benchmark_add_trouble(p, name, text);
}
