#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings of Java's Flight Recorder: Fizeau reads the figures that the JDK prints.

The files and the JDK's figures of them are kept in tests/data/jfr; where a JDK is at hand, new ones
are made and compared, too.
"""

import collections
import gzip
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from livelib import FIZEAU, SHARED, SOURCE, Skip, Suite
from wire import fields, numbers

DATA = SOURCE / "tests/data/jfr"
sys.path.insert(0, str(DATA))
sys.dont_write_bytecode = True
import figures  # noqa: E402
import jfr_chunk as chunk  # noqa: E402

SCRATCH = pathlib.Path(tempfile.mkdtemp(prefix="fizeau-jfr-"))
# None of async-profiler's events has the period of its samples.
INTERVALS = {"cpu": 10_000_000, "wall": 50_000_000}
suite = Suite()


def replay(path, *options):
    done = subprocess.run([FIZEAU, "replay", *options, str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def same(got, expected, what, slack=0):
    assert abs(got - expected) <= slack, f"{what}: {got} instead of {expected}"


def report_of(path, *metric):
    """Its JSON; the total is of all samples, also of those without a stack."""
    document = json.loads(replay(path, "--format", "json", "-o", "-", *(f"--metric={m}" for m in metric)))
    document["total"] += document.get("stackless_total", 0)
    return document


def metrics_of(path):
    """The available metrics, as listed when another one is requested."""
    done = subprocess.run([FIZEAU, "replay", "--metric=none", path], capture_output=True, text=True)
    return set(done.stderr.partition("it has ")[2].strip().split(", "))


def lines_of(path, metric):
    """What each innermost function:line costs, by way of pprof."""
    written = SCRATCH / "lines.pb"
    replay(path, "--format", "pprof", "-o", str(written))
    data = written.read_bytes()
    strings, types, names, places, out = [], [], {}, {}, collections.Counter()
    message = list(fields(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data))
    for field, value in message:
        if field == 6:
            strings.append(value.decode())
        elif field == 1:
            types.append(dict(fields(value))[1])
        elif field == 5:
            names[dict(fields(value))[1]] = dict(fields(value)).get(2, 0)
        elif field == 4:
            location = dict(fields(value))
            line = dict(fields(location[4]))
            places[location[1]] = (line[1], line.get(2, 0))
    of = [strings[t] for t in types].index(metric)
    for field, value in message:
        if field == 2:
            ids = [n for f, v in fields(value) if f == 1 for n in numbers(v)]
            values = [n for f, v in fields(value) if f == 2 for n in numbers(v)]
            if ids:
                function, line = places[ids[0]]
                out[f"{strings[names[function]]}:{line}"] += values[of]
    return out


def compare(path, told, scale=None):
    """Each metric: total, functions, lines, threads. Durations are printed rounded by the JDK."""
    scale = scale or {}
    assert metrics_of(path) == set(told), (metrics_of(path), set(told))
    for metric, expected in told.items():
        report = report_of(path, metric)
        n = scale.get(metric, 1)
        slack = 2 * expected["events"] if report["unit"] == "ns" else 0
        same(report["total"], expected["total"] * n, f"total of {metric}", slack)
        for key, which in (("self", "self"), ("with", "total")):
            got = {f["name"]: 0 for f in report["functions"]}
            for f in report["functions"]:
                got[f["name"]] += f[which]
            for name, value in expected[key].items():
                same(got.get(name, 0), value * n, f"{metric}, {key}: {name}", slack)
        cut = sum(f["total"] for f in report["functions"] if f["name"] == "[truncated]")
        same(cut, expected["cut"] * n, f"{metric}: stacks that were cut", slack)


@suite.test("no JDK needed: recordings of OpenJDK 17, 25 and async-profiler equal the output of 'jfr'")
def kept():
    for name in ("jdk17", "jdk25", "async"):
        told = json.loads((DATA / f"{name}.json").read_text())
        compare(DATA / f"{name}.jfr.gz", told, INTERVALS if name == "async" else None)


@suite.test("threads and lines equal the output of 'jfr'; the recording has its length")
def threads():
    for name, metric in (("jdk17", "samples"), ("async", "cpu")):
        path = DATA / f"{name}.jfr.gz"
        told = json.loads((DATA / f"{name}.json").read_text())[metric]
        report = report_of(path)
        assert 500_000_000 < report["facts"]["duration_ns"] < 5_000_000_000, report["facts"]
        assert report["facts"]["interval_ns"] == 10_000_000, report["facts"]
        lines = lines_of(path, metric)
        scale = INTERVALS["cpu"] if metric == "cpu" else 1
        for thread, n in told["threads"].items():
            of = json.loads(replay(path, "--thread", thread, "--format", "json", "-o", "-"))
            same(of["total"], n * scale, f"{name}: thread {thread}")
        for place, n in told["lines"].items():
            function, line = place.rsplit(":", 1)
            if line != "0":
                same(lines[place], n * scale, f"{name}: {place}")


@suite.test("each metric has its unit, and the recording its program")
def units():
    path = DATA / "async.jfr.gz"
    got = {metric: report_of(path, metric)["unit"] for metric in metrics_of(path)}
    assert got == {"cpu": "ns", "wall": "ns", "allocated": "bytes", "live": "bytes",
                   "malloc": "bytes", "blocked": "ns"}, got
    report = report_of(path)
    assert report["metric"] == "cpu", report["metric"]
    assert report["facts"]["command"] == "Work 1000", report["facts"]
    # Events of other metrics are not samples of this one.
    told = json.loads((DATA / "async.json").read_text())
    for metric, of in told.items():
        if metric != "wall":
            events = of["events"]
            assert replay(path, f"--metric={metric}").startswith(f"{events} sample"), metric
            assert f"Sampling: {events} sample" in replay(path, f"--metric={metric}"), metric


@suite.test("a truncated recording keeps its beginning; two in a row are one")
def broken():
    data = gzip.decompress((DATA / "jdk17.jfr.gz").read_bytes())
    both, cut, short = (SCRATCH / name for name in ("both.jfr", "cut.jfr", "short.jfr"))
    both.write_bytes(data * 2)
    told = json.loads((DATA / "jdk17.json").read_text())
    compare(both, {m: {**t, "total": 2 * t["total"], "cut": 2 * t["cut"], "events": 2 * t["events"],
                       "self": {k: 2 * v for k, v in t["self"].items()},
                       "with": {k: 2 * v for k, v in t["with"].items()}} for m, t in told.items()})
    cut.write_bytes(data + data[:len(data) // 2])
    report = report_of(cut)
    assert report["total"] >= told["samples"]["total"], report["total"]
    assert report["facts"]["dropped_bytes"] > 0, report["facts"]
    short.write_bytes(data[:2000])
    done = subprocess.run([FIZEAU, "replay", short], capture_output=True, text=True)
    assert done.returncode == 2 and "unfinished or damaged" in done.stderr, done.stderr


def made(name, data):
    path = SCRATCH / f"{name}.jfr"
    path.write_bytes(data)
    return path


HAND = {"a.B.größe(int[][], String, boolean)": 2, "app.Main$$Lambda.run()": 0, "poll": 1,
        "int[].run()": 0, "sun.GeneratedMethodAccessor.run()": 1, "[lost stack]": 1,
        "[truncated]": 0}


@suite.test("by hand: integers of two kinds and texts of four, hidden classes, virtual threads")
def hand():
    for packed in (True, False):
        for kind in ("utf8", "utf16", "latin1"):
            path = made("hand", chunk.Writer(packed, kind).chunk(chunk.POOLS, chunk.EVENTS))
            report = report_of(path)
            assert report["total"] == 6 and report["unit"] == "count", report["total"]
            assert report["facts"]["interval_ns"] == 20_000_000, report["facts"]
            got = {f["name"]: f["self"] for f in report["functions"]}
            assert got == HAND, (packed, kind, got)
            for thread, n in (("worker", 4), ("virtual threads", 2)):
                of = json.loads(replay(path, "--thread", thread, "--format", "json", "-o", "-"))
                assert of["total"] + of.get("stackless_total", 0) == n, (thread, of["total"])


def settings(*pairs):
    return [(chunk.SETTING, (500, chunk.SAMPLE, *pair)) for pair in pairs]


@suite.test("by hand: async-profiler's settings determine a sample's meaning")
def hand_settings():
    samples = [(chunk.SAMPLE, (1000, 60, 50, 71)), (chunk.SAMPLE, (1000, 60, 51, 70))]
    for pairs, told in (
            ((("event", "cpu"), ("interval", "2000000")), {"cpu": 2_000_000, "samples": 1}),
            ((("event", "cpu"), ("interval", "0"), ("wall", "3000000")),
             {"cpu": 10_000_000, "wall": 3_000_000}),
            ((("event", "wall"), ("interval", "7000000")), {"samples": 1, "wall": 7_000_000}),
            ((("event", "wall"), ("interval", "0")), {"samples": 1, "wall": 50_000_000}),
            ((("event", "cache-misses"), ("interval", "0")), {"samples": 2})):
        path = made("settings", chunk.Writer().chunk(chunk.POOLS, settings(*pairs) + samples))
        got = {metric: report_of(path, metric)["total"] for metric in metrics_of(path)}
        assert got == told, (pairs, got)
    assert "samples are of 'cache-misses'" in " ".join(replay(path).split()), replay(path)


@suite.test("by hand: unfinished chunks, other versions, and costly ones")
def hand_hostile():
    write = chunk.Writer()
    unfinished = made("unfinished", write.chunk(chunk.POOLS, chunk.EVENTS, size=0))
    assert report_of(unfinished)["total"] == 6
    deep = {**chunk.CLASSES, chunk.SAMPLE: ("jdk.ExecutionSample", (("deep", chunk.SAMPLE, 0, 0),)),
            chunk.TYPE: ("jdk.types.FrameType", (("a", chunk.TYPE, 0, 0), ("b", chunk.TYPE, 0, 0)))}
    for name, data, words in (
            ("version", write.chunk({}, [], major=1), "version 1"),
            ("deep", write.chunk(chunk.POOLS, chunk.EVENTS, classes=deep), "damaged"),
            ("empty", write.chunk(chunk.POOLS, []), "no samples"),
            ("head", write.chunk(chunk.POOLS, chunk.EVENTS)[:68], "damaged")):
        done = subprocess.run([FIZEAU, "replay", made(name, data)], capture_output=True, text=True,
                              timeout=60)
        assert done.returncode == 2 and words in done.stderr, (name, done)
        assert done.stderr.count("\n") == 1, done.stderr


@suite.test("a recording made now equals the output of 'jfr'")
def now():
    if not (shutil.which("javac") and shutil.which("jfr")):
        raise Skip("no JDK is here")
    path = SCRATCH / "now.jfr"
    subprocess.run(["javac", "-d", SCRATCH, DATA / "Work.java"], check=True)
    subprocess.run(["java", f"-XX:StartFlightRecording=filename={path},settings=profile",
                    "-cp", SCRATCH, "Work", "1000"], check=True, capture_output=True)
    compare(path, figures.figures(path))


@suite.test("recordings among the shared profiles are read")
def shared():
    found = sorted((SHARED / "profiles").glob("**/*.jfr*"))
    if not found:
        raise Skip("the shared reference profiles hold none")
    for path in found:
        replay(path)


try:
    suite.main()
finally:
    shutil.rmtree(SCRATCH, ignore_errors=True)
