/* SPDX-License-Identifier: MIT */
/* The data of a page: nodes, functions and threads of a profile or a diff, then what is taken from
 * the stacks below them: lines, calls, instructions and time. */
#include "report/page_build.h"

#include "profile/origin.h"
#include "profile/processes.h"
#include "report/page_calls.h"
#include "report/page_opcodes.h"
#include "report/page_time.h"

static void alloc_nodes(struct fz_page *page, uint32_t n)
{
	page->n = n;
	page->function = fz_reallocarray(NULL, n + 1ul, sizeof(*page->function));
	page->parent = fz_reallocarray(NULL, n + 1ul, sizeof(*page->parent));
	page->size = fz_reallocarray(NULL, n + 1ul, sizeof(*page->size));
	for (int side = page->is_diff ? FZ_BASE : FZ_HEAD; side < FZ_SIDES; side++) {
		page->self[side] = fz_reallocarray(NULL, n + 1ul, sizeof(int64_t));
		page->total[side] = fz_reallocarray(NULL, n + 1ul, sizeof(int64_t));
	}
}

static void free_thread(struct fz_page_thread *t)
{
	free(t->label);
	free(t->process);
}

void fz_page_release(struct fz_page *page)
{
	for (uint32_t i = 0; i < page->thread_count; i++)
		free_thread(&page->threads[i]);
	for (int side = 0; side < FZ_SIDES; side++) {
		free(page->self[side]);
		free(page->total[side]);
	}
	free(page->functions);
	free(page->threads);
	free(page->function);
	free(page->parent);
	free(page->size);
	free(page->origin);
	free(page->cells);
	free(page->lines);
	if (page->opcodes)
		fz_page_opcodes_release(page->opcodes);
	free(page->opcodes);
	if (page->calls)
		fz_page_calls_release(page->calls);
	free(page->calls);
	fz_page_time_free(page->time);
	fz_arena_release(&page->texts);
	*page = (struct fz_page){ 0 };
}

/* ---- one profile ---- */

static void profile_nodes(struct fz_page *page, const struct fz_tree *t)
{
	alloc_nodes(page, t->n);
	if (!t->n)
		return;
	memcpy(page->function, t->function, t->n * sizeof(*t->function));
	memcpy(page->parent, t->parent, t->n * sizeof(*t->parent));
	memcpy(page->size, t->size, t->n * sizeof(*t->size));
	memcpy(page->self[FZ_HEAD], t->self, t->n * sizeof(*t->self));
	memcpy(page->total[FZ_HEAD], t->total, t->n * sizeof(*t->total));
}

static void profile_functions(struct fz_page *page, const struct fz_tree *t)
{
	const struct fz_profile *p = t->profile;
	fz_auto(fz_free_ptr) int32_t *hottest = fz_tree_function_lines(t);
	fz_auto(fz_free_ptr) uint8_t *origins = fz_profile_origins(p);
	int64_t *self, *total;

	fz_tree_function_costs(t, &self, &total);
	page->function_count = p->function_count;
	page->functions = fz_calloc(p->function_count + 1ul, sizeof(*page->functions));
	for (uint32_t i = 0; i < p->function_count; i++) {
		const struct fz_function *f = &p->functions[i];
		page->functions[i] = (struct fz_page_function){
			.name = p->strings[f->name],
			.file = p->strings[f->file],
			.line = f->first_line > 0 ? f->first_line : hottest[i],
			.kind = f->kind,
			.origin = origins[i],
			.judged = i,
			.on_side = { FZ_NONE, i },
			.cost = { .self = { 0, self[i] }, .total = { 0, total[i] } },
		};
	}
	free(self);
	free(total);
}

/* "main", the thread's own name, or its tid; with the tid if the name is not unique. Freed by the
 * caller. */
static char *thread_label(const struct fz_profile *p, uint32_t thread, const uint32_t *namesakes)
{
	const struct fz_thread *t = &p->threads[thread];
	struct fz_str name = t->is_main ? FZ_STR("main") : p->strings[t->name];

	if (!name.n)
		return fz_asprintf("tid %llu", (unsigned long long)t->tid);
	if (namesakes[t->is_main ? 0 : t->name] > 1)
		return fz_asprintf("%.*s (tid %llu)", (int)FZ_MIN(name.n, 4096), name.p,
				   (unsigned long long)t->tid);
	return fz_strndup(name.p, name.n);
}

static void profile_threads(struct fz_page *page, const struct fz_profile *p)
{
	/* number of threads by name (string); 0, which is not a name, counts main threads */
	fz_auto(fz_free_ptr) uint32_t *namesakes = fz_calloc(p->string_count, sizeof(*namesakes));
	fz_auto(fz_processes_release) struct fz_processes ps = fz_profile_processes(p);

	for (uint32_t i = 0; i < p->thread_count; i++)
		if (p->threads[i].is_main || p->threads[i].name)
			namesakes[p->threads[i].is_main ? 0 : p->threads[i].name]++;
	page->thread_count = p->thread_count;
	page->threads = fz_calloc(p->thread_count + 1ul, sizeof(*page->threads));
	for (uint32_t i = 0; i < p->thread_count; i++)
		page->threads[i] = (struct fz_page_thread){
			{ FZ_NONE, i },
			thread_label(p, i, namesakes),
			ps.n > 1 ? fz_process_label(&ps.list[ps.of_thread[i]]) : NULL
		};
}

static void profile_cells(struct fz_page *page, const struct fz_tree *t)
{
	page->cell_count = t->cell_count;
	page->cells = fz_calloc(t->cell_count + 1, sizeof(*page->cells));
	for (size_t i = 0; i < t->cell_count; i++)
		page->cells[i] = (struct fz_diff_cell){ t->cells[i].node,
							t->cells[i].thread,
							{ 0, t->cells[i].self } };
}

/* ---- line weights ---- */

static int compare_lines(const void *pa, const void *pb)
{
	const struct fz_page_line *a = pa, *b = pb;

	return FZ_CMP(a->function, b->function) ?: FZ_CMP(a->line, b->line);
}

struct line_table {
	struct fz_map map; /* (page function, line) -> index */
	struct fz_page_line *lines;
	size_t n, cap;
};

/* Add the line weights of one side's tree. page_function[i] is the page's function for the
 * profile's function i, or FZ_NONE; NULL: the same number. */
static void add_lines(struct line_table *table, const struct fz_tree *t, enum fz_side side,
		      const uint32_t *page_function)
{
	for (size_t i = 0; i < t->line_count; i++) {
		const struct fz_tree_line *l = &t->lines[i];
		uint32_t f = t->function[l->node];
		if (page_function)
			f = page_function[f];
		if (f == FZ_NONE)
			continue;
		uint32_t *slot = fz_map_slot(&table->map, FZ_KEY(f, l->line));
		if (*slot == FZ_NONE) {
			*slot = (uint32_t)table->n;
			fz_push(table->lines, table->n, table->cap,
				(struct fz_page_line){ .function = f, .line = l->line });
		}
		table->lines[*slot].self[side] += l->self;
		table->lines[*slot].total[side] += l->once;
	}
}

static void build_lines(struct fz_page *page, const struct fz_tree *const trees[FZ_SIDES])
{
	struct line_table table = { 0 };

	for (int side = 0; side < FZ_SIDES; side++) {
		const struct fz_tree *t = trees[side];
		if (!t || !t->line_count)
			continue;
		add_lines(&table, t, side, page->diff ? page->diff->function_of[side] : NULL);
	}
	if (table.n)
		qsort(table.lines, table.n, sizeof(*table.lines), compare_lines);
	page->lines = table.lines;
	page->line_count = table.n;
	fz_map_release(&table.map);
}

static void build_calls(struct fz_page *page, const struct fz_tree *const trees[FZ_SIDES])
{
	page->calls = fz_calloc(1, sizeof(*page->calls));
	fz_page_calls_add(page->calls, page, trees);
}

static void build_opcodes(struct fz_page *page, const struct fz_tree *const trees[FZ_SIDES])
{
	page->opcodes = fz_calloc(1, sizeof(*page->opcodes));
	fz_page_opcodes_add(page->opcodes, trees, page->diff ? page->diff->node_of : NULL);
}

int fz_page_of_profile(struct fz_page *page, const struct fz_profile *p, uint32_t metric,
		       bool inverted, enum fz_page_use use, struct fz_error *err)
{
	struct fz_tree_options o = FZ_TREE_DEFAULTS;

	o.metric = metric == FZ_NONE ? p->default_metric : metric;
	if (o.metric >= p->metric_count)
		return fz_fail(err, FZ_EINPUT, "the profile has no metric to draw");
	o.inverted = inverted;
	o.cells = p->thread_count > 1;
	o.lines = !inverted && use == FZ_PAGE_VIEWER;
	fz_auto(fz_tree_freep) struct fz_tree *t = fz_tree_new(p, &o);
	*page = (struct fz_page){
		.profile = { NULL, p },
		.metric = p->metrics[t->metric].name,
		.unit = p->metrics[t->metric].unit,
		.sum = { 0, t->sum },
		.samples = { 0, t->samples },
		.factor = 1,
	};
	profile_nodes(page, t);
	profile_functions(page, t);
	profile_threads(page, p);
	profile_cells(page, t);
	if (o.lines) {
		build_lines(page, (const struct fz_tree *[FZ_SIDES]){ NULL, t });
		build_opcodes(page, (const struct fz_tree *[FZ_SIDES]){ NULL, t });
		build_calls(page, (const struct fz_tree *[FZ_SIDES]){ NULL, t });
		page->time = fz_page_time_new(t, page->threads);
	}
	return 0;
}

/* ---- a diff ---- */

static void diff_nodes(struct fz_page *page, const struct fz_diff *d)
{
	alloc_nodes(page, d->node_count);
	for (uint32_t i = 0; i < d->node_count; i++) {
		const struct fz_diff_node *node = &d->nodes[i];
		page->function[i] = node->function;
		page->parent[i] = node->parent;
		page->size[i] = node->size;
		for (int side = 0; side < FZ_SIDES; side++) {
			page->self[side][i] = node->cost.self[side];
			page->total[side][i] = node->cost.total[side];
		}
	}
}

static void diff_functions(struct fz_page *page, const struct fz_diff *d)
{
	page->function_count = d->function_count;
	page->functions = fz_calloc(d->function_count + 1ul, sizeof(*page->functions));
	uint8_t *origins[FZ_SIDES] = { fz_profile_origins(d->profile[FZ_BASE]),
				       fz_profile_origins(d->profile[FZ_HEAD]) };
	for (uint32_t i = 0; i < d->function_count; i++) {
		const struct fz_diff_function *f = &d->functions[i];
		enum fz_side side = f->on_side[FZ_HEAD] != FZ_NONE ? FZ_HEAD : FZ_BASE;
		page->functions[i] = (struct fz_page_function){
			.name = f->name,
			.file = f->file,
			.line = f->line,
			.kind = f->kind,
			.presence = f->presence,
			.origin = origins[side][f->on_side[side]],
			.judged = i,
			.on_side = { f->on_side[FZ_BASE], f->on_side[FZ_HEAD] },
			.cost = f->cost,
		};
	}
	free(origins[FZ_BASE]);
	free(origins[FZ_HEAD]);
}

static void diff_threads(struct fz_page *page, const struct fz_diff *d)
{
	page->thread_count = d->thread_count;
	page->threads = fz_calloc(d->thread_count + 1ul, sizeof(*page->threads));
	for (uint32_t i = 0; i < d->thread_count; i++) {
		const struct fz_diff_thread *t = &d->threads[i];
		page->threads[i] =
			(struct fz_page_thread){ { t->on_side[FZ_BASE], t->on_side[FZ_HEAD] },
						 fz_strdup(t->label),
						 t->process ? fz_strdup(t->process) : NULL };
	}
}

void fz_page_of_diff(struct fz_page *page, const struct fz_diff *d, enum fz_page_use use)
{
	*page = (struct fz_page){
		.is_diff = true,
		.diff = d,
		.metric = d->metric,
		.unit = d->unit,
		.factor = d->factor,
	};
	for (enum fz_side side = 0; side < FZ_SIDES; side++) {
		page->profile[side] = d->profile[side];
		page->sum[side] = d->total[side];
		page->samples[side] = fz_diff_recorded_samples(d, side);
	}
	diff_nodes(page, d);
	diff_functions(page, d);
	diff_threads(page, d);
	if (d->thread_count > 1 && d->cell_count) {
		page->cell_count = d->cell_count;
		page->cells = fz_reallocarray(NULL, d->cell_count, sizeof(*page->cells));
		memcpy(page->cells, d->cells, d->cell_count * sizeof(*page->cells));
	}
	if (use == FZ_PAGE_PICTURE)
		return;
	build_lines(page, (const struct fz_tree *[FZ_SIDES]){ d->tree[0], d->tree[1] });
	/* An inverted tree has no lines. */
	if (page->line_count) {
		build_opcodes(page, (const struct fz_tree *[FZ_SIDES]){ d->tree[0], d->tree[1] });
		build_calls(page, (const struct fz_tree *[FZ_SIDES]){ d->tree[0], d->tree[1] });
	}
}
