/* SPDX-License-Identifier: MIT */
/* Parsing the times that harnesses print. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "bench/bench_times.h"

static char times[] = "/tmp/fz-bench-times-XXXXXX";

static void visit(void *arg, struct fz_str name, double ns, struct fz_str failed)
{
	fz_buf_printf(arg, "%.*s %g %.*s\n", (int)name.n, name.p, ns, (int)failed.n, failed.p);
}

typedef int reader(const char *times, fz_bench_google_visit *visit, void *arg,
		   struct fz_error *err);

static void check(char *path, const char *text, reader *read, const char *wanted)
{
	fz_auto(fz_buf_release) struct fz_buf said = { 0 };
	struct fz_error err;
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(read(times, visit, &said, &err), 0);
	fz_buf_char(&said, '\0');
	assert_string_equal(said.p, wanted);
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_equal(read(times, visit, &said, &err), 0); /* there is none */
	free(path);
}

static void test_go(void **state)
{
	(void)state;
	check(fz_bench_go_path(times),
	      "goos: linux\npkg: example.org/a\nBenchmarkOne-8   \t    1000\t      1234.5 ns/op\n"
	      "BenchmarkTwo/x\t 10\t 5.00 MB/s\t 0.25 ns/op\t 3 "
	      "B/op\nBenchmarkNone\nBenchmarkLog\t3\n"
	      "PASS\npkg: b\nBenchmarkOne\t 1\t 7 ns/op\n--- FAIL: BenchmarkBad\n    b_test.go:7: "
	      "bad\n"
	      "--- FAIL: BenchmarkLast\n",
	      fz_bench_go_read,
	      "example.org/a.BenchmarkOne-8 1234.5 \nexample.org/a.BenchmarkTwo/x 0.25 \n"
	      "b.BenchmarkOne 7 \nb.BenchmarkBad 0 b_test.go:7: bad\nb.BenchmarkLast 0 it "
	      "failed\n");
}

static void test_rust(void **state)
{
	(void)state;
	check(fz_bench_rust_path(times),
	      "program: lists\n\nrunning 2 tests\ntest plain    ... bench:       1,234 ns/iter "
	      "(+/- 56)\n"
	      "test ignored ... ignored\ntest result: ok.\nprogram: trees\nTimer precision: 20 ns\n"
	      "trees          fastest  │ slowest │ median  │ mean    │ samples │ iters\n"
	      "├─ group                │         │         │         │         │\n"
	      "│  ├─ 1000     1 ns     │ 3 ns    │ 2.5 ns  │ 2 ns    │ 100     │ 800\n"
	      "│  ╰─ two w    1 ns     │ 3 ns    │ 1.5 µs  │ 2 ns    │ 100     │ 800\n"
	      "╰─ one         1 ns     │ 3 ns    │ 3 ms    │ 2 ns    │ 100     │ 800\n"
	      "   ╰─ deep     1 ns     │ 3 ns    │ 2 s     │ 2 ns    │ 100     │ 800\n",
	      fz_bench_rust_read,
	      "lists::plain 1234 \ntrees::group::1000 2.5 \ntrees::group::two w 1500 \n"
	      "trees::one 3e+06 \ntrees::one::deep 2e+09 \n");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_go),
					    cmocka_unit_test(test_rust) };
	int fd = mkstemp(times);

	if (fd < 0)
		return 1;
	close(fd);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(times);
	return failed;
}
