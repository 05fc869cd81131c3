#!/usr/bin/env python3
"""Profiles of other tools: Fizeau reads their figures correctly.

Each file is read a second time here, by Python's own json, marshal and re and by a few lines for
protocol buffers and MOJO, and totals and the self cost of functions are compared. The files are
those of the shared reference profiles where they are at hand, and ones that the tools make now:
cProfile of every Python, node, perf, Valgrind. What is written is read back by the tool where it
is here.
"""

import collections
import gzip
import json
import marshal
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from livelib import EXPECTED, FIZEAU, SHARED, SOURCE, Skip, Suite, find_interpreter
from wire import fields, numbers

SAMPLES = SHARED / "profiles" / "formats"
SCRATCH = pathlib.Path(tempfile.mkdtemp(prefix="fizeau-formats-"))
suite = Suite()


DOCUMENT = SOURCE / "docs" / "formats.md"
BEGIN, END = "<!-- files: begin -->\n", "<!-- files: end -->\n"
# What files of a format are compared with, and whether the tool writes some while the tests run.
ORACLES = {
    "pprof": ("its protobuf decoded by the test; the output of Go's tool", True),
    "speedscope": ("its events played back by the test", False),
    "cpuprofile": ("its time deltas added up by the test", True),
    "callgrind": ("its totals; `callgrind_annotate`", True),
    "perf script": ("headers and periods counted; FlameGraph's stackcollapse-perf", True),
    "perf.data": ("what `perf script` prints of it", True),
    "pyinstrument": ("its tree added up by the test", True),
    "stackprof": ("its frames' own counts", True),
    "pstats": ("its table read by marshal; `pstats.Stats`", True),
    "gecko": ("its tables joined by the test; CPython's binary recording of the same run", False),
    "trace events": ("calls added up by hand", False),
    "mojo": ("its events added up by the test; austin's own text", False),
}
accounts = collections.defaultdict(lambda: {"files": set(), "totals": 0, "functions": 0})
of_files = set()  # tests that compare files which are always the same


def account():
    return accounts[suite.running.split(":")[0]]


def count(what, n):
    if suite.running in of_files:
        account()[what] += n


def sample(name):
    path = SAMPLES / name
    if not path.exists():
        raise Skip("the shared reference profiles are not here")
    account()["files"].add(name)
    of_files.add(suite.running)
    return path


def unpacked(path):
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def replay(path, *options):
    done = subprocess.run([FIZEAU, "replay", *options, str(path)], capture_output=True)
    if done.returncode:
        raise AssertionError(done.stderr.decode())
    return done.stdout


def report(path, metric=None):
    """A file's JSON; the total includes samples without a stack, as in other tools."""
    document = json.loads(replay(path, "--format", "json", "-o", "-",
                                 *(["--metric", metric] if metric else [])))
    document["total"] += document.get("stackless_total", 0)
    return document


def self_by_name(path, metric=None):
    out = collections.Counter()
    for f in report(path, metric)["functions"]:
        if f["self"]:
            out[f["name"]] += f["self"]
    return out


def same(got, expected, what):
    if got != expected:
        raise AssertionError(f"{what}: {got} instead of {expected}")
    if isinstance(expected, (int, float)):
        count("totals", 1)
    elif isinstance(expected, dict):
        count("functions", len(expected))


def near(got, expected, what, slack=1):
    if abs(got - expected) > slack:
        raise AssertionError(f"{what}: {got} instead of {expected}")
    count("functions", 1)


# ---- pprof ----

def signed(n):
    return n - (1 << 64) if n >> 63 else n


class Pprof:
    """Types with their totals, and what the innermost functions cost."""

    def __init__(self, data):
        strings, types, samples, locations, functions = [], [], [], {}, {}
        for field, value in fields(data):
            if field == 1:
                types.append(dict(fields(value)))
            elif field == 2:
                samples.append(list(fields(value)))
            elif field == 4:
                location = list(fields(value))
                locations[dict(location)[1]] = [dict(fields(v)) for f, v in location if f == 4]
            elif field == 5:
                function = dict(fields(value))
                functions[function[1]] = function.get(2, 0)
            elif field == 6:
                strings.append(value.decode())
        self.types = [(strings[t.get(1, 0)], strings[t.get(2, 0)]) for t in types]
        self.totals = [0] * len(types)
        self.leaves = [collections.Counter() for _ in types]
        for s in samples:
            ids = [n for f, v in s if f == 1 for n in numbers(v)]
            values = [signed(n) for f, v in s if f == 2 for n in numbers(v)]
            lines = locations[ids[0]] if ids else []
            leaf = strings[functions[lines[0][1]]] if lines else None
            for i, value in enumerate(values):
                self.totals[i] += value
                self.leaves[i][leaf] += value


NAMES = {("cpu", "nanoseconds"): "cpu", ("wall", "nanoseconds"): "wall",
         ("sample", "count"): "samples", ("Wall time", "μs"): "wall"}
SCALES = {"μs": 1000, "microseconds": 1000}


def check_pprof(name):
    path = sample(name)
    truth = Pprof(unpacked(path))
    for i, (kind, unit) in enumerate(truth.types):
        metric = NAMES.get((kind, unit), kind)
        scale = SCALES.get(unit, 1)
        same(report(path, metric)["total"], truth.totals[i] * scale, f"total of {metric}")
    last = truth.leaves[-1]
    if None not in last and not any("." in leaf and leaf.startswith("go.shape") for leaf in last):
        metric = NAMES.get(truth.types[-1], truth.types[-1][0])
        scale = SCALES.get(truth.types[-1][1], 1)
        same(sum(self_by_name(path, metric).values()), sum(last.values()) * scale, "sum of self")
    again = SCRATCH / "again.pb.gz"
    replay(path, "-o", str(again))
    for i, (kind, unit) in enumerate(truth.types):
        metric = NAMES.get((kind, unit), kind)
        same(self_by_name(again, metric), self_by_name(path, metric), f"{metric} written and read")
        written = Pprof(unpacked(again))
        ours = [t for t, _ in written.types].index(metric)
        same(written.totals[ours], truth.totals[i] * SCALES.get(unit, 1), f"{metric} written")


for pprof in ("1644509272337470000", "alloc_space_delta", "fib", "labels", "profile-with-labels",
              "profile1", "single-stack", "two-stacks", "no-python", "profile"):
    suite.add(f"pprof: {pprof}", check_pprof, f"pprof/{pprof}.pb.gz")
for other in ("pprof/simple.prof", "pprof/normal-cpu.stripped.pprof", "generated/go/cpu.pb.gz",
              "generated/go/heap.pb.gz", "austin/austin.pprof"):
    suite.add(f"pprof: {other}", check_pprof, other)


# ---- texts of pprof's profiles ----

GO = """
package main
import ("os"; "runtime"; "runtime/pprof"; "sync"; "time")
var lock sync.Mutex
var kept [][]byte
//go:noinline
func grow(n int) { for i := 0; i < n; i++ { kept = append(kept, make([]byte, 4096)) } }
//go:noinline
func big() { grow(3000) }
func wait() { time.Sleep(time.Hour) }
func main() {
	runtime.MemProfileRate = 4096
	runtime.SetBlockProfileRate(1)
	runtime.SetMutexProfileFraction(1)
	grow(1000); big()
	for i := 0; i < 5; i++ { go wait() }
	time.Sleep(10 * time.Millisecond)
	runtime.GC()
	for i := 0; i < 2; i++ { go func() { lock.Lock(); time.Sleep(5 * time.Millisecond); lock.Unlock() }() }
	time.Sleep(40 * time.Millisecond)
	for _, name := range []string{"heap", "goroutine", "block", "mutex"} {
		out, _ := os.Create(os.Args[1] + "/go-" + name + ".txt")
		pprof.Lookup(name).WriteTo(out, 1)
	}
}
"""


@suite.test("pprof text: Go makes some now, its own tool reads the same")
def go_text():
    if not shutil.which("go"):
        raise Skip("Go is not here")
    (SCRATCH / "text.go").write_text(GO)
    subprocess.run(["go", "run", SCRATCH / "text.go", SCRATCH], check=True)
    for name, metrics in (("heap", ("alloc_objects", "alloc_space", "inuse_objects", "inuse_space")),
                          ("goroutine", ("goroutine",)), ("block", ("contentions", "delay")),
                          ("mutex", ("contentions", "delay"))):
        path = SCRATCH / f"go-{name}.txt"
        packed = SCRATCH / f"go-{name}.pb.gz"
        subprocess.run(["go", "tool", "pprof", "-proto", "-output", packed, path], check=True,
                       capture_output=True)
        truth = Pprof(unpacked(packed))
        for i, (kind, _) in enumerate(truth.types):
            same(report(path, kind)["total"], truth.totals[i], f"{name}: total of {kind}")
        same({t for t, _ in truth.types}, set(metrics), "metrics")
    got = self_by_name(SCRATCH / "go-heap.txt")
    if got["main.grow"] < 0.95 * sum(got.values()):
        raise AssertionError(f"grow did not allocate: {got}")
    total = {f["name"]: f["total"] for f in report(SCRATCH / "go-goroutine.txt")["functions"]}
    same(total["main.wait"], 5, "goroutines that wait")


# ---- speedscope ----

UNITS = {"seconds": 1e9, "milliseconds": 1e6, "microseconds": 1e3, "nanoseconds": 1, "none": 1,
         "bytes": 1}


def speedscope_self(data):
    document = json.loads(data)
    names = [f["name"] for f in document["shared"]["frames"]]
    out = collections.Counter()
    for profile in document["profiles"]:
        scale = UNITS[profile["unit"]]
        if profile["type"] == "sampled":
            for stack, weight in zip(profile["samples"], profile["weights"]):
                if stack:
                    out[names[stack[-1]]] += weight * scale
            continue
        stack, now = [], None
        for event in profile["events"]:
            if stack:
                out[names[stack[-1]]] += (event["at"] - now) * scale
            now = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
            else:
                stack.pop()
    return out


def check_speedscope(path):
    truth = {k: v for k, v in speedscope_self(unpacked(path)).items() if round(v)}
    got = self_by_name(path)
    same(set(got), set(truth), "functions")
    for name, value in truth.items():
        near(got[name], value, name, 1000)


for name in ("speedscope/simple.speedscope.json", "speedscope/simple-sampled.speedscope.json",
             "speedscope/simple-no-pretty-print.speedscope.json",
             "generated/pyinstrument/pyi.speedscope.json"):
    suite.add(f"speedscope: {name}", lambda name=name: check_speedscope(sample(name)))


# ---- cpuprofile ----

def cpuprofile_self(document):
    names = {n["id"]: n["callFrame"]["functionName"] or "(anonymous)" for n in document["nodes"]}
    now, stamps = document["startTime"], []
    for node, delta in zip(document["samples"], document["timeDeltas"]):
        now += delta
        stamps.append((now, node))
    stamps.sort(key=lambda s: s[0])
    out = collections.Counter()
    for (at, node), (until, _) in zip(stamps, stamps[1:] + [(document["endTime"], 0)]):
        if names[node] not in ("(root)", "(idle)"):
            out[names[node]] += max(until - at, 0) * 1000
    return +out


def check_cpuprofile(path):
    got = +collections.Counter(self_by_name(path, "wall"))
    same(got, cpuprofile_self(json.loads(unpacked(path))), "self by function")


for name in ("cpuprofile/simple.cpuprofile", "generated/node/node24.cpuprofile",
             "firefox/hello.cjs-20231120T211435.cpuprofile"):
    suite.add(f"cpuprofile: {name}", lambda name=name: check_cpuprofile(sample(name)))


def node_profile():
    if not shutil.which("node"):
        raise Skip("node is not here")
    script = SCRATCH / "fibo.js"
    script.write_text("function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n"
                      "const end = Date.now() + 1500; while (Date.now() < end) fib(20);\n")
    subprocess.run(["node", "--cpu-prof", f"--cpu-prof-dir={SCRATCH}", str(script)], check=True)
    path = max(SCRATCH.glob("CPU.*.cpuprofile"), key=os.path.getmtime)
    check_cpuprofile(path)
    return path


@suite.test("cpuprofile: node makes one now")
def node_now():
    node_profile()


@suite.test("cpuprofile: node makes one now: where the time went")
def node_shares():
    shares = self_by_name(node_profile(), "wall")
    if shares["fib"] < sum(shares.values()) / 3:
        raise AssertionError(f"fib is not where the time went: {shares}")


@suite.test("cpuprofile: the heap")
def heap_profile():
    path = sample("cpuprofile/Heap-20181003T105432.heapprofile")

    def total(node):
        return node["selfSize"] + sum(map(total, node["children"]))
    same(report(path)["total"], total(json.loads(path.read_text())["head"]), "bytes")


# ---- callgrind ----

def check_callgrind(path, data):
    events = re.search(rb"^events: (.*)$", data, re.M)[1].decode().split()
    totals = list(map(int, re.findall(rb"^totals: (.*)$", data, re.M)[-1].split()))
    for event, total in zip(events, totals):
        metric = "instructions" if event == "Ir" else event
        same(report(path, metric)["total"], total, event)


for name in ("cg.out", "cg.instr.out", "cg.cyc.out"):
    suite.add(f"callgrind: {name}", lambda name=name: check_callgrind(
        sample(f"generated/callgrind/{name}"),
        sample(f"generated/callgrind/{name}").read_bytes()))


@suite.test("callgrind: small files")
def small_callgrind():
    for name, total in (("example", 820), ("name-compression", 820),
                        ("subposition-compression", 820), ("cfn-reset", 40)):
        same(report(sample(f"callgrind/callgrind.{name}.log"))["total"], total, name)
    same(self_by_name(sample("callgrind/callgrind.example.log")),
         {"main": 20, "func1": 100, "func2": 700}, "self")


PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
static volatile int sink;
__attribute__((noinline)) static void spin(int n) { for (int i = 0; i < n; i++) sink += i; }
__attribute__((noinline)) static void one(void) { spin(30000); }
__attribute__((noinline)) static void two(void) { spin(10000); spin(20000); }
__attribute__((noinline)) static int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); }
int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 3;
	for (int i = 0; i < rounds; i++) { one(); two(); sink += fact(20); }
	return 0;
}
"""


def program():
    path = SCRATCH / "spin"
    if not path.exists():
        (SCRATCH / "spin.c").write_text(PROGRAM)
        subprocess.run(["cc", "-g", "-O1", "-fno-omit-frame-pointer", "-fno-inline",
                        "-fno-optimize-sibling-calls", "-o", path, SCRATCH / "spin.c"], check=True)
    return path


@suite.test("callgrind: Valgrind makes one now")
def valgrind_now():
    if not shutil.which("valgrind"):
        raise Skip("Valgrind is not here")
    out = SCRATCH / "callgrind.out"
    subprocess.run(["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}",
                    program()], check=True, capture_output=True)
    check_callgrind(out, out.read_bytes())
    text = subprocess.run(["callgrind_annotate", "--threshold=100", "--auto=no", out], check=True,
                          capture_output=True, text=True).stdout
    told = dict((m[2], int(m[1].replace(",", ""))) for m in re.finditer(
        r"^ *([\d,]+) (?:\([ \d.]+%\) *)?\S*spin\.c:(\w+)", text, re.M))
    ours = self_by_name(out)
    for name in ("spin", "one", "two", "main"):
        same(ours[name], told[name], name)
    nodes = report(out)["nodes"]
    paths = collections.Counter()
    for n in nodes:
        if n["name"] == "spin":
            paths[nodes[n["parent"]]["name"]] += n["total"]
    near(paths["one"] / max(paths["two"], 1), 1, "spin below its two callers", 0.01)
    again = SCRATCH / "again.callgrind"
    replay(out, "-o", str(again))
    written = self_by_name(again)
    same(written, ours, "written and read")
    told_again = subprocess.run(["callgrind_annotate", again], capture_output=True, text=True)
    same(told_again.returncode, 0, told_again.stderr)
    total = f"{sum(ours.values()):,}"
    if total not in told_again.stdout:
        raise AssertionError("callgrind_annotate reads another total")


# ---- perf ----

HEADER = re.compile(rb"^\S.*?\s+\d+(?:/\d+)?\s+(?:\[\d+\]\s+)?\d+\.\d+:\s+(?:(\d+)\s+)?(\S+?):\s*$",
                    re.M)


def check_perf(path):
    data = unpacked(path)
    data = re.sub(rb"^#.*\n", b"", data, flags=re.M)
    found = HEADER.findall(data)
    if not found:
        raise AssertionError("the test sees no header")
    same(report(path, "samples")["total"], len(found), "samples")
    first = found[0][1]
    periods = sum(int(p) for p, event in found if p and event == first)
    if periods:
        same(report(path)["total"], periods, first.decode())


for name in ("perf-script/simple-with-header.linux-perf.txt", "perf-script/perf-dd-stacks-01.txt",
             "perf-script/simple-with-pid.linux-perf.txt", "perf-script/one-sample.linux-perf.txt",
             "perf-script/perf-funcab-cmd-01.txt", "perf-script/perf-cycles-instructions-01.txt",
             "generated/perf/perf-fp.script.txt", "generated/perf/perf-fp.fields.script.txt",
             "generated/perf/perf-py.script.txt", "firefox/graphviz.perf.gz",
             "firefox/gzip.perf.gz", "firefox/simple-perf.txt.gz"):
    suite.add(f"perf script: {name}", lambda name=name: check_perf(sample(name)))


@suite.test("perf script: stacks as FlameGraph collapses them")
def perf_stacks():
    # (Of files that do not end in an empty line it forgets the last sample.)
    for name, metric in (("perf-funcab-cmd-01", "samples"),
                         ("perf-cycles-instructions-01", "instructions")):
        truth = collections.Counter()
        for line in sample(f"perf-script/{name}-collapsed-all.txt").read_text().splitlines():
            stack, value = line.rsplit(" ", 1)
            truth[re.sub(r"_\[\w\]", "", stack).split(";")[-1]] += int(value)
        same(self_by_name(sample(f"perf-script/{name}.txt"), metric), truth, name)


@suite.test("perf script: perf makes one now")
def perf_now():
    if not shutil.which("perf"):
        raise Skip("perf is not here")
    data = SCRATCH / "perf.data"
    done = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "999", "-g", "-o",
                           data, program(), "600"], capture_output=True, text=True)
    if done.returncode:
        raise Skip("perf may not record here")
    path = SCRATCH / "perf.txt"
    path.write_bytes(subprocess.run(["perf", "script", "-i", data], check=True,
                                    capture_output=True).stdout)
    check_perf(path)


@suite.test("perf script: perf makes one now: where the time went")
def perf_shares():
    for options in (["-g"], []):
        shares = self_by_name(perf_record("shares", "-e", "cpu-clock:u", "-F", "999", *options), "samples")
        if shares["spin"] < 0.8 * sum(shares.values()):
            raise AssertionError(f"spin is not where the time went: {shares}")


@suite.test("perf script: any requested columns")
def perf_columns():
    data = perf_record("columns", "-e", "cpu-clock:u", "-F", "999", "-g")
    whole = SCRATCH / "columns.txt"

    def print_columns(columns):
        whole.write_bytes(subprocess.run(["perf", "script", "-i", data, "-F", columns],
                                         check=True, capture_output=True).stdout)
        return report(whole, "samples")

    told = print_columns("comm,pid,tid,time,event,ip,sym,dso")
    expected = {f["name"]: f["total"] for f in told["functions"]}
    assert expected["main"], expected
    for columns in ("comm,ip,sym", "comm,pid,ip,sym", "comm,pid,event,ip,sym,dso", "pid,ip,sym",
                    "comm,pid,period,event,ip,sym", "event,ip,sym", "ip,sym", "comm,time,ip,sym",
                    "time,event,ip,sym"):
        got = {f["name"]: f["total"] for f in print_columns(columns)["functions"]}
        same({k: got.get(k) for k in ("main", "spin")},
             {k: expected[k] for k in ("main", "spin")}, columns)
        same(sum(got.values()), sum(expected.values()), columns)
    # As of a process whose number is short: perf aligns them.
    print_columns("pid,ip,sym")
    whole.write_text(re.sub(r"^ *\d+ *$", "   38 ", whole.read_text(), flags=re.M))
    same(report(whole, "samples")["total"], told["total"], "samples of process 38")
    addresses = print_columns("comm,pid,time,event,ip")["functions"]
    same(len({f["name"] for f in addresses}), len(addresses), "names of addresses")


@suite.test("perf script: without call chains")
def perf_without_chains():
    data = perf_record("leaves", "-e", "cpu-clock:u", "-F", "999")
    path = SCRATCH / "leaves.txt"
    path.write_bytes(subprocess.run(["perf", "script", "-i", data], check=True,
                                    capture_output=True).stdout)
    n = len(path.read_text().splitlines())
    got = self_by_name(path, "samples")
    same(sum(got.values()), n, "samples")
    assert got["spin"], got


TRACE = """{"traceEvents": [
{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 0, "dur": 100},
{"ph": "X", "name": "b", "pid": 1, "tid": 1, "ts": 10, "tdur": 40},
{"ph": "X", "name": "c", "pid": 1, "tid": 1, "ts": 60, "dur": 30}], "otherData": {"v": 1}}
"""
PERF = """\
app 7 12.000001:  1001001 cpu-clock:
\t            5601 leaf (/bin/app)
\t            7f10 main (/bin/app)

app 7 12.001001:  1001001 cpu-clock:
\t            5601 leaf (/bin/app)
\t            7f10 main (/bin/app)
"""


@suite.test("truncated files are reported wherever the cut is, whole ones are not")
def cut_short():
    def told(text, name):
        path = SCRATCH / name
        path.write_text(text)
        out = subprocess.run([FIZEAU, "replay", path, "--color", "never"], capture_output=True,
                             text=True)
        return " ".join(out.stdout.split())

    note = "the file is truncated"
    assert "1 call with CPU time but no duration left out" in told(TRACE, "whole.json")
    for text, name in ((TRACE, "whole.json"), (TRACE.rstrip(), "whole.json"), (PERF, "whole.perf"),
                       (PERF.rstrip(), "whole.perf"), (PERF + "\n", "whole.perf")):
        n = "3 samples" if name == "whole.json" else "2 samples"  # of a: before c, and behind it
        assert n in told(text, name) and note not in told(text, name), told(text, name)
    for end in range(TRACE.index('"b"'), TRACE.rindex("}")):
        assert note in told(TRACE[:end], "cut.json"), TRACE[:end]
    array = TRACE[TRACE.index("["):TRACE.index("]")]  # may end without its bracket
    assert note not in told(array, "array.json")
    assert note in told(array[:-9], "array.json")
    second = PERF.index("\n\napp") + 2
    for end in range(second + 3, len(PERF) - 2):
        got = told(PERF[:end], "cut.perf")
        if PERF[:end].endswith((")", "\n")):  # nothing shows
            continue
        assert note in got and "1 sample," in got, (PERF[:end], got)


# ---- perf.data ----

def perf_record(name, *options, command=None):
    """A file of perf; skips if perf cannot record it here."""
    if not shutil.which("perf"):
        raise Skip("perf is not here")
    data = SCRATCH / f"{name}.data"
    done = subprocess.run(["perf", "record", "-q", "-o", data, *options, "--",
                           *(command or [program(), "2400"])], capture_output=True, text=True)
    if done.returncode:
        raise Skip("perf may not record so here")
    return data


def costs(path, metric, key):
    out = collections.Counter()
    for f in report(path, metric)["functions"]:
        out[re.sub(r"\.(constprop|isra|part|cold)\b.*", "", f["name"])] += f[key]
    return +out


def alike(ours, theirs):
    """The entries with the same names in both."""
    return sum(min(ours[n], theirs[n]) for n in ours)


def check_perf_data(data, metrics=("cpu", "samples"), alone=True):
    """Its totals and functions against what `perf script` prints of it."""
    path = SCRATCH / (data.name + ".txt")
    path.write_bytes(subprocess.run(["perf", "script", "--header", "--no-inline",
                                     "-i", data], check=True, capture_output=True).stdout)
    for metric in metrics:
        same(report(data, metric)["total"], report(path, metric)["total"], f"total of {metric}")
        for key in ("self", "total"):
            ours, theirs = costs(data, metric, key), costs(path, metric, key)
            for name in ("spin", "one", "two", "main") if alone else ("spin",):
                same(ours[name], theirs[name], f"{metric} of {name}")


for name, options in (("chains", ["-e", "cpu-clock", "-F", "999", "-g"]),
                      ("packed", ["-e", "cpu-clock", "-F", "999", "-g", "-z"]),
                      ("period", ["-e", "task-clock:u", "-c", "1000000", "-g"]),
                      ("no build ids", ["-e", "cpu-clock:u", "-F", "999", "-g", "-B"]),
                      ("build ids in maps", ["-e", "cpu-clock:u", "-F", "999", "-g",
                                             "--buildid-mmap"]),
                      ("several events", ["-e", "cpu-clock", "-e", "page-faults", "-F", "999",
                                          "-g"]),
                      ("whole machine", ["-e", "cpu-clock", "-F", "999", "-g", "-a"])):
    metrics = ("cpu", "page-faults", "samples") if name == "several events" else ("cpu", "samples")
    suite.add(f"perf.data: {name}", lambda name=name, options=options, metrics=metrics:
              check_perf_data(perf_record(name.replace(" ", "-"), *options), metrics,
                              name != "whole machine"))


@suite.test("perf.data: chains: where the time went")
def perf_data_shares():
    """Names of other code may differ: aliases, inlined calls, no symbol at all. That code starts the program,
    which takes tens of milliseconds in a virtual machine."""
    data = perf_record("chains", "-e", "cpu-clock", "-F", "999", "-g")
    check_perf_data(data)
    ours, theirs = costs(data, "cpu", "self"), costs(SCRATCH / (data.name + ".txt"), "cpu", "self")
    if alike(ours, theirs) < 0.9 * sum(theirs.values()):
        raise AssertionError(f"functions: {ours} instead of {theirs}")


def one_name_each(costs_by_name):
    """The same with one name for each kernel address, whichever alias was used."""
    names = collections.defaultdict(list)
    for line in pathlib.Path("/proc/kallsyms").read_text(encoding="ascii").splitlines():
        address, _, name = line.split()[:3]
        names[address].append(name)
    first = {name: of_one[0] for of_one in names.values() for name in of_one}
    out = collections.Counter()
    for name, cost in costs_by_name.items():
        out[first.get(name, name)] += cost
    return out


@suite.test("perf.data: the kernel's functions have names without build ids too")
def perf_data_kernel():
    for options in ([], ["-z"], ["-B"]):
        data = perf_record("kernel", "-e", "cpu-clock:k", "-F", "999", "-g", *options, command=[
            "dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=400000", "status=none"])
        check_perf_data(data, ("samples",), alone=False)
        ours, theirs = (one_name_each(costs(path, "samples", "self"))
                        for path in (data, SCRATCH / (data.name + ".txt")))
        assert alike(ours, theirs) > 0.9 * sum(theirs.values()) > 0, (options, ours, theirs)


@suite.test("perf.data: a group sampled by its leader")
def perf_data_group():
    check_perf_data(perf_record("group", "-e", "{cpu-clock,page-faults,context-switches}:S", "-F",
                                "999", "-g"), ("cpu", "page-faults", "samples"))


@suite.test("perf.data: a pipe is like a file")
def perf_data_pipe():
    data = perf_record("before", "-e", "cpu-clock:u", "-F", "999", "-g")
    path = SCRATCH / "pipe.data"
    with open(path, "wb") as out:
        subprocess.run(["perf", "inject", "-i", data, "-o", "-"], check=True, stdout=out)
    same(self_by_name(path), self_by_name(data), "self by function")
    with open(path, "wb") as out:
        subprocess.run(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "999", "-g", "-o", "-",
                        program(), "600"], check=True, stdout=out, stderr=subprocess.DEVNULL)
    text = SCRATCH / "pipe.txt"
    with open(path, "rb") as given:
        text.write_bytes(subprocess.run(["perf", "script", "--no-inline", "-i", "-"], check=True,
                                        stdin=given, capture_output=True).stdout)
    same(report(path)["total"], report(text)["total"], "total")
    same(report(path, "samples")["total"], report(text, "samples")["total"], "samples")
    same(self_by_name(path)["spin"], self_by_name(text)["spin"], "spin")


@suite.test("perf.data: processes that fork and exec")
def perf_data_forks():
    spin = program()
    check_perf_data(perf_record("forks", "-e", "cpu-clock:u", "-F", "2000", "-g", command=[
        "sh", "-c", f"for i in 1 2 3; do ({spin} 1000; {spin} 500 & {spin} 600; wait) & done; wait"]))


@suite.test("perf.data: another file at the recorded path gives no names")
def perf_data_replaced():
    other = SCRATCH / "replaced"

    def build(name):
        other.unlink(missing_ok=True)
        (SCRATCH / "other.c").write_text(PROGRAM.replace("spin", name))
        subprocess.run(["cc", "-g", "-O1", "-fno-omit-frame-pointer", "-o", other,
                        SCRATCH / "other.c"], check=True)

    # Without -N perf keeps a copy of the file, without -B its build id.
    for option in ("-N", "-B"):
        build("twirl")
        data = perf_record("replaced" + option, option, "-e", "cpu-clock:u", "-F", "999", "-g",
                           command=[other, "300"])
        own = self_by_name(data)["twirl"]
        if not own:
            raise AssertionError("it is not named while it is there")
        build("reel")
        got = self_by_name(data)
        if got["[replaced]"] < own or got["twirl"] or got["reel"]:
            raise AssertionError(f"{option}: named from another file: {got}")


def self_as_perf(data):
    """Periods by the innermost symbol."""
    out = collections.Counter()
    text = subprocess.run(["perf", "script", "--no-inline", "-G", "-F", "period,ip,sym", "-i", data],
                          check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        period, _, name = line.split(maxsplit=2)
        out[name] += int(period)
    return out


@suite.test("perf.data: without call chains")
def perf_data_flat():
    data = perf_record("flat", "-e", "cpu-clock:u", "-F", "999")
    ours, theirs = self_by_name(data), self_as_perf(data)
    same(sum(ours.values()), sum(theirs.values()), "total")
    for name in ("spin", "fact"):
        same(ours[name], theirs[name], name)


@suite.test("perf.data: code that node made")
def perf_data_node():
    if not shutil.which("node"):
        raise Skip("node is not here")
    script = SCRATCH / "made.js"
    script.write_text("function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n"
                      "fib(33);\n")
    data = perf_record("node", "-e", "cpu-clock:u", "-F", "999", "-g",
                       command=["node", "--perf-basic-prof", "--no-logfile-per-isolate",
                                f"--logfile={SCRATCH}/v8.log", script])
    ours = self_by_name(data)["fib"]
    theirs = sum(v for k, v in self_as_perf(data).items() if re.match("(JS|LazyCompile|Function):", k) and "fib" in k)
    if not theirs:
        raise AssertionError("perf names nothing")
    near(ours / theirs, 1, "fib", 0.05)


@suite.test("perf.data: stacks that only perf can unwind are refused")
def perf_data_dwarf():
    data = perf_record("dwarf", "-e", "cpu-clock:u", "--call-graph", "dwarf")
    done = subprocess.run([FIZEAU, "replay", data], capture_output=True, text=True)
    same(done.returncode, 2, "status")
    if "perf script -i" not in done.stderr or done.stderr.count("\n") != 1:
        raise AssertionError(done.stderr)


@suite.test("perf.data: of a newer perf, compared with its own text")
def perf_data_shared():
    for name in ("perf-fp", "perf-py"):
        data, text = (sample(f"generated/perf/{name}{end}") for end in (".data", ".script.txt"))
        same(report(data)["total"], report(text)["total"], name)
        same(report(data, "samples")["total"], report(text, "samples")["total"], name)
    for name in ("perf-pipe", "perf-z"):
        if report(sample(f"generated/perf/{name}.data"))["total"] < 1e8:
            raise AssertionError(f"{name}: the samples are missing")


# ---- pyinstrument ----

def pyinstrument_self(root):
    """Nanoseconds by function, of a session or a report."""
    out = collections.Counter()

    def visit(node, parent):
        name = parent if node["function"] == "[self]" else node["function"]
        if node.get("class_name"):
            name = f"{node['class_name']}.{name}"
        out[name] += 1e9 * (node["time"] - sum(c["time"] for c in node["children"]))
        for child in node["children"]:
            visit(child, name)

    if "root_frame" in root:
        visit(root["root_frame"], None)
    for stack, seconds in root.get("frame_records", []):
        identity, *attributes = stack[-1].split("\1")
        class_name = "".join(a[1:] + "." for a in attributes if a.startswith("c"))
        out[class_name + identity.split("\0")[0]] += 1e9 * seconds
    return out


def check_pyinstrument(path):
    root = json.loads(path.read_text())
    truth, got = pyinstrument_self(root), self_by_name(path)
    near(sum(got.values()), sum(truth.values()), "total", 1e3 * root["sample_count"])
    for name in truth:
        near(got[name], truth[name], name, 1e3 * root["sample_count"])


suite.add("pyinstrument: a report", lambda: check_pyinstrument(
    sample("generated/pyinstrument/pyi.json")))


@suite.test("pyinstrument: makes a session and a report of it now")
def pyinstrument_now():
    if not shutil.which("pyinstrument"):
        raise Skip("pyinstrument is not here")
    script = SCRATCH / "instrumented.py"
    script.write_text("class A:\n    def f(self, n): return sum(i * i for i in range(n))\n"
                      "a = A()\nfor _ in range(40): a.f(30000)\n")
    session, told = SCRATCH / "a.pyisession", SCRATCH / "told.json"
    subprocess.run(["pyinstrument", "-r", "session", "-o", session, script], check=True)
    subprocess.run(["pyinstrument", "--load", session, "-r", "json", "-o", told], check=True)
    check_pyinstrument(session)
    check_pyinstrument(told)
    same(report(session, "samples")["total"], json.loads(session.read_text())["sample_count"],
         "samples")
    near(costs(session, "wall", "total")["A.f"], costs(told, "wall", "total")["A.f"], "A.f", 2e7)


# ---- stackprof ----

def check_stackprof(path):
    """The file counts each function itself."""
    root = json.loads(path.read_text())
    own, total = collections.Counter(), collections.Counter()
    for f in root["frames"].values():
        own[f["name"]] += f["samples"]
        total[f["name"]] += f["total_samples"]
    # stackprof also counts a sample that found no frame: it is in "samples" alone.
    same(report(path, "samples")["total"], sum(own.values()), "samples")
    same(self_by_name(path, "samples"), +own, "self")
    if len(total) == len(root["frames"]):
        same(costs(path, "samples", "total"), +total, "total")
    if root["mode"] == "wall":
        same(report(path)["total"], 1000 * sum(root["raw_timestamp_deltas"]), "wall time")
    elif root["mode"] == "cpu":
        same(report(path)["total"], 1000 * sum(own.values()) * root["interval"], "CPU time")


suite.add("stackprof: simple-stackprof.json", lambda: check_stackprof(
    sample("stackprof/simple-stackprof.json")))


@suite.test("stackprof: Ruby makes some now")
def stackprof_now():
    if not shutil.which("stackprof"):
        raise Skip("stackprof is not here")
    for mode in ("wall", "cpu", "object"):
        path = SCRATCH / f"stackprof-{mode}.json"
        subprocess.run(["ruby", "-rstackprof", "-rjson", "-e", """
            def leaf(n) n.times.sum { |i| i * i } end
            def one() leaf(20000) end
            def two() leaf(10000); leaf(30000); "a" + "b" end
            mode = ARGV[0].to_sym
            made = StackProf.run(mode: mode, raw: true, interval: mode == :object ? 1 : 1000) {
                100.times { one; two } }
            File.write(ARGV[1], JSON.generate(made))""", mode, path], check=True)
        check_stackprof(path)


# ---- Pyroscope ----

@suite.test("pyroscope: a tree and a trie written by its own code, whole, cut, and with trailing data")
def pyroscope():
    parse = "app.py:<module>;app.py:main;app.py:parse"
    expected = {"app.py:<module>": 2, parse: 120, f"{parse};json:loads": 301, "idle thread": 9,
                "app.py:<module>;app.py:main;app.py:render": 77}
    for name in ("app.tree", "app.trie"):
        path = SOURCE / "tests/data/pyroscope" / name
        lines = replay(path, "--collapsed", "-o", "-").decode().splitlines()
        got = {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in lines}
        same(got, expected, name)
        whole = path.read_bytes()
        for data in [whole[:n] for n in range(1, len(whole))] + [whole + b"\1"]:
            broken = SCRATCH / "broken.tree"
            broken.write_bytes(data)
            done = subprocess.run([FIZEAU, "replay", broken], capture_output=True, text=True)
            assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, (len(data), done)


# ---- pstats ----

def pstats_self(table):
    out = collections.Counter()
    for key, row in table.items():
        if key != ("__sampled__",):
            out[key[2]] += row[2] * 1e9
    return out


def check_pstats(path):
    table = marshal.loads(path.read_bytes())
    truth, got = pstats_self(table), self_by_name(path, "wall")
    near(report(path)["total"], sum(truth.values()), "total", 2 * len(table) + 2)
    # Names are shown without what only an implementation knows, so only sums of equal ones count.
    for name in set(truth) & set(got):
        near(got[name], truth[name], name, len(table) + 2)
    if len(set(truth) & set(got)) < len(got) * 0.9:
        raise AssertionError("most functions have another name")


for name in ("generated/pstats/cprofile-py314.pstats", "pstats/cprofile-cycle.pstats",
             "tachyon/w1.pstats", "tachyon/w2.pstats"):
    suite.add(f"pstats: {name}", lambda name=name: check_pstats(sample(name)))

PYTHON = """
import cProfile
def leaf(n): return sum(i * i for i in range(n))
def one(): return leaf(20000)
def two(): return leaf(10000) + leaf(30000)
def down(n): return leaf(50) if n == 0 else down(n - 1)
def main():
    for _ in range(3): one(); two(); down(30)
profile = cProfile.Profile()
profile.runcall(main)
import sys, marshal
profile.create_stats()
sys.stdout.buffer.write(marshal.dumps(profile.stats))
"""


def cprofile(version):
    interpreter = find_interpreter(version)
    path = SCRATCH / f"{version}.pstats"
    path.write_bytes(subprocess.run([*interpreter.command, "-c", PYTHON], check=True,
                                    capture_output=True).stdout)
    check_pstats(path)
    names = {n["name"] for n in report(path)["nodes"]}
    if not {"main", "one", "two", "leaf", "down"} <= names:
        raise AssertionError(f"functions are missing: {names}")


for version in EXPECTED:
    suite.add(f"pstats: cProfile of {version}", cprofile, version)


# ---- Firefox ----

def column(table, name):
    if "schema" in table:
        at = table["schema"][name]
        return [row[at] if at < len(row) else None for row in table["data"]]
    return table.get(name)


def gecko_samples(document):
    total = 0
    for process in [document, *document.get("processes", [])]:
        for thread in process["threads"]:
            if isinstance(thread, str):  # Firefox of 2016: another process, as text inside JSON
                continue
            table = thread["samples"]
            weights = None if "schema" in table else table.get("weight")
            total += sum(weights) if weights else len(column(table, "stack"))
    return total


for name in ("firefox/argument-values.json", "firefox/gecko-1.json", "firefox/gecko-2.json",
             "firefox/processed-1.json", "firefox/processed-2.json", "firefox/unsymbolicated.json",
             "generated/samply/samply-py.json.gz", "generated/samply/samply.json.gz",
             "generated/samply/samply-sym.json.gz", "tachyon/w1.gecko.json",
             "tachyon/w2.gecko.json"):
    suite.add(f"gecko: {name}", lambda name=name: same(
        report(sample(name), "samples")["total"],
        gecko_samples(json.loads(unpacked(sample(name)))), "samples"))


@suite.test("gecko: the same as CPython's binary recording")
def gecko_equals_bin():
    for run in ("w1", "w2"):
        gecko = self_by_name(sample(f"tachyon/{run}.gecko.json"), "samples")
        same(sum(gecko.values()), report(sample(f"tachyon/{run}.bin"))["samples"], run)
        folded = collections.Counter()
        for line in replay(sample(f"tachyon/{run}.bin"), "--format", "folded", "-o",
                           "-").decode().splitlines():
            stack, value = line.rsplit(" ", 1)
            folded[stack.split(";")[-1]] += int(value)
        same(gecko, folded, f"{run}: self by function")


# ---- trace events ----

@suite.test("trace events: calls")
def trace_calls():
    for name, truth in {
            "matching-x": {"alpha": 8000, "beta": 1000, "gamma": 1000},
            "end-non-top-of-stack": {"A": 1000, "B": 9000, "Z": 1000},
            "simple-object": {"alpha": 2000, "beta": 12000},
            "simple-partial": {"alpha": 2000, "beta": 7000, "gamma": 5000},
            "too-many-end-events": {"alpha": 2000, "beta": 12000},
            "x-events-matching-end": {"alpha": 12000, "beta": 4000, "gamma": 4000}}.items():
        same(self_by_name(sample(f"trace-event/{name}.json")), truth, name)


@suite.test("trace events: samples next to them and CPU profiles")
def trace_samples():
    document = json.loads(sample("trace-event/simple-with-samples.json").read_text())
    stamps = [int(s["ts"]) for s in document["samples"]]
    same(report(sample("trace-event/simple-with-samples.json"))["total"],
         (max(stamps) - min(stamps)) * 1000, "time")
    events = json.loads(sample("trace-event/simple.json").read_text())
    chunks = [e["args"]["data"] for e in events if e["name"] == "ProfileChunk"]
    profiles = [c["cpuProfile"] for c in chunks if "cpuProfile" in c]
    idle = {n["id"] for p in profiles for n in p.get("nodes", [])
            if n["callFrame"]["functionName"] == "(idle)"}
    same(report(sample("trace-event/simple.json"), "samples")["total"],
         sum(node not in idle for p in profiles for node in p.get("samples", [])), "samples")


@suite.test("trace events: a long file takes little memory")
def trace_memory():
    path = SCRATCH / "long.json"
    with open(path, "w") as out:
        out.write('{"traceEvents": [\n')
        for i in range(300000):
            out.write('{"ph": "X", "name": "f%d (m.py:%d)", "pid": 1, "tid": 2, "ts": %d, '
                      '"dur": 9, "args": {"a": [1, 2, 3], "b": "some text"}},\n'
                      % (i % 50, i % 50 + 1, i * 10))
        out.write(']}\n')
    before = path.stat().st_size
    done = subprocess.run(["python3", "-c",
                           "import resource, subprocess, sys; subprocess.run(sys.argv[1:], "
                           "check=True, stdout=subprocess.DEVNULL); print(resource.getrusage("
                           "resource.RUSAGE_CHILDREN).ru_maxrss)", FIZEAU, "replay", path],
                          check=True, capture_output=True, text=True)
    if "FZ_SANITIZED" not in os.environ and int(done.stdout) * 1024 > 3 * before:
        raise AssertionError(f"{before} bytes took {done.stdout.strip()} KiB of memory")
    same(report(path)["total"], 300000 * 9000, "time")


# ---- MOJO ----

def mojo_total(data):
    """Microseconds of all samples, by an independent reader."""
    at = 3

    def number():
        nonlocal at
        byte = data[at]
        at += 1
        value, shift, negative = byte & 63, 6, byte & 64
        while byte & 128:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
        return -value if negative else value

    def text():
        nonlocal at
        end = data.index(b"\0", at)
        out, at = data[at:end], end + 1
        return out

    version, total = number(), 0
    shapes = {1: "tt", 2: "nnt" if version >= 3 else "nt", 3: "nnnn" + "nnn" * (version >= 2),
              4: "", 5: "n", 6: "t", 7: "", 8: "", 9: "n", 10: "n", 11: "nt", 12: "n", 13: "",
              14: "nn", 15: "nn"}
    while at < len(data):
        code = data[at]
        at += 1
        got = [number() if kind == "n" else text() for kind in shapes[code]]
        if code == 9:
            total += got[0]
    return total


for name in ("test", "mp", "repeat", "austinp.resolved"):
    suite.add(f"mojo: {name}", lambda name=name: same(
        report(sample(f"austin/{name}.mojo"))["total"],
        mojo_total(sample(f"austin/{name}.mojo").read_bytes()) * 1000, "time"))


@suite.test("mojo: the same as austin's text")
def mojo_equals_text():
    def folded(name):
        return sorted(replay(sample(f"austin/{name}"), "--collapsed", "-o", "-").splitlines())
    same(folded("repeat.mojo"), folded("repeat.austin"), "folded stacks")


# ---- OTLP ----

@suite.test("otlp: values, times alone, inlined functions, addresses")
def otlp():
    path = SOURCE / "tests" / "fuzz" / "corpus" / "otlp" / "all"
    same(self_by_name(path), {"libc.so.6+0x1234": 100, "leaf": 2}, "self")
    same(replay(path, "--collapsed", "--metric-line", "-o", "-").splitlines(),
         [b"# metric: cpu ns", b"app.py:main:5;app.py:leaf:7;libc.so.6:libc.so.6+0x1234:0 100",
          b"app.py:main:5;app.py:leaf:7 2"], "stacks")
    # Without stacks in the dictionary it is of an older version.
    resources, dictionary = [value for _, value in fields(path.read_bytes())]
    older = SCRATCH / "older.otlp"
    kept = b"".join(bytes([field << 3 | 2, len(value)]) + value
                    for field, value in fields(dictionary) if field != 7)
    older.write_bytes(b"\x0a" + bytes([len(resources)]) + resources +
                      b"\x12" + bytes([len(kept) & 127 | 128, len(kept) >> 7]) + kept)
    done = subprocess.run([FIZEAU, "replay", older], capture_output=True, text=True)
    if done.returncode != 2 or "unsupported version of OTLP profiles" not in done.stderr:
        raise AssertionError(done.stderr)


# The same as the protocol buffer of the test above.
OTLP_JSON = {
    "resourceProfiles": [{"resource": {"attributes": []}, "scopeProfiles": [{"profiles": [{
        "sampleType": {"typeStrindex": 1, "unitStrindex": 2},
        "samples": [
            {"stackIndex": 1, "attributeIndices": [1], "values": ["70", 30]},
            {"stackIndex": 2, "attributeIndices": [2], "timestampsUnixNano": ["5", "9"]}],
        "durationNano": "1000", "periodType": {"typeStrindex": 1, "unitStrindex": 2},
        "period": "10"}]}]}],
    "dictionary": {
        "mappingTable": [{}, {"memoryStart": "4096", "filenameStrindex": 6}],
        "locationTable": [{}, {"lines": [{"functionIndex": 2, "line": "7", "column": 3},
                                         {"functionIndex": 1, "line": "5"}]},
                          {"mappingIndex": 1, "address": "4660"}],
        "functionTable": [{}, {"nameStrindex": 3, "filenameStrindex": 4, "startLine": "2"},
                          {"nameStrindex": 5, "filenameStrindex": 4}],
        "stringTable": ["", "cpu", "nanoseconds", "main", "app.py", "leaf", "/lib/libc.so.6",
                        "thread.name"],
        "attributeTable": [{}, {"keyStrindex": 7, "value": {"stringValue": "worker"}},
                           {"keyStrindex": 7, "value": {"stringValueStrindex": 3}}],
        "stackTable": [{}, {"locationIndices": [2, 1]}, {"locationIndices": [1]}]}}


@suite.test("otlp: JSON is the same, and refused in another version")
def otlp_json():
    path, other = SCRATCH / "otlp.json", dict(OTLP_JSON)
    other["dictionary"] = {k: v for k, v in OTLP_JSON["dictionary"].items() if k != "stackTable"}
    for text in (json.dumps(OTLP_JSON), json.dumps(dict(reversed(OTLP_JSON.items())), indent=2)):
        path.write_text(text)
        for form in ("--collapsed", "--format=json"):
            binary = SOURCE / "tests" / "fuzz" / "corpus" / "otlp" / "all"
            same(replay(path, form, "-o", "-").replace(b"otlp.json", b"all"),
                 replay(binary, form, "-o", "-"), form)
    path.write_text(json.dumps(other))
    done = subprocess.run([FIZEAU, "replay", path], capture_output=True, text=True)
    assert done.returncode == 2 and "unsupported version of OTLP profiles" in done.stderr, done


# ---- any with any ----

@suite.test("profiles of different tools compare")
def any_with_any():
    for base, head in (("tachyon/w1.bin", "tachyon/w2.gecko.json"),
                       ("generated/node/node24.cpuprofile", "trace-event/simple.json"),
                       ("pprof/fib.pb.gz", "generated/perf/perf-fp.script.txt"),
                       ("generated/callgrind/cg.out", "generated/callgrind/cg.cyc.out"),
                       ("austin/repeat.mojo", "austin/repeat.austin"),
                       ("generated/pstats/cprofile-py314.pstats", "tachyon/w1.pstats"),
                       ("generated/pstats/cprofile-py314.pstats",
                        "generated/perf/perf-py.script.txt"),
                       ("austin/repeat.mojo", "generated/pyinstrument/pyi.speedscope.json")):
        done = subprocess.run([FIZEAU, "diff", "--force", sample(base), sample(head)],
                              capture_output=True, text=True)
        same(done.returncode, 0, f"{base} with {head}: {done.stderr}")


@suite.test("speedscope and cpuprofile: written and read back")
def written():
    source = SOURCE / "tests" / "data" / "tachyon-diff" / "base.bin"
    truth = self_by_name(source)
    for suffix in ("speedscope.json", "cpuprofile", "pb.gz", "callgrind"):
        path = SCRATCH / f"written.{suffix}"
        replay(source, "-o", str(path))
        got = self_by_name(path, "wall")
        same(sum(got.values()), sum(truth.values()), f"total in {suffix}")
        same(got, truth, suffix)
    check_speedscope(SCRATCH / "written.speedscope.json")
    check_cpuprofile(SCRATCH / "written.cpuprofile")
    annotated = json.loads((SCRATCH / "written.cpuprofile").read_text())
    places, linked = annotated["$vscode"]["locations"], 0
    for node in annotated["nodes"]:
        for tick in node.get("positionTicks", []):
            for place in places[tick["startLocationId"]]["locations"]:
                same(place["lineNumber"], tick["line"], "line of a tick")
                linked += 1
                if not place["source"]["path"].endswith(".py"):
                    raise AssertionError(f"no source: {place}")
    if not linked:
        raise AssertionError("no line is linked to its source")


def file_table():
    lines = ["| format | files | compared with | regenerated | totals | functions |\n",
             "|---|---|---|---|---|---|\n"]
    for name, (oracle, now) in ORACLES.items():
        a = accounts[name]
        lines.append(f"| {name} | {len(a['files'])} | {oracle} | {'yes' if now else ''} | "
                     f"{a['totals']:,} | {a['functions']:,} |\n")
    return "".join(lines)


@suite.test("the document's table of files lists the compared files")
def document():
    if not SAMPLES.exists():
        raise Skip("the shared reference profiles are not here")
    if len(sys.argv) > 1:
        raise Skip("needs all the tests before it")
    now = file_table()
    before, rest = DOCUMENT.read_text().split(BEGIN)
    old, after = rest.split(END)
    if os.environ.get("FZ_UPDATE"):
        DOCUMENT.write_text(before + BEGIN + now + END + after)
    elif old != now:
        raise AssertionError(f"docs/formats.md has another table; FZ_UPDATE=1 writes this one:\n{now}")


try:
    suite.main()
finally:
    shutil.rmtree(SCRATCH, ignore_errors=True)
