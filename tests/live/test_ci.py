#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""fizeau ci in real repositories: a base and a change, counted, timed, judged and reported."""

import concurrent.futures
import contextlib
import http.server
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import tempfile
import threading
import xml.etree.ElementTree

from fleetlib import Server
from livelib import FIZEAU, SANITIZED, SOURCE, Skip, Suite

suite = Suite()

EARLY = "; counting it to find out why"

PYTHON = "/usr/bin/python3"
PARSE_PR = '''\
import re


def send_event(name, data):
    return "&".join(f"{k}={v}" for k, v in sorted(data.items()))


def log_metrics(what, n):
    return send_event(what, {f"k{i}": i * n for i in range(8)})


%s

def prepare_parsing_body(body):
    return body.replace("\\r\\n", "\\n").lower()


def parse_body(body):
    text = prepare_parsing_body(body)
    issue = parse_issue_fixed(text)
    log_metrics("body", len(text))
    return issue


def parse_title(title):
    return " ".join(w.strip(".,:;").capitalize() for w in title.split())


def parse_pr(body, pr_number, title):
    return {"n": pr_number, "title": parse_title(title), "fixes": parse_body(body)}
'''
FIND = '''\
def parse_issue_fixed(body):
    prefix = "fixes #"
    index = body.find(prefix)
    if index == -1:
        return None
    start = index + len(prefix)
    end = start
    while end < len(body) and body[end].isdigit():
        end += 1
    return int(body[start:end])
'''
REGEX = '''\
FIXES_REGEX = re.compile(r"fixes #(\\d+)")


def parse_issue_fixed(body):
    match = FIXES_REGEX.search(body)
    return int(match.group(1)) if match else None
'''
BENCH = '''\
import os
import parse_pr

BODY = "This pull request changes the frobnicator for the better.\\r\\n" * 640 + "fixes #1234\\r\\n"


def test_parse_pr():
    return parse_pr.parse_pr(BODY, 126, "Refactor some code: the frobnicator, again.")


def test_parse_title():
    return parse_pr.parse_title("Refactor some code: the frobnicator, again.")


for test in (test_parse_pr, test_parse_title):
    test()
    os.access("/.fizeau/start/" + test.__name__, 0)
    test()
    os.access("/.fizeau/stop/" + test.__name__, 0)
'''


# Counted in a moment: each benchmark is a loop; the file "turns" has the number of iterations.
LOOP = '''\
. ./turns
loop() {
    test -e "/.fizeau/start/$1"
    i=0
    while [ $i -lt $2 ]; do i=$((i+1)); done
    test -e "/.fizeau/stop/$1"
}
'''
LOOPS = LOOP + '''\
loop first $FIRST
loop second $SECOND
true
'''


def need_tool():
    if not shutil.which("valgrind"):
        raise Skip("valgrind is not installed")
    if not os.path.isdir(os.path.join(os.path.dirname(FIZEAU), "valgrind", "lib")):
        raise Skip("the tool was not built: Valgrind has none for this processor")


class Repository:
    """A scratch checkout with a separate cache."""

    def __init__(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="fz-ci-")
        self.path = pathlib.Path(self.scratch.name, "project")
        self.out = pathlib.Path(self.scratch.name, "out")
        self.path.mkdir()
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "CI"))}
        self.env["XDG_CACHE_HOME"] = os.path.join(self.scratch.name, "cache")
        self.git("init", "-q", "-b", "main")

    def git(self, *words):
        return subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org",
                               *words], cwd=self.path, check=True, capture_output=True,
                              text=True).stdout.strip()

    def commit(self, message="a commit", **files):
        for name, text in files.items():
            self.path.joinpath(name.replace("__", ".")).write_text(text)
        self.git("add", "-A")
        self.git("commit", "-qm", message)
        return self.git("rev-parse", "HEAD")

    def fizeau(self, *words, status=0, **env):
        done = subprocess.run([FIZEAU, *words], cwd=self.path, capture_output=True, text=True,
                              env=dict(self.env, **env), timeout=300)
        assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
        assert len(self.git("worktree", "list").splitlines()) == 1, "a worktree was left behind"
        return done

    def report(self):
        report = json.loads(self.out.joinpath("report.json").read_text())
        return report, {b["name"]: b for b in report["benchmarks"]}


# As if the server were unreachable: a proxy with an invalid address is not retried, which would take seconds.
AWAY = {"http_proxy": "http://127.0.0.1:99999", "no_proxy": ""}


def blog():
    """The example of str.find and a regular expression: main, and a branch with the change."""
    need_tool()
    repository = Repository()
    repository.commit(parse_pr__py=PARSE_PR % FIND, bench__py=BENCH)
    repository.git("checkout", "-qb", "refactor")
    repository.commit(parse_pr__py=PARSE_PR % REGEX)
    return repository


def check_tree(r):
    """The recordings contain Python functions from the benchmark's on, the same on both sides except for the
    changed one."""
    stacks = []
    for side in ("base.fz", "head.fz"):
        text = r.fizeau("replay", "--collapsed", "-o", "-", str(r.out / side)).stdout
        stacks.append({line.split(";", 1)[1].rsplit(" ", 1)[0] for line in text.splitlines()})
    path = ("test_parse_pr;bench.py:<module>:1;bench.py:test_parse_pr:7;parse_pr.py:parse_pr:%d;"
            "parse_pr.py:parse_body:%d;parse_pr.py:%s:%d")
    assert path % (35, 24, "parse_issue_fixed", 15) in stacks[1], stacks[1]
    assert not any("python3" in stack for stack in stacks[0] | stacks[1]), stacks
    names = [{":".join(part.split(":")[:2]) for s in side for part in s.split(";")} for side in stacks]
    assert names[0] == names[1], names[0] ^ names[1]


def loops(first=3000, second=3000, **then):
    """A shell script with two benchmarks: main, and a branch that changes their numbers of iterations."""
    need_tool()
    repository = Repository()
    repository.commit(turns=f"FIRST={first}\nSECOND={second}\n", loops__sh=LOOPS)
    repository.git("checkout", "-qb", "change")
    repository.commit(turns=f"FIRST={then.get('FIRST', first)}\nSECOND={then.get('SECOND', second)}\n",
                      note="a change")
    return repository


def check_surfaces(r, done, report):
    """Comment, page, annotations, JUnit, badge and terminal have the verdicts, figures and places of the JSON."""
    comment, page, junit, badge, notes = (r.out.joinpath(name).read_text() for name in (
        "comment.md", "report.html", "junit.xml", "badge.svg", "annotations.txt"))
    header = json.loads(re.search(r'id="fz-header">(.*?)</script>', page, re.S).group(1))
    gate = {b["name"]: b for b in header["gate"]["benchmarks"]}
    assert header["gate"]["status"] == report["exit"] and header["gate"]["headline"] == report["headline"], header["gate"]
    assert report["headline"] in comment and report["headline"] in done.stdout, (comment, done.stdout)
    assert sorted(gate) == sorted(b["name"] for b in report["benchmarks"]), gate
    failing = sum(b["fails"] for b in report["benchmarks"])
    assert f"performance: {failing} slower" in badge if failing else "performance: " in badge, badge
    for b in report["benchmarks"]:
        name, verdict, where, shown = b["name"], b["verdict"], b["where"], gate[b["name"]]
        assert {k: shown[k] for k in ("verdict", "word", "fails", "base", "head", "change", "limit")} == {
            "word": verdict, **{k: b[k] for k in ("verdict", "fails", "base", "head", "change", "limit")}}, (shown, b)
        counts = [f"{b[side]:,.0f}" for side in ("base", "head")]
        assert re.search(rf"^{verdict} +{re.escape(name)} +{counts[0]} +{counts[1]} ", done.stdout, re.M), done.stdout
        assert f'name="{name}">' in junit and f"<system-out>{verdict}: " in junit, junit
        code = name.replace("_", "_<wbr>") if len(name) > 8 else name
        row = re.search(rf"^\| .*<code>{re.sub('_<wbr>', '_(?:<wbr>)?', code)}</code>.*$", comment, re.M)
        assert row and f"{verdict} | <sub>{counts[0]} → {counts[1]}<br>" in row[0], (name, row, comment)
        place = f"{where['file']}:{where['line']}" if where else None
        assert (f"{shown['file']}:{shown['line']}" if "file" in shown else None) == place, (shown, where)
        assert (f"  {place}\n" in done.stdout) == bool(where), (place, done.stdout)
        if where:
            assert place in row[0].replace("<wbr>", "").replace("&#58;", ":").replace("&#95;", "_"), (place, row[0])
        noted = verdict in ("slower", "disagree", "missing")
        line = re.search(rf"^::(error|warning) (?:file=(.*),line=(\d+),)?title={verdict}%3A {re.escape(name)}::", notes, re.M)
        assert bool(line) == noted, (name, notes)
        if line:
            assert line[1] == ("error" if b["fails"] else "warning"), line
            assert not where or (line[2], int(line[3])) == (where["file"], where["line"]), (line, where)


@suite.test("a function that became slower is named, in every report; the checkout stays clean")
def check_blog():
    r = blog()
    summary = os.path.join(r.scratch.name, "summary.md")
    done = r.fizeau("ci", "--no-wall", "-o", str(r.out), "--", PYTHON, "bench.py", status=1,
                    GITHUB_STEP_SUMMARY=summary, GITHUB_ACTIONS="true")
    report, benches = r.report()
    slow = benches["test_parse_pr"]
    assert report["exit"] == 1 and slow["verdict"] == "slower" and slow["fails"], report
    assert slow["change"] > 0.1 and slow["where"]["context"].endswith("parse_issue_fixed"), slow
    assert slow["where"]["file"] == "parse_pr.py", slow
    # The first line of the function that differs, not its "def".
    changed = (PARSE_PR % REGEX).splitlines().index("    match = FIXES_REGEX.search(body)") + 1
    assert slow["where"]["line"] == changed, slow
    assert benches["test_parse_title"]["verdict"] == "same", benches
    check_surfaces(r, done, report)
    comment = r.out.joinpath("comment.md").read_text()
    assert re.match(r"<!-- fizeau ci -->\n### Merging this makes <code>test_parse_pr</code> [\d.]+&nbsp;% slower, in "
                    r"<code>parse_issue_fixed</code>\n\nPerformance regression: 1 slower, 1 same\.\n", comment), comment
    assert comment == pathlib.Path(summary).read_text()
    assert re.search(r"^::error file=parse_pr.py,line=\d+,title=slower", done.stdout, re.M), done
    assert f"line={changed}," in done.stdout, done
    junit = xml.etree.ElementTree.parse(r.out / "junit.xml").getroot()
    assert junit.get("tests") == "2" and junit.get("failures") == "1", junit.attrib
    xml.etree.ElementTree.parse(r.out / "badge.svg")
    page = r.out.joinpath("report.html").read_text()
    header = json.loads(page.split('id="fz-header">', 1)[1].split("</script>", 1)[0])
    assert {"function.source.base", "function.source.head"} <= {c["name"] for c in header["columns"]}, header["columns"]
    gate = header["gate"]
    assert gate["status"] == 1 and gate["headline"] == report["headline"], gate
    assert re.fullmatch(r"test_parse_pr takes \d+\.\d % more instructions \(limit 2\.0 %\)",
                        gate["why"]), gate
    assert [b["name"] for b in gate["benchmarks"]] == [b["name"] for b in report["benchmarks"]]
    bounds = {b["benchmark"]: b["bound"] for b in header["bounds"]}
    assert bounds["test_parse_pr"] < slow["head"] - slow["base"], bounds
    check_tree(r)
    assert r.git("status", "--porcelain") == ""
    return f"{slow['change']:+.1%}"


def check_pytest(*options):
    if SANITIZED:
        raise Skip("what is ours of it test_bench's case of pytest shows")
    r = blog()
    if subprocess.run([PYTHON, "-c", "import pytest"], capture_output=True).returncode:
        raise Skip("python3-pytest is not installed")
    r.path.joinpath("test_it.py").write_text(
        "import pytest, bench\n"
        "@pytest.mark.benchmark\n"
        "def test_title():\n    bench.test_parse_title()\n"
        "def test_pr(benchmark):\n    benchmark(bench.test_parse_pr)\n")
    r.path.joinpath("bench.py").write_text(BENCH[:BENCH.index("for test in")])
    r.path.joinpath("fizeau.ini").write_text("[ci]\npairs = 8\nwall-seconds = 10\n")
    r.git("add", "-A")
    r.git("commit", "-qm", "benchmarks for pytest")
    r.git("branch", "-f", "main")
    r.commit(parse_pr__py=PARSE_PR % FIND)
    command = ["--", PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]
    r.fizeau("ci", "-o", str(r.out), "--others", "0", "--native", *options, *command)
    report, benches = r.report()
    pr, title = benches["test_it.py::test_pr"], benches["test_it.py::test_title"]
    if options:
        assert pr["verdict"] == "faster" and not pr["wall"], pr
    else:
        assert pr["verdict"] in ("faster", "disagree"), pr
        assert pr["wall"] or any("wall time" in note for note in report["notes"]), report
    assert pr["where"]["context"].endswith("parse_issue_fixed"), pr
    assert title["verdict"] == "same" and len(benches) == 2, benches
    text = r.fizeau("replay", "--collapsed", "-o", "-", str(r.out / "head.fz")).stdout
    assert "bench_root_frame" not in text and "PyObject_" in text, text[:2000]


suite.add("pytest: the plug-in is included; the interpreter's functions on demand", check_pytest, "--no-wall")
suite.add("pytest: judged by the clock as well", check_pytest)


@suite.test("a renamed benchmark is compared; a library's change is shown at its caller in the repository")
def check_renamed():
    r = blog()
    inner = r.path.joinpath("sub")
    inner.mkdir()
    library = inner.joinpath("env", "site-packages", "lib_x.py")
    library.parent.mkdir(parents=True)
    library.write_text("def work(n):\n    return sum(i * i for i in range(n))\n")
    text = ("import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "
            "'env', 'site-packages'))\nimport lib_x\n\n\ndef test_squares():\n    return lib_x.work(%d)\n\n\n"
            "def test_words():\n    return sorted('a few words to sort'.split() * 200)\n\n\n"
            "for label, test in (('squares', test_squares), ('%s', test_words)):\n    test()\n"
            "    os.access('/.fizeau/start/' + label, 0)\n    test()\n    os.access('/.fizeau/stop/' + label, 0)\n")
    inner.joinpath("bench.py").write_text(text % (2000, "sorting"))
    r.commit("benchmarks in a folder below")
    r.git("branch", "-f", "main")
    inner.joinpath("bench.py").write_text(text % (4000, "words"))
    r.commit("another name, and more work for the library")
    done = subprocess.run([FIZEAU, "ci", "--no-wall", "--others", "0", "-o", str(r.out), "--", PYTHON,
                           "bench.py"], cwd=inner, env=r.env, capture_output=True, text=True)
    assert done.returncode == 1, done
    report, benches = r.report()
    assert set(benches) == {"squares", "words"}, benches
    assert benches["words"]["renamed_from"] == "sorting" and benches["words"]["verdict"] == "same"
    assert "renamed from <code>sorting</code>" in r.out.joinpath("comment.md").read_text()
    assert "renamed from sorting" in done.stdout, done.stdout
    where = benches["squares"]["where"]
    assert "work" in where["context"] and where["file"] == "sub/bench.py", where
    assert where["line"] == text.splitlines().index("    return lib_x.work(%d)") + 1, where
    assert "\\n" not in r.out.joinpath("comment.md").read_text().replace("&#92;n", "\\n")


@suite.test("no change: every benchmark is the same, exit 0")
def check_same():
    r = loops(300, 300)
    done = r.fizeau("ci", "--no-wall", "-o", str(r.out), "--", "sh", "loops.sh")
    report, benches = r.report()
    assert {b["verdict"] for b in benches.values()} == {"same"}, report
    assert "No performance regression" in done.stdout
    # The head's recording serves as a base.
    r.fizeau("ci", "--base", str(r.out / "head.fz"), "--", "sh", "loops.sh")
    # A service may start it without standard input.
    done = subprocess.run(["sh", "-c", 'exec "$0" ci --no-wall -- sh loops.sh <&-', FIZEAU], cwd=r.path, env=r.env,
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "No performance regression" in done.stdout, done


@suite.test("the first benchmarks: if the base lacks the file, all are new, exit 0")
def check_first():
    need_tool()
    r = Repository()
    r.commit(note="nothing to measure")
    r.git("checkout", "-qb", "change")
    r.commit(turns="FIRST=300\nSECOND=300\n", loops__sh=LOOPS)
    done = r.fizeau("ci", "--base", "main", "--no-wall", "--others", "0", "-o", str(r.out), "--", "sh", "loops.sh")
    report, benches = r.report()
    assert benches and {b["verdict"] for b in benches.values()} == {"new"}, report
    assert "the base has no loops.sh" in done.stderr, done.stderr
    # Nothing is kept of that base: a command that fails there for another reason is an error.
    done = r.fizeau("ci", "--base", "main", "--no-wall", "--others", "0", "--", "sh", "-c", ". ./loops.sh", status=2)
    assert "base: the command ended with status" in done.stderr, done.stderr
    # What is only built in this tree is not new: the base would have it with --setup.
    r.git("mv", "loops.sh", "loops.in")
    r.commit(__gitignore="loops.sh\n")
    shutil.copy(r.path / "loops.in", r.path / "loops.sh")
    command = ("ci", "--base", "HEAD~2", "--no-wall", "--others", "0", "--save", "none")
    done = r.fizeau(*command, "--", "sh", "loops.sh", status=2)
    assert "base: the command ended with status" in done.stderr, done.stderr
    r.fizeau(*command, "--setup", "cp loops.in loops.sh || echo true >loops.sh", "--", "sh", "loops.sh")


@suite.test("counts of a tree with an untracked file are not stored for the commit, and a base without the file is reported")
def check_untracked():
    r = loops(300, 300)
    r.commit(loops__sh="test -e local && . ./local\n" + LOOPS.replace("$SECOND", "${LOCAL:-$SECOND}"))
    r.path.joinpath("local").write_text("LOCAL=900\n")
    command = ("ci", "--base", "HEAD~1", "--no-wall", "--others", "0", "-o", str(r.out), "--save")
    done = r.fizeau(*command, "cache", "--", "sh", "loops.sh", status=1)
    assert "local is untracked" in done.stderr and r.report()[1]["second"]["verdict"] == "slower", done
    r.path.joinpath("local").unlink()
    r.commit(note="another change")
    r.fizeau(*command, "none", "--", "sh", "loops.sh")
    assert {b["verdict"] for b in r.report()[1].values()} == {"same"}, r.report()
    r.git("rm", "-q", "--cached", "turns")
    r.git("commit", "-qm", "a file is no longer tracked")
    r.git("commit", "-qm", "nothing", "--allow-empty")
    done = r.fizeau(*command, "none", "--", "sh", "loops.sh", status=2)
    assert "no untracked files, such as turns" in done.stderr, done.stderr


@suite.test("the counts of a tree that git cannot compare with its commit are not stored")
def check_unreadable():
    r = loops(300, 300)
    r.path.joinpath(".git", "info").mkdir(exist_ok=True)
    r.path.joinpath(".git", "info", "attributes").write_text("loops.sh filter=broken\n")
    for key, value in (("clean", "false"), ("smudge", "cat"), ("required", "true")):
        r.git("config", f"filter.broken.{key}", value)
    r.path.joinpath("loops.sh").touch()
    done = r.fizeau("ci", "--base", "HEAD", "--no-wall", "--others", "0", "--save", "cache", "--", "sh", "loops.sh")
    assert "not storing the counts of this tree" in done.stderr, done.stderr


@suite.test("fizeau.ini: thresholds, ignored and accepted benchmarks; misspellings are errors")
def check_config():
    r = blog()
    ignored = "[benchmark test_parse_p*]\nignore = the server is slow\nuntil = %s\n"
    for text, status in (("[ci]\nthreshold = 90 %\n", 0),
                         ("[accept test_parse_pr]\nchange = 50 %\nreason = is readable\n", 0),
                         (ignored % "2999-01-01", 0), (ignored % "2020-01-01", 1)):
        r.path.joinpath("fizeau.ini").write_text(text)
        done = r.fizeau("ci", "--no-wall", "--base", "main", "--others", "0", "--", PYTHON,
                        "bench.py", status=status)
        assert ("until 2020-01-01" in done.stderr) == bool(status), done.stderr
    for text, wrong in (("[ci]\ntreshold = 1 %\n", "fizeau.ini:2: unknown key 'treshold'; "
                         "did you mean 'threshold'?"),
                        ("[ci]\nthreshold = much\n", "'threshold' must be a share such as 5 %"),
                        ("[cj]\nx = 1\n", "unknown section [cj]"),
                        ("[accept a]\nchange = 5 %\n", "[accept a]: 'change' and 'reason' are required")):
        r.path.joinpath("fizeau.ini").write_text(text)
        done = r.fizeau("ci", "--", PYTHON, "bench.py", status=2)
        assert wrong in done.stderr, done.stderr


def steps_on_terminal(r, status, *words, **variables):
    """What a command writes to a terminal, split where it clears the line."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([FIZEAU, *words], cwd=r.path, env=r.env | variables,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        said = b""
        with contextlib.suppress(OSError):  # its end is closed
            while piece := os.read(ours, 65536):
                said += piece
        os.close(ours)
        assert process.wait() == status, said
    return said.decode().split("\r\x1b[K")


@suite.test("counting shows one line on a terminal, which is rewritten")
def progress():
    steps = steps_on_terminal(loops(300, 300, FIRST=600), 1, "ci", "--others", "1", "--", "sh", "loops.sh")
    assert "fizeau: ci: trying the command, 0 of 2 runs, 0 s\r" in steps, steps
    assert any(s.startswith("fizeau: ci: counting, 0 of 3 runs, ") for s in steps), steps
    assert "fizeau: ci: timing suspects, pair 1 of at most 40\r" in steps, steps
    assert all(s.endswith("\r") for s in steps if "fizeau: ci: " in s), steps


@suite.test("variables that change counts are reported once, and do not hide the progress")
def variables_reported():
    r = loops(300, 300)
    told = "the environment sets OMP_NUM_THREADS=1; counts may differ where it is not set"
    steps = steps_on_terminal(r, 0, "ci", "--others", "1", "--", "sh", "loops.sh", OMP_NUM_THREADS="1")
    assert "".join(steps).count(told) == 1, steps
    steps = steps_on_terminal(r, 0, "bench", "--", "sh", "loops.sh", OMP_NUM_THREADS="1")
    assert steps[0] == f"fizeau: bench: {told}\r\nfizeau: bench: counting under Valgrind\r", steps


@suite.test("unmeasurable benchmarks: one line each, exit 2, nothing half-written")
def check_trouble():
    r = loops()
    for words, wrong in ((["--", "sh", "missing.sh"], "head: the command ended with status 2; --show-output"),
                         (["--show-output", "--", "sh", "missing.sh"], "head: the command ended with status 2\n"),
                         (["--base", "origin/x", "--", "true"], "fetch it, or specify another with --base"),
                         (["--setup", "git merge-base --is-ancestor change HEAD", "--", "true"],
                          "cannot build base: --setup")):
        done = r.fizeau("ci", "--no-wall", "-o", str(r.out), *words, status=2)
        errors = [line for line in done.stderr.splitlines() if line.startswith("fizeau: ") and EARLY not in line]
        assert wrong in done.stderr and len(errors) == 1, done.stderr
        assert not r.out.exists(), "something was written"
    shallow = os.path.join(r.scratch.name, "shallow")
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{r.path}", shallow], check=True)
    done = subprocess.run([FIZEAU, "ci", "--", "true"], cwd=shallow, env=r.env, text=True,
                          capture_output=True)
    assert done.returncode == 2 and "shallow" in done.stderr, done


@suite.test("a command that fails is reported before it is counted")
def check_early():
    r = loops()
    seen = os.path.join(r.scratch.name, "seen")
    # Counting has a log for failures; it ends only after the failure was reported.
    script = f'[ -z "$FIZEAU_BENCH_LOG" ] || for i in $(seq 1200); do [ -e {seen} ] && break; sleep 0.1; done; exit 3'
    words = [FIZEAU, "ci", "--no-wall", "--others", "0", "--", "sh", "-c", script]
    with subprocess.Popen(words, cwd=r.path, env=r.env, stderr=subprocess.PIPE, text=True) as process:
        said = process.stderr.readline() + process.stderr.readline()
        pathlib.Path(seen).touch()
        assert f"head: the command ended with status 3{EARLY}" in said, said
        process.stderr.read()
        assert process.wait() == 2


@suite.test("a command that takes too long is named: one line, exit 2, nothing half-written")
def check_too_long():
    r = loops()
    done = r.fizeau("ci", "--no-wall", "-o", str(r.out), "--timeout", "1", "--", "sleep", "60", status=2)
    lines = [line for line in done.stderr.splitlines() if EARLY not in line]
    assert "was still running after 1 s (--timeout)" in lines[0] and len(lines) == 1, done.stderr
    assert not r.out.exists(), "something was written"


@suite.test("counts are kept, in a cache, notes or a branch, and not counted again")
def check_kept():
    r = loops(300, 300, FIRST=900)
    command = ("ci", "--no-wall", "-o", str(r.out), "--", "sh", "loops.sh")
    done = r.fizeau(*command, status=1)
    assert "using stored counts" not in done.stderr, done.stderr
    first, benches = r.report()
    assert benches["first"]["verdict"] == "slower" and benches["second"]["verdict"] == "same"
    done = r.fizeau(*command, status=1)
    base = r.git("rev-parse", "main")
    assert f"/baselines/{base}/" in done.stderr, done.stderr
    assert r.report()[0] == first, "the same figures, floors included"
    # In another environment they are not used.
    done = r.fizeau(*command, status=1, PYTHONHASHSEED="7")
    assert "using stored counts" not in done.stderr, done.stderr
    # In git; the cache is gone.
    both = {base, r.git("rev-parse", "HEAD")}
    for place, where in (("notes", "the note of"), ("branch", "the branch fizeau-data")):
        shutil.rmtree(os.path.join(r.env["XDG_CACHE_HOME"], "fizeau"))
        r.fizeau("ci", "--save", place, *command[1:], status=1)
        done = r.fizeau("ci", "--save", "none", *command[1:], status=1)
        assert f"stored counts of the base from {where}" in done.stderr, done.stderr
        assert r.report()[0] == first
        if place == "notes":
            notes = r.git("notes", "--ref", "fizeau", "list").splitlines()
            assert {line.split()[1] for line in notes} == both, notes
            r.git("update-ref", "-d", "refs/notes/fizeau")
    files = r.git("ls-tree", "-r", "--name-only", "fizeau-data").splitlines()
    assert {f.split("/")[0] for f in files} == both, files
    assert r.git("status", "--porcelain") == ""
    # A clone has no notes: one line explains how to fetch them.
    clone = str(r.path)[:-1] + "2"  # counts depend on how long a path is
    r.fizeau("ci", "--save", "notes", *command[1:], status=1)
    r.git("branch", "-q", "-D", "fizeau-data")
    subprocess.run(["git", "clone", "-q", r.path, clone], check=True)
    shutil.rmtree(os.path.join(r.env["XDG_CACHE_HOME"], "fizeau"))
    for fetched in False, True:
        done = subprocess.run([FIZEAU, "ci", "--base", base, "--save", "notes", *command[1:]],
                              cwd=clone, env=r.env, capture_output=True, text=True)
        assert done.returncode == 1, done
        fetch = re.search(r"from a remote with: (git fetch .*)", done.stderr)
        assert bool(fetch) != fetched and ("the note of" in done.stderr) == fetched, done.stderr
        if fetch:
            subprocess.run(["git", "update-ref", "-d", "refs/notes/fizeau"], cwd=clone, check=True)
            subprocess.run(fetch[1].split(), cwd=clone, check=True, capture_output=True)
    # Edits are not a commit.
    r.path.joinpath("turns").write_text("FIRST=300\nSECOND=300\n")
    done = r.fizeau("ci", "--save", "notes", "--no-wall", "--", "sh", "loops.sh")
    assert "uncommitted edits" in done.stderr, done.stderr


@suite.test("counts are stored on a server: one machine counts a commit, others find it; without it the gate works")
def check_kept_at_server():
    r = loops(300, 300, FIRST=900)
    folder, caches = pathlib.Path(r.scratch.name), iter(range(100))
    folder.joinpath("tokens").write_text("p write writewritewritewrite\np read readreadreadread\n"
                                         "p read,write both-both-both-both\nother read,write otherotherotherother\n")
    folder.joinpath("tokens").chmod(0o600)
    folder.joinpath("token").write_text("both-both-both-both\n")
    both = "--token-file", str(folder / "token")

    def run(*words, token=None, machine=None, status=1, **more):
        machine = next(caches) if machine is None else machine
        env = {"XDG_CACHE_HOME": str(folder / f"cache{machine}"), **({"FIZEAU_TOKEN": token} if token else {}), **more}
        return r.fizeau(words[0], *words[1:], "--", "sh", "loops.sh", status=status, **env).stderr

    with Server(folder, "--tokens", folder / "tokens", "--recordings", folder / "whole") as server:
        ci = "ci", "--save", server.url, "--no-wall", "--others", "1", "-o", str(r.out)
        assert run(*ci, *both) == ""
        first = r.report()[0]
        listed = server.ask("GET", "/api/counts", token="readreadreadread")[1].decode().split()
        assert {line.split("/")[0] for line in listed} == {r.git("rev-parse", c) for c in ("main", "HEAD")}, listed
        # Another machine, which may only read: the base is there, and so is what it would store.
        text = run(*ci, token="readreadreadread")
        assert f"stored counts of the base from {server.url}" in text and "warning" not in text and r.report()[0] == first, text
        # A job that may only read, for a commit without counts: it prints this, and stores them locally.
        r.commit(note="another change")
        text = run(*ci, token="readreadreadread", machine=50)
        assert "is read-only (status 403); stored in this machine's cache instead" in text, text
        assert len(list(folder.glob("cache50/fizeau/baselines/*/*.fz"))) == 1
        assert run(*ci, token="otherotherotherother") == "", "another project sees nothing"
        # history and bisect find the same.
        text = r.fizeau("history", "--save", server.url, *both, "HEAD", XDG_CACHE_HOME=str(folder / "h")).stdout
        assert r.git("rev-parse", "HEAD~1")[:10] in text and "1 of 2 benchmarks changed in 3 commits" in text, text
        assert run("history", "--save", server.url, *both, "HEAD", status=0) == ""
        known = server.ask("GET", "/api/counts", token="readreadreadread")[1].decode().split()
        assert {line.split("/")[0] for line in known} == set(r.git("rev-list", "HEAD").split()), known
        done = r.fizeau("bisect", "--save", server.url, *both, "--setup", "test ! -e stop", "HEAD~2", "--", "sh", "loops.sh",
                        XDG_CACHE_HOME=str(folder / "b"))
        assert done.stdout.startswith(r.git("rev-parse", "HEAD~1")[:10]), done
        # Jobs at the same time.
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for text in pool.map(lambda _: subprocess.run([FIZEAU, *ci[:6], *both, "--", "sh", "loops.sh"], cwd=r.path, text=True,
                                 capture_output=True, env={**r.env, "PYTHONHASHSEED": "3"}).stderr, range(2)):
                assert "warning" not in text, text
        # Data that do not match their name are refused.
        commit, key = listed[0].removesuffix(".fz").split("/")
        path = f"/api/count?commit={commit}&key="
        body = server.ask("GET", path + key, token="readreadreadread")[1]
        write = {"token": "writewritewritewrite"}
        server.says(200, "stored", "POST", path + key, body, **write)
        server.says(422, "the environment of this key", "POST", path + "0" * 16, body, **write)
        server.says(422, "belongs to another commit", "POST", f"/api/count?commit={'0' * 40}&key={key}", body, **write)
        server.says(422, "not a profile in a supported format", "POST", path + key, b"x" * 100, **write)
        for wrong in (f"commit=../../x&key={key}", f"commit={commit}&key=../{key}", "commit=HEAD&key=1"):
            server.says(400, "in hexadecimal digits", "POST", f"/api/count?{wrong}", body, **write)
        server.says(403, "is read-only", "POST", path + key, body, token="readreadreadread")
        server.says(400, "replace: invalid value 'x' (expected no)", "POST", path + key + "&replace=x", body, **write)
        server.says(422, "not found", "GET", path + "0" * 16, token="readreadreadread")
    # The gate does not depend on the server.
    text = run(*ci, machine=51, **AWAY)
    assert "continuing without the server's counts" in text and text.count("warning") == 3, text
    assert r.report()[0]["benchmarks"] and len(list(folder.glob("cache51/fizeau/baselines/*/*.fz"))) == 2
    with Server(folder, store=folder / "y.db") as server:
        text = run("ci", "--save", server.url, "--no-wall")
        assert "start it with --recordings FOLDER (status 404)" in text, text
        for words, why in ((("history", "--save", "x"), "must be cache, notes, branch or http://"),
                           (("ci", "--token-file", "x"), "--spool-limit require --server URL"),
                           (("ci", "--save", server.url, "--token-file", "/nowhere"), "/nowhere: cannot be read")):
            text = run(*words, status=2)
            assert why in text and text.count("\n") == 1, text


@suite.test("counts for an unreachable server wait for the next command; they replace no newer ones")
def waiting_counts():
    r = loops(300, 300, FIRST=900)
    folder = pathlib.Path(r.scratch.name)
    words, spool = ("--", "sh", "loops.sh"), folder / "spool"
    with Server(folder, "--recordings", folder / "whole") as server:
        ci = "ci", "--save", server.url, "--no-wall", "--others", "1"

        def listed():
            return server.ask("GET", "/api/counts")[1].decode().split()

        def spooled(where):
            return list(pathlib.Path(where).rglob("*.push"))

        server.stop()
        text = r.fizeau(*ci, "--spool", str(spool), *words, status=1).stderr
        assert text.count(f"it is queued for the next run in {spool}/") == 2 and "in this machine's cache" in text, text
        assert len(spooled(spool)) == 2 and len(list(folder.glob("cache/fizeau/baselines/*/*.fz"))) == 2, text
        r.fizeau("history", "--save", server.url, "main", *words, XDG_CACHE_HOME=str(folder / "other"), **AWAY)
        waits, = spooled(folder / "other/fizeau/spool")
        # Still down: no request takes long, and nothing is lost or stored twice.
        text = r.fizeau(*ci, "--spool", str(spool), *words, status=1, **AWAY).stderr
        assert "continuing without the server's counts" in text and len(spooled(spool)) == 4, text
        server.options = [*server.options, "--listen", f"127.0.0.1:{server.port}"]
        server.start()
        assert listed() == []
        text = r.fizeau(*ci, "--spool", str(spool), *words, status=1).stderr
        assert "sent queued counts of earlier runs to the server (recordings: 4)" in text and "warning" not in text, text
        assert {line.split("/")[0] for line in listed()} == {r.git("rev-parse", c) for c in ("main", "HEAD")} and not spooled(spool)
        # history counted main without floors; the gate's counts of it, which have them, stay.
        path = next(f"/api/count?commit={line.replace('/', '&key=').removesuffix('.fz')}" for line in listed()
                    if r.git("rev-parse", "main") in line)
        kept = server.ask("GET", path)[1]
        assert kept not in waits.read_bytes()
        text = r.fizeau("history", "--save", server.url, "main", XDG_CACHE_HOME=str(folder / "other")).stderr
        assert "(recordings: 1)" in text and not waits.exists() and server.ask("GET", path)[1] == kept, text
        # If a spool cannot be opened, the server is queried nevertheless.
        lock, = spool.glob("*/lock")
        lock.unlink()
        lock.mkdir()
        text = r.fizeau(*ci, "--spool", str(spool), *words, status=1, XDG_CACHE_HOME=str(folder / "third")).stderr
        assert f"counts are queued in {lock.parent} until the next run: --spool" in text and f"stored counts of the base from {server.url}" in text, text


class GoesAway(http.server.BaseHTTPRequestHandler):
    """A server that answers GET with headers only, and drops POST requests."""
    asked = 0

    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def do_POST(self):
        GoesAway.asked += 1
        self.close_connection = True

    def log_message(self, *_):
        pass


@suite.test("a server that fails during counting is waited for once, and all counts wait for it")
def gone_meanwhile():
    r = loops(300, 300, FIRST=900)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), GoesAway) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        done = r.fizeau("history", "--save", f"http://127.0.0.1:{server.server_port}", "HEAD", "--", "sh", "loops.sh")
        server.shutdown()
    waits = list(pathlib.Path(r.scratch.name, "cache/fizeau/spool").rglob("*.push"))
    assert len(waits) == 2 and done.stderr.count("it is queued for the next run in") == 2, done.stderr
    assert GoesAway.asked == 6 + 1, GoesAway.asked


@suite.test("a kept base is checked out when the clock is to judge")
def check_kept_clock():
    r = loops(FIRST=30000)
    r.fizeau("ci", "--no-wall", "--", "sh", "loops.sh", status=1)
    done = r.fizeau("ci", "-o", str(r.out), "--", "sh", "loops.sh", status=1)
    assert "using stored counts" in done.stderr, done.stderr
    wall = r.report()[1]["first"]["wall"]
    assert wall and wall["pairs"] >= 8, wall


# ---- the clock ----

CLOCK = '''\
#include <stdio.h>
#include <unistd.h>

static void turn(int n)
{
	for (volatile int i = 0; i < n; i++)
		;
}

int main(void)
{
	int n[3];
	FILE *f = fopen("turns", "r");
	if (!f || fscanf(f, "%d %d %d", &n[0], &n[1], &n[2]) != 3)
		return 1;
	access("/.fizeau/start/first", F_OK), turn(n[0]), access("/.fizeau/stop/first", F_OK);
	access("/.fizeau/start/second", F_OK), turn(n[1]), access("/.fizeau/stop/second", F_OK);
	access("/.fizeau/start/third", F_OK);
	if (n[2])
		turn(n[2]);
	else
		usleep(400000);
	access("/.fizeau/stop/third", F_OK);
	access("/.fizeau/start/fourth", F_OK), turn(1000), access("/.fizeau/stop/fourth", F_OK);
	return 0;
}
'''


@suite.test("the clock: three times slower, three times faster; more instructions in less time")
def check_clock():
    need_tool()
    if not shutil.which("cc"):
        raise Skip("there is no C compiler")
    r = Repository()
    r.commit(clock__c=CLOCK, turns="3000000 9000000 0\n", __gitignore="clock\n")
    r.git("checkout", "-qb", "change")
    r.commit(turns="9000000 3000000 100000\n")
    command = ("ci", "-o", str(r.out), "--others", "0", "--setup", "cc -O1 -o clock clock.c", "--",
               "./clock")
    r.fizeau(*command, status=1)
    benches = r.report()[1]
    verdicts = {name: b["verdict"] for name, b in benches.items()}
    assert verdicts == {"first": "slower", "second": "faster", "third": "disagree",
                        "fourth": "same"}, benches
    first, second, third = (benches[name]["wall"] for name in ("first", "second", "third"))
    assert first["low"] > 0 and first["decided"] and first["pairs"] >= 8, first
    assert second["high"] < 0 and second["decided"], second
    assert third["high"] < 0 and benches["third"]["change"] > 0, third
    assert first["base_ns"] < first["head_ns"] and third["base_ns"] > 3e8, benches
    assert not benches["third"]["fails"] and benches["fourth"]["wall"] is None, benches
    # Strict: that fails as well. Its clock may be left out.
    r.path.joinpath("fizeau.ini").write_text(
        "[ci]\nstrict = yes\n[benchmark first]\nignore = x\n[benchmark second]\nwall = no\n")
    r.fizeau("ci", "--base", "main", *command[1:], status=1)
    benches = r.report()[1]
    assert benches["third"]["fails"] and not benches["first"]["fails"], benches
    assert benches["second"]["wall"] is None and benches["first"]["wall"] is None, benches


SHORT = """\
#include "fizeau_bench.h"
static volatile unsigned sum;
int main(void)
{
	FIZEAU_BENCH("short") {
		for (unsigned i = 0; i < TURNS; i++)
			sum += i;
	}
	return 0;
}
"""


@suite.test("the clock of a body of a tenth of a microsecond: nineteen times as slow, without the cost of measuring")
def check_short_clock():
    need_tool()
    if not shutil.which("cc"):
        raise Skip("there is no C compiler")
    r = Repository()
    r.commit(short__c=SHORT, flags="-DTURNS=200\n", __gitignore="short\n")
    r.git("checkout", "-qb", "change")
    r.commit(flags="-DTURNS=3800\n")
    build = f"cc -O1 $(cat flags) -I{SOURCE}/bindings/c -o short short.c"
    r.fizeau("ci", "-o", str(r.out), "--others", "0", "--setup", build, "--", "./short", status=1)
    short = r.report()[1]["short"]
    assert short["verdict"] == "slower" and 17 < short["head"] / short["base"] < 20, short
    wall = short["wall"]
    assert wall["decided"] and wall["base_ns"] < 3000 and 12 < 1 + wall["change"] < 26, wall
    return f"x {1 + wall['change']:.1f}, {wall['base_ns']:.0f} ns before"


STRIDE = '''\
#include <stdio.h>
#include <unistd.h>

enum { SIZE = 1 << 18 };
static int cells[SIZE];

int main(void)
{
	unsigned step = 1, sum = 0;
	FILE *f = fopen("step", "r");
	if (!f || fscanf(f, "%u", &step) != 1)
		return 1;
	for (unsigned i = 0; i < SIZE; i++)
		cells[i] = (int)i;
	access("/.fizeau/start/walk", F_OK);
	for (unsigned i = 0; i < SIZE; i++)
		sum += (unsigned)cells[i * step % SIZE];
	access("/.fizeau/stop/walk", F_OK);
	return sum == 1;
}
'''


@suite.test("layout: as many instructions, other cache misses; it does not fail")
def check_layout():
    need_tool()
    if not shutil.which("cc"):
        raise Skip("there is no C compiler")
    r = Repository()
    r.commit(walk__c=STRIDE, step="1\n", __gitignore="walk\n")
    r.git("checkout", "-qb", "change")
    r.commit(step="4099\n")
    r.fizeau("ci", "--cache", "--others", "0", "-o", str(r.out), "--setup", "cc -O1 -o walk walk.c",
             "--", "./walk")
    walk = r.report()[1]["walk"]
    assert walk["verdict"] == "layout" and walk["base"] == walk["head"], walk
    assert walk["head_cycles"] > 1.1 * walk["base_cycles"], walk


# ---- what goes wrong ----

def wrong(script, *options, status=2, **env):
    """Run ci on a script that is equal on both sides; returns messages and benchmarks."""
    need_tool()
    r = Repository()
    r.commit(loops__sh=LOOPS.replace("true\n", "") + script, turns="FIRST=100\nSECOND=100\n")
    done = r.fizeau("ci", "--base", "HEAD", "--no-wall", "--others", "0", "-o", str(r.out), *options,
                    "--", "sh", "loops.sh", status=status, **env)
    files = {f.name for f in r.out.iterdir()} if r.out.exists() else set()
    assert files in (set(), {"comment.md", "report.html", "report.json", "junit.xml", "badge.svg",
                             "annotations.txt", "base.fz", "head.fz"}), files
    lines = done.stderr.splitlines()
    assert all(line.startswith("fizeau: ") for line in lines), done.stderr
    messages = [line for line in lines if EARLY not in line]
    # What is not complete is never a base.
    baselines = os.path.join(r.env["XDG_CACHE_HOME"], "fizeau", "baselines")
    assert os.path.isdir(baselines) == (status == 0), "kept"
    return messages, r.report()[1] if files else {}


@suite.test("a failing benchmark: one line per side, the others are judged")
def check_failing():
    messages, benches = wrong('''\
test -e /.fizeau/start/bad
test -e /.fizeau/drop/bad
if [ "$FIZEAU_BENCH_LOG" ]; then
    echo \'{"name": "bad", "failed": "ValueError: \\u001b[2J no"}\' >>$FIZEAU_BENCH_LOG
fi
exit 1
''')
    assert len(messages) == 2, messages
    for side in ("head", "base"):
        assert any(f"{side}: bad: failed: ValueError: \\x1b[2J no" in m for m in messages), messages
    assert benches["first"]["verdict"] == benches["second"]["verdict"] == "same", benches
    assert benches["bad"]["verdict"] == "not comparable", benches


def check_ended(script, words, *options):
    if SANITIZED and options:
        raise Skip("it waits most of its time; what is ours of it bench's case of one that hangs shows")
    messages, benches = wrong(script, *options)
    assert len(messages) == 2 and all(words in m for m in messages), messages
    assert benches["first"]["verdict"] == benches["second"]["verdict"] == "same", benches


suite.add("a benchmark that crashes is named; the others are judged", check_ended,
          "test -e /.fizeau/start/crashing\nkill -SEGV $$\n", "crashing: was started but not stopped")
suite.add("a benchmark that hangs is ended; the others are judged", check_ended,
          "test -e /.fizeau/start/endless\nwhile :; do :; done\n", "endless: was still running at the time limit",
          "--timeout", "10")


@suite.test("benchmarks that fork, never stop or have odd names")
def check_odd():
    messages, benches = wrong('''\
for name in "a|b <i>&amp; \\`x\\`" "tab	and ünïcode" "../../etc/passwd"; do loop "$name" 10; done
test -e /.fizeau/start/forking
(i=0; while [ $i -lt 100 ]; do i=$((i+1)); done) &
wait
test -e /.fizeau/stop/forking
test -e "/.fizeau/start/never stopped"
true
''')
    for name, what in (("forking", "started other processes"), ("never stopped", "not stopped")):
        assert sum(f": {name}: " in m and what in m for m in messages) == 2, messages
        assert benches.pop(name)["verdict"] == "not comparable", benches
    # They are judged; but what ten rounds of a shell cost depends on where its memory happens to lie,
    # which the length of the folder's name moves.
    assert len(messages) == 4 and {"a|b <i>&amp; `x`", "../../etc/passwd"} < set(benches), benches
    assert {b["verdict"] for b in benches.values()} <= {"same", "slower", "faster"}, benches
    assert benches["first"]["verdict"] == benches["second"]["verdict"] == "same", benches
    assert {"a|b <i>&amp; `x`", "tab\tand ünïcode", "../../etc/passwd"} <= set(benches), benches


@suite.test("no tool or Valgrind, an unsupported program, no checkout, no room for the report")
def check_unable():
    need_tool()
    r = loops()

    def message(*words, cwd=r.path, fizeau=FIZEAU, **env):
        done = subprocess.run([fizeau, "ci", "--no-wall", "--others", "0", *words], cwd=cwd, text=True,
                              capture_output=True, env=dict(r.env, **env))
        # Valgrind has its own message for a program that it cannot run.
        lines = [line for line in done.stderr.splitlines() if line.startswith("fizeau: ")]
        assert done.returncode == 2 and len(lines) == 1, done
        return lines[0]

    tools = os.path.join(r.scratch.name, "bin")
    os.mkdir(tools)
    for name in ("git", "sh"):
        os.symlink(shutil.which(name), os.path.join(tools, name))
    alone = shutil.copy(FIZEAU, os.path.join(tools, "fizeau"))
    assert "install the package valgrind" in message("--", "sh", "loops.sh", PATH=tools, fizeau=alone)
    assert "git: not a git repository" in message("--", "true", cwd=r.scratch.name)
    assert "turns" in message("-o", "turns/report", "--", "sh", "loops.sh")
    # In the way of a run's results.
    text = message("--base", "HEAD", "--", "sh", "-c", 'cd "$XDG_CACHE_HOME"/fizeau/ci/*/ && '
                   'for i in 0 1 2 3; do mkdir -p "job-$i.fz/x" "job-$i.fz.txt/x"; done')
    assert "head: the run's results were lost: Is a directory" in text, text
    r.git("update-ref", "refs/notes/fizeau/taken", "HEAD")
    assert "--save notes" in message("--save", "notes", "--", "sh", "loops.sh")
    if shutil.which("cc") and os.uname().machine == "x86_64":
        r.path.joinpath("new.c").write_text(
            'int main(void) { __asm__(".byte 0x62,0xf1,0x7c,0x48,0x58,0xc0"); return 0; }\n')
        subprocess.run(["cc", "-o", "new", "new.c"], cwd=r.path, check=True)
        text = message("--base", "HEAD", "--", str(r.path / "new"))
        assert "signal 4" in text and "Valgrind" in text, text


if __name__ == "__main__":
    suite.main()
