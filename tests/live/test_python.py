#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`import fizeau`: with, decorator, start and stop, in threads, asyncio and after a fork; if
nothing can be recorded, one exception has the reason."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from livelib import FIZEAU, SOURCE, Suite, find_interpreter, fizeau
from watching import UNTIL_RECORDED

suite = Suite()
PACKAGE = SOURCE / "bindings" / "python"

WORK = UNTIL_RECORDED + """\
import sys, time
import fizeau
def work(seconds=0.02):
    end = time.process_time() + seconds
    def a_while():
        while True:
            sum(range(1000))
            if time.process_time() > end:
                break
    until_recorded(a_while)
def other():
    work()
"""


def run(code, version="debian-3.11"):
    """Run a program next to the package; returns its result and the files in its folder."""
    python = find_interpreter(version)
    with tempfile.TemporaryDirectory(prefix="fz-") as folder:
        script = pathlib.Path(folder, "p.py")
        script.write_text(WORK + code)
        temporary = pathlib.Path(folder, "tmp")
        temporary.mkdir()
        done = subprocess.run([*python.command, script], cwd=folder, capture_output=True, text=True, timeout=120,
                              env={**os.environ, "PYTHONPATH": str(PACKAGE), "FIZEAU": FIZEAU,
                                   "TMPDIR": str(temporary)})
        assert done.returncode == 0, (done, done.stderr)
        files = {p.name: stacks(p) for p in sorted(pathlib.Path(folder).rglob("*.fz"))}
        left = list(temporary.iterdir())
        assert not left, left
        return done, files


def stacks(file):
    done = fizeau("replay", file, "--collapsed", "-o", "-")
    assert done.returncode == 0, done
    return done.stdout


def with_statement(version):
    done, files = run("""
other()
with fizeau.record("x.fz") as r:
    work()
other()
print(r.path)
""", version)
    text = files["x.fz"]
    assert ":work:" in text and ":other:" not in text, text
    assert done.stdout.endswith("/x.fz\n") and done.stderr == f"fizeau: recorded to {done.stdout}", done


@suite.test("with: nearly all of it is the block, little the package's own start and end")
def mostly_the_block():
    _, files = run("""
with fizeau.record("x.fz") as r:
    work(0.2)
""")
    text = files["x.fz"]
    inside, all_of_it = (sum(int(line.rpartition(" ")[2]) for line in text.splitlines() if word in line)
                         for word in (":work:", ""))
    assert inside > 0.8 * all_of_it, text


@suite.test("decorators: plain and with a name; the value, exceptions and asyncio pass through")
def decorators():
    done, files = run("""
import asyncio
@fizeau.record
def one(x):
    "text"
    work()
    return x + 1
@fizeau.record("two.fz", quiet=True)
async def two():
    await asyncio.sleep(0)
    work()
    return 7
@fizeau.record("three.fz", quiet=True)
def three():
    work()
    raise KeyError("mine")
print(one(1), one.__name__, one.__doc__, asyncio.run(two()))
try:
    three()
except KeyError as error:
    print(error)
try:
    @fizeau.record
    def four():
        yield
except TypeError as error:
    print(error)
""")
    assert done.stdout.startswith("2 one text 7\n'mine'\na generator runs in pieces"), done
    store = [name for name in files if name.count("-p.py-")]
    assert len(files) == 3 and len(store) == 1 and ":one:" in files[store[0]], files.keys()
    assert ":two:" in files["two.fz"] and ":three:" in files["three.fz"]
    assert done.stderr.count("recorded to") == 1, done.stderr


@suite.test("start and stop; overlapping recordings; a second start and a lone stop are errors")
def start_stop():
    done, files = run("""
fizeau.start("outer.fz", quiet=True)
try:
    fizeau.start()
except fizeau.Error as error:
    print(error)
with fizeau.record("inner.fz", quiet=True):
    work()
other()
print(fizeau.stop())
try:
    fizeau.stop()
except fizeau.Error as error:
    print(error)
""")
    assert re.fullmatch("a recording is already running.*\n/.*/outer.fz\nno recording was started\n", done.stdout)
    assert ":other:" in files["outer.fz"] and ":work:" in files["outer.fz"]
    assert ":other:" not in files["inner.fz"] and ":work:" in files["inner.fz"]


@suite.test("from a thread, of all threads or the main one; after a fork it is the parent's")
def threads():
    done, files = run("""
import threading
def thread():
    with fizeau.record("all.fz", quiet=True):
        work()
    with fizeau.record("main.fz", quiet=True, threads=False):
        work()
t = threading.Thread(target=thread)
t.start()
t.join()
with fizeau.record("fork.fz", quiet=True) as r:
    pid = os.fork()
    if pid == 0:
        assert r.stop() is None
        with fizeau.record("child.fz", quiet=True):
            other()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    work()
""")
    assert ":work:" in files["all.fz"] and ":work:" not in files["main.fz"]
    assert ":work:" in files["fork.fz"] and ":other:" not in files["fork.fz"]
    assert ":other:" in files["child.fz"]


@suite.test("any format by its suffix; options and the rate are those of attach")
def formats():
    done, _ = run("""
with fizeau.record("page.html", rate="2khz", options=["--no-source"], quiet=True):
    work()
print("fizeau-page" in open("page.html").read())
""")
    assert done.stdout == "True\n", done


@suite.test("a failed recording is one exception with the reason")
def refusals():
    done, _ = run("""
def attempt(path=None, **options):
    try:
        with fizeau.record(path, **options):
            print("never")
    except fizeau.Error as error:
        print(error)
attempt("/nowhere/x.fz")
attempt(options=["--nonsense"])
os.environ["FIZEAU"] = "/nowhere/fizeau"
attempt()
""")
    lines = done.stdout.splitlines()
    assert "/nowhere/x.fz: cannot be written" in lines[0], done
    assert "unknown option '--nonsense'" in lines[1], done
    assert "/nowhere/fizeau cannot be started" in lines[2], done
    assert len(lines) == 3 and not done.stderr, done


@suite.test("a process that may not be read: one exception with the remedy")
def not_allowed():
    with tempfile.TemporaryDirectory(prefix="fz-") as folder:
        os.chmod(folder, 0o777)
        shutil.copytree(PACKAGE / "fizeau", f"{folder}/fizeau")
        # Like programs with secrets: not even the same user may read it.
        code = """
import ctypes
import fizeau
ctypes.CDLL(None).prctl(4, 0)
try:
    fizeau.start("x.fz")
except fizeau.Error as error:
    print(error)
"""
        user = 65534 if os.geteuid() == 0 else None
        done = subprocess.run(["/usr/bin/python3", "-c", code], cwd=folder, capture_output=True, text=True,
                              timeout=120, env={**os.environ, "FIZEAU": shutil.copy(FIZEAU, f"{folder}/bin")},
                              user=user)
    assert done.stdout.count("\n") == 1 and re.search("may not|not allowed|permission", done.stdout), done
    assert not done.stderr, done


@suite.test("a program that ends within leaves only a complete recording; so do long temporary paths")
def ends_within():
    _, files = run("""
import tempfile
tempfile.tempdir = os.path.join(os.environ["TMPDIR"], "x" * 120)
os.mkdir(tempfile.tempdir)
with fizeau.record("one.fz", quiet=True):
    work()
os.rmdir(tempfile.tempdir)
tempfile.tempdir = None
fizeau.start("two.fz", quiet=True)
recorder = fizeau.current.process.pid
if os.fork() == 0:
    while looks(recorder) != float("inf"):
        time.sleep(0.01)
    print("over", flush=True)
    os._exit(0)
work()
os._exit(0)
""")
    assert ":work:" in files["one.fz"] and ":work:" in files["two.fz"], files


@suite.test("a killed recorder: its data is kept, and stop reports it")
def killed():
    done, files = run("""
r = fizeau.record("x.fz")
r.start()
while os.path.getsize("x.fz") < 3000:
    work()
r.process.kill()
try:
    r.stop()
except fizeau.Error as error:
    print("Error", error)
try:
    with fizeau.record("y.fz") as r:
        r.process.kill()
        raise KeyError("mine")
except KeyError as error:
    print(error)
os.unlink("y.fz")
""")
    assert ":work:" in files["x.fz"]
    assert done.stdout == "Error fizeau ended with status -9\n'mine'\n", done


@suite.test("a program that closes all its files within, like daemons: the recording ends and is complete")
def closes_files():
    done, files = run("""
for name in "one.fz", "two.fz":
    with fizeau.record(name) as r:
        work()
        os.closerange(3, 256)
        other()
    print(os.path.basename(r.path))
""")
    assert done.stdout == "one.fz\ntwo.fz\n", done
    assert all(":work:" in file and ":other:" in file for file in files.values()), files


@suite.test("importing it imports no other new module")
def imports():
    python = find_interpreter("debian-3.11")
    done = subprocess.run([*python.command, "-S", "-c", "import sys, os; before = set(sys.modules); import fizeau; "
                           "print(sorted(set(sys.modules) - before))"], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PYTHONPATH": str(PACKAGE)})
    assert done.stdout == "['fizeau']\n", done


for version in ("debian-3.11", "pyenv-3.8", "pyenv-3.13"):
    suite.add(f"with: what is in the block and nothing else: {version}", with_statement, version)
suite.main()
