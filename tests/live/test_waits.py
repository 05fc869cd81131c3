#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Waits (--wait) against the program's own clock: how long, what for, and who ended them.

The time that a function took by its own clock, minus its CPU time, is its waiting time; the time when it was
runnable without a CPU depends on the machine's load, and is reported separately.
"""

import collections
import contextlib
import json
import os
import pathlib
import resource
import signal
import subprocess
import tempfile

import test_kernel
from livelib import FIZEAU, Skip, Suite, Wrong, find_interpreter, fizeau, wait_until
from watching import Recorder, rows_of

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


# A chain through two threads, and a third that does not matter.
CHAIN = """\
import json, queue, threading, time
jobs, done = queue.Queue(), queue.Queue()
took = {}
def timed(step, *args):
    wall, cpu = time.perf_counter(), time.thread_time()
    step(*args)
    name = step.__name__
    took[name] = took.get(name, 0) + time.thread_time() - cpu
    took[name + " wall"] = took.get(name + " wall", 0) + time.perf_counter() - wall
def parse():
    end = time.thread_time() + 0.03
    while time.thread_time() < end:
        pass
def nap():
    time.sleep(0.02)
def report():
    end = time.thread_time() + 0.02
    while time.thread_time() < end:
        pass
def fetcher():
    while jobs.get():
        timed(parse)
        timed(nap)
        done.put(1)
def bystander():
    while True:
        time.sleep(0.003)
def main():
    begin = time.perf_counter()
    for job in (fetcher, bystander):
        threading.Thread(target=job, name=job.__name__, daemon=job is bystander).start()
    for i in range(20):
        jobs.put(1)
        done.get()
        timed(report)
    jobs.put(0)
    took["all"] = time.perf_counter() - begin
    print(json.dumps(took), flush=True)
input()
main()
"""

TICK = 1e6  # ns of CPU time, at 1 kHz
QUANTUM = 1e3  # ns, to which a recording rounds times
# For switches, wake-ups and ticks.
PROGRAMS = 3
EXACT = ("--engine", "bpf", "--wait")


def recorded(folder, code, name):
    """The program's own figures, and the recording of its waits."""
    said, path = test_kernel.run_saying(folder, code, name, *EXACT)
    return said, test_kernel.told(path), path


def watched(folder, code, name, *options):
    """The same of one that begins when it is watched."""
    said, path = test_kernel.attach_saying(folder, code, name, *EXACT, *options, programs=PROGRAMS)
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
    """Seconds of waits in a function: by reason, and by thread that ended them."""
    kinds, wakers = collections.Counter(), collections.Counter()
    for wait in report["waits"]:
        if wait.get("in") == function:
            kinds[wait["for"]] += wait["ns"] / 1e9
            wakers[wait["for"], wait.get("by")] += wait["ns"] / 1e9
    return kinds, wakers


def stolen():
    """Seconds that interrupts, and whom this machine is a guest of, took: no CPU time by a program's clock, but
    nobody has been switched out."""
    with open("/proc/stat") as file:
        return sum(map(int, file.readline().split()[6:9])) / os.sysconf("SC_CLK_TCK")


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
    """Each planted wait is found, with the thread that ended it."""
    found = set()

    def look():
        with tempfile.TemporaryDirectory() as folder:
            _, report, _ = watched(folder, PLANTED, name)
        found.update(wait for wait in OF_PLANTED if by(report, wait[0])[1][wait[1:]] > 0)
        return found == set(OF_PLANTED)
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


def check_chain(name):
    """What main waited for is what the fetcher did meanwhile; the third thread is not on the chain."""
    with tempfile.TemporaryDirectory() as folder:
        took, report, _ = watched(folder, CHAIN, name, "-a")
    chain = report["longest_chain"]
    assert abs(sum(row["ns"] for row in chain["rows"]) - chain["ns"]) < 1e-6 * chain["ns"], chain
    # It ends with the main thread's last sample, so what CPU time that had after its last tick is missing.
    end, last = chain["ns"] + chain["unknown_ns"], max(TICK, report["facts"]["quality"]["longest_gap_ns"])
    assert took["all"] * 1e9 - last <= end <= report["facts"]["duration_ns"] + QUANTUM, (
        took, end, report["facts"])
    assert chain["unknown_ns"] >= 0, chain
    runs, naps, whole = collections.Counter(), collections.Counter(), collections.Counter()
    for row in chain["rows"]:
        (runs if row.get("runs") else naps)[row.get("in")] += row["ns"] / 1e9
        whole[row.get("for"), row.get("in")] += row["ns"] / 1e9
    for step in ("parse", "report"):  # where it went is sampled
        assert 0.9 * took[step] - 0.01 < runs[step] < 1.1 * took[step] + 0.01, (step, took, runs)
    assert 0.97 * took["nap wall"] < whole["sleep", "nap"] < 1.03 * took["nap wall"], (took, whole)
    assert whole["lock", "main"] < 0.02 * took["all"], whole  # the fetcher explains it
    assert runs["bystander"] + naps["bystander"] < 0.02 * took["all"], (runs, naps)
    # A thread may be called as its function is, and end a wait while it runs no code of Python.
    graph = {(edge["in"], edge["by"]): edge for edge in report["wait_graph"]
             if "in" in edge and edge["by_file"]}
    assert graph["main", "fetcher"]["for"]["lock"] > 0.9e9 * (took["nap wall"] + took["parse"]), graph
    return f"{chain['ns'] / 1e9:.3f} s, {took['all']:.3f} s by its own clock"


def check_chain_found(name):
    """Whatever the times are: its parts add up, and it continues in the thread that main waited for."""
    def look():
        with tempfile.TemporaryDirectory() as folder:
            _, report, _ = watched(folder, CHAIN, name, "-a")
        chain = report["longest_chain"]
        if abs(sum(row["ns"] for row in chain["rows"]) - chain["ns"]) > 1e-6 * chain["ns"] or chain["unknown_ns"] < 0:
            raise Wrong(chain)
        waits = {(edge.get("in"), edge["by"]): edge["for"] for edge in report["wait_graph"]}
        return (any(row.get("for") == "sleep" and row.get("in") == "nap" for row in chain["rows"]) and
                any(row.get("in") == "parse" for row in chain["rows"]) and
                waits.get(("main", "fetcher"), {}).get("lock", 0) > 0)
    wait_until(look, "a chain through both threads")


def check_gil(name):
    with tempfile.TemporaryDirectory() as folder:
        own, report, _ = watched(folder, GIL, name)
    kinds, wakers = by(report, "contend")
    seen = waited(report, "contend")
    assert -0.02 * own - 0.03 < seen - own < 0.02 * own + 0.005, (own, seen)
    # A thread that gets it without being woken, on a busy machine, has no ender.
    known = kinds["GIL"] - wakers["GIL", None]
    assert wakers["GIL", "GIL released by hog"] > 0.95 * known > 0, wakers
    return f"{kinds['GIL']:.3f} s for the GIL, {own:.3f} s off a CPU by its own clock"


# Threads that pass a lock to each other: an interrupt hits them in a call that wakes another thread.
FUTEXES = """\
import threading
a, b = threading.Semaphore(0), threading.Semaphore(0)
def hand(x, y):
    while True:
        x.acquire()
        y.release()
threading.Thread(target=hand, args=(a, b), daemon=True).start()
a.release()
hand(b, a)
"""


@contextlib.contextmanager
def beside(*command):
    """A program on each processor for as long as it lasts."""
    others = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for _ in range(os.cpu_count())]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


BEGINNING = {"GIL released by run", "_bootstrap", "_bootstrap_inner"}


@suite.test("a timeout has no waker, whatever program the clock interrupts")
def interrupted():
    command = find_interpreter("debian-3.11").command
    with tempfile.TemporaryDirectory() as folder, beside(*command, "-c", FUTEXES):
        _, report, _ = watched(folder, GIL, "debian-3.11")
    kinds, wakers = by(report, "contend")
    known = {who for kind, who in wakers if kind == "GIL"} - {None}
    # The thread is hog's from before it calls that.
    if not {who.split(".")[-1] for who in known} <= {"GIL released by hog", *BEGINNING}:
        raise Wrong(wakers)
    return f"{kinds['GIL']:.3f} s for the GIL"


POLLS = """\
import os, select, socket, time
reader, writer = os.pipe()
here, there = socket.socketpair()
here.settimeout(0.001)
input()
def polls():
    p = select.poll()
    p.register(reader, select.POLLIN)
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        p.poll(1)
def receives():
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        try:
            here.recv(1)
        except TimeoutError:
            pass
polls()
receives()
print("0")
"""


@suite.test("a program that writes elsewhere when the clock moves to its processor does not end a wait")
def interrupted_in_calls():
    with tempfile.TemporaryDirectory() as folder, beside("dd", "if=/dev/zero", "of=/dev/null", "bs=1"):
        wait_until(lambda: judged_polls(folder), "waits of both")


def judged_polls(folder):
    """Whether waits of both were found, one of them without an ender."""
    _, report, _ = watched(folder, POLLS, "debian-3.11")
    found = []
    for function, kind in (("polls", "pipe"), ("receives", "socket")):
        kinds, wakers = by(report, function)
        if not {who for which, who in wakers if which == kind} <= {None}:
            raise Wrong((function, kinds, wakers))
        found.append(kinds[kind] > 0)
    return all(found)


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
        assert share * length < kinds[kind] <= length + 1e-5, (function, kinds, length)


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
                done = fizeau("attach", *EXACT, "-a", "-d", seconds, "-o", path, target.pid)
            finally:
                target.kill()
        if any(said in done.stderr for said in test_kernel.NEVER):
            raise Skip(done.stderr.strip())
        assert done.returncode == 0, done
        return test_kernel.told(path)


# More threads than files may be open at first.
CROWD = """\
import threading, time
threading.stack_size(1 << 18)
def idle():
    threading.Event().wait()
def beat():
    while True:
        time.sleep(0.01)
for job in [idle] * 5000 + [beat]:
    threading.Thread(target=job, daemon=True).start()
print("ready", flush=True)
time.sleep(600)
"""


@suite.test("thousands of threads with a low soft limit of open files")
def crowd():
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 12000:
        raise Skip("not so many files may be open here")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "r.fz")
        with subprocess.Popen([*find_interpreter("debian-3.11").command, "-c", CROWD], stdout=subprocess.PIPE,
                              text=True) as target:
            try:
                assert target.stdout.readline() == "ready\n"
                done = subprocess.run(["sh", "-c", 'ulimit -Sn 1024; exec "$@"', "sh", FIZEAU, "attach", *EXACT, "-a",
                                       "-d", "1", "-o", path, str(target.pid)], capture_output=True, text=True)
                few = subprocess.run(["sh", "-c", 'ulimit -n 1024; exec "$@"', "sh", FIZEAU, "attach", "--engine", "bpf",
                                      "--mode", "cpu", "-a", "-d", "1", "-o", path.with_suffix(".few"), str(target.pid)],
                                     capture_output=True, text=True)
            finally:
                target.kill()
        if any(said in done.stderr for said in test_kernel.NEVER):
            raise Skip(done.stderr.strip())
        assert done.returncode == 0, done
        report = test_kernel.told(path)
    length = report["facts"]["duration_ns"] / 1e9
    kinds, _ = by(report, "idle")
    assert 4900 * length < kinds["lock"] <= 5000 * (length + 1e-5), (kinds, length)
    kinds, _ = by(report, "beat")
    assert kinds["sleep"] > 0.5 * length, (kinds, report["facts"]["quality"])
    # One that is not found among the others has no stack.
    quality = report["facts"]["quality"]
    assert sum(quality["rejected"].values()) <= 0.02 * quality["taken"] + 1, quality
    # Unless we may not ask: root with its capabilities may.
    assert few.returncode == 0 or "raise the limit with 'ulimit -Hn'" in few.stderr, few


@suite.test("a wait for another program names the program that ended it")
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
    def look():
        with tempfile.TemporaryDirectory() as folder:
            _, report, path = watched(folder, code, "debian-3.11")
            text = fizeau("show", path).stdout
        assert "Waits: " in text and "waits" in report["facts"]["features"], text
        return by(report, "read")[1]["pipe", "woken by sh"] > 0 and "woken by sh" in text
    wait_until(look, "a shell that was asked for its name while it lived")


ENDS = """\
import json, threading, time
def crunch():
    end = time.thread_time() + 0.03
    while time.thread_time() < end:
        pass
    time.sleep(0.07)
def join(thread):
    began = time.perf_counter()
    thread.join()
    return time.perf_counter() - began
def main():
    input()
    took = 0
    for _ in range(5):
        thread = threading.Thread(target=crunch)
        thread.start()
        took += join(thread)
    print(json.dumps(took))
main()
"""


def check_ends(name):
    """The end of a thread is named after the thread, without its number, and the chain continues."""
    with tempfile.TemporaryDirectory() as folder:
        took, report, _ = watched(folder, ENDS, name, "-a")
    kinds, wakers = by(report, "join")
    assert 0.25 < kinds["lock"] <= took and wakers["lock", "lock released by crunch"] > 0.9 * kinds["lock"], wakers
    assert not [who for _, who in wakers if who and "Thread-" in who], wakers
    chain = collections.Counter()
    for row in report["longest_chain"]["rows"]:
        chain[row.get("for"), row.get("in")] += row["ns"] / 1e9
    assert chain["sleep", "crunch"] > 0.3 and chain["lock", "join"] < 0.1 * took, chain


def check_ends_found(name):
    """The same, however long it takes."""
    def look():
        with tempfile.TemporaryDirectory() as folder:
            _, report, _ = watched(folder, ENDS, name, "-a")
        return (by(report, "join")[1]["lock", "lock released by crunch"] > 0 and
                any(row.get("in") == "crunch" for row in report["longest_chain"]["rows"]))
    wait_until(look, "a thread that is called by what it did")


STOPPED = """\
import json, os, signal, threading, time
def pause():
    threading.Event().wait(0.6)
def main():
    input()
    if not os.fork():
        time.sleep(0.2)
        os.kill(os.getppid(), signal.SIGSTOP)
        time.sleep(0.2)
        os.kill(os.getppid(), signal.SIGCONT)
        os._exit(0)
    began = time.perf_counter()
    pause()
    print(json.dumps(time.perf_counter() - began))
main()
"""


@suite.test("a wait that continues after a stop keeps its reason")
def stopped():
    with tempfile.TemporaryDirectory() as folder:
        took, report, _ = watched(folder, STOPPED, "debian-3.11")
    kinds, _ = by(report, "pause")
    assert kinds["stopped"] > 0.15 and kinds["lock"] > 0.3 and kinds["other"] == 0, (took, kinds)


@suite.test("a wait and a stop within it are separate")
def stopped_found():
    def look():
        with tempfile.TemporaryDirectory() as folder:
            _, report, _ = watched(folder, STOPPED, "debian-3.11")
        kinds, _ = by(report, "pause")
        return kinds["stopped"] > 0 and kinds["lock"] > 0 and kinds["other"] == 0
    wait_until(look, "both")


TREE = """
import json, multiprocessing, time
multiprocessing.set_start_method("fork")
lock, held, asked = multiprocessing.Lock(), multiprocessing.Event(), multiprocessing.Event()
there, here = multiprocessing.Pipe(False)
def refresh():
    for _ in range(10):
        with lock:
            held.set()
            time.sleep(0.05)
        time.sleep(0.01)
def fetch(said):
    began = time.monotonic()
    for _ in range(3):
        with lock:
            pass
        time.sleep(0.01)
    said.put(time.monotonic() - began)
def feed():
    time.sleep(0.2)
    here.send("x")
def visit(said):
    time.sleep(0.03)
    held.wait()
    fetch(said)
    asked.set()
def serve():
    asked.wait()
    feed()
    time.sleep(0.2)  # a name is read while its process lives
def drain():
    there.recv()
said = multiprocessing.SimpleQueue()
children = [multiprocessing.Process(target=refresh), multiprocessing.Process(target=visit, args=(said,)),
            multiprocessing.Process(target=serve)]
for child in children:
    child.start()
drain()
for child in children:
    child.join()
print(json.dumps(said.get()))
"""


def recorded_tree():
    with tempfile.TemporaryDirectory() as folder:
        took, path = test_kernel.run_saying(folder, TREE, "debian-3.11", *EXACT, "--subprocesses")
        return took, test_kernel.told(path)


@suite.test("with --subprocesses: reasons for waits of a process tree, and the line of another process that ended each")
def tree():
    took, report = recorded_tree()
    seen = waited(report, "fetch")
    assert 0.04 < seen <= took + 0.01, (seen, took)
    kinds, wakers = by(report, "fetch")
    assert wakers["lock", "lock released by refresh"] > 0.95 * kinds["lock"] > 0.02, wakers
    kinds, wakers = by(report, "drain")
    assert wakers["pipe", "woken by feed"] > 0.95 * kinds["pipe"] > 0.2, wakers
    assert report["facts"]["waits"] == "exact" and report["facts"]["engine"] == "bpf", report["facts"]


@suite.test("with --subprocesses: which line of another process ended a wait is found")
def tree_found():
    wanted = {("fetch", "lock", "lock released by refresh"), ("drain", "pipe", "woken by feed")}
    found = set()

    def look():
        _, report = recorded_tree()
        if report["facts"]["waits"] != "exact" or report["facts"]["engine"] != "bpf":
            raise Wrong(report["facts"])
        found.update(wait for wait in wanted if by(report, wait[0])[1][wait[1:]] > 0)
        return found == wanted
    wait_until(look, "a wait of each kind")


@suite.test("two recordings: more waiting for a lock is found, with its holder")
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
        text = fizeau("diff", "--table", *paths).stdout
    held = [f for f in report["functions"] if f["name"] == "<lock released by refresh>"]
    assert held and held[0]["self_verdict"] == "changed" and held[0]["diff_self"] > 0, held
    assert "<lock released by refresh>" in text, text


UNTIL_THERE = "import os, sys, time\nwhile not os.path.exists(sys.argv[1]): time.sleep(0.01)"


@suite.test("a slow shell that became the program: its waits are exact, without a warning")
def by_a_shell():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "r.fz")
        python = find_interpreter("debian-3.11").command
        with Recorder("run", "--wait", "-o", path, "--", "sh", "-c", 'sleep 0.6; exec "$@"', "sh", *python, "-c",
                      UNTIL_THERE, end := pathlib.Path(folder, "end"), path=path) as recorder:
            with test_kernel.skipping():
                recorder.until(rows_of)
            end.touch()
            recorder.end(interrupt=False)
        if any(words in recorder.said for words in test_kernel.NEVER):
            raise Skip(recorder.said.strip())
        facts = fizeau("show", path).stdout
    assert "sampled" not in recorder.said and "waits          exact" in facts, (recorder.said, facts)


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
                recorder = subprocess.Popen([FIZEAU, "attach", *EXACT, "-o", path,
                                             str(target.pid)], stderr=subprocess.PIPE, text=True)
                wait_until(lambda: test_kernel.is_ready(recorder, PROGRAMS), "its programs")
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


@suite.test("not permitted, or incompatible options: one line, and nothing starts")
def refused():
    test_kernel.check_refused("--wait", (["--mode", "cpu"], ["--mode", "gil"], ["--native"],
                                         ["--blocking"], ["--count"], ["--live"]),
                              "--engine", "bpf")


if __name__ == "__main__":
    for interpreter in ("pyenv-3.8", "pyenv-3.10", "debian-3.11", "forky-3.13", "forky-3.15"):
        suite.add(f"{interpreter}: lock, socket, pipe, sleep, file and child by their own clocks",
                  check_planted, interpreter)
        suite.add(f"{interpreter}: lock, socket, pipe, sleep and child are found, and who ended the wait",
                  check_planted_found, interpreter)
        suite.add(f"{interpreter}: the GIL, and who had it", check_gil, interpreter)
        suite.add(f"{interpreter}: who released the GIL", check_gil_found, interpreter)
        suite.add(f"{interpreter}: the longest chain, and who waits for whom", check_chain, interpreter)
        suite.add(f"{interpreter}: the longest chain goes on in who was waited for", check_chain_found, interpreter)
    for interpreter in ("debian-3.11", "forky-3.14"):
        suite.add(f"{interpreter}: who waits for the end of a thread is told what that did", check_ends, interpreter)
        suite.add(f"{interpreter}: the end of a thread is called by what that did", check_ends_found, interpreter)
    suite.main()
