# SPDX-License-Identifier: MIT
"""Run programs, measure their cost, and compare them fairly on a shared machine.

Everything that is compared runs in the same rounds, one after the other, in turning order:

    round 1:  ours  Tachyon  austin
    round 2:  Tachyon  austin  ours
    round 3:  austin  ours  Tachyon

and a ratio is formed inside a round, so that load that lasts longer than a round touches both
sides. What is reported is the median with the smallest and the largest, never the best alone.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time

TICKS = os.sysconf("SC_CLK_TCK")
CORES = os.cpu_count()
QUIET = 0.25  # cores that others may use in a quiet measurement


class Skip(Exception):
    """This cannot be measured here; the text says why."""


class Usage:
    """What one program cost: wall and CPU seconds, peak memory in MB, its output."""

    def __init__(self, wall, rusage, status, output):
        self.wall = wall
        self.cpu = rusage.ru_utime + rusage.ru_stime
        # Never less than what this script had before the exec, some 15 MB.
        self.memory = rusage.ru_maxrss / 1024
        self.status = status
        self.output = output


def run(command, timeout=900, status=0):
    """Run to the end; Skip when it fails, with the last line it said."""
    with tempfile.TemporaryFile() as log:
        begin = time.perf_counter()
        process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=subprocess.STDOUT)
        timer = threading.Timer(timeout, process.kill)
        timer.start()
        _, code, rusage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begin
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(code)
        log.seek(0)
        output = log.read().decode(errors="replace")
    if status is not None and process.returncode != status:
        said = output.strip().splitlines() or ["nothing said"]
        raise Skip(f"{os.path.basename(str(command[0]))} ended with {process.returncode}: "
                   f"{said[-1][:150]}")
    return Usage(wall, rusage, process.returncode, output)


class Target:
    """A program that is measured while it runs: it says one line when it is ready."""

    running = []

    def __init__(self, command):
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, text=True)
        if not self.process.stdout.readline():
            self.process.wait()
            raise Skip(f"{command[-1]} did not start")
        self.pid = self.process.pid
        Target.running.append(self)

    def cpu(self):
        with open(f"/proc/{self.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def __enter__(self):
        return self

    def __exit__(self, *_):
        Target.running.remove(self)
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def patient(case, patience):
    """A result of the case; while others kept the machine busy meanwhile it is measured again, so
    often as patience says, and the quietest counts."""
    best = None
    for _ in range(patience + 1):
        load = Load()
        result = case()
        others = load.others()
        if best is None or others < best[0]:
            best = (others, result)
        if others < QUIET:
            break
    return best[1]


def interleave(rounds, cases, patience=0, tell=None):
    """Call each case once a round; {name: [results]}. A case that skips is left out for good and
    its reason is in the second value, {name: reason}."""
    results = {name: [] for name in cases}
    skipped = {}
    for number in range(rounds):
        names = list(cases)
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            if name in skipped:
                continue
            if tell:
                tell(f"round {number + 1} of {rounds}: {name}")
            try:
                results[name].append(patient(cases[name], patience))
            except Skip as reason:
                skipped[name] = str(reason)
                results.pop(name)
    return results, skipped


class Values:
    """Measurements of one thing, one a round."""

    def __init__(self, values):
        self.values = list(values)
        self.median = statistics.median(self.values)
        self.low = min(self.values)
        self.high = max(self.values)

    def map(self, function):
        return Values(function(value) for value in self.values)

    def over(self, other):
        """Ratios, round by round."""
        return Values(a / b if b else float("inf") for a, b in zip(self.values, other.values))

    def minus(self, other):
        return Values(a - b for a, b in zip(self.values, other.values))


class Load:
    """How many cores' worth of work others did on this machine: what /proc/stat counts as busy
    less what we, our targets and our finished children used."""

    def __init__(self):
        self.busy, self.used, self.time = self._now()

    @staticmethod
    def _now():
        with open("/proc/stat") as file:
            fields = [int(field) for field in file.readline().split()[1:9]]
        used = sum(os.times()[:4]) + sum(target.cpu() for target in Target.running)
        return (sum(fields) - fields[3] - fields[4]) / TICKS, used, time.monotonic()

    def others(self):
        busy, used, now = self._now()
        return max(0.0, ((busy - self.busy) - (used - self.used)) / max(now - self.time, 1e-9))


def say(text):
    """Progress, only for a person who is looking."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text[:100]}", end="", file=sys.stderr, flush=True)
