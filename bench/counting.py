# SPDX-License-Identifier: MIT
"""Counting under Valgrind: what it costs beside callgrind with full contexts, whether ten runs say
the same, and how long a whole `fizeau ci` takes.

The peer gets what it needs to tell calling contexts apart: --separate-callers, and for Python the
interpreter's perf trampoline. Programs run natively elsewhere; here only counted.
"""

import os
import shutil
import subprocess
import tempfile

from measure import Skip, Values, run
from peers import FIZEAU, FORKY, HERE
from recording import add_row, add_skipped
from table import Group, Row

TARGETS = HERE / "targets"
PEER = "callgrind"
CONTEXTS = ["--separate-callers=200", "--skip-direct-rec=no"]
# Interpreted in full, as callgrind needs it to see JavaScript functions; fizeau adds it itself.
NODE_FLAGS = ["--no-opt", "--no-sparkplug", "--single-threaded", "--predictable",
              "--predictable-gc-schedule", "--hash-seed=1", "--random-seed=1",
              "--interpreted-frames-native-stack", "--perf-basic-prof"]
NODE_PATIENCE = 60


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skip(f"{program} is not installed")


def compiled(bench, name, command):
    """The path of a target, built once."""
    need(command[0])
    path = bench.scratch.outside / name
    if not path.exists():
        run([*command, "-o", path, TARGETS / (name + (".rs" if command[0] == "rustc" else ".c"))])
    return path


def python():
    """CPython 3.14 by its own loader and libraries, without entering its root."""
    lib = FORKY / "usr/lib/x86_64-linux-gnu"
    program = FORKY / "usr/bin/python3.14"
    if not program.exists():
        raise Skip("no Debian forky root (tests/roots makes it)")
    return [lib / "ld-linux-x86-64.so.2", "--library-path", lib, program, "-S"]


def counted(bench, command, env=None):
    """Our recording of it, with what that cost."""
    out = bench.scratch.outside / "counted.fz"
    usage = run(["env", *(env or []), FIZEAU, "run", "--count", "-o", out, "--", *command])
    return usage, out


def callgrind(bench, command, env=(), timeout=900):
    out = bench.scratch.outside / "callgrind.out"
    usage = run(["env", "PYTHONHASHSEED=0", *env, "valgrind", "-q", "--tool=callgrind", *CONTEXTS,
                 f"--callgrind-out-file={out}", *command], timeout=timeout)
    out.unlink()
    return usage


def programs(bench):
    """name: (command, goal, what the peer needs in its environment)"""
    size = bench.choose(20000, 10000)
    yield "C", lambda: [compiled(bench, "sums", ["cc", "-O2", "-g"]), size, 8], 5, []
    yield ("Python 3.14", lambda: [*python(), TARGETS / "sums.py", bench.choose(100, 20)], 12,
           ["PYTHONPERFSUPPORT=1"])


def compare(bench, group):
    for name, command, times, env in programs(bench):
        results, skipped = bench.interleave(bench.choose(3, 1), {
            "fizeau": lambda: counted(bench, command())[0],
            PEER: lambda: callgrind(bench, command(), env)}, name)
        for what, read in (("s of CPU", lambda u: u.cpu), ("MB of memory", lambda u: u.memory)):
            add_row(group, results, "fizeau", PEER, lambda r, read=read: Values(map(read, r)),
                    name=f"{name}: {what}")
            row = group.rows[-1]
            if what == "s of CPU" and row.theirs:
                # The goal is a ratio: so many times less than the peer takes in the same run.
                row.goal, row.best = row.theirs.median / times, row.theirs.median
        add_skipped(group, skipped)


def node(bench, group):
    """The peer is given up after a while: its contexts of Node are gigabytes."""
    need("node")
    script = TARGETS / "words.js"
    ours = [counted(bench, ["node", script])[0] for _ in range(bench.choose(3, 1))]
    row = Row("Node: s of CPU", Values(usage.cpu for usage in ours))
    group.rows.append(row)
    if bench.quick:
        return
    bench.say("Node under callgrind")
    try:
        theirs = callgrind(bench, ["node", *NODE_FLAGS, script], timeout=NODE_PATIENCE)
        row.peer, row.theirs = PEER, Values([theirs.cpu] * len(ours))
    except Skip:
        row.note = f"callgrind with contexts was not done after {NODE_PATIENCE} s and was ended"


# ---- ten runs ----

def total(path):
    text = run([FIZEAU, "replay", "--collapsed", "-o", "-", path]).output
    return text, sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines() if " " in line)


def spread(bench, group):
    """Ten runs: the range of what was counted, and whether the trees were the same, byte by byte. For
    C and Rust with environments of different sizes; interpreters read theirs as they start."""
    runs = bench.choose(10, 3)
    cases = {"C": (300, lambda: [compiled(bench, "sums", ["cc", "-O2", "-g"]), 50, 8]),
             "Rust": (300, lambda: [compiled(bench, "words", ["rustc", "-O", "-g"])]),
             "Python 3.14": (0, lambda: [*python(), TARGETS / "sums.py", 2]),
             "Node, marked part": (0, lambda: ["node", TARGETS / "words.js"])}
    for name, (step, command) in cases.items():
        try:
            trees, totals = set(), []
            for i in range(runs):
                bench.say(f"{name}: run {i + 1} of {runs}")
                text, n = total(counted(bench, command(), [f"FILLER={'x' * (i * step)}"])[1])
                trees.add(text)
                totals.append(n)
            group.rows.append(Row(f"{name}: range of {runs} runs, instructions",
                                  Values([max(totals) - min(totals)]), goal=0,
                                  note=f"{totals[0]:,} instructions, {len(trees)} tree"
                                       + ("s" if len(trees) > 1 else "")))
        except Skip as reason:
            add_skipped(group, {name: str(reason)})


# ---- the gate ----

SUITE = """import pytest

from work import count, parse, walk


@pytest.mark.parametrize("n", range(100, 800, 100))
@pytest.mark.parametrize("what", [count, parse, walk])
def test_it(benchmark, what, n):
    if (what, n) != (walk, 700):
        benchmark(what, n)
"""
WORK = """import re


def count(n):
    return sum(i * i for i in range(n))


def parse(n):
    return len(re.findall(r"\\\\d+", " ".join(str(i) for i in range(n))))


def walk(n):
    return n and walk(n // 2) + %d
"""


def repository(folder):
    def git(*words):
        subprocess.run(["git", "-c", "user.name=bench", "-c", "user.email=bench@example.org",
                        *words], cwd=folder, check=True, capture_output=True)

    def write(name, text):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)

    git("init", "-q", "-b", "main")
    write("test_it.py", SUITE)
    write("work.py", WORK % 1)
    git("add", "-A")
    git("commit", "-qm", "base")
    git("checkout", "-qb", "change")
    write("work.py", WORK % 2)
    git("commit", "-qam", "change")


def gate(bench, group):
    """20 small benchmarks of pytest from nothing: base in a worktree, both sides, floors, pairs."""
    need("git")
    if subprocess.run(["/usr/bin/python3", "-c", "import pytest"], capture_output=True).returncode:
        raise Skip("python3-pytest is not installed")
    usages = []
    for _ in range(bench.choose(2, 1)):
        with tempfile.TemporaryDirectory() as folder:
            repository(folder)
            bench.say("fizeau ci")
            usage = run(["env", "-C", folder, f"XDG_CACHE_HOME={folder}/.git/cache", FIZEAU, "ci",
                         "--", "/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:cacheprovider"],
                        status=None)
            if usage.status not in (0, 1) or "20 " not in usage.output:
                raise Skip(f"fizeau ci: {usage.output.strip()[-200:]}")
            usages.append(usage)
    name = "fizeau ci of 20 benchmarks of pytest: s"
    group.rows.append(Row(f"{name}, wall", Values(usage.wall for usage in usages), goal=60))
    group.rows.append(Row(f"{name} of CPU", Values(usage.cpu for usage in usages)))


def count(bench):
    group = Group("Counting; callgrind has --separate-callers, and Python's perf trampoline",
                  "given in each row")
    need("valgrind", "cc")
    for part in (compare, node, spread, gate):
        try:
            part(bench, group)
        except Skip as reason:
            add_skipped(group, {part.__name__: str(reason)})
    return group


ROWS = {"count": count}
