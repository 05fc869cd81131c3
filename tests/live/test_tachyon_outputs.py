#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every output of `fizeau replay` against what CPython 3.15's own replay makes of the same .bin.

Equal in every figure, but where CPython is wrong; each such case is named where it is compared:
see the comments that begin with "Ours". Recordings are those of tests/data/tachyon-diff, the
shared ones where they are there, and one that is made now with opcodes, threads and exceptions.

CPython's answers for the recordings in tests/data/tachyon-diff and tests/data/tachyon are kept beside
them, in NAME.outputs.json.gz, reduced to what is compared; with each stands the version that gave it.
The cases "kept: ..." compare our outputs with those and need no CPython 3.15; the cases "unchanged in
Tachyon: ..." report a CPython that answers otherwise. FZ_UPDATE=1 lets the latter write the answers anew.
"""

import collections
import gzip
import json
import marshal
import math
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from livelib import EXPECTED, FIZEAU, SHARED, SOURCE, Skip, Suite, Target, find_interpreter, fizeau
from pages import Page
from watching import wait_for_samples

DATA = SOURCE / "tests" / "data" / "tachyon-diff"
VECTORS = SHARED / "profiles" / "formats" / "tachyon" / "vectors"
KEPT = [DATA / f"{name}.bin" for name in ("base", "head", "threads")]
# Smaller ones, made with other options; answers for these are kept as well.
SMALL = [SOURCE / "tests" / "data" / "tachyon" / f"{name}.bin"
         for name in ("plain", "slow", "cpu", "raw", "opcodes", "deep", "threads")]
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


def through_json(answer):
    """As it would be read from a file: all sequences are lists."""
    return json.loads(json.dumps(answer))


def with_both(output, source):
    """Ask CPython for its answer about a recording and compare ours with it."""
    python = find_interpreter("forky-3.15")
    with python.scratch() as folder:
        if source == "fresh":
            recording = record(python, folder)
        else:
            if not source.exists():
                raise Skip(f"{source} is not there")
            recording = shutil.copy(source, pathlib.Path(folder) / "x.bin")
        answer = through_json(output.ask(python, pathlib.Path(folder), recording))
        return output.compare(answer, pathlib.Path(folder), recording)


# ---- what is kept ----

def kept_file(source):
    return source.with_suffix(".outputs.json.gz")


def kept_answers(source):
    """{output: {"version" of the CPython that answered, "answer"}} of a recording."""
    with gzip.open(kept_file(source), "rt", encoding="utf-8") as file:
        return json.load(file)


def keep(source, name, version, answer):
    kept = kept_answers(source) if kept_file(source).exists() else {}
    kept[name] = {"version": version, "answer": answer}
    text = json.dumps(kept, separators=(",", ":"), sort_keys=True).encode()
    kept_file(source).write_bytes(gzip.compress(text, mtime=0))


def compare_with_kept(name, source):
    with tempfile.TemporaryDirectory() as folder:
        return OUTPUTS[name].compare(kept_answers(source)[name]["answer"], pathlib.Path(folder), source)


def oracle_has_not_changed(name, source):
    python = find_interpreter("forky-3.15")
    with python.scratch() as folder:
        recording = shutil.copy(source, pathlib.Path(folder) / "x.bin")
        now = through_json(OUTPUTS[name].ask(python, pathlib.Path(folder), recording))
    version = subprocess.run([*python.command, "-c", "import platform; print(platform.python_version())"],
                             capture_output=True, text=True, timeout=60, check=True).stdout.strip()
    if os.environ.get("FZ_UPDATE"):
        keep(source, name, version, now)
    kept = kept_answers(source)[name]
    assert now == kept["answer"], \
        f"CPython {version} answers otherwise than {kept['version']} did: look before FZ_UPDATE=1"


# For each output: what CPython answers, reduced to what is compared, and the comparison of ours with it.

# ---- collapsed ----

def ask_collapsed(python, folder, recording):
    out = folder / "theirs.txt"
    tachyon(python, "replay", "--collapsed", "-o", python.path(out), python.path(recording))
    return out.read_text(encoding="utf-8")


def compare_collapsed(theirs, _folder, recording):
    text = ours("replay", "--collapsed", "-o", "-", recording)
    assert text == theirs, "collapsed text differs"
    return f"{len(text.splitlines())} stacks"


# ---- pstats, the file ----

def ask_pstats(python, folder, recording):
    """[(file, line, name), its four figures, [[caller, samples]]] of all entries."""
    out = folder / "theirs.pstats"
    tachyon(python, "replay", "--pstats", "-o", python.path(out), python.path(recording))
    stats = marshal.loads(out.read_bytes())
    assert stats.pop(("__sampled__",)) is True
    return [[key, figures, sorted(callers.items())] for key, (*figures, callers) in sorted(stats.items())]


def compare_pstats(answer, folder, recording):
    theirs = {tuple(key): (*figures, {tuple(caller): n for caller, n in callers})
              for key, figures, callers in answer}
    mine = folder / "ours.pstats"
    ours("replay", "--pstats", "--per-line", "-o", mine, recording)
    stats = marshal.loads(mine.read_bytes())
    assert stats.pop(("__sampled__",)) is True
    assert stats.keys() == theirs.keys(), stats.keys() ^ theirs.keys()
    for key, (direct, cumulative, own, total, callers) in theirs.items():
        mine_direct, mine_cumulative, mine_own, mine_total, mine_callers = stats[key]
        assert (mine_direct, mine_cumulative) == (direct, cumulative), key
        assert math.isclose(mine_own, own, abs_tol=1e-12), key
        assert math.isclose(mine_total, total, abs_tol=1e-12), key
        # Ours stores the costs of each caller like cProfile, not only the number of calls.
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


# By which of its figures a table is sorted.
COLUMNS = {"nsamples": 0, "sample-pct": 0, "tottime": 0, "cumtime": 1, "cumul-pct": 1,
           "nsamples-cumul": 1, "name": None}


def ask_text(python, _folder, recording):
    """{--sort: (rows, titles)}"""
    return {key: table(tachyon(python, "replay", "--pstats", "-l", "100000", "--sort", key,
                               python.path(recording)))
            for key in COLUMNS}


def compare_text(answer, _folder, recording):
    for key, column in COLUMNS.items():
        theirs, their_titles = answer[key]
        mine, titles = table(ours("replay", "--pstats", "--per-line", "-l", "100000", "--sort", key,
                                  recording))
        assert titles == their_titles, titles
        # Ours keeps apart what is the same name and line in two files; CPython adds it up.
        whole_path = {row[6].rsplit("/", 1)[-1] for row in mine if "/" in row[6].split("(")[0]}
        theirs = sorted(tuple(r) for r in theirs if r[6] not in whole_path)
        same = sorted(r for r in mine if r[6].rsplit("/", 1)[-1] not in whole_path)
        assert len(same) == len(theirs) and all(map(same_row, same, theirs)), (same, theirs)
        if column is not None:
            order = [int(row[column]) for row in mine]
            assert order == sorted(order, reverse=True), f"{key}: {order}"
    return f"{len(mine)} rows"


WORDS = re.compile(r"^(Legend:|  \S+: .*|Summary.*:|Functions with .*:|Profile Stats:)$", re.M)


def ask_words(python, _folder, recording):
    """Of the whole text and of that with --no-summary."""
    texts = [tachyon(python, "replay", "--pstats", *options, python.path(recording))
             for options in ([], ["--no-summary"])]
    return [WORDS.findall(text[text.index("Profile Stats:"):]) for text in texts]


def compare_words(answer, _folder, recording):
    """Legend and headings are CPython's, to the letter; so is what --no-summary leaves out."""
    for options, theirs in zip(([], ["--no-summary"]), answer, strict=True):
        assert WORDS.findall(ours("replay", "--pstats", *options, recording)) == theirs, theirs
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


def ask_jsonl(python, folder, recording):
    """[[position, costs]] and the other records."""
    out = folder / "theirs.jsonl"
    tachyon(python, "replay", "--jsonl", "-o", python.path(out), python.path(recording))
    costs, rest = positions(out.read_text(encoding="utf-8"))
    rest[0].pop("mode", None)
    return [*costs.items()], rest


def compare_jsonl(answer, _folder, recording):
    theirs = {tuple(key): tuple(cost) for key, cost in answer[0]}
    text = ours("replay", "--jsonl", "-o", "-", recording)
    mine, rest = positions(text)
    assert mine == theirs, "costs differ"
    # Ours states how the samples were taken, which CPython's replay loses.
    rest[0].pop("mode", None)
    assert rest == answer[1], (rest, answer[1])
    assert text == ours("replay", "--jsonl", "-o", "-", recording), "not the same twice"
    return f"{len(mine)} positions"


# ---- gecko ----

def gecko_threads(profile):
    """For each thread: the samples of each stack by its frames, their times, and the markers."""
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


META = "version", "preprocessedProfileVersion", "categories"


def ask_gecko(python, folder, recording):
    """The contents of `meta`, and [number, [[stack, samples]], times, markers] of all threads."""
    out = folder / "theirs.json"
    tachyon(python, "replay", "--gecko", "-o", python.path(out), python.path(recording))
    profile = json.loads(out.read_text(encoding="utf-8"))
    return {key: profile["meta"][key] for key in META}, [
        [tid, [*t["stacks"].items()], [round(time, 3) for time in t["times"]], without_cpu(t["markers"])]
        for tid, t in gecko_threads(profile).items()]


def compare_gecko(answer, folder, recording):
    meta, threads = answer
    file = folder / "ours.json"
    ours("replay", "--gecko", "-o", file, recording)
    mine = json.loads(file.read_text(encoding="utf-8"))
    for key in META:
        assert mine["meta"][key] == meta[key], key
    mine = gecko_threads(mine)
    assert sorted(mine) == sorted(thread[0] for thread in threads)
    # Ours counts time from the start of the recording, CPython from its first sample.
    offset = min(start for t in mine.values() for _, start, _, _ in t["markers"])
    for tid, stacks, times, markers in threads:
        stacks = {tuple(map(tuple, stack)): n for stack, n in stacks}
        assert mine[tid]["stacks"] == stacks, f"samples of {tid}"
        assert [round(t - offset, 3) for t in mine[tid]["times"]] == times, f"times of {tid}"
        compare_markers(without_cpu(mine[tid]["markers"]), markers, offset)
    assert sum(t["main"] for t in mine.values()) == 1
    return f"{len(mine)} threads, {sum(len(t['markers']) for t in mine.values())} markers"


def without_cpu(markers):
    # Ours states nothing about CPU use that was not sampled; CPython calls such a thread off-CPU.
    return [m for m in markers if m[0] not in ("On CPU", "Off CPU")]


def compare_markers(mine, theirs, offset):
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
from profiling.sampling.opcode_utils import format_opcode
heat = HeatmapCollector(1000)
with BinaryReader(sys.argv[1]) as reader:
    reader.replay_samples(heat, None)
json.dump({
    "lines": [[*key, heat.line_self_samples[key], n] for key, n in heat.line_samples.items()],
    "calls": [[*caller, callee[0], n] for (caller, callee), n in heat.edge_samples.items()],
    "opcodes": [[*key, format_opcode(op), data["count"]] for key, ops in heat.line_opcodes.items()
                for op, data in ops.items()],
}, sys.stdout)
"""


def ask_heatmap(python, _folder, recording):
    """[file, line, its own samples, all] of lines, [file, line, file of what it calls, samples] and
    [file, line, instruction, samples]."""
    done = subprocess.run([*python.command, "-c", COUNT_LINES, python.path(recording)],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    # Ours has frozen modules too, and no lines of markers, which are in no file.
    kept = {kind: [row for row in rows if row[0] != "~" and not row[0].startswith("<") and row[1] > 0]
            for kind, rows in json.loads(done.stdout).items()}
    files, calls = {file for file, *_ in kept["lines"]}, collections.Counter()
    for caller, line, callee, samples in kept["calls"]:
        if callee in files:
            calls[caller, line, callee] += samples
    return {"lines": sorted(kept["lines"]), "opcodes": sorted(kept["opcodes"]),
            "calls": sorted([*call, samples] for call, samples in calls.items())}


def compare_heatmap(theirs, folder, recording):
    ours("replay", "--heatmap", "-o", folder / "heat.html", recording)
    page = Page((folder / "heat.html").read_text(encoding="utf-8"))
    interval, files = page.header["head"]["recording"]["interval_ns"], page.files()
    mine = {place: (own // interval, total // interval) for place, (own, total) in page.lines("head").items()}
    wanted = {(file, line): (own, total) for file, line, own, total in theirs["lines"]}
    shown = {file for file, _ in wanted}
    assert {key: cost for key, cost in mine.items() if key[0] != "~" and not key[0].startswith("<")
            and key[1] > 0} == wanted
    calls, opcodes, open_until = collections.Counter(), collections.Counter(), {}
    for i, (caller, line, callee, cost, end) in enumerate(page.calls()):
        key = files[caller] if caller >= 0 else "", line, callee
        if i < open_until.get(key, 0) or not {key[0], files[callee]} <= shown:
            continue
        open_until[key] = end
        calls[key[0], line, files[callee]] += cost // interval
    names = [f"{name} ({base})" if base != name else name for name, base in page.header.get("opcodes", [])]
    functions, at = page.nodes()[0], 1
    for step, line, name, total in zip(page["op.node"], page["op.line"], page["op.name"], page["op.total.head"]):
        at += step
        if files[functions[at]] in shown:
            opcodes[files[functions[at]], line, names[name]] += total // interval
    compare_once(calls, theirs["calls"], {line: total - own for line, (own, total) in wanted.items()})
    compare_once(opcodes, theirs["opcodes"], {line: total for line, (_, total) in wanted.items()})
    return f"{len(wanted)} lines, {len(files)} functions"


def compare_once(mine, theirs, samples):
    """What a line calls, or its instructions. Ours counts a sample once for each; CPython counts it again
    in recursion. Where it did not, the line's figures add up to its samples, and ours are the same."""
    theirs = {tuple(key): count for *key, count in theirs}
    assert mine.keys() == theirs.keys(), mine.keys() ^ theirs.keys()
    sums = collections.Counter()
    for (file, line, _), count in theirs.items():
        sums[file, line] += count
    for key, count in theirs.items():
        if sums[key[:2]] == samples.get(key[:2]):
            assert mine[key] == count, (key, mine[key], count)
        assert 0 < mine[key] <= count, (key, mine[key], count)


Output = collections.namedtuple("Output", "ask compare")
OUTPUTS = {
    "collapsed": Output(ask_collapsed, compare_collapsed),
    "pstats file": Output(ask_pstats, compare_pstats),
    "pstats text": Output(ask_text, compare_text),
    "words of the text": Output(ask_words, compare_words),
    "jsonl": Output(ask_jsonl, compare_jsonl),
    "gecko": Output(ask_gecko, compare_gecko),
    "heat map": Output(ask_heatmap, compare_heatmap),
}

for _name, _output in OUTPUTS.items():
    for _source in (*KEPT, *SHARED_ONES, "fresh"):
        label = _source if _source == "fresh" else _source.name
        suite.add(f"{_name} of {label}", with_both, _output, _source)
for _name in OUTPUTS:
    for _source in (*KEPT, *SMALL):
        label = f"{_name} of {_source.parent.name}/{_source.name}"
        suite.add(f"kept: {label}", compare_with_kept, _name, _source)
        suite.add(f"unchanged in Tachyon: {label}", oracle_has_not_changed, _name, _source)
for _interpreter in EXPECTED:
    suite.add(f"pstats of {_interpreter} loads the file", pstats_loads, _interpreter)



def attached(enough):
    """Attaches to a program with three threads until it has enough samples: (process, profile)."""
    python = find_interpreter("debian-3.11")
    code = PROGRAM.replace("0.8", "1000").replace("trash(2000)\n", "trash(2000)\n    print('up', flush=True)\n", 1)
    with tempfile.TemporaryDirectory() as folder, Target(python, code) as target:
        with subprocess.Popen([FIZEAU, "attach", "-a", "--gecko", str(target.pid)], cwd=folder,
                              stderr=subprocess.PIPE, text=True) as recorder:
            wait_for_samples(target.pid, enough, recorder)
            target.process.kill()
            said = recorder.communicate(timeout=100)[1]
        assert recorder.returncode == 0, said
        file = pathlib.Path(folder) / f"gecko_{target.pid}.json"
        return target.pid, json.loads(file.read_text(encoding="utf-8"))


@suite.test("attach --gecko marks the true main thread")
def _():
    pid, profile = attached(600)
    threads = gecko_threads(profile)
    assert {tid: t["main"] for tid, t in threads.items() if t["main"]} == {pid: True}
    assert {t["pid"] for t in profile["threads"]} == {str(pid)}
    names = {name for t in threads.values() for name, *_ in t["markers"]}
    assert names & {"Has GIL", "No GIL"} and names & {"On CPU", "Off CPU"}, names


@suite.test("attach --gecko marks the states of threads")
def _():
    threads = gecko_threads(attached(1800)[1])
    names = {name for t in threads.values() for name, *_ in t["markers"]}
    assert {"Has GIL", "No GIL", "On CPU", "Off CPU"} <= names, names
    return f"{len(threads)} threads"


if __name__ == "__main__":
    suite.main()
