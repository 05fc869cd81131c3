#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""--subprocesses: every process of real programs is in the recording, under its own number.

The programs log their pid and what they ran; the recording must contain the same.
"""

import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

from livelib import (
    EXPECTED, FIZEAU, SANITIZED, Skip, Suite, find_interpreter, fizeau, wait_until)
from watching import TAKEN, wait_for_samples

suite = Suite()

CHILD = """import os, sys, time
def busy(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
def note(what):
    with open(sys.argv[1], "a") as out:
        out.write("%d %d %s\\n" % (os.getpid(), os.getppid(), what))
"""

# The CPU clock does not sample processes that wait: samples taken meanwhile are of this process alone.
ALONE = TAKEN + CHILD + """
def busy(_):
    seen = taken()
    while taken() < seen + 50:
        sum(range(20000))
"""

SHORT = CHILD + """
import subprocess
if sys.argv[2] == "child":
    note("child")
    busy(0.1)
else:
    note("parent")
    for _ in range(int(sys.argv[2])):
        subprocess.run([sys.executable, __file__, sys.argv[1], "child"])
"""

POOL = CHILD + """
import multiprocessing
def work(i):
    note("worker")
    busy(0.15)
if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[2])
    note("parent")
    with multiprocessing.Pool(3) as pool:
        pool.map(work, range(3), chunksize=1)
"""

# Each level forks and ends before its child; every other one in a session of its own.
TREE = CHILD + """
for level in range(5):
    note("level%d" % level)
    busy(0.1)
    if os.fork():
        busy(0.05)
        os._exit(0)
    if level % 2:
        os.setsid()
note("last")
busy(0.3)
"""

# The last one's parents have ended some 10 ms after the program has started.
DAEMON = """import os, sys, time
if os.fork():
    time.sleep(0.5)
    sys.exit()
if os.fork():
    os._exit(0)
""" + CHILD + """
note("daemon")
busy(0.3)
"""

EXEC = CHILD + """
left = int(sys.argv[2])
note("exec%d" % left)
busy(0.12)
if left:
    os.execv(sys.executable, [sys.executable, __file__, sys.argv[1], str(left - 1)])
"""

KILLED = CHILD + """
import signal
pids = []
for i in range(3):
    pid = os.fork()
    if not pid:
        note("killed")
        busy(30)
    pids.append(pid)
busy(0.4)
for pid in pids:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
note("parent")
busy(0.1)
"""


# Each child has ended, and each parent sleeps, before the next one works.
ALONE_KILLED = ALONE + """
import signal
note("parent")
for i in range(3):
    out, into = os.pipe()
    pid = os.fork()
    if not pid:
        note("killed")
        busy(1)
        os.write(into, b"x")
        time.sleep(1000)
    os.read(out, 1)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
busy(1)
"""


class Recorded:
    """Facts printed by a program, and those in its recording."""

    def __init__(self, python, text, *args, options=()):
        with python.scratch() as folder:
            script, log = pathlib.Path(folder, "family.py"), pathlib.Path(folder, "log")
            recording = pathlib.Path(folder, "r.fz")
            script.write_text(text)
            log.touch()
            self.result = fizeau("run", "--subprocesses", *options, "-o", recording, "--",
                                 *python.command, python.path(script), python.path(log), *args)
            assert recording.exists(), self.result.stderr
            self.said = [line.split() for line in log.read_text().splitlines()]
            shown = fizeau("replay", "--format", "json", recording, "-o", "-")
            self.json = json.loads(shown.stdout)
            self.processes = {p["pid"]: p for p in self.json.get("processes", [])}
            self.text = fizeau("replay", recording).stdout
            name = str(self.said[-1][0])
            self.last = fizeau("replay", "--process", name, "--format", "json", recording, "-o", "-")

    def pids(self, what):
        return [int(pid) for pid, _, word in self.said if word.startswith(what)]


def same_as_said(r):
    said = {int(pid) for pid, _, _ in r.said}
    missing = said - set(r.processes)
    assert not missing, f"not recorded: {missing} of {r.said}; {r.result.stderr}"
    strange = set(r.processes) - said
    for pid in strange:  # helpers such as a resource tracker
        assert "multiprocessing" in r.processes[pid]["command"], r.processes[pid]
    samples = sum(p["samples"] for p in r.processes.values())
    assert samples == r.json["samples"], (samples, r.json["samples"])


def short_children(python, options, text=SHORT, n=20):
    r = Recorded(python, text, str(n), options=options)
    same_as_said(r)
    assert len(r.pids("child")) == n
    parent = r.pids("parent")[0]
    for pid in r.pids("child"):
        assert r.processes[pid]["parent"] == parent, r.processes[pid]
        assert r.processes[pid]["name"] == "family.py", r.processes[pid]
        # One thread, also where it was looked at while its memory was still its parent's.
        assert r.processes[pid]["threads"] == 1, r.processes[pid]
    busy = [f for f in r.json["functions"] if f["name"] == "busy"]
    assert busy, [f["name"] for f in r.json["functions"]]
    assert f" of {n + 1} processes" in r.text, r.text
    alone = json.loads(r.last.stdout)
    assert alone["processes"] == [r.processes[int(r.said[-1][0])]], alone.get("processes")
    assert alone["samples"] == alone["processes"][0]["samples"], alone["samples"]
    return f"{min(r.processes[pid]['samples'] for pid in r.pids('child'))} samples at least"


def daemon(python):
    """A perf event of another program would hide the fault for a second."""
    time.sleep(2)
    r = Recorded(python, DAEMON)
    assert r.pids("daemon")[0] in r.processes, (r.said, r.processes)


def pool(python, method):
    r = Recorded(python, POOL, method, options=["--clock", "cpu"])
    same_as_said(r)


def tree(python, text=TREE, options=()):
    r = Recorded(python, text, options=options)
    same_as_said(r)
    assert len({int(pid) for pid, _, _ in r.said}) == 6, r.said


def alone(text):
    """The program, where each process works until it is sampled for itself."""
    return text.replace(CHILD, ALONE).replace("    busy(0.05)\n", "").replace("    note(\"parent\")\n", "    note(\"parent\")\n    busy(1)\n")


@suite.test("by the CPU clock: exactly the announced children are recorded")
def _():
    short_children(find_interpreter("debian-3.11"), ["--clock", "cpu"], alone(SHORT), 3)


@suite.test("by the CPU clock, --blocking: exactly the announced children are recorded")
def _():
    short_children(find_interpreter("debian-3.11"), ["--clock", "cpu", "--blocking"], alone(SHORT), 2)


@suite.test("by the CPU clock: a deep tree whose parents end first")
def _():
    tree(find_interpreter("debian-3.11"), alone(TREE), ["--clock", "cpu"])


@suite.test("by the CPU clock: children that are killed")
def _():
    r = Recorded(find_interpreter("debian-3.11"), ALONE_KILLED, options=["--clock", "cpu"])
    same_as_said(r)
    assert len(r.said) == 4 and "still" not in r.result.stderr and r.result.returncode == 0, r.result.stderr


@suite.test("by the CPU clock: the same process by three execs")
def _():
    # Each continues only after it was sampled.
    r = Recorded(find_interpreter("debian-3.11"), alone(EXEC), "2", options=["--clock", "cpu"])
    assert r.result.returncode == 0, r.result
    assert len(r.said) == 3 and len({pid for pid, _, _ in r.said}) == 1, r.said
    assert list(r.processes) == [int(r.said[0][0])] or not r.processes, r.processes


@suite.test("a pool by fork: exactly the processes that announced themselves are recorded")
def _():
    r = Recorded(find_interpreter("debian-3.11"), alone(POOL), "fork", options=["--clock", "cpu"])
    said = {int(pid) for pid, _, _ in r.said}
    assert r.result.returncode == 0 and set(r.processes) <= said, (r.processes, said)


def exec_chain(python):
    r = Recorded(python, EXEC, "4")
    assert len(r.said) == 5 and len({pid for pid, _, _ in r.said}) == 1, r.said
    cost = sum(f["self"] for f in r.json["functions"] if f["name"] == "busy")
    assert SANITIZED or cost > 0.35e9, f"{cost / 1e9} s of 0.6 s"


def killed(python):
    r = Recorded(python, KILLED)
    same_as_said(r)
    assert "still" not in r.result.stderr and r.result.returncode == 0, r.result.stderr


def interpreters():
    for name in EXPECTED:
        try:
            yield name, find_interpreter(name)
        except Skip:
            continue


for name, python in interpreters():
    suite.add(f"{name}: twenty children of a tenth of a second", short_children, python, [])
    if name in ("pyenv-3.8", "debian-3.11", "pyenv-3.12", "forky-3.15"):
        suite.add(f"{name}: a deep tree whose parents end first", tree, python)
        suite.add(f"{name}: a daemon whose parents end at once", daemon, python)
        for method in ("fork", "spawn"):
            suite.add(f"{name}: a pool by {method}", pool, python, method)


@suite.test("the same process by five execs")
def _():
    exec_chain(find_interpreter("debian-3.11"))


@suite.test("children that are killed")
def _():
    killed(find_interpreter("debian-3.11"))


@suite.test("--blocking, and CPU time")
def _():
    python = find_interpreter("debian-3.11")
    short_children(python, ["--clock", "cpu"])
    r = Recorded(python, SHORT, "3", options=["--blocking"])
    same_as_said(r)


@suite.test("attach: those that live already and those that come")
def _():
    with tempfile.TemporaryDirectory() as folder:
        script, log = pathlib.Path(folder, "family.py"), pathlib.Path(folder, "log")
        script.write_text(CHILD + """
first = os.fork()
note("one" if first else "two")
time.sleep(1.0)
if first and not os.fork():
    note("three")
    busy(0.3)
    os._exit(0)
busy(1.0)
""")
        program = subprocess.Popen([sys.executable, script, log])
        time.sleep(0.4)
        out = pathlib.Path(folder, "r.fz")
        fizeau("attach", "--subprocesses", "-o", out, program.pid)
        program.wait()
        said = {int(line.split()[0]) for line in log.read_text().splitlines()}
        shown = json.loads(fizeau("replay", "--format", "json", out, "-o", "-").stdout)
        assert {p["pid"] for p in shown["processes"]} == said, (said, shown.get("processes"))


@suite.test("attach by the CPU clock: those that live already and those that come")
def _():
    with tempfile.TemporaryDirectory() as folder:
        script, log = pathlib.Path(folder, "family.py"), pathlib.Path(folder, "log")
        script.write_text(ALONE + """
note("one")
out, into = os.pipe()
two = os.fork()
if not two:
    note("two")
    os.read(out, 1)
    busy(1)
    os._exit(0)
print("up", flush=True)
busy(1)
os.write(into, b"x")
os.waitpid(two, 0)
three = os.fork()
if not three:
    note("three")
    busy(1)
    os._exit(0)
os.waitpid(three, 0)
""")
        with subprocess.Popen([sys.executable, script, log], stdout=subprocess.PIPE, text=True) as program:
            assert program.stdout.readline() == "up\n"
            out = pathlib.Path(folder, "r.fz")
            done = fizeau("attach", "--clock", "cpu", "--subprocesses", "-o", out, program.pid)
            assert done.returncode == 0 and program.wait() == 0, done
        said = {int(line.split()[0]) for line in log.read_text().splitlines()}
        shown = json.loads(fizeau("replay", "--format", "json", out, "-o", "-").stdout)
        assert {p["pid"] for p in shown["processes"]} == said, (said, shown.get("processes"))


def check_after(number):
    with tempfile.TemporaryDirectory() as folder:
        script, log = pathlib.Path(folder, "family.py"), pathlib.Path(folder, "log")
        script.write_text(ALONE + """
note("program")
busy(1)
if os.fork():
    sys.exit(3)
os.setsid()
note("daemon")
while True: pass
""")
        out, said = pathlib.Path(folder, "r.fz"), pathlib.Path(folder, "said")
        with open(said, "w", encoding="utf-8") as file:  # no pipe: the daemon would keep it open
            run = subprocess.Popen([FIZEAU, "run", "--subprocesses", "-o", out, script, log],
                                   stderr=file)
        wait_until(lambda: log.exists() and len(log.read_text().splitlines()) == 2)
        daemon = int(log.read_text().splitlines()[1].split()[0])
        wait_until(lambda: "has ended" in said.read_text())
        wait_for_samples(int(log.read_text().split()[0]), recorder=run)
        run.send_signal(number)
        status = run.wait(timeout=60)
        os.kill(daemon, signal.SIGKILL)
        assert status == 3, (status, said.read_text())
        shown = json.loads(fizeau("replay", "--format", "json", out, "-o", "-").stdout)
        assert daemon in [p["pid"] for p in shown["processes"]], shown.get("processes")


for each_number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
    suite.add(f"what goes on after the program is recorded until {each_number.name}", check_after, each_number)


@suite.test("two recordings of all processes are matched by command; --diff-flamegraph is one page")
def _():
    python = find_interpreter("debian-3.11")
    with python.scratch() as folder:
        script, log = pathlib.Path(folder, "family.py"), pathlib.Path(folder, "log")
        script.write_text(alone(SHORT))
        base, page = pathlib.Path(folder, "base.fz"), pathlib.Path(folder, "page.html")
        command = ["--clock", "cpu", "--", *python.command, script, log, "3"]
        fizeau("run", "--subprocesses", "-o", base, *command)
        done = fizeau("run", "--subprocesses", "--diff-flamegraph", base, "-o", page, *command)
        assert done.returncode == 0, done.stderr
        text = page.read_text()
        start = text.rindex("{", 0, text.index('"format": "fizeau-page"'))
        header, _ = json.JSONDecoder().raw_decode(text[start:])
        threads = header["threads"]
        both = [t for t in threads if "base" in t and "head" in t]
        assert len(both) == len(threads) == 4, threads
        assert len({t["process"] for t in both}) == 4, both


COUNTED = """import os, subprocess, sys
for _ in range(6):
    subprocess.run([sys.executable, "-c", "sum(i * i for i in range(200000))"])
with open("cpu", "w") as out:
    out.write(str(sum(os.times()[:4])))
"""


# A recorder with real-time priority that polled for the end of the last process kept it from ending for
# as long as the kernel permitted.
@suite.test("on a single processor the recorder does not delay programs that end")
def one_processor():
    if SANITIZED:
        raise Skip("a binary with sanitizers takes a processor's time for itself")
    python = find_interpreter("debian-3.11")
    with python.scratch() as folder:
        pathlib.Path(folder, "a.py").write_text(COUNTED)
        command = [FIZEAU, "run", "--subprocesses", "--clock", "cpu", "-o", "x.fz", "--", *python.command, "a.py"]
        done = subprocess.Popen(["taskset", "-c", str(min(os.sched_getaffinity(0))), *command], cwd=folder,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(done.pid, 0)
        done.returncode = os.waitstatus_to_exitcode(status)
        assert done.returncode == 0
        program = float(pathlib.Path(folder, "cpu").read_text())
        recorder = used.ru_utime + used.ru_stime - program
        assert recorder < 3 * program, (recorder, program)


@suite.test("wrong options are one line")
def _():
    r = fizeau("run", "--count", "--subprocesses", __file__)
    assert r.returncode == 2 and "--subprocesses cannot be combined with --count" in r.stderr, r.stderr


MOMENTS = """
import json, os, resource, time
def compute():
    while time.process_time() < 0.0015:
        pass
for _ in range(200):
    if not os.fork():
        compute()
        os._exit(0)
    os.wait()
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(json.dumps([u.ru_utime + u.ru_stime for u in used]))
"""


@suite.test("the reader by the CPU clock reports the missing time of very short processes")
def moments():
    with tempfile.TemporaryDirectory() as folder:
        script, recording = pathlib.Path(folder, "moments.py"), pathlib.Path(folder, "x.fz")
        script.write_text(MOMENTS)
        done = fizeau("run", "-a", "--subprocesses", "--engine", "read", "--mode", "cpu", "-o", recording, script)
        assert done.returncode == 0 and "is missing: processes that lived" in done.stderr, done
        shown = json.loads(fizeau("replay", recording, "--format", "json", "-o", "-").stdout)
        used = sum(json.loads(done.stdout))
        missing = sum(float(shown["facts"].get(fact, 0)) for fact in ("missing", "missing.processes"))
        assert abs(shown["total"] / 1e9 + missing * used - used) < 0.2 * used, (shown["total"], missing, used)


@suite.test("the CPU time of a program that is not Python is separate from that of threads")
def another_program():
    with tempfile.TemporaryDirectory() as folder:
        script, recording = pathlib.Path(folder, "sums.py"), pathlib.Path(folder, "x.fz")
        script.write_text("import subprocess\nsubprocess.run('head -c 200000000 /dev/zero | sha256sum', shell=True)\n")
        done = fizeau("run", "-a", "--subprocesses", "--engine", "read", "--mode", "cpu", "-o", recording, script)
        shown = json.loads(fizeau("replay", recording, "--format", "json", "-o", "-").stdout)
    assert done.returncode == 0 and done.stderr.count("is missing") == 1, done
    assert "processes that ended before they were sampled, or run no Python" in done.stderr, done
    assert 0.5 < float(shown["facts"]["missing.processes"]) < 1 and "missing" not in shown["facts"], shown["facts"]


MAKEFILE = """
all: before python after
before after:
	@head -c 100000000 /dev/zero | sha256sum
python:
	@%s -c 'import time; [0 for _ in iter(lambda: time.process_time() < 0.3, False)]'
"""


@suite.test("all CPU time of a command that is not Python is reported, also before and after Python")
def around():
    with tempfile.TemporaryDirectory() as folder:
        recording = pathlib.Path(folder, "x.fz")
        pathlib.Path(folder, "Makefile").write_text(MAKEFILE % sys.executable)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(["make", "-s", "-C", folder], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = fizeau("run", "-a", "--subprocesses", "--engine", "read", "--mode", "cpu", "-o", recording,
                      "make", "-s", "-C", folder)
        shown = json.loads(fizeau("replay", recording, "--format", "json", "-o", "-").stdout)
    assert done.returncode == 0 and "or run no Python" in done.stderr, done
    used = sum(getattr(after, name) - getattr(before, name) for name in ("ru_utime", "ru_stime"))
    told = shown["total"] / 1e9 / (1 - float(shown["facts"]["missing.processes"]))
    assert abs(told - used) < 0.2 * used, (told, used, shown["facts"])


if __name__ == "__main__":
    suite.main()
