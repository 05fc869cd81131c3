#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""fizeau history in real histories: series of benchmarks, kept and counted, and their changes."""

import json
import subprocess

from livelib import FIZEAU, Suite
from test_bisect import PARSE, history as make_history
from test_ci import blog

suite = Suite()


def history(r, *words, setup=None, **env):
    """The report of all benchmarks by name, and the commits."""
    done = r.fizeau("history", "--format", "json", "--setup", setup or r.setup, *words, **env)
    assert r.git("status", "--porcelain") == "", "the checkout was written to"
    report = json.loads(done.stdout)
    return {b["name"]: b for b in report["benchmarks"]}, report, done


def changes(bench):
    return [(c["commit"], c["kind"]) for c in bench["changes"]]


@suite.test("three commits, one slower: the commit and the function are named; counts are kept")
def check_planted():
    r = make_history([10, 10, 13])
    benches, report, _ = history(r, "--", "./bench")
    assert [c["commit"] for c in report["commits"]] == r.commits, report
    assert changes(benches["parse"]) == [(r.commits[2], "exact")], benches
    change = benches["parse"]["changes"][0]
    assert change["since"] == r.commits[1] and 0.25 < change["change"] < 0.35, change
    assert change["where"]["context"].endswith("tokens"), change
    assert change["where"]["file"] == "parse.c", change
    assert benches["print"]["changes"] == [] and len(set(benches["print"]["counts"])) == 1, benches
    # Nothing is counted twice: this setup would fail.
    again, _, done = history(r, "--", "./bench", setup="exit 1")
    assert again == benches and "omitted" not in done.stderr, done.stderr
    text = r.fizeau("history").stdout
    assert f"{r.commits[2][:10]} " in text and "tokens +" in text, text
    assert "1 of 2 benchmarks changed in 3 commits" in text, text
    # The same commit by halving.
    done = r.fizeau("bisect", "--setup", r.setup, r.commits[0], "--", "./bench")
    assert done.stdout.startswith(r.commits[2][:10]), done.stdout
    return f"{change['change']:+.1%}"


@suite.test("faster, gradually, back again; a commit that cannot be built is omitted")
def check_shapes():
    r = make_history([100, "not C", 80, 81, 82, 83, 100])
    benches, report, done = history(r, "--", "./bench")
    parse = benches["parse"]
    assert parse["counts"][1] is None and "is omitted: " in done.stderr, done
    assert changes(parse) == [(r.commits[2], "exact"), (r.commits[4], "gradual"),
                              (r.commits[6], "exact")], parse
    assert parse["changes"][0]["change"] < -0.15 < 0 < parse["changes"][1]["change"], parse
    assert parse["changes"][1]["since"] == r.commits[2], parse
    text = r.fizeau("history", "-k", "parse").stdout
    assert f"or a commit after {r.commits[0][:10]} that was not counted" in text, text
    assert f"gradually since {r.commits[2][:10]}" in text and "print" not in text, text
    # A limit larger than all of them.
    benches, _, _ = history(r, "--threshold", "50%")
    assert benches["parse"]["changes"] == [], benches


@suite.test("a range begins as specified; -n; uncommitted edits are not counted")
def check_range():
    r = make_history([10, 10, 13, 13])
    r.path.joinpath("parse.c").write_text(PARSE % (50, 10))
    done = r.fizeau("history", "--format", "json", "--setup", r.setup, "HEAD~2..", "--", "./bench")
    report = json.loads(done.stdout)
    assert [c["commit"] for c in report["commits"]] == r.commits[1:], report
    assert changes(report["benchmarks"][0]) == [(r.commits[2], "exact")], report
    assert r.path.joinpath("parse.c").read_text() == PARSE % (50, 10)
    r.git("checkout", "-q", "parse.c")
    _, report, _ = history(r, "-n", "2")
    assert len(report["commits"]) == 2, report


@suite.test("stored in git notes, and found there; a clone without the rest of the history")
def check_notes():
    r = make_history([10, 13])
    history(r, "--save", "notes", "--", "./bench")
    elsewhere = {"XDG_CACHE_HOME": r.scratch.name + "/other"}
    benches, _, _ = history(r, **elsewhere)
    assert changes(benches["parse"]) == [(r.commits[1], "exact")], benches
    shallow = r.path.with_name("shallow")
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{r.path}", shallow], check=True)
    done = subprocess.run([FIZEAU, "history", "--setup", r.setup, "--", "./bench"], cwd=shallow,
                          env={**r.env, **elsewhere}, text=True, capture_output=True)
    assert done.returncode == 0 and "in 1 commit (" in done.stdout, done


@suite.test("counts from another environment are not a change")
def check_environments():
    r = make_history([10, 10, 13, 13])
    history(r, "HEAD~2", "--", "./bench")
    benches, report, _ = history(r, "--", "./bench", setup=r.setup.replace("-O1", "-O0"))
    parse = benches["parse"]
    assert parse["environments"][:2] != parse["environments"][2:], parse
    assert len(report["environments"]) == 2 and parse["changes"] == [], parse
    benches, report, _ = history(r, "--fresh", "--", "./bench")
    assert changes(benches["parse"]) == [(r.commits[2], "exact")], benches


@suite.test("history and bisect name the changed line of a Python function, as ci does")
def check_line():
    r = blog()
    benches, _, _ = history(r, "--", "python3", "bench.py", setup="true")
    wheres = [next(c for b in benches.values() for c in b["changes"])["where"]]
    found = r.fizeau("bisect", "--format", "json", "HEAD~1", "--", "python3", "bench.py")
    wheres.append(json.loads(found.stdout)["change"]["where"])
    r.fizeau("ci", "--base", "main", "-o", str(r.out), "--no-wall", "--", "python3", "bench.py", status=1)
    wheres.append(next(b["where"] for b in r.report()[1].values() if b.get("where")))
    assert len({(w["file"], w["line"]) for w in wheres}) == 1, wheres
    assert "REGEX.search" in r.path.joinpath(wheres[0]["file"]).read_text().splitlines()[wheres[0]["line"] - 1], wheres


@suite.test("odd names are plain text on terminal and page")
def check_names():
    r = make_history([10, 13], name="<b>p</b> & \\x1b[1m \\\\ %d é")
    page = r.path.with_name("page.html")
    benches, report, _ = history(r, "-o", str(page), "--", "./bench")
    name = next(n for n in benches if "<b>" in n)
    assert changes(benches[name]) == [(r.commits[1], "exact")], benches
    text = r.fizeau("history", "--color", "never").stdout
    assert "\x1b" not in text and "<b>p</b>" in text, text
    assert r.fizeau("history", "--html", str(page.with_name("x.json"))).stdout == text, "the former option"
    assert json.loads(page.with_name("x.json").read_text()) == report
    html = page.read_text()
    assert "&lt;b&gt;p&lt;/b&gt; &amp; " in html and "<b>p" not in html and "\x1b" not in html
    assert r.commits[1][:10] in html and "tokens +" in html and html.count("<script") == 1


@suite.test("a signal ends counting; known results are shown")
def check_interrupted():
    r = make_history([10, 10, 13, 13])
    setup = f'[ "$(cat notes.txt)" -ge 2 ] || kill -INT $PPID; {r.setup}'
    done = r.fizeau("history", "--setup", setup, "--", "./bench", status=130)
    assert "interrupted" in done.stderr and "in 4 commits" in done.stdout, done
    benches, _, _ = history(r)
    assert [c is None for c in benches["parse"]["counts"]] == [True, True, False, False], benches


@suite.test("errors: one line each, exit 2")
def check_trouble():
    r = make_history([10])
    for words, wrong in (([], "no stored counts of these commits"),
                         (["nonsense"], "no such revision"),
                         (["HEAD..HEAD"], "no commits in this range"),
                         (["a", "b"], "expected one revision range"),
                         (["--threshold", "0"], "use a percentage"),
                         (["-o", "no/page.html", "--", "./bench"], "no/page.html"),
                         (["--", "false"], "no commits could be counted")):
        done = r.fizeau("history", *words, status=2)
        errors = [line for line in done.stderr.splitlines() if line.startswith("fizeau: history")]
        assert wrong in done.stderr and len(errors) == 1, (words, done.stderr)
    history(r, "--", "./bench")
    done = r.fizeau("history", "-k", "nothing", status=2)
    assert "no benchmark name contains 'nothing'" in done.stderr, done.stderr


if __name__ == "__main__":
    suite.main()
