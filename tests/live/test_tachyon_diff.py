#!/usr/bin/env python3
"""`fizeau diff --match exact` against the differential flame graph of CPython 3.15.

Its scale was that of shares in 3.15.0 and is that of times in 3.15.2, so the same is asked for here.

Tachyon draws a node for each line; its figures are apportioned from the path of (file, function)
that the node belongs to. So each node it draws is computed again here from our figures of the
path, by its formula, and must come out the same; where all nodes of a path are drawn their sums
must be our figures themselves. Removed code is compared with its "elided" graph.

What both releases answered for the recordings in tests/data/tachyon-diff is kept there: those are
compared without CPython, and an oracle that answers otherwise than its release did is reported, not
followed. FZ_UPDATE=1 writes the kept answers of the oracle's release anew.
"""

import gzip
import json
import math
import os
import pathlib
import subprocess

from livelib import SHARED, SOURCE, Skip, Suite, find_interpreter, fizeau

DATA = SOURCE / "tests" / "data" / "tachyon-diff"
VECTORS = SHARED / "profiles" / "formats" / "tachyon" / "vectors"

# Releases with stored answers, and the scale of each.
SCALES = {"3.15.0": "share", "3.15.2": "time"}
# Recordings of tests/data/tachyon-diff, made by record() below with other arguments.
KEPT = [("base", "head"), ("head", "base"), ("base", "base"), ("base", "threads")]
# Recordings of other programs, rates, threads and depths.
OTHERS = [("base", "slow"), ("slow", "base"), ("base", "twice"), ("base", "wrap"),
          ("wrap", "base"), ("fib1", "fib2"), ("one", "base"),
          ("small", "base"), ("r1k", "r100"), ("r100", "r1k"), ("deepbase", "base")]
# Recorded with other features: Tachyon refuses to compare them.
REFUSED = [("base", "th1"), ("small", "small0")]

suite = Suite()


# ---- Tachyon's answer ----

class NoPage(Exception):
    pass


def tachyon_data(python, base, head, folder):
    """The data that its differential page embeds."""
    page = pathlib.Path(folder) / "x.html"
    page.unlink(missing_ok=True)
    done = subprocess.run(
        [*python.command, "-m", "profiling.sampling", "replay", "--diff-flamegraph",
         python.path(base), "-o", python.path(page), python.path(head)],
        capture_output=True, text=True, timeout=120, env={**os.environ, "LC_ALL": "C.UTF-8"})
    if not page.exists():
        raise NoPage(done.stdout + done.stderr)
    text = page.read_text(encoding="utf-8")
    start = text.index("const EMBEDDED_DATA = ") + len("const EMBEDDED_DATA = ")
    return json.JSONDecoder().raw_decode(text, start)[0]


def drawn_nodes(data):
    """[path, line, self, total, baseline, baseline_total, diff, diff_pct] of all nodes."""
    strings, nodes = data["strings"], []

    def walk(node, path):
        if "filename" in node and "funcname" in node:
            path = (*path, (strings[node["filename"]], strings[node["funcname"]]))
            nodes.append([path, node["lineno"], node["self"], node["value"], node["baseline"],
                          node["baseline_total"], node["diff"], node["diff_pct"]])
        for child in node.get("children", ()):
            walk(child, path)

    walk(data, ())
    return nodes


def answer(data):
    stats = data["stats"]
    elided = stats.get("elided_flamegraph")
    return {
        "scale": stats["baseline_scale"],
        "base_samples": stats["baseline_samples"],
        "head_samples": stats["current_samples"],
        "elided_count": stats["elided_count"],
        "nodes": drawn_nodes(data),
        "elided": drawn_nodes(elided) if elided else [],
    }


def release_of(python):
    done = subprocess.run([*python.command, "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])"],
                          capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.strip()


def scale_of(release):
    """An unknown release is taken for the newest."""
    return SCALES.get(release, "time")


# ---- ours ----

def our_answer(base, head, scale):
    done = fizeau("diff", "--match", "exact", "--scale", scale, "--format", "json", base, head)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    paths, by_path = [], {}
    for node in answer["nodes"]:
        above = paths[node["parent"]] if node["parent"] >= 0 else ()
        assert node["id"] == len(paths), "nodes are numbered in order"
        assert node["parent"] < node["id"], "parents come first"
        paths.append((*above, (node["file"], node["name"])))
        assert paths[-1] not in by_path, f"path twice: {paths[-1]}"
        by_path[paths[-1]] = node
    answer["paths"] = by_path
    return answer


# ---- comparison ----

def close(ours, theirs):
    return math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-9)


def weight(value, whole, fallback, fallback_whole):
    """How Tachyon apportions a path's baseline to one of its nodes."""
    if whole > 0:
        return value / whole
    return fallback / fallback_whole if fallback_whole > 0 else 0


def expected_node(ours, scale, own, total):
    """Baseline figures of a drawn node with that self and total, from ours of its path."""
    base_self = ours["base_self"] * scale * weight(
        own, ours["head_self"], total, ours["head_total"])
    nonself = (ours["base_total"] - ours["base_self"]) * scale * weight(
        total - own, ours["head_total"] - ours["head_self"], total, ours["head_total"])
    diff = own - base_self
    percent = diff / base_self * 100 if base_self > 0 else 100 if own > 0 else 0
    return base_self, base_self + nonself, diff, percent


def compare_drawn(ours, theirs, scale):
    sums = {}
    for path, line, own, total, *figures in theirs:
        path = tuple(map(tuple, path))
        node = ours["paths"].get(path)
        assert node and node["state"] != "removed", f"we have no {path}"
        wanted = expected_node(node, scale, own, total)
        assert all(map(close, wanted, figures)), f"{path}:{line}: {figures}, ours {wanted}"
        if node["head_self"] > 0 and node["base_self"] > 0 and own > 0 and same_scale(ours, scale):
            assert close(node["pct_self"], figures[3]), f"{path}: {figures[3]}, ours {node}"
        sums[path] = [a + b for a, b in zip(sums.get(path, [0] * 5), (own, total, *figures[:3]))]
    for path, (own, total, baseline, baseline_total, diff) in sums.items():
        compare_path(ours["paths"][path], own, total, baseline, baseline_total, diff,
                     scale if same_scale(ours, scale) else None)
    return sums


def same_scale(ours, scale):
    """With unequal intervals that of 3.15.0 is wrong by their ratio."""
    return close(ours["scale"]["factor"], scale)


def compare_path(node, own, total, baseline, baseline_total, diff, scale):
    """All nodes of a path together, unless Tachyon left one of them out as too small."""
    assert own <= node["head_self"] and total <= node["head_total"], f"too much drawn: {node}"
    if (own, total) != (node["head_self"], node["head_total"]) or scale is None:
        return
    assert close(baseline, scale * node["base_self"]), f"baseline {baseline}: {node}"
    assert close(baseline_total, scale * node["base_total"]), f"{baseline_total}: {node}"
    assert close(diff, node["diff_self"]), f"diff {diff}: {node}"


def compare_elided(ours, theirs, scale):
    removed = {path: node for path, node in ours["paths"].items() if node["state"] == "removed"}
    drawn = {}
    for path, _, own, total, baseline, _, diff, percent in theirs:
        path = tuple(map(tuple, path))
        if path not in removed:  # an ancestor that only carries removed code
            assert path in ours["paths"], f"we have no {path}"
            assert own == baseline == diff == percent == 0, f"{path} shows cost"
            continue
        assert close(diff, -own * scale) and close(baseline, own * scale), f"{path}: {diff}"
        sums = drawn.setdefault(path, [0, 0])
        sums[0] += own
        sums[1] += total
    assert drawn.keys() == removed.keys(), f"removed: {drawn.keys() ^ removed.keys()}"
    for path, (own, total) in drawn.items():
        node = removed[path]
        assert (own, total) == (node["base_self"], node["base_total"]), f"{path}: {node}"


def compare(ours, theirs, intervals_equal):
    assert ours["base"]["unit"] == ours["head"]["unit"] == "count"
    assert ours["base"]["samples"] == ours["base"]["total"] == theirs["base_samples"]
    assert ours["head"]["samples"] == ours["head"]["total"] == theirs["head_samples"]
    if intervals_equal:
        assert close(ours["scale"]["factor"], theirs["scale"]), "scale"
    assert ours["elided_count"] == theirs["elided_count"], "elided_count"
    sums = compare_drawn(ours, theirs["nodes"], theirs["scale"])
    compare_elided(ours, theirs["elided"], theirs["scale"])
    # What Tachyon leaves out is below its limit of a thousandth.
    limit = max(1, theirs["head_samples"] // 1000)
    for path, node in ours["paths"].items():
        if node["state"] != "removed" and path not in sums:
            assert node["head_total"] < limit * 8, f"{path} is not drawn: {node}"
    return f"{len(theirs['nodes'])} nodes, {len(theirs['elided'])} elided"


def intervals_equal(ours):
    return ours["base"]["facts"]["interval_ns"] == ours["head"]["facts"]["interval_ns"]


# ---- tests ----

def kept_file(base, head, release):
    return DATA / f"{base}-{head}.{release}.json.gz"


def kept_answer(base, head, release):
    with gzip.open(kept_file(base, head, release), "rt", encoding="utf-8") as file:
        return json.load(file)


def compare_with_kept(base, head, release):
    ours = our_answer(DATA / f"{base}.bin", DATA / f"{head}.bin", scale_of(release))
    return compare(ours, kept_answer(base, head, release), intervals_equal(ours))


def oracle_has_not_changed(base, head):
    python = find_interpreter("forky-3.15")
    release = release_of(python)
    if release not in SCALES:
        raise Skip(f"no answers of {release} are kept")
    with python.scratch() as folder:
        for name in {base, head}:
            (pathlib.Path(folder) / f"{name}.bin").write_bytes((DATA / f"{name}.bin").read_bytes())
        now = answer(tachyon_data(python, f"{folder}/{base}.bin", f"{folder}/{head}.bin", folder))
    if os.environ.get("FZ_UPDATE"):
        text = json.dumps(now, separators=(",", ":")).encode()
        kept_file(base, head, release).write_bytes(gzip.compress(text, mtime=0))
    assert json.loads(json.dumps(now)) == kept_answer(base, head, release), \
        f"Tachyon answers otherwise than {release} did: look before FZ_UPDATE=1"


def compare_with_vectors(base, head):
    if not VECTORS.exists():
        raise Skip(f"{VECTORS} is not there")
    python = find_interpreter("forky-3.15")
    with python.scratch() as folder:
        for name in {base, head}:
            (pathlib.Path(folder) / f"{name}.bin").write_bytes(
                (VECTORS / f"{name}.bin").read_bytes())
        pair = f"{folder}/{base}.bin", f"{folder}/{head}.bin"
        theirs = answer(tachyon_data(python, *pair, folder))
        ours = our_answer(*pair, scale_of(release_of(python)))
    return compare(ours, theirs, intervals_equal(ours))


def both_refuse(base, head):
    if not VECTORS.exists():
        raise Skip(f"{VECTORS} is not there")
    pair = VECTORS / f"{base}.bin", VECTORS / f"{head}.bin"
    done = fizeau("diff", *pair)
    assert done.returncode == 2 and "differ in recorded data" in done.stderr, done.stderr
    assert fizeau("diff", "--force", *pair).returncode == 0
    python = find_interpreter("forky-3.15")
    with python.scratch() as folder:
        for path in pair:
            (pathlib.Path(folder) / path.name).write_bytes(path.read_bytes())
        try:
            tachyon_data(python, *(f"{folder}/{path.name}" for path in pair), folder)
        except NoPage as reason:
            assert "capture configuration does not match" in str(reason), reason
        else:
            raise AssertionError("Tachyon compares them")


def record(python, folder, name, *arguments):
    """Record tests/data/tachyon-diff/program.py into FOLDER/NAME.bin with real Tachyon."""
    script = pathlib.Path(folder) / "program.py"
    script.write_bytes((DATA / "program.py").read_bytes())
    out = pathlib.Path(folder) / f"{name}.bin"
    done = subprocess.run(
        [*python.command, "-m", "profiling.sampling", "run", "--binary", "-r", "2khz",
         "-o", python.path(out), python.path(script), *arguments],
        capture_output=True, text=True, timeout=120, env={**os.environ, "LC_ALL": "C.UTF-8"})
    assert out.exists() and out.stat().st_size > 200, done.stdout + done.stderr
    return out


def compare_fresh_recordings():
    python = find_interpreter("forky-3.15")
    with python.scratch() as folder:
        base = record(python, folder, "base", "before")
        head = record(python, folder, "head", "after")
        theirs = answer(tachyon_data(python, base, head, folder))
        ours = our_answer(base, head, scale_of(release_of(python)))
    return compare(ours, theirs, True)


for release in SCALES:
    for pair in KEPT:
        suite.add(f"{pair[0]} -> {pair[1]} equals the kept answer of {release}", compare_with_kept,
                  *pair, release)
for pair in KEPT:
    suite.add(f"{pair[0]} -> {pair[1]}: Tachyon still answers that", oracle_has_not_changed, *pair)
for pair in OTHERS:
    suite.add(f"{pair[0]} -> {pair[1]} equals Tachyon", compare_with_vectors, *pair)
for pair in REFUSED:
    suite.add(f"{pair[0]} -> {pair[1]} is refused as by Tachyon", both_refuse, *pair)
suite.add("recordings made now equal Tachyon", compare_fresh_recordings)


# 400 frames, of which a .bin keeps 256; `depth` of them, and a shallow part, in the head.
DEEP = """
import sys, time
def burn():
    for i in range(2000): pass
def spin():
    end = time.time() + 0.4
    while time.time() < end: burn()
def recurse(n):
    if n: recurse(n - 1)
    else: spin()
def outer(): recurse(int(sys.argv[1]))
def shallow(): spin()
def main():
    outer()
    shallow()
main()
"""


def below_the_cut(depth):
    """Callers that CPython's recording truncates are neither new in the head nor gone from it."""
    python = find_interpreter("forky-3.15")
    with python.scratch() as folder:
        folder = pathlib.Path(folder)
        (folder / "deep.py").write_text(DEEP)
        done = subprocess.run(
            [*python.command, "-m", "profiling.sampling", "run", "--binary", "-o",
             python.path(folder / "cut.bin"), python.path(folder / "deep.py"), "400"],
            capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        done = fizeau("run", "-o", folder / "whole.fz", "--", *python.command,
                      python.path(folder / "deep.py"), str(depth))
        assert done.returncode == 0, done.stderr
        for base, head in (("cut.bin", "whole.fz"), ("whole.fz", "cut.bin")):
            for how in ([], ["--match", "exact"], ["--fold-recursion"]):
                done = fizeau("diff", "--format", "json", folder / base, folder / head, *how)
                assert done.returncode == 0, done.stderr
                check_cut(json.loads(done.stdout), depth)
        done = fizeau("replay", folder / "whole.fz", "--diff-flamegraph", folder / "cut.bin",
                      "-o", folder / "x.html")
        assert done.returncode == 0, done.stderr


def check_cut(diff, depth):
    functions = [f for f in diff["functions"] if f["file"].endswith("deep.py")]
    named = {f["name"]: f for f in functions}
    assert {"recurse", "spin", "shallow"} <= set(named), sorted(named)
    assert "outer" not in named, "who called recurse is not known of one of the two"
    assert all(f["state"] == "common" for f in functions), functions
    # Each level with its cost on both sides, where both went as deep.
    nodes = [n for n in diff["nodes"] if n["name"] == "recurse"]
    if depth >= 256:
        assert nodes and all(n["state"] == "common" for n in nodes), nodes[:3]
    assert any("what called recurse is left out" in w for w in diff["warnings"]), diff["warnings"]


for _depth in (400, 100):
    suite.add(f"below the cut of a recursion of 400 nothing is new: a head of {_depth}",
              below_the_cut, _depth)

if __name__ == "__main__":
    suite.main()
