#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Source in pages of recordings without source: CPython's, and other profilers'.

What is shown must be what ran, as far as the recording can tell, and nothing may be refused that
did run: the standard library, compiled by CPython 3.15, says so of every instruction's place.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

from livelib import SOURCE, Skip, Suite, find_interpreter, fizeau
from pages import Page
from watching import LASTING

suite = Suite()

PROGRAM = """\
import time
class Work:
    def step(self, n):
        return sum(i * i for i in range(n))

    def turn(self):
        a = self.step(3000)
        b = f"{a} {self.step(3000)}"
        return a, b
end = time.time() + 0.5
while time.time() < end:
    Work().turn()
"""
TURN = 'b = f"{a} {self.step(3000)}"'


def ours(*args, warns=(), **options):
    """Run the command; all its warnings must be the expected ones."""
    done = fizeau(*args, **options)
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stderr.splitlines() if "warning" in line]
    assert len(said) == len(warns), said
    for line, wanted in zip(said, warns):
        assert re.search(wanted, line), (wanted, line)
    return done


def shown(file):
    """The source text in a page."""
    page = Page(pathlib.Path(file).read_text(encoding="utf-8"))
    return "".join(page["chunk.text"]), json.dumps(page.header)


class Recorded:
    """A program, and what CPython's own profiler recorded of it."""

    def __init__(self):
        self.python = find_interpreter("forky-3.15")
        self.scratch = self.python.scratch()
        self.folder = pathlib.Path(self.scratch.name)
        self.script = self.folder / "app.py"
        self.script.write_text(PROGRAM)
        time.sleep(0.05)
        done = subprocess.run(
            [*self.python.command, "-m", "profiling.sampling", "run", "--binary", "-o",
             self.python.path(self.folder / "app.bin"), self.python.path(self.script)],
            capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        self.bin = self.folder / "app.bin"
        # What the interpreter calls its files, and where they are for us.
        self.root = f"{self.python.path(self.folder)}={self.folder}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.scratch.cleanup()

    def page(self, *args, warns=(), heatmap=False):
        out = self.folder / "page.html"
        ours("replay", self.bin, "-o", out, *(["--heatmap"] if heatmap else []), *args, warns=warns)
        return shown(out)


# Of CPython 3.15, kept in the project.
KEPT = SOURCE / "tests" / "data" / "tachyon"


@suite.test("a kept .bin: the lines of the file that ran are shown, those of an edited one are not")
def _():
    with tempfile.TemporaryDirectory(prefix="fz-") as folder:
        folder = pathlib.Path(folder)
        recording = shutil.copy(KEPT / "plain.bin", folder)
        code = (KEPT / "program.py").read_text()
        names = {file for file in re.findall(r'"file": *"([^"]*program.py)"',
                                             fizeau("replay", recording, "--format", "json", "-o", "-").stdout)}
        assert len(names) == 1, names
        there = os.path.dirname(names.pop())

        def page(text, *options, warns=()):
            (folder / "program.py").write_text(text)
            ours("replay", recording, "-o", folder / "x.html", *options, warns=warns)
            return shown(folder / "x.html")

        root = ("--source-root", f"{there}={folder}")
        for heatmap in ((), ("--heatmap",)):
            assert "leaf(seconds / 2)" not in page(code, *heatmap)[0]
            text, header = page(code, *root, *heatmap)
            assert "leaf(seconds / 2)" in text and "source is from the current files" in header, text
            assert "1 of 1 newer than the recording" in header, header
            assert "leaf(seconds / 2)" not in page(code, "--no-source", *heatmap)[0]
        for why, edited in (("it has [0-9]+ lines, not", code[:code.index("def main")]),
                            ("line [0-9]+ is (another|blank|not in)", code.replace("def leaf", "\n\n\ndef leaf")),
                            ("line [0-9]+ is not in middle", code.replace("def middle", "def other"))):
            text, header = page(edited, *root, warns=[why])
            assert "leaf(seconds / 2)" not in text and "from the current files" not in header, (why, text)


@suite.test("pages and heat maps of a .bin show the lines of the file that ran")
def _():
    with Recorded() as r:
        assert TURN not in r.page()[0]
        for heatmap in (False, True):
            text, header = r.page("--source-root", r.root, heatmap=heatmap)
            assert TURN in text, text
            assert "source is from the current files" in header
            assert "newer" not in header
            assert TURN not in r.page("--no-source", heatmap=heatmap)[0]


@suite.test("a recorded path is looked up as it is")
def _():
    with Recorded() as r:
        name = r.python.path(r.script)
        if os.path.exists(name):
            raise Skip(f"{name} is there, outside of the root, too")
        pathlib.Path(name).parent.mkdir(parents=True)
        try:
            shutil.copy(r.script, name)
            os.utime(r.bin, (time.time() + 10, time.time() + 10))
            assert TURN in r.page()[0]
        finally:
            shutil.rmtree(pathlib.Path(name).parent)


@suite.test("an edited file is not shown, even with its old modification time")
def _():
    with Recorded() as r:
        root = ("--source-root", r.root)
        times = r.script.stat()
        edits = {
            "it has 9 lines, not 1[0-2]": PROGRAM[:PROGRAM.index("end =")],
            "line [0-9]+ is not in Work.(turn|step)": PROGRAM.replace("def turn", "def other")
                                                             .replace("def step", "def walk"),
            "line [0-9]+ is (another|blank)|is not in": PROGRAM.replace("class Work", "\n\n\nclass Work"),
            "line [0-9]+ differs": PROGRAM.replace("a = self.step(3000)", "abcdefg = self.step(3000)")
                                             .replace("sum(i * i for i", "sum(ii * ii for ii"),
        }
        for why, text in edits.items():
            r.script.write_text(text)
            os.utime(r.script, (times.st_atime, times.st_mtime))
            text, header = r.page(*root, warns=[why])
            assert "Work" not in text
            assert "from the current files" not in header


@suite.test("a file that is newer is shown only from a tree that the user names, and marked")
def _():
    with Recorded() as r, tempfile.TemporaryDirectory(prefix="fz-") as there:
        moved = pathlib.Path(there) / "app.py"
        moved.write_text(PROGRAM)
        text, header = r.page("--source-root", f"{r.python.path(r.folder)}={there}")
        assert TURN in text
        assert "1 of 1 newer than the recording" in header
        # The same as a name of a profile: a speedscope file that was written before.
        profile = pathlib.Path(there) / "x.speedscope.json"
        frames = [{"name": "turn", "file": str(moved), "line": 8}]
        profile.write_text(json.dumps({
            "$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": frames},
            "profiles": [{"type": "sampled", "name": "x", "unit": "milliseconds", "startValue": 0,
                          "endValue": 2, "samples": [[0], [0]], "weights": [1, 1]}]}))
        out = pathlib.Path(there) / "x.html"
        ours("replay", profile, "-o", out)
        assert TURN in shown(out)[0]
        os.utime(profile, (1e9, 1e9))
        ours("replay", profile, "-o", out, warns=["changed after the recording began; set --source-root"])
        assert TURN not in shown(out)[0]
        ours("replay", profile, "-o", out, "--source-root", f"{there}={there}")
        assert TURN in shown(out)[0]


@suite.test("each side of a difference has its own tree")
def _():
    with Recorded() as r, tempfile.TemporaryDirectory(prefix="fz-") as there:
        head = pathlib.Path(there) / "head.bin"
        edited = PROGRAM.replace("3000", "4000")
        r.script.write_text(edited)
        done = subprocess.run(
            [*r.python.command, "-m", "profiling.sampling", "run", "--binary", "-o",
             r.python.path(r.folder / "head.bin"), r.python.path(r.script)],
            capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        shutil.copy2(r.folder / "head.bin", head)
        for command in (["diff", r.bin, head], ["replay", head, "--diff-flamegraph", r.bin]):
            out = pathlib.Path(there) / "d.html"
            done = fizeau(*command, "-o", out, "--source-root", r.root)
            assert done.returncode == 0, done.stderr
            page = Page(out.read_text())
            assert "4000" in "".join(page["chunk.text"])
            # The base's source is uncertain: the lines are equal, but the file is newer.
            assert "1 of 1 newer than the recording" in json.dumps(page.header["base"])
            assert "newer" not in json.dumps(page.header["head"])


@suite.test("files other than sources are never opened")
def _():
    with tempfile.TemporaryDirectory(prefix="fz-") as folder:
        folder = pathlib.Path(folder)
        (folder / "secret.txt").write_text("hunter2\n" * 9)
        os.mkfifo(folder / "pipe.py")
        (folder / "link.py").symlink_to("/dev/zero")
        (folder / "big.py").write_text("x = 1\n" * 400_000)
        (folder / "zero.py").write_bytes(b"x = 1\n\0\n")
        (folder / "folder.py").mkdir()
        names = ["secret.txt", "pipe.py", "link.py", "big.py", "zero.py", "folder.py", "missing.py"]
        profile = folder / "x.folded"
        profile.write_text("".join(f"tid:1;{folder}/{name}:<module>:1 3\n" for name in names))
        os.utime(profile, (time.time() + 10, time.time() + 10))
        for heatmap in ([], ["--heatmap"]):
            ours("replay", "--input-unit", "samples", profile, *heatmap, "-o", folder / "x.html")
            assert shown(folder / "x.html")[0] == ""


@suite.test("of a recording from a pipe nothing is opened")
def _():
    with tempfile.TemporaryDirectory(prefix="fz-") as folder:
        folder = pathlib.Path(folder)
        (folder / "app.py").write_text(PROGRAM)
        text = f"tid:1;{folder}/app.py:turn:8 3\n"
        for root, warns in (([], []), (["--source-root", "/=/"], ["only for a recording in a file"])):
            ours("replay", "--input-unit", "samples", "-", "-o", folder / "x.html", *root, warns=warns, input=text)
            assert shown(folder / "x.html")[0] == ""


@suite.test("root opens only files that the recording's owner may open")
def _():
    if os.geteuid() != 0:
        raise Skip("needs root")
    with tempfile.TemporaryDirectory(prefix="fz-") as folder:
        folder = pathlib.Path(folder)
        os.chmod(folder, 0o755)
        for name, mode in (("open.py", 0o644), ("closed.py", 0o600)):
            (folder / name).write_text(f"x = '{name}'\n" * 3)
            os.chmod(folder / name, mode)
        profile = folder / "x.folded"
        profile.write_text("".join(f"tid:1;{folder}/{name}:<module>:2 3\n" for name in ("open.py", "closed.py")))
        os.utime(profile, (time.time() + 10, time.time() + 10))
        for owner, wanted in ((0, ["closed", "open"]), (65534, ["open"])):
            os.chown(profile, owner, owner)
            ours("replay", "--input-unit", "samples", profile, "-o", folder / "x.html")
            text = shown(folder / "x.html")[0]
            assert [name for name in ("closed", "open") if name + ".py" in text] == wanted, text


@suite.test("a .fz recording shows its own sources; files only from a named tree")
def _():
    python = find_interpreter("debian-3.11")
    with tempfile.TemporaryDirectory(prefix="fz-") as folder:
        folder = pathlib.Path(folder)
        script = folder / "app.py"
        script.write_text(LASTING + PROGRAM[:PROGRAM.index("end =")] +
                          "last(100, Work().turn)\n")
        ours("run", "--no-source", "-o", folder / "x.fz", "--", *python.command, script)
        os.utime(folder / "x.fz", (time.time() + 10, time.time() + 10))
        ours("replay", folder / "x.fz", "-o", folder / "x.html")
        assert shown(folder / "x.html")[0] == ""
        ours("replay", folder / "x.fz", "-o", folder / "x.html", "--source-root", f"{folder}={folder}")
        assert TURN in shown(folder / "x.html")[0]


@suite.test("relative names have a tree, too, and one that is never needed is said")
def _():
    with tempfile.TemporaryDirectory(prefix="fz-") as folder:
        folder = pathlib.Path(folder)
        (folder / "app.py").write_text(PROGRAM)
        (folder / "x.folded").write_text("tid:1;app.py:turn:8 3\n")
        ours("replay", "--input-unit", "samples", folder / "x.folded", "-o", folder / "x.html",
             "--source-root", f"={folder}", "--source-root", f"/elsewhere={folder}",
             warns=["no recorded file is below '/elsewhere'"])
        assert TURN in shown(folder / "x.html")[0]
        for words in (["--source-root", "x"], ["--source-root", "a=b", "--format", "json"],
                      ["--source-root", "a=b", "--no-source", "--flamegraph"]):
            done = fizeau("replay", folder / "x.folded", *words)
            assert done.returncode == 2 and "--source-root" in done.stderr, done.stderr


# Every place that an instruction of the standard library has, as a sample by CPython's own writer.
PLACES = """
import glob, os, sys, types
from _remote_debugging import BinaryWriter, FrameInfo, InterpreterInfo, LocationInfo, ThreadInfo
def codes(code):
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType): yield from codes(const)
files = sorted(glob.glob(os.path.dirname(os.__file__) + "/*.py"))
for package in ("asyncio", "email", "json", "unittest", "importlib", "concurrent/futures"):
    files += sorted(glob.glob(os.path.dirname(os.__file__) + f"/{package}/*.py"))
total = 0
frames = set()
for file in files:
    text = open(file, "rb").read()
    if os.path.islink(file) or total + len(text) > 15 << 20: continue
    total += len(text)
    for code in codes(compile(text, file, "exec")):
        for line, end, column, end_column in code.co_positions():
            if line: frames.add((file, code.co_qualname, line, end, column, end_column))
with BinaryWriter(sys.argv[1], 1000, 0, compression=1) as writer:
    for i, (file, name, line, end, column, end_column) in enumerate(sorted(frames, key=str)):
        place = LocationInfo((line, -1 if end is None else end, -1 if column is None else column,
                              -1 if end_column is None else end_column))
        frame = FrameInfo((file, place, name, None))
        writer.write_sample([InterpreterInfo((0, [ThreadInfo((1, 0, [frame]))]))], i * 1000)
print(len({frame[0] for frame in frames}), len(frames))
"""


@suite.test("nothing that CPython 3.15 compiled from a file contradicts the file")
def _():
    python = find_interpreter("forky-3.15")
    with python.scratch() as folder:
        folder = pathlib.Path(folder)
        done = subprocess.run([*python.command, "-c", PLACES, python.path(folder / "x.bin")],
                              capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        files, places = map(int, done.stdout.split())
        assert files > 150 and places > 100_000, (files, places)
        ours("replay", folder / "x.bin", "--heatmap", "-o", folder / "x.html",
             "--source-root", f"/usr={python.root}/usr")
        page = Page((folder / "x.html").read_text(encoding="utf-8"))
        assert sum(page["source.whole"]) == files, (sum(page["source.whole"]), files)
    return f"{files} files, {places} places"


if __name__ == "__main__":
    suite.main()
