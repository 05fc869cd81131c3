#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The runners themselves: whatever goes wrong in a test has to be counted. Prints TAP."""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import subprocess
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


def counts(command):
    results = run.Results()
    with contextlib.redirect_stdout(io.StringIO()):
        run.run_program(results, "program", ["sh", "-c", command], 1)
    return results.passed, len(results.failed), len(results.skipped)


def check_programs():
    for what, command, wanted in PROGRAMS:
        found = counts(command)
        yield f"counting: {what}", found == wanted, f"wanted {wanted}, found {found}"


# A live program, first beside others and then alone -> passed, failed, skipped, flaky.
BUSY = "echo 'ok 1 - a # SKIP the machine was busy: 40 %'"
LIVE = [
    ("what fails is not run again", "test -e again && echo 'ok 1 - a' || echo 'not ok 1 - a'", (0, 1, 0, 0)),
    ("a program that dies is not", "test -e again && echo 'ok 1 - a' || kill -SEGV $$", (0, 1, 0, 0)),
    ("passes when it is alone", f"[ $# = 0 ] && {BUSY} || echo 'ok 1 - a'", (1, 0, 0, 1)),
    ("only that case is", f"[ $# = 0 ] && {BUSY} || echo \"ok 1 - $1\"", (1, 0, 0, 1)),
    ("fails when it is alone", f"[ $# = 0 ] && {BUSY} || echo 'not ok 1 - a'", (0, 1, 0, 0)),
    ("busy to the end", BUSY, (0, 0, 1, 0)),
    ("passes", "echo 'ok 1 - a'", (1, 0, 0, 0)),
    ("hangs", "sleep 60", (0, 1, 0, 0)),
]


def check_live():
    for what, command, wanted in LIVE:
        results = run.Results()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            run.run_live_program(results, "program", ["sh", "-c", command + "; touch again; echo 1..1", "sh"],
                                 1, None, folder)
            run.run_again(results)
        found = results.passed, len(results.failed), len(results.skipped), len(results.flaky)
        yield f"run again: {what}", found == wanted, f"wanted {wanted}, found {found}"


# A suite of live tests: its code, its arguments -> exit status, part of what it prints.
SUITES = [
    ("a wrong result", "assert False", [], 1, "not ok 2"),
    ("a wrong result while others have the machine", "assert False; BUSY", [], 1, "not ok 2"),
    ("a claim about time", "timed: assert False", [], 1, "not ok 2"),
    ("a claim about time while others have the machine", "timed: assert False; BUSY", [], 0,
     "ok 2 - case # SKIP the machine was busy: others had 60 % of it"),
    ("a sanitizer's report then", "timed: assert False, 'AddressSanitizer: heap'; BUSY", [], 1, "not ok 2"),
    ("a crash then", "timed: broken.append(1); assert False; BUSY", [], 1, "not ok 2"),
    ("what is declared wrong then", "timed: raise Wrong('off by one'); BUSY", [], 1, "not ok 2"),
    ("a bug of the test then", "timed: None.x; BUSY", [], 1, "not ok 2"),
    ("a word that a name has", "pass", ["as"], 0, "prepared\nok 1 - case\n1..1"),
    ("a word that no name has", "pass", ["case", "nothing"], 1, "Bail out! no test has 'nothing'"),
    ("a whole name", "pass", ["=case"], 0, "prepared\nok 1 - case\n1..1"),
    ("a part of one where a whole is wanted", "pass", ["=cas"], 1, "Bail out!"),
]
SUITE = """import sys
sys.path.insert(0, {folder!r})
from livelib import *
from livelib import broken
Attention.of_others = lambda self: {others}
suite = Suite()
@suite.test("before", first=True)
def before():
    print("prepared")
@suite.test("case", timed={timed})
def case():
    {body}
suite.main()
"""


def check_suites():
    for what, code, words, status, said in SUITES:
        body = code.removeprefix("timed: ").removesuffix("; BUSY")
        text = SUITE.format(folder=os.path.join(HERE, "live"), timed=code.startswith("timed: "),
                            others=0.6 if code.endswith("BUSY") else 0.0, body=body)
        done = subprocess.run([sys.executable, "-c", text, *words], capture_output=True, text=True)
        yield (f"a live suite: {what}", done.returncode == status and said in done.stdout + done.stderr,
               f"{done.returncode}: {done.stdout}{done.stderr}")


def check_attention():
    """What others take is seen, what we and our children take is not. Both take 0.5 s of CPU."""
    loop = "import time\nwhile time.process_time() < 0.5: pass"
    for what, command in (("ours", []), ("others'", ["setsid", "-f"])):
        attention = livelib.Attention()
        done = subprocess.run([*command, sys.executable, "-c", loop], stdout=subprocess.PIPE)
        assert done.returncode == 0  # and whoever has the pipe has ended
        own = attention.own_now() - attention.own
        others = attention.of_others() * attention.seconds() * os.cpu_count()
        yield (f"attention: {what}", own > 0.45 if what == "ours" else own < 0.3 and others > 0.4,
               f"{own:.2f} s of CPU are called our own, {others:.2f} others'")


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
    for check in (check_programs, check_live, check_suites, check_attention, check_golden):
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
