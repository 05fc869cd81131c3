#!/usr/bin/env python3
"""fizeau record: py-spy's command lines, mapped to run and attach; --pid; our options after a script."""

import os
import pathlib
import re

from livelib import Suite, Target, find_interpreter, fizeau
from watching import TAKEN

suite = Suite()

SERVER = """\
import threading, time
def work():
    print("up", flush=True)
    while True:
        sum(range(100000))
threading.Thread(target=work, daemon=True).start()
time.sleep(1000)
"""

SCRIPT = TAKEN + """\
import sys
print(*sys.argv[1:])
def leaf():
    seen = taken()
    while taken() < seen + 20:
        sum(range(30000))
leaf()
"""


def script(folder, text=SCRIPT):
    pathlib.Path(folder, "script.py").write_text(text, encoding="utf-8")


@suite.test("of a process: every spelling")
def process():
    with Target(find_interpreter("debian-3.11"), SERVER) as t:
        folder = t.folder.name
        for words, file, start in ((["-o", "a.svg", "--pid", t.pid, "-d", "0.3", "-r", "200"], "a.svg", "<svg"),
                                   (["-d0.3", "-f", "raw", "-o", "b.txt", f"-p{t.pid}"], "b.txt", "tid:"),
                                   (["--format=speedscope", "-o", "c", "-gd", "0.3", f"--pid={t.pid}"], "c", "{"),
                                   (["--output=d", "--format", "flamegraph", "-sitFd0.3", "--nolineno", "-p", t.pid],
                                    "d", "<svg"),
                                   (["--pstats", "-o", "e.pstats", "--duration", "0.3", "-p", t.pid], "e.pstats", None)):
            done = fizeau("record", *words, cwd=folder)
            assert done.returncode == 0, done
            data = pathlib.Path(folder, file).read_bytes()
            assert start is None or data.lstrip().startswith((start.encode(), b"<?xml")), data[:80]
            assert b"work" in data or start is None, data[:300]
        done = fizeau("record", "-d", "0.3", "-p", t.pid, cwd=folder)
        assert done.returncode == 0 and "work (" in done.stdout and "recorded to" in done.stderr, done
        done = fizeau("record", "-n", "-d", "0.3", "-o", "n.fz", "-p", t.pid, cwd=folder)
        assert done.returncode == 0, done
        stacks = fizeau("replay", "--format", "collapsed", "-o", "-", "n.fz", cwd=folder).stdout
        assert re.search(r"clone|libc|_start", stacks), stacks[:500]
        assert fizeau("dump", "--pid", t.pid).stdout.startswith("Stack dump for PID")
        assert fizeau("attach", "-p", t.pid, "-d", "0.2", "-o", "p.fz", cwd=folder).returncode == 0
        for command in ("dump", "attach"):
            done = fizeau(command, "--pid", t.pid, t.pid, cwd=folder)
            assert done.returncode == 2 and done.stderr.count("\n") == 1, done


@suite.test("of a program: its own options stay its own")
def program():
    with find_interpreter("debian-3.11").scratch() as folder:
        script(folder)
        for words in (["script.py"], ["--", "python3", "script.py"], ["-r", "500", "python3", "script.py"]):
            done = fizeau("record", "-o", "x.svg", *words, "-p", "3", "--pid", "4", "-o", "y", cwd=folder)
            assert done.returncode == 0 and done.stdout == "-p 3 --pid 4 -o y\n", done
            assert not os.path.exists(os.path.join(folder, "y"))
            assert "<svg" in pathlib.Path(folder, "x.svg").read_text(encoding="utf-8")
        done = fizeau("record", "--sampling-rate", "1khz", "script.py", cwd=folder)
        assert done.returncode == 0 and "recorded to" in done.stderr and "self" in done.stdout, done
        assert ":leaf:" in fizeau("replay", "@1", "--collapsed", "-o", "-", cwd=folder).stdout


NO_ARGUMENTS = "for _ in range(300000):\n    pass\n"
FAILS = "import argparse\nargparse.ArgumentParser().parse_args()\n"
OWN = "import sys\nassert '--flamegraph' in sys.argv\nsys.exit(3)\n"
OTHER = "import sys\nprint(sys.argv)\n"


@suite.test("an option of ours after the script is the script's; a line reports it unless its own options follow")
def misplaced():
    say = ("--flamegraph came after script.py and was passed to it; to use it as an option of fizeau, write: fizeau run "
           "--flamegraph script.py ...\n")
    with find_interpreter("debian-3.11").scratch() as folder:
        for text, words, told, status in (
                (NO_ARGUMENTS, ["--flamegraph"], True, 0), (FAILS, ["--flamegraph"], True, 2),
                (FAILS, ["x", "--flamegraph"], True, 2), (OWN, ["--flamegraph"], False, 3),
                (OTHER, ["--flamegraph"], False, 0), (NO_ARGUMENTS, ["-v", "--output", "x", "-o", "--format"], False, 0),
                (FAILS, ["--output", "x"], False, 2), (NO_ARGUMENTS, ["--", "--flamegraph"], False, 0)):
            script(folder, text)
            done = fizeau("run", "script.py", *words, cwd=folder)
            assert done.returncode == status and (say in done.stderr) == told, (text, words, done)
            assert done.stderr.count("was passed to it") == told, done
        script(folder, FAILS)
        done = fizeau("run", "-o", "x.fz", "python3", "script.py", "--sampling-rate=5", cwd=folder)
        assert "--sampling-rate=5 came after python3" in done.stderr, done


if __name__ == "__main__":
    suite.main()
