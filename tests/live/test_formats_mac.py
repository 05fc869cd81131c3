#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Texts of macOS's tools: Instruments' copied call trees, and what sample prints.

The copies in tests/data/instruments are the examples of jlfwong/speedscope (sample/profiles/Instruments,
MIT License), of the versions in their names. What sample prints is written by hand here after published
reports, which say at their end what the innermost functions cost."""

import collections
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

from livelib import FIZEAU, SOURCE, Suite

DATA = SOURCE / "tests/data/instruments"
SCRATCH = pathlib.Path(tempfile.mkdtemp(prefix="fizeau-mac-"))
UNITS = {"ms": 1e6, "s": 1e9, "Gc": 1e9, "Mc": 1e6, "Kc": 1e3, "cycles": 1, "MB": 1 << 20}
suite = Suite()


def replay(path, *options):
    done = subprocess.run([FIZEAU, "replay", *options, path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def report_of(path, *options):
    return json.loads(replay(path, "--format", "json", "-o", "-", *options))


def by_name(report, key):
    out = collections.Counter()
    for f in report["functions"]:
        out[f["name"]] += f[key]
    return out


def number(text, unit=None):
    value, own = re.fullmatch(r"\s*([\d.]+|-)\s*([A-Za-z]*).*", text).groups()
    return 0 if value == "-" else round(float(value) * UNITS[own or unit])


def readable(symbol):
    """A name that Instruments demangled as C++, without Rust's hash and escapes."""
    name = re.sub(r"::h[0-9a-f]{16}$", "", symbol)
    if name == symbol or not name.startswith("_$"):
        return name
    for escape, text in ("$LT$", "<"), ("$GT$", ">"), ("$u20$", " "), ("..", "::"):
        name = name.replace(escape, text)
    return name[1:]


def instruments(name, metric, roots):
    path = DATA / f"{name}.txt"
    lines = [line.split("\t") for line in path.read_text().splitlines() if line.strip()]
    unit = (re.findall(r"\((\w+)\)", lines[0][1]) or [None])[0]
    told = collections.Counter()
    for line in lines[1:]:
        told[readable(line[-1].strip())] += number(line[1], unit)
    report = report_of(path)
    assert report["metric"] == metric
    assert +by_name(report, "self") == +told
    totals = by_name(report, "total")
    for root, value in roots.items():
        # As it is shown, rounded, above all that is in it.
        assert abs(totals[root] - number(value)) <= number(value) * 0.002, (root, totals[root])


for case in (("time-7.3.1", "cpu", {"start": "4273.0ms", "delta()": "2126.0ms"}),
             ("time-16.0", "cpu", {"start": "4.93 s", "delta()": "2.45 s", "stat": "3.00 ms"}),
             ("cycles-13.4", "cycles", {"start": "96.08 Gc", "_malloc_zone_malloc": "1.00 Mc"})):
    suite.add(f"Instruments: {case[0]} equals its own column of self costs", instruments, *case)


@suite.test("Instruments: allocations without self costs are the innermost frame's, in both metrics")
def allocations():
    path = DATA / "allocations-7.3.1.txt"
    assert report_of(path)["metric"] == "bytes"
    assert abs(report_of(path)["total"] - number("429.93 MB")) <= 20000
    count = report_of(path, "--metric", "allocations")
    assert count["total"] == 84671 and by_name(count, "self")["malloc_zone_malloc"] == 84671
    assert by_name(count, "total")["delta()"] == 42749


SAMPLE = """\
Sampling process 12 for 10 seconds with 1 millisecond of run time between samples
Analysis of sampling app (pid 12) every 10 milliseconds
Process:         app [12]
Path:            /Users/USER/app
Report Version:  7
Analysis Tool:   /usr/bin/sample
----

Call graph:
    368 Thread_779   DispatchQueue_1: com.apple.main-thread  (serial)
    + 368 start  (in libdyld.dylib) + 1  [0x7fffca829255]
    +   344 main  (in app) + 61  [0x10a279f5d]  main.cpp:35
    +   ! 300 grow(std::vector<int>&, bool)  (in app) + 30  [0x7fffca9addd7]  grow.cpp:7
    +   ! : 300 madvise  (in libsystem_kernel.dylib) + 10  [0x7fffca958f32]
    +   ! 40 ???  (in app)  load address 0x102a50000 + 0x86d2c  [0x102ad6d2c]
    +   21 main  (in app) + 74,88  [0x10a279f6a,0x10a279f6e]  main.cpp:36
    +   | 17 madvise  (in libsystem_kernel.dylib) + 10  [0x7fffca958f32]
    +   3 main  (in app) + 61  [0x10a279f5d]  main.cpp:35
    368 Thread_780: worker two
      368 start_wqthread  (in libsystem_pthread.dylib) + 13  [0x1003d4e51]
        368 __workq_kernreturn  (in libsystem_kernel.dylib) + 10  [0x7fff685645be]

Total number in stack (recursive counted multiple, when >=5):
        5       grow  (in app) + 30  [0x7fffca9addd7]

Sort by top of stack, same collapsed (when >= 5):
        __workq_kernreturn  (in libsystem_kernel.dylib)        368
        madvise  (in libsystem_kernel.dylib)        317

Binary Images:
       0x102a50000 -        0x102dc719f +app (0.4) <5B424D44> /Users/USER/app
"""


@suite.test("sample: functions, threads, lines; the graph's end; its own list of innermost functions")
def sample():
    for end in ("\n", "\r\n"):
        path = SCRATCH / "sample.txt"
        path.write_bytes(SAMPLE.replace("\n", end).encode())
        report = report_of(path)
        assert (report["metric"], report["total"]) == ("samples", 736), report["total"]
        own, totals = by_name(report, "self"), by_name(report, "total")
        listed = re.findall(r"^ {8}(\S+)  \(in [^)]+\) {8}(\d+)$", SAMPLE, re.M)
        assert len(listed) == 2
        for name, n in listed:
            assert own[name] == int(n), (name, own[name])
        assert own["app+0x86d2c"] == 40 and own["main"] == 344 - 340 + 21 - 17 + 3, own
        assert totals["main"] == 368 and totals["grow(std::vector<int>&, bool)"] == 300, totals
        assert report["facts"]["interval_ns"] == 10_000_000, report["facts"]
        for thread, n in (("com.apple.main-thread", 368), ("worker two", 368)):
            assert report_of(path, "--thread", thread)["total"] == n, thread
        folded = replay(path, "--format", "collapsed", "-o", "-")
        assert "grow.cpp:grow(std::vector<int>&, bool):7" in folded, folded


@suite.test("a text without a tree is one line")
def broken():
    for name, text, words in (
            ("title", "Weight\tSelf Weight\t\tSymbol Name\n", "without costs"),
            ("word", "Weight\tSelf Weight\t\tSymbol Name\n1.0 s 5%\tx\t \tmain\n", "line 2"),
            ("mixed", "Weight\tSelf Weight\t\tSymbol Name\n1 s\t1 s\t \ta\n1 MB\t1 MB\t \tb\n", "line 3"),
            ("graph", SAMPLE[:SAMPLE.index("    368 Thread_779")], "has no stacks")):
        path = SCRATCH / f"{name}.txt"
        path.write_text(text)
        done = subprocess.run([FIZEAU, "replay", path], capture_output=True, text=True)
        assert done.returncode == 2 and words in done.stderr, (name, done.stderr)
        assert done.stderr.count("\n") == 1, done.stderr


try:
    suite.main()
finally:
    shutil.rmtree(SCRATCH, ignore_errors=True)
