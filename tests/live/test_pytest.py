#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pytest --fizeau: the tests' own times and hot paths, pages, and what changed since the last run."""

import os
import pathlib
import re
import subprocess
import tempfile

from livelib import FIZEAU, SOURCE, Skip, Suite, fizeau
from watching import UNTIL_RECORDED

suite = Suite()
PYTHON = "/usr/bin/python3"

TESTS = """\
import time, unittest
import pytest
FACTOR = {factor}
def parse(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(500))
@pytest.fixture
def made():
    parse(0.15)
def test_quick(): pass
def test_slow(made): parse(0.2 * FACTOR)
@pytest.mark.parametrize("x", ["plain", "<b>&amp;", "[1-2]", "p/q r", "a+b|c"])
def test_param(x): parse(0.05)
def test_fails():
    parse(0.05)
    assert 1 == 2
@pytest.mark.skip
def test_skipped(): parse(1)
@pytest.mark.xfail
def test_expected():
    parse(0.05)
    raise ValueError
class TestUnit(unittest.TestCase):
    def test_unit(self): parse(0.05)
def twice(x):
    '''
    >>> parse(0.05)
    '''
"""


# The summary lists ten.
NO_MORE_THAN_SHOWN = ["--deselect", "test_it.py::test_quick", "--deselect", "test_it.py::test_expected"]


class Project:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="fz-")
        self.path = pathlib.Path(self.folder.name)
        self.write(1)

    def write(self, factor):
        (self.path / "test_it.py").write_text(TESTS.replace("{factor}", str(factor)))

    def write_sampled(self):
        """Tests that take no longer than it takes to sample them."""
        text = TESTS.replace("{factor}", "1").replace("import time, unittest\n", UNTIL_RECORDED + "import time, unittest\n")
        text = text.replace("def parse(seconds):", "def parse(seconds):\n    until_recorded(some_work, times=30)\ndef some_work(seconds=0.002):")
        (self.path / "test_it.py").write_text(text)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def pytest(self, *words, program=FIZEAU):
        return subprocess.run(
            [PYTHON, "-m", "pytest", "-p", "fizeau.pytest_plugin", "--doctest-modules", *words], cwd=self.path,
            capture_output=True, text=True, timeout=300,
            env={**os.environ, "PYTHONPATH": str(SOURCE / "bindings/python"), "FIZEAU": program,
                 "PYTHONDONTWRITEBYTECODE": "1"})


def summary(done):
    return re.search(r"=+ fizeau =+\n(.*?)(?=\n=)", done.stdout + "\n=", re.S)[1]


def times(text):
    """Seconds of tests by name, as the summary has them."""
    found = {}
    for number, unit, name in re.findall(r"^ *([0-9.]+) (ms|s)(?: \+ .*? setup)?  (\S.*)$", text, re.M):
        found[name] = float(number) * (1e-3 if unit == "ms" else 1)
    return found


def check_files(project, done, n, first):
    """The failure's text, and the files: at least n pages, and a recording with names of tests."""
    assert ">       assert 1 == 2" in done.stdout and "pytest_plugin" not in done.stdout, done.stdout
    pages = sorted(p.name for p in (project.path / "pages").iterdir())
    assert len(pages) >= n and pages[0].startswith(first), pages
    titles = {re.search("<title>(.*?) ", (project.path / "pages" / p).read_text())[1] for p in pages}
    assert len(titles) == len(pages) and all(t.startswith("test_it.py::") for t in titles), titles
    (file,) = (project.path / ".pytest_cache").rglob("*.fz")
    collapsed = fizeau("replay", file, "--root", r"^test_it\.py::test_slow$", "--collapsed", "-o", "-").stdout
    assert collapsed and all(":test_slow:" in line for line in collapsed.splitlines()), collapsed


@suite.test("the slowest tests by CPU time, their set-up and hot path; outcomes do not change")
def slowest():
    with Project() as project:
        done = project.pytest("--fizeau", "--fizeau-mode", "cpu", "--fizeau-html", "pages")
        text = summary(done)
        assert done.returncode == 1 and "1 failed, 9 passed, 1 skipped, 1 xfailed" in done.stdout, done
        seen = times(text)
        assert list(seen)[0] == "test_it.py::test_slow" and 0.15 < seen["test_it.py::test_slow"] < 0.3, text
        assert {f"test_it.py::test_param[{x}]" for x in ("plain", "<b>&amp;", "[1-2]", "p/q r", "a+b|c")} <= set(seen)
        assert "test_it.py::TestUnit::test_unit" in seen and "test_it.py::test_it.twice" in seen, text
        assert seen.get("test_it.py::test_quick", 0) < 0.02 and "test_it.py::test_skipped" not in seen, text
        setup = re.search(r"\+ (\d+) ms setup  test_it.py::test_slow", text)
        assert 100 < int(setup[1]) < 225, text
        assert re.search(r"in test_slow > parse$", text, re.M) and "_multicall" not in text, text
        check_files(project, done, len(seen), "001-test_it.py_test_slow")


@suite.test("recorded tests are listed and have pages; outcomes do not change")
def listed():
    with Project() as project:
        project.write_sampled()
        done = project.pytest("--fizeau", "--fizeau-html", "pages", *NO_MORE_THAN_SHOWN)
        text = summary(done)
        assert done.returncode == 1 and "1 failed, 8 passed, 1 skipped, 2 deselected" in done.stdout, done
        seen = times(text)
        assert {f"test_it.py::test_param[{x}]" for x in ("plain", "<b>&amp;", "[1-2]", "p/q r", "a+b|c")} <= set(seen), text
        assert {"test_it.py::TestUnit::test_unit", "test_it.py::test_it.twice", "test_it.py::test_slow"} <= set(seen), text
        assert re.search(r"setup  test_it.py::test_slow", text) and "_multicall" not in text, text
        check_files(project, done, len(seen), "001-test_it.py_")


@suite.test("pages are the last run's: earlier ones are removed, other files in their folder stay")
def pages_of_last_run():
    with Project() as project:
        project.write_sampled()
        pages, mine = project.path / "pages", {"001-mine.html", "notes.html"}
        pages.mkdir()
        for name in mine:
            (pages / name).write_text("<p>mine")
        project.pytest("--fizeau", "--fizeau-html", "pages")
        assert len(list(pages.iterdir())) > len(mine) + 1
        project.pytest("--fizeau", "--fizeau-html", "pages", "-k", "test_slow")
        left = {p.name for p in pages.iterdir()}
        assert left == mine | {"001-test_it.py_test_slow.html"}, left


@suite.test("an unwritable folder is one line, and pytest's own summary is complete")
def no_folder():
    with Project() as project:
        (project.path / "file").touch()
        done = project.pytest("--fizeau", "--fizeau-html", "file/pages")
        assert done.returncode == 1 and re.search("^fizeau: .*file/pages", summary(done), re.M), done
        assert "1 failed, 9 passed" in done.stdout and "Traceback" not in done.stderr, done
        done = project.pytest("--fizeau", "-o", "cache_dir=file/cache")
        assert done.returncode == 4 and "no folder for recordings" in done.stderr, done
        assert "INTERNALERROR" not in done.stdout and "Traceback" not in done.stderr, done


def compares(first, then):
    """By these options of pytest a test that became three times as slow is named, with its own time, and one that did not
    is not."""
    with Project() as project:
        before = project.pytest("--fizeau", "--fizeau-mode", "cpu", *first)
        assert "slower" not in summary(before) and "faster" not in summary(before), before.stdout
        project.write(3)
        text = summary(project.pytest("--fizeau", "--fizeau-mode", "cpu", *then))
        changed = re.findall(r"^(slower|faster): (\S+)", text, re.M)
        assert ("slower", "test_it.py::test_slow:") in changed and len(changed) <= 2, text
        line, took = re.search(r"^slower: \S+test_slow: (\d+) ms -> .*", text, re.M).group(0, 1)
        assert 150 < int(took) < 300, line
        return line


suite.add("a test that became three times as slow is named, one that did not is not", compares, (), ())


@suite.test("beside others that take the processors no test is slower by the clock: that nothing was compared is reported")
def busy_machine():
    words = ("--fizeau", "-k", "test_slow")
    with Project() as project:
        project.pytest(*words)
        others = [subprocess.Popen([PYTHON, "-c", "while True: pass"]) for _ in range(4 * os.cpu_count())]
        try:
            text = summary(project.pytest(*words))
        finally:
            for other in others:
                other.kill()
                other.wait()
    assert not re.search("^(slower|faster):", text, re.M), text
    assert "not compared: 1 test: the machine was busy" in text, text


def need_xdist():
    if subprocess.run([PYTHON, "-c", "import xdist"], capture_output=True).returncode:
        raise Skip("python3-pytest-xdist is not installed")


@suite.test("xdist: so it is by two workers and then three, each test by the recordings that have it")
def compared_by_workers():
    need_xdist()
    return compares(("-n", "2"), ("-n", "3"))


@suite.test("xdist: a recording for each worker, one summary")
def workers():
    need_xdist()
    with Project() as project:
        project.write_sampled()
        done = project.pytest("--fizeau", "-n", "2", *NO_MORE_THAN_SHOWN)
        seen = times(summary(done))
        assert "test_it.py::test_slow" in seen and "test_it.py::test_param[[1-2]]" in seen, done.stdout
        files = sorted(p.name for p in (project.path / ".pytest_cache").rglob("*.fz"))
        assert files == ["gw0.fz", "gw1.fz"], files
        assert "1 failed, 8 passed, 1 skipped" in done.stdout, done.stdout


@suite.test("without --fizeau nothing is recorded; a missing program, cache or test is reported")
def corners():
    with Project() as project:
        project.write_sampled()
        done = project.pytest()
        assert "fizeau" not in done.stdout and not list(project.path.rglob("*.fz")), done.stdout
        done = project.pytest("--fizeau-html", "x")
        assert done.returncode == 4 and "--fizeau-html requires --fizeau" in done.stderr, done
        done = project.pytest("--fizeau", program="/nowhere/fizeau")
        assert "nothing was recorded: /nowhere/fizeau cannot be started" in done.stdout, done.stdout
        assert "1 failed, 9 passed" in done.stdout and "INTERNALERROR" not in done.stdout
        done = project.pytest("--fizeau", "-p", "no:cacheprovider", "-k", "slow")
        assert "test_it.py::test_slow" in times(summary(done)) and done.returncode == 0, done.stdout
        done = project.pytest("--fizeau", "-k", "nothing")
        assert done.returncode == 5 and "INTERNALERROR" not in done.stdout, done.stdout


suite.main()
