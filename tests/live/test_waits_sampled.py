#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sampled waits (--wait --engine read) against the program's own clock: how long, and what for.

The instants of samples are random, one in each interval, so a wait is seen for as many as it covers
but for one at each end, which may be seen or not: a variance of p(1-p) at each, 1/6 on average. n waits
are off by √(n/3) intervals, the standard deviation, and by four times as much once in 15,000 comparisons.
"""

import contextlib
import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import test_kernel
import test_waits
from livelib import (ENTER, FIZEAU, QUIET, ROOTS, SANITIZED, Skip, Suite, Wrong, find_interpreter, fizeau, wait_until)
from test_reader import BUILD
from test_waits import by, stolen, waited
from watching import PATIENCE

suite = Suite()

NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}
RATE, ROUNDS = 2000, 25

# Each step waits for one thing, for as long as that takes.
PLANTED = """\
import fcntl, json, os, select, socket, subprocess, tempfile, threading, time
lock = threading.Lock()
here, there = socket.socketpair()
reader, writer = os.pipe()
ready, wake = os.pipe()
event = os.eventfd(0)
file = tempfile.NamedTemporaryFile()
mine, other = open(file.name), open(file.name)
asked = threading.Event()
echo = subprocess.Popen(["sh", "-c", "while read x; do sleep 0.01; echo $x; done"], bufsize=0,
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def refresh():
    while True:
        with lock:
            time.sleep(0.02)
        time.sleep(0.005)
def hold():
    while True:
        fcntl.flock(other, fcntl.LOCK_EX)
        time.sleep(0.02)
        fcntl.flock(other, fcntl.LOCK_UN)
        time.sleep(0.001)
def answer():
    while True:
        word = there.recv(1)
        time.sleep(0.01)
        there.send(word)
def feed():
    while asked.wait():
        asked.clear()
        time.sleep(0.01)
        os.write(give[0], give[1])
def ask(where, what):
    global give
    give = where, what
    asked.set()
def fetch():
    with lock:
        pass
def claim():
    fcntl.flock(mine, fcntl.LOCK_EX)
    fcntl.flock(mine, fcntl.LOCK_UN)
def talk():
    here.send(b"x")
    here.recv(1)
def drain():
    ask(writer, b"x")
    os.read(reader, 1)
def choose():
    ask(wake, b"x")
    select.select([ready, here], [], [])
    os.read(ready, 1)
def count():
    ask(event, (1).to_bytes(8, "little"))
    os.read(event, 8)
def nap():
    time.sleep(0.01)
def borrow():
    echo.stdin.write(b"x\\n")
    echo.stdout.read(2)
def spawn():
    subprocess.run(["sleep", "0.02"])
for job in (refresh, hold, answer, feed):
    threading.Thread(target=job, daemon=True, name=job.__name__).start()
took = {}
def main():
    input()
    for i in range(ROUNDS):
        for step in (fetch, claim, talk, drain, choose, count, nap, borrow, spawn):
            wall, cpu = time.perf_counter(), time.thread_time()
            step()
            off = time.perf_counter() - wall - time.thread_time() + cpu
            took[step.__name__] = took.get(step.__name__, 0) + off
main()
print(json.dumps(took))
""".replace("ROUNDS", str(ROUNDS))

KINDS = {"fetch": "lock", "claim": "file", "talk": "socket", "drain": "pipe", "choose": "poll",
         "count": "event", "nap": "sleep", "borrow": "pipe", "spawn": "child"}

# More of it, since it is sampled.
GIL = test_waits.GIL.replace("300000", "600000")


def as_nobody(name):
    """The command prefix to run an interpreter as nobody."""
    drop = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    kind, minor = name.split("-")
    find_interpreter(name)
    return ["sh", "-c", ENTER, str(ROOTS[kind]), *drop, f"python{minor}"] if kind in ROOTS else \
        [*drop, f"/usr/bin/python{minor}"]


def is_asked(recorder, pid):
    """Whether it has opened the file with the program's system calls."""
    with contextlib.suppress(OSError):
        return any(os.readlink(link) == f"/proc/{pid}/task/{pid}/syscall"
                   for link in pathlib.Path(f"/proc/{recorder.pid}/fd").iterdir())
    return False


def watched(code, name, *options, nobody=False):
    """A program's own figures, as JSON, and a recording of its waits. It begins once it is
    recorded."""
    if nobody and os.geteuid() != 0:
        raise Skip("needs root to become another user")
    command = as_nobody(name) if nobody else find_interpreter(name).command
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        path = pathlib.Path(folder, "r.fz")
        program = shutil.copy(FIZEAU, folder) if nobody else FIZEAU
        with subprocess.Popen([*command, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as target:
            recorder = None
            try:
                wait_until(lambda: b"-c" in pathlib.Path(f"/proc/{target.pid}/cmdline").read_bytes()
                           and b"python" in pathlib.Path(f"/proc/{target.pid}/cmdline").read_bytes().split(b"\0")[0],
                           "the interpreter")
                recorder = subprocess.Popen([program, "attach", "--wait", *options, "-o", path, str(target.pid)],
                                            stderr=subprocess.PIPE, text=True, env=QUIET,
                                            **(NOBODY if nobody else {}))
                wait_until(lambda: recorder.poll() is not None or is_asked(recorder, target.pid), "a sample")
                said = target.communicate("go\n", timeout=60)[0]
            finally:
                target.kill()
                trouble = recorder.communicate(timeout=60)[1] if recorder else ""
            assert recorder.returncode == 0, trouble
        return json.loads(said), test_kernel.told(path), fizeau("show", path).stdout, trouble


def check_facts(report, text):
    assert report["facts"]["engine"] == "read" and report["facts"]["waits"] == "sampled", report["facts"]
    assert "sampled_waits" in report["facts"]["features"] and "waits" not in report["facts"]["features"]
    assert "Waits, sampled: " in text and ", waits sampled," in text and "longest  what" not in text, text
    for row in report["waits"]:
        assert row["samples"] > 0 and not {"n", "longest_ns", "by"} & set(row), row


# So many sleeping threads that each is only read now and then.
IDLE = """\
import threading
for i in range(150):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
"""


def check_planted(name, nobody, idle="", rate=RATE):
    if idle and SANITIZED:
        raise Skip("with sanitizers a thread's call is asked for long after its stack was read")
    options = ["-r", f"{rate}hz", *([] if nobody else ["--engine", "read"]), *(["-a"] if idle else [])]
    before = stolen()
    took, report, text, trouble = watched(idle + PLANTED, name, *options, nobody=nobody)
    # A gap in the recording is charged to the stack at its end.
    lost, off = stolen() - before + report["facts"]["quality"]["longest_gap_ns"] / 1e9, {}
    check_facts(report, text)
    assert ("warning: --wait: waits are sampled" in trouble) == nobody, trouble
    deviation = math.sqrt(ROUNDS / 3) / rate
    for function, own in took.items():
        seen = waited(report, function)
        off[function] = (seen - own) / deviation
        assert abs(seen - own) < 4 * deviation + 0.01 * own + lost, (function, own, seen, lost, off[function])
    for function, kind in KINDS.items():
        kinds, _ = by(report, function)
        rest = sum(kinds.values()) - kinds[kind]
        if rest > max(kinds[kind], 0.05):
            raise Wrong(function, kinds)
        assert kinds[kind] > 0.05 and rest < 0.05 * kinds[kind] + 4 * deviation + lost, (function, kinds, lost)
    worst = max(off, key=lambda function: abs(off[function]))
    return (f"furthest from its own clock: {worst} by {off[worst]:+.1f} standard deviations, "
            f"{100 * off[worst] * deviation / took[worst]:+.1f} %")


def check_gil(name, nobody):
    own, report, text, _ = watched(GIL, name, "-a", *([] if nobody else ["--engine", "read"]), nobody=nobody)
    check_facts(report, text)
    kinds, _ = by(report, "contend")
    seen = waited(report, "contend")
    # It waits anew whenever it is given it: some 5 ms each.
    tolerance = 4 * math.sqrt(own / 0.005 / 3) / 1000
    assert abs(seen - own) < tolerance + 0.03 * own, (own, seen, tolerance)
    if kinds["lock"] > kinds["GIL"]:
        raise Wrong(kinds)
    # The rest is for a CPU.
    assert kinds["GIL"] > 0.3 * own and sum(kinds.values()) < 1.02 * kinds["GIL"], (own, kinds)
    return f"{kinds['GIL']:.3f} s for the GIL, {own:.3f} s off a CPU by its own clock"


CROWDED = """\
import json, os, subprocess, sys, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
def compute():
    end = time.thread_time() + 0.6
    while time.thread_time() < end:
        pass
def main():
    input()
    other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    wall, cpu = time.perf_counter(), time.thread_time()
    compute()
    print(json.dumps(time.perf_counter() - wall - time.thread_time() + cpu))
    other.kill()
main()
"""


@suite.test("two programs on one processor: waits for the processor")
def crowded():
    own, report, _, _ = watched(CROWDED, "debian-3.11", "--engine", "read")
    seen = waited(report, "compute")
    kinds = {wait["for"]: wait["ns"] / 1e9 for wait in report["waits"]}
    # CPU time is accounted for in steps of a scheduler's tick.
    assert abs(seen - own) < 0.1 * own + 0.02 and kinds["CPU"] > 0.9 * seen > 0.2, (own, seen, kinds)
    return f"{seen:.3f} s, by its own clock {own:.3f}"


# ---- where it is not possible, and together with which options ----

NAP = """\
import sys, threading, time
def nap(n):
    for i in range(n):
        time.sleep(0.01)
threads = [threading.Thread(target=nap, args=(40,)) for i in range(int(sys.argv[1]))]
for thread in threads:
    thread.start()
nap(40)
for thread in threads:
    thread.join()
"""


def sleeps(report):
    return by(report, "nap")[0]["sleep"] > 0


def run_nap(folder, *words, threads=0, before=(), is_enough=sleeps):
    """A recording of a program that sleeps, and the output; made again if it has no sleep."""
    script, path = pathlib.Path(folder, "nap.py"), pathlib.Path(folder, "r.fz")
    script.write_text(NAP)

    def look():
        done = subprocess.run([*map(str, before), FIZEAU, "run", "--wait", *words, "-o", path, "--",
                               *find_interpreter("debian-3.11").command, script, str(threads)],
                              capture_output=True, text=True, timeout=60, env=QUIET)
        if done.returncode == 77:
            raise Skip(done.stderr.strip())
        assert done.returncode == 0, done
        report = None if "nothing was recorded" in done.stderr else test_kernel.told(path)
        return (report, done.stderr, path) if report and is_enough(report) else None
    return wait_until(look, "a sample of its sleep", PATIENCE)


@suite.test("the kernel's engine is refused or fails: the reader samples, and one line gives the reason")
def fallback():
    denied = pathlib.Path(BUILD, "tests", "denied")
    with tempfile.TemporaryDirectory() as folder:
        for words, before, why in ((["--native"], (), "bpf cannot be combined with --native"),
                                   (["--opcodes"], (), "bpf cannot be combined with --opcodes"),
                                   ([], (denied, "bpf=EPERM"), "not allowed to load a BPF program"),
                                   ([], (denied, "bpf=ENOSYS"), "bpf is not available in this kernel")):
            report, said, _ = run_nap(folder, *words, before=before)
            if why not in said and any(other in said for other in test_kernel.NEVER):
                raise Skip(said)
            warnings = [line for line in said.splitlines() if "warning" in line]
            assert len(warnings) == 1 and "--wait: waits are sampled" in warnings[0] and why in warnings[0], said
            assert report["facts"]["waits"] == "sampled", report["facts"]


@suite.test("an engine chosen by name prints no explanation")
def by_name():
    with tempfile.TemporaryDirectory() as folder:
        _, said, _ = run_nap(folder, "--engine", "read")
    assert [", waits sampled," in line for line in said.splitlines() if ": wrote " not in line] == [True], said


@suite.test("with modes that stop the program or have no waits: one line, and nothing starts")
def refused():
    for words in (["--blocking"], ["--native=stacks"], ["--async-aware"], ["--mode", "cpu"], ["--mode", "gil"],
                  ["--clock", "cpu"], ["--live"], ["--count"]):
        for engine in ([], ["--engine", "read"]):
            with tempfile.TemporaryDirectory() as folder:
                ran = pathlib.Path(folder, "ran")
                done = fizeau("run", "--wait", *engine, *words, "--", "touch", ran, cwd=folder)
                assert done.returncode in (2, 125) and done.stderr.count("\n") == 1, (words, done)
                assert "--wait" in done.stderr and not ran.exists(), (words, done)


def recorded_children():
    """A recording of a program and of one that it starts, or None."""
    code = "import subprocess, sys; subprocess.run([sys.executable, *sys.argv[1:]])"
    with tempfile.TemporaryDirectory() as folder:
        script, path = pathlib.Path(folder, "nap.py"), pathlib.Path(folder, "r.fz")
        script.write_text(NAP)
        done = fizeau("run", "--wait", "--engine", "read", "--subprocesses", "-o", path, "--",
                      *find_interpreter("debian-3.11").command, "-c", code, script, 0)
        assert done.returncode == 0, done
        return None if "nothing was recorded" in done.stderr else test_kernel.told(path)


@suite.test("children: each of their waits, too")
def children():
    def look():
        report = recorded_children()
        return report and by(report, "nap")[0]["sleep"] > 0 and any(
            wait["for"] in ("child", "pipe") for wait in report["waits"])
    wait_until(look, "waits of both", PATIENCE)


@suite.test("children: how long they waited, and how long for them")
def children_long():
    report = recorded_children()
    assert report and by(report, "nap")[0]["sleep"] > 0.2, report
    assert any(wait["for"] in ("child", "pipe") and wait["ns"] > 0.2e9 for wait in report["waits"]), report["waits"]


def has_unknown(report):
    return "waits.unknown" in report["facts"]


@suite.test("too few open files allowed: unattributed time is reported, and has no marker")
def few_files():
    with tempfile.TemporaryDirectory() as folder:
        report, said, path = run_nap(folder, "--engine", "read", "-a", threads=40,
                                     before=("prlimit", "--nofile=64:64"), is_enough=has_unknown)
        shown = fizeau("show", path).stdout
    assert "the reason of some waits is unknown: Too many open files" in said, said
    assert "waits.unknown" in report["facts"] and "the reason of some waits" in " ".join(shown.split()), shown


@suite.test("too few open files allowed: unattributed time is included")
def few_files_long():
    with tempfile.TemporaryDirectory() as folder:
        report, _, _ = run_nap(folder, "--engine", "read", "-a", threads=40, before=("prlimit", "--nofile=64:64"),
                               is_enough=has_unknown)
    bare = [node["self"] for node in report["nodes"] if node["name"] == "nap"]
    assert sum(bare) > 0.2e9, report["nodes"]


@suite.test("threads that ended are forgotten: their files are not kept open")
def many_threads():
    code = """
import threading, time
for i in range(400):
    thread = threading.Thread(target=time.sleep, args=(0.01,))
    thread.start(); thread.join()
"""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["prlimit", "--nofile=700:700", FIZEAU, "run", "--wait", "--engine", "read", "-a", "-o",
                               pathlib.Path(folder, "r.fz"), "--", *find_interpreter("debian-3.11").command, "-c",
                               code], capture_output=True, text=True, timeout=60, env=QUIET)
    assert done.returncode == 0 and "the reason of some waits" not in done.stderr, done


@suite.test("a program that is stopped")
def stopped():
    wait_until(recorded_stopped, "a sample", PATIENCE)


@suite.test("how long a program was stopped")
def stopped_long():
    report = recorded_stopped()
    assert report and report["waits"][0]["ns"] > 0.4e9, report


def recorded_stopped():
    """A recording of a program that is stopped all the time, or None."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "r.fz")
        with subprocess.Popen([*find_interpreter("debian-3.11").command, "-c",
                               "print('up', flush=True)\nwhile True: pass"],
                              stdout=subprocess.PIPE, text=True) as target:
            try:
                assert target.stdout.readline() == "up\n"
                target.send_signal(signal.SIGSTOP)
                os.waitid(os.P_PID, target.pid, os.WSTOPPED | os.WNOWAIT)
                done = fizeau("attach", "--wait", "--engine", "read", "-d", "0.5", "-o", path, target.pid)
            finally:
                target.kill()
        assert done.returncode == 0, done
        report = None if "nothing was recorded" in done.stderr else test_kernel.told(path)
    if report and {wait["for"] for wait in report["waits"]} != {"stopped"}:
        raise Wrong(report["waits"])
    return report


# Over what says it, in a mount namespace: $1 is put on $2.
COVERED = 'mount --bind "$1" "$2" || exit 77; shift 2; exec "$@"'


@suite.test("/proc hides the system call: one line with the remedy, and nothing is recorded")
def covered():
    if os.geteuid() != 0:
        raise Skip("needs root to mount")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        program = shutil.copy(FIZEAU, folder)
        secret, empty, nothing = (pathlib.Path(folder, name) for name in ("secret", "empty", "nothing"))
        secret.touch(mode=0)
        empty.touch()
        nothing.mkdir(mode=0o755)
        target = subprocess.Popen([*find_interpreter("debian-3.11").command, "-c", "print('up', flush=True)\nwhile True: pass"],
                                  stdout=subprocess.PIPE, text=True, **NOBODY)
        task = f"/proc/{target.pid}/task/{target.pid}"
        try:
            assert target.stdout.readline() == "up\n"
            for cover, what, words in ((secret, f"{task}/syscall", f"not allowed to read {task}/syscall; run fizeau as root"),
                                       (empty, f"{task}/syscall", "does not show what a thread waits for"),
                                       (nothing, task, f"this kernel has no {task}/syscall (CONFIG_HAVE_ARCH_TRACEHOOK)")):
                done = subprocess.run(
                    ["unshare", "-m", "--propagation", "private", "sh", "-c", COVERED, "sh", cover, what,
                     "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                     program, "attach", "--wait", "-d", "1", "-o", "r.fz", str(target.pid)],
                    capture_output=True, text=True, timeout=60, cwd=folder, env=QUIET)
                if done.returncode in (1, 77) and ("unshare" in done.stderr or "mount" in done.stderr):
                    raise Skip(done.stderr.strip())
                assert done.returncode == 2 and done.stderr.count("\n") == 1, done
                assert done.stderr.startswith("fizeau: attach: --wait: ") and words in done.stderr, done.stderr
                assert not pathlib.Path(folder, "r.fz").exists(), done
        finally:
            target.kill()
            target.communicate()


@suite.test("sampled and exact are not compared unless one insists, and then it is said")
def compared():
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        sampled = run_nap(folder, "--engine", "read")[2]
        report, said, exact = run_nap(other)
        if report["facts"]["waits"] != "exact":
            raise Skip(said)
        done = fizeau("diff", exact, sampled)
        assert done.returncode == 2 and "sampled waits" in done.stderr and "--force" in done.stderr, done
        done = fizeau("diff", "--force", "--verbose", exact, sampled)
        assert "the recordings differ in recorded data: base gc, waits; head gc, sampled waits" in \
            " ".join(done.stdout.split()), done
        assert fizeau("diff", sampled, sampled).returncode == 0


if __name__ == "__main__":
    for interpreter in ("debian-3.11", "forky-3.13", "forky-3.15"):
        for user, is_nobody in (("root", False), ("nobody", True)):
            suite.add(f"{interpreter}, {user}: each wait by its own clock", check_planted, interpreter, is_nobody)
            suite.add(f"{interpreter}, {user}: the GIL", check_gil, interpreter, is_nobody)
    suite.add("debian-3.11, beside 150 idle threads: each wait by its own clock", check_planted, "debian-3.11", False,
              IDLE, 500)
    suite.main()
