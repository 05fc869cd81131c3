#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How often `fizeau ci` raises an alarm for a change that costs nothing: fifty of them.

    bench/alarms.py [--fizeau FILE] [--keep] [--table] [N]

A project whose benchmarks depend on their surroundings (paths, tracebacks, logging, dictionaries, sorting)
gets N branches: comments, documents, renamed and moved files and functions, new files that nothing
imports, files that git only knows to be executable, dependencies that are pinned anew; each in a checkout at
another place, with another environment and with addresses laid out at random or not. Of each, head and
base are counted and judged without the clock and without floors, the strictest way there is; with --keep
the base's counts are those that an earlier job kept. The last branch is no such change: each function does its
work twice, and each benchmark has to say so. Prints a line for each branch, or with --table what docs/ci.md says.
"""

import argparse
import functools
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

PYTHON = "/usr/bin/python3"
SOURCES = {
    "shop/__init__.py": "",
    "shop/paths.py": '''\
import inspect
import os
import pathlib


def absolute():
    return [os.path.abspath(__file__) for _ in range(50)]


def resolved():
    return [pathlib.Path(__file__).resolve().relative_to(os.getcwd()) for _ in range(20)]


def source():
    return inspect.getsource(absolute)
''',
    "shop/talk.py": '''\
import io
import logging
import traceback
import warnings

log = logging.getLogger("shop")
log.addHandler(logging.StreamHandler(io.StringIO()))
log.handlers[0].setFormatter(logging.Formatter("%(pathname)s:%(lineno)d %(message)s"))


def say():
    for i in range(50):
        log.warning("hello %d", i)


def fail():
    for _ in range(20):
        try:
            {}["x"]
        except KeyError:
            traceback.format_exc()


def warn():
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        for _ in range(50):
            warnings.warn("careful", stacklevel=1)
''',
    "shop/work.py": '''\
import re
import textwrap
import time


def words():
    counts = {}
    for word in ("the quick brown fox jumps over the lazy dog " * 50).split():
        counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def wrap():
    return textwrap.wrap("all work and no play " * 40)


def match():
    return re.findall(r"(\\w+)@(\\w+)", "me@here you@there " * 50)


def date():
    return [time.strftime("%c", time.localtime(i * 86400)) for i in range(50)]
''',
    "shop/unused.py": "def nothing():\n    return None\n\n\ndef more():\n    return 1\n",
    "docs/guide.md": "# A guide\n",
    "bench.py": '''\
import os
from shop import paths, talk, work

for f in (paths.absolute, paths.resolved, paths.source, talk.say, talk.fail, talk.warn, work.words,
          work.wrap, work.match, work.date):
    f()
    os.access("/.fizeau/start/" + f.__name__, 0)
    f()
    os.access("/.fizeau/stop/" + f.__name__, 0)
''',
}


def comment(tree, rng):
    """A comment somewhere in a module that runs, between functions."""
    path = tree / "shop" / rng.choice(["paths.py", "talk.py", "work.py"])
    parts = path.read_text().split("\n\n\n")
    at = rng.randrange(1, len(parts))
    parts[at] = f"# {'x' * rng.randrange(1, 90)}\n" + parts[at]
    path.write_text("\n\n\n".join(parts))


def document(tree, rng):
    (tree / "docs" / f"chapter{rng.randrange(99)}.md").write_text("words\n" * rng.randrange(1, 500))


def rename(tree, rng):
    (tree / "shop" / "unused.py").rename(tree / "shop" / f"{'u' * rng.randrange(1, 40)}.py")


def new_file(tree, rng):
    (tree / "shop" / f"new{rng.randrange(99)}.py").write_text("VALUE = 1\n" * rng.randrange(1, 50))


def move(tree, rng):
    shuffle(tree / "shop" / rng.choice(["talk.py", "work.py", "unused.py"]), rng)


def shuffle(path, rng):
    """Functions change places in their file."""
    head, *functions = path.read_text().rstrip("\n").split("\n\n\n")
    rng.shuffle(functions)
    path.write_text("\n\n\n".join([head, *functions]) + "\n")


def mode(tree, rng):
    (tree / "shop" / rng.choice(["paths.py", "talk.py", "work.py"])).chmod(0o755)


def pin(tree, rng):
    """What is installed stays as it was."""
    (tree / "requirements.txt").write_text("".join(f"package{i}>={i}\n" for i in range(rng.randrange(1, 40))))


def docstring(tree, rng):
    """Of a module that runs."""
    path = tree / "shop" / rng.choice(["talk.py", "work.py"])
    path.write_text(f'"""{"words " * rng.randrange(1, 60)}"""\n\n' + path.read_text())


def local(tree, rng):
    """A variable of one function gets another name."""
    path = tree / "shop" / "work.py"
    path.write_text(path.read_text().replace("counts", "n" * rng.randrange(1, 30)))


CHANGES = [comment, document, rename, new_file, move, mode, pin, docstring, local]


def twice(tree):
    """Each function that is measured does its work twice."""
    for path in (tree / "shop").glob("*.py"):
        text = re.sub(r"^def (\w+)\(\):\n", r"def once_\1():\n", path.read_text(), flags=re.M)
        path.write_text(text + "".join(f"\n\ndef {name}():\n    once_{name}()\n    return once_{name}()\n"
                                       for name in re.findall(r"^def once_(\w+)", text, flags=re.M)))


class Job:
    """A checkout as a service makes it: somewhere, with some environment."""

    def __init__(self, origin, rng, branch, parts=None):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="fz-alarms-"))
        if parts is None:
            parts = ["p" * rng.randrange(1, 25) for _ in range(rng.randrange(4))]
        self.tree = self.top.joinpath(*parts, "shop-project")
        self.env = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/root"),
                    "XDG_CACHE_HOME": str(origin.cache), "TERM": rng.choice(["xterm", "dumb"]),
                    "COLUMNS": str(rng.randrange(40, 200)), "JOB": "j" * rng.randrange(3000),
                    "HOSTNAME": "h" * rng.randrange(1, 60), "PWD_OF_JOB": str(self.tree)}
        self.layout = rng.choice([[], ["setarch", "--addr-no-randomize"]])
        self.tree.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "clone", "-q", "--branch", branch, origin.tree, self.tree],
                       check=True)

    def judge(self, fizeau, options, command):
        report = self.top / "report"
        done = subprocess.run(
            [*self.layout, fizeau, "ci", "--no-wall", "--base", "origin/main", *options, "-o", report, "--", *command],
            cwd=self.tree, env=self.env, capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise RuntimeError(done.stderr)
        return json.loads((report / "report.json").read_text())["benchmarks"]

    def remove(self):
        shutil.rmtree(self.top)


class Origin:
    """The repository that jobs clone."""

    def __init__(self, sources):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="fz-alarms-"))
        self.tree, self.cache = self.top / "origin", self.top / "cache"
        self.tree.mkdir()
        self.git("init", "-q", "-b", "main")
        for name, text in sources.items():
            path = self.tree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.commit("base")

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words],
                       cwd=self.tree, check=True, capture_output=True)

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)

    def branch(self, name, *changes):
        self.git("checkout", "-q", "-b", name, "main")
        for change in changes:
            change(self.tree)
        self.commit(name)

    def remove(self):
        shutil.rmtree(self.top)


def changes_of(n, rng):
    """The changes of branch n: the first branches have one each, in order, later ones one or two at random."""
    return rng.sample(CHANGES, rng.randrange(1, 3)) if n >= len(CHANGES) else [CHANGES[n]]


def run(fizeau, n, save="none"):
    """Yields (what was changed, benchmarks, the changes of those that are not the same, largest change)."""
    rng = random.Random(20261123)
    origin = Origin(SOURCES)
    try:
        for i in range(n + 1):
            changes = changes_of(i, rng) if i < n else []
            what = "+".join(change.__name__ for change in changes) or "twice the work"
            origin.branch(f"change{i}", *([functools.partial(change, rng=rng) for change in changes] or [twice]))
            job = Job(origin, rng, f"change{i}")
            try:
                benches = job.judge(fizeau, ["--others", "0", "--save", save], [PYTHON, "bench.py"])
            finally:
                job.remove()
            yield (what, len(benches), {b["name"]: b["change"] for b in benches if b["verdict"] != "same"},
                   max(abs(b["change"]) for b in benches))
    finally:
        origin.remove()


def table(rows):
    """What each kind of change did, alone or with another one."""
    print("| change | pull requests | benchmarks judged | false alarms | largest change |\n|---|--:|--:|--:|--:|")
    for kind in [change.__name__ for change in CHANGES]:
        of = [row for row in rows if kind in row[0].split("+")]
        print(f"| {kind.replace('_', ' ')} | {len(of)} | {sum(row[1] for row in of)} | "
              f"{sum(len(row[2]) for row in of)} | {max((row[3] for row in of), default=0):.2%} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--fizeau", default="fizeau")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("n", nargs="?", type=int, default=50)
    options = parser.parse_args()
    rows = []
    for row in run(options.fizeau, options.n, "cache" if options.keep else "none"):
        rows.append(row)
        what, _, moved, change = row
        print(f"{what:24} {change:7.2%}  {moved or 'the same'}", file=sys.stderr, flush=True)
    mutated = rows.pop()
    if options.table:
        table(rows)
    print(f"{sum(bool(row[2]) for row in rows)} alarms in {len(rows)} changes that cost nothing, the largest "
          f"change was {max((row[3] for row in rows), default=0):.2%}; of {mutated[1]} benchmarks that do "
          f"their work twice {len(mutated[2])} were found")


if __name__ == "__main__":
    main()
