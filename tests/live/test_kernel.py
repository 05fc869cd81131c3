#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The engine in the kernel (--engine bpf): its stacks on every interpreter that it reads, by the
oracle of test_reader.py, and what becomes of it where it is refused or the target goes away.

A tick interrupts a thread on its own CPU, so no stack can be torn: not one may be wrong. What is
rejected was in the middle of a change, as when a thread is stopped.
"""

import collections
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import test_reader
from livelib import (EXPECTED, FIZEAU, Skip, Suite, Target, Wrong, find_interpreter, fizeau,
                     free_threaded, wait_until)

suite = Suite()
NEVER = ("built without", "does not let us load", "cannot run our program", "has no bpf")


def sampled(pid, *args):
    """What the kernel saw of a process; skips where it does not let us."""
    done = subprocess.run([test_reader.PROBE, "-k", *map(str, args), str(pid)], capture_output=True,
                          text=True, timeout=120)
    said = done.stderr.strip().splitlines()[-1:] or [""]
    if any(words in said[0] for words in NEVER):
        raise Skip(said[0])
    assert done.returncode == 0 and not said[0], done.stderr
    return json.loads(done.stdout)


# ---- the oracle ----

def check_oracle(name, depth, threads):
    python = find_interpreter(name)
    oracle = test_reader.Oracle()
    total = wrong = rejected = distinct = lost = 0
    reasons, why_not = collections.Counter(), collections.Counter()
    with test_reader.running(python, oracle.source, depth, threads) as target:
        time.sleep(0.3 if threads else 0)  # what starts threads is not in the oracle's file
        for _ in range(20):
            result = sampled(target.pid, "-s", 0.5, "-i", 100, "-g", *(["-a"] if threads else []))
            n, bad, no, why = test_reader.judge_samples(oracle, without_gc(result), depth)
            total, wrong, rejected, reasons = total + n, wrong + bad, rejected + no, reasons + why
            distinct = max(distinct, len(result["stacks"]))
            lost += result["lost"]
            why_not.update(result["rejected"])
            if total > 2000 and distinct > 20:
                break
    note = f"0 of {total:,} wrong, {100 * rejected / total:.2f} % rejected, {lost} lost"
    if wrong:
        raise Wrong(f"{wrong} of {total} wrong: {reasons.most_common(3)}")
    assert distinct > 20, "the target did not run"
    assert rejected <= 0.02 * total, (note, why_not)
    return note


def without_gc(result):
    """A collection is at the top of a stack, and true."""
    for stack in result["stacks"]:
        stack["frames"] = [f for f in stack["frames"] if f[0] != "<GC>"]
    return result



# ---- code that dies young ----

def check_code_reuse(name):
    """A code object that was gone before its name could be read is not taken for another."""
    python = find_interpreter(name)
    pairs = wrong = 0
    with test_reader.running(python, test_reader.REUSE) as target:
        for _ in range(20):
            for stack in sampled(target.pid, "-s", 0.5, "-i", 200)["stacks"]:
                made = [f for f in stack["frames"] if f[1].startswith("<made ")]
                if len(made) == 2 and not stack["rejected"]:
                    pairs += stack["n"]
                    wrong += stack["n"] * (made[1][1] != made[0][1] or
                                           made[1][0] != f"f{made[0][1][6:-1]}")
            if pairs > 100:
                break
    assert pairs > 100, pairs
    assert wrong == 0, f"{wrong} of {pairs} wrong"
    return f"0 of {pairs} wrong"


# ---- recordings ----

WORK = """\
import os, sys, threading, time
def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
    return time.thread_time()
"""


def recorded(folder, code, rate="2khz"):
    """A run with the engine, and its recording."""
    script, path = pathlib.Path(folder, "target.py"), pathlib.Path(folder, "r.fz")
    script.write_text(WORK + code, encoding="utf-8")
    done = fizeau("run", "--engine", "bpf", "--mode", "cpu", "-a", "-r", rate, "-o", path,
                  "--", *find_interpreter("debian-3.11").command, script)
    if any(said in done.stderr for said in NEVER):
        raise Skip(done.stderr.strip())
    assert done.returncode == 0, done
    return done, path


def told(path):
    """The recording as JSON, with its functions by name."""
    report = json.loads(fizeau("replay", "--format", "json", path, "-o", "-").stdout)
    report["by_name"] = {f["name"]: f for f in report["functions"]}
    return report


# ---- programs that say what they measured, for the tests of waits and of growth, too ----

def run_saying(folder, code, name, *options):
    """What a program said of itself, as JSON, and its recording from its start on."""
    path = pathlib.Path(folder, "r.fz")
    done = fizeau("run", *options, "-o", path, "--", *find_interpreter(name).command, "-c", code)
    if any(said in done.stderr for said in NEVER):
        raise Skip(done.stderr.strip())
    assert done.returncode == 0, done
    return json.loads(done.stdout), path


def attach_saying(folder, code, name, *options, programs=1, line="go"):
    """The same of one that begins when it reads a line, which is when it is watched: so many programs
    in the kernel are attached."""
    path = pathlib.Path(folder, "r.fz")
    with subprocess.Popen([*find_interpreter(name).command, "-c", code], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as target:
        recorder = subprocess.Popen([FIZEAU, "attach", *options, "-o", path, str(target.pid)],
                                    stderr=subprocess.PIPE, text=True)
        try:
            wait_until(lambda: recorder.poll() is not None or len(programs_of(recorder)) >= programs,
                       "its programs")
            said = target.communicate(f"{line}\n", timeout=60)[0]
        finally:
            target.kill()
            trouble = recorder.communicate(timeout=60)[1]
        if any(words in trouble for words in NEVER):
            raise Skip(trouble.strip())
        assert recorder.returncode == 0, trouble
    return json.loads(said), path


@suite.test("a recording says which engine made it, and CPU time is the program's own")
def exact_time():
    with tempfile.TemporaryDirectory() as folder:
        done, path = recorded(folder, code="""
def here():
    work(0.4)
work(0.5)  # until we are there: a slow machine takes its time
before = time.thread_time()
here()
print(time.thread_time() - before)
""", rate="1khz")
        report = told(path)
    own, seen = float(done.stdout), report["by_name"]["here"]["total"] / 1e9
    assert report["facts"]["engine"] == "bpf", report["facts"]
    # The first sample and the last of it may be those of what is around.
    assert abs(own - seen) < 0.01 + 0.02 * own, (own, seen)
    return f"{seen:.3f} of {own:.3f} s"


@suite.test("a thread that works for a moment now and then is seen as often as it works")
def light():
    with tempfile.TemporaryDirectory() as folder:
        done, path = recorded(folder, code="""
def here():
    for i in range(200):
        work(0.001)
        time.sleep(0.01)
before = time.thread_time()
here()
print(time.thread_time() - before)
""", rate="100hz")
        report = told(path)
    own, seen = float(done.stdout), report["by_name"]["here"]["total"] / 1e9
    assert 0.7 * own < seen < 1.3 * own, (own, seen)
    return f"{seen:.3f} of {own:.3f} s"


@suite.test("threads are seen from their first tick, however short they live")
def threads():
    with tempfile.TemporaryDirectory() as folder:
        done, path = recorded(folder, code="""
def job():
    work(0.02)
work(0.5)  # until we are there
for i in range(30):
    t = threading.Thread(target=job)
    t.start(); t.join()
""")
        rows = fizeau("replay", path, "--collapsed", "-o", "-").stdout.splitlines()
    seen = {row.split(";")[0] for row in rows if ":job:" in row}
    assert len(seen) == 30, (len(seen), done.stderr)


@suite.test("the target becomes another program, and that is recorded")
def exec_():
    with tempfile.TemporaryDirectory() as folder:
        _, path = recorded(folder, code="""
def first():
    work(0.8)
def second():
    work(0.8)
if sys.argv[1:] == ["again"]:
    second()
else:
    first()
    os.execv(sys.executable, [sys.executable, __file__, "again"])
""")
        by_name = told(path)["by_name"]
    for name in ("first", "second"):
        assert by_name[name]["total"] > 0.2e9, (name, by_name[name])


@suite.test("what is done in a pause is not recorded")
def pause():
    with tempfile.TemporaryDirectory() as folder:
        socket_ = pathlib.Path(folder, "control")
        script, path = pathlib.Path(folder, "target.py"), pathlib.Path(folder, "r.fz")
        script.write_text(WORK + """
import socket
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
def say(word):
    s.send(word + b"\\n")
    assert s.recv(100).startswith(b"ok")
def seen():
    work(0.2)
def unseen():
    work(0.2)
work(0.5)  # until we are there
seen()
say(b"disable")
unseen()
say(b"enable")
seen()
""")
        done = fizeau("run", "--engine", "bpf", "--mode", "cpu", "--control", f"unix:{socket_}", "-o",
                      path, "--", *find_interpreter("debian-3.11").command, script, socket_)
        if any(said in done.stderr for said in NEVER):
            raise Skip(done.stderr.strip())
        assert done.returncode == 0, done
        by_name = told(path)["by_name"]
    assert 0.3e9 < by_name["seen"]["total"] < 0.5e9, by_name["seen"]
    assert by_name.get("unseen", {"total": 0})["total"] < 0.02e9, by_name["unseen"]


@suite.test("what the target forks is not sampled")
def fork():
    with tempfile.TemporaryDirectory() as folder:
        _, path = recorded(folder, code="""
def child():
    work(0.8)
def parent():
    work(0.8)
if os.fork() == 0:
    child()
    os._exit(0)
parent()
os.wait()
""")
        by_name = told(path)["by_name"]
    assert "child" not in by_name and by_name["parent"]["total"] > 0.1e9, by_name.keys()


@suite.test("a stack deeper than the buffer is cut at its root, and says so")
def deep():
    with tempfile.TemporaryDirectory() as folder:
        _, path = recorded(folder, code="""
sys.setrecursionlimit(10000)
def down(n):
    return down(n - 1) if n else work(0.3)
down(5000)
""")
        rows = fizeau("replay", path, "--collapsed", "-o", "-").stdout.splitlines()
    cut = [row.split(";") for row in rows if "[truncated]" in row]
    assert cut and all("[truncated]" in row[1] for row in cut), {row[1] for row in cut}
    assert any("work" in row[-1] for row in cut), {row[-1] for row in cut}
    assert {len(row) for row in cut} == {len(cut[0])}, {len(row) for row in cut}


@suite.test("what the ring has no room for weighs on the next sample, and is counted")
def overrun():
    python = find_interpreter("debian-3.11")
    code = test_reader.DEEP
    with test_reader.running(python, code, 1000) as target, tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "r.fz")
        recorder = subprocess.Popen([FIZEAU, "attach", "--engine", "bpf", "--mode", "cpu", "-r", "1khz",
                                     "-o", path, str(target.pid)],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        programs = wait_until(lambda: programs_of(recorder), "its program")
        assert programs
        used = cpu_time(target.pid)
        recorder.send_signal(signal.SIGSTOP)
        wait_until(lambda: cpu_time(target.pid) > used + 2, "two seconds of work")
        recorder.send_signal(signal.SIGCONT)
        wait_until(lambda: cpu_time(target.pid) > used + 2.5, "some more")
        recorder.send_signal(signal.SIGINT)
        _, said = recorder.communicate(timeout=60)
        if any(words in said for words in NEVER):
            raise Skip(said)
        used = cpu_time(target.pid) - used
        report = told(path)
    quality = report["facts"]["quality"]
    assert quality["missed"] > 300 and "missed" in said, (quality, said)
    assert quality["longest_gap_ns"] > 0.5e9, quality
    assert report["total"] / 1e9 > 2, (report["total"], used)
    return f"{quality['missed']} missed, longest gap {quality['longest_gap_ns'] / 1e9:.2f} s"


@suite.test("a program in a pid namespace of its own")
def namespace():
    unshare = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    if os.geteuid() != 0 or subprocess.run([*unshare, "true"], capture_output=True).returncode:
        raise Skip("no pid namespace can be made here")
    with tempfile.TemporaryDirectory() as folder:
        script, path = pathlib.Path(folder, "target.py"), pathlib.Path(folder, "r.fz")
        script.write_text(WORK + """
def job():
    work(60)
threading.Thread(target=job).start()
work(60)
""")
        outer = subprocess.Popen([*unshare, *find_interpreter("debian-3.11").command, script])
        try:
            inner = wait_until(lambda: children(outer.pid), "its start")[0]
            wait_until(lambda: len(os.listdir(f"/proc/{inner}/task")) == 2, "its thread")
            done = fizeau("attach", "--engine", "bpf", "--mode", "cpu", "-a", "-d", "1", "-o", path,
                          inner)
        finally:
            outer.kill()
            outer.wait()
        if any(said in done.stderr for said in NEVER):
            raise Skip(done.stderr.strip())
        assert done.returncode == 0, done
        report = told(path)
    tids = {t["tid"] for t in report["states"]["threads"]}
    assert len(tids) == 2 and inner in tids, (tids, inner)
    assert report["by_name"]["job"]["total"] > 0, report["by_name"]


def children(pid):
    text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]


# ---- what is allowed ----

def cpu_time(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def programs_of(process):
    """Numbers of the programs in the kernel that a process has attached to what happens; one that
    lists tasks is gone in a moment."""
    assert process.poll() is None, process.communicate()
    found = set()
    for info in pathlib.Path(f"/proc/{process.pid}/fdinfo").iterdir():
        try:
            lines = dict(line.split(":", 1) for line in info.read_text().splitlines() if ":" in line)
            if "link_id" in lines and lines["link_type"].strip() != "iter":
                found.add(lines["prog_id"].strip())
        except FileNotFoundError:
            pass
    return found


@suite.test("killed by SIGKILL it leaves nothing in the kernel")
def killed():
    bpftool = shutil.which("bpftool", path=os.environ["PATH"] + ":/usr/sbin")
    if not bpftool:
        raise Skip("there is no bpftool")
    with test_reader.running(find_interpreter("debian-3.11"), test_reader.DEEP, 5) as target:
        recorder = subprocess.Popen([FIZEAU, "attach", "--engine", "bpf", "--mode", "cpu", "-o",
                                     "/dev/null", str(target.pid)], stderr=subprocess.PIPE, text=True)
        try:
            programs = wait_until(lambda: recorder.poll() is not None or programs_of(recorder),
                                  "its program")
            if programs is True:
                raise Skip(recorder.stderr.read().strip())
        finally:
            recorder.kill()
            recorder.communicate()
        for number in programs:
            wait_until(lambda: subprocess.run([bpftool, "prog", "show", "id", number],
                                              capture_output=True).returncode != 0, "its end")


@suite.test("not allowed: one line, and the reader takes over where nobody insists")
def denied():
    denied_ = test_reader.BUILD / "tests" / "denied"
    with tempfile.TemporaryDirectory() as folder:
        script, path = pathlib.Path(folder, "target.py"), pathlib.Path(folder, "r.fz")
        script.write_text(WORK + "work(0.4)\n")
        for refused in ("bpf=EPERM", "bpf=ENOSYS", "perf_event_open=EPERM"):
            run = [denied_, refused, FIZEAU, "run", "--engine", "auto", "--mode", "cpu", "-o", path]
            what = ["--", *find_interpreter("debian-3.11").command, script]
            done = subprocess.run([*run, *what], capture_output=True, text=True, timeout=60)
            assert done.returncode == 0, done
            facts = told(path)["facts"]
            assert facts["engine"] == "read" and facts["engine.why_not_bpf"], facts
            done = subprocess.run([*run, "--engine", "bpf", *what], capture_output=True, text=True,
                                  timeout=60)
            assert "--engine bpf: " in done.stderr and done.stderr.count("\n") == 1, done.stderr


def check_refused(option, beside):
    """Beside such words, and where the kernel does not allow it, an option is told of in one line,
    and nothing starts; returns what is said where the kernel does not."""
    denied_ = test_reader.BUILD / "tests" / "denied"
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "target.py")
        script.write_text("open('ran', 'w')\n")
        command = ["--", *find_interpreter("debian-3.11").command, script]
        for words in beside:
            done = fizeau("run", option, *words, *command, cwd=folder)
            assert done.returncode in (2, 125) and done.stderr.count("\n") == 1, (words, done)
            assert option in done.stderr, (words, done)
        done = subprocess.run([denied_, "bpf=EPERM", FIZEAU, "run", option, *command], cwd=folder,
                              capture_output=True, text=True, timeout=60)
        assert done.stderr.startswith(f"fizeau: {option}: ") and done.stderr.count("\n") == 1, done
        assert not pathlib.Path(folder, "ran").exists()
        return done.stderr


@suite.test("what it cannot tell is refused before anything starts, and auto takes the reader")
def beyond():
    with tempfile.TemporaryDirectory() as folder:
        script, path = pathlib.Path(folder, "target.py"), pathlib.Path(folder, "r.fz")
        script.write_text(WORK + "open('ran', 'w')\nwork(0.4)\n")
        command = [*find_interpreter("debian-3.11").command, script]
        for words in (["--mode", "gil"], *([["--mode", "cpu", word] for word in (
                "--native", "--native=stacks", "--opcodes", "--blocking", "--subprocesses")])):
            done = fizeau("run", "--engine", "bpf", *words, "--", *command, cwd=folder)
            assert done.returncode in (2, 125) and "--engine bpf: it " in done.stderr, (words, done)
            assert done.stderr.count("\n") == 1, done.stderr
            assert not pathlib.Path(folder, "ran").exists(), words
        done = fizeau("run", "--engine", "auto", "--mode", "cpu", "--opcodes", "-o", path, "--", *command, cwd=folder)
        assert done.returncode == 0 and told(path)["facts"]["engine"] == "read", done


if __name__ == "__main__":
    kernel = [name for name in [*EXPECTED, *sorted(free_threaded())]
              if int(name.split(".")[1].rstrip("t")) >= 11]
    for interpreter in kernel:
        for levels, others in ((5, 0), (80, 0), (5, 4)):
            suite.add(f"{interpreter}: hostile program, {levels} deep, {others + 1} threads",
                      check_oracle, interpreter, levels, others)
        suite.add(f"{interpreter}: code at reused addresses", check_code_reuse, interpreter)
    suite.main()
