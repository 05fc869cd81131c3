#!/usr/bin/env python3
"""The everyday loop: run, edit, run, diff; and a run that is compared as it ends."""

import json
import os
import pathlib
import subprocess

from livelib import FIZEAU, Suite, find_interpreter

PROGRAM = """
import sys

def work(n):
    total = 0
    for i in range(n):
        total += i
    return total

def {extra}(n):
    return work(n)

def main():
    for _ in range(150):
        work({size})
        {extra}(2000)

main()
"""

suite = Suite()


def loop(test):
    """Run test(shell) in a folder with a store that holds a fast and a slow run of app.py."""
    python = find_interpreter("debian-3.11")
    with python.scratch() as folder:
        def shell(*arguments, status=0):
            done = subprocess.run([FIZEAU, *arguments], cwd=folder, capture_output=True, text=True,
                                  timeout=60, env={**os.environ, "GIT_CEILING_DIRECTORIES": folder})
            assert done.returncode == status, f"{arguments}: {done.stdout}{done.stderr}"
            return done

        script = pathlib.Path(folder) / "app.py"
        run = ["run", "--python", python.command[0], "app.py"]
        script.write_text(PROGRAM.format(size=30000, extra="old"), encoding="utf-8")
        shell(*run)
        script.write_text(PROGRAM.format(size=120000, extra="new"), encoding="utf-8")
        shell(*run)
        return test(shell, pathlib.Path(folder), run)


def changed(answer, name):
    return next(f for f in answer["functions"] if f["name"] == name and f["file"] == "app.py")


@suite.test("fizeau diff without arguments compares the last two runs")
def last_two():
    def check(shell, _folder, _run):
        text = shell("diff").stdout
        answer = json.loads(shell("diff", "--format", "json").stdout)
        verdict = answer["verdict"]
        assert verdict["word"] in ("slower", "unknown") and verdict["change_pct"] > 0, verdict
        assert text.startswith({"slower": "Slower by ", "unknown": "Cannot tell"}[verdict["word"]]), text
        assert answer["scale"] == {"mode": "time", "factor": 1}, answer["scale"]
        assert answer["base"]["facts"]["complete"] and answer["head"]["facts"]["complete"]
        assert changed(answer, "work")["pct_self"] > 50, changed(answer, "work")
        # With names guessed, "new" may be taken for "old" renamed, which it nearly is.
        apart = json.loads(shell("diff", "--no-rename", "--format", "json").stdout)
        assert changed(apart, "new")["state"] == "new"
        assert changed(apart, "old")["state"] == "removed"
        same = json.loads(shell("diff", "@2", "@1", "--format", "json").stdout)
        assert same == answer
        swapped = json.loads(shell("diff", "@1", "@2", "--format", "json").stdout)
        assert changed(swapped, "work")["diff_self"] == -changed(answer, "work")["diff_self"]
    loop(check)


@suite.test("a program is its file: another of the same name is another program")
def namesakes():
    def check(shell, folder, run):
        (folder / "other").mkdir()
        (folder / "other" / "app.py").write_text((folder / "app.py").read_text())
        shell(*run[:-1], "other/app.py")
        assert "no two recordings of the same program" in shell("diff", status=2).stderr
        shell(*run[:-1], str(folder / "other" / ".." / "app.py"))
        assert "work (app.py" in shell("diff").stdout
    loop(check)


@suite.test("a run can be compared with an earlier one as it ends")
def compared_run():
    def check(shell, folder, run):
        shell(run[0], "--diff-flamegraph", "@2", "-o", "diff.json", *run[1:])
        answer = json.loads((folder / "diff.json").read_text(encoding="utf-8"))
        assert changed(answer, "work")["pct_self"] > 50, changed(answer, "work")
        shell(run[0], "--diff-flamegraph", "@2", "-o", "diff.html", *run[1:])
        assert (folder / "diff.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    loop(check)


@suite.test("a baseline that cannot be read is found before the program starts")
def missing_baseline():
    def check(shell, folder, run):
        started = folder / "started"
        (folder / "app.py").write_text(f"open({str(started)!r}, 'w')", encoding="utf-8")
        done = shell(run[0], "--diff-flamegraph", "missing.fz", *run[1:], status=125)
        assert "missing.fz" in done.stderr and not started.exists(), done.stderr
    loop(check)


if __name__ == "__main__":
    suite.main()
