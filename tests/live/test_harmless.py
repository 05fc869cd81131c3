#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The target is never harmed: it continues, whatever happens to the recorder."""

import os
import pathlib
import signal
import subprocess

from livelib import FIZEAU, Suite, Target, find_interpreter, fizeau, wait_until
from watching import wait_for_samples

suite = Suite()

# Threads that come and go, signals and system calls: each stops a thread that is traced.
BUSY = """\
import signal, threading, time
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
def burn():
    end = time.monotonic() + 0.02
    while time.monotonic() < end:
        pass
def spawn():
    while True:
        t = threading.Thread(target=burn)
        t.start()
        t.join()
for _ in range(3):
    threading.Thread(target=spawn, daemon=True).start()
print("up", flush=True)
while True:
    burn()
"""


def states(pid):
    """The state letters of a process's threads."""
    found = ""
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/stat"):
        try:
            found += path.read_text().rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


def ticks(pid):
    words = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(words[11]) + int(words[12])


def is_going_on(pid):
    """It uses CPU time; on a busy machine not at once."""
    before = ticks(pid)
    wait_until(lambda: ticks(pid) > before + 5)


def stopped(option):
    with Target(find_interpreter("debian-3.11"), BUSY) as t:
        out = pathlib.Path(t.folder.name, "r.fz")
        # In a process group of its own, as a shell starts it, so that it can be continued.
        recorder = subprocess.Popen([FIZEAU, "attach", option, "-a", "-o", out, str(t.pid)],
                                    stderr=subprocess.PIPE, text=True, process_group=0)
        try:
            for _ in range(3):
                wait_for_samples(t.pid, recorder=recorder)
                recorder.send_signal(signal.SIGTSTP)
                wait_until(lambda: states(recorder.pid)[:1] == "T")
                is_going_on(t.pid)
                assert "t" not in states(t.pid), states(t.pid)
                status = pathlib.Path(f"/proc/{t.pid}/status").read_text()
                assert "TracerPid:\t0\n" in status, status
                recorder.send_signal(signal.SIGCONT)
                wait_until(lambda: f"TracerPid:\t{recorder.pid}\n" in
                         pathlib.Path(f"/proc/{t.pid}/status").read_text())
            wait_for_samples(t.pid, recorder=recorder)
            recorder.send_signal(signal.SIGINT)
            said = recorder.communicate(timeout=60)[1]
            assert recorder.returncode == 0, said
            is_going_on(t.pid)
            assert "burn" in fizeau("show", out).stdout
        finally:
            recorder.kill()
            recorder.wait()


for option in ("--blocking", "--native=stacks"):
    suite.add(f"Ctrl-Z on attach {option}: the target continues, and is recorded afterwards",
              stopped, option)


@suite.test("a recorder that is killed leaves the target running")
def killed():
    with Target(find_interpreter("debian-3.11"), BUSY) as t:
        for option in ("--blocking", "--native=stacks"):
            recorder = subprocess.Popen([FIZEAU, "attach", option, "-a", "-o",
                                         pathlib.Path(t.folder.name, "r.fz"), str(t.pid)],
                                        stderr=subprocess.DEVNULL)
            wait_for_samples(t.pid, recorder=recorder)
            recorder.kill()
            recorder.wait()
            is_going_on(t.pid)


if __name__ == "__main__":
    suite.main()
