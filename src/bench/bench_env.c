/* SPDX-License-Identifier: MIT */
/* The environment of a program whose benchmarks are measured; see bench_env.h.
 *
 * The plug-ins for pytest and asv are installed with fizeau, so their versions always match; they
 * are prepended to PYTHONPATH and PYTEST_PLUGINS.
 */
#include "bench/bench_env.h"

#include "base/buf.h"
#include "base/io.h"
#include "base/str.h"
#include "record/launch.h"
#include "bench/bench_times.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static void offer_plugins(struct fz_environ *e)
{
	static const char *const places[] = { "../bindings/python", FZ_PLACE_BINDINGS "/python" };
	fz_auto(fz_free_ptr) char *folder =
		fz_find_beside(places, FZ_ARRAY_LEN(places), "pytest_fizeau.py", R_OK);

	if (!folder)
		return;
	fz_auto(fz_free_ptr) char *real = realpath(folder, NULL);
	fz_environ_prepend(e, "PYTHONPATH", real ? real : folder, ':');
	/* asv passes only this variable on. */
	fz_environ_prepend(e, "ASV_PYTHONPATH", real ? real : folder, ':');
	fz_environ_prepend(e, "PYTEST_PLUGINS", "pytest_fizeau", ',');
}

/* Add text to a regular expression, escaped. */
static void add_literal(struct fz_buf *out, struct fz_str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (memchr("\\.[](){}^$*+?|", text.p[i], 14))
			fz_buf_char(out, '\\');
		fz_buf_char(out, text.p[i]);
	}
}

/* Google Benchmark reads its options from the environment, too. When counting, the first of two
 * runs is a warm-up (valgrind/harness.c). The minimum time is then "" because a number without unit
 * causes a warning from 1.8 on, and one with unit an error in older versions. */
static void set_google(struct fz_environ *e, const char *filter, const char *times)
{
	fz_environ_set(e, "BENCHMARK_REPETITIONS", times ? "7" : "2");
	if (!times) {
		fz_environ_set(e, "BENCHMARK_MIN_TIME", "");
	} else {
		fz_environ_set(e, "BENCHMARK_OUT", times);
		fz_environ_set(e, "BENCHMARK_OUT_FORMAT", "json");
	}
	if (filter) {
		fz_auto(fz_buf_release) struct fz_buf text = { 0 };
		add_literal(&text, fz_str_of(filter));
		fz_buf_char(&text, '\0');
		fz_environ_set(e, "BENCHMARK_FILTER", text.p);
	}
}

/* A variable, because an option would be a duplicate if the user also sets it. */
#define DIVAN_MAX_TIME "DIVAN_MAX_TIME"

/* Programs with divan or bencher print only medians of their samples, so they are run several
 * times. Each benchmark of divan runs for at most a second unless the user sets another limit. */
static void set_divan(struct fz_environ *e, const char *filter, const char *times)
{
	fz_auto(fz_buf_release) struct fz_buf words = { 0 };

	fz_buf_str(&words, times ? "" : "--test");
	if (times && !fz_environ_get(e, DIVAN_MAX_TIME))
		fz_environ_set(e, DIVAN_MAX_TIME, "1");
	if (filter) {
		fz_auto(fz_buf_release) struct fz_buf pattern = { 0 };
		add_literal(&pattern, fz_str_of(filter));
		fz_buf_char(&pattern, '\0');
		fz_buf_char(&words, ' ');
		fz_buf_shell_word(&words, pattern.p);
	}
	fz_buf_char(&words, '\0');
	fz_environ_set(e, "FIZEAU_DIVAN", words.p);
	fz_environ_set(e, "FIZEAU_RUST_RUNS", "7");
}

/* Set the script with which cargo starts programs, and where these write their times. */
static void set_criterion(struct fz_environ *e, const char *times)
{
	static const char *const places[] = { "../bindings/rust", FZ_PLACE_BINDINGS "/rust" };
	fz_auto(fz_free_ptr) char *folder =
		fz_find_beside(places, FZ_ARRAY_LEN(places), "cargo-runner", X_OK);
	fz_auto(fz_free_ptr) char *real = folder ? realpath(folder, NULL) : NULL;

	/* cargo splits it at blanks. */
	if (!real || strpbrk(real, " \t\n"))
		return;
	fz_auto(fz_free_ptr) char *runner = fz_asprintf("%s/cargo-runner", real);
	fz_environ_set(e, "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", runner);
	fz_environ_set(e, "CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_RUNNER", runner);
	fz_environ_unset(e, "FIZEAU_UNDER");
	if (times) {
		fz_auto(fz_free_ptr) char *home = fz_bench_criterion_home(times);
		fz_auto(fz_free_ptr) char *printed = fz_bench_rust_path(times);
		fz_environ_set(e, "CRITERION_HOME", home);
		fz_environ_set(e, "FIZEAU_RUST_TIMES", printed);
	}
	fz_environ_set(e, "FIZEAU_CRITERION", times ? "" : "--test");
}

/* ---- Go ---- */

/* The path of our script test-runner; NULL if it is missing or has characters that Go would split
 * at.
 */
static char *find_runner(const char *const places[2])
{
	fz_auto(fz_free_ptr) char *folder = fz_find_beside(places, 2, "test-runner", X_OK);
	fz_auto(fz_free_ptr) char *real = folder ? realpath(folder, NULL) : NULL;

	return real && !strpbrk(real, " \t\n'\"") ? fz_asprintf("%s/test-runner", real) : NULL;
}

static void add_goflag(struct fz_environ *e, const char *flag)
{
	const char *was = fz_environ_get(e, "GOFLAGS");
	fz_auto(fz_free_ptr) char *all =
		fz_asprintf("%s%s%s", was ? was : "", was ? " " : "", flag);

	fz_environ_set(e, "GOFLAGS", all);
}

/* True if the installed Go accepts this flag in GOFLAGS. */
static bool go_takes(const struct fz_environ *from, const char *go, const char *flag)
{
	char *argv[] = { (char *)go, (char *)"env", (char *)"GOVERSION", NULL };
	fz_auto(fz_environ_release) struct fz_environ e;
	fz_auto(fz_close_fd) int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct fz_launch_place place = { .no_input = true, .output = nowhere, .errors = nowhere };
	sigset_t mask;
	int status = 1;

	fz_environ_init(&e, from->list);
	add_goflag(&e, flag);
	place.environ = e.list;
	sigprocmask(SIG_BLOCK, NULL, &mask);
	return fz_launch_and_wait(argv, &mask, &place, &status, NULL) == 0 && status == 0;
}

/* 'go test' strips symbols from what it runs, and versions that support quotes (not 1.20) also
 * strip debug information. The user's own linker flags are kept. */
static void keep_symbols(struct fz_environ *e, const char *go)
{
	static const char all[] = "'-ldflags=-s=false -w=false'";
	const char *was = fz_environ_get(e, "GOFLAGS");

	if (!was || !strstr(was, "-ldflags"))
		add_goflag(e, go_takes(e, go, all) ? all : "-ldflags=-s=false");
}

/* Under Valgrind each benchmark runs twice, first as a warm-up; valgrind/gotest.c recognises this
 * number of iterations and runs one instead. */
#define GO_COUNT "'-test.run=^$' -test.count=2 -test.benchtime=1009x -test.timeout=0"
#define GO_TIME "'-test.run=^$' -test.count=7 -test.benchtime=20ms"
#define GO_ONCE "'-test.run=^$' -test.count=1 -test.benchtime=20ms"

/* Set the script with which go starts programs. */
static void set_go(struct fz_environ *e, const char *times)
{
	static const char *const places[] = { "../bindings/go", FZ_PLACE_BINDINGS "/go" };
	fz_auto(fz_free_ptr) char *runner = find_runner(places);
	fz_auto(fz_free_ptr) char *go = fz_find_on_path("go");

	if (!runner || !go)
		return;
	fz_auto(fz_free_ptr) char *flag = fz_asprintf("-exec=%s", runner);
	keep_symbols(e, go);
	add_goflag(e, flag);
	fz_environ_unset(e, "FIZEAU_UNDER");
	fz_environ_set(e, "FIZEAU_GO", times ? GO_TIME : GO_COUNT);
	if (times) {
		fz_auto(fz_free_ptr) char *path = fz_bench_go_path(times);
		fz_environ_set(e, "FIZEAU_GO_TIMES", path);
	}
}

/* Add "BenchmarkSort/100" of "example.org/sort.BenchmarkSort/100" as a pattern of go: each part
 * between slashes is a separate regular expression. */
static void add_go_pattern(struct fz_buf *out, struct fz_str name)
{
	const char *at = memmem(name.p, name.n, ".Benchmark", 10);
	struct fz_str rest =
		at ? (struct fz_str){ at + 1, name.n - (size_t)(at + 1 - name.p) } : name;

	for (size_t begin = 0, i = 0; i <= rest.n; i++) {
		if (i < rest.n && rest.p[i] != '/')
			continue;
		fz_buf_str(out, begin ? "/^" : "^");
		add_literal(out, (struct fz_str){ rest.p + begin, i - begin });
		fz_buf_char(out, '$');
		begin = i + 1;
	}
}

/* divan accepts several patterns; its names are ours. */
static void only_divan(struct fz_environ *e, const struct fz_str *names, size_t n)
{
	fz_auto(fz_buf_release) struct fz_buf words = { 0 };

	fz_environ_set(e, DIVAN_MAX_TIME, "0.2");
	for (size_t i = 0; i < n; i++) {
		fz_auto(fz_buf_release) struct fz_buf pattern = { 0 };
		fz_buf_char(&pattern, '^');
		add_literal(&pattern, names[i]);
		fz_buf_str(&pattern, "$");
		fz_buf_char(&pattern, '\0');
		fz_buf_char(&words, ' ');
		fz_buf_shell_word(&words, pattern.p);
	}
	fz_buf_char(&words, '\0');
	fz_environ_set(e, "FIZEAU_DIVAN", words.p);
	fz_environ_set(e, "FIZEAU_RUST_RUNS", "1");
}

static void only_go(struct fz_environ *e, const struct fz_str *names, size_t n)
{
	fz_auto(fz_buf_release) struct fz_buf pattern = { 0 }, words = { 0 };

	fz_buf_str(&pattern, "-test.bench=");
	for (size_t i = 0; i < n; i++) {
		fz_buf_str(&pattern, i ? "|" : "");
		add_go_pattern(&pattern, names[i]);
	}
	fz_buf_char(&pattern, '\0');
	fz_buf_str(&words, GO_ONCE " ");
	fz_buf_shell_word(&words, pattern.p);
	fz_buf_char(&words, '\0');
	fz_environ_set(e, "FIZEAU_GO", words.p);
}

void fz_bench_env_set(struct fz_environ *e, const char *mode, const char *log, const char *filter,
		      const char *times)
{
	offer_plugins(e);
	set_google(e, filter, times);
	set_criterion(e, times);
	set_divan(e, filter, times);
	set_go(e, times);
	fz_environ_set(e, "FIZEAU_BENCH", mode);
	if (log)
		fz_environ_set(e, "FIZEAU_BENCH_LOG", log);
	if (filter)
		fz_environ_set(e, "FIZEAU_BENCH_FILTER", filter);
	/* CodSpeed's own plug-ins read these, and mark with callgrind's requests. */
	if (strcmp(mode, "count") == 0) {
		fz_environ_set(e, "CODSPEED_ENV", "runner");
		fz_environ_set(e, "CODSPEED_RUNNER_MODE", "instrumentation");
	}
}

void fz_bench_env_only(struct fz_environ *e, const struct fz_str *names, size_t n)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	for (size_t i = 0; i < n; i++) {
		fz_buf_str(&text, i ? "|^" : "^");
		add_literal(&text, names[i]);
		fz_buf_char(&text, '$');
	}
	fz_buf_char(&text, '\0');
	fz_environ_set(e, "BENCHMARK_FILTER", text.p);
	fz_environ_set(e, "BENCHMARK_REPETITIONS", "1");
	fz_auto(fz_buf_release) struct fz_buf words = { 0 };
	fz_buf_str(&words, "--warm-up-time 0.1 --measurement-time 0.2 --sample-size 10 ");
	fz_buf_shell_word(&words, text.p);
	fz_buf_char(&words, '\0');
	fz_environ_set(e, "FIZEAU_CRITERION", words.p);
	only_divan(e, names, n);
	only_go(e, names, n);
}
