#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--subprocesses with an output of CPython's: the same files as its profiler's.

Both record the same program with two children; names without their numbers must be the same, and so
must be the process that each file is about."""

import collections
import pathlib
import re
import subprocess

from livelib import Suite, find_interpreter, fizeau
from pages import Page

suite = Suite()

FAMILY = """\
import subprocess, sys, time
def until(seconds):
    end = time.time() + seconds
    while time.time() < end:
        pass
def of_child():
    until(1.2)
def of_parent():
    until(0.8)
if len(sys.argv) > 1:
    of_child()
else:
    children = [subprocess.Popen([sys.executable, __file__, "child"]) for _ in range(2)]
    of_parent()
    for child in children:
        child.wait()
"""


def files_of(command, *options, version="forky-3.15"):
    """{name without the number: [text or bytes]} of all that a command leaves in its folder."""
    python = find_interpreter(version)
    with python.scratch() as folder:
        folder = pathlib.Path(folder)
        (folder / "family.py").write_text(FAMILY)
        enter = f"cd {python.path(folder)} && exec \"$@\""
        if command == "fizeau":
            done = fizeau("run", "--subprocesses", *options, "--", *python.command,
                          python.path(folder / "family.py"), cwd=folder)
        else:
            done = subprocess.run(
                [*python.command[:-1], "sh", "-c", enter, "-", python.command[-1], "-m",
                 "profiling.sampling", "run", "--subprocesses", *options, "family.py"],
                capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        found = collections.defaultdict(list)
        for path in sorted(folder.iterdir()):
            if path.name == "family.py":
                continue
            content = (path / "index.html" if path.is_dir() else path).read_bytes()
            found[re.sub(r"\d+", "N", path.name)].append(content)
        return found, done.stdout


def says(content):
    """Which of the program's functions a file of any format has."""
    if content[:15].lower().startswith(b"<!doctype html>") and b'id="fz-header"' in content:
        page = Page(content.decode())
        content = "\n".join(page["function.name"] + page["file.name"]).encode()
    elif content[:4] == b"HCAT":
        content = b""  # compressed: read by its own test
    return {name for name in (b"of_child", b"of_parent") if name in content}


NAMES = {
    "--collapsed": {"collapsed_N.txt": 3},
    "--collapsed -o out.txt": {"out.txt": 1, "out_N.txt": 2},
    "--pstats": {"profile_N.pstats": 2},
    "--pstats -o out": {"out": 1, "out_N": 2},
    "-o out.prof": {"out.prof": 1, "out_N.prof": 2},
    "--gecko": {"gecko_N.json": 3},
    "--jsonl": {"jsonl_N.jsonl": 3},
    "--binary -o a.b.bin": {"a.b.bin": 1, "a.b_N.bin": 2},
    "--flamegraph": {"flamegraph_N.html": 3},
    "--heatmap -o pages": {"pages": 1, "pages_N": 2},
}


def same_names(options):
    theirs, _ = files_of("tachyon", *options.split())
    assert {name: len(files) for name, files in theirs.items()} == NAMES[options], theirs.keys()
    our_names(options, "forky-3.15")


def our_names(options, version):
    mine, out = files_of("fizeau", *options.split(), version=version)
    assert {name: len(files) for name, files in mine.items()} == NAMES[options], mine.keys()
    if options == "--pstats":
        assert "of_parent" in out and "of_child" not in out, out
    if "binary" in options or "heatmap" in options:
        return
    page = "flamegraph" in options
    kinds = collections.Counter(frozenset(says(file)) for files in mine.values() for file in files)
    child, parent = frozenset([b"of_child"]), frozenset([b"of_parent"])
    wanted = {child: 2, parent | child if page else parent: 1}
    if options == "--pstats":
        del wanted[parent]
    assert kinds == wanted, kinds


for _options in NAMES:
    suite.add(f"{_options}: the same files", same_names, _options)
    suite.add(f"{_options}: the files that are known to be the same", our_names, _options, "debian-3.11")


@suite.test("each .bin is of one process, and CPython reads it")
def _():
    python = find_interpreter("forky-3.15")
    files, _ = files_of("fizeau", "--binary")
    kinds = []
    with python.scratch() as folder:
        for i, content in enumerate(files["binary_N.bin"]):
            path = pathlib.Path(folder) / f"{i}.bin"
            path.write_bytes(content)
            done = subprocess.run(
                [*python.command, "-m", "profiling.sampling", "replay", "--collapsed", "-o",
                 python.path(path) + ".txt", python.path(path)], capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
            kinds.append(says(pathlib.Path(f"{path}.txt").read_bytes()))
    assert sorted(map(sorted, kinds)) == [[b"of_child"], [b"of_child"], [b"of_parent"]], kinds


@suite.test("our own ways of asking make one file of all")
def _():
    for options in (["-o", "x.fz"], ["-o", "x.html"], ["--format", "collapsed", "-o", "x.txt"],
                    ["--collapsed", "-o", "-"], ["--tree", "-o", "x.txt"], ["--tree"]):
        files, out = files_of("fizeau", *options)
        assert sum(map(len, files.values())) == (options[-1] not in ("-", "--tree")), files.keys()
        if options[-1] in ("x.txt", "-", "--tree"):
            content = files["x.txt"][0] if files else out.encode()
            assert says(content) == {b"of_child", b"of_parent"}


@suite.test("the page of the program has all processes, a difference is one page")
def _():
    python = find_interpreter("forky-3.15")
    with python.scratch() as folder:
        folder = pathlib.Path(folder)
        (folder / "family.py").write_text(FAMILY)
        command = [*python.command, python.path(folder / "family.py")]
        done = fizeau("run", "--subprocesses", "-o", "base.fz", "--", *command, cwd=folder)
        assert done.returncode == 0, done.stderr
        done = fizeau("run", "--subprocesses", "--diff-flamegraph", "base.fz", "--", *command, cwd=folder)
        assert done.returncode == 0, done.stderr
        assert len(list(folder.glob("*.html"))) == 1, list(folder.iterdir())


if __name__ == "__main__":
    suite.main()
