#!/usr/bin/env python3
"""Memory profiles of Valgrind's massif and DHAT: the same figures as in their own tools.

massif's oracle is ms_print's table and tree of the peak; DHAT's viewer is a page that adds up the
file's own numbers, so they are added up here.
"""

import collections
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

from livelib import FIZEAU, Skip, Suite

PROGRAM = """
#include <stdlib.h>
#include <string.h>
static void *keep[4096];
static int n;
static void *grab(size_t size) { return keep[n++] = memset(malloc(size), 1, size); }
static void tables(int depth) { if (depth) tables(depth - 1); else for (int i = 0; i < 50; i++) grab(1000); }
static void strings(void) { for (int i = 0; i < 1000; i++) grab(20); for (int i = 0; i < 500; i++) free(keep[--n]); }
int main(void) {
	tables(3);
	strings();
	keep[n++] = calloc(10, 300);
	while (n > 3) free(keep[--n]);
	strings();
	return 0;
}
"""

SCRATCH = pathlib.Path(tempfile.mkdtemp(prefix="fizeau-memory-"))
suite = Suite()


def same(got, expected, what):
    if got != expected:
        raise AssertionError(f"{what}: {got} instead of {expected}")


def program():
    path = SCRATCH / "grab"
    if not path.exists():
        (SCRATCH / "grab.c").write_text(PROGRAM)
        subprocess.run(["cc", "-g", "-O0", "-o", path, SCRATCH / "grab.c"], check=True)
    return path


def record(tool, *options):
    if not shutil.which("valgrind"):
        raise Skip("Valgrind is not here")
    out = SCRATCH / f"{tool}{len(options)}.out"
    done = subprocess.run(["valgrind", "-q", f"--tool={tool}", f"--{tool}-out-file={out}", *options,
                           program()], capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(done.stderr)
    return out


def report(path, metric=None):
    done = subprocess.run([FIZEAU, "replay", "--format", "json", "-o", "-", path,
                           *(["--metric", metric] if metric else [])],
                          capture_output=True, check=True)
    return json.loads(done.stdout)


def costs(path, which, metric=None):
    out = collections.Counter()
    for f in report(path, metric)["functions"]:
        if f[which]:
            out[f["name"]] += f[which]
    return out


# ---- massif ----

def number(text):
    return int(text.replace(",", ""))


class MsPrint:
    """The row and the tree of the peak, all of it. Self costs are those of the functions that
    allocated, totals those of all that were there, once a path."""

    def __init__(self, path):
        text = subprocess.run(["ms_print", "--threshold=0", path], check=True, capture_output=True,
                              text=True).stdout
        peak = re.search(r"(\d+) \(peak\)", text)[1]
        row = re.search(rf"^ *{peak}((?: +[\d,]+){{5}})$\n(.*?)(?=^-----)", text, re.M | re.S)
        _, self.all, self.heap, self.extra, self.stacks = map(number, row[1].split())
        self.own, self.total = collections.Counter(), collections.Counter()
        path = []
        for line in row[2].splitlines():
            node = re.match(r"([| ]*)->[\d.]+% \(([\d,]+)B\) 0x[0-9A-F]+: (.+?) \(", line)
            if not node:
                continue
            depth, size, name = len(node[1]) // 2, number(node[2]), node[3]
            del path[depth:]
            if not path:
                self.own[name] += size
            if name not in path:
                self.total[name] += size
            path.append(name)


def check_massif(out):
    told = MsPrint(out)
    same(sum(costs(out, "self").values()), told.heap, "the heap")
    same(sum(costs(out, "self", "peak_all").values()), told.all, "all of it")
    same(costs(out, "self", "peak_all")["[extra heap]"], told.extra, "what the allocator adds")
    same(costs(out, "self", "peak_all")["[stacks]"], told.stacks, "stacks")
    same(costs(out, "self"), +told.own, "allocation stacks")
    same(costs(out, "total"), +told.total, "who called them")


@suite.test("massif: like ms_print")
def massif():
    out = record("massif", "--threshold=0")
    check_massif(out)
    same(costs(out, "total")["tables"], 50 * 1000, "what tables held")
    text = subprocess.run([FIZEAU, "replay", out], capture_output=True, text=True).stdout
    if "sample" in text or not text.startswith("68.4 KiB of peak"):
        raise AssertionError(f"memory was not sampled: {text}")
    check_massif(record("massif", "--threshold=0", "--stacks=yes", "--time-unit=B"))


# ---- DHAT ----

METRICS = {"allocated": "tb", "allocated_blocks": "tbk", "peak": "gb", "peak_blocks": "gbk",
           "at_end": "eb", "at_end_blocks": "ebk", "read": "rb", "written": "wb"}


@suite.test("dhat: the sums of the file's own numbers")
def dhat():
    out = record("dhat")
    points = json.loads(out.read_text())
    names = [re.sub(r"^0x[0-9A-F]+: (.*) \(.*$", r"\1", f) for f in points["ftbl"]]
    for metric, key in METRICS.items():
        own, total = collections.Counter(), collections.Counter()
        for p in points["pps"]:
            stack = [names[i] for i in p["fs"] if names[i] not in ("malloc", "calloc")]
            own[stack[0]] += p[key]
            for name in set(stack):
                total[name] += p[key]
        same(costs(out, "self", metric), +own, f"self, {metric}")
        same(costs(out, "total", metric), +total, f"total, {metric}")


@suite.test("massif and dhat agree on the peak, and compare")
def both():
    heap, points = record("massif", "--threshold=0", "--peak-inaccuracy=0.0"), record("dhat")
    same(costs(heap, "total"), costs(points, "total", "peak"), "the peak")
    done = subprocess.run([FIZEAU, "diff", heap, points, "--format", "json", "-o", "-"],
                          capture_output=True, check=True)
    same(json.loads(done.stdout)["metric"], "peak", "what is compared")


try:
    suite.main()
finally:
    shutil.rmtree(SCRATCH, ignore_errors=True)
