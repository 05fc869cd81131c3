#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two recordings give the same numbers wherever they are compared: on the command line in every
format, in the library, over MCP, on a page and by a server."""

import collections
import ctypes
import json
import marshal
import os
import pathlib
import random
import re
import tempfile
import urllib.parse

from fleetlib import Server
from livelib import FIZEAU, SOURCE, Skip, Suite, counts_of, fizeau
from pages import Page
from test_mcp import Client

suite = Suite()
DATA = SOURCE / "tests" / "data" / "tachyon-diff"
LIBRARY = pathlib.Path(FIZEAU).with_name("libfizeau.so")


# ---- the library ----

class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("sys_errno", ctypes.c_int), ("message", ctypes.c_char * 1024)]


class Library:
    """The functions of fizeau.h that the tests call; failures are exceptions."""

    def __init__(self):
        if not LIBRARY.exists():
            raise Skip("there is no shared library")
        if os.environ.get("FZ_SANITIZED"):
            raise Skip("Python cannot load a sanitized library")
        self.lib = ctypes.CDLL(str(LIBRARY))
        self.lib.fizeau_free.argtypes = [ctypes.c_void_p]

    def call(self, name, *arguments):
        error, ret = Error(), ctypes.c_void_p()
        status = getattr(self.lib, name)(*arguments, ctypes.byref(ret), ctypes.byref(error))
        assert status == 0, (name, error.message)
        return ret

    def load(self, path):
        return self.call("fizeau_profile_load", str(path).encode())

    def merge(self, paths, out):
        """Write several recordings as the runs of one."""
        loaded = (ctypes.c_void_p * len(paths))(*(self.load(path) for path in paths))
        merged, error = self.call("fizeau_profile_merge", loaded, ctypes.c_size_t(len(paths))), Error()
        assert self.lib.fizeau_profile_write(merged, b"fz", str(out).encode(), ctypes.byref(error)) == 0, error.message

    def report(self, path, format_):
        """The bytes of a report of one recording, or why there is none."""
        data, size, error = ctypes.c_void_p(), ctypes.c_size_t(), Error()
        status = self.lib.fizeau_profile_write_memory(self.load(path), format_.encode(), ctypes.byref(data),
                                                      ctypes.byref(size), ctypes.byref(error))
        if status:
            return error.message
        content = ctypes.string_at(data, size.value)
        self.lib.fizeau_free(data)
        return content

    def diff(self, base, head, format_):
        d = self.call("fizeau_diff_new", self.load(base), self.load(head), None)
        data, size, error = ctypes.c_void_p(), ctypes.c_size_t(), Error()
        status = self.lib.fizeau_diff_write_memory(d, format_.encode(), ctypes.byref(data), ctypes.byref(size),
                                                   ctypes.byref(error))
        assert status == 0, error.message
        text = ctypes.string_at(data, size.value).decode()
        self.lib.fizeau_free(data)
        return text


# ---- pairs ----

def write_folded(path, seed, slower=1.0):
    """Stacks of a program with 40 functions, one of which may cost more."""
    dice = random.Random(seed)
    lines = []
    for i in range(40):
        cost = dice.gauss(300, 12) * (slower if i == 7 else 1)
        lines.append(f"main (app.py:1);stage{i % 4} (app.py:{i % 4 + 2});f{i} (app.py:{i + 20}) {cost:.0f}")
    path.write_text("\n".join(lines) + "\n")


def write_counts(path, parse):
    """Instructions, as callgrind writes them."""
    path.write_text(f"events: Ir\n\nfl=app.c\nfn=main\n1 100\ncfn=parse\ncalls=1 5\n2 {parse}\n\nfn=parse\n5 {parse}\n")


def pairs(folder):
    """{name: (base, head)} of files."""
    found = {"one run, .bin": (DATA / "base.bin", DATA / "head.bin")}
    for side, slower in (("base", 1.0), ("head", 1.6)):
        write_folded(folder / f"{side}.folded", side, slower)
        write_counts(folder / f"{side}.callgrind", 1000 * slower)
        for run in range(3):
            write_folded(folder / f"{side}{run}.folded", f"{side}{run}", slower)
    found["folded"] = (folder / "base.folded", folder / "head.folded")
    found["counts"] = (folder / "base.callgrind", folder / "head.callgrind")
    library = Library()
    found["runs that differ, .bin"] = (folder / "base.mixed.fz", folder / "head.mixed.fz")
    for side, other in (("base", "head"), ("head", "base")):
        library.merge([DATA / f"{name}.bin" for name in (side, other, side)], folder / f"{side}.mixed.fz")
    for side in ("base", "head"):
        library.merge([folder / f"{side}{run}.folded" for run in range(3)], folder / f"{side}.runs.fz")
        library.merge([DATA / f"{side}.bin"] * 2, folder / f"{side}.timed.fz")
    found["three runs, folded"] = (folder / "base.runs.fz", folder / "head.runs.fz")
    found["two runs, .bin"] = (folder / "base.timed.fz", folder / "head.timed.fz")
    return found


def printed(base, head, format_, *options):
    return fizeau("diff", base, head, "--format", format_, "-o", "-", *options).stdout


def by_pair(door):
    """Run a check of a door on every pair, with the pair's JSON."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for pair, (base, head) in pairs(folder).items():
            document = printed(base, head, "json")
            assert json.loads(document)["functions"], pair
            try:
                door(folder, base, head, document)
            except AssertionError as wrong:
                raise AssertionError(f"{pair}: {wrong}") from wrong


# ---- doors ----

@suite.test("the library writes the same as the command line")
def library():
    def door(_folder, base, head, document):
        for format_ in ("json", "folded"):
            ours = Library().diff(base, head, format_)
            theirs = document if format_ == "json" else printed(base, head, format_)
            assert ours == theirs, next(pair for pair in zip(ours.split("\n"), theirs.split("\n")) if pair[0] != pair[1])
    by_pair(door)


# Pages name the file that they are of, which the library does not know.
REPORTS = ("text", "tree", "json", "csv", "lines", "folded", "collapsed", "pstats", "gecko", "jsonl", "pprof",
           "speedscope", "callgrind", "fz")


@suite.test("the library writes one recording's reports like the command line")
def reports():
    def door(folder, base, _head, _document):
        for format_ in REPORTS:
            done = fizeau("replay", base, "--format", format_, "-o", folder / "replayed")
            ours = Library().report(base, format_)
            theirs = done.stderr.encode() if done.returncode else (folder / "replayed").read_bytes()
            assert ours == theirs or (done.returncode and ours and ours in theirs), (format_, ours, done.stderr)
    by_pair(door)


@suite.test("a page has the verdict, costs and intervals of the JSON")
def page():
    def door(folder, base, head, document):
        wanted = json.loads(document)
        fizeau("diff", base, head, "-o", folder / "x.html")
        shown = Page((folder / "x.html").read_text())
        assert shown.header["verdict"] == wanted["verdict"], (shown.header["verdict"], wanted["verdict"])
        assert shown.header["scale"] == wanted["scale"], shown.header["scale"]
        assert shown.header["warnings"] == wanted["warnings"], shown.header["warnings"]
        for side in ("base", "head"):
            assert shown.header[side]["samples"] == wanted[side]["samples"], shown.header[side]
            assert shown.header[side]["sum"] == wanted[side]["total"], shown.header[side]
            assert sum(shown[f"node.self.{side}"]) == wanted[side]["total"], side
        words = ["unknown", "unchanged", "changed"]
        verdicts = {f["name"]: (f["self_verdict"], f["total_verdict"]) for f in wanted["functions"]}
        of_page = {function: (words[own], words[total]) for function, own, total in
                   zip(shown["function.name"], shown["function.verdict.self"], shown["function.verdict.total"])}
        assert of_page == {name: verdicts[name] for name in of_page}, (of_page, verdicts)
        rows = {f["name"]: f for f in wanted["functions"]}
        for function, below, above in zip(shown["function.name"], shown["function.below.total"],
                                          shown["function.above.total"]):
            row = rows[function]
            if row["total_low"] is not None:
                assert abs(row["diff_total"] - below - row["total_low"]) <= 1, row
                assert abs(row["diff_total"] + above - row["total_high"]) <= 1, row
    by_pair(door)


@suite.test("a line costs the same in the page and in the JSON for editors")
def lines_of_comparison():
    def door(folder, base, head, document):
        wanted = {(f["name"], f["file"]): f for f in json.loads(document)["functions"]}
        fizeau("diff", base, head, "--heatmap", "-o", folder / "x.html")
        shown = Page((folder / "x.html").read_text())
        lines = json.loads(printed(base, head, "lines"))
        for side in ("base", "head"):
            own = collections.Counter()
            for (file, _), (cost, _) in shown.lines(side).items():
                own[file] += cost
            assert sum(own.values()) == sum(shown[f"node.self.{side}"]), side
            assert {file["name"]: file[f"{side}_self"] for file in lines["files"] if file[f"{side}_self"]} == +own, side
        for row in lines["functions"]:
            of = wanted[row["name"], lines["files"][row["file"]]["name"]]
            for key in ("base_self", "head_self", "diff_self", "state"):
                assert row[key] == of[key], (row, of)
            assert row["verdict"] == of["self_verdict"], (row, of)
    by_pair(door)


@suite.test("a line of a recording costs the same in the page, in pstats and for editors")
def lines_of_recording():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        Library().merge([DATA / "base.bin", DATA / "head.bin", DATA / "base.bin"], folder / "runs.fz")
        recorded = sorted((SOURCE / "tests" / "data" / "tachyon").glob("*.bin"))
        for path in [folder / "runs.fz", DATA / "base.bin", *recorded]:
            fizeau("replay", path, "-o", folder / "x.html")
            shown = Page((folder / "x.html").read_text())
            lines = json.loads(fizeau("replay", path, "--format", "lines", "-o", "-").stdout)
            assert {(file["file"], line["line"]): (line["self"], line["total"])
                    for file in lines["files"] for line in file["lines"]} == shown.lines("head"), path.name
            fizeau("replay", path, "--pstats", "--per-line", "-o", folder / "x.pstats")
            stats = collections.defaultdict(list)
            for place, cost in marshal.loads((folder / "x.pstats").read_bytes()).items():
                if len(place) == 3 and place[1] > 0:  # there is also a mark of sampled files
                    stats[place[:2]].append(tuple(round(seconds * 1e9) for seconds in cost[2:4]))
            wanted = shown.function_lines("head")
            assert {place: sorted(costs) for place, costs in stats.items()} == \
                {place: sorted(costs) for place, costs in wanted.items()}, path.name


def plain(text):
    return re.sub(r"[*`#]", "", text)


def headline(text):
    """The first sentence, which text wraps."""
    first, *rest = plain(text).split("\n")
    for line in rest:
        if not line.startswith("  "):
            break
        first += " " + line.strip()
    return first.strip().rstrip(".")


@suite.test("text, Markdown, MCP and the note beside a file have one headline")
def headlines():
    def door(folder, base, head, _document):
        first = headline(printed(base, head, "text"))
        note = fizeau("diff", base, head, "-o", folder / "x.svg").stderr
        assert first in note, (first, note)
        assert first in plain(printed(base, head, "markdown")), first
        for path in (base, head):
            (folder / path.name).write_bytes(path.read_bytes())
        client = Client(folder)
        answer = client.text("changes", base=base.name, head=head.name)
        client.close()
        assert headline(answer) == first, (headline(answer), first)
    by_pair(door)


@suite.test("MCP reports the changes of the JSON")
def mcp():
    def door(folder, base, head, document):
        for path in (base, head):
            (folder / path.name).write_bytes(path.read_bytes())
        client = Client(folder)
        answer = client.text("changes", base=base.name, head=head.name)
        client.close()
        changed = [f for f in json.loads(document)["functions"] if f["self_verdict"] == "changed"]
        assert f"\nself: {counts_of(changed, 'self')}, " in answer, answer
    by_pair(door)


@suite.test("a repeated comparison in the same process is the same")
def twice():
    with tempfile.TemporaryDirectory() as name:
        for base, head in pairs(pathlib.Path(name)).values():
            library_ = Library()
            one, other = library_.load(base), library_.load(head)
            texts = []
            for _ in range(2):
                d = library_.call("fizeau_diff_new", one, other, None)
                data, size, error = ctypes.c_void_p(), ctypes.c_size_t(), Error()
                library_.lib.fizeau_diff_write_memory(d, b"json", ctypes.byref(data), ctypes.byref(size),
                                                      ctypes.byref(error))
                texts.append(ctypes.string_at(data, size.value))
            assert texts[0] == texts[1], base


# A thread without a stack, a sample without a weight, a graph of calls.
ODD = {
    "no-stack.austin": "# austin: 3.0.0\n# interval: 10000\n# mode: wall\n\nP1;T1 5000\n"
                       "P1;T1;a.py:main:1;a.py:work:2 10000\nP1;T1;a.py:main:1 20000\n",
    "graph.callgrind": "events: Ir\n\nfl=a.c\nfn=main\n1 100\ncfn=work\ncalls=3 5\n2 900\n\nfn=work\n5 900\n",
}


def numbers(folder, path):
    """{report: (samples, total)} of a recording, and of a comparison with itself."""
    found = {}
    replayed = fizeau("replay", path, "--format", "json", "-o", "-")
    if replayed.returncode:
        return found
    document = json.loads(replayed.stdout)
    found["JSON"] = document["samples"], document["total"]
    for name, options in {"page": ["-o", folder / "x.html"], "heat map": ["--heatmap", "-o", folder / "x.html"]}.items():
        fizeau("replay", path, *options)
        text = (folder / "x.html").read_text().split('id="fz-header">', 1)[1].split("</script>", 1)[0]
        side = json.loads(text)["head"]
        found[name] = side["samples"], side["sum"]
    compared = json.loads(printed(path, path, "json"))
    for side in ("base", "head"):
        found[side] = compared[side]["samples"], compared[side]["total"]
    return found


@suite.test("a recording has one number of samples and one total in every report")
def one_number():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, text in ODD.items():
            (folder / file).write_text(text)
        write_folded(folder / "x.folded", 1)
        paths = [folder / file for file in ODD] + [folder / "x.folded", DATA / "base.bin"]
        for path in paths:
            found = numbers(folder, path)
            assert found and len(set(found.values())) == 1, (path.name, found)


@suite.test("ranges of one recording: page and JSON agree")
def ranges():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        sides = ["--base-range", "0%-50%", "--head-range", "50%-100%"]
        wanted = json.loads(fizeau("diff", DATA / "head.bin", *sides, "--format", "json", "-o", "-").stdout)
        fizeau("diff", DATA / "head.bin", *sides, "-o", folder / "x.html")
        shown = Page((folder / "x.html").read_text())
        assert shown.header["verdict"] == wanted["verdict"]
        assert [shown.header[side]["sum"] for side in ("base", "head")] == \
            [wanted[side]["total"] for side in ("base", "head")]


@suite.test("a server and the command line compare releases alike")
def server():
    with tempfile.TemporaryDirectory() as name, Server(name) as serving:
        folder = pathlib.Path(name)
        for version, file in (("1", "base.bin"), ("2", "head.bin")):
            fizeau("push", DATA / file, "--server", serving.url, "--service", "api", "--version", version)
        query = urllib.parse.urlencode({"base": "api@1", "head": "api@2"})
        status, content, _ = serving.ask("GET", f"/api/diff?{query}")
        assert status == 200, content
        done = fizeau("diff", "api@1", "api@2", "--server", serving.url, "--format", "json", "-o", "-")
        assert content.decode() == done.stdout
        status, content, _ = serving.ask("GET", f"/diff?{query}")
        assert status == 200
        assert Page(content.decode()).header["verdict"] == json.loads(done.stdout)["verdict"], folder


if __name__ == "__main__":
    suite.main()
