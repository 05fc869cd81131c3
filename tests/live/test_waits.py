#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Waits (--wait) against the program's own clock: how long, what for, and who ended them.

What a function took by its own clock, but for its CPU time, is what it waited for, and when it could
run but had no CPU: the last is what a busy machine does, and is told apart.
"""

import collections
import json
import os
import pathlib
import signal
import subprocess
import tempfile

import test_kernel
from livelib import FIZEAU, Skip, Suite, find_interpreter, fizeau, wait_until

suite = Suite()

PLANTED = """\
import json, os, socket, subprocess, tempfile, threading, time
lock = threading.Lock()
here, there = socket.socketpair()
reader, writer = os.pipe()
asked = threading.Event()
def refresh():
    while True:
        with lock:
            time.sleep(0.02)
        time.sleep(0.005)
def answer():
    while True:
        word = there.recv(1)
        time.sleep(0.01)
        there.send(word)
def feed():
    while asked.wait():
        asked.clear()
        time.sleep(0.01)
        os.write(writer, b"x")
def fetch():
    with lock:
        pass
def ask():
    here.send(b"x")
    here.recv(1)
def drain():
    asked.set()
    os.read(reader, 1)
def nap():
    time.sleep(0.01)
def save():
    with tempfile.TemporaryFile() as file:
        file.write(b"x" * 65536)
        file.flush()
        os.fsync(file.fileno())
def spawn():
    subprocess.run(["sleep", "0.02"])
for job in (refresh, answer, feed):
    threading.Thread(target=job, daemon=True, name=job.__name__).start()
took = {}
def main():
    input()
    for i in range(25):
        for step in (fetch, ask, drain, nap, save, spawn):
            wall, cpu = time.perf_counter(), time.thread_time()
            step()
            off = time.perf_counter() - wall - time.thread_time() + cpu
            took[step.__name__] = took.get(step.__name__, 0) + off
main()
print(json.dumps(took))
"""

GIL = """\
import json, threading, time
def hog():
    while True:
        sum(range(2000))
def contend():
    for i in range(300000):
        sum(range(100))
def main():
    input()
    threading.Thread(target=hog, daemon=True).start()
    wall, cpu = time.perf_counter(), time.thread_time()
    contend()
    print(json.dumps(time.perf_counter() - wall - time.thread_time() + cpu))
main()
"""


# Of switches, of wake-ups and of ticks.
PROGRAMS = 3


def recorded(folder, code, name):
    """What a program said of itself, and the recording of its waits."""
    said, path = test_kernel.run_saying(folder, code, name, "--wait")
    return said, test_kernel.told(path), path


def watched(folder, code, name, *options):
    """The same of one that begins when it is watched."""
    said, path = test_kernel.attach_saying(folder, code, name, "--wait", *options, programs=PROGRAMS)
    return said, test_kernel.told(path), path


def waited(report, function):
    """Seconds of all waits below a function."""
    nodes, total = report["nodes"], 0
    for node in nodes:
        if node["name"].endswith(" wait>"):
            at = node
            while at["name"] != function and at["parent"] >= 0:
                at = nodes[at["parent"]]
            total += node["total"] if at["name"] == function else 0
    return total / 1e9


def by(report, function):
    """Seconds of waits in a function: by what for, and of those by who ended them."""
    kinds, wakers = collections.Counter(), collections.Counter()
    for wait in report["waits"]:
        if wait.get("in") == function:
            kinds[wait["for"]] += wait["ns"] / 1e9
            wakers[wait["for"], wait.get("by")] += wait["ns"] / 1e9
    return kinds, wakers


def stolen():
    """Seconds that whom this machine is a guest of took for others: no CPU time by a program's clock, but
    nobody has been switched out."""
    with open("/proc/stat") as file:
        return int(file.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


def check_planted(name):
    before = stolen()
    with tempfile.TemporaryDirectory() as folder:
        took, report, _ = watched(folder, PLANTED, name, "-r", "4khz")
    lost, off = stolen() - before, {}
    for function, own in took.items():
        seen = waited(report, function)
        off[function] = 100 * (seen - own) / own
        assert -0.01 * own - 0.003 - lost < seen - own < 0.01 * own + 0.003, (function, own, seen, lost)
    for function, kind, waker in OF_PLANTED[:4]:
        kinds, wakers = by(report, function)
        rest = sum(kinds.values()) - kinds[kind]
        assert kinds[kind] > 0.01 and rest < 0.05 * kinds[kind] + 0.01, (function, kinds)
        assert wakers[kind, waker] > 0.99 * kinds[kind], (function, wakers)
    _, wakers = by(report, "spawn")
    assert wakers["child", "woken by sleep"] > 0.3, wakers
    worst = max(off, key=lambda name: abs(off[name]))
    return f"furthest from its own clock: {worst} by {off[worst]:+.2f} %"


OF_PLANTED = (("fetch", "lock", "lock released by refresh"), ("ask", "socket", "woken by answer"),
              ("drain", "pipe", "woken by feed"), ("nap", "sleep", None), ("spawn", "child", "woken by sleep"))


def check_planted_found(name):
    """Each wait that was planted is found, and who ended it."""
    def look():
        with tempfile.TemporaryDirectory() as folder:
            _, report, _ = watched(folder, PLANTED, name)
        return all(by(report, function)[1][kind, waker] > 0 for function, kind, waker in OF_PLANTED)
    wait_until(look, "a wait of each kind")


# Goes on until the other had its turns, too.
GIL_TURNS = """\
import threading
turns = 0
def hog():
    global turns
    while True:
        sum(range(2000))
        turns += 1
def contend():
    while turns < 2000:
        sum(range(2000))
def main():
    input()
    threading.Thread(target=hog, daemon=True).start()
    contend()
    print(1)
main()
"""


def check_gil_found(name):
    def look():
        with tempfile.TemporaryDirectory() as folder:
            _, report, _ = watched(folder, GIL_TURNS, name)
        return by(report, "contend")[1]["GIL", "GIL released by hog"] > 0
    wait_until(look, "a wait for the GIL")


def check_gil(name):
    with tempfile.TemporaryDirectory() as folder:
        own, report, _ = watched(folder, GIL, name)
    kinds, wakers = by(report, "contend")
    seen = waited(report, "contend")
    assert -0.02 * own - 0.03 < seen - own < 0.02 * own + 0.005, (own, seen)
    # One that gets it without being woken, on a busy machine, knows nobody.
    known = kinds["GIL"] - wakers["GIL", None]
    assert wakers["GIL", "GIL released by hog"] > 0.95 * known > 0, wakers
    return f"{kinds['GIL']:.3f} s for the GIL, {own:.3f} s off a CPU by its own clock"


@suite.test("a program that waits since before it was watched")
def attached():
    def is_there(report):
        return all(by(report, function)[0][kind] > 0 for function, kind in IDLE)
    wait_until(lambda: is_there(attached_for(0.5)), "all three waits")


@suite.test("how long a program waited that did so before it was watched")
def attached_long():
    report = attached_for(1)
    length = report["facts"]["duration_ns"] / 1e9
    for function, kind in IDLE:
        kinds, _ = by(report, function)
        share = 0.5 if function == "nap" else 0.95  # it may have to wait for a CPU, too
        assert share * length < kinds[kind] <= length * 1.01, (function, kinds, length)


IDLE = ("nap", "sleep"), ("serve", "socket"), ("idle", "lock")


def attached_for(seconds):
    code = """
import socket, threading, time
def idle():
    threading.Event().wait()
def nap():
    while True:
        time.sleep(0.05)
def serve(server):
    print("ready", flush=True)
    server.accept()
for job in (idle, nap):
    threading.Thread(target=job, daemon=True).start()
serve(socket.create_server(("127.0.0.1", 0)))
"""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "r.fz")
        with subprocess.Popen([*find_interpreter("debian-3.11").command, "-c", code],
                              stdout=subprocess.PIPE, text=True) as target:
            try:
                assert target.stdout.readline() == "ready\n"
                wait_until(lambda: all(
                    pathlib.Path(task, "syscall").read_text() != "running\n"
                    for task in pathlib.Path(f"/proc/{target.pid}/task").iterdir()), "its sleep")
                done = fizeau("attach", "--wait", "-a", "-d", seconds, "-o", path, target.pid)
            finally:
                target.kill()
        if any(said in done.stderr for said in test_kernel.NEVER):
            raise Skip(done.stderr.strip())
        assert done.returncode == 0, done
        return test_kernel.told(path)


@suite.test("who waits for another program is told who ended that")
def other_program():
    # The shell writes when it finds that it is waited for.
    code = """
import subprocess
def read(pipe):
    return pipe.read(1)
input()
child = subprocess.Popen(["sh", "-c", "until grep -q '^State:.S' /proc/$PPID/status; do :; done; echo x"],
                         stdout=subprocess.PIPE)
read(child.stdout)
child.wait()
print("1")
"""
    with tempfile.TemporaryDirectory() as folder:
        _, report, path = watched(folder, code, "debian-3.11")
        text = fizeau("show", path).stdout
    _, wakers = by(report, "read")
    assert wakers["pipe", "woken by sh"] > 0, wakers
    assert "Waits: " in text and "woken by sh" in text and "waits" in report["facts"]["features"], text


@suite.test("two recordings: more waiting for a lock is found, and who held it")
def compared():
    code = """
import threading, time
lock = threading.Lock()
def refresh():
    while True:
        with lock:
            time.sleep(HOLD)
        time.sleep(0.002)
def fetch():
    with lock:
        pass
def work():
    end = time.thread_time() + 0.004
    while time.thread_time() < end:
        pass
def main():
    threading.Thread(target=refresh, daemon=True).start()
    for i in range(60):
        fetch()
        work()
main()
print(1)
"""
    with tempfile.TemporaryDirectory() as base, tempfile.TemporaryDirectory() as head:
        paths = [recorded(folder, code.replace("HOLD", hold), "debian-3.11")[2]
                 for folder, hold in ((base, "0.002"), (head, "0.02"))]
        report = json.loads(fizeau("diff", *paths, "--format", "json", "-o", "-").stdout)
        text = fizeau("diff", *paths).stdout
    held = [f for f in report["functions"] if f["name"] == "<lock released by refresh>"]
    assert held and held[0]["self_verdict"] == "changed" and held[0]["diff_self"] > 0, held
    assert "<lock released by refresh>" in text, text


@suite.test("waits that the ring has no room for are counted, with their time")
def lost():
    code = """
import sys, time
sys.setrecursionlimit(3000)
def down(n):
    if n:
        return down(n - 1)
    while True:
        time.sleep(0.0005)
print("ready", flush=True)
down(1000)
"""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "r.fz")
        with subprocess.Popen([*find_interpreter("debian-3.11").command, "-c", code],
                              stdout=subprocess.PIPE, text=True) as target:
            recorder = None
            try:
                assert target.stdout.readline() == "ready\n"
                recorder = subprocess.Popen([FIZEAU, "attach", "--wait", "-o", path,
                                             str(target.pid)], stderr=subprocess.PIPE, text=True)
                wait_until(lambda: recorder.poll() is not None or
                           len(test_kernel.programs_of(recorder)) >= PROGRAMS, "its programs")
                recorder.send_signal(signal.SIGSTOP)
                before = switches_of(target.pid)
                wait_until(lambda: switches_of(target.pid) > before + 1000, "a full ring")
                recorder.send_signal(signal.SIGCONT)
                recorder.send_signal(signal.SIGINT)
                said = recorder.communicate(timeout=60)[1]
            finally:
                target.kill()
                if recorder and recorder.poll() is None:
                    recorder.kill()
                    recorder.communicate()
        if any(words in said for words in test_kernel.NEVER):
            raise Skip(said.strip())
        report = test_kernel.told(path)
    assert "; lost: " in said and " waits, " in report["facts"]["waits.lost"], said


def switches_of(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("voluntary"))


@suite.test("not allowed, or not together with something else: one line, and nothing starts")
def refused():
    test_kernel.check_refused("--wait", (["--mode", "cpu"], ["--mode", "gil"], ["--native"],
                                         ["--subprocesses"], ["--count"], ["--live"],
                                         ["--engine", "read"]))


if __name__ == "__main__":
    for interpreter in ("debian-3.11", "forky-3.13", "forky-3.15"):
        suite.add(f"{interpreter}: lock, socket, pipe, sleep, file and child by their own clocks",
                  check_planted, interpreter)
        suite.add(f"{interpreter}: lock, socket, pipe, sleep and child are found, and who ended the wait",
                  check_planted_found, interpreter)
        suite.add(f"{interpreter}: the GIL, and who had it", check_gil, interpreter)
        suite.add(f"{interpreter}: who released the GIL", check_gil_found, interpreter)
    suite.main()
