#!/usr/bin/env python3
"""Ranges of a recording's time: they contain what the program did then, and two of them are judged."""

import json
import pathlib
import re
import sys
import tempfile

from livelib import FIZEAU, Suite, Wrong, fizeau
from watching import Recorder

suite = Suite()

# Two phases of two seconds, each with its own mixture; the program prints their times and their mixtures.
PROGRAM = """\
import json, sys, time
def cheap(n):
    s = 0
    for i in range(n): s += i
def dear(n):
    s = 0
    for i in range(n): s += i * i % 7
def phase(seconds, n, m):
    start = time.time()
    spent = {"cheap": 0, "dear": 0}
    while time.time() < start + seconds:
        for f, count in (cheap, n), (dear, m):
            before = time.perf_counter()
            f(count)
            spent[f.__name__] += time.perf_counter() - before
    return {"from": start, "to": time.time(), "spent": spent}
json.dump([phase(2, 40000, 5000), phase(2, 10000, 20000)], open(sys.argv[1], "w"))
"""


def replay(*options, cwd, name="app.fz"):
    return json.loads(fizeau("replay", "--format", "json", "-o", "-", name, *options, cwd=cwd).stdout)


def recorded(program, told, folder):
    """A recording of it as app.fz, and its start time; the program writes its own times to the file `told`."""
    with open(f"{folder}/app.py", "w") as file:
        file.write(program)
    done = fizeau("run", "-o", "app.fz", "--", sys.executable, "app.py", told, cwd=folder)
    assert done.returncode == 0, done
    fizeau("replay", "app.fz", "-o", "gecko.json", "--format", "gecko", cwd=folder)
    return json.load(open(f"{folder}/gecko.json"))["meta"]["startTime"] / 1e3


@suite.test("a range holds the work of its time; changes between two ranges are found, and none within one")
def _():
    with tempfile.TemporaryDirectory() as folder:
        began = recorded(PROGRAM, "phases.json", folder)
        phases = json.load(open(f"{folder}/phases.json"))
        names = []
        for phase in phases:
            ends = ["%.6f" % (phase[end] - began) for end in ("from", "to")]
            got = replay("--from", ends[0], "--to", ends[1] + "s", cwd=folder)
            took = phase["spent"]
            for name in took:
                part = sum(f["self"] for f in got["functions"] if f["name"] == name) / got["total"]
                true = took[name] / sum(took.values())
                assert abs(part - true) < 0.05, (name, part, true)
            names.append(f"{ends[0]}s-{ends[1]}s")
        parts = [replay(*options, cwd=folder)
                 for options in (["--to", "1.5s"], ["--from", "1.5s", "--to", "70%"], ["--from", "70%"])]
        for what in "total", "samples":
            assert replay(cwd=folder)[what] == sum(part[what] for part in parts), what
        text = fizeau("diff", "--table", "app.fz", "--base-range", names[0], "--head-range", names[1], cwd=folder).stdout
        assert text.startswith("Two ranges of one recording: ") and "\nSelf:" in text and "\nTotal" in text, text
        own = text[text.index("\nSelf:"):text.index("\nTotal")]
        assert re.search(r"\+[\d.,]+ % {3}dear\b", own) and re.search(r"-[\d.]+ % {3}cheap\b", own), text
        middle = "%.6f" % ((phases[0]["from"] + phases[0]["to"]) / 2 - began)
        text = fizeau("diff", "--table", "app.fz", "--base-range", names[0].split("-")[0] + f"-{middle}",
                      "--head-range", f"{middle}-" + names[0].split("-")[1], cwd=folder).stdout
        if not re.search(r"\nSelf: 0 slower, 0 faster, \d+ same", text):
            raise Wrong(text)


# Does one thing, then another, and prints when.
TWO_THINGS = """\
import sys, time
def read(until):
    while time.time() < until: sum(range(500))
def write(until):
    while time.time() < until: sorted(range(500))
read(time.time() + 2)
print(time.time(), file=open(sys.argv[1], "w"))
write(time.time() + 2)
"""


@suite.test("when a program began to do other things is reported, with a command that compares")
def _():
    with tempfile.TemporaryDirectory() as folder:
        began = recorded(TWO_THINGS, "when", folder)
        at = float(open(f"{folder}/when").read()) - began
        text = fizeau("show", "app.fz", cwd=folder).stdout
        commands = re.findall(r"^  fizeau (diff app\.fz --base-range [\d.]+s-([\d.]+)s --head-range .*)$", text, re.M)
        near = [command for command, end in commands if abs(float(end) - at) < 0.1]
        assert len(near) == 1, (at, text)
        text = fizeau(*near[0].split(), cwd=folder).stdout
        assert re.search(r"\bwrite\b", text) and re.search(r"\bread\b", text), text


# Marks the start of its second part, and writes its own log. Each part lasts until the test has seen it.
MARKING = """\
import os, subprocess, sys, time
def work(word):
    while not os.path.exists(word):
        sum(range(2000))
def before(): work("1")
def between(): work("2")
def beside(): work("3")
def after(): work("4")
before()
between()
subprocess.run([sys.argv[1], "mark", str(os.getpid()), "new - blue"], check=True)
with open("log", "w") as log:
    print(f"{time.time():.6f} by seconds\\nno time\\n[{time.strftime('%Y-%m-%dT%H:%M:%S%z')}] by zone\\n"
          f"{time.time() * 1000:.0f} in ms", file=log)
beside()
after()
"""


@suite.test("a mark that is written meanwhile, and a log's, are where ranges begin and end")
def _():
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/app.py", "w") as file:
            file.write(MARKING)
        with open(f"{folder}/said", "w+") as said:
            with Recorder("run", "-o", "app.fz", "--", sys.executable, "app.py", FIZEAU, path=f"{folder}/app.fz",
                          cwd=folder, stdout=said) as recorder:
                for word, function in ("1", "before"), ("2", "between"), ("3", "beside"), ("4", "after"):
                    recorder.until_seen(function)
                    pathlib.Path(folder, word).touch()
                recorder.end(interrupt=False)
            said.seek(0)
            text = said.read()
            assert re.search(r"^new - blue at [\d.]+ s$", text, re.M), text
        fizeau("replay", "app.fz", "-o", "gecko.json", "--format", "gecko", cwd=folder)
        log = "by seconds", "--markers", "log"
        shown = fizeau("show", "app.fz", *log[1:], cwd=folder).stdout
        assert " by seconds\n" in shown and " by zone\n" in shown and " in ms\n" not in shown, shown
        seconds = open(f"{folder}/log").readline().split()[0]
        with open(f"{folder}/long", "w") as file:
            file.writelines(f"{seconds} line {i}\n" for i in range(1001))
        assert "first 999 of 1001 lines of long" in fizeau("show", "app.fz", "--markers", "long", cwd=folder).stderr
        with open(f"{folder}/never", "w") as file:
            file.write("2026-02-30T00:00:00Z there is no such day\n")
        assert "no line of never begins with a time" in fizeau("show", "app.fz", "--markers", "never", cwd=folder).stderr
        for name, mark, *options in ("app.fz", "new - blue"), ("app.fz", *log), ("gecko.json", *log):
            parts = {side: {f["name"] for f in replay(side, "@" + mark, *options, cwd=folder, name=name)["functions"]
                            if f["total"]} for side in ("--from", "--to")}
            assert "after" in parts["--from"] and "after" not in parts["--to"], parts
            assert "before" in parts["--to"] and "before" not in parts["--from"], parts
        done = fizeau("diff", "app.fz", "--base-range", "-@new - blue", "--head-range", "@new - blue-", "--format", "json",
                      "-o", "-", cwd=folder)
        of = {f["name"]: (f["base_total"] > 0, f["head_total"] > 0) for f in json.loads(done.stdout)["functions"]}
        assert of["before"] == (True, False) and of["after"] == (False, True), of
        shown = fizeau("show", "app.fz", "--markers", "log", cwd=folder).stdout
        assert len(re.findall(r"^mark\.\d+ +\d+\.\d{9} (?:new - blue|by seconds|by zone)$", shown, re.M)) == 3, shown
        fizeau("replay", "app.fz", "--from", "@new - blue", "-o", "part.fz", cwd=folder)
        assert re.search(r"^mark\.1 +0\.000000000 new - blue$", fizeau("show", "part.fz", cwd=folder).stdout, re.M)
        # Nobody records any more.
        done = fizeau("mark", "1", "late", cwd=folder)
        assert done.returncode == 2 and "you are not recording" in done.stderr, done


if __name__ == "__main__":
    suite.main()
