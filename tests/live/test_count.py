#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Counting under Valgrind: the same numbers as callgrind, the same tree in every run, and Python
functions with as many calls as they really had."""

import glob
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile

from livelib import EXPECTED, FIZEAU, SANITIZED, Skip, Suite, find_interpreter

suite = Suite()

LIBRARY = os.path.join(os.path.dirname(FIZEAU), "valgrind", "lib")

PROGRAM_C = r'''
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

static jmp_buf out;
static volatile int sink;

__attribute__((noinline)) static int leaf(int n) { sink += n; return n * 3; }
__attribute__((noinline)) static int tail(int n) { return leaf(n + 1); }
__attribute__((noinline)) static void jumps(int n)
{
	if (!n)
		longjmp(out, 1);
	jumps(n - 1);
	sink++;
}
__attribute__((noinline)) static void handler(int s) { sink += leaf(s); }
__attribute__((noinline)) static void allocates(int n) { free(realloc(malloc(n), 2 * n)); }

static void work(int signals)
{
	for (int i = 0; i < 100; i++) {
		tail(i);
		if (!setjmp(out))
			jumps(5);
		allocates(10);
	}
	for (int i = 0; i < signals; i++)
		raise(SIGUSR1);
}

int main(int argc, char **argv)
{
	stack_t stack = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 };
	int signals = argc > 1 ? atoi(argv[1]) : 7;
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	CALLGRIND_START_INSTRUMENTATION;
	work(signals);
	CALLGRIND_DUMP_STATS_AT("work");
	CALLGRIND_STOP_INSTRUMENTATION;
	access("/.fizeau/start/again", F_OK);
	work(signals);
	access("/.fizeau/stop/again", F_OK);
	return 0;
}
'''

PROGRAM_PY = '''
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def gen(n):
    for i in range(n): yield i
def key(x): return -x
def raiser():
    raise ValueError
def catcher():
    try: raiser()
    except ValueError: return 1
class Thing:
    def __init__(self): self.x = 1
def main():
    fib(12); sum(gen(50)); sorted([3, 1, 2], key=key)
    for i in range(20): catcher(); Thing()
main()
'''
# As the interpreter itself counts them: what sys.setprofile sees.
CALLS = {"fib": 465, "key": 3, "raiser": 20, "catcher": 20, "Thing.__init__": 20, "main": 1}


def run(*args, cwd=None):
    result = subprocess.run([FIZEAU, *args], cwd=cwd, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    return result


def need_tool():
    if not shutil.which("valgrind"):
        raise Skip("valgrind is not installed")
    if not os.path.isdir(LIBRARY):
        raise Skip("the tool was not built: Valgrind has none for this processor")


def compiled(folder, text=PROGRAM_C, *options):
    source = os.path.join(folder, "program.c")
    program = os.path.join(folder, "program")
    with open(source, "w") as file:
        file.write(text)
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-g", *options, "-o", program, source],
                   check=True)
    return program


def totals(path, metric):
    """{function: (self, total)} of a recording."""
    text = run("replay", "--format", "json", "--metric", metric, "-o", "-", path).stdout
    return {f["name"]: (f["self"], f["total"]) for f in json.loads(text)["functions"]}


@suite.test("a C program: as many instructions as with callgrind")
def check_callgrind():
    need_tool()
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(folder)
        out = os.path.join(folder, "work.fz")
        # Signals left out: callgrind leaves out what Valgrind itself executes to deliver them.
        # Linked at the start: how much a linker saves of registers depends on the processor, and
        # callgrind shows this machine's.
        run("run", "--count", "-o", out, "--", "env", "LD_BIND_NOW=1", program, "0")
        folded = run("replay", "--collapsed", "-o", "-", out).stdout
        ours = sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()
                   if "program.c:work:" in line and "again" not in line)
        subprocess.run(["valgrind", "-q", "--tool=callgrind", "--toggle-collect=work",
                        f"--callgrind-out-file={folder}/cg", program, "0"], check=True,
                       env=dict(os.environ, LD_BIND_NOW="1"))
        with open(f"{folder}/cg.1") as file:
            theirs = int(re.search(r"^summary: (\d+)", file.read(), re.M)[1])
        assert ours == theirs, (ours, theirs)
        shown = run("show", out).stdout
        assert re.search(r"^[\d,]+ instructions: ", shown, re.M) and "samples" not in shown, shown
        return f"{ours} instructions"


@suite.test("a C program: calls through tail jumps, longjmp, signals and the allocator")
def check_calls():
    need_tool()
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(folder)
        out = os.path.join(folder, "work.fz")
        run("run", "--count", "-o", out, "--", program)
        calls = {name: n for name, (n, _) in totals(out, "calls").items()}
        for name, wanted in {"leaf": 2 * 107, "jumps": 2 * 600, "handler": 14,
                             "malloc": 200, "realloc": 200}.items():
            assert calls.get(name) == wanted, (name, calls.get(name), wanted)
        bytes_ = {name: n for name, (n, _) in totals(out, "bytes").items()}
        assert bytes_["malloc"] == 2000 and bytes_["realloc"] == 4000, bytes_
        folded = run("replay", "--collapsed", "-o", "-", out).stdout
        deepest = max(line.count("jumps:") for line in folded.splitlines())
        assert deepest == 6, f"a tree that longjmp confused: {deepest} deep"


@suite.test("a C program: the same tree in every run")
def check_repeat():
    need_tool()
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(folder)
        seen = set()
        for i in range(3):
            out = os.path.join(folder, "run.fz")
            environment = dict(os.environ, FILLER="x" * (i * 500))
            subprocess.run([FIZEAU, "run", "--count", "-o", out, "--", program], check=True,
                           env=environment, capture_output=True)
            seen.add(run("replay", "--collapsed", "-o", "-", out).stdout)
        assert len(seen) == 1, "three runs, %d trees" % len(seen)


ARENAS_PY = '''\
import os


def body():
    for _ in range(2000):
        object()


for _ in range(8):
    body()
kept = []
for level in range(24):
    kept += [object() for _ in range(8000)]
    os.access(f"/.fizeau/start/{level}", 0)
    body()
    os.access(f"/.fizeau/stop/{level}", 0)
'''


def check_arenas(name):
    """Counts do not depend on where in an arena a body's objects are."""
    need_tool()
    python = find_interpreter(name)
    with tempfile.TemporaryDirectory() as folder:
        script, out = os.path.join(folder, "arenas.py"), os.path.join(folder, "out.fz")
        with open(script, "w") as file:
            file.write(ARENAS_PY)
        run("run", "--count", "-o", out, "--", *python.command, "-S", script)
        all_of_them = totals(out, "instructions")
        counts = sorted(all_of_them[f"{level}"][1] for level in range(24))
        # Where a pool has a single free block, each turn moves it out of a list and back: that may be once.
        assert counts[0] > 100000 and counts[-2] - counts[0] < 2000, f"a turn is not like the other: {counts}"


for _name in ("debian-3.11", "pyenv-3.11", "pyenv-3.12", "pyenv-3.13"):
    suite.add(f"Python: objects in any part of an arena cost the same ({_name})", check_arenas, _name)


HOLES_PY = '''\
import random
import re
import sys

sys.path.insert(0, sys.argv[1])
import fizeau_bench

WORD = re.compile("[a-z0-9]+")
TITLE = "the quick brown fox jumps over the lazy dog " * 8
rows = {f"key{i}": i for i in range(150)}


def body():
    found = WORD.findall(TITLE)
    for i in range(300):
        try:
            rows[f"key{i}"]
        except KeyError:
            pass
    return found


kept = []
for level in range(12):
    rng = random.Random(level)
    kept += [bytes(rng.randrange(1, 6000)) for _ in range(400)]
    del kept[::rng.randrange(2, 5)]
    fizeau_bench.measure(f"level {level}", lambda: body)
'''


@suite.test("Python: a body costs the same whatever holes others left in the heap and in pools")
def check_holes():
    need_tool()
    python = find_interpreter("debian-3.11")
    bindings = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bindings", "python")
    with tempfile.TemporaryDirectory() as folder:
        script, out = os.path.join(folder, "holes.py"), os.path.join(folder, "out.fz")
        with open(script, "w") as file:
            file.write(HOLES_PY)
        run("run", "--count", "-o", out, "--", "env", "FIZEAU_BENCH=count", *python.command, "-S", script, bindings)
        all_of_them = totals(out, "instructions")
        counts = [all_of_them[f"level {level}"][1] for level in range(12)]
        off = max(counts) / min(counts) - 1
        assert off < 0.005, counts
        return f"within {off:.2%}"


STRINGS_C = r'''
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char a[1 << 16], b[1 << 16];
__attribute__((noinline)) static size_t work(void)
{
	size_t sum = 0;
	for (int i = 0; i < 60000; i++)
		a[i] = b[i] = 'a' + i % 23;
	for (size_t n = 1; n < 50000; n = n * 5 / 4 + 1) {
		memcpy(b, a, n);
		memmove(a + 1, a, n);
		memset(b + n, 'x', n / 2);
		sum += strlen(a + n) + !memcmp(a, b, n) + !strcmp(a, b) + !strchr(a + n, 'z');
		sum += !memchr(a, '?', n) + strspn(a, "abcd") + !strrchr(a + n, 'b') + !strstr(a, "xyzb");
	}
	char *large = malloc(8 << 20);
	memset(large, 1, 8 << 20);
	memcpy(large, large + (4 << 20), 4 << 20);
	return sum + large[17];
}
int main(void)
{
	printf("%zu, AVX2 %d, SSE4.2 %d\n", work(), !!__builtin_cpu_supports("avx2"),
	       !!__builtin_cpu_supports("sse4.2"));
	return 0;
}
'''
# What other processors lack, by the names that versions of the C library have for it.
PROCESSORS = ["", "-AVX2", "-AVX2_Usable,-AVX_Usable", "-AVX,-AVX2", "-AVX512F,-AVX512VL,-AVX512BW",
              "-ERMS", "-FSRM", "-ERMS,-FSRM,-AVX2", "-BMI1,-BMI2", "-LZCNT,-MOVBE", "-XSAVE,-XSAVEC",
              "-FMA,-FMA4,-RTM", "-AVX_Fast_Unaligned_Load,-Prefer_No_VZEROUPPER"]


def check_processors(*options):
    """Optional processor features do not affect counts: the C library, which selects code by them, finds none."""
    need_tool()
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(folder, STRINGS_C, "-fno-builtin", *options)
        out = os.path.join(folder, "out.fz")
        seen = set()
        for lacks in PROCESSORS:
            environment = dict(os.environ)
            if lacks:
                environment["GLIBC_TUNABLES"] = "glibc.cpu.hwcaps=" + lacks
            done = subprocess.run([FIZEAU, "run", "--count", "-o", out, "--", program], check=True,
                                  env=environment, capture_output=True, text=True)
            assert done.stdout.endswith("AVX2 0, SSE4.2 1\n"), done.stdout
            assert ("GLIBC_TUNABLES" in done.stderr) == bool(lacks), done.stderr
            # Not all of the program: reading the variable itself costs something at its start.
            seen.add(totals(out, "instructions")["work"])
        assert len(seen) == 1 and min(seen)[1] > 1000000, seen
        assert "x86-64-v2" in run("show", out).stdout


suite.add("a C program: the same on any processor", check_processors)
suite.add("a static C program: the same on any processor", check_processors, "-static")


@suite.test("cache misses with a fixed geometry, as callgrind counts them")
def check_cache():
    need_tool()
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(folder)
        out = os.path.join(folder, "cache.fz")
        run("run", "--count", "--cache", "-o", out, "--", program)
        result = subprocess.run(
            ["valgrind", "--tool=callgrind", "--cache-sim=yes", "--I1=32768,8,64",
             "--D1=32768,8,64", "--LL=8388608,16,64", f"--callgrind-out-file={folder}/cg",
             program], capture_output=True, text=True, check=True)
        assert "D1  misses" in result.stderr, result.stderr
        misses = {metric: sum(n for n, _ in totals(out, metric).values())
                  for metric in ("I1 misses", "D1 misses", "LL misses", "reads")}
        # Ours are of the two marked parts, which begin with empty caches.
        assert 0 < misses["LL misses"] <= misses["D1 misses"] + misses["I1 misses"], misses
        assert misses["reads"] > misses["D1 misses"], misses


def check_python(name):
    need_tool()
    python = find_interpreter(name)
    command = python.command
    if str(python.root) != "/":
        # By its own loader and libraries, as a program of this root.
        lib = python.root / "usr/lib/x86_64-linux-gnu"
        command = [str(lib / "ld-linux-x86-64.so.2"), "--library-path", str(lib),
                   str(python.root / "usr/bin" / f"python{name.split('-')[1]}")]
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "program.py")
        with open(script, "w") as file:
            file.write(PROGRAM_PY)
        trees = []
        # Once for each version; that runs are alike is shown on one of them, and on C.
        for i in range(2 if name == "debian-3.11" else 1):
            out = os.path.join(tempfile.gettempdir(), f"fizeau-count-{os.getpid()}.fz")
            run("run", "--count", "-o", out, "--", *command, "-I", "-S", script)
            calls = {n: c for n, (c, _) in totals(out, "calls").items()}
            trees.append(run("replay", "--collapsed", "-o", "-", out).stdout)
            os.unlink(out)
        wrong = {n: calls.get(n) for n, wanted in CALLS.items() if calls.get(n) != wanted}
        assert not wrong, wrong
        assert len(set(trees)) == 1, "two runs, two trees"


for name in EXPECTED:
    if tuple(int(part) for part in name.split("-")[-1].split(".")) >= (3, 11):
        suite.add(f"{name}: Python functions, with their calls", check_python, name)


@suite.test("Python: without interpreter frames unless requested; the instructions are the same")
def check_interpreter_frames():
    need_tool()
    python = find_interpreter("debian-3.11").command
    with tempfile.TemporaryDirectory() as folder:
        script, shown = os.path.join(folder, "program.py"), {}
        with open(script, "w") as file:
            file.write(PROGRAM_PY)
        for options in (), ("--interpreter-frames",):
            out = os.path.join(folder, "counted.fz")
            run("run", "--count", *options, "-o", out, "--", *python, "-I", "-S", script)
            stacks = [line.rsplit(" ", 1) for line in
                      run("replay", "--format", "folded", "-o", "-", out).stdout.splitlines()]
            shown[options] = ({frame for stack, _ in stacks for frame in stack.split(";")},
                              sum(int(n) for _, n in stacks))
    (plain, instructions), (all_frames, same) = shown.values()
    assert instructions == same, shown
    assert any("_Py" in frame or "PyEval" in frame for frame in all_frames), all_frames
    assert not [frame for frame in plain if "_Py" in frame or "PyEval" in frame or "libc" in frame], plain
    assert {"fib", "main"} <= {frame.split(":")[0].split(" ")[0] for frame in plain}, plain


DEEP_C = """\
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) long down(long n) { return n ? 1 + down(n - 1) * (n & 1) : 0; }
int main(int argc, char **argv)
{
	access("/.fizeau/start/deep", 0);
	long sum = down(atol(argv[argc - 1]));
	access("/.fizeau/stop/deep", 0);
	return sum < 0;
}
"""


@suite.test("calls 20,000 deep: all are counted")
def check_depth():
    need_tool()
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(folder, DEEP_C, "-fno-optimize-sibling-calls")
        run("bench", "--count", "-o", f"{folder}/deep.fz", "--", program, "20000")
        calls = totals(f"{folder}/deep.fz", "calls")["down"][0]
        assert calls == 20001, calls


@suite.test("calls 100,000 deep are read as fast as equally many flat ones")
def check_deep():
    need_tool()
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(folder, DEEP_C, "-fno-optimize-sibling-calls")
        cost = {}
        for depth in (10000, 100000):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            run("bench", "--count", "-o", f"{folder}/deep.fz", "--", program, str(depth))
            cost[depth] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        assert totals(f"{folder}/deep.fz", "calls")["down"][0] == depth + 1
        # It takes a tenth of a second to start; with the square of the depth it took 30 times as long.
        assert cost[100000] < 8 * cost[10000], cost


@suite.test("programs that fork and exec are counted separately")
def check_fork():
    need_tool()
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "sh.fz")
        run("run", "--count", "-o", out, "--", "sh", "-c",
            "/bin/true; /nonexistent 2>/dev/null; (echo a | cat) >/dev/null; exec /bin/true")
        assert sum(n for n, _ in totals(out, "instructions").values()) > 300000
        profile = json.loads(run("replay", "--format", "json", "-o", "-", out).stdout)
        assert profile["samples"] > 1000, profile["samples"]


@suite.test("each of several processes is listed with its program and its instructions")
def check_process_table():
    need_tool()
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "sh.fz")
        run("run", "--count", "-o", out, "--", "sh", "-c", "true & env -u X seq 2000; wait")
        text = run("show", out).stdout
        total = json.loads(run("replay", "--format", "json", "-o", "-", out).stdout)["total"]
    heading, *rows = map(str.split, text[text.index("      pid   parent"):].split("\n\n")[0].splitlines())
    counts = [int(row[2].replace(",", "")) for row in rows]
    assert heading == ["pid", "parent", "instructions", "process"] and "seq" in [row[3] for row in rows], text
    assert counts == sorted(counts, reverse=True) and sum(counts) == total, (counts, total)


@suite.test("a counted recording states its contents, and its predecessor is found")
def check_facts():
    need_tool()
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "app.py"), "w") as file:
            file.write("import sys\nsys.exit(int(sys.argv[1]))\n")
        python = os.path.realpath("/usr/bin/python3")
        # Whatever it was started by: what the first process became counts.
        for command in (["app.py", "3"], ["--", "/bin/true"],
                        ["--", "sh", "-c", "exec env python3 app.py 0"], ["--", "/bin/ls"]):
            subprocess.run([FIZEAU, "run", "--count", *command], cwd=folder, capture_output=True,
                           timeout=120, env=dict(os.environ, PATH="/usr/bin:/bin"))
        shown = [run("show", f"@{i}", cwd=folder).stdout for i in (4, 3, 2, 1)]
        facts = [dict(re.findall(r"^([a-z.]+) +(.*)", text, re.M)) for text in shown]
        assert [f.get("program") for f in facts] == ["app.py", "true", "app.py", "ls"], facts
        assert [f.get("exit") for f in facts] == ["3", "0", "0", "0"], facts
        for f in facts:
            assert os.path.realpath(f["cwd"]) == os.path.realpath(folder), f
        script = os.path.realpath(os.path.join(folder, "app.py"))
        assert [f.get("script") for f in facts] == [script, None, script, None], facts
        assert [f["executable"] for f in facts[::2]] == [python] * 2, facts
        assert "build" in facts[1] and "build" not in facts[2], facts
        listed = run("list", cwd=folder).stdout
        assert "0 ns" not in listed, listed
        commands = re.findall(r"^@\d .*  count  (?:ok|exit 3) +(\w+)", listed, re.M)
        assert commands == ["ls", "sh", "true", "app"], listed
        done = subprocess.run([FIZEAU, "diff"], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 2 and "no two recordings of the same program" in done.stderr, done


PROGRAMS = {
    "json": """
import glob
import json
def work(n): return json.dumps([{"id": i, "tags": ["a", "b"], "v": i * 0.5} for i in range(n)])
def main(): json.loads(work(200))
main()
""",
    "imports": "import argparse, csv, decimal, email.message, http.client, logging, unittest\n",
    "sets": """
def main():
    words = {"word%d" % (i * 7919 % 900) for i in range(900)}
    groups = {}
    for word in words: groups.setdefault(word[-2:], set()).add(word)
    return sorted(groups)
main()
""",
}


def check_alike_twice(python, program):
    """Counted twice, each time with the last recording beside the script and another environment:
    nothing changed, in either direction."""
    need_tool()
    interpreter = find_interpreter(python)
    if str(interpreter.root) != "/":
        raise Skip("in another root")
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "program.py")
        with open(script, "w") as file:
            file.write(PROGRAMS[program])
        for i in range(2):
            subprocess.run([FIZEAU, "run", "--count", "-o", f"{i}.fz", "--", *interpreter.command,
                            script], cwd=folder, capture_output=True, check=True, timeout=300,
                           env=dict(os.environ, FILLER="x" * 999 * i))
        for pair in (("0.fz", "1.fz"), ("1.fz", "0.fz")):
            out = run("diff", *pair, "--format", "json", "--fail-on", "function-regression",
                      "--threshold", "0%", cwd=folder).stdout
            comparison = json.loads(out)
            assert comparison["verdict"]["word"] == "same", comparison["verdict"]
            changed = [f["name"] for f in comparison["functions"]
                       if "changed" in (f["self_verdict"], f["total_verdict"])]
            assert not changed, changed
            text = run("diff", "--table", *pair, cwd=folder).stdout
            said = re.sub(r"\b0 (slower|faster)", "", text)  # none is
            assert not re.search("slower|faster", said, re.I), text


for program in PROGRAMS:
    for python in ("debian-3.11", "pyenv-3.13") if program == "json" else ("debian-3.11",):
        suite.add(f"{python}, {program}: counted twice, nothing changed", check_alike_twice, python,
                  program)


@suite.test("compare --count finds exactly the changed functions")
def check_compare():
    need_tool()
    with tempfile.TemporaryDirectory() as folder:
        scripts = []
        for n in (10, 12):
            scripts.append(os.path.join(folder, f"fib{n}.py"))
            with open(scripts[-1], "w") as file:
                file.write(PROGRAM_PY.replace("fib(12)", f"fib({n})"))
        python = "/usr/bin/python3 -I -S"
        out = run("compare", "--count", "-n", "1", "--warmup", "0", "--format", "json", "-o", "-",
                  "--base-command", f"{python} {scripts[0]}", "--head-command", f"{python} {scripts[1]}",
                  cwd=folder).stdout
        functions = {f["name"]: f for f in json.loads(out)["functions"]}
        assert functions["fib"]["self_verdict"] == "changed", functions["fib"]
        assert functions["catcher"]["self_verdict"] == "unchanged", functions["catcher"]


PLAIN_C = r'''
#include <stdlib.h>
static volatile int sink;
__attribute__((noinline)) static void leaf(int n) { while (n--) sink++; }
__attribute__((noinline)) static void left(int n) { leaf(n); }
__attribute__((noinline)) static void right(int n) { leaf(n); leaf(2 * n); }
__attribute__((noinline)) static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) static void work(void) { left(10); right(100); sink += fib(10); }
int main(void) { work(); return 0; }
'''


@suite.test("callgrind stands in for a missing tool: the same totals, reported as inexact")
def check_stand_in():
    need_tool()
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(folder, PLAIN_C)
        alone = shutil.copy(FIZEAU, folder)  # the tool is looked for beside it
        ours, theirs = (os.path.join(folder, name) for name in ("ours.fz", "theirs.fz"))
        run("run", "--count", "-o", ours, "--", program)
        done = subprocess.run([alone, "run", "--count", "-o", theirs, "--", program],
                              capture_output=True, text=True, check=True, timeout=120)
        lines = [line for line in done.stderr.splitlines() if "warning" in line]
        assert len(lines) == 1 and "callgrind, which is several times slower" in lines[0], done.stderr
        assert lines[0].endswith("or pip install fizeau[count]"), done.stderr
        a, b = totals(ours, "instructions"), totals(theirs, "instructions")
        for name in ("work", "left", "right", "leaf", "fib"):
            assert a[name] == b[name], (name, a[name], b[name])
        folded = run("replay", "--collapsed", "-o", "-", theirs).stdout
        assert re.search(r"work:\d+;[^;]*left:\d+;[^;]*leaf:", folded), folded[-2000:]
        shown = run("replay", theirs).stdout
        assert "the call tree is not" in " ".join(shown.split()), shown
        again = run("run", "--count", "--callgrind", "-o", theirs, "--", program)
        assert "warning" not in again.stderr, again.stderr  # it was asked for
        done = subprocess.run([FIZEAU, "diff", ours, theirs], capture_output=True, text=True)
        assert done.returncode == 2 and "instructions by callgrind" in done.stderr, done.stderr
        done = subprocess.run([alone, "ci", "--", program], cwd=folder, capture_output=True,
                              text=True)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr


@suite.test("callgrind stands in: Python functions through the perf trampoline")
def check_stand_in_python():
    need_tool()
    for name in ("pyenv-3.12", "pyenv-3.13"):
        try:
            python = find_interpreter(name)
            break
        except Skip as reason:
            missing = reason
    else:
        raise missing
    with tempfile.TemporaryDirectory() as folder:
        script, out = os.path.join(folder, "program.py"), os.path.join(folder, "out.fz")
        with open(script, "w") as file:
            file.write("def leaf(n): return n + 1\ndef work(n): return leaf(n)\nwork(3)\n")
        run("run", "--count", "--callgrind", "-o", out, "--", *python.command, "-S", script)
        folded = run("replay", "--collapsed", "-o", "-", out).stdout
        assert re.search(r"program.py:work:\d+;.*program.py:leaf:", folded), "no Python functions"


TROUBLE_C = r'''
#include <stdio.h>
#include <unistd.h>
#include <sys/wait.h>
int main(int argc, char **argv)
{
	if (argc == 1) /* vpaddd zmm0, zmm0, zmm1 */
		__asm__ volatile(".byte 0x62, 0xf1, 0x7d, 0x48, 0xfe, 0xc1");
	/* To oneself it would be Valgrind that ends the program, and not without writing. */
	if (argc > 1 && argv[1][0] == 'k') {
		/* One that has ended before has written what it did. */
		if (argc == 3 && fork() == 0)
			return 0;
		wait(NULL);
		printf("%d\n", getpid());
		fflush(stdout);
		pause();
	}
	return 0;
}
'''


def check_trouble(wanted, *args, before=()):
    """One line reports the error; benchmarks that were not counted are not written."""
    need_tool()
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(folder, TROUBLE_C)
        out = os.path.join(folder, "out.fz")
        process = subprocess.Popen([*before, FIZEAU, "run", "--count", "-o", out, "--", program, *args],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if args[:1] == ("killed",):
            os.kill(int(process.stdout.readline()), signal.SIGKILL)
        _, said = process.communicate(timeout=120)
        ours = [line for line in said.splitlines() if line.startswith("fizeau: ")]
        assert process.returncode != 0 and wanted in said, said
        # After writing a file, a line prints its name.
        assert len([line for line in ours if ": wrote " not in line]) == 1, ours
        left = [name for name in os.listdir(folder) if name.startswith("out.fz")]
        assert left == (["out.fz"] if "warning" in ours[0] else []), left


suite.add("an instruction that Valgrind does not know", check_trouble, "does not support (AVX-512)")
suite.add("a program that is killed while it is counted", check_trouble, "the program was killed", "killed")
suite.add("a program that is killed after its child ended", check_trouble,
          "warning: run: the program was killed: only the processes it started were counted", "killed", "later")


@suite.test("no space for the counts")
def check_full():
    if os.geteuid() != 0:
        raise Skip("a full disk can be made by root only")
    with tempfile.TemporaryDirectory() as folder:
        full = 'mount -t tmpfs -o size=8k none "$0" && TMPDIR=$0 && export TMPDIR && exec "$@"'
        if subprocess.run(["unshare", "--mount", "sh", "-c", full, folder, "true"],
                          capture_output=True).returncode:
            raise Skip("no file system can be mounted here")
        check_trouble("is the disk full?", "no", "trouble", before=["unshare", "--mount", "sh", "-c", full,
                                                            folder])


@suite.test("the tool needs no installed Valgrind and no fixed location; callgrind does")
def check_none():
    with tempfile.TemporaryDirectory() as folder:
        def count(program, *options):
            return subprocess.run([program, "run", "--count", *options, "-o", "-", "--collapsed", "--",
                                   "/bin/true"], cwd=folder, text=True, capture_output=True,
                                  env={"PATH": folder})

        def program_only(done):  # the loader reads the tool's path
            return [line for line in done.stdout.splitlines() if "libc_start" in line]

        here = count(FIZEAU)
        assert here.returncode == 0 and program_only(here), here
        moved = os.path.join(folder, "moved")
        os.mkdir(moved)
        shutil.copy(FIZEAU, moved)
        for program, options in ((FIZEAU, ["--callgrind"]), (f"{moved}/fizeau", [])):
            done = count(program, *options)
            assert done.returncode == 125 and "install the package valgrind" in done.stderr, done
            assert len(done.stderr.splitlines()) == 1, done.stderr
        shutil.copytree(os.path.join(os.path.dirname(FIZEAU), "valgrind/lib"), f"{moved}/valgrind/lib")
        assert program_only(count(f"{moved}/fizeau")) == program_only(here), "another place, another count"


EXCEPTIONS_CPP = r'''
#include <stdexcept>
#include <string>
#include <vector>
struct guard { std::string name; ~guard() { name.clear(); } };
static int fail(int n) { guard g{std::string(40, 'x')}; if (n % 3 == 0) throw std::runtime_error("no"); return n; }
static int deep(int n, int at) { guard g{"at"}; return at ? deep(n, at - 1) + 1 : fail(n); }
int main()
{
	std::vector<int> seen;
	for (int i = 0; i < 90; i++) {
		try { seen.push_back(deep(i, 4)); }
		catch (const std::exception &) { seen.push_back(-1); }
	}
	return seen.size() != 90;
}
'''
THREADS_C = r'''
#include <pthread.h>
static int sum;
static void *work(void *arg)
{
	volatile int *p = arg;
	for (int i = 0; i < 20000; i++)
		*p += i;
	return 0;
}
int main(void)
{
	/* Whether main has to wait for one depends on who comes first. */
	for (int i = 0; i < 3; i++) {
		pthread_t t;
		pthread_create(&t, 0, work, &sum);
		pthread_join(t, 0);
	}
	return 0;
}
'''


def compile_with(folder, text, *command):
    program = os.path.join(folder, "program")
    if not shutil.which(command[0]):
        raise Skip(f"{command[0]} is not installed")
    subprocess.run([*command, "-o", program, "-"], input=text, text=True, check=True, cwd=folder)
    return program


def check_alike(make, function=""):
    """The same tree, byte by byte, with an environment of another size (also a large one) and from
    another folder, which a shell that starts Valgrind tells the program; at least what is in a
    function."""
    need_tool()
    with tempfile.TemporaryDirectory() as folder:
        program = make(folder)
        trees = []
        for size in (0, 700, 21136):
            out = os.path.join(folder, "run.fz")
            place = tempfile.mkdtemp(prefix="x" * (size // 100), dir=folder)
            environment = dict(os.environ, FILLER="x" * size)
            environment.pop("PWD", None)
            subprocess.run([FIZEAU, "run", "--count", "-o", out, "--", program], check=True,
                           env=environment, cwd=place, capture_output=True, timeout=120)
            folded = run("replay", "--collapsed", "-o", "-", out).stdout
            trees.append({line for line in folded.splitlines() if function in line})
            assert trees[-1]
            others = sorted(trees[0] ^ trees[-1], key=lambda line: line.split(";")[::-1])
            assert not others, f"{size} bytes more: " + "\n".join(others[:20])


@suite.test("an installation below DESTDIR that was moved finds its tool, also by a link")
def moved():
    need_tool()
    build = os.environ.get("FZ_BUILD", os.path.dirname(FIZEAU))
    with tempfile.TemporaryDirectory() as folder:
        made, place = os.path.join(folder, "made"), os.path.join(folder, "else where")
        subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--destdir", made], check=True,
                       capture_output=True)
        (binary,) = glob.glob(os.path.join(made, "**", "bin", "fizeau"), recursive=True)
        os.rename(os.path.dirname(os.path.dirname(binary)), place)
        shutil.rmtree(made)
        os.symlink(os.path.join(place, "bin", "fizeau"), os.path.join(folder, "linked"))
        program = compiled(folder)
        for fizeau in (os.path.join(place, "bin", "fizeau"), os.path.join(folder, "linked")):
            done = subprocess.run([fizeau, "run", "--count", "-o", "x.fz", "--", program], cwd=folder,
                                  capture_output=True, text=True, timeout=300)
            assert done.returncode == 0 and "callgrind" not in done.stderr, done
            shown = run("show", os.path.join(folder, "x.fz")).stdout
            assert "clock          instructions" in shown and "  idle\n" not in shown, shown


RUST = """use std::collections::HashMap;
fn main() {
    let mut seen: HashMap<String, usize> = HashMap::new();
    for i in 0..500 { *seen.entry(format!("word{}", i % 37)).or_insert(0) += i; }
    println!("{}", seen.len());
}
"""

suite.add("C++ exceptions: the same tree in every run", check_alike,
          lambda folder: compile_with(folder, EXCEPTIONS_CPP, "g++", "-O1", "-g", "-x", "c++"))
suite.add("threads that do not meet: each has the same tree in every run", check_alike,
          lambda folder: compile_with(folder, THREADS_C, "cc", "-O1", "-g", "-pthread", "-x", "c"),
          ":work:")
suite.add("Rust, with a random hash seed: the same tree in every run", check_alike,
          lambda folder: compile_with(folder, RUST, "rustc", "-O", "-g", "--crate-name", "words"))

if SANITIZED:
    del suite.tests[2:]  # the tool is the same; the first two cases cover the reader of its files

if __name__ == "__main__":
    suite.main()
