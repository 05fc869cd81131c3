# SPDX-License-Identifier: MIT
"""How many sampled stacks are wrong, and how many were thrown away, on a target that is hostile to
readers that do not stop it.

The truth is in the target's source: on each line of a function it calls at most a few functions by
plain name. A sampled stack is right when it starts at the module, every caller's line can call
the callee above it, and the frames that stay below (stay x DEPTH) are all there.
"""

import ast
import re

from measure import Skip, Target, Values
from peers import FIZEAU, HERE, elsewhere, run
from recording import add_row, add_skipped
from table import Group

FRAME = re.compile(r"hostile\.py:([^:;]+):(-?\d+)$")


class Truth:
    """{(caller, line): callees} of a script whose calls are all by plain name."""

    def __init__(self, path, depth):
        self.depth = depth
        self.calls = {}
        tree = ast.parse(path.read_text())
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        names = {node.name for node in functions}
        for node in functions:
            self.add(node.name, node, names)
        for node in tree.body:
            if node not in functions:
                self.add("<module>", node, names)

    def add(self, caller, node, names):
        for call in ast.walk(node):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) \
                    and call.func.id in names:
                self.calls.setdefault((caller, call.lineno), set()).add(call.func.id)
        # A generator's frame hangs below the line of its `for`, which is where it was called.

    def right(self, frames):
        """frames: (function, line), root first."""
        if frames[0][0] != "<module>":
            return False
        if frames[1:] and sum(name == "stay" for name, _ in frames) != self.depth + 1:
            return len(frames) == 1
        return all((caller, line) in self.calls and callee in self.calls[caller, line]
                   for (caller, line), (callee, _) in zip(frames, frames[1:]))


def judge(path, truth):
    """(samples, wrong, unreadable) of a collapsed file."""
    total = wrong = unreadable = 0
    with open(path, errors="replace") as file:
        for line in file:
            stack, _, count = line.rstrip("\n").rpartition(" ")
            if not stack or line.startswith("#") or not count.isdigit():
                continue
            # austin writes a line a sample with its microseconds.
            count = 1 if path.suffix == ".austin" else int(count)
            total += count
            parts = [part for part in stack.split(";") if part]
            frames = [(found[1], int(found[2])) for part in parts if (found := FRAME.search(part))]
            if "[unreadable]" in stack or ":INVALID:" in stack:
                unreadable += count
            elif not frames or not truth.right(frames):
                wrong += count
    return total, wrong, unreadable


class Result:
    def __init__(self, wrong, rejected):
        self.wrong, self.rejected = wrong, rejected


def record(bench, tool, pid, seconds, rate, truth):
    if tool is bench.fizeau:
        recording = tool.attach(pid, seconds, rate)
        path = recording.path.with_suffix(".txt")
        run([FIZEAU, "replay", "--collapsed", "-o", path, recording.path])
    else:
        recording = tool.attach(pid, seconds, rate, text=True)
        path = recording.path
    total, wrong, unreadable = judge(path, truth)
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
    truth = Truth(HERE / "targets" / "hostile.py", depth)
    try:
        command = elsewhere(name)
        script = bench.scratch.inside("hostile.py") if name.startswith("forky") \
            else bench.scratch.outside / "hostile.py"
        with Target([*command, script, depth]) as target:
            cases = {key: (lambda tool=tool: record(bench, tool, target.pid, seconds, 10000, truth))
                     for key, tool in tools.items()}
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
