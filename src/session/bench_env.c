/* SPDX-License-Identifier: MIT */
/* The environment of a program whose benchmarks are measured; see bench_env.h.
 *
 * The plug-ins for pytest and asv lie beside us, so that whoever has fizeau has the same ones; they
 * are put in front of what PYTHONPATH and PYTEST_PLUGINS hold.
 */
#include "session/bench_env.h"

#include "base/buf.h"
#include "base/io.h"
#include "base/str.h"
#include "session/bench_criterion.h"

#include <stdio.h>
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
	/* What asv keeps of it. */
	fz_environ_prepend(e, "ASV_PYTHONPATH", real ? real : folder, ':');
	fz_environ_prepend(e, "PYTEST_PLUGINS", "pytest_fizeau", ',');
}

/* As a regular expression, whatever is in it. */
static void add_literal(struct fz_buf *out, struct fz_str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (memchr("\\.[](){}^$*+?|", text.p[i], 14))
			fz_buf_char(out, '\\');
		fz_buf_char(out, text.p[i]);
	}
}

/* Google Benchmark reads its options there too. When it is counted the first of two runs is to warm
 * up (valgrind/harness.c); no time at all is "", for a number without unit gets a warning from 1.8
 * on, and one with it an error before. */
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

/* cargo is told of a script that starts programs for it, and what it starts to write its times
 * there. */
static void set_criterion(struct fz_environ *e, const char *times)
{
	static const char *const places[] = { "../bindings/rust", FZ_PLACE_BINDINGS "/rust" };
	fz_auto(fz_free_ptr) char *folder =
		fz_find_beside(places, FZ_ARRAY_LEN(places), "cargo-runner", X_OK);
	fz_auto(fz_free_ptr) char *real = folder ? realpath(folder, NULL) : NULL;

	/* cargo takes it for several words. */
	if (!real || strpbrk(real, " \t\n"))
		return;
	fz_auto(fz_free_ptr) char *runner = fz_asprintf("%s/cargo-runner", real);
	fz_environ_set(e, "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", runner);
	fz_environ_set(e, "CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_RUNNER", runner);
	fz_environ_unset(e, "FIZEAU_UNDER");
	if (times) {
		fz_auto(fz_free_ptr) char *home = fz_bench_criterion_home(times);
		fz_environ_set(e, "CRITERION_HOME", home);
	}
	fz_environ_set(e, "FIZEAU_CRITERION", times ? "" : "--test");
}

void fz_bench_env_set(struct fz_environ *e, const char *mode, const char *log, const char *filter,
		      const char *times)
{
	offer_plugins(e);
	set_google(e, filter, times);
	set_criterion(e, times);
	fz_environ_set(e, "FIZEAU_BENCH", mode);
	if (log)
		fz_environ_set(e, "FIZEAU_BENCH_LOG", log);
	if (filter)
		fz_environ_set(e, "FIZEAU_BENCH_FILTER", filter);
	/* CodSpeed's own plug-ins look at these, and mark with callgrind's requests. */
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
}
