#!/usr/bin/env python3
"""Writing a profile and reading it back gives the same profile, in every pair of formats.

Total and the self cost of the ten most expensive functions are compared, in the profile's metric
or what the format has in its place (samples for times of one length, time for samples). The results
must equal the table in docs/formats.md: FZ_UPDATE=1 rewrites it.
"""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from livelib import FIZEAU, SHARED, SOURCE, Skip, Suite

SAMPLES = SHARED / "profiles" / "formats"
SCRATCH = pathlib.Path(tempfile.mkdtemp(prefix="fizeau-round-trip-"))
DOCUMENT = SOURCE / "docs" / "formats.md"
BEGIN, END = "<!-- round trips: begin -->\n", "<!-- round trips: end -->\n"
# A file of each format, of times where the format has them, and one of bytes: shared, or kept here.
INPUTS = {
    "Tachyon binary": "tachyon/w1.bin",
    "folded": "collapsed/simple.txt",
    "austin text": "austin/austin.out",
    "MOJO": "austin/test.mojo",
    "pprof": "pprof/fib.pb.gz",
    "speedscope": "speedscope/simple-sampled.speedscope.json",
    "`.cpuprofile`": "cpuprofile/example.cpuprofile",
    "`.heapprofile`": "cpuprofile/Heap-20181003T105432.heapprofile",
    "callgrind": "callgrind/callgrind.example.log",
    "pstats": "tachyon/w1.pstats",
    "perf script": "perf-script/simple-with-pid.linux-perf.txt",
    "bpftrace": SOURCE / "tests/fuzz/corpus/bpftrace/stacks",
    "bcc": SOURCE / "tests/fuzz/corpus/bcc/profile",
    "JFR": SOURCE / "tests/data/jfr/jdk17.jfr.gz",
    "Instruments": SOURCE / "tests/data/instruments/time-7.3.1.txt",
    "Firefox": "gecko/simple-firefox.json",
    "trace events": "trace-event/simple-partial.json",
}
OUTPUTS = {"fz": "fz", "binary": "bin", "folded": "folded", "pprof": "pb.gz",
           "speedscope": "speedscope.json", "cpuprofile": "cpuprofile", "callgrind": "callgrind",
           "pstats": "pstats", "gecko": "json"}
# Of the total: what a format's resolution may cost.
SLACK = 0.01
suite = Suite()


class Costs:
    """Total and self cost by function of a file, each as a number of the metric."""

    def __init__(self, path, metric=None):
        done = subprocess.run([FIZEAU, "replay", path, "--format", "json", "-o", "-",
                               *(["--metric", metric] if metric else [])],
                              capture_output=True, text=True)
        self.known = done.returncode == 0
        if not self.known:
            return
        document = json.loads(done.stdout)
        self.metric, self.unit, self.total = (document[k] for k in ("metric", "unit", "total"))
        self.functions = collections.Counter()
        for f in document["functions"]:
            self.functions[f["name"]] += f["self"]

    def top(self):
        return dict(self.functions.most_common(10))

    def share(self, name):
        return self.functions[name] / self.total if self.total else 0


def written(source, output, path):
    """Was it written? Refusals and warnings must be one line."""
    done = subprocess.run([FIZEAU, "replay", source, "--format", output, "-o", path],
                          capture_output=True, text=True)
    if done.returncode and not re.fullmatch(r"fizeau: .+\n", done.stderr):
        raise AssertionError(f"{source.name} as {output}: {done.stderr!r}")
    return done.returncode == 0, "warning: " in done.stderr


def compare(source, output):
    """One cell of the table. Raises where something else is read than was there, unsaid."""
    path = SCRATCH / f"x.{OUTPUTS[output]}"
    ok, warned = written(source, output, path)
    if not ok:
        return "refused"
    before = Costs(source)
    # pstats counts calls, not samples.
    after = Costs(path, before.metric if before.unit != "count" or output != "pstats" else None)
    if not after.known:
        after = Costs(path)
    if not after.known:
        raise AssertionError(f"{source.name} as {output} cannot be read back")
    for name in before.top():
        if abs(before.share(name) - after.share(name)) > SLACK:
            raise AssertionError(f"{source.name} as {output}: {name} has {after.share(name):.4f} "
                                 f"of the total instead of {before.share(name):.4f}")
    said = ", warned" if warned else ""
    if after.unit != before.unit:
        return ("as samples" if before.unit == "ns" else "as time") + said
    off = after.total / before.total - 1
    if abs(off) > SLACK and not warned:
        raise AssertionError(f"{source.name} as {output}: {after.total} instead of {before.total}")
    return ("same" if round(100 * off, 2) == 0 else f"{100 * off:+.2f} %") + said


def table():
    lines = ["| read, written | " + " | ".join(OUTPUTS) + " |\n", "|---" * (len(OUTPUTS) + 1) + "|\n"]
    for name, file in INPUTS.items():
        cells = [compare(SAMPLES / file, output) for output in OUTPUTS]
        lines.append(f"| {name} | " + " | ".join(cells) + " |\n")
    return "".join(lines)


@suite.test("every format as every other: totals and ten functions, and the table of the document")
def round_trips():
    if not SAMPLES.exists():
        raise Skip("the shared reference profiles are not here")
    now = table()
    text = DOCUMENT.read_text()
    before, rest = text.split(BEGIN)
    old, after = rest.split(END)
    if os.environ.get("FZ_UPDATE"):
        DOCUMENT.write_text(before + BEGIN + now + END + after)
    elif old != now:
        raise AssertionError(f"docs/formats.md has another table; FZ_UPDATE=1 writes this one:\n{now}")


try:
    suite.main()
finally:
    shutil.rmtree(SCRATCH, ignore_errors=True)
