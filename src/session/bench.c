/* SPDX-License-Identifier: MIT */
/* Measuring benchmarks; see bench.h.
 *
 * The log has a JSON object a line, in order:
 *
 *   {"name": "parse"}                                begun (only when it is timed)
 *   {"name": "parse", "rounds": [1200.5, 1190]}      timed: ns of one iteration
 *   {"name": "parse", "failed": "ValueError: x"}     its body failed
 */
#include "session/bench.h"

#include "base/clock.h"
#include "base/io.h"
#include "format/jsonread.h"
#include "profile/benchmarks.h"
#include "session/bench_env.h"
#include "session/counted.h"

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
	struct fz_bench_env env;
	struct fz_profile *profile;
	struct fz_child child; /* how the last execution ended */
	bool explained;        /* the log says of a benchmark that it failed */
};

static int make_log(struct bench *b, struct fz_error *err)
{
	b->log = fz_asprintf("%s/fizeau-bench-XXXXXX", fz_temporary_folder());
	fz_auto(fz_close_fd) int fd = mkostemp(b->log, O_CLOEXEC);
	if (fd < 0)
		return fz_fail_errno(err, "%s: no temporary file can be made; set TMPDIR", b->log);
	return 0;
}

/* ---- the log ---- */

static void add_round(struct bench *b, uint32_t root, double ns)
{
	int64_t weights[FZ_METRICS_MAX] = { 0 };
	struct fz_thread thread = { .pid = 1, .tid = 1, .is_main = true };
	struct fz_sample s = { .stack = root, .thread = fz_profile_thread(b->profile, &thread) };

	/* A round is a row, and 0 is none. */
	weights[b->profile->metric_count - 1] = FZ_MAX((int64_t)llround(ns), 1);
	fz_profile_add_sample(b->profile, &s, weights);
}

static void take_rounds(struct bench *b, struct fz_str name, const json_t *rounds)
{
	size_t n = FZ_MIN(json_array_size(rounds), (size_t)ROUNDS_MAX);
	uint32_t root = fz_benchmark_root(b->profile, name);

	for (size_t i = 0; i < n; i++) {
		double ns = fz_jsonread_number(json_array_get(rounds, i), -1);
		if (ns >= 0 && ns < ROUND_NS_MAX)
			add_round(b, root, ns);
	}
}

struct open_name {
	char *text; /* of the benchmark that was begun last and not ended; NULL: none */
};

static void take_line(struct bench *b, struct fz_str line, struct open_name *open)
{
	fz_auto(fz_jsonread_release) json_t *v = json_loadb(line.p, line.n, 0, NULL);
	struct fz_str name = fz_jsonread_kstr(v, "name");
	struct fz_str failed = fz_jsonread_kstr(v, "failed");
	const json_t *rounds = json_object_get(v, "rounds");
	char text[512];

	if (!name.n || !fz_benchmark_wanted(name, b->options->filter))
		return;
	free(open->text);
	open->text = NULL;
	if (failed.n) {
		int n = snprintf(text, sizeof(text), "failed: ");
		fz_str_printable(failed.p, failed.n, text + n, sizeof(text) - (size_t)n);
		fz_benchmark_add_trouble(b->profile, name, text);
		b->explained = true;
	} else if (rounds) {
		take_rounds(b, name, rounds);
	} else {
		open->text = fz_strndup(name.p, name.n);
	}
}

/* What the bindings wrote in one execution; the file is empty afterwards. */
static int take_log(struct bench *b, struct fz_error *err)
{
	struct open_name open = { 0 };
	struct fz_input *in = NULL;
	struct fz_str line;
	int rc = fz_input_open(b->log, &in, err);

	while (!rc && (rc = fz_input_line(in, LINE_MAX_BYTES, &line, err)) > 0) {
		take_line(b, line, &open);
		rc = 0;
	}
	fz_input_close(in);
	if (open.text) {
		const char *what = b->series->late ? "still ran when the time was over"
						   : "was begun and never ended";
		fz_benchmark_add_trouble(b->profile, fz_str_of(open.text), what);
		b->explained = true;
	}
	free(open.text);
	return rc < 0 ? rc : truncate(b->log, 0) ? fz_fail_errno(err, "%s", b->log) : 0;
}

/* ---- executions ---- */

static bool has_trouble(const struct bench *b)
{
	return fz_profile_fact(b->profile, "bench.trouble").n != 0;
}

/* Under Valgrind, which does not know all instructions of newer processors. */
static const char illegal[] = ": an instruction that Valgrind does not know (AVX-512, perhaps)";

static bool is_illegal(const struct fz_child *child)
{
	return WIFSIGNALED(child->status) ? WTERMSIG(child->status) == SIGILL
					  : WEXITSTATUS(child->status) == 128 + SIGILL;
}

/* The command did not end well: say so, unless what its benchmarks said explains it. */
static void judge_end(struct bench *b, bool counted)
{
	char how[32], text[160];
	bool known = b->explained || has_trouble(b);

	if (fz_series_stopped(b->series) || b->child.status == 0 || known)
		return;
	fz_trial_describe(&b->child, how, sizeof(how));
	if (b->series->late)
		snprintf(text, sizeof(text), "the command still ran after %g s (--timeout)",
			 b->options->timeout);
	else
		snprintf(text, sizeof(text), "the command ended with %s%s%s",
			 WIFEXITED(b->child.status) ? "status " : "", how,
			 counted && is_illegal(&b->child) ? illegal : "");
	fz_benchmark_add_trouble(b->profile, FZ_STR(""), text);
}

static bool is_marked(const struct fz_profile *p)
{
	fz_auto(fz_benchmarks_release) struct fz_benchmarks list;

	fz_benchmarks_read(p, &list);
	return list.n != 0;
}

static int count(struct bench *b, struct fz_error *err)
{
	const struct fz_bench_options *o = b->options;
	struct fz_counter counter = { .engine = b->series->options->engine,
				      .cache = o->cache,
				      .other = o->other,
				      .options = { .benchmarks = !o->whole,
						   .bodies = o->whole != NULL,
						   .harness = o->harness,
						   .outline = !o->native,
						   .root = o->root,
						   .cwd = b->place.folder,
						   .symbol = o->symbol,
						   .filter = o->filter,
						   .wall = o->what == FZ_BENCH_BOTH } };
	fz_auto(fz_free_ptr) char **wrapped = NULL;

	fz_bench_env_set(&b->env, "count", b->log, o->filter);
	int rc = fz_counter_find(&counter, err);
	if (!rc)
		rc = fz_counter_begin(&counter, b->argv, &wrapped, err);
	if (!rc)
		fz_series_say_how(b->series, &counter);
	if (!rc)
		rc = fz_series_run(b->series, wrapped, &b->place, &b->child, err);
	counter.options.late = b->series->late;
	counter.pid = b->child.pid;
	if (!rc)
		rc = fz_counter_read(&counter, &b->profile, err);
	fz_counter_end(&counter);
	fz_bench_env_unset(&b->env);
	if (!rc)
		rc = take_log(b, err);
	if (rc)
		return rc;
	judge_end(b, true);
	/* Of a program that failed only marked parts mean anything: they were complete. */
	if (o->whole && !is_marked(b->profile) && !has_trouble(b))
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
	struct fz_str name = fz_path_base(fz_str_of(b->argv[0]));
	int rc = 0;

	if (!fz_benchmark_wanted(name, b->options->filter))
		return 0;
	for (int i = 0; i < ROUNDS && !rc && !fz_series_stopped(b->series); i++) {
		int64_t start = fz_clock_now();
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
	fz_bench_env_set(&b->env, "wall", b->log, b->options->filter);
	int rc = fz_series_run(b->series, b->argv, &b->place, &b->child, err);
	fz_bench_env_unset(&b->env);
	b->explained = false;
	if (!rc)
		rc = take_log(b, err);
	if (!rc)
		judge_end(b, false);
	return rc;
}

static int time_it(struct bench *b, struct fz_error *err)
{
	begin_profile(b);
	return b->options->symbol ? time_program(b, err) : time_marked(b, err);
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
		return fz_fail(err, FZ_EUSAGE,
			       "--bench-main=%s: calls of one function can be counted, not timed; "
			       "add --count",
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
	if (!rc)
		rc = make_log(&b, err);
	if (!rc && o->what != FZ_BENCH_WALL)
		rc = count(&b, err);
	if (!rc && o->what != FZ_BENCH_COUNT && !fz_series_stopped(s))
		rc = time_it(&b, err);
	if (b.log)
		unlink(b.log);
	free(b.log);
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
