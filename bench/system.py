# SPDX-License-Identifier: MIT
"""What it costs to record the whole machine, with as many programs busy as there are CPUs, beside
`perf record -a -g`. The CPU is the recorder's own, less that of a recording of one second, which has
the same start and end and the same processes to meet.
"""

import contextlib
import os
import shutil

import measure
from measure import Skip, Values
from peers import FIZEAU, Fizeau, Perf
from recording import add_row, add_skipped
from table import Group

RATE = 99


class Machine(Fizeau):
    name = "fizeau-system"

    def command(self, pid, seconds, rate, file, threads, text):
        if os.geteuid() != 0:
            raise Skip("recording the whole machine needs root")
        return [FIZEAU, "attach", "--system", "-d", seconds, "-r", rate, "-o",
                self.scratch.outside / file]


class PerfOfAll(Perf):
    name = "perf-a"

    def command(self, pid, seconds, rate, file, threads, text):
        if not shutil.which("perf"):
            raise Skip("perf is not installed")
        return ["perf", "record", "-a", "-g", "-e", "cpu-clock", "-F", rate, "-o",
                self.scratch.outside / file, "--", "sleep", seconds]


def whole_machine(bench):
    group = Group("CPU of the recorder of the whole machine, 99 Hz, all CPUs busy", "% of a core")
    rounds, seconds = bench.choose((5, 20), (2, 5))
    tools = {"fizeau": Machine(bench.scratch), "perf": PerfOfAll(bench.scratch)}

    def case(tool):
        base = tool.attach(0, 1, RATE).usage.cpu
        recording = tool.attach(0, seconds, RATE)
        return recording, 100 * max(recording.usage.cpu - base, 0) / (seconds - 1)

    with contextlib.ExitStack() as stack:
        for _ in range(measure.CORES):
            stack.enter_context(bench.target("depth.py", 10))
        results, skipped = bench.interleave(
            rounds, {name: (lambda tool=tool: case(tool)) for name, tool in tools.items()},
            "whole machine")
    add_row(group, results, "fizeau", "perf", lambda of: Values(share for _, share in of),
            name="depth 10", goal=0.2,
            note="perf copies stacks without names, which its report looks up afterwards")
    add_skipped(group, skipped)
    return group


ROWS = {"system": whole_machine}
