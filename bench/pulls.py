#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Verdicts of `fizeau ci` on typical pull requests: fifty that change no cost, and some that do.

    bench/pulls.py [--fizeau FILE] [--only PATTERN] [--table]

The projects in bench/projects, with benchmarks for pytest, in C and in Node, get a branch for each pull
request of changes.py. Each is checked out at another place, with another environment, and judged as it is by
default but for the clock; the base's counts are kept, so that they often are those of an earlier job. A false
alarm is a benchmark that an unchanged branch makes "slower" or "faster", or that is not compared. A changed
branch has to fail for each benchmark that it makes slower, name the function that it changed, and leave the
others the same. Needs git, cc, make, python3-pytest and node; what is not installed is skipped by name. Prints
a line for each, with --table also what docs/ci.md says.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

from alarms import PYTHON, Job, Origin
from changes import PULLS

HERE = pathlib.Path(__file__).resolve().parent / "projects"

# Plug-ins of pytest that happen to be installed have no part in it.
ENVIRONMENT = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

Project = collections.namedtuple("Project", "name needs options command")
PROJECTS = {p.name: p for p in (
    Project("python", [PYTHON, "-c", "import pytest"], [], [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider"]),
    Project("c", ["cc", "--version"], ["--setup", "make -s"], ["./bench"]),
    Project("node", ["node", "--version"], [], ["node", "bench.mjs"]))}

Result = collections.namedtuple("Result", "pull name benchmarks alarms largest past missed")


# ---- judging ----

# Runners, each with a path and a user of its own: the base is counted once for each. What else is in the
# environment is another in each job.
RUNNERS = (
    (["p"], {"HOME": "/root", "USER": "root", "LANG": "C.UTF-8"}),
    (["builds", "workspace-of-a-runner"], {"HOME": "/", "USER": "a-user-with-a-long-name", "LANG": "C"}),
    (["a", "b", "c", "d" * 17], {"HOME": "/srv", "USER": "ci", "LANG": "en_US.UTF-8", "TZ": "Asia/Tokyo"}))


def sources(project):
    """gitignore stands for the file that would hide a built project from git here."""
    folder = HERE / project.name
    return {str(p.relative_to(folder)).replace("gitignore", ".gitignore"): p.read_text()
            for p in sorted(folder.rglob("*")) if p.is_file() and "__pycache__" not in p.parts}


def judge(fizeau, origin, project, pull, number):
    branch = pull.change.__name__
    origin.branch(branch, pull.change)
    parts, environment = RUNNERS[number % len(RUNNERS)]
    job = Job(origin, random.Random(number), branch, parts)
    job.env.update({**ENVIRONMENT, **environment})
    try:
        return job.judge(fizeau, project.options, project.command)
    finally:
        job.remove()


def short(name):
    return name.rsplit("::", 1)[-1].split("[")[0]


def is_alarm(bench, expected):
    """Of a benchmark that has nothing to do with what was changed."""
    return short(bench["name"]) not in expected and bench["verdict"] not in ("same", "new")


def misses(benches, expected):
    """What should have been found, in its function, and was not."""
    for name, function in expected.items():
        of = [b for b in benches if short(b["name"]) == name]
        if not of or not all(b["fails"] and b["verdict"] == "slower" and function in (b["where"] or {}).get("context", "") for b in of):
            yield name, [(b["verdict"], b["change"], b["where"]) for b in of]


def result_of(pull, benches):
    expected = pull.slower or {}
    others = [b for b in benches if short(b["name"]) not in expected and b["change"] is not None]
    largest = max(others, key=lambda b: abs(b["change"]), default=None)
    return Result(pull, pull.change.__name__, benches, [b for b in benches if is_alarm(b, expected)], largest,
                  [b for b in others if abs(b["change"]) > 0.02], list(misses(benches, expected)))


def run(fizeau, wanted):
    """Yields a result for each pull request that is wanted; a text for a project that cannot be tried."""
    for project in PROJECTS.values():
        pulls = [p for p in PULLS if p.project == project.name and wanted(p)]
        if not pulls:
            continue
        if not shutil.which(project.needs[0]) or subprocess.run(project.needs, capture_output=True).returncode:
            yield f"{project.name}: {' '.join(project.needs)} fails"
            continue
        origin = Origin(sources(project))
        try:
            for number, pull in enumerate(pulls):
                yield result_of(pull, judge(fizeau, origin, project, pull, number))
        finally:
            origin.remove()


# ---- telling ----

def change_of(bench):
    return abs(bench["change"]) if bench else 0


def line(result):
    of = f"largest {change_of(result.largest):.2%}" + (f" ({short(result.largest['name'])})" if result.largest else "")
    said = [f"FALSE ALARM {b['name']}: {b['verdict']} {b['change']}" for b in result.alarms]
    said += [f"MISSED {name}: {what}" for name, what in result.missed]
    if result.pull.slower and not result.missed:
        said.append("found: " + ", ".join(f"{short(b['name'])} {b['change']:+.1%}" for b in result.benchmarks if b["fails"]))
    return f"{result.pull.project:7}{result.pull.kind:24} {result.name:38} {of:30} {'; '.join(said)}"


def unchanged_table(results):
    print("| pull requests | number | benchmarks judged | false alarms | past 2 %, within their floor | largest change |\n"
          "|---|--:|--:|--:|--:|--:|")
    for kind in dict.fromkeys(r.pull.kind for r in results):
        of = [r for r in results if r.pull.kind == kind]
        print(f"| {kind} | {len(of)} | {sum(len(r.benchmarks) for r in of)} | {sum(len(r.alarms) for r in of)} | "
              f"{sum(len(r.past) for r in of)} | {max(change_of(r.largest) for r in of):.2%} |")


def changed_table(results):
    print("| pull requests | benchmarks that they make slower | found, in that function | by | false alarms in others |\n"
          "|---|--:|--:|--:|--:|")
    for kind in dict.fromkeys(r.pull.kind for r in results):
        of = [r for r in results if r.pull.kind == kind]
        n = sum(len(r.pull.slower) for r in of)
        changes = [b["change"] for r in of for b in r.benchmarks if b["fails"]]
        print(f"| {kind} | {n} | {n - sum(len(r.missed) for r in of)} | {min(changes, default=0):+.1%} to {max(changes, default=0):+.1%} | "
              f"{sum(len(r.alarms) for r in of)} |")


def summary(results):
    unchanged = [r for r in results if not r.pull.slower]
    changed = [r for r in results if r.pull.slower]
    judged = sum(len(r.benchmarks) for r in unchanged)
    print(f"{sum(bool(r.alarms) for r in unchanged)} false alarms in {len(unchanged)} pull requests that change no cost, with {judged} "
          f"benchmarks judged; {sum(not r.missed for r in changed)} of {len(changed)} that change it were found")


def main():
    parser = argparse.ArgumentParser(description=__doc__, usage=argparse.SUPPRESS,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fizeau", default=os.environ.get("FIZEAU", "fizeau"))
    parser.add_argument("--only", default="", metavar="PATTERN", help="those whose project, kind or name match")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    results = []
    for result in run(options.fizeau, lambda p: re.search(options.only, f"{p.project} {p.kind} {p.change.__name__}")):
        if isinstance(result, str):
            print(f"skipped: {result}", file=sys.stderr)
            continue
        results.append(result)
        print(line(result), file=sys.stderr, flush=True)
    if options.table:
        unchanged_table([r for r in results if not r.pull.slower])
        print()
        changed_table([r for r in results if r.pull.slower])
    summary(results)
    return int(any(r.alarms or r.missed for r in results))


if __name__ == "__main__":
    sys.exit(main())
