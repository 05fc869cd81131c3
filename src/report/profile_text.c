/* SPDX-License-Identifier: MIT */
/* One profile as text: the functions that cost most.
 *
 *   2,497 samples, 2.51 s of wall time: python3 app.py
 *
 *             self             total  function
 *     1.23 s  49.1 %    2.41 s  96.4 %  parse (app.py:32)
 *     0.90 s  35.9 %    0.90 s  35.9 %  wait (threading.py:295)  idle
 *     ...
 *
 * A function is one row, for all its lines; its total counts a sample once, even if the function
 * recurs in it.
 */
#include "report/text.h"

#include "compare/names.h"
#include "profile/callgraph.h"
#include "profile/idle.h"
#include "profile/per_run.h"
#include "profile/processes.h"
#include "profile/runs.h"
#include "profile/speed.h"
#include "profile/tree.h"
#include "report/activity.h"
#include "report/processes.h"
#include "report/recording.h"
#include "report/states.h"
#include "report/table.h"
#include "report/waits.h"

enum { IDLE_COLUMNS = 6 };

struct row {
	struct fz_str name, file;
	int32_t line;
	uint32_t function;
	int64_t self, total;
	bool idle; /* it mostly waits */
};

struct rows {
	const struct fz_tree *t;
	struct row *rows;
	uint32_t n;
};

static int compare_names(const struct row *a, const struct row *b)
{
	return fz_str_cmp(a->name, b->name) ?: fz_str_cmp(a->file, b->file) ?:
	       FZ_CMP(a->function, b->function);
}

static int compare_rows(const void *pa, const void *pb, void *arg)
{
	const struct row *a = pa, *b = pb;
	enum fz_text_sort sort = *(const enum fz_text_sort *)arg;
	int self = FZ_CMP(b->self, a->self);
	int total = FZ_CMP(b->total, a->total);

	if (sort == FZ_TEXT_SORT_NAME)
		return compare_names(a, b);
	bool by_total = sort == FZ_TEXT_SORT_TOTAL || sort == FZ_TEXT_SORT_TOTAL_SAMPLES;
	return (by_total ? total ?: self : self ?: total) ?: compare_names(a, b);
}

static struct rows function_rows(const struct fz_tree *t, enum fz_text_sort sort,
				 struct fz_arena *arena)
{
	const struct fz_profile *p = t->profile;
	const struct fz_name *names = fz_names_of(p, arena);
	fz_auto(fz_free_ptr) int32_t *lines = fz_profile_function_lines(p, t->metric);
	fz_auto(fz_free_ptr) int64_t *self = NULL;
	fz_auto(fz_free_ptr) int64_t *total = NULL;
	fz_auto(fz_free_ptr) bool *idle = fz_idle_functions(p);
	struct rows rows = { t, fz_calloc(p->function_count, sizeof(*rows.rows)), 0 };

	fz_tree_function_costs(t, &self, &total);
	for (uint32_t f = 0; f < p->function_count; f++)
		if (self[f] || total[f])
			rows.rows[rows.n++] = (struct row){
				.name = names[f].name,
				.file = names[f].file,
				.line = lines[f],
				.function = f,
				.self = self[f],
				.total = total[f],
				.idle = idle[f],
			};
	qsort_r(rows.rows, rows.n, sizeof(*rows.rows), compare_rows, &sort);
	return rows;
}

/* The command, without the program's folder if there is no room for it. */
static struct fz_str short_command(struct fz_str command, unsigned columns)
{
	if (command.p[0] != '/' || fz_str_columns(command) <= columns)
		return command;
	const char *blank = memchr(command.p, ' ', command.n);
	size_t word = blank ? (size_t)(blank - command.p) : command.n;
	size_t cut = word - fz_path_base((struct fz_str){ command.p, word }).n;

	return (struct fz_str){ command.p + cut, command.n - cut };
}

/* Print a warning if the program failed: the figures only cover the time until then. */
static void print_failure(const struct fz_profile *p, const struct fz_style *style,
			  struct fz_buf *out)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	fz_profile_describe_failure(p, "the run", &text);
	if (!text.n)
		return;
	fz_buf_printf(out, "%sWarning: ", fz_hue_on(style, FZ_HUE_RED));
	fz_buf_printf(out, "%s.%s\n", text.p, fz_hue_off(style, FZ_HUE_RED));
}

/* Did the file's writer convert times to samples, because its format has nothing else? */
static bool has_made_samples(const struct fz_profile *p)
{
	return fz_profile_fact(p, "samples.made").n && p->recording.interval_ns <= 0;
}

/* Are the rows sums by stack, not samples? True for folded text with numbers other than samples,
 * and for memory. */
static bool is_summed(const struct fz_profile *p)
{
	bool memory =
		!p->samples.ordered && strcmp(p->metrics[p->default_metric].unit, "bytes") == 0;
	bool bare = p->numbers.bare && fz_profile_find_metric(p, FZ_STR("samples")) == FZ_NONE;

	return (bare || memory) && p->recording.interval_ns == 0;
}

/* "2,497 samples", or the number of calls in a call graph that has them. */
static const char *heading_count(const struct fz_tree *t, bool rounds, char out[FZ_NUMBER_SIZE])
{
	const struct fz_profile *p = t->profile;

	if (p->recording.reconstructed)
		return fz_format_plural((int64_t)fz_profile_count(p), fz_profile_counted(p), out);
	return fz_format_plural((int64_t)t->samples, rounds ? "round" : "sample", out);
}

/* Is it a call graph of costs, with unknown numbers of calls and samples? */
static bool is_graph_of_costs(const struct fz_profile *p)
{
	return p->recording.reconstructed &&
	       fz_profile_find_metric(p, FZ_STR("samples")) == FZ_NONE &&
	       fz_profile_find_metric(p, FZ_STR("calls")) == FZ_NONE;
}

static void print_heading(const struct fz_tree *t, const struct fz_style *style, struct fz_buf *out)
{
	const struct fz_metric *m = &t->profile->metrics[t->metric];
	struct fz_str command = fz_profile_fact(t->profile, "command");
	char samples[FZ_NUMBER_SIZE], value[FZ_NUMBER_SIZE];
	bool rows = fz_recording_is_counted(t->profile) || is_summed(t->profile) ||
		    is_graph_of_costs(t->profile) || has_made_samples(t->profile);

	fz_buf_str(out, fz_hue_on(style, FZ_HUE_BOLD));
	size_t start = out->n;
	bool rounds = t->profile->per_round && strcmp(m->name, "wall") == 0;
	if (!rows)
		fz_buf_str(out, heading_count(t, rounds, samples));
	fz_auto(fz_processes_release) struct fz_processes ps = fz_profile_processes(t->profile);
	uint32_t sampled = fz_processes_sampled(&ps);
	if (sampled > 1 && !rows)
		fz_buf_printf(out, " of %u processes", sampled);
	if (t->profile->run_count > 1 && !rows)
		fz_buf_printf(out, " of %u runs", t->profile->run_count);
	if (rows || (strcmp(m->name, "samples") != 0 && strcmp(m->name, "calls") != 0)) {
		fz_buf_printf(out, "%s%s", rows ? "" : ", ",
			      fz_format_value((double)t->sum, m->unit, value));
		fz_table_add_metric(m->name, m->unit, out);
	}
	if (rounds)
		fz_buf_str(out, " per round of each benchmark");
	else if (t->profile->per_run && fz_metric_is_per_run(m->name))
		fz_buf_str(out, " per run");
	struct fz_str heading = { out->p + start, out->n - start };
	unsigned columns = fz_table_rest(style, (unsigned)fz_str_columns(heading) + 2);
	fz_buf_str(out, fz_hue_off(style, FZ_HUE_BOLD));
	if (command.n) {
		fz_buf_str(out, ": ");
		fz_table_text(short_command(command, columns), columns, style, out);
	}
	fz_buf_str(out, "\n");
}

void fz_report_profile_heading(const struct fz_tree *t, const struct fz_style *style,
			       struct fz_buf *out)
{
	print_failure(t->profile, style, out);
	print_heading(t, style, out);
}

static void add_cost(struct fz_table *table, const struct fz_tree *t, int64_t cost)
{

	fz_table_value(table, (double)cost, t->profile->metrics[t->metric].unit);
	fz_table_percent(table, (double)cost / (t->sum ? (double)t->sum : 1));
}

static void add_row(struct fz_table *table, size_t i, const void *arg)
{
	const struct rows *rows = arg;
	const struct row *r = &rows->rows[i];
	struct fz_source_place place = { r->file, r->line, rows->t->profile, r->function };

	add_cost(table, rows->t, r->self);
	add_cost(table, rows->t, r->total);
	unsigned room = fz_table_last(table);
	if (r->idle)
		room = FZ_MAX(room, FZ_TABLE_REST_MIN + (unsigned)IDLE_COLUMNS) - IDLE_COLUMNS;
	fz_table_function(r->name, &place, room, table->style, table->out);
	if (r->idle)
		fz_buf_printf(table->out, "  %sidle%s", fz_hue_on(table->style, FZ_HUE_DIM),
			      fz_hue_off(table->style, FZ_HUE_DIM));
}

static void print_rows(const struct rows *rows, const struct fz_text_options *o, struct fz_buf *out)
{
	static const struct fz_column columns[] = {
		{ NULL, FZ_RIGHT, .min = 9 },
		{ "self", FZ_RIGHT, .gap = 1, .min = 8 },
		{ NULL, FZ_RIGHT, .gap = 2, .min = 9 },
		{ "total", FZ_RIGHT, .gap = 1, .min = 8 },
		{ "function", .gap = 2 },
	};
	uint32_t shown = FZ_MIN(rows->n, o->limit);
	struct fz_table table;

	fz_buf_char(out, '\n');
	fz_table_init(&table, columns, FZ_ARRAY_LEN(columns), &o->style, out);
	fz_table_print(&table, shown, add_row, rows);
	fz_table_more(&table, rows->n - shown, "function");
}

static void add_rejected(const struct fz_quality *q, struct fz_buf *out)
{
	uint64_t rejected = fz_quality_rejected(q);
	char number[FZ_NUMBER_SIZE], share[FZ_NUMBER_SIZE];
	const char *before = "; ";

	fz_buf_printf(out, ", %s rejected", fz_format_count((int64_t)rejected, number));
	if (rejected == 0)
		return;
	double all = (double)rejected + (double)q->taken;
	fz_buf_printf(out, " (%s", fz_format_percent((double)rejected / all, share));
	for (size_t i = 0; i < FZ_REJECTS; i++) {
		if (!q->rejected[i])
			continue;
		fz_buf_printf(out, "%s%s: %s", before, fz_reject_names[i],
			      fz_format_count((int64_t)q->rejected[i], number));
		before = ", ";
	}
	fz_buf_char(out, ')');
}

/* Append a remedy if many samples were rejected because stacks changed during reading: short
 * functions are then undersampled. */
static void add_remedy(const struct fz_profile *p, struct fz_buf *out)
{
	enum { MANY = 20 }; /* one in this many samples */
	const struct fz_quality *q = &p->quality;
	uint64_t rejected = fz_quality_rejected(q);

	if (fz_str_eq(fz_profile_fact(p, "engine"), FZ_STR("read")) &&
	    rejected * MANY > rejected + q->taken)
		fz_buf_str(out, "; functions that run for microseconds are undersampled: use "
				"--engine bpf or --blocking");
}

/* Format the share of CPU time that is in no sample. False if it is small or unknown. */
static bool is_missing(const struct fz_profile *p, const char *fact, char out[FZ_NUMBER_SIZE])
{
	double share;

	if (!fz_parse_decimal(fz_profile_fact(p, fact), &share) || share <= 0.02)
		return false;
	fz_format_percent(share, out);
	return true;
}

/* Append missing CPU time. Recordings of several processes have no remedy. */
static void add_missing(const struct fz_profile *p, struct fz_buf *out)
{
	fz_auto(fz_processes_release) struct fz_processes processes = { 0 };
	char number[FZ_NUMBER_SIZE];

	if (is_missing(p, "missing", number)) {
		processes = fz_profile_processes(p);
		fz_buf_printf(out,
			      "; %s of the CPU time is missing: threads that ended before they "
			      "were sampled%s",
			      number,
			      processes.n > 1 ? ""
					      : " (--engine bpf or --mode wall includes them)");
	}
	if (is_missing(p, "missing.processes", number))
		fz_buf_printf(out,
			      "; %s of the CPU time is missing: processes that ended before they "
			      "were sampled, or run no Python",
			      number);
}

/* Flags by stack: a marker replaces its outermost frames. Freed by the caller. */
static bool *find_cut(const struct fz_profile *p)
{
	bool *cut = fz_calloc(FZ_MAX(p->stack_count, 1), sizeof(*cut));

	for (uint32_t s = 0; s < p->stack_count; s++) { /* callers precede callees */
		const struct fz_function *f = fz_profile_stack_function(p, s);
		uint32_t parent = p->stacks[s].parent;

		cut[s] = (parent != FZ_NONE && cut[parent]) ||
			 (f->kind == FZ_KIND_MARKER &&
			  fz_str_eq(fz_profile_text(p, f->name), FZ_STR("[truncated]")));
	}
	return cut;
}

static void add_cut(const struct fz_profile *p, struct fz_buf *out)
{
	fz_auto(fz_free_ptr) bool *cut = find_cut(p);
	int64_t of_cut = 0, total = 0;
	char number[FZ_NUMBER_SIZE];

	for (size_t row = 0; row < p->samples.n; row++) {
		int64_t weight = fz_sample_weight(p, p->default_metric, row);

		total += weight;
		if (p->samples.stack[row] != FZ_NONE && cut[p->samples.stack[row]])
			of_cut += weight;
	}
	if (of_cut > 0)
		fz_buf_printf(
			out,
			"; the stacks of %s are deeper than the limit and begin with [truncated]%s",
			fz_format_percent((double)of_cut / (double)total, number),
			fz_str_eq(fz_profile_fact(p, "engine"), FZ_STR("bpf"))
				? " (--engine read reads all Python frames)"
				: "");
}

/* Append error rates, which Tachyon stores instead of counts. */
static void add_rates(const struct fz_recording *r, struct fz_buf *out)
{
	char number[FZ_NUMBER_SIZE];

	if (r->error_rate >= 0)
		fz_buf_printf(out, ", %s failed", fz_format_percent(r->error_rate / 100, number));
	if (r->missed_rate >= 0)
		fz_buf_printf(out, ", %s missed", fz_format_percent(r->missed_rate / 100, number));
}

/* Append the number of threads that were not sampled. */
static void add_left_out(const struct fz_profile *p, struct fz_buf *out)
{
	struct fz_str text = fz_profile_fact(p, "unsampled");
	char number[FZ_NUMBER_SIZE];
	uint64_t n;

	if (fz_parse_u64(text, INT32_MAX, &n) && n)
		fz_buf_printf(out, "; %s %s not sampled: -a samples all",
			      fz_format_plural((int64_t)n, "other thread", number),
			      n == 1 ? "was" : "were");
}

/* Append text from a file, which may contain anything. */
static void add_printable(struct fz_str text, struct fz_buf *out)
{
	char safe[4096];

	fz_buf_add(out, safe, fz_str_printable(text.p, text.n, safe, sizeof(safe)));
}

static void add_fact(const struct fz_profile *p, const char *key, const char *before,
		     struct fz_buf *out)
{
	struct fz_str fact = fz_profile_fact(p, key);

	if (fact.n)
		fz_buf_printf(out, "; %s", before);
	add_printable(fact, out);
}

/* Append what was not sampled, or not completely. */
static void add_unsampled(const struct fz_profile *p, struct fz_buf *out)
{
	add_left_out(p, out);
	add_fact(p, "silent", "", out);
	add_missing(p, out);
	add_cut(p, out);
}

/* Append the machine's lowest speed, relative to its best in this recording. */
static void add_speed(const struct fz_profile *p, struct fz_buf *out)
{
	struct fz_speed_range range;
	char low[FZ_NUMBER_SIZE];

	if (!fz_speed_range(p, &range) || range.fastest > 0.99 * range.slowest)
		return;
	fz_buf_printf(out, "; the machine ran at %s to 100 %% of its speed",
		      fz_format_percent(range.fastest / range.slowest, low));
}

const char *fz_report_tree_note(const struct fz_profile *p)
{
	if (!p->recording.reconstructed)
		return "";
	if (fz_callgraph_states(p, p->default_metric))
		return "the tree is reconstructed from a call graph, function totals are recorded";
	return "the tree and function totals are reconstructed from a call graph";
}

static void add_graph(const struct fz_profile *p, struct fz_buf *out)
{
	char number[FZ_NUMBER_SIZE];
	uint64_t n = fz_profile_count(p);

	if (n)
		fz_buf_printf(out, "%s; ",
			      fz_format_plural((int64_t)n, fz_profile_counted(p), number));
	fz_buf_str(out, fz_report_tree_note(p));
	/* the file's contents contradict its header */
	add_fact(p, "damage", "", out);
	if (p->skipped_lines)
		fz_buf_printf(out, "; %s skipped",
			      fz_format_plural(p->skipped_lines, "line", number));
}

/* Samples of the main metric with a stack, and without, which no report can show. */
struct counts {
	uint64_t placed, stackless;
	int64_t stackless_weight;
};

static struct counts count_samples(const struct fz_profile *p)
{
	struct counts ret = { 0 };

	for (size_t row = 0; p->metric_count && row < p->samples.n; row++) {
		uint64_t n = fz_sample_count_in(p, p->default_metric, row);

		if (p->samples.stack[row] != FZ_NONE) {
			ret.placed += n;
			continue;
		}
		ret.stackless += n;
		ret.stackless_weight += fz_sample_weight(p, p->default_metric, row);
	}
	return ret;
}

/* Append "; 12 samples (260 ms) without a stack left out". */
static void add_stackless(const struct fz_profile *p, const struct counts *c, struct fz_buf *out)
{
	const struct fz_metric *m = &p->metrics[p->default_metric];
	char number[FZ_NUMBER_SIZE], value[FZ_NUMBER_SIZE];

	if (!c->stackless)
		return;
	fz_buf_printf(out, "; %s", fz_format_plural((int64_t)c->stackless, "sample", number));
	if (strcmp(m->name, "samples") != 0)
		fz_buf_printf(out, " (%s)",
			      fz_format_value((double)c->stackless_weight, m->unit, value));
	fz_buf_str(out, " without a stack left out");
}

void fz_report_quality(const struct fz_profile *p, struct fz_buf *out)
{
	const struct fz_quality *q = &p->quality;
	struct counts counts = count_samples(p);
	char number[FZ_NUMBER_SIZE];

	if (fz_recording_is_counted(p)) {
		fz_format_plural((int64_t)fz_profile_sample_total(p), "count", number);
		fz_buf_printf(out, "%s of calling contexts, by Valgrind ", number);
		add_printable(fz_profile_fact(p, "valgrind"), out);
		if (fz_str_eq(fz_profile_fact(p, "clock"), FZ_STR("instructions by callgrind")))
			fz_buf_str(out, p->callgraph ? "'s callgrind: totals are exact, the call "
						       "tree is reconstructed"
						     : "'s callgrind: the total is exact, the call "
						       "tree is not");
		return;
	}
	if (p->recording.reconstructed) {
		add_graph(p, out);
		return;
	}
	fz_buf_str(out, fz_format_plural((int64_t)counts.placed, is_summed(p) ? "stack" : "sample",
					 number));
	if (has_made_samples(p))
		fz_buf_str(out, ", converted from times, not sampled");
	bool waits = p->recording.features & FZ_FEATURE_WAITS;
	bool growth = p->recording.features & FZ_FEATURE_GROWTH;
	if (p->recording.interval_ns > 0)
		fz_buf_printf(out, waits ? ", one per %s of CPU time and per wait" : " every %s",
			      fz_format_ns((double)p->recording.interval_ns, number));
	if (p->recording.features & FZ_FEATURE_SAMPLED_WAITS)
		fz_buf_str(out, ", waits sampled");
	if (q->known) {
		add_rejected(q, out);
		if (!growth)
			fz_buf_printf(out, ", %s missed",
				      fz_format_plural((int64_t)q->missed, "instant", number));
		if (q->longest_gap_ns > 0)
			fz_buf_printf(out, ", longest gap %s",
				      fz_format_ns((double)q->longest_gap_ns, number));
	} else {
		add_rates(&p->recording, out);
	}
	add_stackless(p, &counts, out);
	add_remedy(p, out);
	add_unsampled(p, out);
	add_speed(p, out);
	if (q->dropped_bytes)
		fz_buf_printf(out, "; damaged: %s could not be read",
			      fz_format_plural((int64_t)q->dropped_bytes, "byte", number));
	if (p->skipped_lines)
		fz_buf_printf(out, "; %s skipped",
			      fz_format_plural(p->skipped_lines, "line", number));
	add_fact(p, "waits.lost", "lost: ", out);
	add_fact(p, "waits.unknown", "the reason of some waits is unknown: ", out);
	add_fact(p, "growth.unseen", "", out);
	add_fact(p, "notes", "", out);
}

/* Has a row a value in another metric than this one? */
static bool has_other_value(const struct fz_profile *p, uint32_t metric, size_t row)
{
	for (uint32_t i = 0; i < p->metric_count; i++)
		if (i != metric && fz_sample_weight(p, i, row))
			return true;
	return false;
}

/* Does a metric have values that are not in this report? Numbers of samples are only if they have
 * rows of their own, not as those of another metric. */
static bool is_other_metric(const struct fz_profile *p, uint32_t metric)
{
	bool samples = strcmp(p->metrics[metric].name, "samples") == 0;

	for (size_t row = 0; metric != p->default_metric && row < p->samples.n; row++)
		if (fz_sample_weight(p, metric, row) &&
		    !(samples && has_other_value(p, metric, row)))
			return true;
	return false;
}

/* Print the metrics that are not in this report. Those of our samples are waits,
 * which have reports of their own. */
static void print_other_metrics(const struct fz_profile *p, const struct fz_style *style,
				struct fz_buf *out)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	for (uint32_t i = 0; i < p->metric_count; i++)
		if (is_other_metric(p, i))
			fz_buf_printf(&text, "%s%s",
				      text.n ? ", " : "Other metrics: ", p->metrics[i].name);
	bool waits = fz_profile_is_ours(p) && !fz_recording_is_counted(p);
	if (!text.n || p->metric_chosen || waits)
		return;
	fz_buf_str(&text, "; --metric NAME selects one.");
	fz_table_wrap(text.p, style, out);
}

/* Append what threads were doing, and the sampling quality. */
void fz_report_profile_summary(const struct fz_profile *p, const struct fz_style *style,
			       struct fz_buf *out)
{
	fz_auto(fz_buf_release) struct fz_buf quality = { 0 };

	fz_buf_str(&quality, fz_recording_is_counted(p)   ? "Counting: "
			     : p->recording.reconstructed ? "Call graph: "
							  : "Sampling: ");
	fz_report_quality(p, &quality);
	fz_buf_str(&quality, ".");
	fz_buf_str(out, "\n");
	fz_report_processes_text(p, style, out);
	fz_report_states_text(p, style, out);
	fz_report_waits_text(p, style, out);
	fz_report_activity_text(p, style, out);
	fz_table_wrap(quality.p, style, out);
	print_other_metrics(p, style, out);
}

void fz_report_text_profile(const struct fz_profile *p, const struct fz_text_options *o,
			    struct fz_output *out)
{
	struct fz_buf text = { 0 };
	struct fz_arena arena = { 0 };
	fz_auto(fz_tree_freep) struct fz_tree *t = fz_tree_new(p, &FZ_TREE_DEFAULTS);
	struct rows rows = function_rows(t, o->sort, &arena);

	fz_report_profile_heading(t, &o->style, &text);
	if (rows.n)
		print_rows(&rows, o, &text);
	if (!o->no_summary)
		fz_report_profile_summary(p, &o->style, &text);
	fz_output_add(out, text.p, text.n);
	free(rows.rows);
	fz_buf_release(&text);
	fz_arena_release(&arena);
}
