# SPDX-License-Identifier: MIT
"""What a page costs its reader, and what writing it costs.

A synthetic program is recorded twice by tests/make_refactor: repeated for the page that is opened,
refactored for the comparison that is timed. The peer draws the same tree in the same Chromium:
d3-flame-graph, which Tachyon's pages use, told to leave out frames below a pixel and not to glide.

`ready` is from the start of navigation until two frames after all was drawn, as the page itself
sees it, `paint` the browser's own first contentful paint, when it is on the screen; zoom, search
and a change of view last until two frames after, which alone are 33 ms; hover is the longest of forty moves of the pointer. Memory is the whole renderer's.
"""

import json
import shutil
import subprocess

from measure import Skip, Values, run
from peers import FIZEAU, HERE
from pathlib import Path
from recording import add_row, add_skipped
from table import Group

FOLDER = HERE / "browser"
# How many nodes to ask for so that as many as wanted are sampled.
UNSAMPLED = 1.29
VIEWS = ("union", "delta", "elided", "callers", "sandwich", "table")


def make_pair(bench, kind, nodes):
    """Two recordings of a synthetic program with about so many nodes."""
    maker = Path(FIZEAU).resolve().parent / "tests" / "make_refactor"
    if not maker.exists():
        raise Skip("tests/make_refactor is not built")
    pair = [bench.scratch.outside / f"{kind}-{nodes}-{side}.fz" for side in ("base", "head")]
    if not pair[0].exists():
        bench.say(f"generating {nodes:,} nodes")
        run([maker, kind, round(nodes * UNSAMPLED), max(100, nodes * 12 // 1000), *pair])
    return pair


def make_page(bench, nodes):
    page = bench.scratch.outside / f"page-{nodes}.html"
    if not page.exists():
        run([FIZEAU, "diff", *make_pair(bench, "repeated", nodes), "-o", page])
    return page


def install():
    """The peer and the driver, once; as bench/browser/package-lock.json says."""
    if not shutil.which("node") or not shutil.which("npm"):
        raise Skip("no node or no npm")
    if not (FOLDER / "node_modules" / "d3-flame-graph").exists():
        run(["npm", "ci", "--prefix", FOLDER, "--no-audit", "--no-fund", "--loglevel=error"])


def look(kind, page, *more):
    done = subprocess.run(["node", FOLDER / "measure.js", kind, page, *more], capture_output=True,
                          text=True, timeout=900)
    if done.returncode:
        raise Skip(f"{kind}: {(done.stderr.strip().splitlines() or ['nothing said'])[-1][:150]}")
    return json.loads(done.stdout)


ROWS_OF_PAGE = (  # key, what, goal, best known of d3-flame-graph
    ("size", "MB of file", 2.5, 81.8), ("paint", "ms to the first paint", 500, None),
    ("ready", "ms until ready", 500, 3600), ("zoom", "ms to zoom", 50, 500),
    ("search", "ms to search", 50, 860), ("hover", "ms to answer the pointer", 50, None),
    ("memory", "MB of memory", 250, 442), ("fps", "frames a second while it moves", 59, None),
)


def browser(bench):
    install()
    nodes = bench.choose(1_000_000, 100_000)
    page = make_page(bench, nodes)
    data = bench.scratch.outside / f"d3-{nodes}.html"
    cases = {"fizeau": lambda: look("fizeau", page), "d3": lambda: look("d3", page, data)}
    results, skipped = bench.interleave(bench.choose(3, 1), cases, "page in a browser")
    group = Group(f"A page of a comparison, {nodes:,} nodes, in Chromium", "as each row says")
    for key, what, goal, best in ROWS_OF_PAGE:
        present = {name: list_ for name, list_ in results.items() if key in list_[0]}
        add_row(group, present, "fizeau", "d3", lambda r, key=key: Values(x[key] for x in r),
                name=what, goal=goal, best=best, more=key == "fps")
    for key in VIEWS:
        add_row(group, results, "fizeau", "", lambda r, key=key: Values(x[key] for x in r),
                name=f"ms to change to: {key}")
    add_skipped(group, skipped)
    if not bench.quick:
        huge(bench, group)
    return group


def huge(bench, group):
    """Five times as many still open."""
    results, skipped = bench.interleave(
        1, {"fizeau": lambda: look("fizeau", make_page(bench, 5_000_000))}, "5 M nodes")
    for key, what, goal in (("ready", "ms until ready", 2000), ("zoom", "ms to zoom", None),
                            ("memory", "MB of memory", None)):
        add_row(group, results, "fizeau", "", lambda r, key=key: Values(x[key] for x in r),
                name=f"5,000,000 nodes: {what}", goal=goal)
    add_skipped(group, skipped)


def compare(bench):
    nodes = bench.choose(1_000_000, 100_000)
    base, head = make_pair(bench, "refactored", nodes)
    page = bench.scratch.outside / "refactored.html"

    def case():
        usage = run([FIZEAU, "diff", base, head, "-o", page])
        usage.size = page.stat().st_size / 1e6
        return usage

    results, skipped = bench.interleave(bench.choose(5, 2), {"fizeau": case}, "compare")
    group = Group(f"Comparing a refactored program, {nodes:,} nodes a side: read, match, judge, "
                  "write the page", "as each row says")
    seconds = 2 * nodes / 1_000_000
    for key, what, goal in (("wall", "s", seconds), ("cpu", "s of CPU", seconds),
                            ("memory", "MB of memory", None), ("size", "MB of file", None)):
        add_row(group, results, "fizeau", "", lambda r, key=key: Values(getattr(x, key) for x in r),
                name=what, goal=goal)
    add_skipped(group, skipped)
    return group


ROWS = {"browser": browser, "compare": compare}
