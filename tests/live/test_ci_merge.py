#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""fizeau ci merge: merging the reports of jobs that each measured some of the benchmarks."""

import json
import pathlib
import shutil
import subprocess
import xml.etree.ElementTree

from livelib import FIZEAU, Suite
from test_ci import LOOP, Repository, need_tool

suite = Suite()

# Each job runs the benchmarks in its arguments.
LOOPS = LOOP + '''\
for name in "$@"; do
    case $name in slow) loop slow $SLOW ;; fast) loop fast $FAST ;; *) loop "$name" 500 ;; esac
done
true
'''
FILES = {"comment.md", "report.html", "report.json", "junit.xml", "badge.svg", "annotations.txt", "base.fz",
         "head.fz"}


class Sharded(Repository):
    """A change that makes one benchmark slower and one faster, and jobs that measure it in parts."""

    def __init__(self):
        need_tool()
        super().__init__()
        self.commit(turns="SLOW=2000\nFAST=3000\n", loops__sh=LOOPS)
        self.git("checkout", "-qb", "change")
        self.commit(turns="SLOW=3000\nFAST=2000\n")

    def shard(self, name, *benchmarks, status=0):
        folder = pathlib.Path(self.scratch.name, name)
        self.fizeau("ci", "--no-wall", "--others", "1", "-o", str(folder), "--", "sh", "loops.sh", *benchmarks,
                    status=status)
        return folder

    def merge(self, *folders, status=0, **env):
        shutil.rmtree(self.out, ignore_errors=True)
        return self.fizeau("ci", "merge", "-o", str(self.out), *map(str, folders), status=status, **env)


def header(folder):
    page = (folder / "report.html").read_text()
    return json.loads(page.split('id="fz-header">', 1)[1].split("</script>", 1)[0])


def benchmarks(folder):
    report = json.loads((folder / "report.json").read_text())
    return report, {b["name"]: b for b in report["benchmarks"]}


@suite.test("two jobs' reports become one: same verdicts, every file of the report, one exit status")
def check_merged():
    r = Sharded()
    a, b = r.shard("a", "slow", "x", status=1), r.shard("b", "fast")
    done = r.merge(a, b, status=1)
    assert {f.name for f in r.out.iterdir()} == FILES
    report, seen = benchmarks(r.out)
    assert {n: s["verdict"] for n, s in seen.items()} == {"slow": "slower", "x": "same", "fast": "faster"}, seen
    assert report["exit"] == 1 and report["benchmarks"][0]["name"] == "slow", report
    for name, folder in (("slow", a), ("x", a), ("fast", b)):
        assert seen[name] == benchmarks(folder)[1][name], name
    assert "1 slower, 1 faster, 1 same" in done.stdout and report["headline"] in done.stdout, done
    junit = xml.etree.ElementTree.parse(r.out / "junit.xml").getroot()
    assert (junit.get("tests"), junit.get("failures")) == ("3", "1"), junit.attrib
    comment = (r.out / "comment.md").read_text()
    assert all(f"<code>{name}</code>" in comment for name in seen) and "\\n" not in comment, comment
    # The page and the recordings have each benchmark, with its own count.
    page = header(r.out)
    assert [x["name"] for x in page["gate"]["benchmarks"]] == ["slow", "fast", "x"], page["gate"]
    for side in ("base", "head"):
        text = r.fizeau("replay", "--collapsed", "-o", "-", str(r.out / f"{side}.fz")).stdout
        for name, bench in seen.items():
            n = sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                    if ";" in line and line.split(";")[1].rsplit(" ", 1)[0] == name)
            assert n == bench[side], (name, side, n, bench)


@suite.test("a merged report can be merged again, and is a later run's base like any other")
def check_again():
    r = Sharded()
    a, b, c = (r.shard(x, x) for x in ("x", "y", "z"))
    r.merge(a, b)
    first = r.out.rename(r.out.with_name("first"))
    r.merge(first, c)
    merged = benchmarks(r.out)[1]
    assert set(merged) == {"x", "y", "z"}
    # Its command is another one, on which what a shell counts may depend.
    later = first.with_name("later")
    done = subprocess.run([FIZEAU, "ci", "--no-wall", "--others", "0", "--base", r.out / "head.fz", "-o", later,
                           "--", "sh", "loops.sh", "x", "y", "z"], cwd=r.path, env=r.env, capture_output=True, text=True)
    assert done.returncode in (0, 1) and "has no record of its counting environment" in done.stderr, done
    assert {n: b["base"] for n, b in benchmarks(later)[1].items()} == {n: b["head"] for n, b in merged.items()}


@suite.test("reports that cannot be merged are an error with the reason; a job without a report is a failure")
def check_refused():
    r = Sharded()
    a, b = r.shard("a", "x"), r.shard("b", "y")
    # Its job failed before there was a report.
    gone = pathlib.Path(r.scratch.name, "gone")
    gone.mkdir()
    done = r.merge(a, gone, status=2)
    assert "gone: no report of this job" in done.stderr, done
    report, seen = benchmarks(r.out)
    assert report["exit"] == 2 and set(seen) == {"x"} and "gone" in report["troubles"][0], report
    assert "no report of this job" in (r.out / "comment.md").read_text()
    # The same benchmark twice, another change, no report at all.
    assert "benchmark 'x' occurs twice" in r.merge(a, a, status=2).stderr
    text = (b / "report.json").read_text()
    (b / "report.json").write_text(text.replace(json.loads(text)["base"], "0123456789"))
    assert "only reports of the same change can be merged" in r.merge(a, b, status=2).stderr
    assert "no folder has a report.json" in r.merge(gone, status=2).stderr
    assert "no reports" in r.merge(status=2).stderr
    # Truncated, or forged.
    (b / "report.json").write_text(text[:200])
    assert r.merge(a, b, status=2).stderr.startswith("fizeau: ci merge: ")
    hostile = json.loads(text)
    hostile["notes"] = ["\x1b[2Jgone", "::error file=x::y"]
    hostile["benchmarks"][0].update(name="<!--\n::error::z", limit=1e308, change="x", base=None)
    (b / "report.json").write_text(json.dumps(hostile))
    done = r.merge(a, b, GITHUB_ACTIONS="true")
    assert "\x1b" not in done.stdout + done.stderr and "\n::error" not in done.stdout, done
    (b / "head.fz").write_bytes(b"no recording")
    assert "head.fz" in r.merge(a, b, status=2).stderr


if __name__ == "__main__":
    suite.main()
