# SPDX-License-Identifier: MIT
"""Conditions that live tests wait for: samples and other events, which arrive however slow the
machine is. On a busy machine no fixed delay is enough."""

import inspect
import json
import os
import pathlib
import signal
import socket
import subprocess

from livelib import BROKEN, FIZEAU, broken, fizeau, wait_until

PATIENCE = 120  # seconds


# ---- samples ----

def samples(pid):
    """Number of samples of a process's recorder, read from its socket for marks. None: no answer."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(60)
        try:
            s.connect("\0fizeau-recorder-%d" % pid)
            s.sendall(b"status\n")
            return int(s.makefile().readline().split("samples=")[1].split()[0])
        except (OSError, IndexError):
            return None


# For the text of a program: ENOUGH = 20; seen = taken(); while taken() < seen + ENOUGH: work. taken() queries the
# recorder of this process or of one of its ancestors; a recorder that does not answer yet has taken 0 samples.
TAKEN = "import os, socket, time\n" + inspect.getsource(samples) + """\
def ancestors(pid):
    try:
        while pid > 1:
            yield pid
            pid = int(open("/proc/%d/stat" % pid).read().rpartition(")")[2].split()[1])
    except OSError:
        pass
def taken(began=time.monotonic(), at_start=list(ancestors(os.getpid()))):
    for pid in [os.getpid()] + at_start:
        found = samples(pid)
        if found is not None:
            return found
    if time.monotonic() > began + 120:
        os._exit(98)
    return 0
"""

# For the text of a program: work until `more` further samples were taken.
LASTING = TAKEN + """\
def last(more=20, work=lambda: sum(range(5000))):
    seen = taken()
    while taken() < seen + more:
        work()
"""


def looks(recorder):
    """Number of times a recorder sampled its program: it sleeps before each sample, and the kernel counts that."""
    found = [0]
    try:
        for task in os.listdir(f"/proc/{recorder}/task"):
            with open(f"/proc/{recorder}/task/{task}/status") as file:
                said = dict(line.rstrip().split(":", 1) for line in file)
            if said["State"].startswith("\tZ"):
                return float("inf")  # a zombie
            found.append(int(said["voluntary_ctxt_switches"]))
    except OSError:
        return float("inf")
    return max(found)


# For a program that records itself by `import fizeau`: work until each of its recorders took `times` more samples. They
# cannot be queried, because they only listen to `fizeau.record`, and not even to that once the program has closed its
# files.
UNTIL_RECORDED = "import os\n" + inspect.getsource(looks) + """\
def recorders():
    found = []
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/children") as file:
                found += file.read().split()
        except OSError:
            pass  # a thread that ended
    return found
def until_recorded(work, times=100):
    enough = {pid: looks(pid) + times for pid in recorders()}
    work()
    while any(looks(pid) < n for pid, n in enough.items()):
        work()
"""


def still_runs(recorder):
    """True; raises an error with the recorder's output if it has ended."""
    if recorder.poll() is not None:
        raise AssertionError(f"the recorder ended: {recorder.communicate()}")
    return True


def wait_for_samples(pid, more=20, recorder=None):
    """Wait for `more` further samples; fails if the recorder ends before."""
    seen = samples(pid) or 0
    wait_until(lambda: (samples(pid) or 0) >= seen + more or recorder and not still_runs(recorder), f"{more} samples",
               PATIENCE)


def attach(pid, *words, **options):
    """Run `fizeau attach` until it has some samples; returns the same as livelib's fizeau()."""
    with Recorder("attach", *words, pid, stdout=subprocess.PIPE, **options) as recorder:
        wait_for_samples(pid, recorder=recorder.process)
        return recorder.end()


def rows_of(path, *options):
    """[[frame, ...]] of the stacks in a recording, also while it grows, thread first; [] if it has no sample yet."""
    done = fizeau("replay", "--collapsed", "-o", "-", *options, path)
    return [line.rpartition(" ")[0].split(";") for line in done.stdout.splitlines()] if done.returncode == 0 else []


def functions_of(path):
    """Names of functions in a recording, also while it grows."""
    done = fizeau("replay", "--format", "json", "-o", "-", path)
    return {f["name"] for f in json.loads(done.stdout)["functions"]} if done.returncode == 0 else set()


class Recorder:
    """Runs fizeau until the block ends; then it must end by itself or by SIGINT, with status 0."""

    def __init__(self, *words, path=None, **options):
        """path: the recording, for `until`."""
        self.path = path and pathlib.Path(path)
        self.said = None
        self.process = subprocess.Popen([FIZEAU, *map(str, words)], stderr=subprocess.PIPE, text=True, **options)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None and self.said is None:
            self.end()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for stream in filter(None, (self.process.stdout, self.process.stderr)):
            stream.close()

    def end(self, interrupt=True):
        """Interrupt it if requested and wait for its end; returns the same as livelib's fizeau()."""
        if interrupt and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        out, self.said = self.process.communicate(timeout=PATIENCE)
        done = subprocess.CompletedProcess(self.process.args, self.process.returncode, out, self.said)
        if done.returncode in BROKEN or "Sanitizer" in self.said:
            broken.append(done)
        assert done.returncode == 0, done
        return done

    def until(self, condition, what="a sample"):
        """Wait until the condition holds for the recording so far."""
        return wait_until(lambda: condition(self.path) or not still_runs(self.process), what, PATIENCE)

    def until_seen(self, *names):
        self.until(lambda path: set(names) <= functions_of(path), f"a sample of each of {names}")


# ---- states in /proc ----

def state(pid, task=None):
    """The state letter of a process, or of one of its threads: R, S, D, T, t, Z."""
    return pathlib.Path(f"/proc/{pid}/task/{task or pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0]


def waits(pid):
    """Does each thread of a process sleep?"""
    def sleeps(task):
        try:
            return state(pid, task.name) == "S"
        except OSError:
            return True  # it ended
    return all(sleeps(task) for task in pathlib.Path(f"/proc/{pid}/task").glob("*"))


def tracer(pid):
    """The process that traces this one; 0: none."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text(errors="replace")
    return int(status.split("TracerPid:")[1].split()[0])


def cpu_ticks(pid):
    words = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    return int(words[11]) + int(words[12])


def wait_for_work(pid, ticks=5):
    """Wait until it uses CPU time."""
    before = cpu_ticks(pid)
    wait_until(lambda: cpu_ticks(pid) >= before + ticks, "work")
