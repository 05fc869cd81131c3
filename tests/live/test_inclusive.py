#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Inclusive costs stored in pstats and callgrind files: shown, compared and written unchanged.

The oracles are Python's pstats and callgrind_annotate, for every function of files made now.
"""

import json
import pathlib
import pstats
import re
import shutil
import subprocess
import sys
import tempfile

from livelib import FIZEAU, Skip, Suite

SCRATCH = pathlib.Path(tempfile.mkdtemp(prefix="fizeau-inclusive-"))
suite = Suite()

SCRIPT = """
import json, re, sys, unittest, xml.dom.minidom
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
class Walker:
    def down(self, n): return sum(self.along(n - 1) for _ in range(2)) if n > 0 else fib(6)
    def along(self, n): return self.down(n - 1) if n > 0 else fib(8)
Walker().down(int(sys.argv[1]))
[re.compile("(a|b)*%d" % i) for i in range(20)]
json.loads(json.dumps({"x": [1] * 1000}))
"""

PROGRAM = r"""
static volatile long sink;
static long b(int n);
static long work(int n) { long s = 0; for (int i = 0; i < n * 100; i++) s += i; sink += s; return s; }
static long a(int n) { return n <= 0 ? work(1) : b(n - 1) + work(n); }
static long b(int n) { return n <= 0 ? work(2) : a(n - 1) + a(n - 2) + 1; }
static long fib(int n) { return n < 2 ? work(1) + n : fib(n - 1) + fib(n - 2); }
int main(int argc, char **argv) { a(9 + argc); fib(10 + argc); work(500); b(3); return 0; }
"""


def fizeau(*words):
    done = subprocess.run([FIZEAU, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout


def report(path, *words):
    return json.loads(fizeau("replay", path, "--format", "json", "-o", "-", *words))


def differing(truth, got):
    """The first few differences, as text; "" if there are none."""
    wrong = [f"{key}: {value}, not {got.get(key)}" for key, value in truth.items()
             if got.get(key) != value]
    return "; ".join(wrong[:4])


def same(truth, got):
    if not truth or differing(truth, got):
        raise AssertionError(differing(truth, got) or "nothing was compared")


# ---- pstats ----

def cprofile(depth=9):
    path = SCRATCH / f"{depth}.pstats"
    if not path.exists():
        (SCRATCH / "script.py").write_text(SCRIPT)
        subprocess.run([sys.executable, "-m", "cProfile", "-o", path, SCRATCH / "script.py",
                        str(depth)], check=True, capture_output=True)
    return path


def nanoseconds(seconds):
    return round(seconds * 1e9)


def stats(path):
    """{function: numbers and callers}, times in nanoseconds."""
    def row(numbers):
        return (*numbers[:2], *map(nanoseconds, numbers[2:4]))
    return {key: (row(value), {caller: row(call) for caller, call in value[4].items()})
            for key, value in pstats.Stats(str(path)).stats.items()}


def totals_of_functions(table):
    """Functions of one name and file are distinguished by a line that pstats and JSON choose alike."""
    out = {}
    for (file, _, name), (row, _) in table.items():
        if row[3]:
            out.setdefault(("" if file == "~" else file, name), []).append(row[3])
    return {key: sorted(value) for key, value in out.items()}


def told_totals(data):
    out = {}
    for f in data["functions"]:
        if f["total"]:
            out.setdefault((f["file"], f["name"]), []).append(f["total"])
    return {key: sorted(value) for key, value in out.items()}


@suite.test("pstats: every function's total, from the file and from a recording of it")
def pstats_totals():
    truth = totals_of_functions(stats(cprofile()))
    same(truth, told_totals(report(cprofile())))
    native = SCRATCH / "pstats.fz"
    fizeau("replay", cprofile(), "-o", native)
    same(truth, told_totals(report(native)))


@suite.test("pstats: written as it was read")
def pstats_written():
    again, native, third = (SCRATCH / f"again.{s}" for s in ("pstats", "fz", "third.pstats"))
    fizeau("replay", cprofile(), "-o", again)
    if stats(again) != stats(cprofile()):
        raise AssertionError(differing(stats(cprofile()), stats(again)))
    fizeau("replay", cprofile(), "-o", native)
    fizeau("replay", native, "-o", third)
    same(stats(cprofile()), stats(third))


@suite.test("pstats: counts are calls, and reports state what was reconstructed")
def pstats_words():
    calls = sum(row[1] for row, _ in stats(cprofile()).values())
    text = fizeau("replay", cprofile())
    data = report(cprofile())
    if not text.startswith(f"{calls:,} calls, ") or "sample" in text:
        raise AssertionError(text)
    if "function totals are recorded" not in " ".join(text.split()):
        raise AssertionError(text)
    same({"calls": calls, "samples": 0}, data)
    same({"reconstructed": True, "totals_recorded": True}, data["facts"])


@suite.test("pstats: part of it has no recorded totals")
def pstats_part():
    data = report(cprofile(), "--filter", "fib")
    same({"reconstructed": True, "totals_recorded": False}, data["facts"])
    text = " ".join(fizeau("replay", cprofile(), "--filter", "fib").split())
    if "the tree and function totals are reconstructed" not in text:
        raise AssertionError(text)


@suite.test("pstats: two compared by common metrics")
def pstats_compared():
    base, head = cprofile(9), cprofile(11)
    found = json.loads(fizeau("diff", base, head, "--format", "json", "-o", "-", "--match", "exact"))
    truth = {}
    for side, path in (("base", base), ("head", head)):
        for (file, name), totals in totals_of_functions(stats(path)).items():
            if file.endswith("script.py"):
                truth[side, name] = sum(totals)
    got = {(side, f["name"]): f[f"{side}_total"] for f in found["functions"]
           for side in ("base", "head") if f["file"].endswith("script.py")}
    truth.pop(("base", "<genexpr>"), None)
    truth.pop(("head", "<genexpr>"), None)
    same(truth, got)
    said = [w for w in found["warnings"] if w.endswith("function totals are recorded")]
    if len(said) != 2:
        raise AssertionError(found["warnings"])


# ---- callgrind ----

def program():
    path = SCRATCH / "recursion"
    if not path.exists():
        (SCRATCH / "recursion.c").write_text(PROGRAM)
        subprocess.run(["cc", "-g", "-O1", "-fno-inline", "-fno-optimize-sibling-calls", "-o", path,
                        SCRATCH / "recursion.c"], check=True)
    return path


def callgrind(name, *command, options=()):
    for tool in ("valgrind", "callgrind_annotate", command[0]):
        if not shutil.which(str(tool)):
            raise Skip(f"{tool} is not here")
    path = SCRATCH / f"{name}.callgrind"
    if not path.exists():
        subprocess.run(["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={path}",
                        *options, *command], check=True, capture_output=True)
    return path


def annotated(path):
    """{"file:function": inclusive cost}. Code inlined from another file has rows of its own there,
    which are not part of the function's total; they are not called."""
    text = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", "--auto=no",
                           "--show-percs=no", path], check=True, capture_output=True, text=True,
                          cwd="/").stdout
    rows = re.finditer(r"^ *([\d,]+)(?: \([ \d.]+%\))?  (\S.*?:.+?)(?: \[[^]]*\])?$", text, re.M)
    return {m[2]: int(m[1].replace(",", "")) for m in rows}


def told(path):
    return {f"{f['file'] or '???'}:{f['name']}": f["total"] for f in report(path)["functions"]
            if f["name"] != "[other callers]"}


PERL = ("perl", "-e", "my %h; for my $i (1..100) { $h{\"k$i\"} = join(',', map {$_ * 2} 1..5); }")


def check_callgrind(path):
    truth, ours = annotated(path), told(path)
    known = {key: truth[key] for key in ours if key in truth}
    if len(known) < 0.9 * len(ours):
        raise AssertionError("most functions have another name")
    same(known, ours)
    again = SCRATCH / "again.callgrind"
    fizeau("replay", path, "-o", again)
    written = annotated(again)
    same({key: truth[key] for key in written if key in truth}, written)
    missing = [key for key in ours if key in truth and key not in written]
    if missing:
        raise AssertionError(f"not written: {missing[:4]}")
    native = SCRATCH / "callgrind.fz"
    fizeau("replay", path, "-o", native)
    same(ours, told(native))


@suite.test("callgrind: every function's total, with recursion")
def callgrind_recursion():
    check_callgrind(callgrind("recursion", program()))


@suite.test("callgrind: every function's total, perl")
def callgrind_perl():
    check_callgrind(callgrind("perl", *PERL))


@suite.test("callgrind: every function's total, gzip")
def callgrind_gzip():
    check_callgrind(callgrind("gzip", "gzip", "-c", program()))


@suite.test("callgrind: names with callers are contexts of the function, with the same totals")
def callgrind_callers():
    plain = callgrind("recursion", program())
    named = callgrind("named", program(), options=["--separate-callers=3"])
    if "fib'2'main" not in named.read_text():
        raise AssertionError("Valgrind wrote no callers into names")
    truth, got = told(plain), told(named)
    own = [key for key in truth if "recursion.c" in key]
    same({key: truth[key] for key in own}, {key: got.get(key) for key in own})
    if any("'" in key for key in got):
        raise AssertionError([key for key in got if "'" in key][:4])


@suite.test("callgrind: a truncated file is reported, and an unknown version refused")
def callgrind_damaged():
    whole = callgrind("recursion", program())
    data = whole.read_bytes()
    cut, other = SCRATCH / "cut.callgrind", SCRATCH / "other.callgrind"
    for end in range(len(data) // 2, len(data) // 2 + 60):  # anywhere in a line
        cut.write_bytes(data[:end])
        words = " ".join(fizeau("replay", cut).split())
        if "cut short: instructions adds up to" not in words or "cut short" in fizeau("replay", whole):
            raise AssertionError(words)
    other.write_bytes(data.replace(b"version: 1", b"version: 7", 1))
    done = subprocess.run([FIZEAU, "replay", other], capture_output=True, text=True)
    if done.returncode == 0 or "version 7" not in done.stderr:
        raise AssertionError(done.stderr)


try:
    suite.main()
finally:
    shutil.rmtree(SCRATCH, ignore_errors=True)
