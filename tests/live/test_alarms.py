#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Changes that cost nothing raise no alarm, wherever the checkout lies; bench/alarms.py makes fifty."""

import importlib.util
import pathlib

from livelib import FIZEAU, Suite
from test_ci import Repository, need_tool

suite = Suite()

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "bench" / "alarms.py"


@suite.test("comments, documents and renamed files, in checkouts of any path and environment; twice the work is found")
def check_alarms():
    need_tool()
    spec = importlib.util.spec_from_file_location("alarms", SCRIPT)
    alarms = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(alarms)
    *results, (_, benches, found, _) = alarms.run(FIZEAU, 2)
    assert not any(moved for _, _, moved, _ in results), results
    assert len(found) == benches == 10 and all(0.3 < change < 1.2 for change in found.values()), found
    # Not just below the limit of 2 %: docs/ci.md says 0.9 % was the most of fifty.
    largest = max(change for _, _, _, change in results)
    assert largest < 0.01, results
    return f"at most {largest:.2%}"


@suite.test("a base that was kept of a checkout at another path is not used")
def check_paths():
    need_tool()
    r = Repository()
    r.commit(bench__sh="test -e /.fizeau/start/x\n: $PWD\ntest -e /.fizeau/stop/x\ntrue\n")
    r.git("checkout", "-qb", "change")
    r.commit("nothing", note="x")
    words = ["ci", "--others", "0", "--no-wall", "--", "sh", "bench.sh"]
    r.fizeau(*words)
    assert "the base's counts are from" in r.fizeau(*words).stderr
    r.path = r.path.rename(r.path.with_name("another-name"))
    assert "the base's counts are from" not in r.fizeau(*words).stderr


@suite.test("the tree of the base is a checkout like any: its .git is a folder, of which git knows nothing")
def check_checkout():
    need_tool()
    r = Repository()
    r.commit("one", a="1")
    r.git("checkout", "-qb", "change")
    r.commit("two", a="2")
    log = pathlib.Path(r.scratch.name, "log")
    ask = (f"{{ pwd; ls -d .git/HEAD; git status --short; git log --format=%s; git worktree list; "
           f"git rev-parse --show-toplevel; git describe --always --dirty; git stash list; }} >> {log} 2>&1")
    r.fizeau("compare", "--count", "-n", "1", "--warmup", "0", "main", "--setup", ask, "--", "true")
    base, head = log.read_text().strip().split(str(r.path) + "\n.git/HEAD", 1)
    lines = base.split()
    tree = lines[0]
    assert lines[1:] == [".git/HEAD", "one", *lines[3:6], tree, r.git("rev-parse", "--short", "main")], base
    assert len(tree) == len(str(r.path)) and not pathlib.Path(tree).parent.exists(), tree
    assert r.git("worktree", "list").count("\n") == 0 and not (r.path / ".git" / "worktrees" / "project").exists()


if __name__ == "__main__":
    suite.main()
