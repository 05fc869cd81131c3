#!/usr/bin/env python3
"""Modes: which samples are kept, and what each says about its thread, on every interpreter.

The reference is the program: it times its sections (modes_target.py), and what a section does is known. A mode
must contain the sections that belong to it, each with its time, and nothing else.
"""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import test_kernel
from livelib import (EXPECTED, SANITIZED, SOURCE, Skip, Suite, Target, Wrong, find_interpreter, fizeau, forky_command,
                     wait_until)
from watching import LASTING, PATIENCE, rows_of

TARGET = SOURCE / "tests" / "live" / "modes_target.py"

GIL = {"compute", "handling", "gen_in_handler", "handler_in_gen", "handler_of_caller",
       "after_handler", "finally_clause"}
CPU = GIL | {"nogil"}
EXCEPTION = {"handling", "handling_sleep", "gen_in_handler", "handler_in_gen", "handler_of_caller",
             "finally_clause"}
SECTIONS = CPU | EXCEPTION | {"sleeping"}
WANTED = {"wall": SECTIONS, "cpu": CPU, "gil": GIL, "exception": EXCEPTION}

# Shares of the mode's time: samples of sections that do not belong to it, and missing or surplus
# samples of those that do.
STRAY, OFF = 0.02, 0.12
if SANITIZED:
    STRAY, OFF = 0.05, 0.3
TURN = 0.03  # modes_target.TIME
# Where a layout makes no difference but to what is read, which other cases run with sanitizers, too.
SOME = ("debian-3.11", "forky-3.15") if SANITIZED else EXPECTED

suite = Suite()


def run_target(python, folder, *options, seconds=0.9):
    """(the program's times and the recorder's longest gap in seconds, path of the recording)."""
    script = shutil.copy(TARGET, pathlib.Path(folder, "target.py"))
    recording = pathlib.Path(folder, "x.fz")
    done = fizeau("run", *options, "-o", recording, "--", *python.command, python.path(script),
                  seconds)
    assert done.returncode == 0, done.stderr
    gap = re.search(r"longest gap ([\d.]+) ms", done.stderr)
    return (json.loads(done.stdout.splitlines()[-1]), float(gap[1]) / 1e3 if gap else 0), recording


def callees(recording, *options):
    """({section: seconds}, the report) of a recording, by the function that main() called."""
    done = fizeau("replay", recording, *options, "--format", "json", "-o", "-")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    each = 1e9 if report["unit"] == "ns" else 1e3
    nodes, found = report["nodes"], {}
    for node in nodes:
        above = nodes[node["parent"]]["name"] if node["parent"] >= 0 else ""
        if above == "main" and node["name"] in SECTIONS:
            found[node["name"]] = found.get(node["name"], 0) + node["total"] / each
    return found, report


def kept_waiting(name, truth):
    """Seconds for which a section could have run but got no CPU: on a crowded machine it may have
    been preempted while it held the GIL, which it then holds for as long."""
    wall, cpu, turns = truth[name]
    return max(0, wall - cpu - (turns * TURN if "sleep" in name else 0))


def distance(mode, name, value, truth, gap):
    """By how many seconds a section's time is out of range. If the host stops the machine, the
    program's CPU clock stops, but not that of the kernel's events: the program's figure is then a
    minimum. A gap of the recorder may belong to any one section."""
    wall, cpu, _ = truth[name]
    low, high = (cpu, cpu + kept_waiting(name, truth)) if mode == "cpu" else (wall, wall)
    return max(0, low - value - gap, value - high - gap)


def judge(mode, found, told, scale=1.0):
    """The sections of a mode, each with its time, and nothing else; a note about how near."""
    truth, gap = told
    clock = 1 if mode == "cpu" else 0
    wanted = WANTED[mode]
    all_true = sum(truth[name][clock] for name in wanted)
    stray = {name: v for name, v in found.items() if name not in wanted}
    most = STRAY * all_true
    if mode == "gil":
        most += sum(kept_waiting(name, truth) for name in truth if name not in wanted) / 2
    assert sum(stray.values()) <= most * scale, (mode, stray, most, truth)
    # A section that hardly ran has too few samples for a meaningful share.
    off, worst = max((distance(mode, name, found.get(name, 0) / scale, truth, gap) /
                      max(truth[name][clock], truth[name][2] * TURN / 2), name) for name in wanted)
    assert off <= OFF, (mode, worst, found.get(worst), truth[worst], found)
    return (f"{mode}: stray {100 * sum(stray.values()) / all_true:.1f} % of at most "
            f"{100 * most / all_true:.1f} %, {worst} off {100 * off:.0f} %")


def check_mode(name, mode):
    python = find_interpreter(name)
    with python.scratch() as folder:
        os.chmod(folder, 0o755)
        told, recording = run_target(python, folder, "--mode", mode)
        found, report = callees(recording)
        assert report["facts"]["mode"] == mode, report["facts"]
        assert report["metric"] == ("cpu" if mode == "cpu" else "wall"), report["metric"]
        return judge(mode, found, told)


def check_replay(name):
    """A recording of all samples, from which each mode is picked out afterwards; also as .bin."""
    python = find_interpreter(name)
    notes = []
    with python.scratch() as folder:
        os.chmod(folder, 0o755)
        told, recording = run_target(python, folder)
        binary = recording.with_suffix(".bin")
        assert fizeau("replay", recording, "-o", binary).returncode == 0
        for mode in ("wall", "cpu", "gil", "exception"):
            found, _ = callees(recording, "--mode", mode)
            notes.append(judge(mode, found, told))
            again, _ = callees(binary, "--mode", mode)
            for section, value in found.items():
                assert abs(again[section] - value) <= 0.002 + 0.02 * value, (mode, section)
        # Shares of all samples
        _, report = callees(recording)
        truth, _ = told
        states, all_wall = report["states"], report["total"] / 1e9
        for key, mode in (("gil", "gil"), ("cpu", "cpu"), ("exception", "exception")):
            least = sum(truth[s][mode == "cpu"] for s in WANTED[mode])
            share = states[key] / states["samples"]
            assert share >= (least / all_wall) * (1 - OFF), (key, share, least, all_wall)
        assert states["threads"][0]["gil"] == states["gil"], states
    return "; ".join(notes)


# A section that never has an exception, at any moment.
WITHOUT = {"compute", "nogil", "sleeping"}


def attached_until(target, path, is_enough, *options):
    """Record a program for moments until one recording is enough; samples are taken while it is stopped."""
    def look():
        done = fizeau("attach", "--blocking", "-d", "0.5", *options, "-o", path, target.pid)
        assert done.returncode == 0, done
        return "nothing was recorded" not in done.stderr and is_enough(path)
    return wait_until(look, "enough", PATIENCE)


def below_main(path, *options):
    """The functions that main() called, in the samples of a mode."""
    rows = [[frame.split(":")[1] for frame in row if frame.count(":") > 1] for row in rows_of(path, *options)]
    return {row[row.index("main") + 1] for row in rows if "main" in row[:-1]}


def check_kinds(name):
    """Every mode is a part of the whole with samples of its own kind, whether it is recorded or picked out."""
    python = find_interpreter(name)
    with Target(python, TARGET.read_text(encoding="utf-8"), 1000) as target, python.scratch() as folder:
        path = pathlib.Path(folder, "x.fz")

        def judge_kinds(path):
            whole = json.loads(fizeau("replay", path, "--format", "json", "-o", "-").stdout)["states"]
            assert fizeau("replay", path, "-o", path.with_suffix(".bin")).returncode == 0
            for mode in ("cpu", "gil", "exception"):
                found = below_main(path, "--mode", mode)
                if found - SECTIONS or mode == "exception" and found & WITHOUT:
                    raise Wrong((mode, found))
                part = callees(path, "--mode", mode)[1] if found else None
                if part and not part["states"][mode] == part["states"]["samples"] == whole[mode]:
                    raise Wrong((mode, part["states"], whole))
                again = below_main(path.with_suffix(".bin"), "--mode", mode)
                assert again == found, (again, found)
                seen[mode] |= found
            seen["wall"] |= below_main(path)
            return ("handling" in seen["exception"] and "compute" in seen["gil"] and "nogil" in seen["cpu"] and
                    "sleeping" in seen["wall"])
        seen = collections.defaultdict(set)
        attached_until(target, path, judge_kinds)
        for mode in ("gil", "exception"):
            def judge_recorded(path):
                found, report = callees(path)
                states = report["states"]
                if set(found) - SECTIONS or mode == "exception" and set(found) & WITHOUT or \
                        states[mode] != states["samples"]:
                    raise Wrong((mode, found, states))
                assert report["facts"]["mode"] == mode, report["facts"]
                return found
            attached_until(target, path, judge_recorded, "--mode", mode)


for interpreter in EXPECTED:
    suite.add(f"{interpreter}: modes have samples of their own kind", check_kinds, interpreter)


# Recording picks samples as replaying does, so a few versions show that it does.
for interpreter in EXPECTED:
    for each_mode in ("cpu", "gil", "exception"):
        if interpreter in ("pyenv-3.8", "debian-3.11", "forky-3.15"):
            suite.add(f"{interpreter}: --mode {each_mode}", check_mode, interpreter, each_mode)
    suite.add(f"{interpreter}: modes selected from a recording", check_replay, interpreter)


# ---- a thread that could run but gets no CPU ----

CROWDED = """\
import os, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
for i in range(2):
    if os.fork() == 0:
        end = time.time() + 1.5
        while time.time() < end: pass
        os._exit(0)
end = time.time() + 1.2
while time.time() < end: pass
print(time.process_time(), flush=True)
"""


@suite.test("a thread that waits for its turn on a crowded CPU is not on it")
def crowded():
    python = find_interpreter("debian-3.11")
    with python.scratch() as folder:
        script = pathlib.Path(folder, "target.py")
        script.write_text(CROWDED, encoding="utf-8")
        recording = pathlib.Path(folder, "x.fz")
        done = fizeau("run", "-o", recording, "--", *python.command, script)
        true = float(done.stdout)
        found = {}
        for mode in ("wall", "cpu"):
            out = fizeau("replay", recording, "--mode", mode, "--format", "json", "-o", "-")
            found[mode] = json.loads(out.stdout)["total"] / 1e9
        assert found["wall"] > 1.1, found
        assert abs(found["cpu"] - true) < 0.15 * true + 0.02, (found, true)
        return f"{true:.2f} s of CPU, {found['cpu']:.2f} s seen, of {found['wall']:.2f} s"


# ---- threads ----

THREADS = """\
import hashlib, threading, time
ready = threading.Barrier(4)
blob = b"x" * 1000000
used = {}
def busy():
    ready.wait()
    end, start = time.time() + 1.2, time.thread_time()
    while time.time() < end: pass
    used["busy) (b"] = time.thread_time() - start
def outside():
    ready.wait()
    end, start = time.time() + 1.2, time.thread_time()
    while time.time() < end: hashlib.sha256(blob)
    used["out) S side"] = time.thread_time() - start
def idle():
    ready.wait()
    time.sleep(1.2)
started = [threading.Thread(target=f, name=n)
           for f, n in ((busy, "busy) (b"), (outside, "out) S side"), (idle, "i d l e"))]
for t in started: t.start()
ready.wait()
for t in started: t.join()
import json
print(json.dumps(used))
"""


def record_states(python, folder, text):
    """(the path of a recording of the program's threads, the program's own figures, the report's states)."""
    script, recording = pathlib.Path(folder, "target.py"), pathlib.Path(folder, "x.fz")
    script.write_text(text, encoding="utf-8")
    done = fizeau("run", "-a", "-o", recording, "--", *python.command, python.path(script))
    report = json.loads(fizeau("replay", recording, "--format", "json", "-o", "-").stdout)
    return recording, done.stdout, report["states"]


def check_threads(name):
    python = find_interpreter(name)
    with python.scratch() as folder:
        recording, said, whole = record_states(python, folder, THREADS)
        true = json.loads(said)
        share = {t["name"]: {k: t[k] / t["samples"] for k in ("gil", "cpu")}
                 for t in whole["threads"]}
        assert {"busy) (b", "out) S side", "i d l e"} <= set(share), list(share)
        # Relative to the time that they really ran: a preempted thread keeps the GIL.
        done = fizeau("replay", recording, "--mode", "cpu", "--format", "json", "-o", "-")
        ran = {t["name"]: t["gil"] / max(t["samples"], 1)
               for t in json.loads(done.stdout)["states"]["threads"]}
        assert ran["busy) (b"] > 0.8 and ran["out) S side"] < 0.2, ran
        for thread, seconds in true.items():
            assert abs(share[thread]["cpu"] * 1.2 - seconds) < 0.06 + 0.1 * seconds, (share, true)
        assert share["i d l e"]["gil"] < 0.02 and share["i d l e"]["cpu"] < 0.02, share
        assert whole["gil"] == sum(t["gil"] for t in whole["threads"])
        table = fizeau("replay", recording).stdout
        assert re.search(r"GIL .*CPU.* thread\n", table) and "busy) (b" in table, table
        return f"holding the GIL: {100 * ran['busy) (b']:.0f} %, {100 * ran['out) S side']:.0f} %"


for interpreter in EXPECTED:
    suite.add(f"{interpreter}: states of each thread, with any name", check_threads, interpreter)


THREADS_UNTIL_KILLED = """\
import threading, time
ready = threading.Barrier(4)
def busy():
    ready.wait()
    while True: pass
def idle():
    ready.wait()
    time.sleep(1000)
for f, n in ((busy, "busy) (b"), (idle, "out) S side"), (idle, "i d l e")):
    threading.Thread(target=f, name=n, daemon=True).start()
ready.wait()
print("up", flush=True)
time.sleep(1000)
"""


def check_names(name):
    python = find_interpreter(name)
    with Target(python, THREADS_UNTIL_KILLED) as target, python.scratch() as folder:
        path = pathlib.Path(folder, "x.fz")

        def are_seen(path):
            states = json.loads(fizeau("replay", path, "--format", "json", "-o", "-").stdout)["states"]
            if states["gil"] != sum(t["gil"] for t in states["threads"]):
                raise Wrong(states)
            return states["cpu"] and {"busy) (b", "out) S side", "i d l e"} <= {t["name"] for t in states["threads"]}
        attached_until(target, path, are_seen, "-a")
        table = fizeau("replay", path).stdout
        assert re.search(r"GIL .*CPU.* thread\n", table) and "busy) (b" in table, table


for interpreter in EXPECTED:
    suite.add(f"{interpreter}: threads with any name", check_names, interpreter)


CONTENDED = """\
import threading, time
end = time.time() + 1.2
def busy():
    while time.time() < end:
        sum(range(500))
def idle(): time.sleep(1.2)
started = [threading.Thread(target=f, name=n) for f, n in ((busy, "one"), (busy, "other"), (idle, "idle"))]
for t in started: t.start()
for t in started: t.join()
"""


def check_contention(name):
    """Threads waiting for the GIL are reported, even in interpreters that do not record it."""
    python = find_interpreter(name)
    with python.scratch() as folder:
        _, _, states = record_states(python, folder, CONTENDED)
        waits = {t["name"]: t["waiting"] / t["samples"] for t in states["threads"]}
        assert waits["idle"] < 0.02, waits
        assert min(waits["one"], waits["other"]) > 0.05, waits
        return f"waiting for it: {100 * waits['one']:.0f} %, {100 * waits['other']:.0f} %"


for interpreter in SOME:
    suite.add(f"{interpreter}: who waits for the GIL", check_contention, interpreter)


# ---- markers ----

MARKERS = """\
import gc, time
def spin(seconds=0.02):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end: pass
def key(x):
    spin()
    return x
def through_sorted(): sorted([2, 1], key=key)
def through_map(): list(map(key, [1]))
def plain(): key(1)
def callback(phase, info):
    if phase == "stop": spin()
def collect(): gc.collect()
class Node: pass
keep = [Node() for i in range(300000)]
for node in keep: node.me = node
gc.disable()
gc.callbacks.append(callback)
def main():
    end = time.perf_counter() + 0.7
    while time.perf_counter() < end:
        through_sorted(); through_map(); plain(); collect()
main()
"""


def marked_paths(python, folder, *options):
    """({path below main(): its part}, the report)."""
    script = pathlib.Path(folder, "target.py")
    script.write_text(MARKERS, encoding="utf-8")
    recording = pathlib.Path(folder, "x.fz")
    fizeau("run", *options, "-o", recording, "--", *python.command, python.path(script))
    folded = fizeau("replay", recording, "--format", "folded", "-o", "-").stdout
    report = json.loads(fizeau("replay", recording, "--format", "json", "-o", "-").stdout)
    found = {}
    for line in folded.splitlines():
        path, _, count = line.rpartition(" ")
        if ";main;" in path:
            path = path.partition(";main;")[2].removesuffix(";spin")
            found[path] = found.get(path, 0) + int(count)
    total = sum(found.values())
    return {path: n / total for path, n in found.items() if n > 0.02 * total}, report


def check_markers(name):
    """<native> where C code is between frames and nowhere else; <GC> on what triggered it, which
    3.15 tells: what else runs during a collection is above it."""
    python = find_interpreter(name)
    tells_native = python.version >= (3, 11)
    with python.scratch() as folder:
        os.chmod(folder, 0o755)
        found, report = marked_paths(python, folder, *(["--native"] if tells_native else []))
        sign = "<native>;" if tells_native else ""
        assert {f"through_sorted;{sign}key", f"through_map;{sign}key", "plain;key",
                "collect;<GC>"} <= set(found), found
        if tells_native:
            assert "plain;<native>;key" not in found and "through_sorted;key" not in found, found
            assert not any(path.endswith("<native>") for path in found), found
        if python.version >= (3, 15):
            during = [path for path in found if path.startswith("collect;<GC>;")
                      and path.endswith("callback")]
            assert during and not any("callback;<GC>" in path for path in found), found
        assert report["states"]["gc"] > 0.02 * report["states"]["samples"], report["states"]


def check_markers_stopped(name):
    """The same for a program that is stopped for each sample: no sample has a marker where none is due."""
    python = find_interpreter(name)
    tells_native = python.version >= (3, 11)
    sign = "<native>;" if tells_native else ""
    wanted = {f"through_sorted;{sign}key", f"through_map;{sign}key", "plain;key", "collect;<GC>"}
    endless = MARKERS.replace("time.perf_counter() < end:\n        through",
                                                          "True:\n        through").replace(
        "def main():\n", "def main():\n    print('up', flush=True)\n")
    seen = set()
    with Target(python, endless) as target, python.scratch() as folder:
        path = pathlib.Path(folder, "x.fz")

        def judge_markers(path):
            for row in rows_of(path):
                found = ";".join(frame.split(":")[1] if frame.count(":") > 1 else frame for frame in row)
                found = found.partition(";main;")[2].removesuffix(";spin")
                if tells_native and (found.endswith("<native>") or
                                     re.search("plain;<native>|(through_sorted|through_map);key", found)):
                    raise Wrong(row)
                seen.add(found)
            return wanted <= seen
        attached_until(target, path, judge_markers, *(["--native"] if tells_native else []))

        def judge_none(path):
            rows = str(rows_of(path))
            if "<GC>" in rows or "<native>" in rows:
                raise Wrong(rows)
            return "collect" in rows
        attached_until(target, path, judge_none, "--no-gc")


def check_no_markers(name):
    python = find_interpreter(name)
    with python.scratch() as folder:
        os.chmod(folder, 0o755)
        found, report = marked_paths(python, folder, "--no-gc")
        assert not any("<" in path for path in found), found
        assert report["states"]["gc"] > 0.02 * report["states"]["samples"], report["states"]


def check_native_refused(name):
    python = find_interpreter(name)
    with python.scratch() as folder:
        done = fizeau("run", "--native", "-o", f"{folder}/x.fz", "--", *python.command, "-c",
                      "import time; time.sleep(0.2)")
        assert "--native requires Python 3.11 or later, not 3." in done.stderr, done.stderr


for interpreter in EXPECTED:
    suite.add(f"{interpreter}: <native> and <GC>", check_markers, interpreter)
    suite.add(f"{interpreter}: <native> and <GC>, stopped for each sample", check_markers_stopped, interpreter)
suite.add("debian-3.11: --no-gc", check_no_markers, "debian-3.11")
suite.add("forky-3.15: --no-gc", check_no_markers, "forky-3.15")
suite.add("pyenv-3.10: --native is refused", check_native_refused, "pyenv-3.10")


# ---- refusals ----

# Each thread lives one and a half periods of the sampler. A thread may be preempted while it reads its CPU time, so it
# reads that within the wall time; otherwise only the recorder would count the wait.
BIRTHS = """\
import threading, time
spent = []
def handle():
    begin, used = time.monotonic(), time.thread_time()
    while time.monotonic() < begin + 0.0015:
        pass
    used = time.thread_time() - used
    spent.append((time.monotonic() - begin, used))
for _ in range(300):
    threading.Thread(target=handle).start()
    time.sleep(0.004)
print([sum(part) for part in zip(*spent)])
"""


# The same if others use the same processor.
CROWDED_BIRTHS = """\
import os, signal, subprocess, sys
os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])
others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
""" + BIRTHS + "for other in others: other.kill()\n"


def check_births(interpreter, mode, *options, text=BIRTHS):
    python = find_interpreter(interpreter)
    with python.scratch() as folder:
        script, recording = pathlib.Path(folder, "births.py"), pathlib.Path(folder, "x.fz")
        script.write_text(text)
        done = fizeau("run", "-a", "--mode", mode, *options, "-o", recording, "--",
                      *python.command, python.path(script))
        if any(words in done.stderr for words in test_kernel.NEVER):
            raise Skip(done.stderr.strip())
        assert done.returncode == 0, done
        wall, cpu = json.loads(done.stdout.splitlines()[-1])
        for each, spent in (("wall", wall), ("cpu", cpu)) if mode == "wall" else (("cpu", cpu),):
            text = fizeau("replay", recording, "--mode", each, "--format", "json", "-o", "-").stdout
            found = sum(node["total"] for node in json.loads(text)["nodes"] if node["name"] == "handle") / 1e9
            assert abs(found - spent) < (0.25 if SANITIZED else 0.2) * spent, (each, found, spent)


@suite.test("threads that live for a moment have their time where others want the same processor")
def crowded_births():
    check_births("debian-3.11", "wall", text=CROWDED_BIRTHS)


@suite.test("the same, and their exact waits, in the kernel")
def crowded_births_in_the_kernel():
    check_births("debian-3.11", "wall", "--engine", "bpf", text=CROWDED_BIRTHS)


@suite.test("the reader by the CPU clock reports missing time of short-lived threads")
def missing_time():
    longer = BIRTHS.replace("range(300)", "range(3)").replace("0.0015", "0.3").replace("0.004", "0.5")
    for text, missing in ((BIRTHS, True), (longer, False)):
        with tempfile.TemporaryDirectory() as folder:
            script, recording = pathlib.Path(folder, "births.py"), pathlib.Path(folder, "x.fz")
            script.write_text(text + "print([time.process_time(), time.thread_time()])\n")
            done = fizeau("run", "-a", "--engine", "read", "--mode", "cpu", "-o", recording, script)
            assert done.returncode == 0 and ("of the CPU time is missing" in done.stderr) == missing, done
            shown = json.loads(fizeau("replay", recording, "--format", "json", "-o", "-").stdout)
            found = sum(node["total"] for node in shown["nodes"] if node["name"] == "Thread._bootstrap") / 1e9
            # Also what it takes to begin and to end a thread, which its own clock does not see.
            used, of_main = json.loads(done.stdout.splitlines()[-1])
            spent = used - of_main
            told = float(shown["facts"]["missing"]) * used if missing else 0
            assert abs(found + told - spent) < 0.15 * spent, (found, told, spent)


BESIDE_C = """
#include <pthread.h>
#include <time.h>
static void *compute(void *unused)
{
	struct timespec t;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while (t.tv_nsec < 400000000);
	return unused;
}
void beside(pthread_t *thread) { pthread_create(thread, 0, compute, 0); }
"""
BESIDE = """
import ctypes, sys, threading, time
library = ctypes.CDLL(sys.argv[1])
library.beside(ctypes.byref(ctypes.c_ulong()))
def compute():
    while time.thread_time() < 0.6:
        pass
thread = threading.Thread(target=compute)
thread.start()
thread.join()
time.sleep(1)
print(time.process_time())
"""


@suite.test("the reader by the CPU clock reports missing time of threads without Python")
def beside():
    with tempfile.TemporaryDirectory() as folder:
        source, library, script, recording = (pathlib.Path(folder, name) for name in ("c.c", "c.so", "x.py", "x.fz"))
        source.write_text(BESIDE_C)
        script.write_text(BESIDE)
        subprocess.run(["gcc", "-shared", "-fPIC", "-pthread", "-o", library, source], check=True)
        for native, missing in ((), True), (("--native=stacks",), False):
            done = fizeau("run", "-a", "--engine", "read", "--mode", "cpu", *native, "-o", recording, script, library)
            assert done.returncode == 0 and ("1 thread used" in done.stderr) == missing, done
            shown = json.loads(fizeau("replay", recording, "--format", "json", "-o", "-").stdout)
            used, found = float(done.stdout), shown["total"] / 1e9
            told = float(shown["facts"]["missing.silent"]) * used if missing else 0
            assert abs(found + told - used) < 0.1 * used and "missing" not in shown["facts"], (found, told, used)


WAITING_C = BESIDE_C.replace("#include <time.h>", "#include <time.h>\n#include <unistd.h>\nint done;").replace(
    "\treturn unused;", "\t__atomic_store_n(&done, 1, __ATOMIC_SEQ_CST);\n\tfor (;;)\n\t\tpause();\n\treturn unused;")
WAITING = LASTING + """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
last()  # the time of a thread before it was first read is not counted
library.beside(ctypes.byref(ctypes.c_ulong()))
while not ctypes.c_int.in_dll(library, "done").value:
    time.sleep(0.01)
last(300)  # threads are listed each tenth of a second
"""


@suite.test("a thread that used CPU time and has no Python stack is reported by both clocks")
def silent():
    with tempfile.TemporaryDirectory() as folder:
        source, library, script, recording = (pathlib.Path(folder, name) for name in ("c.c", "c.so", "x.py", "x.fz"))
        source.write_text(WAITING_C)
        script.write_text(WAITING)
        subprocess.run(["gcc", "-shared", "-fPIC", "-pthread", "-o", library, source], check=True)
        for words, line in ((("-a",), "without a Python stack (--native=stacks"), ((), "and was not sampled (-a"),
                            (("-a", "--mode", "cpu", "--engine", "read"), "without a Python stack (--native=stacks")):
            done = fizeau("run", "--engine", "read", *words, "-o", recording, script, library)
            assert done.returncode == 0 and "; 1 thread used " in done.stderr and line in done.stderr, done
            shown = json.loads(fizeau("replay", recording, "--format", "json", "-o", "-").stdout)
            assert shown["facts"]["silent"].startswith("1 thread used "), shown["facts"]


for interpreter in SOME:
    suite.add(f"{interpreter}: threads that live for a moment have their time", check_births, interpreter, "wall")
# The layouts of threads that the kernel's engine reads, from the oldest to the newest.
for interpreter in () if SANITIZED else ("debian-3.11", "forky-3.13", "forky-3.15"):
    for mode in ("cpu", "wall"):
        suite.add(f"{interpreter}: threads that live for a moment have their time, --engine bpf --mode {mode}",
                  check_births, interpreter, mode, "--engine", "bpf")


@suite.test("contradictory options are refused before anything starts")
def refused():
    for words, say in (
            (("run", "--mode", "cpu", "--clock", "wall", "true"), "--mode cpu cannot be combined with --clock wall"),
            (("run", "--mode", "wall", "--clock", "cpu", "true"), "--mode wall cannot be combined with --clock cpu"),
            (("run", "--mode", "cpu", "-r", "max", "true"), "--mode cpu requires a sampling rate"),
            (("run", "--mode", "warp", "true"), "warp")):
        done = fizeau(*words)
        assert done.returncode == 125 or done.returncode == 2, done
        assert say in done.stderr, done.stderr
    with tempfile.TemporaryDirectory() as folder:
        folded = pathlib.Path(folder, "x.folded")
        folded.write_text("a;b 3\n")
        done = fizeau("replay", "--mode", "gil", folded)
        assert done.returncode == 2 and "has no samples of this mode" in done.stderr, done.stderr


TICKING = """
import json, os, sys, time
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
except OSError:
    pass  # then it is in time unless others use the processor
own = {}

def body(until):
    while time.perf_counter() < until:
        pass

def first(until):
    body(until)

def second(until):
    body(until)

def third(until):
    body(until)

start = time.perf_counter()
for tick in range(1, 301):
    time.sleep(max(0, start + tick * 0.01 - time.perf_counter()))
    for function in first, second, third:
        begin = time.perf_counter()
        function(begin + 0.0005)
        own[function.__name__] = own.get(function.__name__, 0) + time.perf_counter() - begin
print(json.dumps(own))
"""


@suite.test("a program whose clock ticks with the sampler's is seen at all of its places")
def ticking():
    with tempfile.TemporaryDirectory() as folder:
        script, recording = pathlib.Path(folder, "tick.py"), pathlib.Path(folder, "x.fz")
        script.write_text(TICKING)
        done = fizeau("run", "-o", recording, script)
        assert done.returncode == 0, done.stderr
        own = json.loads(done.stdout)
        done = fizeau("replay", recording, "--format", "json", "-o", "-")
        nodes, seen = json.loads(done.stdout)["nodes"], dict.fromkeys(own, 0)
        for node in nodes:
            if node["name"] in seen:
                seen[node["name"]] += node["total"] / 1e9
    off = {name: round(seen[name] / own[name], 2) for name in own}
    assert all(0.7 < ratio < 1.3 for ratio in off.values()), (off, own)
    return str(off)


# ---- CPython's own profiler on the same program ----

def tachyon(folder, *words):
    command = forky_command("python3.15", "-m", "profiling.sampling", *words)
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def check_tachyon(mode):
    python = find_interpreter("forky-3.15")
    notes = []
    with python.scratch() as folder:
        os.chmod(folder, 0o755)
        _, recording = run_target(python, folder, "--mode", mode)
        ours, _ = callees(recording)
        theirs_path = pathlib.Path(folder, "theirs.bin")
        done = tachyon(folder, "run", "--mode", mode, "--binary", "-o", python.path(theirs_path),
                       python.path(pathlib.Path(folder, "target.py")), "1.2")
        assert theirs_path.exists() and theirs_path.stat().st_size, done.stderr
        theirs, report = callees(theirs_path)
        assert report["facts"]["mode"] == mode, report["facts"]
        sums = sum(ours.values()), sum(theirs.values())
        for section in set(ours) | set(theirs):
            a, b = ours.get(section, 0) / sums[0], theirs.get(section, 0) / sums[1]
            # Tachyon only reads exceptions outside of generators.
            if mode == "exception" and section == "handler_in_gen":
                continue
            notes.append(f"{section} {100 * a:.0f}/{100 * b:.0f}")
            assert abs(a - b) < 0.06, (section, a, b, ours, theirs)
        # The same recording, replayed by both
        out = pathlib.Path(folder, "again.txt")
        done = tachyon(folder, "replay", python.path(theirs_path), "--collapsed", "-o",
                       python.path(out))
        mine = fizeau("replay", theirs_path, "--collapsed", "-o", "-").stdout
        assert out.read_text() == mine, done.stderr
    return ", ".join(sorted(notes))


for each_mode in ("cpu", "gil", "exception"):
    suite.add(f"shares as CPython's own profiler has them: --mode {each_mode}", check_tachyon,
              each_mode)

if __name__ == "__main__":
    suite.main()
