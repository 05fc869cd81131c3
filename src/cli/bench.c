/* SPDX-License-Identifier: MIT */
/* fizeau bench: count and time the benchmarks of a command, and compare with the last run.
 *
 * The recording goes to the store, where the next run of the same command finds it as the base of
 * the column "change" and of --fail-on.
 */
#include "cli/record.h"

#include "base/io.h"
#include "bench/report.h"
#include "format/format.h"
#include "profile/benchmarks.h"
#include "report/table.h"
#include "bench/benchmarks.h"
#include "bench/revision.h"
#include "stats/order.h"
#include "store/store.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum gate { GATE_NONE, GATE_REGRESSION };
static const char *const gate_names[] = { "none", "regression", NULL };

static struct {
	struct fz_cli_record record; /* only its output and engine are used */
	struct fz_bench_options bench;
	int what, gate;
	bool show_output;
} options = { .record = FZ_CLI_RECORD_DEFAULTS, .what = FZ_BENCH_BOTH };

/* text is NULL without a value. */
static int set_symbol(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	if (text && !*text)
		return fz_fail(err, FZ_EUSAGE, "--bench-main= requires a function name");
	*(const char **)opt->value = text ? text : "main";
	return 0;
}

static const struct fz_opt option_table[] = {
	FZ_OPT_HEADING("Measuring"),
	FZ_OPT(SET, "count", NULL, &options.what, "only count instructions", .min = FZ_BENCH_COUNT,
	       .common = true),
	FZ_OPT(SET, "wall", NULL, &options.what, "only measure wall time", .min = FZ_BENCH_WALL,
	       .common = true),
	FZ_OPT(SET, "both", NULL, &options.what,
	       "count instructions, then measure wall time (default)", .min = FZ_BENCH_BOTH),
	FZ_OPT(STRING, "filter", "TEXT", &options.bench.filter,
	       "run only benchmarks whose names contain TEXT", .short_name = 'k', .common = true),
	FZ_OPT(CALL, "bench-main", "FUNCTION", &options.bench.symbol,
	       "measure only the program's main function, or with --count all calls of FUNCTION",
	       .call = set_symbol, .optional = true, .common = true),
	FZ_OPT(CALL, "timeout", "SECONDS", &options.bench.timeout,
	       "end the command after SECONDS and use the results so far",
	       .call = fz_cli_parse_duration),
	FZ_OPT(FLAG, "cache", NULL, &options.bench.cache,
	       "also count memory accesses and cache misses"),
	FZ_OPT(FLAG, "memory", NULL, &options.bench.memory,
	       "also track heap memory: peak bytes, and bytes live at the end", .common = true),
	FZ_RECORD_CALLGRIND_ENTRY(options.record, "count with"),
	FZ_OPT(FLAG, "harness", NULL, &options.bench.harness,
	       "include the benchmark harness's frames in the call trees"),
	FZ_OPT_RENAMED("native", "interpreter-frames"),
	FZ_OPT(FLAG, "interpreter-frames", NULL, &options.bench.native,
	       "include the native frames of the Python and Node interpreters in the call trees"),
	FZ_OPT(FLAG, "show-output", NULL, &options.show_output,
	       "show the command's output, on standard error"),
	FZ_OPT(CHOICE, "fail-on", "WHAT", &options.gate,
	       "exit with status 1 if a benchmark's instructions, peak bytes or live bytes exceed "
	       "those of the last run by more than its limit (WHAT: regression)",
	       .choices = gate_names, .common = true),
	FZ_CLI_OUTPUT_FILE_ENTRIES(options.record.output),
	FZ_CLI_OUTPUT_PAGE_ENTRIES(options.record.output),
	FZ_CLI_OUTPUT_TEXT_ENTRIES(options.record.output),
	{ .kind = FZ_OPT_END },
};

/* ---- the table ---- */

static double total_of(const struct fz_profile *p, const struct fz_benchmark *b, const char *name)
{
	uint32_t metric = fz_profile_find_metric(p, fz_str_of(name));

	return b && metric != FZ_NONE && b->stack != FZ_NONE ? (double)b->total[metric] : 0;
}

static bool has(const struct fz_profile *p, const char *metric)
{
	return fz_profile_find_metric(p, fz_str_of(metric)) != FZ_NONE;
}

/* The count of a metric; below 0 if the benchmark was not counted. A counted benchmark has
 * instructions, but its memory may be 0. */
static double count_of(const struct fz_profile *p, const struct fz_benchmark *b, const char *name)
{
	return total_of(p, b, fz_bench_metrics[0]) > 0 ? total_of(p, b, name) : -1;
}

static void format_change(const struct fz_bench_base *base, const struct fz_benchmark *b,
			  const char *name, double head, char out[FZ_NUMBER_SIZE])
{
	const struct fz_benchmark *old =
		base->path ? fz_benchmarks_find(&base->list, b->name) : NULL;
	double before = old ? count_of(base->profile, old, name) : -1;

	if (!base->path || head < 0 || !has(base->profile, name))
		snprintf(out, FZ_NUMBER_SIZE, "-");
	else if (before < 0)
		snprintf(out, FZ_NUMBER_SIZE, "new");
	else if (before == head)
		snprintf(out, FZ_NUMBER_SIZE, "same");
	else if (before == 0)
		snprintf(out, FZ_NUMBER_SIZE, "from 0");
	else
		fz_format_percent_change(head / before - 1, out);
}

/* Add "1.23 ms" and "[1.20 ms, 1.31 ms]"; with too few rounds for an interval, their number and
 * range. */
static void add_wall(struct fz_table *t, const struct fz_benchmark *b)
{
	char low_text[FZ_NUMBER_SIZE], high_text[FZ_NUMBER_SIZE];
	double low, high;
	fz_auto(fz_free_ptr) double *rounds = fz_calloc(b->round_n + 1, sizeof(*rounds));

	if (b->round_n)
		memcpy(rounds, b->rounds, b->round_n * sizeof(*rounds));
	double median = fz_median_interval(rounds, b->round_n, 0.05, &low, &high);
	if (isnan(median)) {
		fz_table_cell(t, "-");
		return;
	}
	fz_table_value(t, median, "ns");
	fz_table_last(t);
	if (b->round_n == 1)
		fz_buf_str(t->out, "1 round");
	else if (isnan(low))
		fz_buf_printf(t->out, "%zu rounds, %s to %s", b->round_n,
			      fz_format_ns(rounds[0], low_text),
			      fz_format_ns(rounds[b->round_n - 1], high_text));
	else
		fz_buf_printf(t->out, "[%s, %s]", fz_format_ns(low, low_text),
			      fz_format_ns(high, high_text));
}

static void add_count(struct fz_table *t, const struct fz_profile *p, const struct fz_benchmark *b,
		      const struct fz_bench_base *base, const char *name)
{
	char change[FZ_NUMBER_SIZE];
	double head = count_of(p, b, name);

	format_change(base, b, name, head, change);
	if (head >= 0)
		fz_table_count(t, (int64_t)head);
	else
		fz_table_cell(t, "-");
	fz_table_cell(t, change);
}

struct measured {
	const struct fz_profile *p;
	const struct fz_benchmark **list;
	const struct fz_bench_base *base;
};

static void add_benchmark(struct fz_table *t, size_t i, const void *arg)
{
	const struct measured *m = arg;

	fz_table_str(t, m->list[i]->name);
	for (size_t k = 0; fz_bench_metrics[k]; k++)
		add_count(t, m->p, m->list[i], m->base, fz_bench_metrics[k]);
	add_wall(t, m->list[i]);
}

static void print_table(const struct fz_profile *p, const struct fz_benchmarks *list,
			const struct fz_bench_base *base)
{
	static const struct fz_column columns[] = {
		{ "benchmark", .min = 16, .fit = true },
		{ NULL, FZ_RIGHT, .gap = 2, .min = 15 },
		{ "change", FZ_RIGHT, .gap = 2, .min = 9 },
		{ NULL, FZ_RIGHT, .gap = 2, .min = 15 },
		{ "change", FZ_RIGHT, .gap = 2, .min = 9 },
		{ NULL, FZ_RIGHT, .gap = 2, .min = 15 },
		{ "change", FZ_RIGHT, .gap = 2, .min = 9 },
		{ "wall", FZ_RIGHT, .gap = 2, .min = 10 },
		{ "[95 %]", .gap = 2, .min = 4 },
	};
	struct fz_style style = fz_style_of(STDOUT_FILENO, options.record.output.color);
	fz_auto(fz_free_ptr) const struct fz_benchmark **shown = fz_calloc(list->n, sizeof(*shown));
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };
	struct fz_table t;
	size_t n = 0;

	fz_table_init(&t, columns, FZ_ARRAY_LEN(columns), &style, &out);
	for (unsigned i = 0; fz_bench_metrics[i]; i++) {
		fz_assert(3 + 2 * i < t.n);
		t.titles[1 + 2 * i] = fz_bench_metrics[i];
		if (i && !has(p, fz_bench_metrics[i]))
			t.hidden |= 3u << (1 + 2 * i);
	}
	for (size_t i = 0; i < list->n; i++)
		if (list->list[i].stack != FZ_NONE)
			shown[n++] = &list->list[i];
	fz_table_print(&t, n, add_benchmark, &(struct measured){ p, shown, base });
	fz_cli_print(fz_buf_view(&out));
}

static void print_base(const struct fz_bench_base *base)
{
	struct fz_str commit = fz_profile_fact(base->profile, "git.commit");
	bool dirty = fz_str_eq(fz_profile_fact(base->profile, "git.dirty"), FZ_STR("yes"));

	fz_cli_note("compared with %s%s%.*s%s", base->path, commit.n ? ", commit " : "",
		    (int)FZ_MIN(commit.n, 10), commit.p, dirty ? " with uncommitted edits" : "");
}

/* ---- the gate ---- */

/* Print the verdicts of all benchmarks and metrics, and the reason for the exit status. */
static int judge(const struct fz_bench_base *base, const struct fz_profile *p, bool has_table,
		 int *ret_status, struct fz_error *err)
{
	fz_auto(fz_bench_gate_release) struct fz_bench_gate gate = { 0 };
	struct fz_style style = fz_style_of(STDOUT_FILENO, options.record.output.color);
	fz_auto(fz_buf_release) struct fz_buf text = { 0 }, why = { 0 };

	if (!base->path) {
		fz_cli_note("no comparison: this is the first recording of these benchmarks");
		return 0;
	}
	int rc = fz_bench_gate_judge(&gate, base->profile, p, err);
	if (rc)
		return rc;
	fz_buf_char(&text, '\n');
	fz_ci_text(&gate.result, &style, &text);
	if (has_table)
		fz_cli_print(fz_buf_view(&text));
	fz_ci_why(&gate.result, &why);
	*ret_status = fz_ci_exit(&gate.result);
	if (*ret_status)
		fz_cli_note("%s", why.p);
	return 0;
}

static bool has_troubles(const struct fz_benchmarks *list)
{
	bool any = list->trouble.n != 0;

	for (size_t i = 0; i < list->n; i++)
		any |= list->list[i].trouble.n != 0;
	return any;
}

static int none_found(const struct fz_benchmarks *list, struct fz_error *err)
{
	if (options.bench.symbol)
		return fz_fail(err, FZ_EINPUT,
			       "nothing measured: function '%s' was never called, or the program "
			       "has no symbols",
			       options.bench.symbol);
	if (options.bench.filter)
		return fz_fail(err, FZ_EINPUT, "no benchmark name contains '%s'",
			       options.bench.filter);
	if (list->n || list->trouble.n)
		return fz_fail(err, FZ_EINPUT, "no benchmarks were measured");
	return fz_fail(err, FZ_EINPUT,
		       "the command runs no benchmarks that Fizeau knows; add them "
		       "(docs/benchmarks.md), or use --bench-main to measure its main function");
}

/* ---- the command ---- */

static int write_recording(struct fz_profile *p, const char *folder, const char *program,
			   struct fz_error *err)
{
	struct fz_cli_output *o = &options.record.output;
	fz_auto(fz_free_ptr) char *path = NULL;
	fz_auto(fz_close_fd) int fd = -1;

	if (!fz_cli_output_is_default(o))
		return fz_cli_output_write(o, p, err);
	int rc = fz_store_create(folder, program, &path, &fd, err);
	if (!rc)
		rc = fz_format_save(p, &fz_format_fz, path, err);
	if (!rc)
		fz_cli_note("recorded to %s", path);
	return rc;
}

/* ret_status: the exit status; FZ_EXIT_TROUBLE if some benchmark could not be measured. */
static int report(struct fz_profile *p, const char *program, int *ret_status, struct fz_error *err)
{
	int rc = 0;

	fz_auto(fz_benchmarks_release) struct fz_benchmarks list = { 0 };
	fz_auto(fz_bench_base_release) struct fz_bench_base base = { 0 };
	char cwd[4096];

	if (!getcwd(cwd, sizeof(cwd)))
		return fz_fail_errno(err, "the current folder");
	fz_auto(fz_free_ptr) char *folder = fz_store_folder(cwd);
	fz_benchmarks_read(p, &list);
	bool troubles = has_troubles(&list);
	if (!fz_benchmarks_measured(&list))
		return none_found(&list, err);
	fz_bench_base_find(folder, p, &base);
	/* No table if the recording goes to standard output. */
	bool has_table =
		!options.record.output.file || strcmp(options.record.output.file, "-") != 0;
	if (has_table)
		print_table(p, &list, &base);
	if (base.path)
		print_base(&base);
	if (options.gate == GATE_REGRESSION)
		rc = judge(&base, p, has_table, ret_status, err);
	if (troubles)
		*ret_status = FZ_EXIT_TROUBLE;
	return rc ? rc : write_recording(p, folder, program, err);
}

static int measure(char *const argv[], struct fz_series *series, struct fz_profile **ret,
		   struct fz_error *err)
{
	fz_auto(fz_close_fd) int silent = -1;

	if (!options.show_output) {
		silent = open("/dev/null", O_WRONLY | O_CLOEXEC);
		if (silent < 0)
			return fz_fail_errno(err, "/dev/null");
	}
	fz_series_begin(series, "bench", &options.record.how, &fz_cli_notify);
	fz_auto(fz_free_ptr) char *whole = fz_revision_whole(argv);
	if (!options.bench.filter && !options.bench.symbol)
		options.bench.whole = whole;
	options.bench.marks_first = true;
	int rc = fz_bench_measure_here(series, &options.bench, argv,
				       options.show_output ? STDERR_FILENO : silent, ret, err);
	fz_series_end(series);
	options.bench.whole = NULL;
	return rc;
}

static int bench(const struct fz_opt_state *state, struct fz_series *series, int *ret_status,
		 struct fz_error *err)
{
	struct fz_launch_words words = { .words = state->arguments,
					 .n = (size_t)state->argument_count,
					 .plain = state->saw_dashes && state->after_dashes == 0 };
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	fz_auto(fz_free_ptr) char **argv = NULL;

	options.record.output.untimed = options.what != FZ_BENCH_WALL;
	int rc = fz_cli_output_check(&options.record.output, false, NULL, err);
	if (!rc)
		rc = fz_launch_command(&words, &argv, err);
	if (!rc)
		rc = measure(argv, series, &p, err);
	return rc ? rc : report(p, fz_path_base(fz_str_of(argv[0])).p, ret_status, err);
}

static int run(struct fz_opt_state *state)
{
	struct fz_series series = { 0 };
	struct fz_error err;
	int found = FZ_EXIT_OK;

	if (state->argument_count == 0)
		return fz_cli_errorf("bench: no command; add one after '--', for example: fizeau "
				     "bench -- pytest tests/");
	if (options.gate && options.what == FZ_BENCH_WALL)
		return fz_cli_errorf("bench: --fail-on cannot be combined with --wall, because it "
				     "compares counts");
	options.bench.what = (enum fz_bench_what)options.what;
	options.bench.progress = true;
	options.bench.apart = options.bench.memory;
	int rc = bench(state, &series, &found, &err);
	fz_cli_output_release(&options.record.output);
	if (rc)
		fz_cli_fail("bench", &err);
	if (series.stopped_by)
		return 128 + series.stopped_by;
	return rc ? FZ_EXIT_TROUBLE : found;
}

const struct fz_command fz_command_bench = {
	.name = "bench",
	.summary = "count instructions and time of a command's benchmarks",
	.usage = "[options] -- COMMAND [ARGUMENTS]",
	.examples =
		"  $ fizeau bench -- pytest tests/ --codspeed  # repeat after an edit to see "
		"the change\n"
		"  $ fizeau bench --count -k parse -- ./benchmarks\n"
		"  $ fizeau bench -- ./program input           # without benchmarks: all of it\n"
		"  $ fizeau bench -o bench.html -- node bench.mjs\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_PROGRAM,
	.stop_at_first = true,
	.run = run,
};
