#!/usr/bin/env python3
"""Fizeau and Tachyon record the same process at the same time: their shares must agree.

Both attach to one long-running program in the forky root. A function's self share is a mean of
samples, so the two may differ by sampling error: 3 standard errors of the difference. Samples of
wall time come in clumps (a preempted program shows the same stack many times), which makes the
variance CLUMPING times that of independent ones (docs/statistics.md). Tachyon drops the samples that
it could not read, most of them of short calls, so by that part it may differ as well.
"""

import math
import re
import subprocess
import time

from livelib import SANITIZED, Suite, find_interpreter, fizeau

SECONDS = 6
CLUMPING = 5
TARGET = """
import math, random, time

def short(n):
    return n * n % 7

def middle(n):
    total = 0
    for i in range(n):
        total += short(i)
    return total

def generator(n):
    for i in range(n):
        yield math.sqrt(i)

def deep(n):
    return middle(40) if n == 0 else deep(n - 1)

def long_one():
    total = 0
    for i in range(3000):
        total += i ^ 3
    return total

print("ready", flush=True)
end = time.monotonic() + 60
# No two rounds are alike, so that a sampler of a fixed interval does not keep step with them.
while time.monotonic() < end:
    for function in random.sample([lambda: middle(200), lambda: sum(generator(150)),
                                   lambda: deep(30), long_one], 4):
        for i in range(random.randrange(3)):
            function()
"""

suite = Suite()


def self_shares(text):
    """Share of each (file, function) as a leaf in Tachyon's collapsed text."""
    counts = {}
    for line in text.splitlines():
        stack, count = line.rsplit(" ", 1)
        leaf = stack.split(";")[-1]
        name = tuple(leaf.rsplit(":", 1)[0].rsplit(":", 1)) if ":" in leaf else leaf
        counts[name] = counts.get(name, 0) + int(count)
    total = sum(counts.values())
    return {name: count / total for name, count in counts.items()}, total


@suite.test("Tachyon and fizeau see the same function shares in one process")
def same_shares():
    python = find_interpreter("forky-3.15")
    with python.scratch() as folder:
        script = f"{folder}/target.py"
        with open(script, "w") as f:
            f.write(TARGET)
        target = subprocess.Popen([*python.command, python.path(script)], stdout=subprocess.PIPE)
        try:
            target.stdout.readline()
            theirs_file = f"{folder}/theirs.txt"
            theirs = subprocess.Popen(
                [*python.command, "-m", "profiling.sampling", "attach", "-d", str(SECONDS),
                 "--collapsed", "-o", python.path(theirs_file), str(target.pid)],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            time.sleep(0.2)
            ours_file = f"{folder}/ours.txt"
            result = fizeau("attach", "-d", SECONDS, "--collapsed", "-o", ours_file, target.pid)
            assert result.returncode == 0, result.stderr
            output = theirs.communicate(timeout=60)[0]
            assert theirs.returncode == 0, output
            dropped = float(re.search(r"Error rate: ([\d.]+)", output.decode())[1]) / 100
            theirs, n = self_shares(open(theirs_file).read())
            ours, m = self_shares(open(ours_file).read())
        finally:
            target.kill()
            target.wait()
    assert m > 200, f"only {m} samples"
    if SANITIZED:
        return "shares not judged"
    worst = 0
    for name in sorted(set(theirs) | set(ours), key=str):
        a, b = theirs.get(name, 0), ours.get(name, 0)
        p = (a * n + b * m) / (n + m)
        allowed = 3 * math.sqrt(CLUMPING * p * (1 - p) * (1 / n + 1 / m)) + dropped
        worst = max(worst, abs(a - b))
        assert abs(a - b) <= allowed, f"{name}: Tachyon {a:.3f} of {n}, fizeau {b:.3f} of {m}"
    return (f"{len(ours)} functions, largest difference {100 * worst:.2f} points; Tachyon dropped "
            f"{100 * dropped:.1f} %")


suite.main()
