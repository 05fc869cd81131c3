#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Projects installed in editable mode (pip install -e): each side runs its own code, or is rejected."""

import json
import pathlib
import shutil
import subprocess

from livelib import FIZEAU, SANITIZED, Skip, Suite
from test_ci import PYTHON, Repository, need_tool

suite = Suite()

PROJECT = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "slow"
version = "1"
[tool.setuptools.packages.find]
where = ["%s"]
include = ["slow"]
"""
WORK = "def work(n=%d):\n    return sum(i * i for i in range(n))\n"
BENCH = """\
import os
import slow
slow.work()
os.access("/.fizeau/start/work", 0)
slow.work()
os.access("/.fizeau/stop/work", 0)
"""


class Project(Repository):
    """A package with one benchmark, and a branch on which it takes 4.5 times as long."""

    def __init__(self, source="src"):
        super().__init__()
        self.module = pathlib.Path(source, "slow", "__init__.py")
        self.path.joinpath(self.module.parent).mkdir(parents=True)
        self.path.joinpath("bench").mkdir()
        self.path.joinpath("bench", "run.py").write_text(BENCH)
        self.path.joinpath(".gitignore").write_text("*.egg-info\nbuild\n.venv\n")
        self.path.joinpath(self.module).write_text(WORK % 2000)
        self.commit(pyproject__toml=PROJECT % source)
        self.git("checkout", "-qb", "change")
        self.path.joinpath(self.module).write_text(WORK % 9000)
        self.commit("slower")
        self.site = None

    def environment(self, install=True, inside=False):
        """A virtual environment; the package is installed in it in place, by pip."""
        place = self.path / ".venv" if inside else pathlib.Path(self.scratch.name, "venv")
        subprocess.run([PYTHON, "-m", "venv", "--system-site-packages", *["--without-pip"][install:], place],
                       check=True)
        self.site = next(place.glob("lib/python3*/site-packages"))
        if install:
            self.install(place, "-e", ".")
        return str(place / "bin" / "python")

    def install(self, place, *what):
        subprocess.run([place / "bin" / "pip", "install", "-q", "--no-index", "--no-build-isolation",
                        "--no-deps", *what], cwd=self.path, check=True, capture_output=True)

    def name(self, folder):
        """As pip leaves a package that is installed in editable mode."""
        self.site.joinpath("__editable__.slow-1.pth").write_text(f"{folder}\n")

    def ci(self, *words, status=1):
        return self.fizeau("ci", "--others", "0", "--no-wall", "-o", str(self.out), *words,
                           status=status)

    def check_slower(self, *words):
        done = self.ci(*words)
        _, benches = self.report()
        assert benches["work"]["verdict"] == "slower" and benches["work"]["change"] > 3, benches
        return done


@suite.test("installed in editable mode by pip: src layout (a path), flat layout (a hook) in an environment inside")
def check_pip():
    need_tool()
    for source, inside in (("src", False), (".", True)):
        p = Project(source)
        python = p.environment(inside=inside)
        names = [f.name for f in p.site.iterdir() if f.name.startswith("__editable__")]
        assert any(("finder" in name) == (source == ".") for name in names), names
        p.check_slower("--", python, "bench/run.py")
        # The base that is kept is the base's.
        done = p.check_slower("--", python, "bench/run.py")
        assert "using stored counts of the base from" in done.stderr, done.stderr
        assert "installed in editable mode" in done.stderr, done.stderr


@suite.test("a link, the project and a worktree of it that the environment refers to")
def check_others():
    need_tool()
    p = Project()
    python = p.environment(install=False)
    p.site.joinpath("slow").symlink_to(p.path / "src" / "slow")
    p.check_slower("--save", "none", "--", python, "bench/run.py")
    p.site.joinpath("slow").unlink()
    p.name(p.path / "src")
    p.check_slower("--", python, "bench/run.py")
    # The base that is kept is the base's.
    done = p.check_slower("--", python, "bench/run.py")
    assert "using stored counts of the base from" in done.stderr and "installed in editable mode" in done.stderr, done.stderr
    tree = pathlib.Path(p.scratch.name, "elsewhere")
    p.git("worktree", "add", "-q", str(tree), "main")
    p.name(tree / "src")
    try:
        p.check_slower("--save", "none", "--", python, "bench/run.py")
    except AssertionError as error:
        assert "a worktree was left behind" in str(error), error
    p.git("worktree", "remove", "--force", str(tree))


def check_refused(by_pip):
    need_tool()
    p = Project()
    python = p.environment(by_pip)
    place = pathlib.Path(python).parent.parent
    if not by_pip:
        p.name(p.path / "src")
    cases = [(["-I", "bench/run.py"], "another checkout"),
             ([str(p.path / "bench" / "run.py")], "another checkout")]
    for words, what in cases:
        done = p.ci("--", python, *words, status=2)
        assert f"base: the command ran code of {what}" in done.stderr and "--setup" in done.stderr, done.stderr
    if by_pip:
        p.install(place, "--force-reinstall", ".")
    else:
        p.name("/nowhere")
        shutil.copytree(p.path / "src" / "slow", p.site / "slow")
    done = p.ci("--", python, "bench/run.py", status=2)
    assert "ran installed code" in done.stderr and "PYTHONPATH" in done.stderr, done.stderr
    kept = pathlib.Path(p.env["XDG_CACHE_HOME"], "fizeau", "baselines")
    assert not list(kept.glob("**/*.fz")), list(kept.glob("**/*"))
    # The remedy.
    p.fizeau("ci", "--others", "0", "--no-wall", "-o", str(p.out), "--", python, "bench/run.py",
             status=1, PYTHONPATH="src")
    _, benches = p.report()
    assert benches["work"]["change"] > 3, benches


suite.add("what cannot work is refused, with a remedy, and nothing is stored", check_refused, False)
suite.add("what pip installed that cannot work is refused, with a remedy, and nothing is stored", check_refused, True)


@suite.test("compare, counted and by the clock; bench")
def check_compare():
    if SANITIZED:
        raise Skip("what is ours of it the other cases show")
    need_tool()
    p = Project()
    p.path.joinpath(p.module).write_text(WORK % 20000)
    p.path.joinpath("bench", "loop.py").write_text("import slow\nfor _ in range(100): slow.work()\n")
    p.commit("longer")
    p.path.joinpath(p.module).write_text(WORK % 90000)
    python = p.environment()
    short = ["compare", "-n", "1", "--warmup", "0", "HEAD"]
    for how in (["--count"], []):
        done = p.fizeau(*short, *how, "--format", "json", "--", python, "bench/loop.py")
        work = max((f for f in json.loads(done.stdout)["functions"] if f["name"].endswith("<genexpr>")),
                   key=lambda f: f["head_self"])
        assert work["head_self"] > 3 * work["base_self"] > 0, work
        done = p.fizeau(*short, *how, "--", python, "-I", "bench/loop.py", status=2)
        assert "base, run 1 of 1: the command ran code of another checkout" in done.stderr, done.stderr
    tree = pathlib.Path(p.scratch.name, "elsewhere")
    p.git("worktree", "add", "-q", str(tree), "main")
    count = ["bench", "--count", "--", python]
    for words, said in ((["bench/run.py"], False), (["-I", "bench/run.py"], True)):
        done = subprocess.run([FIZEAU, *count, *words], cwd=tree, env=p.env,
                              capture_output=True, text=True, timeout=100)
        assert ("another checkout" in done.stderr) == said, done.stderr
    p.git("worktree", "remove", "--force", str(tree))


if __name__ == "__main__":
    suite.main()
