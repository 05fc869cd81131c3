/* SPDX-License-Identifier: MIT */
/* Measuring benchmarks; see benchmarks.h.
 *
 * The log has one JSON object per line, in order:
 *
 *   {"name": "parse"}                                begun (only when timing)
 *   {"name": "parse", "rounds": [1200.5, 1190]}      timed: ns of one iteration
 *   {"name": "parse", "failed": "ValueError: x"}     its body failed
 */
#include "bench/benchmarks.h"

#include "base/clock.h"
#include "base/environ.h"
#include "base/io.h"
#include "git/worktree.h"
#include "bench/inplace.h"
#include "format/jsonread.h"
#include "profile/benchmarks.h"
#include "bench/bench_env.h"
#include "bench/bench_times.h"
#include "record/measure.h"
#include "bench/origin.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 16 << 20, ROUNDS_MAX = 100000 };
#define ROUND_NS_MAX 1e15

const char *const fz_bench_names[] = { "count", "wall", "both", NULL };

struct bench {
	struct fz_series *series;
	const struct fz_bench_options *options;
	char *const *argv;
	struct fz_launch_place place;
	char *log;
	char *times; /* file for Google Benchmark; other harnesses write beside it */
	struct fz_profile *profile;
	struct fz_child child; /* how the last execution ended */
	bool explained;        /* the log reports that a benchmark failed */
	bool is_whole;         /* nothing is marked: the program is the benchmark */
	const char *doing;     /* what progress reports */
	int64_t since, second; /* when that began, and the last second that was reported */
	struct fz_buf said;    /* lines of troubles that were reported */
};

/* ---- what is reported meanwhile ---- */

static void report_progress(struct bench *b, const char *doing)
{
	b->doing = doing;
	b->since = fz_clock_now();
	b->second = 0;
	if (b->options->progress)
		fz_notify_progress(b->series->notify, "%s: %s", b->series->command, doing);
}

/* Report a trouble once. */
static void report_trouble(struct bench *b, struct fz_str name, struct fz_str what)
{
	fz_auto(fz_buf_release) struct fz_buf line = { 0 };

	/* The first character keeps it from being found at the end of another line. */
	fz_buf_char(&line, '\n');
	fz_buf_add(&line, name.p, name.n);
	fz_buf_str(&line, name.n ? ": " : "");
	fz_buf_add(&line, what.p, what.n);
	fz_buf_char(&line, '\n');
	if (b->said.n && memmem(b->said.p, b->said.n, line.p, line.n))
		return;
	fz_buf_add(&b->said, line.p, line.n);
	fz_notify_warn(b->series->notify, "%s: %.*s", b->series->command, (int)line.n - 2,
		       line.p + 1);
}

static void report_troubles(struct bench *b, const struct fz_profile *p)
{
	fz_auto(fz_benchmarks_release) struct fz_benchmarks list = { 0 };

	if (!b->options->progress)
		return;
	fz_benchmarks_read(p, &list);
	for (size_t i = 0; i < list.n; i++)
		if (list.list[i].trouble.n)
			report_trouble(b, list.list[i].name, list.list[i].trouble);
	if (list.trouble.n)
		report_trouble(b, FZ_STR(""), list.trouble);
}

static int make_log(struct bench *b, struct fz_error *err)
{
	b->log = fz_asprintf("%s/fizeau-bench-XXXXXX", fz_temporary_folder());
	fz_auto(fz_close_fd) int fd = mkostemp(b->log, O_CLOEXEC);
	if (fd < 0)
		return fz_fail_errno(err, "%s: cannot create a temporary file; set TMPDIR", b->log);
	b->times = fz_asprintf("%s.times", b->log);
	return 0;
}

/* ---- the log ---- */

static void add_round(struct bench *b, uint32_t root, double ns)
{
	int64_t weights[FZ_METRICS_MAX] = { 0 };
	struct fz_thread thread = { .pid = 1, .tid = 1, .is_main = true };
	struct fz_sample s = { .stack = root, .thread = fz_profile_thread(b->profile, &thread) };

	/* A row of weight 0 would not be a round. */
	weights[b->profile->metric_count - 1] = FZ_MAX((int64_t)llround(ns), 1);
	fz_profile_add_sample(b->profile, &s, weights);
}

static void add_rounds(struct bench *b, struct fz_str name, const json_t *rounds)
{
	size_t n = FZ_MIN(json_array_size(rounds), (size_t)ROUNDS_MAX);
	uint32_t root = fz_benchmark_root(b->profile, name);

	for (size_t i = 0; i < n; i++) {
		double ns = fz_jsonread_number(json_array_get(rounds, i), -1);
		if (ns >= 0 && ns < ROUND_NS_MAX)
			add_round(b, root, ns);
	}
}

static void add_failure(struct bench *b, struct fz_str name, struct fz_str why)
{
	fz_benchmark_add_failure(b->profile, name, why);
	b->explained = true;
}

static void add_time(void *arg, struct fz_str name, double ns, struct fz_str failed)
{
	struct bench *b = arg;

	if (!fz_benchmark_wanted(name, b->options->filter))
		return;
	if (!failed.n && ns < ROUND_NS_MAX)
		add_round(b, fz_benchmark_root(b->profile, name), ns);
	else if (failed.n && b->options->what == FZ_BENCH_WALL)
		add_failure(b, name, failed); /* else counting has reported it */
}

struct log {
	struct bench *b;
	char *open; /* the benchmark that was begun and not ended; NULL: none */
};

static void read_line(void *arg, struct fz_str line)
{
	struct log *log = arg;
	struct bench *b = log->b;
	fz_auto(fz_jsonread_release) json_t *v = json_loadb(line.p, line.n, 0, NULL);
	struct fz_str name = fz_jsonread_kstr(v, "name");
	struct fz_str failed = fz_jsonread_kstr(v, "failed");
	const json_t *rounds = json_object_get(v, "rounds");

	if (!name.n || !fz_benchmark_wanted(name, b->options->filter))
		return;
	free(log->open);
	log->open = NULL;
	if (failed.n) {
		add_failure(b, name, failed);
	} else if (rounds) {
		add_rounds(b, name, rounds);
	} else {
		log->open = fz_strndup(name.p, name.n);
	}
}

/* Read what the bindings wrote in one execution, and truncate the file. */
static int read_log(struct bench *b, struct fz_error *err)
{
	struct log log = { .b = b };
	int rc = fz_input_each_line(b->log, LINE_MAX_BYTES, read_line, &log, err);

	if (log.open) {
		const char *what = b->series->late ? "was still running at the time limit"
						   : "was started but not finished";
		fz_benchmark_add_trouble(b->profile, fz_str_of(log.open), what);
		b->explained = true;
	}
	free(log.open);
	return rc < 0 ? rc : truncate(b->log, 0) ? fz_fail_errno(err, "%s", b->log) : 0;
}

/* ---- executions ---- */

struct failures {
	const struct bench *b;
	struct fz_profile *p;
};

static void read_failure(void *arg, struct fz_str line)
{
	struct failures *found = arg;
	fz_auto(fz_jsonread_release) json_t *v = json_loadb(line.p, line.n, 0, NULL);
	struct fz_str name = fz_jsonread_kstr(v, "name");
	struct fz_str failed = fz_jsonread_kstr(v, "failed");

	if (name.n && failed.n && fz_benchmark_wanted(name, found->b->options->filter))
		fz_benchmark_add_failure(found->p, name, failed);
}

/* Once a second while the command runs: report how long it has run, and new failures. */
static void watch(void *arg)
{
	struct bench *b = arg;
	fz_auto(fz_profile_freep) struct fz_profile *failures = NULL;
	int64_t second = (fz_clock_now() - b->since) / FZ_SECOND;
	struct fz_error ignored;

	if (second == b->second)
		return;
	b->second = second;
	failures = fz_profile_new();
	fz_input_each_line(b->log, LINE_MAX_BYTES, read_failure, &(struct failures){ b, failures },
			   &ignored);
	report_troubles(b, failures);
	fz_notify_progress(b->series->notify, "%s: %s, %lld s", b->series->command, b->doing,
			   (long long)second);
}

static bool has_trouble(const struct bench *b)
{
	return fz_profile_fact(b->profile, "bench.trouble").n != 0;
}

/* Valgrind does not support all instructions of newer processors. */
static const char illegal[] = ": an instruction that Valgrind does not support (perhaps AVX-512)";

static bool is_illegal(const struct fz_child *child)
{
	return WIFSIGNALED(child->status) ? WTERMSIG(child->status) == SIGILL
					  : WEXITSTATUS(child->status) == 128 + SIGILL;
}

/* If the command failed, note it, unless a failure of its benchmarks explains it. */
static void judge_end(struct bench *b, bool counted)
{
	char how[32], text[160];
	bool known = b->explained || has_trouble(b), shown = b->place.output == STDERR_FILENO;

	if (fz_series_stopped(b->series) || b->child.status == 0 || known)
		return;
	fz_trial_describe(&b->child, how, sizeof(how));
	if (b->series->late)
		snprintf(text, sizeof(text), "the command was still running after %g s (--timeout)",
			 b->options->timeout);
	else
		snprintf(text, sizeof(text), "the command ended with %s%s%s",
			 WIFEXITED(b->child.status) ? "status " : "", how,
			 counted && is_illegal(&b->child) ? illegal
			 : shown                          ? ""
							  : "; --show-output prints its output");
	fz_benchmark_add_trouble(b->profile, FZ_STR(""), text);
}

static bool is_marked(const struct fz_profile *p)
{
	fz_auto(fz_benchmarks_release) struct fz_benchmarks list;

	fz_benchmarks_read(p, &list);
	return list.n != 0;
}

/* Run the command under the counter and read what it counted. */
static int count_once(struct bench *b, struct fz_counter *counter, const char *doing,
		      struct fz_error *err)
{
	fz_auto(fz_environ_release) struct fz_environ marking;
	fz_auto(fz_free_ptr) char **wrapped = NULL;
	struct fz_launch_place place = b->place;

	fz_environ_init(&marking, b->place.environ);
	fz_bench_env_set(&marking, "count", b->log, b->options->filter, NULL);
	int rc = fz_counter_begin(counter, b->argv, marking.list, &wrapped, err);
	if (!rc)
		fz_series_report_counter(b->series, counter);
	report_progress(b, doing);
	place.environ = counter->environ.list;
	if (!rc)
		rc = fz_series_run(b->series, wrapped, &place, &b->child, err);
	counter->options.late = b->series->late;
	counter->pid = b->child.pid;
	if (!rc)
		rc = fz_counter_read(counter, &b->profile, err);
	if (!rc)
		rc = read_log(b, err);
	if (!rc)
		judge_end(b, true);
	return rc;
}

static bool is_python(const struct fz_profile *p)
{
	for (uint32_t i = 0; i < p->function_count; i++)
		if (p->functions[i].kind == FZ_KIND_PYTHON)
			return true;
	return false;
}

/* Keep only memory of the last run, and count everything else in another run without tracking. */
static int count_apart(struct bench *b, struct fz_counter *counter, struct fz_error *err)
{
	fz_auto(fz_profile_freep) struct fz_profile *whole = fz_steal(b->profile);

	counter->options.columns = FZ_COUNT_MEMORY_ALONE;
	int rc = fz_counter_read(counter, &b->profile, err);
	if (!rc)
		fz_profile_set_fact(b->profile, "bench.trouble",
				    fz_profile_fact(whole, "bench.trouble"));
	counter->memory = false;
	counter->options.columns = FZ_COUNT_ALL_BUT_MEMORY;
	return rc ? rc : count_once(b, counter, "counting once more, with another allocator", err);
}

/* Nothing is marked: take everything, for which callgrind has to count again. */
static int count_whole(struct bench *b, struct fz_counter *counter, struct fz_error *err)
{
	struct fz_profile *all = NULL;
	struct fz_error ignored;

	counter->options.benchmarks = false;
	counter->options.bodies = true;
	if (counter->engine == FZ_COUNTER_OURS && fz_counter_read(counter, &all, &ignored))
		return 0; /* the command did not run under Valgrind */
	fz_profile_free(b->profile);
	b->profile = all;
	return all ? 0 : count_once(b, counter, "counting all of it", err);
}

static int count(struct bench *b, struct fz_error *err)
{
	const struct fz_bench_options *o = b->options;
	struct fz_counter counter = { .engine = b->series->options->engine,
				      .cache = o->cache,
				      .memory = o->memory,
				      .other = o->other,
				      .options = { .benchmarks = !o->whole || o->marks_first,
						   .bodies = o->whole && !o->marks_first,
						   .harness = o->harness,
						   .outline = !o->native,
						   .root = o->root,
						   .cwd = b->place.folder,
						   .symbol = o->symbol,
						   .filter = o->filter,
						   .wall = o->what == FZ_BENCH_BOTH } };
	int rc = fz_counter_find(&counter, err);

	if (!rc)
		rc = count_once(b, &counter, "counting under Valgrind", err);
	if (!rc && o->whole && o->marks_first && !is_marked(b->profile) && !has_trouble(b))
		rc = count_whole(b, &counter, err);
	if (!rc && o->memory && o->apart && is_python(b->profile) && !fz_series_stopped(b->series))
		rc = count_apart(b, &counter, err);
	fz_counter_end(&counter);
	if (rc)
		return rc;
	/* If the program failed, only its marked parts are valid. */
	b->is_whole =
		o->whole && b->profile->samples.n && !is_marked(b->profile) && !has_trouble(b);
	if (b->is_whole)
		fz_benchmark_of_all(b->profile, fz_str_of(o->whole));
	return 0;
}

static void begin_profile(struct bench *b)
{
	if (b->profile)
		return;
	b->profile = fz_profile_new();
	fz_profile_add_metric(b->profile, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	fz_profile_add_run(b->profile, &(struct fz_run){ 0 });
}

/* The whole program is the benchmark: we time it ourselves. */
static int time_program(struct bench *b, struct fz_error *err)
{
	enum { ROUNDS = 7 };
	struct fz_str name =
		b->is_whole ? fz_str_of(b->options->whole) : fz_path_base(fz_str_of(b->argv[0]));
	char doing[64];
	int rc = 0;

	if (!fz_benchmark_wanted(name, b->options->filter))
		return 0;
	for (int i = 0; i < ROUNDS && !rc && !fz_series_stopped(b->series); i++) {
		int64_t start = fz_clock_now();
		snprintf(doing, sizeof(doing), "timing, run %d of %d", i + 1, ROUNDS);
		report_progress(b, doing);
		rc = fz_series_run(b->series, b->argv, &b->place, &b->child, err);
		if (!rc && b->child.status == 0)
			add_round(b, fz_benchmark_root(b->profile, name),
				  (double)(fz_clock_now() - start));
		else
			break;
	}
	if (!rc)
		judge_end(b, false);
	return rc;
}

static int time_marked(struct bench *b, struct fz_error *err)
{
	fz_auto(fz_environ_release) struct fz_environ marking;
	struct fz_launch_place place = b->place;

	fz_environ_init(&marking, place.environ);
	fz_bench_env_set(&marking, "wall", b->log, b->options->filter, b->times);
	place.environ = marking.list;
	report_progress(b, "timing");
	int rc = fz_series_run(b->series, b->argv, &place, &b->child, err);
	b->explained = false;
	if (!rc)
		rc = read_log(b, err);
	if (!rc)
		rc = fz_bench_google_read(b->times, add_time, b, err);
	if (!rc)
		rc = fz_bench_criterion_read(b->times, add_time, b, err);
	if (!rc)
		rc = fz_bench_go_read(b->times, add_time, b, err);
	if (!rc)
		rc = fz_bench_rust_read(b->times, add_time, b, err);
	if (!rc)
		judge_end(b, false);
	return rc;
}

static int time_it(struct bench *b, struct fz_error *err)
{
	begin_profile(b);
	if (b->options->symbol || b->is_whole)
		return time_program(b, err);
	int rc = time_marked(b, err);
	/* If it was counted, that has decided it. */
	b->is_whole = !rc && b->options->what == FZ_BENCH_WALL && b->options->whole &&
		      !is_marked(b->profile) && !has_trouble(b) && !fz_series_stopped(b->series);
	return b->is_whole ? time_program(b, err) : rc;
}

static void add_facts(struct bench *b, int64_t start)
{
	struct fz_profile *p = b->profile;

	p->runs[0].start_unix_ns = start;
	p->runs[0].duration_ns = FZ_MAX(fz_clock_unix() - start, 0);
	fz_trial_add_facts(p, b->argv, b->place.folder, &b->child);
	if (b->options->what == FZ_BENCH_WALL)
		fz_profile_set_fact(p, "clock", FZ_STR("wall"));
	fz_profile_set_fact(p, "bench", fz_str_of(fz_bench_names[b->options->what]));
}

static int check(const struct fz_bench_options *o, struct fz_error *err)
{
	bool is_main = !o->symbol || strcmp(o->symbol, "main") == 0;

	if (!is_main && o->what != FZ_BENCH_COUNT)
		return fz_fail(
			err, FZ_EUSAGE,
			"--bench-main=%s requires --count: calls of one function cannot be timed",
			o->symbol);
	return 0;
}

int fz_bench_measure(struct fz_series *s, const struct fz_bench_options *o, char *const argv[],
		     const struct fz_launch_place *place, struct fz_profile **ret,
		     struct fz_error *err)
{
	struct bench b = { .series = s, .options = o, .argv = argv };
	int64_t start = fz_clock_unix();
	int rc = check(o, err);

	b.place = place ? *place : (struct fz_launch_place){ .output = -1, .errors = -1 };
	/* A benchmark that hangs may have started others. */
	b.place.own_group = b.place.no_input = true;
	s->patience = o->timeout;
	s->meanwhile = o->progress ? watch : NULL;
	s->meanwhile_arg = &b;
	if (!rc)
		rc = make_log(&b, err);
	if (!rc && o->what != FZ_BENCH_WALL)
		rc = count(&b, err);
	if (!rc && o->what != FZ_BENCH_WALL)
		report_troubles(&b, b.profile);
	if (!rc && o->what != FZ_BENCH_COUNT && !fz_series_stopped(s))
		rc = time_it(&b, err);
	s->meanwhile = NULL;
	if (o->progress)
		fz_notify_progress_end(s->notify);
	if (!rc)
		report_troubles(&b, b.profile);
	if (b.log)
		unlink(b.log);
	if (b.times)
		unlink(b.times);
	free(b.log);
	free(b.times);
	fz_buf_release(&b.said);
	if (!rc && fz_series_stopped(s))
		rc = fz_series_interrupted(err);
	if (!rc)
		rc = fz_profile_check(b.profile, err);
	if (rc) {
		fz_profile_free(b.profile);
		return rc;
	}
	add_facts(&b, start);
	*ret = b.profile;
	return 0;
}

int fz_bench_measure_here(struct fz_series *s, const struct fz_bench_options *o, char *const argv[],
			  int output, struct fz_profile **ret, struct fz_error *err)
{
	struct fz_launch_place place = { .output = output, .errors = -1 };
	fz_auto(fz_environ_release) struct fz_environ own;
	fz_auto(fz_buf_release) struct fz_buf imports = { 0 };
	fz_auto(fz_free_ptr) char *here = realpath(".", NULL);
	fz_auto(fz_free_ptr) char *tree = here ? fz_checkout_top(here) : NULL;
	struct fz_error why;

	fz_environ_init(&own, NULL);
	if (tree)
		fz_inplace_find((const char *const *)argv, ".", tree, &imports);
	fz_inplace_prefer(imports.p, tree, &own);
	place.environ = own.list;
	int rc = fz_bench_measure(s, o, argv, &place, ret, err);
	if (!rc && fz_origin_check(*ret, tree, &why))
		fz_notify_warn(s->notify, "%s: %s", s->command, why.message);
	return rc;
}
