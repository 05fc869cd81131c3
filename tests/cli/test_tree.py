#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Figures of call trees against the JSON of the same recordings; TAP on stdout."""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
FIZEAU = os.environ.get("FIZEAU", "fizeau")
ALL = ["--min-share", "0", "-l", "1000000"]
LEVEL = 3

Row = collections.namedtuple("Row", "depth name place figures")


def fizeau(*words):
    done = subprocess.run([FIZEAU, *map(str, words)], capture_output=True, text=True, check=True,
                          env={**os.environ, "COLUMNS": "1000", "LC_ALL": "C.UTF-8"})
    return done.stdout


def number(text):
    return int(text.replace(",", "")) if text else 0


def rows_of(text):
    """Rows of a tree of samples: the figures in front of the column that its head names."""
    lines = iter(text.splitlines())
    head = next(line for line in lines if "call tree" in line)
    left = head.index("call tree")
    for line in lines:
        if not line:
            return
        guides, name, place = re.fullmatch(r"((?:│  |   |[├└]─ )*)(.*?)(?:   *(\S+))?", line[left:]).groups()
        yield Row(len(guides) // LEVEL, name, place, line[:left])


def children(rows):
    """The numbers of the rows right below each; under None those of the roots."""
    below, open_rows = collections.defaultdict(list), []
    for i, row in enumerate(rows):
        del open_rows[row.depth:]
        assert len(open_rows) == row.depth, row
        below[open_rows[-1] if open_rows else None].append(i)
        open_rows.append(i)
    return below


def check_profile(path, *more):
    rows = list(rows_of(fizeau("replay", "--tree", "--metric", "samples", *ALL, *more, path)))
    known = json.loads(fizeau("replay", "--format", "json", "--metric", "samples", path))
    costs = [(number(row.figures[:9].strip()), number(row.figures[18:].strip())) for row in rows]
    below = children(rows)
    for i, (total, own) in enumerate(costs):
        assert total == own + sum(costs[c][0] for c in below[i]), (rows[i], total, own)
    assert sum(costs[c][0] for c in below[None]) == known["total"], known["total"]
    own_code = [f for f in known["functions"] if f["file"].endswith("program.py")]
    assert own_code
    for function in own_code:
        name = function["name"]
        shown = sum(own for row, (_, own) in zip(rows, costs)
                    if row.name.split(" … up to")[0] == name and "program.py" in (row.place or ""))
        assert shown == sum(f["self"] for f in own_code if f["name"] == name), (function, shown)
    return rows


def profiles():
    for path in sorted((DATA / "tachyon").glob("*.bin")):
        check_profile(path)
        check_profile(path, "--all-frames")
    assert any("thread" in row.name for row in check_profile(DATA / "tachyon" / "threads.bin"))
    deep = check_profile(DATA / "tachyon" / "deep.bin", "--all-frames")
    assert any("… up to" in row.name for row in deep), deep


def path_of(rows, i):
    """Names from the root to a row, that of the row last."""
    names, depth = [], rows[i].depth + 1
    for row in reversed(rows[:i + 1]):
        if row.depth < depth:
            names.insert(0, re.sub(r", self [-+0-9,.]+$", "", row.name))
            depth = row.depth
    return tuple(names)


def differences():
    sides = [DATA / "tachyon-diff" / f"{side}.bin" for side in ("base", "head")]
    metric = ["--metric", "samples"]
    rows = list(rows_of(fizeau("diff", "--tree", "--all-frames", *metric, *ALL, *sides)))
    known = json.loads(fizeau("diff", "--format", "json", *metric, *sides))
    certain = {"slower", "faster", "new", "gone"}
    words = {"changed": certain, "unchanged": {"same"}, "unknown": {"unsure", "same"}}
    paths, nodes = {}, {}
    for node in known["nodes"]:
        paths[node["id"]] = (*paths.get(node["parent"], ()), node["name"])
        nodes[paths[node["id"]]] = node
    shown = 0
    for i, row in enumerate(rows):
        if "fib" in row.name:  # folded
            continue
        node = nodes[path_of(rows, i)]
        before, after, change, _, word = row.figures.split()
        assert number(before) == node["base_total"] and number(after) == node["head_total"], (row, node)
        assert number(change) == number(after) - number(before), row
        # The JSON has one word for self and total.
        told = certain & {word} or ("changed" if ", self " in row.name else "")
        assert word in words[node["verdict"]] or told and node["verdict"] == "changed", (row, node)
        shown += 1
    assert shown == sum("fib" not in path for path in paths.values()), (shown, len(paths))


def main():
    tests = {"figures of a call tree are those of the JSON": profiles,
             "figures and verdicts of a difference are those of the JSON": differences}
    print(f"1..{len(tests)}")
    failed = False
    for i, (name, test) in enumerate(tests.items(), 1):
        try:
            test()
            print(f"ok {i} - {name}")
        except Exception as e:  # pylint: disable=broad-except
            failed = True
            print(f"not ok {i} - {name}\n# {type(e).__name__}: {e}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
