#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files of cProfile and of profile, which is Python's own in Python: what Fizeau reads of them is what
the pstats of the interpreter that made them says. Those of Python 2.7, 3.6 and 3.8 are kept in
tests/data/pstats; every interpreter that is here makes new ones."""

import json
import pathlib
import subprocess

from livelib import EXPECTED, FIZEAU, SOURCE, Suite, find_interpreter

DATA = SOURCE / "tests/data/pstats"
suite = Suite()


def report_of(path, *options):
    done = subprocess.run([FIZEAU, "replay", path, "--format", "json", "-o", "-", *options],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def near(got, expected, what, slack=0):
    assert abs(got - expected) <= slack, f"{what}: {got} instead of {expected}"


def compare(path, told):
    """In nanoseconds, each row rounded."""
    slack = len(told["self"]) + 2
    for metric, key, field, scale in (("wall", "self", "self", 1e9), ("wall", "with", "total", 1e9),
                                      ("calls", "of", "self", 1)):
        got = {}
        report = report_of(path, "--metric", metric)
        for f in report["functions"]:
            got[f["name"]] = got.get(f["name"], 0) + f[field]
        for name, value in told[key].items():
            near(got.get(name, 0), value * scale, f"{metric}, {key}: {name}", slack)
    near(report_of(path)["total"], told["seconds"] * 1e9, "total", slack)
    near(report_of(path, "--metric", "calls")["total"], told["calls"], "calls")


def kept(name):
    compare(DATA / f"{name}.pstats", json.loads((DATA / f"{name}.json").read_text()))


for name in ("cprofile27", "profile27", "profile36", "profile38"):
    suite.add(f"kept: {name} equals its interpreter's pstats", kept, name)


def made(version, module):
    interpreter = find_interpreter(version)
    with interpreter.scratch() as folder:
        folder = pathlib.Path(folder)
        (folder / "record.py").write_text((DATA / "record.py").read_text())
        subprocess.run([*interpreter.command, "-B", interpreter.path(folder / "record.py"), module,
                        interpreter.path(folder / "x")], check=True)
        compare(folder / "x.pstats", json.loads((folder / "x.json").read_text()))


for version in EXPECTED:
    for module in ("cProfile", "profile"):
        suite.add(f"{module} of {version}", made, version, module)

suite.main()
