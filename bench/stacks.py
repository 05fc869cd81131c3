# SPDX-License-Identifier: MIT
"""How many sampled stacks are wrong, and how many were thrown away, on a target that is hostile to
readers that do not stop it.

The target and the oracle are the live tests' own: every line of tests/live/reader_target.py that
calls something calls functions of that file, and test_reader.Oracle reads off its syntax tree which
line of which function may call what. A sampled stack is right when it starts at the root, each of
its edges is one of those, and the frames that stay below are all there.
"""

import functools

from measure import Skip, Target, Values
from peers import FIZEAU, elsewhere, run
from recording import add_row, add_skipped
from table import Group
from test_reader import Oracle


def frame(text):
    """[function, file, line] of "file:function:line"."""
    file, function, line = text.rsplit(":", 2)
    return [function, file, int(line)]


def is_frame(text):
    """False for markers of threads and processes, and for what is not code."""
    line = text.rpartition(":")[2].lstrip("-")
    return text.count(":") >= 2 and line.isdigit() and "<GC>" not in text


def judge(path, oracle, depth):
    """(samples, wrong, unreadable) of a collapsed file."""
    right = functools.cache(lambda stack: not oracle.judge(
        {"frames": [frame(part) for part in stack.split(";") if is_frame(part)]}, depth))
    total = wrong = unreadable = 0
    with open(path, errors="replace") as file:
        for line in file:
            stack, _, count = line.rstrip("\n").rpartition(" ")
            if line.startswith("#") or not count.isdigit():
                continue
            # austin writes a line a sample with its microseconds.
            count = 1 if path.suffix == ".austin" else int(count)
            total += count
            if "[unreadable]" in stack or ":INVALID:" in stack:
                unreadable += count
            elif not right(stack):
                wrong += count
    return total, wrong, unreadable


class Result:
    def __init__(self, wrong, rejected):
        self.wrong, self.rejected = wrong, rejected


def record(bench, tool, pid, seconds, oracle, depth):
    if tool is bench.fizeau:
        recording = tool.attach(pid, seconds, 10000)
        path = recording.path.with_suffix(".txt")
        run([FIZEAU, "replay", "--collapsed", "-o", path, recording.path])
    else:
        recording = tool.attach(pid, seconds, 10000, text=True)
        path = recording.path
    total, wrong, unreadable = judge(path, oracle, depth)
    if not total:
        raise Skip(f"{tool.name} recorded no stack")
    rejected = 100 * unreadable / total if recording.rejected is None else recording.rejected
    return Result(100 * wrong / max(total - unreadable, 1), rejected)


# The interpreter, its peer that can read it, and goals for wrong and rejected percent.
TARGETS = (
    ("forky-3.15", "Tachyon", 0.02, 1, 0.49, 2),
    ("forky-3.14", None, 0.02, 1, None, None),
    ("forky-3.13", "austin", 0.02, 1, None, None),
    ("pyenv-3.12", None, 1, 5, None, None),
    ("debian-3.11", None, 1, 5, None, None),
    ("pyenv-3.10", None, None, None, None, None),
    ("pyenv-3.9", None, None, None, None, None),
    ("pyenv-3.8", None, None, None, None, None),
)


def hostile(bench):
    group = Group("Stacks of a hostile target at 10 kHz, not stopped", "% of the samples")
    seconds = bench.choose(4, 1)
    for name, peer, wrong, rejected, best_wrong, best_rejected in TARGETS:
        if bench.quick and not peer:
            continue
        tools = {"fizeau": bench.fizeau}
        if peer:
            tools[peer] = {"Tachyon": bench.tachyon, "austin": bench.austin}[peer]
        for depth in bench.choose((5, 80), (5,)):
            measure(bench, group, name, tools, depth, seconds,
                    (wrong, rejected, best_wrong, best_rejected))
    return group


def measure(bench, group, name, tools, depth, seconds, goals):
    wrong, rejected, best_wrong, best_rejected = goals
    oracle = Oracle()
    try:
        command = elsewhere(name)
        script = (bench.scratch.inside if name.startswith("forky")
                  else bench.scratch.outside.joinpath)("hostile_target.py")
        with Target([*command, script, depth]) as target:
            def sample(tool):
                return lambda: record(bench, tool, target.pid, seconds, oracle, depth)
            cases = {key: sample(tool) for key, tool in tools.items()}
            results, skipped = bench.interleave(bench.choose(3, 1), cases, f"{name} depth {depth}")
    except Skip as reason:
        group.notes.append(f"not measured: {name}: {reason}")
        return
    peer = next((key for key in tools if key != "fizeau"), "")
    label = f"CPython {name.split('-')[1]}, depth {depth}"
    add_row(group, results, "fizeau", peer, lambda r: Values(x.wrong for x in r),
            name=f"{label}: wrong", goal=wrong, best=best_wrong)
    add_row(group, results, "fizeau", peer, lambda r: Values(x.rejected for x in r),
            name=f"{label}: rejected", goal=rejected, best=best_rejected)
    add_skipped(group, skipped)


ROWS = {"stacks": hostile}
