# SPDX-License-Identifier: MIT
"""The cost of recording: the recorder's CPU, the highest rate, the target's slowdown, the start of
`run`, bytes on disk.

The CPU is the recorder's own, user and system, less what it takes to start and to end: that is
measured in the same rounds by a recording of one second at 1 Hz.
"""

import os
import subprocess
import time

from measure import Skip, Target, Values, interleave, run
from peers import FIZEAU, Austin, Fizeau, Kernel, Perf, Tachyon, Timer, python, rooted
from table import Group, Row


class Bench:
    """What all rows need: the scratch folder, the tools, how long and how often."""

    def __init__(self, scratch, quick, patience, say):
        self.scratch, self.quick, self.patience, self.say = scratch, quick, patience, say
        self.fizeau, self.tachyon = Fizeau(scratch), Tachyon(scratch)
        self.austin, self.perf, self.timer = Austin(scratch), Perf(scratch), Timer(scratch)

    def choose(self, full, quick):
        return quick if self.quick else full

    def interleave(self, rounds, cases, what):
        return interleave(rounds, cases, self.patience, lambda text: self.say(f"{what}: {text}"))

    def target(self, script, *args, minor="3.15"):
        return Target([*python(minor), self.scratch.inside(script), *args])


def add_skipped(group, skipped):
    """Say once what was not measured and why."""
    for name, reason in skipped.items():
        note = f"not measured: {name}: {reason}"
        if note not in group.notes:
            group.notes.append(note)


def timed(bench, tools, pid, rounds, seconds, rate, threads, what, base_rate=1):
    """{name: [(recording, seconds of CPU without start and end)]} of interleaved recordings."""
    def pair(tool):
        base = tool.attach(pid, 1, base_rate, threads).usage.cpu
        recording = tool.attach(pid, seconds, rate, threads)
        return recording, max(recording.usage.cpu - base, 0)
    return bench.interleave(rounds, {name: (lambda tool=tool: pair(tool))
                                     for name, tool in tools.items()}, what)


def percent(results):
    """CPU at 1,000 samples a second; what a busy machine made a recorder miss is not counted as
    cheap."""
    return Values(100 * 1000 * cpu / max(recording.samples, 1) for recording, cpu in results)


def cost(results):
    """Microseconds of CPU a sample."""
    return Values(1e6 * cpu / max(recording.samples, 1) for recording, cpu in results)


def add_row(group, results, ours, theirs, read, **row):
    """A row of two tools' results; the half of one that was skipped stays empty."""
    halves = [read(results[name]) if name in results else None for name in (ours, theirs)]
    if any(halves):
        group.rows.append(Row(ours=halves[0], peer=theirs if halves[1] else "",
                              theirs=halves[1], **row))


def cpu_at_1khz(bench):
    group = Group("CPU of the recorder at 1 kHz", "% of a core")
    rounds, seconds = bench.choose((5, 3), (2, 2))
    for depth, goal, best in ((10, 0.7, 5.7), (100, 1.0, 6.3)):
        tools = {"fizeau": bench.fizeau, "Tachyon": bench.tachyon, "perf": bench.perf}
        if depth == 10:
            tools["timer"], tools["fizeau again"] = bench.timer, bench.fizeau
        with bench.target("depth.py", depth) as target:
            results, skipped = timed(bench, tools, target.pid, rounds, seconds, 1000, 1,
                                     f"1 kHz, depth {depth}")
        add_row(group, results, "fizeau", "Tachyon", percent, name=f"depth {depth}", goal=goal,
                best=best)
        add_row(group, results, "fizeau", "perf", percent, name=f"depth {depth}",
                note="perf -g: native frames, taken by the kernel")
        if depth == 10:
            add_row(group, results, "fizeau", "timer", percent, name="depth 10",
                    note="timer: a program that wakes up as often and does nothing")
            add_row(group, results, "fizeau again", "fizeau", percent,
                    name="the same tool twice (noise)")
        add_skipped(group, skipped)
    with_austin(bench, group, rounds, seconds)
    return group


def engines(bench):
    group = Group("Engines: CPU of the recorder and of its ticks in the kernel, by CPU time",
                  "% of a core at that rate")
    rounds, seconds = bench.choose((5, 3), (2, 2))
    tools = {"kernel": Kernel(bench.scratch),
             "reader": Fizeau(bench.scratch, "--engine", "read", "--mode", "cpu"),
             "Tachyon": bench.tachyon}
    for rate, depth, goal in ((1000, 10, 0.35), (1000, 100, 0.6), (10000, 10, 2), (10000, 100, None)):
        with bench.target("depth.py", depth) as target:
            results, skipped = timed(bench, tools, target.pid, rounds, seconds, rate, 1,
                                     f"engines, {rate} Hz, depth {depth}", base_rate=100)

        def at_rate(results, rate=rate):
            return Values(100 * rate * cpu / max(recording.samples, 1) for recording, cpu in results)

        for other in ("reader", "Tachyon"):
            add_row(group, results, "kernel", other, at_rate, goal=goal,
                    name=f"{rate // 1000} kHz, depth {depth}")
        if "kernel" in results:
            ticks = Values(recording.each for recording, _ in results["kernel"])
            group.rows.append(Row(ours=ticks, peer="", theirs=None,
                                  name=f"us in the kernel a tick, {rate // 1000} kHz, depth {depth}"))
        add_skipped(group, skipped)
    return group


def with_austin(bench, group, rounds, seconds):
    """austin knows CPython up to 3.13, so that is what both watch."""
    tools = {"fizeau": bench.fizeau, "austin": bench.austin}
    try:
        with bench.target("depth.py", 10, minor="3.13") as target:
            results, skipped = timed(bench, tools, target.pid, rounds, seconds, 1000, 1,
                                     "1 kHz, 3.13")
    except Skip as reason:
        group.notes.append(f"not measured: austin: {reason}")
        return
    add_row(group, results, "fizeau", "austin", percent, name="depth 10, CPython 3.13")
    add_skipped(group, skipped)


TOP = (  # depth, us of CPU a sample: goal and best known, samples a second: goal and best known
    (10, 2.5, 7.8, 400e3, 127e3),
    (100, 5, 13.5, 200e3, 74e3),
    (500, 15, 27, None, None),
)


def top_rate(bench):
    group = Group("Back to back: fizeau -r max, Tachyon -r 1000khz, to a file", "given in each row")
    rounds, seconds = bench.choose((5, 2), (2, 1))
    tools = {"fizeau": bench.fizeau, "Tachyon": bench.tachyon}

    def rate(results):
        return Values(recording.samples / recording.seconds for recording, _ in results)

    for depth, goal, best, rate_goal, rate_best in TOP:
        with bench.target("depth.py", depth) as target:
            results, skipped = timed(bench, tools, target.pid, rounds, seconds, 0, 1,
                                     f"top rate, depth {depth}")
        cut = "Tachyon keeps the innermost 256 frames" if depth > 256 else ""
        add_row(group, results, "fizeau", "Tachyon", cost, goal=goal, best=best, note=cut,
                name=f"us of CPU a sample, depth {depth}")
        add_row(group, results, "fizeau", "Tachyon", rate, name=f"samples a second, depth {depth}",
                goal=rate_goal, best=rate_best, more=True)
        add_skipped(group, skipped)
    with bench.target("threads.py", 50) as target:
        results, skipped = timed(bench, tools, target.pid, rounds, seconds, 0, 51,
                                 "top rate, 50 threads")
    add_row(group, results, "fizeau", "Tachyon", cost, name="us of CPU an instant, 50 threads")
    add_row(group, results, "fizeau", "Tachyon", rate, name="instants a second, 50 threads",
            goal=25e3, best=5e3, more=True)
    add_skipped(group, skipped)
    return group


def bytes_on_disk(bench):
    group = Group("Bytes a sample on disk, 1 kHz", "bytes")
    seconds = bench.choose(10, 3)
    tools = {"fizeau": bench.fizeau, "Tachyon": bench.tachyon}

    def size(results):
        return Values(recording.size / max(recording.samples, 1) for recording in results)

    for name, script, depth, goal, best in (
            ("one busy thread", "depth.py", 10, 2.5, 2.9),
            ("hostile target", "hostile_target.py", 10, None, None)):
        with bench.target(script, depth) as target:
            results, skipped = bench.interleave(
                bench.choose(2, 1), {name: (lambda tool=tool: tool.attach(target.pid, seconds))
                                     for name, tool in tools.items()}, "bytes a sample")
            fixed, _ = bench.interleave(
                1, {name: (lambda tool=tool: tool.attach(target.pid, 1, 1).size)
                    for name, tool in tools.items()}, "bytes a sample")
        add_row(group, results, "fizeau", "Tachyon", size, name=name, goal=goal, best=best,
                note=f"the whole file after {seconds} s, with what does not grow: " + ", ".join(
                    f"{name} {sizes[0]:,} bytes" for name, sizes in fixed.items()))
        add_skipped(group, skipped)
    return group


class Work:
    """Equal pieces of work with or without somebody watching; wall and CPU seconds of one. The
    target has a core; the recorder has another, or the same one to share."""

    def __init__(self, bench, amount):
        self.bench, self.amount = bench, amount
        cores = sorted(os.sched_getaffinity(0))
        self.core, self.other_core = cores[0], cores[-1]

    def done(self, tool=None, rate=0, share=False, blocking=False):
        bench = self.bench
        process = subprocess.Popen(["taskset", "-c", str(self.core), *python(),
                                    bench.scratch.inside("depth.py"), "10", str(self.amount)],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        process.stdout.readline()
        recorder = None
        if tool:
            command = tool.command(process.pid, 60, rate, "slow" + tool.suffix, 1, False)
            if blocking:
                command.insert(-1, "--blocking")
            core = self.core if share else self.other_core
            recorder = subprocess.Popen(["taskset", "-c", str(core), *map(str, command)],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.5)  # until it samples
        process.stdin.write("go\n")
        process.stdin.flush()
        wall, cpu = map(float, process.stdout.readline().split())
        process.wait()
        process.stdin.close()
        process.stdout.close()
        if recorder and recorder.wait(60):
            raise Skip(f"{tool.name} ended with {recorder.returncode}")
        return wall, cpu


WATCHED = (  # name, goal, best known, arguments of Work.done
    ("1 kHz", 0.5, 0, {"rate": 1000}),
    ("10 kHz", 2, 2, {"rate": 10000}),
    ("1 kHz on the target's core", None, None, {"rate": 1000, "share": True}),
    ("10 kHz on the target's core", None, None, {"rate": 10000, "share": True}),
    ("1 kHz blocking", None, 8, {"rate": 1000, "blocking": True}),
)


def slowdown(bench):
    group = Group("Slowdown of the program that is watched, by its median piece of work", "% more")
    work = Work(bench, bench.choose(200, 80))
    tools = (bench.fizeau, bench.tachyon)
    cases = {("none", 0): work.done, ("none", 1): work.done}
    for name, _, _, how in WATCHED:
        for tool in tools:
            cases[name, tool.name] = lambda tool=tool, how=how: work.done(tool, **how)
    results, skipped = interleave(bench.choose(9, 3), cases, bench.patience,
                                  lambda text: bench.say(f"slowdown: {text}"))

    def more(case, part):
        if case not in results or ("none", 0) not in results:
            return None
        base = Values(result[part] for result in results["none", 0])
        return Values(result[part] for result in results[case]).over(base).map(
            lambda ratio: 100 * (ratio - 1))

    for name, goal, best, _ in WATCHED:
        for part, what in ((0, "wall"), (1, "CPU")):
            ours, theirs = (more((name, tool.name), part) for tool in tools)
            if ours or theirs:
                group.rows.append(SlowdownRow(f"{name}, {what}", ours, "Tachyon" if theirs else "",
                                              theirs, goal, best))
    for part, what in ((0, "wall"), (1, "CPU")):
        noise = more(("none", 1), part)
        if noise:
            group.rows.append(SlowdownRow(f"nobody watching (noise), {what}", noise))
    add_skipped(group, {" ".join(map(str, case)): why for case, why in skipped.items()})
    return group


class SlowdownRow(Row):
    """Percents around zero have no ratio."""

    def ratio(self):
        return None

    def wanted(self):
        return None


def start_of_run(bench):
    group = Group("Start of `run`: an empty script over the bare interpreter", "ms more")
    command = [*python(), bench.scratch.inside("empty.py")]
    ours = bench.scratch.outside / "start.fz"
    cases = {
        "bare": lambda: run(command).wall,
        "bare again": lambda: run(command).wall,
        "fizeau": lambda: run([FIZEAU, "run", "-o", ours, "--", *command]).wall,
        "Tachyon": lambda: run([*rooted("python3.15"), "-m", "profiling.sampling", "run",
                                "--binary", "-o", bench.scratch.inside("start.bin"),
                                bench.scratch.inside("empty.py")], status=None).wall,
    }
    results, skipped = bench.interleave(bench.choose(25, 7), cases, "start of run")
    over = {name: Values(values).minus(Values(results["bare"])).map(lambda s: 1000 * s)
            for name, values in results.items() if name != "bare"}
    add_row(group, over, "fizeau", "Tachyon", lambda values: values, name="run", goal=5, best=120)
    group.rows.append(SlowdownRow("bare twice (noise)", over["bare again"]))
    add_skipped(group, skipped)
    return group


# Tachyon's own options. All but --blocking have the goal of the plain mode. --mode cpu is missing:
# the CPU clock always has a rate and never runs back to back.
MODES = (("--mode wall", 2.5), ("--mode gil", 2.5), ("--native", 2.5), ("--no-gc", 2.5),
         ("--opcodes", 2.5), ("--blocking", None))


def modes(bench):
    group = Group("Modes and kinds of frames, back to back, depth 10", "us of CPU a sample")
    rounds, seconds = bench.choose((3, 2), (2, 1))

    for options, goal in MODES:
        words = options.split()
        tools = {"fizeau": Fizeau(bench.scratch, *words), "Tachyon": Tachyon(bench.scratch, *words)}
        with bench.target("depth.py", 10) as target:
            results, skipped = timed(bench, tools, target.pid, rounds, seconds, 0, 1, options)
        add_row(group, results, "fizeau", "Tachyon", cost, name=options, goal=goal)
        add_skipped(group, skipped)
    return group


ROWS = {"cpu": cpu_at_1khz, "top": top_rate, "engines": engines, "modes": modes, "slowdown": slowdown,
        "start": start_of_run, "bytes": bytes_on_disk}
