#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every output of `fizeau replay` against what CPython 3.15's own replay makes of the same .bin.

Equal in every figure, but where CPython is wrong; each such case is named where it is compared:
see the comments that begin with "Ours". Recordings are those of tests/data/tachyon-diff, the
shared ones where they are there, and one that is made now with opcodes, threads and exceptions.
"""

import collections
import json
import marshal
import math
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from livelib import EXPECTED, FIZEAU, SHARED, SOURCE, Skip, Suite, Target, find_interpreter, fizeau, wait_until
from pages import Page
from sampled import looks

DATA = SOURCE / "tests" / "data" / "tachyon-diff"
VECTORS = SHARED / "profiles" / "formats" / "tachyon" / "vectors"
KEPT = [DATA / f"{name}.bin" for name in ("base", "head", "threads")]
SHARED_ONES = [VECTORS / f"{name}.bin" for name in ("small", "th1", "fib1", "r100", "deepbase")]

PROGRAM = """
import sys, threading, time, gc

class Node:
    def __init__(self): self.me = self

def trash(n):
    return [Node() for _ in range(n)]

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def handle(end):
    while time.monotonic() < end:
        try:
            raise ValueError("no")
        except ValueError:
            fib(12)

end = time.monotonic() + 0.8
workers = [threading.Thread(target=handle, args=(end,), name=f"pool ({i})") for i in range(2)]
for w in workers: w.start()
while time.monotonic() < end:
    trash(2000)
    gc.collect()
    time.sleep(0.01)
for w in workers: w.join()
"""

suite = Suite()
ENVIRONMENT = {**os.environ, "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}


# ---- both sides ----

def tachyon(python, *args):
    done = subprocess.run([*python.command, "-m", "profiling.sampling", *args],
                          capture_output=True, text=True, timeout=120, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def ours(*args):
    done = fizeau(*args, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def record(python, folder):
    """A recording of everything that a recording can hold."""
    script, out = pathlib.Path(folder) / "program.py", pathlib.Path(folder) / "fresh.bin"
    script.write_text(PROGRAM)
    tachyon(python, "run", "--binary", "-a", "--native", "--opcodes", "-r", "2khz",
            "-o", python.path(out), python.path(script))
    return out


def with_both(compare, source):
    """Call compare(python, folder, recording in it)."""
    python = find_interpreter("forky-3.15")
    with python.scratch() as folder:
        if source == "fresh":
            recording = record(python, folder)
        else:
            if not source.exists():
                raise Skip(f"{source} is not there")
            recording = shutil.copy(source, pathlib.Path(folder) / "x.bin")
        return compare(python, pathlib.Path(folder), recording)


# ---- collapsed ----

def compare_collapsed(python, folder, recording):
    out = folder / "theirs.txt"
    tachyon(python, "replay", "--collapsed", "-o", python.path(out), python.path(recording))
    text = ours("replay", "--collapsed", "-o", "-", recording)
    assert text == out.read_text(encoding="utf-8"), "collapsed text differs"
    return f"{len(text.splitlines())} stacks"


# ---- pstats, the file ----

def compare_pstats(python, folder, recording):
    out, mine = folder / "theirs.pstats", folder / "ours.pstats"
    tachyon(python, "replay", "--pstats", "-o", python.path(out), python.path(recording))
    theirs = marshal.loads(out.read_bytes())
    ours("replay", "--pstats", "--per-line", "-o", mine, recording)
    stats = marshal.loads(mine.read_bytes())
    assert theirs.pop(("__sampled__",)) is stats.pop(("__sampled__",)) is True
    assert stats.keys() == theirs.keys(), stats.keys() ^ theirs.keys()
    for key, (direct, cumulative, own, total, callers) in theirs.items():
        mine_direct, mine_cumulative, mine_own, mine_total, mine_callers = stats[key]
        assert (mine_direct, mine_cumulative) == (direct, cumulative), key
        assert math.isclose(mine_own, own, abs_tol=1e-12), key
        assert math.isclose(mine_total, total, abs_tol=1e-12), key
        # Ours says of each caller what cProfile does, not only how often.
        assert {k: v[1] for k, v in mine_callers.items()} == callers, key
    compare_functions(folder, recording, theirs)
    return f"{len(theirs)} lines"


def compare_functions(folder, recording, theirs):
    """Entries that are functions: what their lines have of their own, together."""
    file = folder / "functions.pstats"
    ours("replay", "--pstats", "-o", file, recording)
    own, callers = collections.Counter(), collections.defaultdict(collections.Counter)
    for (path, _, name), (direct, _, _, _, callers_of) in theirs.items():
        own[path, name] += direct
        for (caller, _, caller_name), count in callers_of.items():
            callers[path, name][caller, caller_name] += count
    seen = set()
    functions = marshal.loads(file.read_bytes())
    del functions[("__sampled__",)]
    for (path, _, name), (direct, cumulative, _, _, mine_callers) in functions.items():
        assert (path, name) not in seen, f"{name} twice"
        seen.add((path, name))
        assert direct == own[path, name], name
        assert cumulative >= direct
        assert {(k[0], k[2]): v[1] for k, v in mine_callers.items()} == callers[path, name], name
    assert seen == own.keys()


def pstats_loads(name):
    """The pstats of every Python at hand loads, sorts and prints the file of a program that ran on it,
    callers included; since 3.15 it speaks of samples."""
    python = find_interpreter(name)
    code = ("import pstats, sys\n"
            "s = pstats.Stats(sys.argv[1])\n"
            "s.strip_dirs().sort_stats('cumulative').print_stats()\n"
            "s.print_callers('parse'); s.print_callees('request')\n"
            "print('TOTAL', round(s.total_tt, 6), s.prim_calls)\n")
    with python.scratch() as folder:
        recording = pathlib.Path(folder) / "x.bin"
        content = bytearray((DATA / "base.bin").read_bytes())
        content[8:10] = python.version
        recording.write_bytes(content)
        for options in ([], ["--per-line"]):
            file = pathlib.Path(folder) / "x.pstats"
            ours("replay", recording, "--pstats", *options, "-o", file)
            done = subprocess.run([*python.command, "-c", code, python.path(file)],
                                  capture_output=True, text=True, timeout=60)
            assert done.returncode == 0, done.stderr
            assert "TOTAL 0.6015 1203" in done.stdout, done.stdout
            assert (" nsamples " in done.stdout) == (python.version >= (3, 15)), done.stdout
            assert re.search(r"program.py:\d+\(parse\).*\n?.*<-.*program.py:\d+\(request\)",
                             done.stdout), done.stdout


# ---- pstats, the text ----

ROW = re.compile(r"^ *(\d+)/(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)  (.+)$")


def table(text):
    """Rows of the table in order, and the names of its columns."""
    lines = text.split("\nLegend:")[0].splitlines()
    titles = next(line for line in lines if line.lstrip().startswith("nsamples"))
    return [m.groups() for m in map(ROW.match, lines) if m], titles.split("  ")


def same_row(mine, theirs):
    """Names and counts equal; what was rounded may differ in its last digit."""
    return all(a == b if i in (0, 1, 6) else
               abs(float(a) - float(b)) <= 1.01 * 10 ** -len(a.partition(".")[2])
               for i, (a, b) in enumerate(zip(mine, theirs)))


def compare_text(python, folder, recording):
    columns = {"nsamples": 0, "sample-pct": 0, "tottime": 0, "cumtime": 1, "cumul-pct": 1,
               "nsamples-cumul": 1, "name": None}
    for key, column in columns.items():
        theirs, their_titles = table(tachyon(python, "replay", "--pstats", "-l", "100000",
                                             "--sort", key, python.path(recording)))
        mine, titles = table(ours("replay", "--pstats", "--per-line", "-l", "100000", "--sort", key,
                                  recording))
        assert titles == their_titles, titles
        # Ours keeps apart what is the same name and line in two files; CPython adds it up.
        whole_path = {row[6].rsplit("/", 1)[-1] for row in mine if "/" in row[6].split("(")[0]}
        theirs = sorted(r for r in theirs if r[6] not in whole_path)
        same = sorted(r for r in mine if r[6].rsplit("/", 1)[-1] not in whole_path)
        assert len(same) == len(theirs) and all(map(same_row, same, theirs)), (same, theirs)
        if column is not None:
            order = [int(row[column]) for row in mine]
            assert order == sorted(order, reverse=True), f"{key}: {order}"
    return f"{len(mine)} rows"


def text_options(python, folder, recording):
    """Legend and headings are CPython's, to the letter; so is what --no-summary leaves out."""
    words = re.compile(r"^(Legend:|  \S+: .*|Summary.*:|Functions with .*:|Profile Stats:)$", re.M)
    for options in ([], ["--no-summary"]):
        text = tachyon(python, "replay", "--pstats", *options, python.path(recording))
        theirs = words.findall(text[text.index("Profile Stats:"):])
        assert words.findall(ours("replay", "--pstats", *options, recording)) == theirs, theirs
    assert len(table(ours("replay", "--pstats", "-l", "2", recording))[0]) == 2


# ---- jsonl ----

def positions(text):
    """{position: (self, cumulative)} of CPython's records, and the other records."""
    strings, frames, costs, rest = {}, {}, {}, []
    for line in text.splitlines():
        record_ = json.loads(line)
        assert record_["v"] == 0 and re.fullmatch(r"[0-9a-f]{32}", record_.pop("run_id"))
        kind = record_["type"]
        if kind == "string_table":
            assert len(record_["strings"]) <= 256
            strings.update((s["str_id"], s["value"]) for s in record_["strings"])
        elif kind == "frame_table":
            for f in record_["frames"]:
                frames[f["frame_id"]] = (
                    strings[f["path_str_id"]], strings[f["func_str_id"]], f["line"],
                    f.get("end_line"), f.get("col"), f.get("end_col"))
        elif kind == "agg":
            for e in record_.pop("entries"):
                costs[frames[e["frame_id"]]] = (e["self"], e["cumulative"])
            if record_ not in rest:
                rest.append(record_)
        else:
            rest.append(record_)
    assert len(costs) == len(frames)
    return costs, rest


def compare_jsonl(python, folder, recording):
    out = folder / "theirs.jsonl"
    tachyon(python, "replay", "--jsonl", "-o", python.path(out), python.path(recording))
    theirs, their_rest = positions(out.read_text(encoding="utf-8"))
    text = ours("replay", "--jsonl", "-o", "-", recording)
    mine, rest = positions(text)
    assert mine == theirs, "costs differ"
    # Ours says how the samples were taken, which CPython's replay forgets.
    rest[0].pop("mode", None)
    their_rest[0].pop("mode", None)
    assert rest == their_rest, (rest, their_rest)
    assert text == ours("replay", "--jsonl", "-o", "-", recording), "not the same twice"
    return f"{len(mine)} positions"


# ---- gecko ----

def gecko_threads(profile):
    """Of each thread: samples of every stack by its frames, their times, and its markers."""
    strings, threads = profile["shared"]["stringArray"], {}
    for t in profile["threads"]:
        frames, functions, stacks = t["frameTable"], t["funcTable"], t["stackTable"]
        for name in ("samples", "stackTable", "frameTable", "funcTable", "resourceTable",
                     "nativeSymbols", "markers"):
            for key, values in t[name].items():
                assert not isinstance(values, list) or len(values) == t[name]["length"], key
        paths = []
        for frame, prefix in zip(stacks["frame"], stacks["prefix"]):
            assert prefix is None or prefix < len(paths), "a caller comes before what it calls"
            path = () if prefix is None else paths[prefix]
            function = frames["func"][frame]
            paths.append((*path, (strings[functions["name"][function]], frames["line"][frame],
                                  frames["column"][frame])))
        assert t["samples"]["time"] == sorted(t["samples"]["time"])
        markers = t["markers"]
        threads[t["tid"]] = {
            "stacks": collections.Counter(paths[s] for s in t["samples"]["stack"]),
            "times": t["samples"]["time"],
            "main": t["isMainThread"],
            "markers": sorted(zip((strings[n] for n in markers["name"]), markers["startTime"],
                                  markers["endTime"], markers["category"])),
        }
    return threads


def round_markers(markers, offset):
    """(name, begin, category), end, and whether it is open at the end. That is in ours the time of the
    last sample, in CPython's that of the last one in the file, where threads are not in order of
    time; so one that ends then may be open in one of them only."""
    last = max(end for name, _, end, _ in markers if name.endswith("Exception"))
    return [((name, round(start - offset, 3), category), round(end - offset, 3), end == last)
            for name, start, end, category in markers]


def compare_gecko(python, folder, recording):
    out, mine = folder / "theirs.json", folder / "ours.json"
    tachyon(python, "replay", "--gecko", "-o", python.path(out), python.path(recording))
    ours("replay", "--gecko", "-o", mine, recording)
    theirs, mine = (json.loads(file.read_text(encoding="utf-8")) for file in (out, mine))
    for key in ("version", "preprocessedProfileVersion", "categories"):
        assert mine["meta"][key] == theirs["meta"][key], key
    theirs, mine = gecko_threads(theirs), gecko_threads(mine)
    assert mine.keys() == theirs.keys()
    # Ours counts time from the start of the recording, CPython from its first sample.
    offset = min(start for t in mine.values() for _, start, _, _ in t["markers"])
    for tid, thread in theirs.items():
        assert mine[tid]["stacks"] == thread["stacks"], f"samples of {tid}"
        assert [round(t - offset, 3) for t in mine[tid]["times"]] == \
            [round(t, 3) for t in thread["times"]], f"times of {tid}"
        compare_markers(mine[tid]["markers"], thread["markers"], offset)
    assert sum(t["main"] for t in mine.values()) == 1
    return f"{len(mine)} threads, {sum(len(t['markers']) for t in mine.values())} markers"


def compare_markers(mine, theirs, offset):
    # Ours does not say whether a thread ran on a CPU where nobody looked; CPython calls it off.
    theirs = [m for m in theirs if m[0] not in ("On CPU", "Off CPU")]
    mine = [m for m in mine if m[0] not in ("On CPU", "Off CPU")]
    # Ours has instructions; CPython's replay forgets that they were recorded.
    opcodes = 7
    assert all(re.match(r"[A-Z]", name) for name, _, _, kind in mine if kind == opcodes)
    mine = [m for m in mine if m[3] != opcodes]
    assert not [m for m in theirs if m[3] == opcodes]
    mine, theirs = round_markers(mine, offset), round_markers(theirs, 0)
    assert [m[0] for m in mine] == [m[0] for m in theirs], set(mine) ^ set(theirs)
    for ours_is, theirs_is in zip(mine, theirs):
        assert ours_is[1] == theirs_is[1] or (ours_is[2] and theirs_is[2]), (ours_is, theirs_is)


# ---- heat map ----

# What CPython's own collector counts; its pages need the source files, which may be gone.
COUNT_LINES = """
import json, sys
from profiling.sampling.binary_reader import BinaryReader
from profiling.sampling.heatmap_collector import HeatmapCollector
heat = HeatmapCollector(1000)
with BinaryReader(sys.argv[1]) as reader:
    reader.replay_samples(heat, None)
json.dump({
    "lines": [[*key, heat.line_self_samples[key], n] for key, n in heat.line_samples.items()],
    "calls": [[*caller, *callee] for caller, callee in heat.edge_samples],
    "opcodes": [[*key, op, data["count"]] for key, ops in heat.line_opcodes.items()
                for op, data in ops.items()],
}, sys.stdout)
"""


def compare_heatmap(python, folder, recording):
    done = subprocess.run([*python.command, "-c", COUNT_LINES, python.path(recording)],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    theirs = json.loads(done.stdout)
    ours("replay", "--heatmap", "-o", folder / "heat.html", recording)
    page = Page((folder / "heat.html").read_text(encoding="utf-8"))
    interval = page.header["head"]["interval_ns"]
    files = page["file.path"]
    of_line = [file for file, n in zip(files, page["file.lines.head"]) for _ in range(n)]
    mine = {(file, line): (own // interval, total // interval) for file, line, own, total in
            zip(of_line, page["line.number.head"], page["line.self.head"],
                page["line.total.head"])}
    assert len(mine) == len(of_line), "a line twice"
    # Ours has frozen modules too, and no lines of markers, which are in no file.
    wanted = {(file, line): (own, total) for file, line, own, total in theirs["lines"]
              if file != "~" and line > 0}
    assert {key: cost for key, cost in mine.items() if not key[0].startswith("<")} == wanted
    names = page["function.name"]
    calls = {(files[file], line, files[page_file]) for file, line, page_file in zip(
        page["call.file"], page["call.line"],
        [page["function.file"][callee] for callee in page["call.callee"]])}
    for caller, line, callee, _ in theirs["calls"]:
        if caller.startswith("<") or "~" in (caller, callee) or line <= 0:
            continue
        assert (caller, line, callee) in calls, (caller, line, callee)
    compare_opcodes(page, files, interval, theirs["opcodes"])
    return f"{len(wanted)} lines, {len(names)} functions"


def compare_opcodes(page, files, interval, theirs):
    """Instructions: a sample counts once for each. CPython counts it again in recursion."""
    mine = collections.Counter()
    for file, line, total in zip(page["op.file"], page["op.line"], page["op.total"]):
        mine[files[file], line] += total // interval
    for file, line, _, count in theirs:
        if file != "~" and not file.startswith("<") and line > 0:
            assert 0 < mine[file, line], (file, line)
    totals = collections.Counter()
    for file, line, _, count in theirs:
        totals[file, line] += count
    assert all(mine[key] <= totals[key] for key in mine if not key[0].startswith("<"))


COMPARISONS = {
    "collapsed": compare_collapsed,
    "pstats file": compare_pstats,
    "pstats text": compare_text,
    "words of the text": text_options,
    "jsonl": compare_jsonl,
    "gecko": compare_gecko,
    "heat map": compare_heatmap,
}

for _name, _compare in COMPARISONS.items():
    for _source in (*KEPT, *SHARED_ONES, "fresh"):
        label = _source if _source == "fresh" else _source.name
        suite.add(f"{_name} of {label}", with_both, _compare, _source)
for _interpreter in EXPECTED:
    suite.add(f"pstats of {_interpreter} loads the file", pstats_loads, _interpreter)



def attached(target_looks):
    """Of a program with three threads, until the recorder looked so often: (process, profile)."""
    python = find_interpreter("debian-3.11")
    code = PROGRAM.replace("0.8", "1000").replace("trash(2000)\n", "trash(2000)\n    print('up', flush=True)\n", 1)
    with tempfile.TemporaryDirectory() as folder, Target(python, code) as target:
        with subprocess.Popen([FIZEAU, "attach", "-a", "--gecko", str(target.pid)], cwd=folder,
                              stderr=subprocess.PIPE, text=True) as recorder:
            wait_until(lambda: looks(recorder.pid) > target_looks, "a look")
            target.process.kill()
            said = recorder.communicate(timeout=100)[1]
        assert recorder.returncode == 0, said
        file = pathlib.Path(folder) / f"gecko_{target.pid}.json"
        return target.pid, json.loads(file.read_text(encoding="utf-8"))


@suite.test("attach --gecko marks the true main thread")
def _():
    pid, profile = attached(200)
    threads = gecko_threads(profile)
    assert {tid: t["main"] for tid, t in threads.items() if t["main"]} == {pid: True}
    assert {t["pid"] for t in profile["threads"]} == {str(pid)}
    names = {name for t in threads.values() for name, *_ in t["markers"]}
    assert names & {"Has GIL", "No GIL"} and names & {"On CPU", "Off CPU"}, names


@suite.test("attach --gecko marks what threads were doing")
def _():
    threads = gecko_threads(attached(600)[1])
    names = {name for t in threads.values() for name, *_ in t["markers"]}
    assert {"Has GIL", "No GIL", "On CPU", "Off CPU"} <= names, names
    return f"{len(threads)} threads"


if __name__ == "__main__":
    suite.main()
