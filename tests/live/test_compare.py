#!/usr/bin/env python3
"""fizeau compare, run --runs and sets: the base is the revision, the head the working tree, the
runs are taken in turn, both trees stay as they were, and every way to end leaves no worktree."""

import contextlib
import json
import os
import pathlib
import re
import signal
import shutil
import subprocess
import time

from livelib import FIZEAU, Suite, Wrong, find_interpreter, wait_until
from test_ci import need_tool
from watching import LASTING, state

suite = Suite()

BENCH = """\
import os, sys
import helper

def leaf(n):
    total = 0
    for i in range(n):
        total += i * i
    return total

def other(n):
    total = 0
    for i in range(n):
        total ^= i
    return total

def main():
    for _ in range({rounds}):
        leaf({size})
        other(20000)

main()
if "LOG" in os.environ:
    # Which version ran, and what its tree held afterwards.
    found = sorted(os.path.join(d, f)[2:] for d, _, files in os.walk(".") for f in files
                   if not d.startswith("./.git") and f != ".git")
    with open(os.environ["LOG"], "a") as log:
        print({size}, os.getcwd(), *found, file=log)
"""

# The same for claims that hold at any speed: counted, and counted in a moment.
SCRIPT = """\
i=0; while [ $i -lt {turns} ]; do i=$((i+1)); done
echo {size} "$PWD" * >>"$LOG"
"""
COUNTED = ("--count", "--", "sh", "bench.sh")
ONCE = ("-n", "1", "--warmup", "0")
# Reports that it has started, then runs until it is killed.
BLOCKED = ': >"$STARTED"; exec sleep 1000'
# So does the run after eight others, or after $AFTER.
NINTH = """\
n=0; while read -r _; do n=$((n+1)); done <"$LOG"
[ $n -lt ${AFTER:-8} ] || { : >"$STARTED"; exec sleep 1000; }
echo 1 "$PWD" >>"$LOG"
"""


class Project:
    """A repository of two commits, bench.py slow in the second; everything beside it is outside."""

    def __init__(self, folder, base=10000, head=40000, rounds=100):
        self.outside = pathlib.Path(folder)
        self.tree = self.outside / "project"
        self.cache = self.outside / "cache"
        self.log = self.outside / "log"
        self.started = self.outside / "started"
        self.python = find_interpreter("debian-3.11").command[0]
        self.tree.mkdir()
        self.git("init", "-q")
        self.rounds = rounds
        self.write("helper.py", "VALUE = 1\n")
        for size in (base, head):
            self.bench(size)
            self.git("add", "-A")
            self.git("commit", "-q", "--allow-empty", "-m", str(size))

    def write(self, name, text):
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def bench(self, size):
        self.write("bench.py", BENCH.format(size=size, rounds=self.rounds))
        self.write("bench.sh", SCRIPT.format(size=size, turns=size // 20))

    def git(self, *words):
        return subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words],
            cwd=self.tree, check=True, capture_output=True, text=True).stdout

    @property
    def environment(self):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "PYTHON"))}
        return {**env, "XDG_CACHE_HOME": str(self.cache), "LOG": str(self.log), "STARTED": str(self.started)}

    def start(self, *words, cwd=None, **env):
        return subprocess.Popen(
            [FIZEAU, *words], cwd=cwd or self.tree, env={**self.environment, **env}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
            start_new_session=True)

    def fizeau(self, *words, status=0, **options):
        process = self.start(*words, **options)
        out, err = process.communicate(timeout=600)
        assert process.returncode == status, f"{process.returncode}: {out}{err}"
        return out, err

    def compare(self, *words, **options):
        """The JSON of a comparison, and its messages."""
        out, err = self.fizeau("compare", "--format", "json", *words, **options)
        self.check_clean()
        return json.loads(out), err

    def end(self, process):
        """The output of a process that ends soon."""
        out, err = process.communicate(timeout=600)
        self.check_clean()
        return out, err

    def runs(self):
        """(size, folder, files) of each run in the log."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [(int(line.split()[0]), line.split()[1], line.split()[2:]) for line in lines]

    def trees(self):
        """Other worktrees that exist now, by the programs in them."""
        return [path.resolve() for path in self.cache.glob("fizeau/*/??????/base/*/bench.py")]

    def check_clean(self):
        """No worktree is left, and the cache contains only the two recordings."""
        assert len(self.git("worktree", "list").splitlines()) == 1, self.git("worktree", "list")
        folder = self.cache / "fizeau" / "compare"
        left = [p.name for p in folder.iterdir()] if folder.exists() else []
        assert all(name.endswith(("-base.fz", "-head.fz")) for name in left), left


@contextlib.contextmanager
def project(**options):
    with find_interpreter("debian-3.11").scratch() as folder:
        yield Project(folder, **options)


def function(answer, name):
    return next(f for f in answer["functions"] if f["name"] == name and "bench.py" in f["file"])


@suite.test("a slower commit: in turn, warmed up, found; the trees do not change")
def slower():
    with project() as p:
        before = sorted(str(f) for f in p.tree.rglob("*") if ".git" not in f.parts)
        answer, said = p.compare("-n", "3", "HEAD~1", "--", p.python, "bench.py")
        leaf = function(answer, "leaf")
        if leaf["self_verdict"] == "changed" and leaf["pct_self"] < 0:
            raise Wrong(leaf)
        assert leaf["self_verdict"] == "changed" and 150 < leaf["pct_self"] < 500, leaf
        assert function(answer, "other")["self_verdict"] != "changed", function(answer, "other")
        assert answer["base"]["facts"]["runs"] == answer["head"]["facts"]["runs"] == 3
        assert answer["scale"]["mode"] == "time" and answer["metric"] == "cpu"
        old, new = 10000, 40000
        order = [size for size, _, _ in p.runs()]
        assert order == [old, new, old, new, new, old, old, new], order
        assert "HEAD~1" in said and "3 runs" in said and "1 warm-up run per side" in said, said
        after = sorted(str(f) for f in p.tree.rglob("*") if ".git" not in f.parts)
        assert after == before, after
        for _, folder, files in p.runs():
            assert files == ["bench.py", "bench.sh", "helper.py"], (folder, files)
        return f"leaf {leaf['pct_self']:+.0f} %"


THREADED = LASTING + """
import threading
def work():
    last()
t = threading.Thread(target=work)
t.start()
t.join()
"""


@suite.test("the CPU time of every thread is compared")
def threaded():
    with project() as p:
        answer, _ = p.compare("-n", "1", "--warmup", "0", "HEAD", "--", p.python, "-c", THREADED)
        work = next((f for f in answer["functions"] if f["name"] == "work"), None)
        assert work and work["base_total"] > 0 and work["head_total"] > 0, work


LAUNCHED = 'i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done; exec "$0" -c "$1"'
# What is computed before it is looked at would be in no sample.
LOOKED_AT = LASTING + """
def is_looked_at():
    with socket.socket(socket.AF_UNIX) as s:
        s.connect("\\0fizeau-recorder-%d" % os.getpid())
        s.sendall(b"status\\n")
        return "attached=True" in s.makefile().readline()
while not is_looked_at():
    time.sleep(0.01)
last(200)
"""


@suite.test("CPU time of a shell before it becomes Python is not reported as unsampled")
def launched():
    with project() as p:
        files = [str(p.outside / name) for name in ("a.fz", "b.fz")]
        for file in files:
            p.fizeau("run", "--clock", "cpu", "-o", file, "--", "sh", "-c", LAUNCHED, p.python, LOOKED_AT)
        out, _ = p.fizeau("diff", *files, "--verbose")
        assert "in no sample" not in out, out


@suite.test("counted: in turn, warmed up, found; the trees do not change; edits; the gate")
def counted():
    need_tool()
    with project() as p:
        answer, said = p.compare("HEAD~1", *COUNTED)
        assert answer["verdict"]["word"] == "slower" and answer["metric"] == "instructions", answer["verdict"]
        assert answer["base"]["facts"]["runs"] == answer["head"]["facts"]["runs"] == 3
        old, new = 10000, 40000
        order = [size for size, _, _ in p.runs()]
        assert order == [old, new, old, new, new, old, old, new], order
        assert all(files == ["bench.py", "bench.sh", "helper.py"] for _, _, files in p.runs()), p.runs()
        assert "HEAD~1" in said and "3 runs" in said and "1 warm-up run per side" in said, said
        assert p.git("status", "--porcelain") == ""
        p.fizeau("compare", "HEAD~1", "--fail-on", "regression", *ONCE, *COUNTED, status=1)
        p.bench(10000)
        answer, said = p.compare(*ONCE, *COUNTED)
        assert "HEAD (" in said and "not committed" in said, said
        assert answer["verdict"]["word"] == "faster" and p.runs()[-2][0] == new, answer["verdict"]
        p.git("checkout", "-q", ".")
        p.git("commit", "-q", "--allow-empty", "-m", "nothing")
        p.fizeau("compare", "HEAD~1", "--fail-on", "change", *ONCE, *COUNTED)
        p.check_clean()


@suite.test("compare --count counts no compilation of modules: the same as a second run --count")
def no_compilation():
    need_tool()
    with project() as p:
        # A thousand functions to compile, none of them called.
        p.write("large.py", "".join(f"def f{i}(a, b): return [a + b * x for x in range({i})]\n" for i in range(1000)))
        p.write("app.py", "import large\nsum(i * i for i in range(1000))\n")
        p.git("add", "-A")
        p.git("commit", "-qm", "large module")
        command = ["--", p.python, "-S", "app.py"]
        subprocess.run(command[1:], cwd=p.tree, check=True, env=p.environment)
        assert list(p.tree.glob("__pycache__/large*.pyc"))
        file = str(p.outside / "alone.fz")
        p.fizeau("run", "--count", "-o", file, *command)
        out, _ = p.fizeau("replay", "--format", "json", file)
        alone = json.loads(out)["total"]
        shutil.rmtree(p.tree / "__pycache__")
        answer, _ = p.compare("-n", "1", "HEAD", "--count", *command)
        for side in ("base", "head"):
            assert abs(answer[side]["total"] / alone - 1) < 0.02, (side, answer[side]["total"], alone)


@suite.test("an edit that is not committed: faster; REV is HEAD by default")
def faster():
    with project() as p:
        p.bench(10000)
        answer, said = p.compare("--", p.python, "bench.py")
        assert "HEAD (" in said and "not committed" in said, said
        leaf = function(answer, "leaf")
        if leaf["self_verdict"] == "changed" and leaf["pct_self"] > 0:
            raise Wrong(leaf)
        assert leaf["self_verdict"] == "changed" and -90 < leaf["pct_self"] < -55, leaf
        assert {size for size, _, _ in p.runs()} == {10000, 40000}
        assert p.git("status", "--short").split() == ["M", "bench.py", "M", "bench.sh"]


@suite.test("nothing changed: the gate stays open")
def unchanged():
    with project(base=20000, head=20000) as p:
        out, _ = p.fizeau("compare", "-n", "3", "HEAD~1", "--fail-on", "regression", "--threshold", "30%",
                          "--", p.python, "bench.py")
        assert "Measured: 3 runs against 3" in out, out
        p.check_clean()


@suite.test("a regression past the threshold is exit status 1")
def gate():
    with project() as p:
        p.fizeau("compare", "HEAD~1", "--fail-on", "function-regression", "--",
                 p.python, "bench.py", status=1)
        p.check_clean()


def wait_for(process, condition, seconds=120):
    end = time.time() + seconds
    while not condition():
        ended = process.poll() is not None
        if ended or time.time() > end:
            os.killpg(process.pid, signal.SIGTERM) if not ended else None
            raise AssertionError(f"it never happened: {process.communicate(timeout=10)}")
        time.sleep(0.02)


@suite.test("Ctrl-C compares the runs measured so far")
def interrupted():
    need_tool()
    with project() as p:
        p.log.touch()
        process = p.start("compare", "-n", "100", "HEAD~1", "--format", "json", "--count", "--", "sh", "-c", NINTH)
        wait_for(process, p.started.exists)
        os.killpg(process.pid, signal.SIGINT)
        out, err = p.end(process)
        assert process.returncode == 130, (process.returncode, err)
        answer = json.loads(out)
        runs = [answer[side]["facts"]["runs"] for side in ("base", "head")]
        assert runs == [3, 3] and len(p.runs()) == 8, runs
        assert answer["base"]["facts"]["complete"] and "dropping the unfinished" in err, err
        assert "head working tree (HEAD), 3 runs; interleaved" in err, err


@suite.test("Ctrl-C after base, head, head: one after the other")
def interrupted_in_turn():
    need_tool()
    with project() as p:
        p.log.touch()
        process = p.start("compare", "-n", "100", "--warmup", "0", "HEAD~1", "--count", "--",
                          "sh", "-c", NINTH, AFTER="3")
        wait_for(process, p.started.exists)
        os.killpg(process.pid, signal.SIGINT)
        _, err = p.end(process)
        assert "1 run; head working tree (HEAD), 2 runs; one after the other" in err, err


@suite.test("SIGTERM to fizeau alone before any result: reported, no worktree left")
def interrupted_early():
    with project() as p:
        process = p.start("compare", "HEAD~1", "--", "sh", "-c", BLOCKED)
        wait_for(process, p.started.exists)
        process.send_signal(signal.SIGTERM)
        out, err = p.end(process)
        assert process.returncode == 128 + signal.SIGTERM and out == "", (process.returncode, out)
        assert "interrupted before each side" in err, err


@suite.test("--setup runs in each tree; when it fails nothing is recorded")
def setup():
    need_tool()
    with project() as p:
        p.git("rm", "-q", "helper.py")
        p.git("commit", "-qm", "no helper")
        p.git("tag", "bare")
        p.compare(*ONCE, "bare", "--setup", "echo VALUE=2 > helper.py", *COUNTED)
        assert [files for _, _, files in p.runs()] == [["bench.py", "bench.sh", "helper.py"]] * 2
        _, err = p.fizeau("compare", "bare", "--setup", "exit 3", "--", p.python, "bench.py",
                          status=2)
        assert "cannot build the base: --setup 'exit 3' failed at" in err and len(p.runs()) == 2, err
        p.check_clean()


@suite.test("SIGTERM during --setup ends it at once")
def setup_ended():
    with project() as p:
        process = p.start("compare", "HEAD~1", "--setup", BLOCKED, "--", p.python, "bench.py")
        wait_for(process, p.started.exists)
        process.send_signal(signal.SIGTERM)
        out, err = p.end(process)  # long before the setup would
        assert process.returncode == 128 + signal.SIGTERM and out == "", (process.returncode, err)
        assert not p.runs(), err


def children(pid):
    text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]


def caretaker(pid):
    """The child that cleans up: it has a separate session and runs the same program."""
    return next(child for child in children(pid) if session_of(child) == child and
                os.readlink(f"/proc/{child}/exe") == os.readlink(f"/proc/{pid}/exe"))


def is_running(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def kill_session(leader):
    """Kill the processes of a session; returns whether there were any."""
    found = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc")))
             if is_running(pid) and session_of(pid) == leader]
    for pid in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return bool(found)


def session_of(pid):
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return None


def killed_alone(*words):
    """Neither the program and its children nor the worktree remain for long after we end."""
    with project() as p:
        pids = p.outside / "pids"
        program = ["sh", "-c", f"echo $$ >>{pids}; sleep 1000 & echo $! >>{pids}; wait"]
        process = p.start(*words, "--", *program)
        wait_for(process, lambda: pids.exists() and len(pids.read_text().split()) == 2)
        trees = p.trees()
        process.kill()
        # Whoever reads our output is not kept waiting either.
        process.communicate(timeout=600)
        wait_until(lambda: not any(map(is_running, map(int, pids.read_text().split()))))
        assert trees
        wait_until(lambda: not any(tree.exists() for tree in trees))
        folder = p.cache / "fizeau" / words[0]
        wait_until(lambda: not [f for f in folder.iterdir() if len(f.name) == 6])


for command in (("compare", "HEAD~1"), ("compare", "--count", "HEAD~1"),
                ("ci", "--base", "HEAD~1"), ("history", "-n", "2"), ("bisect", "HEAD~1", "HEAD")):
    suite.add(f"{' '.join(command)} that is killed leaves no program running and no worktree",
              killed_alone, *command)


@suite.test("files left by a killed comparison are removed by the next one; those of a running one are not")
def killed():
    need_tool()
    with project() as p:
        words = ["compare", "HEAD~1", "--", "sh", "-c", BLOCKED]
        started = [p.outside / name for name in ("dead", "living")]
        dead, living = (p.start(*words, STARTED=str(path)) for path in started)
        for process, path in zip((dead, living), started):
            wait_for(process, lambda: path.exists() and len(p.trees()) == 2)
        # Kill all of it, as when a machine stops: a process that is notified late may just have started another.
        minder = caretaker(dead.pid)
        os.kill(minder, signal.SIGKILL)
        dead.kill()
        wait_until(lambda: not kill_session(dead.pid) and not is_running(minder))
        dead.communicate(timeout=600)
        assert len(p.trees()) == 2
        p.fizeau("compare", "HEAD~1", *ONCE, *COUNTED)
        (left,) = p.trees()
        living.send_signal(signal.SIGTERM)
        living.communicate(timeout=600)
        assert not left.exists(), left
        p.check_clean()


@suite.test("neither side finds bytecode that the other one compiled")
def bytecode():
    with project() as p:
        log = p.outside / "compiled"
        text = ("import importlib.util, os\n"
                "spec = importlib.util.find_spec('wave')\n"
                f"print(os.getcwd(), int(os.path.exists(spec.cached)), file=open({str(log)!r}, 'a'))\n"
                "import wave\nsum(range(3000000))\n")
        process = p.start("compare", "-n", "2", "--warmup", "0", "HEAD~1", "--", p.python, "-c", text)
        p.end(process)
        assert process.returncode in (0, 2), process.returncode  # 2: a run was over before a sample was taken
        found = {}
        for line in log.read_text().splitlines():
            folder, was_there = line.split()
            found.setdefault(folder, []).append(was_there == "1")
        if any(first or not all(later) for first, *later in found.values()):
            raise Wrong(log.read_text())


@suite.test("projects with one name have separate recordings")
def namesakes():
    need_tool()
    with project() as p:
        short = [*ONCE, "HEAD~1", *COUNTED]
        p.compare(*short)
        other = p.outside / "other" / "project"
        other.parent.mkdir()
        p.git("clone", "-q", str(p.tree), str(other))
        p.compare(*short, cwd=other)
        kept = [f.name for f in (p.cache / "fizeau" / "compare").iterdir()]
        assert len(kept) == 4 and all(name.startswith("project-") for name in kept), kept


@suite.test("submodules are not checked out: reported, unless --setup is given")
def submodules():
    need_tool()
    with project() as p:
        p.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(p.tree), "part")
        p.git("commit", "-qm", "part")
        short = [*ONCE, "HEAD", *COUNTED]
        _, err = p.compare(*short)
        assert "the base is checked out without submodules; use --setup" in err, err
        _, err = p.compare("--setup", "true", *short)
        assert "submodules" not in err, err
        _, err = p.fizeau("compare", "--setup", "test -e part/bench.py", *short, status=2)
        assert "failed at" in err and "its submodules are not checked out: begin --setup with 'git submodule" in err, err


@suite.test("a failing run is an error that names it, unless ignored")
def failing():
    need_tool()
    with project() as p:
        p.write("bench.sh", (p.tree / "bench.sh").read_text() + "exit 7\n")
        _, err = p.fizeau("compare", *COUNTED, status=2)
        assert "head, warm-up 1 of 1: the command ended with status 7" in err, err
        p.check_clean()
        answer, _ = p.compare("-n", "1", "--ignore-failure", *COUNTED)
        assert answer["head"]["facts"]["exit"] == "7", answer["head"]
        _, err = p.fizeau("compare", "--", "./missing", status=2)
        assert "base" in err and "'./missing' cannot be started" in err, err
        p.write("here", "#!/bin/sh\n")
        (p.tree / "here").chmod(0o755)
        _, err = p.fizeau("compare", "HEAD", "--", "./here", status=2)
        assert "'./here' is found from this folder, but not from " in err and "--setup" in err, err
        p.check_clean()


@suite.test("an unknown revision, a folder that the base lacks")
def unknown():
    with project() as p:
        _, err = p.fizeau("compare", "nosuch", "--", p.python, "bench.py", status=2)
        assert "'nosuch': no such revision" in err, err
        subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{p.tree}", p.outside / "shallow"], check=True)
        _, err = p.fizeau("compare", "--", p.python, "bench.py", status=2, cwd=p.outside / "shallow")
        assert "'HEAD~1': not in this shallow clone; fetch the full history" in err, err
        p.write("sub/bench.py", "")
        _, err = p.fizeau("compare", "HEAD", "--", p.python, "bench.py", status=2,
                          cwd=p.tree / "sub")
        assert "the base (" in err and ") has no folder sub/" in err and not p.runs(), err
        p.check_clean()


@suite.test("the command runs in the same folder of both trees")
def subfolder():
    need_tool()
    with project() as p:
        p.write("sub/bench.sh", SCRIPT.format(size=5000, turns=50))
        p.git("add", "-A")
        p.git("commit", "-qm", "sub")
        p.compare(*ONCE, "HEAD", *COUNTED, cwd=p.tree / "sub")
        folders = [folder for _, folder, _ in p.runs()]
        assert folders[0].endswith("/project/sub") and folders[1] == str(p.tree / "sub")
        # Paths are as long and as deep: what programs do with them costs the same.
        shape = [[len(part) for part in folder.split("/")][3:] for folder in folders]
        assert len(folders[0]) == len(folders[1]) and shape[0] == shape[1], folders


PACKAGE = """\
def work(n):
    total = 0
    for i in range(n):
        total += i
    return total
"""


@suite.test("both sides running the same code is an error that names it")
def installed():
    need_tool()
    with project() as p:
        site = p.outside / "lib" / "python3" / "site-packages"
        for top in (p.tree / "src" / "pkg", site / "pkg"):
            top.mkdir(parents=True)
            (top / "core.py").write_text(PACKAGE)
        p.write("app.py", "from pkg.core import work\nfor _ in range(10): work(200)\n")
        p.git("add", "-A")
        p.git("commit", "-qm", "package")
        short = [*ONCE, "HEAD", "--count", "--", p.python, "-S", "app.py"]
        _, err = p.fizeau("compare", *short, status=2, PYTHONPATH=str(site))
        path = site / "pkg" / "core.py"
        assert f"the command ran installed code instead of the checked-out code: {path}; " in err, err
        p.check_clean()
        _, err = p.compare(*short, PYTHONPATH="src")
        assert "warning" not in err, err
        _, err = p.fizeau("compare", *short, status=2, PYTHONPATH=str(p.tree / "src"))
        own = p.tree / "src" / "pkg" / "core.py"
        assert f"base, run 1 of 1: the command ran code of another checkout of this project: {own}" in err, err


@suite.test("counted: a renamed function is linked by the recorded source")
def counted_sources():
    need_tool()
    with project() as p:
        for name in ("helper", "assist"):
            folder = p.outside / name
            folder.mkdir()
            (folder / "app.py").write_text(
                f"def {name}(n):\n    s = 0\n    for i in range(n): s += i * i % 7 ^ n\n    return s\n"
                f"for _ in range(20): {name}(200)\n")
        commands = [f"cd {name} && exec {p.python} -S app.py" for name in ("helper", "assist")]
        words = (*ONCE, "--count", "--base-command", commands[0], "--head-command", commands[1])
        for options, how in (((), "body"), (("--no-source",), None)):
            out, _ = p.fizeau("compare", *words, *options, "--format", "json", cwd=p.outside)
            assist = next(f for f in json.loads(out)["functions"] if f["name"] == "assist")
            assert assist.get("match", {}).get("how") == how, assist


@suite.test("two commands, outside of any repository")
def commands():
    with project() as p:
        for size in (10000, 40000):
            (p.outside / f"app{size}.py").write_text(
                "def leaf(n):\n    for i in range(n): i * i\n" + f"for _ in range(100): leaf({size})\n")
        out, err = p.fizeau("compare", "-n", "2", "--base-command", f"{p.python} app10000.py",
                            "--head-command", f"{p.python} app40000.py", "--format", "json",
                            cwd=p.outside)
        answer = json.loads(out)
        leaf = next(f for f in answer["functions"] if f["name"] == "leaf")
        assert leaf["pct_self"] is None or leaf["pct_self"] > 100, leaf
        assert answer["head"]["facts"]["runs"] == 2 and "2 runs; interleaved" in err, err
        saved = re.findall(r"(?:base|head) saved in (\S+)", err)
        out, _ = p.fizeau("diff", *saved, "--format", "json", cwd=p.outside)
        again = json.loads(out)
        assert again["functions"] == answer["functions"], (saved, out)
        assert "the recordings are of different programs (base: app10000.py; head: app40000.py)" in again["warnings"], out
        # The commands were meant to differ, so no warning; for a comparison in a file the verdict is printed.
        expected = ("the commands differ", "of different programs")
        assert not any(word in text for word in expected for text in answer["warnings"]), answer["warnings"]
        _, err = p.fizeau("compare", "-n", "1", "--warmup", "0", "--base-command", f"{p.python} app10000.py",
                          "--head-command", f"{p.python} app40000.py", "-o", "x.html", cwd=p.outside)
        # With one run per side the order cannot alternate, which the report states.
        assert "1 run; one after the other" in err and "interleaved" not in err, err
        verdict, *files = err.splitlines()[-4:]
        assert " -> " in verdict and "of CPU time" in verdict, err
        assert [line.split(" /")[0] for line in files] == [
            "fizeau: wrote x.html", "fizeau: base saved in", "fizeau: head saved in"], err
        assert all(line.endswith(".fz until the next comparison of this project") for line in files[1:]), err


@suite.test("the command's output stays off standard output")
def output():
    need_tool()
    with project() as p:
        short = [*ONCE, "--count", "--base-command", "echo hello", "--head-command", "echo hello"]
        out, err = p.fizeau("compare", *short)
        assert "hello" not in out.splitlines() and "hello" not in err.splitlines()
        out, err = p.fizeau("compare", "--show-output", *short)
        assert "hello" not in out.splitlines() and err.splitlines().count("hello") == 2, err


@suite.test("run --runs makes one recording of several runs; sets of them compare")
def sets():
    with project(rounds=50) as p:
        files = [p.outside / f"{name}.fz" for name in "abc"]
        for file, runs in zip(files, ("3", "1", "2")):
            p.fizeau("run", "--runs", runs, "--clock", "cpu", "-o", str(file), "--python", p.python,
                     "bench.py")
        assert len(p.runs()) == 6
        a, b, c = map(str, files)
        out, _ = p.fizeau("diff", a, "::", b, c, "--format", "json")
        answer = json.loads(out)
        assert [answer[s]["facts"]["runs"] for s in ("base", "head")] == [3, 3]
        assert answer["verdict"]["method"] == "runs" and answer["scale"]["factor"] == 1
        p.fizeau("run", "-o", a, "--python", p.python, "bench.py")
        _, err = p.fizeau("diff", a, b, "::", c, status=2)
        assert "cannot be combined" in err and "mode" in err, err
        p.fizeau("run", "--runs", "2", "--python", p.python, "bench.py")
        assert len(list((p.tree / ".fizeau").glob("*.fz"))) == 1


@suite.test("run --runs: the first failure is the exit status, Ctrl-C keeps the complete runs")
def runs_end():
    need_tool()
    with project() as p:
        p.log.touch()
        file = str(p.outside / "f.fz")
        p.fizeau("run", "--runs", "2", "--count", "-o", file, "--", "sh", "-c", "exit 5", status=5)
        process = p.start("run", "--runs", "100", "--count", "-o", file, "--", "sh", "-c", NINTH)
        wait_for(process, p.started.exists)
        os.killpg(process.pid, signal.SIGINT)
        _, err = p.end(process)
        out, _ = p.fizeau("diff", file, file, "--format", "json")
        facts = json.loads(out)["base"]["facts"]
        assert facts["runs"] == 8 and facts["complete"], (facts, err)


def has_a_zombie(pid):
    """Whether a process is stopped and a child of it has ended. A stopped parent reaps none, so none vanishes here."""
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
    return state(pid) == "T" and any(state(child) == "Z" for child in children.read_text().split())


@suite.test("run --runs: a run that ends with the signal is omitted")
def runs_end_together():
    need_tool()
    with project() as p:
        p.log.touch()
        first = p.outside / "first"
        process = p.start("run", "--runs", "3", "--count", "-o", str(p.outside / "f.fz"), "--", "sh", "-c",
                          f"test -e {first} && kill -STOP $PPID && kill -INT $PPID; touch {first}")
        wait_for(process, lambda: has_a_zombie(process.pid))
        os.kill(process.pid, signal.SIGCONT)
        _, err = p.end(process)
        assert "dropping the unfinished run" in err, err


if __name__ == "__main__":
    suite.main()
