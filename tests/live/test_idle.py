#!/usr/bin/env python3
"""Threads that wait: what dump and attach leave out of themselves, --no-idle, and the workers of a server."""

import json
import os
import pathlib
import re
import signal

from livelib import EXPECTED, Suite, Target, find_interpreter, fizeau, wait_until
from watching import attach, state

suite = Suite()

SERVER = """\
import queue, selectors, threading, time
q = queue.Queue()
def take():
    q.get()
def work():
    while True:
        sum(range(100000))
for i in range(3):
    threading.Thread(target=take, daemon=True, name="taker %d" % i).start()
threading.Thread(target=work, daemon=True, name="worker").start()
print("up", flush=True)
selectors.DefaultSelector().select(1000)
"""

PREFORK = """\
import os, time
def work(pause=0.01):
    while True:
        sum(range(1000))
        time.sleep(pause)
for _ in range(4):
    if os.fork() == 0:
        work()
print("up", flush=True)
os.wait()
"""

ALONE = """\
def work():
    while True:
        sum(range(10000))
print("up", flush=True)
work()
"""


# Most of the time no thread but the main one runs.
REQUESTS = """\
import threading, time
def handle():
    end = time.monotonic() + 0.002
    while time.monotonic() < end:
        pass
print("up", flush=True)
while True:
    threading.Thread(target=handle).start()
    time.sleep(0.004)
"""


class Group(Target):
    """A program that starts others: all end with the block."""

    def __init__(self, *words):
        super().__init__(*words, start_new_session=True)

    def __exit__(self, *_):
        os.killpg(self.pid, signal.SIGKILL)
        super().__exit__()


def heads(text):
    return re.findall(r'^Stack dump for PID \d+, thread \d+ "(.*?)"', text, re.M)


def server(name):
    """Three of its five threads wait already, and the main thread."""
    t = Target(find_interpreter(name), SERVER)
    wait_until(lambda: state(t.pid) == "S" and "\n3 idle threads are not shown" in fizeau("dump", t.pid).stdout)
    return t


def check_dump(name):
    with server(name) as t:
        for options in ([], ["--blocking"]):
            done = fizeau("dump", *options, t.pid)
            assert done.returncode == 0 and not done.stderr.count("parent"), done
            shown = heads(done.stdout)
            if not options:
                assert shown == ["MainThread", "worker"], done
                assert done.stdout.endswith("\n3 idle threads are not shown; use -a to show all.\n"), done
            # Stopped threads return from their wait for a moment, and the worker then waits for the GIL.
            assert shown[0] == "MainThread" and len(set(shown)) == len(shown), done
        everything = fizeau("dump", "-a", t.pid).stdout
        assert sorted(heads(everything)) == ["MainThread", "taker 0", "taker 1", "taker 2", "worker"], everything
        assert "not shown" not in everything, everything


for interpreter_name in EXPECTED:
    suite.add(f"dump: threads that run, on {interpreter_name}", check_dump, interpreter_name)


@suite.test("attach samples all threads if several run Python code; waiting ones are not in the table")
def attach_server():
    with server("debian-3.11") as t:
        folder = t.folder.name
        done = attach(t.pid, cwd=folder)
        assert done.returncode == 0 and "sampling all 5 Python threads, of which 4 are waiting" in done.stderr
        assert re.search(r"% +work \(", done.stdout) and "Condition.wait" not in done.stdout, done
        done = attach(t.pid, "--idle", cwd=folder)
        assert re.search(r"Condition\.wait .*  idle$", done.stdout, re.M), done
        assert re.search(r"% +work \([^)]*\)$", done.stdout, re.M), done
        for options in (["--main-thread"], ["--pstats"], ["--collapsed", "-o", "-"], ["--async-aware", "-o", "x.fz"]):
            done = attach(t.pid, *options, cwd=folder)
            assert "sampling all" not in done.stderr and not re.search(r"\bwork\b", done.stdout), done
        done = attach(t.pid, "-o", "all.fz", cwd=folder)
        assert "4 are waiting; --main-thread" in done.stderr, done
        table = fizeau("replay", "all.fz", cwd=folder).stdout
        assert "Condition.wait" in table and re.search(r"% +work \(", table), table
        table = fizeau("replay", "--no-idle", "all.fz", cwd=folder).stdout
        assert "Condition.wait" not in table and re.search(r"% +work \(", table), table
        table = fizeau("replay", "--thread", "main", "all.fz", cwd=folder).stdout
        assert "<module>" in table and "work (" not in table and "Condition.wait" not in table, table
        done = fizeau("diff", "--no-idle", "all.fz", "all.fz", cwd=folder)
        assert "Condition.wait" not in done.stdout, done
        facts = json.loads(fizeau("diff", "--no-idle", "--format", "json", "-o", "-", "all.fz", "all.fz", cwd=folder).stdout)
        assert "Condition.wait" not in json.dumps(facts), facts


@suite.test("a thread for each request: all threads are sampled, whether one runs at that moment or not")
def attach_requests():
    with Target(find_interpreter("debian-3.11"), REQUESTS) as t:
        for _ in range(5):
            done = fizeau("attach", "-d", "0.3", t.pid, cwd=t.folder.name)
            assert "sampling all 2 Python threads" in done.stderr and re.search(r"% +handle \(", done.stdout), done


@suite.test("a program with one thread is recorded as before")
def attach_alone():
    with Target(find_interpreter("debian-3.11"), ALONE) as t:
        done = attach(t.pid, cwd=t.folder.name)
        assert done.stderr.count("\n") == 1 and "recorded to" in done.stderr, done


@suite.test("without a known state, names tell which threads wait")
def by_name():
    for folded in ("tid:1;app.py:main:1;threading.py:wait:300 7\ntid:1;app.py:main:1;app.py:wait:5 3\n",
                   "main;epoll_wait 4\nmain;{built-in method time.sleep} 2\nmain;wait 3\n",
                   "main (app.py:1);select (selectors.py:452) 4\nmain (app.py:1);select (app.py:3) 3\n"):
        done = fizeau("replay", "--no-idle", "--format", "collapsed", "-o", "-", "-", input=folded)
        assert done.returncode == 0, done
        (line,) = done.stdout.splitlines()
        assert line.endswith(" 3"), done
    done = fizeau("replay", "--no-idle", "-", input="main;epoll_wait 4\n")
    assert done.returncode == 3 and done.stderr == (
        "fizeau: --no-idle: all samples are of waiting threads\n"), done


@suite.test("the parent of workers: one line names the workers")
def prefork():
    with Group(find_interpreter("debian-3.11"), PREFORK) as t:
        children = wait_until(lambda: pathlib.Path(f"/proc/{t.pid}/task/{t.pid}/children").read_text().split())
        assert len(children) == 4, children
        say = (f"fizeau: process {t.pid} is idle; it is the parent of 4 busy Python processes: fizeau dump "
               f"{' '.join(children[:3])} ...\n")
        wait_until(lambda: fizeau("dump", t.pid).stderr == say, say)
        done = attach(t.pid, cwd=t.folder.name)
        say = (f"parent of 4 busy Python processes: use fizeau attach --subprocesses {t.pid}, or one of "
               f"{' '.join(children[:3])} ...\n")
        assert say in done.stderr, done
        def attached():
            done = attach(t.pid, "--subprocesses", cwd=t.folder.name)
            assert "parent of" not in done.stderr, done
            return "work (" in done.stdout
        wait_until(attached, "a sample of the workers")
        assert "parent of" not in fizeau("dump", children[0]).stderr


@suite.test("a parent that works is not a parent of workers")
def busy_parent():
    code = PREFORK.replace("os.wait()", "while True: pass")
    with Group(find_interpreter("debian-3.11"), code) as t:
        assert fizeau("dump", t.pid).stderr == ""


@suite.test("children other than Python are ignored")
def other_children():
    code = "import subprocess\np = subprocess.Popen(['sleep', '100'])\nprint('up', flush=True)\np.wait()\n"
    with Group(find_interpreter("debian-3.11"), code) as t:
        wait_until(lambda: state(t.pid) == "S")
        assert fizeau("dump", t.pid).stderr == ""


if __name__ == "__main__":
    suite.main()
