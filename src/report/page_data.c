/* SPDX-License-Identifier: MIT */
/* Writing the header and columns that web/data.js reads.
 *
 * Nodes are in preorder. A node's depth is stored relative to the node before it (that node's
 * depth + 1 - depth: 0 for a first child), so most values are 0 or 1. Its function is stored as an
 * index into the callees that its caller's function has had so far in this walk; functions call
 * few others, so most indices are small. Index 0 is a new callee, named by the next entry of
 * "callee.function". With several threads only cells are stored: a node's self value is the sum of
 * its cells.
 */
#include "page_data.h"

#include "page_benchmarks.h"
#include "page_calls.h"
#include "page_opcodes.h"
#include "page_places.h"
#include "page_source.h"
#include "page_speed.h"
#include "page_time.h"
#include "profile/cost_words.h"
#include "profile/machinery.h"
#include "profile/mark.h"
#include "profile/per_run.h"
#include "profile/processes.h"
#include "profile/runs.h"
#include "profile/states.h"
#include "report/findings.h"
#include "report/import_moves.h"
#include "report/json.h"
#include "report/json_facts.h"
#include "report/text.h"
#include "report/waits.h"

#include <math.h>
#include <stdio.h>

/* ---- columns ---- */

struct filler {
	const struct fz_page *page;
	struct fz_columns *columns;
	int64_t *scratch; /* room for the longest column */
	uint32_t *used;   /* functions that appear, most frequent first */
	uint32_t used_n;
	uint32_t *number_of; /* index of a function in `used`; FZ_NONE: not used */
};

static int compare_counts(const void *pa, const void *pb, void *arg)
{
	const uint32_t *count = arg;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return FZ_CMP(count[b], count[a]) ?: FZ_CMP(a, b);
}

static void number_functions(struct filler *f)
{
	const struct fz_page *page = f->page;
	fz_auto(fz_free_ptr) uint32_t *count =
		fz_calloc(page->function_count + 1ul, sizeof(*count));

	f->used = fz_calloc(page->function_count + 1ul, sizeof(*f->used));
	f->number_of = fz_calloc(page->function_count + 1ul, sizeof(*f->number_of));
	for (uint32_t i = 0; i < page->n; i++)
		count[page->function[i]]++;
	for (uint32_t i = 0; i < page->function_count; i++)
		if (count[i])
			f->used[f->used_n++] = i;
	if (f->used_n)
		qsort_r(f->used, f->used_n, sizeof(*f->used), compare_counts, count);
	memset(f->number_of, 0xff, page->function_count * sizeof(*f->number_of));
	for (uint32_t i = 0; i < f->used_n; i++)
		f->number_of[f->used[i]] = i;
}

/* Add the index of each node's function among the callees of its caller's function. */
static void fill_callees(struct filler *f)
{
	const struct fz_page *page = f->page;
	fz_auto(fz_free_ptr) int64_t *fresh = fz_calloc(page->n + 1ul, sizeof(*fresh));
	fz_auto(fz_free_ptr) uint32_t *known = fz_calloc(f->used_n + 1ul, sizeof(*known));
	struct fz_map places = { 0 };
	size_t fresh_n = 0;

	for (uint32_t i = 0; i < page->n; i++) {
		uint32_t parent = page->parent[i];
		uint32_t caller = parent == FZ_NONE ? 0 : f->number_of[page->function[parent]] + 1;
		uint32_t callee = f->number_of[page->function[i]];
		uint32_t *place = fz_map_slot(&places, FZ_KEY(caller, callee));
		f->scratch[i] = *place == FZ_NONE ? 0 : *place;
		if (*place == FZ_NONE) {
			*place = ++known[caller];
			fresh[fresh_n++] = callee;
		}
	}
	fz_map_release(&places);
	fz_columns_numbers(f->columns, "node.callee", f->scratch, page->n);
	fz_columns_numbers(f->columns, "callee.function", fresh, fresh_n);
}

/* Mark nodes whose state does not follow from their costs: 1 moved, 2 wraps (struct
 * fz_diff_node). */
static void fill_marks(struct filler *f)
{
	const struct fz_diff *d = f->page->diff;
	fz_auto(fz_free_ptr) int64_t *kind = NULL;
	uint32_t n = 0, before = 0;

	if (!d || d->match != FZ_MATCH_FULL)
		return;
	kind = fz_calloc(d->node_count, sizeof(*kind));
	for (uint32_t i = 0; i < d->node_count; i++) {
		const struct fz_diff_node *node = &d->nodes[i];
		if (node->state != FZ_MOVED && !node->wraps)
			continue;
		kind[n] = node->state == FZ_MOVED ? 1 : 2;
		f->scratch[n++] = i - before;
		before = i;
	}
	if (n == 0)
		return;
	fz_columns_numbers(f->columns, "mark.node", f->scratch, n);
	fz_columns_numbers(f->columns, "mark.kind", kind, n);
}

static bool has_recorded_totals(const struct fz_page *page)
{
	for (int side = 0; side < FZ_SIDES; side++)
		if (page->profile[side] && page->profile[side]->callgraph)
			return true;
	return false;
}

/* Add the totals of functions that do not follow from the nodes: wrappers' totals, and recorded
 * ones. */
static void fill_wrapper_totals(struct filler *f)
{
	const struct fz_diff *d = f->page->diff;
	bool all = has_recorded_totals(f->page);
	fz_auto(fz_free_ptr) bool *wraps = fz_calloc(f->page->function_count + 1ul, sizeof(*wraps));
	fz_auto(fz_free_ptr) uint32_t *list = fz_calloc(f->used_n + 1ul, sizeof(*list));
	uint32_t n = 0;

	for (uint32_t i = 0; d && i < d->node_count; i++)
		wraps[d->nodes[i].function] |= d->nodes[i].wraps;
	for (uint32_t i = 0; i < f->used_n; i++)
		if (all || wraps[f->used[i]])
			list[n++] = i;
	if (n == 0)
		return;
	for (uint32_t i = 0; i < n; i++)
		f->scratch[i] = list[i];
	fz_columns_numbers(f->columns, "wrapper.function", f->scratch, n);
	for (int side = 0; side < FZ_SIDES; side++) {
		for (uint32_t i = 0; i < n; i++)
			f->scratch[i] = f->page->functions[f->used[list[i]]].cost.total[side];
		fz_columns_numbers(f->columns,
				   side == FZ_BASE ? "wrapper.total.base" : "wrapper.total.head",
				   f->scratch, n);
	}
}

static void fill_nodes(struct filler *f)
{
	const struct fz_page *page = f->page;
	fz_auto(fz_free_ptr) uint32_t *depth = fz_calloc(page->n + 1ul, sizeof(*depth));
	uint32_t before = 0;

	for (uint32_t i = 0; i < page->n; i++) {
		depth[i] = page->parent[i] == FZ_NONE ? 1 : depth[page->parent[i]] + 1;
		f->scratch[i] = before + 1 - depth[i];
		before = depth[i];
	}
	fz_columns_numbers(f->columns, "node.up", f->scratch, page->n);
	fill_callees(f);
	fill_marks(f);
	fill_wrapper_totals(f);
	if (page->cell_count)
		return;
	if (page->is_diff)
		fz_columns_numbers(f->columns, "node.self.base", page->self[FZ_BASE], page->n);
	if (page->is_diff)
		fz_columns_beside(f->columns, "node.self.head", page->self[FZ_HEAD],
				  page->self[FZ_BASE], page->n);
	else
		fz_columns_numbers(f->columns, "node.self.head", page->self[FZ_HEAD], page->n);
}

static void fill_cells(struct filler *f)
{
	const struct fz_page *page = f->page;
	size_t n = page->cell_count;
	uint32_t before = 0;

	if (!n)
		return;
	for (size_t i = 0; i < n; i++) {
		f->scratch[i] = page->cells[i].node - before;
		before = page->cells[i].node;
	}
	fz_columns_numbers(f->columns, "cell.node", f->scratch, n);
	for (size_t i = 0; i < n; i++)
		f->scratch[i] = page->cells[i].thread;
	fz_columns_numbers(f->columns, "cell.thread", f->scratch, n);
	fz_auto(fz_free_ptr) int64_t *base = fz_reallocarray(NULL, n, sizeof(*base));
	for (size_t i = 0; i < n; i++) {
		base[i] = page->cells[i].self[FZ_BASE];
		f->scratch[i] = page->cells[i].self[FZ_HEAD];
	}
	if (page->is_diff) {
		fz_columns_numbers(f->columns, "cell.self.base", base, n);
		fz_columns_beside(f->columns, "cell.self.head", f->scratch, base, n);
	} else {
		fz_columns_numbers(f->columns, "cell.self.head", f->scratch, n);
	}
}

static uint32_t file_number(struct fz_map *map, const struct fz_str *files, uint32_t n,
			    struct fz_str file)
{
	uint64_t key = fz_map_hash(file.p, file.n);

	for (;; key = fz_hash64(key + 1)) {
		uint32_t *slot = fz_map_slot(map, key);
		if (*slot == FZ_NONE)
			return *slot = n;
		if (fz_str_eq(files[*slot], file))
			return *slot;
	}
}

static void fill_files(struct filler *f)
{
	fz_auto(fz_free_ptr) struct fz_str *files = fz_calloc(f->used_n + 1ul, sizeof(*files));
	struct fz_map map = { 0 };
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->used_n; i++) {
		struct fz_str file = f->page->functions[f->used[i]].file;
		uint32_t number = file_number(&map, files, n, file);
		if (number == n)
			files[n++] = file;
		f->scratch[i] = number;
	}
	fz_map_release(&map);
	fz_columns_numbers(f->columns, "function.file", f->scratch, f->used_n);
	fz_columns_begin_strings(f->columns, "file.name");
	for (uint32_t i = 0; i < n; i++)
		fz_columns_string(f->columns, files[i]);
	fz_columns_end_strings(f->columns);
}

/* Add which sides ran each function, in a diff: 1 the base, 2 the head, 3 both. */
static void fill_sides(struct filler *f)
{
	for (uint32_t i = 0; i < f->used_n; i++) {
		const uint32_t *on = f->page->functions[f->used[i]].on_side;
		f->scratch[i] = (on[FZ_BASE] != FZ_NONE) | (on[FZ_HEAD] != FZ_NONE) << 1;
	}
	if (f->page->is_diff)
		fz_columns_numbers(f->columns, "function.sides", f->scratch, f->used_n);
}

static void fill_functions(struct filler *f)
{
	const struct fz_page_function *functions = f->page->functions;

	fz_columns_begin_strings(f->columns, "function.name");
	for (uint32_t i = 0; i < f->used_n; i++)
		fz_columns_string(f->columns, functions[f->used[i]].name);
	fz_columns_end_strings(f->columns);
	for (uint32_t i = 0; i < f->used_n; i++)
		f->scratch[i] = functions[f->used[i]].line;
	fz_columns_numbers(f->columns, "function.line", f->scratch, f->used_n);
	for (uint32_t i = 0; i < f->used_n; i++)
		f->scratch[i] = functions[f->used[i]].kind;
	fz_columns_numbers(f->columns, "function.kind", f->scratch, f->used_n);
	for (uint32_t i = 0; i < f->used_n; i++)
		f->scratch[i] = functions[f->used[i]].presence;
	fz_columns_numbers(f->columns, "function.presence", f->scratch, f->used_n);
	for (uint32_t i = 0; i < f->used_n; i++)
		f->scratch[i] = functions[f->used[i]].origin;
	fz_columns_numbers(f->columns, "function.origin", f->scratch, f->used_n);
	for (uint32_t i = 0; i < f->used_n; i++)
		f->scratch[i] = fz_machinery_imports(functions[f->used[i]].file);
	fz_columns_numbers(f->columns, "function.loads", f->scratch, f->used_n);
	fill_sides(f);
	fill_files(f);
}

/* Length of an interval on one side, in whole units; -1 if there is none. */
static int64_t reach_of(double reach)
{
	return isfinite(reach) && reach < 9e18 ? (int64_t)ceil(FZ_MAX(reach, 0)) : -1;
}

/* -100 log10 p, so that most numbers are small; -1 if not tested. */
static int64_t surprise_of(const struct fz_judged *v)
{
	return isnan(v->p) ? -1 : (int64_t)fmin(fmax(-100 * log10(v->p), 0), 30000);
}

enum { FAMILY_COLUMNS = 4 };

static double delta_of(const struct filler *f, uint32_t function, bool total)
{
	const struct fz_diff *d = f->page->diff;
	const struct fz_diff_cost *c = &d->functions[function].cost;
	const int64_t *of = total ? c->total : c->self;

	return fz_diff_delta(d, of[FZ_BASE], of[FZ_HEAD]);
}

/* Add columns of functions: verdict (enum fz_verdict), the interval's length below and above the
 * change, and surprise. */
static void fill_family(struct filler *f, const char *const names[FAMILY_COLUMNS],
			const struct fz_judged *judged)
{
	bool total = judged == f->page->judgement->total;

	for (uint32_t i = 0; i < f->used_n; i++)
		f->scratch[i] = judged[f->used[i]].verdict;
	fz_columns_numbers(f->columns, names[0], f->scratch, f->used_n);
	for (uint32_t i = 0; i < f->used_n; i++)
		f->scratch[i] = reach_of(delta_of(f, f->used[i], total) - judged[f->used[i]].low);
	fz_columns_numbers(f->columns, names[1], f->scratch, f->used_n);
	for (uint32_t i = 0; i < f->used_n; i++)
		f->scratch[i] = reach_of(judged[f->used[i]].high - delta_of(f, f->used[i], total));
	fz_columns_numbers(f->columns, names[2], f->scratch, f->used_n);
	for (uint32_t i = 0; i < f->used_n; i++)
		f->scratch[i] = surprise_of(&judged[f->used[i]]);
	fz_columns_numbers(f->columns, names[3], f->scratch, f->used_n);
}

/* Added to the verdict of a path that is certain only as part of a sum. */
enum { OF_SUM = 4 };

/* Add verdicts of paths. FZ_VERDICTS means not tested: the function's verdict applies. */
static void fill_paths(struct filler *f, const char *name, const struct fz_judged *judged)
{
	for (uint32_t i = 0; i < f->page->n; i++)
		f->scratch[i] = isnan(judged[i].low)
					? FZ_VERDICTS
					: judged[i].verdict + (judged[i].of_sum ? OF_SUM : 0);
	fz_columns_numbers(f->columns, name, f->scratch, f->page->n);
}

static bool has_tested_path(const struct filler *f)
{
	const struct fz_judgement *j = f->page->judgement;

	for (uint32_t i = 0; j->path_self && i < f->page->n; i++)
		if (!isnan(j->path_self[i].low) || !isnan(j->path_total[i].low))
			return true;
	return false;
}

/* Add flags of modules whose import only moved, which are not listed as changes. */
static void fill_moved_imports(struct filler *f)
{
	struct fz_import_moves moves = fz_import_moves_find(f->page->diff, f->page->judgement);

	if (!moves.moved)
		return;
	for (uint32_t i = 0; i < f->used_n; i++)
		f->scratch[i] = moves.moved[f->used[i]];
	fz_columns_numbers(f->columns, "function.moved_import", f->scratch, f->used_n);
	free(moves.moved);
}

static void fill_verdicts(struct filler *f)
{
	static const char *const self[] = { "function.verdict.self", "function.below.self",
					    "function.above.self", "function.surprise.self" };
	static const char *const total[] = { "function.verdict.total", "function.below.total",
					     "function.above.total", "function.surprise.total" };
	const struct fz_judgement *j = f->page->judgement;

	if (!j)
		return;
	fill_family(f, self, j->self);
	fill_family(f, total, j->total);
	fill_moved_imports(f);
	if (!has_tested_path(f))
		return;
	fill_paths(f, "node.verdict.self", j->path_self);
	fill_paths(f, "node.verdict.total", j->path_total);
}

/* Sort page->lines, which is grouped by the page's functions, into the order of `used`; returns
 * their number. */
static size_t order_lines(struct filler *f, const struct fz_page_line **ordered)
{
	const struct fz_page *page = f->page;
	fz_auto(fz_free_ptr) size_t *end = fz_calloc(page->function_count + 1ul, sizeof(*end));
	fz_auto(fz_free_ptr) size_t *count = fz_calloc(page->function_count + 1ul, sizeof(*count));
	size_t n = 0;

	for (size_t i = 0; i < page->line_count; i++) {
		end[page->lines[i].function] = i + 1;
		count[page->lines[i].function]++;
	}
	for (uint32_t i = 0; i < f->used_n; i++) {
		uint32_t function = f->used[i];
		size_t first = end[function] - count[function];
		for (size_t k = 0; k < count[function]; k++)
			ordered[n++] = &page->lines[first + k];
		f->scratch[i] = (int64_t)count[function];
	}
	fz_columns_numbers(f->columns, "function.lines", f->scratch, f->used_n);
	return n;
}

static void fill_line_weights(struct filler *f, const struct fz_page_line *const *ordered, size_t n,
			      enum fz_side side)
{
	static const char *const names[FZ_SIDES][2] = { { "line.self.base", "line.total.base" },
							{ "line.self.head", "line.total.head" } };

	for (size_t i = 0; i < n; i++)
		f->scratch[i] = ordered[i]->self[side];
	fz_columns_numbers(f->columns, names[side][0], f->scratch, n);
	for (size_t i = 0; i < n; i++)
		f->scratch[i] = ordered[i]->total[side];
	fz_columns_numbers(f->columns, names[side][1], f->scratch, n);
}

/* Add lines by function, each as the difference from the line before in the function. */
static void fill_lines(struct filler *f)
{
	const struct fz_page *page = f->page;

	if (!page->line_count)
		return;
	fz_auto(fz_free_ptr) const struct fz_page_line **ordered =
		fz_calloc(page->line_count, sizeof(*ordered));
	size_t n = order_lines(f, ordered);
	for (size_t i = 0; i < n; i++) {
		bool is_first = i == 0 || ordered[i]->function != ordered[i - 1]->function;
		f->scratch[i] = ordered[i]->line - (is_first ? 0 : ordered[i - 1]->line);
	}
	fz_columns_numbers(f->columns, "line.step", f->scratch, n);
	for (int side = page->is_diff ? FZ_BASE : FZ_HEAD; side < FZ_SIDES; side++)
		fill_line_weights(f, ordered, n, side);
}

void fz_page_fill_columns(const struct fz_page *page, const struct fz_html_options *o,
			  struct fz_columns *columns)
{
	size_t longest = FZ_MAX(FZ_MAX(page->n, page->function_count),
				FZ_MAX(page->cell_count, page->line_count));
	struct filler f = {
		.page = page,
		.columns = columns,
		.scratch = fz_reallocarray(NULL, longest + 1, sizeof(int64_t)),
	};

	number_functions(&f);
	fill_nodes(&f);
	fill_cells(&f);
	fill_functions(&f);
	fill_lines(&f);
	fill_verdicts(&f);
	fz_page_time_columns(page->time, columns);
	if (page->calls)
		fz_page_calls_fill(page->calls, page, columns);
	if (page->opcodes)
		fz_page_opcodes_fill(page->opcodes, page->is_diff, columns);
	if (!o->no_source)
		fz_page_source_columns(page, f.used, f.used_n, o->opens_source, columns);
	fz_page_places_columns(page, f.used, f.used_n, columns);
	free(f.scratch);
	free(f.used);
	free(f.number_of);
}

/* ---- header ---- */

static void write_facts(const struct fz_profile *p, struct fz_json *j)
{
	fz_json_kopen(j, "facts", '[');
	for (uint32_t i = 0; i < p->fact_count; i++) {
		if (fz_is_process_fact(p->strings[p->facts[i].key]) ||
		    fz_is_mark_fact(p->strings[p->facts[i].key]))
			continue;
		fz_json_open(j, '[');
		fz_json_str(j, p->strings[p->facts[i].key]);
		fz_json_str(j, p->strings[p->facts[i].value]);
		fz_json_close(j, ']');
	}
	fz_json_close(j, ']');
}

static void write_recording(const struct fz_profile *p, struct fz_json *j)
{
	const struct fz_recording *r = &p->recording;
	char version[32];

	snprintf(version, sizeof(version), "%u.%u.%u", r->python[0], r->python[1], r->python[2]);
	fz_json_kopen(j, "recording", '{');
	fz_json_kstr(j, "mode", fz_str_of(fz_mode_names[r->mode]));
	if (r->features_known)
		fz_json_kint(j, "features", r->features);
	fz_json_kint(j, "interval_ns", r->interval_ns);
	fz_json_kint(j, "duration_ns", r->duration_ns);
	fz_json_kstr(j, "python", fz_str_of(r->python[0] ? version : ""));
	fz_json_kbool(j, "complete", r->complete);
	fz_json_kbool(j, "reconstructed", r->reconstructed);
	fz_json_kstr(j, "tree", fz_str_of(fz_report_tree_note(p)));
	fz_auto(fz_buf_release) struct fz_buf failure = { 0 };
	fz_profile_describe_failure(p, "the run", &failure);
	fz_json_kstr(j, "failure", fz_buf_view(&failure));
	fz_json_kdouble(j, "error_rate", r->error_rate);
	fz_json_kdouble(j, "missed_rate", r->missed_rate);
	fz_json_kdouble(j, "achieved_hz", r->achieved_hz);
	fz_json_close(j, '}');
}

static void write_quality(const struct fz_quality *q, struct fz_json *j)
{
	if (!q->known)
		return;
	fz_json_kopen(j, "quality", '{');
	fz_json_kint(j, "taken", (int64_t)q->taken);
	fz_json_kint(j, "retried", (int64_t)q->retried);
	fz_json_kopen(j, "rejected", '[');
	for (int i = 0; i < FZ_REJECTS; i++) {
		fz_json_open(j, '[');
		fz_json_str(j, fz_str_of(fz_reject_names[i]));
		fz_json_int(j, (int64_t)q->rejected[i]);
		fz_json_close(j, ']');
	}
	fz_json_close(j, ']');
	fz_json_kint(j, "missed", (int64_t)q->missed);
	fz_json_kint(j, "longest_gap_ns", q->longest_gap_ns);
	fz_json_kint(j, "dropped_bytes", (int64_t)q->dropped_bytes);
	fz_json_close(j, '}');
}

static void write_side(const struct fz_page *page, const struct fz_html_options *o,
		       enum fz_side side, struct fz_json *j)
{
	const struct fz_profile *p = page->profile[side];

	fz_json_key(j, fz_side_names[side]);
	if (!p) {
		fz_json_null(j);
		return;
	}
	fz_json_open(j, '{');
	fz_json_kstr(j, "label", fz_str_of(o->labels[side] ? o->labels[side] : ""));
	fz_json_kint(j, "sum", page->sum[side]);
	fz_report_json_counts(j, p, page->samples[side]);
	fz_json_kint(j, "runs", FZ_MAX(p->run_count, 1));
	write_facts(p, j);
	write_recording(p, j);
	write_quality(&p->quality, j);
	fz_page_write_speed(p, j);
	fz_json_close(j, '}');
}

static void write_states(const struct fz_states *t, struct fz_json *j)
{
	fz_json_open(j, '{');
	fz_json_kint(j, "samples", (int64_t)t->samples);
	fz_json_kint(j, "gil", (int64_t)t->gil);
	fz_json_kint(j, "waiting", (int64_t)t->waiting);
	fz_json_kint(j, "cpu", (int64_t)t->cpu);
	fz_json_kint(j, "cpu_unknown", (int64_t)t->cpu_unknown);
	fz_json_kint(j, "exception", (int64_t)t->exception);
	fz_json_kint(j, "gc", (int64_t)t->gc);
	fz_json_close(j, '}');
}

static void write_threads(const struct fz_page *page, struct fz_json *j)
{
	struct fz_states *states[FZ_SIDES] = { NULL };

	for (int side = 0; side < FZ_SIDES; side++)
		if (page->profile[side])
			states[side] = fz_profile_states(page->is_diff ? page->diff->recorded[side]
								       : page->profile[side]);
	fz_json_kopen(j, "threads", '[');
	for (uint32_t i = 0; i < page->thread_count; i++) {
		const struct fz_page_thread *t = &page->threads[i];
		fz_json_open(j, '{');
		fz_json_kstr(j, "label", fz_str_of(t->label));
		if (t->process)
			fz_json_kstr(j, "process", fz_str_of(t->process));
		for (int side = 0; side < FZ_SIDES; side++) {
			if (!states[side] || t->on_side[side] == FZ_NONE)
				continue;
			fz_json_key(j, fz_side_names[side]);
			write_states(&states[side][t->on_side[side]], j);
		}
		fz_json_close(j, '}');
	}
	fz_json_close(j, ']');
	free(states[FZ_BASE]);
	free(states[FZ_HEAD]);
}

static void write_diff(const struct fz_diff *d, struct fz_json *j)
{
	fz_auto(fz_buf_release) struct fz_buf speed = { 0 };

	fz_report_json_scale(j, d);
	fz_findings_speed(d, &speed);
	fz_json_kstr(j, "speed_text", fz_buf_view(&speed));
	fz_json_kstr(j, "match", fz_str_of(fz_match_names[d->match]));
	fz_report_json_rules(j, d);
	fz_report_json_links(j, d);
	fz_report_json_splits(j, d);
	fz_report_json_shifts(j, d);
	fz_json_kint(j, "elided_count", d->elided_count);
	fz_json_kint(j, "elided_time", d->elided_time);
	fz_json_kint(j, "urgent", d->urgent);
	fz_json_kopen(j, "warnings", '[');
	for (uint32_t i = 0; i < d->warning_count; i++)
		fz_json_str(j, fz_str_of(d->warnings[i]));
	fz_json_close(j, ']');
}

/* Write "moved_imports": their number and the change of all imports together, if there are any. */
static void write_moved_imports(const struct fz_page *page, struct fz_json *j)
{
	struct fz_import_moves moves = fz_import_moves_find(page->diff, page->judgement);

	if (!moves.moved)
		return;
	fz_json_kopen(j, "moved_imports", '{');
	fz_json_kint(j, "n", moves.n);
	fz_json_kdouble(j, "net", moves.net);
	fz_json_close(j, '}');
	free(moves.moved);
}

void fz_page_write_header(const struct fz_page *page, const struct fz_html_options *o,
			  const struct fz_columns *columns, struct fz_output *out)
{
	struct fz_json j;

	fz_json_init(&j, out, 1);
	fz_json_open(&j, '{');
	fz_json_kstr(&j, "format", FZ_STR("fizeau-page"));
	fz_json_kint(&j, "version", FZ_PAGE_VERSION);
	fz_json_kstr(&j, "generator", FZ_STR("Fizeau " FZ_VERSION));
	fz_json_kstr(&j, "kind", page->is_diff ? FZ_STR("diff") : FZ_STR("profile"));
	fz_json_kstr(&j, "metric", fz_str_of(page->metric));
	fz_json_kstr(&j, "unit", fz_str_of(page->unit));
	fz_json_kstr(&j, "noun", fz_str_of(fz_cost_noun(page->metric, page->unit)));
	fz_json_kbool(&j, "per_run",
		      page->diff ? page->diff->per_run
				 : page->profile[FZ_HEAD]->per_run &&
					   fz_metric_is_per_run(page->metric));
	fz_json_kint(&j, "nodes", page->n);
	fz_json_kstr(&j, "root", fz_page_root(page));
	fz_json_kstr(&j, "palette", fz_str_of(fz_palette_names[o->palette]));
	fz_json_kbool(&j, "inverted", o->inverted);
	fz_json_kbool(&j, "opens_source", o->opens_source);
	for (int side = 0; side < FZ_SIDES; side++)
		write_side(page, o, side, &j);
	write_threads(page, &j);
	if (page->diff) {
		fz_report_json_words(&j, page->metric, page->unit);
		write_diff(page->diff, &j);
	}
	if (page->judgement) {
		fz_report_json_verdict(&j, page->diff, page->judgement);
		write_moved_imports(page, &j);
	}
	fz_page_write_benchmarks(page, o->gate, &j);
	if (page->opcodes)
		fz_page_opcodes_header(page->opcodes, &j);
	fz_page_time_header(page->time, &j);
	if (!page->is_diff)
		fz_report_waits_json(page->profile[FZ_HEAD], &j);
	fz_json_key(&j, "columns");
	fz_columns_directory(columns, &j);
	fz_json_close(&j, '}');
}
