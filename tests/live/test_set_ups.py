#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""fizeau bench with existing benchmarks, unaware of fizeau: all are found by their
names, their counts are the same in every run, their functions are seen, and a body that does its work twice
is found.

    tests/live/test_set_ups.py          checks (two runs each)
    tests/live/test_set_ups.py --table  the table of docs/benchmarks.md (five runs each)
"""

import fcntl
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import test_bench
from livelib import CACHE, FIZEAU, SANITIZED, SOURCE, Skip, Suite

suite = Suite()

GOOGLE = r'''
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

static __attribute__((noinline)) long work(long n)
{
	volatile long sum = 0;

	for (long i = 0; i < n * TIMES; i++)
		sum = sum + i;
	return sum;
}

static void BM_Work(benchmark::State &state)
{
	for (auto _ : state)
		benchmark::DoNotOptimize(work(state.range(0)));
	state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Work)->Arg(100)->Arg(1000);

static void BM_Two(benchmark::State &state)
{
	for (auto _ : state)
		benchmark::DoNotOptimize(work(state.range(0) * state.range(1)));
}
BENCHMARK(BM_Two)->Args({ 8, 64 });

template <class T> void BM_Push(benchmark::State &state)
{
	for (auto _ : state) {
		T list;
		for (long i = 0; i < 20; i++)
			list.push_back(i);
		benchmark::DoNotOptimize(list);
		benchmark::DoNotOptimize(work(9000));
	}
}
BENCHMARK_TEMPLATE(BM_Push, std::vector<int>);

struct Words : benchmark::Fixture {
	std::vector<std::string> words;
	void SetUp(const benchmark::State &) override
	{
		for (long i = 0; i < 60; i++)
			words.push_back(std::to_string(i * 7919 % 101));
	}
	void TearDown(const benchmark::State &) override { words.clear(); }
};
BENCHMARK_F(Words, Sort)(benchmark::State &state)
{
	while (state.KeepRunning()) {
		auto copy = words;
		std::sort(copy.begin(), copy.end());
		benchmark::DoNotOptimize(work(9000));
	}
}

/* Preparing is not the benchmark's; nor are as many iterations as it asks for. */
static void BM_Paused(benchmark::State &state)
{
	for (auto _ : state) {
		state.PauseTiming();
		benchmark::DoNotOptimize(work(50000));
		state.ResumeTiming();
		benchmark::DoNotOptimize(work(100));
	}
}
BENCHMARK(BM_Paused)->Iterations(1000);

static void BM_Long(benchmark::State &state)
{
	for (auto _ : state)
		benchmark::DoNotOptimize(work(100));
}
BENCHMARK(BM_Long)->MinTime(20);

#ifdef FAILS
static void BM_Fails(benchmark::State &state)
{
	for (auto _ : state) {
		state.SkipWithError("it is broken");
		break;
	}
}
BENCHMARK(BM_Fails);
static void BM_FailsEarly(benchmark::State &state)
{
	state.SkipWithError("no data");
	for (auto _ : state)
		work(100);
}
BENCHMARK(BM_FailsEarly);
#endif
BENCHMARK_MAIN();
'''
GOOGLE_NAMES = {"BM_Work/100", "BM_Work/1000", "BM_Two/8/64", "BM_Push<std::vector<int>>", "Words/Sort",
                "BM_Paused/iterations:1000", "BM_Long/min_time:20.000"}


def google(folder, times, *flags):
    """The program, as users build it: optimised, with the library of the system."""
    if not pathlib.Path("/usr/include/benchmark/benchmark.h").exists():
        raise Skip("libbenchmark-dev is not installed")
    program = folder / "google"
    subprocess.run(["g++", "-O2", "-g", f"-DTIMES={times}", *flags, "-x", "c++", "-o", program, "-",
                    "-lbenchmark", "-lpthread"], check=True, input=GOOGLE, text=True)
    return ["./google"]


PYTEST = """
import asyncio
import pytest

TIMES = %d

def work(n):
    total = 0
    for i in range(n * TIMES):
        total += i
    return total

async def step(n):
    await asyncio.sleep(0)
    return work(n)

def test_call(benchmark):
    benchmark(work, 3000)

@pytest.mark.benchmark(group="sums", min_rounds=3, warmup=True)
@pytest.mark.parametrize("n", [3000, 4000])
def test_group(benchmark, n):
    benchmark.extra_info["n"] = n
    benchmark(work, n)

def test_pedantic(benchmark):
    benchmark.pedantic(work, args=(3000,), iterations=5, rounds=3, warmup_rounds=1)

class TestClass:
    def test_one(self, benchmark):
        benchmark(lambda: work(3000))
"""
PYTEST_ASYNC = """
@pytest.mark.asyncio
async def test_awaited(benchmark):
    assert await benchmark(step, 8000) == work(8000)

@pytest.mark.asyncio
async def test_tasks(benchmark):
    async def both():
        return await asyncio.gather(step(4000), step(4000))
    assert await benchmark(both) == [work(4000)] * 2

@pytest.mark.benchmark
@pytest.mark.asyncio
async def test_marked():
    await step(8000)

def test_loop(benchmark):
    benchmark(lambda: asyncio.run(step(8000)))
"""
PYTEST_NEVER = """
def test_never(benchmark):
    benchmark(step, 10)

@pytest.mark.asyncio
async def test_broken(benchmark):
    async def bad():
        await step(10)
        raise ValueError("it is broken")
    await benchmark(bad)
"""
PYTHON = "/usr/bin/python3"


def pytest_suite(folder, text, times, *packages):
    for package in ("pytest", *packages):
        if subprocess.run([PYTHON, "-c", f"import {package}"], capture_output=True).returncode:
            raise Skip(f"python3-{package.replace('_', '-')} is not installed")
    folder.joinpath("test_sums.py").write_text(text % times)
    return [PYTHON, "-m", "pytest", "-p", "no:cacheprovider", "test_sums.py"]


def pytest_benchmark(folder, times):
    return pytest_suite(folder, PYTEST, times, "pytest_benchmark")


def pytest_asyncio(folder, times):
    head = PYTEST.split("def test_call")[0]
    return pytest_suite(folder, head + PYTEST_ASYNC, times, "pytest_asyncio")


ASV = """
def work(n):
    total = 0
    for i in range(n * %d):
        total += i
    return total

class TimeSuite:
    params = [3000, 4000]
    def setup(self, n):
        self.n = n
        work(500)
    def time_work(self, n):
        work(self.n)

def time_plain():
    work(3000)

def track_one():
    return 1

def time_broken():
    raise ValueError("it is broken")
"""


def asv(folder, times):
    """The suite of asv's quick start, run in asv's own environment."""
    program = shutil.which("asv")
    if not program:
        raise Skip("asv is not installed (PyPI has it, Debian has not)")
    folder.joinpath("benchmarks").mkdir(exist_ok=True)
    folder.joinpath("benchmarks/__init__.py").touch()
    folder.joinpath("benchmarks/bench.py").write_text(ASV % times)
    folder.joinpath("asv.conf.json").write_text(
        '{"version": 1, "project": "sums", "repo": ".", "branches": ["main"], "environment_type": "virtualenv"}')
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "-q"], ["checkout", "-qB", "main"], ["add", "-A"],
                  ["commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run([*git, *words], cwd=folder, check=True)
    at_home = ["env", f"HOME={folder}", program]  # where it stores its data about the machine
    subprocess.run([*at_home, "machine", "--yes"], cwd=folder, check=True, capture_output=True)
    return [*at_home, "run", "--python=same"]


CRITERION = """
use criterion::{black_box, criterion_group, criterion_main, BatchSize, BenchmarkId, Criterion};

#[inline(never)]
fn work(n: u64) -> u64 {
    (0..n * TIMES).fold(0, |sum, i| black_box(sum + i))
}

#[inline(never)]
fn measure(n: u64) -> std::time::Duration {
    let start = std::time::Instant::now();
    (0..n).for_each(|_| { work(1000); });
    start.elapsed()
}

fn all(c: &mut Criterion) {
    c.bench_function("plain", |b| b.iter(|| work(1000)));
    let mut group = c.benchmark_group("group");
    group.sample_size(20);
    for n in [1000, 2000] {
        group.bench_with_input(BenchmarkId::new("work", n), &n, |b, n| b.iter(|| work(*n)));
    }
    group.finish();
    // Preparing is not the benchmark's.
    c.bench_function("batched", |b| b.iter_batched(|| work(9000), |n| work(1000 + n % 2), BatchSize::SmallInput));
    c.bench_function("reference", |b| b.iter_batched_ref(|| vec![work(9000)], |v| work(1000 + v[0] % 2), BatchSize::PerIteration));
    c.bench_function("drop", |b| b.iter_with_large_drop(|| vec![work(1000)]));
    println!("Testing of our own");
    if let Ok(name) = std::env::var("CUSTOM") {
        c.bench_function(&name, |b| b.iter_custom(measure));
    }
}
criterion_group!(benches, all);
criterion_main!(benches);
"""
CRITERION_NAMES = {"plain", "group/work/1000", "group/work/2000", "batched", "reference", "drop"}
CARGO = """[package]
name = "fz-sums"
version = "0.1.0"
edition = "2021"

[dev-dependencies]
DEPENDENCIES
BENCHES

[profile.bench]
lto = "LTO"

[workspace]
"""


DIVAN = """
use divan::{black_box, Bencher};

fn main() {
    divan::main();
}

#[inline(never)]
fn work(n: u64) -> u64 {
    (0..n * TIMES).fold(0, |sum, i| black_box(sum + i))
}

#[divan::bench]
fn plain() -> u64 {
    work(black_box(1000))
}

#[divan::bench(args = [1000, 2000])]
fn sized(n: u64) -> u64 {
    work(n)
}

#[divan::bench(types = [u8, u16])]
fn typed<T>() -> u64 {
    work(1000)
}

mod group {
    // Preparing is not the benchmark's.
    #[divan::bench]
    fn inputs(bencher: divan::Bencher) {
        bencher.with_inputs(|| super::work(9000)).bench_values(|n| super::work(1000 + n % 2));
    }

    #[divan::bench(name = "other name")]
    fn prepared(bencher: divan::Bencher) {
        let n = super::work(9000) % 2;
        bencher.bench(|| super::work(1000 + n));
    }
}

#[divan::bench(skip_ext_time)]
fn clock(bencher: Bencher) {
    if std::env::var("CLOCK").is_ok() {
        bencher.bench(|| work(1000));
    }
}
"""
DIVAN_NAMES = {f"trees::{name}" for name in (
    "plain", "sized::1000", "sized::2000", "typed::u8", "typed::u16", "group::inputs", "group::other name")}
BENCHER = """
use bencher::{benchmark_group, benchmark_main, black_box, Bencher};

#[inline(never)]
fn work(n: u64) -> u64 {
    (0..n * TIMES).fold(0, |sum, i| black_box(sum + i))
}

fn plain(b: &mut Bencher) {
    b.iter(|| work(1000));
}

fn prepared(b: &mut Bencher) {
    let n = work(9000) % 2;
    b.iter(|| work(1000 + n));
}

benchmark_group!(benches, plain, prepared);
benchmark_main!(benches);
"""
BENCHER_NAMES = {"lists::plain", "lists::prepared"}
LOCKS = {}


def criterion(folder, times, lto="off"):
    return crate(folder, times, "cargo", 'criterion = { version = "=0.5.1", default-features = false }',
                 {"sums": CRITERION}, lto)


def divan(folder, times):
    return [*crate(folder, times, "cargo-others", 'divan = "=0.1.21"\nbencher = "=0.1.5"',
                   {"trees": DIVAN, "lists": BENCHER}), "--bench", "trees"]


def bencher(folder, times):
    return [*divan(folder, times)[:-1], "lists"]


def codspeed(folder, times):
    """CodSpeed's variants of the three, which take their names."""
    crates = "".join(f'{name} = {{ package = "codspeed-{name}-compat", version = "=6.0.0", default-features = false }}\n'
                     for name in ("criterion", "divan", "bencher"))
    return crate(folder, times, "cargo-codspeed", crates, {"sums": CRITERION, "trees": DIVAN, "lists": BENCHER})


def crate(folder, times, place, dependencies, benches, lto="off"):
    """What it depends on is fetched and built once."""
    if not shutil.which("cargo"):
        raise Skip("cargo is not installed")
    version = subprocess.run(["cargo", "--version"], capture_output=True, text=True, check=False).stdout.split()
    if tuple(int(part) for part in version[1].split(".")[:2]) < (1, 68):
        raise Skip(f"cargo {version[1]} would have to fetch the index of all crates; what these need is 1.68")
    target = CACHE / "set-ups" / place
    lock = target / "Cargo.lock"
    target.mkdir(parents=True, exist_ok=True)
    if place not in LOCKS:  # its programs have the same names whoever builds them: until we end
        LOCKS[place] = open(target / "in-use", "w")
        fcntl.flock(LOCKS[place], fcntl.LOCK_EX)
    parts = "".join(f'[[bench]]\nname = "{name}"\nharness = false\n' for name in benches)
    toml = CARGO.replace("LTO", lto).replace("DEPENDENCIES", dependencies).replace("BENCHES", parts)
    for name, text in (("Cargo.toml", toml), ("src/lib.rs", ""),
                       *((f"benches/{name}.rs", text.replace("TIMES", str(times))) for name, text in benches.items())):
        folder.joinpath(name).parent.mkdir(exist_ok=True)
        folder.joinpath(name).write_text(text)
    if lock.exists():
        shutil.copy(lock, folder)
    command = ["cargo", "bench", "-q", "--target-dir", target]
    done = subprocess.run([*command, "--no-run"], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode and not lock.exists():
        raise Skip(f"{', '.join(benches)} cannot be built: {done.stderr.strip()[:200]!r}")
    assert done.returncode == 0, done.stderr
    shutil.copy(folder / "Cargo.lock", lock)
    return command


GO = """
package sums

//go:noinline
func Work(n int) int {
	sum := 0
	for end := n * TIMES; end > 0; end-- {
		sum += end ^ sum
	}
	return sum
}
"""
GO_TEST = """
package sums

import (
	"fmt"
	"os"
	"sort"
	"testing"
)

var sink int

func TestNever(t *testing.T) {
	t.Fatal("tests are not run where benchmarks are measured")
}

func BenchmarkWork(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink += Work(1000)
	}
}

// What is done before the loop is nothing over thousands of iterations, but was not taken off the clock.
func BenchmarkSetup(b *testing.B) {
	sink += Work(90000)
	for i := 0; i < b.N; i++ {
		sink += Work(1000)
	}
}

func BenchmarkReset(b *testing.B) {
	sink += Work(90000) + b.N
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		sink += Work(1000)
	}
}

func BenchmarkPaused(b *testing.B) {
	for i := 0; i < b.N; i++ {
		b.StopTimer()
		sink += Work(90000)
		b.StartTimer()
		sink += Work(1000)
	}
}

func BenchmarkSub(b *testing.B) {
	for _, n := range []int{1000, 2000} {
		n := n
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				sink += Work(n)
			}
		})
	}
}

func worker(in <-chan int, out chan<- int) {
	for n := range in {
		out <- Work(n)
	}
}

func BenchmarkChannels(b *testing.B) {
	for i := 0; i < b.N; i++ {
		in, out := make(chan int), make(chan int)
		for w := 0; w < 3; w++ {
			go worker(in, out)
		}
		go func() {
			for j := 0; j < 20; j++ {
				in <- 3000
			}
			close(in)
		}()
		for j := 0; j < 20; j++ {
			sink += <-out
		}
	}
}

// A stack that becomes too small is moved to another place, several times.
//
//go:noinline
func deep(n int) int {
	var room [256]int
	room[n%256] = n
	if n == 0 {
		return Work(100000)
	}
	return deep(n-1) + room[n%256]
}

func BenchmarkDeep(b *testing.B) {
	for i := 0; i < b.N; i++ {
		done := make(chan int)
		go func() { done <- deep(200) }()
		sink += <-done
	}
}

func BenchmarkMap(b *testing.B) {
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		m := map[string]int{}
		for j := 0; j < 100; j++ {
			m[fmt.Sprint("key", j)] = Work(40 * j)
		}
		keys := []string{}
		for k := range m {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		sink += len(keys)
	}
}

func BenchmarkParallel(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			sink += Work(3000)
		}
	})
}

func BenchmarkFails(b *testing.B) {
	if os.Getenv("FAILS") == "" {
		b.Skip()
	}
	b.Run("at once", func(b *testing.B) { b.Fatal("it is broken") })
	b.Run("without a loop", func(b *testing.B) { sink += Work(10) })
}
"""
GO_LOOP = """
package sums

import "testing"

func BenchmarkLoop(b *testing.B) {
	sink += Work(90000)
	for b.Loop() {
		sink += Work(1000)
	}
	sink += Work(90000)
}
"""
GO_NAMES = {f"sums.Benchmark{name}" for name in (
    "Work", "Setup", "Reset", "Paused", "Sub/n=1000", "Sub/n=2000", "Channels", "Deep", "Map", "Parallel")}


def go_version():
    words = subprocess.run(["go", "env", "GOVERSION"], capture_output=True, text=True, check=True).stdout
    return tuple(int(part) for part in words.strip().removeprefix("go").split("-")[0].split(".")[:2])


def go(folder, times):
    """A package and its tests; all of it is the standard library's."""
    if not shutil.which("go"):
        raise Skip("go is not installed")
    folder.joinpath("go.mod").write_text("module sums\n\ngo 1.18\n")
    folder.joinpath("sums.go").write_text(GO.replace("TIMES", str(times)))
    folder.joinpath("sums_test.go").write_text(GO_TEST)
    return ["go", "test", "-bench", ".", "-timeout", "1m"]


# name, what makes the command in a folder (with the work of each body once or twice), what of it is found,
# a function of the user's in the tree of each
SET_UPS = {
    "Google Benchmark": (google, GOOGLE_NAMES, "work"),
    "pytest-benchmark": (pytest_benchmark, {f"test_sums.py::{name}" for name in (
        "test_call", "test_group[3000]", "test_group[4000]", "test_pedantic", "TestClass::test_one")}, "work"),
    "pytest-asyncio": (pytest_asyncio, {f"test_sums.py::{name}" for name in (
        "test_awaited", "test_tasks", "test_marked", "test_loop")}, "work"),
    "criterion 0.5 (from crates.io)": (criterion, CRITERION_NAMES, "work"),
    "divan 0.1 (from crates.io)": (divan, DIVAN_NAMES, "work"),
    "bencher 0.1 (from crates.io)": (bencher, BENCHER_NAMES, "work"),
    "CodSpeed's crates 6.0": (codspeed, CRITERION_NAMES | DIVAN_NAMES | BENCHER_NAMES, "work"),
    "Go, `testing`": (go, GO_NAMES, "sums.Work"),
    "asv": (asv, {"bench.TimeSuite.time_work(3000)", "bench.TimeSuite.time_work(4000)", "bench.time_plain"}, "work"),
}
# Building these takes as long as all the others.
ONLY_IN_TABLE = {
    "criterion 0.5, `lto = \"fat\"`": (functools.partial(criterion, lto="fat"), CRITERION_NAMES, "work"),
}
FAILING = {"asv"}  # where a benchmark fails, and the others are kept


def counts_of(result):
    return {name: int(row[0].replace(",", "")) for name, row in test_bench.table(result).items()}


def counted(folder, command, output, status=0):
    return counts_of(test_bench.bench("--count", "-o", output, "--", *command, cwd=folder, status=status))


def has_frame(folder, recording, name, function):
    folded = subprocess.run([FIZEAU, "replay", "--collapsed", "-o", "-", recording], cwd=folder,
                            capture_output=True, text=True, check=True).stdout
    return any(f";{name};" in line and f":{function}:" in line for line in folded.splitlines())


def look(name, runs):
    """How many are found, whether counts are the same in all runs, user functions seen, doubled work found."""
    test_bench.need_tool()
    prepare, wanted, function = {**SET_UPS, **ONLY_IN_TABLE}[name]
    with tempfile.TemporaryDirectory(prefix="fz-set-up-") as scratch:
        folder = pathlib.Path(scratch)
        command = prepare(folder, 1)
        status = 2 if name in FAILING else 0
        all_runs = [counted(folder, command, f"{i}.fz", status) for i in range(runs)]
        first = all_runs[0]
        frames = {bench for bench in first if has_frame(folder, "0.fz", bench, function)}
        twice = counted(folder, prepare(folder, 2), "twice.fz", status)
    assert set(first) == set(wanted), (first, wanted)
    differ = {bench: max(abs(run.get(bench, 0) / first[bench] - 1) for run in all_runs) for bench in first}
    differ = {bench: by for bench, by in differ.items() if by}
    slower = {bench for bench in first if 1.5 < twice.get(bench, 0) / first[bench] < 2.1}
    return first, differ, frames, slower, twice


def check(name, tolerance=0):
    first, differ, frames, slower, twice = look(name, 2)
    assert all(by <= tolerance for by in differ.values()), differ
    assert frames == set(first), set(first) - frames
    assert slower == set(first), (first, twice, set(first) - slower)
    return first


@suite.test("Google Benchmark: arguments, templates, fixtures, pauses, pinned iterations and times")
def check_google():
    first = check("Google Benchmark")
    # One iteration, without the work while paused.
    assert first["BM_Paused/iterations:1000"] < 2 * first["BM_Work/100"], first
    assert abs(first["BM_Long/min_time:20.000"] - first["BM_Work/100"]) < 50, first


@suite.test("Google Benchmark: counted and timed, -k; one that fails is named, the others are kept")
def check_google_trouble():
    test_bench.need_tool()
    with tempfile.TemporaryDirectory(prefix="fz-set-up-") as scratch:
        command = google(pathlib.Path(scratch), 1, "-DFAILS")
        result = test_bench.bench("-k", "Fails", "--", *command, cwd=scratch, status=2)
        assert not test_bench.table(result), result.stdout
        for text in ("BM_Fails: failed: it is broken", "BM_FailsEarly: failed: no data"):
            assert result.stderr.count(text) == 1, result.stderr
        result = test_bench.bench("-k", "BM_Work/100", "--", *command, cwd=scratch)
        rows = test_bench.table(result)
        assert set(rows) == {"BM_Work/100", "BM_Work/1000"}, rows
        assert all(rest[1] != "-" for _, rest in rows.values()), rows


@suite.test("pytest-benchmark: calls, groups, pedantic, methods")
def check_pytest_benchmark():
    if SANITIZED:
        raise Skip("another harness under Valgrind shows nothing more of ours")
    check("pytest-benchmark", 0.01)


POOLS = """
import fizeau_bench

def work(n):
    total = 100_000
    for i in range(1000, 1000 + n):
        total += i
    return total

def leave(free):
    "So many blocks for an int in the pool that is allocated from."
    last = (fizeau_bench.POOL - fizeau_bench.POOL_HEAD) // 32 - 1 - free
    kept = [1_000_000]
    while id(kept[-1]) % fizeau_bench.POOL != fizeau_bench.POOL_HEAD + 32 * last:
        kept.append(len(kept) + 1_000_000)
    return kept

kept = []
for free in (0, 2, 4, 8, 15, 30):
    kept.append(leave(free))
    fizeau_bench.measure(f"free {free}", lambda: lambda: work(3000))
"""


HISTORY = """
import random
import pytest

some = random.Random(1)
kept = []

@pytest.fixture
def history():
    "Objects that come and go, and leave holes."
    new = [[some.random() for _ in range(some.randrange(1, 8))] if some.random() < 0.2 else some.randrange(1000, 1 << 60)
           for _ in range(some.choice((1, 3, 10, 100, 1000, 5000)))]
    for _ in range(some.randrange(4)):
        at = some.randrange(len(new))
        del new[at:at + some.randrange(1, 6)]
        if not new:
            break
    kept.append(new)
    if some.random() < 0.3:
        kept.pop(some.randrange(len(kept)))
"""
AFTER_HISTORY = """
import pytest

def work(n):
    total = 0
    for i in range(%d * n):
        total += i
    return total

@pytest.mark.parametrize("i", range(12))
def test_work(benchmark, history, i):
    benchmark(lambda: work(3000))
"""


LEFT = """
import random
import re
import fizeau_bench

some = random.Random(1)
kept = []

def leave():
    "Objects of many sizes, and holes where others were."
    makers = (lambda: some.random(), lambda: [0.5] * some.randrange(8), lambda: dict.fromkeys(range(some.randrange(30))),
              lambda: "x" * some.randrange(3000), lambda: (1,) * some.randrange(25), lambda: bytes(some.randrange(600)))
    new = [some.choice(makers)() for _ in range(some.choice((1, 3, 10, 100, 1000, 5000)))]
    some.shuffle(new)
    del new[:some.randrange(len(new))]
    kept.append(new)
    if some.random() < 0.4:
        kept.pop(some.randrange(len(kept)))

text = " ".join(f'"key{i}": {i}' for i in range(60))
for i in range(40):
    fizeau_bench.measure(f"find {i}", lambda: lambda: re.findall(r'"(\\w+)": (\\d+)', text))
    leave()
"""


def counted_script(folder, text):
    """A program that measures by the harness's own module."""
    if SANITIZED:
        raise Skip("it is the harness's module and Valgrind that are tested, and nothing more of ours")
    pathlib.Path(folder, "script.py").write_text(text)
    return counted(folder, ["env", f"PYTHONPATH={SOURCE}/bindings/python", PYTHON, "script.py"], "script.fz")


@suite.test("Python: objects that existed before a body change its count by less than 0.2 %")
def check_pools():
    test_bench.need_tool()
    with tempfile.TemporaryDirectory(prefix="fz-set-up-") as scratch:
        counts = counted_script(scratch, POOLS)
        assert len(counts) == 6 and max(counts.values()) < 1.002 * min(counts.values()), counts
        pathlib.Path(scratch, "conftest.py").write_text(HISTORY)
        counts = counted(scratch, pytest_suite(pathlib.Path(scratch), AFTER_HISTORY, 1, "pytest"), "history.fz")
        assert len(counts) == 12 and max(counts.values()) < 1.002 * min(counts.values()), counts


CALLED = """
import textwrap
import fizeau_bench

def body():
    return textwrap.wrap("What is called once is specialised by whoever called it before.", 20)

fizeau_bench.measure("first", lambda: body)
for _ in range(30):
    body()
fizeau_bench.measure("again", lambda: body)
"""


@suite.test("Python: earlier calls of the same functions change a body's count by less than 1 %")
def check_called():
    test_bench.need_tool()
    with tempfile.TemporaryDirectory(prefix="fz-set-up-") as scratch:
        counts = counted_script(scratch, CALLED)
        assert abs(counts["first"] / counts["again"] - 1) < 0.01, counts


@suite.test("Python: what was left in malloc's heap before a body moves its count by less than 4 %")
def check_heap():
    test_bench.need_tool()
    with tempfile.TemporaryDirectory(prefix="fz-set-up-") as scratch:
        counts = counted_script(scratch, LEFT)
        assert len(counts) == 40 and max(counts.values()) < 1.04 * min(counts.values()), counts
        return f"{max(counts.values()) / min(counts.values()) - 1:.1%}"


@suite.test("pytest-asyncio: work of a coroutine and its tasks is counted; one that is never awaited is named")
def check_pytest_asyncio():
    if SANITIZED:
        raise Skip("another harness under Valgrind shows nothing more of ours")
    check("pytest-asyncio", 0.01)  # the event loop reads the clock
    with tempfile.TemporaryDirectory(prefix="fz-set-up-") as scratch:
        command = pytest_asyncio(pathlib.Path(scratch), 1)
        with open(os.path.join(scratch, "test_sums.py"), "a") as file:
            file.write(PYTEST_NEVER)
        result = test_bench.bench("--wall", "-k", "e", "--", *command, cwd=scratch, status=2)
        for text in ("test_never: failed: its body is a coroutine: 'await benchmark(...)' measures it",
                     "test_broken: failed: ValueError: it is broken"):
            assert text in result.stderr, result.stderr
        assert test_bench.table(result)["test_sums.py::test_awaited"][1][1] != "-", result.stdout


@suite.test("asv: suites, parameters and setups as asv runs them; one that fails is named, its results stay")
def check_asv():
    check("asv", 0.001)
    with tempfile.TemporaryDirectory(prefix="fz-set-up-") as scratch:
        command = asv(pathlib.Path(scratch), 1)
        result = test_bench.bench("--wall", "--", *command, cwd=scratch, status=2)
        assert "bench.time_broken: failed: ValueError: it is broken" in result.stderr, result.stderr
        assert all(rest[1] != "-" for _, rest in test_bench.table(result).values()), result.stdout
        plain = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
        assert "bench.time_plain" in plain.stdout and "n/a" not in plain.stdout, plain.stdout + plain.stderr


@suite.test("criterion: cargo bench as it is; groups, inputs, batches; a body that measures itself elsewhere is named")
def check_criterion():
    first = check("criterion 0.5 (from crates.io)")
    # One execution, without what prepares it.
    assert all(abs(first[name] - first["plain"]) < 200 for name in ("batched", "reference", "drop")), first
    assert 900 < first["group/work/2000"] - first["group/work/1000"] < 20000, first
    with tempfile.TemporaryDirectory(prefix="fz-set-up-") as scratch:
        command = criterion(pathlib.Path(scratch), 1)
        result = test_bench.bench("--count", "-k", "custom", "--", "env", "CUSTOM=custom", *command,
                                  cwd=scratch, status=2)
        assert "custom: failed: its body cannot be separated from the harness" in result.stderr, result.stderr


@suite.test("divan and bencher: cargo bench as it is; arguments, types, modules, inputs; counted and timed")
def check_divan():
    first = check("divan 0.1 (from crates.io)")
    # One execution, without what prepares it.
    assert all(abs(first[name] - first["trees::plain"]) < 200
               for name in DIVAN_NAMES - {"trees::sized::2000"}), first
    first = check("bencher 0.1 (from crates.io)")
    assert abs(first["lists::plain"] - first["lists::prepared"]) < 200, first
    with tempfile.TemporaryDirectory(prefix="fz-set-up-") as scratch:
        command = divan(pathlib.Path(scratch), 1)[:-2]
        result = test_bench.bench("--wall", "--", *command, cwd=scratch)
        rows = test_bench.table(result)
        assert set(rows) == DIVAN_NAMES | BENCHER_NAMES, rows
        assert all(rest[3].startswith("[") for _, rest in rows.values()), rows
        result = test_bench.bench("--count", "--", "env", "CLOCK=1", *command, cwd=scratch, status=2)
        assert "trees::clock: failed: its body cannot be separated from the harness" in result.stderr, result.stderr
        assert set(counts_of(result)) == DIVAN_NAMES | BENCHER_NAMES, result.stdout


@suite.test("CodSpeed's variants of criterion, divan and bencher: cargo bench as it is; counted and timed")
def check_codspeed():
    first = check("CodSpeed's crates 6.0")
    for one, names in (("plain", CRITERION_NAMES), ("trees::plain", DIVAN_NAMES), ("lists::plain", BENCHER_NAMES)):
        differ = {name for name in names if abs(first[name] - first[one]) > 200}
        assert differ == names & {"group/work/2000", "trees::sized::2000"}, (first, differ)
    with tempfile.TemporaryDirectory(prefix="fz-set-up-") as scratch:
        command = codspeed(pathlib.Path(scratch), 1)
        odd = ["env", "CUSTOM=custom", "CLOCK=1"]
        result = test_bench.bench("--count", "-k", "c", "--", *odd, *command, cwd=scratch, status=2)
        for name in ("custom", "trees::clock"):
            assert f"{name}: failed: its body cannot be separated from the harness" in result.stderr, result.stderr
        result = test_bench.bench("--wall", "--", *command, "--bench", "trees", cwd=scratch)
        rows = test_bench.table(result)
        assert set(rows) == DIVAN_NAMES and all(rest[3].startswith("[") for _, rest in rows.values()), rows


@suite.test("criterion: one folder of cargo's for both sides of a change is refused")
def check_criterion_ci():
    test_bench.need_tool()
    with tempfile.TemporaryDirectory(prefix="fz-set-up-") as scratch:
        command = criterion(pathlib.Path(scratch), 1)
        git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "x"],
                      ["commit", "-q", "--allow-empty", "-m", "y"]):
            subprocess.run([*git, *words], cwd=scratch, check=True)
        result = subprocess.run([FIZEAU, "ci", "--base", "HEAD~1", "-o", "report", "--", *command], cwd=scratch,
                                capture_output=True, text=True, check=False, timeout=300)
        assert result.returncode == 2, (result.returncode, result.stdout, result.stderr)
        assert "is outside the measured tree" in result.stderr, result.stderr


def folded_lines(folder, recording):
    return subprocess.run([FIZEAU, "replay", "--collapsed", "-o", "-", recording], cwd=folder,
                          capture_output=True, text=True, check=True).stdout.splitlines()


@suite.test("Go: go test -bench as it is; setups, timers, sub-benchmarks, goroutines, stacks that move, failures")
def check_go():
    first = check("Go, `testing`", 0.03)
    one = first["sums.BenchmarkWork"]
    # One execution, without what prepares it.
    for name in ("Setup", "Reset", "Paused", "Sub/n=1000"):
        assert abs(first[f"sums.Benchmark{name}"] - one) < 100, first
    with tempfile.TemporaryDirectory(prefix="fz-set-up-") as scratch:
        folder = pathlib.Path(scratch)
        command = go(folder, 1)
        result = test_bench.bench("--count", "-o", "0.fz", "--", "env", "FAILS=1", *command, cwd=folder, status=2)
        assert "sums.BenchmarkFails/at_once: failed: sums_test.go:" in result.stderr, result.stderr
        assert "it is broken" in result.stderr, result.stderr
        assert "sums.BenchmarkFails/without_a_loop: failed: it never looks at b.N" in result.stderr, result.stderr
        assert set(counts_of(result)) >= GO_NAMES, result.stdout
        stacks = [[frame.split(":")[-2] for frame in line.rsplit(" ", 1)[0].split(";")[2:]]
                  for line in folded_lines(folder, "0.fz")]
        alone = ["sh", "-c", "go test -c -o sums.test && ./sums.test -test.run none -test.bench Work -test.benchtime 2x"]
        result = test_bench.bench("--count", "--", *alone, cwd=folder, status=2)
        assert "sums.BenchmarkWork: failed: benchmarks of Go are counted where 'go test" in result.stderr, result.stderr
    deep = [stack.count("sums.deep") for stack in stacks if "sums.deep" in stack]
    assert max(deep) == 201, max(deep)
    for stack in stacks:
        if "sums.deep" in stack:
            assert stack[0].startswith("sums.BenchmarkDeep."), stack
            assert stack[1:1 + stack.count("sums.deep")] == ["sums.deep"] * stack.count("sums.deep"), stack
        if "sums.worker" in stack:
            assert stack[0].startswith("sums.BenchmarkChannels.") and stack[1] == "sums.worker", stack
        # Neither what Go does for itself nor that it took the processor away.
        assert not stack or not stack[0].startswith("runtime."), stack
        assert "runtime.goschedImpl" not in stack, stack


@suite.test("Go 1.24: the body of b.Loop is counted once")
def check_go_loop():
    test_bench.need_tool()
    if not shutil.which("go") or go_version() < (1, 24):
        raise Skip("go is older than 1.24, which has no b.Loop")
    with tempfile.TemporaryDirectory(prefix="fz-set-up-") as scratch:
        folder = pathlib.Path(scratch)
        command = go(folder, 1)
        folder.joinpath("loop_test.go").write_text(GO_LOOP)
        runs = [counted(folder, [*command[:2], "-bench", "Loop|Work"], f"{i}.fz") for i in range(2)]
    assert runs[0] == runs[1] and set(runs[0]) == {"sums.BenchmarkLoop", "sums.BenchmarkWork"}, runs
    assert abs(runs[0]["sums.BenchmarkLoop"] - runs[0]["sums.BenchmarkWork"]) < 500, runs


@suite.test("Go: fizeau ci finds doubled work, and no change if only comments changed; both are timed")
def check_go_ci():
    if SANITIZED:
        raise Skip("another harness under Valgrind shows nothing more of ours")
    test_bench.need_tool()
    with tempfile.TemporaryDirectory(prefix="fz-set-up-") as scratch:
        folder = pathlib.Path(scratch)
        command = [*go(folder, 1)[:2], "-bench", "Work|Sub|Map"]
        git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "x"]):
            subprocess.run([*git, *words], cwd=folder, check=True)

        def ci(*options, status):
            result = subprocess.run([FIZEAU, "ci", "--base", "HEAD", "--save", "none", "-o", "report", *options,
                                     "--", *command], cwd=folder, capture_output=True, text=True, timeout=300,
                                    check=False)
            assert result.returncode == status, (result.returncode, result.stdout, result.stderr)
            report = json.loads(folder.joinpath("report", "report.json").read_text())
            return {row["name"]: row for row in report["benchmarks"]}

        source = folder / "sums.go"
        source.write_text(source.read_text().replace("//go:noinline", "// Some words.\n\n//go:noinline"))
        rows = ci("--no-wall", status=0)
        assert len(rows) == 4 and all(row["verdict"] == "same" for row in rows.values()), rows
        tests = folder / "sums_test.go"
        tests.write_text(tests.read_text().replace("Work(1000)", "Work(1000) + Work(1001)", 1))
        rows = ci(status=1)
        slower = {name for name, row in rows.items() if row["verdict"] != "same"}
        assert slower == {"sums.BenchmarkWork"}, rows
        assert rows["sums.BenchmarkWork"]["verdict"] == "slower", rows
        assert rows["sums.BenchmarkWork"]["wall"], rows


def yes(of, part):
    return "yes" if len(of) == len(part) else f"{len(part)} of {len(of)}"


def equal(differ):
    return f"within {100 * max(differ.values()):.2f} %" if differ else "yes"


def table():
    """The table in docs/benchmarks.md."""
    print("| set-up | benchmarks found | equal over five runs | user's functions seen | doubled work found |")
    print("|---|--:|---|---|---|")
    for name, (_, wanted, _) in {**SET_UPS, **ONLY_IN_TABLE}.items():
        try:
            first, differ, frames, slower, _ = look(name, 5)
        except Skip as skip:
            print(f"| {name} | not looked at here: {skip} | | | |")
            continue
        print(f"| {name} | {len(first)} of {len(wanted)} | {equal(differ)} | "
              f"{yes(first, frames)} | {yes(first, slower)} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["--table"]:
        table()
    else:
        suite.main()
