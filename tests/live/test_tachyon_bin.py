#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CPython 3.15's own replay accepts our .bin files and reads the right contents."""

import cProfile
import json
import pathlib
import shutil
import subprocess

from livelib import SHARED, SOURCE, Skip, Suite, find_interpreter, fizeau

OWN = SOURCE / "tests" / "data" / "tachyon"
VECTORS = ["base", "deepbase", "fib1", "one", "r100", "r1k", "slow", "small", "small0", "th1",
           "twice", "wrap"]

suite = Suite()


def tachyon_collapsed(python, folder, name):
    """The collapsed text that CPython makes of folder/name."""
    out = pathlib.Path(folder) / (name + ".txt")
    out.unlink(missing_ok=True)
    done = subprocess.run(
        [*python.command, "-m", "profiling.sampling", "replay", "--collapsed",
         "-o", python.path(out), python.path(pathlib.Path(folder) / name)],
        capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return out.read_text(encoding="utf-8", errors="replace")


def ours(*args):
    done = fizeau(*args)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rewritten(source):
    """A recording of CPython, read and written by us, replays as before."""
    if not source.exists():
        raise Skip("no shared recordings")
    python = find_interpreter("forky-3.15")
    with python.scratch() as folder:
        shutil.copy(source, pathlib.Path(folder) / "theirs.bin")
        ours("replay", source, "--binary", "-o", pathlib.Path(folder) / "ours.bin")
        want = tachyon_collapsed(python, folder, "theirs.bin")
        assert tachyon_collapsed(python, folder, "ours.bin") == want
        assert ours("replay", "--collapsed", "-o", "-", source) == want


for vector in [*sorted(OWN.glob("*.bin")),
               *(SHARED / "profiles/formats/tachyon/vectors" / f"{name}.bin" for name in VECTORS)]:
    suite.add(f"{vector.parent.name}/{vector.name} written by us replays the same", rewritten, vector)


def check_text(text):
    """Folded text turned into a .bin by us is what CPython reads back."""
    python = find_interpreter("forky-3.15")
    with python.scratch() as folder:
        source = pathlib.Path(folder) / "in.collapsed"
        source.write_text(text, encoding="utf-8")
        ours("replay", source, "--binary", "-o", pathlib.Path(folder) / "x.bin")
        return tachyon_collapsed(python, folder, "x.bin")


@suite.test("threads, markers and counts survive")
def _():
    text = ("tid:12;a.py:f:3;b.py:g:7;<GC> 40\ntid:12;a.py:f:3;b.py:g:8 20\n"
            "tid:9;a.py:f:4 3\ntid:12;a.py:f:3 2\ntid:9;a.py:f:3;<native>;c.py:C.<lambda>:1 1\n")
    assert check_text(text) == text


@suite.test("a stack deeper than 256 keeps its innermost frames")
def _():
    deep = [f"d.py:f{i}:{i + 1}" for i in range(700)]
    want = "tid:5;" + ";".join(deep[-256:]) + " 9\n"
    assert check_text("tid:5;" + ";".join(deep) + " 9\n") == want


@suite.test("a sample for several intervals is several samples")
def _():
    text = "tid:5;a.py:f:1;a.py:g:2 20000\ntid:5;a.py:f:1 9000\n"
    assert check_text(text) == text


@suite.test("times without samples stay times, and CPython reads the samples made of them")
def _():
    python = find_interpreter("forky-3.15")
    calls = [("main", 0, 1000000), ("work", 100000, 700000), ("idle", 800000, 123457)]
    trace = {"traceEvents": [{"ph": "X", "name": name, "ts": at, "dur": long, "pid": 1, "tid": 1}
                             for name, at, long in calls]}
    with python.scratch() as folder:
        folder = pathlib.Path(folder)
        (folder / "t.json").write_text(json.dumps(trace))
        cProfile.run("sum(i * i for i in range(100000))", str(folder / "c.pstats"))
        for source in ("t.json", "c.pstats"):
            done = fizeau("replay", folder / source, "--binary", "-o", folder / "x.bin")
            assert done.returncode == 0 and "CPython cannot distinguish" in done.stderr, done.stderr
            theirs = tachyon_collapsed(python, folder, "x.bin")
            assert theirs == ours("replay", folder / "x.bin", "--collapsed", "-o", "-")
            ours("replay", folder / "x.bin", "-o", folder / "x.fz")
            ours("replay", folder / "x.bin", "--binary", "-o", folder / "again.bin")
            for name in ("x.bin", "x.fz", "again.bin"):
                text = ours("replay", folder / name)
                assert "converted from times, not sampled" in text, text
                assert " samples, " not in text.splitlines()[0], text
            # No verdict of a test that takes them for samples.
            ours("replay", folder / source, "-o", folder / "y.fz")
            text = ours("diff", folder / "x.bin", folder / "y.fz")
            assert " samples every" not in text and "p =" not in text, text
    text = ours("replay", OWN / "plain.bin")
    assert "converted from times" not in text, text


@suite.test("names in any script")
def _():
    text = "tid:5;m\u00f6d.py:\u51fd\u6570:1;a b.py:g h:2 2\n"
    assert check_text(text) == text


suite.main()
