#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Same input, same bytes out: in every process, though each has hash tables of its own order."""

import pathlib
import tempfile

from livelib import SOURCE, Suite, fizeau

suite = Suite()
FOLDER = SOURCE / "tests/data"
TIMES = 4

NAMES = ["module", "parse", "render", "load", "store", "walk", "leaf", "main", "hash", "sort"]


def recording(path, salt):
    """Folded stacks with many functions, files and weights that are equal."""
    lines = []
    for i in range(400):
        stack = [f"{NAMES[(i * k + salt) % 10]}{(i + k * salt) % 23} (lib/{NAMES[k]}{i % 7}.py:{k})"
                 for k in range(1, 6)]
        lines.append(f"{';'.join(stack)} {1 + i % 5}")
    path.write_text("\n".join(lines) + "\n")


def outputs(folder, base, head):
    """Everything that is written of the two, by name."""
    found = {}
    words = {"replay": [str(head)], "diff": [str(base), str(head)]}
    for command, files in words.items():
        for suffix in ("txt", "json", "csv", "html", "svg", "md", "fz", "pprof", "speedscope", "cpuprofile",
                       "callgrind", "folded", "gecko", "jsonl", "pstats"):
            path = folder / f"{command}.{suffix}"
            done = fizeau(command, *files, "-o", path)
            if done.returncode == 0 and path.exists():
                found[path.name] = path.read_bytes()
    return found


@suite.test("folded stacks, replayed and compared by several processes")
def folded():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        base, head = folder / "base.folded", folder / "head.folded"
        recording(base, 1)
        recording(head, 2)
        first = outputs(folder, base, head)
        assert len(first) > 12, sorted(first)
        for _ in range(TIMES):
            again = outputs(folder, base, head)
            different = [name for name in first if first[name] != again.get(name)]
            assert not different, different


@suite.test("every real profile of the tests, replayed twice")
def real():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        read = 0
        for path in sorted(FOLDER.rglob("*")):
            if not path.is_file() or path.suffix == ".py":
                continue
            texts = {fizeau("replay", path, "--format", "json", "-o", "-").stdout
                     for _ in range(2)}
            assert len(texts) == 1, path
            read += len(texts.pop()) > 100
        assert read >= 3, read


if __name__ == "__main__":
    suite.main()
