#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Peak and live bytes, counted along with instructions: known amounts, the same in every run, where they were
allocated, and a gate for them."""

import pathlib
import subprocess
import sys
import tempfile

import test_bench
import test_set_ups
from livelib import FIZEAU, SANITIZED, Skip, Suite
from test_ci import PYTHON, Repository, need_tool

suite = Suite()

C = r'''
#include <stdlib.h>
#include <unistd.h>
static void *volatile keep[8];
__attribute__((noinline)) static void *make(long n) { return malloc(n); }
int main(void)
{
	keep[0] = malloc(1000);
	keep[1] = malloc(500);
	access("/.fizeau/start/all", 0);
	keep[2] = make(100);
	keep[3] = calloc(10, 20);
	if (posix_memalign((void **)&keep[4], 64, 64))
		return 1;
	keep[5] = aligned_alloc(64, 128);
	keep[2] = realloc(keep[2], 1000);
	keep[0] = realloc(keep[0], 1010); /* from before: what it grows by */
	keep[6] = realloc(NULL, 30);      /* the peak: 1000 + 200 + 64 + 128 + 10 + 30 */
	free(keep[1]);                    /* from before: nothing */
	free(keep[3]);
	keep[2] = realloc(keep[2], 50);   /* 50 + 64 + 128 + 10 + 30 */
	keep[7] = malloc(0);
	access("/.fizeau/stop/all", 0);
	free(keep[2]);
	access("/.fizeau/start/none", 0);
	for (long i = 0; i < 1000; i++) {
		keep[3] = make(i);
		free(keep[3]);
	}
	access("/.fizeau/stop/none", 0);
	return 0;
}
'''
CPP = r'''
#include <cstdlib>
#include <new>
#include <unistd.h>
#include <vector>
struct alignas(64) Wide { char bytes[192]; };
static std::vector<char *> *list;
static Wide *volatile wide;
int main()
{
	access("/.fizeau/start/x", 0);
	list = new std::vector<char *>();         /* 24 */
	list->reserve(100);                       /* 800 */
	for (int i = 0; i < 10; i++)
		list->push_back(new char[100]);   /* 1000 */
	wide = new Wide;                          /* 192: the peak */
	delete wide;
	try {
		list->push_back(static_cast<char *>(::operator new(size_t(1) << 60)));
	} catch (const std::bad_alloc &) {
		list->push_back(new char[7]);
	}
	delete[] list->at(0);
	access("/.fizeau/stop/x", 0);
}
'''
PROGRAM = """
import os
def chunk(n):
    return bytearray(n)
kept = []
def work():
    big = [chunk(10000) for _ in range(20)]
    kept.append(chunk(3000))
    return len(big)
work()
os.access("/.fizeau/start/work", 0)
work()
os.access("/.fizeau/stop/work", 0)
"""


def memory_of(result):
    """{name: (instructions, peak, live)} of a table."""
    rows = {}
    for line in result.stdout.splitlines()[1:]:
        words = line.split()
        rows[words[0]] = tuple(int(words[i].replace(",", "")) for i in (1, 3, 5))
    return rows


def counted(folder, *command, memory=True):
    return test_bench.bench("--count", *["--memory"][:memory], "-o", "counted.fz", "--", *command, cwd=folder)


def built(folder, text, compiler="gcc", suffix="c"):
    source = pathlib.Path(folder, f"program.{suffix}")
    source.write_text(text)
    subprocess.run([compiler, "-O1", "-g", "-o", source.with_suffix(""), source], check=True)
    return "./program"


@suite.test("a C program: blocks of all allocators, from before and after; no other count changes")
def check_c():
    need_tool()
    with tempfile.TemporaryDirectory(prefix="fz-memory-") as folder:
        program = built(folder, C)
        rows = memory_of(counted(folder, program))
        assert rows["all"][1:] == (1432, 282), rows
        assert rows["none"][1:] == (999, 0), rows
        plain = test_set_ups.counts_of(counted(folder, program, memory=False))
        assert plain == {name: row[0] for name, row in rows.items()}, (plain, rows)
        counted(folder, program)
        out = subprocess.run([FIZEAU, "replay", "--metric", "peak", "--collapsed", "-o", "-", "counted.fz"],
                             cwd=folder, capture_output=True, text=True, check=True).stdout
        assert any(";program.c:make:" in line and line.endswith(" 999") for line in out.splitlines()), out


@suite.test("a C++ program: new and delete, aligned, throwing")
def check_cpp():
    need_tool()
    with tempfile.TemporaryDirectory(prefix="fz-memory-") as folder:
        rows = memory_of(counted(folder, built(folder, CPP, "g++", "cc")))
        # An exception is allocated, and freed: it is below the peak.
        assert rows["x"][1:] == (24 + 800 + 1000 + 192, 24 + 800 + 900 + 7), rows


@suite.test("a Python program: equal over five runs; ignoring PYTHONMALLOC is reported")
def check_python():
    if SANITIZED:
        raise Skip("the allocator of another program under Valgrind shows nothing more of ours")
    need_tool()
    with tempfile.TemporaryDirectory(prefix="fz-memory-") as folder:
        pathlib.Path(folder, "program.py").write_text(PROGRAM)
        runs = {memory_of(counted(folder, PYTHON, "program.py"))["work"][1:] for _ in range(5)}
        (peak, live), = runs
        # A bytearray is 56 bytes and its bytes with a zero; the list of them has room for 20 to 32.
        least = 20 * (56 + 10001) + 56 + 3001
        assert least + 160 <= peak <= least + 600, (peak, least)
        assert 3057 <= live <= 3057 + 300, live
        # Without the environment, Python uses its own allocator.
        result = test_bench.bench("--count", "--memory", "-o", "x.fz", "--", PYTHON, "-E", "program.py",
                                  cwd=folder, status=2)
        assert "work: peak and live exclude memory of Python's own allocator" in result.stderr, result.stderr
        done = subprocess.run([FIZEAU, "run", "--count", "--memory", "-o", "x.fz", "--", PYTHON, "-E", "-c",
                               "x = [str(i) for i in range(1000)]"], cwd=folder, capture_output=True, text=True)
        assert "warning: run: peak and live exclude memory of Python's own allocator" in done.stderr, done.stderr


@suite.test("Google Benchmark: allocations while paused are not counted, memory in use is")
def check_google():
    need_tool()
    text = r'''
#include <benchmark/benchmark.h>
static void *volatile first, *volatile second, *volatile third;
static void BM_Pause(benchmark::State &state)
{
	for (auto _ : state) {
		first = malloc(100);
		state.PauseTiming();
		second = malloc(5000);
		first = realloc(first, 60);
		state.ResumeTiming();
		third = malloc(30);
		free(second);
		free(third);
		state.PauseTiming();
		free(first);
		state.ResumeTiming();
		second = malloc(1);
	}
}
BENCHMARK(BM_Pause);
BENCHMARK_MAIN();
'''
    if not pathlib.Path("/usr/include/benchmark/benchmark.h").exists():
        raise Skip("libbenchmark-dev is not installed")
    with tempfile.TemporaryDirectory(prefix="fz-memory-") as folder:
        source = pathlib.Path(folder, "google.cc")
        source.write_text(text)
        subprocess.run(["g++", "-O2", "-o", source.with_suffix(""), source, "-lbenchmark", "-lpthread"],
                       check=True)
        rows = memory_of(counted(folder, "./google"))
        assert rows["BM_Pause"][1:] == (100, 1), rows


@suite.test("ci with metric = peak: twice as much is found and located, without the clock; compare too")
def check_gate():
    need_tool()
    r = Repository()
    bench = "import program\n"
    r.commit(program__py=PROGRAM, bench__py=bench, fizeau__ini="[ci]\nmetric = peak\n")
    r.git("checkout", "-qb", "change")
    r.commit(program__py=PROGRAM.replace("chunk(10000)", "chunk(20000)"))
    done = r.fizeau("ci", "--others", "1", "-o", str(r.out), "--", PYTHON, "bench.py", status=1)
    report, benches = r.report()
    work = benches["work"]
    assert report["metric"] == "peak" and work["verdict"] == "slower" and 0.9 < work["change"] < 1, work
    assert "chunk" in str(work["where"]), work
    assert work["wall"] is None, work
    assert "peak" in r.out.joinpath("comment.md").read_text() and "clock" not in done.stderr, done.stderr
    for metric, start in (("peak", "Larger by 97.9 %"), ("bytes", "Larger by ")):
        words = ["-n", "1", "--warmup", "0", "--metric", metric, "--fail-on", "regression", "main"]
        out = r.fizeau("compare", "--count", *words, "--", PYTHON, "bench.py", status=1).stdout
        assert out.startswith(start) and "not judged" not in out.lower(), out
        assert metric != "peak" or "200 KiB -> 395 KiB of peak" in out, out
    for words, text in ((["--metric", "peak"], "--metric peak requires --count"),
                        (["--count", "--metric", "cpu"], "--metric cpu is not available with --count; use instructions,")):
        assert text in r.fizeau("compare", *words, "main", "--", PYTHON, "bench.py", status=2).stderr


if __name__ == "__main__":
    suite.main()
