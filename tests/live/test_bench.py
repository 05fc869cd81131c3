#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""fizeau bench: benchmarks of C, Rust, Python and Node with the bindings, other marks, and failures of single
benchmarks."""

import os
import pathlib
import shutil
import subprocess
import tempfile

from livelib import FIZEAU, SANITIZED, SOURCE, Skip, Suite

suite = Suite()

BINDINGS = os.path.join(SOURCE, "bindings")
LIBRARY = os.path.join(os.path.dirname(FIZEAU), "valgrind", "lib")

MARKS_C = r'''
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

static volatile int sink;
__attribute__((noinline)) static void work(int n) { while (n--) sink++; }

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	access("/.fizeau/start/good", F_OK);
	work(1000);
	access("/.fizeau/stop/good", F_OK);
	if (!strcmp(how, "requests")) {
		CALLGRIND_START_INSTRUMENTATION;
		work(500);
		CALLGRIND_STOP_INSTRUMENTATION;
		CALLGRIND_DUMP_STATS_AT("asked");
		return 0;
	}
	access("/.fizeau/start/bad \"one\"", F_OK);
	work(10);
	if (!strcmp(how, "exit"))
		exit(3);
	if (!strcmp(how, "crash"))
		abort();
	if (!strcmp(how, "hang"))
		pause();
	if (!strcmp(how, "fork") && fork() == 0)
		_exit(0);
	wait(NULL);
	access("/.fizeau/stop/bad \"one\"", F_OK);
	return 0;
}
'''

TESTS_PY = '''
import pytest

def work(n):
    return sum(range(n))

@pytest.mark.benchmark
def test_marked():
    work(300)

@pytest.mark.parametrize("n", [100, 200])
def test_fixture(benchmark, n):
    assert benchmark(work, n) == n * (n - 1) // 2

def test_pedantic(benchmark):
    seen = []
    def setup():
        work(5000)
        return (100,), {}
    assert benchmark.pedantic(work, setup=setup, teardown=seen.append, rounds=3) == 4950
    assert seen

def test_fails(benchmark):
    benchmark(work, "x")

def test_other():
    assert False, "no benchmark: not to be run"
'''


def need_tool():
    if not shutil.which("valgrind"):
        raise Skip("valgrind is not installed")
    if not os.path.isdir(LIBRARY):
        raise Skip("the tool was not built: Valgrind has none for this processor")


def bench(*args, cwd, status=0):
    result = subprocess.run([FIZEAU, "bench", *args], cwd=cwd, capture_output=True, text=True,
                            timeout=300)
    assert result.returncode == status, (result.returncode, result.stdout, result.stderr)
    return result


def table(result):
    """{name: (instructions, the rest)}"""
    rows = {}
    for line in result.stdout.splitlines()[1:]:
        name, rest = line.split("  ", 1)
        words = rest.split()
        rows[name] = (words[0], words[1:])
    return rows


def compiled(folder, text=MARKS_C):
    program = os.path.join(folder, "program")
    subprocess.run([os.environ.get("CC", "cc"), "-O1", "-g", "-x", "c", "-o", program, "-"],
                   check=True, input=text, text=True)
    return program


def check_twice(folder, wanted, *command):
    """Counted twice with equal results, and timed."""
    first = bench("--", *command, cwd=folder)
    second = bench("--count", "--", *command, cwd=folder)
    rows, again = table(first), table(second)
    assert set(rows) == set(wanted), rows
    for name, (instructions, rest) in rows.items():
        assert again[name][:1] == (instructions,), (name, rows, again)
        assert again[name][1][0] == "same", again
        assert rest[1] != "-", f"{name} was not timed: {first.stdout}"
    return rows


@suite.test("C and C++: FIZEAU_BENCH, in a run of fizeau and elsewhere")
def check_c():
    need_tool()
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "example")
        source = os.path.join(BINDINGS, "c", "example.c")
        for compiler, language in (("g++", "c++"), (os.environ.get("CC", "cc"), "c")):
            subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", "-O2", "-g", "-x", language,
                            "-o", program, source], check=True)
        subprocess.run([program], check=True, timeout=120)
        rows = check_twice(folder, ["hash", "sort"], program)
        # 43 bytes, a few instructions each: nothing of the harness is in it.
        assert 43 < int(rows["hash"][0]) < 400, rows


@suite.test("Rust: criterion's calls")
def check_rust():
    need_tool()
    if not shutil.which("rustc"):
        raise Skip("rustc is not installed")
    with tempfile.TemporaryDirectory() as folder:
        rust = os.path.join(BINDINGS, "rust")
        edition = ["rustc", "-O", "-g", "--edition", "2018"]
        subprocess.run([*edition, "--crate-type", "rlib", "--crate-name", "fizeau_bench", "-o",
                        "libfizeau_bench.rlib", os.path.join(rust, "src", "lib.rs")],
                       cwd=folder, check=True)
        subprocess.run([*edition, "--extern", "fizeau_bench=libfizeau_bench.rlib", "-o", "words",
                        os.path.join(rust, "examples", "words.rs")], cwd=folder, check=True)
        subprocess.run(["./words"], cwd=folder, check=True, timeout=120)
        check_twice(folder, ["count", "sort"], "./words")


def check_node(twice):
    need_tool()
    if not shutil.which("node"):
        raise Skip("node is not installed")
    with tempfile.TemporaryDirectory() as folder:
        command = ["node", os.path.join(BINDINGS, "node", "example", "words.mjs")]
        if twice:
            check_twice(folder, ["count", "sort"], *command)
        else:
            rows = table(bench("--count", "--", *command, cwd=folder))
            assert set(rows) == {"count", "sort"}, rows
        folded = subprocess.run([FIZEAU, "replay", "--collapsed", "-o", "-", "@1"], cwd=folder,
                                capture_output=True, text=True, check=True).stdout
        assert "words.mjs:countWords:" in folded, folded[:2000]
        assert "bench_root_frame" not in folded
        left = [name for name in os.listdir(folder) if name != ".fizeau"]
        assert not left, left  # V8 would log there


suite.add("Node: benchmarks, with their own functions by name", check_node, False)
suite.add("Node: counted twice the same, and timed", check_node, True)


def check_pytest_counts(rows):
    assert set(rows) == {f"test_it.py::test_{name}" for name in
                         ("marked", "fixture[100]", "fixture[200]", "pedantic")}, rows
    # What setup does is not counted: 5000 steps are more than 100.
    counts = {name: int(n.replace(",", "")) for name, (n, _) in rows.items()}
    assert counts["test_it.py::test_pedantic"] < 2 * counts["test_it.py::test_fixture[100]"]


@suite.test("pytest: a file that cannot be imported is named; others' benchmarks are kept")
def check_import():
    need_tool()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("test_it.py", TESTS_PY), ("test_broken.py", "import nothing_there\n")):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        result = bench("--count", "--", "/usr/bin/python3", "-m", "pytest", "-p", "no:cacheprovider",
                       cwd=folder, status=2)
        check_pytest_counts(table(result))
        assert "test_fails: failed: TypeError" in result.stderr, result.stderr
        assert "test_broken.py: failed: ModuleNotFoundError: No module named 'nothing_there'" in result.stderr, result


@suite.test("pytest: marker, fixture and pedantic; one that fails is named, the others are kept")
def check_pytest():
    if SANITIZED:
        raise Skip("what is ours of it the case of a file that cannot be imported shows")
    need_tool()
    if subprocess.run(["/usr/bin/python3", "-c", "import pytest"], capture_output=True).returncode:
        raise Skip("python3-pytest is not installed")
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "test_it.py"), "w") as file:
            file.write(TESTS_PY)
        command = ["--", "/usr/bin/python3", "-m", "pytest", "-p", "no:cacheprovider", "--codspeed",
                   "test_it.py"]
        result = bench(*command, cwd=folder, status=2)
        rows = table(result)
        check_pytest_counts(rows)
        assert all(rest[1] != "-" for _, rest in rows.values()), rows
        assert "test_fails: failed: TypeError" in result.stderr, result.stderr
        again = table(bench("--count", "-k", "fixture", *command, cwd=folder))
        assert len(again) == 2, again
        plain = subprocess.run(["/usr/bin/python3", "-m", "pytest", "-q", "-p", "pytest_fizeau",
                                "-p", "no:cacheprovider", "-k", "fixture or marked", "test_it.py"],
                               cwd=folder, capture_output=True, text=True,
                               env=dict(os.environ, PYTHONPATH=os.path.join(BINDINGS, "python")))
        assert plain.returncode == 0, plain.stdout


def check_trouble(how, *wanted, options=()):
    need_tool()
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(folder)
        result = bench("--count", *options, "-o", "out.fz", "--", program, how, cwd=folder,
                       status=2)
        for text in wanted:
            assert text in result.stderr, result.stderr
        assert len(result.stderr.splitlines()) <= 3, result.stderr
        assert "good" in table(result), result.stdout


suite.add("a benchmark whose program exits", check_trouble, "exit",
          'bad "one": was started but not stopped')
suite.add("a benchmark whose program crashes", check_trouble, "crash", 'bad "one": ')
suite.add("a benchmark that forks", check_trouble, "fork",
          'bad "one": started other processes')


@suite.test("a benchmark that hangs is ended")
def check_hang_ends():
    need_tool()
    with tempfile.TemporaryDirectory() as folder:
        result = bench("--count", "--timeout", "2", "--", compiled(folder), "hang", cwd=folder, status=2)
        # It ended before Valgrind was ready, or before the counts were written.
        assert any(text in result.stderr for text in ("still r", "nothing was counted", "was killed")), result.stderr


@suite.test("a benchmark that hangs is named, and the others are kept")
def check_hang():
    check_trouble("hang", 'bad "one": was still running at the time limit',
                  options=("--timeout", "6"))


@suite.test("callgrind's client requests; -k; the body without its callers")
def check_requests():
    need_tool()
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(folder)
        rows = table(bench("--count", "-o", "out.fz", "--", program, "requests", cwd=folder))
        assert set(rows) == {"good", "asked"}, rows
        rows = table(bench("--count", "-k", "ask", "-o", "out.fz", "--", program, "requests",
                           cwd=folder))
        assert set(rows) == {"asked"}, rows
        folded = subprocess.run([FIZEAU, "replay", "--format", "folded", "-o", "-", "out.fz"],
                                cwd=folder, capture_output=True, text=True, check=True).stdout
        assert "asked;main;work" in folded and "libc_start" not in folded, folded
        result = bench("--count", "-k", "nosuch", "--", program, cwd=folder, status=2)
        assert "no benchmark name contains 'nosuch'" in result.stderr, result.stderr


@suite.test("a failure is reported while the others are measured")
def check_early():
    with tempfile.TemporaryDirectory() as folder:
        script = ('for name in json.bad bad; do echo "{\\"name\\": \\"$name\\", \\"failed\\": \\"why\\"}"; done >> "$FIZEAU_BENCH_LOG"; '
                  'for i in $(seq 1200); do [ -e seen ] && break; sleep 0.1; done; '
                  'echo \'{"name": "good", "rounds": [5, 6]}\' >> "$FIZEAU_BENCH_LOG"; exit 1')
        with subprocess.Popen([FIZEAU, "bench", "--wall", "--", "sh", "-c", script], cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            said = [process.stderr.readline() for _ in range(2)]
            pathlib.Path(folder, "seen").touch()
            assert said == [f"fizeau: warning: bench: {name}: failed: why\n" for name in ("json.bad", "bad")], said
            rest = process.stderr.read()
            assert process.wait() == 2 and "bad" not in rest, rest
            assert "good" in process.stdout.read()


@suite.test("a program without marks is one benchmark; --bench-main measures its main alone")
def check_main():
    need_tool()
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(folder, "int work(int n) { volatile int s = 0; while (n--) s++; return s; }"
                                   "int main(void) { work(100); return work(200) != 200; }")
        rows = table(bench("--bench-main", "--", program, cwd=folder))
        assert set(rows) == {"program"} and rows["program"][1][1] != "-", rows
        main = int(rows["program"][0].replace(",", ""))
        for words in [], ["--callgrind"]:
            whole = table(bench(*words, "--", program, "x", cwd=folder))
            counted, rest = whole[f"{program} x"]
            assert len(whole) == 1 and int(counted.replace(",", "")) > main and rest[1] != "-", whole
        whole = table(bench("--wall", "--", program, "x", cwd=folder))
        assert set(whole) == {f"{program} x"}, whole
        result = bench("-k", "nosuch", "--", program, cwd=folder, status=2)
        assert "no benchmark name contains 'nosuch'" in result.stderr, result.stderr
        result = bench("--bench-main=work", "--", program, cwd=folder, status=2)
        assert "requires --count" in result.stderr, result.stderr


@suite.test("--bench-main measures a whole Python program, not the function main of its module site")
def check_python_main():
    need_tool()
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "work.py").write_text("def work(n):\n    for i in range(n): pass\nwork(200_000)\n")
        rows = table(bench("--count", "--bench-main", "-o", "out.fz", "--", "/usr/bin/python3", "work.py", cwd=folder))
        assert set(rows) == {"python3"}, rows
        folded = subprocess.run([FIZEAU, "replay", "--format", "folded", "-o", "-", "out.fz"],
                                cwd=folder, capture_output=True, text=True, check=True).stdout
        counts = dict(line.rsplit(" ", 1) for line in folded.splitlines())
        assert int(counts["python3;<module>;work"]) > 200_000, folded
        assert sum(map(int, counts.values())) == int(rows["python3"][0].replace(",", "")), (rows, folded)


if __name__ == "__main__":
    suite.main()
