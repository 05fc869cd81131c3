#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The runners themselves: every failure in a test must be counted. Prints TAP."""

import contextlib
import functools
import importlib.machinery
import importlib.util
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest.mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True


def load(name, path):
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(HERE, path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


run = load("run", "run")
cli = load("cli", "cli/run")
livelib = load("livelib", "live/livelib.py")

# What a program prints and does -> passed, failed, skipped.
PROGRAMS = [
    ("passes", "echo 'ok 1 - a'; echo 'ok 2 - b'; echo 1..2", (2, 0, 0)),
    ("a case fails", "echo 'ok 1 - a'; echo 'not ok 2 - b'; echo 1..2; exit 1", (1, 1, 0)),
    ("a case fails, status 0", "echo 'not ok 1 - b'; echo 1..1", (0, 1, 0)),
    ("a case is skipped", "echo 'ok 1 - a # SKIP no root'; echo 1..1", (0, 0, 1)),
    ("cmocka's form of skipping", "echo 'not ok 1 # SKIP test_x'; echo 1..1", (0, 0, 1)),
    ("everything is skipped", "echo '1..0 # SKIP no browser'", (0, 0, 1)),
    ("fewer cases than planned", "echo 1..2; echo 'ok 1 - a'", (1, 1, 0)),
    ("no plan", "echo 'ok 1 - a'", (1, 1, 0)),
    ("dies after good cases", "echo 'ok 1 - a'; kill -SEGV $$", (1, 1, 0)),
    ("fails after good cases", "echo 1..1; echo 'ok 1 - a'; exit 99", (1, 1, 0)),
    ("bails out", "echo 'ok 1 - a'; echo 'Bail out! broken'; exit 1", (1, 1, 0)),
    ("no TAP, status 0", "echo fine", (1, 0, 0)),
    ("no TAP, status 1", "echo broken; exit 1", (0, 1, 0)),
    ("no TAP, status 77", "echo no tool; exit 77", (0, 0, 1)),
    ("two groups with a plan each", "echo 1..1; echo 'ok 1 - a'; echo 1..1; echo 'ok 1 - b'", (2, 0, 0)),
    ("hangs", "echo 'ok 1 - a'; sleep 60", (1, 1, 0)),
    ("leaves a process with the pipe behind", "echo 'ok 1 - a'; sleep 60 & echo 1..1", (1, 1, 0)),
]


def after(command, lane="check"):
    """The results of one program, which has the time to print its lines on any machine."""
    results, seconds = run.Results(lane), 5 if "sleep 60" in command else 60
    with contextlib.redirect_stdout(io.StringIO()), unittest.mock.patch.object(run, "SLOW_MACHINE", 1):
        run.run_program(results, "program", ["sh", "-c", command], seconds)
    return results


def counts(results):
    return tuple(len(results.of(verdict)) for verdict in ("pass", "fail", "skip", "missed"))


def check_programs():
    for what, command, wanted in PROGRAMS:
        found = counts(after(command))
        yield f"counting: {what}", found == (*wanted, 0), f"wanted {wanted}, found {found}"


def check_reasons():
    results = after("echo 'not ok 1 - a'; echo '# line 3'; echo '# Error: 5'; echo 'ok 2 - b'; echo '# no'; echo 1..2")
    yield "a failed case is listed with its last comment", results.of("fail") == [("program: a", "Error: 5")], \
        f"{results.of('fail')}"


# Programs in a lane that only reports -> passed, failed, skipped, missed.
REPORTED = [
    ("a claim that does not hold", "echo 'not ok 1 - a # TODO missed: 0.4'; echo 1..1", (0, 0, 0, 1)),
    ("an impossible result", "echo 'not ok 1 - a'; echo 1..1; exit 1", (0, 1, 0, 0)),
    ("a crash", "echo 'ok 1 - a'; kill -SEGV $$", (1, 1, 0, 0)),
    ("a program that takes too long", "sleep 60", (0, 0, 0, 1)),
]


def check_lanes():
    for what, command, wanted in REPORTED:
        found = counts(after(command, "timed"))
        yield f"reporting: {what}", found == wanted, f"wanted {wanted}, found {found}"
    found = counts(after("echo 'not ok 1 - a # TODO missed'; echo 1..1; exit 1"))
    yield "the gate: TODO is a failure", found == (0, 1, 0, 0), f"{found}"
    for what, command, wanted in (("no case in the lane", "echo 1..0", (0, 0, 0, 0)),
                                  ("no case, and it fails", "echo 1..0; exit 1", (0, 1, 0, 0))):
        found = counts(after(command))
        yield what, found == wanted, f"wanted {wanted}, found {found}"


def check_table():
    printed = [(0.25, "ok 1 - a"), (1.0, "ok 2 - b # SKIP why"), (1.0, "1..2")]
    with unittest.mock.patch.object(run, "spawn", lambda *_: (printed, 0)):
        results = after("prints that")
    with tempfile.TemporaryDirectory() as folder:
        results.write(os.path.join(folder, "new", "x.json"))
        with open(os.path.join(folder, "new", "x.json"), encoding="utf-8") as file:
            rows = json.load(file)
    yield "the table of cases", rows == [
        {"case": "program: a", "lane": "check", "seconds": 0.25, "verdict": "pass"},
        {"case": "program: b", "lane": "check", "seconds": 0.75, "verdict": "skip", "why": "why"}], f"{rows}"


def check_queue():
    """Suites start in order as soon as their build is there; what a failed build cannot run is skipped."""
    for what, works, wanted in (("built", True, ["first", "made", "second", "third"]),
                                ("not built", False, ["first", "made"])):
        done, results = [], run.Results()

        class Made:
            good = None

            def make(self):
                done.append("made")
                self.good = works

        def suite(*names):
            return lambda *_: (functools.partial(done.append, name) for name in names)

        suites = {"a": (None, suite("first")), "b": ("x", suite("second")), "c": ("x", suite("third"))}
        with unittest.mock.patch.dict(run.SUITES, suites):
            run.Queue(results, {"x": Made()}, ["a", "b", "c"]).run(1)
        yield (f"queue: {what}", sorted(done) == wanted and len(results.of("skip")) == (0 if works else 2)
               and done.index("made") < len(done) - (2 if works else 0), f"{done} {results.cases}")
    results, ended = run.Results(), []
    with unittest.mock.patch.dict(run.SUITES, {"bad": (None, lambda *_: [lambda: 1 / 0, lambda: ended.append(1)])}):
        run.Queue(results, {}, ["bad"]).run(2)
    yield "queue: a job that cannot run is a failure, not the end", counts(results)[1] == 1 and ended == [1], ""


# A suite of live tests: the lane that is run, the case's code, arguments -> exit status, part of what it prints.
SUITES = [
    ("a wrong result", "check", "assert False", [], 1, "not ok 2 - case\n"),
    ("a claim that does not hold", "timed", "assert False, '0.4 s'", [], 0, "not ok 1 - case # TODO missed: 0.4 s ("),
    ("a sanitizer's report", "timed", "assert False, 'AddressSanitizer: heap'", [], 1, "not ok 1 - case\n"),
    ("a crash", "timed", "broken.append(1); assert False", [], 1, "not ok 1 - case\n"),
    ("an impossible result", "timed", "raise Wrong('off by one')", [], 1, "not ok 1 - case\n"),
    ("no lane: everything gates", "", "assert False", [], 1, "not ok 2 - case\n"),
    ("a case of another lane", "world", "assert False", [], 0, "1..0\n"),
    ("several lanes", "check,timed", "assert False", [], 0, "not ok 2 - case # TODO missed"),
    ("part of a name", "check", "pass", ["as"], 0, "prepared\nok 1 - case\n1..1"),
    ("a word that no name has", "check", "pass", ["case", "nothing"], 1, "Bail out! no test has 'nothing'"),
    ("a whole name", "check", "pass", ["=case"], 0, "prepared\nok 1 - case\n1..1"),
    ("a part of one where a whole is wanted", "check", "pass", ["=cas"], 1, "Bail out!"),
    ("the lanes of its cases", "", "pass", ["--lanes"], 0, "check\tbefore\ncheck\tcase\n"),
]
SUITE = """import pathlib, sys
sys.path.insert(0, {folder!r})
import livelib
from livelib import *
from livelib import broken
livelib.TABLE = pathlib.Path({table!r})
suite = Suite()
@suite.test("before", first=True)
def before():
    print("prepared")
@suite.test("case")
def case():
    {body}
suite.main()
"""


def check_suites():
    for what, lane, code, words, status, said in SUITES:
        with tempfile.TemporaryDirectory() as folder:
            script, table = os.path.join(folder, "test_x.py"), os.path.join(folder, "lanes.tsv")
            of_case = lane if lane in ("check", "timed") else "check"
            with open(table, "w", encoding="utf-8") as file:
                file.write(f"# file\ntest_x\t*\tcheck\t\ntest_y\t*\tworld\t\ntest_x\tcas?\t{of_case}\tof time\n")
            with open(script, "w", encoding="utf-8") as file:
                file.write(SUITE.format(folder=os.path.join(HERE, "live"), table=table, body=code))
            done = subprocess.run([sys.executable, script, *words], capture_output=True, text=True,
                                  env={**os.environ, "FZ_LANE": lane})
        yield (f"a live suite: {what}", done.returncode == status and said in done.stdout + done.stderr,
               f"{done.returncode}: {done.stdout}{done.stderr}")


def check_rows():
    table = [("*", "timed"), ("a*", "check"), ("ab*", "world")]
    for case, wanted in (("c", "timed"), ("ac", "check"), ("abc", "world"), ("ac on forky-3.15", "world")):
        found = livelib.lane_of(table, case)
        yield f"the lane of {case!r}", found == wanted, found
    yield "a case without a row does not gate", livelib.lane_of([], "a") == "timed", ""


GOLDEN = """# Says what it does.
$ echo one; echo two
one
two

$ false
[1]

$ echo "$DATA/x" "$SCRATCH"
$DATA/x $SCRATCH

$ seq 100
1
...
100

$ echo took 3 s
took * s (glob)

# Continued.
$ cat <<END
> # not a comment
> END
# not a comment
"""


def golden(text, update=False):
    """Exit status of the golden runner on a file, and the file afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.t")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.environ["FZ_UPDATE"] = "1" if update else ""
        os.environ["FIZEAU"] = "/bin/true"
        with contextlib.redirect_stdout(io.StringIO()):
            status = cli.main([path])
        with open(path, encoding="utf-8") as file:
            return status, file.read()


def check_golden():
    yield "golden: what matches passes", golden(GOLDEN)[0] == 0, ""
    for what, old, new in [("other output", "two\n\n", "three\n\n"), ("other status", "[1]", "[2]"),
                           ("missing line", "one\ntwo\n\n", "one\n\n"),
                           ("extra line", "[1]", "more\n[1]"),
                           ("nothing where ... stands", "...\n100", "...\n101"),
                           ("no match of a pattern", "took * s", "took * min")]:
        broken = GOLDEN.replace(old, new)
        yield f"golden: {what} fails", broken != GOLDEN and golden(broken)[0] == 1, ""
        if "..." not in new and "*" not in new:
            yield f"golden: {what} is mended by FZ_UPDATE", golden(broken, True)[1] == GOLDEN, \
                golden(broken, True)[1]


def main():
    number = failed = 0
    for check in (check_programs, check_reasons, check_lanes, check_table, check_queue, check_suites, check_rows,
                  check_golden):
        for name, good, why in check():
            number += 1
            failed += not good
            print(f"{'ok' if good else 'not ok'} {number} - {name}")
            if not good:
                print("".join(f"# {line}\n" for line in why.splitlines()), end="")
    print(f"1..{number}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
