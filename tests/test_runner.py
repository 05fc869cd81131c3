#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The runners themselves: whatever goes wrong in a test has to be counted. Prints TAP."""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True


def load(name, path):
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(HERE, path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


run = load("run", "run")
cli = load("cli", "cli/run")

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


def counts(command):
    results = run.Results()
    with contextlib.redirect_stdout(io.StringIO()):
        run.run_program(results, "program", ["sh", "-c", command], 1)
    return results.passed, len(results.failed), len(results.skipped)


def check_programs():
    for what, command, wanted in PROGRAMS:
        found = counts(command)
        yield f"counting: {what}", found == wanted, f"wanted {wanted}, found {found}"


# A live program, first beside others and then alone -> passed, failed.
ONCE = "test -e again && echo 'ok 1 - a' || echo 'not ok 1 - a'; echo 1..1; touch again"
LIVE = [
    ("fails only beside others", ONCE, (1, 0)),
    ("fails always", "echo 'ok 1 - a'; echo 'not ok 2 - b'; echo 1..2", (1, 1)),
    ("passes", "echo 'ok 1 - a'; echo 1..1", (1, 0)),
    ("hangs", "echo 'ok 1 - a'; sleep 60", (1, 1)),
]


def check_live():
    for what, command, wanted in LIVE:
        results = run.Results()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            run.run_live_program(results, "program", ["sh", "-c", command], 1, None, folder)
            run.run_again(results)
        found = results.passed, len(results.failed)
        yield f"run again: {what}", found == wanted, f"wanted {wanted}, found {found}"


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
    for check in (check_programs, check_live, check_golden):
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
