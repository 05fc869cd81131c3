# SPDX-License-Identifier: MIT
"""The cost of a page for its reader, and of writing it.

A synthetic program is recorded twice by tests/make_refactor: repeated for the page that is opened,
refactored for the comparison that is timed. Two peers draw the same tree in the same Chromium:

    d3-flame-graph  which Tachyon's pages use, told to leave out frames below a pixel and not to
                    glide; it cannot pan
    speedscope      the recording of the head in its format, left heavy; its own program's script
                    loads it. It knows no comparisons, so its tree has one side

`ready` is from the start of navigation until two frames after all is there, `paint` the browser's
own first contentful paint, `answer` until two frames after the verdict stands at its top: of
real packages at two releases (tests/refactorings) and of the synthetic program, without a click. The rest is done by a real mouse and real keys, and lasts from the
input's time stamp until two frames after what it changes, which alone are 33 ms: a frame is zoomed
to by a click (speedscope: a double click), a word put into the search box; hover is the median and
the longest of forty moves. `pan` is the time between two frames of a drag, the 95th
of a hundred. CPU is of the page's main thread, by the move; what another process draws for it is not
in that. A change of view, which only our page has, is timed from inside. Memory is the renderer's.
"""

import json
import os
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
REFACTORINGS = HERE.parent / "tests" / "refactorings" / "run"
REAL = ("sqlglot", "pygments", "jinja2", "networkx")
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


def make_real_pages(bench):
    """Pages of real packages at two releases, recorded once; by name."""
    kept = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "fizeau" / "refactorings"
    pages = {}
    for name in REAL:
        pair = [kept / f"{name}-{side}.fz" for side in ("base", "head")]
        if not all(file.exists() for file in pair):
            bench.say(f"recording {name} at two releases")
            subprocess.run([REFACTORINGS, name], capture_output=True)
        if not all(file.exists() for file in pair):
            raise Skip(f"{name} at two releases cannot be had")
        pages[name] = bench.scratch.outside / f"{name}.html"
        run([FIZEAU, "diff", "--force", *pair, "-o", pages[name]])
    return pages


def install():
    """The peers and the driver, once; as bench/browser/package-lock.json says."""
    if not shutil.which("node") or not shutil.which("npm"):
        raise Skip("no node or no npm")
    if not all((FOLDER / "node_modules" / peer).exists() for peer in ("d3-flame-graph", "speedscope")):
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
    ("search", "ms to search", 50, 860), ("hover", "ms to answer the mouse", 50, None),
    ("hoverMost", "ms to answer the mouse, the longest of 40", None, None),
    ("hoverCpu", "ms of CPU for a move of the mouse", None, None),
    ("fps", "frames a second of a drag", 59, None),
    ("pan", "ms between frames of a drag, 95 of 100", 17, None),
    ("panCpu", "ms of CPU for a move of a drag", None, None),
    ("memory", "MB of memory", 250, 442),
)


def browser(bench):
    install()
    nodes = bench.choose(1_000_000, 100_000)
    page = make_page(bench, nodes)
    profile = bench.scratch.outside / f"{nodes}.speedscope.json"
    run([FIZEAU, "replay", make_pair(bench, "repeated", nodes)[1], "-o", profile])
    cases = {"fizeau": lambda: look("fizeau", page),
             "d3": lambda: look("d3", page, page.with_suffix(".d3.html")),
             "speedscope": lambda: look("speedscope", profile, profile.with_suffix(".js"))}
    results, skipped = bench.interleave(bench.choose(3, 1), cases, "page in a browser")
    group = Group(f"A page of a comparison, {nodes:,} nodes, in Chromium", "given in each row")
    for key, what, goal, best in ROWS_OF_PAGE:
        present = {name: list_ for name, list_ in results.items() if key in list_[0]}
        for peer in ("d3", "speedscope"):
            # A goal is met or missed once.
            if peer == "d3" or peer in present:
                add_row(group, present, "fizeau", peer, lambda r, key=key: Values(x[key] for x in r),
                        name=what, goal=goal if peer == "d3" else None,
                        best=best if peer == "d3" else None, more=key == "fps")
    for key in VIEWS:
        add_row(group, results, "fizeau", "", lambda r, key=key: Values(x[key] for x in r),
                name=f"ms to change to: {key}")
    add_skipped(group, skipped)
    answers(bench, group, page)
    if not bench.quick:
        huge(bench, group)
    return group


def answers(bench, group, page):
    """How soon a comparison tells what changed."""
    try:
        pages = {**make_real_pages(bench), "made up": page}
    except Skip as reason:
        add_skipped(group, {"real packages": str(reason)})
        return
    cases = {name: lambda page=page: look("answer", page) for name, page in pages.items()}
    results, skipped = bench.interleave(bench.choose(5, 1), cases, "the answer of real pages")
    for name, list_ in results.items():
        add_row(group, results, name, "", lambda r: Values(x["answer"] for x in r), goal=500,
                name=f"{name}, {list_[0]['nodes']:,} nodes: ms until the verdict")
    add_skipped(group, skipped)


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
                  "write the page", "given in each row")
    seconds = 2 * nodes / 1_000_000
    for key, what, goal in (("wall", "s", seconds), ("cpu", "s of CPU", seconds),
                            ("memory", "MB of memory", None), ("size", "MB of file", None)):
        add_row(group, results, "fizeau", "", lambda r, key=key: Values(getattr(x, key) for x in r),
                name=what, goal=goal)
    add_skipped(group, skipped)
    return group


ROWS = {"browser": browser, "compare": compare}
